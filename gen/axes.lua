-- The axes of an op: its dimensions by name, each one bit of a set, the slowest the lowest. A layout says how a
-- family's passes go over them:
--   all       the op's axes
--   inner     those that a pass goes over, point by point
--   outer     the others: there is a pass for each of their points, a row
--   reduced   those that a reduction goes over where its call does not name them
-- Nodes of a graph carry the sets that they vary over: expr.lua.

local axes = {}

-- What there is before an op is known.
axes.none = { all = 0, inner = 0, outer = 0, reduced = 0 }

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

-- The layout of an op of so many axes, with passes over the last `inner` of them.
function axes.layout(count, inner)
  local all = (1 << count) - 1
  local outer = (1 << count - inner) - 1
  return { all = all, inner = all & ~outer, outer = outer, reduced = all & ~outer }
end

return axes
