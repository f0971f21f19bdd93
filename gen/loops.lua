-- What an op computes as loops over its axes, in the order that C runs them: for references of ops that no other
-- template has a place for. A value is computed as far outside as its axes allow; a reduction is a loop over its own
-- axes where its result is wanted, whose body knows nothing that an outer loop over the same axes has computed.
--
-- walk(kernel, values, on) calls what a template writes:
--   on.open(axis), on.close()       a loop over an axis, from 0; its index is i<axis>
--   on.open_at(axis, index)         a block for one place of an axis that an operand's element names, where it has it
--   on.begin(reduction), on.take(reduction, term, place), on.finish(reduction)
--                                   { name, kind }: around its loops, and in them for each term and its place
--   on.begin_pick(name), on.take_pick(name, term)      the same of a pick
--   on.declare(type, name, value)   a variable
--   on.store(operand, at, value)    an output's element
--   on.open_group()                 a block around the loops of outputs of one set of axes

local expr = require "expr"
local text = require "text"

local loops = {}

-- The axes of a set, from 0 on.
local function axes_of(set)
  local list = {}
  for axis = 0, 62 do
    list[#list + 1] = set & 1 << axis ~= 0 and axis or nil
  end
  return list
end

-- Where an operand's element is at the indexes of its axes.
local function place_in(operand)
  local at
  for _, place in ipairs(operand.dim_index) do
    local index = "i" .. place - 1
    at = at and string.format("(%s * args->dim[%d] + %s)", at, place - 1, index) or index
  end
  return at or "0"
end

-- The place among the points of some axes, which a reduction over them gives or random numbers go by.
local function place_among(set)
  local at
  for _, axis in ipairs(axes_of(set)) do
    at = at and string.format("(%s * args->dim[%d] + i%d)", at, axis, axis) or "i" .. axis
  end
  return at or "0"
end

-- The number of points of some axes.
local function points_of(set)
  return table.concat(text.map(axes_of(set), function(axis)
    return "args->dim[" .. axis .. "]"
  end), " * ")
end

local walker = {}
walker.__index = walker

-- The name that a node has in a block or around it.
local function name_of(block, node)
  while block do
    if block.names[node] then
      return block.names[node]
    elseif node.axes & block.bound_here ~= 0 then
      return nil
    end
    block = block.around
  end
end

local function is_reduction(node)
  local row = expr.operations[node.op]
  return row and row.reduction
end

function walker:next_name(stem)
  self.counts[stem] = (self.counts[stem] or 0) + 1
  return stem .. self.counts[stem]
end

function walker:declare(block, node, value)
  local name = self:next_name "t"
  local kernel = self.kernel
  self.on.declare(node.type == "m" and kernel.mask or kernel.vector, name, value)
  block.names[node] = name
end

-- Loops over axes and, inside of all of them, finish with the names of the roots there.
function walker:nest(around, roots, bound, axes, at, finish)
  local axis = axes[at]
  for _, root in ipairs(roots) do
    self:hoist(around, root, bound, 0, {})
  end
  if not axis then
    return finish(text.map(roots, function(root)
      return name_of(around, root)
    end))
  end
  self.on.open(axis)
  self:nest({ names = {}, around = around, bound_here = 1 << axis }, roots, bound | 1 << axis, axes, at + 1, finish)
  self.on.close()
end

-- Computes all under a node that varies over axes of outer loops alone. hidden: axes that a reduction on the way
-- goes over itself.
function walker:hoist(block, node, bound, hidden, seen)
  seen[hidden] = seen[hidden] or {}
  if seen[hidden][node] then
    return
  end
  seen[hidden][node] = true
  if node.axes & ~(bound & ~hidden) == 0 then
    self:compute(block, node, bound)
    return
  end
  for i = 1, #node do
    self:hoist(block, node[i], bound, is_reduction(node) and hidden | node.k or hidden, seen)
  end
end

function walker:reduce(block, node, bound)
  local name = self:next_name((node.op:gsub("imum$", "")))
  local reduction = { name = name, kind = node.op }
  self.on.begin(reduction)
  local inside = { names = {}, around = block, bound_here = node.k }
  self:nest(inside, { node[1] }, bound & ~node.k, axes_of(node.k), 1, function(names)
    self.on.take(reduction, names[1], "(int64_t)" .. place_among(node.k))
  end)
  self.on.finish(reduction)
  block.names[node] = name
end

function walker:pick(block, node, bound)
  local name, axis = self:next_name "pick", axes_of(node.k)[1]
  self.on.begin_pick(name)
  self.on.open_at(axis, self:element(node[2]))
  local inside = { names = {}, around = block, bound_here = node.k }
  self:nest(inside, { node[1] }, bound | node.k, {}, 1, function(names)
    self.on.take_pick(name, names[1])
  end)
  self.on.close()
  block.names[node] = name
end

-- The element of the operand that a leaf stands for.
function walker:element(leaf)
  local operand = self.operands[leaf.name]
  return self.kernel:text("load", operand.name, place_in(operand))
end

function walker:compute(block, node, bound)
  if name_of(block, node) then
    return
  elseif node.op == "pick" then
    return self:pick(block, node, bound)
  elseif is_reduction(node) then
    return self:reduce(block, node, bound)
  end
  local kernel, op = self.kernel, node.op
  if op == "index" or op == "integer" then
    return
  elseif op == "input" or op == "shared" then
    return self:declare(block, node, self:element(node))
  elseif op == "scalar" then
    block.names[node] = node.name
    return
  elseif op == "const" then
    return self:declare(block, node, kernel:constant(node.value))
  elseif op == "tiny" or op == "unit" then
    return self:declare(block, node, kernel:constant(kernel.set[op][kernel.dtype]))
  elseif op == "points" or op == "count" or op == "rows" then
    local set = op == "points" and node.k or op == "count" and self.layout.inner or self.layout.outer
    return self:declare(block, node, string.format("(%s)(%s)", kernel.number, points_of(set)))
  elseif op == "hit" then
    return self:declare(block, node, kernel:text("hit", self:element(node[1]), "i" .. axes_of(node.k)[1]))
  elseif op == "random" then
    return self:declare(block, node, kernel:text("random", self:element(node[1]), self:element(node[2]),
      place_among(self.layout.all)))
  end
  local names = {}
  for i = 1, #node do
    self:compute(block, node[i], bound)
    names[i] = name_of(block, node[i])
  end
  self:declare(block, node, kernel:text(op, names[1], names[2], names[3], node.k))
end

-- values: { operand, node }; those of the same axes share their loops.
function loops.walk(kernel, layout, values, on)
  local self = setmetatable({ kernel = kernel, layout = layout, on = on, counts = {}, operands = {} }, walker)
  for _, operand in ipairs(kernel.operands) do
    self.operands[operand.name] = operand
  end
  local groups, by_axes = {}, {}
  for _, value in ipairs(values) do
    local set = value.operand.axes
    if not by_axes[set] then
      by_axes[set] = {}
      groups[#groups + 1] = set
    end
    table.insert(by_axes[set], value)
  end
  for _, set in ipairs(groups) do
    local group = by_axes[set]
    local roots = text.map(group, function(value)
      return kernel:expand(value.node)
    end)
    on.open_group()
    self:nest({ names = {}, bound_here = 0 }, roots, 0, axes_of(set), 1, function(names)
      for i, value in ipairs(group) do
        on.store(value.operand, place_in(value.operand), names[i])
      end
    end)
    on.close()
  end
end

return loops
