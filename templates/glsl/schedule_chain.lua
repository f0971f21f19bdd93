-- How chains are launched: all layers together, then a launch for each sum over the batch, which is cut as that of any
-- contraction (schedule_contract.lua). The record of a part is that of a contraction's, of whose kernels that of a
-- variant's layers has no step, and a shape with
--   unit       what multiplies: numbers, "row" (chain_row.comp), a "matrix" (chain_layers.comp), or "coopvec"
--              (chain_vectors.comp)
--   layers     the numbers of the layers' steps
--   name, bm   the kernel's ending; a workgroup's rows
--   threads, columns, terms, line
--              of "row": of a workgroup; of a slice of a layer's matrix; accesses from one term of that to the next
--   threads, most_rows, across, wide, bk, line
--              of "coopvec": invocations that share a row's columns; how many of these each may have at once; terms of
--              a slice; accesses of shared memory from one row to the next
--   most_rows, most_columns, bn, bk, wm, wn, room
--              of "matrix": the largest batch, and the most columns of the first layer, that it is for (nil: any); the
--              columns of a layer that are computed at once, terms of a slice; rows and columns of a subgroup; accesses
--              of shared memory

local contract = use "schedule_contract.lua"

-- An invocation a row.
local function row(facts)
  local number = facts.bits // 8
  local shape = { unit = "row", name = "_layers", bm = 128, threads = 128, columns = 128 // number, terms = 64 }
  shape.line = shape.columns * number // 16 + 1 -- one apart, so that neighbours are in other banks
  shape.shared = shape.terms * shape.line * 16
  return { shape }
end

-- Eight subgroups, `down` of them one below the other, for so many rows.
local function matrices(made, layers, most_rows, most_columns, bm, down, bn, bk)
  local wm, wn = bm // down, bn // (8 // down)
  local shape = {
    unit = "matrix", name = ("_layers%dx%d"):format(bm, bn), most_rows = most_rows, most_columns = most_columns,
    bm = bm, bn = bn, bk = bk, wm = wm, wn = wn,
    subgroups = 8, side = { 16, 16, 16 },
    room = 8 * 16 * wn // 4, -- accesses: for sums on their way out, and slices
  }
  local kept = 0
  for _, i in ipairs(layers) do
    local a, b = made.steps[i].a, made.steps[i].b
    kept = kept + (a.plain and 0 or 1)
    local lines = (a.plain and 1 or 2) * bm * (bk // 8 + 1)
    lines = lines + (b.along == "k" and bn * (bk // 8 + 1) or bk * (bn // 8 + 1))
    shape.room = math.max(shape.room, lines)
  end
  shape.shared = shape.room * 16 + 4 * bm * kept
  return shape
end

-- Workgroups of few rows where rows are few, for then it takes longest to read the matrices; of few columns where a
-- layer has no more for all subgroups.
local function matrix(_, made, layers)
  return {
    matrices(made, layers, 2048, nil, 16, 1, 256, 64), matrices(made, layers, nil, 64, 128, 8, 64, 32),
    matrices(made, layers, 8192, nil, 64, 2, 256, 32), matrices(made, layers, nil, nil, 128, 2, 256, 32),
  }
end

-- So many rows, of which each is `across` invocations'.
local function vectors(most_rows, bm, across, bk, wide)
  local shape = {
    unit = "coopvec", name = "_layers" .. bm, most_rows = most_rows, bm = bm, across = across, bk = bk, wide = wide,
    threads = bm * across, line = math.max(bk, across * wide[#wide]) // 8 + 1, -- one apart, as above
  }
  shape.shared = shape.line * bm * 16
  return shape
end

local function coopvec()
  return { vectors(2048, 32, 8, 256, { 16, 32, 64 }), vectors(nil, 128, 1, 64, { 16, 32, 64 }) }
end

local shapes_of = { row = row, matrix = matrix, coopvec = coopvec }

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
    local first = variant.steps[layers[1]]
    local together = { m = first.m, n = first.n, k = 0, matrices = 0, cuts = {} }
    for c, shape in ipairs(shapes_of[facts.variants[i].params.unit](facts, made, layers)) do
      shape.number, shape.layers = #made.kernels, layers
      made.kernels[#made.kernels + 1] = { shape = shape }
      together.cuts[c] = {
        name = shape.name, rows = shape.most_rows, columns = shape.most_columns, bm = shape.bm, terms = 1, at_once = 1,
        threads = shape.threads, subgroups = shape.subgroups, side = shape.side, shared = shape.shared,
        most = 1, number = shape.number, left = 0,
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
