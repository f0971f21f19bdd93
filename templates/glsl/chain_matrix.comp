/* Layers of a batch's rows (gen/chain.lua) by the matrices of KHR_cooperative_matrix, in one launch; sums over the batch
 * follow, a launch each, as of any contraction. */

//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local C = use "contract_step.comp"
//@ local layers = use("chain_layers.comp").define
//@ local kinds = { thin = use("contract_thin.comp").define, tile = use("contract_tile.comp").define }
//@ for _, step in ipairs(k.steps) do
//@ C.define(step)
//@ end
//@ for _, kernel in ipairs(schedule.kernels) do
//@ if kernel.step then
//@ kinds[kernel.shape.sums](k.steps[kernel.step], schedule.steps[kernel.step], kernel.shape)
//@ else
//@ layers(kernel.shape)
//@ end

//@ end
//@ P.main(#schedule.kernels)
