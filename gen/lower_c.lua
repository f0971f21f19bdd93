-- Lowers a program to C: scalar, or vectors by the intrinsics of one instruction set, or the
-- reference in higher precision. What a template gets is an object of the class below: point
-- functions (what is computed at each point of a pass), and the text of loads, stores and
-- combinations, so that no template knows an instruction set.

local expr = require "expr"
local text = require "text"
local vecmath = require "vecmath"

local lower = {}

-- Types ---------------------------------------------------------------------------------------

-- How a compute type is spelt: c its C type, f the ending of its constants and of libm's names,
-- bits its width, tiny its smallest normal number, pack for rounding a constant to it.
local types = {
  f32 = { c = "float", f = "f", bits = 32, tiny = 0x1p-126, pack = "<f", digits = 9 },
  f64 = { c = "double", f = "", bits = 64, tiny = 0x1p-1022, pack = "<d", digits = 17 },
  wide = { c = "long double", f = "l", pack = "<d", digits = 17 },
}

-- Instruction sets: each entry maps an operation to its text. {1} {2} {3} are the arguments,
-- {p} and {s} the intrinsics' prefix and suffix, {b} the width of an element in bits, {i} the
-- suffix of whole-register integer operations, {e} that of an integer in every lane, {f} as above,
-- {t} the compute type, {k} a plain count.

local compare_names = { lt = "LT_OQ", le = "LE_OQ", gt = "GT_OQ", ge = "GE_OQ", eq = "EQ_OQ", ne = "NEQ_UQ" }

local x86 = {
  include = '"simd_{isa}.h"',
  add = "{p}_add_{s}({1}, {2})",
  sub = "{p}_sub_{s}({1}, {2})",
  mul = "{p}_mul_{s}({1}, {2})",
  div = "{p}_div_{s}({1}, {2})",
  sqrt = "{p}_sqrt_{s}({1})",
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
  store_lanes = "{p}_storeu_{s}({1}, {2})",
  fence = "_mm_sfence()",
  -- The same for the first {k} lanes only: simd_*.h.
  load_part = "lathe_load_part_{t}({1} + {2}, {k})",
  store_part = "lathe_store_part_{t}({1} + {2}, {3}, {k})",
  mask_part = "lathe_mask_part_{t}({1})",
  mask_none = "{p}_setzero_{s}()",
  mask_or = "{p}_or_{s}({1}, {2})",
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
  unordered = "_mm256_cmp_{s}({1}, {2}, _CMP_UNORD_Q)",
  select = "_mm256_blendv_{s}({3}, {2}, {1})",
})

local avx512 = derive(x86, {
  prefix = "_mm512", vector = 512, i = "si512", e64 = "epi64", fused = true,
  mask_type = "__mmask{lanes}",
  abs = "_mm512_abs_{s}({1})",
  ldexp = "_mm512_scalef_{s}({1}, {2})",
  unordered = "_mm512_cmp_{s}_mask({1}, {2}, _CMP_UNORD_Q)",
  select = "_mm512_mask_blend_{s}({1}, {3}, {2})",
  mask_none = "0",
  mask_or = "(__mmask{lanes})({1} | {2})",
  mask_any = "{1} != 0",
  mask_first = "(size_t)__builtin_ctz({1})",
})

for name, condition in pairs(compare_names) do
  avx2[name] = "_mm256_cmp_{s}({1}, {2}, _CMP_" .. condition .. ")"
  avx512[name] = "_mm512_cmp_{s}_mask({1}, {2}, _CMP_" .. condition .. ")"
end

local scalar = {
  include = '"scalar.h"',
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
  splat = "{1}",
  isplat = "(uint{b}_t){1}",
  first_lane = "{1}",
  load = "{1}[{2}]",
  store = "{1}[{2}] = {3}",
  mask_none = "false",
  mask_or = "{1} | {2}",
  mask_any = "{1}",
  mask_first = "(size_t)0",
}

