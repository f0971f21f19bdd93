-- One result from a whole vector.

local vector = include "include/vector.lua"

local ops = {
  sum = {
    "the sum of all elements", function(x) return sum(x) end,
    numpy = "x.sum()", torch = "x.sum()",
  },
  max = {
    "the largest element; NaN if there is one", function(x) return max(x) end,
    ulp = 0, numpy = "x.max()", torch = "x.max()",
  },
  min = {
    "the smallest element; NaN if there is one", function(x) return min(x) end,
    ulp = 0, numpy = "x.min()", torch = "x.min()",
  },
  argmax = {
    "the index of the first largest element, or of the first NaN", function(x) return argmax(x) end,
    ulp = 0, numpy = "x.argmax()", torch = "x.argmax()",
  },
  argmin = {
    "the index of the first smallest element, or of the first NaN", function(x) return argmin(x) end,
    ulp = 0, numpy = "x.argmin()", torch = "x.argmin()",
  },
  norm_l1 = {
    "the sum of absolute values", function(x) return sum(abs(x)) end,
    numpy = "np.abs(x).sum()", torch = "x.norm(1)",
  },
  norm_l2 = {
    "the square root of the sum of squares", function(x) return sqrt(sum(x * x)) end,
    numpy = "np.sqrt(np.dot(x, x))", torch = "x.norm(2)",
  },
  norm_linf = {
    "the largest absolute value; NaN if there is one", function(x) return max(abs(x)) end,
    ulp = 0, numpy = "np.abs(x).max()", torch = "x.norm(float('inf'))",
  },
}

for name, row in pairs(ops) do
  op(name) {
    doc = row[1],
    inputs = { x = { "n" } },
    outputs = { r = {} },
    compute = row[2],
    sizes = vector.sizes,
    sets = vector.sets,
    dtypes = vector.dtypes,
    ulp = vector.ulp(row.ulp or vector.sum_ulp),
    peers = { numpy = row.numpy, torch = row.torch },
  }
end

op "dot" {
  doc = "the sum of products",
  inputs = { x = { "n" }, y = { "n" } },
  outputs = { r = {} },
  compute = function(x, y) return sum(x * y) end,
  sizes = vector.sizes,
  sets = vector.sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(vector.sum_ulp),
  peers = { numpy = "np.dot(x, y)", torch = "torch.dot(x, y)" },
}
