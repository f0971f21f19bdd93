-- An op's operands: what a spec says of them, in the order of the function's parameters, and the axes that they have.

local axes = require "axes"
local capacity = require "capacity"
local names = require "names"
local text = require "text"
local types = require "types"

local operands = {}

-- The types that an operand may have of its own, for messages.
local function own_types(output)
  return text.one_of(types.of_operands) .. (output and "" or ", or \"i64\" for one integer in all")
end

-- The dimension at a place of an operand's shape.
local function check_dim(where, what, shape, at, output)
  if at < 1 or at > #shape then
    text.fail(where, "%s: expected a list of dimensions such as { \"n\" }, found the key %d in it", what, at)
  elseif not text.is_name(shape[at]) then
    text.fail(where, "%s: expected names of dimensions such as \"n\", found %s", what, text.show(shape[at]))
  elseif text.contains(types.of_operands, shape[at]) or shape[at] == "i64" then
    text.fail(where, "%s: expected names of dimensions, found the type %s; write dtype = \"%s\" beside them, as in "
      .. "{ \"n\", dtype = \"i8\" }; there are %s", what, text.show(shape[at]), shape[at], own_types(output))
  end
  return shape[at]
end

-- Sets an operand's own type. An input without a range has all numbers of an integer type.
local function set_type(where, operand, value, range)
  local row = type(value) == "string" and types[value]
  if value == "i64" and not operand.output then
    operand.dtype = value
    if not range then
      operand.low, operand.high = 0.0, 2.0 ^ 31
    end
  elseif value == "i64" then
    operand.says_index = true
  elseif text.contains(types.of_operands, value) then
    operand.storage = value
    if row.integer and not range then
      operand.low, operand.high = row.low, row.high
    end
  else
    text.fail(where, "%s.%s: an operand has the precisions under 'dtypes', or a dtype of its own; expected %s, found "
      .. "dtype = %s%s", operand.key, operand.name, own_types(operand.output), text.show(value),
      text.did_you_mean(value, types.of_operands))
  end
end

-- Refuses a range that the operand's own type has no numbers for.
local function check_range(where, operand)
  local row = operand.storage and types[operand.storage]
  if row and not operand.output and (operand.low < row.low or operand.high > row.high) then
    text.fail(where, "%s.%s: expected a range within that of %s, %g to %g, found %g to %g", operand.key, operand.name,
      row.name, row.low, row.high, operand.low, operand.high)
  end
end

-- Refuses precisions that are computed in another type than an operand is.
function operands.check_types(op)
  for _, operand in ipairs(op.operands) do
    for _, dtype in ipairs(operand.storage and op.dtypes or {}) do
      local compute = types.compute(types.stored(operand, dtype))
      if types.compute(dtype) ~= compute then
        text.fail(op.where(operand.key, operand.name), "%s.%s: numbers of %s are computed in %s, those of %s in %s; "
          .. "expected dtypes without %s", operand.key, operand.name, operand.storage, compute, dtype,
          types.compute(dtype), dtype)
      end
    end
  end
end

