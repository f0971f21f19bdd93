-- The instruction sets that kernels in C are made for, a row each: what kernels need of a processor and of a compiler,
-- the types of their variables, and the text of every operation. Besides its row an instruction set has a header,
-- templates/c/simd_NAME.h, with what takes more than an expression, and a probe in configure.
--
-- Widest first: dispatch prefers them in this order. configure reads name, processor and flags, in one line each.
--
--   name, title        in kernels' names, and in messages
--   processor          that has it, as its compilers define it: __NAME__; "any" for all
--   flags              of the compiler
--   features           of dispatch.h that a processor must have besides, for kernels to run
--   f32, f64, h16      by type computed in: vector, integer, mask, the types of variables; bits, of a register; and
--                      marks of its own in the text of operations
--   group              "simd" of those with vectors: specs may name them so
--   registers          how many there are for vectors
--   templates          whose kernels use what only this row has: it has no others, and specs must name it; nil: all
--   tiles              what multiplies elements as matrices, by the types of both factors
--   fused              whether fma is one operation
--   native             functions that have a text; see lower.lua
--
-- All else is the text of operations; see lower.lua. Marks that all have: {b} the bits of an element, {f} the end of
-- constants, {t} the type computed in, {isa} the name, {lanes} how many there are. instruction_sets.scalar has no
-- vectors, and so none of f32, f64 and h16.

local operators = require "operators"
local types = require "types"

local instruction_sets = {}

local function derive(base, changes)
  return setmetatable(changes, { __index = base })
end

-- Every row -----------------------------------------------------------------------------------

local any = {
  load_number = "{1}[0]",
  load_index = "{1}[0]",
  store_number = "{1}[0] = {2}",
  store_index = "{1}[0] = {2}",
}
for _, dtype in ipairs(types.converted) do
  any["load_number_" .. dtype] = "lathe_from_" .. dtype .. "({1}[0])"
  any["store_number_" .. dtype] = "{1}[0] = lathe_to_" .. dtype .. "({2})"
end

-- Those with vectors: the functions of simd_NAME.h ----------------------------------------------

local simd = derive(any, {
  group = "simd",
  include = '"simd_{isa}.h"',
  hit = "lathe_hit_{t}({1}, {2})",
  -- Of the first {k} lanes only.
  load_part = "lathe_load_part_{t}({1} + {2}, {k})",
  store_part = "lathe_store_part_{t}({1} + {2}, {3}, {k})",
  mask_part = "lathe_mask_part_{t}({1})",
  -- Twice as many, as those at even places and those at odd ones.
  load_even_bf16 = "lathe_load_even_bf16({1} + {2})",
  load_odd_bf16 = "lathe_load_odd_bf16({1} + {2})",
  store_pair_bf16 = "lathe_store_pair_bf16({1} + {2}, {3})",
})
-- Types that are not computed in are converted on the way from and to memory.
for _, dtype in ipairs(types.converted) do
  simd["load_" .. dtype] = "lathe_load_" .. dtype .. "({1} + {2})"
  simd["store_" .. dtype] = "lathe_store_" .. dtype .. "({1} + {2}, {3})"
  simd["load_part_" .. dtype] = "lathe_load_part_" .. dtype .. "({1} + {2}, {k})"
  simd["store_part_" .. dtype] = "lathe_store_part_" .. dtype .. "({1} + {2}, {3}, {k})"
end

-- `set` writes past the caches in registers alone: what is narrower in memory is stored as always.
local function streams_whole_registers(set)
  for _, dtype in ipairs(types.converted) do
    set["stream_" .. dtype] = simd["store_" .. dtype]
  end
  set.stream_pair_bf16 = simd.store_pair_bf16
  return set
end

-- x86-64. {p} and {s} are the intrinsics' prefix and suffix, {s1} that of one element, {i} the suffix of integer
-- operations on a register, {e} that of an integer in every lane.

local sign = "{p}_set1_epi16((short)0x8000)" -- of two bytes, for ops that change nothing but signs
local x86 = derive(simd, {
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
  store_lanes = "{p}_storeu_{s}({1}, {2})",
  -- Seed, offset, a point's index: templates/c/map.c makes the numbers ahead.
  random = "{p}_loadu_{s}(numbers + {3})",
  fence = "_mm_sfence()",
  mask_none = "{p}_setzero_{s}()",
  mask_any = "{p}_movemask_{s}({1}) != 0",
  mask_first = "(size_t)__builtin_ctz((unsigned){p}_movemask_{s}({1}))",
  load_h16 = "{p}_loadu_{i}((const void *)({1} + {2}))",
  store_h16 = "{p}_storeu_{i}((void *)({1} + {2}), {3})",
  stream_h16 = "{p}_stream_{i}((void *)({1} + {2}), {3})",
  neg_h16 = "{p}_xor_{i}({1}, " .. sign .. ")",
  abs_h16 = "{p}_andnot_{i}(" .. sign .. ", {1})",
  copysign_h16 = "{p}_or_{i}({p}_andnot_{i}(" .. sign .. ", {1}), {p}_and_{i}(" .. sign .. ", {2}))",
  stream_pair_bf16 = "lathe_stream_pair_bf16({1} + {2}, {3})",
})
for _, dtype in ipairs(types.converted) do
  x86["stream_" .. dtype] = "lathe_stream_" .. dtype .. "({1} + {2}, {3})"
