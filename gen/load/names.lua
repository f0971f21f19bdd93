-- Which names the operands and scalars of an op may have, and what generated code calls them: in_NAME, out_NAME and
-- arg_NAME, without a _ in NAME. So no name is one of a language's or a template's own, which begin in no such way; and
-- what code has of an operand besides, called that, a _ and more, belongs to no other.

local expr = require "expr"
local text = require "text"

local names = {}

-- Refuses a name for an operand or scalar.
function names.check(where, what, name)
  if not text.is_name(name) then
    text.fail(where, "%s: expected %s, found %s", what, text.a_name, text.show(name))
  end
end

-- A name without its _.
local function stem(name)
  return (string.gsub(name, "_", ""))
end

-- Refuses lists of { name } of which generated code would call two the same.
function names.check_together(where, what, ...)
  local known = {}
  for _, list in ipairs { ... } do
    for _, item in ipairs(list) do
      local other = known[stem(item.name)]
      if other == item.name then
        text.fail(where, "%s: two operands are called '%s'", what, other)
      elseif other then
        text.fail(where, "%s: expected names that differ in more than a _, found '%s' and '%s'", what, other, item.name)
      end
      known[stem(item.name)] = item.name
    end
  end
end

-- The leaves of a graph that are called as an operand or scalar.
local named = { input = true, integer = true, index = true, scalar = true }

-- The nodes in a record, whatever it has them in.
local function nodes_in(record)
  local found, seen = {}, {}
  local function walk(value)
    if expr.is_node(value) then
      found[#found + 1] = value
    elseif type(value) == "table" and not seen[value] then
      seen[value] = true
      for _, field in next, value do
        walk(field)
      end
    end
  end
  walk(record)
  return found
end

-- A traced op as generated code has it: what is in its lists is called so, and in a graph of its own; `called` is what
-- the spec calls it.
function names.in_code(op)
  local code_name, copies = {}, {}
  local function renamed(list, role)
    return text.map(list, function(item)
      local name = (role or item.output and "out_" or "in_") .. stem(item.name)
      code_name[item.name] = name
      copies[item] = setmetatable({ name = name, called = item.name }, { __index = item })
      return copies[item]
    end)
  end
  local code = { operands = renamed(op.operands), scalars = renamed(op.scalars, "arg_"), graph = expr.begin(op.dims) }
  local computed = {
    values = op.values, magnitudes = op.magnitudes, steps = op.steps, stream = op.stream, sequence = op.sequence,
  }
  local nodes = expr.adopt(nodes_in(computed), function(leaf)
    local name = named[leaf.op] and code_name[leaf.name]
    local copy = name and expr.leaf(leaf.op, name, leaf.type, leaf.axes, leaf.k)
    if copy then
      copy.called = leaf.name
    end
    return copy
  end)
  local function copy_of(value)
    if type(value) ~= "table" or nodes[value] then
      return nodes[value] or value
    elseif not copies[value] then
      copies[value] = {}
      for key, field in next, value do
        copies[value][key] = copy_of(field)
      end
    end
    return copies[value]
  end
  for key, value in pairs(computed) do
    code[key] = copy_of(value)
  end
  return setmetatable(code, { __index = op })
end

return names
