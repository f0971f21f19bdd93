-- What points read elsewhere, and ask of places, as leaves: a kernel finds these before it computes with numbers.

local expr = require "expr"
local text = require "text"

local reads = {}

-- The nodes "read", "inside" and "same" under some values { operand, node } become leaves of these operations: returns
-- values of such graphs, and by the names of the leaves the nodes that they stand for.
function reads.apart(values)
  local nodes, memo, count = {}, {}, 0
  local function leaf(node)
    count = count + 1
    local name = node.op .. count
    nodes[name] = node
    return expr.leaf(node.op, name, node.type, node.axes, node.k)
  end
  local rules = { read = leaf, inside = leaf, same = leaf }
  return text.map(values, function(value)
    return { operand = value.operand, node = expr.rewrite(value.node, rules, memo) }
  end), nodes
end

return reads
