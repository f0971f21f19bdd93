-- Signs of zeros and NaNs that are left open. Where zeros of both signs meet, the order of evaluation decides which of
-- them is the largest, the smallest or the sum. Every backend has an order of its own, and its own zero to begin a sum
-- with, which is the sum of nothing. NaN has a sign where it is moved alone.

local elementary = require "elementary"
local expr = require "expr"

local zero = {}

local by_order = {
  max = true, min = true, maximum = true, minimum = true, sum = true,
}
-- Zero is never -0 here, whatever the arguments are.
local plain = { abs = true, points = true, sign = true, position = true, whole = true }
for op, row in pairs(elementary) do
  plain[op] = row.positive or row.plain
end

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
      or by_order[op] and op ~= "sum" and is_plain(node[1], memo) and is_plain(node[2] or node[1], memo)
      or false
  end
  return memo[node]
end

local function either(a, b)
  return a and b and expr.any_of(a, b) or a or b
end

local function of_select(open, mask, a, b)
  local open_a, open_b = open(a), open(b)
  return open_a and open_b and expr.any_of(expr.all_of(mask, open_a), expr.all_of(expr.negate(mask), open_b))
    or open_a and expr.all_of(mask, open_a) or open_b and expr.all_of(expr.negate(mask), open_b)
end

-- What a NaN goes through with its sign.
local moves = { input = true, read = true, scalar = true, const = true, neg = true, abs = true, detach = true }

-- Whether the sign of a NaN that a node may be says something.
local function has_signed_nan(node)
  if node.op == "copysign" then
    return has_signed_nan(node[2])
  end
  return moves[node.op] and (not node[1] or has_signed_nan(node[1])) or false
end

-- Where a node, if it is a zero, is one of a sign that nobody orders: a mask, or nil for nowhere.
local function find(node, memo)
  local function open(argument)
    return zero.open(argument, memo)
  end
  local op, a, b, c = node.op, node[1], node[2], node[3]
  local gathered = op == "read" and a or node
  if is_plain(node, memo.plain) then
    return nil
  elseif op == "max" or op == "min" then
    return either(either(open(a), open(b)), expr.all_of(memo.may_be_zero(a), memo.may_be_zero(b)))
  elseif by_order[gathered.op] or expr.scans(gathered) then
    return expr.eq(node, 0)
  elseif op == "select" then
    return of_select(open, a, b, c)
  elseif op == "copysign" then
    return zero.has_open_sign(b, memo)
  elseif op == "pick" then
    return open(a) and expr.ne(expr.pick(expr.select(open(a), 1, 0), b, node.k), 0)
  elseif op == "div" or op == "pow" then
    return open(a) -- what is divided by says nothing of a zero
  end
  local found
  for i = 1, #node do
    found = either(found, node[i].type == "r" and open(node[i]) or nil)
  end
  return found
end

-- memo carries what is done already from call to call; it begins as { may_be_zero = ... }, a function of a node: the
-- mask where a kernel, which rounds, may come to a zero.
function zero.open(node, memo)
  memo.plain = memo.plain or {}
  if memo[node] == nil then
    memo[node] = find(node, memo) or false
  end
  return memo[node] or nil
end

-- Where a node is a zero, or a NaN, of a sign that nobody orders: a mask, or nil for nowhere.
function zero.has_open_sign(node, memo)
  local open = zero.open(node, memo)
  return either(open and expr.all_of(expr.eq(node, 0), open), not has_signed_nan(node) and expr.ne(node, node) or nil)
end

return zero
