-- What an op computes as steps over its axes, for references of ops that no other template has a place for: a value
-- that would be computed again and again is held in memory as an array over its own axes, and computed by a step of
-- its own. These are all reductions, and what is dear and lacks axes of what it goes into: y = gelu(sum(x * w, "k") +
-- bias) is a step that sums, and one that finds y. An operand whose elements would be read far apart is held as well,
-- transposed.
--
-- loops.plan(kernel, values) is { held, steps }. held: the arrays in memory, { name, axes } with the axes in
-- their order there. A step goes over the points of its outer axes, and for each over LANES neighbours along the axis
-- `vector` at a time, which the loop inside of all others goes over:
--   vector, outer, over       an axis or nil, and lists: of the step's points, and of its reductions
--   levels                    { type, name, value }, what to declare, by loop: ahead of all; at a point of the outer
--                             axes; in each loop of `over`; "lane"; "place": where a pick's index is one of its axis
--   reductions                { name, kind, term, place, array, at }: a term, its place among the reduction's, and
--                             the element of an array that takes the result
--   picks                     { name, axis, index, term, array, at }: what is at an index of an axis
--   stores                    { name, at, value, integer }: an element of an array or of an output
-- Axes are numbers from 0 on; the index of one is i<axis>.

local axes = require "axes"
local expr = require "expr"
local text = require "text"

local loops = {}

local function bits(axis)
  return axis and 1 << axis or 0
end

-- Where an element is at the indexes of some axes, in their order in memory.
local function place_at(list)
  local at
  for _, axis in ipairs(list) do
    at = at and string.format("(%s * args->dim[%d] + i%d)", at, axis, axis) or "i" .. axis
  end
  return at or "0"
end

-- The place among the points of some axes, which a reduction over them gives or random numbers go by.
local function place_among(set)
  return place_at(axes.indexes(set))
end

-- The number of points of some axes.
local function points_of(list)
  return #list == 0 and "1" or table.concat(text.map(list, function(axis)
    return "args->dim[" .. axis .. "]"
  end), " * ")
end
loops.points_of = points_of

local function is_reduction(node)
  local row = expr.operations[node.op]
  return row and row.reduction
end

-- Operations that take as long as a step through memory.
local cheap = {}
for name in ([[add sub mul neg abs detach select maxraw minraw max min lt le gt ge eq ne unordered all_of any_of negate
  const]]):gmatch "%S+" do
  cheap[name] = true
end
local most_cheap = 3 -- that are as good as one

local function is_dear(node)
  local count, seen = 0, {}
  local function walk(n)
    if #n == 0 or seen[n] then
      return false
    end
    seen[n], count = true, count + 1
    if not cheap[n.op] or count > most_cheap then
      return true
    end
    for i = 1, #n do
      if walk(n[i]) then
        return true
      end
    end
    return false
  end
  return walk(node)
end

local planner = {}
planner.__index = planner

-- Whether a value is held for what goes over these axes.
function planner:is_held(node, full)
  if node.op == "pick" or is_reduction(node) then
    return true
  end
  return #node > 0 and node.type == "r" and node.axes ~= 0 and node.axes ~= full and node.op ~= "random"
    and node.op ~= "hit" and is_dear(node)
end

-- Takes up a value to be held, and all that it is made of; returns the number of the stage that it is known after.
function planner:hold(node)
  if self.stage[node] then
    return self.stage[node]
  end
  local gathers = node.op == "pick" or is_reduction(node)
  self.stage[node] = self:enter {
    node = node, root = gathers and node[1] or node, set = node.axes, over = gathers and node.k or 0,
    kind = node.op == "pick" and "pick" or gathers and "reduce" or "store",
  }
  return self.stage[node]
end

