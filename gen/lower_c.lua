-- C as a target language (see lower.lua): scalar, vectors by the intrinsics of one instruction
-- set, and the reference in higher precision.

local text = require "text"

local c = {
  methods = {},
  result = { parameter = "%s *%s_out", argument = "&%s", assign = "*%s_out = %s;" },
  indexes_apart = true, -- templates/c/passes.c looks for one at a time
}

-- Types ---------------------------------------------------------------------------------------

-- How a compute type is spelt: number its C type, f the ending of its constants and of libm's
-- names, bits its width, pack for rounding a constant to it. storage
-- and compute: of a type that is computed in another; signs: the type that it is computed in where
-- nothing but signs change, which takes no conversion.
local types = {
  f32 = { number = "float", f = "f", bits = 32, pack = "<f", digits = 9 },
  f64 = { number = "double", f = "", bits = 64, pack = "<d", digits = 17 },
  f16 = { storage = "uint16_t", compute = "f32", signs = "h16" },
  bf16 = { storage = "uint16_t", compute = "f32", signs = "h16" },
  h16 = { number = "uint16_t", bits = 16 },
  wide = { number = "long double", f = "l", suffix = "L", pack = "<d", digits = 17 },
}

-- Instruction sets. Marks: {p} and {s} the intrinsics' prefix and suffix, {b} the width of an
-- element in bits, {i} the suffix of whole-register integer operations, {e} that of an integer in
-- every lane, {f} as above, {t} the compute type.

local compare_names = { lt = "LT_OQ", le = "LE_OQ", gt = "GT_OQ", ge = "GE_OQ", eq = "EQ_OQ", ne = "NEQ_UQ" }

local x86 = {
  include = '"simd_{isa}.h"',
  add = "{p}_add_{s}({1}, {2})",
  sub = "{p}_sub_{s}({1}, {2})",
  mul = "{p}_mul_{s}({1}, {2})",
  div = "{p}_div_{s}({1}, {2})",
  sqrt = "{p}_sqrt_{s}({1})",
  reciprocal_near = "{p}_rcp_{s}({1})", -- 11 bits of it
  all_of = "{p}_and_{s}({1}, {2})",
  any_of = "{p}_or_{s}({1}, {2})",
  negate = "{p}_xor_{s}({1}, {p}_cast{i}_{s}({p}_set1_{e}(-1)))",
  minraw = "{p}_min_{s}({1}, {2})",
  maxraw = "{p}_max_{s}({1}, {2})",
  neg = "{p}_xor_{s}({1}, {p}_set1_{s}(-0.0{f}))",
  abs = "{p}_andnot_{s}({p}_set1_{s}(-0.0{f}), {1})",
  copysign = "{p}_or_{s}({p}_andnot_{s}({p}_set1_{s}(-0.0{f}), {1}), "
    .. "{p}_and_{s}({p}_set1_{s}(-0.0{f}), {2}))",
  mad = "{p}_fmadd_{s}({1}, {2}, {3})",
  fma = "{p}_fmadd_{s}({1}, {2}, {3})",
  bits = "{p}_cast{s}_{i}({1})",
  real = "{p}_cast{i}_{s}({1})",
  iadd = "{p}_add_epi{b}({1}, {2})",
  isub = "{p}_sub_epi{b}({1}, {2})",
  iand = "{p}_and_{i}({1}, {2})",
  ior = "{p}_or_{i}({1}, {2})",
  ixor = "{p}_xor_{i}({1}, {2})",
  ishl = "{p}_slli_epi{b}({1}, {k})",
  ishr = "{p}_srli_epi{b}({1}, {k})",
  splat = "{p}_set1_{s}({1})",
  isplat = "{p}_set1_{e}({1})",
  first_lane = "{p}_cvts{s1}_f{b}({1})",
  -- A pointer, an index, and a value to store.
  load = "{p}_loadu_{s}({1} + {2})",
  store = "{p}_storeu_{s}({1} + {2}, {3})",
  stream = "{p}_stream_{s}({1} + {2}, {3})",
  -- Of the type computed in: a pointer and an index.
  load_own = "{p}_loadu_{s}({1} + {2})",
  store_own = "{p}_storeu_{s}({1} + {2}, {3})",
  load_number = "{1}[0]",
  load_index = "{1}[0]",
  store_number = "{1}[0] = {2}",
  store_index = "{1}[0] = {2}",
  store_lanes = "{p}_storeu_{s}({1}, {2})",
  -- Seed, offset, a point's index: templates/c/map.c makes the numbers ahead.
  random = "{p}_loadu_{s}(numbers + {3})",
  hit = "lathe_hit_{t}({1}, {2})",
  fence = "_mm_sfence()",
  -- The same for the first {k} lanes only: simd_*.h.
  load_part = "lathe_load_part_{t}({1} + {2}, {k})",
  store_part = "lathe_store_part_{t}({1} + {2}, {3}, {k})",
  mask_part = "lathe_mask_part_{t}({1})",
  mask_none = "{p}_setzero_{s}()",
  mask_any = "{p}_movemask_{s}({1}) != 0",
  mask_first = "(size_t)__builtin_ctz((unsigned){p}_movemask_{s}({1}))",
}

