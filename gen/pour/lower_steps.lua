-- Lowers an op's steps (steps.lua) to one language, for its contract template. What that gets is a lowering of
-- lower.lua's, `k`, with
--   k.record   the op's record of steps; k.stride: steps.stride; k.chain: that of chain.lua, where it is one
--   k.own      the same lowering, of what is in memory in the type that is computed in, as temporaries are
--   k.steps    for each step { name, of, a, b, meet, own, values }: `of` is what the record has of it; a and b are the
--              parts of its factors, with the one result "packed"; meet and own those of a term that is no product,
--              and of the value that it has of the result, or nil; values is the part of what it stores
-- A part has what it takes to compute its graphs at a point:
--   part.k         the lowering: its uniforms("call") are wanted ahead of the point function's calls
--   part.point     the point function; its inputs of kind "element" are those of operands and temporaries, that of
--                  kind "result" is what the step's sum comes to; those of kind "hit", "position" and "random" say by
--                  place and places at which axes
--   part.results   { name, node }: the variables that the point function sets
--   part.scalars   { name, place }: the op's scalars that it reads; part.points: { name, places }: the axes whose
--                  points it counts, which are scalars to it

local axes = require "axes"
local expr = require "expr"
local lower = require "lower"
local ranges = require "ranges"
local steps = require "steps"
local text = require "text"
local types = require "types"

local lower_steps = {}

