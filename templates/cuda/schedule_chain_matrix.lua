-- How chains are launched whose layers are products of matrices: all layers together, then all sums over the batch.
-- The record of a part is that of a contraction's with
--   layers, totals   the numbers of the steps of each kind
--   tiles[t]         what layers read of a block's rows, kept in shared memory: { name, kept, run }; kept: as numbers,
--                    for a layer before leaves it
--   steps[i].layer   of each layer: { tile, next, stored, counts }: the number of the tile that it reads; the tiles
--                    that it leaves, by the operand's name; which of its values go to memory; and how many of them
--                    are wanted at once
--   steps[i].a.exact whether a factor of a total has no more digits than tensor cores take; the same of b
--   shapes           the blocks: { name, rounds, bm, columns, warps_m, warps_n, stages, threads, at_once }
--                    rounds: whether f32 is rounded to tf32, but where layers decide something (gen/program/chain.lua)
--   pairs            those of two layers of many rows (two_layers.h): { name, hidden, columns, at_once, maps, threads }
--   together         those of the totals (totals.h): { name, rounds, side, terms, threads, at_once, rate, start }

local contract = use "schedule_contract.lua"
local tensor = use "tensor_shape.lua"

local MOST_SHARED = 225 * 1024 -- bytes of a block
local TERMS, PAD = 64, 16 -- of a slice of a matrix, as tensor_layers.h has them; bytes between its lines
local MOST_BLOCKS = 512 -- that share tiles
local DEPTH = 8 * 32768 -- terms that a block adds up at most, each eight by themselves: templates/gpu/contract.lua
local CLUSTER = 4 -- the most blocks that share a layer's columns
local MERGED = 8192 -- bytes of sums that warps share

-- The names of shapes that round end so.
local ENDING = { [true] = "_tf32", [false] = "" }

-- Of the totals' tiles the small ones are for few terms. What a block does in a clock is about what an H200 does.
local function totals_shapes(rounds)
  local function tile(side, terms, rate, start)
    return {
      name = "_totals" .. side .. ENDING[rounds], rounds = rounds, side = side, terms = terms, threads = 256,
      at_once = 2, rate = rate, start = start,
    }
  end
  return { tile(32, 256, 50, 3000), tile(64, 64, 80, 4000) }
end

local function shape(name, rounds, bm, columns, warps_m, warps_n, stages, at_once, cluster)
  return {
    name = name .. ENDING[rounds], rounds = rounds, bm = bm, columns = columns, warps_m = warps_m, warps_n = warps_n,
    stages = stages, threads = warps_m * warps_n * 32, at_once = at_once, cluster = cluster,
  }
end

-- Whole matrices where they fit, which stages = 0 stands for. Few rows to a block where rows are few, for what takes
-- longest then is that a block reads its matrices. An H200 does not run 16 clusters of eight at once: with those xlarge
-- takes 20.4 us at batch 256, with clusters of four 14.3.
local function shapes_of(wide, rounds)
  return {
    shape("_whole16", rounds, 16, 128, 1, 8, 0, 1, CLUSTER),
    shape("_rows16", rounds, 16, 128, 1, 8, wide and 4 or 7, 1, CLUSTER),
    shape("_whole64", rounds, 64, 64, 4, 2, 0, 2),
    shape("_rows64", rounds, 64, 64, 2, 4, 3, 1),
  }
end

-- Rows of a block, its threads, and shared memory, as two_layers.h has them: slots of so many bytes on a
-- multiprocessor, of which rows leave some to matrices. Of fewer rows than MANY most multiprocessors would have none.
local PAIR = { rows = 128, slots = 14, slot = 16384, left = 4, threads = 384 }
local MANY = 2048
-- By columns, from few to many: numbers between layers at once, and blocks on a multiprocessor.
local PAIRS = {
  { columns = 16, hidden = 64, at_once = 2 }, { columns = 32, hidden = 64, at_once = 2 },
  { columns = 64, hidden = 128, at_once = 1 }, { columns = 128, hidden = 128, at_once = 1 },
}

