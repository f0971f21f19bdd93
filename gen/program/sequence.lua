-- Splits what an op computes into runs, one after the other, each of which a template of its own does: products,
-- streams of these, and nests of loops for the rest. Multi-head attention is its projections, which are products, a
-- stream, and a product; a softmax of a product is this product and a nest.
--
--   record.runs[i]       { template, programs }: "contract", of `steps` (steps.lua); "stream" (stream.lua); or "nest"
--                        (nest.lua): from the operands and the temporaries of earlier runs
--   record.temporaries   those of all runs, which each run's record has. is_factor: of one that is a factor of products
--                        as it is, and read by nothing else; is_exact: of such a one that a nest brings together, of
--                        what operands have
--   record.operands      the op's, then the temporaries
--   record.of_streams    whether it is nothing but streams, and what is reduced beside their tiles
--   record.products      those whose factors variants may round to the op's type, as its values have them: of streams
--                        (stream.lua), and of temporaries that are factors
--
-- What one run computes and another needs is a cut of the graph. A value is tried whole; then as a stream whose tiles
-- are never in memory, for which the factors that such tiles do not have are cut; then as a product whose factors are
-- cut; and else as a nest, for which the values are cut that one of the others does. Cut values are split in the same
-- way. A convolution is a product with a factor that a nest brings from where it is read.

local axes = require "axes"
local capacity = require "capacity"
local contraction = require "contraction"
local cutting = require "cutting"
local expr = require "expr"
local move = require "move"
local nest = require "nest"
local steps = require "steps"
local stream = require "stream"
local text = require "text"

local sequence = {}

local maker = setmetatable({}, { __index = cutting })
maker.__index = maker

-- ---- runs ---------------------------------------------------------------------------------------------------------

local makers = {
  contract = {
    kind = "steps",
    make = function(op, values)
      return steps.with_reuse(op, steps.make(op, values))
    end,
  },
  stream = { kind = "stream", make = stream.make },
  nest = { kind = "nest", make = nest.make },
}

local function nodes_of(values)
  return text.map(values, function(value)
    return value.node
  end)
end

-- The largest extent along an axis in the sizes that the spec names, 1 where it names none.
function maker:extent_of(index)
  local most = 1
  for _, size in ipairs((self.op.forward or self.op).keys.sizes or {}) do
    local extent = type(size) == "table" and size[self.op.dims[index + 1]]
    most = type(extent) == "number" and math.max(most, extent) or most
  end
  return most
end

