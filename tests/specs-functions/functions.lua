-- The functions that no op of specs/ has, with their gradients, for the tests of every backend.

local vector = include "include/vector.lua"

local common = {
  sizes = { { "1K", n = 1000 } },
  dtypes = vector.dtypes,
  ulp = vector.ulp(4),
  variants = {
    { backend = { "avx512", "avx2", "sse2", "scalar" } },
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
  map = function(x) return { s = sin(x), c = cos(x) } end,
  backward = true,
})

declare("powers", {
  doc = "x to the power of z",
  inputs = { x = { "n", range = { 0.1, 10 } }, z = { "n", range = { -5, 5 } } },
  outputs = { p = { "n" } },
  map = function(x, z) return x ^ z end,
})

-- Of x next to 0 a slope may be finite where the power it is made of is not.
declare("slopes", {
  doc = "powers of numbers that are not next to 0",
  inputs = { x = { "n", range = { 0.1, 10 } }, z = { "n", range = { -5, 5 } } },
  outputs = { p = { "n" } },
  map = function(x, z) return pow(max(x, 0.01), z) end,
  backward = true,
})

declare("inverse_roots", {
  doc = "1 / sqrt(x)",
  inputs = { x = { "n", range = { 0.1, 10 } } },
  outputs = { r = { "n" } },
  map = function(x) return rsqrt(x) end,
  backward = true,
})

declare("steps", {
  doc = "whole numbers and signs",
  inputs = { x = { "n", range = { -4, 4 } } },
  outputs = { f = { "n" }, r = { "n" }, s = { "n" }, a = { "n" } },
  map = function(x) return { f = floor(x), r = round(x), s = sign(x), a = abs(x) * x } end,
  backward = true,
})

declare("sizes_of", {
  doc = "the size of a number, whose gradient has NaN where the number is",
  inputs = { x = { "n" } },
  outputs = { y = { "n" } },
  map = function(x) return abs(x) end,
  backward = true,
})
