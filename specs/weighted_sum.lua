-- The sum of each row's elements times weights, and its gradient.

local vector = include "include/vector.lua"

-- Those of rows, in one pass, and others to compare them with.
local compared = { "product", "unfused" }
local variants = {
  "default", { backend = "cpu", implementation = compared, mr = 4, nv = 2, dtypes = { "f32", "bf16" } },
  { backend = "cuda", implementation = compared, dtypes = { "f32", "bf16" } },
}

op "weighted_sum" {
  doc = "sum(w * x) over each row",
  inputs = { x = { "rows", "cols" }, w = { "cols" } },
  outputs = { y = { "rows" } },
  compute = function(x, w) return sum(w * x, "cols") end,
  sizes = {
    { "64x128", rows = 64, cols = 128 },
    { "256x512", rows = 256, cols = 512 },
    { "1024x2048", rows = 1024, cols = 2048 },
  },
  sets = vector.sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(vector.sum_ulp),
  backward = { peers = { numpy = "np.outer(dy, w), dy @ x" } },
  variants = variants,
  compared = {
    { "matrix product", "product", "product" },
    { "multiply, then sum", "unfused", "unfused" },
    { "fused forward", "rows" },
    { "fused forward, unfused backward", "rows", "unfused" },
    { "fused both", "rows", "rows" },
  },
  peers = { numpy = "x @ w", torch = "x @ w" },
}
