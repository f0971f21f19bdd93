-- How a kernel says an operation, an access, a constant or a combination in its language: methods of lower.lua's class.

local reductions_of = require "reductions"
local types = require "types"

local kernel = {}

-- By what names a kernel's words, by type, by operation: functions that fill in a text's arguments.
local fillers = setmetatable({}, { __index = function(by_key, key)
  by_key[key] = setmetatable({}, { __index = function(by_type, dtype)
    by_type[dtype] = {}
    return by_type[dtype]
  end })
  return by_key[key]
end })

-- A function of the arguments that fills the marks in one of a set's texts: it is asked for some hundred times for each
-- file, so it is made once.
local function filler(self, operation, dtype)
  local pattern = self.set[operation .. "_" .. dtype] or self.set[operation]
    or error(string.format("'%s' has no text for the operation '%s'", self.isa, operation), 4)
  pattern = pattern:gsub("{(%a%w*)}", function(mark)
    return mark ~= "k" and self.marks[mark] or nil
  end)
  local pieces, from = {}, 1
  for at, mark, next_at in pattern:gmatch "(){([123k])}()" do
    pieces[#pieces + 1] = string.format("%q", pattern:sub(from, at - 1))
    pieces[#pieces + 1] = "_" .. mark
    from = next_at
  end
  pieces[#pieces + 1] = string.format("%q", pattern:sub(from))
  return load("local _1, _2, _3, _k = ... return " .. table.concat(pieces, " .. "))
end

local function filled(self, operation, dtype, ...)
  local known = fillers[self.key][dtype]
  local fill = known[operation]
  if not fill then
    fill = filler(self, operation, dtype)
    known[operation] = fill
  end
  return fill(...)
end

-- The text of an operation on up to three arguments and a plain count.
function kernel:text(operation, a, b, c, k)
  return filled(self, operation, self.dtype, a, b, c, k)
end

-- The type that an operand's numbers have in memory.
function kernel:type_of(operand)
  return operand.temporary and types.of_temporary(operand, self.dtype, self.narrows) or self.own_type[operand.name]
    or self.dtype
end

-- What reads or writes an operand's elements, as text() has it.
function kernel:access(operand, operation, a, b, c, k)
  return filled(self, operation, self:type_of(operand), a, b, c, k)
end

-- A number rounded to the type computed in.
function kernel:rounded(value)
  local pack = self.spelling.pack
  return (string.unpack(pack, string.pack(pack, value)))
end

-- The text of a constant rounded to the type computed in: the shortest that reads back as the same number.
local function make_literal(self, value)
  local spelling = self.spelling
  value = self:rounded(value)
  if value ~= value or value == math.huge or value == -math.huge then
    return self.language.special(spelling, value)
  end
  local digits
  for precision = 1, spelling.digits do
    digits = string.format("%." .. precision .. "g", value)
    if self:rounded(tonumber(digits) + 0.0) == value then
      break
    end
  end
  return digits .. (digits:find "[.e]" and "" or ".0") .. (spelling.suffix or spelling.f)
end

local literals = {} -- by type, then by the constant's bits: each is wanted in many files

function kernel:literal(value)
  local spelling = self.spelling
  local known = literals[spelling] or {}
  literals[spelling] = known
  local key = string.pack("<d", value)
  known[key] = known[key] or make_literal(self, value)
  return known[key]
end

-- The product of elements from..to (from 1) of a C array.
function kernel:product(array, from, to)
  local factors = {}
  for i = from, to do
    factors[#factors + 1] = array .. "[" .. i - 1 .. "]"
  end
  return #factors > 0 and table.concat(factors, " * ") or "1"
end

-- A constant in every lane.
function kernel:constant(value)
  return self:text("splat", self:literal(value))
end

-- acc combined with one more term. For the largest and the smallest a NaN term leaves acc as
-- it is (NaN is looked for apart).
function kernel:combine(kind, acc, term)
  if kind == "sum" then
    return self:text("add", acc, term)
  end
  return self:text(reductions_of[kind].combine, term, acc)
end

-- What changes nothing when combined, as a number and in every lane: where a vector has fewer
-- elements than lanes.
function kernel:neutral_number(kind)
  return self:literal(reductions_of[kind].neutral)
end

function kernel:neutral(kind)
  return self:text("splat", self:neutral_number(kind))
end

function kernel:is_extremum(kind)
  return reductions_of[kind].better ~= nil
end

function kernel:is_index(kind)
  return reductions_of[kind].index or false
end

-- Of an extreme: the comparison of a term that takes the place of another, "gt" or "lt".
function kernel:better(kind)
  return reductions_of[kind].better
end

-- The kind of the one of two results, or of the one that there is.
function kernel:first_kind(kind)
  return reductions_of[kind].first or kind
end

-- The text of two values of a column combined, NaN if either is.
function kernel:combine_columns(kind, a, b)
  if kind == "sum" then
    return self:text("add", a, b)
  end
  local raw = self:text(reductions_of[kind].combine, a, b)
  return self:text("select", "(" .. self:text("ne", a, a) .. ")", a, "(" .. raw .. ")")
end

return kernel
