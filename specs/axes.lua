-- One result for each row or each column of a matrix.

local vector = include "include/vector.lua"

local ops = {
  sum = { sum, "x.sum(%d)" },
  max = { max, "x.max(%d)", ulp = 0 },
  mean = { mean, "x.mean(%d)" },
}

for name, row in pairs(ops) do
  local axes = {
    row = { "rows", 1, "along", over = "cols" },
    column = { "cols", 0, "down", over = "rows" },
  }
  for axis, along in pairs(axes) do
    op(axis .. "_" .. name) {
      doc = "the " .. name .. " " .. along[3] .. " each " .. axis,
      inputs = { x = { "rows", "cols" } },
      outputs = { r = { along[1] } },
      compute = function(x) return row[1](x, along.over) end,
      sizes = vector.grid_sizes,
      sets = vector.sets,
      dtypes = vector.dtypes,
      ulp = vector.ulp(row.ulp or vector.sum_ulp),
      peers = { numpy = row[2]:format(along[2]) },
    }
  end
end

op "row_argmax" {
  doc = "the index of the first largest element of each row, or of its first NaN",
  inputs = { x = { "rows", "cols" } },
  outputs = { r = { "rows" } },
  compute = function(x) return argmax(x, "cols") end,
  sizes = vector.grid_sizes,
  sets = vector.sets,
  dtypes = vector.dtypes,
  ulp = vector.ulp(0),
  peers = { numpy = "x.argmax(1)", torch = "x.argmax(1)" },
}
