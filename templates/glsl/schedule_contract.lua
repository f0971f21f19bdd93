-- How contractions are cut: templates/gpu/contract.lua, with shapes whose sums are "thin", "tile" or "matrix". The
-- record of a part has also kernels, the module's by number from 0 on: { step, shape }; shape.number is that.

local contract = use "../gpu/contract.lua"

local THIN = 256 -- invocations of a workgroup for few rows or columns
local GROUPS = THIN // 32

-- Few rows of the factor few_of; made: the step's record of the other.
local function thin(facts, made, few_of, few)
  local width = 128 // facts.bits
  local along_k = made.along == "k"
  local many = along_k and GROUPS * width or 32 * made.count
  local bk = (few == 1 and 32768 or 16384) // facts.bits
  local shape = {
    sums = "thin", few_of = few_of, few = few, many = many, groups = GROUPS, bk = bk, threads = THIN,
    at_once = few == 1 and 4 or 2, numbers = few * many,
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

local function tile(facts, p)
  local bytes = facts.bits // 8
  local bm, bn, tm, tn = p.bm, p.bn * 4 // bytes, 8, 32 // bytes
  local threads = bm // tm * (bn // tn)
  return {
    sums = "tile", name = ("_tile%dx%d"):format(bm, bn), bm = bm, bn = bn, bk = p.bk * 4 // bytes, tm = tm, tn = tn,
    threads = threads, at_once = math.max(1, 512 // threads), numbers = bm * bn,
    shared = p.bk * 4 // bytes * (bm + bn + 2 * 16 // bytes) * bytes + 16,
  }
end

local function matrix(p)
  local wm, wn = p.bm // 4, p.bn // 2 -- of a subgroup
  return {
    sums = "matrix", name = ("_matrix%dx%d"):format(p.bm, p.bn), bm = p.bm, bn = p.bn, bk = p.bk, wm = wm, wn = wn,
    subgroups = 8, side = { wm, wn, p.bk }, at_once = 2, numbers = 0,
    terms = 0xffffffff, -- which workgroups do not share
    shared = (p.bm + p.bn) * (p.bk + 8) * 2 + 8192,
  }
end

-- wanted: whether a step, by its number, has kernels of its own; all have where it is left out.
return function(facts, work, wanted)
  local kernels, known = {}, {}
  local made = contract(facts, work, function(v, step, made_step, number)
    if wanted and not wanted(number) then
      return {}
    end
    local list = { thin(facts, made_step.b, "a", 1) }
    if #step.m > 0 then
      list = {
        list[1], thin(facts, made_step.a, "b", 1), thin(facts, made_step.b, "a", 8), thin(facts, made_step.a, "b", 8),
        v.params.unit == "matrix" and made_step.a.plain and made_step.b.plain and matrix(v.params)
          or tile(facts, v.params),
      }
    end
    for i, shape in ipairs(list) do
      local key = number .. shape.name
      if not known[key] then
        known[key] = shape
        shape.number = #kernels
        kernels[#kernels + 1] = { step = number, shape = shape }
      end
      list[i] = known[key]
    end
    return list
  end)
  made.kernels = kernels
  return made
end
