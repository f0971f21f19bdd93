-- The shape of a block whose sums tensor cores add up, from a variant's parameters: see schedule_contract.lua.
local tensor = {}

local STAGES = 192 * 1024 -- bytes of shared memory for slices that the copy engine fills
local RATE = { [64] = 1000, [128] = 1400, [256] = 1700 } -- multiply-adds in a clock, with so many columns

-- Of slices that the threads copy.
function tensor.copied(p)
  local groups = p.unit == "wgmma"
  local bn = p.bn == "auto" and 128 or p.bn
  local warp_m, warp_n = groups and 16 or math.min(64, p.bm // 2), groups and bn or math.min(64, bn // 4)
  return {
    sums = "tensor", name = ("_%s%dx%dx%d"):format(p.unit, p.bm, bn, p.stages), bm = p.bm, bn = bn, bk = 64,
    warp_m = warp_m, warp_n = warp_n, stages = p.stages, threads = p.bm // warp_m * (bn // warp_n) * 32,
    at_once = (groups or bn == 256) and 1 or 2, numbers = p.bm * bn,
    shared = math.max(p.stages * (p.bm + bn) * 64 * 2, p.bm * (bn + 8) * 4), architecture = groups and 90 or nil,
  }
end

-- Of a tile's rows and columns: slices that the copy engine brings to groups of four warps of 64 rows each, while one
-- more group asks for them. rate, start: as of one H200.
function tensor.fetched(bm, bn)
  local groups, slice = bm // 64, (bm + bn) * 64 * 2
  local stages = STAGES // slice
  return {
    sums = "fetched", name = ("_fetched%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = 64, stages = stages,
    threads = (groups + 1) * 128, at_once = 1, numbers = bm * bn, shared = stages * slice + groups * 4 * 16 * 40 * 4,
    architecture = 90, stays = 1, rate = RATE[bn], start = 2000 + bm * bn // 16,
  }
end

return tensor
