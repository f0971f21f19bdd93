-- == and ~= in a spec. Lua never asks a symbolic value whether it equals a number: they differ, and a branch
-- would be taken for good while a function is traced. So before a spec is compiled its `a == b` becomes
-- `a |EQUAL| b`, in which the operators are ours to answer. | binds just tighter than == does, so that what
-- surrounds it is read as before; a comparison of a comparison, or of what | itself makes, needs parentheses
-- (without them it is an error, as `1 < 2 == true` is).

local expr = require "expr"

local equality = {}

local function is_traced(value)
  return expr.is_node(value) or type(value) == "number"
end

-- Stands between the operands: `a | mark` keeps a, and that `| b` is the answer.
local function mark(negated)
  local meta = {
    __bor = function(kept, b)
      local a = kept[1]
      if (expr.is_node(a) or expr.is_node(b)) and is_traced(a) and is_traced(b) then
        expr.refuse_comparison()
      end
      return (a == b) ~= negated
    end,
  }
  return setmetatable({}, {
    __bor = function(a)
      return setmetatable({ a }, meta)
    end,
  })
end

-- The names that the text below uses.
equality.names = { EQUAL = mark(false), UNEQUAL = mark(true) }
local operators = { ["=="] = "|EQUAL|", ["~="] = "|UNEQUAL|" }

-- The text of a chunk that compiles, with its comparisons replaced.
function equality.observe(source)
  local parts, at = {}, 1
  local find, match, sub = string.find, string.match, string.sub -- an include is read with few methods of strings
  local function long_end(from)
    local level = match(source, "^%[(=*)%[", from)
    return level and select(2, find(source, "]" .. level .. "]", from, true))
  end
  while at <= #source do
    local two = sub(source, at, at + 1)
    local one = sub(two, 1, 1)
    local stop
    if two == "--" then
      stop = long_end(at + 2) or find(source, "\n", at, true) or #source
    elseif one == '"' or one == "'" then
      stop = at + 1
      while sub(source, stop, stop) ~= one do
        stop = stop + (sub(source, stop, stop) == "\\" and 2 or 1)
      end
    elseif operators[two] or two == "<=" or two == ">=" then
      stop = at + 1
    else
      stop = long_end(at) or select(2, find(source, "^[^%-\"'=~<>%[]+", at)) or at
    end
    parts[#parts + 1] = operators[two] or sub(source, at, stop)
    at = stop + 1
  end
  return table.concat(parts)
end

return equality
