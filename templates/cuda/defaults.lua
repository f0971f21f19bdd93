-- The rows of variants that ops have on CUDA where their specs do not say: by the kinds of gen/trace/kind.lua.
-- Dispatch calls the first that prefers the size, in bytes of all operands together, and that a device can run.

-- Few blocks go through all layers of few rows; with large matrices, a product after the other has more of them, and
-- faster ones. Of many rows one launch writes nothing between layers, if the copy engine can bring their rows. On an
-- H200 in f16, us, in one launch and by products:
--   mlp                 8x56x64x26 4.3 5.6, 456x24x192x40 5.2 6.8, 64x64x96x64 5.0 4.7, 8x320x192x20 9.3 5.7,
--                       65536x64x256x256 31 40, 9488x887x316x129 249 55, 11527x200x282x59 35 23
--   its gradient        256x16x64x64 17 24, 256x64x256x256 22 25, 8x64x704x64 32 20, 64x32x742x608 153 33,
--                       19508x56x32x64 67 53
-- calls: those for one launch, as preferences.lua has them.
local function chain(calls)
  return {
    { backend = "cuda", implementation = "coopmat", dtypes = { "f16", "bf16" }, prefer = calls },
    {
      backend = "cuda", implementation = "product", unit = "wgmma", bn = "auto", stages = 4, products = "narrow",
      dtypes = { "f16", "bf16" },
    },
    { backend = "cuda", implementation = "coopmat", products = "tf32", dtypes = "f32" },
    { backend = "cuda", implementation = "coopmat", dtypes = "f32" },
    { backend = "cuda" },
    { backend = "cuda", implementation = "for_loop" },
  }
end

-- Tensor cores first.
local contract = {
  { backend = "cuda", unit = "wgmma", bn = "auto", stages = 4, dtypes = { "f16", "bf16" } },
  { backend = "cuda", unit = "mma", bn = "auto", dtypes = { "f16", "bf16" } },
  { backend = "cuda", unit = "wgmma", products = "tf32", bn = "auto", dtypes = "f32" },
  { backend = "cuda", unit = "mma", bn = "auto", products = "tf32", dtypes = "f32" },
  { backend = "cuda", bn = "auto" },
}

-- Streams and sequences run at every size: nests of the same ops were never taken, and long to compile.
local function streams(implementation)
  return {
    { backend = "cuda", implementation = implementation, products = "narrow", dtypes = { "f16", "bf16" } },
    { backend = "cuda", implementation = implementation },
  }
end

return {
  map = { { backend = "cuda", block = { 128, 256 }, unroll = 1 } },
  -- Short inputs are a matter of many threads; with more than that of two operands of 16 bits in each thread's
  -- registers, long ones of few. dot of 2^20 and 2^24 in f16 takes 3.27 and 27.3 us in the first form on an H200,
  -- 3.39 and 20.5 in the second; sum of 2^20, 2.67 and 2.89.
  reduce = {
    { backend = "cuda", block = 512, unroll = 2, waves = 4, prefer = { to = 2 ^ 24 } },
    { backend = "cuda", block = 512, unroll = 4, waves = 2 },
  },
  -- The more elements a thread takes at a time, the less often it compares; short inputs are a matter of the one time
  -- that it looks for the place among them.
  reduce_to_index = { { backend = "cuda", block = 256, unroll = 4, waves = 4 } },
  rows = { { backend = "cuda" } },
  rows_to_totals = { { backend = "cuda" } },
  contract = contract,
  -- Streams of f16 that keep what is between products in f32 have no tensor cores: contractions do.
  contract_stream = {
    {
      backend = "cuda", implementation = "stream", products = "narrow", dtypes = { "f16", "bf16" },
      prefer = { width = 256 },
    },
    { backend = "cuda", implementation = "stream", dtypes = { "f32", "f64" }, prefer = { width = 256 } },
    table.unpack(contract),
  },
  contract_typed = { { backend = "cuda" } },
  chain = chain { { width = 192 }, { from = 2 ^ 23, multiple = 8 } },
  chain_to_totals = chain { { to = 2 ^ 22, width = 256 }, { from = 2 ^ 27, multiple = 8 } },
  stream = streams "stream",
  stream_sequence = streams "sequence",
  sequence = {
    {
      backend = "cuda", implementation = "sequence", unit = "wgmma", bn = "auto", stages = 4, products = "narrow",
      dtypes = { "f16", "bf16" },
    },
    {
      backend = "cuda", implementation = "sequence", unit = "mma", bn = "auto", products = "narrow",
      dtypes = { "f16", "bf16" },
    },
    {
      backend = "cuda", implementation = "sequence", unit = "wgmma", bn = "auto", stages = 4,
      dtypes = { "f16", "bf16" },
    },
    { backend = "cuda", implementation = "sequence", unit = "mma", bn = "auto", dtypes = { "f16", "bf16" } },
    { backend = "cuda", implementation = "sequence", unit = "wgmma", products = "tf32", bn = "auto", dtypes = "f32" },
    { backend = "cuda", implementation = "sequence", unit = "mma", bn = "auto", products = "tf32", dtypes = "f32" },
    { backend = "cuda", implementation = "sequence", bn = "auto" },
  },
  nest = { { backend = "cuda" } },
}
