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
  variants = matrix.all_variants,
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
  peers = {
    numpy = "z = x @ w.T + bias; 0.5 * z * erfc(-z / np.sqrt(2))",
    torch = "F.gelu(F.linear(x, w, bias))",
  },
}

-- Weights of 8 bits, each row of which has a scale.
op "linear_i8" {
  doc = "x @ (w * scale).T + bias, w of i8",
  inputs = {
    x = { "m", "k" }, w = { "n", "k", dtype = "i8" }, scale = { "n", dtype = "f32", range = { 0.001, 0.01 } },
    bias = { "n" },
  },
  outputs = { y = { "m", "n" } },
  compute = function(x, w, scale, bias) return sum(x * w, "k") * scale + bias end,
  sizes = matrix.sizes,
  sets = matrix.sets,
  dtypes = { "f32", "bf16" },
  ulp = matrix.ulp,
  peers = {
    numpy = "x @ w.T * scale + bias",
    torch = "F.linear(x, w.to(x.dtype)) * scale + bias",
  },
}

-- Of 8 bits both: sums of whole numbers, and a scale for each row of either.
op "linear_i8_i8" {
  doc = "(x * scale_x) @ (w * scale_w).T + bias, x and w of i8",
  inputs = {
    x = { "m", "k", dtype = "i8" }, w = { "n", "k", dtype = "i8" }, scale_x = { "m", range = { 0.001, 0.01 } },
    scale_w = { "n", range = { 0.001, 0.01 } }, bias = { "n" },
  },
  outputs = { y = { "m", "n" } },
  compute = function(x, w, scale_x, scale_w, bias) return sum(x * w, "k") * (scale_x * scale_w) + bias end,
  sizes = matrix.sizes,
  sets = matrix.sets,
  dtypes = { "f32" },
  ulp = matrix.ulp,
  variants = {
    { backend = "amx", mr = 14, nv = 2 }, { backend = "avx512", unit = "vnni", mr = 14, nv = 2 },
    "default",
  },
  peers = {
    numpy = "x.astype(bias.dtype) @ w.astype(bias.dtype).T * (scale_x[:, None] * scale_w) + bias",
    torch = "F.linear(x.to(bias.dtype), w.to(bias.dtype)) * (scale_x[:, None] * scale_w) + bias",
  },
}
