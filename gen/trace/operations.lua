-- The operations that a graph is made of (expr.lua), one row each.

local elementary = require "elementary"

-- One row per operation: its result's type, then its arguments' types. r is a real number of the
-- compute type, m a mask (true or false in each lane), i an integer as wide as the real, x an index
-- operand, s a single integer, k a plain number of the generator's: a count, or a set of axes.
-- cost: how many arithmetic operations a point of it counts as in a row's flop figure.
-- reduction: over axes of its argument, which its k names as a set. It varies over the others.
-- scan: along the axis k, { kind, exclusive, reverse }: reductions.lua.
local rows = {
  add = { "r", "rr", cost = 1 },
  sub = { "r", "rr", cost = 1 },
  mul = { "r", "rr", cost = 1 },
  div = { "r", "rr", cost = 1 },
  neg = { "r", "r", cost = 0 },
  abs = { "r", "r", cost = 1 },
  sqrt = { "r", "r", cost = 1 },
  fma = { "r", "rrr", cost = 2 }, -- rounded once
  mad = { "r", "rrr", cost = 2 }, -- rounded once where that is as fast, else twice
  min = { "r", "rr", cost = 1 }, -- NaN if either is
  max = { "r", "rr", cost = 1 },
  minraw = { "r", "rr", cost = 1 }, -- a < b ? a : b
  maxraw = { "r", "rr", cost = 1 }, -- a > b ? a : b
  copysign = { "r", "rr", cost = 1 }, -- magnitude, sign
  ldexp = { "r", "rr", cost = 1 }, -- a * 2^b, b a whole number
  pow = { "r", "rr", cost = 1 }, -- as C's
  floor = { "r", "r", cost = 1 },
  round = { "r", "r", cost = 1 }, -- to the nearest whole number, of two the even one
  sign = { "r", "r", cost = 1 }, -- -1, +0 or 1; NaN stays
  lt = { "m", "rr", cost = 1 },
  le = { "m", "rr", cost = 1 },
  gt = { "m", "rr", cost = 1 },
  ge = { "m", "rr", cost = 1 },
  eq = { "m", "rr", cost = 1 },
  ne = { "m", "rr", cost = 1 }, -- true where either is NaN
  all_of = { "m", "mm", cost = 1 },
  any_of = { "m", "mm", cost = 1 },
  negate = { "m", "m", cost = 1 },
  select = { "r", "mrr", cost = 1 }, -- where the mask is true the second, else the third
  seldom = { "r", "mrr", cost = 1 }, -- the same, of a mask seldom true, and a second not computed where it never is
  bits = { "i", "r", cost = 0 },
  real = { "r", "i", cost = 0 },
  iadd = { "i", "ii", cost = 1 },
  isub = { "i", "ii", cost = 1 },
  iand = { "i", "ii", cost = 1 },
  ior = { "i", "ii", cost = 1 },
  ixor = { "i", "ii", cost = 1 },
  ishl = { "i", "ik", cost = 1 },
  ishr = { "i", "ik", cost = 1 }, -- zeros come in
  sum = { "r", "rk", cost = 1, reduction = true },
  maximum = { "r", "rk", cost = 1, reduction = true },
  minimum = { "r", "rk", cost = 1, reduction = true },
  argmax = { "n", "rk", cost = 1, reduction = true }, -- n: an index; the first of equals, or NaN
  argmin = { "n", "rk", cost = 1, reduction = true },
  pick = { "r", "rxk", cost = 0, reduction = true }, -- the term at an index along k; NaN outside of that axis
  hit = { "m", "xk", cost = 0 }, -- where the point is the one that an index along k names
  -- Of places, which are whole numbers (move.lua), at any point:
  read = { "r", "rk", cost = 0 }, -- an operand or scan at places along the axes k, which follow it; NaN outside of it
  inside = { "m", "rk", cost = 0 }, -- whether a place is one along the axis k
  same = { "m", "rr", cost = 0 }, -- whether two places are one
  below = { "m", "rr", cost = 0 }, -- whether a place is less than another
  whole = { "r", "x", cost = 0 }, -- an index as a number
  random = { "r", "ss", cost = 1 }, -- see templates/c/philox.h; another one at each point of the op, or of the axes k
  detach = { "r", "r", cost = 0 }, -- the argument, but for gradients a constant
}
for name, row in pairs(elementary) do
  rows[name] = { "r", row.arguments == 2 and "rr" or "r", cost = 1 }
end

-- What all places up to a point's come to. An exclusive scan leaves out the place itself, a reverse one begins at the
-- end. recurrence(a, b) is a times what it was one place before, and b.
for name, kind in pairs {
  cumsum = "sum", cumprod = "product", cummax = "maximum", cummin = "minimum", recurrence = "recurrence",
} do
  for i = 0, 3 do
    local exclusive, reverse = i & 1 ~= 0, i & 2 ~= 0
    rows[name .. (exclusive and "_exclusive" or "") .. (reverse and "_reverse" or "")] = {
      "r", kind == "recurrence" and "rrk" or "rk", cost = kind == "recurrence" and 2 or 1,
      scan = { name = name, kind = kind, exclusive = exclusive, reverse = reverse },
    }
  end
end

local type_names = {
  r = "a number", m = "a comparison", i = "integer bits", n = "an index", x = "an index operand",
  s = "a single i64 operand",
}

-- Advice where one type is expected, by the type that is found.
local instead = {
  m = { r = "ne(x, 0)" },
  r = { m = "select(condition, 1, 0)" },
  x = { r = "index = \"cols\" beside the operand's axes, { \"rows\", index = \"cols\" }" },
}

return { rows = rows, type_names = type_names, instead = instead }
