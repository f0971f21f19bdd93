-- What an op computes as steps over its axes, for its references: a value that would be computed again and again is
-- held in memory as an array over its own axes, and computed by a step of its own. These are all reductions, and what
-- is dear and lacks axes of what it goes into: y = gelu(sum(x * w, "k") + bias) is a step that sums, and one that
-- finds y.
-- An input is widened as it is read, lanes at a time, by a step that reads each element once. Others read a copy, which
-- is transposed where elements would be read far apart.
--
-- loops.plan(kernel, values, reads) is { held, steps }. held: the arrays in memory, { name, axes } with the axes in
-- their order there. A step goes over the points of its outer axes, and for each over `lanes` neighbours along the axis
-- `vector` at a time, which the loop inside of all others goes over:
--   vector, outer, over       an axis or nil, and lists: of the step's points, and of its reductions
--   lanes                     so few where others are read again and again that these stay in the caches
--   set, across               the axes of the step's results, and of its reductions, as sets
--   along                     whether its points go along `vector` first
--   folds                     whether `vector` is one of the reductions, whose lanes are merged at the end
--   once                      whether something is read once, so that each term of a sum is added by itself
--   reads                     { name, operand, at, stride }: lanes of an input, its number among the buffers, where the
--                             first of them is, and how far the next
--   levels                    { type, name, value }, what to declare, by loop: ahead of all; at a point of the outer
--                             axes; in each loop of `over`; "lane"; "place": where a pick's index is one of its axis
--   loops                     those over lanes, one after the other: lists { load, declare, save } of what is declared;
--                             calls have loops of their own, so that compilers make vectors of all else
--   scanned, reverse          the axis that a step of scans goes along, which is in `over` too; whether from its end
--   scans                     { name, kind, exclusive, term, factor, array, at }
--   reductions                { name, kind, term, place, array, at }: a term, of indexes its place among the
--                             reduction's, and the element of an array that takes the result
--   place                     the first of some lanes
--   picks                     { name, term, array, at }: what is at an index among the points of axes, index_over
--   stores                    { name, at, value, integer }: an element of an array or of an output
-- Axes are numbers from 0 on; the index of one is i<axis>.

local axes = require "axes"
local elementary = require "elementary"
local expr = require "expr"
local text = require "text"

local loops = {}

local function bits(axis)
  return axis and 1 << axis or 0
end

-- Where an element is at the indexes of some axes, in their order in memory; instead: by axis, other indexes.
local function place_at(list, instead)
  local at
  for _, axis in ipairs(list) do
    local index = instead and instead[axis] or "i" .. axis
    at = at and string.format("(%s * args->dim[%d] + %s)", at, axis, index) or index
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

-- The number of points of some axes, a set.
function loops.points_among(set)
  return points_of(axes.indexes(set))
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

-- Functions that are called, which no compiler makes vectors of.
local called = { pow = true }
for op in pairs(elementary) do
  called[op] = op ~= "rsqrt"
end

local planner = {}
planner.__index = planner

local function can_be_held(node)
  local is_made = #node > 0 and node.op ~= "random" and node.op ~= "hit" and node.op ~= "whole"
  return is_made and node.type == "r" and node.axes ~= 0 and is_dear(node)
end

-- Whether a value is held for an item. An output takes the place of one that a reduction would compute again.
function planner:is_held(node, item)
  if expr.gathers(node) then
    return true
  end
  if node.axes == item.set | item.over then
    return item.kind == "reduce" and self.outputs[node] ~= nil
  end
  return can_be_held(node)
end

-- Takes up a value to be held, and all that it is made of; returns the number of the stage that it is known after.
function planner:hold(node)
  if not self.stage[node] then
    local is_gathered, output, scan = expr.gathers(node), self.outputs[node], expr.scans(node)
    self.stage[node] = self:enter {
      node = node, root = is_gathered and node[1] or node, set = scan and node.axes & ~node.k or node.axes,
      over = is_gathered and node.k or 0, is_held = true, operand = output and output.operand,
      kind = node.op == "pick" and "pick" or scan and (scan.reverse and "scan back" or "scan")
        or is_gathered and node.k ~= 0 and "reduce" or "store",
      more = scan and node[2] or nil,
    }
  end
  return self.stage[node]
end

