-- How contractions are cut: templates/gpu/contract.lua, with shapes whose sums are "points", "thin", "tile", "tensor"
-- or "fetched"; steps[i] says also plain: whether both factors are.

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

-- Of 128 x 128 numbers one block at a time has registers for all that is on its way: on an H200 4096 cubed in f32 takes
-- 3.16 ms, and 3.49 where two have half of them.
local function tile(facts, p)
  local bytes = facts.bits // 8
  local bm, bn, tm, tn = p.bm, math.min(p.bn == "auto" and 128 or p.bn, 128) * 4 // bytes, 8, 32 // bytes
  local threads = bm // tm * (bn // tn)
  return {
    sums = "tile", name = ("_tile%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = 64 // bytes, tm = tm, tn = tn,
    threads = threads, at_once = math.max(1, 256 // threads), numbers = bm * bn,
  }
end

local function bits_of(run)
  local bits = 0
  for _, place in ipairs(run) do
    bits = bits | 1 << place - 1
  end
  return bits
end

-- The map by which the copy engine brings `rows` rows of 64 terms of a factor: those side by side in memory as lines of
-- 128 bytes, whose chunks it rotates; nil where it has none.
local function map_of(side, step, across, rows)
  local along = side.along == "k" and step.k or step[across]
  local other = side.along == "k" and step[across] or step.k
  local box, extent, has_other = {}, {}, false
  for i, run in ipairs(side.runs) do
    local is_other = run == other[#other]
    has_other = has_other or is_other
    box[i] = run == along[#along] and 64 or is_other and (side.along == "k" and rows or 64) or 1
    extent[i] = bits_of(run)
  end
  return has_other and #box <= 5
    and { operand = side.operand - 1, bytes = 2, extent = extent, box = box, swizzle = 128 } or nil
end

-- The tiles of sums whose factors the copy engine brings.
local function fetched(list, step, made, p)
  for _, bn in ipairs(p.bn == "auto" and { 256, 128, 64 } or { p.bn }) do
    local shape = tensor.fetched(p.bm, bn)
    local a, b = map_of(made.a, step, "m", p.bm), map_of(made.b, step, "n", bn)
    shape.maps = { a, b }
    list[#list + 1] = a and b and shape or nil
  end
end

return function(facts, work)
  return contract(facts, work, function(v, step, made)
    made.plain = made.a.plain and made.b.plain
    local list = { (#step.k == 0 and points or thin)(facts, made, 1) }
    if #step.m > 0 then
      list[2] = thin(facts, made, 8)
      if v.params.unit == "wgmma" and made.plain then
        fetched(list, step, made, v.params)
      end
      list[#list + 1] = v.params.unit ~= "vector" and made.plain and tensor.copied(v.params) or tile(facts, v.params)
    end
    return list
  end)
end
