-- Splits what an op computes at its sums into steps: passes over some axes each, one launch on a GPU, one after the
-- other, with what is kept between them in a workspace. For ops that are contractions: pattern.lua.
--
--   record.steps[i]        what is computed from the operands and the temporaries of earlier steps:
--     .name                  "step1"
--     .over, .axes           sets: the axes that it sums over, and the axes of its results
--     .a, .b                 graphs whose product it sums; b is the constant 1 where nothing is left for it
--     .meet                  what it sums in place of the product, nil where it is that: { node, a, b, own }, a graph
--                            with leaves "result" of the names a and b, and "own" for the graph own, whose value at a
--                            point of the result is the same for all terms; nil for none
--     .batch .m .n .k        lists of runs, outermost first: axes that both factors have and the result too; that of
--                              both a alone has; b alone; and those that are summed over, which one factor may lack
--     .leaf                  the leaf "result": what the sum comes to at a point, in the graphs of the values
--     .values                { operand, node }: outputs and temporaries with a value at each point of `axes`
--     .operands              those of a, b and values, in their order in record.operands
--   record.temporaries     { name, axes, dims, dim_index, temporary = true }: in the type that is computed in.
--                          is_factor: of one that only factors are, as it is, which variants may round to the op's type
--   record.operands        the op's, then the temporaries
--   record.products        { sum, factor, other, reads_all = true }: the sums of such factors as the op's values have
--                          them, and what stands beside these in their terms
--
-- A run is a list of places in the op's dimensions that lie together in every operand of the step that has them, in
-- that order, so that they count as one dimension: steps.stride. The innermost axis of what a step stores is in n,
-- or in batch where both factors have it.
--
-- Graphs have the leaves "input" (an operand or temporary), "scalar", "points" and "result".

local axes = require "axes"
local expr = require "expr"
local text = require "text"

local steps = {}

local most_factors = 10 -- that are parted in all ways

