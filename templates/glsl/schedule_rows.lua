-- How the work on rows is cut; variants have no parameters. The record of a part:
--   shapes         those in which rows are held in registers, by rising length: { name, threads, hold, rows, alone }
--                  how many invocations share a row, how many 16-byte accesses of each operand they hold, how many
--                  rows a workgroup has, and whether it has one and no more invocations than that needs, whole
--                  subgroups; shapes.alone: whether any is. packed: of the shortest, whose ends would be too many for
--                  an invocation where they lie apart
--   holds          what the shapes hold: there is a kernel for each, whatever the number of invocations
--   at_once        by what they hold: rows that an invocation has at once with reductions over the rows; two where one
--                  leaves registers
--   kernels        the module's kernels by number, from 0 on, and number, by name: one for each amount held; one for
--                  long rows; one for each phase of their parts, and for the results, or for reductions over the rows
--                  those by columns
--   split          how rows are split into parts, or nil: templates/gpu/split.lua
--   long_hold      accesses of a longer row that an invocation holds at a time
--   over_rows      of reductions over the rows, or nil: see below
--   tile           of these, and of programs that reduce nothing, else nil: the invocations of a workgroup that has
--                  some columns of some rows, how many such workgroups there are for each multiprocessor, and how many
--                  rows each invocation has in flight
-- As in templates/cuda/schedule_rows.lua, but for what is only read: fewer invocations wait for each other.

local split, work = use "../gpu/split.lua", use "../gpu/work.lua"

-- Shapes: invocations, accesses, rows.
local function longer(list, more)
  local all = {}
  for _, shapes in ipairs { list, more } do
    table.move(shapes, 1, #shapes, #all + 1, all)
  end
  return all
end
local short = { { 1, 1, 128 }, { 2, 1, 64 }, { 4, 1, 32 }, { 8, 1, 16 }, { 8, 2, 16 }, { 8, 4, 16 }, { 16, 4, 8 },
  { 32, 4, 4 } }
local by_length = longer(short, { { 512, 4, 1 }, { 1024, 8, 1 } })
local narrow = longer(short, { { 1024, 4, 1 } })
local narrow_read = longer(short, { { 32, 8, 4 }, { 1024, 8, 1 } })
-- With reductions over the rows, workgroups of one size, of which a multiprocessor has one at a time: so few
-- leave little to merge. Gathered in numbers of 32 bits, 8 columns of a narrow type take as many registers
-- as two accesses of 4.
local BY_COLUMN_THREADS = 512
local narrow_by_column = { { 8, 1 }, { 16, 1 }, { 32, 1 }, { 32, 2 }, { 32, 3, 12 }, { 128, 1 }, { 256, 1 }, { 512, 1 },
  { 512, 2 } }
local wide_by_column = { { 8, 1 }, { 8, 2 }, { 8, 4 }, { 16, 4 }, { 32, 4 }, { 64, 4 }, { 128, 4 }, { 256, 4 },
  { 512, 4 } }

local LONG_HOLD = 4
local PARTIALS_AT = 64 -- in the workspace, after how many of them there are
-- With reductions over the rows: rows of the workspace that workgroups may leave what they gathered in, between the
-- fewest and the most, so that all have about so many numbers; columns that a workgroup finishes, and how many
-- invocations merge each.
local FEWEST_PARTIALS, MOST_PARTIALS, PARTIAL_NUMBERS = 128, 2048, 1 << 22
local MERGE_COLUMNS, MERGE_LANES = 8, 64
local TILE = { threads = 256, waves = 6, rows = 4 }
-- How many numbers an invocation hands to another at a time.
local ROOM_NUMBERS = 8

-- Programs with nothing but reductions over the rows, or with none at all, go by columns.
local function shapes_of(facts, finish)
  local again, is_narrow = facts.programs.again, facts.width == 8
  local list = is_narrow and (#again.points > 0 and narrow or narrow_read) or by_length
  if not again.leaves then
    list = {}
  elseif finish then
    list = is_narrow and narrow_by_column or wide_by_column
  end
  local named = {}
  for i, s in ipairs(list) do
    named[i] = {
      name = s[1] .. "x" .. s[2], threads = s[1], hold = s[2], rows = s[3] or BY_COLUMN_THREADS // s[1],
      alone = not finish and s[3] == 1, packed = s[1] < 8,
    }
    named.alone = named.alone or named[i].alone
  end
  return named
end

-- Where for each row the results of each phase are, in the workspace behind what is left at columns; and how many bytes
-- a row has.
local function row_results(phases)
  local list, at = {}, 0
  for p, phase in ipairs(phases) do
    list[p] = at
    at = at + 16 * #phase.reductions
  end
  return list, at
end

local function over_rows_of(again)
  local at, bytes = row_results(again.phases)
  return {
    partials_at = PARTIALS_AT, fewest = FEWEST_PARTIALS, most = MOST_PARTIALS, numbers = PARTIAL_NUMBERS,
    merge_columns = MERGE_COLUMNS, merge_lanes = MERGE_LANES,
    room_numbers = ROOM_NUMBERS, row_results_at = at, row_bytes = bytes,
    -- Shared memory for what is handed on and for the merging of the results, in numbers.
    room = math.max(#again.column_reductions * MERGE_LANES * MERGE_COLUMNS, ROOM_NUMBERS * BY_COLUMN_THREADS // 2),
  }
end

return function(facts)
  local again = facts.programs.again
  local finish = #again.columns > 0
  local tile = (finish or not again.leaves) and TILE or nil
  local made = {
    launch = "templates/glsl/launch_rows.c", shapes = shapes_of(facts, finish), holds = {}, at_once = {}, kernels = {},
    number = {}, long_hold = LONG_HOLD, split = not tile and split.of(again) or nil,
    over_rows = finish and over_rows_of(again) or nil, tile = tile, variants = {},
  }
  local function add(name)
    made.number[name] = #made.kernels
    made.kernels[#made.kernels + 1] = name
  end
  local known = {}
  for _, s in ipairs(made.shapes) do
    made.holds[#made.holds + 1] = not known[s.hold] and s.hold or nil
    known[s.hold] = true
  end
  for _, hold in ipairs(made.holds) do
    add("held" .. hold)
    made.at_once[hold] = facts.width == 8 and hold == 1 and 2 or 1
  end
  if again.leaves then
    add "longer"
  end
  if tile then
    add "columns"
  end
  if finish then
    add "finish"
  elseif made.split then
    for _, p in ipairs(again.active) do
      add("part" .. p)
    end
    add("part" .. #again.phases + 1)
  end
  local over = made.over_rows
  made.work = work(facts, true, over and {
    numbers = over.numbers, fewest = over.fewest, most = over.most, bytes = over.partials_at,
    bytes_of_partial = #again.column_reductions * facts.bits // 8, bytes_of_row = over.row_bytes,
  } or { bytes = made.split and made.split.workspace or 0 })
  return made
end
