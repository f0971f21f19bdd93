-- Says along which dimension a call may be cut into calls of fewer points, so that several threads share it: one that
-- is the outermost of all operands that have it, so that a part of an operand lies together; that all outputs have;
-- and along which no point's result depends on another one, on how many there are, or on where it is.

local axes = require "axes"
local expr = require "expr"

local cut = {}

local function lies_outside(op, place)
  for _, operand in ipairs(op.operands) do
    local has = operand.axes & axes.at(place) ~= 0
    if has and operand.dim_index[1] ~= place or not has and operand.output
      or operand.index and operand.along & axes.at(place) ~= 0 then
      return false
    end
  end
  return true
end

-- Whether a node's value at a point depends on the axis as a whole.
local function goes_over(node, axis)
  return node.op == "random" and node.axes & axis ~= 0
    or (expr.asks_for_place(node) or node.op == "points" or expr.reduces(node)) and node.k & axis ~= 0
end

-- The place of that dimension, or 0. roots: the nodes of the op's values.
function cut.of(op, roots)
  for place = 1, #op.dims do
    local fits = lies_outside(op, place)
    expr.visit(fits and roots or {}, function(node)
      fits = fits and not goes_over(node, axes.at(place))
    end)
    if fits then
      return place
    end
  end
  return 0
end

return cut
