-- Lowers a program to the text of one language. A language (lower_c.lua, ...) brings types, the
-- text of every operation, and what its templates ask for besides; this is what all have in
-- common. What a template gets is an object of the class below: point functions (what is computed
-- at each point of a pass), and the text of loads, stores and combinations, so that no template
-- knows an instruction set.
--
-- A language is a table:
--   types     by dtype: { storage, compute }: the type in memory, the dtype computed in; and for
--             compute types { number, bits, f, suffix, pack, digits }: suffix (or f) ends a
--             constant, pack rounds one (string.pack), digits are enough to tell any two apart
--   special   text of a NaN or an infinity of a compute type: special(type, value)
--   sets      by name: operation -> text. {1} {2} {3} are the arguments, {k} a plain count; other
--             words in braces are the marks that setup() fills in. An operation may have a text
--             of its own for a dtype, as load_f16. fused, native, ldexp, reciprocal (in f32 alone):
--             see rules_of; native: true where all functions of vecmath.lua have a text, or by name
--             true or one compute type.
--   result    how a point function gives back more than one value: parameter, argument, assign
--   integer_type  of an operand's 64-bit integers
--   cast      a plain integer as a number: its type, and the integer's name
--   gathers_two, indexes_apart   what its templates do in one pass: see program.make
--   require   the line by which a file asks for an extension that a backend.lua names as needed
--   setup(k)  sets k.vector, k.mask, k.integer (types of variables), k.lanes, k.marks, k.prologue (the
--             lines that a file begins with), and k.let where `const` is not what declares a value
--   methods   further methods of the class; integer_literal(value) is needed

local cheaper = require "cheaper"
local expr = require "expr"
local program = require "program"
local text = require "text"
local vecmath = require "vecmath"

local lower = {}

