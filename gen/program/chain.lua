-- Finds chains among an op's steps (steps.lua): each row of a batch goes through all steps by itself, as through the
-- layers of a network, so that a few rows at a time can be taken through them with nothing kept beyond. Steps are of
-- two kinds:
--   "layer"    m is the batch: a row of what has the batch, times a matrix that has not
--   "total"    k is the batch: what rows make is summed over all of them; nothing later reads that
-- All operands with the batch have it outermost.

local expr = require "expr"
local steps = require "steps"

local chain = {}

local function begins_with(operand, run)
  for i, place in ipairs(run) do
    if operand.dim_index[i] ~= place then
      return false
    end
  end
  return true
end

local function stores_outputs(step)
  for _, value in ipairs(step.values) do
    if value.operand.temporary then
      return false
    end
  end
  return true
end

local function kind_of(step, batch)
  if #step.batch > 0 or #step.n ~= 1 or #step.k ~= 1 or #step.m > 1 then
    return nil
  elseif steps.is_same_run(step.m[1], batch) then
    return "layer"
  end
  return steps.is_same_run(step.k[1], batch) and stores_outputs(step) and "total" or nil
end

-- What stands against a layer of matrices, which are read as they are: an input of the step that is computed, or nil.
local function computed_factor(record, step)
  for _, letter in ipairs { "a", "b" } do
    local node, kept = step[letter], false
    for _, operand in ipairs(record.temporaries) do
      kept = kept or operand.name == node.name
    end
    if node.op ~= "input" or letter == "b" and kept then
      return "a layer whose factors are computed"
    end
  end
end

-- Where a result jumps with the least change of an argument, besides comparisons.
local jumps = { floor = true, round = true, sign = true, copysign = true }

local function jumps_at(node)
  return jumps[node.op] or node.type == "m" and #node == 2 and node[1].type == "r"
end

-- Which steps' sums decide something, as a set by their numbers: where rounding a factor may put a result off not by a
-- little but by a jump, as that of a gradient which a hidden value's sign lets pass.
local function deciding(record)
  local decides, wanted = {}, {} -- wanted: operands by name, and other nodes
  local function want_all(nodes)
    expr.visit(nodes, function(node)
      wanted[node.op == "input" and node.name or node] = true
    end)
  end
  for i = #record.steps, 1, -1 do
    local step = record.steps[i]
    local nodes = { step.a, step.b }
    for _, value in ipairs(step.values) do
      nodes[#nodes + 1] = value.node
      if wanted[value.operand.name] then
        want_all { value.node }
      end
    end
    expr.visit(nodes, function(node)
      if jumps_at(node) then
        want_all { node }
      end
    end)
    decides[i] = wanted[step.leaf]
    if decides[i] then
      want_all { step.a, step.b }
    end
  end
  return decides
end

-- { batch, kinds, decides }: the batch's run, each step's kind, and those whose sums decide something; or nil and what
-- stands against a chain. of_matrices: whether layers are to be products of operands and of what earlier layers leave,
-- as these are: of which type, or false.
function chain.of(record, of_matrices)
  local batch, kinds = record.steps[1].m[1], {}
  if not batch then
    return nil, "a first product without rows"
  elseif of_matrices == "f64" then
    return nil, "f64"
  end
  for _, operand in ipairs(of_matrices and record.operands or {}) do
    if operand.storage and operand.storage ~= of_matrices then
      return nil, "'" .. (operand.called or operand.name) .. "' with a dtype of its own"
    end
  end
  for i, step in ipairs(record.steps) do
    kinds[i] = kind_of(step, batch)
    if not kinds[i] then
      return nil, "a product that is no layer of the first one's rows, and no sum over these"
    end
    local reason = of_matrices and kinds[i] == "layer" and computed_factor(record, step)
    if reason then
      return nil, reason
    end
  end
  for _, operand in ipairs(record.operands) do
    if steps.stride(operand, batch) and not begins_with(operand, batch) then
      return nil, "'" .. (operand.called or operand.name) .. "' without the batch outermost"
    end
  end
  return { batch = batch, kinds = kinds, decides = deciding(record) }
end

return chain
