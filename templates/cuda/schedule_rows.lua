-- How the work on rows is cut. The record of a part:
--   modes              how accesses lie, see modes_of
--   split              how rows are split into parts, or nil: templates/gpu/split.lua
--   cluster            the most blocks of a cluster
--   clusters           whether rows too long for a block may be for clusters
--   flat               whether rows that start anywhere may be several as one: where nothing is reduced along them
--   staged             whether short ones may be in shared memory meanwhile
--   columns_last       whether operands for each column are read only when they are needed
--   ahead_threads      of a block that reads ahead
--   over_rows          of reductions over the rows, or nil: see over_rows_of
--   tile               of reductions over the rows, and of programs that reduce nothing, else nil: blocks with some
--                      columns of some rows. threads: of a block; resident, blocks: how many a multiprocessor has at
--                      once, and how many there are for each; rows: how many each of its threads has in flight
--   work               templates/gpu/work.lua
--   variants[i]        { hold, long_hold, threads, short, ahead, kernels, cluster_kernels }
-- A shape of rows is { threads, hold, ... }: threads that share one, and the accesses of 16 bytes that each holds of
-- each operand. A kernel is { name, bounds, does, mode, ... }: its name's ending, the most threads of its block and the
-- fewest blocks of a multiprocessor, which function of the template it is, and what for.

local split, work = use "../gpu/split.lua", use "../gpu/work.lua"

local SHORT_THREADS = 128 -- of a block of short rows
local STAGED = 20 -- operands that have room in shared memory
local LONG_THREADS = 1024 -- of a block that reads a long row again
local CLUSTER = 8 -- the most blocks of a cluster that every device with clusters has
-- Rows are for clusters where fewer than so many are there for each multiprocessor: with more of them a block reads its
-- own again sooner than the blocks of a cluster have waited for each other. softmax of 1335x50264 in f16 takes 93 us
-- on an H200, by clusters 119; of 524x128256 106 and 111.
local MOST_CLUSTERED = 2
local AHEAD_THREADS, SHARED = 512, 200 * 1024 -- of a block that reads ahead; bytes of its shared memory
local STATIC = 48 * 1024 -- bytes of shared memory that a kernel may declare
local TILE_ROWS = 4 -- that a thread of a tile has in flight
-- Of reductions over the rows: numbers left out in shared memory between those of one place and the next; the most and
-- the fewest partial results, and about how many numbers they have in all.
local APART = 2
local PARTIALS_AT = 64 -- in the workspace, after how many of them there are
local MOST_PARTIALS, FEWEST_PARTIALS, PARTIAL_NUMBERS = 512, 8, 1 << 23

-- What a thread has of its elements in registers: accesses to so many operands by their place, and whether points know
-- theirs.
local function count_operands(op)
  local number, placed = { whole = 0, column = 0, row = 0 }, false
  for _, operand in ipairs(op.operands) do
    placed = placed or operand.index ~= nil and operand.index ~= false
    if not operand.output and number[operand.place] then
      number[operand.place] = number[operand.place] + 1
    end
  end
  return number, placed
end

