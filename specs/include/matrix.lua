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

local cpu_variants = {
  { backend = "avx512", mr = 14, nv = 2 },
  { backend = "avx2", mr = 6, nv = 2 },
  { backend = { "simd", "-avx512", "-avx2" }, mr = 4, nv = 2 },
  { backend = "scalar", mr = 4, nv = 2 },
}
-- Of factors with types of their own.
local typed_variants = { { backend = "cuda" }, { backend = "vulkan", bn = 128 }, table.unpack(cpu_variants) }

-- Tensor cores first: dispatch takes the first that a device can run.
local variants = {
  { backend = "amx", mr = 14, nv = 2, dtypes = "bf16" },
  { backend = "cuda", unit = "wgmma", bn = "auto", stages = 4, dtypes = { "f16", "bf16" } },
  { backend = "cuda", unit = "mma", dtypes = { "f16", "bf16" } },
  { backend = "cuda", unit = "wgmma", products = "tf32", bn = "auto", dtypes = { "f32" } },
  { backend = "cuda", unit = "mma", products = "tf32", dtypes = { "f32" } },
  { backend = "cuda", bn = "auto" },
  { backend = "vulkan", unit = "matrix", bm = 128, bn = 128, bk = 32, dtypes = { "f16" } },
  { backend = "vulkan", bn = 128 },
  table.unpack(cpu_variants),
}

-- These and variants that dispatch does not choose: of sums that are rounded to f16, and of matrices of workgroups,
-- which are slower.
local all = { table.unpack(variants) }
for _, row in ipairs {
  { backend = "vulkan", unit = "matrix", products = "f16", bm = 256, bn = 256, bk = 32, dtypes = { "f16" } },
  { backend = "vulkan", unit = "workgroup", bm = 128, bn = 256, bk = 32, dtypes = { "f16" } },
  { backend = "vulkan", unit = "workgroup", products = "f16", bm = 256, bn = 256, bk = 32, dtypes = { "f16" } },
} do
  all[#all + 1] = row
end

return {
  -- Small ones, for every run; the rest by name.
  sizes = cubes({ "m", "n", "k" }, { 64, 256 }),
  sets = sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(3),
  variants = variants,
  all_variants = all,
  typed_variants = typed_variants,
}
