-- The activations of PyTorch's nn that are not in ../activations.lua, and its gated linear units.

local f = include "include/functions.lua"
local library = include "include/library.lua"

-- name = { what it computes, NumPy's text, the function, its scalars, PyTorch's text }
local activations = {
  elu = {
    "x, or alpha (e^x - 1) below 0", "np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))",
    function(x, alpha) return select(gt(x, 0), x, alpha * expm1(x)) end, { alpha = 1.5 }, "F.elu(x, alpha)",
  },
  celu = {
    "x, or alpha (e^(x / alpha) - 1) below 0", "np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))",
    function(x, alpha) return select(gt(x, 0), x, alpha * expm1(x / alpha)) end, { alpha = 1.5 }, "F.celu(x, alpha)",
  },
  selu = {
    "elu, scaled so that moments stay",
    "1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))",
    function(x) return 1.0507009873554805 * select(gt(x, 0), x, 1.6732632423543772 * expm1(x)) end, nil, "F.selu(x)",
  },
  leaky_relu = {
    "x, or slope x below 0", "np.where(x > 0, x, slope * x)",
    function(x, slope) return select(gt(x, 0), x, slope * x) end, { slope = 0.01 }, "F.leaky_relu(x, slope)",
  },
  relu6 = { "x between 0 and 6", "np.clip(x, 0, 6)", function(x) return clamp(x, 0, 6) end, nil, "F.relu6(x)" },
  hardtanh = {
    "x between low and high", "np.clip(x, low, high)", function(x, low, high) return clamp(x, low, high) end,
    { low = -1, high = 2 }, "F.hardtanh(x, low, high)",
  },
  hardsigmoid = {
    "x / 6 + 1 / 2, between 0 and 1", "np.clip(x + 3, 0, 6) / 6", function(x) return clamp(x + 3, 0, 6) / 6 end, nil,
    "F.hardsigmoid(x)",
  },
  hardswish = {
    "x by its hardsigmoid", "x * np.clip(x + 3, 0, 6) / 6", function(x) return x * (clamp(x + 3, 0, 6) / 6) end, nil,
    "F.hardswish(x)",
  },
  hardshrink = {
    "x, or 0 where it is no larger than edge", "np.where(np.abs(x) > edge, x, 0)",
    function(x, edge) return select(gt(abs(x), edge), x, 0) end, { edge = 0.5 }, "F.hardshrink(x, edge)",
  },
  softshrink = {
    "x nearer to 0 by edge, or 0", "np.where(x > edge, x - edge, np.where(x < -edge, x + edge, 0))",
    function(x, edge) return select(gt(x, edge), x - edge, select(lt(x, -edge), x + edge, 0)) end, { edge = 0.5 },
    "F.softshrink(x, edge)",
  },
  tanhshrink = { "x - tanh(x)", "x - np.tanh(x)", function(x) return x - tanh(x) end, nil, "F.tanhshrink(x)" },
  threshold = {
    "x, or value up to edge", "np.where(x > edge, x, value)",
    function(x, edge, value) return select(gt(x, edge), x, value) end, { edge = 0.1, value = 20 },
    "F.threshold(x, edge, value)",
  },
  softplus = {
    "log(1 + e^(beta x)) / beta, x where beta x is above edge",
    "np.where(beta * x > edge, x, np.logaddexp(0, beta * x) / beta)",
    function(x, beta, edge) return select(gt(beta * x, edge), x, f.softplus(beta * x) / beta) end,
    { beta = 1.5, edge = 20 }, "F.softplus(x, beta, edge)",
  },
  softsign = { "x / (1 + |x|)", "x / (1 + np.abs(x))", function(x) return x / (1 + abs(x)) end, nil, "F.softsign(x)" },
  logsigmoid = {
    "the logarithm of the sigmoid", "-np.logaddexp(0, -x)", function(x) return -f.softplus(-x) end, nil,
    "F.logsigmoid(x)",
  },
  mish = {
    "x tanh(softplus(x))", "x * np.tanh(np.logaddexp(0, x))", function(x) return x * tanh(f.softplus(x)) end, nil,
    "F.mish(x)",
  },
  silu = { "x sigmoid(x)", "x / (1 + np.exp(-x))", f.silu, nil, "F.silu(x)" },
  quick_gelu = {
    "x sigmoid(1.702 x)", "x / (1 + np.exp(-1.702 * x))", function(x) return x * sigmoid(1.702 * x) end, nil,
    "x * torch.sigmoid(1.702 * x)",
  },
  square_relu = { "max(x, 0)^2", "np.maximum(x, 0) ** 2", function(x) return max(x, 0) ^ 2 end, nil, "F.relu(x) ** 2" },
}
for name, row in pairs(activations) do
  library(name) {
    row[1], row[2], torch = row[5], inputs = { x = { "n", range = { -10, 10 } } }, outputs = { y = { "n" } },
    compute = row[3], scalars = row[4],
  }
end

library "prelu" {
  "x, or below 0 x by its column's weight", "np.where(x > 0, x, w * x)", torch = "F.prelu(x, w)",
  inputs = { x = { "rows", "cols" }, w = { "cols" } }, outputs = { y = { "rows", "cols" } }, ulp = 8,
  compute = function(x, w) return select(gt(x, 0), x, w * x) end,
}

-- Both halves as operands: a by a function of b.
local gates = {
  glu = { "1 / (1 + np.exp(-b))", sigmoid }, reglu = { "np.maximum(b, 0)", f.relu },
  geglu = { "(0.5 * b * erfc(-b / np.sqrt(2)))", f.gelu }, swiglu = { "b / (1 + np.exp(-b))", f.silu },
  bilinear_glu = { "b", function(b) return b end },
}
for name, row in pairs(gates) do
  library(name) {
    "a by a function of b: " .. row[1], "a * " .. row[1], inputs = { a = { "n" }, b = { "n", range = { -5, 5 } } },
    outputs = { y = { "n" } }, compute = function(a, b) return a * row[2](b) end,
  }
end
