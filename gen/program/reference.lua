-- What the references of an op compute: its outputs, and what checks ask for besides. A record:
--
--   values      { operand, node }: outputs, one buffer per floating output for its magnitude, and three per index of
--               terms that are rounded: an index that is asked about, the term there and its magnitude
--   operands    the op's, and after them those buffers
--   program     its passes: passes.lua
--   steps       whether it is steps (loops.lua), not passes: of all templates but three, as problem/solve.c has it

local expr = require "expr"
local magnitude = require "magnitude"
local passes = require "passes"
local text = require "text"

local reference = {}

-- More than that take minutes to compile. The largest of the project's own ops has 620.
local most_operations = 300000

local has_passes = { map = true, reduce = true, rows = true }

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
  local steps = not has_passes[op.template]
  local program = steps and passes.none(values, op.inner) or passes.make(values, op.inner, true)
  local operations = passes.operations(program)
  if operations > most_operations then
    text.fail(op.where "compute", "compute: %s: expected at most %d operations in all passes over the data, found %d "
      .. "in %d passes; a reduction of what others come to is a pass more, which computes anew what it needs", op.name,
      most_operations, operations, #program.phases + 1)
  end
  return { values = values, operands = operands, steps = steps, program = program }
end

return reference
