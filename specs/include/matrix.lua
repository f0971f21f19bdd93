-- What products of matrices share: sizes, sets and variants.

local vector = include "include/vector.lua"

-- Extents by name, for each of some sizes of all of them.
local function cubes(dims, extents)
  local list = {}
  for i, extent in ipairs(extents) do
    local size = { tostring(extent) }
    for _, dim in ipairs(dims) do
      size[dim] = extent
    end
    list[i] = size
  end
  return list
end

-- What the tensor suites of neural networks use, by the name of each kind and of them all; and powers of two, with few
-- rows too.
local sets = {
  small = { { 1024, 1024, 1024 } },
  medium = { { 2048, 2048, 2048 } },
  large = { { 4096, 4096, 4096 } },
  huge = { { 8192, 8192, 8192 } },
  batched = { { 32, 128, 768, 768 }, { 16, 512, 512, 512 } },
  sweep = { { { 1, 2, 4, 8, 16 }, 1024, 1024 } },
}
sets.tensor = { sets.small[1], sets.medium[1], sets.large[1], sets.batched[1], sets.batched[2] }
for power = 4, 10 do
  table.insert(sets.sweep, { 2 ^ power, 2 ^ power, 2 ^ power })
end

-- Those that there are by default, and some that dispatch does not choose: of sums that are rounded to f16, and of
-- matrices of workgroups, which are slower.
local all_variants = {
  "default",
  { backend = "vulkan", unit = "matrix", products = "f16", bm = 256, bn = 256, bk = 32, dtypes = { "f16" } },
  { backend = "vulkan", unit = "workgroup", bm = 128, bn = 256, bk = 32, dtypes = { "f16" } },
  { backend = "vulkan", unit = "workgroup", products = "f16", bm = 256, bn = 256, bk = 32, dtypes = { "f16" } },
}

return {
  -- Small ones, for every run; the rest by name.
  sizes = cubes({ "m", "n", "k" }, { 64, 256 }),
  sets = sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(3),
  all_variants = all_variants,
}
