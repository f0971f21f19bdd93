-- GLSL as a target language (see lower.lua): compute shaders, as SPIR-V for Vulkan. An invocation
-- computes one point at a time, so that every variable is a plain number; what makes it fast is in
-- templates/glsl. A buffer is an address, a uint64_t, that is cast to a reference where it is read.

local cheaper = require "cheaper"
local expr = require "expr"
local operators = require "operators"
local reductions = require "reductions"
local text = require "text"
local types = require "types"

local glsl = {
  methods = { expand = cheaper.expand },
  result = { parameter = "out %s %s", argument = "%s", assign = "%s = %s;" },
}

glsl.types = types.spelt "glsl"

glsl.folds_otherwise = true -- glslang, in double
glsl.drops_zeros = true -- lavapipe
glsl.gathers_two = true -- see passes.together
glsl.meets = true -- see steps.make
glsl.ways = { "held" }
-- What ranges.lua asks of numbers.
glsl.range_words = { least = "min({n}(%s), {n}(%s))", most = "max({n}(%s), {n}(%s))", floor = "floor(%s)" }
glsl.integer_type, glsl.cast = types.i64.glsl.element, "%s(%s)"
glsl.require = "#extension %s : require"

-- mad is one instruction where the device has one; the other sums of products stay two roundings in f32
-- and f64, for every value is declared precise there.
local set = operators.added_to {
  fused = true,
  div = "lathe_quotient({1}, {2})", -- functions.comp, as are all such names
  zero = "lathe_zero()",
  sqrt = "sqrt({1})",
  abs = "abs({1})",
  copysign = "lathe_copysign({1}, {2})",
  fma = "lathe_fma({1}, {2}, {3})",
  mad = "fma({1}, {2}, {3})",
  all_of = "{1} && {2}",
  any_of = "{1} || {2}",
  floor = "floor({1})",
  round = "roundEven({1})",
  bits = "floatBitsToUint({1})",
  real = "uintBitsToFloat({1})",
  bits_f64 = "doubleBitsToUint64({1})",
  real_f64 = "uint64BitsToDouble({1})",
  isplat = "{1}",
  load_number = "lathe_get({1})",
  load_index = "lathe_integer({1}).at",
  store_number = "lathe_put({1}, {2})",
  store_index = "lathe_integer({1}).at = int64_t({2})",
  exp_near_f32 = "lathe_exp_near_f32({1})",
  power_near = "exp2({1})",
  inverse_near = "1.0 / {1}",
  quotient_near = "{1} / {2}",
  log2_near = "log2({1})",
  quotient = "{1} / {2}", -- off by 2.5 ulp
  root = "sqrt({1})",
  reciprocal_root = "inversesqrt({1})",
  reciprocal = "lathe_reciprocal({1})",
}

set.native = { floor = true, round = "f32" } -- of -0 in f64, lavapipe's without AVX-512 is +0
set.narrow_exp = "bf16" -- of which an element's exp is narrow.lua's

glsl.sets = { vulkan = set }

