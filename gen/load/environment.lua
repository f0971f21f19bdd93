-- What a spec may use: of Lua no io, os, package, debug, load, coroutines or metatables, no random numbers;
-- and the functions of the vocabulary. Nothing of it can be
-- changed, nothing in it is the same object for two specs that could leave something there, and nothing in it
-- takes a symbolic value for a plain one, or gives what differs from run to run.

require "power" -- what symbolic values know as ^
local symbol = require "symbol"
local text = require "text"

local environment = {}

local function pick(library, names)
  local picked = {}
  for name in names:gmatch "%S+" do
    picked[name] = library[name]
  end
  return picked
end

-- A table that reads as another and cannot be written to.
local function frozen(library, name)
  return setmetatable({}, {
    __index = library, __metatable = false,
    __newindex = function(_, key)
      error(string.format("%s.%s: what a spec is given cannot be changed", name, tostring(key)), 2)
    end,
  })
end

-- The same function, but for symbolic values it is an error that says what to write.
local function for_plain(name, f)
  return function(...)
    for i = 1, select("#", ...) do
      if symbol.is((select(i, ...))) then
        local own = string.match(name, "[^.]+$")
        symbol.fail("%s is for plain numbers, found a symbolic value%s", name,
          symbol.vocabulary[own] and "; write " .. own .. "(...)" or "")
      end
    end
    return f(...)
  end
end

local function plain_math()
  local plain = pick(math, "abs ceil exp floor fmod huge log max maxinteger min mininteger modf pi sqrt tointeger type "
    .. "ult")
  for name, f in pairs(plain) do
    plain[name] = type(f) == "function" and for_plain("math." .. name, f) or f
  end
  return plain
end

-- The text of a table or a function is where it lies in memory.
local function expect_text(name, value)
  if type(value) == "table" or type(value) == "function" then
    symbol.fail("%s: %s", name, symbol.is(value)
      and "a symbolic value has no text: it is not known before the op runs"
      or "expected a string, a number or a boolean: the text of a " .. type(value) .. " differs from run to run")
  end
end

local function as_text(value)
  expect_text("tostring", value)
  return tostring(value)
end

-- The methods of strings while a spec runs.
environment.string_methods = pick(string, "byte char len lower rep upper reverse sub")
function environment.string_methods.format(format, ...)
  for i = 1, select("#", ...) do
    expect_text("string.format", (select(i, ...)))
  end
  if type(format) == "string" and string.find(format, "%%[^%a%%]*p") then
    symbol.fail "string.format: expected no %%p: where a value lies in memory differs from run to run"
  end
  return string.format(format, ...)
end

local function checked_assert(value, ...)
  symbol.expect_no_comparison(value, "select(condition, a, b): an op cannot stop at a point")
  return assert(value, ...)
end

-- What an order between symbolic values would be is not known.
local function sort(list, is_before)
  table.sort(list, is_before and function(a, b)
    local answer = is_before(a, b)
    symbol.expect_no_comparison(answer, "min(a, b) and max(a, b) for their order")
    return answer
  end)
end

-- The key after another one, and what stands there; it keeps nothing from call to call.
local function step(order, key)
  local following = order.first
  if key ~= nil then
    following = order.after[key]
  end
  if following ~= nil then
    return following, order.of[following]
  end
end

local function pairs_in_order(t)
  if symbol.is(t) then
    symbol.fail "pairs: expected a table, found a symbolic value"
  end
  local keys, after = text.sorted_keys(t), {}
  for i, key in ipairs(keys) do
    if type(key) ~= "string" and type(key) ~= "number" and type(key) ~= "boolean" then
      symbol.fail("pairs: expected keys that are strings, numbers or booleans, found a %s: the order of such keys "
        .. "differs from run to run", type(key))
    end
    after[key] = keys[i + 1]
  end
  return step, { first = keys[1], after = after, of = t }
end

local function type_of(...)
  return symbol.is((...)) and "userdata" or type(...)
end

-- A new table of the names.
function environment.names()
  local names = {
    assert = checked_assert, error = error, ipairs = ipairs, pairs = pairs_in_order, tostring = as_text, type = type_of,
    tonumber = for_plain("tonumber", tonumber),
    math = frozen(plain_math(), "math"), inf = math.huge,
    string = frozen(environment.string_methods, "string"),
    table = frozen({
      concat = table.concat, insert = table.insert, remove = table.remove, sort = sort, unpack = table.unpack,
    }, "table"),
  }
  for name, f in pairs(symbol.vocabulary) do
    names[name] = f
  end
  return names
end

return environment
