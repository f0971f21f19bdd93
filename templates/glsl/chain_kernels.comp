//@ -- The kernels of a chain (gen/program/chain.lua): layers, of which each row of a batch goes through all, in one
//@ -- launch; sums over the batch follow, a launch each, as of any contraction. layers: writes a kernel of all layers,
//@ -- of a shape.
//@ local P = use "parts.comp"
//@ local C = use "contract_step.comp"
//@ local kinds = { thin = use("contract_thin.comp").define, tile = use("contract_tile.comp").define }
//@ function define(layers)
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
//@ end
