-- What is several runs, one after the other: products, streams, and nests for the rest.

local ulp = { f32 = 6, f64 = 6, f16 = 3 }

-- Multi-head attention of tokens x to tokens c, of which each sees those no later than itself.
op "heads" {
  doc = "Attention of several heads between projections of its tokens and of what it comes to",
  inputs = {
    x = { "b", "s", "m" }, c = { "b", "t", "m" }, wq = { "h", "d", "m", range = { -0.25, 0.25 } },
    wk = { "h", "d", "m", range = { -0.25, 0.25 } }, wv = { "h", "e", "m" }, wo = { "h", "e", "n" },
  },
  outputs = { y = { "b", "s", "n" } },
  compute = function(x, c, wq, wk, wv, wo)
    local q, k, v = sum(x * wq, "m"), sum(c * wk, "m"), sum(c * wv, "m")
    local score = sum(q * k, "d") * rsqrt(count "d")
    score = select(le(position "t", position "s" + count "t" - count "s"), score, -inf)
    local p = exp(score - detach(max(score, "t")))
    return sum(sum(p * v, "t") / sum(p, "t") * wo, "h", "e")
  end,
  sizes = { { "S", b = 2, s = 9, t = 20, m = 12, h = 3, d = 8, e = 6, n = 10 } },
  dtypes = { "f32", "f16" },
  ulp = ulp,
  backward = {},
}

op "softened" {
  doc = "Softmax of a product",
  inputs = { x = { "m", "k" }, w = { "k", "n" }, b = { "n" } },
  outputs = { y = { "m", "n" } },
  compute = function(x, w, b)
    local z = sum(x * w, "k") + b
    local e = exp(z - detach(max(z, "n")))
    return e / sum(e, "n")
  end,
  sizes = { { "S", m = 9, n = 20, k = 12 } },
  dtypes = { "f64", "f16" },
  ulp = ulp,
}

op "settled" {
  doc = "Layer norm of a product added to its input",
  inputs = { x = { "m", "k" }, w = { "n", "k" }, r = { "m", "n" }, g = { "n" } },
  outputs = { y = { "m", "n" } },
  compute = function(x, w, r, g)
    local z = r + sum(x * w, "k")
    local apart = z - sum(z, "n") / count "n"
    return apart * rsqrt(sum(apart * apart, "n") / count "n" + 1e-5) * g
  end,
  sizes = { { "S", m = 9, n = 20, k = 12 } },
  dtypes = { "f32" },
  ulp = ulp,
  backward = {},
}

op "windowed" {
  doc = "A convolution by strides of 2: a product of what a nest brings together",
  inputs = { x = { "b", "h", "w", "c" }, f = { "r", "s", "c", "k" } },
  outputs = { y = { "b", "o", "q", "k" } },
  axes = { "o", "q" },
  compute = function(x, f)
    local place = { h = position "o" * 2 + position "r" - 1, w = position "q" * 2 + position "s" - 1 }
    return sum(at(x, place, 0) * f, "r", "s", "c")
  end,
  sizes = { { "S", b = 2, h = 8, w = 9, c = 12, r = 3, s = 2, k = 10, o = 4, q = 5 } },
  dtypes = { "f32", "f16" },
  ulp = ulp,
  backward = {},
}

op "looked_up" {
  doc = "Rows of a table that indexes name, by a matrix",
  inputs = { t = { "v", "k" }, i = { "m", index = "v" }, w = { "n", "k" } },
  outputs = { y = { "m", "n" } },
  compute = function(t, i, w) return sum(at(t, { v = i }) * w, "k") end,
  sizes = { { "S", v = 7, m = 20, n = 9, k = 12 } },
  dtypes = { "f32" },
  ulp = ulp,
  backward = {},
}
