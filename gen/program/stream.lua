-- Finds in what an op computes two products with reductions between them over one axis, which is walked in chunks: the
-- columns of the first product are the terms of the second (attention). Nothing of that size is ever in memory.
--
--   record.steps      { first, second }, as in steps.lua, but for what is between them. The first has its rows in a,
--                     the second in what is between; both have the same batch and m. n of the first is k of the second
--   record.peak       the name of the largest `power` of a row, which the powers are below; nil of none
--   steps[1].values   { operand = { name }, node }: what a column of the first product comes to in each row, which is
--                     never in memory, in the leaf "result":
--                       "power"    x in e^(x - its largest); none without a peak
--                       "weight"   what is multiplied by the second product's b, times that power where powered is set
--                       of each sum its term, likewise; none of these where they are 1
--   record.sums       { name, powered }: of each row the sum of its terms over the columns
--   record.gathered   the names of the peak and of the sums
--   record.rows       { operand, node }: outputs with a value for each row
--   record.powers     e^(power - peak), whose leaves are of the kind "column"
--   record.powered    whether the second product's factor is times the power
--   record.second_product   { sum, factor, other }: the sum that it is, and its two factors, as the op's values have it
--   record.masked   the set of axes whose places say which columns count in a row; 0 of none
--   record.temporaries, record.operands   as in steps.lua; there are no temporaries
--
-- The values of the second step have the leaves "result" and "column": the name of a sum or of the peak.
--
-- A sum over columns of what has e^(x - max(x)) as a factor is gathered as columns come (Milakov and Gimelshein 2018;
-- Rabe and Staats 2021): where a larger x comes, what was gathered is made smaller. Factors that do not vary over the
-- columns are taken out of the sums.

local contraction = require "contraction"
local expr = require "expr"
local steps = require "steps"
local text = require "text"

local stream = {}

-- What is not computed of a point's elements and places alone.
local elsewhere = { random = true, index = true, integer = true, read = true, inside = true, same = true, pick = true }

-- Whether a reduction is under a node, but for what is known as a leaf.
local function is_reduced(node)
  local found = false
  expr.visit({ node }, function(n)
    found = found or expr.reduces(n)
  end)
  return found
end

