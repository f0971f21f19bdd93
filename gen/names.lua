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
local named = { input = true, shared = true, integer = true, index = true, scalar = true }

-- A traced op as generated code has it: what is in its lists is called so, in its graph too; `called` is what the spec
-- calls it.
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
  local code = { operands = renamed(op.operands), scalars = renamed(op.scalars, "arg_") }
  local roots = {}
  for _, key in ipairs { "values", "magnitudes" } do
    code[key] = text.map(op[key], function(value)
      roots[#roots + 1] = value.node
      return { operand = copies[value.operand], node = value.node }
    end)
  end
  expr.visit(roots, function(node)
    if named[node.op] then
      node.name, node.called = code_name[node.name], node.name
    end
  end)
  return setmetatable(code, { __index = op })
end

return names
