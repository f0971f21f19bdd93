-- How the passes of a stream are cut: templates/gpu/stream.lua, with `kernels`, the module's, whose steps are
-- passes (numbered.lua). A workgroup has bm rows, and walks over the keys, `keys` at a time. A shape has also
--   tm_first, tn_first   an invocation's sums of a first product, down and across; tm and tn: of one of keys
--   places               numbers at each point in shared memory; line: accesses of it from one key to the next
--   lanes                invocations that share a row's keys

local stream, numbered = use "../gpu/stream.lua", use "numbered.lua"

local DEPTH = 128 -- the most terms of a row that subgroups keep
local MOST = 32768 -- bytes of shared memory that every device has for a workgroup
-- Rows, keys (in f64 half), invocations and most columns: the first is taken whose points have room. There is one for
-- as many numbers at a point as there may be (gen/program/stream.lua).
local TILES = { { 64, 32, 128, 128 }, { 32, 32, 64, 128 }, { 32, 16, 32, 64 } }

-- Of a tile, or nil where that has no room.
local function shape_of(facts, pass, columns, tile)
  local bytes, bm, keys, threads, most = facts.bits // 8, table.unpack(tile)
  local width, bk = 16 // bytes, 64 // bytes
  keys = keys * 4 // bytes
  local places = math.max(1, #pass.values, #pass.lasts)
  local shape = {
    sums = "stream", name = "_stream" .. columns, columns = columns < 128 and columns or nil, bm = bm, bn = columns,
    keys = keys, bk = bk, threads = threads, lanes = threads // bm, places = places, line = bm // width + 1,
    tm_first = 4, tn_first = width, tm = 8, tn = bm * columns // (8 * threads),
    at_once = 512 // threads, numbers = 0, most = 1,
  }
  local lines = bk * (bm + keys + (#pass.lasts > 0 and columns or 0) + 3 * width)
  shape.shared = (lines + places * keys * (bm + width) + threads + bm * (1 + math.max(1, #pass.gathered))) * bytes
  return columns <= most and shape.shared <= MOST and shape or nil
end

local function first_of(facts, pass, columns)
  for _, tile in ipairs(TILES) do
    local shape = shape_of(facts, pass, columns, tile)
    if shape then
      return shape
    end
  end
end

-- By matrices, of rows of up to 128 terms: stream_matrix.comp. Four subgroups have 16 rows each.
local function matrix(pass, columns)
  local bm, places = 64, math.max(#pass.firsts, #pass.values)
  local keys, line = 64 // places, bm // 4 + 1
  local shape = {
    sums = "stream", name = "_matrix" .. columns, columns = columns < 128 and columns or nil, bm = bm, bn = columns,
    keys = keys, bk = 64, depth_of_first = DEPTH, places = places, line = line, subgroups = 4, side = { 16, 16, 16 },
    at_once = 4, numbers = 0, most = 1, extents = stream.extents_of(pass, DEPTH),
  }
  shape.shared = places * keys * line * 16 + bm * 72 * 2 + #pass.lasts * (keys * 72 * 2 + bm * 64)
    + bm * 4 * (5 + math.max(1, #pass.gathered))
  return places <= 2 and shape or nil
end

return function(facts, work)
  local kernels, number = numbered()
  local made = stream.make(facts, work, function(pass, sides, v, nth)
    local list = {}
    if v.params.unit == "matrix" and stream.are_plain(pass, sides) then
      for _, columns in ipairs(#pass.lasts > 0 and { 64, 128 } or { 64 }) do
        list[#list + 1] = matrix(pass, columns)
      end
    end
    local wide = #pass.lasts > 0 and facts.bits == 32 and first_of(facts, pass, 128) or nil
    local plain = first_of(facts, pass, 64)
    plain.columns = wide and plain.columns
    list[#list + 1], list[#list + 2] = plain, wide
    return number(nth, stream.shapes(pass, list, first_of(facts, pass, 64)))
  end)
  made.kernels = kernels
  return made
end
