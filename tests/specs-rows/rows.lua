-- Programs over rows that no spec of the project has: what they need of kernels together.

local function unusual(name, row)
  row.dtypes, row.ulp = row.dtypes or { "f64", "f32", "f16" }, row.ulp or { f64 = 6, f32 = 6, f16 = 18 }
  row.sizes = { { "S", rows = 9, cols = 70 } }
  row.variants = row.variants or { { backend = "cuda" }, { backend = "vulkan" }, { backend = "scalar" } }
  op(name)(row)
end

-- A reduction over the rows beside a total of each, which no pass over the row leads to.
unusual("totals_alone", {
  doc = "the sum of s x down each column, and 2 s for each row",
  inputs = { x = { "rows", "cols" }, s = { "rows" } },
  outputs = { c = { "cols" }, q = { "rows" } },
  compute = function(x, s) return { c = sum(x * s, "rows"), q = s * 2 } end,
})

-- Tiles of columns with what there is of each row once, beside results of passes.
unusual("weighted", {
  doc = "the sum of w x down each column",
  inputs = { x = { "rows", "cols" }, w = { "rows" } },
  outputs = { c = { "cols" } },
  compute = function(x, w) return sum(x * w, "rows") end,
})

unusual("centred", {
  doc = "the sums of w (x - mean), of x and of |x| down each column",
  inputs = { x = { "rows", "cols" }, w = { "rows" } },
  outputs = { c = { "cols" }, d = { "cols" }, e = { "cols" } },
  compute = function(x, w)
    return { c = sum(w * (x - mean(x, "cols")), "rows"), d = sum(x, "rows"), e = sum(abs(x), "rows") }
  end,
})

-- What the last row is followed by reads an element that all rows have, alone and in a term of its own.
unusual("scaled_columns", {
  doc = "s (the sum of x + s down each column) + (s + alpha)^2",
  inputs = { x = { "rows", "cols" }, s = {} },
  outputs = { c = { "cols" } },
  scalars = { alpha = 0.5 },
  compute = function(x, s, alpha) return s * sum(x + s, "rows") + (s + alpha) * (s + alpha) end,
})

-- No reduction, and what there is of each row and of each column.
unusual("shifted", {
  doc = "r x + c",
  inputs = { x = { "rows", "cols" }, r = { "rows" }, c = { "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, r, c) return r * x + c end,
})

-- The same of more operands than have room in shared memory.
local whole = { "rows", "cols" }
unusual("crowded", {
  doc = "r times the sum of nineteen operands",
  inputs = {
    a = whole, b = whole, c = whole, d = whole, e = whole, f = whole, g = whole, h = whole, i = whole, j = whole,
    k = whole, l = whole, m = whole, n = whole, o = whole, p = whole, q = whole, s = whole, t = whole, r = { "rows" },
  },
  outputs = { y = whole },
  dtypes = { "f32" }, ulp = 40, variants = { { backend = "cuda" }, { backend = "scalar" } },
  compute = function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, s, t, r)
    return r * (a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + s + t)
  end,
})

-- NaN has a sign where it is moved alone, also through what a row's elements are kept in.
unusual("signs", {
  doc = "x with the signs of s; the sum of each row of x",
  inputs = { x = { "rows", "cols" }, s = { "rows", "cols" } },
  outputs = { y = { "rows", "cols" }, t = { "rows" } },
  dtypes = { "f32", "bf16" }, ulp = { f32 = 6, bf16 = 18 },
  compute = function(x, s) return { y = copysign(x, s), t = sum(x, "cols") } end,
})

-- Whole numbers whose argument is off by more than 1.
unusual("far_steps", {
  doc = "floor(2^(60 mean(|x|))) of each row",
  inputs = { x = { "rows", "cols" } },
  outputs = { y = { "rows" } },
  dtypes = { "f64", "f32" }, ulp = 6,
  compute = function(x) return floor(exp2(60 * mean(abs(x), "cols"))) end,
})

-- More than fits a block's shared memory for all of its threads.
unusual("many", {
  doc = "seven sums down each column",
  inputs = { x = { "rows", "cols" } },
  outputs = { a = { "cols" }, b = { "cols" }, c = { "cols" }, d = { "cols" }, e = { "cols" }, f = { "cols" },
    g = { "cols" } },
  compute = function(x)
    local terms = { a = x, b = x * x, c = abs(x), d = 2 * x, e = max(x, 0), f = min(x, 0), g = 1 - x }
    for name, term in pairs(terms) do
      terms[name] = sum(term, "rows")
    end
    return terms
  end,
})

-- Comparisons of points, of a row's results and of both, made one.
unusual("conditions", {
  doc = "2 x between -0.5 and 0.5 in rows that reach 0.98, and where x is the row's smallest; x elsewhere",
  inputs = { x = { "rows", "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x)
    local doubled = any_of(all_of(gt(x, -0.5), lt(x, 0.5), ge(max(x, "cols"), 0.98)), eq(x, min(x, "cols")))
    return select(negate(doubled), x, 2 * x)
  end,
})
