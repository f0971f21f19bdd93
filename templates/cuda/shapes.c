//@ -- How the work on rows is cut: what the kernels and the host's side must agree on.
//@
//@ -- What a thread has of its elements in registers: accesses to so many operands, and whether numbers too.
//@ local number, keeps, placed = { whole = 0, column = 0 }, false, false
//@ for _, operand in ipairs(k.operands) do
//@   placed = placed or operand.index
//@   if not operand.output and number[operand.place] then
//@     number[operand.place] = number[operand.place] + 1
//@   end
//@ end
//@ local streams = number.whole + number.column
//@ local in_registers = k:held(op).program
//@ for _, phase in ipairs(in_registers.phases) do
//@   keeps = keeps or #phase.stash > 0
//@ end
//@ -- 16-byte accesses to each operand that a thread holds. f32 that is only read takes few registers more, and
//@ -- the fewer threads share a row the less they wait: cross_entropy of 4096x8192 takes 33.5 us on an H200, with
//@ -- 4 accesses 35.6; in bf16 22.6 for 20.8. Not beside operands for each column: of these a row that starts
//@ -- anywhere has two accesses for one.
//@ function hold(v)
//@   local only_read = #k.program.points == 0 and number.column == 0
//@   return v.params.hold ~= "auto" and v.params.hold or only_read and k.width == 4 and 8 or 4
//@ end
//@ -- The same at a time of a longer row: beside operands for each column there are registers for fewer. layernorm of
//@ -- 1335x50264 in f16 takes 116 us, with 4 accesses 134.
//@ function long_hold(v)
//@   return k.width == 8 and number.column > 0 and math.min(hold(v), 2) or hold(v)
//@ end
//@ -- Where it keeps 8 numbers for each, and has more than one operand: it takes more registers, and in short rows
//@ -- holds less. log_softmax_backward of 4096x8192 in f16 takes 49.4 us, with 2 accesses or in 64 registers
//@ -- 53.3 and 50.9.
//@ local crowded = k.width == 8 and keeps and streams > 1
//@ -- Whether operands for each column, which come from a cache, are read only when they are needed: with two of
//@ -- them and numbers that are in registers as they are in memory there is no room for all at once.
//@ columns_last = number.column > 1
//@ SHORT_THREADS = 128 -- of a block of short rows
//@ -- Rows for a part of a warp, by rising length: how many threads share one, what each holds.
//@ function short(v)
//@   local list, most = {}, crowded and math.min(hold(v), 2) or hold(v)
//@   local held = 1
//@   while held <= most do
//@     list[#list + 1] = { threads = 8, hold = held }
//@     held = 2 * held
//@   end
//@   list[#list + 1] = { threads = 16, hold = most }
//@   list[#list + 1] = { threads = 32, hold = most }
//@   return list
//@ end
//@ -- The most threads of a block and the fewest blocks of a multiprocessor, which bound a thread's registers: one
//@ -- block computes while others wait for memory. streams: how many operands a thread holds elements of. Points that
//@ -- know their place take registers too, as do accesses that may be beyond the row's end beside operands for columns:
//@ -- layernorm of rows of 768 in f16 took three times as long where registers ran out. Rows that start anywhere have
//@ -- two accesses to such an operand for one.
//@ function bounds(v, streams, threads, mode)
//@   local at_once = (hold(v) * k.width * streams > 16 or placed and #k.program.points > 0) and 1024 or 1536
//@   local short = threads <= SHORT_THREADS
//@   local by_two = mode == "ends" and k.width == 8 and number.column > 0
//@   if by_two and short and columns_last then
//@     at_once = 640
//@   elseif by_two or crowded and not short or columns_last and k.width == 8 and short and mode == "packs" then
//@     at_once = 768
//@   end
//@   local most = at_once % threads == 0 and threads or math.max(threads, at_once)
//@   return ("%d, %d"):format(most, math.max(1, at_once // most))
//@ end
//@ -- Whether rows too long for a block may be for clusters: where they would be read again otherwise. Fewer than
//@ -- MOST_CLUSTERED for each multiprocessor are: with more of them a block reads its own again sooner than the
//@ -- blocks of a cluster have waited for each other. softmax of 1335x50264 in f16 takes 93 us on an H200, by
//@ -- clusters 119; of 524x128256 106 and 111.
//@ function clusters(program)
//@   return #program.points > 0 or #program.active > 1
//@ end
//@ MOST_CLUSTERED = 2
//@ -- Accesses: of 16 bytes, and as many as a shape has; the same, some beyond the row's end; those that lie in
//@ -- the row whole, where rows start anywhere, and elements at both ends. Without conditions a row that is only read
//@ -- takes up to a fifth less, and a row of few accesses up to a twentieth; other rows take the same (cross_entropy,
//@ -- layernorm and softmax of 2^24 elements in f16 on an H200, as clusters even 2 % more), and have no kernels for that.
//@ -- s: a shape of short rows; nil: a block's.
//@ function modes(s)
//@   local pays = #k.program.points == 0 or s and s.threads * s.hold == 8
//@   return k.width > 2 and pays and { "full", "packs", "ends" } or { "packs", "ends" }
//@ end
//@ AHEAD_MODES = k.width > 2 and { "full", "packs", "ends" } or { "packs", "ends" }
//@ CLUSTER = 8 -- the most blocks of a cluster that every device with clusters has
//@ LONG_THREADS = 1024 -- of a block that reads a long row again
//@
//@ -- Of reductions over the rows: the most partial results, as a function of `count`; how many times over each warp of
//@ -- a tile has rows in flight; threads of a block that reads ahead, bytes of its shared memory; numbers left out there
//@ -- between those of one place and the next.
//@ MOST_PARTIALS = "(count < 16384 ? 512 : count < 1048576 ? 8388608 / count : 8)"
//@ TILE_AT_ONCE, AHEAD_THREADS, SHARED, APART = 4, 512, 200 * 1024, 2
//@ local STATIC = 48 * 1024 -- bytes of shared memory that a kernel may declare
//@ -- Shared memory for the merging of what the rows of a block of so many threads have gathered at its columns, `hold`
//@ -- accesses of each: for each warp, for lanes of one merge by shuffles what they have at the same columns.
//@ function columns_bytes(threads, hold)
//@   return threads // 32 * (32 + APART) * hold * k.width * #k.program.column_reductions * k.spelling.bits // 8
//@ end
//@ -- Threads of a block of tiles, of which a multiprocessor has two at once, and how many such blocks there are for it.
//@ -- Where nothing is known of each row there are registers for larger ones, which leave less to merge.
//@ function tiles()
//@   local threads, blocks = 512, 2
//@   if k.program.leaves then
//@     threads, blocks = 256, 6
//@   end
//@   while columns_bytes(threads, 1) > STATIC do
//@     threads, blocks = threads // 2, 2 * blocks
//@   end
//@   return threads, blocks
//@ end
//@ -- How many threads merge the partial results of each of 32 columns.
//@ function mergers()
//@   local threads = 32
//@   while 32 * threads * #k.program.column_reductions * k.spelling.bits // 8 > STATIC do
//@     threads = threads // 2
//@   end
//@   return threads
//@ end
//@ -- How many numbers are left of a row.
//@ function results(program)
//@   local numbers = 0
//@   for _, phase in ipairs(program.phases) do
//@     numbers = numbers + #phase.reductions + #phase.picks
//@   end
//@   return numbers
//@ end
//@ -- Rows that are read ahead, by rising length: threads that share one (0: of a whole block, or a part
//@ -- of it), what each holds, how many rows at once, stages of shared memory for these, a block's threads; for all of
//@ -- them, bytes of shared memory, blocks at once on a multiprocessor, the most accesses that a block has room for.
//@ -- For reductions over the rows, and in types of 16 bits where a row's block waits for its threads more than once,
//@ -- and has operands for each column to read again: elsewhere a block for each row does as well. A block that is
//@ -- alone on its multiprocessor, and of which all threads wait for each other, has two rows at once where registers
//@ -- allow it: layernorm_backward of 16384x8192 in f16 takes 211 us on an H200, with one row 233.
//@ -- cluster: the same of rows for clusters, the longest that are read once, where nothing is by columns and rows
//@ -- start at multiples of 16 bytes: else what each thread does for that costs more. softmax of 524x128256 in f16 takes
//@ -- 87 us on an H200, where a block reads each row twice 106.
//@ function ahead(v)
//@   local hold = math.max(1, 16 // k.width)
//@   local by_column = #k.program.column_reductions > 0
//@   local blocks = not by_column and streams * hold <= 6 and 2 or 1
//@   local list = { blocks = blocks, bytes = 0, most = hold * AHEAD_THREADS }
//@   local pays = by_column or number.column > 0 and #in_registers.active > 1 and blocks > 1
//@   if number.whole == 0 or not k.program.leaves or v.params.ahead == "never" then
//@     return list
//@   end
//@   local most = SHARED // blocks
//@   local function shape(threads, hold, block)
//@     local row, columns = number.whole * hold * block * 16, columns_bytes(block, hold)
//@     local rows = by_column and k.width == 8 and threads == 0 and 4 * row <= most and 2 or 1
//@     local stages = math.min(4, most // (rows * row))
//@     if stages > 1 and columns <= most then
//@       list.bytes = math.max(list.bytes, stages * rows * row, columns)
//@       return {
//@         name = threads .. "x" .. hold, threads = threads, hold = hold, rows = rows, stages = stages, block = block,
//@       }
//@     end
//@   end
//@   if by_column then
//@     for threads = 3, 5 do
//@       list[#list + 1] = shape(1 << threads, hold, AHEAD_THREADS)
//@     end
//@     if k.width > 2 then -- with registers for as much: a warp's threads need not wait for others
//@       list[#list + 1] = shape(32, hold + hold // 2, 384)
//@     end
//@   end
//@   if pays or v.params.ahead == "always" then
//@     list[#list + 1] = shape(0, hold, AHEAD_THREADS)
//@   end
//@   if clusters(k.program) and not by_column and number.column == 0 then
//@     list.cluster = streams == 1 and shape(0, 2 * hold, AHEAD_THREADS) or shape(0, hold, AHEAD_THREADS)
//@   end
//@   return list
//@ end
