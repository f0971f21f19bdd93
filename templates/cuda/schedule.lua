-- How the work of CUDA's kernels is cut: what the kernels and the host's side must agree on. Each function makes the
-- record of a part's kernels, with one for each variant under `variants`, of what gen/schedule/schedule.lua gives it.
--   work               what the kernels work on: templates/gpu/work.lua
--   launch             the template of the functions that say which kernels a call launches
--   variants[i]        with what that template reads: `kernels`, as templates/gpu/launch_call.c has them

local nest, rows, work = use "../gpu/nest.lua", use "schedule_rows.lua", use "../gpu/work.lua"

local chain, contract = use "schedule_chain.lua", use "schedule_contract.lua"
local chain_matrix, stream = use "schedule_chain_matrix.lua", use "schedule_stream.lua"

local schedule = { rows = rows }

local SLOT = 32 -- bytes of a reduction's slot

schedule.map, schedule.reduce = use "../gpu/points.lua"(work, SLOT, function(ending)
  return { apart = "_apart" .. ending, packs = ending == "" and "" or "_" .. ending }
end)

function schedule.contract(facts)
  return contract(facts, work)
end

function schedule.nest(facts)
  return nest(facts, work, {
    threads = 1024, room = 48 << 10, scans_lanes = true, holds = 227 << 10, lists = { points = 512, places = 4096 },
  })
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
