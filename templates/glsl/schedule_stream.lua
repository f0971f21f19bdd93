-- How the passes of a stream are cut: templates/gpu/stream.lua, with `kernels`, the module's, whose steps are
-- passes (numbered.lua). A workgroup has bm rows, and walks over the keys, `keys` at a time. A shape has also
--   tm_first, tn_first   an invocation's sums of a first product, down and across; tm and tn: of one of keys
--   places               numbers at each point in shared memory; line: accesses of it from one key to the next
--   lanes                invocations that share a row's keys

local stream, numbered = use "../gpu/stream.lua", use "numbered.lua"

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

return function(facts, work)
  local kernels, number = numbered()
  local made = stream.make(facts, work, function(pass, _, _, nth)
    local list = { first_of(facts, pass, 64) }
    list[2] = #pass.lasts > 0 and facts.bits == 32 and first_of(facts, pass, 128) or nil
    if not list[2] then
      list[1].columns = nil
    end
    return number(nth, stream.shapes(pass, list, first_of(facts, pass, 64)))
  end)
  made.kernels = kernels
  return made
end
