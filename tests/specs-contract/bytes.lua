-- Products of 8 bits, with and without signs, for test_contract.sh and test_amx.sh: along the terms and across them, in
-- batches, and of more terms than i32 has room for.

local function declare(name, a, type_a, b, type_b, c, batch)
  a.dtype, b.dtype, c.dtype = type_a, type_b, "f32"
  op(name) {
    doc = name, inputs = { a = a, b = b }, outputs = { c = c },
    compute = function(a, b) return sum(a * b, "k") end,
    sizes = { { "S", m = 35, n = 19, k = 150, b = batch }, { "row", m = 1, n = 19, k = 70, b = batch } },
    dtypes = { "f32" }, ulp = 3,
    -- Blocks far smaller than those that are fast, so that small sizes are several.
    variants = { { backend = "avx512", unit = "vnni", kc = 64, mc = 32, nc = 64 }, { backend = "scalar" } },
  }
end
declare("bytes_ss", { "m", "k" }, "i8", { "n", "k" }, "i8", { "n", "m" })
declare("bytes_su", { "k", "m" }, "i8", { "k", "n" }, "u8", { "m", "n" })
declare("bytes_us", { "m", "k" }, "u8", { "k", "n" }, "i8", { "m", "n" })
declare("bytes_inside", { "m", "k", "b" }, "u8", { "n", "k", "b" }, "u8", { "m", "n", "b" }, 2)

op "bytes_long" {
  doc = "sums beyond i32",
  inputs = { a = { "m", "k", dtype = "u8", range = { 200, 255 } }, b = { "n", "k", dtype = "u8", range = { 200, 255 } } },
  outputs = { c = { "m", "n", dtype = "f32" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "S", m = 2, n = 3, k = 70001 } },
  dtypes = { "f32" }, ulp = 16,
  variants = { { backend = "avx512", unit = "vnni" }, { backend = "scalar" } },
}
