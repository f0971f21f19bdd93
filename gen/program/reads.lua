-- What points read elsewhere, and ask of places, as leaves: a kernel finds these before it computes with numbers.

local expr = require "expr"
local formula = require "formula"
local text = require "text"

local reads = {}

-- By graph: its leaves by the nodes that they stand for, these by the leaves' names, and how many there are.
local by_graph = setmetatable({}, { __mode = "k" })

-- A node in the words of a spec, where that is short.
local function called(node)
  local lines = formula.lines({ { begins = "", node = node } }, expr.axes().names, 0)
  return #lines == 1 and lines[1]:sub(2) or nil
end

-- The nodes "read", "inside", "same" and "below" under some values { operand, node } become leaves of these: returns
-- values of such graphs, and by the names of the leaves the nodes that they stand for.
function reads.apart(values)
  local graph = values[1].node.graph
  local known = by_graph[graph] or { memo = {}, nodes = {}, count = 0 }
  by_graph[graph] = known
  local function leaf(node)
    known.count = known.count + 1
    local name = node.op .. known.count
    local made = expr.leaf(node.op, name, node.type, node.axes, node.k)
    known.nodes[name], made.called = node, called(node)
    return made
  end
  local function read(node, args)
    return args[1].op == "input" and leaf(node) or nil -- a scan is no operand yet
  end
  local rules = { read = read, inside = leaf, same = leaf, below = leaf }
  return text.map(values, function(value)
    return { operand = value.operand, node = expr.rewrite(value.node, rules, known.memo) }
  end), known.nodes
end

return reads
