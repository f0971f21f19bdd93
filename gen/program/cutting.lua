-- Where what an op computes is cut into runs (sequence.lua): the factors of products, what is reduced beside a tile,
-- and what is made of products. These are methods of what makes the runs, which has
--
--   op            the op
--   is_computed   the nodes that runs have computed, a set
--   brought_for   by a factor that is cut, the product that it is brought for

local axes = require "axes"
local contraction = require "contraction"
local expr = require "expr"

local cutting = {}

-- The factors of a sum's term, and what divides them. splits: whether a quotient of the axes of what it divides is no
-- factor, but its two sides are.
function cutting.factors_of(node, list, splits)
  if node.op == "mul" then
    cutting.factors_of(node[1], list, splits)
    cutting.factors_of(node[2], list, splits)
  elseif node.op == "neg" then
    cutting.factors_of(node[1], list, splits)
  elseif node.op == "div" and (splits or node[1].op == "mul") then
    cutting.factors_of(node[1], list, splits)
    list[#list + 1] = node[2]
  else
    list[#list + 1] = node
  end
  return list
end

-- Walks down from some nodes, each once, to those that are computed; into(node) says whether also to what it is made
-- of.
function cutting:walk(nodes, into)
  local seen = {}
  local function visit(node)
    if not seen[node] and not self.is_computed[node] then
      seen[node] = true
      for i = 1, into(node) and #node or 0 do
        visit(node[i])
      end
    end
  end
  for _, node in ipairs(nodes) do
    visit(node)
  end
end

-- Whether something has to be reduced for a node.
function cutting:is_reduced(node)
  local found = false
  self:walk({ node }, function(n)
    found = found or expr.reduces(n)
    return not found
  end)
  return found
end

-- Whether a product has the nth of its factors ready made: one that is read elsewhere, or made of places, where tiles
-- use each of its elements more than once, and each of the others.
function cutting:is_brought(product, factors, nth)
  local factor, others, asks = factors[nth], 0, false
  for i, other in ipairs(factors) do
    others = others | (i ~= nth and other.axes or 0)
  end
  self:walk({ factor }, function(node)
    asks = asks or expr.asks_for_place(node)
    return not asks
  end)
  return asks and product.axes & ~factor.axes ~= 0 and product.axes & ~others ~= 0
end

-- Whether the axes that a product sums over lie apart in an operand that is a factor: that makes of each of them a loop
-- around products, which may be of few terms.
function cutting:is_scattered(product, factor)
  local runs, was_summed = 0, false
  for _, operand in ipairs(factor.op == "input" and self.op.operands or {}) do
    for _, place in ipairs(operand.name == factor.name and operand.dim_index or {}) do
      local is_summed = product.k & axes.at(place) ~= 0
      runs, was_summed = runs + (is_summed and not was_summed and 1 or 0), is_summed
    end
  end
  return runs > 1
end

-- The factors of a product that are brought for it: what is_brought says, and beside one of these those whose axes are
-- scattered.
function cutting:brought_factors(product, factors)
  local brought, any = {}, false
  for i, factor in ipairs(factors) do
    brought[i] = not self:is_reduced(factor) and self:is_brought(product, factors, i)
    any = any or brought[i]
  end
  for i, factor in ipairs(factors) do
    brought[i] = brought[i] or any and self:is_scattered(product, factor)
  end
  return brought
end

-- The factors of products in some nodes that is_cut(factor) tells to be cut, of those for which something is reduced or
-- that have to be brought. splits: as in factors_of.
function cutting:cut_factors(nodes, splits, is_cut)
  local found, is_known = {}, {}
  self:walk(nodes, function(node)
    local is_open = not is_known[node]
    local factors = is_open and contraction.factors(node) and cutting.factors_of(node[1], {}, splits) or {}
    local brought = self:brought_factors(node, factors)
    for i, factor in ipairs(factors) do
      if not is_known[factor] and (brought[i] or self:is_reduced(factor)) and is_cut(factor) then
        is_known[factor], found[#found + 1] = true, factor
        self.brought_for[factor] = self.brought_for[factor] or brought[i] and node or nil
      end
    end
    return is_open
  end)
  return found
end

-- The reductions below some nodes, of a tile's rows or columns alone, for which nothing of the tile is needed; and a
-- set of these and of such among the nodes.
function cutting:beside_tile(nodes, tile)
  local found, all, is_root = {}, {}, {}
  for _, node in ipairs(nodes) do
    is_root[node] = true
  end
  self:walk(nodes, function(node)
    local is_beside = expr.reduces(node) and node.axes & ~tile == 0
    self:walk(is_beside and { node } or {}, function(under)
      is_beside = is_beside and under.axes & tile ~= tile
      return is_beside
    end)
    all[node] = is_beside or nil
    found[#found + 1] = is_beside and not is_root[node] and node or nil
    return not is_beside or is_root[node]
  end)
  return found, all
end

local function size_of(set)
  return #axes.indexes(set)
end

-- The axes of products in some nodes over which these are reduced in part: those of most axes first.
function cutting:tiles_in(nodes)
  local sets, known = {}, {}
  self:walk(nodes, function(above)
    self:walk(expr.reduces(above) and { above[1] } or {}, function(node)
      if contraction.factors(node) and above.k & ~node.axes == 0 and not known[node.axes] then
        known[node.axes], sets[#sets + 1] = true, node.axes
      end
      return true
    end)
    return true
  end)
  table.sort(sets, function(a, b)
    if size_of(a) ~= size_of(b) then
      return size_of(a) > size_of(b)
    end
    return a < b
  end)
  return sets
end

-- Whether a value is made of a product at each of its points, with nothing reduced after that.
function cutting:is_of_products(value)
  local found = false
  self:walk({ value }, function(node)
    found = found or contraction.factors(node) ~= nil and node.axes == value.axes
    return not expr.reduces(node)
  end)
  return found and value.type == "r"
end

return cutting
