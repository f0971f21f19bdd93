-- Perceptrons of two layers, one row of a batch after the other through both.

local vector = include "include/vector.lua"

local layers = {
  { "small", i = 64, h = 64, o = 16 },
  { "medium", i = 128, h = 128, o = 32 },
  { "large", i = 256, h = 256, o = 64 },
  { "xlarge", i = 512, h = 512, o = 128 },
}

-- Not of the gradient: where a hidden value is near 0, its sign would be that of a sum rounded to f16.
local rounded = { backend = "vulkan", implementation = "coopvec", dtypes = "f16" }

local sizes, sweep = {}, {}
for n, layer in ipairs(layers) do
  local size = { layer[1], batch = 256, i = layer.i, h = layer.h, o = layer.o }
  sizes[n] = size
  sweep[n] = { 256, layer.o, layer.i, layer.h }
end

op "mlp" {
  doc = "w2 relu(w1 x + b1) + b2, for each row x of a batch",
  inputs = {
    x = { "batch", "i" }, w1 = { "h", "i" }, b1 = { "h" }, w2 = { "o", "h" }, b2 = { "o" },
  },
  outputs = { y = { "batch", "o" } },
  compute = function(x, w1, b1, w2, b2)
    local hidden = max(sum(w1 * x, "i") + b1, 0)
    return sum(w2 * hidden, "h") + b2
  end,
  sizes = sizes,
  sets = { sweep = sweep },
  dtypes = vector.dtypes,
  ulp = vector.ulp(3),
  products = "narrow", -- as where a layer's results are stored for the next
  backward = {
    variants = { "default" },
    peers = {
      numpy = "z = x @ w1.T + b1; d = dy @ w2 * (z > 0); "
        .. "d @ w1, d.T @ x, d.sum(0), dy.T @ np.maximum(z, 0), dy.sum(0)",
    },
  },
  variants = { rounded, "default" },
  peers = {
    numpy = "np.maximum(x @ w1.T + b1, 0) @ w2.T + b2",
    torch = "F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)",
  },
}
