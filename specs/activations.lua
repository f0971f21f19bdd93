-- The functions that neural networks put between their layers, and exp.

local vector = include "include/vector.lua"

local function activation(name, row)
  row.inputs = { x = { "n", range = { -10, 10 } } }
  row.outputs = { y = { "n" } }
  row.sizes, row.dtypes = vector.sizes, vector.dtypes
  row.sets = row.sets or vector.sets
  op(name)(row)
end

activation("relu", {
  doc = "max(x, 0); NaN stays",
  compute = function(x) return max(x, 0) end,
  ulp = vector.ulp(0),
  peers = { numpy = "np.maximum(x, 0)", torch = "F.relu(x)" },
})

activation("exp", {
  doc = "e to the power x",
  compute = function(x) return exp(x) end,
  ulp = vector.ulp(2),
  variants = vector.map_of_costly,
  peers = { numpy = "np.exp(x)", torch = "x.exp()" },
})

-- By a reciprocal, which f32 takes on GPUs, it is off by 2.18 where a device's fma rounds its product too: of
-- the numbers from 1e-6 to 20 and their opposites, which were all tried.
local sigmoid_ulp = vector.ulp(2)
sigmoid_ulp.f32 = 2.5

activation("sigmoid", {
  doc = "1 / (1 + exp(-x))",
  compute = function(x) return sigmoid(x) end,
  ulp = sigmoid_ulp,
  variants = vector.map_of_costly,
  peers = { numpy = "1 / (1 + np.exp(-x))", torch = "x.sigmoid()" },
})

activation("tanh", {
  doc = "the hyperbolic tangent",
  compute = function(x) return tanh(x) end,
  ulp = vector.ulp(2),
  variants = vector.map_of_costly,
  peers = { numpy = "np.tanh(x)", torch = "x.tanh()" },
})

-- The exact form. 1 + erf(x) would lose its digits for x below -1; erfc(-x) is the same and does not.
local function gelu(x)
  return x * (0.5 * erfc(x * -math.sqrt(0.5)))
end

activation("gelu", {
  doc = "x / 2 * erfc(-x / sqrt(2))",
  sets = vector.swept,
  compute = gelu,
  ulp = vector.ulp(2),
  variants = vector.map_of_costliest,
  backward = {
    variants = { "default" },
    peers = {
      numpy = "dy * (0.5 * (1 + erf(x / np.sqrt(2))) + x * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))",
    },
  },
  peers = { numpy = "0.5 * x * (1 + erf(x / np.sqrt(2)))", torch = "F.gelu(x)" },
})

op "bias_gelu" {
  doc = "gelu of x + bias, with a bias for each column",
  inputs = { x = { "rows", "cols", range = { -10, 10 } }, bias = { "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, bias) return gelu(x + bias) end,
  sizes = vector.grid_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = { -- one of its results is a sum down the columns
    ulp = vector.ulp(vector.sum_ulp),
    peers = {
      numpy = "z = x + bias; "
        .. "d = dy * (0.5 * (1 + erf(z / np.sqrt(2))) + z * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)); d, d.sum(0)",
    },
  },
  peers = { numpy = "z = x + bias; 0.5 * z * (1 + erf(z / np.sqrt(2)))", torch = "F.gelu(x + bias)" },
}

-- (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits for negative u.
activation("gelu_tanh", {
  doc = "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))",
  sets = vector.swept,
  compute = function(x)
    return x * sigmoid(math.sqrt(8 / math.pi) * x * (1 + 0.044715 * (x * x)))
  end,
  ulp = vector.ulp(2),
  variants = vector.map_of_costliest,
  backward = {
    variants = { "default" },
    peers = {
      numpy = "t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)); "
        .. "0.5 * dy * (1 + t + x * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x))",
    },
  },
  peers = {
    numpy = "0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))",
    torch = "F.gelu(x, approximate='tanh')",
  },
})

activation("swish", {
  doc = "x * sigmoid(x)",
  sets = vector.swept,
  compute = function(x) return x * sigmoid(x) end,
  ulp = vector.ulp(2),
  variants = vector.map_of_costly,
  backward = {
    variants = { "default" },
    peers = { numpy = "s = 1 / (1 + np.exp(-x)); dy * s * (1 + x * (1 - s))" },
  },
  peers = { numpy = "x / (1 + np.exp(-x))", torch = "F.silu(x)" },
})
