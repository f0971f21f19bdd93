-- How contractions are cut: templates/gpu/contract.lua, with shapes whose sums are "points", "thin", "tile" or
-- "tensor"; steps[i] says also plain: whether both factors are.

local contract = use "../gpu/contract.lua"

local tensor = use "tensor_shape.lua"

local THIN = 256 -- threads of a block for few rows
local POINTS = 256 -- and where nothing is summed

local function thin(facts, made, rows)
  local at_once = 128 // facts.bits
  return {
    sums = "thin", name = "_rows" .. rows, rows = rows, bm = rows,
    bn = made.b.along == "k" and THIN // 32 * at_once or 32 * made.b.count, bk = 32768 // facts.bits, threads = THIN,
    at_once = rows > 1 and 2 or facts.width == 8 and 3 or 4, numbers = THIN * rows * at_once,
  }
end

local function points(facts, made)
  local bn = POINTS * math.max(made.b.count, 128 // facts.bits)
  return { sums = "points", name = "_points", bm = 1, bn = bn, bk = 1, threads = POINTS, at_once = 4, numbers = 0 }
end

local function tile(facts, p)
  local bytes = facts.bits // 8
  local bm, bn, tm, tn = p.bm, math.min(p.bn, 128) * 4 // bytes, 8, 32 // bytes
  local threads = bm // tm * (bn // tn)
  return {
    sums = "tile", name = ("_tile%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = 64 // bytes, tm = tm, tn = tn,
    threads = threads, at_once = 2048 // bytes // threads, numbers = bm * bn,
  }
end

return function(facts, work)
  return contract(facts, work, function(v, step, made)
    made.plain = made.a.plain and made.b.plain
    local list = { (#step.k == 0 and points or thin)(facts, made, 1) }
    if #step.m > 0 then
      list[2] = thin(facts, made, 8)
      list[3] = v.params.unit ~= "vector" and made.plain and tensor(v.params) or tile(facts, v.params)
    end
    return list
  end)
end
