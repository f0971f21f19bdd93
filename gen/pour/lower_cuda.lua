-- CUDA C as a target language (see lower.lua). A thread computes one point at a time, so that every
-- variable is a plain number; what makes it fast is in templates/cuda.

local cheaper = require "cheaper"
local elementary = require "elementary"
local operators = require "operators"
local reductions = require "reductions"
local text = require "text"
local types = require "types"

local cuda = {
  methods = { expand = cheaper.expand },
  result = { parameter = "%s &%s", argument = "%s", assign = "%s = %s;" },
}

-- header: converts a type where it is read and written.
cuda.types = types.spelt "cuda"

-- Marks: {f} the ending of the library's names. mad is one instruction; the other sums of products
-- stay two roundings in f32 and f64, for nvcc is told -fmad=false there.
cuda.gathers_two = true -- see passes.together
cuda.meets = true -- see steps.make
cuda.ways = { "held", "short" }
-- What ranges.lua asks of numbers.
cuda.range_words = { least = "lathe_least<number>(%s, %s)", most = "lathe_most<number>(%s, %s)", floor = "floor(%s)" }
cuda.integer_type, cuda.cast = types.i64.cuda.storage, "(%s)%s"

local set = operators.added_to {
  fused = true,
  sqrt = "sqrt{f}({1})",
  abs = "fabs{f}({1})",
  copysign = "copysign{f}({1}, {2})",
  fma = "fma{f}({1}, {2}, {3})",
  mad = "fma{f}({1}, {2}, {3})",
  all_of = "{1} && {2}",
  any_of = "{1} || {2}",
  bits = "__float_as_uint({1})",
  real = "__uint_as_float({1})",
  bits_f64 = "(unsigned long long)__double_as_longlong({1})",
  real_f64 = "__longlong_as_double((long long){1})",
  isplat = "{1}",
  load_number = "{1}[0]",
  load_index = "{1}[0]",
  store_number = "{1}[0] = {2}",
  store_index = "{1}[0] = {2}",
  -- kernel.h
  erfc = "lathe_erfc({1})",
  power_near = "lathe_power({1})",
  inverse_near = "lathe_rcp({1})",
  quotient_near = "{1} * lathe_rcp({2})",
  log2_near = "lathe_log2({1})",
  quotient = "lathe_quotient({1}, {2})",
  root = "lathe_root({1})",
  reciprocal_root = "lathe_reciprocal_root({1})",
  reciprocal = "lathe_rcp({1})",
}

-- What CUDA's library computes to 2 ulp, and in f32 erfc of functions.h, which is off by 3.8. The library's erfc is off
-- by 4, in f64 by 5, its pow in f32 by 4: these and what it lacks are of vecmath.lua.
set.native = { pow = "f64", floor = true, round = true }
set.pow, set.floor, set.round = "pow({1}, {2})", "floor{f}({1})", "rint{f}({1})"
for op, row in pairs(elementary) do
  set.native[op], set[op] = row.cuda, set[op] or op .. "{f}({1})"
end

cuda.sets = { cuda = set }

-- Constants -----------------------------------------------------------------------------------

function cuda.special(spelling, value)
  if value ~= value then
    return spelling.bits == 32 and "__uint_as_float(0x7fc00000)" or "__longlong_as_double(0x7ff8000000000000)"
  end
  return (value < 0 and "-" or "") .. "(" .. spelling.number .. ")INFINITY"
end

function cuda.methods:integer_literal(value)
  if self.spelling.bits == 64 then
    return string.format("0x%xull", value)
  end
  return string.format("0x%xu", value & 0xffffffff)
end

-- What templates ask for ----------------------------------------------------------------------

function cuda.methods:scalars(op)
  return table.concat(text.map(op.scalars, function(argument, i)
    return string.format("const %s %s = (%s)args.scalar[%d];", self.number, argument.name, self.number, i - 1)
  end), "\n")
end

-- The type of an operand's elements in memory.
function cuda.methods:element_type(operand)
  local own = operand.dtype or operand.temporary and self:type_of(operand) or self.own_type[operand.name]
  return own and (types[own].cuda.storage or types[own].cuda.number) or self.storage
end

-- The type by which an access to an operand is read as words, and what reads one; once: of what is touched once.
local words = { [16] = "uint4", [8] = "uint2", [4] = "unsigned" }
function cuda.methods:words(operand)
  return words[self:access_bytes(operand)]
end

function cuda.methods:read_words(operand, once)
  local type, ending = self:words(operand), once and "_once" or ""
  return type == "uint4" and "lathe_words" .. ending or string.format("lathe_words_of%s<%s>", ending, type)
end

-- A pointer to each operand's data, moved by offset(operand) where that is given and not nil.
function cuda.methods:pointers(offset)
  return table.concat(text.map(self.operands, function(operand, i)
    local ctype = self:element_type(operand)
    local const = operand.output and "" or "const "
    local by = offset and offset(operand)
    return string.format("%s%s *%s = (%s%s *)args.buf[%d]%s;", const, ctype, operand.name, const, ctype, i - 1,
      by and " + " .. by or "")
  end), "\n")
end

-- The type in kernel.h that gathers the terms of a reduction.
function cuda.methods:gatherer(kind)
  local row = reductions[kind]
  return (self.dtype ~= self.compute and row.cuda_narrow or row.cuda):format(self.number)
end

-- The type of its result.
function cuda.methods:result_type(kind)
  return self:is_index(kind) and "long long" or self.number
end

function cuda.setup(k)
  k.lanes = 1
  k.let = "" -- nvcc tries what constants come to in every template again: a kernel with pow took 25 s by that, now 0.5
  k.marks = { f = k.spelling.f }
  k.vector, k.mask = k.number, "bool"
  k.integer = k.spelling.bits == 64 and "unsigned long long" or "unsigned"
  k.width = types.access(k.operands, k.dtype)
  k.prologue = { '#include "call.h"', '#include "kernel.h"', k.program.random and '#include "philox.h"' or nil }
  local included = { k.dtype }
  for _, dtype in text.sorted_pairs(k.own_type) do
    included[#included + 1] = not text.contains(included, dtype) and dtype or nil
  end
  for _, dtype in ipairs(included) do
    local line = "#include " .. (cuda.types[dtype].header or "")
    if cuda.types[dtype].header and not text.contains(k.prologue, line) then
      table.insert(k.prologue, 1, line)
    end
  end
end

return cuda
