-- Linear layers: x times the weights w transposed, and what follows.

local matrix = include "include/matrix.lua"

local inputs = { x = { "m", "k" }, w = { "n", "k" }, bias = { "n" } }

op "linear" {
  doc = "x @ w.T + bias",
  inputs = inputs,
  outputs = { y = { "m", "n" } },
  compute = function(x, w, bias) return sum(x * w, "k") + bias end,
  sizes = matrix.sizes,
  sets = matrix.sets,
  dtypes = matrix.dtypes,
  ulp = matrix.ulp,
  variants = matrix.variants,
  peers = { numpy = "x @ w.T + bias", torch = "F.linear(x, w, bias)" },
}

op "linear_gelu" {
  doc = "gelu(x @ w.T + bias)",
  inputs = inputs,
  outputs = { y = { "m", "n" } },
  compute = function(x, w, bias)
    local z = sum(x * w, "k") + bias
    return z * (0.5 * erfc(z * -math.sqrt(0.5)))
  end,
  sizes = matrix.sizes,
  sets = matrix.sets,
  dtypes = matrix.dtypes,
  ulp = matrix.ulp,
  backward = {
    sizes = { { "64", m = 64, n = 64, k = 64 } },
    peers = {
      numpy = "z = x @ w.T + bias; "
        .. "d = dy * (0.5 * erfc(-z / np.sqrt(2)) + z * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)); "
        .. "d @ w, d.T @ x, d.sum(0)",
    },
  },
  variants = matrix.variants,
  peers = {
    numpy = "z = x @ w.T + bias; 0.5 * z * erfc(-z / np.sqrt(2))",
    torch = "F.gelu(F.linear(x, w, bias))",
  },
}
