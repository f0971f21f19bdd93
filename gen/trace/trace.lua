-- Calls an op's function with symbolic values, once, and checks the graph that it leaves:
--   op.called       what the function gave, { operand, node } for each output, in a graph that gradients are derived in
--   op.graph        one of its own, so that what is generated for an op does not depend on what else was derived
--   op.values       what it computes, in that: the same without detach, or a gradient
--   op.magnitudes   those of the values that are numbers, in that
-- Derives the ops that compute gradients.

local apart = require "apart"
local axes = require "axes"
local call = require "call"
local capacity = require "capacity"
local cut = require "cut"
local expr = require "expr"
local gradient = require "gradient"
local graph_size = require "graph_size"
local kind = require "kind"
local magnitude = require "magnitude"
local pattern = require "pattern"
local reductions = require "reductions"
local saved = require "saved"
local sequence = require "sequence"
local text = require "text"
local types = require "types"

local trace = {}

-- The graphs of an op's outputs.
local function roots_of(op)
  return text.map(op.values, function(value)
    return value.node
  end)
end

-- How many of the places of a call an op takes: its operands, and for a reference the magnitude of every output that
-- is a number besides.
local function places_of(op)
  local places = #op.operands
  for _, operand in ipairs(op.operands) do
    places = places + (operand.output and operand.dtype ~= "i64" and 1 or 0)
  end
  return places
end

-- Marks the outputs that are indexes of terms which are rounded, so that which of two is the largest may be
-- chance: they are judged by their terms, for which the references take three buffers more (reference.lua). One
-- for which a call has no place for these must be the reference's.
local function mark_rounded(op)
  local room = capacity.operands - places_of(op)
  for _, value in ipairs(op.values) do
    local node = value.node
    if node.type == "n" then
      value.operand.rounded = room >= 3 and magnitude.rounds(node[1])
      room = room - (value.operand.rounded and 3 or 0)
    end
  end
end

-- Everything declared must be read, or generated code has variables without use.
local function check_use(op)
  local read = {}
  expr.visit(roots_of(op), function(n)
    read[n.name or n] = true
  end)
  for _, list in ipairs { op.operands, op.scalars } do
    for _, item in ipairs(list) do
      if not item.output and not read[item.name] then
        text.fail(op.where(op.key), "%s: the %s '%s' is never used", op.key, list == op.scalars and "scalar" or "input",
          item.name)
      end
    end
  end
end

-- Sets what an op computes, in a graph of its own in which nothing is left that stops gradients, and finds the pattern
-- and the kind of that. Operands get their places.
local function set_values(op, values)
  op.graph = expr.begin(op.dims)
  local adopted = expr.adopt(text.map(values, function(value)
    return value.node
  end))
  local rules = { detach = function(_, args) return args[1] end }
  local memo = {}
  op.values = text.map(values, function(value)
    return { operand = value.operand, node = expr.rewrite(adopted[value.node], rules, memo) }
  end)
  local found = pattern.find(op)
  op.template, op.inner, op.lacking = found.template, found.inner, found.lacking
  op.steps, op.stream, op.sequence = found.steps, found.stream, found.sequence
  for _, operand in ipairs(op.operands) do
    operand.place = pattern.place_of(op, operand)
  end
  op.kind, op.kind_says = kind.of(op)
end

-- What an output varies over, it must have.
local function check_axes(op, values)
  for _, value in ipairs(values) do
    local operand, node = value.operand, value.node
    if node.axes & ~operand.axes ~= 0 then
      local lacks = axes.show(op.dims, node.axes & ~operand.axes)
      text.fail(op.where(op.key), "%s: '%s' has no axis out of %s, over which its value differs; expected a "
        .. "reduction over them, such as sum(..., \"%s\")", op.key, operand.name, lacks, lacks:match '"(.-)"')
    end
  end
end

-- Calls the function of an op, and finds what kind of op it is.
function trace.call(op)
  expr.begin(op.dims)
  op.called = call.values(op)
  graph_size.check(op.where(op.key), op.key, op.called)
  check_axes(op, op.called)
  set_values(op, op.called)
end

