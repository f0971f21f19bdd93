-- The stage between the programs and the text: how each kernel's work is cut. What there is to decide is a language's
-- own, and stands beside its templates in schedule.lua, with the measurements that speak for it. An op's record, in
-- which nothing is text:
--
--   { op, parts, reference }
--   parts[part]     { part, programs, variants, ... }: variants has a record for each of the part's, and what is
--                   said of all of them stands beside; see templates/*/schedule.lua
--   reference       as in program.lua

local capacity = require "capacity"
local passes = require "passes"
local text = require "text"
local types = require "types"

local schedule = {}

-- What a language's schedule is made from: the op and the part with its programs and variants; the operands of which
-- rows that are read again are read element by element; how many elements an access of 16 bytes has, of steps those of
-- the part's type, whether operands have types of their own, and the bits of the numbers computed with; element_of: the
-- row of types.lua of an operand's elements.
local function facts(op, part, programs)
  local width, mixed = types.access((programs.steps or programs.stream) and {} or op.operands, part.dtype)
  return {
    op = op, part = part, programs = programs, variants = part.variants, width = width, mixed = mixed,
    bits = 8 * types[types.compute(part.dtype)].bytes, elements = programs.again and passes.elements(programs.again),
    element_of = function(operand)
      return types[operand.temporary and types.of_temporary(operand, part.dtype, part.narrows)
        or types.of_elements(operand, part.dtype)]
    end,
  }
end

-- What a sequence launches: of each variant the steps of its runs, one after the other, with how their kernels' names
-- begin, and which of the runs' images has them. made: the records of parts.
local function together(part, made)
  local first = made[part.runs[1]]
  local record = { launch = first.launch, work = first.work, variants = {} }
  for i in ipairs(part.variants) do
    local of_first, steps, listed, copies = first.variants[i], {}, {}, {}
    for nth, run in ipairs(part.runs) do
      assert(made[run].counts == first.counts, "temporaries are at one place")
      local function of_run(list)
        return text.map(list, function(step, s)
          local keys = { of_run = run.stem, stem = step.stem or "_step" .. s, image = nth - 1 }
          keys.choices = step.choices and text.map(step.choices, function(choice)
            return { when = choice.when, steps = of_run(choice.steps) }
          end)
          return setmetatable(keys, { __index = step })
        end)
      end
      local of = made[run].variants[i]
      for all, list in pairs { [steps] = of_run(of.steps), [listed] = of.listed, [copies] = of.copies } do
        table.move(list, 1, #list, #all + 1, all)
      end
    end
    record.variants[i] = {
      steps = steps, temporaries = of_first.temporaries, listed = listed, copies = copies,
      number = of_first.number,
    }
  end
  return record
end

-- The most launches that steps come to.
local function most_launches(steps)
  local count = 0
  for _, step in ipairs(steps) do
    local most = step.choices and 0 or 1
    for _, choice in ipairs(step.choices or {}) do
      most = math.max(most, most_launches(choice.steps))
    end
    count = count + most
  end
  return count
end

-- Refuses variants of more steps than a call has places for launches.
local function check_launches(op, made)
  for i, variant in ipairs(made.variants) do
    if variant.steps and most_launches(variant.steps) > capacity.launches then
      text.fail(op.where "variants", "variants: %s: expected at most the %d launches that a call has, found %d for "
        .. "'%s': one for each sum, but for those that an implementation does together", op.name, capacity.launches,
        most_launches(variant.steps), made.part.variants[i].how)
    end
  end
end

-- The record of an op, from its programs' record.
function schedule.of(programs)
  local op, parts = programs.op, {}
  for _, file in ipairs(op.sources) do
    for _, part in ipairs(file.parts or {}) do
      local of_template = part.backend.schedule and part.backend.schedule[part.template]
      if not parts[part] then
        local own = programs.parts[part]
        local made = of_template and of_template(facts(op, part, own))
          or part.runs and part.backend.schedule and together(part, parts) or { variants = {} }
        made.part, made.programs = part, own
        check_launches(op, made)
        parts[part] = made
      end
    end
  end
  return { op = op, parts = parts, reference = programs.reference }
end

return schedule
