-- How chains are launched whose layers are products of matrices: all layers together, then all sums over the batch.
-- The record of a part is that of a contraction's with
--   layers, totals   the numbers of the steps of each kind
--   tiles[t]         what layers read of a block's rows, kept in shared memory: { name, kept, run }; kept: as numbers,
--                    for a layer before leaves it
--   steps[i].layer   of each layer: { tile, next, stored }: the number of the tile that it reads; the tiles that it
--                    leaves, by the operand's name; and which of its values go to memory
--   steps[i].a.exact whether a factor of a total has no more digits than tensor cores take; the same of b
--   shapes           the blocks: { name, bm, columns, warps_m, warps_n, stages, threads, at_once }
--   together         those of the totals (totals.h): { name, side, terms, threads, at_once, rate, start }

local contract = use "schedule_contract.lua"

local MOST_SHARED = 225 * 1024 -- bytes of a block
local TERMS, PAD = 64, 16 -- of a slice of a matrix, as tensor_layers.h has them; bytes between its lines
-- Of the totals' tiles the small ones are for few terms. What a block does in a clock is about what an H200 does.
local TOTALS = {
  { name = "_totals32", side = 32, terms = 256, threads = 256, at_once = 2, rate = 50, start = 3000 },
  { name = "_totals64", side = 64, terms = 64, threads = 256, at_once = 2, rate = 80, start = 4000 },
}
local MOST_BLOCKS = 512 -- that share tiles
local CLUSTER = 4 -- the most blocks that share a layer's columns
local MERGED = 8192 -- bytes of sums that warps share

local function shape(name, bm, columns, warps_m, warps_n, stages, at_once, cluster)
  return {
    name = name, bm = bm, columns = columns, warps_m = warps_m, warps_n = warps_n, stages = stages,
    threads = warps_m * warps_n * 32, at_once = at_once, cluster = cluster,
  }
end

-- Whole matrices where they fit, which stages = 0 stands for. Few rows to a block where rows are few, for what takes
-- longest then is that a block reads its matrices. An H200 does not run 16 clusters of eight at once: with those xlarge
-- takes 20.4 us at batch 256, with clusters of four 14.3.
local function shapes_of(wide)
  return {
    shape("_whole16", 16, 128, 1, 8, 0, 1, CLUSTER),
    shape("_rows16", 16, 128, 1, 8, wide and 4 or 7, 1, CLUSTER),
    shape("_whole64", 64, 64, 4, 2, 0, 2),
    shape("_rows64", 64, 64, 2, 4, 3, 1),
  }
end

local function bits_of(run)
  local bits = 0
  for _, place in ipairs(run) do
    bits = bits | 1 << place - 1
  end
  return bits
end

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

-- width: elements of 16 bytes in memory.
local function lay_out(made, record, kinds, width)
  made.layers, made.totals, made.tiles, made.together = {}, {}, {}, TOTALS
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
      made.steps[i].layer = { tile = tile, next = {}, stored = {} }
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
end

-- Of the products that are made in one launch, the first, with the others beside it.
local function totals_of(totals, steps)
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
  for c, of in ipairs(first and TOTALS or {}) do
    first.cuts[c] = {
      name = of.name, bm = of.side, bn = of.side, terms = of.terms, at_once = of.at_once, threads = of.threads,
      shared = 2 * of.terms * (of.side + 8) * 4, most = MOST_BLOCKS, left = of.side * of.side * 4, rate = of.rate,
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
  made.shapes = shapes_of(bytes == 4)
  local rooms = {}
  for t, tile in ipairs(made.tiles) do
    rooms[t] = { of = bits_of(tile.run), bytes = tile.kept and facts.bits // 8 or bytes }
  end
  for _, i in ipairs(made.layers) do
    local step = record.steps[i]
    rooms[#rooms + 1] = {
      of = bits_of(step.k[1]), columns = bits_of(step.n[1]), across = made.steps[i].b.along ~= "k" and 1 or 0,
      bytes = bytes,
    }
  end
  for _, variant in ipairs(made.variants) do
    local first = variant.steps[made.layers[1]]
    local together = { m = first.m, n = 0, k = first.n, matrices = 0, rooms = rooms, cuts = {} }
    -- The last is for tiles that leave no room for more rows.
    for c, number in ipairs { 1, 2, 3, 4, 2 } do
      local of = made.shapes[number]
      local longest = math.max(of.columns * (TERMS + PAD // bytes), TERMS * (of.columns + PAD // bytes))
      together.cuts[c] = {
        name = of.name, rows = c <= 2 and 2048 or nil, bm = of.bm, bn = 1, terms = 64, at_once = of.at_once,
        threads = of.threads, most = 1, left = 0, cluster = of.cluster, room = MOST_SHARED // of.at_once,
        whole = of.stages == 0 and 1 or 0,
        shared = of.stages * longest * bytes + (of.warps_m > 1 and 0 or MERGED),
      }
    end
    variant.steps = { together, totals_of(made.totals, variant.steps) }
  end
  return made
end
