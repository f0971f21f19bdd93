-- How contractions are cut on any GPU: what their kernels and the host's side must agree on. The record of a part:
--   steps[i]      of each step: a and b { along, count, plain }: the axis along which a factor is read, how many
--                 elements at once, and whether it is elements as they are in memory, side by side, of 16 bits or f32;
--                 of a plain one that is the op's also operand: its place among those, runs: those of the step that
--                 it has, the innermost first, and copy: its copy, where kernels want one
--   most_shared   tiles whose terms blocks may share
--   counts        bytes of the workspace that count how many blocks of each tile's parts have arrived
--   copies        of operands whose rows may have to be padded: { operand, runs, bytes, rows, columns, before }: its
--                 place among the op's, its runs, bytes of an element, the dimensions of how many rows there are and of
--                 one, and the copies before it in the workspace
--   variants[i]   { steps, shapes }: shapes[i] are the ways to cut a step, of which the first is taken that a
--                 matrix's rows and columns fit; steps are the same for the host's side
-- A shape is { sums, name, rows, columns, bm, bn, bk, threads, at_once, numbers, ... }: which template adds up its
-- sums, its kernel's ending, the most rows and columns (nil: any), a tile, slices of terms, threads and blocks at once
-- of a multiprocessor, and the numbers that a block leaves of a part of its terms. terms: the fewest of a part
-- (nil: 256, or bk). chains: threads that have a share each of a sum's terms (nil: 1). What follows: slice, the terms
-- of which a part has a multiple; depth, the terms that a block adds up at most. Fields of a lathe_cut of launches.h
-- beside these go there.

local MOST_BLOCKS = 512 -- that share tiles
-- Terms that are added up one after the other, at most. Of f32 between 0 and 1 sums of so many are 100 units short, of
-- ten times as many 1,000: what is added is small beside the sum, and more often rounded down. Tensor cores cut off:
-- sums of so many terms are 2,900 units short on an H200.
local DEPTH = 32768
local LETTERS = { "m", "n", "k" }

