-- Contractions for test_contract.sh and test_contract_cuda.sh: of every order of axes, with batches, groups of axes that
-- lie together or apart, prologues, epilogues and steps that build on each other.

local function declare(name, inputs, outputs, compute, keys)
  keys = keys or {}
  local size = { "S" }
  for _, shape in pairs(inputs) do
    for _, dim in ipairs(shape) do
      size[dim] = keys.extent or 5
    end
  end
  local dtypes = keys.dtypes or { "f32", "bf16" }
  op(name) {
    doc = name, inputs = inputs, outputs = outputs, scalars = keys.scalars, compute = compute,
    sizes = { size, table.unpack(keys.also or {}) },
    dtypes = dtypes, ulp = keys.ulp or 3, backward = keys.backward,
    -- Blocks far smaller than those that are fast, so that small sizes are several. By the default of `direct`, 100, the
    -- probe's sums past it have eleven times as many terms.
    variants = {
      {
        backend = { "scalar", "sse2", "avx2", "avx512" }, mr = 3, nv = 2, kc = 16, mc = 16, nc = 64,
        direct = keys.direct or 44,
      },
      { backend = "cuda", bm = 64, bn = 64 },
      { backend = "cuda", unit = "mma", bm = 64, bn = 64, stages = 3, dtypes = dtypes[2] }, -- 48 KiB of shared memory
      { backend = "cuda", unit = "wgmma", bm = 64, bn = 128, stages = 3, dtypes = dtypes[2] },
      dtypes[1] == "f32" and {
        backend = "cuda", unit = "wgmma", products = "tf32", bm = 64, bn = 128, dtypes = "f32",
      } or nil,
    },
  }
end

local function product(a, b) return sum(a * b, "k") end

-- Few rows of one factor, and more of the other than half a cache holds; few rows, or columns, that lie along terms.
local thin = { { "thin", m = 5, n = 401, k = 1031 } }
local few = { { "few_rows", m = 3, n = 9, k = 70 }, { "few_columns", m = 9, n = 3, k = 70 } }

local orders = { { "m", "k" }, { "k", "m" } }
for i, a in ipairs(orders) do
  for j, b in ipairs { { "k", "n" }, { "n", "k" } } do
    for l, c in ipairs { { "m", "n" }, { "n", "m" } } do
      declare("product_" .. i .. j .. l, { a = a, b = b }, { c = c }, product,
        i == j and { direct = { 0, 44 }, also = thin } or { also = few })
    end
  end
end

-- Batches: outside, between and inside; of one factor alone they are its own axes.
declare("batch_outside", { a = { "b", "m", "k" }, b = { "b", "k", "n" } }, { c = { "b", "m", "n" } }, product)
declare("batch_between", { a = { "m", "b", "k" }, b = { "k", "b", "n" } }, { c = { "m", "b", "n" } }, product)
declare("batch_inside", { a = { "m", "k", "b" }, b = { "n", "k", "b" } }, { c = { "m", "n", "b" } }, product)
declare("batch_of_a", { a = { "b", "m", "k" }, b = { "k", "n" } }, { c = { "b", "m", "n" } }, product)
declare("batch_of_b", { a = { "m", "k" }, b = { "b", "k", "n" } }, { c = { "b", "n", "m" } }, product)

-- Groups of axes.
declare("heads", { x = { "s", "i" }, w = { "h", "i", "e" } }, { y = { "h", "s", "e" } },
  function(x, w) return sum(x * w, "i") end)
declare("out_of_heads", { x = { "h", "s", "e" }, w = { "h", "e", "o" } }, { y = { "s", "o" } },
  function(x, w) return sum(x * w, "h", "e") end)
declare("terms_together", { x = { "m", "i", "j" }, w = { "n", "i", "j" } }, { y = { "m", "n" } },
  function(x, w) return sum(x * w, "i", "j") end)
declare("terms_of_one", { x = { "m", "i", "j" }, w = { "n", "j" } }, { y = { "m", "n" } },
  function(x, w) return sum(x * w, "i", "j") end)

-- Vectors and less.
declare("vector_matrix", { x = { "k" }, w = { "i", "k", "n" } }, { y = { "i", "n" } },
  function(x, w) return sum(x * w, "k") end)
declare("matrix_vector", { x = { "m", "j", "k" }, w = { "k", "j" } }, { y = { "m" } },
  function(x, w) return sum(x * w, "j", "k") end)
declare("total", { x = { "i", "j" }, u = { "i" }, v = { "j" } }, { r = {} },
  function(x, u, v) return sum(x * u * v, "i", "j") end)
declare("outer_sum", { x = { "i", "j" }, y = { "j", "l" } }, { r = { "i", "l" } },
  function(x, y) return sum(abs(x) + y, "j") end)

