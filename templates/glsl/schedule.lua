-- How the work of GLSL's kernels is cut: what the kernels and the host's side must agree on. Each function makes the
-- record of a part's kernels, with one for each variant under `variants`, of what gen/schedule/schedule.lua gives it.
--   work               what the kernels work on: templates/gpu/work.lua
--   launch             the template of the functions that say which kernels a call launches
--   variants[i]        with what that template reads: `kernels`, as templates/gpu/launch_call.c has them

local nest, rows, work = use "../gpu/nest.lua", use "schedule_rows.lua", use "../gpu/work.lua"
local chain, contract, stream = use "schedule_chain.lua", use "schedule_contract.lua", use "schedule_stream.lua"

local schedule = { rows = rows }

-- Threads and shared memory that every device has for a workgroup, less the word by which workgroups count parts.
local NEST_THREADS, NEST_ROOM = 256, 32768 - 16

function schedule.contract(facts)
  return contract(facts, work)
end

function schedule.chain(facts)
  return chain(facts, work)
end

function schedule.stream(facts)
  return stream(facts, work)
end

function schedule.nest(facts)
  return nest(facts, work, { threads = NEST_THREADS, room = NEST_ROOM, turns_numbers = true })
end

schedule.chain_matrix, schedule.chain_vector = schedule.chain, schedule.chain

local MOST_BLOCKS = 2048 -- of one phase of a reduction
local POINTS = "templates/gpu/launch_points.c"
local SLOT, RESULT = 16, 256 -- bytes that a workgroup leaves of a reduction; of a phase's ticket and merged results

-- The module has a kernel for each value of unroll, whatever the block.
function schedule.map(facts)
  local made, number = { work = work(facts, false, {}), launch = POINTS, unrolls = {}, variants = {} }, {}
  for i, v in ipairs(facts.variants) do
    local block, unroll = v.params.block, v.params.unroll
    if not number[unroll] then
      number[unroll] = #made.unrolls
      made.unrolls[#made.unrolls + 1] = unroll
    end
    local kernel = {
      name = { packs = "" }, deal = "tiles", threads = block, each = block * unroll * facts.width,
      number = number[unroll],
    }
    made.variants[i] = { kernels = { kernel } }
  end
  return made
end

-- The workspace: 256 bytes for each phase, its ticket and then its merged results, and what the workgroups leave.
-- A variant has a kernel for each phase.
function schedule.reduce(facts)
  local phases = facts.programs.again.phases
  local made = { launch = POINTS, variants = {}, most_blocks = MOST_BLOCKS, result_at = {}, left_at = {} }
  local at = RESULT * #phases
  for p, phase in ipairs(phases) do
    made.result_at[p], made.left_at[p] = RESULT * (p - 1), at
    at = at + MOST_BLOCKS * SLOT * #phase.reductions
  end
  made.work = work(facts, false, { bytes = at })
  for i, v in ipairs(facts.variants) do
    local block, unroll = v.params.block, v.params.unroll
    local kernels = {}
    for p = 1, #phases do
      kernels[p] = {
        name = { packs = "_" .. p }, deal = "waves", threads = block,
        each = block * unroll * facts.width, waves = v.params.waves, most = MOST_BLOCKS,
        number = (i - 1) * #phases + p - 1,
      }
    end
    made.variants[i] = { block = block, unroll = unroll, kernels = kernels }
  end
  return made
end

return schedule
