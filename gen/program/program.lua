-- The stage between the trace and the schedule: which passes over the data each kernel of an op makes. An op's
-- record, all of it expression graphs (passes.lua) and none of it text:
--
--   { op, parts, reference }
--   parts[part]     the programs of a part (sources.lua): of contractions `steps` (steps.lua), of chains of these
--                   `chain` (chain.lua) as well; `stream` (stream.lua) of products whose results are only reduced;
--                   `nest` (nest.lua) of what has no faster program; `sequence` (sequence.lua) of several of
--                   these, whose runs' parts have their own; else `again` of what is read again in each pass,
--                   and where rows stay in registers `held`, and `short` of those that few threads share: each may
--                   be one of the others
--   reference       the program of the references: reference.lua

local chain = require "chain"
local joined = require "joined"
local nest = require "nest"
local passes = require "passes"
local reference = require "reference"
local steps = require "steps"
local stream = require "stream"
local text = require "text"
local types = require "types"

local program = {}

-- The steps of an op for a template, which is not always the op's own.
local of_matrices = "layers whose matrices are operands as they are in memory"
local wanted = {
  contract = "contractions", chain = "layers of a batch's rows, one after the other,",
  chain_matrix = of_matrices, chain_vector = of_matrices,
}
local function by_steps(op, language, part)
  local record, reason, links = op.steps, nil, nil
  local how = part.steps or part.template == "contract" and language.meets and { meets = true } or nil
  if how or not record then
    record, reason = steps.make(op, op.values, how)
  end
  if record and part.template ~= "contract" then
    links, reason = chain.of(record, wanted[part.template] == of_matrices and part.dtype)
  end
  if reason then
    text.fail(op.where "variants", "variants: %s: expected %s for this implementation, found %s", op.name,
      wanted[part.template], reason)
  end
  return { steps = record, chain = links }
end

-- The programs of a part's kernels in a language. In registers, what is dear to compute twice stays also where an
-- output is too narrow for it, and what can be merged is gathered in one pass, or of short rows in two: few threads
-- wait for each other, and then merge sums alone.
function program.of_part(op, language, part)
  local dtype, template = part.dtype, part.template
  local function streamed(record)
    return language.joins and joined.record(record) or record
  end
  if part.run then
    local programs = op.sequence.runs[part.run].programs
    return programs.stream and { stream = streamed(programs.stream) } or programs
  elseif wanted[template] then
    return by_steps(op, language, part)
  elseif template == "stream" then
    return { stream = streamed(op.stream) or text.fail(op.where "variants", "variants: %s: expected products that "
      .. "are only reduced for this implementation, found %s", op.name, select(2, stream.make(op, op.values))) }
  elseif template == "sequence" then
    return { sequence = op.sequence }
  elseif template == "nest" then
    return { nest = nest.make(op, op.values) }
  end
  -- An output of a narrower type than is computed in is no place to keep anything.
  local compute = types[dtype].compute
  local is_rows, computed, keeps = template == "rows", compute or dtype, not compute
  for _, operand in ipairs(op.operands) do
    keeps = keeps and not (operand.output and operand.storage)
  end
  local together = is_rows and language.gathers_two and passes.together(computed, "always")
  local again = passes.make(op.values, op.inner, keeps, op.in_place and op.operands[1].name, together,
    language.indexes_apart)
  local made = { again = again, held = again, short = again }
  if not is_rows or not language.ways or #again.column_reductions > 0 then
    return made
  end
  for _, way in ipairs { "held", "short" } do
    local kept = passes.make(op.values, op.inner, true, nil, way == "held" and passes.together(computed, "once"))
    made[way] = (not keeps or kept.kinds ~= again.kinds) and kept or again
  end
  made.short = made.short.kinds == made.held.kinds and made.held or made.short
  return made
end

-- The record of a traced op.
function program.of(op)
  local parts, by_key = {}, {}
  for _, file in ipairs(op.sources) do
    for _, part in ipairs(file.parts or {}) do
      local lowering = part.backend.lowering
      local key = table.concat({ lowering, part.dtype, part.implementation or "", part.run }, " ")
      by_key[key] = by_key[key] or program.of_part(op, require(lowering), part)
      parts[part] = by_key[key]
    end
  end
  return { op = op, parts = parts, reference = reference.of(op) }
end

return program