local function derive(base, changes)
  return setmetatable(changes, { __index = base })
end

local sse2 = derive(x86, {
  prefix = "_mm", vector = 128, i = "si128", e64 = "epi64x", fused = false,
  mad = "{p}_add_{s}({p}_mul_{s}({1}, {2}), {3})",
  fma = "lathe_fma_{t}({1}, {2}, {3})",
  lt = "_mm_cmplt_{s}({1}, {2})",
  le = "_mm_cmple_{s}({1}, {2})",
  gt = "_mm_cmpgt_{s}({1}, {2})",
  ge = "_mm_cmpge_{s}({1}, {2})",
  eq = "_mm_cmpeq_{s}({1}, {2})",
  ne = "_mm_cmpneq_{s}({1}, {2})",
  unordered = "_mm_cmpunord_{s}({1}, {2})",
  select = "_mm_or_{s}(_mm_and_{s}({1}, {2}), _mm_andnot_{s}({1}, {3}))",
})

local avx2 = derive(x86, {
  prefix = "_mm256", vector = 256, i = "si256", e64 = "epi64x", fused = true,
  native = { floor = true, round = true },
  floor = "_mm256_floor_{s}({1})",
  round = "_mm256_round_{s}({1}, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)",
  unordered = "_mm256_cmp_{s}({1}, {2}, _CMP_UNORD_Q)",
  select = "_mm256_blendv_{s}({3}, {2}, {1})",
})

local avx512 = derive(x86, {
  prefix = "_mm512", vector = 512, i = "si512", e64 = "epi64", fused = true,
  native = { floor = true, round = true },
  floor = "_mm512_roundscale_{s}({1}, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)",
  round = "_mm512_roundscale_{s}({1}, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)",
  mask_type = "__mmask{lanes}",
  abs = "_mm512_abs_{s}({1})",
  reciprocal_near = "_mm512_rcp14_{s}({1})",
  ldexp = "_mm512_scalef_{s}({1}, {2})",
  unordered = "_mm512_cmp_{s}_mask({1}, {2}, _CMP_UNORD_Q)",
  all_of = "(__mmask{lanes})({1} & {2})",
  any_of = "(__mmask{lanes})({1} | {2})",
  negate = "(__mmask{lanes})~{1}",
  select = "_mm512_mask_blend_{s}({1}, {3}, {2})",
  mask_none = "0",
  mask_any = "{1} != 0",
  mask_first = "(size_t)__builtin_ctz({1})",
})

for name, condition in pairs(compare_names) do
  avx2[name] = "_mm256_cmp_{s}({1}, {2}, _CMP_" .. condition .. ")"
  avx512[name] = "_mm512_cmp_{s}_mask({1}, {2}, _CMP_" .. condition .. ")"
end

