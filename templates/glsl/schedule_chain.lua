-- How chains are launched: all layers together, then a launch for each sum over the batch, which is cut as that of any
-- contraction (schedule_contract.lua). The record of a part is that of a contraction's, of whose kernels that of a
-- variant's layers has no step, and a shape with
--   unit       what multiplies: numbers, "row" (chain_row.comp)
--   layers     the numbers of the layers' steps
--   threads, columns, terms, line
--              of "row": of a workgroup; of a slice of a layer's matrix; accesses from one term of that to the next

local contract = use "schedule_contract.lua"

-- An invocation a row.
local function row(facts)
  local number = facts.bits // 8
  local shape = { unit = "row", bm = 128, threads = 128, columns = 128 // number, terms = 64 }
  shape.line = shape.columns * number // 16 + 1 -- one apart, so that neighbours are in other banks
  shape.shared = shape.terms * shape.line * 16
  return { shape }
end

local shapes_of = { row = row }

return function(facts, work)
  local kinds, layers, totals = facts.programs.chain.kinds, {}, {}
  for i, kind in ipairs(kinds) do
    local list = kind == "layer" and layers or totals
    list[#list + 1] = i
  end
  -- A contraction's variants with its parameters' defaults.
  local as_contraction = setmetatable({ variants = {} }, { __index = facts })
  for i in ipairs(facts.variants) do
    as_contraction.variants[i] = { params = { unit = "vector", bm = 64, bn = 64, bk = 16 } }
  end
  local made = contract(as_contraction, work, function(step)
    return kinds[step] == "total"
  end)
  for i, variant in ipairs(made.variants) do
    local together = { m = variant.steps[layers[1]].m, n = 0, k = 0, matrices = 0, cuts = {} }
    for c, shape in ipairs(shapes_of[facts.variants[i].params.unit](facts, made, layers)) do
      shape.number, shape.layers = #made.kernels, layers
      made.kernels[#made.kernels + 1] = { shape = shape }
      together.cuts[c] = {
        name = "_layers" .. shape.bm, rows = shape.rows, bm = shape.bm, bn = 1, terms = 1, at_once = 1,
        threads = shape.threads, subgroups = shape.subgroups, side = shape.side, shared = shape.shared, most = 1,
        number = shape.number, left = 0,
      }
    end
    local steps = { together }
    for _, step in ipairs(totals) do
      steps[#steps + 1] = variant.steps[step]
    end
    variant.steps = steps
  end
  return made
end
