-- Along which axes a result's elements can be asked for by themselves, so that a check may look at some of them where
-- the reference of all would take too long: runtime/excerpt.h, runtime/freivalds.h.

local axes = require "axes"
local expr = require "expr"

local apart = {}

-- The axes of a value along which its elements stand for themselves: it reduces over none of them, reads nothing at
-- another place of them, and does not depend on how many places they have.
function apart.of(value)
  local set, known = value.operand.axes, true
  expr.visit({ value.node }, function(node)
    local row = expr.operations[node.op]
    if row and row.reduction or node.op == "hit" or node.op == "points" then
      set = set & ~node.k
    elseif node.op == "random" or node.op == "count" or node.op == "rows" then
      known = false
    end
  end)
  return known and set or 0
end

-- The degree of a value in the inputs that have an axis, 0 or 1, where it is a sum of products of which each has one
-- such factor or none has; nil of other values. Every operation here grows with its arguments where these are not
-- negative, so that a value of the inputs' sizes is at least the size of the value.
local function degree(node, axis, memo)
  if memo[node] ~= nil then
    return memo[node] or nil
  end
  local of, first, second = nil, node[1], node[2]
  if node.op == "input" or node.op == "scalar" or node.op == "shared" then
    of = node.axes & axis ~= 0 and 1 or 0
  elseif node.op == "const" then
    of = node.value >= 0 and 0 or nil
  elseif node.op == "points" then
    of = 0
  elseif node.op == "sum" then
    of = degree(first, axis, memo)
  elseif node.op == "add" or node.op == "mul" then
    local a, b = degree(first, axis, memo), degree(second, axis, memo)
    if a and b then
      of = node.op == "mul" and a + b <= 1 and a + b or node.op == "add" and a == b and a or nil
    end
  end
  memo[node] = of or false
  return of
end

-- Of these axes, those along which it is linear in the inputs that have them: the sum of the results at some places,
-- each times a number, is the result of such a sum of these inputs.
function apart.linear(value)
  local set = 0
  for _, index in ipairs(axes.indexes(apart.of(value))) do
    local axis = 1 << index
    if degree(value.node, axis, {}) == 1 then
      set = set | axis
    end
  end
  return set
end

return apart
