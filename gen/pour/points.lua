-- Point functions, and the values that they are given from outside: methods of lower.lua's class. A point function is
-- what a kernel computes at each point of a pass, on one vector, as a small inline function.

local expr = require "expr"
local formula = require "formula"
local move = require "move"
local narrow = require "narrow"
local text = require "text"
local vecmath = require "vecmath"

local kernel = {}

-- A graph in the operations that the instruction set has a text for.
function kernel:expand(node)
  local function round(value)
    return self:rounded(value)
  end
  return expr.folded_as(round, expr.rewrite, node, self.rules, self.memo)
end

local function type_of(self, node)
  return node.type == "m" and self.mask or node.type == "i" and self.integer or self.vector
end

local is_literal = { const = true, iconst = true, tiny = true }

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

local arithmetic = { add = true, sub = true, mul = true, div = true, fma = true, mad = true, quotient = true }

-- The zeros that something is computed with, where compilers take 0 * x and 0 / x for 0, and x + 0 for x, which is no
-- longer so where x is NaN, infinite or -0: they are to be numbers that nobody sees through.
local function find_zeros(roots)
  local zeros = {}
  expr.visit(roots, function(node)
    for i = 1, arithmetic[node.op] and #node or 0 do
      zeros[node[i]] = node[i].op == "const" and node[i].value == 0 or nil
    end
  end)
  return zeros
end

-- Whether functions of numbers work with the bits of one: then some sums are of a large constant, and of use as they
-- are rounded.
local function takes_bits(roots)
  local found = false
  expr.visit(roots, function(node) found = found or node.type == "i" end)
  return found
end

-- Writes what the roots need as statements, arguments first. names: what is known already,
-- and what this makes known.
local function emit(self, roots, names, lines, prefix)
  local serial = 0
  local walk
  local declared = self.let_exactly and takes_bits(roots) and self.let_exactly or self.let
  local let, variable = declared, declared:gsub("const ", "")
  local hidden = self.language.folds_otherwise and find_hidden(roots) or {}
  local zeros = self.language.drops_zeros and find_zeros(roots) or {}
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
    if zeros[node] then
      value = (1 / node.value < 0 and "-" or "") .. self:text "zero"
    elseif node.op == "const" then
      value = self:constant(node.value)
    elseif node.op == "iconst" then
      value = self:text("isplat", self:integer_literal(node.value))
    elseif node.op == "tiny" then
      value = self:constant(self.set.tiny[self.dtype])
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
local function plain_text(self, node)
  return self:text(node.op)
