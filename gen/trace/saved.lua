-- Gradients that read results of the op itself, where the op's spec says so: backward = { reads = { "o" } }. What such
-- a result was made of need not be computed again: what reads the dividend of a quotient reads that times its divisor.
--
-- Of a softmax it is enough to have the logarithm of its sum: with L = m + log(s), where s is made of powers e^(x - m),
-- e^(x - m) / s is e^(x - L). What a gradient does with powers and sums of them stays the same where all of these are
-- divided by s, if it is of degree 0 in them. So the powers become e^(x - L), and s becomes 1. What a mask leaves out,
-- for which x is -infinity, becomes 0 whatever L is.

local expr = require "expr"
local text = require "text"

local saved = {}

local function without_detach(node)
  return node.op == "detach" and without_detach(node[1]) or node
end

-- { m, s } of m + log(s), else nil.
local function logarithm_of_sum(node)
  for i = 1, node.op == "add" and 2 or 0 do
    if node[i].op == "log" then
      return { m = node[3 - i], s = node[i][1] }
    end
  end
end

-- x of e^(x - m), else nil.
local function exponent_over(m, node)
  local below = node.op == "exp" and node[1].op == "sub" and node[1]
  return below and rawequal(below[2], m) and below[1] or nil
end

local function is(node, value)
  return node.op == "const" and node.value == value
end

-- e^(x - logarithm).
local function power(x, logarithm)
  if x.op == "select" and is(x[3], -math.huge) then
    return expr.select(x[1], power(x[2], logarithm), 0)
  elseif x.op == "select" and is(x[2], -math.huge) then
    return expr.select(x[1], 0, power(x[3], logarithm))
  end
  return expr.exp(x - logarithm)
end

local ANY = math.huge -- the degree of 0

-- What a node's degree is by its arguments'; nil: it has none. Of other operations it is 0, if all of those are.
local function same(_, a, b)
  return a == ANY and b or b == ANY and a or a == b and a or nil
end
local degrees = {
  neg = function(_, a) return a end,
  sum = function(_, a) return a end,
  detach = function(_, a) return a end,
  mul = function(_, a, b) return a + b end,
  div = function(_, a, b) return a - b end,
  add = same,
  sub = same,
  select = function(_, mask, a, b) return mask == 0 and same(nil, a, b) or nil end,
}

-- The degree of a node in the powers over m, of which s is made; nil where it has none. memo: by node, false for nil.
local function degree_of(node, sum, memo)
  if memo[node] == nil then
    local known, found = true, {}
    local x = exponent_over(sum.m, node)
    memo[node] = false -- m alone has none
    for i = 1, rawequal(node, sum.m) and 0 or #node do
      found[i] = degree_of(node[i], sum, memo)
      known = known and found[i]
    end
    if rawequal(node, sum.m) then
      return nil
    elseif x then
      memo[node] = degree_of(x, sum, memo) == 0 and 1
    elseif known and degrees[node.op] then
      memo[node] = degrees[node.op](node, table.unpack(found)) or false
    else
      local is_zero = is(node, 0)
      for _, degree in ipairs(found) do
        known = known and degree == 0
      end
      memo[node] = known and (is_zero and ANY or 0)
    end
  end
  return memo[node] or nil
end

-- Notes in memo, for expr.rewrite, what becomes of the powers and the sum that a saved logarithm was made of.
local function note_powers(roots, sum, leaf, memo)
  local degree, is_homogeneous = {}, degree_of(sum.s, sum, {}) == 1
  for node in pairs(memo) do
    degree[node] = 0
  end
  degree[sum.s] = 1
  for _, root in ipairs(roots) do
    local found = degree_of(root, sum, degree)
    is_homogeneous = is_homogeneous and (found == 0 or found == ANY)
  end
  if is_homogeneous then
    memo[sum.s] = expr.const(1)
    expr.visit(roots, function(node)
      local x = exponent_over(sum.m, node)
      memo[node] = x and power(expr.rewrite(x, {}, memo), leaf) or memo[node]
    end)
  end
end

-- Nodes, by name, that read results of an op in the place of what these are made of. results: { node, leaf }.
function saved.read(nodes, results)
  local memo, roots, found = {}, {}, {}
  for _, result in ipairs(results) do
    memo[result.node], memo[without_detach(result.node)] = result.leaf, result.leaf
  end
  for _, node in text.sorted_pairs(nodes) do
    roots[#roots + 1] = node
  end
  for _, result in ipairs(results) do
    local sum = logarithm_of_sum(without_detach(result.node))
    if sum then
      note_powers(roots, sum, result.leaf, memo)
    end
  end
  for _, result in ipairs(results) do
    local quotient = without_detach(result.node)
    if quotient.op == "div" then
      memo[quotient[1]] = result.leaf * expr.rewrite(quotient[2], {}, memo)
    end
  end
  for name, node in text.sorted_pairs(nodes) do
    found[name] = expr.rewrite(node, {}, memo)
  end
  return found
end

return saved
