-- How contractions are cut: templates/gpu/contract.lua, with shapes whose sums are "points", "short", "thin",
-- "thin_columns", "tile", "tensor" or "fetched"; steps[i] says also plain: whether both factors are.

local contract = use "../gpu/contract.lua"

local tensor = use "tensor_shape.lua"

local THIN, FEW = 256, 8 -- threads of a block for few rows, or columns, and how many these are
local POINTS = 256 -- and where nothing is summed

-- The rows, or columns, of the other factor that a block has.
local function across(facts, side)
  return side.along == "k" and THIN // 32 * (128 // facts.bits) or 32 * side.count
end

local function thin(facts, made, rows)
  local at_once, some, one = 128 // facts.bits, { 27, 1100, 9200 }, { 11, 1950, 3450 }
  local rate, wait, start = table.unpack(rows > 1 and some or one)
  return {
    sums = "thin", name = "_rows" .. rows, rows = rows, bm = rows, bn = across(facts, made.b), bk = 32768 // facts.bits,
    terms = 4096 // facts.bits, rate = rate, wait = wait, start = start,
    threads = THIN, at_once = rows > 1 and 2 or facts.width == 8 and 3 or 4, numbers = THIN * rows * at_once,
    chains = THIN // 32,
  }
end

local function thin_pair(list, facts, made)
  local rows, columns = thin(facts, made, FEW), thin(facts, made, FEW)
  list[#list + 1], list[#list + 2] = rows, columns
  columns.sums, columns.name, columns.rows, columns.columns = "thin_columns", "_columns" .. FEW, nil, FEW
  columns.bm, columns.bn = across(facts, made.a), FEW
end

local function points(facts, made)
  local bn = POINTS * math.max(made.b.count, 128 // facts.bits)
  return { sums = "points", name = "_points", bm = 1, bn = bn, bk = 1, threads = POINTS, at_once = 4, numbers = 0 }
end

-- Of a few terms: for many rows and columns, or few of either.
local SHORT = {
  { 512, 16, "columns", rate = 28, start = 2700 }, { 8, 512, "rows", rate = 13, start = 3000 },
  { 64, 128, rate = 25, start = 1200 },
}
local TERMS = 16

local function short(list, facts, step)
  if facts.bits ~= 32 then
    return
  end
  for _, side in ipairs(SHORT) do
    local bm, bn, few = table.unpack(side)
    local shape = {
      sums = "short", name = ("_short%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = TERMS, threads = bm * bn // 32,
      at_once = 16384 // (bm * bn), numbers = 0, extents = { { of = tensor.bits_of(step.k[#step.k]), most = TERMS } },
      rate = side.rate, start = side.start, wait = 300,
    }
    if few then
      shape[few] = few == "rows" and bm or bn
    end
    list[#list + 1] = shape
  end
end

-- Of 128 x 128 numbers one block at a time has registers for all that is on its way: on an H200 4096 cubed in f32
-- takes 3.16 ms, and 3.49 where two have half of them. With 128 x 256 it takes 2.97 ms. Of small ones there are many
-- blocks at once, while each waits for its slices.
local function tile(facts, p, side)
  local bytes = facts.bits // 8
  local bm, bn = side.bm or p.bm, side.columns * 4 // bytes
  local tm, tn = side.tm or 8, (side.tn or 8) * 4 // bytes
  local threads = bm // tm * (bn // tn)
  return {
    sums = "tile", name = ("_tile%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = side.bk // bytes, tm = tm,
    tn = tn, threads = threads, at_once = side.at_once or math.max(1, 256 // threads), numbers = bm * bn,
    rate = side.rate, wait = side.wait, start = side.start, terms = side.wait and 256 // bytes or nil,
    joins = side.wait and bytes == 4 and tensor.JOINED or nil,
  }
end

-- Sides of tiles of f32, with multiply-adds in a clock, clocks between the slices of a block that is alone, and clocks
-- that a tile takes besides: see templates/gpu/launches.c. bk: bytes of a slice's terms.
local WIDE = { columns = 256, tm = 16, bk = 32, rate = 89, start = 11300 }
local OWN = { columns = 128, bk = 64, rate = 60, start = 6450 }
local SMALL = {
  { bm = 64, columns = 64, tn = 4, bk = 64, at_once = 4, rate = 60, wait = 1870, start = 2200 },
  { bm = 32, columns = 32, tm = 4, tn = 4, bk = 128, at_once = 6, rate = 34, wait = 2330, start = 2700 },
}

local function small_tiles(list, facts, p)
  for _, side in ipairs(p.bn == "auto" and SMALL or {}) do
    list[#list + 1] = tile(facts, p, side)
  end
end

-- few: whether only tiles that leave registers for as many numbers again are wanted.
local function tiles(list, facts, p, few)
  if p.bn ~= "auto" then
    list[#list + 1] = tile(facts, p, { columns = math.min(p.bn, 128), bk = 64 })
    return
  end
  list[#list + 1] = not few and p.bm == 128 and facts.width == 4 and tile(facts, p, WIDE) or nil
  list[#list + 1] = tile(facts, p, OWN)
  small_tiles(list, facts, p)
end

-- A shape whose factors the copy engine can bring is added to a list. copies: of either factor where its rows are none
-- for the copy engine, but of few rows' other factor, of which all is read once.
local function add_fetched(list, facts, step, made, copies, shape)
  local a = tensor.map_of(made.a, step, "m", shape.bm, facts.width, copies)
  local b = tensor.map_of(made.b, step, "n", shape.bn, facts.width, not shape.rows and copies or nil)
  shape.maps, shape.pads = { a, b }, a and b and (a.copy or b.copy) and 1 or nil
  list[#list + 1] = a and b and shape or nil
end

-- Few rows are what tensor cores call columns, so that the other factor's go through a deep ring of small stages; with
-- copies or without.
local function fetched_few(list, facts, step, made, p, copies)
  if p.products ~= "tf32" and made.a.along == "k" then
    local shape = tensor.fetched(p, 64, 16, true)
    shape.rows, shape.start = 16, copies and 2200 or shape.start
    add_fetched(list, facts, step, made, copies, shape)
  end
end

-- The tiles of sums whose factors the copy engine brings. Of tf32 tensor cores take the right factor along terms alone.
local function fetched(list, facts, step, made, copies, p)
  local tf32 = p.products == "tf32"
  local turned = tf32 and made.b.along ~= "k"
  if turned and made.a.along ~= "k" then
    return
  end
  for _, right in ipairs(p.bn ~= "auto" and { p.bn } or tf32 and { 256, 64 } or { 256, 128, 64 }) do
    add_fetched(list, facts, step, made, copies, tensor.fetched(p, p.bm, right, turned))
  end
  if p.bn == "auto" and not tf32 then
    add_fetched(list, facts, step, made, copies, tensor.fetched(p, 64, 64, turned))
  end
end

-- Those whose factors the threads copy. is_lean: beside what the copy engine brings, plain tiles but the smallest are
-- left out.
local function copied(list, facts, p, is_fetched, is_lean)
  local is_auto = p.bn == "auto"
  list[#list + 1] = tensor.copied(p, nil, is_auto and is_fetched)
  list[#list + 1] = is_auto and tensor.copied(p, 64, is_fetched) or nil
  if is_lean then
    list[#list + 1] = tile(facts, p, SMALL[#SMALL])
  else
    small_tiles(list, facts, p)
  end
end

return function(facts, work)
  return contract(facts, work, function(v, step, made, _, copies)
    local is_tensor = v.params.unit ~= "vector" and made.a.plain and made.b.plain and not step.meet
    made.plain = made.plain or is_tensor
    local list = {}
    if step.meet then
      tiles(list, facts, v.params, step.meet.own ~= nil)
      return list
    end
    if #step.k > 0 and #step.m > 0 then
      short(list, facts, step)
    end
    if v.params.unit == "wgmma" and is_tensor and #step.m > 0 then
      fetched_few(list, facts, step, made, v.params)
    end
    list[#list + 1] = (#step.k == 0 and points or thin)(facts, made, 1)
    if #step.m > 0 then
      local brought = {}
      if v.params.unit == "wgmma" and is_tensor then
        fetched_few(brought, facts, step, made, v.params, copies)
        fetched(brought, facts, step, made, copies, v.params)
      end
      -- Of 90 drawn shapes on an H200, in f16, none was faster by few rows or columns in turn, nor by plain tiles of
      -- 64 x 64, if the copy engine can bring factors. Those are half of the code.
      local is_lean = #brought > 0 and v.params.bn == "auto" and v.params.products ~= "tf32"
      if not is_lean then
        thin_pair(list, facts, made)
      end
      table.move(brought, 1, #brought, #list + 1, list)
      if is_tensor then
        copied(list, facts, v.params, #brought > 0, is_lean)
      else
        tiles(list, facts, v.params)
      end
    end
    return list
  end)
end
