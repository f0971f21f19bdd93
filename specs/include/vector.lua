-- What the ops on vectors share: the sizes of interest, bounds, and variants of costly functions.

-- The sizes, with dims(name, n) giving the dimensions of each.
local function sizes(dims)
  local list = {}
  for i, name in ipairs { "100", "1K", "10K", "100K", "1M" } do
    list[i] = dims(name, math.tointeger(10 ^ (i + 1)))
  end
  return list
end

-- The bounds of an op that is at most so many ulp off in the type it is computed in. Functions whose results are
-- rounded to 16 bits may be off by some ulp more: templates/cuda/functions.h.
local function ulp(bound)
  local narrow = bound > 0.5 and bound + 12 or bound
  return { f32 = bound, f64 = bound, f16 = narrow, bf16 = narrow }
end

-- What the tensor suites of neural networks use, by the name of each kind and of them all.
local sets = {
  small = { { 1024, 1024 } },
  medium = { { 2048, 2048 } },
  large = { { 4096, 4096 } },
  batched = { { 32, 128, 768 }, { 16, 512, 1024 } },
}
sets.tensor = { sets.small[1], sets.medium[1], sets.large[1], sets.batched[1], sets.batched[2] }

-- The same, for an op that is swept over batch, sequence and width.
local swept = {
  sweep = { { { 16, 32, 64, 128 }, { 256, 512, 1024, 2048 }, { 8, 16, 32, 64, 128, 256, 512, 1024 } } },
}
for name, shapes in pairs(sets) do
  swept[name] = shapes
end

-- Variants of functions of one number of 16 bits, whose results these instruction sets find sooner in a
-- table. Where operands are smaller than the table, what other code does between two calls might cost
-- more of it than its look-ups save.
local function looked_up(backends)
  return {
    { backend = backends, dtypes = { "f16", "bf16" }, values = "table", prefer = { from = 2 ^ 17 } },
    "default",
  }
end

return {
  sets = sets,
  swept = swept,
  dtypes = { "f32", "f64", "f16", "bf16" },
  ulp = ulp,
  -- Of a sum where nothing cancels: blocks of 64 terms, added one after the other, are off by one ulp in the root
  -- of the mean of squares; of a million rows one is off by five.
  sum_ulp = 6,
  sizes = sizes(function(name, n)
    return { name, n = n }
  end),
  row_sizes = sizes(function(name, n)
    return { name, rows = 1, cols = n }
  end),
  -- Matrices from one that a first-level cache holds to one that no cache does.
  grid_sizes = {
    { "64x64", rows = 64, cols = 64 },
    { "128x1024", rows = 128, cols = 1024 },
    { "1024x1024", rows = 1024, cols = 1024 },
  },
  -- Measured on an EPYC (Zen 5), in ns: a look-up takes 0.17, or 0.25 where inputs are any bits at all;
  -- exp, tanh, sigmoid and swish 0.13 to 0.23 with AVX-512 and 0.28 to 0.54 with AVX2; gelu in either
  -- form 0.26 to 0.34 and 0.57 to 0.78.
  map_of_costly = looked_up { "cpu", "-avx512" },
  map_of_costliest = looked_up "cpu",
}
