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
  return nest(facts, work, {
    threads = NEST_THREADS, room = NEST_ROOM, turns_numbers = true, lists = { points = NEST_THREADS, places = 1024 },
  })
end

schedule.chain_matrix, schedule.chain_vector = schedule.chain, schedule.chain

local SLOT = 16 -- bytes that a workgroup leaves of a reduction

local map, reduce = use "../gpu/points.lua"(work, SLOT, function(ending)
  return { packs = ending == "" and "" or "_" .. ending }
end)

-- The module has a kernel for each value of unroll, whatever the block.
function schedule.map(facts)
  local made, number = map(facts), {}
  made.unrolls = {}
  for _, variant in ipairs(made.variants) do
    if not number[variant.unroll] then
      number[variant.unroll] = #made.unrolls
      made.unrolls[#made.unrolls + 1] = variant.unroll
    end
    variant.kernels[1].number = number[variant.unroll]
  end
  return made
end

-- A variant has a kernel for each phase.
function schedule.reduce(facts)
  local made = reduce(facts)
  for i, variant in ipairs(made.variants) do
    for p, kernel in ipairs(variant.kernels) do
      kernel.number = (i - 1) * #variant.kernels + p - 1
    end
  end
  return made
end

return schedule