-- Appends the operands under a key of a spec to a list.
local function read(op, key, output, list)
  for name, shape in text.sorted_pairs(op.keys[key]) do
    local where = op.where(key, name)
    names.check(where, key, name)
    if type(shape) ~= "table" then
      text.fail(where, "%s.%s: expected a list of dimensions such as { \"n\" }, found a %s", key, name, type(shape))
    end
    local operand = { name = name, output = output, dims = {}, low = -1.0, high = 1.0, key = key }
    for k, value in text.sorted_pairs(shape) do
      if math.type(k) == "integer" then
        operand.dims[k] = check_dim(where, key .. "." .. name, shape, k, output)
      elseif k == "range" and not output then
        if type(value) ~= "table" or #value ~= 2 then
          text.fail(where, "%s.%s: expected range = { low, high }", key, name)
        end
        text.expect_number(where, name .. ".range", value[1], -text.largest, text.largest)
        text.expect_number(where, name .. ".range", value[2], -text.largest, text.largest)
        if value[1] > value[2] then
          text.fail(where, "%s.range: expected { low, high } with low first, found { %g, %g }", name, value[1],
            value[2])
        end
        operand.low, operand.high = value[1] * 1.0, value[2] * 1.0
        if operand.high - operand.low > text.largest then
          text.fail(where, "%s.range: expected high - low to be a finite number, found %g and %g", name, value[1],
            value[2])
        end
      elseif k == "index" and not output then
        operand.index, operand.dtype = value, "i64"
      elseif k == "dtype" then
        set_type(where, operand, value, shape.range)
      else
        local known = output and { "dtype" } or { "range", "index", "dtype" }
        text.fail(where, "%s.%s: unknown key %s%s; expected dimensions%s", key, name, text.show(k),
          text.did_you_mean(k, known), output and " and dtype" or ", range, index and dtype")
      end
    end
    check_range(where, operand)
    if #operand.dims > capacity.dims then
      text.fail(where, "%s.%s: expected at most %d dimensions, found %d", key, name, capacity.dims, #operand.dims)
    end
    list[#list + 1] = operand
  end
end

-- Puts inputs and scalars in the order of the function's parameters.
local function put_in_order(op, inputs, outputs)
  local where = op.where(op.key)
  names.check_together(where, "op \"" .. op.name .. "\"", inputs, outputs, op.scalars)
  local by_name = {}
  for _, list in ipairs { inputs, outputs, op.scalars } do
    for _, operand in ipairs(list) do
      by_name[operand.name] = operand
    end
  end
  local info = debug.getinfo(op.f, "u")
  if info.isvararg then
    text.fail(where, "%s: expected a function whose parameters are the names of inputs and scalars, found '...'",
      op.key)
  end
  local candidates = table.move(op.scalars, 1, #op.scalars, #inputs + 1, { table.unpack(inputs) })
  local ordered = { inputs = {}, scalars = {} }
  for i = 1, info.nparams do
    local name = debug.getlocal(op.f, i)
    local operand = by_name[name]
    if not operand or operand.output then
      text.fail(where, "%s: parameter '%s' is no input and no scalar%s", op.key, name,
        text.did_you_mean(name, text.map(candidates, function(candidate)
          return candidate.name
        end)))
    end
    local list = operand.dims and ordered.inputs or ordered.scalars
    list[#list + 1] = operand
    by_name[name] = nil
  end
  for name, operand in text.sorted_pairs(by_name) do
    if not operand.output then
      text.fail(where, "%s: '%s' is declared but is no parameter of the function", op.key, name)
    end
  end
  op.operands, op.scalars = ordered.inputs, ordered.scalars
  table.move(outputs, 1, #outputs, #op.operands + 1, op.operands)
  if #op.scalars > capacity.scalars then
    text.fail(where, "op \"%s\": expected at most %d scalars, found %d", op.name, capacity.scalars, #op.scalars)
  end
end

-- Names, each once, of some lists one after the other.
local function united(lists)
  local all, seen = {}, {}
  for _, list in ipairs(lists) do
    for _, name in ipairs(list) do
      all[#all + 1] = not seen[name] and name or nil
      seen[name] = true
    end
  end
  return all
end

-- The axes that a spec says no input has. lists: those that inputs have.
local function own_axes(op, lists)
  local where, given = op.where "axes", op.keys.axes or {}
  text.expect_list(where, "axes", given)
  for i, name in ipairs(given) do
    check_dim(where, "axes", given, i)
    if text.contains(united(lists), name) then
      text.fail(where, "axes: expected names of axes that no input has, found '%s'", name)
    end
  end
  op.own_axes = given
  return given
end

-- The op's dimensions are those of its largest input, and what other inputs have besides. Where there is something
-- besides, those of the first output come first: m, n, k for a product of matrices. Those under `axes` come last.
local function find_dims(op)
  op.dims = {}
  for _, operand in ipairs(op.operands) do
    if not operand.output and #operand.dims > #op.dims then
      op.dims = operand.dims
    end
  end
  local where = op.where "inputs"
  if #op.dims == 0 then
    text.fail(where, "op \"%s\": expected an input with at least one dimension", op.name)
  end
  local position = {}
  for i, dim in ipairs(op.dims) do
    if position[dim] then
      text.fail(where, "op \"%s\": dimension '%s' stands twice", op.name, dim)
    end
    position[dim] = i
  end
  local lists, first_output = { op.dims }, nil
  for _, operand in ipairs(op.operands) do
    lists[#lists + 1] = not operand.output and operand.dims or nil
    first_output = first_output or operand.output and operand.dims
  end
  lists[#lists + 1] = own_axes(op, lists)
  local all = united(lists)
  table.insert(lists, 1, first_output)
  local in_order = united(lists)
  op.dims = #all > #op.dims and #in_order == #all and in_order or all
  for i, dim in ipairs(op.dims) do
    position[dim] = i
  end
  if #op.dims > capacity.dims then
    text.fail(where, "op \"%s\": expected at most %d dimensions together, found %s", op.name, capacity.dims,
      axes.list(op.dims))
  end
  return position
end

-- The op's dimensions that an operand has.
local function find_axes(op, operand, position)
  local at, seen = op.where(operand.key, operand.name), {}
  operand.dim_index = {}
  for i, dim in ipairs(operand.dims) do
    if not position[dim] then
      text.fail(at, "%s.%s: expected dimensions out of those of the inputs, %s, found %s", operand.key, operand.name,
        axes.list(op.dims), axes.list(operand.dims))
    elseif seen[dim] then
      text.fail(at, "%s.%s: dimension '%s' stands twice", operand.key, operand.name, dim)
    end
    operand.dim_index[i], seen[dim] = position[dim], true
  end
  operand.axes = axes.set(operand.dim_index)
  if operand.index and (not position[operand.index] or seen[operand.index]) then
    text.fail(at, "%s.%s: expected an index along a dimension of the op that '%s' itself lacks, found %s", operand.key,
      operand.name, operand.name, text.show(operand.index))
  end
  operand.along = operand.index and axes.at(position[operand.index])
  if operand.dtype and not operand.index and operand.axes ~= 0 then
    text.fail(at, "%s.%s: expected dtype = \"i64\" with a single value, { dtype = \"i64\" }", operand.key, operand.name)
  end
end

-- Reads the operands of an op whose scalars are known: op.operands and op.dims, and the scalars in order.
function operands.check(op)
  local inputs, outputs = {}, {}
  read(op, "inputs", false, inputs)
  read(op, "outputs", true, outputs)
  if #outputs == 0 then
    text.fail(op.where "outputs", "outputs: expected at least one")
  end
  put_in_order(op, inputs, outputs)
  local position = find_dims(op)
  for _, operand in ipairs(op.operands) do
    find_axes(op, operand, position)
  end
end

return operands
