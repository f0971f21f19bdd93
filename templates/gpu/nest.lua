-- How nests of loops are cut on any GPU: what their kernels and the host's side must agree on. The record of a part:
--   steps[i]      of each step: together: whether its terms lie side by side, else its points
--   counts        bytes of the workspace that count how many blocks of each tile's parts have arrived
--   kernels       { step, shape }: of the module, by number from 0 on, which shape.number is
--   variants[i]   { shapes, steps, temporaries, number }: shapes[i] are the ways to cut a step, { name, points, lanes,
--                 threads, at_once }, of which the first is taken that its points and terms fit

local MOST_BLOCKS = 512 -- that share points
local THREADS, AT_ONCE = 256, 4
local GATHERED = 16 -- bytes of what is gathered of one reduction, at the most
local FEW = 32 -- terms that one thread takes
local MOST_SCANNED = 256 -- points whose scans have a block each, where neighbouring points lie side by side

-- A way to cut a step whose points are shared by `lanes` threads each; it is for at most so many points and terms.
local function shape(name, lanes, points, terms)
  return {
    name = name, lanes = lanes, points = THREADS // lanes, threads = THREADS, at_once = AT_ONCE, most_points = points,
    most_terms = terms,
  }
end

local function shapes_of(step, together)
  if step.scanned then
    local short, one = shape("_short", 1, nil, FEW), shape("_points", 1)
    return not step.merges and { one } or step.along == step.scanned and { short, shape("_block", THREADS) }
      or { short, shape("_block", THREADS, MOST_SCANNED), one }
  end
  if #step.gathered == 0 or step.gathered[1].kind == "pick" then
    return { shape("_points", 1) }
  elseif together then
    return { shape("_short", 1, nil, FEW), shape("_block", THREADS, 1024), shape("_warp", 32) }
  end
  return { shape("_short", 1, nil, FEW), shape("_few", 8, 16384), shape("_points", 1) }
end

return function(facts, work)
  local record = facts.programs.nest
  local made = {
    launch = "templates/gpu/launch_steps.c", steps = {}, variants = {}, counts = 4 * MOST_BLOCKS, kernels = {},
  }
  made.work = work(facts, false, { bytes = made.counts })
  local shapes, steps = {}, {}
  for i, step in ipairs(record.steps) do
    local together = step.along and step.over >> step.along - 1 & 1 ~= 0 or false
    local over = step.kind == "reduce" and step.over or 0
    local terms = step.scanned and 1 << step.scanned - 1 or over
    made.steps[i] = { together = together }
    shapes[i] = shapes_of(step, together)
    steps[i] = { m = 0, n = step.axes, k = over, matrices = 0, cuts = {} }
    for c, way in ipairs(shapes[i]) do
      way.number = #made.kernels
      made.kernels[way.number + 1] = { step = i, shape = way }
      steps[i].cuts[c] = {
        name = way.name, columns = way.most_points, bm = 1, bn = way.points, terms = FEW * way.lanes,
        at_once = way.at_once, threads = way.threads, most = MOST_BLOCKS, number = way.number,
        left = way.points * GATHERED * #step.gathered,
        extents = way.most_terms and { { of = terms, most = way.most_terms } } or nil,
      }
    end
  end
  local temporaries = {}
  for i, operand in ipairs(record.temporaries) do
    temporaries[i] = operand.axes
  end
  for i in ipairs(facts.variants) do
    made.variants[i] = { shapes = shapes, steps = steps, temporaries = temporaries, number = facts.bits // 8 }
  end
  return made
end
