//@ if first then
/* Steps, a launch each: sums of the products of two factors, tile by tile (tiles.h, tensor.h), or, of few rows, as fast
 * as memory gives the other factor (thin.h); where nothing is summed, values (points.h). A factor is computed of what
 * is read on its way to where it is multiplied, a result while its sum is in registers. */
//@ end
//@ local P = use "parts.cu"
//@ local T = use "contract_step.cu"
//@ local K = use "contract_kernel.cu"
//@ -- Whether variants have a unit multiply.
//@ local function by(unit)
//@   for _, v in ipairs(variants) do
//@     if v.params.unit == unit then
//@       return true
//@     end
//@   end
//@   return false
//@ end
//@ if first then
#include "points.h"
#include "short.h"
#include "thin.h"
#include "tiles.h"
//@ if by "wgmma" then
#include "fetched.h"
#include "padded.h"
//@ end
//@ if by "wgmma" or by "mma" then
#include "tensor.h"
//@ end

//@ end
//@ for i, step in ipairs(k.steps) do
//@ local maps = false
//@ for _, v in ipairs(variants) do
//@   for _, shape in ipairs(v.shape.shapes[i]) do
//@     maps = maps or shape.maps ~= nil
//@   end
//@ end
//@ T.define(step, schedule.steps[i], P, maps)
//@ end
//@ local made = {}
//@ -- The kernels that all of the compilers have, or those of wgmma.
//@ local function kernels(groups)
//@ for _, v in ipairs(variants) do
//@ for i, step in ipairs(k.steps) do
//@ for _, shape in ipairs(v.shape.shapes[i]) do
//@ if not made[step.name .. shape.name] and (shape.architecture ~= nil) == groups then
//@ made[step.name .. shape.name] = true
//@ local define = shape.maps and K.define_fetched or K.define
//@ define(step, shape, step.name .. shape.name)
//@ end
//@ end
//@ end
//@ end
//@ end
//@ local groups = false
//@ for _, v in ipairs(variants) do
//@ for i in ipairs(k.steps) do
//@ for _, shape in ipairs(v.shape.shapes[i]) do
//@   groups = groups or shape.architecture ~= nil
//@ end
//@ end
//@ end
//@ if groups then
#ifndef LATHE_CLUSTERS_ALONE
//@ end
//@ kernels(false)
//@ if groups then
#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
//@ kernels(true)
//@ for i, step in ipairs(k.steps) do
//@ K.define_copies(schedule.steps[i], step.name .. "_copies")
//@ end
#endif
//@ end
