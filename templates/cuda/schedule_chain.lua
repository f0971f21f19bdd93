-- How chains are launched: all layers together, then a launch for each sum over the batch, which is cut as that of any
-- contraction (schedule_contract.lua). The record of a part is that of a contraction's with
--   layers, totals           the numbers of the steps of each kind
--   threads, columns, terms  of a block, each of which has a row; of a slice of a layer's matrix

local contract = use "schedule_contract.lua"

local THREADS, COLUMNS, TERMS = 128, 16, 64

return function(facts, work)
  -- A contraction's variants with its parameters' defaults.
  local as_contraction = setmetatable({ variants = {} }, { __index = facts })
  for i in ipairs(facts.variants) do
    as_contraction.variants[i] = { params = { unit = "vector", bm = 128, bn = 128, stages = 3 } }
  end
  local made = contract(as_contraction, work)
  made.threads, made.columns, made.terms, made.layers, made.totals = THREADS, COLUMNS, TERMS, {}, {}
  for i, kind in ipairs(facts.programs.chain.kinds) do
    local list = kind == "layer" and made.layers or made.totals
    list[#list + 1] = i
    if kind == "layer" then
      made.steps[i] = { a = { along = "k", count = 1 }, b = { along = "k", count = 1 } }
    end
  end
  for _, variant in ipairs(made.variants) do
    local together = {
      m = variant.steps[made.layers[1]].m, n = 0, k = 0, matrices = 0,
      cuts = {
        {
          name = "_layers", bm = THREADS, bn = 1, terms = 1, at_once = 2048 // THREADS, threads = THREADS, most = 1,
          left = 0,
        },
      },
    }
    local steps = { together }
    for _, i in ipairs(made.totals) do
      steps[#steps + 1] = variant.steps[i]
    end
    variant.steps = steps
  end
  return made
end