-- What reductions there are under some values: { product, peak, sums, last }; or nil and what stands against a stream.
local function find(values)
  local found, roots = { sums = {} }, {}
  for i, value in ipairs(values) do
    roots[i] = value.node
  end
  local reason, later = nil, {}
  expr.visit(roots, function(node)
    if elsewhere[node.op] or expr.scans(node) or node.type == "n" then
      reason = reason or "indexes, integers, random numbers, scans or what is read elsewhere"
    elseif contraction.factors(node) and not is_reduced(node[1]) then
      reason = reason or found.product and "more than one product of operands"
      found.product = node
    elseif expr.reduces(node) then
      later[#later + 1] = node
    end
  end)
  for _, node in ipairs(found.product and later or {}) do
    found.over = found.over or node.k
    if node.k ~= found.over or found.over & found.product.axes ~= found.over then
      reason = reason or "reductions over other axes than columns of the product"
    elseif node.op == "maximum" then
      reason = reason or found.peak and "more than one maximum"
      found.peak = node
    elseif node.op ~= "sum" then
      reason = reason or "a reduction other than a sum or a maximum"
    elseif node.axes & ~found.product.axes == 0 then
      found.sums[#found.sums + 1] = node
    else
      reason = reason or found.last and "more than one product after the first"
      found.last = node
    end
  end
  reason = reason or not found.last and "no product after the first"
  return not reason and found or nil, reason
end

-- The factors of a sum's term: { powered, inside, outside(node) }: whether one is e^(x - peak), a list of the others,
-- and what makes of the sum of their products that of the term.
local function parse(sum, peak)
  local made = { powered = false, inside = {} }
  local factors, around = steps.factors_of(sum[1], function(node)
    return node.axes & sum.k == 0
  end)
  for _, node in ipairs(factors) do
    local below = node.op == "exp" and node[1].op == "sub" and node[1]
    if peak and below and rawequal(below[2], peak) and rawequal(below[1], peak[1]) and not made.powered then
      made.powered = true
    else
      table.insert(made.inside, node)
    end
  end
  function made.outside(node, rewrite)
    local scaled = steps.scaled(node, text.map(around, function(factor)
      return { node = rewrite(factor.node), divides = factor.divides }
    end))
    -- A sum of nothing is 0, whatever its factors would be.
    return #around > 0 and expr.select(expr.gt(expr.count(sum.k), 0), scaled, 0) or scaled
  end
  return made
end

local function product_of(list)
  local product
  for _, node in ipairs(list) do
    product = product and product * node or node
  end
  return product or expr.const(1)
end

-- The axes along which the place of a point is read under a node.
local function placed(node)
  local found = 0
  expr.visit({ node }, function(n)
    found = found | (n.op == "position" and n.k or 0)
  end)
  return found
end

-- The record of an op's values { operand, node }, or nil and why there is none.
function stream.make(op, values)
  local found, reason = find(values)
  if not found then
    return nil, reason
  end
  expr.enter(values[1].node.graph)
  local product, last, over = found.product, found.last, found.over
  local rows = product.axes & ~over
  local a, b, scaled = steps.part(product)
  if a.axes & over ~= 0 then
    a, b = b, a
  end
  local first = { name = "step1", over = product.k, axes = product.axes, a = a, b = b, values = {} }
  local second = { name = "step2", over = over, axes = last.axes, values = {} }
  first.leaf = expr.leaf("result", first.name, "r", first.axes)
  second.leaf = expr.leaf("result", second.name, "r", second.axes)
  local record = {
    steps = { first, second }, peak = found.peak and "peak" or nil, sums = {}, gathered = {}, rows = {},
    temporaries = {}, operands = { table.unpack(op.operands) },
  }
  local in_tile = { [product] = scaled(first.leaf) }
  -- Takes up what is computed of a column of the product; false where that is of something else as well.
  local function between(name, node)
    node = expr.rewrite(node, {}, in_tile)
    if node.op ~= "const" or node.value ~= 1 then
      table.insert(first.values, { operand = { name = name }, node = node })
    end
    return node.axes & ~first.axes == 0 and not is_reduced(node)
  end
  local fits = not found.peak or between("power", found.peak[1])
  local memo, left, right = {}, {}, {}
  local function of_row(node)
    return expr.rewrite(node, {}, memo)
  end
  if found.peak then
    memo[found.peak] = expr.leaf("column", record.peak, "r", rows)
    record.powers = expr.exp(expr.leaf("column", "power", "r", first.axes) - memo[found.peak])
    record.gathered[1] = record.peak
  end
  for i, sum in ipairs(found.sums) do
    local term, name = parse(sum, found.peak), "sum" .. i
    fits = fits and between(name, product_of(term.inside))
    record.sums[i] = { name = name, powered = term.powered }
    table.insert(record.gathered, name)
    memo[sum] = term.outside(expr.leaf("column", name, "r", rows), of_row)
  end
  local term = parse(last, found.peak)
  for _, node in ipairs(term.inside) do
    local list = node.axes & ~first.axes == 0 and left or right
    list[#list + 1] = node
  end
  record.powered = term.powered
  fits = fits and between("weight", product_of(left))
  memo[last] = term.outside(second.leaf, of_row)
  second.a, second.b = expr.leaf("column", "between", "r", first.axes), product_of(right)
  local power = term.powered and expr.exp(found.peak[1] - found.peak)
  record.second_product = {
    sum = last, factor = power and product_of { power, table.unpack(left) } or product_of(left), other = second.b,
  }
  fits = fits and not is_reduced(second.b) and placed(a) | placed(b) | placed(second.b) == 0 -- factors are not told
    and b.axes & over == over and a.axes & over == 0 and a.axes & ~first.axes & ~first.over == 0
  for _, value in ipairs(fits and values or {}) do
    local node = of_row(value.node)
    local axes = value.operand.axes
    fits = fits and not is_reduced(node) and node.axes & ~axes == 0 and (axes == second.axes or axes == rows)
    table.insert(axes == rows and record.rows or second.values, { operand = value.operand, node = node })
  end
  if not fits then
    return nil, "values that tiles of the products do not have"
  end
  record.masked = found.peak and #first.values == 1 and placed(first.values[1].node) or 0
  return stream.lay_out(record)
end

-- The groups of axes of both steps.
function stream.lay_out(record)
  local first, second = table.unpack(record.steps)
  local over, rows = second.over, first.axes & ~second.over
  first.operands = steps.operands_of(record, first)
  local stored = { table.unpack(second.values) }
  table.move(record.rows, 1, #record.rows, #stored + 1, stored)
  second.operands = steps.operands_of(record, { a = second.a, b = second.b, values = stored })
  local all = { table.unpack(first.operands) }
  table.move(second.operands, 1, #second.operands, #all + 1, all)
  local order = {}
  for _, value in ipairs(second.values) do
    order = value.operand.axes == second.axes and value.operand.dim_index or order
  end
  local shared = (first.b.axes | second.b.axes) & rows
  local batch, m = steps.runs(shared, order, all), steps.runs(rows & ~shared, order, all)
  local columns = steps.runs(over, steps.order_in(all, over), all)
  local n = steps.runs(second.axes & ~first.axes, order, all)
  local k = steps.runs(first.over, steps.order_in(all, first.over), all)
  for _, step in ipairs { first, second } do
    step.batch, step.m = batch, m
  end
  first.n, first.k, second.n, second.k = columns, k, n, columns
  if #m == 0 or #columns ~= 1 or #n ~= 1 or #k ~= 1 then
    return nil, "products whose rows, columns or terms do not lie together"
  end
  return record
end

return stream
