-- The shape of a block whose sums tensor cores add up, from a variant's parameters: see schedule_contract.lua.
local tensor = {}

local STAGES = 192 * 1024 -- bytes of shared memory for slices that the copy engine fills
local RATE = { [64] = 1000, [128] = 1400, [256] = 1700 } -- multiply-adds of 16 bits in a clock, with so many columns

-- Terms of a slice, whose lines have 128 bytes.
local function terms_of(p)
  return p.products == "tf32" and 32 or 64
end

-- Of slices that the threads copy, which are there as they are in memory: numbers of f32 are rounded on the way to mma.
-- side: rows and columns of the tile, nil for the variant's own. rest: whether the copy engine brings factors that are
-- aligned, so that what is left goes through registers. rate, wait, start: as of one H100.
function tensor.copied(p, side, rest)
  local terms = terms_of(p)
  local bm, bn = side or p.bm, side or p.bn == "auto" and 128 or p.bn
  local warp_m, warp_n = math.min(64, bm // 2), math.min(64, bn // (side and 2 or 4))
  local stages = side and 4 or rest and 3 or p.stages
  local speed = side and { rest and 350 or 450, rest and 1500 or 700, 2000 }
    or { 600, rest and 1800 or 1000, 4000 }
  return {
    sums = "tensor", name = ("_mma%dx%dx%d"):format(bm, bn, stages), bm = bm, bn = bn, bk = terms, warp_m = warp_m,
    warp_n = warp_n, stages = stages, threads = bm // warp_m * (bn // warp_n) * 32,
    at_once = side and 3 or (bn == 256 or stages > 3) and 1 or 2, numbers = bm * bn,
    shared = math.max(stages * (bm + bn) * 128, bm * (bn + 8) * 4),
    rate = speed[1] * terms // 64, wait = speed[2], start = speed[3], terms = side and 2 * terms or nil,
  }
end

-- The dimensions of a run, a bit each.
function tensor.bits_of(run)
  local bits = 0
  for _, place in ipairs(run) do
    bits = bits | 1 << place - 1
  end
  return bits
end

-- The map by which the copy engine brings `rows` rows of a factor's slice: elements side by side in memory as lines of
-- 128 bytes, whose chunks it rotates, and those of f32 rounded to tf32; nil where it has none. The factor is an operand
-- or a temporary, by number. width: elements of a chunk.
function tensor.map_of(side, step, across, rows, width)
  if not side.runs then
    return nil
  end
  local along = side.along == "k" and step.k or step[across]
  local other = side.along == "k" and step[across] or step.k
  local box, extent, has_other = {}, {}, false
  for i, run in ipairs(side.runs) do
    local is_other = run == other[#other]
    has_other = has_other or is_other
    box[i] = run == along[#along] and 8 * width or is_other and (side.along == "k" and rows or 8 * width) or 1
    extent[i] = tensor.bits_of(run)
  end
  return has_other and #box <= 5
    and {
      operand = (side.operand or 1) - 1, temporary = side.temporary, bytes = 16 // width, extent = extent, box = box,
      swizzle = 128, rounded = width == 4 and 1 or nil,
    } or nil
end

-- Slices that the copy engine brings to groups of four warps of 64 rows each, while one more group asks for them.
-- right: columns, as tensor cores call them; turned: what they call rows are the tile's columns. rate, start: as of one
-- H200.
function tensor.fetched(p, left, right, turned)
  local bk = terms_of(p)
  local groups, slice = left // 64, (left + right) * 128
  local stages, bm, bn = STAGES // slice, turned and right or left, turned and left or right
  return {
    sums = "fetched", name = ("_fetched%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = bk, stages = stages,
    left = left, right = right, turned = turned,
    threads = (groups + 1) * 128, at_once = 1, numbers = bm * bn, shared = stages * slice + groups * 4 * 16 * 40 * 4,
    architecture = 90, stays = 1, rate = RATE[right] and RATE[right] * bk // 64, start = 2000 + bm * bn // 16,
  }
end

return tensor
