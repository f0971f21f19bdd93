-- The functions that no op of specs/ has, with their gradients, for the tests of every backend.

local vector = include "include/vector.lua"

local common = {
  sizes = { { "1K", n = 1000 } },
  dtypes = vector.dtypes,
  ulp = vector.ulp(4),
  variants = {
    { backend = "cpu" },
    { backend = { "cuda", "vulkan" }, block = 128, unroll = 1 },
  },
}

local function declare(name, keys)
  for key, value in pairs(common) do
    keys[key] = value
  end
  op(name)(keys)
end

-- Mostly arguments that a few parts of pi reduce; --special has the others.
declare("waves", {
  doc = "sine and cosine",
  inputs = { x = { "n", range = { -10000, 10000 } } },
  outputs = { s = { "n" }, c = { "n" } },
  compute = function(x) return { s = sin(x), c = cos(x) } end,
  backward = true,
})

declare("powers", {
  doc = "x to the power of z",
  inputs = { x = { "n", range = { 0.1, 10 } }, z = { "n", range = { -5, 5 } } },
  outputs = { p = { "n" } },
  compute = function(x, z) return x ^ z end,
})

-- Of x next to 0 a slope may be finite where the power it is made of is not.
declare("slopes", {
  doc = "powers of numbers that are not next to 0",
  inputs = { x = { "n", range = { 0.1, 10 } }, z = { "n", range = { -5, 5 } } },
  outputs = { p = { "n" } },
  compute = function(x, z) return pow(max(x, 0.01), z) end,
  backward = true,
})

-- A compiler that computes this by itself may do so in another precision, in which tricks with large numbers fail.
declare("of_clamped_constants", {
  doc = "a function of nothing but numbers",
  inputs = { x = { "n", range = { -1, 1 } } },
  outputs = { y = { "n" } },
  compute = function(x) return x + exp2(clamp(0.1, -0.39, 0.96)) end,
})

-- A compiler that takes 0 * x for 0, or x + 0 for x, is wrong of NaN, infinities and -0.
declare("with_zeros", {
  doc = "sums, products and quotients of zeros",
  inputs = { x = { "n", range = { 0.1, 10 } }, z = { "n" } },
  outputs = { products = { "n" }, quotients = { "n" }, fused = { "n" }, sums = { "n" }, differences = { "n" } },
  compute = function(x, z)
    return {
      products = z + x * 0, quotients = z + 0 / x, fused = z + fma(-0.0, x, z), sums = copysign(z, x + 0),
      differences = copysign(z, 0 - x),
    }
  end,
})

declare("inverse_roots", {
  doc = "1 / sqrt(x)",
  inputs = { x = { "n", range = { 0.1, 10 } } },
  outputs = { r = { "n" } },
  compute = function(x) return rsqrt(x) end,
  backward = true,
})

declare("logarithms", {
  doc = "by other bases",
  inputs = { x = { "n", range = { 0.1, 10 } } },
  outputs = { two = { "n" }, ten = { "n" } },
  compute = function(x) return { two = log2(x), ten = log10(x) } end,
  backward = true,
})

declare("hyperbolic", {
  doc = "hyperbolic functions and their inverses",
  inputs = { x = { "n", range = { -0.9, 0.9 } } },
  outputs = { c = { "n" }, s = { "n" }, ac = { "n" }, as = { "n" }, at = { "n" } },
  compute = function(x)
    return { c = cosh(3 * x), s = sinh(3 * x), ac = acosh(x * x + 1.5), as = asinh(3 * x), at = atanh(x) }
  end,
  backward = true,
})

declare("angles", {
  doc = "angles by their functions, and the inverse of erf",
  inputs = { x = { "n", range = { -0.9, 0.9 } }, y = { "n" } },
  outputs = { s = { "n" }, c = { "n" }, t = { "n" }, turn = { "n" }, r = { "n" }, e = { "n" } },
  compute = function(x, y)
    return { s = asin(x), c = acos(x), t = atan(3 * x), turn = atan2(y, x), r = hypot(y, x), e = erfinv(x) }
  end,
  backward = true,
})

declare("divisions", {
  doc = "whole quotients and what is left",
  inputs = { x = { "n", range = { -9, 9 } }, y = { "n", range = { 0.5, 3 } } },
  outputs = { q = { "n" }, r = { "n" }, f = { "n" }, c = { "n" }, t = { "n" }, p = { "n" } },
  compute = function(x, y)
    return {
      q = floor_divide(x, y), r = remainder(x, -y), f = fmod(x, y), c = ceil(x), t = trunc(x) + tan(y / 3),
      p = max(frac(x), y, 1),
    }
  end,
  backward = true,
})

declare("steps", {
  doc = "whole numbers and signs",
  inputs = { x = { "n", range = { -4, 4 } } },
  outputs = { f = { "n" }, r = { "n" }, s = { "n" }, a = { "n" } },
  compute = function(x) return { f = floor(x), r = round(x), s = sign(x), a = abs(x) * x } end,
  backward = true,
})

