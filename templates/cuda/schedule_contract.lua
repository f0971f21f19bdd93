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
    at_once = rows > 1 and 2 or facts.width == 8 and 3 or 4, numbers = THIN * rows * at_once, chains = THIN // 32,
  }
end

local function points(facts, made)
  local bn = POINTS * math.max(made.b.count, 128 // facts.bits)
  return { sums = "points", name = "_points", bm = 1, bn = bn, bk = 1, threads = POINTS, at_once = 4, numbers = 0 }
end

-- Of 128 x 128 numbers one block at a time has registers for all that is on its way: on an H200 4096 cubed in f32 takes
-- 3.16 ms, and 3.49 where two have half of them. With 128 x 256 it takes 2.97 ms.
local function tile(facts, p, columns)
  local bytes = facts.bits // 8
  local bm, bn, wide = p.bm, columns * 4 // bytes, columns > 128
  local tm, tn = wide and 16 or 8, 32 // bytes
  local threads = bm // tm * (bn // tn)
  return {
    sums = "tile", name = ("_tile%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = (wide and 32 or 64) // bytes, tm = tm,
    tn = tn, threads = threads, at_once = math.max(1, 256 // threads), numbers = bm * bn,
  }
end

-- Multiply-adds in a clock and clocks that a tile takes besides, as of one H200.
local RATE, START = { [128] = 100, [256] = 107 }, 4000

local function tiles(list, facts, p)
  if p.bn ~= "auto" then
    list[#list + 1] = tile(facts, p, math.min(p.bn, 128))
    return
  end
  for _, columns in ipairs(p.bm == 128 and facts.width == 4 and { 256, 128 } or { 128 }) do
    local shape = tile(facts, p, columns)
    shape.rate, shape.start = RATE[columns], START
    list[#list + 1] = shape
  end
end

-- A shape whose factors the copy engine can bring is added to a list.
local function add_fetched(list, facts, step, made, shape)
  local a = tensor.map_of(made.a, step, "m", shape.bm, facts.width)
  local b = tensor.map_of(made.b, step, "n", shape.bn, facts.width)
  shape.maps = { a, b }
  list[#list + 1] = a and b and shape or nil
end

-- Few rows are what tensor cores call columns, so that the other factor's go through a deep ring of small stages.
local function fetched_few(list, facts, step, made, p)
  if p.products ~= "tf32" and made.a.along == "k" then
    local shape = tensor.fetched(p, 64, 16, true)
    shape.rows = 16
    add_fetched(list, facts, step, made, shape)
  end
end

-- The tiles of sums whose factors the copy engine brings. Of tf32 tensor cores take the right factor along terms alone.
local function fetched(list, facts, step, made, p)
  local tf32 = p.products == "tf32"
  local turned = tf32 and made.b.along ~= "k"
  if turned and made.a.along ~= "k" then
    return
  end
  for _, right in ipairs(p.bn ~= "auto" and { p.bn } or tf32 and { 256, 64 } or { 256, 128, 64 }) do
    add_fetched(list, facts, step, made, tensor.fetched(p, p.bm, right, turned))
  end
end

return function(facts, work)
  return contract(facts, work, function(v, step, made)
    local is_tensor = v.params.unit ~= "vector" and made.a.plain and made.b.plain
    made.plain = made.plain or is_tensor
    local list = {}
    if v.params.unit == "wgmma" and is_tensor and #step.m > 0 then
      fetched_few(list, facts, step, made, v.params)
    end
    list[#list + 1] = (#step.k == 0 and points or thin)(facts, made, 1)
    if #step.m > 0 then
      list[#list + 1] = thin(facts, made, 8)
      if v.params.unit == "wgmma" and is_tensor then
        fetched(list, facts, step, made, v.params)
      end
      if is_tensor then
        list[#list + 1] = tensor.copied(v.params)
      else
        tiles(list, facts, v.params)
      end
    end
    return list
  end)
end