end
local outside = {
  scalar = { step = "call", plain = plain_scalar },
  count = { step = "call", plain = plain_count },
  rows = { step = "call", plain = plain_count },
  unit = { step = "call", plain = plain_text },
  flushed = { step = "call", plain = plain_text },
  narrowed = { step = "call", plain = plain_text },
  vanishing = { step = "call", plain = plain_text },
  bursting = { step = "call", plain = plain_text },
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

-- What is below a node, found once for all nodes of a kernel: `from_outside` of what stays the same over a pass,
-- `is_read` whether something is read at each point, and from when on its value can be computed (step_of).
local order_of = { call = 0, row = 0.5 }
local given_at_points = {
  input = true, result = true, column = true, position = true, whole = true, read = true, inside = true, same = true,
  below = true,
}
local function facts_of(self, node)
  local facts = self.facts[node]
  if not facts then
    local from = outside[node.op]
    facts = {
      from_outside = from ~= nil, is_read = given_at_points[node.op] or false,
      order = from and (self.phase_of[node.name] or order_of[from.step]) or 0,
    }
    for i = 1, #node do
      local below = facts_of(self, node[i])
      facts.from_outside, facts.is_read = facts.from_outside or below.from_outside, facts.is_read or below.is_read
      facts.order = math.max(facts.order, below.order)
    end
    self.facts[node] = facts
  end
  return facts
end

-- All such values that the roots need.
local function collect_uniforms(self, roots)
  local used, seen = {}, {}
  local function walk(node)
    if seen[node] then
      return
    end
    seen[node] = true
    local facts = facts_of(self, node)
    if self:varies(node) or facts.is_read then
      for i = 1, #node do
        walk(node[i])
      end
    elseif facts.from_outside then -- else it is made of constants, which stay in the point function
      used[#used + 1] = node
    end
  end
  for _, root in ipairs(roots) do
    walk(root)
  end
  return used
end

local kept_apart = { position = true, read = true, inside = true, same = true, below = true }

-- What of a graph a point function is given for each point: the names of its leaves, in the order of
-- the operands, with what comes from elsewhere last.
local function find_inputs(self, roots)
  local found, inputs, results, randoms = {}, {}, 0, 0
  expr.visit(roots, function(node)
    if node.op == "input" or node.op == "stash" then
      found[node.name] = node
    elseif node.op == "hit" then
      inputs[#inputs + 1] = { kind = "hit", node = node, index = node[1].name, variable = node[1].name .. "_hit" }
    elseif node.op == "whole" then
      inputs[#inputs + 1] = { kind = "whole", node = node, index = node[1].name, variable = node[1].name .. "_whole" }
    elseif kept_apart[node.op] then
      inputs[#inputs + 1] = { kind = node.op, node = node, variable = node.name .. "_" }
    elseif node.op == "random" then
      randoms = randoms + 1
      inputs[#inputs + 1] = {
        kind = "random", node = node, seed = node[1].name, offset = node[2].name,
        variable = "random" .. (randoms > 1 and randoms or "") .. "_",
      }
    elseif node.op == "column" then
      inputs[#inputs + 1] = { kind = "column", node = node, name = node.name, variable = node.name .. "_" }
    elseif node.op == "result" then
      results = results + 1
      local variable = "result" .. (results > 1 and results or "") .. "_"
      inputs[#inputs + 1] = { kind = "result", node = node, name = node.name, variable = variable }
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
    lines[#lines + 1] = list ~= "" and list .. ": gen/pour/" .. module .. ".lua" or nil
  end
  return #lines > 0 and text.comment(lines) or ""
end

-- A point function: results is a list of { name = variable, node, begins, shown }: begins is what its comment has
-- ahead of the expression, false for one that it is not to have; shown is another form of it for that. Its record has
-- what a template needs:
--   comment, type, name, parameters, body   its definition
--   inputs                         what it reads at each point, { kind, variable }:
--     "element", "stash"             the element of an operand at pointer; "stash": kept there
--     "hit"                          whether the point is the one that index names
--     "position", "whole"            the point's place along an axis; an index
--     "read"                         an element of an operand at other places: reads.lua
--     "inside", "same", "below"      what is asked of places
--     "random"                       a random number from seed and offset
--     "column"                       what was gathered over the rows under a name
--     "result"                       what a step's sum comes to: steps.lua
--   uniforms, names                the values that stay the same over a pass, and their variables
--   singles                        by name, the operands of one element that these are made of
--   call                           a statement that declares each result's variable and sets it
-- alone: whether it comes after the last row, so that no pass's values are there; see kernel:alone.
function kernel:point(name, results, alone)
  local point = { name = self.name .. "_" .. name, results = results }
  local roots, names, lines, parameters, arguments = {}, {}, {}, {}, {}
  for i, result in ipairs(results) do
    roots[i] = self:expand(result.node)
  end
  local uniforms = collect_uniforms(self, roots)
  point.uniforms, point.names, point.singles = uniforms, {}, {}
  point.inputs = find_inputs(self, roots)
  for _, input in ipairs(point.inputs) do
    names[input.node] = input.variable
    parameters[#parameters + 1] = type_of(self, input.node) .. " " .. input.variable
    arguments[#arguments + 1] = input.variable
  end
  for n, node in ipairs(uniforms) do
    names[node] = not alone and name_uniform(self, node) or outside[node.op] and node.name .. "_" or "u" .. n
    point.names[node] = names[node]
    parameters[#parameters + 1] = type_of(self, node) .. " " .. names[node]
    arguments[#arguments + 1] = names[node]
  end
  expr.visit(uniforms, function(leaf)
    point.singles[leaf.name or false] = leaf.op == "shared" or nil
  end)
  emit(self, roots, names, lines, "t")
  if #results == 1 then
    point.type = self.vector
    lines[#lines + 1] = "return " .. names[roots[1]] .. ";"
    point.call = string.format("%s%s %s = %s(%s);", self.let, self.vector, results[1].name, point.name,
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

-- The text of a place (move.lua). words: number(value), position(axis), points(axes), whole(index), in integers of 64
-- bits; min and max, functions of two of them, if there are.
local infix = { add = "(%s + %s)", sub = "(%s - %s)", mul = "(%s * %s)", neg = "(-%s)" }
local better = { min = "<", max = ">" }
kernel.slope, kernel.quotient = move.slope, move.quotient
function kernel.place(node, words)
  local function of(n)
    if n.op == "const" then
      return words.number(math.tointeger(n.value))
    elseif n.op == "position" or n.op == "points" then
      return words[n.op](n.k)
    elseif n.op == "whole" then
      return words.whole(n[1])
    elseif n.op == "floor" then
      local divided, by = move.quotient(n[1])
      local a, zero, most = of(divided), words.number(0), words.number(math.tointeger(by) - 1)
      return string.format("((%s - (%s < %s ? %s : %s)) / %s)", a, a, zero, most, zero,
        words.number(math.tointeger(by)))
    end
    local a, b = of(n[1]), n[2] and of(n[2])
    if better[n.op] then
      return words[n.op] and string.format("%s(%s, %s)", words[n.op], a, b)
        or string.format("(%s %s %s ? %s : %s)", a, better[n.op], b, a, b)
    end
    return string.format(infix[n.op], a, b)
  end
  return of(node)
end

-- From when on a value can be computed: "call", "row", or the last phase whose results it needs.
local function step_of(self, node)
  local order = facts_of(self, node).order
  return order == 0 and "call" or order == 0.5 and "row" or order
end

-- Statements for a value that stays the same over a pass, under its name; names: what has been declared.
local function emit_uniform(self, node, name, names, lines)
  local seen = {}
  local function walk(n)
    if names[n] or seen[n] then
      return -- with all that is below it
    end
    seen[n] = true
    for i = 1, #n do
      walk(n[i])
    end
    if outside[n.op] then
      names[n] = n.name .. "_"
      lines[#lines + 1] = string.format("%s%s %s = %s;", self.let, self.vector, names[n],
        self:text("splat", outside[n.op].plain(self, n)))
    end
  end
  walk(node)
  emit(self, { node }, names, lines, name .. "_")
  if names[node] ~= name then
    lines[#lines + 1] = string.format("%s%s %s = %s;", self.let, type_of(self, node), name, names[node])
  end
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
          emit_uniform(self, node, self.uniform_names[node], names, lines)
        end
      end
      self.uniform_texts[now] = table.concat(lines, "\n")
    end
  end
  return self.uniform_texts[step]
end

-- Statements for all of a point function's values that stay the same, where it stands alone, and for the numbers of its
-- operands of one element, whose pointers there are.
function kernel:alone(point)
  local names, numbers = {}, self:row_values(point.singles)
  local lines = { numbers ~= "" and numbers or nil }
  for _, node in ipairs(point.uniforms) do
    emit_uniform(self, node, point.names[node], names, lines)
  end
  return table.concat(lines, "\n")
end

-- The expression, a plain number, for a value per row or in all (after the last pass).
function kernel:total(node)
  if node.op == "reduced" then
    return node.name
  end
  return self:text("first_lane", name_uniform(self, self:expand(node)))
end

return kernel
