-- How ops of specs/library are declared: library(name) { ... } has what the op differs in.
--   [1], [2]     what it computes, and NumPy's text of the same
--   torch        PyTorch's; inputs, outputs, compute, scalars, axes, products as of an op
--   sizes        where its axes are others than n, or rows and cols
--   ulp          4 where it does not say, for whatever rounds once or a few times; 8 of sums
--   backward     true where it does not say

local vector = include "include/vector.lua"

local function has(inputs, axis)
  for _, operand in pairs(inputs) do
    for _, name in ipairs(operand) do
      if name == axis then
        return true
      end
    end
  end
  return false
end

return function(name)
  return function(row)
    local sizes = has(row.inputs, "cols") and vector.grid_sizes or vector.sizes
    op(name) {
      doc = row[1], inputs = row.inputs, outputs = row.outputs, compute = row.compute, scalars = row.scalars,
      axes = row.axes, products = row.products, sizes = row.sizes or sizes, dtypes = row.dtypes or vector.dtypes,
      ulp = vector.ulp(row.ulp or 4),
      any_zero_sign = true, backward = row.backward ~= false, peers = { numpy = row[2], torch = row.torch },
    }
  end
end
