-- GLSL as a target language (see lower.lua): compute shaders, as SPIR-V for Vulkan. An invocation
-- computes one point at a time, so that every variable is a plain number; what makes it fast is in
-- templates/glsl. A buffer is an address, a uint64_t, that is cast to a reference where it is read.

local cheaper = require "cheaper"
local expr = require "expr"
local text = require "text"

local glsl = {
  methods = { expand = cheaper.expand },
  result = { parameter = "out %s out_%s", argument = "%s", assign = "out_%s = %s;" },
}

-- Types, as in lower_c.lua; bytes: the size of an element in memory, where its type is `element`.
glsl.types = {
  f32 = { number = "float", f = "", bits = 32, bytes = 4, element = "float", pack = "<f", digits = 9 },
  f64 = {
    number = "double", f = "lf", bits = 64, bytes = 8, element = "double", pack = "<d", digits = 17,
  },
  f16 = { compute = "f32", bytes = 2, element = "float16_t" },
  bf16 = { compute = "f32", bytes = 2, element = "uint16_t" },
}

glsl.gathers_two = true -- see program.together
glsl.integer_type, glsl.cast = "int64_t", "%s(%s)"
glsl.require = "#extension %s : require"

-- mad is one instruction where the device has one; the other sums of products stay two roundings in f32
-- and f64, for every value is declared precise there.
local set = {
  fused = true,
  add = "{1} + {2}",
  sub = "{1} - {2}",
  mul = "{1} * {2}",
  div = "lathe_quotient({1}, {2})", -- kernel.comp, as are all such names
  neg = "-{1}",
  sqrt = "sqrt({1})",
  abs = "abs({1})",
  copysign = "lathe_copysign({1}, {2})",
  fma = "lathe_fma({1}, {2}, {3})",
  mad = "fma({1}, {2}, {3})",
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
  floor = "floor({1})",
  round = "roundEven({1})",
  bits = "floatBitsToUint({1})",
  real = "uintBitsToFloat({1})",
  bits_f64 = "doubleBitsToUint64({1})",
  real_f64 = "uint64BitsToDouble({1})",
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
  load_number = "lathe_get({1})",
  load_index = "lathe_integer({1}).at",
  store_number = "lathe_put({1}, {2})",
  store_index = "lathe_integer({1}).at = int64_t({2})",
  exp_near_f32 = "lathe_exp_near_f32({1})",
  exp_near_f16 = "lathe_exp_near_f16({1})",
  exp_near_bf16 = "lathe_exp_near({1})",
  exp_summed = "lathe_exp_near_f16({1})",
  exp_narrow_bf16 = "lathe_exp_bf16({1})",
  quotient = "{1} / {2}", -- off by 2.5 ulp
  root = "sqrt({1})",
  reciprocal_root = "inversesqrt({1})",
  reciprocal = "lathe_reciprocal({1})",
}

set.native = { floor = true, round = true }
for name, pattern in pairs(cheaper.texts) do
  set[name] = pattern
end

glsl.sets = { vulkan = set }

