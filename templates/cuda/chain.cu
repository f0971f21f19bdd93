//@ if first then
/* Layers, of which each row of a batch goes through all (gen/program/chain.lua), in one launch, by a thread a row
 * (chain.h). Sums over the batch follow, a launch each, as of any contraction. */
//@ end
//@ local P = use "parts.cu"
//@ local T = use "contract_step.cu"
//@ local K = use "contract_kernel.cu"
//@ if first then
#include "chain.h"
#include "short.h"
#include "thin.h"

//@ end
//@ for i, step in ipairs(k.steps) do
//@ T.define(step, schedule.steps[i], P)
//@ end
//@ for _, v in ipairs(variants) do
//@ if v == variants[1] then
//@ local number = k.number
extern "C" __global__ void __launch_bounds__($schedule.threads$)
    $part.stem$_step1_layers(const __grid_constant__ lathe_args given) {
  lathe_begin();
  __shared__ __align__(16) $number$ slice[$schedule.terms$][$schedule.columns$];
  const size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  //@ for _, i in ipairs(schedule.layers) do
  {
    $(k.steps[i].name) here(given);
    here.place();
    lathe_chain_layer<$(k.steps[i].name), $schedule.columns$, $schedule.terms$>(here, row, slice);
  }
  //@ end
}

//@ for nth, i in ipairs(schedule.totals) do
//@ for _, shape in ipairs(v.shape.shapes[i]) do
//@ K.define(k.steps[i], shape, part.stem .. "_step" .. nth + 1 .. shape.name)
//@ end
//@ end
//@ end
//@ end