-- The stage of an item, after the stages of all that it needs.
function planner:enter(item)
  local stage, seen = 0, {}
  local function walk(node, is_root)
    if seen[node] then
      return
    end
    seen[node] = true
    if not is_root and self:is_held(node, item) then
      stage = math.max(stage, self:hold(node))
      return
    end
    for i = 1, #node do
      walk(node[i])
    end
  end
  -- What is held itself is not its own source; what a reduction or an output is of may be.
  walk(item.root, item.kind == "store" and item.is_held)
  if item.more then
    walk(item.more)
  end
  stage = stage + 1
  local index = item.kind == "pick" and item.node[2].name or ""
  local key = string.format("%s %s %d %d %s", item.is_held and stage or "output", item.kind, item.set, item.over, index)
  local group = self.groups[key]
  if not group then
    group = { stage = stage, kind = item.kind, set = item.set, over = item.over, order = #self.order, items = {} }
    self.groups[key] = group
    table.insert(self.order, group)
  end
  group.stage = math.max(group.stage, stage) -- results of the same points are stored together
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

-- The axis that most of a step's sources lie along, the last of these: of those that are read once, an axis of its
-- results or reductions; without such, one of its results.
function planner:choose_vector(group, sources, once)
  local is_open = group.kind == "reduce" and (#once > 0 or group.set == 0)
  local best, most = nil, -1
  for _, axis in ipairs(axes.indexes(is_open and group.set | group.over or group.set)) do
    local count = 0
    for _, node in ipairs(#once > 0 and once or sources) do
      local _, order = self:home(node)
      count = count + (order[#order] == axis and 1 or 0)
    end
    if count >= most then
      best, most = axis, count
    end
  end
  return best
end

-- The copy of a source that a step reads, or nil where it reads the source itself: an input once, a held value along
-- the axis of the lanes.
function planner:copy(node, vector, full)
  local name, order = self:home(node)
  local lies = not vector or not has(node.axes, vector) or order[#order] == vector
  if node.axes == full or self.arrays[node] and lies then
    return
  end
  local key = name .. " " .. (lies and "" or vector)
  if not self.copies[key] then
    local array = self:array(lies and order or with_last(node.axes, vector))
    local step = self:begin_step { kind = "store", set = node.axes, over = 0, vector = order[#order], turns = not lies }
    step:compute(node)
    step.roots[1] = node
    step.stores[1] = { name = array.name, at = place_at(array.axes), value = step.names[node] }
    step:share_out()
    self.copies[key] = array
  end
  return self.copies[key]
end

-- Steps ------------------------------------------------------------------------------------------------------------

local step_class = {}
step_class.__index = step_class

local function is_scan(group)
  return group.kind == "scan" or group.kind == "scan back"
end

function planner:begin_step(group)
  local vector = group.vector
  local step = setmetatable({
    planner = self, kind = group.kind, vector = vector, set = group.set,
    outer = axes.indexes(group.set & ~bits(vector)), across = group.kind == "reduce" and group.over or 0,
    scanned = is_scan(group) and axes.indexes(group.over)[1], reverse = group.kind == "scan back",
    once = group.once, lanes = (group.once or group.kind ~= "reduce") and 128 or 64,
    along = vector ~= nil and group.kind ~= "reduce" and not is_scan(group) and not group.turns,
    pick = group.kind == "pick" and group.over or 0, levels = { ahead = {}, outer = {}, lane = {}, place = {} },
    roots = {}, loops = {}, names = {}, copies = {}, reads = {}, reductions = {}, picks = {}, scans = {}, stores = {},
    index = false, place = false,
  }, step_class)
  step.folds = vector ~= nil and has(step.across, vector)
  step.over = axes.indexes((step.across | bits(step.scanned)) & ~bits(vector))
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

-- A mask is as wide as a number: compilers make vectors of no others.
function step_class:declare(node, value, is_read)
  local kernel, planner_of = self.planner.kernel, self.planner
  planner_of.serial = planner_of.serial + 1
  self.names[node] = "t" .. planner_of.serial
  local level, is_mask = self.levels[self:level_of(node)], node.type == "m"
  level[#level + 1] = {
    type = is_mask and "int64_t" or kernel.vector, name = self.names[node], node = node, is_read = is_read,
    value = is_mask and "-(int64_t)(" .. value .. ")" or value,
    is_called = called[node.op] and kernel.dtype == "f64" and not is_read,
  }
end

-- Shares what lanes declare out to loops: each value as late as what is made of it lets it. Calls are in odd ones.
function step_class:share_out()
  local list, last, users = self.levels.lane, 0, {}
  local function use(node, line)
    table.insert(users[node] or {}, line)
  end
  local early = {}
  for _, line in ipairs(list) do
    local from = 0
    for i = 1, line.is_read and 0 or #line.node do
      from = math.max(from, early[line.node[i]] or 0)
      use(line.node[i], line)
    end
    early[line.node] = (from + 1) // 2 * 2 + (line.is_called and 1 or 0)
    last, users[line.node] = math.max(last, (early[line.node] + 1) // 2 * 2), {}
  end
  for _, node in ipairs(self.roots) do
    use(node, { at = last })
  end
  for _, line in ipairs(self.levels.place) do
    for i = 1, #line.node do
      use(line.node[i], { at = last })
    end
  end
  for i = 0, last do
    self.loops[i + 1] = { load = {}, declare = {}, save = {} }
  end
  for i = #list, 1, -1 do
    local line, late, later = list[i], last, {}
    for _, user in ipairs(users[line.node]) do
      late = math.min(late, user.at // 2 * 2)
    end
    line.at = line.is_read and -1 or line.is_called and late - 1 or late
    for _, user in ipairs(users[line.node]) do
      later[user.at] = user.at > line.at or nil
    end
    for at in pairs(later) do
      table.insert(self.loops[at + 1].load, line)
    end
    line.array = line.is_read and line.value or line.name .. "_lanes[lane_]"
    if not line.is_read then
      table.insert(self.loops[line.at + 1].declare, line)
      if next(later) then
        table.insert(self.loops[line.at + 1].save, line)
      end
    end
  end
  for _, loop in ipairs(self.loops) do -- users came first
    for i = 1, #loop.declare // 2 do
      local j = #loop.declare + 1 - i
      loop.declare[i], loop.declare[j] = loop.declare[j], loop.declare[i]
    end
  end
end

-- The element of an operand that a leaf stands for.
function step_class:element(leaf)
  local name, order = self.planner:home(leaf)
  return self.planner.kernel:text("load", name, place_at(order))
end

-- What reads a leaf from memory: an array's element, or an input's, which is widened.
function step_class:read(node)
  local from, kernel = self.planner, self.planner.kernel
  local array = self.copies[node] or from.arrays[node]
  if array then
    return kernel:text("load", array.name, place_at(array.axes))
  end
  local order, number = order_of(from.operands[node.name]), from.numbers[node.name]
  if self:level_of(node) ~= "lane" then
    return string.format("reference_one_%s(part, %d, %s)", kernel.dtype, number, place_at(order))
  end
  local after, found = {}, false
  for _, axis in ipairs(order) do
    after[#after + 1] = found and axis or nil
    found = found or axis == self.vector
  end
  local name = node.name .. "_read"
  table.insert(self.reads, { name = name, operand = number, at = place_at(order), stride = points_of(after) })
  return name .. "[lane_]"
end

-- What is read elsewhere, or asked of places.
function step_class:elsewhere(node)
  local from, kernel = self.planner, self.planner.kernel
  local words = {
    number = function(value) return "(int64_t)" .. value end,
    position = function(axis) return "(int64_t)i" .. axes.indexes(axis)[1] end,
    points = function(set) return "(int64_t)(" .. points_of(axes.indexes(set)) .. ")" end,
    whole = function(leaf) return self:element(leaf) end,
  }
  local function place(of) return kernel.place(of, words) end
  local function is_inside(of, axis) return string.format("(size_t)%s < args->dim[%d]", place(of), axis) end
  if node.op == "same" or node.op == "below" then
    return place(node[1]) .. (node.op == "same" and " == " or " < ") .. place(node[2])
  elseif node.op == "inside" then
    return is_inside(node[1], axes.indexes(node.k)[1])
  end
  local inside, instead = {}, {}
  for i, axis in ipairs(axes.indexes(node.k)) do
    inside[i], instead[axis] = is_inside(node[i + 1], axis), "(size_t)" .. place(node[i + 1])
  end
  local name, order = from:home(node[1])
  local at = place_at(order, instead)
  return string.format("%s ? %s : %s", table.concat(inside, " && "), from.arrays[node[1]]
    and kernel:text("load", name, at)
    or string.format("reference_one_%s(part, %d, %s)", kernel.dtype, from.numbers[name], at), kernel:literal(0 / 0))
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
    return self:declare(node, self:read(node), true)
  elseif op == "const" then
    return self:declare(node, kernel:constant(node.value))
  elseif op == "tiny" then
    return self:declare(node, kernel:constant(kernel.set.tiny[kernel.dtype]))
  elseif op == "points" then
    return self:declare(node, string.format("(%s)(%s)", kernel.number, points_of(axes.indexes(node.k))))
  elseif op == "position" then
    return self:declare(node, string.format("(%s)i%d", kernel.number, axes.indexes(node.k)[1]))
  elseif op == "whole" then
    return self:declare(node, string.format("(%s)%s", kernel.number, self:element(node[1])))
  elseif from.reads[node.name] or op == "read" then
    return self:declare(node, self:elsewhere(from.reads[node.name] or node))
  elseif op == "hit" then
    return self:declare(node, kernel:text("hit", self:element(node[1]), "i" .. axes.indexes(node.k)[1]))
  elseif op == "random" then
    return self:declare(node, kernel:text("random_at", self:element(node[1]), self:element(node[2]),
      place_among(node.axes)))
  end
  local names = {}
  for i = 1, #node do
    self:compute(node[i])
    names[i] = self.names[node[i]]
  end
  self:declare(node, kernel:text(op, names[1], names[2], names[3], node.k))
end

-- The items of a group as one step, after those that copy what it reads.
function planner:make_step(group)
  local full, sources, once, seen = group.set | group.over, {}, {}, {}
  for _, item in ipairs(group.items) do
    local function walk(node, is_root)
      if seen[node] then
        return
      end
      seen[node] = not is_root
      if not is_root and self.arrays[node] or node.op == "input" then
        sources[#sources + 1] = node
        once[#once + 1] = node.axes == full and node or nil
      elseif node.op ~= "hit" and node.op ~= "random" and node.op ~= "whole" then
        for i = 1, #node do
          walk(node[i])
        end
      end
    end
    walk(item.root, item.kind == "store" and item.is_held)
    if item.more then
      walk(item.more)
    end
  end
  group.vector, group.once = self:choose_vector(group, sources, once), #once > 0
  local copies = {}
  for _, node in ipairs(sources) do
    copies[node] = self:copy(node, group.vector, full)
  end
  local step = self:begin_step(group)
  step.copies = copies
  for _, item in ipairs(group.items) do
    self:put_item(step, item)
  end
  step:share_out()
end

function planner:put_item(step, item)
  step:compute(item.root, item.kind == "store" and item.is_held)
  table.insert(step.roots, item.root)
  local name = step.names[item.root]
  local set = item.set | bits(step.scanned)
  local array = item.operand and { name = item.operand.name, axes = order_of(item.operand) }
    or self:array(step.vector and not step.folds and with_last(set, step.vector) or axes.indexes(set))
  if item.is_held then
    self.arrays[item.node] = array
  end
  local at = place_at(array.axes)
  if item.kind == "store" then
    step.stores[#step.stores + 1] = { name = array.name, at = at, value = name,
      integer = item.operand and item.operand.dtype == "i64" }
    return
  end
  local scan = expr.scans(item.node)
  if scan then
    if item.more then
      step:compute(item.more)
      table.insert(step.roots, item.more)
    end
    table.insert(step.scans, {
      name = scan.name .. #step.scans + 1, kind = scan.kind, exclusive = scan.exclusive, array = array.name, at = at,
      factor = item.more and name, term = step.names[item.more or item.root],
    })
    return
  end
  local result = { name = item.node.op:gsub("imum$", "") .. #step.reductions + 1, kind = item.node.op, term = name,
    array = array.name, at = at }
  if item.kind == "pick" then
    step.index_over, step.index = axes.indexes(item.over), step:element(item.node[2])
    table.insert(step.picks, result)
    return
  end
  table.insert(step.reductions, result)
  local kernel = self.kernel
  if kernel:is_index(result.kind) then
    step.place, result.place = place_among(item.over), "place_"
    if step.folds then
      result.place = string.format("place_ + (%s)(int)lane_ * (%s)(%s)", kernel.number, kernel.number,
        points_of(axes.indexes(item.over & -(2 << step.vector))))
    end
  end
end

-- values: { operand, node } of the outputs; reads: what leaves of these stand for, by name (reads.lua).
function loops.plan(kernel, values, reads)
  local self = setmetatable({
    kernel = kernel, operands = {}, numbers = {}, stage = {}, groups = {}, order = {}, held = {}, arrays = {},
    copies = {}, steps = {}, outputs = {}, serial = 0, reads = reads,
  }, planner)
  for i, operand in ipairs(kernel.operands) do
    self.operands[operand.name], self.numbers[operand.name] = operand, i - 1
  end
  local items = text.map(values, function(value)
    local root, operand = kernel:expand(value.node), value.operand
    local item = { node = root, root = root, set = operand.axes, over = 0, kind = "store", operand = operand }
    if root.axes == operand.axes and operand.dtype ~= "i64" and can_be_held(root) then
      self.outputs[root] = item
    end
    return item
  end)
  for _, is_candidate in ipairs { false, true } do -- those that some reduction holds are there before the others
    for _, item in ipairs(items) do
      local is_its_own = self.outputs[item.root] == item
      if is_its_own and expr.gathers(item.root) then
        self:hold(item.root)
      elseif is_its_own == is_candidate and not (is_its_own and self.stage[item.root]) then
        self:enter(item)
      end
    end
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
