-- The axes of an op: its dimensions by name, each one bit of a set, the first the lowest. A layout says how a
-- family's passes go over them:
--   all       the op's axes
--   names     their names, in order
--   inner     those that a pass goes over, point by point; none before the family is known
--   outer     the others: there is a pass for each of their points, a row
-- Nodes of a graph carry the sets that they vary over: expr.lua.

local text = require "text"

local axes = {}

-- What there is before an op is known.
axes.none = { names = {}, all = 0, inner = 0, outer = 0 }

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

-- The layout of an op with these axes, with passes over the last `inner` of them.
function axes.layout(names, inner)
  local all = (1 << #names) - 1
  local outer = (1 << #names - inner) - 1
  return { names = names, all = all, inner = all & ~outer, outer = outer }
end

-- The same while the family is not known.
function axes.unplanned(names)
  return { names = names, all = (1 << #names) - 1, inner = 0, outer = 0 }
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

-- The set that some names stand for in a layout; what: the function that they are given to.
function axes.named(layout, what, ...)
  local set = 0
  for _, name in ipairs { ... } do
    local found
    for place, known in ipairs(layout.names) do
      found = known == name and axes.at(place) or found
    end
    if not found then
      error(string.format("%s: unknown axis %s%s; expected %s", what, text.show(name),
        text.did_you_mean(name, layout.names), text.one_of(layout.names)), 0)
    end
    set = set | found
  end
  return set
end

return axes
