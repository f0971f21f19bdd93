-- How the passes of a stream are cut on any GPU (gen/program/stream.lua): a launch each. The record of a part is that
-- of a contraction's, contract.lua, but that a variant has shapes and steps of each pass: those of its last step, with
--   columns   of the others of the pass's products of keys

local contract = use "contract.lua"

local stream = {}

-- The shapes of a pass, of which the first is taken that fits. rows: one for values of rows where there are no columns.
function stream.shapes(pass, list, rows)
  if #pass.lasts == 0 then
    for _, shape in ipairs(list) do
      shape.of_rows, shape.columns = true, nil
    end
  elseif #pass.rows_of > 0 then
    rows.of_rows, rows.columns = true, 0
    table.insert(list, 1, rows)
  end
  return list
end

-- The terms of a pass's first products, all of at most `depth`.
function stream.extents_of(pass, depth)
  local extents = {}
  for i, first in ipairs(pass.firsts) do
    extents[i] = { of = 0, most = depth }
    for _, place in ipairs(first.k[1]) do
      extents[i].of = extents[i].of | 1 << place - 1
    end
  end
  return extents
end

-- Whether all factors of a pass are elements as they are in memory.
function stream.are_plain(pass, sides)
  local plain = true
  for _, first in ipairs(pass.firsts) do
    plain = plain and sides[first].a.plain and sides[first].b.plain
  end
  for _, last in ipairs(pass.lasts) do
    plain = plain and sides[last].b.plain
  end
  return plain
end

-- The record of a part, and its `steps` by the program's. shapes_of(pass, sides, variant, nth): the shapes of a pass.
function stream.make(facts, work, shapes_of)
  local record, sides, last_of, nth_of, number_of = facts.programs.stream, {}, {}, {}, {}
  for nth, pass in ipairs(record.passes) do
    local list = #pass.lasts > 0 and pass.lasts or pass.firsts
    last_of[list[#list]], nth_of[pass] = pass, nth
  end
  for i, step in ipairs(record.steps) do
    number_of[step] = i
  end
  local made = contract(facts, work, function(v, step, side)
    local pass = last_of[step]
    sides[step] = side
    return pass and shapes_of(pass, sides, v, nth_of[pass]) or {}
  end)
  for _, variant in ipairs(made.variants) do
    local shapes, steps = {}, {} -- of passes
    for i, step in ipairs(record.steps) do
      local pass = last_of[step]
      if pass then
        shapes[#shapes + 1], steps[#steps + 1] = variant.shapes[i], variant.steps[i]
        variant.steps[i].columns = {}
        if #pass.lasts == 0 then
          variant.steps[i].k = variant.steps[i].n -- blocks share keys
        end
        for c = 1, #pass.lasts - 1 do
          variant.steps[i].columns[c] = variant.steps[number_of[pass.lasts[c]]].n
        end
      end
    end
    variant.shapes, variant.steps = shapes, steps
  end
  return made, sides
end

return stream
