-- The axes of an op: its dimensions by name, each one bit of a set, the first the lowest. Nodes of a graph carry the
-- sets that they vary over: expr.lua.

local text = require "text"

local axes = {}

-- The axis at a place of an op's dimensions, from 1, as a set.
function axes.at(place)
  return 1 << place - 1
end

-- The set of the axes at some places of an op's dimensions.
function axes.set(places)
  local set = 0
  for _, place in ipairs(places) do
    set = set | axes.at(place)
  end
  return set
end

-- The places of a set's axes among an op's dimensions, from 0 on.
function axes.indexes(set)
  local list = {}
  for index = 0, 62 do
    list[#list + 1] = set & 1 << index ~= 0 and index or nil
  end
  return list
end

-- The set of all axes with these names.
function axes.all(names)
  return (1 << #names) - 1
end

-- A list of names as a spec writes it.
function axes.list(names)
  return #names == 0 and "{}" or '{ "' .. table.concat(names, '", "') .. '" }'
end

-- A set in these words, of axes with these names.
function axes.show(names, set)
  local list = {}
  for place, name in ipairs(names) do
    list[#list + 1] = set & axes.at(place) ~= 0 and name or nil
  end
  return axes.list(list)
end

-- The set that some of the names of all axes stand for; what: the function that they are given to.
function axes.named(names, what, ...)
  local set = 0
  for _, name in ipairs { ... } do
    local found
    for place, known in ipairs(names) do
      found = known == name and axes.at(place) or found
    end
    if not found then
      error(string.format("%s: unknown axis %s%s; expected %s", what, text.show(name), text.did_you_mean(name, names),
        text.one_of(names)), 0)
    end
    set = set | found
  end
  return set
end

return axes
