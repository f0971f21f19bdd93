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
--   result    how a point function gives back more than one value, under which name: parameter, argument, assign
--   integer_type  of an operand's 64-bit integers
--   cast      a plain integer as a number: its type, and the integer's name
--   gathers_two, indexes_apart   what its templates do in one pass: see passes.make
--   ways      of reading rows besides again in each pass: of program.lua's, those that its templates have
--   require   the line by which a file asks for an extension that a backend.lua names as needed
--   folds_otherwise  whether its compilers compute with literals in another precision than with variables
--   setup(k)  sets k.vector, k.mask, k.integer (types of variables), k.lanes, k.marks, k.prologue (the
--             lines that a file begins with), and k.let where `const` is not what declares a value
--   methods   further methods of the class; integer_literal(value) is needed

local cheaper = require "cheaper"
local expr = require "expr"
local formula = require "formula"
local narrow = require "narrow"
local reductions_of = require "reductions"
local text = require "text"
local types = require "types"
local vecmath = require "vecmath"

local lower = {}

local kernel = {}

-- Operations that an instruction set has no text for, as others. max and min let NaN through,
-- which maxraw and minraw do in their second argument only.
local function rules_of(set, target)
  local rules = {}
  for _, name in ipairs { "max", "min" } do
    local raw = expr[name .. "raw"]
    rules[name] = not set[name] and function(_, args)
      local a, b = args[1], args[2]
      if b.op == "const" and b.value == b.value then
        a, b = b, a
      end
      if a.op == "const" and a.value == a.value then
        return raw(a, b)
      end
      return expr.select(expr.ne(a, a), a, raw(a, b))
    end or nil
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

-- By what names a kernel's words, by type, by operation: functions that fill in a text's arguments.
local fillers = setmetatable({}, { __index = function(by_key, key)
  by_key[key] = setmetatable({}, { __index = function(by_type, dtype)
    by_type[dtype] = {}
    return by_type[dtype]
  end })
  return by_key[key]
end })

-- A function of the arguments that fills the marks in one of the texts above: it is asked for
-- some hundred times for each file, so it is made once.
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
  return self.own_type[operand.name] or self.dtype
end

-- What reads or writes an operand's elements, as text() has it.
function kernel:access(operand, operation, a, b, c, k)
  return filled(self, operation, self:type_of(operand), a, b, c, k)
end

-- A number rounded to a compute type.
local function rounded(spelling, value)
  return (string.unpack(spelling.pack, string.pack(spelling.pack, value)))
end

-- The text of a constant rounded to a compute type: the shortest that reads back as the same number.
local function make_literal(language, spelling, value)
  value = rounded(spelling, value)
  if value ~= value or value == math.huge or value == -math.huge then
    return language.special(spelling, value)
  end
  local digits
  for precision = 1, spelling.digits do
    digits = string.format("%." .. precision .. "g", value)
    if rounded(spelling, tonumber(digits) + 0.0) == value then
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
  local function round(value)
    return rounded(self.spelling, value)
  end
  return expr.folded_as(round, expr.rewrite, node, self.rules, self.memo)
end

local function type_of(self, node)
  return node.type == "m" and self.mask or node.type == "i" and self.integer or self.vector
end

local is_literal = { const = true, iconst = true, tiny = true, unit = true }

-- A literal of each operation on nothing but literals: where a compiler computes with these in another precision, one
-- of them has to be a variable that it does not see through.
local function find_hidden(roots)
  local hidden = {}
  expr.visit(roots, function(node)
    for i = 1, #node do
      if not is_literal[node[i].op] then
        return
      end
    end
    if #node > 0 then
      hidden[node[1]] = true
    end
  end)
  return hidden
end

