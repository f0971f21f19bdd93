-- Ops whose kernels are launched in all the ways that there are: maps, reductions of two phases, rows with points and
-- without, by columns too, and reductions over the rows with something known of each row and without; products of
-- matrices, and chains of such.

local gpus = { "cuda", "vulkan" }

local function rows_op(name, row)
  row.doc, row.sizes, row.dtypes, row.ulp = name, { { "S", rows = 3, cols = 5 } }, { "f16" }, { f16 = 4 }
  row.variants = { { backend = gpus } }
  op(name)(row)
end

op "launch_map" {
  doc = "launch_map", inputs = { x = { "n" } }, outputs = { y = { "n" } },
  compute = function(x) return -x end,
  sizes = { { "S", n = 5 } }, dtypes = { "f32" }, ulp = { f32 = 1 },
  variants = { { backend = gpus, block = 128, unroll = 2 } },
}

op "launch_reduce" {
  doc = "launch_reduce", inputs = { x = { "n" } }, outputs = { r = {} },
  compute = function(x) return sum((x - mean(x)) ^ 2) end,
  sizes = { { "S", n = 5 } }, dtypes = { "f32" }, ulp = { f32 = 4 },
  variants = { { backend = gpus, block = 256, unroll = 2, waves = 2 } },
}

rows_op("launch_points", {
  inputs = { x = { "rows", "cols" } }, outputs = { y = { "rows", "cols" } },
  compute = function(x)
    local e = exp(x - max(x, "cols"))
    return e / sum(e, "cols")
  end,
})

rows_op("launch_totals", {
  inputs = { x = { "rows", "cols" }, z = { "rows", "cols" } }, outputs = { y = { "rows" } },
  compute = function(x, z) return sum(x * z, "cols") end,
})

rows_op("launch_columns", {
  inputs = { x = { "rows", "cols" }, w = { "cols" } }, outputs = { y = { "rows", "cols" } },
  compute = function(x, w)
    local centred = x - mean(x, "cols")
    return centred * rsqrt(mean(centred ^ 2, "cols")) * w
  end,
})

rows_op("launch_over_rows", {
  inputs = { x = { "rows", "cols" }, w = { "cols" } }, outputs = { y = { "cols" } },
  compute = function(x, w) return sum(x * w * sum(x, "cols"), "rows") end,
})

rows_op("launch_column_sum", {
  inputs = { x = { "rows", "cols" }, z = { "rows", "cols" } }, outputs = { y = { "cols" } },
  compute = function(x, z) return sum(x * z, "rows") end,
})

op "launch_product" {
  doc = "launch_product", inputs = { a = { "m", "k" }, b = { "n", "k" } }, outputs = { c = { "m", "n" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "S", m = 5, n = 3, k = 7 } }, dtypes = { "f32", "f16" }, ulp = { f32 = 4, f16 = 1 },
  variants = {
    { backend = "cuda", unit = "wgmma", dtypes = { "f16" } }, { backend = "cuda", dtypes = { "f32" } },
    { backend = "vulkan" }, { backend = "vulkan", unit = "matrix", dtypes = { "f16" } },
  },
}

op "launch_chain" {
  doc = "launch_chain", inputs = { x = { "b", "i" }, v = { "h", "i" }, w = { "o", "h" } }, outputs = { y = { "b", "o" } },
  compute = function(x, v, w)
    return sum(max(sum(x * v, "i"), 0) * w, "h")
  end,
  backward = { variants = { { backend = gpus, implementation = "coopmat" } } },
  sizes = { { "S", b = 5, i = 3, h = 7, o = 2 } }, dtypes = { "f16" }, ulp = { f16 = 1 },
  variants = { { backend = gpus, implementation = "coopmat" }, { backend = gpus, implementation = "for_loop" } },
}

-- Nests of loops: of terms side by side, and of points.
op "spread" {
  doc = "a maximum over all but the middle axis, and what is beside a mean over the first",
  inputs = { x = { "a", "b", "c" } },
  outputs = { y = { "b" }, z = { "a", "b", "c" } },
  compute = function(x) return { y = max(x, "a", "c"), z = x - mean(x, "a") } end,
  sizes = { { "S", a = 2, b = 3, c = 4 } },
  dtypes = { "f32" },
  ulp = 4,
}
