-- The shape of a block whose sums tensor cores add up, from a variant's parameters: see schedule_contract.lua.
local tensor = {}

tensor.JOINED = 8 -- blocks of a cluster, at most, that share a tile's terms
local STAGES = 192 * 1024 -- bytes of a multiprocessor's shared memory for slices that the copy engine fills
-- Of tiles with so many numbers multiply-adds of 16 bits in a clock, clocks between the slices of a block that waits
-- for each, and clocks that a tile takes besides. Of 64 x 16 the 64 come from memory once. Of 64 x 64, of which there
-- are two at once, a multiprocessor gets no more than 64 bytes in a clock from the second cache.
local SPEED = {
  [64 * 16] = { 600, 300, 3700 }, [64 * 64] = { 770, 300, 3540 }, [128 * 64] = { 1250, 520, 4620 },
  [128 * 128] = { 1410, 845, 3730 }, [128 * 256] = { 1600, 1480, 5100 },
}

-- Terms of a slice, whose lines have 128 bytes.
local function terms_of(p)
  return p.products == "tf32" and 32 or 64
end

-- Of slices that the threads copy, which are there as they are in memory: numbers of f32 are rounded on the way to mma.
-- side: rows and columns of the tile, nil for the variant's own. rest: whether the copy engine may bring factors, so
-- that where it cannot these go through registers, of which rate and wait are others.
function tensor.copied(p, side, rest)
  local terms = terms_of(p)
  local bm, bn = side or p.bm, side or p.bn == "auto" and 128 or p.bn
  local warp_m, warp_n = math.min(64, bm // 2), math.min(64, bn // (side and 2 or 4))
  local stages = side and 4 or rest and 3 or p.stages
  local speed = side and { 240, 760, 3540, 170, 2600 } or { 320, 1000, 5300, 400, 1000 }
  return {
    sums = "tensor", name = ("_mma%dx%dx%d"):format(bm, bn, stages), bm = bm, bn = bn, bk = terms, warp_m = warp_m,
    warp_n = warp_n, stages = stages, threads = bm // warp_m * (bn // warp_n) * 32,
    at_once = side and 3 or (bn == 256 or stages > 3) and 1 or 2, numbers = bm * bn,
    shared = math.max(stages * (bm + bn) * 128, bm * (bn + 8) * 4),
    rate = speed[1] * terms // 64, wait = speed[2], start = speed[3], terms = side and 2 * terms or nil,
    rest_rate = rest and speed[4] * terms // 64 or nil, rest_wait = rest and speed[5] or nil,
    joins = side and tensor.JOINED or nil,
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

-- The copy of an operand among those of a list.
local function copy_of(copies, side, extent, bytes)
  for _, copy in ipairs(copies) do
    if copy.operand == side.operand then
      return copy
    end
  end
  local copy = {
    operand = side.operand, bytes = bytes, runs = side.runs, columns = extent[1], rows = 0,
    before = { table.unpack(copies) },
  }
  for i = 2, #extent do
    copy.rows = copy.rows | extent[i]
  end
  copies[#copies + 1] = copy
  return copy
end

-- The map by which the copy engine brings `rows` rows of a factor's slice: elements side by side in memory as lines of
-- 128 bytes, whose chunks it rotates, and those of f32 rounded to tf32; nil where it has none. The factor is an operand
-- or a temporary, by number. width: elements of a chunk. copies: a list, to which an operand's copy is added that a
-- kernel makes of rows that no map can have: see gpu/contract.lua.
function tensor.map_of(side, step, across, rows, width, copies)
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
  if not has_other or #box > 5 then
    return nil
  end
  local copy = copies and side.operand and copy_of(copies, side, extent, 16 // width)
  side.copy = side.copy or copy
  return {
    operand = (side.operand or 1) - 1, temporary = side.temporary, bytes = 16 // width, extent = extent, box = box,
    swizzle = 128, rounded = width == 4 and 1 or nil, copy = copy, padded = copy and 1 or nil,
  }
end

-- Slices that the copy engine brings to groups of four warps of 64 rows each, while one more group asks for them.
-- right: columns, as tensor cores call them; turned: what they call rows are the tile's columns. rate, start: as of one
-- H200.
function tensor.fetched(p, left, right, turned)
  local bk, numbers, at_once = terms_of(p), left * right, left * right == 64 * 64 and 2 or 1
  local groups, slice, speed = left // 64, (left + right) * 128, SPEED[numbers] or {}
  local stages, bm, bn = STAGES // at_once // slice, turned and right or left, turned and left or right
  return {
    sums = "fetched", name = ("_fetched%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = bk, stages = stages,
    left = left, right = right, turned = turned, threads = (groups + 1) * 128, at_once = at_once, numbers = numbers,
    shared = stages * slice + groups * 4 * 16 * 40 * 4, architecture = 90, stays = 1,
    rate = speed[1] and speed[1] * bk // 64, wait = speed[2], start = speed[3],
  }
end

return tensor