-- Accesses: of 16 bytes, and as many as a shape has; the same, some beyond the row's end; those that lie in
-- the row whole, where rows start anywhere, and elements at both ends. Without conditions a row that is only read
-- takes up to a fifth less, and a row of few accesses up to a twentieth; other rows take the same (cross_entropy,
-- layernorm and softmax of 2^24 elements in f16 on an H200, as clusters even 2 % more), and have no kernels for that.
-- s: a shape of short rows; nil: a block's.
local function modes_of(facts, s)
  if s and s.threads < 3 then -- shorter rows go to fewer threads
    return { "full" }
  end
  local pays = #facts.programs.again.points == 0 or s and s.threads * s.hold == 8
  local list = facts.width > 2 and pays and { "full", "packs", "ends" } or { "packs", "ends" }
  list[#list] = not (s and s.staged) and list[#list] or nil
  return list
end

-- How many accesses a thread holds of a row. f32 that is only read takes few registers more, and the fewer threads
-- share a row the less they wait: cross_entropy of 4096x8192 takes 33.5 us on an H200, with 4 accesses 35.6; in bf16
-- 22.6 for 20.8. Not beside operands for each column: of these a row that starts anywhere has two accesses for one.
local function hold_of(facts, by_column, v)
  local only_read = #facts.programs.again.points == 0 and by_column == 0
  return v.params.hold ~= "auto" and v.params.hold or only_read and facts.width == 4 and 8 or 4
end

-- Rows for a part of a warp, by rising length. staged: of the shortest, those that start anywhere are in shared memory
-- meanwhile, for of ends that lie apart a thread would have too many. softmax of 700001x7 in f16 takes 9 us on an H200,
-- with 8 threads for each row 26; of 200000x50 20 and 15.
local function short_shapes(most)
  local list, held = {}, 1
  for threads = 0, 2 do
    list[#list + 1] = { threads = 1 << threads, hold = 1 }
  end
  while held <= most do
    list[#list + 1] = { threads = 8, hold = held }
    held = 2 * held
  end
  list[#list + 1] = { threads = 16, hold = most }
  list[#list + 1] = { threads = 32, hold = most }
  for _, s in ipairs(list) do
    s.name, s.staged = s.threads .. "x" .. s.hold, s.threads < 8
  end
  return list
end

-- Of reductions over the rows:
--   partials_at, apart, most, fewest, numbers    as above
--   threads, blocks    of a block of tiles, and how many blocks there are for a multiprocessor, which has two at once.
--                      Where nothing is known of each row there are registers for larger ones, which leave less to
--                      merge.
--   mergers            how many threads merge the partial results of each of 32 columns
--   results            how many numbers are left of a row
local function over_rows_of(facts, bytes_of)
  local again = facts.programs.again
  local made = {
    partials_at = PARTIALS_AT, apart = APART, most = MOST_PARTIALS,
    fewest = FEWEST_PARTIALS, numbers = PARTIAL_NUMBERS, threads = 512, blocks = 2, mergers = 32, results = 0,
  }
  if again.leaves then
    made.threads, made.blocks = 256, 6
  end
  while bytes_of(made.threads, 1) > STATIC do
    made.threads, made.blocks = made.threads // 2, 2 * made.blocks
  end
  while 32 * made.mergers * #again.column_reductions * facts.bits // 8 > STATIC do
    made.mergers = made.mergers // 2
  end
  for _, phase in ipairs(again.phases) do
    made.results = made.results + #phase.reductions + #phase.picks
  end
  return made
end

return function(facts)
  local again, held, width = facts.programs.again, facts.programs.held, facts.width
  local number, placed = count_operands(facts.op)
  local streams = number.whole + number.column
  local by_column, finish = #again.column_reductions > 0, #again.columns > 0
  local keeps = false
  for _, phase in ipairs(held.phases) do
    keeps = keeps or #phase.stash > 0
  end
  -- Where a thread keeps 8 numbers for each access, and has more than one operand: it takes more registers, and in
  -- short rows holds less. log_softmax_backward of 4096x8192 in f16 takes 49.4 us, with 2 accesses or in 64 registers
  -- 53.3 and 50.9.
  local crowded = width == 8 and keeps and streams > 1
  -- With two operands for each column, which come from a cache, and numbers that are in registers as they are in
  -- memory there is no room for all at once.
  local columns_last = number.column > 1

  -- Shared memory for the merging of what the rows of a block of so many threads have gathered at its columns, `hold`
  -- accesses of each: for each warp, for lanes of one merge by shuffles what they have at the same columns.
  local function bytes_of(threads, hold)
    return threads // 32 * (32 + APART) * hold * width * #again.column_reductions * facts.bits // 8
  end

  -- The most threads of a block and the fewest blocks of a multiprocessor, which bound a thread's registers: one
  -- block computes while others wait for memory. Points that know their place take registers too, as do accesses that
  -- may be beyond the row's end beside operands for columns: layernorm of rows of 768 in f16 took three times as long
  -- where registers ran out. Rows that start anywhere have two accesses to such an operand for one.
  local function bounds(hold, threads, mode)
    local at_once = (hold * width * #facts.elements > 16 or placed and #again.points > 0) and 1024 or 1536
    local short = threads <= SHORT_THREADS
    local by_two = mode == "ends" and width == 8 and number.column > 0
    if by_two and short and columns_last then
      at_once = 640
    elseif by_two or crowded and not short or columns_last and width == 8 and short and mode == "packs" then
      at_once = 768
    end
    local most = at_once % threads == 0 and threads or math.max(threads, at_once)
    return { most, math.max(1, at_once // most) }
  end

  -- Rows that are read ahead, by rising length: threads that share one (0: of a whole block, or a part
  -- of it), what each holds, how many rows at once, stages of shared memory for these, a block's threads; for all of
  -- them, bytes of shared memory, blocks at once on a multiprocessor, the most accesses that a block has room for.
  -- For reductions over the rows, and in types of 16 bits where a row's block waits for its threads more than once,
  -- and has operands for each column to read again: elsewhere a block for each row does as well. A block that is
  -- alone on its multiprocessor, and of which all threads wait for each other, has two rows at once where registers
  -- allow it: layernorm_backward of 16384x8192 in f16 takes 211 us on an H200, with one row 233.
  -- cluster: the same of rows for clusters, the longest that are read once, where nothing is by columns and rows
  -- start at multiples of 16 bytes: else what each thread does for that costs more. softmax of 524x128256 in f16 takes
  -- 87 us on an H200, where a block reads each row twice 106.
  -- Copies ahead are of 16 bytes: not of operands that have types of their own.
  local function ahead(v)
    local hold = math.max(1, 16 // width)
    local blocks = not by_column and streams * hold <= 6 and 2 or 1
    local list = { blocks = blocks, bytes = 0, most = hold * AHEAD_THREADS }
    local pays = by_column or number.column > 0 and #held.active > 1 and blocks > 1
    if number.whole == 0 or facts.mixed or not again.leaves or v.params.ahead == "never" then
      return list
    end
    local most = SHARED // blocks
    local function shape(threads, held_of_it, block)
      local row, columns = number.whole * held_of_it * block * 16, bytes_of(block, held_of_it)
      local at_once = by_column and width == 8 and threads == 0 and 4 * row <= most and 2 or 1
      local packed = threads > 0 and threads < 8 -- of ends that lie apart a thread would have too many
      local stages = math.min(4, most // (at_once * row))
      if stages > 1 and columns <= most then
        list.bytes = math.max(list.bytes, stages * at_once * row, columns)
        return {
          name = threads .. "x" .. held_of_it, threads = threads, hold = held_of_it, rows = at_once, stages = stages,
          block = block, packed = packed,
          modes = packed and { "packs" } or width > 2 and { "full", "packs", "ends" } or { "packs", "ends" },
        }
      end
    end
    if by_column then
      for threads = 0, 5 do
        list[#list + 1] = shape(1 << threads, hold, AHEAD_THREADS)
      end
      if width > 2 then -- with registers for as much: a warp's threads need not wait for others
        list[#list + 1] = shape(32, hold + hold // 2, 384)
      end
    end
    if pays or v.params.ahead == "always" then
      list[#list + 1] = shape(0, hold, AHEAD_THREADS)
    end
    if (#again.points > 0 or #again.active > 1) and not by_column and number.column == 0 then
      list.cluster = streams == 1 and shape(0, 2 * hold, AHEAD_THREADS) or shape(0, hold, AHEAD_THREADS)
    end
    return list
  end

  local over, tile = finish and over_rows_of(facts, bytes_of) or nil, nil
  if over then
    tile = { threads = over.threads, resident = 2, blocks = over.blocks, rows = TILE_ROWS }
  elseif not again.leaves then
    local resident = width == 8 and columns_last and 3 or 4
    tile = { threads = 256, resident = resident, blocks = resident, rows = TILE_ROWS }
  end
  local flat = not again.leaves and number.row == 0
  local made = {
    launch = "templates/cuda/launch_rows.c", modes = modes_of(facts), split = not tile and split.of(again) or nil,
    cluster = CLUSTER, most_clustered = MOST_CLUSTERED,
    -- Where rows would be read again otherwise.
    clusters = not tile and (#again.points > 0 or #again.active > 1), columns_last = columns_last,
    ahead_threads = AHEAD_THREADS, short_threads = SHORT_THREADS, long_threads = LONG_THREADS, over_rows = over,
    tile = tile, flat = flat, staged = not finish and not flat and #facts.op.operands <= STAGED, variants = {},
  }

  made.work = work(facts, true, over and {
    numbers = over.numbers, fewest = over.fewest, most = over.most, bytes = over.partials_at,
    bytes_of_partial = 8 * #again.column_reductions, bytes_of_row = 16 * over.results,
  } or { bytes = made.split and made.split.workspace or 0 })

  -- The kernels of a variant, but for those of clusters.
  local function kernels_of(s, v)
    local list = {}
    local function add(name, mode, kernel_bounds, kernel)
      kernel.name, kernel.mode, kernel.bounds = name .. (mode and "_" .. mode or ""), mode or kernel.mode, kernel_bounds
      list[#list + 1] = kernel
    end
    for _, shape in ipairs(s.short) do
      for _, mode in ipairs(tile and {} or shape.modes) do
        add(shape.name, mode, bounds(s.hold, SHORT_THREADS, mode),
          { does = "short", threads = shape.threads, hold = shape.hold })
      end
      if made.staged and shape.staged then
        add(shape.name .. "_staged", nil, bounds(s.hold, SHORT_THREADS, "packs"),
          { does = "short", mode = "apart", threads = shape.threads, hold = shape.hold, staged = true })
      end
    end
    for _, mode in ipairs(tile and {} or made.modes) do -- threads with unlike numbers of elements merge sums faster
      add("block", mode, bounds(s.hold, v.params.threads, mode),
        { does = mode == "ends" and "short" or "held", threads = 0, hold = s.hold })
    end
    for _, mode in ipairs { "packs", "ends", "apart" } do
      if not tile or again.leaves then
        add("long", mode, { LONG_THREADS, 1 }, { does = "long", hold = s.long_hold })
      end
      for step = 1, made.split and mode ~= "apart" and made.split.steps or 0 do
        add("split" .. step, mode, { made.split.threads, 1 }, { does = "split", step = step, hold = made.split.hold })
      end
    end
    for _, mode in ipairs(flat and { "packs", "apart" } or tile and { "packs", "ends", "apart" } or {}) do
      add("tile", mode, { tile.threads, tile.resident }, { does = "tile" })
    end
    for _, shape in ipairs(s.ahead) do
      for _, mode in ipairs(shape.modes) do
        add("ahead" .. shape.name, mode, { shape.block, s.ahead.blocks }, {
          does = "ahead", threads = shape.threads, hold = shape.hold, rows = shape.rows, stages = shape.stages,
        })
      end
    end
    if flat then
      add("flat_rows", nil, { tile.threads, tile.resident }, { does = "flat" })
    end
    if finish then
      add("merge", nil, { 32 * made.over_rows.mergers, 1 }, { does = "merged" })
    end
    return list
  end

  -- Its kernels of clusters: each calls what other kernels of the mode call.
  local function cluster_kernels_of(s, v)
    local list = {}
    for _, mode in ipairs { "packs", "ends" } do
      list[#list + 1] = {
        name = "cluster_" .. mode, mode = mode, bounds = bounds(s.hold, v.params.threads, mode),
        does = mode == "ends" and "short" or "held", threads = 0, hold = s.hold, clusters = true,
      }
    end
    local shape = s.ahead.cluster
    if shape then
      list[#list + 1] = {
        name = "ahead_cluster", mode = "packs", bounds = { AHEAD_THREADS, s.ahead.blocks }, does = "ahead",
        threads = shape.threads, hold = shape.hold, rows = shape.rows, stages = shape.stages, clusters = true,
      }
    end
    return list
  end

  for i, v in ipairs(facts.variants) do
    local hold = hold_of(facts, number.column, v)
    -- At a time of a longer row: beside operands for each column there are registers for fewer. layernorm of
    -- 1335x50264 in f16 takes 116 us, with 4 accesses 134.
    local long_hold = width == 8 and number.column > 0 and math.min(hold, 2) or hold
    local s = {
      hold = hold, long_hold = long_hold, threads = v.params.threads, ahead = ahead(v),
      short = short_shapes(crowded and math.min(hold, 2) or hold),
    }
    for _, shape in ipairs(s.short) do
      shape.modes = modes_of(facts, shape)
    end
    s.kernels = kernels_of(s, v)
    s.cluster_kernels = made.clusters and cluster_kernels_of(s, v) or {}
    made.variants[i] = s
  end
  return made
end
