-- From what a spec's function computes to a program, passes over the data: what is computed at each point, which
-- reductions it needs, and in which order. All ops but contractions share this form; they differ in what the points
-- are.
--
--   program.phases[p]      one pass over the data each:
--     .reductions            { name, kind, term }: name = kind over all points of term; with two results, of
--                              which `second` is the other: kind "moments", their sum and that of the squares
--                              about their mean; kind "powers", the largest and the sum of e^(term - largest)
--     .picks                 { name, index, term }: name = the term at the point that an index names
--     .stash                 { operand, node }: points kept in an output for a later pass
--   program.active         the phases with a pass, by number: those with reductions
--   program.leaves         whether something is left of a row: what its phases come to, or totals
--   program.points         { operand, node }: outputs with a value at each point
--   program.totals         { operand, node }: outputs with one value per row, or one in all
--   program.column_reductions   { name, kind, term }: over the rows, at each column
--   program.columns        { operand, node }: outputs with one value per column
--   program.kinds          the kinds of the reductions, as a text, by which programs of one op differ
--   program.random         whether some point asks for random numbers
--   program.inner          the axes that a pass goes over, point by point, as a set. A row is what it goes over; there
--                          is one for each point of the others
--
-- Leaves of a program say how it goes over the axes. An operand that has none of those of a pass is the leaf "shared":
-- its only element, for a row or in all. A pass has "count" points, and there are "rows" of them. Below a node, a
-- reduction's result is the leaf "reduced", one over the rows the leaf "column" and a kept point the leaf "stash".
-- Picks need no pass: a phase may have nothing else.

local elementary = require "elementary"
local expr = require "expr"
local reductions_of = require "reductions"
local text = require "text"

local passes = {}

-- Worth storing and loading again rather than computing twice.
local expensive = { pow = true, div = true, sqrt = true }
for op in pairs(elementary) do
  expensive[op] = true
end

