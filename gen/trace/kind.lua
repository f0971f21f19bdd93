-- What kind of work an op is, finer than by the template that computes it: what its default variants depend on.

local chain = require "chain"
local expr = require "expr"

local kind = {}

local function any(list, is)
  for _, item in ipairs(list) do
    if is(item) then
      return true
    end
  end
  return false
end

-- Whether a factor of some product has a type of its own.
local function is_typed(op)
  local own, found = {}, false
  for _, operand in ipairs(op.operands) do
    own[operand.name] = operand.storage
  end
  for _, step in ipairs(op.steps.steps) do
    expr.visit({ step.a, step.b }, function(node)
      found = found or node.op == "input" and own[node.name]
    end)
  end
  return found
end

-- How many layers a batch's rows go through, whatever type they are computed in, and how many totals follow; or nothing
-- where it is no chain: of one layer, or the gradient of an op that is none. That of a single layer is products after
-- each other too, of matrices as large as the layer's.
local function chain_of(op)
  local made, counts = op.steps and chain.of(op.steps, "any"), { layer = 0, total = 0 }
  for _, of_step in ipairs(made and made.kinds or {}) do
    counts[of_step] = counts[of_step] + 1
  end
  return counts.layer > 1 and (not op.forward or chain_of(op.forward)) and counts or nil
end

local function is_chain_to_totals(op)
  local counts = chain_of(op)
  return counts and counts.total > 0
end

-- { name, says, template, is }: what it is in words; and the template that computes its ops, of which is(op) tells
-- the kind's rows. The first that fits is an op's.
local kinds = {
  { "map", "values at each point, without reductions", "map" },
  {
    "reduce_to_index", "reductions over everything, one of them to an index", "reduce",
    function(op)
      return any(op.values, function(value) return value.node.type == "n" end)
    end,
  },
  { "reduce", "reductions over everything", "reduce" },
  {
    "rows_to_totals", "reductions of each row, and nothing else", "rows",
    function(op)
      return not any(op.operands, function(operand) return operand.output and operand.place ~= "row" end)
    end,
  },
  { "rows", "reductions of rows, and values that are made of them", "rows" },
  {
    "chain_to_totals", "sums of products after each other, for each row of a batch, and sums over the batch",
    "contract", is_chain_to_totals,
  },
  { "chain", "sums of products after each other, for each row of a batch", "contract", chain_of },
  {
    "contract_stream", "sums of products after each other of each batch, what is between them only reduced", "contract",
    function(op)
      return op.stream ~= false
    end,
  },
  { "contract_typed", "sums of products, some of whose factors have a type of their own", "contract", is_typed },
  { "contract", "sums of products", "contract" },
  {
    "stream", "products of operands, reduced over their rows or columns alone", "nest",
    function(op)
      return op.stream ~= false
    end,
  },
  {
    "stream_sequence", "products that are only reduced, and nests, one after the other", "nest",
    function(op)
      return op.sequence and op.sequence.of_streams
    end,
  },
  {
    "sequence", "products, products that are only reduced, and nests, one after the other", "nest",
    function(op)
      return op.sequence ~= false
    end,
  },
  { "nest", "what only nests of plain loops do", "nest" },
}

-- The kind of an op that has a template: its name, and what that is in words.
function kind.of(op)
  for _, row in ipairs(kinds) do
    local name, says, template, is = table.unpack(row)
    if op.template == template and (not is or is(op)) then
      return name, says
    end
  end
end

return kind