-- Whether numbers that are rounded to half their bits later need not be right to the last one: nothing is
-- divided, nor is a root taken, for which there is no cheaper form.
function glsl.methods:is_loose()
  local roots = {}
  for _, step in ipairs(self.steps or {}) do
    for _, name in ipairs { "a", "b", "meet", "own", "values", "rows", "powers" } do
      for _, result in ipairs(step[name] and step[name].results or {}) do
        roots[#roots + 1] = result.node
      end
    end
  end
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
  local loose = self.narrow
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

local PUSHED = 128 -- bytes of push constants that every device has

-- Whether push constants have room for what a kernel is called with, runtime/devices/vulkan/call.c; else they have
-- its address.
function glsl.methods:is_pushed(op)
  local number = #op.scalars > 0 and self.spelling.bits // 8 or 0
  return 8 * (#op.operands + 1 + #op.dims) + #op.scalars * number <= PUSHED
end

-- What a kernel is called with, in the order in which the runtime fills it: addresses of the operands and of the
-- workspace, dimensions, scalars.
function glsl.methods:arguments(op)
  local members = {}
  for _, operand in ipairs(self.operands) do
    members[#members + 1] = not operand.temporary and "uint64_t " .. operand.name .. ";" or nil
  end
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
    return string.format("const uint64_t %s = args.%s%s;", operand.name, operand.name,
      by and string.format(" + %s * %dul", by, self:bytes_of(operand)) or "")
  end), "\n")
end

-- How a number of a type is read from an element and written as one, where an operand has that type of its own.
local elements = {
  f32 = { read = "%s", write = "%s" },
  f16 = { read = "float(%s)", write = "float16_t(%s)" },
  bf16 = { read = "uintBitsToFloat(uint(%s) << 16)", write = "uint16_t(lathe_bf16(%s) >> 16)" },
  i8 = { read = "float(int(%s))", write = "int8_t(lathe_whole(%s, -128.0, 127.0))" },
  u8 = { read = "float(uint(%s))", write = "uint8_t(lathe_whole(%s, 0.0, 255.0))" },
}

-- Whether the kernel has numbers of a type in memory.
function glsl.methods:has(dtype)
  local found = self.dtype == dtype
  for _, own in pairs(self.own_type) do
    found = found or own == dtype
  end
  return found
end

-- The types that operands have of their own: { name, bytes, element, read, write }.
function glsl.methods:own_types()
  local list = {}
  for _, row in ipairs(types.rows) do
    if row.name ~= self.dtype and self:has(row.name) then
      local element = elements[row.name]
      list[#list + 1] = {
        name = row.name, bytes = row.bytes, element = row.glsl.element, read = element.read, write = element.write,
      }
    end
  end
  return list
end

-- The names of the functions that read and write an operand's elements.
local function of_type(self, name, operand)
  local own = self.own_type[operand.name]
  return own and name .. "_" .. own or name
end

function glsl.methods:get(operand)
  return of_type(self, "lathe_get", operand)
end

function glsl.methods:put(operand)
  return of_type(self, "lathe_put", operand)
end

function glsl.methods:access(operand, operation, ...)
  local given = { ... }
  local call = operation == "load_number" and self:get(operand) or operation == "store_number" and self:put(operand)
  return call and self.own_type[operand.name] and call .. "(" .. table.concat(given, ", ") .. ")"
    or self:text(operation, ...)
end

-- Bytes of elements of the kernel's type, as those of an operand's; and an operand's address, as that of elements of
-- the kernel's type which lie alike.
function glsl.methods:of_own(operand, bytes)
  return self.own_type[operand.name] and string.format("%s / %dul * %dul", bytes, self.bytes, self:bytes_of(operand))
    or bytes
end

function glsl.methods:as_own(operand, address)
  return self.own_type[operand.name] and string.format("%s / %dul * %dul", address, self:bytes_of(operand), self.bytes)
    or address
end

-- An access to an operand, as a uvec4 of which fewer words are in use where it has fewer than 16 bytes.
local padded = { [8] = "uvec4(lathe_pack8(%s).at, 0u, 0u)", [4] = "uvec4(lathe_pack4(%s).at, 0u, 0u, 0u)" }
function glsl.methods:load_pack(operand, address)
  return (padded[self:access_bytes(operand)] or "lathe_pack(%s).at"):format(address)
end

local stores = { [8] = "lathe_pack8(%s).at = (%s).xy", [4] = "lathe_pack4(%s).at = (%s).x" }
function glsl.methods:store_pack(operand, address, pack)
  return (stores[self:access_bytes(operand)] or "lathe_pack(%s).at = %s"):format(address, pack)
end

-- Two accesses that follow one another, as the first two arguments of lathe_past.
local following = { [8] = "uvec4(%s.xy, %s.xy), uvec4(0u)", [4] = "uvec4(%s.x, %s.x, 0u, 0u), uvec4(0u)" }
function glsl.methods:joined(operand, pack, next_pack)
  return (following[self:access_bytes(operand)] or "%s, %s"):format(pack, next_pack)
end

-- Value number `lane` (from 0) of a uvec4 that was read from memory, of an operand where that is given.
function glsl.methods:unpack(pack, lane, operand)
  local dtype = operand and self:type_of(operand) or self.dtype
  local bytes = types[dtype].bytes
  local component = ("xyzw"):sub(lane * bytes // 4 + 1)
  local word = pack .. "." .. component:sub(1, 1)
  if dtype == "f32" then
    return "uintBitsToFloat(" .. word .. ")"
  elseif dtype == "f64" then
    return "packDouble2x32(" .. pack .. "." .. component:sub(1, 2) .. ")"
  elseif dtype == "f16" then
    return string.format("float(unpackFloat2x16(%s).%s)", word, lane % 2 == 0 and "x" or "y")
  elseif bytes == 1 then
    return string.format("float(bitfieldExtract(%s(%s), %d, 8))", dtype == "i8" and "int" or "uint", word, lane % 4 * 8)
  end
  return string.format(lane % 2 == 0 and "uintBitsToFloat(%s << 16)" or "uintBitsToFloat(%s & 0xffff0000u)", word)
end

-- The text of a word of memory with some values of a type in it.
local function word_of(dtype, values)
  if dtype == "f32" then
    return "floatBitsToUint(" .. values[1] .. ")"
  elseif dtype == "f16" then
    return string.format("packFloat2x16(f16vec2(vec2(%s, %s)))", values[1], values[2])
  elseif dtype == "bf16" then
    return string.format("lathe_bf16(%s) >> 16 | lathe_bf16(%s) & 0xffff0000u", values[1], values[2])
  end
  return table.concat(text.map(values, function(value, i)
    local range = dtype == "i8" and "-128.0, 127.0" or "0.0, 255.0"
    return string.format("(uint(lathe_whole(%s, %s)) & 0xffu) << %d", value, range, 8 * (i - 1))
  end), " | ")
end

-- The uvec4 of values that an access to an operand has, in a kernel whose operands have several types.
local function pack_of_type(dtype, values)
  local words, each = {}, 4 // types[dtype].bytes
  for i = 1, #values, each do
    words[#words + 1] = word_of(dtype, { table.unpack(values, i, i + each - 1) })
  end
  while #words < 4 do
    words[#words + 1] = "0u"
  end
  return "uvec4(" .. table.concat(words, ", ") .. ")"
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

-- The uvec4 of k.width values, as an operand has them. node: what they are of the program, if known.
function glsl.methods:pack(values, node, operand)
  if self.mixed then
    return pack_of_type(self:type_of(operand), values)
  elseif self.dtype == "bf16" then
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

-- The uvec4 of so many values that they are up to 16 bytes, as an operand has them.
function glsl.methods:pack_some(values, operand)
  return self.spelling.bits == 64 and self:pack_numbers(values) or pack_of_type(self:type_of(operand), values)
end

-- The type in gather.comp that gathers the terms of a reduction.
function glsl.methods:gatherer(kind)
  return reductions[kind].glsl
end

-- The type of its result.
function glsl.methods:result_type(kind)
  return self:is_index(kind) and "uint64_t" or self.number
end

-- What is gathered as words of 4 bytes, and the expression that makes it of such words.
function glsl.methods:words(kind, gathered)
  local words = {}
  for _, member in ipairs(reductions[kind].state) do
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
  for i in ipairs(reductions[kind].state) do
    list[i] = self.spelling.bits == 64 and string.format("packDouble2x32(uvec2(%s, %s))", word(), word())
      or "uintBitsToFloat(" .. word() .. ")"
  end
  if self:is_index(kind) then
    list[#list + 1] = string.format("uint64_t(%s) | uint64_t(%s) << 32", word(), word())
  end
  return reductions[kind].glsl .. "(" .. table.concat(list, ", ") .. ")"
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
  k.marks = { n = k.number }
  -- Computed in f32 and rounded to half its bits: a rounding less there does not show.
  k.precise = k.narrow and "" or "precise "
  -- NVIDIA's compiler takes x + c - c for x where neither is precise.
  k.let_exactly = "const precise "
  k.let = k.narrow and "const " or k.let_exactly
  k.vector, k.mask = k.number, "bool"
  k.integer = k.spelling.bits == 64 and "uint64_t" or "uint"
  k.bytes = glsl.types[k.dtype].bytes
  k.element = glsl.types[k.dtype].element
  k.width = types.access(k.operands, k.dtype)
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