-- Types that are not computed in are converted on the way from and to memory.
for _, dtype in ipairs { "f16", "bf16" } do
  x86["load_" .. dtype] = "lathe_load_" .. dtype .. "({1} + {2})"
  x86["store_" .. dtype] = "lathe_store_" .. dtype .. "({1} + {2}, {3})"
  x86["stream_" .. dtype] = "lathe_stream_" .. dtype .. "({1} + {2}, {3})"
  x86["load_part_" .. dtype] = "lathe_load_part_" .. dtype .. "({1} + {2}, {k})"
  x86["store_part_" .. dtype] = "lathe_store_part_" .. dtype .. "({1} + {2}, {3}, {k})"
  x86["load_number_" .. dtype] = "lathe_from_" .. dtype .. "({1}[0])"
  x86["store_number_" .. dtype] = "{1}[0] = lathe_to_" .. dtype .. "({2})"
  sse2["stream_" .. dtype] = x86["store_" .. dtype] -- half a register is all there is to store
end

-- Twice as many, as those at even places and those at odd ones.
x86.load_even_bf16 = "lathe_load_even_bf16({1} + {2})"
x86.load_odd_bf16 = "lathe_load_odd_bf16({1} + {2})"
x86.store_pair_bf16 = "lathe_store_pair_bf16({1} + {2}, {3})"
x86.stream_pair_bf16 = "lathe_stream_pair_bf16({1} + {2}, {3})"
sse2.stream_pair_bf16 = x86.store_pair_bf16

-- The bits of either, for ops that change nothing but signs.
local sign = "{p}_set1_epi16((short)0x8000)"
x86.load_h16 = "{p}_loadu_{i}((const void *)({1} + {2}))"
x86.store_h16 = "{p}_storeu_{i}((void *)({1} + {2}), {3})"
x86.stream_h16 = "{p}_stream_{i}((void *)({1} + {2}), {3})"
x86.neg_h16 = "{p}_xor_{i}({1}, " .. sign .. ")"
x86.abs_h16 = "{p}_andnot_{i}(" .. sign .. ", {1})"
x86.copysign_h16 = "{p}_or_{i}({p}_andnot_{i}(" .. sign .. ", {1}), {p}_and_{i}(" .. sign .. ", {2}))"
avx512.abs_h16 = x86.abs_h16

local scalar = {
  include = '"half.h"',
  fused = false,
  add = "{1} + {2}",
  sub = "{1} - {2}",
  mul = "{1} * {2}",
  div = "{1} / {2}",
  neg = "-{1}",
  sqrt = "__builtin_sqrt{f}({1})",
  abs = "__builtin_fabs{f}({1})",
  copysign = "__builtin_copysign{f}({1}, {2})",
  fma = "__builtin_fma{f}({1}, {2}, {3})",
  mad = "{1} * {2} + {3}",
  minraw = "{1} < {2} ? {1} : {2}",
  maxraw = "{1} > {2} ? {1} : {2}",
  lt = "{1} < {2}",
  le = "{1} <= {2}",
  gt = "{1} > {2}",
  ge = "{1} >= {2}",
  eq = "{1} == {2}",
  ne = "{1} != {2}",
  unordered = "__builtin_isunordered({1}, {2})",
  all_of = "{1} & {2}",
  any_of = "{1} | {2}",
  negate = "!{1}",
  select = "{1} ? {2} : {3}",
  bits = "lathe_bits_{t}({1})",
  real = "lathe_real_{t}({1})",
  iadd = "{1} + {2}",
  isub = "{1} - {2}",
  iand = "{1} & {2}",
  ior = "{1} | {2}",
  ixor = "{1} ^ {2}",
  ishl = "{1} << {k}",
  ishr = "{1} >> {k}",
  reciprocal_near = "1 / {1}",
  splat = "{1}",
  isplat = "(uint{b}_t){1}",
  first_lane = "{1}",
  load = "{1}[{2}]",
  store = "{1}[{2}] = {3}",
  load_own = "{1}[{2}]",
  store_own = "{1}[{2}] = {3}",
  load_number = "{1}[0]",
  load_index = "{1}[0]",
  store_number = "{1}[0] = {2}",
  store_index = "{1}[0] = {2}",
  random = "numbers[{3}]",
  hit = "{1} == (int64_t)({2})",
  mask_none = "false",
  mask_any = "{1}",
  mask_first = "(size_t)0",
}