-- The stage of an item, which is after those of all that it needs.
function planner:enter(item)
  local stage, seen = 0, {}
  local function walk(node, is_root)
    if seen[node] then
      return
    end
    seen[node] = true
    if not is_root and self:is_held(node, item.set | item.over) then
      stage = math.max(stage, self:hold(node))
      return
    end
    for i = 1, #node do
      walk(node[i])
    end
  end
  -- What is held itself is not its own source; what a reduction or an output is of may be.
  walk(item.root, item.kind == "store" and not item.operand)
  stage = stage + 1
  local key = string.format("%d %s %d %d", stage, item.kind, item.set, item.over)
  local group = self.groups[key]
  if not group then
    group = { stage = stage, kind = item.kind, set = item.set, over = item.over, order = #self.order, items = {} }
    self.groups[key] = group
    table.insert(self.order, group)
  end
  table.insert(group.items, item)
  return stage
end

-- The arrays in memory ---------------------------------------------------------------------------------------------

function planner:array(list)
  local array = { name = "held" .. #self.held + 1 .. "_", axes = list }
  self.held[#self.held + 1] = array
  return array
end

-- A set's axes with one of them last.
local function with_last(set, last)
  local list = axes.indexes(set & ~bits(last))
  list[#list + 1] = last
  return list
end

-- An operand's axes in their order in memory.
local function order_of(operand)
  return text.map(operand.dim_index, function(place)
    return place - 1
  end)
end

-- Where a leaf or a held value is in memory: its array's name, and its axes in their order there.
function planner:home(node)
  local array = self.arrays[node]
  if array then
    return array.name, array.axes
  end
  return node.name, order_of(self.operands[node.name])
end

local function has(set, axis)
  return set & bits(axis) ~= 0
end

-- The axis that most of a step's sources lie along, of those that its results have; the last of these where none do.
function planner:choose_vector(set, sources)
  local best, most = nil, -1
  for _, axis in ipairs(axes.indexes(set)) do
    local count = 0
    for _, node in ipairs(sources) do
      local _, order = self:home(node)
      count = count + (order[#order] == axis and 1 or 0)
    end
    if count >= most then
      best, most = axis, count
    end
  end
  return best
end

-- A transposed copy of a source in which an axis is the last, where it is read again and again along that axis.
function planner:transpose(node, vector, full)
  local name, order = self:home(node)
  if not vector or not has(node.axes, vector) or order[#order] == vector or node.axes == full then
    return
  end
  local key = name .. " " .. vector
  if not self.transposed[key] then
    local array = self:array(with_last(node.axes, vector))
    local step = self:begin_step { kind = "store", set = node.axes, over = 0, vector = vector }
    step:declare(node, self.kernel:text("load", name, place_at(order)))
    step.stores[1] = { name = array.name, at = place_at(array.axes), value = step.names[node] }
    self.transposed[key] = array
  end
  return self.transposed[key]
end

-- Steps ------------------------------------------------------------------------------------------------------------

local step_class = {}
step_class.__index = step_class

function planner:begin_step(group)
  local vector = group.vector
  local step = setmetatable({
    planner = self, kind = group.kind, vector = vector, outer = axes.indexes(group.set & ~bits(vector)),
    over = group.kind == "reduce" and axes.indexes(group.over) or {}, pick = group.kind == "pick" and group.over or 0,
    levels = { ahead = {}, outer = {}, lane = {}, place = {} }, names = {}, copies = {}, reductions = {}, picks = {},
    stores = {},
  }, step_class)
  for _, axis in ipairs(step.over) do
    step.levels[axis] = {}
  end
  self.steps[#self.steps + 1] = step
  return step
end

-- The innermost loop that a value changes in.
function step_class:level_of(node)
  if node.axes & self.pick ~= 0 then
    return "place"
  elseif self.vector and has(node.axes, self.vector) then
    return "lane"
  end
  for i = #self.over, 1, -1 do
    if has(node.axes, self.over[i]) then
      return self.over[i]
    end
  end
  return node.axes == 0 and "ahead" or "outer"
end

function step_class:declare(node, value)
  local kernel, planner_of = self.planner.kernel, self.planner
  planner_of.serial = planner_of.serial + 1
  self.names[node] = "t" .. planner_of.serial
  table.insert(self.levels[self:level_of(node)], {
    type = node.type == "m" and kernel.mask or kernel.vector, name = self.names[node], value = value,
  })
end

-- The element of an operand that a leaf stands for.
function step_class:element(leaf)
  local name, order = self.planner:home(leaf)
  return self.planner.kernel:text("load", name, place_at(order))
end

-- Declares a value and all that it is made of.
function step_class:compute(node, is_root)
  local from, kernel = self.planner, self.planner.kernel
  local op = node.op
  if self.names[node] or op == "index" or op == "integer" then
    return
  elseif op == "scalar" then
    self.names[node] = node.name
    return
  elseif op == "input" or not is_root and from.arrays[node] then
    local name, order = from:home(node)
    local copy = self.copies[node]
    return self:declare(node, kernel:text("load", copy and copy.name or name, place_at(copy and copy.axes or order)))
  elseif op == "const" then
    return self:declare(node, kernel:constant(node.value))
  elseif op == "tiny" then
    return self:declare(node, kernel:constant(kernel.set.tiny[kernel.dtype]))
  elseif op == "points" then
    return self:declare(node, string.format("(%s)(%s)", kernel.number, points_of(axes.indexes(node.k))))
  elseif op == "hit" then
    return self:declare(node, kernel:text("hit", self:element(node[1]), "i" .. axes.indexes(node.k)[1]))
  elseif op == "random" then
    return self:declare(node, kernel:text("random_at", self:element(node[1]), self:element(node[2]),
      place_among(axes.all(kernel.dims))))
  end
  local names = {}
  for i = 1, #node do
    self:compute(node[i])
    names[i] = self.names[node[i]]
  end
  self:declare(node, kernel:text(op, names[1], names[2], names[3], node.k))
end

-- The items of a group as one step, after those that transpose what it reads.
function planner:make_step(group)
  local full, sources, seen = group.set | group.over, {}, {}
  for _, item in ipairs(group.items) do
    local function walk(node, is_root)
      if seen[node] then
        return
      end
      seen[node] = not is_root
      if not is_root and self.arrays[node] or node.op == "input" then
        sources[#sources + 1] = node
      elseif node.op ~= "hit" and node.op ~= "random" then
        for i = 1, #node do
          walk(node[i])
        end
      end
    end
    walk(item.root, item.kind == "store" and not item.operand)
  end
  group.vector = self:choose_vector(group.set, sources)
  local copies = {}
  for _, node in ipairs(group.over ~= 0 and group.kind == "reduce" and sources or {}) do
    copies[node] = self:transpose(node, group.vector, full)
  end
  local step = self:begin_step(group)
  step.copies = copies
  for _, item in ipairs(group.items) do
    self:put_item(step, item)
  end
end

function planner:put_item(step, item)
  step:compute(item.root, item.kind == "store" and not item.operand)
  local name, array = step.names[item.root], nil
  if not item.operand then
    array = self:array(step.vector and with_last(item.set, step.vector) or {})
    self.arrays[item.node] = array
  end
  local at = place_at(array and array.axes or order_of(item.operand))
  if item.kind == "store" then
    step.stores[#step.stores + 1] = { name = array and array.name or item.operand.name, at = at, value = name,
      integer = item.operand and item.operand.dtype == "i64" }
    return
  end
  local result = { name = item.node.op:gsub("imum$", "") .. #self.held, kind = item.node.op, term = name,
    place = place_among(item.over), array = array.name, at = at }
  if item.kind == "pick" then
    result.axis, result.index = axes.indexes(item.over)[1], step:element(item.node[2])
    table.insert(step.picks, result)
  else
    table.insert(step.reductions, result)
  end
end

-- values: { operand, node } of the outputs.
function loops.plan(kernel, values)
  local self = setmetatable({
    kernel = kernel, operands = {}, stage = {}, groups = {}, order = {}, held = {}, arrays = {},
    transposed = {}, steps = {}, serial = 0,
  }, planner)
  for _, operand in ipairs(kernel.operands) do
    self.operands[operand.name] = operand
  end
  for _, value in ipairs(values) do
    local root = kernel:expand(value.node)
    self:enter { node = root, root = root, set = value.operand.axes, over = 0, kind = "store", operand = value.operand }
  end
  table.sort(self.order, function(a, b)
    if a.stage ~= b.stage then
      return a.stage < b.stage
    end
    return a.order < b.order
  end)
  for _, group in ipairs(self.order) do
    self:make_step(group)
  end
  return { held = self.held, steps = self.steps }
end

return loops
