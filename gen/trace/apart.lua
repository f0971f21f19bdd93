-- Along which axes a result's elements can be asked for by themselves, so that a check may look at some of them where
-- the reference of all would take too long: runtime/problem/sampling.h.

local expr = require "expr"

local apart = {}

-- The axes of a value along which its elements stand for themselves: it reduces over none of them, reads nothing at
-- another place of them, and does not depend on how many places they have or which one a point has.
function apart.of(value)
  local set, known = value.operand.axes, true
  expr.visit({ value.node }, function(node)
    if expr.reduces(node) or node.op == "points" or expr.asks_for_place(node) then
      set = set & ~node.k
    elseif node.op == "random" then
      known = false
    end
  end)
  return known and set or 0
end

return apart
