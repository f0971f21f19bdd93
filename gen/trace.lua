-- Calls an op's function with symbolic values and checks the graph that it leaves: op.values for the
-- outputs, op.magnitudes for those that are numbers. Derives the ops that compute gradients.

local axes = require "axes"
local call = require "call"
local expr = require "expr"
local family = require "family"
local gradient = require "gradient"
local graph_size = require "graph_size"
local magnitude = require "magnitude"
local text = require "text"

local trace = {}

-- What can be reduced over the rows, and what does the same over a row.
local over_row = { sum = "row_sum", maximum = "row_max", minimum = "row_min" }

-- What has one value for each of the rows, or in all, must not differ from point to point, and so on.
local function check_output(op, operand, node)
  local where = op.where(op.key)
  local total = operand.place == "row" or operand.place == "single"
  if total and node.varying then
    text.fail(where, "%s: '%s' has one value per %s but differs from point to point; expected a reduction such as "
      .. "sum(...)", op.key, operand.name, operand.place == "row" and "row" or "call")
  elseif node.type == "n" and not total and not node.column then
    text.fail(where, "%s: '%s' is an index, but the output has a value at each %s", op.key, operand.name,
      operand.place == "column" and "column" or "point")
  end
  expr.visit({ node }, function(n)
    local row = expr.operations[n.op]
    if not row then
      return
    elseif n.op == "random" and op.family ~= "map" then
      text.fail(where, "%s: random has its place in the family 'map' alone", op.key)
    elseif n.column and not over_row[n.op] then
      text.fail(where, "%s: %s along columns is not supported; expected sum, max or min", op.key, n.op)
    elseif n.column and operand.place ~= "column" then
      text.fail(where, "%s: '%s' has no value per column; expected %s over the row", op.key, operand.name,
        over_row[n.op])
    elseif row.reduction and op.family == "map" and op.forward then
      text.fail(where, "backward: a reduction has no place in the gradient of a reduction over everything; expected "
        .. "an op of the family 'rows'")
    elseif row.reduction and op.family == "map" then
      text.fail(where, "map: a reduction has no place here; expected the family 'reduce' or 'rows'")
    elseif row.reduction and not n.column and not n[1].varying then
      text.fail(where, "%s: a reduction over what is the same at every point", op.key)
    elseif row.reduction and row[1] == "n" and not rawequal(n, node) then
      text.fail(where, "%s: an index is a result of its own and cannot be computed with", op.key)
    end
  end)
end

-- One value per column is made of reductions over the rows, and of what does not differ from row to row.
local function check_column(op, operand, node)
  local places = {}
  for _, o in ipairs(op.operands) do
    places[o.name] = o.place
  end
  local function walk(n)
    local row = expr.operations[n.op]
    if n.column then
      return
    elseif row and row.reduction or n.op == "input" and places[n.name] ~= "column" or n.op == "shared" then
      text.fail(op.where(op.key), "%s: '%s' has one value per column but differs from row to row; expected "
        .. "column_sum(...), column_max(...) or column_min(...)", op.key, operand.name)
    end
    for i = 1, #n do
      walk(n[i])
    end
  end
  walk(node)
end

-- The graphs of an op's outputs.
local function roots_of(op)
  return text.map(op.values, function(value)
    return value.node
  end)
end

-- What a call has places for, LATHE_MAX_OPERANDS; and how many an op takes: its operands, and for a reference the
-- magnitude of every output that is a number besides.
local most_places = 16
local function places_of(op)
  local places = #op.operands
  for _, operand in ipairs(op.operands) do
    places = places + (operand.output and operand.dtype ~= "i64" and 1 or 0)
  end
  return places
end

-- Marks the outputs that are indexes of terms which are rounded, so that which of two is the largest may be
-- chance: they are judged by their terms, for which the references take three buffers more (expand.lua). One
-- for which a call has no place for these must be the reference's.
local function mark_rounded(op)
  local room = most_places - places_of(op)
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

