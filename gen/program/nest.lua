-- What an op computes as nests of loops, for ops that no faster template has a place for: any axes and orders, several
-- reductions, one after the other. Every op has such a program.
--
--   record.steps[i]      a nest, from the operands and the temporaries of earlier steps:
--     .name                "step1"
--     .axes, .over         sets: the axes of its points, and those that it reduces over
--     .scanned, .reverse   of scans: the place that each point goes along, from 1 on, and whether from its end; values
--                            are stored at each place on the way. merges: whether parts of these can be merged
--     .keep, .loops        places of these in the op's dimensions, outermost first; the last of one of them is `along`
--     .along               the place along which most of what the step reads and writes lies side by side; nil of none
--     .gathered            { name, kind, term }: what is gathered of a term over the loops. Of a kind "pick" it is the
--                            term at an index: index is the leaf of that
--     .scans               { name, kind, exclusive, term, factor }: what is kept along that; of recurrences `factor`
--     .values              { operand, node }: outputs and temporaries with a value at each point; or { operand, name }
--                            of one that is an index, which is what was gathered
--     .operands            those that it reads and writes, in their order in record.operands
--     .listed              of sums whose terms count where an index is the point's place along an axis alone: the step
--                            before it that lists them, so that none but these are gone through
--     .spans               of sums, by places of the loops: { low, high }, graphs of the points' places between which
--                            alone terms count; they do not fall along `along`
--   of one that lists places, whose points are the axes that the index has and then that axis:
--     .index, .target      the index, a number, and the place of the axis
--     .places, .ends       temporaries of whole numbers (`integers`): by target, and then in order, the places among
--                            the loops where the index is that; and where those of each target end
--   record.groups[i]     { first, last, axes }: neighbouring steps whose points have these axes in common, so that they
--                        may go through one tile of these after the other; a single step has its own
--   record.temporaries   { name, axes, dims, dim_index, temporary = true }: in the type that is computed in, but for
--                        `integers`, which are whole numbers of 32 bits
--   record.operands      the op's, then the temporaries
--   record.random        whether there are random numbers
--   record.reads         what the leaves "read", "inside" and "same" stand for, by name: reads.lua
--
-- Graphs have the leaves "input" (an operand or temporary), "scalar", "points", "position", "whole" (of an index),
-- those of reads.lua and "column" (what the step gathered, or scanned so far).
-- An index that is wanted at more points than it has is gathered at each of them.

local axes = require "axes"
local expr = require "expr"
local passes = require "passes"
local reads = require "reads"
local reductions_of = require "reductions"
local spans = require "spans"
local steps = require "steps"
local text = require "text"

local nest = {}

