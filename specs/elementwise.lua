-- One result for each element, from one to three vectors and scalars.

local vector = include "include/vector.lua"

local function element_wise(name, row)
  row.outputs = { r = { "n" } }
  row.sizes, row.sets, row.dtypes = vector.sizes, vector.sets, vector.dtypes
  op(name)(row)
end

element_wise("scale", {
  doc = "s * x",
  inputs = { x = { "n" } },
  scalars = { s = 1.7 },
  compute = function(x, s) return s * x end,
  ulp = vector.ulp(0.5),
  peers = { numpy = "s * x", torch = "s * x" },
})

element_wise("abs", {
  doc = "|x|",
  inputs = { x = { "n" } },
  compute = function(x) return abs(x) end,
  ulp = vector.ulp(0),
  peers = { numpy = "np.abs(x)", torch = "x.abs()" },
})

element_wise("clamp", {
  doc = "x held between low and high; NaN stays",
  inputs = { x = { "n", range = { -2, 2 } } },
  scalars = { low = -1, high = 1 },
  compute = function(x, low, high) return clamp(x, low, high) end,
  ulp = vector.ulp(0),
  peers = { numpy = "np.clip(x, low, high)", torch = "x.clamp(low, high)" },
})

element_wise("lerp", {
  doc = "x + t * (y - x)",
  inputs = { x = { "n" }, y = { "n" } },
  scalars = { t = 0.3 },
  compute = function(x, y, t) return x + t * (y - x) end,
  ulp = vector.ulp(2),
  peers = { numpy = "x + t * (y - x)", torch = "torch.lerp(x, y, t)" },
})

element_wise("fma", {
  doc = "x * y + z, rounded once",
  inputs = { x = { "n" }, y = { "n" }, z = { "n" } },
  compute = function(x, y, z) return fma(x, y, z) end,
  ulp = vector.ulp(0.5001),
  peers = { numpy = "x * y + z", torch = "torch.addcmul(z, x, y)" },
})