-- The values of an op's gradient, by the name of the input that they belong to. reads: which of the op's outputs it may
-- read, by name.
local function derivatives_of(op, reads)
  local outputs, leaves, names, results = {}, {}, {}, {}
  for i, value in ipairs(op.called) do
    local operand = value.operand
    local derivative = call.leaf_of { name = "d" .. operand.name, axes = operand.axes }
    local whole = operand.storage and types[operand.storage].integer
    if value.node.type == "n" or whole then
      text.fail(op.where "backward", "backward: '%s' is %s, which has no gradient", operand.name,
        whole and "rounded to " .. operand.storage or "an index")
    end
    outputs[i] = { node = value.node, derivative = derivative, axes = operand.axes }
    results[#results + 1] = reads[operand.name] and { node = value.node, leaf = call.leaf_of(operand) } or nil
  end
  for _, operand in ipairs(op.operands) do
    local whole = operand.storage and types[operand.storage].integer
    if not operand.output and not operand.dtype and not whole then
      leaves[#leaves + 1] = call.leaf_of(operand)
      names[operand.name] = leaves[#leaves]
    end
  end
  local derivatives = gradient.of(outputs, leaves, axes.at(#op.dims), function(operation)
    text.fail(op.where "backward", "backward: %s has no derivative; expected detach(...) around it", operation)
  end)
  local values = {}
  for _, operand in ipairs(op.operands) do
    values[operand.name] = names[operand.name] and derivatives[names[operand.name]]
  end
  return saved.read(values, results)
end

-- The values { operand, node } that a gradient's outputs have, of those by the names of inputs.
local function values_of(derived, by_input)
  return text.map(call.outputs_of(derived), function(operand)
    return { operand = operand, node = by_input[operand.name:sub(2)] }
  end)
end

-- An op for the gradient by the inputs that have one of the values, by name. All
-- that is whole comes first, so that the first output may take the first input's place.
local function gradient_op(op, name, values)
  local roots, read = {}, {}
  for _, node in text.sorted_pairs(values) do
    roots[#roots + 1] = node
  end
  expr.visit(roots, function(n)
    read[n.name or n] = true
  end)
  local derived = setmetatable({
    name = name, doc = "gradient: " .. op.doc, forward = op, operands = {}, scalars = {}, peers = {},
    key = "backward", any_zero_sign = true,
    where = function()
      return op.where "backward"
    end,
  }, { __index = op })
  local outputs, late = {}, {}
  local function add(operand, changes)
    local list = changes.output and outputs or operand.place == "whole" and derived.operands or late
    list[#list + 1] = setmetatable(changes, { __index = operand })
  end
  for _, operand in ipairs(op.operands) do
    if operand.output then
      if read[operand.name] then
        add(operand, { output = false, saved = true })
      end
      if read["d" .. operand.name] then
        add(operand, { name = "d" .. operand.name, output = false, low = -1.0, high = 1.0 })
      end
    elseif read[operand.name] then
      add(operand, {})
    end
  end
  for _, operand in ipairs(op.operands) do
    if not operand.output and values[operand.name] then
      add(operand, { name = "d" .. operand.name, output = true })
    end
  end
  table.move(late, 1, #late, #derived.operands + 1, derived.operands)
  local inputs = #derived.operands
  table.move(outputs, 1, #outputs, inputs + 1, derived.operands)
  for _, scalar in ipairs(op.scalars) do
    if read[scalar.name] then
      table.insert(derived.scalars, scalar)
    end
  end
  set_values(derived, values_of(derived, values))
  local first = derived.operands[1]
  derived.in_place = inputs > 0 and first.place == outputs[1].place and first.storage == outputs[1].storage
    and not derived.lacking
  return derived
end

-- The ops that compute the gradient of another, as records of the same kind: their inputs are those of
-- the op that they need and d<output>, their outputs d<input> for each input that has a derivative. It is one op
-- where one template has a place for all of it, else one for each input, but for inputs whose streams are one. reads:
-- which of its outputs they may read, by name.
function trace.backward_of(op, reads)
  expr.enter(op.called[1].node.graph)
  local values = derivatives_of(op, reads)
  if not next(values) then
    text.fail(op.where "backward", "backward: nothing of what '%s' reads has a derivative", op.name)
  end
  local name = op.name .. "_backward"
  local whole = gradient_op(op, name, values)
  local is_one = whole.template ~= "nest" or whole.stream or whole.sequence and places_of(whole) <= capacity.operands
  if is_one or not next(values, (next(values))) then
    return { whole }
  end
  local ops, alone, streams = {}, {}, {}
  for input, node in text.sorted_pairs(values) do
    local made = gradient_op(op, name .. "_" .. input, { [input] = node })
    local list = made.stream and alone or ops
    list[#list + 1] = made
    streams[input] = made.stream and node or nil
  end
  local joined = #alone > 1 and gradient_op(op, name .. "_" .. table.concat(text.sorted_keys(streams), "_"), streams)
  for _, made in ipairs(joined and joined.stream and { joined } or alone) do
    ops[#ops + 1] = made
  end
  return ops
end

local function check_count(op)
  local outputs = #op.values
  if places_of(op) > capacity.operands then
    text.fail(op.where(op.key), "op \"%s\": expected at most %d operands, outputs that are numbers counted twice "
      .. "(their checks need a place too), found %d with %d output%s; %s", op.name, capacity.operands, places_of(op),
      outputs, outputs == 1 and "" or "s",
      op.forward and "write detach(...) around inputs whose gradient is not needed" or "make several ops of it")
  end
end

-- Every reduction over everything whose terms need another's result is a launch more on a GPU.
local function check_depth(op)
  local depth = {}
  expr.visit(roots_of(op), function(node)
    local below = 0
    for i = 1, #node do
      below = math.max(below, depth[node[i]])
    end
    depth[node] = below + (expr.reduces(node) and 1 or 0)
    if op.template == "reduce" and depth[node] > capacity.launches then
      text.fail(op.where(op.key), "%s: expected at most %d reductions over everything, each of which needs the one "
        .. "before, found more", op.key, capacity.launches)
    end
  end)
end

-- Refuses numbers that are infinite where they are computed with, while the reference, which is wider, has
-- them as they are.
local function check_finite(op)
  local narrowest
  for _, row in ipairs(types.rows) do
    if text.contains(op.dtypes, row.name) then
      local largest = types[types.compute(row.name)].high
      narrowest = narrowest and narrowest.largest <= largest and narrowest or { row = row, largest = largest }
    end
  end
  local row, largest = narrowest.row, narrowest.largest
  local function check(where, what, value)
    if math.abs(value) > largest and math.abs(value) < math.huge then
      text.fail(where, "%s: expected numbers of at most %.4g, %s's largest%s; found %.4g", what, largest,
        types.compute(row.name), row.compute and ", in which " .. row.name .. " is computed" or "", value)
    end
  end
  for _, scalar in ipairs(op.scalars) do
    check(op.where("scalars", scalar.name), "scalars." .. scalar.name, scalar.value)
  end
  expr.visit(roots_of(op), function(node)
    if node.op == "const" then
      check(op.where(op.key), op.key, node.value)
    end
  end)
end

-- How many reductions over the rows there are.
local function count_column_reductions(op)
  local found = 0
  expr.visit(roots_of(op), function(node)
    found = found + (expr.reduces(node) and node.k & ~op.inner ~= 0 and 1 or 0)
  end)
  return found
end

-- Whether some kernel adds up terms one after the other, as contractions' kernels do.
local function sums_in_order(op)
  for _, variant in ipairs(op.planned) do
    if variant.template == "contract" or variant.template == "stream" or variant.template == "sequence" then
      return true
    end
  end
  return op.template == "contract"
end

-- Whether an op's kernels are streams, or made of some, that leave out terms which a mask makes zero.
local function leaves_out(op)
  local found = false
  for _, record in ipairs(sequence.streams(op)) do
    found = found or record.leaves_out or false
  end
  return found
end

-- The products with a factor that some kernel may round, or whose terms it may leave out, or nil.
local function products_between(op)
  local found = leaves_out(op)
  for _, variant in ipairs(op.planned) do
    found = found or variant.params.products == "narrow"
  end
  return found and (op.stream or op.sequence or op.steps or {}).products or nil
end

-- The magnitudes of the outputs that are numbers: an index has none.
local function magnitudes_of(op)
  local found = {}
  local memo = { in_order = sums_in_order(op), products = products_between(op) }
  for _, value in ipairs(op.values) do
    if value.node.type == "r" then
      found[#found + 1] = { operand = value.operand, node = magnitude.of(value.node, memo) }
    end
  end
  return found
end

-- Gives outputs that are indexes their type, which a spec may say, and no other.
local function set_index_types(op)
  for _, value in ipairs(op.values) do
    local operand, is_index = value.operand, value.node.type == "n"
    local said = operand.storage or operand.says_index and "i64"
    if said and is_index ~= (said == "i64") then
      text.fail(op.where("outputs", operand.name), "outputs.%s: %s, found dtype = '%s'", operand.name, is_index
        and "an index is i64: expected no other dtype" or "only indexes are i64: expected another dtype", said)
    end
    operand.dtype = is_index and "i64" or nil
  end
end

-- What at(...) reads of a row may be another thread's to write, before or after: such an operand is not overwritten.
local function check_in_place(op)
  local first = op.operands[1]
  expr.visit(op.in_place and roots_of(op) or {}, function(node)
    expr.visit((node.op == "pick" or node.op == "read") and { node[1] } or {}, function(read)
      if read.op == "input" and read.name == first.name then
        op.in_place = false
      end
    end)
  end)
  if op.wants_in_place and not op.in_place then
    text.fail(op.where "in_place", "in_place: the result cannot be in the place of '%s', of which at(...) reads any "
      .. "element; leave in_place out", first.name)
  end
end

-- What is found of each output, at the operand's place among all, from 0 on.
local function by_operand(op, find)
  local place, found = {}, {}
  for i, operand in ipairs(op.operands) do
    place[operand] = i - 1
  end
  for _, value in ipairs(op.values) do
    found[place[value.operand]] = find(value)
  end
  return found
end

-- Whether an extreme of several points is in a value: it looks at one of them, wherever that is.
local function has_extreme(value)
  local found = false
  expr.visit({ value.node }, function(node)
    local scan = expr.scans(node)
    local row = reductions[scan and scan.kind or node.op]
    found = found or row ~= nil and row.better ~= nil
  end)
  return found
end

-- By name, of operands that are read elsewhere alone, over the same axes each time: these, a set.
local function read_at(op)
  local found, whole = {}, {}
  local function note(input, set)
    whole[input.name] = whole[input.name] or not set or found[input.name] and found[input.name] ~= set
    found[input.name] = set
  end
  local roots = roots_of(op)
  for _, root in ipairs(roots) do
    if root.op == "input" then
      note(root, nil)
    end
  end
  expr.visit(roots, function(node)
    for i = 1, #node do
      if node[i].op == "input" then
        note(node[i], i == 1 and (node.op == "read" or node.op == "pick") and node.axes or nil)
      end
    end
  end)
  for name in pairs(whole) do
    found[name] = not whole[name] and found[name] or nil
  end
  return found
end

-- Whether the other inputs of a gradient say what those are that are results of the op itself; and the axes along which
-- elements of these do not stand for themselves.
local function saved_of(op)
  local has, is_said, bound = {}, true, 0
  for _, list in ipairs { op.operands, op.scalars } do
    for _, item in ipairs(list) do
      has[item.name] = item
    end
  end
  for _, list in ipairs { op.forward.operands, op.forward.scalars } do
    for _, item in ipairs(list) do
      is_said = is_said and (item.output or has[item.name] ~= nil)
    end
  end
  for _, value in ipairs(op.forward.values or {}) do
    bound = bound | (has[value.operand.name] and value.operand.axes & ~apart.of(value) or 0)
  end
  return is_said, bound
end

-- Checks what an op computes, and finds what follows from its graph.
function trace.op(op)
  text.about(op)
  expr.enter(op.graph)
  set_index_types(op)
  check_count(op)
  check_finite(op)
  check_depth(op)
  check_use(op)
  check_in_place(op)
  op.magnitudes = magnitudes_of(op)
  op.work = expr.work(roots_of(op))
  local streamed = sequence.whole_stream(op)
  op.masked = streamed and streamed.masked or 0
  op.leaves_out = leaves_out(op) and (op.masked == 0 or streamed.by_indexes or false)
  op.read_at = read_at(op)
  local bound = 0
  if op.forward then
    op.says_saved, bound = saved_of(op)
  end
  op.apart = by_operand(op, function(value)
    return apart.of(value) & ~bound
  end)
  op.extremes = by_operand(op, has_extreme)
  op.cut = cut.of(op, roots_of(op))
  op.roughest, op.roughest_ulp = magnitude.roughest(roots_of(op))
  op.column_reductions = count_column_reductions(op)
  mark_rounded(op)
  text.about(nil)
end

return trace