local function core(step, letter)
  return step[letter][#step[letter]]
end

-- How an operand's elements lie along a run: nil where it lacks that, "unit" or "strided".
local function kind(operand, run)
  for i, place in ipairs(run and operand.dim_index or {}) do
    if place == run[#run] then
      return i == #operand.dim_index and "unit" or "strided"
    end
  end
end

-- The operands that a graph reads.
local function operands_of(record, node)
  local list, seen = {}, {}
  local function walk(n)
    if not seen[n] then
      seen[n] = true
      for _, operand in ipairs(n.op == "input" and record.operands or {}) do
        list[#list + 1] = operand.name == n.name and operand or nil
      end
      for i = 1, #n do
        walk(n[i])
      end
    end
  end
  walk(node)
  return list
end

local function place_of(list, operand)
  for i, other in ipairs(list) do
    if other == operand then
      return i
    end
  end
end

-- The runs of a step that an operand has, the innermost first.
local function runs_of(step, operand)
  local at, list = {}, {}
  for i, place in ipairs(operand.dim_index) do
    at[place] = i
  end
  for _, letter in ipairs { "batch", "m", "n", "k" } do
    for _, run in ipairs(step[letter]) do
      list[#list + 1] = at[run[#run]] and run or nil
    end
  end
  table.sort(list, function(a, b) return at[a[#a]] > at[b[#b]] end)
  return list
end

-- How many elements of an operand are read at once: 16 bytes, but no more elements than of the kernel's type.
local function at_once(facts, operand)
  return math.min(16 // facts.element_of(operand).bytes, facts.width)
end

-- A factor is read along the axis in which the operand with most axes has its elements side by side, by accesses of 16
-- bytes of the narrowest that has them so.
local function side(facts, record, step, node, across)
  local made, most = { along = across, count = 1 }, -1
  local operands = operands_of(record, node)
  for _, operand in ipairs(operands) do
    for _, letter in ipairs { across, "k" } do
      if kind(operand, core(step, letter)) == "unit" and #operand.dim_index > most then
        made.along, most = letter, #operand.dim_index
      end
    end
  end
  for _, operand in ipairs(operands) do
    if kind(operand, core(step, made.along)) == "unit" then
      made.count = math.max(made.count, at_once(facts, operand))
    end
  end
  local is_kept = operands[1] and operands[1].temporary
  local is_narrow = is_kept and facts.element_of(operands[1]).bytes * 8 < facts.bits
  made.plain = node.op == "input" and (not is_kept or is_narrow) and facts.bits == 32
    and facts.element_of(operands[1]).name == facts.part.dtype and made.count == facts.width
  if made.plain then
    local list = is_kept and record.temporaries or record.operands
    made[is_kept and "temporary" or "operand"] = place_of(list, operands[1])
    made.runs = runs_of(step, operands[1])
  end
  return made
end

local function bits_of(runs)
  local bits = 0
  for _, run in ipairs(runs) do
    for _, place in ipairs(run) do
      bits = bits | 1 << place - 1
    end
  end
  return bits
end

-- The dimensions of a step's matrices, and of how many there are.
local function extents(step)
  local made, around = {}, { table.unpack(step.batch) }
  for _, letter in ipairs(LETTERS) do
    made[letter] = bits_of { core(step, letter) }
    table.move(step[letter], 1, letter == "k" and 0 or #step[letter] - 1, #around + 1, around)
  end
  made.matrices = bits_of(around)
  return made
end

-- shapes_of(variant, step, made, number, copies): the list of a step's shapes, made being its record of `steps`.
return function(facts, work, shapes_of)
  local record = facts.programs.steps or facts.programs.stream
  local made = {
    launch = "templates/gpu/launch_steps.c", steps = {}, variants = {}, counts = 4 * MOST_BLOCKS,
    most_shared = MOST_BLOCKS, copies = {},
  }
  made.work = work(facts, false, { bytes = made.counts })
  for i, step in ipairs(record.steps) do
    made.steps[i] = {
      a = side(facts, record, step, step.a, "m"), b = side(facts, record, step, step.b, "n"),
    }
  end
  local temporaries = {}
  for i, operand in ipairs(record.temporaries) do
    temporaries[i] = operand.axes
  end
  for i, v in ipairs(facts.variants) do
    local shapes, steps = {}, {}
    for s, step in ipairs(record.steps) do
      shapes[s], steps[s] = shapes_of(v, step, made.steps[s], s, made.copies), extents(step)
      steps[s].cuts = {}
      for c, shape in ipairs(shapes[s]) do
        shape.slice = math.min(shape.bk, shape.terms or shape.bk)
        shape.depth = shape.numbers > 0 and DEPTH * (shape.chains or 1) or nil
        steps[s].cuts[c] = {
          name = shape.name, rows = shape.rows, columns = shape.columns, bm = shape.bm,
          bn = not shape.of_rows and shape.bn or nil,
          terms = shape.terms or math.max(256, shape.bk),
          at_once = shape.at_once, threads = shape.threads,
          subgroups = shape.subgroups, side = shape.side, shared = shape.shared, architecture = shape.architecture,
          most = shape.most or MOST_BLOCKS, depth = shape.depth, number = shape.number,
          left = shape.numbers * facts.bits // 8,
          stays = shape.stays, joins = shape.joins, pads = shape.pads, maps = shape.maps, extents = shape.extents,
          rate = shape.rate, wait = shape.wait, start = shape.start,
          slice = shape.wait and shape.slice or nil,
          rest_rate = shape.rest_rate, rest_wait = shape.rest_wait,
        }
      end
    end
    made.variants[i] = {
      shapes = shapes, steps = steps, temporaries = temporaries, copies = made.copies, number = facts.bits // 8,
    }
  end
  return made
end
