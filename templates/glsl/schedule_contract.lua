-- How contractions are cut: templates/gpu/contract.lua, with shapes whose sums are "thin", "tile", "matrix" or
-- "workgroup". The record of a part has also `kernels`, the module's (numbered.lua).

local contract, numbered = use "../gpu/contract.lua", use "numbered.lua"

local THIN = 256 -- invocations of a workgroup for few rows or columns
local GROUPS = THIN // 32
local SUMS = { exact = "float", f16 = "float16_t" } -- of matrices, by a variant's products
local FEW = 1024 -- rows and columns of a product that has few large tiles

-- Few rows of the factor few_of; made: the step's record of the other.
local function thin(facts, made, few_of, few)
  local width = 128 // facts.bits
  local along_k = made.along == "k"
  local many = along_k and GROUPS * width or 32 * made.count
  local bk = (few == 1 and 32768 or 16384) // facts.bits
  local shape = {
    sums = "thin", few_of = few_of, few = few, many = many, groups = GROUPS, bk = bk, threads = THIN,
    at_once = few == 1 and 4 or 2, numbers = few * many, chains = GROUPS,
    -- Accesses of shared memory: for the slice, or for what one of the few leaves to be added up.
    room = math.max(few * bk // width, along_k and THIN or math.max(1, THIN * made.count // width)),
  }
  shape.shared = shape.room * 16
  if few_of == "a" then
    shape.name, shape.rows, shape.bm, shape.bn = "_rows" .. few, few, few, many
  else
    shape.name, shape.columns, shape.bm, shape.bn = "_columns" .. few, few, many, few
  end
  return shape
end

local function tile(facts, bm, columns, terms)
  local bytes = facts.bits // 8
  local bn, bk, tm, tn = columns * 4 // bytes, terms * 4 // bytes, 8, 32 // bytes
  local threads = bm // tm * (bn // tn)
  return {
    sums = "tile", name = ("_tile%dx%dx%d"):format(bm, bn, bk), bm = bm, bn = bn, bk = bk, tm = tm, tn = tn,
    threads = threads, at_once = math.max(1, 512 // threads), numbers = bm * bn,
    shared = bk * (bm + bn + 2 * 16 // bytes) * bytes + 16,
  }
end

-- What the names of shapes end in whose products are rounded.
local function ending(p)
  return p.products == "exact" and "" or "_" .. p.products
end

-- Of a tile each subgroup has 32 x 32 sums, 64 x 64, or 64 x 128 of f16, which take as many registers.
local function matrix(bm, bn, p)
  local wm = bm <= 64 and 32 or 64
  local wn = wm == 64 and bn == 256 and p.products == "f16" and 128 or wm
  local subgroups = bm // wm * (bn // wn)
  return {
    sums = "matrix", name = ("_matrix%dx%dx%d"):format(bm, bn, p.bk) .. ending(p),
    bm = bm, bn = bn, bk = p.bk, wm = wm, wn = wn,
    subgroups = subgroups, side = { wm, wn, p.bk }, at_once = 2, numbers = 0, sum = SUMS[p.products],
    terms = 0xffffffff, -- which workgroups do not share
    shared = math.max((bm + bn) * (p.bk + 8) * 2, subgroups * 1024),
  }
end

-- By all of a workgroup, for whose matrices the device has shared memory of its own.
local function workgroup(p)
  return {
    sums = "workgroup", name = ("_workgroup%dx%dx%d"):format(p.bm, p.bn, p.bk) .. ending(p),
    bm = p.bm, bn = p.bn, bk = p.bk,
    threads = 256, at_once = 1, numbers = 0, sum = SUMS[p.products],
    terms = 0xffffffff, -- which workgroups do not share
  }
end

-- Products with few rows and columns have smaller tiles, so that there are more. On an H200, of 1024 cubed in f16
-- matrices of 64 x 128 take 18 us, of 128 x 128 25.7 and of 256 x 256 29; of 2048 cubed 109, 70 and 115.
local function matrices(list, p)
  for _, small in ipairs { { 64, 128, FEW }, { 128, 128, 2 * FEW } } do
    local bm, bn, most = table.unpack(small)
    if bm * bn < p.bm * p.bn then
      local shape = matrix(bm, bn, p)
      shape.rows, shape.columns = most, most
      list[#list + 1] = shape
    end
  end
  list[#list + 1] = matrix(p.bm, p.bn, p)
end

local function tiles(list, facts, step, made, p)
  local plain = made.a.plain and made.b.plain and not step.meet
  if p.unit == "matrix" and plain then
    matrices(list, p)
  elseif p.unit == "workgroup" and plain then
    list[#list + 1] = workgroup(p)
  elseif p.unit ~= "vector" then
    list[#list + 1] = tile(facts, 64, 64, 16)
  else
    if p.bm == 64 and p.bn == 128 then
      local small = tile(facts, p.bm, 64, p.bk)
      small.rows, small.columns = FEW, FEW
      list[#list + 1] = small
    end
    list[#list + 1] = tile(facts, p.bm, p.bn, p.bk)
  end
end

-- wanted: whether a step, by its number, has kernels of its own; all have where it is left out.
return function(facts, work, wanted)
  local kernels, number = numbered()
  local made = contract(facts, work, function(v, step, made_step, nth)
    if wanted and not wanted(nth) then
      return {}
    end
    local list = { not step.meet and thin(facts, made_step.b, "a", 1) or nil }
    if step.meet then
      tiles(list, facts, step, made_step, v.params)
    elseif #step.m > 0 then
      list[2] = thin(facts, made_step.a, "b", 1)
      list[3] = thin(facts, made_step.b, "a", 8)
      list[4] = thin(facts, made_step.a, "b", 8)
      tiles(list, facts, step, made_step, v.params)
    end
    return number(nth, list)
  end)
  made.kernels = kernels
  return made
end
