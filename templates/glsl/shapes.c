//@ -- The shapes in which rows are held in registers, by rising length: how many invocations share a
//@ -- row, how many 16-byte accesses of each operand they hold, how many rows a workgroup has. As in
//@ -- templates/cuda/shapes.c, but for what is only read: fewer invocations wait for each other. A workgroup that
//@ -- has one row has no more invocations than that needs, whole subgroups.
//@ local split = use "../gpu/split.c"
//@ local function longer(list, more)
//@   local all = {}
//@   for _, shapes in ipairs { list, more } do
//@     for _, shape in ipairs(shapes) do
//@       all[#all + 1] = shape
//@     end
//@   end
//@   return all
//@ end
//@ local short = { { 8, 1, 16 }, { 8, 2, 16 }, { 8, 4, 16 }, { 16, 4, 8 }, { 32, 4, 4 } }
//@ local by_length = longer(short, { { 512, 4, 1 }, { 1024, 8, 1 } })
//@ local narrow = longer(short, { { 1024, 4, 1 } })
//@ local narrow_read = longer(short, { { 32, 8, 4 }, { 1024, 8, 1 } })
//@ -- With reductions over the rows, workgroups of one size, of which a multiprocessor has one at a time: so few
//@ -- leave little to merge. Gathered in numbers of 32 bits, 8 columns of a narrow type take as many registers
//@ -- as two accesses of 4.
//@ local BY_COLUMN_THREADS = 512
//@ local function by_column(list)
//@   for _, shape in ipairs(list) do
//@     shape[3] = shape[3] or BY_COLUMN_THREADS // shape[1]
//@   end
//@   return list
//@ end
//@ local narrow_by_column = by_column { { 8, 1 }, { 16, 1 }, { 32, 1 }, { 32, 2 }, { 32, 3, 12 }, { 128, 1 }, { 256, 1 }, { 512, 1 }, { 512, 2 } }
//@ local wide_by_column = by_column { { 8, 1 }, { 8, 2 }, { 8, 4 }, { 16, 4 }, { 32, 4 }, { 64, 4 }, { 128, 4 }, { 256, 4 },
//@   { 512, 4 } }
//@ -- Rows that an invocation then has at once: where one alone leaves registers.
//@ function rows_at_once(width, hold)
//@   return width == 8 and hold == 1 and 2 or 1
//@ end
//@ LONG_HOLD = 4 -- accesses of a longer row that an invocation holds at a time
//@ -- With reductions over the rows: an invocation's rows in flight; rows of the workspace that workgroups
//@ -- may leave what they gathered in, between the fewest and the most, so that all have about so many
//@ -- numbers; columns that a workgroup finishes, and how many invocations merge each.
//@ ROWS_AT_ONCE, FEWEST_PARTIALS, MOST_PARTIALS, PARTIAL_NUMBERS = 4, 128, 2048, 1 << 22
//@ MERGE_COLUMNS, MERGE_LANES, COLUMNS_THREADS, COLUMNS_WAVES = 8, 64, 256, 6
//@ -- How many numbers an invocation hands to another at a time, and the shared memory for these and for the
//@ -- merging of `columns` results, in numbers.
//@ ROOM_NUMBERS = 8
//@ function room(columns)
//@   return math.max(columns * MERGE_LANES * MERGE_COLUMNS, ROOM_NUMBERS * BY_COLUMN_THREADS // 2)
//@ end
//@ -- Where for each row the results of phase p are; of one past the last, how many bytes a row has.
//@ function row_results_at(phases, p)
//@   local at = 0
//@   for q = 1, p - 1 do
//@     at = at + 16 * #phases[q].reductions
//@   end
//@   return at
//@ end
//@ -- Programs with nothing but reductions over the rows go by columns.
//@ function shapes(width, program)
//@   local list = width == 8 and (#program.points > 0 and narrow or narrow_read) or by_length
//@   if #program.columns > 0 then
//@     list = not program.leaves and {} or width == 8 and narrow_by_column or wide_by_column
//@   end
//@   local named = {}
//@   for i, s in ipairs(list) do
//@     named[i] = { threads = s[1], hold = s[2], rows = s[3], alone = #program.columns == 0 and s[3] == 1 }
//@     named.alone = named.alone or named[i].alone
//@   end
//@   return named
//@ end
//@ -- What the shapes hold: there is a kernel for each, whatever the number of invocations.
//@ function holds(width, program)
//@   local list, known = {}, {}
//@   for _, s in ipairs(shapes(width, program)) do
//@     list[#list + 1] = not known[s.hold] and s.hold or nil
//@     known[s.hold] = true
//@   end
//@   return list
//@ end
//@ -- The module's kernels in the order of their numbers: one for each amount held, whatever the number of
//@ -- invocations; one for long rows; one for each phase of their parts, and for the results, or for
//@ -- reductions over the rows those by columns.
//@ function kernels(width, program)
//@   local list, number = {}, {}
//@   local function add(name)
//@     number[name] = #list
//@     list[#list + 1] = name
//@   end
//@   for _, hold in ipairs(holds(width, program)) do
//@     add("held" .. hold)
//@   end
//@   if #program.columns == 0 or program.leaves then
//@     add("longer")
//@   end
//@   if #program.columns > 0 then
//@     add("columns")
//@     add("finish")
//@   elseif split.splits(program) then
//@     for _, p in ipairs(program.active) do
//@       add("part" .. p)
//@     end
//@     add("part" .. #program.phases + 1)
//@   end
//@   return list, number
//@ end
