-- Whether a result that is zero may be +0 or -0 as the order of evaluation has it: where zeros of both signs
-- meet, it says which of them is the largest, the smallest or the sum, and every backend has an order of its
-- own; and a number to begin a sum with, which that of nothing is.

local zero = {}

local by_order = {
  max = true, min = true, maximum = true, minimum = true, sum = true, column_max = true, column_min = true,
  column_sum = true,
}
-- Zero is never -0 here, whatever the arguments are.
local plain = { abs = true, exp = true, exp2 = true, sigmoid = true, erfc = true, log = true, count = true,
  cos = true, rsqrt = true, sign = true }

-- Whether a node is never -0.
local function is_plain(node, memo)
  local op = node.op
  if memo[node] == nil then
    memo[node] = plain[op]
      or op == "const" and (node.value ~= 0 or 1 / node.value > 0)
      or op == "mul" and rawequal(node[1], node[2])
      or op == "add" and (is_plain(node[1], memo) or is_plain(node[2], memo))
      or (op == "sub" or op == "sqrt" or op == "sin" or op == "floor") and is_plain(node[1], memo)
      or op == "select" and is_plain(node[2], memo) and is_plain(node[3], memo)
      or by_order[op] and op ~= "sum" and op ~= "column_sum"
        and is_plain(node[1], memo) and is_plain(node[2] or node[1], memo)
      or false
  end
  return memo[node]
end

local function is_either(node, plain_memo, memo)
  if memo[node] ~= nil then
    return memo[node]
  end
  local found = false
  if not is_plain(node, plain_memo) then
    found = by_order[node.op] or false
    -- What is divided by says nothing of a zero.
    for i = 1, node.op == "div" and 1 or #node do
      found = found or is_either(node[i], plain_memo, memo)
    end
  end
  memo[node] = found
  return found
end

-- Whether one of some nodes is such a result.
function zero.is_either(nodes)
  local found, plain_memo, memo = false, {}, {}
  for _, node in ipairs(nodes) do
    found = found or is_either(node, plain_memo, memo)
  end
  return found
end

return zero
