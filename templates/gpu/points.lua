-- How maps and reductions are cut on any GPU. work: work.lua; slot: bytes that a block leaves of a reduction;
-- name(ending): a kernel's names by how operands lie; ending: "" or a phase. Returns map(facts) and reduce(facts), by
-- which the records of parts are made.

local MOST_BLOCKS = 2048 -- of one phase of a reduction
local POINTS = "templates/gpu/launch_points.c"
local RESULT = 256 -- bytes of a phase's merged results, and of its ticket

return function(work, slot, name)
  -- A record with kernels(block, each, v) for each variant.
  local function record(facts, made, kernels)
    made.launch, made.variants = POINTS, {}
    for i, v in ipairs(facts.variants) do
      local block, unroll = v.params.block, v.params.unroll
      local each = block * unroll * facts.width
      made.variants[i] = {
        block = block, unroll = unroll, each = each, waves = v.params.waves, kernels = kernels(block, each, v),
      }
    end
    return made
  end

  local function map(facts)
    return record(facts, { work = work(facts, false, {}) }, function(block, each)
      return { { name = name "", deal = "tiles", threads = block, each = each } }
    end)
  end

  -- The workspace: the merged results of each phase, then the blocks' slots.
  local function reduce(facts)
    local phases = facts.programs.again.phases
    local made = { most_blocks = MOST_BLOCKS, result_at = {}, slots_at = {} }
    local at = RESULT * #phases
    for p, phase in ipairs(phases) do
      made.result_at[p], made.slots_at[p] = RESULT * (p - 1), at
      at = at + MOST_BLOCKS * slot * #phase.reductions
    end
    made.work = work(facts, false, { bytes = at })
    return record(facts, made, function(block, each, v)
      local kernels = {}
      for p = 1, #phases do
        kernels[p] = {
          name = name(p), deal = "waves", threads = block, each = each, waves = v.params.waves,
          most = MOST_BLOCKS,
        }
      end
      return kernels
    end)
  end

  return map, reduce
end
