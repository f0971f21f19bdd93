-- Reverse-mode differentiation of a traced graph: from the nodes of an op's outputs and the
-- derivatives of a final result by them, the derivatives of that result by the op's inputs, as nodes.
--
-- At a kink (max, min, abs, clamp) the derivative is that of one side: 0 for the constant of a max
-- or min, 0 for abs at 0; the largest of a row shares it among equals. detach stops it.

local expr = require "expr"

local gradient = {}

local function zero_unless(mask, value)
  return expr.select(mask, value, 0)
end

-- The slope of erf at 0.
local two_over_root_pi = 2 / math.sqrt(math.pi)

local function by_sign_of(g, x)
  return expr.select(expr.eq(x, 0), 0, g * expr.copysign(1, x))
end

-- The derivative of an extreme over a row goes to the terms that equal it, in equal shares.
local function extreme(node, g, term)
  local best = expr.eq(term, node)
  return { zero_unless(best, g / expr.sum(zero_unless(best, expr.const(1)))) }
end

-- What the second argument of a max or min gets: that of equals it is the one, but not beside a
-- constant.
local function beside(better, no_worse, g, b, a)
  return zero_unless((a.op == "const" and better or no_worse)(b, a), g)
end

-- rules[op](node, g, a, b, c): what the arguments a, b, c of a node get of its derivative g.
local rules = {
  add = function(_, g) return { g, g } end,
  sub = function(_, g) return { g, -g } end,
  mul = function(_, g, a, b) return rawequal(a, b) and { 2 * g * a } or { g * b, g * a } end,
  div = function(node, g, _, b) return { g / b, -(g * node / b) } end,
  neg = function(_, g) return { -g } end,
  abs = function(_, g, a) return { by_sign_of(g, a) } end,
  sqrt = function(node, g) return { 0.5 * g / node } end,
  fma = function(_, g, a, b) return { g * b, g * a, g } end,
  max = function(_, g, a, b) return { zero_unless(expr.gt(a, b), g), beside(expr.gt, expr.ge, g, b, a) } end,
  min = function(_, g, a, b) return { zero_unless(expr.lt(a, b), g), beside(expr.lt, expr.le, g, b, a) } end,
  copysign = function(node, g, a) return { by_sign_of(g, a * node) } end,
  exp = function(node, g) return { g * node } end,
  exp2 = function(node, g) return { g * node * math.log(2) } end,
  expm1 = function(node, g) return { g * (node + 1) } end,
  log = function(_, g, a) return { g / a } end,
  log1p = function(_, g, a) return { g / (1 + a) } end,
  tanh = function(node, g) return { g * (1 - node * node) } end,
  sigmoid = function(_, g, a) return { g * (expr.sigmoid(a) * expr.sigmoid(-a)) } end,
  erf = function(_, g, a) return { g * (two_over_root_pi * expr.exp(-(a * a))) } end,
  erfc = function(_, g, a) return { -(g * (two_over_root_pi * expr.exp(-(a * a)))) } end,
  select = function(_, g, mask) return { false, zero_unless(mask, g), expr.select(mask, 0, g) } end,
  sum = function(_, g) return { g } end,
  maximum = extreme,
  minimum = extreme,
  pick = function(_, g, _, index) return { zero_unless(expr.hit(index), g) } end,
  detach = function() return {} end,
}
for _, comparison in ipairs { "lt", "le", "gt", "ge", "eq", "ne" } do
  rules[comparison] = function() return {} end
end

-- A product as factors that stay the same over a row, and those that do not (nil for none).
local function factors(node)
  if not node.varying then
    return node, nil
  elseif node.op == "neg" then
    local fixed, rest = factors(node[1])
    return fixed and -fixed or expr.const(-1), rest
  elseif node.op == "mul" then
    local fixed_a, rest_a = factors(node[1])
    local fixed_b, rest_b = factors(node[2])
    return fixed_a and fixed_b and fixed_a * fixed_b or fixed_a or fixed_b,
      rest_a and rest_b and rest_a * rest_b or rest_a or rest_b
  elseif node.op == "div" and not node[2].varying then
    local fixed, rest = factors(node[1])
    return (fixed or expr.const(1)) / node[2], rest
  end
  return nil, node
end

-- Whether a node is x - mean(x), which has no sum.
local function is_centred(node)
  local a, b = node[1], node[2]
  return node.op == "sub" and a.varying and rawequal(b, expr.sum(a) / expr.leaf("count", "count"))
end

-- The sum over a row, or nil for 0. What stays the same goes in front, so that the sums of a gradient
-- are known after as few passes as may be.
local function gather(node)
  if node.op == "add" or node.op == "sub" then
    if is_centred(node) then
      return nil
    end
    local a, b = gather(node[1]), gather(node[2])
    if node.op == "sub" then
      b = b and -b
    end
    return a and b and a + b or a or b
  end
  local fixed, rest = factors(node)
  local sum = expr.leaf("count", "count")
  if rest and is_centred(rest) then
    return nil
  elseif rest and (rest.op == "add" or rest.op == "sub") then
    sum = gather(rest)
  elseif rest then
    sum = expr.sum(rest)
  end
  return fixed and sum and fixed * sum or sum
end

-- What a node gets from those that use it: from uses at each point, where it stays the same over a
-- row itself, their sum; nil for nothing.
local function total(node, contributions)
  local at_points, once
  for _, c in ipairs(contributions) do
    if c.at_points and not node.varying then
      at_points = at_points and at_points + c.node or c.node
    else
      once = once and once + c.node or c.node
    end
  end
  at_points = at_points and gather(at_points)
  return at_points and once and at_points + once or at_points or once
end

-- outputs: { node, derivative, whole }: whole where there is one at each point. Returns the
-- derivative by each of the leaves that has one, by leaf. fail(op) is called for an operation that
-- has no derivative.
function gradient.of(outputs, leaves, fail)
  local depends, order, roots = {}, {}, {}
  for _, leaf in ipairs(leaves) do
    depends[leaf] = true
  end
  for i, output in ipairs(outputs) do
    roots[i] = output.node
  end
  expr.visit(roots, function(node)
    for i = 1, #node do
      depends[node] = depends[node] or node.op ~= "detach" and depends[node[i]]
    end
    order[#order + 1] = node
  end)
  local contributions = {}
  local function give(node, value, at_points)
    contributions[node] = contributions[node] or {}
    table.insert(contributions[node], { node = value, at_points = at_points })
  end
  for _, output in ipairs(outputs) do
    give(output.node, output.derivative, output.whole)
  end
  local found = {}
  for i = #order, 1, -1 do
    local node = order[i]
    if depends[node] and contributions[node] then
      local g = total(node, contributions[node])
      found[node] = g
      if g and #node > 0 then
        local rule = rules[node.op] or fail(node.op)
        for k, value in pairs(rule(node, g, node[1], node[2], node[3])) do
          if value and depends[node[k]] then
            give(node[k], value, node.varying)
          end
        end
      end
    end
  end
  local result = {}
  for _, leaf in ipairs(leaves) do
    result[leaf] = found[leaf]
  end
  return result
end

return gradient
