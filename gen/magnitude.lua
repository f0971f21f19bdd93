-- How large what is rounded on the way to a value may get: the first-order bound of its error in units
-- of one rounding, from the graph itself. A result is judged by it where terms may cancel.

local expr = require "expr"

local magnitude = {}

-- A product below the smallest normal number is rounded as if it were as large, and what comes of it
-- may be large again.
local function at_least_tiny(a)
  return expr.max(a, expr.leaf("tiny", ""))
end

local function product(_, a, b)
  return at_least_tiny(a * b)
end

-- How much of an argument's error a function of one argument passes on: slope(node, x).
local two_over_root_pi = 2 / math.sqrt(math.pi)
local slopes = {
  exp = function(y) return y end,
  exp2 = function(y) return y end,
  expm1 = function(y) return y + 1 end,
  log = function(_, x) return 1 / expr.abs(x) end,
  log1p = function(_, x) return 1 / expr.abs(1 + x) end,
  sqrt = function(y) return 0.5 / y end,
  tanh = function(y) return 1 - y * y end,
  sigmoid = function(y) return y * (1 - y) end,
  erf = function(_, x) return two_over_root_pi * expr.exp(-(x * x)) end,
  erfc = function(_, x) return two_over_root_pi * expr.exp(-(x * x)) end,
}

local function same(_, a)
  return a
end

-- The largest or smallest of exact terms is exact, however large the others are.
local function extreme(largest)
  return function(node, a)
    return rawequal(a, expr.abs(node[1])) and expr.abs(node) or largest(a)
  end
end

-- rules[op](node, ...): from the magnitudes of the arguments.
local rules = {
  add = function(_, a, b) return a + b end,
  sub = function(_, a, b) return a + b end,
  mul = product,
  div = function(node, a, b)
    local y = expr.abs(node[2])
    return at_least_tiny(a / y * (b / y))
  end,
  neg = same,
  abs = same,
  copysign = same,
  detach = same,
  fma = function(_, a, b, c) return at_least_tiny(a * b) + c end,
  max = function(_, a, b) return expr.max(a, b) end,
  min = function(_, a, b) return expr.max(a, b) end,
  select = function(node, _, a, b) return expr.select(node[1], a, b) end,
  sum = function(_, a) return expr.sum(a) end,
  maximum = extreme(expr.maximum),
  minimum = extreme(expr.maximum),
  pick = function(node, a) return expr.pick(a, node[2]) end,
  column_sum = function(_, a) return expr.column_sum(a) end,
  column_max = extreme(expr.column_max),
  column_min = extreme(expr.column_max),
}
for op, slope in pairs(slopes) do
  rules[op] = function(node, a)
    local steep = slope(node, node[1]) -- exp(-inf) is 0, however large the argument
    return expr.abs(node) + expr.select(expr.eq(steep, 0), 0, steep * a)
  end
end

-- The magnitude of a node, as a node. memo carries what is done already from call to call.
function magnitude.of(node, memo)
  if not memo[node] then
    local arguments, rule = {}, rules[node.op]
    if rule then
      for i = 1, #node do
        arguments[i] = node[i].type == "r" and magnitude.of(node[i], memo)
      end
    end
    memo[node] = rule and rule(node, table.unpack(arguments, 1, #node)) or expr.abs(node)
  end
  return memo[node]
end

-- Whether anything is rounded on the way to a node; constants are, alike for a kernel and its reference.
local exact = {}
for _, op in ipairs {
  "input", "shared", "scalar", "const", "tiny", "neg", "abs", "copysign", "detach", "max", "min", "select",
  "lt", "le", "gt", "ge", "eq", "ne", "maximum", "minimum", "index", "pick",
} do
  exact[op] = true
end
function magnitude.rounds(node)
  local rounds = false
  expr.visit({ node }, function(n)
    rounds = rounds or not exact[n.op]
  end)
  return rounds
end

return magnitude
