-- Ops of which numbers below the normal range lie between operands and results, are compared, or are a factor.

local V, one = { "rows", "cols" }, { { backend = { "avx2", "scalar" } } }

local function flushing(name, inputs, output, compute, backward)
  local by_row = not inputs.w
  op(name) {
    doc = "test", inputs = inputs, outputs = { y = output }, compute = compute,
    sizes = { by_row and { "a", rows = 3, cols = 5 } or { "a", m = 3, n = 5, k = 7 } },
    dtypes = { "f32", "f16", "bf16" }, ulp = { f32 = 3, f16 = 16, bf16 = 16 },
    variants = one, backward = backward and { variants = one },
  }
end

flushing("gated", { x = { "m", "k" }, w = { "n", "k" }, v = { "n", "k" } }, { "m", "n" }, function(v, w, x)
  local b = sum(x * v, "k")
  return sum(x * w, "k") * (0.5 * b * (1 + erf(b * 0.7071067811865476)))
end)
flushing("causal", { row = { "m" }, a = { "m", "k" }, w = { "n", "k" }, col = { "n" } }, { "m", "n" },
  function(a, col, row, w) return select(le(row, col), sum(a * w, "k"), 0) end)
flushing("thrice", { x = { "m", "k" }, w = { "k", "n" }, s = { "k" } }, { "m", "n" },
  function(s, w, x) return sum(x * w * s, "k") end, true)
flushing("normed", { x = V, g = { "cols" } }, V, function(g, x)
  local c = x - mean(x, "cols")
  return c * rsqrt(mean(c * c, "cols") + 1e-5) * g
end, true)
flushing("faded", { x = V, z = V }, V, function(x, z) return x * exp(-80 - abs(z) * 8) * 1e30 end)
