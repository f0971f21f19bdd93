-- How large a traced graph may be. The stages after this one call themselves for what is below a node, and take
-- time for each node, so that a graph without measure is refused where it comes in.

local text = require "text"
local vecmath = require "vecmath"

local graph_size = {}

-- The largest of the project's own ops: some 200 deep, 60 operations. A function becomes many operations one after
-- the other.
local deepest, most, function_depth = 2000, 5000, 40

-- Refuses values { node } of a spec's function that are too large together.
function graph_size.check(where, key, values)
  local depth, count, stack = {}, 0, {}
  for i, value in ipairs(values) do
    stack[i] = value.node
  end
  while #stack > 0 do
    local node = stack[#stack]
    local below, known = 0, true
    for i = 1, #node do
      local its = depth[node[i]]
      if not its then
        known = false
        stack[#stack + 1] = node[i]
      elseif its > below then
        below = its
      end
    end
    if known then
      count = count + (depth[node] and 0 or 1)
      depth[node] = below + (vecmath[node.op] and function_depth or 1)
      stack[#stack] = nil
    end
    if below > deepest then
      text.fail(where, "%s: expected operations of operations at most %d deep, where a function such as exp counts as "
        .. "%d; look for a loop that was meant to be shorter, or add terms up in pairs", key, deepest, function_depth)
    elseif count > most then
      text.fail(where, "%s: expected at most %d different operations, found more; look for a loop that was meant to "
        .. "be shorter", key, most)
    end
  end
end

return graph_size
