/* Steps, a launch each: sums of the products of two factors, tile by tile, or, of few rows or columns, as
 * fast as memory gives the other factor. A factor is computed of what is read on its
 * way to where it is multiplied, a result while its sum is in registers. */

//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local C = use "contract_step.comp"
//@ local kinds = { thin = use("contract_thin.comp").define, tile = use("contract_tile.comp").define }
//@ kinds.matrix = use("contract_matrix.comp").define
//@ kinds.workgroup = use("contract_workgroup.comp").define
//@ for _, step in ipairs(k.steps) do
//@ C.define(step)
//@ end
//@ for _, kernel in ipairs(schedule.kernels) do
//@ kinds[kernel.shape.sums](k.steps[kernel.step], schedule.steps[kernel.step], kernel.shape)

//@ end
//@ P.main(#schedule.kernels)
