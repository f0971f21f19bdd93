-- One op per template, for the golden files: short, and apart from the project's own specs.

local backends = { "scalar", "sse2", "avx2", "avx512" }

op "golden_map" {
  doc = "x * y + s, NaN where x is below 0",
  inputs = { x = { "n" }, y = { "n" } },
  outputs = { r = { "n" } },
  scalars = { s = 2 },
  compute = function(x, y, s) return select(lt(x, 0), 0 / 0, x * y + s) end,
  sizes = { { "1K", n = 1000 } },
  dtypes = { "f32", "bf16" },
  ulp = { f32 = 1, bf16 = 1 },
  variants = {
    { backend = backends, unroll = 2 },
    { backend = "avx2", store = "streaming", prefer = { from = 2 ^ 25 } },
  },
}

op "golden_reduce" {
  doc = "the square root of a sum",
  inputs = { x = { "n" } },
  outputs = { r = {} },
  compute = function(x) return sqrt(sum(abs(x))) end,
  sizes = { { "1K", n = 1000 } },
  dtypes = { "f32" },
  ulp = { f32 = 8 },
  variants = { { backend = backends, accumulators = 2 } },
}

op "golden_rows" {
  doc = "x - max, over each row",
  inputs = { x = { "rows", "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x) return x - max(x, "cols") end,
  sizes = { { "1K", rows = 10, cols = 100 } },
  dtypes = { "f32" },
  ulp = { f32 = 1 },
  variants = { { backend = backends, accumulators = 2 } },
}
