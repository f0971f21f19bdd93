-- Calls an op's function with symbolic values, and takes the graph that it leaves. Kernel and reference come
-- of one graph, so what a function says and the graph does not have, no check of a result could find: it is
-- looked for here.

local expr = require "expr"
local load_stage = require "load"
local outside = require "outside"
local symbol = require "symbol"
local text = require "text"

local call = {}

-- The leaf that stands for an operand: expr.leaf's name of it, and its type.
function call.leaf_of(operand)
  if operand.index then
    return expr.leaf("index", operand.name, "x", operand.axes, operand.along)
  elseif operand.dtype then
    return expr.leaf("integer", operand.name, "s")
  end
  return expr.leaf("input", operand.name, "r", operand.axes)
end

-- The nodes that an op's functions are given, by name.
local function leaves_of(op)
  local leaves = {}
  for _, operand in ipairs(op.operands) do
    leaves[operand.name] = not operand.output and call.leaf_of(operand) or nil
  end
  for _, scalar in ipairs(op.scalars) do
    leaves[scalar.name] = expr.leaf("scalar", scalar.name)
  end
  return leaves
end

function call.outputs_of(op)
  local outputs = {}
  for _, operand in ipairs(op.operands) do
    if operand.output then
      outputs[#outputs + 1] = operand
    end
  end
  return outputs
end

-- A function's results, by the names of the outputs.
local function by_output(outputs, where, key, results)
  local values = results[1]
  if results.n == 1 and #outputs == 1 and (symbol.is(values) or type(values) == "number") then
    return { [outputs[1].name] = values }
  elseif results.n ~= 1 or type(values) ~= "table" or symbol.is(values) then
    text.fail(where, "%s: expected the function to return %s, found %s", key,
      #outputs == 1 and "a value" or "a table of its outputs by name",
      results.n == 0 and "nothing" or results.n > 1 and results.n .. " values"
        or symbol.is(values) and "one value" or "a " .. type(values))
  end
  local names = text.map(outputs, function(o)
    return o.name
  end)
  for name in text.sorted_pairs(values) do
    if not text.contains(names, name) then
      text.fail(where, "%s: %s is not an output%s", key, text.show(name), text.did_you_mean(name, names))
    end
  end
  return values
end

-- The node of an output.
local function node_of(value, where, key, name)
  if type(value) ~= "number" and not symbol.is(value) then
    text.fail(where, "%s: expected a value for the output '%s', found %s", key, name, text.show(value))
  end
  local node = type(value) == "number" and expr.const(value) or symbol.node_of(value)
  if node.type == "m" then
    return expr.select(node, 1, 0)
  elseif node.type ~= "r" and node.type ~= "n" then
    text.fail(where, "%s: '%s' is %s; expected a number", key, name, expr.type_names[node.type])
  end
  return node
end

-- Refuses what the function computed and did not use. A helper may make more than one of its callers needs, but
-- no comparison is made to be forgotten: it may be what a branch was meant to ask.
local function check_use(f, where, key, results)
  local own, values = debug.getinfo(f, "S"), {}
  for _, value in pairs(results) do
    values[#values + 1] = value
  end
  for _, unused in ipairs(symbol.unused(values)) do
    local at = unused.line and unused.file .. ":" .. unused.line or where
    if unused.node.type == "m" then
      text.fail(at, "%s: the comparison '%s' reaches no output; write select(condition, a, b), or leave it out", key,
        unused.name)
    elseif unused.file == own.source:sub(2) and unused.line >= own.linedefined
      and unused.line <= own.lastlinedefined then
      text.fail(at, "%s: the result of '%s' reaches no output; return what is made of it, or leave it out", key,
        unused.name)
    end
  end
end

-- Calls the op's function; returns { operand, node } per output.
function call.values(op)
  local f, key = op.f, op.key
  local where = op.where(key)
  local leaves, outputs = leaves_of(op), call.outputs_of(op)
  if debug.getinfo(f, "u").isvararg then
    text.fail(where, "%s: expected named parameters, found ...", key)
  end
  for i = 1, debug.getinfo(f, "u").nparams do
    local name = debug.getlocal(f, i)
    if not leaves[name] then
      text.fail(where, "%s: parameter '%s' is no input and no scalar%s", key, name,
        text.did_you_mean(name, text.sorted_keys(leaves)))
    end
  end
  local values, arguments, before = symbol.begin(leaves), {}, outside.look(f)
  for i = 1, debug.getinfo(f, "u").nparams do
    arguments[i] = values[debug.getlocal(f, i)]
  end
  local results = by_output(outputs, where, key, table.pack(load_stage.call(where, f, table.unpack(arguments))))
  local changed = outside.changed(before, f)
  if changed then
    text.fail(where, "%s: the function changes '%s', which is outside of it; expected one that computes the same "
      .. "whenever it is called", key, changed)
  end
  local traced = text.map(outputs, function(operand)
    return { operand = operand, node = node_of(results[operand.name], where, key, operand.name) }
  end)
  check_use(f, where, key, results)
  return traced
end

return call
