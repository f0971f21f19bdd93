-- Two vectors in, one out.

local vector = include "include/vector.lua"

local ops = {
  add = { "x + y", function(x, y) return x + y end },
  sub = { "x - y", function(x, y) return x - y end },
  mul = { "x * y", function(x, y) return x * y end },
  div = { "x / y", function(x, y) return x / y end },
}

for name, row in pairs(ops) do
  op(name) {
    doc = row[1],
    inputs = { x = { "n" }, y = { "n" } },
    outputs = { r = { "n" } },
    compute = row[2],
    sizes = vector.sizes,
    sets = vector.sets,
    dtypes = vector.dtypes,
    ulp = vector.ulp(0.5),
    peers = { numpy = row[1], torch = row[1] },
  }
end
