-- The shape of a block whose sums tensor cores add up, from a variant's parameters: see schedule_contract.lua.
return function(p)
  local groups = p.unit == "wgmma"
  local warp_m, warp_n = groups and 16 or math.min(64, p.bm // 2), groups and p.bn or math.min(64, p.bn // 4)
  return {
    sums = "tensor", name = ("_%s%dx%dx%d"):format(p.unit, p.bm, p.bn, p.stages), bm = p.bm, bn = p.bn, bk = 64,
    warp_m = warp_m, warp_n = warp_n, stages = p.stages, threads = p.bm // warp_m * (p.bn // warp_n) * 32,
    at_once = (groups or p.bn == 256) and 1 or 2, numbers = p.bm * p.bn,
    shared = math.max(p.stages * (p.bm + p.bn) * 64 * 2, p.bm * (p.bn + 8) * 4), architecture = groups and 90 or nil,
  }
end