-- Whether numbers that are rounded to half their bits later need not be right to the last one: nothing is
-- divided, nor is a root taken, for which there is no cheaper form.
function glsl.methods:is_loose()
  local roots = {}
  for _, phase in ipairs(self.program.phases) do
    for _, list in ipairs { phase.reductions, phase.picks } do
      for _, row in ipairs(list) do
        roots[#roots + 1] = row.term
      end
    end
  end
  for _, reduction in ipairs(self.program.column_reductions) do
    roots[#roots + 1] = reduction.term
  end
  for _, list in ipairs { self.program.points, self.program.totals, self.program.columns } do
    for _, value in ipairs(list) do
      roots[#roots + 1] = value.node
    end
  end
  local loose = self.dtype ~= self.compute
  expr.visit(text.map(roots, function(node)
    return self:expand(node)
  end), function(node)
    loose = loose and node.op ~= "div" and node.op ~= "sqrt"
  end)
  return loose
end

-- Constants -----------------------------------------------------------------------------------

function glsl.special(spelling, value)
  local high = value ~= value and 0x7ff8 or value < 0 and 0xfff0 or 0x7ff0
  if spelling.bits == 64 then
    return string.format("packDouble2x32(uvec2(0u, 0x%x0000u))", high)
  end
  return string.format("uintBitsToFloat(0x%x0000u)", value ~= value and 0x7fc0 or value < 0 and 0xff80 or 0x7f80)
end

function glsl.methods:integer_literal(value)
  if self.spelling.bits == 64 then
    return string.format("0x%xul", value)
  end
  return string.format("0x%xu", value & 0xffffffff)
end

-- What templates ask for ----------------------------------------------------------------------

-- The members of the block of push constants, in the order in which the runtime fills it: addresses
-- of the operands and of the workspace, dimensions, scalars; backend.lua sees that they are not too many.
function glsl.methods:arguments(op)
  local members = text.map(self.operands, function(operand)
    return "uint64_t " .. operand.name .. ";"
  end)
  members[#members + 1] = "uint64_t workspace;"
  members[#members + 1] = string.format("uint64_t dim[%d];", #op.dims)
  for _, argument in ipairs(op.scalars) do
    members[#members + 1] = string.format("%s %s;", self.number, argument.name)
  end
  return table.concat(members, "\n")
end

function glsl.methods:scalars(op)
  return table.concat(text.map(op.scalars, function(argument)
    return string.format("const %s %s = args.%s;", self.number, argument.name, argument.name)
  end), "\n")
end

-- The address of each operand's data, moved by offset(operand) elements where that is given and not nil.
function glsl.methods:pointers(offset)
  return table.concat(text.map(self.operands, function(operand)
    local by = offset and offset(operand)
    local bytes = operand.dtype == "i64" and 8 or self.bytes
    return string.format("const uint64_t %s = args.%s%s;", operand.name, operand.name,
      by and string.format(" + %s * %dul", by, bytes) or "")
  end), "\n")
end

-- Value number `lane` (from 0) of a uvec4 that was read from memory.
function glsl.methods:unpack(pack, lane)
  local component = ("xyzw"):sub(lane * self.bytes // 4 + 1)
  local word = pack .. "." .. component:sub(1, 1)
  if self.dtype == "f32" then
    return "uintBitsToFloat(" .. word .. ")"
  elseif self.dtype == "f64" then
    return "packDouble2x32(" .. pack .. "." .. component:sub(1, 2) .. ")"
  elseif self.dtype == "f16" then
    return string.format("float(unpackFloat2x16(%s).%s)", word, lane % 2 == 0 and "x" or "y")
  end
  return string.format(lane % 2 == 0 and "uintBitsToFloat(%s << 16)" or "uintBitsToFloat(%s & 0xffff0000u)", word)
end

-- The values of such a uvec4 as the language compares them: pairs where it can.
function glsl.methods:stored(pack)
  local list = {}
  for lane = 0, self.width - 1 do
    if self.dtype ~= "f16" then
      list[#list + 1] = self:unpack(pack, lane)
    elseif lane % 2 == 0 then
      list[#list + 1] = string.format("unpackFloat2x16(%s.%s)", pack, ("xyzw"):sub(lane // 2 + 1, lane // 2 + 1))
    end
  end
  return list
end

-- The uvec4 of numbers, as many as it has room for.
function glsl.methods:pack_numbers(values)
  local format = self.spelling.bits == 32 and "floatBitsToUint(%s)" or "unpackDouble2x32(%s)"
  return "uvec4(" .. table.concat(text.map(values, function(value)
    return format:format(value)
  end), ", ") .. ")"
end

-- The uvec4 of k.width values, as operands have them. node: what they are of the program, if known.
function glsl.methods:pack(values, node)
  if self.dtype == "bf16" then
    local form = node and cheaper.is_never_halfway(self, node) and "lathe_bf16s_near" or "lathe_bf16s"
    return form .. "(" .. table.concat(values, ", ") .. ")"
  elseif self.dtype ~= "f16" then
    return self:pack_numbers(values)
  end
  local words = {}
  for i = 1, #values, 2 do
    words[#words + 1] = string.format("packFloat2x16(f16vec2(vec2(%s, %s)))", values[i], values[i + 1])
  end
  return "uvec4(" .. table.concat(words, ", ") .. ")"
end

-- The types in kernel.comp that gather the terms of a reduction.
local gatherers = {
  sum = "lathe_sum", maximum = "lathe_largest", minimum = "lathe_smallest", argmax = "lathe_first_largest",
  argmin = "lathe_first_smallest", moments = "lathe_moments", powers = "lathe_powers",
}

function glsl.methods:gatherer(kind)
  return gatherers[kind]
end

-- The type of its result.
function glsl.methods:result_type(kind)
  return self:is_index(kind) and "uint64_t" or self.number
end

-- The numbers that a gatherer of a kind has, by name, the second result after the first; an index comes after
-- them.
local with_two = { moments = { "value", "squares", "count" }, powers = { "value", "total" } }
local function members(kind)
  return with_two[kind] or { "value" }
end

-- What is gathered as words of 4 bytes, and the expression that makes it of such words.
function glsl.methods:words(kind, gathered)
  local words = {}
  for _, member in ipairs(members(kind)) do
    local number = gathered .. "." .. member
    if self.spelling.bits == 64 then
      words[#words + 1] = "unpackDouble2x32(" .. number .. ").x"
      words[#words + 1] = "unpackDouble2x32(" .. number .. ").y"
    else
      words[#words + 1] = "floatBitsToUint(" .. number .. ")"
    end
  end
  if self:is_index(kind) then
    words[#words + 1] = "uint(" .. gathered .. ".index)"
    words[#words + 1] = "uint(" .. gathered .. ".index >> 32)"
  end
  return words
end

function glsl.methods:from_words(kind, words)
  local at, list = 0, {}
  local function word()
    at = at + 1
    return words[at]
  end
  for i in ipairs(members(kind)) do
    list[i] = self.spelling.bits == 64 and string.format("packDouble2x32(uvec2(%s, %s))", word(), word())
      or "uintBitsToFloat(" .. word() .. ")"
  end
  if self:is_index(kind) then
    list[#list + 1] = string.format("uint64_t(%s) | uint64_t(%s) << 32", word(), word())
  end
  return gatherers[kind] .. "(" .. table.concat(list, ", ") .. ")"
end

local combined = {
  sum = "(%s + %s)", maximum = "lathe_larger(%s, %s)", minimum = "lathe_smaller(%s, %s)",
  max = "max(%s, %s)", min = "min(%s, %s)", -- which may lose NaN
}

-- Values combined pairwise: one rounding of a sum does not wait for the others, and fewer come
-- together.
function glsl.methods:fold(kind, values)
  local format = combined[kind]
  while #values > 1 do
    local half = {}
    for i = 1, #values // 2 do
      half[i] = format:format(values[i], values[i + #values // 2])
    end
    if #values % 2 == 1 then
      half[#half + 1] = values[#values]
    end
    values = half
  end
  return values[1]
end

function glsl.setup(k)
  k.name = k.name:gsub("__", "_") -- two are GLSL's own
  k.lanes = 1
  k.marks = {}
  -- Computed in f32 and rounded to half its bits: a rounding less there does not show.
  k.precise = k.dtype == k.compute and "precise " or ""
  k.let = k.precise == "" and "const" or "const precise"
  k.vector, k.mask = k.number, "bool"
  k.integer = k.spelling.bits == 64 and "uint64_t" or "uint"
  k.bytes = glsl.types[k.dtype].bytes
  k.element = glsl.types[k.dtype].element
  k.width = 16 // k.bytes -- elements of a 16-byte access, the widest there is
  k.prologue = {
    "#version 460",
    "#extension GL_GOOGLE_cpp_style_line_directive : require",
    "#extension GL_EXT_buffer_reference : require",
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require",
    "#extension GL_EXT_control_flow_attributes : require",
    "#extension GL_KHR_shader_subgroup_basic : require",
    "#extension GL_KHR_shader_subgroup_shuffle : require",
    "#extension GL_KHR_shader_subgroup_arithmetic : require",
  }
end

return glsl
