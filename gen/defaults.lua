-- The variants of an op whose spec leaves them out, or names them by "default" in its list: rows that are found by what
-- kind of work the op is. Each language of templates/ has its own, in defaults.lua beside the templates.

local chain = require "chain"
local expr = require "expr"
local text = require "text"

local defaults = {}

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

-- Whether a batch's rows go through several layers, whatever type they are computed in; or it is the gradient of an op
-- whose rows do: that of a single layer is products after each other too, of matrices as large as the layer's.
local function is_chain(op)
  local made, layers = op.steps and chain.of(op.steps, "any"), 0
  for _, kind in ipairs(made and made.kinds or {}) do
    layers = layers + (kind == "layer" and 1 or 0)
  end
  return layers > 1 and (not op.forward or is_chain(op.forward))
end

-- { name, what it is in words, of which family, whether an op of that family is it }: of the first that an op is there
-- are rows under the name.
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
  { "chain", "sums of products after each other, for each row of a batch", "contract", is_chain },
  { "contract_typed", "sums of products, some of whose factors have a type of their own", "contract", is_typed },
  { "contract", "sums of products", "contract" },
  { "other", "what no template does", "other" },
}

-- Of which kind an op is that has a family.
local function kind_of(op)
  for _, kind in ipairs(kinds) do
    local _, _, family, is = table.unpack(kind)
    if op.family == family and (not is or is(op)) then
      return kind
    end
  end
end

-- The default rows of an op, of all languages that some backends are of.
local function rows_of(op, backends)
  local name, rows, seen = kind_of(op)[1], {}, {}
  for _, backend in ipairs(backends) do
    local own = not seen[backend.language] and backend.defaults and backend.defaults[name] or {}
    seen[backend.language] = true
    table.move(own, 1, #own, #rows + 1, rows)
  end
  return rows
end

-- The rows { row, number, default } of a spec's list of variants, with what "default" stands for in its place; or the
-- default rows where there is no list. number: the place in the list.
function defaults.resolve(op, list, backends)
  local rows = {}
  for number, row in ipairs(list or { "default" }) do
    local is_default = row == "default"
    for _, each in ipairs(is_default and rows_of(op, backends) or { row }) do
      rows[#rows + 1] = { row = each, number = number, default = is_default }
    end
  end
  return rows
end

-- A row as a spec writes it.
local function written(value)
  if type(value) ~= "table" then
    return type(value) == "string" and '"' .. value .. '"' or tostring(value)
  end
  local cells = {}
  for key, field in text.sorted_pairs(value) do
    cells[#cells + 1] = (math.type(key) == "integer" and "" or key .. " = ") .. written(field)
  end
  return "{ " .. table.concat(cells, ", ") .. " }"
end

-- What an op is and its default rows, in words, for a list that does not fit it.
function defaults.described(op, backends)
  return string.format("'%s' computes %s: \"default\" stands for %s", op.name, kind_of(op)[2],
    table.concat(text.map(rows_of(op, backends), written), ", "))
end

return defaults
