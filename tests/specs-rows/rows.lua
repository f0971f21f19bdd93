-- Programs over rows that no spec of the project has: what they need of kernels together.

local function unusual(name, row)
  row.dtypes, row.ulp = { "f64", "f32", "f16" }, { f64 = 6, f32 = 6, f16 = 18 }
  row.sizes = { { "S", rows = 9, cols = 70 } }
  row.variants = { { backend = "cuda" }, { backend = "vulkan" } }
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
