-- How the work of CUDA's kernels is cut: what the kernels and the host's side must agree on. Each function makes the
-- record of a part's kernels, with one for each variant under `variants`, of what gen/schedule/schedule.lua gives it.
--   work               what the kernels work on: templates/gpu/work.lua
--   launch             the template of the functions that say which kernels a call launches
--   variants[i]        with what that template reads: `kernels`, as templates/gpu/launch_call.c has them

local nest, rows, work = use "../gpu/nest.lua", use "schedule_rows.lua", use "../gpu/work.lua"

local chain, contract = use "schedule_chain.lua", use "schedule_contract.lua"
local chain_matrix, stream = use "schedule_chain_matrix.lua", use "schedule_stream.lua"

local schedule = { rows = rows }

local MOST_BLOCKS = 2048 -- of one phase of a reduction
local POINTS = "templates/gpu/launch_points.c"
local SLOT, RESULT = 32, 256 -- bytes of a reduction's slot, and of a phase's merged results

function schedule.map(facts)
  local made = { work = work(facts, false, {}), launch = POINTS, variants = {} }
  for i, v in ipairs(facts.variants) do
    local block, unroll = v.params.block, v.params.unroll
    local each = block * unroll * facts.width
    local kernel = { name = { apart = "_apart", packs = "" }, deal = "tiles", threads = block, each = each }
    made.variants[i] = {
      block = block, unroll = unroll, each = each, kernels = { kernel },
    }
  end
  return made
end

-- The workspace: the merged results of each phase, then its slots.
function schedule.reduce(facts)
  local phases = facts.programs.again.phases
  local made = { launch = POINTS, variants = {}, most_blocks = MOST_BLOCKS, result_at = {}, slots_at = {} }
  local at = RESULT * #phases
  for p, phase in ipairs(phases) do
    made.result_at[p], made.slots_at[p] = RESULT * (p - 1), at
    at = at + MOST_BLOCKS * SLOT * #phase.reductions
  end
  made.work = work(facts, false, { bytes = at })
  for i, v in ipairs(facts.variants) do
    local block, unroll = v.params.block, v.params.unroll
    local kernels = {}
    for p = 1, #phases do
      kernels[p] = {
        name = { apart = "_apart" .. p, packs = "_" .. p }, deal = "waves", threads = block,
        each = block * unroll * facts.width, waves = v.params.waves, most = MOST_BLOCKS,
      }
    end
    made.variants[i] = {
      block = block, unroll = unroll, waves = v.params.waves, kernels = kernels,
    }
  end
  return made
end

function schedule.contract(facts)
  return contract(facts, work)
end

function schedule.nest(facts)
  return nest(facts, work, { threads = 1024, room = 48 << 10, scans_vectors = true, holds = 227 << 10 })
end

function schedule.chain(facts)
  return chain(facts, work)
end

function schedule.stream(facts)
  return stream(facts, work)
end

function schedule.chain_matrix(facts)
  return chain_matrix(facts, work)
end

return schedule