-- Prologues and epilogues.
declare("dequantised", { x = { "m", "k" }, q = { "n", "k" }, zero = { "n" }, step_of = { "n" }, gain = {} },
  { y = { "m", "n" } },
  function(x, q, zero, step_of, gain) return sum(x * ((q - zero) * step_of) * gain, "k") end)
declare("alpha_beta", { a = { "m", "k" }, b = { "k", "n" }, c = { "m", "n" } }, { r = { "m", "n" } },
  function(a, b, c, alpha, beta) return alpha * sum(a * b, "k") + beta * c end,
  { scalars = { alpha = 0.5, beta = -1.5 } })
declare("scaled_inside", { a = { "m", "k" }, b = { "k", "n" }, s = { "m" } }, { r = { "m", "n" } },
  function(a, b, s, alpha) return sum(-(a * alpha * s) * b / alpha, "k") / count("k") end,
  { scalars = { alpha = 0.5 }, ulp = 6 })
declare("beyond_zero", { x = { "m", "k" }, w = { "n", "k" } }, { y = { "m", "n" } },
  function(x, w) return sum((x + 2) * (w + 3), "k") end)
declare("two_outputs", { x = { "m", "k" }, w = { "n", "k" }, bias = { "n" }, residual = { "m", "n" } },
  { y = { "m", "n" }, z = { "n", "m" } },
  function(x, w, bias, residual)
    local z = sum(x * w, "k") + bias
    return { y = max(z, 0) + residual, z = z }
  end)
declare("epilogue", { x = { "m", "k" }, w = { "k", "n" }, bias = { "n" } }, { y = { "m", "n" } },
  function(x, w, bias) return max(sum(x * w, "k") + bias, 0) end, { direct = { 0, 44 }, also = thin })
declare("two_products", { x = { "m", "k" }, w = { "n", "k" }, v = { "n", "k" } }, { y = { "m", "n" } },
  function(x, w, v) return sum(x * w, "k") * sigmoid(sum(x * v, "k")) end, { backward = true, ulp = 4, dtypes = { "f64", "f16" } })

-- Steps that build on each other.
declare("mlp", { x = { "batch", "i" }, w1 = { "h", "i" }, b1 = { "h" }, w2 = { "o", "h" }, b2 = { "o" } },
  { y = { "batch", "o" } },
  function(x, w1, b1, w2, b2) return sum(w2 * max(sum(w1 * x, "i") + b1, 0), "h") + b2 end, { backward = true })
declare("chain", { a = { "i", "j" }, b = { "j", "l" }, c = { "l", "n" } }, { r = { "i", "n" } },
  function(a, b, c) return sum(sum(a * b, "j") * c, "l") end, { backward = true })

-- A choice of what is summed, and of a sum of that.
declare("chosen", { a = { "m", "k" }, b = { "k", "l" }, c = { "l", "n" } }, { r = { "m", "n" } }, function(a, b, c)
  local function leaky(x) return select(gt(x, 0), x, x / 8) end
  return leaky(sum(leaky(sum(a * b, "k")) * c, "l"))
end)

-- Operands with types of their own: narrower and wider than the op's, along the terms and across them, in factors and
-- in what follows the sum.
declare("typed_weights", {
  x = { "m", "k" }, w = { "n", "k", dtype = "i8", range = { -9, 9 } }, scale = { "n", dtype = "f32" },
}, { y = { "m", "n" } }, function(x, w, scale) return sum(x * (w * scale), "k") end,
  { backward = true, also = { { "typed", m = 33, n = 35, k = 70 }, few[1], few[2] } })
declare("typed_across", {
  a = { "k", "m", dtype = "f16" }, b = { "k", "n", dtype = "u8", range = { 0, 9 } }, c = { "m", "n", dtype = "bf16" },
}, { y = { "m", "n", dtype = "f32" } }, function(a, b, c) return sum(a * b, "k") + c end,
  { also = { { "typed", m = 33, n = 35, k = 70 }, few[1], few[2] } })
declare("typed_bytes", {
  a = { "m", "k", dtype = "i8" }, b = { "n", "k", dtype = "i8" },
  scale = { "n", dtype = "f32", range = { 0.001, 0.01 } },
}, { y = { "n", "m", dtype = "i8" }, s = { "m", "n" } }, function(a, b, scale)
  local z = sum(a * b, "k") * scale
  return { y = z, s = z }
end, { also = { { "typed", m = 33, n = 35, k = 70 }, few[1], few[2] } })
declare("typed_batches", {
  a = { "b", "m", "k", dtype = "bf16" }, b = { "k", "b", "n", dtype = "i8", range = { -9, 9 } },
}, { y = { "b", "m", "n" } }, product)
