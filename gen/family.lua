-- Finds an op's family: the pattern that its axes make, of which backends have templates. Nothing of a spec says which.
--
--   map      no reduction; operands have all of the op's axes or none
--   reduce   reductions over all axes, and nothing left but single values
--   rows     reductions over the innermost axis, values over it after them; reductions over the others, which leave
--            a value per column; operands lack the innermost axis (a value per row), the others (per column) or all
--   contract the sum of a product of which each factor has axes that the other lacks
--   other    everything else
--
-- Of the last two there is no template yet.

local axes = require "axes"
local expr = require "expr"
local text = require "text"

local family = {}

-- Where an operand stands among an op's axes: "whole", "row" (all but the innermost), "column" (the innermost
-- alone) or "single"; nil for anything else.
function family.place_of(op, operand)
  local all = (1 << #op.dims) - 1
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

local function is_reduction(node)
  local row = expr.operations[node.op]
  return row and row.reduction
end

-- The sets that reductions and counts under some values go over, { node, over }; whether any is a reduction; and
-- whether there are random numbers.
local function sets_of(values)
  local found, reduces, is_random = {}, false, false
  for _, value in ipairs(values) do
    expr.visit({ value.node }, function(node)
      is_random = is_random or node.op == "random"
      if is_reduction(node) or node.op == "points" then
        found[#found + 1] = { node = node, over = node.k }
        reduces = reduces or node.op ~= "points"
      end
    end)
  end
  return found, reduces, is_random
end

-- Whether all operands have one of the places, and the outputs one of theirs.
local function stand_at(op, inputs, outputs)
  for _, operand in ipairs(op.operands) do
    if not text.contains(operand.output and outputs or inputs, family.place_of(op, operand)) then
      return false
    end
  end
  return true
end

-- Whether the reductions under a node go over the innermost axis alone; over_rows: or once over the others, above
-- all that go over the innermost.
local function are_in_rows(node, last, over_rows)
  local fine = true
  local function walk(n, above)
    if is_reduction(n) and n.k ~= last then
      fine = fine and over_rows and not above and (n.op == "sum" or n.op == "maximum" or n.op == "minimum")
      above = "rows"
    elseif is_reduction(n) then
      fine = fine and (not over_rows or above == "rows")
      above = above or "points"
    end
    for i = 1, fine and #n or 0 do
      walk(n[i], above)
    end
  end
  walk(node, nil)
  return fine
end

local function is_rows(op, values, sets)
  local last = axes.at(#op.dims)
  local outer = (1 << #op.dims) - 1 & ~last
  for _, set in ipairs(sets) do
    if set.over ~= last and set.over ~= outer then
      return false
    end
  end
  for _, value in ipairs(values) do
    if not are_in_rows(value.node, last, family.place_of(op, value.operand) == "column") then
      return false
    end
  end
  return #op.dims > 1 and stand_at(op, { "whole", "row", "column", "single" }, { "whole", "row", "column" })
end

-- A sum of a product whose factors each have axes that the other lacks, or nil.
local function contraction(sets)
  for _, set in ipairs(sets) do
    local term = set.node[1]
    local a, b = term and term.op == "mul" and term[1].axes, term and term.op == "mul" and term[2].axes
    if set.node.op == "sum" and a and a & ~b ~= 0 and b & ~a ~= 0 then
      return set
    end
  end
end

-- What there is, in words, and what would do.
local function explain(op, sets, is_random)
  local function named(set)
    return axes.show(op.dims, set)
  end
  local contracted = contraction(sets)
  if contracted then
    return "contract", string.format("a contraction: a sum over %s of a product whose factors have %s and %s",
      named(contracted.over), named(contracted.node[1][1].axes), named(contracted.node[1][2].axes)),
      "a sum of what has all axes, such as a product with a vector along the innermost"
  end
  local last = axes.at(#op.dims)
  for _, operand in ipairs(op.operands) do
    if not family.place_of(op, operand) then
      return "other", string.format("an operand '%s' with %s of the op's %s", operand.name,
        #operand.dims == 0 and "none" or axes.list(operand.dims), axes.list(op.dims)),
        string.format("operands with %s, %s, all of these in this order, or none",
          named((1 << #op.dims) - 1 & ~last), named(last))
    end
  end
  local nearest = #op.dims == 1 and "the same over rows: operands with " .. axes.list { "rows", op.dims[1] }
    or string.format("values over rows of reductions over %s, a value per column of those over %s, or one in all of "
      .. "those over both", named(last), named((1 << #op.dims) - 1 & ~last))
  if is_random then
    return "other", "random numbers beside operands that lack axes", "operands with all axes, or none"
  end
  local over, seen = {}, {}
  for _, set in ipairs(sets) do
    if not seen[set.over] then
      seen[set.over] = true
      over[#over + 1] = named(set.over)
    end
  end
  local outputs = {}
  for _, operand in ipairs(op.operands) do
    outputs[#outputs + 1] = operand.output and string.format("'%s' with %s", operand.name, axes.list(operand.dims))
      or nil
  end
  return "other", string.format("%s of %s", table.concat(outputs, ", "),
    #over > 0 and "reductions over " .. table.concat(over, " and ") or "these operands"), nearest
end

-- The family of an op whose function gives these values, in a graph of any layout; the number of its innermost axes
-- that a pass goes over; and, where no template does the pattern, a line that says so, with the nearest that would.
function family.find(op, values)
  local sets, reduces, is_random = sets_of(values)
  local over_all, all = true, (1 << #op.dims) - 1
  for _, set in ipairs(sets) do
    over_all = over_all and set.over == all
  end
  over_all = over_all and not (reduces and is_random)
  if over_all and stand_at(op, { "whole", "single" }, { reduces and "single" or "whole" }) then
    return reduces and "reduce" or "map", #op.dims
  elseif not is_random and is_rows(op, values, sets) then
    return "rows", 1
  end
  local name, pattern, nearest = explain(op, sets, is_random)
  return name, #op.dims, string.format("no template does %s; the nearest that one does: %s", pattern, nearest)
end

return family
