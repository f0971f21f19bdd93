-- How large a traced graph may be. The stages after this one call themselves for what is below a node, and take
-- time for each node, so that a graph without measure is refused where it comes in.

local text = require "text"

local graph_size = {}

local deepest, most = 1000, 10000 -- the largest of the project's own ops: 25 deep, 60 nodes

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
      depth[node] = below + 1
      stack[#stack] = nil
    end
    if below >= deepest then
      text.fail(where, "%s: expected operations of operations at most %d deep, found more; look for a loop that was "
        .. "meant to be shorter, or add terms up in pairs", key, deepest)
    elseif count > most then
      text.fail(where, "%s: expected at most %d different operations, found more; look for a loop that was meant to "
        .. "be shorter", key, most)
    end
  end
end

return graph_size