scalar.neg_h16 = "{1} ^ 0x8000"
scalar.abs_h16 = "{1} & 0x7fff"
scalar.copysign_h16 = "({1} & 0x7fff) | ({2} & 0x8000)"

-- The reference calls the C library for what the kernels compute by polynomials.
for _, dtype in ipairs { "f16", "bf16" } do
  scalar["load_" .. dtype] = "lathe_from_" .. dtype .. "({1}[{2}])"
  scalar["store_" .. dtype] = "{1}[{2}] = lathe_to_" .. dtype .. "({3})"
  scalar["load_number_" .. dtype] = x86["load_number_" .. dtype]
  scalar["store_number_" .. dtype] = x86["store_number_" .. dtype]
end

local reference = derive(scalar, {
  include = '"reference.h"',
  native = true,
  -- Of the kernels that each one checks.
  tiny = { f64 = 0x1p-126, wide = 0x1p-1022 },
  unit = { f64 = 0x1p-23, wide = 0x1p-52 },
  sqrt = "sqrt{f}({1})",
  abs = "fabs{f}({1})",
  copysign = "copysign{f}({1}, {2})",
  fma = "fma{f}({1}, {2}, {3})",
  mad = "fma{f}({1}, {2}, {3})",
  random = "lathe_random({1}, {2}, part->first + {3}, args->narrow)",
  sigmoid = "1 / (1 + exp{f}(-{1}))",
  rsqrt = "1 / sqrt{f}({1})",
  pow = "pow{f}({1}, {2})",
  round = "rint{f}({1})",
  sign = "{1} != {1} ? {1} : ({1} > 0) - ({1} < 0)",
})
for _, name in ipairs { "exp", "exp2", "expm1", "log", "log1p", "tanh", "erf", "erfc", "sin", "cos", "floor" } do
  reference[name] = name .. "{f}({1})"
end

c.types, c.integer_type, c.cast = types, "int64_t", "(%s)%s"
c.sets = { scalar = scalar, sse2 = sse2, avx2 = avx2, avx512 = avx512, reference = reference }

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

local function pointer(self, operand, i, offset)
  local ctype = operand.dtype == "i64" and "int64_t" or self.storage
  local const = operand.output and "" or "const "
  if not offset then
    return string.format("%s%s *%s = args->buf[%d];", const, ctype, operand.name, i - 1)
  end
  return string.format("%s%s *%s = (%s%s *)args->buf[%d] + %s;", const, ctype, operand.name, const, ctype,
    i - 1, offset)
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
    return string.format("%s0x%xll", self.set.vector and "(long long)" or "", value)
  end
  return string.format("%s0x%x", self.set.vector and "(int)" or "", value & 0xffffffff)
end

-- C that combines the lanes of an array, pairwise; four lanes a line.
function c.methods:fold_lanes(kind, array)
  local larger = kind == "maximum" or kind == "argmax"
  local call = kind ~= "sum" and string.format("lathe_%s_%s", larger and "max" or "min", self.compute)
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
  k.lanes = set.vector and set.vector // spelling.bits or 1
  if set.vector then
    local single = k.compute == "f32"
    k.marks = {
      p = set.prefix, s = single and "ps" or "pd", s1 = single and "s" or "d", i = set.i, b = tostring(spelling.bits),
      e = single and "epi32" or set.e64, f = spelling.f, t = k.compute, isa = k.isa, lanes = tostring(k.lanes),
    }
    k.vector = "__m" .. set.vector .. (single and "" or k.compute == "h16" and "i" or "d")
    k.integer = "__m" .. set.vector .. "i"
    k.mask = set.mask_type and k:text "mask_type" or k.vector
  else
    k.marks = { f = spelling.f, t = k.compute, b = tostring(spelling.bits) }
    k.vector, k.mask = spelling.number, "bool"
    k.integer = spelling.bits and "uint" .. spelling.bits .. "_t"
  end
  k.prologue = { '#include "lathe.h"', "#include " .. k:text "include" }
  if k.program.random then
    k.prologue[3] = '#include "philox.h"'
  end
end

return c
