-- One result for each row or each column of a matrix.

local vector = include "include/vector.lua"

local ops = {
  sum = { function(x) return sum(x) end, "x.sum(%d)" },
  max = { function(x) return max(x) end, "x.max(%d)", ulp = 0 },
  mean = { function(x) return mean(x) end, "x.mean(%d)" },
}

for name, row in pairs(ops) do
  local axes = {
    row = { "rows", 1, "along", variants = vector.row_totals },
    column = { "cols", 0, "down", variants = vector.rows },
  }
  for axis, along in pairs(axes) do
    op(axis .. "_" .. name) {
      doc = "the " .. name .. " " .. along[3] .. " each " .. axis,
      inputs = { x = { "rows", "cols" } },
      outputs = { r = { along[1] } },
      reduce = row[1],
      sizes = vector.grid_sizes,
      sets = vector.sets,
      dtypes = vector.dtypes,
      ulp = vector.ulp(row.ulp or vector.sum_ulp),
      variants = along.variants,
      peers = { numpy = row[2]:format(along[2]) },
    }
  end
end

op "row_argmax" {
  doc = "the index of the first largest element of each row, or of its first NaN",
  inputs = { x = { "rows", "cols" } },
  outputs = { r = { "rows" } },
  reduce = function(x) return argmax(x) end,
  sizes = vector.grid_sizes,
  sets = vector.sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(0),
  variants = vector.row_totals,
  peers = { numpy = "x.argmax(1)", torch = "x.argmax(1)" },
}