end

-- The types of a row for registers of so many bits. masks: of comparisons, where these have registers of their own;
-- e64: the suffix of a 64-bit integer in every lane.
local function x86_types(row, bits, e64, masks)
  local prefix, i, integer = "_mm" .. (bits > 128 and bits or ""), "si" .. bits, "__m" .. bits .. "i"
  local function of(vector, s, s1, e)
    return {
      bits = bits, vector = vector, integer = integer, mask = masks or vector, p = prefix, i = i, s = s, s1 = s1, e = e,
    }
  end
  row.f32, row.f64 = of("__m" .. bits, "ps", "s", "epi32"), of("__m" .. bits .. "d", "pd", "d", e64)
  row.h16 = of(integer)
  return derive(x86, row)
end

local avx512 = x86_types({
  name = "avx512", processor = "x86_64", flags = "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c",
  title = "AVX-512", registers = 32, features = { "AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL" },
  fused = true,
  native = { floor = true, round = true },
  floor = "_mm512_roundscale_{s}({1}, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)",
  round = "_mm512_roundscale_{s}({1}, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)",
  abs = "_mm512_abs_{s}({1})",
  abs_h16 = x86.abs_h16,
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
}, 512, "epi64", "__mmask{lanes}")

-- A unit that multiplies matrices, beside the vectors of AVX-512.
local amx = derive(avx512, {
  name = "amx", processor = "x86_64", flags = "-march=x86-64-v4 -mamx-tile -mamx-bf16 -mamx-int8",
  title = "AMX", features = { "AVX512F", "AVX512BW", "AVX512DQ", "AVX512VL", "AMX_BF16", "AMX_INT8" },
  templates = { "contract" },
  tiles = {
    bf16_bf16 = "_tile_dpbf16ps", i8_i8 = "_tile_dpbssd", i8_u8 = "_tile_dpbsud", u8_i8 = "_tile_dpbusd",
    u8_u8 = "_tile_dpbuud",
  },
})

local avx2 = x86_types({
  name = "avx2", processor = "x86_64", flags = "-mavx2 -mfma -mf16c",
  title = "AVX2", registers = 16, features = { "AVX2", "FMA", "F16C" },
  fused = true,
  native = { floor = true, round = true },
  floor = "_mm256_floor_{s}({1})",
  round = "_mm256_round_{s}({1}, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)",
  unordered = "_mm256_cmp_{s}({1}, {2}, _CMP_UNORD_Q)",
  select = "_mm256_blendv_{s}({3}, {2}, {1})",
}, 256, "epi64x")

local compare_names = { lt = "LT_OQ", le = "LE_OQ", gt = "GT_OQ", ge = "GE_OQ", eq = "EQ_OQ", ne = "NEQ_UQ" }
for name, condition in pairs(compare_names) do
  avx2[name] = "_mm256_cmp_{s}({1}, {2}, _CMP_" .. condition .. ")"
  avx512[name] = "_mm512_cmp_{s}_mask({1}, {2}, _CMP_" .. condition .. ")"
end

local sse2 = x86_types(streams_whole_registers {
  name = "sse2", processor = "x86_64", flags = "-msse2",
  title = "SSE2", registers = 16, features = { "SSE2" },
  fused = false,
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
}, 128, "epi64x")

-- AArch64. {s} and {u} are the suffixes of intrinsics for numbers and for their bits, {sign} the bit of the sign.

