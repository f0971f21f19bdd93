-- CUDA C as a target language (see lower.lua). A thread computes one point at a time, so that every
-- variable is a plain number; what makes it fast is in templates/cuda.

local cheaper = require "cheaper"
local text = require "text"

local cuda = {
  methods = { expand = cheaper.expand },
  result = { parameter = "%s &%s_out", argument = "%s", assign = "%s_out = %s;" },
}

-- Types, as in lower_c.lua; bytes: the size of an element in memory.
cuda.types = {
  f32 = { number = "float", f = "f", bits = 32, bytes = 4, pack = "<f", digits = 9 },
  f64 = { number = "double", f = "", bits = 64, bytes = 8, pack = "<d", digits = 17 },
  -- In memory; cuda_fp16.h and cuda_bf16.h convert them where they are read and written.
  f16 = { storage = "__half", compute = "f32", bytes = 2 },
  bf16 = { storage = "__nv_bfloat16", compute = "f32", bytes = 2 },
}

-- Marks: {f} the ending of the library's names. mad is one instruction; the other sums of products
-- stay two roundings in f32 and f64, for nvcc is told -fmad=false there.
cuda.gathers_two = true -- see program.together
cuda.integer_type, cuda.cast = "long long", "(%s)%s"

local set = {
  fused = true,
  add = "{1} + {2}",
  sub = "{1} - {2}",
  mul = "{1} * {2}",
  div = "{1} / {2}",
  neg = "-{1}",
  sqrt = "sqrt{f}({1})",
  abs = "fabs{f}({1})",
  copysign = "copysign{f}({1}, {2})",
  fma = "fma{f}({1}, {2}, {3})",
  mad = "fma{f}({1}, {2}, {3})",
  minraw = "{1} < {2} ? {1} : {2}",
  maxraw = "{1} > {2} ? {1} : {2}",
  lt = "{1} < {2}",
  le = "{1} <= {2}",
  gt = "{1} > {2}",
  ge = "{1} >= {2}",
  eq = "{1} == {2}",
  ne = "{1} != {2}",
  all_of = "{1} && {2}",
  any_of = "{1} || {2}",
  negate = "!{1}",
  select = "{1} ? {2} : {3}",
  mask_any = "{1}",
  bits = "__float_as_uint({1})",
  real = "__uint_as_float({1})",
  bits_f64 = "(unsigned long long)__double_as_longlong({1})",
  real_f64 = "__longlong_as_double((long long){1})",
  iadd = "{1} + {2}",
  isub = "{1} - {2}",
  iand = "{1} & {2}",
  ior = "{1} | {2}",
  ixor = "{1} ^ {2}",
  ishl = "{1} << {k}",
  ishr = "{1} >> {k}",
  splat = "{1}",
  isplat = "{1}",
  first_lane = "{1}",
  load_number = "{1}[0]",
  load_index = "{1}[0]",
  store_number = "{1}[0] = {2}",
  store_index = "{1}[0] = {2}",
  -- kernel.h
  erfc = "lathe_erfc({1})",
  exp_near = "lathe_exp_near({1})",
  exp_near_f16 = "lathe_exp_near_f16({1})",
  exp_summed = "lathe_exp_near_f16({1})",
  quotient = "lathe_quotient({1}, {2})",
  root = "lathe_root({1})",
  reciprocal_root = "lathe_reciprocal_root({1})",
  reciprocal = "lathe_rcp({1})",
}

-- What CUDA's library computes to 2 ulp (CUDA C++ Programming Guide, "Mathematical Functions"), and
-- in f32 erfc, which is off by 3.8. The library's erfc is off by 4, in f64 by 5, its pow in f32 by 4, and
-- sigmoid and sign it lacks: these are of vecmath.lua.
set.native = { erfc = "f32", pow = "f64", round = true }
set.pow, set.round = "pow({1}, {2})", "rint{f}({1})"
for _, name in ipairs { "exp", "exp2", "expm1", "log", "log1p", "tanh", "erf", "sin", "cos", "rsqrt", "floor" } do
  set.native[name] = true
  set[name] = name .. "{f}({1})"
end

for name, pattern in pairs(cheaper.texts) do
  set[name] = pattern
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
  return operand.dtype == "i64" and "long long" or self.storage
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
  local types = {
    sum = "lathe_sum<%s>", maximum = "lathe_extreme<%s, true>", minimum = "lathe_extreme<%s, false>",
    argmax = "lathe_index<%s, true>", argmin = "lathe_index<%s, false>", moments = "lathe_moments<%s>",
    powers = self.dtype == self.compute and "lathe_powers<%s>" or "lathe_powers<%s, true>",
  }
  return types[kind]:format(self.number)
end

-- The type of its result.
function cuda.methods:result_type(kind)
  return self:is_index(kind) and "long long" or self.number
end

function cuda.setup(k)
  k.lanes = 1
  k.marks = { f = k.spelling.f }
  k.vector, k.mask = k.number, "bool"
  k.integer = k.spelling.bits == 64 and "unsigned long long" or "unsigned"
  k.width = 16 // cuda.types[k.dtype].bytes -- elements of a 16-byte access, the widest there is
  k.prologue = { '#include "lathe.h"', '#include "kernel.h"' }
  if k.dtype == "f16" or k.dtype == "bf16" then
    table.insert(k.prologue, 1, "#include <cuda_" .. (k.dtype == "f16" and "fp16" or "bf16") .. ".h>")
  end
end

return cuda