-- Whether a graph reads an operand.
local function reads(node, name, seen)
  seen = seen or {}
  local found = node.op == "input" and node.name == name
  for i = 1, #node do
    if not found and not seen[node[i]] then
      seen[node[i]] = true
      found = reads(node[i], name, seen)
    end
  end
  return found
end

-- Whether a step after number i reads an operand otherwise than as a layer's rows.
local function is_read(record, kinds, i, name)
  for later = i + 1, #record.steps do
    local step = record.steps[later]
    local read = kinds[later] == "total" and (reads(step.a, name) or reads(step.b, name))
    for _, value in ipairs(step.values) do
      read = read or reads(value.node, name)
    end
    if read then
      return true
    end
  end
  return false
end

local function named(list, name)
  for _, item in ipairs(list) do
    if item.name == name then
      return item
    end
  end
end

-- The shapes for two layers and no more, of whose numbers the second reads those that the first leaves and nothing else
-- reads them.
local function add_pairs(made, record, width)
  local first, second = made.steps[1], made.steps[2]
  if width ~= 8 or #record.steps ~= 2 or #made.layers ~= 2 or not first.a.plain or not second.layer.tile.kept then
    return
  end
  local given = 0
  for _, value in ipairs(record.steps[1].values) do
    given = given + (first.layer.next[value.operand.name] and 1 or 0)
    if value.operand.temporary and first.layer.stored[value.operand.name] then
      return
    end
  end
  for _, of in ipairs(first.a.along == "k" and given == 1 and PAIRS or {}) do
    local maps = {
      tensor.map_of(first.a, record.steps[1], "m", PAIR.rows, width),
      tensor.map_of(first.b, record.steps[1], "n", of.hidden, width),
      tensor.map_of(second.b, record.steps[2], "n", of.columns, width),
    }
    local is_slice = second.b.along == "k" or of.columns % 64 == 0
    made.pairs[#made.pairs + 1] = is_slice and maps[1] and maps[2] and maps[3]
      and {
        name = "_pair" .. of.columns, hidden = of.hidden, columns = of.columns, at_once = of.at_once, maps = maps,
        threads = PAIR.threads,
      } or nil
  end
end

-- width: elements of 16 bytes in memory.
local function lay_out(made, record, kinds, width)
  made.layers, made.totals, made.tiles, made.pairs = {}, {}, {}, {}
  for i, step in ipairs(record.steps) do
    local list = kinds[i] == "layer" and made.layers or made.totals
    list[#list + 1] = i
    if kinds[i] == "layer" then
      local tile = named(made.tiles, step.a.name)
      if not tile then
        tile = { name = step.a.name, kept = named(record.temporaries, step.a.name) ~= nil, run = step.k[1] }
        made.tiles[#made.tiles + 1] = tile
        tile.number = #made.tiles
      end
      made.steps[i].layer = { tile = tile, next = {}, stored = {}, counts = { 2 } }
      made.steps[i].a.plain, made.steps[i].b.plain = not tile.kept, true
    else
      for _, letter in ipairs { "a", "b" } do
        local few_digits = made.steps[i][letter].plain and width == 8
        made.steps[i][letter].exact = few_digits or step[letter].op == "const"
      end
    end
  end
  for _, i in ipairs(made.layers) do
    local layer = made.steps[i].layer
    for _, value in ipairs(record.steps[i].values) do
      local operand = value.operand
      layer.next[operand.name] = named(made.tiles, operand.name)
      layer.stored[operand.name] = not operand.temporary or is_read(record, kinds, i, operand.name)
    end
  end
  add_pairs(made, record, width)
end

-- Of the products that are made in one launch by tiles of some shapes, the first, with the others beside it.
local function totals_of(totals, steps, shapes)
  local first = nil
  for _, i in ipairs(totals) do
    local step = steps[i]
    if first then
      first.beside = first.beside or {}
      first.beside[#first.beside + 1] = { m = step.m, n = step.n, matrices = step.matrices }
    else
      first = { m = step.m, n = step.n, k = step.k, matrices = step.matrices, cuts = {} }
    end
  end
  for c, of in ipairs(first and shapes or {}) do
    first.cuts[c] = {
      name = of.name, bm = of.side, bn = of.side, terms = of.terms, at_once = of.at_once, threads = of.threads,
      shared = 2 * of.terms * (of.side + 8) * 4, most = MOST_BLOCKS, depth = DEPTH, left = of.side * of.side * 4,
      rate = of.rate,
      start = of.start,
    }
  end
  return first
end

return function(facts, work)
  local as_contraction = setmetatable({ variants = {} }, { __index = facts })
  for i in ipairs(facts.variants) do
    as_contraction.variants[i] = { params = { unit = "vector", bm = 64, bn = 64, stages = 3 } }
  end
  local record, bytes = facts.programs.steps, 16 // facts.width
  local made = contract(as_contraction, work)
  lay_out(made, record, facts.programs.chain.kinds, facts.width)
  made.shapes, made.together = {}, {}
  local rooms = {}
  for t, tile in ipairs(made.tiles) do
    rooms[t] = { of = tensor.bits_of(tile.run), bytes = tile.kept and facts.bits // 8 or bytes }
  end
  for _, i in ipairs(made.layers) do
    local step = record.steps[i]
    rooms[#rooms + 1] = {
      of = tensor.bits_of(step.k[1]), columns = tensor.bits_of(step.n[1]),
      across = made.steps[i].b.along ~= "k",
      bytes = bytes,
    }
  end
  local shapes_by, together_by = {}, {}
  for i, variant in ipairs(made.variants) do
    local rounds = facts.variants[i].params.products == "tf32"
    if not shapes_by[rounds] then
      shapes_by[rounds], together_by[rounds] = shapes_of(bytes == 4, rounds), totals_shapes(rounds)
      table.move(shapes_by[rounds], 1, #shapes_by[rounds], #made.shapes + 1, made.shapes)
      table.move(together_by[rounds], 1, #together_by[rounds], #made.together + 1, made.together)
    end
    local first = variant.steps[made.layers[1]]
    local together = { m = first.m, n = 0, k = first.n, matrices = 0, rooms = rooms, cuts = {} }
    for c, pair in ipairs(made.pairs) do
      local slots = PAIR.slots // pair.at_once
      together.cuts[c] = {
        name = pair.name, bm = PAIR.rows, bn = 1, terms = 64, at_once = pair.at_once, threads = pair.threads, most = 1,
        left = 0, stays = 1, shared = slots * PAIR.slot, architecture = 90, maps = pair.maps, extents = {
          { of = first.m, above = MANY }, { of = first.k, most = (slots - PAIR.left) * 64 },
          { of = variant.steps[2].n, most = pair.columns },
        },
      }
    end
    -- The last is for tiles that leave no room for more rows.
    for c, number in ipairs { 1, 2, 3, 4, 2 } do
      local of = shapes_by[rounds][number]
      local longest = math.max(of.columns * (TERMS + PAD // bytes), TERMS * (of.columns + PAD // bytes))
      together.cuts[#together.cuts + 1] = {
        name = of.name, rows = c <= 2 and 2048 or nil, bm = of.bm, bn = 1, terms = 64, at_once = of.at_once,
        threads = of.threads, most = 1, left = 0, cluster = of.cluster, room = MOST_SHARED // of.at_once,
        rooms = of.stages == 0 and #rooms or #made.tiles,
        shared = of.stages * longest * bytes + (of.warps_m > 1 and 0 or MERGED),
      }
    end
    variant.steps = { together, totals_of(made.totals, variant.steps, together_by[rounds]) }
  end
  return made
end