local reductions = {}
for op, row in text.sorted_pairs(expr.operations) do
  reductions[#reductions + 1] = row.reduction and op or nil
end

-- Replaces the reductions under the roots by leaves and lists them by phase: a reduction over
-- terms that need another's result is one phase later than that. Those over the rows have a list of
-- their own. inner: the axes that a pass goes over.
local function split(roots, inner)
  local phases, column_reductions, counts = {}, {}, {}
  local level = {} -- of a node: the last phase whose results it needs
  local all, memo = roots[1].graph.axes.all, {}
  local rules = {
    input = function(node)
      local shared = node.axes & inner == 0 and expr.leaf("shared", node.name, "r", node.axes)
      if shared then
        shared.called = node.called
      end
      return shared
    end,
    points = function(node)
      return node.k == inner and expr.leaf("count", "count")
        or node.k == all & ~inner and expr.leaf("rows", "rows")
    end,
  }
  local function next_name(stem)
    counts[stem] = (counts[stem] or 0) + 1
    return stem .. counts[stem]
  end
  local function over_rows(node, term)
    local name = next_name "column"
    column_reductions[#column_reductions + 1] = { name = name, kind = node.op, term = term }
    return expr.leaf("column", name, "r", inner)
  end
  for _, op in ipairs(reductions) do
    rules[op] = function(node, args)
      local term = args[1]
      if node.k & ~inner ~= 0 then
        return over_rows(node, term)
      end
      local p = level[term] + 1
      local name = next_name((op:gsub("imum$", "")))
      local phase = phases[p] or { reductions = {}, picks = {}, stash = {} }
      phases[p] = phase
      if op == "pick" then
        table.insert(phase.picks, { name = name, index = args[2].name, term = term })
      else
        table.insert(phase.reductions, { name = name, kind = op, term = term })
      end
      local leaf = expr.leaf("reduced", name, node.type, node.axes)
      level[leaf] = p
      return leaf
    end
  end
  local function find_level(node)
    if not level[node] then
      level[node] = 0
      for i = 1, #node do
        level[node] = math.max(level[node], find_level(node[i]))
      end
    end
    return level[node]
  end
  -- The level of a rewritten node is known before the levels of its users.
  local function rewrite(node)
    if not memo[node] then
      for i = 1, #node do
        rewrite(node[i])
      end
      find_level(expr.rewrite(node, rules, memo))
    end
    return memo[node]
  end
  return text.map(roots, rewrite), phases, column_reductions
end

-- Gives every reduction to an index a phase of its own, ahead of the others of its phase.
local function set_indexes_apart(phases)
  local apart = {}
  for _, phase in ipairs(phases) do
    local others = {}
    for _, reduction in ipairs(phase.reductions) do
      if expr.operations[reduction.kind][1] == "n" and #phase.reductions > 1 then
        apart[#apart + 1] = { reductions = { reduction }, picks = {}, stash = {} }
      else
        others[#others + 1] = reduction
      end
    end
    phase.reductions = others
    if #others > 0 or #phase.picks > 0 then
      apart[#apart + 1] = phase
    end
  end
  return apart
end

-- Whether a reduction is the sum of the squares of t - mean(t): that of t, the sum its mean is made of.
local function about_mean(reduction, sums)
  local square = reduction.term
  local centred = reduction.kind == "sum" and square.op == "mul" and rawequal(square[1], square[2])
    and square[1]
  local mean = centred and centred.op == "sub" and centred[2]
  local sum = mean and mean.op == "div" and mean[2].op == "count" and sums[mean[1].name]
  return sum and rawequal(sum.term, centred[1]) and sum
end

-- Whether a reduction is the sum of e^(t - max(t)): that of t, its largest.
local function below_largest(reduction, largest)
  local below = reduction.kind == "sum" and reduction.term.op == "exp" and reduction.term[1]
  local found = below and below.op == "sub" and largest[below[2].name]
  return found and rawequal(found.term, below[1]) and found
end

-- Gathers sums with the reductions whose results they need, in one pass, for what can merge both: squares
-- with a mean (Chan, Golub and LeVeque 1979), powers with the largest (Milakov and Gimelshein 2018).
-- find(reduction, firsts, p) gives the one of the reductions of the kind's first, by name, that it may go with, for one
-- of phase p.
local function gather_together(phases, kind, find)
  local first, firsts = reductions_of[kind].first, {}
  for _, phase in ipairs(phases) do
    for _, reduction in ipairs(phase.reductions) do
      firsts[reduction.name] = reduction.kind == first and reduction or nil
    end
  end
  for p = #phases, 2, -1 do
    local others = {}
    for _, reduction in ipairs(phases[p].reductions) do
      local found = find(reduction, firsts, p)
      if found and found.kind == first then
        found.kind, found.second = kind, reduction.name
      else
        others[#others + 1] = reduction
      end
    end
    phases[p].reductions = others
    if #others == 0 and #phases[p].picks == 0 then
      table.remove(phases, p)
    end
  end
end

-- The nodes that are needed for some root, or below the term of some reduction.
local function needed_for(roots, phases)
  local needed, list = {}, { table.unpack(roots) }
  for _, phase in ipairs(phases) do
    for _, reduction in ipairs(phase.reductions) do
      table.move(reduction.term, 1, #reduction.term, #list + 1, list)
    end
  end
  expr.visit(list, function(node)
    needed[node] = true
  end)
  return needed
end

-- Values of an earlier pass that a later one would compute again at a high price are kept in an
-- output, which has room for them until its own values come. Not where a later pass still reads
-- the input that may be the same memory as the output.
local function keep_points(result, overwritten)
  if #result.phases == 0 or #result.column_reductions > 0 then
    return
  end
  local computed_in, costly = {}, {}
  for p, phase in ipairs(result.phases) do
    for _, reduction in ipairs(phase.reductions) do
      expr.visit({ reduction.term }, function(node)
        computed_in[node] = computed_in[node] or p
        costly[node] = node.axes & result.inner ~= 0 and expensive[node.op] or false
        for i = 1, #node do
          costly[node] = costly[node] or costly[node[i]]
        end
      end)
    end
  end
  local kept, seen = {}, {}
  local function find(node)
    if seen[node] then
      return
    end
    seen[node] = true
    if computed_in[node] and costly[node] and node.axes & result.inner ~= 0 and node.type == "r" then
      kept[#kept + 1] = node
      return
    end
    for i = 1, #node do
      find(node[i])
    end
  end
  for _, point in ipairs(result.points) do
    find(point.node)
  end
  if #kept == 0 or #kept > #result.points then
    return
  end
  local memo = {}
  for i, node in ipairs(kept) do
    if computed_in[node] ~= #result.phases then
      return -- a pass in between reads the inputs
    end
    local operand = result.points[i].operand
    memo[node] = expr.leaf("stash", operand.name, "r", node.axes)
    memo[node].called = operand.called
  end
  local points, reads_input = {}, false
  for i, point in ipairs(result.points) do
    points[i] = { operand = point.operand, node = expr.rewrite(point.node, {}, memo) }
    expr.visit({ points[i].node }, function(node)
      reads_input = reads_input or node.op == "input" and node.name == overwritten
    end)
  end
  if reads_input then
    return
  end
  for i, node in ipairs(kept) do
    table.insert(result.phases[#result.phases].stash, { operand = result.points[i].operand, node = node })
  end
  result.points = points
end

-- Whether some point asks for random numbers.
function passes.has_random(roots)
  local found = false
  expr.visit(roots, function(node)
    found = found or node.op == "random"
  end)
  return found
end

-- Of values that no template has a place for: loops.lua orders them.
function passes.none(values, inner)
  return {
    phases = {}, active = {}, points = {}, totals = {}, columns = {}, column_reductions = {}, kinds = "",
    inner = inner,
    random = passes.has_random(text.map(values, function(value)
      return value.node
    end)),
  }
end

-- The names of the operands of which some pass of a program reads an element at each point.
function passes.elements(result)
  local roots, names, found = {}, {}, {}
  for _, phase in ipairs(result.phases) do
    for _, reduction in ipairs(phase.reductions) do
      roots[#roots + 1] = reduction.term
    end
    for _, kept in ipairs(phase.stash) do
      roots[#roots + 1] = kept.node
    end
  end
  for _, reduction in ipairs(result.column_reductions) do
    roots[#roots + 1] = reduction.term
  end
  for _, point in ipairs(result.points) do
    roots[#roots + 1] = point.node
  end
  expr.visit(roots, function(node)
    if node.op == "input" and not found[node.name] then
      found[node.name] = true
      names[#names + 1] = node.name
    end
  end)
  return names
end

-- What languages with gatherers for two results gather together, computed in a type: see passes.make.
function passes.together(compute, powers)
  return { moments = true, powers = compute == "f32" and powers or nil }
end

-- Makes the program of values { operand, node } for outputs, of passes over the axes `inner`. keep: costly
-- points are stored between passes; overwritten: the input that the first output may take the place of, or
-- nil; together: the kinds with two results that reductions may be of, moments = true, powers = "always" or
-- where they are not computed again for something else ("once"), not beside reductions over the rows;
-- indexes_apart: whether a pass that finds an index does nothing else.
function passes.make(values, inner, keep, overwritten, together, indexes_apart)
  local roots, phases, column_reductions = split(text.map(values, function(value)
    return value.node
  end), inner)
  phases = indexes_apart and set_indexes_apart(phases) or phases
  together = #column_reductions == 0 and together or {}
  if together.moments then
    gather_together(phases, "moments", about_mean)
  end
  if together.powers then
    local needed, when = {}, nil
    gather_together(phases, "powers", function(reduction, largest, p)
      local found = below_largest(reduction, largest)
      if found and together.powers == "once" and when ~= p then
        needed, when = needed_for(roots, phases), p -- of a later phase some are gone
      end
      return not needed[reduction.term] and found
    end)
  end
  local result = {
    phases = phases, column_reductions = column_reductions, points = {}, totals = {}, columns = {}, inner = inner,
  }
  result.kinds = table.concat(text.map(phases, function(phase)
    return table.concat(text.map(phase.reductions, function(reduction)
      return reduction.kind
    end), " ")
  end), ", ")
  result.random = passes.has_random(roots)
  local lists = { whole = result.points, row = result.totals, single = result.totals, column = result.columns }
  for i, value in ipairs(values) do
    table.insert(lists[value.operand.place], { operand = value.operand, node = roots[i] })
  end
  if keep then
    keep_points(result, overwritten)
  end
  result.active = {}
  for p, phase in ipairs(phases) do
    result.active[#result.active + 1] = #phase.reductions > 0 and p or nil
  end
  result.leaves = #phases > 0 or #result.totals > 0
  return result
end

return passes
