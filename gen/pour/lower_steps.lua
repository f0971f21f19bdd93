-- Lowers an op's steps (steps.lua) to one language, for its contract template. What that gets is a lowering of
-- lower.lua's, `k`, with
--   k.record   the op's record of steps; k.stride: steps.stride; k.chain: that of chain.lua, where it is one
--   k.own      the same lowering, of what is in memory in the type that is computed in, as temporaries are
--   k.steps    for each step { name, of, a, b, values }: `of` is what the record has of it; a and b are the parts of
--              its factors, with the one result "packed"; values is the part of what it stores
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
  return lower.kernel(language, part.backend.name, dtype, name, record.operands,
    {
      phases = { pass }, active = {}, points = {}, totals = {}, columns = {}, column_reductions = {},
      random = random or false, inner = axes.all(dims),
    }, dims)
end

-- The part of a step that has these results. name: of its point function.
local function part_of(k, op, name, results)
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
    local is_at_axis = x.kind == "hit" or x.kind == "position"
    x.place, x.places = is_at_axis and places_of(x.node.k)[1], places_of(axes.all(op.dims))
  end
  return { k = k, point = point, results = results, scalars = scalars, points = points }
end

-- What the parts of a record's steps are, and k: see above. more(step, of, k) gives a step further fields; of(ending,
-- results) makes a part of results { name, node }.
local function of_record(language, op, part, record, more)
  local k = lowering(language, part, part.dtype, part.stem, record, op.dims)
  k.stride, k.record, k.own = steps.stride, record, lowering(language, part, k.compute, part.stem, record, op.dims)
  k.steps = text.map(record.steps, function(step)
    local name = part.stem .. "_" .. step.name
    local function of(ending, results)
      return part_of(lowering(language, part, part.dtype, name .. ending, record, op.dims), op, "point", results)
    end
    local made = {
      name = name, of = step,
      a = of("_a", { { name = "packed", node = step.a } }), b = of("_b", { { name = "packed", node = step.b } }),
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

-- What is known of a number by the places at which it is: largest, restricted, places, scalars and points of
-- lower_steps.stream below. Then its node without masks that places decide.
function lower_steps.by_places(k, op, node)
  local words, known = {}, {}
  for name, word in pairs(k.language.range_words) do
    words[name] = word:gsub("{(%w)}", k.marks)
  end
  local places, points, scalars = {}, {}, {}
  local range, decided = ranges.of(node, words, function(leaf)
    local name = leaf.name and leaf.name .. "_"
    if leaf.op == "position" then
      places[#places + 1] = { name = name, place = places_of(leaf.k)[1] }
      return { lo = name .. "lo", hi = name .. "hi" }
    elseif leaf.op == "points" then
      points[#points + 1] = { name = name, places = places_of(leaf.k) }
    elseif leaf.op == "const" then
      name = k:literal(leaf.value)
    elseif leaf.op == "scalar" then
      for place, scalar in ipairs(op.scalars) do
        scalars[#scalars + 1] = scalar.name == leaf.name and { name = name, place = place } or nil
      end
    else
      return nil
    end
    return { lo = name, hi = name }
  end)
  local masked = {}
  local free = expr.rewrite(node, {
    select = function(of, args)
      masked[#masked + 1] = decided[of[1]]
      return decided[of[1]] and args[2]
    end,
  }, {})
  known.restricted = #masked > 0 and table.concat(masked, " || ") or nil
  known.largest = #places > 0 and range.hi or nil
  if known.largest or known.restricted then
    known.places, known.points, known.scalars = places, points, scalars
  end
  return known, free
end

-- What the stream template of a language gets for a part and the op's record (stream.lua): as above, and of the first
-- step
--   gathered   of each step: the record's list, and by their names their places there
--   rows       of the second step, the part of the values of rows; nil of none
--   largest    the text of a number that no power of a tile is above, where places rule some out: made of the names
--              below, and of NAME_lo and NAME_hi of each place along an axis; nil where it is not known
--   restricted, free   when a mask that places decide may rule out some of a tile's keys, and the part of the values
--              without such masks; nil where there are none
--   places, scalars, points   { name, place }, { name, place }, { name, places } of what that reads
--   powers     the part of record.powers, whose result is "powers_"; nil without a peak
function lower_steps.stream(language, op, part, record)
  return of_record(language, op, part, record, function(made, of, k)
    made.gathered = {}
    for i, name in ipairs(record.gathered) do
      made.gathered[i], made.gathered[name] = name, i
    end
    if made.of == record.steps[2] and #record.rows > 0 then
      made.rows = of("_rows", text.map(record.rows, function(value)
        return { name = value.operand.name .. "_", node = value.node }
      end))
    end
    if made.of == record.steps[1] then
      if record.peak and #made.of.values == 1 then
        local value = made.of.values[1]
        local known, free = lower_steps.by_places(k, op, value.node)
        for name, what in pairs(known) do
          made[name] = what
        end
        made.free = made.restricted and of("_free", { { name = value.operand.name .. "_", node = free } })
      end
      made.powers = record.peak and of("_powers", { { name = "powers_", node = record.powers } })
    end
    return made
  end)
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
      local made = part_of(own, op, name, results)
      for _, x in ipairs(made.point.inputs) do
        x.of = record.reads[x.node.name]
      end
      return made
    end
    return {
      name = part.stem .. "_" .. step.name, of = step, k = own, places = places_of(step.over),
      terms = of("terms", #step.scans > 0 and step.scans or step.gathered), values = of("values", step.values),
    }
  end)
  return k
end

return lower_steps