local function places_of(set)
  local places = {}
  for place = 1, 62 do
    places[#places + 1] = set & axes.at(place) ~= 0 and place or nil
  end
  return places
end

-- A lowering for the operands of a record, under a name of its own. random: whether it has random numbers.
local function lowering(language, part, dtype, name, record, dims, random)
  local pass = { reductions = {}, picks = {}, stash = {} }
  local k = lower.kernel(language, part.backend.name, dtype, name, record.operands,
    {
      phases = { pass }, active = {}, points = {}, totals = {}, columns = {}, column_reductions = {},
      random = random or false, inner = axes.all(dims),
    }, dims)
  k.narrows = part.narrows
  return k
end

-- The part of a step that has these results. name: of its point function; elsewhere: the record's `reads`.
local function part_of(k, op, name, results, elsewhere)
  local scalars, points, known, memo = {}, {}, {}, {}
  local counted = {
    points = function(node)
      if not known[node] then
        known[node] = expr.leaf("scalar", node.name)
        points[#points + 1] = { name = node.name, places = places_of(node.k) }
      end
      return known[node]
    end,
  }
  results = text.map(results, function(result)
    return { name = result.name, node = expr.rewrite(result.node, counted, memo) }
  end)
  local is_read = {}
  expr.visit(text.map(results, function(result)
    return result.node
  end), function(node)
    is_read[node.op == "scalar" and node.name or node] = true
  end)
  for place, scalar in ipairs(op.scalars) do
    scalars[#scalars + 1] = is_read[scalar.name] and { name = scalar.name, place = place } or nil
  end
  local point = k:point(name, results)
  for _, x in ipairs(point.inputs) do
    x.of = elsewhere and elsewhere[x.node.name]
    local is_at_axis = x.kind == "hit" or x.kind == "position"
    x.place = is_at_axis and places_of(x.node.k)[1]
    x.places = places_of(x.kind == "random" and x.node.axes or axes.all(op.dims))
  end
  return { k = k, point = point, results = results, scalars = scalars, points = points }
end

-- What the parts of a record's steps are, and k: see above. more(step, of, k) gives a step further fields; of(ending,
-- results) makes a part of results { name, node }.
local function of_record(language, op, part, record, more)
  local k = lowering(language, part, part.dtype, part.stem, record, op.dims, record.random)
  k.stride, k.record, k.own = steps.stride, record, lowering(language, part, k.compute, part.stem, record, op.dims)
  k.steps = text.map(record.steps, function(step)
    local name = part.stem .. "_" .. step.name
    local function of(ending, results)
      return part_of(lowering(language, part, part.dtype, name .. ending, record, op.dims), op, "point", results,
        record.reads)
    end
    local made = {
      name = name, of = step,
      a = of("_a", { { name = "packed", node = step.a } }), b = of("_b", { { name = "packed", node = step.b } }),
      meet = step.meet and of("_meet", { { name = "packed", node = step.meet.node } }),
      own = step.meet and step.meet.own and of("_own", { { name = "packed", node = step.meet.own } }),
      values = of("_values", text.map(step.values, function(value)
        return { name = value.operand.name .. "_", node = value.node }
      end)),
    }
    return more and more(made, of, k) or made
  end)
  return k
end

-- What the contract template of a language gets for a part of sources.lua's and the op's record of steps.
function lower_steps.kernel(language, op, part, record)
  return of_record(language, op, part, record)
end

-- What places and indexes decide of some values of a stream's pass: rules_out, restricted, places, indexes, scalars,
-- points and finite of lower_steps.stream below. Then the values' nodes without masks that these decide. without: which
-- values say where nothing counts: "power", for the first is -infinity there; "zero", for all are 0; nil for none.
-- rows, keys: the axes of a tile's rows and keys; nil where no index is known.
function lower_steps.by_places(k, op, nodes, without, rows, keys)
  local words, known, seen = {}, { places = {}, indexes = {}, points = {}, scalars = {}, finite = {} }, {}
  for name, word in pairs(k.language.range_words) do
    words[name] = word:gsub("{(%w)}", k.marks)
  end
  local function note(list, row)
    list[#list + 1] = not seen[row.name] and row or nil
    seen[row.name] = true
  end
  local function range_of(leaf)
    local name = leaf.name and leaf.name .. "_"
    if leaf.op == "position" then
      note(known.places, { name = name, place = places_of(leaf.k)[1] })
      return { lo = name .. "lo", hi = name .. "hi" }
    elseif leaf.op == "whole" then
      if not rows or leaf.axes & rows ~= 0 and leaf.axes & keys ~= 0 then
        return nil
      end
      local index, side = leaf[1].name, leaf.axes & keys ~= 0 and "n" or leaf.axes & rows ~= 0 and "m"
      name = index .. "_index_"
      note(known.indexes, { name = name, index = index, side = side })
      return { lo = name .. "lo", hi = name .. "hi" }
    elseif leaf.op == "points" then
      note(known.points, { name = name, places = places_of(leaf.k) })
    elseif leaf.op == "const" then
      name = k:literal(leaf.value)
    elseif leaf.op == "scalar" then
      for place, scalar in ipairs(op.scalars) do
        if scalar.name == leaf.name then
          note(known.scalars, { name = name, place = place })
        end
      end
    else
      for _, operand in ipairs(k.record and k.record.temporaries or {}) do
        if leaf.op == "input" and operand.name == leaf.name then
          note(known.finite, { name = name, operand = operand, largest = k:literal(types[k.compute].high) })
          return { lo = name .. "lo", hi = name .. "hi" }
        end
      end
      return nil
    end
    return { lo = name, hi = name }
  end
  -- When a mask may not hold, where places alone decide that.
  local function by_places_alone(condition)
    for _, of in ipairs(known.finite) do
      condition = condition and not condition:find(of.name, 1, true) and condition or nil
    end
    return condition
  end
  local masked, ruled_out, free = {}, {}, {}
  for i, node in ipairs(nodes) do
    local range, decided = ranges.of(node, words, range_of, k.record and k.record.reads)
    free[i] = expr.rewrite(node, {
      select = function(of, args)
        local mask = by_places_alone(decided[of[1]])
        masked[#masked + 1] = mask and not seen[mask] and mask or nil
        seen[mask or false] = true
        return mask and args[2]
      end,
    }, {})
    if without == "zero" or without == "power" and i == 1 then
      ruled_out[i] = without == "power" and range.hi .. " == -INFINITY"
        or ranges.is_zero(range)
    end
  end
  known.restricted = #masked > 0 and table.concat(masked, " || ") or nil
  known.rules_out = #known.places + #known.indexes > 0 and #ruled_out > 0 and table.concat(ruled_out, " && ") or nil
  local finite = {}
  for _, of in ipairs(known.finite) do
    finite[#finite + 1] = known.rules_out and known.rules_out:find(of.name, 1, true) and of or nil
  end
  known.finite = finite
  return known, free
end

-- What the stream template of a language gets for a part and the op's record (stream.lua): as above, and
--   k.passes   of each pass { of, firsts, lasts, inner, across }: its steps, and the last of its firsts, whose values
--              are what there is at a row and a column
-- Of steps
--   pass       the record's
--   gathered   the pass's list, and by their names their places there
-- and of an inner one
--   rows       the part of the values of rows; nil of none
--   powers     the part of the pass's powers, whose result is "powers_"; nil without a peak
--   rules_out  when no row and column of a tile counts, where places tell: made of the names below, and of NAME_lo and
--              NAME_hi of each place along an axis; nil where it is not known
--   restricted, free   when a mask that places decide may rule out some of a tile's columns, and the part of the values
--              without such masks; nil where there are none
--   places, scalars, points   { name, place }, { name, place }, { name, places } of what those read
--   indexes    { name, index, side } of index operands that those read: NAME_lo and NAME_hi are their ends in a tile;
--              side: "n" of those of its keys, "m" of its rows, false of what is one number in all of it
--   finite     { name, operand, largest } of the temporaries that rules_out takes for finite numbers, between -largest
--              and largest: they are NAME_lo and NAME_hi
function lower_steps.stream(language, op, part, record)
  local pass_of = {}
  for _, pass in ipairs(record.passes) do
    for _, list in ipairs { pass.firsts, pass.lasts, pass.across.lasts } do
      for _, step in ipairs(list) do
        pass_of[step] = pass
      end
    end
  end
  local k = of_record(language, op, part, record, function(made, of, k)
    local pass = pass_of[made.of]
    local function part_of_values(ending, values)
      return of(ending, text.map(values, function(value)
        return { name = value.operand.name .. "_", node = value.node }
      end))
    end
    made.pass, made.gathered = pass, {}
    for i, name in ipairs(pass.gathered) do
      made.gathered[i], made.gathered[name] = name, i
    end
    if made.of == pass.firsts[#pass.firsts] then
      made.rows = #pass.rows_of > 0 and part_of_values("_rows", pass.rows_of) or nil
      made.powers = pass.powers and of("_powers", { { name = "powers_", node = pass.powers } }) or nil
      local known, free = lower_steps.by_places(k, op, text.map(pass.values, function(value)
        return value.node
      end), pass.without, axes.set(made.of.m[#made.of.m]), pass.over)
      for name, what in pairs((known.restricted or known.rules_out) and known or {}) do
        made[name] = what
      end
      made.free = made.restricted and part_of_values("_free", text.map(pass.values, function(value, i)
        return { operand = value.operand, node = free[i] }
      end)) or nil
    end
    return made
  end)
  local of_step = {}
  for _, step in ipairs(k.steps) do
    of_step[step.of] = step
  end
  local function made_of(step)
    return of_step[step]
  end
  k.passes = text.map(record.passes, function(pass)
    local firsts = text.map(pass.firsts, made_of)
    return {
      of = pass, firsts = firsts, lasts = text.map(pass.lasts, made_of), inner = firsts[#firsts],
      across = text.map(pass.across.lasts, made_of),
    }
  end)
  return k
end

-- What the nest template of a language gets for a part and the op's record of nests (nest.lua): a lowering with
-- `record` and `own` as above, and
--   k.steps    for each step { name, of, terms, values, places, k }: terms has a result NAME_term for each that is
--              gathered or scanned, and NAME_factor of recurrences; values one for each that is stored and no index;
--              their inputs that reads.lua has say by `of` what they are; places: of the loops, in their order, by
--              which indexes count; k: the lowering of both parts
function lower_steps.nest(language, op, part, record)
  local k = lowering(language, part, part.dtype, part.stem, record, op.dims, record.random)
  k.record, k.own = record, lowering(language, part, k.compute, part.stem, record, op.dims)
  k.steps = text.map(record.steps, function(step)
    local own = lowering(language, part, part.dtype, part.stem .. "_" .. step.name, record, op.dims)
    local function of(name, list)
      local results = {}
      for _, item in ipairs(list) do
        results[#results + 1] = item.kind and { name = item.name .. "_term", node = item.term }
          or item.node and { name = item.operand.name .. "_", node = item.node } or nil
        results[#results + 1] = item.factor and { name = item.name .. "_factor", node = item.factor } or nil
      end
      return part_of(own, op, name, results, record.reads)
    end
    return {
      name = part.stem .. "_" .. step.name, of = step, k = own, places = places_of(step.over),
      terms = of("terms", #step.scans > 0 and step.scans or step.gathered), values = of("values", step.values),
    }
  end)
  return k
end

return lower_steps
