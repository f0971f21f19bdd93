-- What the references of an op compute: its outputs, and what checks ask for besides. A record:
--
--   values      { operand, node }: outputs, one buffer per floating output for its magnitude, and three per index of
--               terms that are rounded: an index that is asked about, the term there and its magnitude
--   operands    the op's, and after them those buffers
--   reads       what leaves of their graphs stand for, by name: reads.lua
--   program     one of no passes: what steps it takes, loops.lua finds

local expr = require "expr"
local magnitude = require "magnitude"
local passes = require "passes"
local reads = require "reads"
local text = require "text"

local reference = {}

-- More than that take minutes to compile. The largest of the project's own ops has some thousands.
local most_operations = 300000

-- How many operations the steps have together, and how many steps there may be: each computes anew what it needs but
-- what others gather.
local function count_operations(values)
  local count, known = 0, {}
  local steps = text.map(values, function(value)
    return value.node
  end)
  local seen
  local function walk(node, is_root)
    if not is_root and expr.gathers(node) then
      steps[#steps + 1], known[node] = not known[node] and node or nil, true
    elseif not seen[node] then
      seen[node], count = true, count + 1
      for i = 1, #node do
        walk(node[i])
      end
    end
  end
  local at = 0
  while at < #steps do
    at, seen = at + 1, {}
    walk(steps[at], true)
  end
  return count, at
end

-- The record of a traced op.
function reference.of(op)
  expr.enter(op.graph)
  local values, operands = { table.unpack(op.values) }, { table.unpack(op.operands) }
  local magnitudes = {}
  for _, value in ipairs(op.magnitudes) do
    magnitudes[value.operand.name] = value.node
  end
  local function beside(operand, changes)
    changes.called = false -- in no words of the spec
    operands[#operands + 1] = setmetatable(changes, { __index = operand })
    return operands[#operands]
  end
  local function compute(operand, ending, node)
    values[#values + 1] = { operand = beside(operand, { name = operand.name .. ending, dtype = false }), node = node }
  end
  for _, value in ipairs(op.values) do
    local operand = value.operand
    if operand.dtype ~= "i64" then
      compute(operand, "_magnitude", magnitudes[operand.name])
    elseif operand.rounded then
      local asked = beside(operand, { name = operand.name .. "_asked", output = false })
      local term, over = value.node[1], value.node.k
      local index = expr.leaf("index", asked.name, "x", operand.axes, over)
      compute(operand, "_term", expr.pick(term, index, over))
      compute(operand, "_magnitude", expr.pick(magnitude.of(term, {}), index, over))
    end
  end
  local operations, steps = count_operations(values)
  if operations > most_operations then
    text.fail(op.where "compute", "compute: %s: expected at most %d operations in all steps of its reference, found %d "
      .. "in %d steps; a reduction of what others come to is a step more, which computes anew what it needs", op.name,
      most_operations, operations, steps)
  end
  local given, nodes = reads.apart(values)
  return { values = given, operands = operands, program = passes.none(given, op.inner), reads = nodes }
end

return reference