local function without_detach(values)
  local rules = { detach = function(_, args) return args[1] end }
  local memo = {}
  return text.map(values, function(value)
    return { operand = value.operand, node = expr.rewrite(value.node, rules, memo) }
  end)
end

-- What an output varies over, it must have. (Where a spec names no axes, check_output says what is wrong.)
local function check_axes(op, values)
  for _, value in ipairs(op.key == "compute" and values or {}) do
    local operand, node = value.operand, value.node
    if node.axes & ~operand.axes ~= 0 then
      local lacks = axes.show(op.dims, node.axes & ~operand.axes)
      text.fail(op.where "compute", "compute: '%s' has no axis out of %s, over which its value differs; expected a "
        .. "reduction over them, such as sum(..., \"%s\")", operand.name, lacks, lacks:match '"(.-)"')
    end
  end
end

-- What the function of a spec computes, detach still in it, in a graph of a layout.
local function forward(op, layout)
  expr.begin(layout)
  local values = call.values(op)
  graph_size.check(op.where(op.key), op.key, values)
  check_axes(op, values)
  return values
end

-- The values of an op's gradient, by the name of the input that they belong to.
local function backward(op, layout)
  local outputs, leaves, names = {}, {}, {}
  for i, value in ipairs(forward(op, layout)) do
    local operand = value.operand
    local derivative = call.leaf_of { name = "d" .. operand.name, place = operand.place, axes = operand.axes }
    local column = operand.place == "column" and op.key ~= "compute"
    if value.node.type == "n" or column then
      text.fail(op.where "backward", "backward: '%s' is %s, which has no gradient here", operand.name,
        column and "a value per column" or "an index")
    end
    outputs[i] = { node = value.node, derivative = derivative, axes = operand.axes }
  end
  for _, operand in ipairs(op.operands) do
    if not operand.output and not operand.dtype then
      leaves[#leaves + 1] = call.leaf_of(operand)
      names[operand.name] = leaves[#leaves]
    end
  end
  local derivatives = gradient.of(outputs, leaves, axes.at(#op.dims), function(operation)
    text.fail(op.where "backward", "backward: %s has no derivative; expected detach(...) around it", operation)
  end)
  local values = {}
  for _, operand in ipairs(op.operands) do
    local node = names[operand.name] and derivatives[names[operand.name]]
    if node and operand.place == "single" and op.key ~= "compute" then
      text.fail(op.where "backward", "backward: '%s' is one value in all, whose gradient is a sum over everything: no "
        .. "family has one beside values at each point; expected detach(%s)", operand.name, operand.name)
    elseif node then
      values[operand.name] = node
    end
  end
  return values
end

-- Finds the family of an op whose function names its axes, what it computes being these values, and gives its
-- operands their places.
local function set_family(op, values)
  local inner
  op.family, inner, op.untemplated = family.find(op, values)
  op.layout = axes.layout(op.dims, inner)
  op.layout.reduced = nil
  for _, operand in ipairs(op.operands) do
    operand.place = family.place_of(op, operand)
  end
end

function trace.find_family(op)
  set_family(op, forward(op, axes.unplanned(op.dims)))
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
    family = op.family == "reduce" and "map" or op.family, key = "backward", any_zero_sign = true,
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
  if op.key == "compute" then
    set_family(derived, values_of(derived, values))
  end
  derived.in_place = inputs > 0 and derived.operands[1].place == outputs[1].place and not derived.untemplated
  return derived
end

-- The ops that compute the gradient of another, as records of the same kind: their inputs are those of
-- the op that they need and d<output>, their outputs d<input> for each input that has a derivative. It is one op
-- where one family has a place for all of it, else one for each input.
function trace.backward_of(op)
  local values = backward(op, op.key == "compute" and axes.unplanned(op.dims) or op.layout)
  if not next(values) then
    text.fail(op.where "backward", "backward: nothing of what '%s' reads has a derivative", op.name)
  end
  local name = op.name .. "_backward"
  local whole = gradient_op(op, name, values)
  if not whole.untemplated or not next(values, (next(values))) then
    return { whole }
  end
  local ops = {}
  for input, node in text.sorted_pairs(values) do
    ops[#ops + 1] = gradient_op(op, name .. "_" .. input, { [input] = node })
  end
  return ops
end

local function check_count(op)
  local outputs = #op.values
  if places_of(op) > most_places then
    text.fail(op.where(op.key), "op \"%s\": expected at most %d operands, outputs that are numbers counted twice "
      .. "(their checks need a place too), found %d inputs and %d outputs; %s", op.name, most_places,
      #op.operands - outputs, outputs,
      op.forward and "write detach(...) around inputs whose gradient is not needed" or "make several ops of it")
  end
end

-- Every reduction over everything whose terms need another's result is a launch more on a GPU, of which a call
-- has LATHE_MAX_LAUNCHES.
local most_launches = 4
local function check_depth(op)
  local depth = {}
  expr.visit(roots_of(op), function(node)
    local row, below = expr.operations[node.op], 0
    for i = 1, #node do
      below = math.max(below, depth[node[i]])
    end
    depth[node] = below + (row and row.reduction and 1 or 0)
    if op.family == "reduce" and depth[node] > most_launches then
      text.fail(op.where(op.key), "reduce: expected at most %d reductions each of which needs the one before, found "
        .. "more", most_launches)
    end
  end)
end

-- Refuses numbers that are infinite where they are computed with, while the reference, which is wider, has
-- them as they are. f16 and bf16 are computed in f32.
local largest_f32 = 0x1.fffffep127
local function check_finite(op)
  local narrow = text.contains(op.dtypes, "f32") and "f32" or text.contains(op.dtypes, "f16") and "f16"
    or text.contains(op.dtypes, "bf16") and "bf16"
  local function check(where, what, value)
    if narrow and math.abs(value) > largest_f32 and math.abs(value) < math.huge then
      text.fail(where, "%s: expected numbers of at most %.4g, f32's largest%s; found %.4g", what, largest_f32,
        narrow == "f32" and "" or ", in which " .. narrow .. " is computed", value)
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

-- How many reductions over the rows the references make.
local function count_column_reductions(op)
  local roots, found = {}, 0
  for _, list in ipairs { op.values, op.magnitudes } do
    for _, value in ipairs(list) do
      roots[#roots + 1] = value.node
    end
  end
  expr.visit(roots, function(node)
    found = found + (node.column and 1 or 0)
  end)
  return found
end

-- The magnitudes of the outputs that are numbers: an index has none.
local function magnitudes_of(op)
  local found, memo = {}, {}
  for _, value in ipairs(op.values) do
    if value.node.type == "r" then
      found[#found + 1] = { operand = value.operand, node = magnitude.of(value.node, memo) }
    end
  end
  return found
end

-- What at(...) reads of a row may be another thread's to write, before or after: such an operand is not overwritten.
local function check_in_place(op)
  local first = op.operands[1]
  expr.visit(op.in_place and roots_of(op) or {}, function(node)
    expr.visit(node.op == "pick" and { node[1] } or {}, function(read)
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

-- Traces an op's function into a graph of its own.
function trace.op(op)
  if op.forward then
    op.values = values_of(op, backward(op.forward, op.layout))
  else
    op.values = forward(op, op.layout)
  end
  for _, value in ipairs(op.values) do
    if not op.untemplated then
      check_output(op, value.operand, value.node)
    end
    if value.operand.place == "column" and not op.untemplated then
      check_column(op, value.operand, value.node)
    end
    value.operand.dtype = value.node.type == "n" and "i64" or nil
  end
  check_count(op)
  check_finite(op)
  check_depth(op)
  op.values = without_detach(op.values)
  check_use(op)
  check_in_place(op)
  op.magnitudes = magnitudes_of(op)
  op.flops = expr.flops(roots_of(op))
  op.roughest, op.roughest_ulp = magnitude.roughest(roots_of(op))
  op.column_reductions = count_column_reductions(op)
  mark_rounded(op)
end

return trace