-- The reference calls the C library for what the kernels compute by polynomials.
local reference = derive(scalar, {
  include = "<math.h>",
  native = true,
  tiny = { f64 = types.f32.tiny, wide = types.f64.tiny }, -- of the kernels that each one checks
  sqrt = "sqrt{f}({1})",
  abs = "fabs{f}({1})",
  copysign = "copysign{f}({1}, {2})",
  fma = "fma{f}({1}, {2}, {3})",
  mad = "fma{f}({1}, {2}, {3})",
  sigmoid = "1 / (1 + exp{f}(-{1}))",
})
for _, name in ipairs { "exp", "exp2", "expm1", "log", "log1p", "tanh", "erf", "erfc" } do
  reference[name] = name .. "{f}({1})"
end

local sets = { scalar = scalar, sse2 = sse2, avx2 = avx2, avx512 = avx512, reference = reference }

-- Constants -----------------------------------------------------------------------------------

local function round_to(spelling, value)
  return (string.unpack(spelling.pack, string.pack(spelling.pack, value)))
end

-- The shortest decimal text of a constant that reads back as the same number.
local function literal(spelling, value)
  value = round_to(spelling, value)
  if value ~= value then
    return string.format('__builtin_nan%s("")', spelling.f)
  elseif value == math.huge or value == -math.huge then
    return (value < 0 and "-" or "") .. string.format("__builtin_inf%s()", spelling.f)
  end
  local digits
  for precision = 1, spelling.digits do
    digits = string.format("%." .. precision .. "g", value)
    if round_to(spelling, tonumber(digits) + 0.0) == value then
      break
    end
  end
  if not digits:find "[.e]" then
    digits = digits .. ".0"
  end
  return digits .. spelling.f:gsub("l", "L")
end

-- Kernels -------------------------------------------------------------------------------------

local kernel = {}
kernel.__index = kernel

-- Operations that an instruction set has no text for, as others. max and min let NaN through,
-- which the hardware's do in their second argument only.
local function rules_of(set, target)
  local rules = {}
  for _, name in ipairs { "max", "min" } do
    local raw = expr[name .. "raw"]
    rules[name] = function(_, args)
      local a, b = args[1], args[2]
      if b.op == "const" and b.value == b.value then
        a, b = b, a
      end
      if a.op == "const" and a.value == a.value then
        return raw(a, b)
      end
      return expr.select(expr.ne(a, a), a, raw(a, b))
    end
  end
  if not set.native then
    for name, build in pairs(vecmath) do
      rules[name] = function(_, args)
        return expr.rewrite(build(args[1], target), rules, { [args[1]] = args[1] })
      end
    end
  end
  return rules
end

local filler_cache = {}

-- A function of the arguments that fills the marks in one of the texts above: it is asked for
-- some hundred times for each file, so it is made once.
local function filler(self, operation)
  local pattern = self.set[operation] or error("no text for " .. operation)
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

-- The text of an operation on up to three arguments and a plain count.
function kernel:text(operation, a, b, c, k)
  local key = self.key .. operation
  local fill = filler_cache[key]
  if not fill then
    fill = filler(self, operation)
    filler_cache[key] = fill
  end
  return fill(a, b, c, k)
end

function kernel:literal(value)
  return literal(self.spelling, value)
end

-- A constant in every lane.
function kernel:constant(value)
  return self:text("splat", self:literal(value))
end

function kernel:expand(node)
  return expr.rewrite(node, self.rules, self.memo)
end

function kernel:integer_literal(value)
  if self.spelling.bits == 64 then
    return string.format("%s0x%xll", self.set.vector and "(long long)" or "", value)
  end
  return string.format("%s0x%x", self.set.vector and "(int)" or "", value & 0xffffffff)
end

local function type_of(self, node)
  return node.type == "m" and self.mask or node.type == "i" and self.integer or self.vector
