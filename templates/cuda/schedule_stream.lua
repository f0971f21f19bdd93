-- How the passes of a stream are cut (gen/program/stream.lua): a block has bm rows and bn columns of the products of
-- keys, and walks over the keys, `keys` at a time. The record of a part is that of a contraction's with
--   steps[i].layer   of what is at rows and keys: as schedule_chain_matrix.lua has it; unstored: that it has no values
--                    in memory; results: of the inner one, the names of the steps whose sums its values are made of
--   is_tensor        whether tensor cores have products; fetches: whether the copy engine brings their factors
-- A shape is { sums, name, bm, bn, keys, bk, tm, tn, threads, at_once, shared }.

local stream, tensor = use "../gpu/stream.lua", use "tensor_shape.lua"

local KEYS, ROWS, THREADS = 64, 64, 128
local WORTH = 256 -- keys that are worth a block of their own
local ROOM = 227 * 1024 -- bytes of shared memory that a block can have

-- How many places a pass has at a row and a key.
local function places_of(pass)
  return math.max(#pass.firsts, #pass.values, #pass.lasts)
end

-- The numbers that a block leaves where others have more keys of its rows: of each thread the peak and the sums of its
-- rows, and its share of products of rows x columns.
local function left_of(pass, threads, rows_of_thread, rows, columns)
  return threads * rows_of_thread * (1 + #pass.sums) + #pass.lasts * rows * columns
end

-- Of plain arithmetic, of which a thread has tm x tn sums of each product: stream.h.
local function plain(facts, pass, columns)
  local bytes, bits = facts.bits // 8, facts.bits
  local bk, tm = 64 // bytes, 8
  local pad = 128 // bits
  local slices = 2 * bk * (ROWS + pad + math.max(columns, KEYS) + pad) * bytes
  local lines = math.max(#pass.values, 1) + math.max(#pass.lasts, 1)
  return {
    sums = "stream", name = "_stream" .. columns, columns = columns < 128 and columns or nil, bm = ROWS, bn = columns,
    keys = KEYS, bk = bk, tm = tm, tn = columns // 16, tn_first = KEYS // 16, threads = THREADS,
    at_once = bytes == 4 and 2 or 1, numbers = left_of(pass, THREADS, 1, ROWS, columns), terms = WORTH,
    shared = slices + (lines * KEYS * (ROWS + pad) + (#pass.gathered + 4) * ROWS) * bytes,
  }
end

-- Of tensor cores, of rows of up to `depth` terms: stream_tensor.h.
local function by_tensor_cores(_, pass, _, depth, columns, few)
  local warps, slice, tiles = few and 1 or 4, 128, not few and places_of(pass) == 1 and 2 or 1
  local rows, threads, split = warps * tiles * 16, warps * 32, few and 4 or 1
  local slices = (#pass.firsts * (depth // 64 * (rows + 2 * KEYS)) + 2 * #pass.lasts * columns) * slice
  return {
    sums = "tensor_stream", name = ("_%s%dx%d"):format(few and "few" or "tensor", depth, columns),
    columns = columns < 128 and columns or nil, rows = few and rows or nil,
    bm = rows, bn = columns, keys = KEYS, bk = 64, depth_of_first = depth, warps = warps, tiles = tiles,
    threads = threads * split, split = split,
    at_once = few and 3 or depth <= 128 and places_of(pass) == 1 and 2 or 1,
    numbers = left_of(pass, threads, 2 * tiles, rows, columns), terms = few and KEYS or WORTH,
    extents = stream.extents_of(pass, depth), shared = slices + rows * #pass.gathered * 4,
  }
end

-- The same of factors that the copy engine brings, or nil: stream_fetched.h. Where two tiles of 128 keys have no room
-- in shared memory, or in registers, they are of 64.
local function fetched(_, pass, sides, depth, columns)
  local groups, slice, maps = 2, 128, {}
  local rows, keys = groups * 64, depth <= 128 and places_of(pass) == 1 and 128 or 64
  local function add(side, step, letter, count)
    maps[#maps + 1] = tensor.map_of(side, step, letter, count, 8)
  end
  for _, first in ipairs(pass.firsts) do
    add(sides[first].a, first, "m", rows)
    add(sides[first].b, first, "n", keys)
  end
  for _, last in ipairs(pass.lasts) do
    add(sides[last].b, last, "n", columns)
  end
  local slices = (#pass.firsts * (depth // 64 * (rows + 2 * keys)) + 2 * #pass.lasts * keys // 64 * columns) * slice
  local lines = groups * 4 * 8 * 64 * 4
  return #maps == 2 * #pass.firsts + #pass.lasts and {
    sums = "fetched_stream", name = ("_fetched%dx%d"):format(depth, columns),
    columns = columns < 128 and columns or nil, bm = rows, bn = columns, bk = 64, depth_of_first = depth,
    groups = groups, keys = keys, threads = (groups + 1) * 128,
    at_once = 1, numbers = left_of(pass, groups * 128, 2, rows, columns), terms = WORTH,
    extents = stream.extents_of(pass, depth),
    shared = slices + lines + rows * #pass.gathered * 4, architecture = 90, maps = maps,
  } or nil
end

-- Of up to 16 rows by tensor cores, which four warps share by keys: what limits these is how fast keys and values are
-- read. Lines of rows that lie side by side are longer.
local function of_few_rows(facts, pass, sides, depth, columns)
  local along_terms = places_of(pass) == 1
  for _, first in ipairs(pass.firsts) do
    along_terms = along_terms and sides[first].a.along == "k"
  end
  return along_terms and by_tensor_cores(facts, pass, sides, depth, columns, true) or nil
end

-- The shapes of a pass, of which the first is taken that fits.
local function shapes_of(facts, pass, sides, v)
  local list = {}
  if v.params.products == "narrow" and places_of(pass) <= 2 and stream.are_plain(pass, sides) then
    for _, steps in ipairs { pass.firsts, pass.lasts } do
      for _, step in ipairs(steps) do
        sides[step].plain = true
      end
    end
    for _, shape in ipairs { of_few_rows, fetched, by_tensor_cores } do
      for _, depth in ipairs { 128, 256 } do
        for _, columns in ipairs(#pass.lasts > 0 and { 64, 128 } or { 64 }) do
          local made = shape(facts, pass, sides, depth, columns)
          list[#list + 1] = made and made.shared <= ROOM and made or nil
        end
      end
    end
  end
  list[#list + 1], list[#list + 2] = plain(facts, pass, 64), #pass.lasts > 0 and plain(facts, pass, 128) or nil
  return stream.shapes(pass, list, plain(facts, pass, 64))
end

-- What is at rows and keys of a step: see above.
local function layer_of(facts, pass, step, side)
  local layer = { next = {}, stored = {}, unstored = true, counts = {} }
  if step == pass.firsts[#pass.firsts] then
    layer.counts, layer.results = { 128 // facts.bits, side.plain and 2 or nil }, {}
    for _, value in ipairs(pass.values) do
      layer.next[value.operand.name] = true
    end
    for i, first in ipairs(pass.firsts) do
      layer.results[i] = first.name
    end
  end
  return layer
end

return function(facts, work)
  local made, sides = stream.make(facts, work, function(pass, sides, v)
    return shapes_of(facts, pass, sides, v)
  end)
  for _, pass in ipairs(facts.programs.stream.passes) do
    for _, first in ipairs(pass.firsts) do
      sides[first].layer = layer_of(facts, pass, first, sides[first])
    end
  end
  for _, variant in ipairs(made.variants) do
    for _, shapes in ipairs(variant.shapes) do
      for _, shape in ipairs(shapes) do
        made.fetches = made.fetches or shape.maps ~= nil
        made.is_tensor = made.is_tensor or shape.sums ~= "stream"
      end
    end
  end
  return made
end
