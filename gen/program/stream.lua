-- Finds in what an op computes products whose results at rows and columns are only reduced, over the one or over the
-- other: attention and its gradients. Tiles of these results are made again in each pass over them; nothing of their
-- number is ever in memory.
--
--   record.passes[i]   from the operands and the temporaries of earlier passes:
--     .over, .rows       sets: the axes of its columns, which are walked in chunks, and those of its rows
--     .firsts            steps as in steps.lua, of which a has the rows and b the columns: one or two
--     .lasts             steps whose terms are the columns: two at most, or none. a is the leaf "between"; .weight is
--                        the name of what is multiplied by b, .powered whether times the power too
--     .values            { operand = { name }, node }: of the last of firsts: what there is at a row and a column, in
--                        the leaves "result" of all firsts:
--                          "power"    x in e^(x - its largest); none without a peak
--                          of each sum its term, and of each of the lasts its weight; none of these where they are 1
--     .peak              the name of the largest `power` of a row, which the powers are below; nil of none
--     .sums              { name, powered }: of each row the sum of its terms over the columns
--     .gathered          the names of the peak and of the sums
--     .without           how its points tell that they do not count: "power", as the power is -infinity; "zero", as all
--                        values are 0; nil where neither is so
--     .rows_of           { operand, node }: outputs and temporaries with a value for each row
--     .powers            e^(power - peak), whose leaves are of the kind "column"
--   record.steps         the steps of all passes, in their order
--   record.temporaries   { name, axes, dims, dim_index, temporary = true }: of rows, in the type that is computed in
--   record.operands      the op's, then the temporaries
--   record.random        whether there are random numbers
--   record.reads         what the leaves "read", "inside" and "same" of its values stand for, by name: reads.lua
--   record.products      { sum, factor, other }: the lasts as the op's values have them, with their two factors
--   record.leaves_out    whether kernels may leave out points, by places or indexes that say that they do not count
--   record.by_indexes    whether indexes are between the products: how many of its points count is not known
--   record.joined        of languages that can, other passes and their steps (joined.lua); nil where there are none
--   record.widths        the axes that are summed over within products, and those that products over columns add: a set
--   record.masked, record.mask   the axes whose places say which columns count in a row, and a number that is -infinity
--                        where they do not; 0 of none
--
-- The values of lasts and of rows have the leaves "result" and "column": the name of a sum or of the peak.
--
-- A sum over columns of what has e^(x - max(x)) as a factor is gathered as columns come (Milakov and Gimelshein 2018;
-- Rabe and Staats 2021): where a larger x comes, what was gathered is made smaller. Factors that do not vary over the
-- columns are taken out of the sums. What needs another reduction of the results is of a later pass.

local expr = require "expr"
local joined = require "joined"
local move = require "move"
local passes = require "passes"
local products = require "products"
local reads = require "reads"
local steps = require "steps"
local text = require "text"

local stream = {}

local MOST = 2 -- products of one kind in a pass
local MOST_VALUES = 8 -- numbers at each point, which have to have room in a block's memory

-- What tiles find of a point by its places, and the axes of the places that are read under a node.
local by_places = { position = true, whole = true, read = true, inside = true, same = true, below = true,
  random = true }
local function placed(node)
  local found = 0
  expr.visit({ node }, function(n)
    found = found | (n.op == "position" and n.k or 0)
  end)
  return found
end

local function is_placed(node)
  local found = false
  expr.visit({ node }, function(n)
    found = found or by_places[n.op]
  end)
  return found
end

-- ---- which pass has what ------------------------------------------------------------------------------------------

local maker = {}
maker.__index = maker

function maker:fail(reason)
  self.reason = self.reason or reason
end

