-- Normalisation of matrices, with a factor (and a term) for each column.

local vector = include "include/vector.lua"

op "layernorm" {
  doc = "(x - mean) / sqrt(variance + eps) * gamma + beta, over each row",
  inputs = {
    x = { "rows", "cols" },
    gamma = { "cols", range = { 0.5, 1.5 } },
    beta = { "cols" },
  },
  outputs = { y = { "rows", "cols" } },
  scalars = { eps = 1e-5 },
  compute = function(x, gamma, beta, eps)
    local centred = x - mean(x, "cols")
    local scale = 1 / sqrt(mean(centred * centred, "cols") + eps)
    return centred * scale * gamma + beta
  end,
  sizes = vector.grid_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = { -- two of its results are sums down the columns
    ulp = vector.ulp(vector.sum_ulp),
    peers = {
      numpy = "s = 1 / np.sqrt(x.var(-1, keepdims=True) + eps); n = (x - x.mean(-1, keepdims=True)) * s; "
        .. "g = dy * gamma; s * (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True)), "
        .. "(dy * n).sum(0), dy.sum(0)",
    },
  },
  peers = {
    numpy = "(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta",
    torch = "F.layer_norm(x, x.shape[-1:], gamma, beta, eps)",
  },
}

op "rmsnorm" {
  doc = "x / sqrt(mean(x^2) + eps) * gamma, over each row",
  inputs = { x = { "rows", "cols" }, gamma = { "cols", range = { 0.5, 1.5 } } },
  outputs = { y = { "rows", "cols" } },
  scalars = { eps = 1e-5 },
  compute = function(x, gamma, eps)
    return x * (1 / sqrt(mean(x * x, "cols") + eps)) * gamma
  end,
  sizes = vector.grid_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = {
    ulp = vector.ulp(vector.sum_ulp),
    peers = {
      numpy = "s = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps); g = dy * gamma; "
        .. "s * (g - x * s * s * (g * x).mean(-1, keepdims=True)), (dy * x * s).sum(0)",
    },
  },
  peers = {
    numpy = "x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gamma",
    torch = "F.rms_norm(x, x.shape[-1:], gamma, eps)",
  },
}

-- As a network that is trained already has it: the moments of each column are operands.
op "batch_norm" {
  doc = "(x - mu) / sqrt(variance + eps) * gamma + beta, of moments for each column",
  inputs = {
    x = { "rows", "cols" },
    mu = { "cols" },
    variance = { "cols", range = { 0.1, 1 } },
    gamma = { "cols", range = { 0.5, 1.5 } },
    beta = { "cols" },
  },
  outputs = { y = { "rows", "cols" } },
  scalars = { eps = 0.01 }, -- beside such a variance results of 16 bits show it, too
  compute = function(x, mu, variance, gamma, beta, eps)
    return (x - mu) * (gamma / sqrt(variance + eps)) + beta
  end,
  sizes = vector.grid_sizes,
  sets = vector.swept,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2),
  backward = { -- all but one of its results are sums down the columns
    ulp = vector.ulp(vector.sum_ulp),
    peers = {
      numpy = "s = 1 / np.sqrt(variance + eps); n = (x - mu) * s; d = dy * gamma * s; "
        .. "d, -d.sum(0), -0.5 * (d * n).sum(0) * s, (dy * n).sum(0), dy.sum(0)",
    },
  },
  peers = {
    numpy = "(x - mu) / np.sqrt(variance + eps) * gamma + beta",
    torch = "F.batch_norm(x, mu, variance, gamma, beta, eps=eps)",
  },
}
