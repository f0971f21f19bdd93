-- Reductions, a row each, by the kinds that programs have (passes.lua): what is gathered of terms, and how it combines.
-- Scans keep what a reduction gathers at each place: they have the same rows.
-- Kernels gather in forms of their own in each language; what kinds are and how they differ is said here alone.
--
--   neutral      what changes nothing when it is combined; none of a kind with two results
--   combine      the operation that combines two; of extremes it may lose a NaN, which is looked for apart
--   better       of extremes: the comparison of a term that takes the place of another
--   index        whether the result is the place of the first such term
--   first        of two results: the kind of the one; the other is a sum
--   state        the numbers that are gathered, the second result after the first; an index comes after them
--   cuda, glsl   the type that gathers them in templates/cuda/gather.h and templates/glsl/kernel.comp; %s: the number;
--                cuda_narrow: that of terms that are rounded to half their bits later

local inf = math.huge

return {
  sum = { neutral = -0.0, combine = "add", state = { "value" }, cuda = "lathe_sum<%s>", glsl = "lathe_sum" },
  maximum = {
    neutral = -inf, combine = "maxraw", better = "gt", state = { "value" }, cuda = "lathe_extreme<%s, true>",
    glsl = "lathe_largest",
  },
  minimum = {
    neutral = inf, combine = "minraw", better = "lt", state = { "value" }, cuda = "lathe_extreme<%s, false>",
    glsl = "lathe_smallest",
  },
  argmax = {
    neutral = -inf, combine = "maxraw", better = "gt", index = true, state = { "value" },
    cuda = "lathe_index<%s, true>", glsl = "lathe_first_largest",
  },
  argmin = {
    neutral = inf, combine = "minraw", better = "lt", index = true, state = { "value" },
    cuda = "lathe_index<%s, false>", glsl = "lathe_first_smallest",
  },
  -- Of scans alone, and not merged: a part may come to 0 times infinity where the whole does not. A recurrence has a
  -- factor besides.
  product = { neutral = 1, combine = "mul" },
  recurrence = { neutral = 0, combine = "mad" },
  -- A sum with what rounding took from it (Knuth 1969), as nests gather it on GPUs; and the term at an index.
  carried = { state = { "value", "lost" }, cuda = "lathe_carried<%s>", glsl = "lathe_carried" },
  pick = { state = { "value" }, cuda = "lathe_picked<%s>", glsl = "lathe_picked" },
  -- A sum, and the sum of the squares about its mean (Chan, Golub and LeVeque 1979).
  moments = {
    first = "sum", state = { "value", "squares", "count" }, cuda = "lathe_moments<%s>", glsl = "lathe_moments",
  },
  -- The largest, and the sum of e^(term - largest) (Milakov and Gimelshein 2018).
  powers = {
    first = "maximum", state = { "value", "total" }, cuda = "lathe_powers<%s>", cuda_narrow = "lathe_powers<%s, true>",
    glsl = "lathe_powers",
  },
}
