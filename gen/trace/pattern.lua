-- Finds the pattern that an op's axes make, and by it the template that computes the op. Nothing of a spec says which.
--
--   map        no reduction; operands have all of the op's axes or none
--   reduce     reductions over all axes, and nothing left but single values
--   rows       reductions over the innermost axis, values over it after them; reductions over the others, which leave
--              a value per column; operands lack the innermost axis (a value per row), the others (per column) or all
--   attention  a contraction of what a reduction makes of another one, over the axes that the reduction goes over
--   chain      a contraction of what is made of another one
--   contract   the sum of a product of which two factors each have axes that the other lacks
--   nest       everything else
--
-- `patterns` has a row for each, in the order they are looked for. Those without `describe` have a template of their
-- own name; what the others are, the template "contract" does where it comes to steps, and else "nest".

local axes = require "axes"
local contractions = require "contraction"
local expr = require "expr"
local sequence = require "sequence"
local steps = require "steps"
local stream = require "stream"
local text = require "text"

local pattern = {}

-- Where an operand stands among an op's axes: "whole", "row" (all but the innermost), "column" (the innermost
-- alone) or "single"; nil for anything else.
function pattern.place_of(op, operand)
  local all = axes.all(op.dims)
  local last = axes.at(#op.dims)
  for i = 2, #operand.dim_index do
    if operand.dim_index[i] < operand.dim_index[i - 1] then
      return nil
    end
  end
  local set = operand.axes
  return set == all and "whole" or set == 0 and "single" or set == all & ~last and "row" or set == last and "column"
    or nil
end

-- The properties of an op that patterns look at:
--   op, values         the op, and what it computes
--   all, last, outer   all axes, the innermost, and all but that, as sets
--   reductions         { node, over }: those under the values, and counts, with the axes that they go over
--   reduces            whether any is a reduction
--   contractions       { node, over, a, b }: those that are contractions, of factors a and b
--   above[node]        whether there is a contraction under a node, or it is one
--   is_random          "everywhere" where there is a random number at each point, "apart" where there are several, or
--                      one of fewer axes; else false
--   elsewhere          whether points' places are asked for, or anything is read at another place or scanned
local function facts_of(op)
  local values, all, last = op.values, axes.all(op.dims), axes.at(#op.dims)
  local facts = {
    op = op, values = values, all = all, last = last, outer = all & ~last, reductions = {}, contractions = {},
    above = {}, reduces = false, is_random = false, elsewhere = #op.own_axes > 0,
  }
  expr.visit(text.map(values, function(value)
    return value.node
  end), function(node)
    if node.op == "random" then
      facts.is_random = (node.k or facts.is_random) and "apart" or "everywhere"
    end
    facts.elsewhere = facts.elsewhere or node.op == "whole" or node.op ~= "hit" and expr.asks_for_place(node)
    for i = 1, #node do
      facts.above[node] = facts.above[node] or facts.above[node[i]]
    end
    if expr.reduces(node) or node.op == "points" then
      table.insert(facts.reductions, { node = node, over = node.k })
      facts.reduces = facts.reduces or node.op ~= "points"
    end
    local a, b = contractions.factors(node)
    if a then
      table.insert(facts.contractions, { node = node, over = node.k, a = a, b = b, later = facts.above[node] })
      facts.above[node] = true
    end
  end)
  return facts
end

-- Whether all operands have one of the places, and the outputs one of theirs.
local function stand_at(op, inputs, outputs)
  for _, operand in ipairs(op.operands) do
    if not text.contains(operand.output and outputs or inputs, pattern.place_of(op, operand)) then
      return false
    end
  end
  return true
end

-- Whether the reductions under a node go over the innermost axis alone; over_rows: or once over the others, above
-- all that go over the innermost.
local function are_in_rows(node, last, over_rows)
  local fine, seen = true, {}
  local function walk(n, above)
    seen[above] = seen[above] or {}
    if seen[above][n] then
      return
    end
    seen[above][n] = true
    if expr.reduces(n) and n.k ~= last then
      fine = fine and over_rows and above == "nothing" and (n.op == "sum" or n.op == "maximum" or n.op == "minimum")
      above = "rows"
    elseif expr.reduces(n) then
      fine = fine and (not over_rows or above == "rows")
      above = above == "nothing" and "points" or above
    end
    for i = 1, fine and #n or 0 do
      walk(n[i], above)
    end
  end
  walk(node, "nothing")
  return fine
end

local function is_over_all(facts)
  for _, reduction in ipairs(facts.reductions) do
    if reduction.over ~= facts.all then
      return false
    end
  end
  return true
end

local function is_map(facts)
  return not facts.reduces and facts.is_random ~= "apart" and is_over_all(facts)
    and stand_at(facts.op, { "whole", "single" }, { "whole" })
end

local function is_reduce(facts)
  return facts.reduces and not facts.is_random and is_over_all(facts)
    and stand_at(facts.op, { "whole", "single" }, { "single" })
end

-- A value with an index at each point, which is a result of its own for each row.
local function index_at_points(facts)
  for _, value in ipairs(facts.values) do
    if value.node.type == "n" and pattern.place_of(facts.op, value.operand) == "whole" then
      return value
    end
  end
end

-- Whether some reduction under a node goes over just these axes.
local function reduces_over(node, set)
  local found = false
  expr.visit({ node }, function(n)
    found = found or expr.reduces(n) and n.k == set
  end)
  return found
end

local function is_rows(facts)
  for _, reduction in ipairs(facts.reductions) do
    if reduction.over ~= facts.last and reduction.over ~= facts.outer then
      return false
    end
  end
  for _, value in ipairs(facts.values) do
    local is_column = pattern.place_of(facts.op, value.operand) == "column"
    local is_gathered = not is_column or reduces_over(value.node, facts.outer)
    if not is_gathered or not are_in_rows(value.node, facts.last, is_column) then
      return false
    end
  end
  return #facts.op.dims > 1 and not facts.is_random and not index_at_points(facts)
    and stand_at(facts.op, { "whole", "row", "column", "single" }, { "whole", "row", "column" })
end

-- A contraction of what is made of another one, or nil.
local function later_contraction(facts)
  for _, contraction in ipairs(facts.contractions) do
    if contraction.later then
      return contraction
    end
  end
end

-- A reduction of what is made of a contraction, over axes that a later one goes over, and that one; or nil.
local function normalised(facts)
  for _, reduction in ipairs(facts.reductions) do
    local node = reduction.node
    for _, contraction in ipairs(node[1] and facts.above[node[1]] and facts.contractions or {}) do
      if contraction.later and contraction.node ~= node and contraction.over & node.k ~= 0 then
        return reduction, contraction
      end
    end
  end
end

-- What there is, in words, and the nearest that a template does: one function for each pattern without any. -------

local function named(facts, set)
  return axes.show(facts.op.dims, set)
end

local function describe_product(facts, c)
  return string.format("a sum over %s of a product whose factors have %s and %s", named(facts, c.over),
    named(facts, c.a.axes), named(facts, c.b.axes))
end

local nearest_to_contraction = "a sum of what has all axes, such as a product with a vector along the innermost"

local function describe_contraction(facts)
  return "a contraction: " .. describe_product(facts, facts.contractions[1]), nearest_to_contraction
end

local function describe_chain(facts)
  return "a chain of contractions: " .. describe_product(facts, later_contraction(facts))
    .. ", one of them made of " .. describe_product(facts, facts.contractions[1]), nearest_to_contraction
end

local function describe_attention(facts)
  local reduction, contraction = normalised(facts)
  return string.format("attention: %s, one of them made of reductions over %s of %s",
    describe_product(facts, contraction), named(facts, reduction.over),
    describe_product(facts, facts.contractions[1])), nearest_to_contraction
end

-- The first operand that has no place among the op's axes, or nil.
local function misplaced(facts)
  for _, operand in ipairs(facts.op.operands) do
    if not pattern.place_of(facts.op, operand) then
      return operand
    end
  end
end

local function describe_operand(facts)
  local op, operand = facts.op, misplaced(facts)
  return string.format("an operand '%s' with %s of the op's %s", operand.name,
    #operand.dims == 0 and "none" or axes.list(operand.dims), axes.list(op.dims)),
    string.format("operands with %s, %s, all of these in this order, or none", named(facts, facts.outer),
      named(facts, facts.last))
end

local function describe_index(facts)
  local value = index_at_points(facts)
  return string.format("an index in '%s' at each point of %s", value.operand.name, axes.list(value.operand.dims)),
    "an output with the axes of the index, " .. named(facts, value.node.axes)
end

local function describe_random()
  return "random numbers beside reductions, or operands that lack axes", "operands with all axes, or none"
end

local function describe_reductions(facts)
  local op, over, seen, outputs = facts.op, {}, {}, {}
  for _, reduction in ipairs(facts.reductions) do
    if not seen[reduction.over] then
      seen[reduction.over] = true
      over[#over + 1] = named(facts, reduction.over)
    end
  end
  for _, value in ipairs(facts.values) do
    outputs[#outputs + 1] = string.format("'%s' with %s", value.operand.name, axes.list(value.operand.dims))
  end
  return string.format("%s of %s", table.concat(outputs, ", "),
      #over > 0 and "reductions over " .. table.concat(over, " and ") or "these operands"),
    #op.dims == 1 and "the same over rows: operands with " .. axes.list { "rows", op.dims[1] }
      or string.format("values over rows of reductions over %s, a value per column of those over %s, or one in all of "
        .. "those over both", named(facts, facts.last), named(facts, facts.outer))
end

local function describe_places()
  return "places along axes, scans, or axes that no input has", "operands made outside, read at the point"
end

-- in_rows: whether a pass goes over the innermost axis alone, not over all.
local patterns = {
  {
    name = "nest", describe = describe_places,
    matches = function(facts)
      return facts.elsewhere
    end,
  },
  { name = "map", matches = is_map },
  { name = "reduce", matches = is_reduce },
  { name = "rows", matches = is_rows, in_rows = true },
  { name = "attention", matches = normalised, describe = describe_attention },
  { name = "chain", matches = later_contraction, describe = describe_chain },
  {
    name = "contract", describe = describe_contraction,
    matches = function(facts)
      return #facts.contractions > 0
    end,
  },
  { name = "nest", matches = misplaced, describe = describe_operand },
  {
    name = "nest", describe = describe_random,
    matches = function(facts)
      return facts.is_random
    end,
  },
  { name = "nest", matches = index_at_points, describe = describe_index },
  {
    name = "nest", describe = describe_reductions,
    matches = function()
      return true
    end,
  },
}

-- Whether each of some products has axes that both its factors have, as heads of attention are: what is between steps
-- is large then beside the operands.
local function are_batched(record)
  for _, step in ipairs(record.steps) do
    if #step.batch == 0 and step.a.op ~= "const" and step.b.op ~= "const" then
      return false
    end
  end
  return true
end

-- Finds the pattern of an op that has values:
--   template  the name of the template that does it: "nest" does what no other does
--   inner     the axes that a pass goes over, as a set: passes.lua
--   steps     of a contraction, its record of steps; else false
--   stream    of products whose results are only reduced, their record (stream.lua), beside steps only where these are
--             of batches; else false
--   sequence  of products or streams among others, the record of runs (sequence.lua); of streams alone in the place of
--             steps of batches; else false
--   lacking   where not every backend has a template that does the pattern, a line that says of one which has none
--             that there is none, with the nearest that would; else nil
function pattern.find(op)
  local facts = facts_of(op)
  for _, row in ipairs(patterns) do
    if row.matches(facts) then
      local found = {
        template = row.name, inner = row.in_rows and facts.last or facts.all, steps = false, stream = false,
        sequence = false,
      }
      if row.describe then
        found.steps = steps.with_reuse(op, steps.make(op, op.values))
        local is_apart = not found.steps or are_batched(found.steps)
        found.stream = is_apart and stream.make(op, op.values) or false
        local splits = #facts.contractions > 0 and is_apart and not found.stream
        found.sequence = splits and sequence.make(op, op.values, found.steps) or false
        found.steps = not found.sequence and found.steps
        found.template = found.steps and "contract" or "nest"
        local which = not found.steps and (found.stream and "stream and nest" or found.sequence and "sequence and nest")
        found.lacking = (which and "no template but " .. which or "no faster template")
          .. string.format(" does %s; the nearest that one does: %s", row.describe(facts))
      end
      return found
    end
  end
end

return pattern
