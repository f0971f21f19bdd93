-- Rows split into parts, on any GPU: which may be, and what their kernels and the host's side must agree on.

local split = {}

-- Threads of a block, and the accesses of 16 bytes that each holds; most parts of all rows together.
local THREADS, HOLD, MOST_PARTS = 256, 2, 8192
-- How many blocks for each multiprocessor share a few rows where parts always pay; of many rows, the accesses of a
-- part.
local BLOCKS, PART = 8, 2048

-- Where in the workspace parts leave what they gathered in phase p, after how many of them a row has; of one past the
-- last, its size.
local function left_at(phases, p)
  local at = 64
  for q = 1, p - 1 do
    for _, r in ipairs(phases[q].reductions) do
      at = at + MOST_PARTS * (r.second and 32 or 16)
    end
  end
  return at
end

-- How rows are split: a launch for each phase, and one for the results; nil where they stay whole. Where rows have
-- points, one part's may be written before another has picked an element of the same memory.
--   threads, hold, most_parts, steps   as above, and how many launches
--   always                             parts pay however many rows there are: where only totals follow from one
--                                      pass, for nothing is read again, and multiprocessors then end at the same
--                                      time. cross_entropy of 1335x50257 in f16 takes 48 us on an H200, by rows 54.
--   few_parts, few, many               parts of few rows for each multiprocessor; accesses of a part of few rows
--                                      and of many
--   left_at, workspace                 bytes
function split.of(program)
  local picks = false
  for _, phase in ipairs(program.phases) do
    picks = picks or #phase.picks > 0
  end
  if #program.columns > 0 or #program.active > 3 or picks and #program.points > 0 then
    return nil
  end
  local always = #program.points == 0 and #program.active == 1
  local at = {}
  for p = 1, #program.phases + 1 do
    at[p] = left_at(program.phases, p)
  end
  return {
    threads = THREADS, hold = HOLD, most_parts = MOST_PARTS, steps = #program.active + 1, always = always,
    few_parts = always and BLOCKS or 2, few = THREADS * HOLD, many = always and PART or THREADS * HOLD, left_at = at,
    workspace = table.remove(at),
  }
end

return split
