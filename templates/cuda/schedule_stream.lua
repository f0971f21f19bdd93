-- How two products with reductions between them are cut (gen/program/stream.lua): a block has bm rows of both and bn
-- columns of the second, and walks over the columns of the first, `keys` at a time. The record of a part is that of a
-- contraction's with
--   steps[1].layer   what is between: as schedule_chain_matrix.lua has it; unstored: that it has no values in memory
--   shapes           the blocks: { sums, name, bm, bn, keys, bk, tm, tn, threads, at_once, shared }

local contract, tensor = use "../gpu/contract.lua", use "tensor_shape.lua"

local KEYS, ROWS, THREADS = 64, 64, 128

-- Of plain arithmetic, of which a thread has tm x tn sums of each product: stream.h.
local function plain(facts, columns)
  local bytes, bits = facts.bits // 8, facts.bits
  local bk, tm = 64 // bytes, 8
  local pad = 128 // bits
  local slices = 2 * bk * (ROWS + pad + math.max(columns, KEYS) + pad) * bytes
  local stored, gathered = facts.programs.stream.steps[1].values, facts.programs.stream.gathered
  return {
    sums = "stream", name = "_stream" .. columns, columns = columns < 128 and columns or nil, bm = ROWS, bn = columns,
    keys = KEYS, bk = bk, tm = tm, tn = columns // 16, tn_first = KEYS // 16, threads = THREADS,
    at_once = bytes == 4 and 2 or 1, numbers = 0, most = 1,
    shared = slices + ((#stored + 1) * KEYS * (ROWS + pad) + (#gathered + 4) * ROWS) * bytes,
  }
end

-- Of tensor cores, of rows of up to `depth` terms: stream_tensor.h.
local function by_tensor_cores(facts, _, depth, columns)
  local first = facts.programs.stream.steps[1]
  local warps, slice = 4, 128
  local rows = warps * 32
  local slices = (depth // 64 * (rows + 2 * KEYS) + 2 * columns) * slice
  return {
    sums = "tensor_stream", name = ("_tensor%dx%d"):format(depth, columns), columns = columns < 128 and columns or nil,
    bm = rows, bn = columns, bk = 64, depth_of_first = depth, warps = warps, threads = THREADS,
    at_once = depth <= 128 and 2 or 1, numbers = 0, most = 1,
    extents = { { of = tensor.bits_of(first.k[1]), most = depth } },
    shared = slices + rows * #facts.programs.stream.gathered * 4,
  }
end

-- The same of factors that the copy engine brings, or nil: stream_fetched.h. More than 64 KiB of keys leave no room for
-- two tiles of them.
local function fetched(facts, sides, depth, columns)
  local first, second = table.unpack(facts.programs.stream.steps)
  local groups, slice = 2, 128
  local rows, keys = groups * 64, depth <= 128 and 128 or 64
  local maps = {
    tensor.map_of(sides[1].a, first, "m", rows, 8), tensor.map_of(sides[1].b, first, "n", keys, 8),
    tensor.map_of(sides[2].b, second, "n", columns, 8),
  }
  local slices = (depth // 64 * (rows + 2 * keys) + 2 * keys // 64 * columns) * slice
  local lines = groups * 4 * 8 * 64 * 4
  return maps[1] and maps[2] and maps[3] and {
    sums = "fetched_stream", name = ("_fetched%dx%d"):format(depth, columns),
    columns = columns < 128 and columns or nil, bm = rows, bn = columns, bk = 64, depth_of_first = depth,
    groups = groups, keys = keys, threads = (groups + 1) * 128,
    at_once = 1, numbers = 0, most = 1, extents = { { of = tensor.bits_of(first.k[1]), most = depth } },
    shared = slices + lines + rows * #facts.programs.stream.gathered * 4, architecture = 90, maps = maps,
  } or nil
end

-- Tensor cores take factors as they are in memory, and have one number for each point between.
local function shapes_of(facts, sides, v)
  local first, list = facts.programs.stream.steps[1], {}
  if v.params.products == "narrow" and sides[1].a.plain and sides[1].b.plain and sides[2].b.plain
    and #first.values <= 1 then
    sides[1].plain, sides[2].plain = true, true
    for _, shape in ipairs { fetched, by_tensor_cores } do
      for _, depth in ipairs { 128, 256 } do
        for _, columns in ipairs { 64, 128 } do
          list[#list + 1] = shape(facts, sides, depth, columns)
        end
      end
    end
  end
  list[#list + 1], list[#list + 2] = plain(facts, 64), plain(facts, 128)
  -- Rows have values where there are no columns.
  if #facts.programs.stream.rows > 0 then
    local of_rows = plain(facts, 64)
    of_rows.of_rows, of_rows.columns = true, 0
    table.insert(list, 1, of_rows)
  end
  return list
end

return function(facts, work)
  local sides = {}
  local made = contract(facts, work, function(v, _, side, number)
    sides[number] = side
    return number == 2 and shapes_of(facts, sides, v) or {}
  end)
  local first = facts.programs.stream.steps[1]
  made.steps[1].layer = {
    next = {}, stored = {}, unstored = true, counts = { 128 // facts.bits, sides[1].plain and 2 or nil },
  }
  for _, value in ipairs(first.values) do
    made.steps[1].layer.next[value.operand.name] = true
  end
  for _, variant in ipairs(made.variants) do
    for _, shape in ipairs(variant.shapes[2]) do
      made.fetches = made.fetches or shape.maps ~= nil
    end
    variant.shapes, variant.steps = variant.shapes[2], { variant.steps[2] }
  end
  return made
end
