-- Dropout: some points are left out by chance, the others made larger to make up for it.

local vector = include "include/vector.lua"

op "dropout" {
  doc = "x / (1 - p), or 0 with probability p, by the random numbers of seed and offset",
  inputs = { x = { "n" }, seed = { dtype = "i64" }, offset = { dtype = "i64" } },
  outputs = { y = { "n" } },
  scalars = { p = 0.25 },
  compute = function(x, seed, offset, p)
    return select(ge(random(seed, offset), p), x * (1 / (1 - p)), 0)
  end,
  any_zero_sign = true,
  sizes = vector.sizes,
  sets = vector.sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(2.5), -- 1 - p, its reciprocal and the product are rounded
  backward = { peers = { numpy = "np.where(random(seed, offset, dy.size) >= p, dy / (1 - p), 0)" } },
  peers = { numpy = "np.where(random(seed, offset, x.size) >= p, x / (1 - p), 0)", torch = "F.dropout(x, p)" },
}
