-- Symbolic values, the arguments of a spec's functions. A spec can apply operators and the functions of the
-- vocabulary to them, and nothing else: what such a value stands for, a node of expr.lua, it neither sees nor
-- changes. Unlike nodes, values are never shared: each time a spec computes something there is another one. So
-- what a spec computed and then did not use shows, also where the same is used elsewhere.

local expr = require "expr"
local limits = require "limits"
local vocabulary = require "vocabulary"

local symbol = {}

local meta = { __metatable = "a symbolic value", __name = "a symbolic value" }
local inside = {} -- a value's only key, which no spec has: what the value stands for

-- The values made since a call began, in order; `loading` are those made while specs are loaded.
local loading = {}
local current = loading

function symbol.is(value)
  return getmetatable(value) == meta.__metatable
end

-- Whether a value is a comparison: true or false at each point, while to Lua it is neither.
function symbol.is_comparison(value)
  return symbol.is(value) and value[inside].node.type == "m"
end

-- The spec's line that runs: of the innermost of its functions that no tail call has replaced.
local function find_line()
  local level = 2
  local info = debug.getinfo(level, "Sl")
  while info and info.source:sub(1, 7) ~= "@specs/" do
    level = level + 1
    info = debug.getinfo(level, "Sl")
  end
  if info then
    return info.source:sub(2), info.currentline
  end
end

-- Raises an error at that line. It may not be where the last line of a spec began: a helper may have returned since.
function symbol.fail(format, ...)
  local file, line = find_line()
  error((file and file .. ":" .. line .. ": " or "") .. string.format(format, ...), 0)
end

-- A value for a node. name, arguments: of the function or operator that a spec made it with.
local function wrap(node, name, arguments)
  local record = { node = node, call = current, name = name, arguments = arguments or {} }
  if name and current ~= loading then
    record.file, record.line = find_line()
  end
  current[#current + 1] = record
  return setmetatable({ [inside] = record }, meta)
end

-- The node that a value stands for. What was made while specs were loaded is made of constants, and is made again
-- in the graph of whoever uses it. Anything else that is no value is itself.
local function node_of(value)
  local record = symbol.is(value) and value[inside]
  if not record then
    return value
  end
  return record.call == loading and expr.adopt({ record.node })[record.node] or record.node
end
symbol.node_of = node_of

-- A function of nodes as one of values, which may be in a table.
local function on_values(name, f)
  return function(...)
    local arguments, nodes = { ... }, {}
    local count = select("#", ...)
    for i = 1, count do
      nodes[i] = node_of(arguments[i])
      if type(nodes[i]) == "table" and rawequal(nodes[i], arguments[i]) then
        nodes[i] = {}
        for key, value in next, arguments[i] do
          nodes[i][key] = node_of(value)
          arguments[#arguments + 1] = value
        end
      end
    end
    return wrap(f(table.unpack(nodes, 1, count)), name, arguments)
  end
end

symbol.vocabulary = {}
for name, f in pairs(vocabulary) do
  symbol.vocabulary[name] = on_values(name, f)
end

meta.__add = on_values("+", function(a, b) return a + b end)
meta.__sub = on_values("-", function(a, b) return a - b end)
meta.__mul = on_values("*", function(a, b) return a * b end)
meta.__div = on_values("/", function(a, b) return a / b end)
meta.__pow = on_values("^", function(a, b) return a ^ b end)
meta.__unm = on_values("-", function(a) return -a end)

-- Questions that Lua would answer on its own ------------------------------------------------------------

local no_boolean = "a comparison of symbolic values is not a Lua boolean: write "

function symbol.refuse_comparison()
  symbol.fail("%s", no_boolean .. "lt(a, b), le, gt, ge, eq or ne, and select(condition, a, b)")
end
meta.__lt, meta.__le = symbol.refuse_comparison, symbol.refuse_comparison

-- Refuses a comparison whose truth is asked for; instead: what to write in its place.
function symbol.expect_no_comparison(value, instead)
  if symbol.is_comparison(value) then
    symbol.fail("%s", no_boolean .. instead)
  end
end

local function refuse(message)
  return function()
    symbol.fail("%s", message)
  end
end
function meta.__index(_, key)
  local instead = limits.of(key)
  if type(key) == "number" or symbol.is(key) then
    instead = limits.index
  elseif symbol.vocabulary[key] then
    instead = string.format("the value is a function's first argument: write %s(x)", key)
  end
  symbol.fail("a symbolic value has no fields, elements or methods that a spec could read%s",
    instead and "; " .. instead or "")
end
meta.__newindex = refuse "a symbolic value cannot be assigned to"
meta.__len = refuse "a symbolic value has no length that is known before the op runs; write count()"
meta.__tostring = refuse "a symbolic value has no text: it is not known before the op runs"
for event, sign in pairs { mod = "%", idiv = "//", concat = "..", band = "&", bor = "|", bxor = "~", shl = "<<",
  shr = ">>", bnot = "~", call = "()" } do
  local name = "__" .. event
  meta[name] = function(a, b)
    local other = not symbol.is(b) and getmetatable(b)
    if other and other[name] then
      return other[name](a, b) -- guard.lua has an operator of its own
    end
    local limit = limits.of_operator(sign, symbol.is_comparison(a) or symbol.is_comparison(b))
    symbol.fail("a symbolic value knows + - * / ^ and the functions of a spec, not %s%s", sign,
      limit and "; " .. limit or "")
  end
end

-- Calls ---------------------------------------------------------------------------------------

-- Begins a call: returns the values of some nodes, by name.
function symbol.begin(nodes)
  current = {}
  local values = {}
  for name, node in pairs(nodes) do
    values[name] = wrap(node)
  end
  return values
end

-- The values that a record is made of.
local function arguments_of(record)
  local list = {}
  for _, argument in pairs(record.arguments) do -- some may be nil
    list[#list + 1] = symbol.is(argument) and argument[inside] or nil
  end
  return list
end

local function place_of(record)
  return string.format("%s %s:%s", record.name, record.file, record.line)
end

-- What was computed in the call and went into no result: { node, name, file, line }, in order. Left out are what
-- something else of that list is made of, and numbers that a line made last after others of the same operator that
-- were used: the last power of a loop. results: what the function returned.
function symbol.unused(results)
  local used, last, found, inner, list = {}, {}, {}, {}, {}
  for _, value in ipairs(results) do
    found[#found + 1] = symbol.is(value) and value[inside] or nil
  end
  while #found > 0 do
    local record = table.remove(found)
    if not used[record] then
      used[record] = true
      table.move(arguments_of(record), 1, #record.arguments, #found + 1, found)
    end
  end
  for i, record in ipairs(current) do
    last[place_of(record)] = used[record] and i or last[place_of(record)]
  end
  for i = #current, 1, -1 do
    local record = current[i]
    if record.name and not used[record] then
      local of_a_loop = record.node.type ~= "m" and i > (last[place_of(record)] or i)
      if not inner[record] and not of_a_loop then
        table.insert(list, 1, record)
      end
      for _, argument in ipairs(arguments_of(record)) do
        inner[argument] = true
      end
    end
  end
  return list
end

return symbol
