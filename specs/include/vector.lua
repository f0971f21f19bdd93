-- What the ops on vectors share: the sizes of interest and the variants to make.

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

-- Reductions, with rows for GPUs.
local function reductions(...)
  return {
    -- Folding many accumulators and wide vectors costs more than a short input saves by them.
    { backend = "avx512", accumulators = { 8, 4 }, prefer = { from = 2048 } },
    { backend = { "simd", "-avx512" }, accumulators = 8, prefer = { from = 2048 } },
    { backend = { "simd", "-avx512" }, accumulators = 4 },
    -- With one alone a hundred roundings in a row add up to more than the bound, once in a while.
    { backend = "scalar", accumulators = { 8, 4 } },
    ...,
  }
end

local gpus = { "cuda", "vulkan" }

-- Of the rows for the widest instruction set that a processor has, dispatch calls the first that
-- prefers the size; sizes here are bytes of all operands together.
local map = {
  -- Past the caches an output need not be read before it is written. Measured at 8 to 16 MB: a
  -- Xeon with 2 MB of its own gains a quarter by streaming, an EPYC with 32 MB nothing, and it
  -- loses on plain copies that its third level holds.
  { backend = "simd", unroll = 4, store = "streaming", prefer = { from = 2 ^ 23 } },
  { backend = "simd", unroll = { 4, 1 } },
  { backend = "scalar", unroll = { 1, 4 } },
  { backend = gpus, block = { 128, 256 }, unroll = 1 },
}

-- The same for functions of one number of 16 bits, whose results these instruction sets find sooner in a
-- table. Where operands are smaller than the table, what other code does between two calls might cost
-- more of it than its look-ups save.
local function looked_up(backends)
  return {
    { backend = backends, dtypes = { "f16", "bf16" }, values = "table", prefer = { from = 2 ^ 17 } },
    table.unpack(map),
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
  map = map,
  -- Measured on an EPYC (Zen 5), in ns: a look-up takes 0.17, or 0.25 where inputs are any bits at all;
  -- exp, tanh, sigmoid and swish 0.13 to 0.23 with AVX-512 and 0.28 to 0.54 with AVX2; gelu in either
  -- form 0.26 to 0.34 and 0.57 to 0.78.
  map_of_costly = looked_up { "cpu", "-avx512" },
  map_of_costliest = looked_up "cpu",
  -- Short inputs are a matter of many threads; with more than that of two operands of 16 bits in each thread's
  -- registers, long ones of few. dot of 2^20 and 2^24 in f16 takes 3.27 and 27.3 us in the first form on an H200,
  -- 3.39 and 20.5 in the second; sum of 2^20, 2.67 and 2.89.
  reduce = reductions(
    { backend = gpus, block = 512, unroll = 2, waves = 4, prefer = { to = 2 ^ 24 } },
    { backend = gpus, block = 512, unroll = 4, waves = 2 }
  ),
  -- To a place: the more elements a thread takes at a time, the less often it compares; short inputs
  -- are a matter of the one time that it looks for the place among them.
  index = reductions { backend = gpus, block = 256, unroll = 4, waves = 4 },
  -- What is left of each row: there are no points to unroll.
  row_totals = {
    { backend = "cpu", accumulators = 4 },
    { backend = gpus },
  },
  rows = {
    { backend = "simd", accumulators = 4, unroll = { 4, 1 } },
    { backend = "scalar", accumulators = 4, unroll = 1 },
    { backend = gpus },
  },
}
