-- Lowers a program to the text of one language. A language (lower_c.lua, ...) brings types, the
-- text of every operation, and what its templates ask for besides; this is what all have in
-- common. What a template gets is an object of the class below: point functions (what is computed
-- at each point of a pass), and the text of loads, stores and combinations, so that no template
-- knows an instruction set. The class is of three files: wording.lua has the text of operations, points.lua the point
-- functions, and this one what is made of both.
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
--             lines that a file begins with), and k.let where "const " is not what declares a value,
--             k.let_exactly where another word keeps compilers from exchanging roundings
--   methods   further methods of the class; integer_literal(value) is needed

local cheaper = require "cheaper"
local expr = require "expr"
local point_functions = require "points"
local text = require "text"
local types = require "types"
local vecmath = require "vecmath"
local wording = require "wording"

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
        local near = target.narrow and set.reciprocal_near and cheaper.is_rounded(old[1]) and vecmath.near[name]
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

-- Statements for the plain numbers of the operands that have one element, for a row or in all, or of those that are
-- wanted by name: reals are NAME_number, integers NAME_value.
function kernel:row_values(wanted)
  local lines = {}
  for _, operand in ipairs(self.operands) do
    local single = (operand.place == "row" or operand.place == "single") and (not wanted or wanted[operand.name])
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

-- Whether a node differs from point to point of a pass.
function kernel:varies(node)
  return node.axes & self.program.inner ~= 0
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
--   finish      the program of numbers gathered over the rows, or nil
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
  self.finish = #prog.columns > 0 and self:point("finish", self:results(prog.columns), true) or nil
  self.totals = text.map(prog.totals, function(total)
    local operand = total.operand
    local how = operand.dtype and "store_index" or "store_number"
    return self:access(operand, how, operand.name, self:total(total.node)) .. ";"
  end)
end

-- The class with a language's methods.
local classes = {}
local function class_of(language)
  if not classes[language] then
    local methods = {}
    for _, from in ipairs { wording, point_functions, kernel, language.methods } do
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
    local stored = types.stored(operand, dtype)
    own[operand.name] = stored ~= dtype and stored or nil
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
    key = set_name .. "|" .. dtype .. "|", memo = {}, facts = {}, uniform_names = {}, uniforms_used = {},
    phase_of = {}, let = "const ", own_type = own, mixed = next(own) ~= nil,
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