end

-- Writes what the roots need as C statements, arguments first. names: what is known already,
-- and what this makes known.
local function emit(self, roots, names, lines, prefix)
  local serial = 0
  local function walk(node)
    if names[node] then
      return
    end
    for i = 1, #node do
      walk(node[i])
    end
    local value
    if node.op == "const" then
      value = self:constant(node.value)
    elseif node.op == "iconst" then
      value = self:text("isplat", self:integer_literal(node.value))
    elseif node.op == "tiny" then
      value = self:constant(self.set.tiny and self.set.tiny[self.dtype] or self.spelling.tiny)
    else
      local a, b, c = node[1], node[2], node[3]
      value = self:text(node.op, names[a], b and names[b], c and names[c], node.k)
    end
    serial = serial + 1
    names[node] = prefix .. serial
    lines[#lines + 1] = string.format("const %s %s = %s;", type_of(self, node), names[node], value)
  end
  for _, root in ipairs(roots) do
    walk(root)
  end
end

-- The variable of a value that stays the same over a whole pass and is set ahead of it. Arguments
-- and results of reductions keep their names.
local function name_uniform(self, node)
  if not self.uniform_names[node] then
    self.uniforms_used[#self.uniforms_used + 1] = node
    local named = node.op == "scalar" or node.op == "reduced"
    self.uniform_names[node] = named and node.name .. "_" or "u" .. #self.uniforms_used
  end
  return self.uniform_names[node]
end

-- Names all such values that the roots need; returns them.
local function collect_uniforms(self, roots)
  local used, seen = {}, {}
  local function walk(node)
    if seen[node] then
      return
    end
    seen[node] = true
    if node.varying then
      for i = 1, #node do
        walk(node[i])
      end
      return
    end
    local from_outside = false
    expr.visit({ node }, function(n)
      from_outside = from_outside or n.op == "scalar" or n.op == "reduced"
    end)
    if from_outside then -- else it is made of constants, which stay in the point function
      used[#used + 1] = node
      name_uniform(self, node)
    end
  end
  for _, root in ipairs(roots) do
    walk(root)
  end
  return used
end

-- A point function: results is a list of { name = variable, node }. Its record has what a
-- template needs:
--   type, name, parameters, body   its definition
--   inputs                         { pointer, variable }: what it reads at each point, and where to
--   call                           a statement that declares each result's variable and sets it
function kernel:point(name, results)
  local point = { name = self.name .. "_" .. name, inputs = {}, results = results }
  local roots, names, lines, parameters, arguments = {}, {}, {}, {}, {}
  for i, result in ipairs(results) do
    roots[i] = self:expand(result.node)
  end
  local uniforms = collect_uniforms(self, roots)
  local read = {}
  expr.visit(roots, function(node)
    if node.op == "input" or node.op == "stash" then
      read[node.name] = node
    end
  end)
  for _, operand in ipairs(self.operands) do
    local node = read[operand.name]
    if node then
      local variable = (node.op == "stash" and "kept_" or "") .. operand.name .. "_"
      point.inputs[#point.inputs + 1] = { pointer = operand.name, variable = variable }
      names[node] = variable
      parameters[#parameters + 1] = self.vector .. " " .. variable
      arguments[#arguments + 1] = variable
    end
  end
  for _, node in ipairs(uniforms) do
    names[node] = self.uniform_names[node]
    parameters[#parameters + 1] = type_of(self, node) .. " " .. names[node]
    arguments[#arguments + 1] = names[node]
  end
  emit(self, roots, names, lines, "t")
  if #results == 1 then
    point.type = self.vector
    lines[#lines + 1] = "return " .. names[roots[1]] .. ";"
    point.call = string.format("const %s %s = %s(%s);", self.vector, results[1].name, point.name,
      table.concat(arguments, ", "))
  else
    point.type = "void"
    local declared = {}
    for i, result in ipairs(results) do
      parameters[#parameters + 1] = self.vector .. " *" .. result.name .. "_out"
      arguments[#arguments + 1] = "&" .. result.name
      lines[#lines + 1] = "*" .. result.name .. "_out = " .. names[roots[i]] .. ";"
      declared[i] = result.name
    end
    point.call = string.format("%s %s; %s(%s);", self.vector, table.concat(declared, ", "), point.name,
      table.concat(arguments, ", "))
  end
  point.parameters = #parameters > 0 and table.concat(parameters, ", ") or "void"
  point.body = table.concat(lines, "\n")
  return point
end

-- Statements for the values that stay the same over a pass and that need the results of phase p
-- at the latest (0: of none, so that they stand before all passes). Ask when every point
-- function and total has been made.
function kernel:uniforms(phase)
  local lines, names = {}, {}
  for _, node in ipairs(self.uniforms_used) do
    local last = 0
    expr.visit({ node }, function(n)
      last = math.max(last, n.op == "reduced" and self.phase_of[n.name] or 0)
    end)
    if last == phase then
      expr.visit({ node }, function(n)
        if (n.op == "scalar" or n.op == "reduced") and not names[n] then
          names[n] = n.name .. "_"
          if self.phase_of[n.name] == phase or phase == 0 then
            lines[#lines + 1] = string.format("const %s %s = %s;", self.vector, names[n],
              self:text("splat", n.name))
          end
        end
      end)
      local name = self.uniform_names[node]
      if not names[node] then
        emit(self, { node }, names, lines, name .. "_")
        lines[#lines + 1] = string.format("const %s %s = %s;", type_of(self, node), name, names[node])
      end
    end
  end
  return table.concat(lines, "\n")
end

-- The C expression, a plain number, for a value per row or in all (after the last pass).
function kernel:total(node)
  if node.op == "reduced" then
    return node.name
  end
  return self:text("first_lane", name_uniform(self, self:expand(node)))
end

-- Every lane the same: the vector of a plain number in C.
function kernel:splat(value)
  return self:text("splat", value)
end

local combine_ops = { sum = "add", maximum = "maxraw", minimum = "minraw", argmax = "maxraw", argmin = "minraw" }

-- acc combined with one more term. For the largest and the smallest a NaN term leaves acc as
-- it is (NaN is looked for apart).
function kernel:combine(kind, acc, term)
  if kind == "sum" then
    return self:text("add", acc, term)
  end
  return self:text(combine_ops[kind], term, acc)
end

-- What changes nothing when combined: where a vector has fewer elements than lanes.
function kernel:neutral(kind)
  local neutral = { sum = -0.0, maximum = -math.huge, minimum = math.huge, argmax = -math.huge, argmin = math.huge }
  return self:constant(neutral[kind])
end

function kernel:is_extremum(kind)
  return kind ~= "sum"
end

function kernel:is_index(kind)
  return kind == "argmax" or kind == "argmin"
end

-- C that combines the lanes of an array, pairwise; four lanes a line.
function kernel:fold_lanes(kind, array)
  local larger = kind == "maximum" or kind == "argmax"
  local call = kind ~= "sum" and string.format("lathe_%s_%s", larger and "max" or "min", self.dtype)
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

-- What a template's functions are made of ------------------------------------------------------

-- The results list for a point function of outputs { operand, node }.
function kernel:results(points)
  return text.map(points, function(point)
    return { name = point.operand.name .. "_", node = point.node }
  end)
end

-- The point functions of all passes, each given to define(point).
function kernel:passes(define)
  return text.map(self.program.phases, function(phase, p)
    local results = text.map(phase.reductions, function(reduction)
      return { name = reduction.name .. "_term", node = reduction.term }
    end)
    table.move(self:results(phase.stash), 1, #phase.stash, #results + 1, results)
    local point = self:point("pass" .. p, results)
    define(point)
    return point
  end)
end

-- { operand, value } for outputs with one value per row or in all.
function kernel:totals()
  return text.map(self.program.totals, function(total)
    return { operand = total.operand, value = self:total(total.node) }
  end)
end

-- The product of elements from..to (from 1) of a C array, as C.
function kernel:product(array, from, to)
  local factors = {}
  for i = from, to do
    factors[#factors + 1] = array .. "[" .. i - 1 .. "]"
  end
  return #factors > 0 and table.concat(factors, " * ") or "1"
end

function kernel:scalars(op)
  return table.concat(text.map(op.scalars, function(argument, i)
    return string.format("const %s %s = (%s)args->scalar[%d];", self.ctype, argument.name, self.ctype, i - 1)
  end), "\n")
end

local function pointer(self, operand, i, offset)
  local ctype = operand.dtype == "i64" and "int64_t" or self.ctype
  local const = operand.output and "" or "const "
  if not offset then
    return string.format("%s%s *%s = args->buf[%d];", const, ctype, operand.name, i - 1)
  end
  return string.format("%s%s *%s = (%s%s *)args->buf[%d] + %s;", const, ctype, operand.name, const, ctype,
    i - 1, offset)
end

-- Declares a pointer to each operand's data, and the scalars.
function kernel:pointers(op)
  local lines = text.map(self.operands, function(operand, i)
    return pointer(self, operand, i)
  end)
  lines[#lines + 1] = #op.scalars > 0 and self:scalars(op) or nil
  return table.concat(lines, "\n")
end

-- The same for the operands' data of row `row`, each `count` long.
function kernel:row_pointers(op)
  local last = op.dims[#op.dims]
  return table.concat(text.map(self.operands, function(operand, i)
    local along = operand.dims[#operand.dims] == last
    local whole = #operand.dims == #op.dims
    return pointer(self, operand, i, whole and "row * count" or not along and "row" or nil)
  end), "\n")
end

-- A kernel file's lowering. isa: a row of `sets`; dtype: f32, f64 (or wide, for the reference);
-- operands: inputs, then outputs; prog: from program.make.
function lower.kernel(isa, dtype, name, operands, prog)
  local set, spelling = assert(sets[isa], isa), assert(types[dtype], dtype)
  local lanes = set.vector and set.vector // spelling.bits or 1
  local self = setmetatable({
    isa = isa, dtype = dtype, name = name, set = set, spelling = spelling, lanes = lanes,
    operands = operands, program = prog, ctype = spelling.c, memo = {}, key = isa .. "|" .. dtype .. "|",
    uniform_names = {}, uniforms_used = {}, phase_of = {},
  }, kernel)
  if set.vector then
    local s = dtype == "f32" and "ps" or "pd"
    self.marks = {
      p = set.prefix, s = s, s1 = s:sub(2), i = set.i, b = tostring(spelling.bits), f = spelling.f,
      t = dtype, isa = isa, lanes = tostring(lanes), e = spelling.bits == 64 and set.e64 or "epi32",
    }
    self.vector = "__m" .. set.vector .. (dtype == "f32" and "" or "d")
    self.integer = "__m" .. set.vector .. "i"
    self.mask = set.mask_type and self:text "mask_type" or self.vector
  else
    self.marks = { f = spelling.f, t = dtype, b = tostring(spelling.bits) }
    self.vector, self.mask = spelling.c, "bool"
    self.integer = spelling.bits and "uint" .. spelling.bits .. "_t"
  end
  self.include = self:text "include"
  self.bytes = set.vector and set.vector // 8
  self.rules = rules_of(set, { dtype = dtype, fma = set.fused, scalef = set.ldexp ~= nil })
  for p, phase in ipairs(prog.phases) do
    for _, reduction in ipairs(phase.reductions) do
      self.phase_of[reduction.name] = p
    end
  end
  return self
end

return lower