declare("sizes_of", {
  doc = "the size of a number, whose gradient has NaN where the number is",
  inputs = { x = { "n" } },
  outputs = { y = { "n" } },
  compute = function(x) return abs(x) end,
  backward = true,
})

declare("of_constants", {
  doc = "functions of numbers that are known when the kernel is made",
  inputs = { x = { "n" } },
  outputs = { r = { "n" }, e = { "n" }, s = { "n" } },
  compute = function(x) return { r = round(0.5) + round(2.5) * x, e = exp(0.5) * x, s = floor(-0.5) + sin(3) * x } end,
})

declare("truths", {
  doc = "comparisons as numbers, and what is made of several",
  inputs = { x = { "n" }, y = { "n" } },
  outputs = { less = { "n" }, one = { "n" }, whole = { "n" } },
  compute = function(x, y)
    return { less = lt(x, y), one = one_of(gt(x, 0), gt(y, 0)), whole = any_of(isnan(x), isinf(y), isfinite(y)) }
  end,
})

-- Rows with these functions.
local function declare_rows(name, keys)
  keys.dtypes, keys.ulp, keys.sizes = keys.dtypes or { "f32" }, 4, { { "S", rows = 7, cols = 26 } }
  keys.variants = { { backend = { "cpu", "cuda", "vulkan" } } }
  op(name)(keys)
end

declare_rows("rows_of_truths", {
  doc = "whether a comparison holds somewhere in a row, and everywhere",
  inputs = { a = { "rows", "cols" }, b = { "rows", "cols", range = { 0.9, 2 } } },
  outputs = { some = { "rows" }, all = { "rows" } },
  compute = function(a, b)
    return { some = any_of(gt(a, 0.9), "cols"), all = all_of(lt(a, b), "cols") }
  end,
})

-- The gradient asks for the sign of exp(b) more than once: a comparison is nothing that an output has room for.
declare_rows("signs_of_exponentials", {
  doc = "max(a + mean(c), 1) with the sign of expm1(b)",
  inputs = { a = { "rows", "cols", range = { 0.5, 1.5 } }, b = { "rows", "cols", range = { -0.1, 0.1 } },
    c = { "rows", "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(a, b, c) return copysign(max(a + mean(c, "cols"), 1), erf(expm1(b))) end,
  backward = true,
})

-- The power is beyond f32's largest number in some short rows, and what comes of it is NaN there, or nothing.
declare_rows("large_powers", {
  doc = "a power of about 24 to the 24th",
  inputs = { x = { "rows", "cols", range = { 0, 1 } }, z = { "rows", "cols", range = { 0, 2 } } },
  outputs = { y = { "rows" } },
  compute = function(x, z)
    return mean(x, "cols") + tanh(pow(24 * mean(x + 0.5, "cols"), 24 * mean(z, "cols")) * 1e-33)
  end,
  backward = true,
})

-- A slope times a result near the largest number is beyond it.
declare_rows("near_the_largest", {
  doc = "2 to the power of the row's size, in rows of some hundred elements",
  inputs = { x = { "rows", "cols", range = { 0, 1 } }, c = { "rows", "cols", range = { 0.5, 1 } } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x, c) return exp2(min(x * sum(c * c, "cols"), 127.5)) end,
})

-- An argument that is an operand's element, or another's, is as exact as the element.
declare_rows("chosen_elements", {
  doc = "erfc of the larger element in size, times its square",
  inputs = { a = { "rows", "cols", range = { -9, 9 } }, b = { "rows", "cols", range = { -9, 9 } } },
  outputs = { y = { "rows", "cols" } },
  dtypes = { "bf16", "f16" },
  compute = function(a, b)
    local x = select(gt(abs(a), abs(b)), a, b)
    return erfc(x) * x * x
  end,
})

-- One error for all elements of a row, and one row or few; an infinity times what may be taken as zero.
declare_rows("least_of_shifted", {
  doc = "the smallest of a + sin(sum(a)), and the gradient of erf",
  inputs = { a = { "rows", "cols", range = { 0, 1 } }, b = { "cols", range = { 0.5, 1.5 } } },
  outputs = { y = { "rows" } },
  compute = function(a, b) return min(fma(a, b, sin(sum(a, "cols"))), "cols") end,
})

declare("slopes_of_erf", {
  doc = "erf of numbers where its slope is next to nothing",
  inputs = { x = { "n", range = { -10, 10 } } },
  outputs = { y = { "n" } },
  compute = function(x) return erf(x) end,
  backward = true,
})

-- A gradient that is computed of a row's numbers and its length alone: no pass reads an element.
declare_rows("shifted_by_one_of_a_row", {
  doc = "sum(c + a), of which only c has a gradient",
  inputs = { a = { "rows", "cols", range = { -1, 1 } }, c = { "rows", range = { -10, 10 } } },
  outputs = { y = { "rows" } },
  dtypes = { "bf16", "f16" },
  compute = function(a, c) return sum(c + detach(a), "cols") end,
  backward = true,
})
