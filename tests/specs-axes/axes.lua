-- Functions over named axes, for test_axes.sh: those that are rows of a matrix, and those that no template does.

local function declare(name, keys)
  keys.doc, keys.dtypes, keys.ulp = name, { "f64", "f32" }, 4
  keys.backward = keys.backward == nil or keys.backward
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
  backward = {
    peers = {
      numpy = "s = x @ w.T + bias; "
        .. "d = dy * (0.5 * erfc(-s / np.sqrt(2)) + s * np.exp(-0.5 * s * s) / np.sqrt(2 * np.pi)); "
        .. "d @ w, d.T @ x, d.sum(0)",
    },
  },
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

declare("dropped_bias", {
  inputs = { x = { "rows", "cols" }, bias = { "cols" }, seed = { dtype = "i64" }, offset = { dtype = "i64" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, bias, seed, offset) return select(ge(random(seed, offset), 0.25), x + bias, 0) end,
  peers = { numpy = "np.where(random(seed, offset, x.size).reshape(x.shape) >= 0.25, x + bias, 0)" },
})

-- Places along an axis that is not the innermost.
declare("picked", {
  inputs = { x = { "cols", "rows" }, target = { "rows", index = "cols" } },
  outputs = { y = { "rows" } },
  compute = function(x, target) return log(sum(exp(x), "cols")) - at(x, target) end,
  peers = {
    numpy = "inside = (target >= 0) & (target < len(x)); picked = x[target * inside, np.arange(len(target))]; "
      .. "np.log(np.exp(x).sum(0)) - np.where(inside, picked, np.nan)",
  },
})

declare("placed", {
  inputs = { x = { "cols", "rows" } },
  outputs = { at_most = { "rows" }, most = { "rows" } },
  compute = function(x) return { at_most = argmax(x, "cols"), most = max(x, "cols") } end,
  backward = false,
  peers = { numpy = "x.argmax(0), x.max(0)" },
})

-- The gradient by one value in all is a sum over all axes, of factors with one of them.
declare("scaled", {
  inputs = { x = { "rows", "cols" }, gamma = { "cols" }, s = {} },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, gamma, s) return x * gamma * s end,
  backward = { ds = { variants = { { backend = { "scalar", "avx2" } } } } },
  peers = { numpy = "x * gamma * s" },
})

-- As many axes as there may be.
declare("eight", {
  inputs = { x = { "a", "b", "c", "d", "e", "f" }, w = { "f", "g", "c", "h" } },
  outputs = { y = { "a", "h", "b", "g", "d" } },
  compute = function(x, w) return sum(x * w, "c", "e", "f") end,
  peers = { numpy = "np.einsum('abcdef,fgch->ahbgd', x, w)" },
})

-- A graph of which a walk that does not remember where it was would take 2^40 steps.
declare("shared_values", {
  inputs = { x = { "m", "k" }, w = { "k", "n" } },
  outputs = { y = { "m", "n" } },
  compute = function(x, w)
    local y = sum(x * w, "k")
    for _ = 1, 40 do y = (y + y) * 0.5 end
    return y
  end,
  peers = { numpy = "x @ w" },
})
