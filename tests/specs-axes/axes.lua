-- Functions over named axes, for test_axes.sh: those that are rows of a matrix, and those that no template does.

local function declare(name, keys)
  keys.doc, keys.dtypes, keys.ulp, keys.backward = name, { "f64", "f32" }, 4, true
  keys.variants = { { backend = { "scalar", "avx2", "cuda", "vulkan" } } }
  local size = { "S" }
  for _, shape in pairs(keys.inputs) do
    for _, dim in ipairs(shape) do
      size[dim] = 3
    end
  end
  keys.sizes = { size }
  op(name)(keys)
end

local function gelu(x)
  return x * (0.5 * erfc(x * -math.sqrt(0.5)))
end

declare("bias_gelu", {
  inputs = { x = { "rows", "cols" }, bias = { "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, bias) return gelu(x + bias) end,
  peers = { numpy = "0.5 * (x + bias) * erfc(-(x + bias) / np.sqrt(2))" },
})

declare("batch_norm", {
  inputs = { x = { "rows", "cols" }, m = { "cols" }, v = { "cols", range = { 0.5, 2 } }, gamma = { "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, m, v, gamma) return (x - m) * rsqrt(v) * gamma end,
  peers = { numpy = "(x - m) / np.sqrt(v) * gamma" },
})

-- The same of the batch itself: values at each point after reductions over the rows.
declare("batch_norm_training", {
  inputs = { x = { "rows", "cols" }, gamma = { "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, gamma)
    local centred = x - mean(x, "rows")
    return centred * rsqrt(mean(centred * centred, "rows") + 0.1) * gamma
  end,
  peers = { numpy = "(x - x.mean(0)) / np.sqrt(x.var(0) + 0.1) * gamma" },
})

declare("linear_gelu", {
  inputs = { x = { "m", "k" }, w = { "n", "k" }, bias = { "n" } },
  outputs = { y = { "m", "n" } },
  compute = function(x, w, bias) return gelu(sum(x * w, "k") + bias) end,
  peers = { numpy = "s = x @ w.T + bias; 0.5 * s * erfc(-s / np.sqrt(2))" },
})

declare("mlp", {
  inputs = { x = { "batch", "i" }, w1 = { "h", "i" }, b1 = { "h" }, w2 = { "o", "h" }, b2 = { "o" } },
  outputs = { y = { "batch", "o" } },
  compute = function(x, w1, b1, w2, b2) return sum(w2 * max(sum(w1 * x, "i") + b1, 0), "h") + b2 end,
  peers = { numpy = "np.maximum(x @ w1.T + b1, 0) @ w2.T + b2" },
})

declare("attention", {
  inputs = { q = { "s", "d" }, k = { "t", "d" }, v = { "t", "e" } },
  outputs = { y = { "s", "e" } },
  scalars = { scale = 0.125 },
  compute = function(q, k, v, scale)
    local score = sum(q * k, "d") * scale
    local e = exp(score - detach(max(score, "t")))
    return sum(e * v, "t") / sum(e, "t")
  end,
  peers = {
    numpy = "e = q @ k.T * scale; e = np.exp(e - e.max(1, keepdims=True)); e @ v / e.sum(1, keepdims=True)",
  },
})

declare("transposed", {
  inputs = { x = { "n", "m" } },
  outputs = { y = { "m", "n" }, largest = { "m" }, mean_of = {} },
  compute = function(x) return { y = 2 * x, largest = max(x, "n"), mean_of = mean(x) } end,
  peers = { numpy = "x.max(0), x.mean(), 2 * x.T" },
})
