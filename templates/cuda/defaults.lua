-- The rows of variants that ops have on CUDA where their specs do not say: by the kinds of gen/trace/kind.lua.
-- Dispatch calls the first that prefers the size, in bytes of all operands together, and that a device can run.

-- Few blocks go through all layers of few rows; with large matrices, a product after the other has more of them, and
-- faster ones. On an H100, mlp of 8x40x64x42 in f16 takes 4.9 us in one launch and 6.0 by products, 21x285x184x709
-- takes 32 and 16.6. Of many rows one launch writes nothing between layers. The two figures are bytes of operands.
local function chain(from, to)
  return {
    {
      backend = "cuda", implementation = "product", unit = "wgmma", bn = "auto", stages = 4, products = "narrow",
      dtypes = { "f16", "bf16" }, prefer = { from = from, to = to },
    },
    { backend = "cuda", implementation = "coopmat", products = "tf32", dtypes = "f32" },
    { backend = "cuda", implementation = "coopmat", dtypes = { "f32", "f16", "bf16" } },
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
  chain = chain(2 ^ 17, 2 ^ 23),
  chain_to_totals = chain(2 ^ 22, 2 ^ 27),
  -- Streams and sequences run at every size: nests of the same ops were never taken, and long to compile.
  stream = {
    { backend = "cuda", implementation = "stream", products = "narrow", dtypes = { "f16", "bf16" } },
    { backend = "cuda", implementation = "stream" },
  },
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