-- What is gathered under a node, itself left out; is_read: of scans, whether they are read elsewhere.
local function gathered_below(node)
  local found, seen = { is_read = {} }, {}
  local function walk(n)
    found.is_read[n.op == "read" and n[1] or false] = true
    if not seen[n] then
      seen[n] = true
      if expr.gathers(n) then
        found[#found + 1] = n
        return
      end
      for i = 1, #n do
        walk(n[i])
      end
    end
  end
  for i = 1, #node do
    walk(node[i])
  end
  return found
end

local maker = {}
maker.__index = maker

-- Of a sum at points of a set, where its terms count: { axis, index }, where an index over some loops says so for
-- one of the set's axes. Nil of other reductions, and where that is not known.
local function hit_of(node, set)
  local mask = node.op == "sum" and expr.masked(node[1])
  for _, hit in ipairs(mask and expr.hits(mask) or {}) do
    if hit.axis & set ~= 0 and hit.index.axes & node.k ~= 0 then
      return hit
    end
  end
  return nil
end

-- The step that computes this, made where there is none: those of one kind at the same points, over the same axes,
-- after the same number of others and with the same terms that count (hit, where that is known) are one. scanned: the
-- axis that its points go along, or 0.
function maker:step_for(stage, kind, set, over, scanned, hit)
  local key = string.format("%d %s %d %d %d %s", stage, kind, set, over, scanned,
    hit and hit.index.key .. " " .. hit.axis or "")
  local step = self.by_key[key]
  if not step then
    step = {
      stage = stage, nth = #self.steps, kind = kind, axes = set, over = over, gathered = {}, scans = {}, values = {},
      stored = set | scanned, hit = hit, scanned = scanned ~= 0 and axes.indexes(scanned)[1] + 1 or nil,
    }
    self.by_key[key] = step
    self.steps[#self.steps + 1] = step
  end
  return step
end

-- The step that gathers a node at the points of a set, after the steps that its term needs.
function maker:gather(node, set)
  local key = node.key .. " " .. set
  local stage = 1
  if self.step_of[key] then
    return self.step_of[key]
  end
  for _, below in ipairs(gathered_below(node)) do
    stage = math.max(stage, self:gather(below, below.axes).stage + 1)
  end
  self.named = self.named + 1
  self.step_of[key] = self:add(node, set, stage, expr.scans(node))
  return self.step_of[key]
end

-- Has the step of a stage gather a node, or scan it.
function maker:add(node, set, stage, scan)
  local step
  if scan then
    step = self:step_for(stage, scan.reverse and "scan back" or "scan", set & ~node.k, 0, node.k)
    step.reverse, step.merges = scan.reverse, step.merges ~= false and reductions_of[scan.kind].state ~= nil
    table.insert(step.scans, {
      node = node, name = scan.name .. self.named, kind = scan.kind, exclusive = scan.exclusive,
    })
  elseif node.k == 0 then
    step = self:step_for(stage, "map", set, 0, 0)
  else
    local kind = node.op == "pick" and "pick " .. node[2].name or "reduce"
    step = self:step_for(stage, kind, set, node.k, 0, hit_of(node, set))
    table.insert(step.gathered, { node = node, name = node.op:gsub("imum$", "") .. self.named, kind = node.op })
  end
  return step
end

-- A value of an output: in the last step that gathers for it, where it has the points of the output.
function maker:compute(operand, node)
  local needs, last = gathered_below { node }, nil
  if node.type == "n" then
    local step = self:gather(node, operand.axes)
    table.insert(step.values, { operand = operand, root = node })
    return
  end
  for _, below in ipairs(needs) do
    local step = self:gather(below, below.axes)
    last = (not last or step.stage > last.stage) and step or last
  end
  local fits = last and last.stored == operand.axes
  for _, below in ipairs(fits and needs or {}) do
    local step = self:gather(below, below.axes)
    fits = fits and (step == last and not needs.is_read[below] or step.stage < last.stage)
  end
  local step = fits and last or self:step_for((last and last.stage or 0) + 1, "map", operand.axes, 0, 0)
  table.insert(step.values, { operand = operand, root = node })
end

-- The temporary in which what a step gathered is kept.
function maker:temporary(node)
  local found = self.kept[node]
  if not found then
    local name = self.fresh()
    found = { name = name, axes = node.axes, temporary = true, output = true, called = false }
    self.kept[node] = found
    self.temporaries[#self.temporaries + 1] = found
    local step = self.step_of[node.key .. " " .. node.axes]
    table.insert(step.values, { operand = found, root = node.k == 0 and node[1] or node })
  end
  return found
end

-- A graph in a step: what that gathers is a leaf, and so is what others have kept. is_term: whether the graph is what
-- is gathered.
function maker:in_step(step, root, is_term)
  local memo, own = {}, {}
  for _, list in ipairs(is_term and {} or { step.gathered, step.scans }) do
    for _, gathered in ipairs(list) do
      own[gathered.node] = gathered.name
    end
  end
  for _, node in ipairs(gathered_below { root }) do
    local leaf = own[node] and expr.leaf("column", own[node], "r", node.axes)
    memo[node] = leaf or expr.leaf("input", self:temporary(node).name, "r", node.axes)
  end
  local made
  made, self.reads = reads.apart { { node = expr.rewrite(root, {}, memo) } }
  return made[1].node
end

-- The operands that a step reads and writes, in their order among all.
local function operands_of(record, step)
  local names, roots = {}, {}
  for _, gathered in ipairs(step.gathered) do
    roots[#roots + 1], names[gathered.index and gathered.index.name or false] = gathered.term, true
  end
  roots[#roots + 1] = step.index
  local lists = step.listed or step
  names[lists.ends and lists.ends.name or false], names[lists.places and lists.places.name or false] = true, true
  for _, scan in ipairs(step.scans) do
    roots[#roots + 1], roots[#roots + 2] = scan.term, scan.factor
  end
  for _, value in ipairs(step.values) do
    names[value.operand.name] = true
    roots[#roots + 1] = value.node
  end
  local function note(node)
    names[node.name or false] = true
    if record.reads[node.name] then
      expr.visit({ record.reads[node.name] }, note)
    end
  end
  expr.visit(roots, note)
  local list = {}
  for _, operand in ipairs(record.operands) do
    list[#list + 1] = names[operand.name] and operand or nil
  end
  return list
end

-- The places of a set, with one of them last; the others as in an order, where that is given.
local function with_last(set, last, order)
  local list = {}
  for _, place in ipairs(steps.places_of(set, order or {})) do
    list[#list + 1] = place ~= last and place or nil
  end
  list[#list + 1] = last and set & axes.at(last) ~= 0 and last or nil
  return list
end

-- The order of what a step stores with the most axes, where that is known.
local function order_stored(step)
  local order = {}
  for _, value in ipairs(step.values) do
    local its = value.operand.dim_index or {}
    order = #its > #order and its or order
  end
  return order
end

-- Along which of its axes the most of a step's operands have their elements side by side, those of more axes before
-- others: of two the later, and one of the points before one that is reduced.
local function along_of(step)
  local best, most = nil, 0
  local terms = step.kind == "reduce" and step.over or step.stored & ~step.axes
  for _, set in ipairs { step.listed and 0 or terms & ~axes.set(text.sorted_keys(step.spans)), step.axes } do
    for _, index in ipairs(axes.indexes(set)) do
      local weight = 0
      for _, operand in ipairs(step.operands) do
        local order = operand.dim_index or {}
        weight = weight + (order[#order] == index + 1 and 1 << 2 * #order or 0)
      end
      if weight >= most then
        best, most = index + 1, weight
      end
    end
  end
  return best
end

-- Whether a step gathers the place of a term: the first is found where loops go by their places.
local function finds_index(step)
  for _, gathered in ipairs(step.gathered) do
    if gathered.node.type == "n" then
      return true
    end
  end
  return false
end

-- The step that lists which terms of another count. lists: those that there are, by keys.
local function list_for(record, step, lists, fresh)
  local axis, index = step.hit.axis, step.hit.index
  local around, over = index.axes & step.axes, index.axes & step.over
  local key = ("%s %d %d %d"):format(index.key, axis, around, over)
  if not lists[key] then
    local function temporary(set)
      local made = { name = fresh(), axes = set, temporary = true, output = true, called = false, integers = true }
      record.temporaries[#record.temporaries + 1], record.operands[#record.operands + 1] = made, made
      return made
    end
    lists[key] = {
      kind = "list", axes = around | axis, stored = around | axis, over = over, index = index,
      target = axes.indexes(axis)[1] + 1, places = temporary(around | over), ends = temporary(around | axis),
      gathered = {}, scans = {}, values = {},
    }
  end
  return lists[key]
end

-- Has the steps that lists serve read these, and puts each list in front of the first such step.
local function add_lists(record, fresh)
  local steps_of, lists, is_there = {}, {}, {}
  for _, step in ipairs(record.steps) do
    step.listed = step.hit and list_for(record, step, lists, fresh)
    steps_of[#steps_of + 1] = not is_there[step.listed or false] and step.listed or nil
    is_there[step.listed or false] = true
    steps_of[#steps_of + 1] = step
  end
  record.steps = steps_of
end

-- The spans of a step's loops, of which it goes through these places alone.
local function spans_of(step)
  local terms, found = {}, {}
  for _, gathered in ipairs(step.gathered) do
    if gathered.kind ~= "sum" then
      return found
    end
    terms[#terms + 1] = gathered.node[1]
  end
  for _, index in ipairs(axes.indexes(step.kind == "reduce" and not step.listed and step.over or 0)) do
    found[index + 1] = spans.of(terms, 1 << index, step.axes)
  end
  return found
end

-- Vectors of points go through the places from the first one's span to the last one's: none falls along them.
local function drop_falling(step)
  for index, span in pairs(step.spans) do
    if step.along and not spans.rises(span, axes.at(step.along)) then
      step.spans[index] = nil
    end
  end
end

-- The order of a step's loops, and of the temporaries that it keeps.
local function lay_out(op, record, step)
  local function lie_in(operand, order)
    operand.dim_index = order
    operand.dims = text.map(order, function(place) return op.dims[place] end)
  end
  step.operands = operands_of(record, step)
  if step.kind == "list" then
    step.keep, step.loops = with_last(step.axes, step.target), with_last(step.over)
    local order = with_last(step.axes & ~axes.at(step.target))
    lie_in(step.places, table.move(step.loops, 1, #step.loops, #order + 1, order))
    lie_in(step.ends, step.keep)
    return
  end
  step.spans = spans_of(step)
  step.along = along_of(step)
  drop_falling(step)
  step.keep = with_last(step.axes, step.along, order_stored(step))
  step.loops = with_last(step.over, not finds_index(step) and step.along)
  for _, value in ipairs(step.values) do
    local operand = value.operand
    if operand.temporary and not operand.ordered then
      lie_in(operand, with_last(step.stored, step.along))
    end
  end
end

-- The steps that go through the same tiles: what one reads of those before it in the group is at its own points, and
-- those that reduce have no points besides, each of which one thread would have all terms of.
local function groups_of(record)
  local groups, made = {}, {}
  local function reads_elsewhere(step)
    for _, operand in ipairs(step.operands) do
      for _, node in pairs(made[operand] and record.reads or {}) do
        if node.op == "read" and node[1].name == operand.name then
          return true
        end
      end
    end
  end
  for i, step in ipairs(record.steps) do
    local group = groups[#groups]
    local shared = group and group.axes & step.axes or 0
    local lists = step.kind == "list" or group and record.steps[group.last].kind == "list"
    local reduces = step.kind == "reduce"
    local besides = reduces and shared ~= step.axes or group and group.reduces and shared ~= group.axes
    if shared == 0 or besides or lists or reads_elsewhere(step) then
      group, made = { first = i, axes = step.axes }, {}
      groups[#groups + 1], shared = group, step.axes
    end
    group.reduces = group.reduces or reduces
    group.last, group.axes = i, shared
    for _, value in ipairs(step.values) do
      made[value.operand] = value.operand.temporary or nil
    end
  end
  return groups
end

-- The record of an op's values { operand, node }.
function nest.make(op, values)
  expr.enter(values[1].node.graph)
  local self = setmetatable({
    steps = {}, by_key = {}, step_of = {}, kept = {}, temporaries = {}, named = 0, fresh = steps.namer(op),
  }, maker)
  for _, value in ipairs(values) do
    self:compute(value.operand, value.node)
  end
  table.sort(self.steps, function(a, b)
    if a.stage ~= b.stage then
      return a.stage < b.stage
    end
    return a.nth < b.nth
  end)
  -- From the last on: what a step needs is kept by those before it.
  for i = #self.steps, 1, -1 do
    local step = self.steps[i]
    for _, gathered in ipairs(step.gathered) do
      gathered.term = self:in_step(step, gathered.node[1], true)
      gathered.index = gathered.kind == "pick" and gathered.node[2] or nil
    end
    for _, scan in ipairs(step.scans) do
      scan.term = self:in_step(step, scan.node[#scan.node], true)
      scan.factor = #scan.node > 1 and self:in_step(step, scan.node[1], true) or nil
    end
    for _, value in ipairs(step.values) do
      if value.root.type ~= "n" then
        value.node = self:in_step(step, value.root)
      end
    end
  end
  local record = {
    steps = self.steps, temporaries = self.temporaries, operands = { table.unpack(op.operands) },
    reads = self.reads or {},
  }
  table.move(self.temporaries, 1, #self.temporaries, #record.operands + 1, record.operands)
  add_lists(record, self.fresh)
  for i, step in ipairs(record.steps) do
    step.name = "step" .. i
    for _, value in ipairs(step.values) do
      for _, gathered in ipairs(value.node and {} or step.gathered) do
        value.name = gathered.node == value.root and gathered.name or value.name
      end
    end
    lay_out(op, record, step)
  end
  record.groups = groups_of(record)
  record.random = passes.has_random(text.map(values, function(value)
    return value.node
  end))
  return record
end

return nest
