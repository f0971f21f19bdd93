-- How nests of loops are cut on any GPU: what their kernels and the host's side must agree on. The record of a part:
--   steps[i]      of each step: together: whether its terms lie side by side, else its points; shared: the axes whose
--                 points it shares with the steps of its group, a set; across: { axis, operands, side } of what lies
--                 across its vectors, nil where nothing does or no kernel goes by squares; holds: by operand's name
--                 { first, before } of what a block may hold for the steps of its group: whether it is the first to
--                 read that, and the bytes of what is held before it, of an element of each; outside: the axes of what
--                 is held besides the block's points, a set, nil where nothing is
--   counts        bytes of the workspace that count how many blocks of each tile's parts have arrived
--   kernels       { first, last, shape }: of the module, of steps first to last; by number from 0 on, shape.number.
--                 A shape is a way to cut steps, { name, points, lanes, threads, at_once, vector, held }, of scans
--                 { cut, chunks, each } too (lathe_scanner in templates/cuda/nest_scan.h), of lists places, those that
--                 a block goes through at a time; those of threads with vectors are for indexes of 32 bits, but the
--                 last, which is `large`; held: where in a block's memory the elements begin that it holds, nil where
--                 it holds none
--   variants[i]   { steps, temporaries, listed, number }: listed: by each list the axes whose places it has, which are
--                 counted by 32 bits; steps[i] is a launch, or { choices }, of which the first is taken that the call's
--                 extents allow, { when, steps }

local MOST_BLOCKS = 512 -- that share points
local THREADS, AT_ONCE = 256, 4
local GATHERED = 16 -- bytes of what is gathered of one reduction, at the most
local FEW = 32 -- terms that one thread takes
local MOST_SCANNED = 256 -- points whose scans have a block each, where neighbouring points lie side by side
local MANY_SCANNED = 1 << 17 -- points that are enough for a thread to scan each
local EACH_TOGETHER, EACH_APART = 4, 8 -- places of a scan that a thread has at once, at least
-- Of a machine whose lanes scan: vectors that a thread has on the way, of all operands together, and of scans with
-- factors at the most, which take registers; terms of a sum that are added up plainly; vectors of points that are few;
-- enough for blocks that scan 32 of them alone, and for a thread each; points for a warp each.
local SCAN_AHEAD, AHEAD_BY_FACTORS, PLAIN_TERMS, FEW_VECTORS, MANY_COLUMNS, MANY_VECTORS, MANY_ROWS =
  8, 6, 8, 64, 8192, 32768, 2048
-- Blocks share the axis of so many tiles of points, of so many tiles of places each at the most: { tiles, places }.
local MOST_PARTS = 1 << 16
local MOST_STATES = 8 -- of points that lie side by side in a thread: a vector's, where each has one
local FACTORS = { product = true, recurrence = true } -- parts of such scans have a factor besides
local SCAN_PARTS = { { 1024, 64 }, { 256, 256 }, { 64, 1024 }, { 16, 4096 }, { 2, 32768 } }
local MOST_SMALL = (1 << 31) - 1 -- points and elements that indexes of 32 bits are for
local MOST_THREADS = 1024
local MOST_OF_WARP, MOST_OF_BLOCK = 2048, 16384 -- elements of a point that a warp, a block has, where steps share it
local MANY_FUSED = 1 << 16 -- vectors of points that are enough for blocks of 32 of them
local FEW_FUSED = 512 -- blocks: more fill a GPU with the usual threads
local LEAST_SIDE = 16 -- points along both axes of what goes by squares
local FUSED = 96 -- blocks with which steps share points: fewer leave too much of a GPU idle
-- Blocks that hold what several steps read, { points, threads, at_once }, the widest first: few points leave room for
-- many terms. Of points that lie side by side, and of terms that do.
local HOLD_APART = { { 8, 256, 4 }, { 4, 512, 2 }, { 2, 512, 2 }, { 2, 1024, 1 } }
local HOLD_TOGETHER = { { 1, 256, 4 }, { 1, 512, 2 }, { 1, 1024, 1 } }

