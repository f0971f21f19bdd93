-- One op for each template, for the golden files of the CUDA templates.

local function small(name, row)
  row.dtypes, row.ulp = { "f32" }, { f32 = 4 }
  row.sizes = { #row.inputs.x == 2 and { "S", rows = 3, cols = 5 } or { "S", n = 5 } }
  op(name)(row)
end

small("small_map", {
  doc = "s * x + y",
  inputs = { x = { "n" }, y = { "n" } }, outputs = { r = { "n" } },
  scalars = { s = 2 },
  compute = function(x, y, s) return fma(s, x, y) end,
  variants = { { backend = "cuda", block = 128, unroll = 2 } },
})

small("small_reduce", {
  doc = "the index of the largest",
  inputs = { x = { "n" } }, outputs = { r = {} },
  compute = function(x) return argmax(x) end,
  variants = { { backend = "cuda", block = 64, unroll = 1, waves = 2 } },
})

small("small_rows", {
  doc = "x over the sum of the row",
  inputs = { x = { "rows", "cols" } }, outputs = { y = { "rows", "cols" } },
  compute = function(x) return x / sum(x, "cols") end,
  variants = { { backend = "cuda" } },
})