local kernel = {}

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
  for name in pairs(vecmath) do
    local native = set.native == true or set.native and set.native[name]
    if native ~= true and native ~= target.dtype and expr.operations[name] then
      rules[name] = function(old, args)
        local near = target.narrow and cheaper.is_rounded(old[1]) and vecmath.near[name]
        local given, known = { table.unpack(args) }, {}
        for i, argument in ipairs(args) do
          given[i], known[argument] = argument, argument
        end
        given[#given + 1] = target
        return expr.rewrite((near or vecmath[name])(table.unpack(given)), rules, known)
      end
    end
  end
  return rules
end

local filler_cache = {}

-- A function of the arguments that fills the marks in one of the texts above: it is asked for
-- some hundred times for each file, so it is made once.
local function filler(self, operation)
  local pattern = self.set[operation .. "_" .. self.dtype] or self.set[operation]
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

-- The text of a constant rounded to a compute type: the shortest that reads back as the same number.
local function make_literal(language, spelling, value)
  local function rounded(x)
    return (string.unpack(spelling.pack, string.pack(spelling.pack, x)))
  end
  value = rounded(value)
  if value ~= value or value == math.huge or value == -math.huge then
    return language.special(spelling, value)
  end
  local digits
  for precision = 1, spelling.digits do
    digits = string.format("%." .. precision .. "g", value)
    if rounded(tonumber(digits) + 0.0) == value then
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
  known[key] = known[key] or make_literal(self.language, spelling, value)
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

function kernel:expand(node)
  return expr.rewrite(node, self.rules, self.memo)
end

local function type_of(self, node)
  return node.type == "m" and self.mask or node.type == "i" and self.integer or self.vector
end

-- Writes what the roots need as statements, arguments first. names: what is known already,
-- and what this makes known.
local function emit(self, roots, names, lines, prefix)
  local serial = 0
  local walk
  local function declare(node, qualifier, value)
    serial = serial + 1
    names[node] = prefix .. serial
    lines[#lines + 1] = string.format("%s%s %s = %s;", qualifier, type_of(self, node), names[node], value)
  end

  -- A variable that is changed in a branch, whose own variables nobody else sees.
  local function walk_seldom(node)
    local mask, seldom, mostly = node[1], node[2], node[3]
    walk(mask)
    walk(mostly)
    declare(node, self.let:gsub("const ?", ""):gsub("%S$", "%0 "), names[mostly])
    lines[#lines + 1] = "if (" .. self:text("mask_any", names[mask]) .. ") {"
    local outside = names
    names = setmetatable({}, { __index = outside })
    walk(seldom)
    lines[#lines + 1] = names[node] .. " = " .. self:text("select", names[mask], names[seldom], names[node]) .. ";"
    lines[#lines + 1] = "}"
    names = outside
  end

  function walk(node)
    if names[node] then
      return
    elseif node.op == "seldom" then
      return walk_seldom(node)
    end
    for i = 1, #node do
      walk(node[i])
    end
    local value
    if node.op == "const" then
      value = self:constant(node.value)
    elseif node.op == "iconst" then
      value = self:text("isplat", self:integer_literal(node.value))
    elseif node.op == "tiny" or node.op == "unit" then
      value = self:constant(self.set[node.op][self.dtype])
    else
      local a, b, c = node[1], node[2], node[3]
      value = self:text(node.op, names[a], b and names[b], c and names[c], node.k)
    end
    declare(node, self.let .. " ", value)
  end
  for _, root in ipairs(roots) do
    walk(root)
  end
end

-- Values from outside that stay the same over a whole pass: where their plain number comes from, and
-- from when on it is known: from the call's start, from a row's, or from the end of a phase.
local function plain_scalar(_, node)
  return node.name
end
local function plain_count(self, node)
  return string.format(self.language.cast, self.number, node.name)
end
local outside = {
  scalar = { step = "call", plain = plain_scalar },
  count = { step = "call", plain = plain_count },
  rows = { step = "call", plain = plain_count },
  shared = {
    step = "row",
    plain = function(_, node)
      return node.name .. "_number"
    end,
  },
  reduced = { plain = plain_scalar },
}

-- The variable of a value that stays the same over a whole pass and is set ahead of it. Values from
-- outside keep their names.
local function name_uniform(self, node)
  if not self.uniform_names[node] then
    self.uniforms_used[#self.uniforms_used + 1] = node
    self.uniform_names[node] = outside[node.op] and node.name .. "_" or "u" .. #self.uniforms_used
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
      from_outside = from_outside or outside[n.op] ~= nil
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

-- What of a graph a point function is given for each point: the names of its leaves, in the order of
-- the operands, with what comes from elsewhere last.
local function find_inputs(self, roots)
  local found, inputs = {}, {}
  expr.visit(roots, function(node)
    if node.op == "input" or node.op == "stash" then
      found[node.name] = node
    elseif node.op == "hit" then
      inputs[#inputs + 1] = { kind = "hit", node = node, index = node[1].name, variable = node[1].name .. "_hit" }
    elseif node.op == "random" then
      inputs[#inputs + 1] = {
        kind = "random", node = node, seed = node[1].name, offset = node[2].name, variable = "random_",
      }
    elseif node.op == "column" then
      inputs[#inputs + 1] = { kind = "column", node = node, name = node.name, variable = node.name .. "_" }
    end
  end)
  local at = 0
  for _, operand in ipairs(self.operands) do
    local node = found[operand.name]
    if node then
      at = at + 1
      table.insert(inputs, at, {
        kind = node.op == "stash" and "stash" or "element", node = node, operand = operand, pointer = operand.name,
        variable = (node.op == "stash" and "kept_" or "") .. operand.name .. "_",
      })
    end
  end
  return inputs
end

-- A point function: results is a list of { name = variable, node }. Its record has what a
-- template needs:
--   type, name, parameters, body   its definition
--   inputs                         what it reads at each point, { kind, variable }:
--     "element", "stash"             the element of an operand at pointer; "stash": kept there
--     "hit"                          whether the point is the one that index names
--     "random"                       a random number from seed and offset
--     "column"                       what was gathered over the rows under a name
--   call                           a statement that declares each result's variable and sets it
function kernel:point(name, results)
  local point = { name = self.name .. "_" .. name, results = results }
  local roots, names, lines, parameters, arguments = {}, {}, {}, {}, {}
  for i, result in ipairs(results) do
    roots[i] = self:expand(result.node)
  end
  local uniforms = collect_uniforms(self, roots)
  point.inputs = find_inputs(self, roots)
  for _, input in ipairs(point.inputs) do
    names[input.node] = input.variable
    parameters[#parameters + 1] = type_of(self, input.node) .. " " .. input.variable
    arguments[#arguments + 1] = input.variable
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
    point.call = string.format("%s %s %s = %s(%s);", self.let, self.vector, results[1].name, point.name,
      table.concat(arguments, ", "))
  else
    point.type = "void"
    local declared = {}
    for i, result in ipairs(results) do
      local out = self.language.result
      parameters[#parameters + 1] = string.format(out.parameter, self.vector, result.name)
      arguments[#arguments + 1] = string.format(out.argument, result.name)
      lines[#lines + 1] = string.format(out.assign, result.name, names[roots[i]])
      declared[i] = result.name
    end
    point.call = string.format("%s %s; %s(%s);", self.vector, table.concat(declared, ", "), point.name,
      table.concat(arguments, ", "))
  end
  point.parameters = table.concat(parameters, ", ")
  point.body = table.concat(lines, "\n")
  return point
end

-- From when on a value can be computed: "call", "row", or the last phase whose results it needs.
local function step_of(self, node)
  local order = 0
  local at = { call = 0, row = 0.5 }
  expr.visit({ node }, function(n)
    if n.op == "reduced" then
      order = math.max(order, self.phase_of[n.name])
    elseif outside[n.op] then
      order = math.max(order, at[outside[n.op].step])
    end
  end)
  return order == 0 and "call" or order == 0.5 and "row" or order
end

-- Statements for the values that stay the same over a pass, by when they can be computed: "call"
-- (ahead of all), "row" (after row_values), or p (after phase p). Ask when every point function and
-- total has been made.
function kernel:uniforms(step)
  if not self.uniform_texts then
    local names, steps = {}, { "call", "row" }
    self.uniform_texts = {}
    for phase = 1, #self.program.phases do
      steps[#steps + 1] = phase
    end
    for _, now in ipairs(steps) do
      local lines = {}
      for _, node in ipairs(self.uniforms_used) do
        if step_of(self, node) == now then
          expr.visit({ node }, function(n)
            if outside[n.op] and not names[n] then
              names[n] = n.name .. "_"
              lines[#lines + 1] = string.format("%s %s %s = %s;", self.let, self.vector, names[n],
                self:text("splat", outside[n.op].plain(self, n)))
            end
          end)
          local name = self.uniform_names[node]
          emit(self, { node }, names, lines, name .. "_")
          if names[node] ~= name then
            lines[#lines + 1] = string.format("%s %s %s = %s;", self.let, type_of(self, node), name, names[node])
          end
        end
      end
      self.uniform_texts[now] = table.concat(lines, "\n")
    end
  end
  return self.uniform_texts[step]
end

-- Statements for the plain numbers of the operands that have one element, for a row or in all: reals
-- are NAME_number, integers NAME_value.
function kernel:row_values()
  local lines = {}
  for _, operand in ipairs(self.operands) do
    local single = operand.place == "row" or operand.place == "single"
    if not operand.output and single and operand.dtype then
      lines[#lines + 1] = string.format("const %s %s_value = %s;", self.language.integer_type, operand.name,
        self:text("load_index", operand.name))
    elseif not operand.output and single then
      lines[#lines + 1] = string.format("const %s %s_number = %s;", self.number, operand.name,
        self:text("load_number", operand.name))
    end
  end
  return table.concat(lines, "\n")
end

-- C, of a call's args: whether all that is read or written along the last dimension starts at a multiple of 16
-- bytes; whether the rows of all operands are as far from one, and what there is for each column starts at one.
function kernel:is_aligned()
  return self:are_all(function(address)
    return address .. " % 16 == 0"
  end)
end

function kernel:is_alike()
  local first
  return self:are_all(function(address, operand)
    if operand.place == "column" then
      return address .. " % 16 == 0"
    end
    local other = first
    first = first or address
    return other and string.format("(%s - %s) %% 16 == 0", address, other)
  end)
end

-- The conjunction of the texts, or nils, that describe(address, operand) gives for these operands.
function kernel:are_all(describe)
  local list = {}
  for i, operand in ipairs(self.operands) do
    if operand.place == "whole" or operand.place == "column" and not operand.output then
      list[#list + 1] = describe(string.format("(uintptr_t)args->buf[%d]", i - 1), operand)
    end
  end
  return #list > 0 and table.concat(list, "\n    && ") or "true"
end

-- The expression, a plain number, for a value per row or in all (after the last pass).
function kernel:total(node)
  if node.op == "reduced" then
    return node.name
  end
  return self:text("first_lane", name_uniform(self, self:expand(node)))
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

-- What changes nothing when combined, as a number and in every lane: where a vector has fewer
-- elements than lanes.
function kernel:neutral_number(kind)
  local neutral = { sum = -0.0, maximum = -math.huge, minimum = math.huge, argmax = -math.huge, argmin = math.huge }
  return self:literal(neutral[kind])
end

function kernel:neutral(kind)
  return self:text("splat", self:neutral_number(kind))
end

function kernel:is_extremum(kind)
  return kind ~= "sum" and kind ~= "moments" and kind ~= "powers"
end

function kernel:is_index(kind)
  return kind == "argmax" or kind == "argmin"
end

-- Whether all that a phase gathers is compared as it is in memory, where some languages can compare two numbers
-- of 16 bits at once.
function kernel:is_as_stored(phase)
  local all = #phase.stash == 0
  for _, reduction in ipairs(phase.reductions) do
    all = all and self:is_extremum(reduction.kind) and self:is_stored(reduction)
  end
  return all
end

function kernel:is_stored(reduction)
  return self.dtype ~= self.compute and reduction.term.op == "input"
end

-- What a template's functions are made of ------------------------------------------------------

-- The results list for a point function of outputs { operand, node }.
function kernel:results(points)
  return text.map(points, function(point)
    return { name = point.operand.name .. "_", node = point.node }
  end)
end

local function terms(reductions)
  return text.map(reductions, function(reduction)
    return { name = reduction.name .. "_term", node = reduction.term }
  end)
end

-- The input of a point function that is random numbers, or nil.
function kernel:random_input(point)
  for _, input in ipairs(point.inputs) do
    if input.kind == "random" then
      return input
    end
  end
end

-- The point functions of all passes, each given to define(point); false for a phase without a pass.
-- Those of its picks are at pick.point.
function kernel:passes(define)
  return text.map(self.program.phases, function(phase, p)
    for _, pick in ipairs(phase.picks) do
      pick.point = self:point(pick.name, { { name = pick.name .. "_term", node = pick.term } })
      define(pick.point)
    end
    if #phase.reductions == 0 then
      return false
    end
    local results = terms(phase.reductions)
    for i, reduction in ipairs(#phase.stash == 0 and phase.reductions or {}) do -- sums alone see the terms
      results[i].node = reduction.kind == "sum" and cheaper.summed(self, reduction.term) or reduction.term
    end
    table.move(self:results(phase.stash), 1, #phase.stash, #results + 1, results)
    local point = self:point("pass" .. p, results)
    define(point)
    return point
  end)
end

-- The point function of the last pass, of outputs and terms of reductions over the rows, given to
-- define(point); nil where there are none.
function kernel:last_pass(define)
  local results = self:results(self.program.points)
  local reductions = terms(self.program.column_reductions)
  table.move(reductions, 1, #reductions, #results + 1, results)
  local point = #results > 0 and self:point("point", results) or nil
  if point then
    define(point)
  end
  return point
end

-- The point function of what is gathered over the rows, given to define(point); nil for nothing.
function kernel:finish(define)
  local columns = self.program.columns
  local point = #columns > 0 and self:point("finish", self:results(columns)) or nil
  if point then
    define(point)
  end
  return point
end

-- The text of two values of a column combined, NaN if either is.
function kernel:combine_columns(kind, a, b)
  if kind == "sum" then
    return self:text("add", a, b)
  end
  local raw = self:text(kind == "maximum" and "maxraw" or "minraw", a, b)
  return self:text("select", "(" .. self:text("ne", a, a) .. ")", a, "(" .. raw .. ")")
end

-- Statements that store the outputs with one value per row or in all.
function kernel:totals()
  return text.map(self.program.totals, function(total)
    local operand, value = total.operand, self:total(total.node)
    if operand.dtype then
      return self:text("store_index", operand.name, value) .. ";"
    end
    return self:text("store_number", operand.name, value) .. ";"
  end)
end

-- The kernel for rows that stay in registers: what is dear to compute twice is kept there, also where
-- an output is too narrow for it, and what can be merged is gathered in one pass, or in two where rows are
-- `short`: few threads wait for each other.
function kernel:held(op, short)
  if #self.program.column_reductions > 0 then
    return self
  end
  local ending = short and "_short" or "_held"
  if not self.made[ending] then
    local kept = program.make(op.values, true, nil, not short and program.together(self.compute, "once"))
    local same = self.dtype == self.compute and kept.kinds == self.program.kinds
    self.made[ending] = same and self
      or lower.kernel(self.language, self.isa, self.dtype, self.name .. ending, self.operands, kept)
  end
  return self.made[ending]
end

-- The class with a language's methods.
local classes = {}
local function class_of(language)
  if not classes[language] then
    local methods = {}
    for _, from in ipairs { kernel, language.methods } do
      for name, method in pairs(from) do
        methods[name] = method
      end
    end
    classes[language] = { __index = methods }
  end
  return classes[language]
end

-- Whether nothing but signs change between the operands and the points.
local function moves_signs(prog)
  local only = #prog.phases == 0 and #prog.column_reductions == 0
  expr.visit(text.map(prog.points, function(point)
    return point.node
  end), function(node)
    only = only and (node.op == "input" or node.op == "neg" or node.op == "abs" or node.op == "copysign")
  end)
  return only
end

-- A kernel file's lowering. set: a name in language.sets; operands: inputs, then outputs; prog:
-- from program.make.
function lower.kernel(language, set_name, dtype, name, operands, prog)
  local set = assert(language.sets[set_name], set_name)
  local storage = assert(language.types[dtype], dtype)
  local compute = storage.compute or dtype
  if storage.signs and moves_signs(prog) then
    dtype, compute = storage.signs, storage.signs
  end
  local self = setmetatable({
    language = language, set = set, isa = set_name, dtype = dtype, compute = compute, name = name,
    spelling = language.types[compute], storage = storage.storage or storage.number,
    number = language.types[compute].number, operands = operands, program = prog,
    key = set_name .. "|" .. dtype .. "|", memo = {}, uniform_names = {}, uniforms_used = {},
    phase_of = {}, let = "const", made = {},
  }, class_of(language))
  language.setup(self)
  self.rules = rules_of(set, {
    dtype = compute, narrow = dtype ~= compute, fma = set.fused, scalef = set.ldexp ~= nil,
    reciprocal = set.reciprocal and compute == "f32",
  })
  for p, phase in ipairs(prog.phases) do
    for _, list in ipairs { phase.reductions, phase.picks } do
      for _, result in ipairs(list) do
        self.phase_of[result.name] = p
        if result.second then
          self.phase_of[result.second] = p
        end
      end
    end
  end
  return self
end

return lower