local neon = derive(simd, streams_whole_registers {
  name = "neon", processor = "aarch64", flags = "",
  title = "NEON", registers = 32, features = {}, -- every processor with 64 bits has it
  f32 = {
    bits = 128, vector = "float32x4_t", integer = "uint32x4_t", mask = "uint32x4_t", s = "f32", u = "u32",
    sign = "0x80000000",
  },
  f64 = {
    bits = 128, vector = "float64x2_t", integer = "uint64x2_t", mask = "uint64x2_t", s = "f64", u = "u64",
    sign = "0x8000000000000000",
  },
  h16 = { bits = 128, vector = "uint16x8_t", integer = "uint16x8_t", mask = "uint16x8_t", s = "u16", u = "u16" },
  fused = true,
  native = { floor = true, round = true },
  add = "vaddq_{s}({1}, {2})",
  sub = "vsubq_{s}({1}, {2})",
  mul = "vmulq_{s}({1}, {2})",
  div = "vdivq_{s}({1}, {2})",
  sqrt = "vsqrtq_{s}({1})",
  reciprocal_near = "lathe_reciprocal_near_{t}({1})", -- 16 bits of it
  all_of = "vandq_{u}({1}, {2})",
  any_of = "vorrq_{u}({1}, {2})",
  negate = "vceqzq_{u}({1})",
  minraw = "vminq_{s}({1}, {2})", -- NaN where either is
  maxraw = "vmaxq_{s}({1}, {2})",
  min = "vminq_{s}({1}, {2})",
  max = "vmaxq_{s}({1}, {2})",
  neg = "vnegq_{s}({1})",
  abs = "vabsq_{s}({1})",
  copysign = "vbslq_{s}(vdupq_n_{u}({sign}), {2}, {1})",
  mad = "vfmaq_{s}({3}, {1}, {2})",
  fma = "vfmaq_{s}({3}, {1}, {2})",
  floor = "vrndmq_{s}({1})",
  round = "vrndnq_{s}({1})",
  lt = "vcltq_{s}({1}, {2})",
  le = "vcleq_{s}({1}, {2})",
  gt = "vcgtq_{s}({1}, {2})",
  ge = "vcgeq_{s}({1}, {2})",
  eq = "vceqq_{s}({1}, {2})",
  ne = "vceqzq_{u}(vceqq_{s}({1}, {2}))",
  unordered = "vceqzq_{u}(vandq_{u}(vceqq_{s}({1}, {1}), vceqq_{s}({2}, {2})))",
  select = "vbslq_{s}({1}, {2}, {3})",
  bits = "vreinterpretq_{u}_{s}({1})",
  real = "vreinterpretq_{s}_{u}({1})",
  iadd = "vaddq_{u}({1}, {2})",
  isub = "vsubq_{u}({1}, {2})",
  iand = "vandq_{u}({1}, {2})",
  ior = "vorrq_{u}({1}, {2})",
  ixor = "veorq_{u}({1}, {2})",
  ishl = "vshlq_n_{u}({1}, {k})",
  ishr = "vshrq_n_{u}({1}, {k})",
  splat = "vdupq_n_{s}({1})",
  isplat = "vdupq_n_{u}({1})",
  first_lane = "vgetq_lane_{s}({1}, 0)",
  load = "vld1q_{s}({1} + {2})",
  store = "vst1q_{s}({1} + {2}, {3})",
  stream = "lathe_stream_{t}({1} + {2}, {3})",
  load_own = "vld1q_{s}({1} + {2})",
  store_own = "vst1q_{s}({1} + {2}, {3})",
  store_lanes = "vst1q_{s}({1}, {2})",
  random = "vld1q_{s}(numbers + {3})",
  fence = "(void)0", -- such stores are ordered as all are
  mask_none = "vdupq_n_{u}(0)",
  mask_any = "lathe_any_{t}({1})",
  mask_first = "lathe_first_{t}({1})",
  load_h16 = "vld1q_u16({1} + {2})",
  store_h16 = "vst1q_u16({1} + {2}, {3})",
  stream_h16 = "vst1q_u16({1} + {2}, {3})",
  neg_h16 = "veorq_u16({1}, vdupq_n_u16(0x8000))",
  abs_h16 = "vbicq_u16({1}, vdupq_n_u16(0x8000))",
  copysign_h16 = "vbslq_u16(vdupq_n_u16(0x8000), {2}, {1})",
})

-- C alone, one element at a time. The compiler is not to make vectors of it: those are what it is compared with.

local scalar = derive(any, operators.added_to {
  name = "scalar", processor = "any", flags = "-fno-tree-vectorize -fno-tree-slp-vectorize",
  title = "C without vectors", features = {},
  include = '"half.h"',
  fused = false,
  sqrt = "__builtin_sqrt{f}({1})",
  abs = "__builtin_fabs{f}({1})",
  copysign = "__builtin_copysign{f}({1}, {2})",
  fma = "__builtin_fma{f}({1}, {2}, {3})",
  mad = "{1} * {2} + {3}",
  unordered = "__builtin_isunordered({1}, {2})",
  all_of = "{1} & {2}",
  any_of = "{1} | {2}",
  bits = "lathe_bits_{t}({1})",
  real = "lathe_real_{t}({1})",
  reciprocal_near = "1 / {1}",
  isplat = "(uint{b}_t){1}",
  load = "{1}[{2}]",
  store = "{1}[{2}] = {3}",
  load_own = "{1}[{2}]",
  store_own = "{1}[{2}] = {3}",
  random = "numbers[{3}]",
  hit = "{1} == (int64_t)({2})",
  mask_none = "false",
  mask_first = "(size_t)0",
  neg_h16 = "{1} ^ 0x8000",
  abs_h16 = "{1} & 0x7fff",
  copysign_h16 = "({1} & 0x7fff) | ({2} & 0x8000)",
})
for _, dtype in ipairs(types.converted) do
  scalar["load_" .. dtype] = "lathe_from_" .. dtype .. "({1}[{2}])"
  scalar["store_" .. dtype] = "{1}[{2}] = lathe_to_" .. dtype .. "({3})"
end

instruction_sets.rows = { neon, amx, avx512, avx2, sse2, scalar }
for _, row in ipairs(instruction_sets.rows) do
  instruction_sets[row.name] = row
end

return instruction_sets