-- Writes what the roots need as statements, arguments first. names: what is known already,
-- and what this makes known.
local function emit(self, roots, names, lines, prefix)
  local serial = 0
  local walk
  local let, variable = self.let .. " ", self.let:gsub("const ?", ""):gsub("%S$", "%0 ")
  local hidden = self.language.folds_otherwise and find_hidden(roots) or {}
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
    declare(node, variable, names[mostly])
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
    declare(node, hidden[node] and variable or let, value)
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
    local from_outside, is_read = false, node.varying
    if not is_read then
      expr.visit({ node }, function(n)
        from_outside = from_outside or outside[n.op] ~= nil
        is_read = is_read or n.op == "input" or n.op == "result"
      end)
    end
    if is_read then
      for i = 1, #node do
        walk(node[i])
      end
    elseif from_outside then -- else it is made of constants, which stay in the point function
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
    elseif node.op == "result" then
      inputs[#inputs + 1] = { kind = "result", node = node, variable = "result_" }
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

-- What a point function computes, as a comment: in the words of specs, and where the text of functions is from that
-- the language has none of its own for. roots: its results as they are lowered.
local widest_comment = 97
local function comment_of(self, results, roots)
  local shown = {}
  for _, result in ipairs(results) do
    shown[#shown + 1] = result.begins and { begins = result.begins, node = result.shown or result.node } or nil
  end
  local lines, found, by_module = {}, {}, { narrow = {}, vecmath = {} }
  for _, line in ipairs((formula.lines(shown, self.dims, 0, "e"))) do
    local wrapped = text.wrap(line, widest_comment, "  ")
    table.move(wrapped, 1, #wrapped, #lines + 1, lines)
  end
  expr.visit(roots, function(node)
    found[node.op] = true
  end)
  expr.visit(text.map(shown, function(result)
    return result.node
  end), function(node)
    local name = node.op
    if vecmath[name] and expr.operations[name] and not found[name] and not found[name .. "_near"] then
      local is_narrow = self.set.power_near and self.dtype ~= self.compute and narrow[name]
      by_module[is_narrow and "narrow" or "vecmath"][name] = true
    end
  end)
  for module, functions in text.sorted_pairs(by_module) do
    local list = table.concat(text.sorted_keys(functions), ", ")
    lines[#lines + 1] = list ~= "" and list .. ": gen/" .. module .. ".lua" or nil
  end
  return #lines > 0 and text.comment(lines) or ""
end

-- A point function: results is a list of { name = variable, node, begins, shown }: begins is what its comment has
-- ahead of the expression, false for one that it is not to have; shown is another form of it for that. Its record has
-- what a
-- template needs:
--   comment, type, name, parameters, body   its definition
--   inputs                         what it reads at each point, { kind, variable }:
--     "element", "stash"             the element of an operand at pointer; "stash": kept there
--     "hit"                          whether the point is the one that index names
--     "random"                       a random number from seed and offset
--     "column"                       what was gathered over the rows under a name
--     "result"                       what a step's sum comes to: steps.lua
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
      local out, to = self.language.result, result.name:gsub("_$", "") .. "_to"
      parameters[#parameters + 1] = string.format(out.parameter, self.vector, to)
      arguments[#arguments + 1] = string.format(out.argument, result.name)
      lines[#lines + 1] = string.format(out.assign, to, names[roots[i]])
      declared[i] = result.name
    end
    point.call = string.format("%s %s;\n%s(%s);", self.vector, table.concat(declared, ", "), point.name,
      table.concat(arguments, ", "))
  end
  point.parameters = table.concat(parameters, ", ")
  point.body, point.comment = table.concat(lines, "\n"), comment_of(self, results, roots)
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
        self:access(operand, "load_number", operand.name))
    end
  end
  return table.concat(lines, "\n")
end

-- Bytes of an operand's elements, and of its part in an access: of 16 bytes to the widest operands, of fewer to those
-- of narrower types of their own.
function kernel:bytes_of(operand)
  return types[operand.dtype or self:type_of(operand)].bytes
end

function kernel:access_bytes(operand)
  return self.width * self:bytes_of(operand)
end

-- C, of a call's args: whether all that is read or written along the last dimension starts at a multiple of such an
-- access; whether the rows of all operands are as far from one, and what there is for each column starts at one.
function kernel:is_aligned()
  return self:are_all(function(address, operand)
    return string.format("%s %% %d == 0", address, self:access_bytes(operand))
  end)
end

function kernel:is_alike()
  local first
  return self:are_all(function(address, operand)
    if operand.place == "column" then
      return string.format("%s %% %d == 0", address, self:access_bytes(operand))
    end
    local place = self.mixed and string.format("%s / %d", address, self:bytes_of(operand)) or address
    local other = first
    first = first or place
    return other and string.format("(%s - %s) %% %d == 0", place, other, self.mixed and self.width or 16)
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
  local term = reduction.term
  return self.dtype ~= self.compute and term.op == "input" and not self.mixed
end

-- What a template's functions are made of ------------------------------------------------------

-- The results list for a point function of outputs { operand, node }.
function kernel:results(points)
  return text.map(points, function(point)
    local operand = point.operand
    return {
      name = operand.name .. "_", node = point.node,
      begins = operand.called and operand.called .. " =",
    }
  end)
end

local function terms(self, reductions)
  return text.map(reductions, function(reduction)
    local names = reduction.second and reduction.name .. ", " .. reduction.second or reduction.name
    return {
      name = reduction.name .. "_term", node = reduction.term,
      begins = self.isa ~= "reference" and names .. " = " .. reduction.kind .. " of",
    }
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

-- The point function of a phase's pass; false for a phase without one.
local function pass_of(self, phase, p)
  if #phase.reductions == 0 then
    return false
  end
  local results = terms(self, phase.reductions)
  for i, reduction in ipairs(#phase.stash == 0 and phase.reductions or {}) do -- sums alone see the terms
    results[i].node = reduction.kind == "sum" and cheaper.summed(self, reduction.term) or reduction.term
    results[i].shown = reduction.term
  end
  for _, kept in ipairs(self:results(phase.stash)) do
    kept.begins = kept.begins and "kept " .. kept.begins
    results[#results + 1] = kept
  end
  return self:point("pass" .. p, results)
end

-- All point functions of a program, and what follows from its passes, as templates have it:
--   points      the point functions of the passes, of their picks and of the last pass, in the order of their use
--   passes      that of each phase's pass, false for one without; those of its picks are at pick.point
--   last        that of the last pass, of outputs and terms of reductions over the rows; nil where there are none
--   finish      that of what is gathered over the rows, or nil
--   totals      statements that store the outputs with one value per row or in all
local function lower_program(self)
  local prog = self.program
  self.points = {}
  self.passes = text.map(prog.phases, function(phase, p)
    for _, pick in ipairs(phase.picks) do
      pick.point = self:point(pick.name, { { name = pick.name .. "_term", node = pick.term } })
      table.insert(self.points, pick.point)
    end
    local pass = pass_of(self, phase, p)
    table.insert(self.points, pass or nil)
    return pass
  end)
  local results, reductions = self:results(prog.points), terms(self, prog.column_reductions)
  table.move(reductions, 1, #reductions, #results + 1, results)
  self.last = #results > 0 and self:point("point", results) or nil
  table.insert(self.points, self.last)
  self.finish = #prog.columns > 0 and self:point("finish", self:results(prog.columns)) or nil
  self.totals = text.map(prog.totals, function(total)
    local operand = total.operand
    local how = operand.dtype and "store_index" or "store_number"
    return self:access(operand, how, operand.name, self:total(total.node)) .. ";"
  end)
end

-- The text of two values of a column combined, NaN if either is.
function kernel:combine_columns(kind, a, b)
  if kind == "sum" then
    return self:text("add", a, b)
  end
  local raw = self:text(reductions_of[kind].combine, a, b)
  return self:text("select", "(" .. self:text("ne", a, a) .. ")", a, "(" .. raw .. ")")
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

-- By name, the types of operands that have another than the kernel's. References have one for all.
local function own_types(operands, dtype, set)
  local own = {}
  for _, operand in ipairs(set.one_type and {} or operands) do
    own[operand.name] = operand.storage ~= dtype and operand.storage or nil
  end
  return own
end

-- Whether all outputs are rounded to the kernel's type.
local function rounds_all(operands, own)
  for _, operand in ipairs(operands) do
    if operand.output and own[operand.name] then
      return false
    end
  end
  return true
end

-- Whether nothing but signs change between the operands and the points.
local function moves_signs(prog)
  local only = #prog.phases == 0 and #prog.column_reductions == 0 and #prog.totals == 0 and #prog.columns == 0
  expr.visit(text.map(prog.points, function(point)
    return point.node
  end), function(node)
    only = only and (node.op == "input" or node.op == "neg" or node.op == "abs" or node.op == "copysign")
  end)
  return only
end

-- A program whose picks can be given their point functions: many kernels have it.
local function of_kernel(prog)
  local phases = text.map(prog.phases, function(phase)
    return setmetatable({
      picks = text.map(phase.picks, function(pick)
        return setmetatable({}, { __index = pick })
      end),
    }, { __index = phase })
  end)
  return setmetatable({ phases = phases }, { __index = prog })
end

-- A kernel file's lowering. set: a name in language.sets; operands: inputs, then outputs; prog: from passes.make;
-- dims: the names of the op's axes.
function lower.kernel(language, set_name, dtype, name, operands, prog, dims)
  local set = assert(language.sets[set_name], set_name)
  local storage = assert(language.types[dtype], dtype)
  local compute = storage.compute or dtype
  local own = own_types(operands, dtype, set)
  if storage.signs and not next(own) and moves_signs(prog) then
    dtype, compute = storage.signs, storage.signs
  end
  local self = setmetatable({
    language = language, set = set, isa = set_name, dtype = dtype, compute = compute, name = name,
    spelling = language.types[compute], storage = storage.storage or storage.number,
    number = language.types[compute].number, operands = operands, program = of_kernel(prog), dims = dims,
    key = set_name .. "|" .. dtype .. "|", memo = {}, uniform_names = {}, uniforms_used = {},
    phase_of = {}, let = "const", own_type = own, mixed = next(own) ~= nil,
    narrow = dtype ~= compute and rounds_all(operands, own),
  }, class_of(language))
  language.setup(self)
  self.rules = rules_of(set, {
    dtype = compute, narrow = self.narrow, fma = set.fused, scalef = set.ldexp ~= nil,
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
  lower_program(self)
  return self
end

return lower
