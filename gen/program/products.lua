-- The products of operands in what a stream computes (stream.lua), in one form: so that what a gradient was made of,
-- and what it needs, are the same sums.

local contraction = require "contraction"
local expr = require "expr"
local steps = require "steps"
local text = require "text"

local products = {}

-- The product of a list of factors, 1 of none.
function products.of(list)
  local product
  for _, node in ipairs(list) do
    product = product and product * node or node
  end
  return product or expr.const(1)
end

-- The factors of a sum's term that vary over what it sums, a function that makes of the sum of their product that of
-- the term, and how many others there are. A sum of nothing is 0, whatever the others would be.
function products.taken_out(sum)
  local inside, around = steps.factors_of(sum[1], function(node)
    return node.axes & sum.k == 0
  end)
  return inside, function(node, rewrite)
    local scaled = steps.scaled(node, text.map(around, function(factor)
      return { node = rewrite and rewrite(factor.node) or factor.node, divides = factor.divides }
    end))
    return #around > 0 and expr.select(expr.gt(expr.count(sum.k), 0), scaled, 0) or scaled
  end, #around
end

-- Whether a reduction is under a node.
function products.is_reduced(node)
  local found = false
  expr.visit({ node }, function(n)
    found = found or expr.reduces(n)
  end)
  return found
end

-- Whether a node is the sum of a product of operands, for which nothing was reduced.
function products.is_product(node)
  return contraction.factors(node) and not products.is_reduced(node[1])
end

local function by_id(a, b)
  return a.id < b.id
end

-- The sum of a product, whose factors are put in one order.
local function sum_of(list, over)
  table.sort(list, by_id)
  return expr.sum(products.of(list), over)
end

-- Takes out of a product what does not vary over its terms, where that was reduced: it is a factor of rows. A number,
-- or an operand, stays in the sum, for steps.part knows what to make of it.
local function part_product(sum)
  local inside, outside, around = products.taken_out(sum)
  if products.is_reduced(products.of(inside)) then
    return sum
  elseif products.is_reduced(sum[1]) then
    return sum_of(inside, sum.k) * outside(expr.const(1))
  end
  return around > 0 and sum or sum_of(inside, sum.k)
end

-- The sum over e of x * (the sum over t of w * v), of which w lacks e and v has both: the sum over t of w times a
-- product of x and v, where there is such a product already. known: the products by themselves.
local function turn(sum, known)
  local inside, outside = products.taken_out(sum)
  local inner, alone = nil, {}
  for _, factor in ipairs(inside) do
    if not inner and contraction.factors(factor) and products.is_reduced(factor[1]) and factor.k & sum.k == 0 then
      inner = factor
    else
      alone[#alone + 1] = factor
    end
  end
  if not inner then
    return sum
  end
  local left = {}
  local factors, scaled = products.taken_out(inner)
  for _, factor in ipairs(factors) do
    local list = factor.axes & sum.k == 0 and left or alone
    list[#list + 1] = factor
  end
  local product = sum_of(alone, sum.k)
  return known[product] and outside(scaled(expr.sum(products.of(left) * product, inner.k))) or sum
end

-- The nodes of some values with their products in one form.
function products.parted(values)
  local memo, known = {}, {}
  local nodes = text.map(values, function(value)
    return expr.rewrite(value.node, {
      sum = function(node, args)
        local sum = expr.make("sum", args, node.k)
        return contraction.factors(sum) and part_product(sum) or sum
      end,
    }, memo)
  end)
  expr.visit(nodes, function(node)
    known[node] = products.is_product(node) or nil
  end)
  memo = {}
  return text.map(nodes, function(root)
    return expr.rewrite(root, {
      sum = function(node, args)
        return turn(expr.make("sum", args, node.k), known)
      end,
    }, memo)
  end)
end

return products