-- The axis along which what is brought for a product is read side by side: that of the operand itself, or one whose
-- position moves the place there by steps of one, the longest of these. Nil where there is none.
function maker:side_by_side(node)
  local best, most, order_of = nil, 0, {}
  for _, operand in ipairs(self.op.operands) do
    order_of[operand.name] = operand.dim_index
  end
  self:walk({ node }, function(read)
    local order = read.op == "read" and order_of[read[1].name] or {}
    if #order > most then
      best, most = nil, #order
      local longest = 0
      for _, index in ipairs(axes.indexes(node.axes)) do
        local extent = move.slope_of_read(read, axes.at(order[#order]), 1 << index) == 1 and self:extent_of(index) or 0
        if extent > longest then
          best, longest = 1 << index, extent
        end
      end
    end
    return true
  end)
  return best
end

-- An order of axes, of which the first lie together, and the others, as they do in the op's operands; one of them last.
function maker:order_of(set, first, last)
  local sets = { set & first, set & ~first }
  if last and last & first ~= 0 then
    sets[1], sets[2] = sets[2], sets[1]
  end
  local list = {}
  for _, some in ipairs(sets) do
    for _, place in ipairs(steps.places_of(some, steps.order_in(self.op.operands, some))) do
      list[#list + 1] = axes.at(place) ~= last and place or nil
    end
  end
  list[#list + 1] = last and axes.indexes(last)[1] + 1
  return list
end

-- The axis along which a product is read side by side for some value: the innermost of that, or one whose places vary
-- over it. Nil where there is none.
local function read_along(read, value)
  local order = value.operand.dim_index
  local inner = #order > 0 and axes.at(order[#order]) or 0
  local found = read[1].axes & ~read.k & inner ~= 0 and inner or nil
  for i, index in ipairs(axes.indexes(read.k)) do
    found = read[i + 1].axes & inner ~= 0 and 1 << index or found
  end
  return found
end

-- The order of a cut, and whether it is to be that. What is brought for a product has the axes together that this sums
-- over; a product that is read elsewhere those of each factor.
function maker:order_cut(node)
  local product, reader = self.brought_for[node], self.read_by[node]
  if product then
    return self:order_of(node.axes, product.axes, self:side_by_side(node)), true
  elseif reader then
    local factor = 0
    for _, part in ipairs(cutting.factors_of(node[1], {}, false)) do
      factor = part.axes & reader.read.k ~= 0 and part.axes or factor
    end
    return self:order_of(node.axes, factor, read_along(reader.read, reader.value)), true
  end
  return steps.places_of(node.axes, steps.order_in(self.op.operands, node.axes)), false
end

-- The temporary of a cut: its operand, and its leaf.
function maker:temporary(node)
  if not self.kept[node] then
    local order, ordered = self:order_cut(node)
    local operand = {
      name = self.fresh(), axes = node.axes, temporary = true, output = true, called = false, dim_index = order,
      ordered = ordered,
      dims = text.map(order, function(place) return self.op.dims[place] end),
    }
    self.kept[node] = { operand = operand, leaf = expr.leaf("input", operand.name, "r", node.axes) }
  end
  return self.kept[node]
end

-- Nodes as values, which go to their temporaries.
function maker:values_of(nodes)
  return text.map(nodes, function(node)
    return { operand = self:temporary(node).operand, node = node }
  end)
end

-- A template's run for some values, with temporaries in the place of cuts and of what is computed; nil where it has no
-- program for them.
function maker:try(template, values, cuts)
  if self.of_streams and template == "contract" then
    return nil
  end
  local operands, memo = { table.unpack(self.op.operands) }, {}
  table.move(self.temporaries, 1, #self.temporaries, #operands + 1, operands)
  for node in pairs(self.is_computed) do
    memo[node] = self.kept[node].leaf
  end
  for _, node in ipairs(cuts) do
    operands[#operands + 1], memo[node] = self:temporary(node).operand, self.kept[node].leaf
  end
  for _, value in ipairs(values) do
    operands[#operands + 1] = value.operand.temporary and value.operand or nil
  end
  local made = makers[template]
  values = text.map(values, function(value)
    return { operand = value.operand, node = expr.rewrite(value.node, {}, memo) }
  end)
  local record = made.make(setmetatable({ operands = operands }, { __index = self.op }), values)
  return record and { template = template, programs = { [made.kind] = record }, record = record, cuts = cuts } or nil
end

-- Products of what is cut for them; or nil.
function maker:try_apart(values)
  local cuts = self:cut_factors(nodes_of(values), false, function() return true end)
  return #cuts > 0 and self:try("contract", values, cuts) or nil
end

-- The run without a nest that computes some values, or nil.
function maker:find(values)
  local nodes = nodes_of(values)
  local found = self:try("contract", values, {}) or self:try("stream", values, {})
  for _, tile in ipairs(found and {} or self:tiles_in(nodes)) do
    local cuts = self:cut_factors(nodes, true, function(factor)
      return factor.axes & ~tile ~= 0
    end)
    found = #cuts > 0 and self:try("stream", values, cuts) or nil
    if found then
      break
    end
  end
  return found or self:try_apart(values)
end

-- Takes up runs that compute what is beside a tile, where some value is a stream of it then and is none before. The
-- values that are left.
function maker:add_beside(values)
  local nodes = nodes_of(values)
  for _, tile in ipairs(self:tiles_in(nodes)) do
    local cuts, is_beside = self:beside_tile(nodes, tile)
    for _, value in ipairs(#cuts > 0 and values or {}) do
      if not self:try("stream", { value }, {}) and self:try("stream", { value }, cuts) then
        self.is_beside = is_beside
        self:split(self:values_of(cuts))
        local beside, left = {}, {}
        for _, each in ipairs(values) do
          local list = is_beside[each.node] and beside or left
          list[#list + 1] = each
        end
        self:split(beside)
        return left
      end
    end
  end
  return values
end

-- The values under some others that runs without a nest compute.
function maker:cuts_for_nest(values)
  local cuts = {}
  self:walk(nodes_of(values), function(node)
    local is_cut = self:is_of_products(node) and self:find(self:values_of { node })
    cuts[#cuts + 1] = is_cut and node or nil
    return not is_cut
  end)
  return cuts
end

-- Those of some values that are not in memory yet: outputs, and temporaries that no run has computed.
function maker:left_of(values)
  local left = {}
  for _, value in ipairs(values) do
    left[#left + 1] = not (value.operand.temporary and self.is_computed[value.node]) and value or nil
  end
  table.sort(left, function(a, b) return a.node.id < b.node.id end) -- what others are made of comes first
  return left
end

function maker:nest_of(values)
  return { template = "nest", cuts = self:cuts_for_nest(values) }
end

-- Takes up a run for some values, after those that compute its cuts.
function maker:add(run, values)
  self:split(self:values_of(run.cuts))
  values = self:left_of(values)
  if #values == 0 then
    return
  end
  run = self:try(run.template, values, {}) or self:try("nest", values, {})
  self.runs[#self.runs + 1] = run
  for _, operand in ipairs(run.record.temporaries) do
    self.temporaries[#self.temporaries + 1] = operand
  end
  for _, value in ipairs(values) do
    if value.operand.temporary then
      self.temporaries[#self.temporaries + 1], self.is_computed[value.node] = value.operand, true
    end
    self.has_others = self.has_others or run.template ~= "stream" and not self.is_beside[value.node]
  end
end

-- Whether an operand has all axes of a stream's tiles: such a tile in memory is no more than what is there.
function maker:has_tile(run)
  local pass, found = run.record.passes[1], false
  for _, operand in ipairs(self.op.operands) do
    found = found or (pass.over | pass.rows) & ~operand.axes == 0
  end
  return found
end

-- Of some values the streams that need no cut, as one run, with what others need of their rows, these values, and the
-- others; nil where there are none.
function maker:try_streams(values)
  local streams, others = {}, {}
  for _, value in ipairs(values) do
    local list = self:try("stream", { value }, {}) and streams or others
    list[#list + 1] = value
  end
  local run = #streams > 0 and self:try("stream", streams, {}) or nil
  run = run and not self:has_tile(run) and run or nil
  self:walk(run and nodes_of(others) or {}, function(node)
    local more = node.axes ~= 0 and self:is_reduced(node) and { table.unpack(streams) }
    if not more then
      return true
    end
    more[#more + 1] = self:values_of({ node })[1]
    local wider = self:try("stream", more, {})
    if wider then
      run, streams = wider, more
    end
    return not wider
  end)
  return run, streams, others
end

-- Takes up the runs that compute some values: one if possible, else one of streams, one of products and one for each
-- other, and a nest for those that have none.
function maker:split(values)
  local left, able, rest = self:left_of(values), {}, {}
  local together = #left > 1 and self:find(left)
  if together then
    return self:add(together, left)
  end
  local run, streams, others = self:try_streams(#left > 1 and left or {})
  if run then
    self:add(run, streams)
    return self:split(others)
  end
  for _, value in ipairs(left) do
    local list = self:find { value } and able or rest
    list[#list + 1] = value
  end
  local shared = #able > 1 and self:try_apart(able) -- what several need is computed once
  if shared then
    self:add(shared, able)
  end
  for _, value in ipairs(shared and {} or able) do
    self:add(self:find { value } or self:nest_of { value }, { value }) -- those before may have left nothing to multiply
  end
  if #rest > 0 then
    self:add(self:nest_of(rest), rest)
  end
end

-- Whether a node is made of nothing but elements of operands of the op's type, and of zeros.
local function is_of_elements(node)
  if node.op == "select" then
    return is_of_elements(node[2]) and is_of_elements(node[3])
  end
  return node.op == "read" and node[1].op == "input" or node.op == "input" or node.op == "const" and node.value == 0
end

-- Marks the cuts that are factors of products, and read by nothing else. Nests keep what they compute as it is.
function maker:mark_factors()
  local is_factor, is_other, is_made = {}, {}, {}
  local function note(node, is_whole)
    expr.visit({ node }, function(n)
      local list = rawequal(n, node) and is_whole and is_factor or is_other
      list[n.op == "input" and n.name or false] = true
    end)
  end
  for _, run in ipairs(self.runs) do
    for _, step in ipairs(run.record.steps) do
      if run.template == "nest" then
        local stored = text.map(step.values, function(value) return value.operand.name end)
        for _, operand in ipairs(step.operands) do
          local list = text.contains(stored, operand.name) and is_made or is_other
          list[operand.name] = true
        end
      else
        note(step.a, true)
        note(step.b, true)
        for _, value in ipairs(step.values) do
          note(value.node)
        end
      end
    end
    for _, pass in ipairs(run.record.passes or {}) do
      for _, value in ipairs(pass.rows_of) do
        note(value.node)
      end
    end
  end
  for node, kept in pairs(self.kept) do
    local name = kept.operand.name
    local is_only = is_factor[name] and not is_other[name] or false
    kept.operand.is_factor = is_only and not is_made[name]
    kept.operand.is_exact = is_only and is_made[name] and is_of_elements(node) or false
  end
end

-- The products whose factors may be narrow, as the op's values have them: of streams, and of temporaries that are
-- factors.
function maker:products(values)
  local list, memo, is_there = {}, {}, {}
  for node, kept in pairs(self.kept) do
    memo[kept.leaf] = node
  end
  local function whole(node)
    return expr.rewrite(node, {}, memo)
  end
  for _, run in ipairs(self.runs) do
    for _, product in ipairs(run.record.products or {}) do
      list[#list + 1] = { sum = whole(product.sum), factor = whole(product.factor), other = whole(product.other) }
    end
  end
  local function is_narrow(node)
    return self.kept[node] and self.kept[node].operand.is_factor
  end
  expr.visit(nodes_of(values), function(node)
    local factors, seen = {}, {}
    for _, splits in ipairs(contraction.factors(node) and { false, true } or {}) do
      cutting.factors_of(node[1], factors, splits)
    end
    is_there[node] = true
    for _, factor in ipairs(factors) do
      if is_narrow(factor) and not seen[factor] then
        seen[factor] = true
        list[#list + 1] = {
          sum = node, factor = factor, other = expr.rewrite(node[1], {}, { [factor] = expr.const(1) }),
        }
      end
    end
  end)
  for _, product in ipairs(list) do
    assert(is_there[product.sum], "a stream has the op's own products")
  end
  return list
end

-- How many launches the runs of a record are on a GPU.
local function launches_of(runs)
  local count = 0
  for _, run in ipairs(runs) do
    count = count + #(run.record.passes or run.record.steps)
  end
  return count
end

-- The record of an op's values { operand, node }, or nil where no run is better than a nest, or there are too many.
-- of_streams: of nothing but streams, and of what is reduced beside their tiles.
function sequence.make(op, values, of_streams)
  expr.enter(values[1].node.graph)
  local self = setmetatable({
    op = op, runs = {}, temporaries = {}, kept = {}, is_computed = {}, brought_for = {},
    is_beside = {}, read_by = {}, of_streams = of_streams, fresh = steps.namer(op, "cut"),
  }, maker)
  for _, value in ipairs(values) do
    expr.visit({ value.node }, function(node)
      self.read_by[node.op == "read" and node[1] or false] = { read = node, value = value }
    end)
  end
  self:split(self:add_beside(values))
  local is_nest = #self.runs == 1 and self.runs[1].template == "nest"
  if is_nest or of_streams and self.has_others or launches_of(self.runs) > capacity.launches then
    return nil
  end
  self:mark_factors()
  local record = {
    runs = self.runs, temporaries = self.temporaries, operands = { table.unpack(op.operands) },
    of_streams = not self.has_others, products = self:products(values),
  }
  table.move(self.temporaries, 1, #self.temporaries, #record.operands + 1, record.operands)
  for _, run in ipairs(record.runs) do
    run.record.operands, run.record.temporaries = record.operands, record.temporaries
    run.record, run.cuts = nil, nil
  end
  return record
end

-- The records of the streams that an op's kernels are, or are made of.
function sequence.streams(op)
  local list = { op.stream or nil }
  for _, run in ipairs(op.sequence and op.sequence.runs or {}) do
    list[#list + 1] = run.programs.stream
  end
  return list
end

-- The one of them that has all of an op's products; nil of none.
function sequence.whole_stream(op)
  return (op.stream or op.sequence and op.sequence.of_streams) and sequence.streams(op)[1] or nil
end

return sequence