-- The reductions right under a node: those for which is_wanted(reduction).
local function under(node, is_wanted)
  local found, seen = {}, {}
  local function walk(n)
    if not seen[n] then
      seen[n] = true
      found[#found + 1] = expr.reduces(n) and is_wanted(n) and n or nil
      for i = 1, expr.reduces(n) and 0 or #n do
        walk(n[i])
      end
    end
  end
  walk(node)
  return found
end

-- The reductions right under a node that are no products of operands.
function maker:gathered_under(node)
  return under(node, function(below)
    return not self.is_product[below]
  end)
end

-- The level after those of what was gathered for some nodes.
function maker:after(nodes)
  local last = 0
  for _, node in ipairs(nodes) do
    for _, below in ipairs(self:gathered_under(node)) do
      last = math.max(last, self.term[below].level)
    end
  end
  return last + 1
end

-- What is e^(x - m), where m is the largest x over some axes, or that and what is larger: the maximum and m, else nil.
local function peak_of(node, over)
  local below = node.op == "exp" and node[1].op == "sub" and node[1]
  local function peak_in(m)
    if m.op == "max" then
      return peak_in(m[1]) or peak_in(m[2])
    end
    return m.op == "maximum" and m.k == over and rawequal(below[1], m[1]) and m or nil
  end
  local peak = below and below[2].axes & over == 0 and peak_in(below[2])
  return peak or nil, peak and below[2]
end

-- What a sum of powers below a peak is below m. It is NaN where infinity was subtracted from itself at each of some
-- points: those were gathered as nothing.
local function sum_below(sum, peak, m)
  local scaled = rawequal(m, peak) and sum or sum * expr.select(expr.eq(peak, m), 1, expr.exp(peak - m))
  return expr.select(expr.all_of(expr.eq(m, -math.huge), expr.gt(expr.count(peak.k), 0)), 0 / 0, scaled)
end

-- Whether a node is NaN where a power is at some point: the sum of that power alone is under it.
local arithmetic = { add = true, sub = true, mul = true, div = true, neg = true }
local function has_sum_of(node, power, over)
  if node.op == "sum" and node.k == over then
    local inside = products.taken_out(node)
    return #inside == 1 and rawequal(inside[1], power)
  end
  local found = false
  for i = 1, arithmetic[node.op] and #node or 0 do
    found = found or has_sum_of(node[i], power, over)
  end
  return found
end

-- The powers below a peak that a choice leaves out of a sum, which is divided by the sum of all: the choice becomes a
-- factor, so that one pass has both sums. Where a power is NaN the quotient is, whatever is chosen.
local function with_choices_apart(nodes)
  local memo = {}
  local function apart(sum, divisor)
    local inside, outside = products.taken_out(sum)
    for i, factor in ipairs(inside) do
      local otherwise = factor.op == "select" and factor[3]
      local is_left_out = otherwise and otherwise.op == "const" and otherwise.value == 0
      if is_left_out and peak_of(factor[2], sum.k) and has_sum_of(divisor, factor[2], sum.k) then
        inside[i] = expr.select(factor[1], 1, 0)
        table.insert(inside, factor[2])
        return outside(expr.sum(products.of(inside), sum.k))
      end
    end
    return sum
  end
  return text.map(nodes, function(root)
    return expr.rewrite(root, {
      div = function(_, args)
        return expr.make("div", { args[1].op == "sum" and apart(args[1], args[2]) or args[1], args[2] })
      end,
    }, memo)
  end)
end

-- Finds the level of a reduction, and the factors of its term: { level, peak, inside, outside }.
function maker:parse(node)
  local term = { inside = { node[1] }, level = self:after { node[1] } }
  if node.op == "sum" then
    local inside, outside = products.taken_out(node)
    local others, peak, largest = {}, nil, nil
    for _, factor in ipairs(inside) do
      local of, m = peak_of(factor, node.k)
      of = not peak and of
      peak, largest = peak or of or nil, of and m or largest
      others[#others + 1] = not of and factor or nil
    end
    term = { inside = inside, outside = outside, level = self:after(inside) }
    local level = peak and math.max(self.term[peak].level, self:after(others))
    if level and level == self.term[peak].level then
      term.peak, term.inside, term.level = peak, others, level
      term.outside = function(leaf, rewrite)
        return outside(rewrite(sum_below(leaf, peak, largest)), rewrite)
      end
    end
  elseif node.op ~= "maximum" then
    self:fail "a reduction other than a sum or a maximum"
  end
  self.term[node] = term
  return term
end

-- The pass over some axes that has the reductions of a level.
function maker:pass_for(level, over)
  local key = level .. " " .. over
  local pass = self.by_key[key]
  if not pass then
    pass = {
      level = level, over = over, rows = self.tile & ~over, nth = #self.passes, firsts = {}, lasts = {}, values = {},
      sums = {}, gathered = {}, rows_of = {}, known_in_tile = {}, known_of_rows = {},
      across = { lasts = {}, weights = {} },
    }
    self.by_key[key] = pass
    self.passes[#self.passes + 1] = pass
  end
  return pass
end

-- Gives each reduction its pass.
function maker:deal(nodes)
  expr.visit(nodes, function(node)
    local is_reduced = node.op == "read" and node[1].op ~= "input"
    if is_reduced or node.op == "hit" or node.op == "pick" or expr.scans(node) or node.type == "n" then
      self:fail "indexes, scans, or what is read elsewhere and no operand"
    end
    self.is_product[node] = products.is_product(node) or nil
  end)
  local function is_product(node)
    return self.is_product[node]
  end
  expr.visit(nodes, function(node)
    if expr.reduces(node) and not is_product(node) and not self.reason then
      for _, product in ipairs(under(node[1], is_product)) do
        self.tile = self.tile or product.axes
        if product.axes ~= self.tile then
          self:fail "products of different axes"
        end
      end
      local level = self:parse(node).level
      if not self.tile or node.k & ~self.tile ~= 0 then
        return self:fail "reductions over other axes than a product's"
      end
      local pass = self:pass_for(level, node.k)
      self.pass_of[node] = pass
      if node.op == "sum" then
        table.insert(node.axes & ~self.tile ~= 0 and pass.lasts or pass.sums, node)
      elseif pass.peak then
        self:fail "more than one maximum"
      else
        pass.peak = node
      end
    end
  end)
end

-- The last of the passes that has a reduction right under a node; nil of none.
function maker:last_under(node)
  local last
  for _, below in ipairs(self:gathered_under(node)) do
    local pass = self.pass_of[below]
    last = (not last or pass.level > last.level) and pass or last
  end
  return last
end

-- ---- what is computed where ---------------------------------------------------------------------------------------

-- A step of one of a pass's lists.
function maker:add(list, made)
  self.count = self.count + 1
  made.name, made.values = "step" .. self.count, made.values or {}
  made.leaf = expr.leaf("result", made.name, "r", made.axes)
  list[#list + 1] = made
  return made
end

-- What a product of operands is in a pass: what is made of a first step's result.
function maker:first(pass, product)
  local a, b, scaled = steps.part(product)
  if a.axes & pass.over ~= 0 then
    a, b = b, a
  end
  if b.axes & pass.over ~= pass.over or a.axes & pass.over ~= 0 or a.axes & ~product.axes & ~product.k ~= 0
    or is_placed(a) or is_placed(b) then -- factors are not told where they are
    self:fail "factors of a product that rows and columns share"
  end
  return scaled(self:add(pass.firsts, { over = product.k, axes = product.axes, a = a, b = b }).leaf)
end

-- The temporary that a pass keeps of a value of its rows.
function maker:temporary(pass, node)
  if not self.kept[node] then
    local name = self.fresh()
    local operand = { name = name, axes = node.axes, temporary = true }
    self.temporaries[#self.temporaries + 1] = operand
    self.kept[node] = expr.leaf("input", name, "r", node.axes)
    table.insert(pass.rows_of, { operand = operand, node = self:of_rows(pass, node) })
  end
  return self.kept[node]
end

-- A node as a pass computes it: at a point, or of a row, where what the pass gathers is known: `own`.
function maker:at(pass, node, own)
  local memo = own and pass.known_of_rows or pass.known_in_tile
  if memo[node] then
    return memo[node]
  elseif self.is_product[node] and not own then
    memo[node] = self:first(pass, node)
    return memo[node]
  elseif not products.is_reduced(node) then
    return node
  end
  local from = self:last_under(node)
  if from and from.level < pass.level and node.axes == from.rows and node.type == "r" then
    memo[node] = self:temporary(from, node)
  elseif #node == 0 or expr.reduces(node) then
    self:fail "values that tiles of the products do not have"
    return node
  else
    local args = {}
    for i = 1, #node do
      args[i] = self:at(pass, node[i], own)
    end
    memo[node] = expr.make(node.op, args, node.k)
  end
  return memo[node]
end

function maker:in_tile(pass, node)
  return self:at(pass, node, false)
end

function maker:of_rows(pass, node)
  return self:at(pass, node, true)
end

-- Takes up what a pass computes at a point under a name; the name, nil where that is 1.
function maker:between(pass, name, node)
  node = self:in_tile(pass, node)
  if node.axes & ~self.tile ~= 0 then
    self:fail "values that tiles of the products do not have"
  end
  if node.op == "const" and node.value == 1 then
    return nil
  end
  table.insert(pass.values, { operand = { name = name }, node = node })
  return name
end

-- A quotient whose divisor alone the rows and columns have is parted: its divisor is one of what they have.
local function divided(factors, tile)
  local others, divisors = {}, {}
  for _, factor in ipairs(factors) do
    local is_apart = factor.op == "div" and factor.axes & ~tile ~= 0 and factor[2].axes & ~tile == 0
    others[#others + 1] = is_apart and factor[1] or factor
    divisors[#divisors + 1] = is_apart and { node = factor[2], divides = true } or nil
  end
  return others, divisors
end

-- The two factors of a product over columns: of values at its points, and of operands.
function maker:factors_of(inside)
  local left, right = {}, {}
  local others, divisors = divided(inside, self.tile)
  for _, node in ipairs(others) do
    local list = node.axes & ~self.tile == 0 and left or right
    list[#list + 1] = node
  end
  left[#left + 1] = #divisors > 0 and steps.scaled(expr.const(1), divisors) or nil
  return products.of(left), products.of(right)
end

-- One of a pass's products over its columns.
function maker:last(pass, node, nth)
  local term = self.term[node]
  local left, right = self:factors_of(term.inside)
  if products.is_reduced(right) or is_placed(right) then
    self:fail "values that tiles of the products do not have"
  end
  local step = self:add(pass.lasts, {
    over = pass.over, axes = node.axes, a = expr.leaf("column", "between", "r", self.tile), b = right,
    weight = self:between(pass, "weight" .. nth, left), powered = term.peak ~= nil,
  })
  pass.known_of_rows[node] = term.outside(step.leaf, function(factor)
    return self:of_rows(pass, factor)
  end)
end

-- What a pass gathers, and its products.
function maker:fill(pass)
  local peak, sums, lasts = pass.peak, pass.sums, pass.lasts
  pass.sums, pass.lasts = {}, {}
  if peak then
    pass.peak = "peak"
    if not self:between(pass, "power", peak[1]) then
      self:fail "the largest of constants"
    end
    pass.known_of_rows[peak] = expr.leaf("column", pass.peak, "r", pass.rows)
    pass.powers = expr.exp(expr.leaf("column", "power", "r", self.tile) - pass.known_of_rows[peak])
    pass.gathered[1] = pass.peak
  end
  for i, sum in ipairs(sums) do
    local name, term = "sum" .. i, self.term[sum]
    self:between(pass, name, products.of(term.inside))
    pass.sums[i] = { name = name, powered = term.peak ~= nil }
    table.insert(pass.gathered, name)
    pass.known_of_rows[sum] = term.outside(expr.leaf("column", name, "r", pass.rows), function(factor)
      return self:of_rows(pass, factor)
    end)
  end
  for i, last in ipairs(lasts) do
    self:last(pass, last, i)
  end
  if #pass.firsts == 0 or #pass.firsts > MOST or #pass.lasts > MOST then
    self:fail(#pass.firsts == 0 and "a reduction of no product" or "more than two products of one kind")
  elseif #pass.values > MOST_VALUES then
    self:fail "more than eight numbers at each point of a product"
  end
end

-- Stores a value where the last of its reductions is.
function maker:store(value, node)
  local pass, set = self:last_under(node), value.operand.axes
  if not pass then
    return self:fail "values of no reduction"
  end
  node = self:of_rows(pass, node)
  if set == pass.rows and node.axes & ~set == 0 then
    table.insert(pass.rows_of, { operand = value.operand, node = node })
    return
  end
  local of = {}
  for _, step in ipairs(pass.lasts) do
    expr.visit({ node }, function(n)
      of[#of + 1] = rawequal(n, step.leaf) and step or nil
    end)
  end
  if #of ~= 1 or of[1].axes ~= set or node.axes & ~set ~= 0 then
    return self:fail "values that tiles of the products do not have"
  end
  table.insert(of[1].values, { operand = value.operand, node = node })
end

-- ---- the record ---------------------------------------------------------------------------------------------------

-- By what a pass's points tell that they do not count: by "power" where all that is gathered is below the peak, by
-- "zero" where there is none; else nil.
local function without(pass)
  local powered = pass.peak ~= nil
  for _, list in ipairs { pass.sums, pass.lasts } do
    for _, of in ipairs(list) do
      powered = powered and of.powered
    end
  end
  return powered and "power" or not pass.peak and "zero" or nil
end

-- A number that is -infinity where masks make a product 0, and else the one given; nil of neither.
local function none_where_zero(product, number)
  local masks = {}
  product = move.unmasked(product, masks)
  for _, mask in ipairs(masks) do
    number = expr.select(mask, number or 0, -math.huge)
  end
  for i = 1, product.op == "mul" and 2 or 0 do
    number = none_where_zero(product[i], number)
  end
  return number
end

-- What a pass's values read elsewhere becomes leaves: reads.lua. Notes whether there are random numbers.
local function find_elsewhere(record, pass)
  local function apart(values)
    local found = values
    record.random = record.random or passes.has_random(text.map(values, function(value)
      return value.node
    end))
    if #values > 0 then
      found, record.reads = reads.apart(values)
    end
    return found
  end
  pass.values, pass.rows_of = apart(pass.values), apart(pass.rows_of)
  for _, last in ipairs(pass.lasts) do
    last.values = apart(last.values)
  end
end

-- The groups of axes of a pass's steps, which are added to a list, and the operands of each; why they are none for
-- tiles, or nil.
local function lay_out(record, pass, list_of_all)
  local all, shared, inner = {}, 0, pass.firsts[#pass.firsts]
  inner.values = pass.values
  for _, list in ipairs { pass.firsts, pass.lasts } do
    for _, step in ipairs(list) do
      local values = { table.unpack(step.values) }
      table.move(pass.rows_of, 1, step == inner and #pass.rows_of or 0, #values + 1, values)
      step.operands = steps.operands_of(record, { a = step.a, b = step.b, values = values })
      table.move(step.operands, 1, #step.operands, #all + 1, all)
      shared = shared | step.b.axes & pass.rows
      list_of_all[#list_of_all + 1] = step
    end
  end
  local function runs_of(set)
    return steps.runs(set, steps.order_in(all, set), all)
  end
  local order = steps.order_in(all, pass.rows)
  local batch, m = steps.runs(shared, order, all), steps.runs(pass.rows & ~shared, order, all)
  local columns = runs_of(pass.over)
  local alone = #m > 0 and #columns == 1
  for _, step in ipairs(pass.firsts) do
    record.widths = record.widths | step.over
    step.batch, step.m, step.n = batch, m, columns
    step.k = runs_of(step.over)
    alone = alone and #step.k == 1
  end
  for _, step in ipairs(pass.lasts) do
    record.widths = record.widths | step.axes & ~pass.rows
    step.batch, step.m, step.n, step.k = batch, m, runs_of(step.axes & ~pass.rows), columns
    alone = alone and #step.n == 1
  end
  return not alone and "products whose rows, columns or terms do not lie together" or nil
end

-- The products over columns as an op's values have them.
function maker:products_of(values)
  local found = {}
  expr.visit(text.map(values, function(value)
    return value.node
  end), function(node)
    if node.op == "sum" and products.is_reduced(node[1]) then
      local factor, other = self:factors_of((products.taken_out(node)))
      found[#found + 1] = other.op ~= "const" and { sum = node, factor = factor, other = other } or nil
    end
  end)
  return found
end

-- The record of an op's values { operand, node }, or nil and why there is none.
function stream.make(op, values)
  expr.enter(values[1].node.graph)
  local self = setmetatable({
    is_product = {}, term = {}, by_key = {}, passes = {}, pass_of = {}, kept = {}, temporaries = {},
    count = 0, fresh = steps.namer(op),
  }, maker)
  local nodes = with_choices_apart(products.parted(values))
  self:deal(nodes)
  table.sort(self.passes, function(a, b)
    if a.level ~= b.level then
      return a.level < b.level
    end
    return a.nth < b.nth
  end)
  for _, pass in ipairs(not self.reason and self.passes or {}) do
    self:fill(pass)
  end
  for i, value in ipairs(not self.reason and values or {}) do
    self:store(value, nodes[i])
  end
  if self.reason or #self.passes == 0 then
    return nil, self.reason or "no products"
  end
  local record = {
    passes = self.passes, steps = {}, temporaries = self.temporaries, operands = { table.unpack(op.operands) },
    products = self:products_of(values), masked = 0, widths = 0, reads = {},
  }
  for _, operand in ipairs(record.temporaries) do
    operand.dim_index = steps.places_of(operand.axes, steps.order_in(op.operands, operand.axes))
    operand.dims = text.map(operand.dim_index, function(place)
      return op.dims[place]
    end)
    record.operands[#record.operands + 1] = operand
  end
  for _, pass in ipairs(record.passes) do
    pass.without = without(pass)
    if pass.without and record.masked == 0 then
      record.mask = pass.without == "power" and pass.values[1].node or none_where_zero(pass.values[1].node)
      record.masked = record.mask and placed(record.mask) or 0
    end
    for _, value in ipairs(pass.values) do
      expr.visit({ value.node }, function(node)
        record.by_indexes = record.by_indexes or node.op == "whole"
        record.leaves_out = record.leaves_out or pass.without and (node.op == "whole" or node.op == "position")
      end)
    end
    find_elsewhere(record, pass)
    local reason = lay_out(record, pass, record.steps)
    if reason then
      return nil, reason
    end
  end
  record.joined = joined.of(record, function(list, step)
    return self:add(list, step)
  end, lay_out, MOST_VALUES)
  return record
end

return stream