local function shape(name, lanes, more)
  local threads = more and more.threads or THREADS
  local made = {
    name = name, lanes = lanes, points = threads // lanes, threads = threads, at_once = AT_ONCE * THREADS // threads,
    vector = 1,
  }
  for key, value in pairs(more or {}) do
    made[key] = value
  end
  return made
end

local function has(set, place)
  return place ~= nil and set >> place - 1 & 1 ~= 0
end

local function picks(step)
  return step.gathered[1] ~= nil and step.gathered[1].kind == "pick"
end

-- The bytes of what so many threads gather of vectors of points, half of them at once.
local function bytes_gathered(facts, step, vector, threads)
  local bytes = 0
  for _, gathered in ipairs(step.gathered) do
    bytes = bytes + (gathered.node.type == "n" and GATHERED or facts.bits // 4)
  end
  return bytes * (has(step.axes, step.along) and vector or 1) * threads // 2
end

local function has_room(facts, machine, step, vector, threads)
  return bytes_gathered(facts, step, vector, threads) <= machine.room
end

-- Elements of a thread's vectors: of one access, but fewer where a block has no room for what it gathers of them, and
-- one where each point has an index of its own to a term, or its own scan.
local function vector_of(facts, machine, step)
  if step.scanned then
    local vector, states = machine.scans_lanes and step.along and math.min(facts.width, PLAIN_TERMS) or 1, 0
    for _, scan in ipairs(step.scans) do
      states = states + (FACTORS[scan.kind] and 2 or 1)
    end
    while step.along ~= step.scanned and vector > 1 and vector * states > MOST_STATES do
      vector = vector // 2
    end
    return vector
  end
  local vector = picks(step) and 1 or facts.width
  while vector > 1 and not has_room(facts, machine, step, vector, THREADS) do
    vector = vector // 2
  end
  return step.along and vector or 1
end

-- What of a step's last values lies across its vectors along one other axis, and the side of squares that have room.
local function across_of(facts, machine, step)
  if not step.along or step.over ~= 0 or step.scanned or #step.gathered > 0 then
    return nil
  end
  local axis, most, found, bytes = nil, 0, {}, 0
  local read = {}
  for _, operand in ipairs(step.operands) do
    local order = operand.dim_index or {}
    local last = order[#order]
    local along = false
    for _, place in ipairs(order) do
      along = along or place == step.along
    end
    read[operand] = along and last ~= step.along and has(step.axes, last) and operand.dtype ~= "i64" and last or nil
    if read[operand] and #order > most then
      axis, most = last, #order
    end
  end
  for _, operand in ipairs(step.operands) do
    if axis and read[operand] == axis then
      found[#found + 1] = operand
      bytes = bytes + (machine.turns_numbers and facts.bits // 8 or facts.element_of(operand).bytes)
    end
  end
  local side = 64
  while bytes * side * (side + 4) > machine.room do
    side = side // 2
  end
  return axis and side >= 16 and { axis = axis, operands = found, side = side } or nil
end

-- The ways to cut a scan. One that cannot be merged has a thread for each point.
local function scans_of(facts, machine, step)
  local together = step.along == step.scanned
  local each = together and EACH_TOGETHER or EACH_APART
  local short, one = shape("_short", 1, { most_terms = FEW, each = each }), shape("_points", 1, { each = each })
  if not step.merges then
    return { one }
  elseif together then
    return { short, shape("_block", THREADS, { each = each }) }
  end
  local bytes = facts.bits // 4 * #step.scans
  local threads = (#step.scans > 3 or bytes * MOST_THREADS > machine.room) and THREADS or MOST_THREADS
  return {
    short, shape("_block", THREADS, { most_points = MOST_SCANNED, each = each }),
    shape("_columns", threads // 32, { threads = threads, most_points = MANY_SCANNED, each = each }), one,
  }
end

-- The ways to cut a scan whose lanes merge what they have (templates/cuda/nest_scan.h): a block has `tile` places of
-- its points at once. Then the one of rows that a warp has at once, if any.
local function scans_by_lanes(facts, machine, step)
  local together, vector, operands = step.along == step.scanned, vector_of(facts, machine, step), 0
  local by_factors = false
  for _, scan in ipairs(step.scans) do
    by_factors = by_factors or FACTORS[scan.kind] or false
  end
  for _, operand in ipairs(step.operands) do
    operands = operands + (operand.output and 0 or 1)
  end
  local ahead = SCAN_AHEAD * (together and 1 or facts.width // vector) // math.max(operands, 1)
  ahead = math.max(math.min(ahead, by_factors and AHEAD_BY_FACTORS or PLAIN_TERMS), 2)
  local is_light = together and #step.scans == 1 and not by_factors and not step.reverse
  local function way(name, lanes, cut, more)
    local made = shape(name, lanes, more)
    made.terms = MOST_SMALL -- nothing is shared but by parts
    made.cut, made.chunks, made.each = cut, together and math.min(ahead, 4) or 1, together and 1 or ahead
    made.tile = lanes * made.chunks * made.each * (together and vector or 1)
    made.at_once = is_light and 3 or 2 -- with more, registers would be spilled
    return made
  end
  -- The same kernel for other sizes.
  local function also(of, points, places)
    return setmetatable({ of = of, most_points = points, most_terms = places }, { __index = of })
  end
  local ways = {}
  -- Blocks that share the axis, of no more points than `most`.
  local function add_parts(name, lanes, most)
    local part = way(name, lanes, "parts")
    part.terms, part.depth, part.most = part.tile, part.tile, SCAN_PARTS[1][1]
    part.left = 2 * part.points * facts.bits // 8 * 2 * #step.scans * (together and 1 or vector)
    for _, parts in ipairs(SCAN_PARTS) do
      ways[#ways + 1] = also(part, math.min(parts[1] * part.points, most), parts[2] * part.tile)
    end
  end
  if together then
    local rows = way("_rows", 32, "spread")
    add_parts("_part", THREADS, MANY_ROWS)
    ways[#ways + 1] = way("_block", THREADS, "along", { most_points = MANY_ROWS })
    ways[#ways + 1] = rows
    return ways, rows
  end
  local one = way("_points", 1, "along")
  ways[1] = also(one, nil, FEW)
  add_parts("_few", 32, FEW_VECTORS)
  add_parts("_part", 8, MANY_COLUMNS)
  ways[#ways + 1] = way("_block", 8, "along", { most_points = MANY_VECTORS })
  ways[#ways + 1] = one
  return ways
end

-- The ways to cut a step: those that are for few points or terms come first. few: whether it has a launch of its own
-- for few points alone.
local function shapes_of(facts, machine, step, together, few)
  if step.scanned then
    return scans_of(facts, machine, step)
  elseif step.kind == "list" then
    local points, places = machine.lists.points, machine.lists.places
    return { shape("_lists", 1, { threads = points, places = places, points = 1, at_once = 2 }) }
  end
  if #step.gathered == 0 or picks(step) then
    return { shape("_points", 1) }
  elseif together then
    local short, block = shape("_short", 1, { most_terms = FEW }), shape("_block", THREADS)
    block.most_points = not few and 1024 or nil
    return { short, block, not few and shape("_warp", 32) or nil }
  end
  local some = shape("_few", 8, { most_points = not few and 16384 or nil })
  return { shape("_short", 1, { most_terms = FEW }), some, not few and shape("_points", 1) or nil }
end

-- Conditions that all products of axes have indexes of 32 bits: those of operands, points and terms.
local function small_of(steps)
  local sets, list = {}, {}
  for _, step in ipairs(steps) do
    sets[#sets + 1], sets[#sets + 2] = step.stored, step.over
    for _, operand in ipairs(step.operands) do
      local set = 0
      for _, place in ipairs(operand.dim_index or {}) do
        set = set | 1 << place - 1
      end
      sets[#sets + 1] = set
    end
  end
  for i, set in ipairs(sets) do
    local within = set == 0
    for j, other in ipairs(sets) do
      within = within or set & ~other == 0 and (set ~= other or j < i)
    end
    list[#list + 1] = not within and { of = set, most = MOST_SMALL } or nil
  end
  return list
end

-- What a block holds of operands that several steps of a group read at all of its points and terms, `all`: by operand,
-- and the bytes of an element of each. Those of the most bytes come first, so that packs lie at multiples of theirs.
local function held(facts, record, group, steps, all)
  local times, elsewhere, list, made, bytes = {}, {}, {}, {}, 0
  for _, node in pairs(record.reads) do
    elsewhere[node[1].name or false] = true
  end
  for _, step in ipairs(steps) do
    if picks(step) or step.listed or step.over & group.axes ~= 0 then
      return {}, 0
    end
    for _, operand in ipairs(step.operands) do
      local set = 0
      for _, place in ipairs(operand.dim_index or {}) do
        set = set | 1 << place - 1
      end
      if set == all and not operand.output and not operand.temporary and not elsewhere[operand.name] then
        times[operand] = (times[operand] or 0) + 1
        list[#list + 1] = times[operand] == 2 and operand or nil
      end
    end
  end
  local order = {}
  for i, operand in ipairs(list) do
    order[operand] = i
  end
  table.sort(list, function(a, b)
    local of_a, of_b = facts.element_of(a).bytes, facts.element_of(b).bytes
    if of_a ~= of_b then
      return of_a > of_b
    end
    return order[a] < order[b]
  end)
  for _, operand in ipairs(list) do
    made[operand.name], bytes = bytes, bytes + facts.element_of(operand).bytes
  end
  return made, bytes
end

-- What steps share with each other in one launch, nil where there is nothing: blocks of so many points, where all of a
-- GPU has some. Then, whether their terms lie side by side, and what blocks hold: { of, bytes, by }.
local function fused(facts, machine, record, group, steps, vector)
  local along, all, fits = steps[1].along, 0, true
  for _, step in ipairs(steps) do
    if step.scanned or not step.along or step.along ~= along then
      return nil
    end
    all = all | step.stored | step.over
    fits = fits and has_room(facts, machine, step, vector, MOST_THREADS)
  end
  local together = not has(group.axes, along)
  local outside, small, choices = all & ~group.axes, small_of(steps), {}
  local holds, bytes = held(facts, record, group, steps, all)
  -- more: conditions; ways: the same points for fewer threads, or by other blocks.
  local function choose(way, more, ways)
    local least = (FUSED - 1) * way.points * (together and 1 or vector)
    local when = table.move(small, 1, #small, #more + 1, more)
    when[#when + 1] = { of = group.axes, above = least }
    choices[#choices + 1] = {
      when = when, ways = table.move(ways or {}, 1, #(ways or {}), 2, { way }),
      way = {
        m = way.held and outside or 0, above_m = way.held and (together and MOST_OF_WARP or FEW), n = group.axes,
        above = least,
      },
    }
  end
  local function way_of(name, lanes, threads)
    return shape(name, lanes, { vector = vector, together = together, threads = threads })
  end
  -- Blocks that hold what they read, where there is room; others where a device has less.
  local function choose_holding(other)
    for i, way in ipairs(bytes > 0 and machine.holds and (together and HOLD_TOGETHER or HOLD_APART) or {}) do
      local points, threads, at_once = table.unpack(way)
      local begin, holding = 0, way_of("_held" .. i, threads // points, threads)
      for _, step in ipairs(steps) do
        begin = math.max(begin, bytes_gathered(facts, step, vector, threads))
      end
      holding.at_once, holding.room, holding.held = at_once, machine.holds // at_once, (begin + 127) // 128 * 128
      local most = (holding.room - holding.held) // (points * bytes * (together and 1 or vector))
      if most > FEW then
        choose(holding, { { of = outside, most = most } }, { other })
      end
    end
  end
  if together then
    local block, blocks = way_of("_block", THREADS, THREADS), way_of("_blocks", MOST_THREADS, MOST_THREADS)
    choose(way_of("_warp", 32, THREADS), { { of = outside, most = MOST_OF_WARP } })
    choose_holding(block)
    choose(blocks, { { of = outside, above = MOST_OF_BLOCK }, { of = group.axes, most = FEW_FUSED } },
      machine.threads < MOST_THREADS and { way_of("_blocks_narrow", machine.threads, machine.threads) })
    choose(block, {})
  else
    local column = way_of("_column", 32, THREADS)
    choose(way_of("_short", 1, THREADS), { { of = outside, most = FEW } })
    choose_holding(column)
    if bytes == 0 or not machine.holds then -- else more terms than blocks hold leave fewer points
      choose(way_of("_few", 8, THREADS), { { of = group.axes, above = MANY_FUSED * vector } })
    end
    if fits then
      local points = 8
      choose(way_of("_tall", MOST_THREADS // points, MOST_THREADS),
        { { of = outside, above = MOST_THREADS }, { of = group.axes, most = FEW_FUSED * points * vector } },
        machine.threads < MOST_THREADS and { way_of("_tall_narrow", machine.threads // points, machine.threads) })
    end
    choose(column, {})
  end
  return choices, together, { of = outside, bytes = bytes, by = holds }
end

-- machine: { threads, room, turns_numbers, scans_lanes, holds, lists }: threads and bytes of shared memory that a block
-- always has; whether squares are of what is computed in, not of elements; whether scans go by vectors that lanes
-- merge; the bytes that a block may ask for, if any; and the points, and threads, of a block that lists their places,
-- and the places that it goes through at a time.
return function(facts, work, machine)
  local record = facts.programs.nest
  local made = {
    launch = "templates/gpu/launch_steps.c", steps = {}, variants = {}, counts = 4 * MOST_BLOCKS, kernels = {},
  }
  for _, step in ipairs(record.steps) do
    made.counts = step.scanned and machine.scans_lanes and 4 * (MOST_PARTS + 16) or made.counts
  end
  made.work = work(facts, false, { bytes = made.counts })

  -- What the host's side has of steps `first` to `last` in one launch, cut in some ways; about: its keys.
  local function launch_of(first, last, ways, about)
    about.m, about.matrices, about.cuts = about.m or 0, 0, {}
    for c, way in ipairs(ways) do
      local kernel = way.of or way
      if not kernel.number then
        kernel.vector, kernel.number = about.vector, #made.kernels
        made.kernels[kernel.number + 1] = { first = first, last = last, shape = kernel }
      end
      about.cuts[c] = {
        shared = way.held, rooms = way.held and 1, room = way.room,
        name = way.name, columns = way.most_points, bm = 1, bn = about.units and about.units.bn or way.points,
        terms = way.terms or FEW * way.lanes, depth = way.depth, at_once = way.at_once, threads = way.threads,
        most = way.most or MOST_BLOCKS, number = way.number, left = way.left or way.points * GATHERED * about.gathered,
        extents = way.most_terms and { { of = about.terms, most = way.most_terms } } or nil,
      }
    end
    return about
  end

  -- The choices that there are for a step alone: by squares, by indexes of 32 bits, or by any. few: see shapes_of.
  local function alone(i, few)
    local step, about, choices = record.steps[i], made.steps[i], {}
    local over = step.kind == "reduce" and step.over or 0
    local by_points = has(step.axes, step.along)
    local function choose(when, ways, vector, more)
      local keys = {
        n = step.axes, k = over, stem = "_step" .. i, vector = vector,
        terms = step.scanned and 1 << step.scanned - 1 or over,
        gathered = #step.gathered * (by_points and vector or 1), units = by_points and { [step.along] = vector } or nil,
      }
      for key, value in pairs(more or {}) do
        keys[key] = value
      end
      choices[#choices + 1] = { when = when, steps = { launch_of(i, i, ways, keys) } }
    end
    local vector, small = vector_of(facts, machine, step), small_of { step }
    local lists = step.kind == "list" and {
      units = { [step.target] = machine.lists.points },
      way = { n = 1 << step.target - 1, above = machine.lists.points, k = step.over, block = machine.lists.places },
    } or nil
    local by_lanes = step.scanned and machine.scans_lanes
    local function ways_of()
      return (by_lanes and scans_by_lanes or shapes_of)(facts, machine, step, about.together, few)
    end
    if about.across then
      local along, axis, side = step.along, about.across.axis, about.across.side
      local when = { { of = 1 << along - 1, above = LEAST_SIDE - 1 }, { of = 1 << axis - 1, above = LEAST_SIDE - 1 } }
      choose(table.move(small, 1, #small, 3, when), { shape("_square", 1, { turned = true, points = 1 }) }, vector, {
        units = { [along] = side, [axis] = side, bn = 1 },
        way = { m = 1 << axis - 1, above_m = LEAST_SIDE - 1, n = 1 << along - 1, above = LEAST_SIDE - 1, side = side },
      })
    end
    local ways, rows = ways_of()
    local scanned = by_lanes and 1 << step.scanned - 1
    if rows then
      choose(table.move(small, 1, #small, 2, { { of = scanned, most = rows.tile } }), { rows }, vector, {
        n = step.stored, units = { [step.scanned] = vector, bn = rows.threads * rows.chunks },
      })
    end
    choose(small, ways, vector, lists or { k = scanned })
    ways = ways_of()
    local any = ways[#ways]
    any.name, any.large = "_large", true
    choose(nil, { any }, 1, { way = false, units = lists and lists.units })
    return { choices = choices }
  end

  for i, step in ipairs(record.steps) do
    made.steps[i] = {
      together = step.along and (has(step.over, step.along) or step.along == step.scanned) or false, shared = step.axes,
      across = across_of(facts, machine, step), holds = {},
    }
  end
  local entries = {}
  for _, group in ipairs(record.groups) do
    local list, apart, vector = table.move(record.steps, group.first, group.last, 1, {}), {}, facts.width
    for i, step in ipairs(list) do
      made.steps[group.first + i - 1].shared = group.axes
      vector = math.min(vector, vector_of(facts, machine, step))
    end
    local choices, together, holds
    if #list > 1 then
      choices, together, holds = fused(facts, machine, record, group, list, vector)
    end
    local read, along = {}, list[1].along
    for i, step in ipairs(choices and list or {}) do
      local of = made.steps[group.first + i - 1]
      of.outside = holds.bytes > 0 and holds.of or nil
      for _, operand in ipairs(step.operands) do
        local before = holds.by[operand.name]
        of.holds[operand.name] = before and { first = not read[operand], before = before } or nil
        read[operand] = true
      end
    end
    for i, step in ipairs(list) do
      apart[i] = alone(group.first + i - 1, choices ~= nil and step.axes == group.axes)
    end
    for _, choice in ipairs(choices or {}) do
      choice.steps = { launch_of(group.first, group.last, choice.ways, {
        n = group.axes, k = 0, stem = "_steps" .. group.first, vector = vector, gathered = 0,
        units = not together and { [along] = vector } or nil,
        rooms = {
          { packs = holds.of, bytes = holds.bytes * vector, units = together and { [along] = vector } or nil },
        },
        way = choice.way,
      }) }
    end
    if choices then
      choices[#choices + 1] = { steps = apart }
      apart = { { choices = choices } }
    end
    table.move(apart, 1, #apart, #entries + 1, entries)
  end
  local temporaries, listed = {}, {}
  for i, operand in ipairs(record.temporaries) do
    temporaries[i] = operand.axes
  end
  for _, step in ipairs(record.steps) do
    listed[#listed + 1] = step.kind == "list" and step.over or nil
  end
  for i in ipairs(facts.variants) do
    made.variants[i] = { steps = entries, temporaries = temporaries, listed = listed, number = facts.bits // 8 }
  end
  return made
end