-- The places of a set, in the order of some operand's dimensions as far as it has them.
function steps.places_of(set, order)
  local list, seen = {}, 0
  local function add(place)
    local axis = axes.at(place)
    if set & axis ~= 0 and seen & axis == 0 then
      list[#list + 1] = place
      seen = seen | axis
    end
  end
  for _, place in ipairs(order) do
    add(place)
  end
  for place = 1, 62 do
    add(place)
  end
  return list
end

local function count_of(set)
  local count = 0
  while set ~= 0 do
    count, set = count + 1, set & set - 1
  end
  return count
end

-- A function that gives names of temporaries, which none of an op's operands has: a word, "temporary" where it is left
-- out, and a number.
function steps.namer(op, word)
  word = word or "temporary"
  local count, taken = 0, text.map(op.operands, function(operand)
    return operand.name
  end)
  return function()
    repeat
      count = count + 1
    until not text.contains(taken, word .. count)
    return word .. count
  end
end

-- ---- the two factors of a term -------------------------------------------------------------------------------

local plain_leaves = { const = true, scalar = true, points = true }

-- Whether a node is a plain number: made of constants, scalars and numbers of points.
local function is_plain(node)
  local plain = true
  expr.visit({ node }, function(n)
    plain = plain and (#n > 0 and not expr.reduces(n) or plain_leaves[n.op])
  end)
  return plain
end

-- The factors of a term, in the order of a walk through its products, and those that is_apart tells to be apart: for
-- steps.scaled. A quotient is one factor, for (a * b) / c may be finite where a / c is not.
function steps.factors_of(term, is_apart)
  local factors, plain = {}, {}
  local function walk(node)
    if is_apart(node) then
      plain[#plain + 1] = { node = node }
    elseif node.op == "mul" then
      walk(node[1])
      walk(node[2])
    elseif node.op == "neg" then
      plain[#plain + 1] = { node = expr.const(-1) }
      walk(node[1])
    elseif node.op == "div" and is_apart(node[2]) then
      walk(node[1])
      plain[#plain + 1] = { node = node[2], divides = true }
    else
      factors[#factors + 1] = node
    end
  end
  walk(term)
  return factors, plain
end

-- What the factors that are apart make of the sum of the others' products.
function steps.scaled(node, plain)
  for _, number in ipairs(plain) do
    node = number.divides and node / number.node or node * number.node
  end
  return node
end

-- The product of those factors of a term that are `wanted` by their number, as the term puts them together; nil for
-- none.
local function gather(term, wanted)
  local at = 0
  local function walk(node)
    if is_plain(node) then
      return nil
    elseif node.op == "mul" then
      local left, right = walk(node[1]), walk(node[2])
      return left and right and left * right or left or right
    elseif node.op == "neg" or node.op == "div" and is_plain(node[2]) then
      return walk(node[1])
    end
    at = at + 1
    return wanted[at] and node or nil
  end
  return walk(term)
end

-- Parts a sum's term into two factors, of which neither has more axes than need be; one may be the constant 1, and is
-- where the term is left whole. Plain numbers are left for the sum: scaled(node) is what they make of it.
function steps.part(sum, whole)
  local term = sum[1]
  if whole then
    return expr.const(1), term, function(result)
      return result
    end
  end
  local factors, plain = steps.factors_of(term, is_plain)
  local best
  local ways = #factors <= most_factors and 1 << math.max(#factors - 1, 0) or 1
  for way = 0, ways - 1 do -- the bits say which factors after the first are b's
    local set_a, set_b = factors[1] and factors[1].axes or 0, 0
    for i = 2, #factors do
      if way & 1 << i - 2 ~= 0 then
        set_b = set_b | factors[i].axes
      else
        set_a = set_a | factors[i].axes
      end
    end
    local score = {
      math.max(count_of(set_a), count_of(set_b)), count_of(set_a & set_b & ~sum.k), way == 0 and 1 or 0,
      count_of(set_a) + count_of(set_b),
    }
    local better = not best
    for i, value in ipairs(best and score or {}) do
      if value ~= best.score[i] then
        better = value < best.score[i]
        break
      end
    end
    best = better and { score = score, way = way } or best
  end
  local in_a, in_b = {}, {}
  for i = 1, #factors do
    local of_b = i > 1 and best.way & 1 << i - 2 ~= 0
    in_a[i], in_b[i] = not of_b, of_b
  end
  return gather(term, in_a) or expr.const(1), gather(term, in_b) or expr.const(1), function(result)
    return steps.scaled(result, plain)
  end
end

-- ---- what two values come to ---------------------------------------------------------------------------------

-- The sets of axes, of all but those summed over, that a term's operands have on either side, so that each operand that
-- varies over terms has some of one side alone besides those that all have; nil where there are no two.
local function sides_of(term, over)
  local sets, all = {}, ~0
  expr.visit({ term }, function(node)
    if node.op == "input" and node.axes & over ~= 0 then
      sets[#sets + 1] = node.axes & ~over
      all = all & sets[#sets]
    end
  end)
  local left, grown = 0, true
  while grown do
    grown = false
    for _, set in ipairs(sets) do
      local own = set & ~all
      if own & ~left ~= 0 and (left == 0 or own & left ~= 0) then
        left, grown = left | own, true
      end
    end
  end
  local right = 0
  for _, set in ipairs(sets) do
    right = right | set & ~all & ~left
  end
  return left ~= 0 and right ~= 0 and { left = left, right = right } or nil
end

-- A term as a value of either side's operands and one of the result make it: { left, right, own, node }, own nil where
-- none of that is; nil where it takes more than these. smallest: of which the value is an operand as it is, a set; else
-- it is whatever is made of that side's alone.
local function met_by(term, over, sides, smallest)
  local memo, values = {}, {}
  local function of(node)
    if memo[node] == nil then
      local has_left, has_right, made = node.axes & sides.left ~= 0, node.axes & sides.right ~= 0, false
      local varies = node.axes & over ~= 0
      local side = not varies and "own" or has_left ~= has_right and (has_left and "left" or "right")
      if is_plain(node) then
        made = node
      elseif side and (not smallest[side] or node.op == "input") then
        made = (values[side] or node) == node and expr.leaf("result", side, "r", node.axes)
        values[side] = values[side] or node
      elseif #node > 0 and (side or has_left and has_right) then
        local args, whole = {}, true
        for i = 1, #node do
          args[i] = of(node[i])
          whole = whole and args[i] ~= false
        end
        made = whole and expr.make(node.op, args, node.k)
      end
      memo[node] = made
    end
    return memo[node]
  end
  values.node = of(term)
  return values.node and values.left and values.right and values
end

-- Parts a term that is no product of two factors into what met_by says; nil where there is no such way.
local function met(term, over)
  local sides, found = sides_of(term, over), nil
  for way = 0, sides and 7 or -1 do
    local smallest = { left = way & 1 ~= 0, right = way & 2 ~= 0, own = way & 4 ~= 0 }
    found = found or met_by(term, over, sides, smallest)
  end
  return found
end

-- ---- what is computed where ----------------------------------------------------------------------------------

-- Why there are no steps for some values, or nil.
local function unable(values)
  local reason
  expr.visit(text.map(values, function(value)
    return value.node
  end), function(node)
    if expr.reduces(node) and node.op ~= "sum" then
      reason = reason or "a reduction other than a sum"
    elseif node.op == "random" or node.op == "index" or node.op == "integer" or expr.asks_for_place(node) then
      reason = reason or "integers, places, scans or random numbers"
    end
  end)
  return reason
end

local splitter = {}
splitter.__index = splitter

-- The number of the last step whose sum a node needs, 0 for none.
function splitter:ready(node)
  if not self.known[node] then
    local last = 0
    for i = 1, #node do
      last = math.max(last, self:ready(node[i]))
    end
    self.known[node] = self.number[node] or last
  end
  return self.known[node]
end

-- Rebuilds a node with other arguments.
local function with_arguments(node, change)
  local args = {}
  for i = 1, #node do
    args[i] = change(node[i])
  end
  return #args == 0 and node or expr.make(node.op, args, node.k)
end

-- A node as a later step reads it: what sums came to is in temporaries.
function splitter:from_before(node)
  local s = self:ready(node)
  if s == 0 then
    return node
  elseif node.type == "r" and node.axes == self.steps[s].axes then
    return self:temporary(node, s)
  elseif not self.before[node] then
    self.before[node] = with_arguments(node, function(argument)
      return self:from_before(argument)
    end)
  end
  return self.before[node]
end

function splitter:temporary(node, s)
  if not self.kept[node] then
    local operand = { name = self.fresh(), axes = node.axes, temporary = true }
    self.temporaries[#self.temporaries + 1] = operand
    self.kept[node], self.held[operand] = expr.leaf("input", operand.name, "r", node.axes), node
    table.insert(self.steps[s].values, { operand = operand, node = self:in_step(node, s) })
  end
  return self.kept[node]
end

-- A node as a value of step s, whose sum it has.
function splitter:in_step(node, s)
  local step = self.steps[s]
  if rawequal(node, step.sum) then
    return step.scaled(step.leaf)
  elseif self:ready(node) < s then
    return self:from_before(node)
  elseif not step.inside[node] then
    step.inside[node] = with_arguments(node, function(argument)
      return self:in_step(argument, s)
    end)
  end
  return step.inside[node]
end

-- ---- how the axes lie ----------------------------------------------------------------------------------------

-- Whether two runs are of the same places; not where one is none.
function steps.is_same_run(run, other)
  return run and other and table.concat(run, " ") == table.concat(other, " ")
end

-- The places of a set, in some order as far as that has them, as runs: those that follow each other in every operand
-- that has one of them are one.
function steps.runs(set, order, operands)
  local places = steps.places_of(set, order)
  local function joined(p, q)
    for _, operand in ipairs(operands) do
      local at
      for i, place in ipairs(operand.dim_index) do
        at = place == p and i or at
      end
      local has_q = operand.axes & axes.at(q) ~= 0
      if (at ~= nil) ~= has_q or at and operand.dim_index[at + 1] ~= q then
        return false
      end
    end
    return true
  end
  local runs = {}
  for i, place in ipairs(places) do
    if i > 1 and joined(places[i - 1], place) then
      table.insert(runs[#runs], place)
    else
      runs[#runs + 1] = { place }
    end
  end
  return runs
end

-- The operands of a step, in their order among all of its record.
function steps.operands_of(record, step)
  local used, list = {}, {}
  local roots = { step.a, step.b, step.meet and step.meet.own }
  for _, value in ipairs(step.values) do
    used[value.operand.name], roots[#roots + 1] = true, value.node
  end
  expr.visit(roots, function(node)
    if node.op == "input" then
      used[node.name] = true
    end
  end)
  for _, operand in ipairs(record.operands) do
    list[#list + 1] = used[operand.name] and operand or nil
  end
  return list
end

-- The order of a result's axes, as in its first output, or in the operands that it is made from.
local function order_of(step)
  for _, value in ipairs(step.values) do
    if not value.operand.temporary or value.operand.ordered then
      return value.operand.dim_index
    end
  end
  return {}
end

-- Of several operands the order of dimensions of the one that has most of a set.
function steps.order_in(operands, set)
  local order, most = {}, 0
  for _, operand in ipairs(operands) do
    local count = count_of(operand.axes & set)
    if count > most then
      order, most = operand.dim_index, count
    end
  end
  return order
end

local function lay_out(record, step)
  local order = steps.places_of(step.axes, order_of(step))
  local inner
  for _, place in ipairs(order) do
    local axis = axes.at(place)
    inner = (step.a.axes ~ step.b.axes) & axis ~= 0 and axis or inner
  end
  if inner and step.a.axes & inner ~= 0 then
    step.a, step.b = step.b, step.a
    if step.meet then
      step.meet.a, step.meet.b = step.meet.b, step.meet.a
    end
  end
  step.operands = steps.operands_of(record, step)
  local a, b = step.a.axes, step.b.axes
  local function runs(set, of)
    return steps.runs(set, of, step.operands)
  end
  step.batch, step.m = runs(a & b & ~step.over, order), runs(a & ~b & ~step.over, order)
  step.n = runs(b & ~a & ~step.over, order)
  step.k = runs(step.over, steps.order_in(step.operands, step.over))
end

-- A step for what a node comes to at each point of its axes: the sum of a times b over some.
function splitter:add(node, over, a, b, scaled)
  local step = {
    name = "step" .. #self.steps + 1, over = over, axes = node.axes, values = {}, sum = node, inside = {},
    a = self:from_before(a), b = self:from_before(b), scaled = scaled,
  }
  if self.meets and over ~= 0 and (step.a.op == "const" or step.b.op == "const") then
    local found = met(step.a.op == "const" and step.b or step.a, over)
    if found then
      step.a, step.b = found.left, found.right
      step.meet = { node = found.node, a = "left", b = "right", own = found.own }
    end
  end
  step.leaf = expr.leaf("result", step.name, "r", node.axes)
  self.steps[#self.steps + 1] = step
  self.number[node], self.known[node] = #self.steps, nil
end

-- One that sums nothing.
function splitter:add_points(node)
  self:add(node, 0, expr.const(1), node, function(result)
    return result
  end)
end

local function never()
  return false
end

-- Whether a node reads an operand anywhere.
local function reads(node, operand)
  local found = false
  expr.visit({ node }, function(n)
    found = found or n.op == "input" and n.name == operand.name
  end)
  return found
end

-- The products of a temporary, which holds a node of the op's values; or nil where something reads it besides.
function splitter:products_of(operand, node)
  local list = {}
  for _, step in ipairs(self.steps) do
    for _, value in ipairs(step.values) do
      if reads(value.node, operand) then
        return nil
      end
    end
    for _, factor in ipairs { step.a, step.b } do
      local is_whole = factor.op == "input" and factor.name == operand.name
      if is_whole and text.contains(steps.factors_of(step.sum[1], never), node) then
        local other = expr.rewrite(step.sum[1], {}, { [node] = expr.const(1) })
        list[#list + 1] = { sum = step.sum, factor = node, other = other, reads_all = true }
      elseif reads(factor, operand) then
        return nil
      end
    end
  end
  return list
end

-- Marks the temporaries that only factors are. Their products.
function splitter:mark_factors()
  local list = {}
  for _, operand in ipairs(self.temporaries) do
    local found = self:products_of(operand, self.held[operand])
    operand.is_factor = found ~= nil
    for _, product in ipairs(found or {}) do
      list[#list + 1] = product
    end
  end
  return list
end

-- The record of some values { operand, node } of an op, or nil and why there is none. Nodes are made in the graph of
-- the values. how: points, whether values of no sum are steps too; stored, whether what is summed is stored before;
-- meets, whether a step may sum what it makes of two values that is no product.
function steps.make(op, values, how)
  how = how or {}
  local reason = unable(values)
  if reason then
    return nil, reason
  end
  expr.enter(values[1].node.graph)
  local self = setmetatable({
    steps = {}, temporaries = {}, number = {}, known = {}, kept = {}, held = {}, before = {},
    fresh = steps.namer(op), meets = how.meets,
  }, splitter)
  expr.visit(text.map(values, function(value)
    return value.node
  end), function(node)
    if expr.reduces(node) then
      local term = node[1]
      if how.stored and #term > 0 and not self.number[term] then
        self:add_points(term)
      end
      self:add(node, node.k, steps.part(node, how.stored))
    end
  end)
  for _, value in ipairs(values) do
    local s = self:ready(value.node)
    if s == 0 and how.points then
      self:add_points(value.node)
      s = #self.steps
    end
    if s == 0 or value.operand.axes ~= self.steps[s].axes then
      return nil, string.format("'%s' after its sums", value.operand.name)
    end
    table.insert(self.steps[s].values, { operand = value.operand, node = self:in_step(value.node, s) })
  end
  local record = {
    steps = self.steps, temporaries = self.temporaries, operands = { table.unpack(op.operands) },
    products = self:mark_factors(),
  }
  for _, operand in ipairs(self.temporaries) do
    record.operands[#record.operands + 1] = operand
  end
  for _, step in ipairs(record.steps) do
    for _, value in ipairs(step.values) do
      if value.operand.temporary then
        value.operand.dim_index = steps.places_of(step.axes, order_of(step))
        value.operand.dims = text.map(value.operand.dim_index, function(place)
          return op.dims[place]
        end)
      end
    end
  end
  for _, step in ipairs(record.steps) do
    lay_out(record, step)
    step.sum, step.scaled, step.inside = nil, nil, nil
  end
  return record
end

-- What an operand's index along a run counts by: the places whose sizes are multiplied, none for 1; nil where it does
-- not vary over the run.
function steps.stride(operand, run)
  local last, found = run[#run], nil
  for i, place in ipairs(operand.dim_index) do
    if place == last then
      found = { table.unpack(operand.dim_index, i + 1) }
    end
  end
  return found
end

-- A record of steps of which some brings what its factors read to more points or terms than it has, else false: where
-- each element is of use once, there is nothing for tiles to keep.
function steps.with_reuse(op, record)
  for _, step in ipairs(record and record.steps or {}) do
    local terms, whole = step.axes | step.over, false
    for _, operand in ipairs(op.operands) do
      whole = whole or not operand.output and operand.axes == terms
    end
    if not whole or step.a.op ~= "const" and step.b.op ~= "const" then
      return record
    end
  end
  return false
end

return steps
