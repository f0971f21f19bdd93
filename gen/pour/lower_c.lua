-- C as a target language (see lower.lua): kernels by the rows of instruction_sets.lua, and the reference in higher
-- precision.

local elementary = require "elementary"
local instruction_sets = require "instruction_sets"
local text = require "text"
local types = require "types"

local c = {
  methods = {},
  result = { parameter = "%s *%s", argument = "&%s", assign = "*%s = %s;" },
  indexes_apart = true, -- templates/c/passes.c looks for one at a time
  joins = true, -- joined.lua
}

-- Types ---------------------------------------------------------------------------------------

-- Besides the rows of types.lua: the bits of numbers of which nothing but signs change, which takes no conversion; and
-- what the reference of f64 is computed in.
c.types = types.spelt "c"
c.types.h16 = { number = "uint16_t", bits = 16 }
c.types.wide = { number = "long double", f = "l", suffix = "L", pack = "<d", digits = 17 }

-- The reference: the C library for what kernels compute by polynomials.
local scalar = instruction_sets.scalar
local reference = setmetatable({
  include = '"reference.h"',
  native = true,
  one_type = true, -- numbers are read and written in the type that it computes in
  -- Of the kernels that each one checks.
  tiny = { f64 = 0x1p-126, wide = 0x1p-1022 },
  unit = "part->unit",
  flushed = "part->flushed",
  narrowed = "part->narrowed",
  vanishing = "part->vanishing",
  bursting = "part->bursting",
  narrow = "part->narrow",
  sqrt = "sqrt{f}({1})",
  abs = "fabs{f}({1})",
  copysign = "copysign{f}({1}, {2})",
  fma = "fma{f}({1}, {2}, {3})",
  mad = "fma{f}({1}, {2}, {3})",
  random_at = "lathe_random({1}, {2}, {3}, part->narrow)",
  pow = "pow{f}({1}, {2})",
  floor = "floor{f}({1})",
  round = "rint{f}({1})",
  sign = "{1} != {1} ? {1} : ({1} > 0) - ({1} < 0)",
}, { __index = scalar })
for op, row in pairs(elementary) do
  reference[op] = row.reference or op .. (row.arguments == 2 and "{f}({1}, {2})" or "{f}({1})")
end

-- What ranges.lua asks of numbers.
c.range_words = { least = "lathe_min_{t}(%s, %s)", most = "lathe_max_{t}(%s, %s)", floor = "floor{f}(%s)" }
c.integer_type, c.cast = types.i64.c.storage, "(%s)%s"
c.sets = setmetatable({ reference = reference }, { __index = instruction_sets })

function c.special(spelling, value)
  if value ~= value then
    return string.format('__builtin_nan%s("")', spelling.f)
  end
  return (value < 0 and "-" or "") .. string.format("__builtin_inf%s()", spelling.f)
end

function c.methods:scalars(op)
  return table.concat(text.map(op.scalars, function(argument, i)
    return string.format("const %s %s = (%s)args->scalar[%d];", self.number, argument.name, self.number, i - 1)
  end), "\n")
end

-- The type of an operand's elements in memory.
function c.methods:element_type(operand)
  local own = operand.dtype or operand.temporary and self:type_of(operand) or self.own_type[operand.name]
  return own and (types[own].c.storage or types[own].c.number) or self.storage
end

local function pointer(self, operand, i, offset)
  local ctype = self:element_type(operand)
  local const = operand.output and "" or "const "
  return string.format("%s%s *%s = (%s%s *)args->buf[%d]%s;", const, ctype, operand.name, const, ctype, i - 1,
    offset and " + " .. offset or "")
end

-- Declares a pointer to the data of each operand (or each that is wanted), moved by offsets[place]
-- where there is one.
function c.methods:pointers(offsets, is_wanted)
  local lines = {}
  for i, operand in ipairs(self.operands) do
    if not is_wanted or is_wanted(operand) then
      lines[#lines + 1] = pointer(self, operand, i, offsets and offsets[operand.place])
    end
  end
  return table.concat(lines, "\n")
end

function c.methods:integer_literal(value)
  if self.spelling.bits == 64 then
    return string.format("%s0x%xll", self.lanes > 1 and "(long long)" or "", value)
  end
  return string.format("%s0x%x", self.lanes > 1 and "(int)" or "", value & 0xffffffff)
end

-- C that combines the lanes of an array, pairwise; four lanes a line. extreme: what extremes are found by, if not by
-- max and min, which lose NaN.
function c.methods:fold_lanes(kind, array, extreme)
  local better = self:better(kind)
  local word = better and (extreme or better == "gt" and "max" or "min")
  local call = word and string.format("lathe_%s_%s", word, self.compute)
  local function fold(from, to, depth)
    if from == to then
      return array .. "[" .. from .. "]"
    end
    local middle = (from + to) // 2
    local a, b = fold(from, middle, depth + 1), fold(middle + 1, to, depth + 1)
    local gap = to - from < 4 and " " or "\n" .. (" "):rep(4 * depth)
    return call and call .. "(" .. a .. "," .. gap .. b .. ")" or "(" .. a .. " +" .. gap .. b .. ")"
  end
  return fold(0, self.lanes - 1, 1)
end

function c.setup(k)
  local set, spelling = k.set, k.spelling
  local words = set[k.compute]
  k.lanes = words and words.bits // spelling.bits or 1
  k.marks = {
    f = spelling.f, t = k.compute, b = spelling.bits and tostring(spelling.bits), isa = k.isa,
    lanes = tostring(k.lanes),
  }
  if words then
    for mark, value in pairs(words) do
      k.marks[mark] = k.marks[mark] or value
    end
    k.vector, k.integer, k.mask = words.vector, words.integer, words.mask:gsub("{lanes}", k.lanes)
  else
    k.vector, k.mask = spelling.number, "bool"
    k.integer = spelling.bits and "uint" .. spelling.bits .. "_t"
  end
  k.prologue = { '#include "call.h"', "#include " .. k:text "include" }
  if k.program.random then
    k.prologue[3] = '#include "philox.h"'
  end
end

return c
