-- The kernels of a module, numbered from 0 on: a step's, or a pass's, of each shape one, whichever variants have it.
-- Gives the list of { step, shape }, and what adds the shapes of a step or a pass with some number, which each get
-- their kernel's as `number`.
return function()
  local kernels, known = {}, {}
  return kernels, function(step, shapes)
    for _, shape in ipairs(shapes) do
      local key = step .. shape.name
      if not known[key] then
        known[key] = #kernels
        kernels[#kernels + 1] = { step = step, shape = shape }
      end
      shape.number = known[key]
    end
    return shapes
  end
end
