//@ -- Kernels of rows that are read once: a row in the registers of its threads, and rows that blocks which stay for
//@ -- many read ahead of their turn.
//@ local rows = use "../gpu/rows.c"
//@ local row, points, columns = use "row.cu", use "row_points.cu", use "rows_columns.cu"
//@ local V, all = k.width, row.read_again.all
//@ local staged = rows.elements(all, {}, false, "whole") -- what varies over the row, of all passes
//@
//@ -- Room for what a phase stashes in registers, under a name: NAME_what.
//@ local function room_for(phase, what)
//@ for _, y in ipairs(phase.stash) do
$k.number$ $y.operand.name$_$what$[H * $V$];
//@ end
//@ end
//@ local function room_for_ends(phase, what)
//@ for _, y in ipairs(phase.stash) do
$k.number$ $y.operand.name$_$what$[ENDS + 1];
//@ end
//@ end
//@
//@ -- The operands that have whole rows, those that are read or those that are written.
//@ local function of_rows(program, written)
//@   local list = {}
//@   for _, x in ipairs(written and program.outputs or rows.elements(program.all, {}, false, "whole")) do
//@     local operand = x.operand
//@     list[#list + 1] = operand.place == "whole" and { name = x.pointer or operand.name, operand = operand } or nil
//@   end
//@   return list
//@ end
//@
//@ function define_held(program, what)
//@ local phases, active, passes, point = program.phases, program.active, program.passes, program.point
//@ local read, written = of_rows(program, false), of_rows(program, true)
/* One row in the registers of T threads; of a block's where T is 0, of those of `blocks` blocks where that
 * is more than 1. A block has blockDim.y rows. STAGED: these, which lie together, are in its shared memory meanwhile,
 * so that wherever they start memory is read and written by 16 bytes. */
template <int MODE, int T, int H, bool STAGED = false>
static __device__ __forceinline__ void $k.name$_$what$(const lathe_args &args, unsigned blocks) {
  //@ row.dims("unsigned")
  const unsigned threads = T > 0 ? T : blockDim.x * blocks;
  const unsigned thread = (blocks > 1 ? blockIdx.x % blocks * blockDim.x : 0) + threadIdx.x;
  const size_t wanted = T > 0 ? (size_t)blockIdx.x * blockDim.y + threadIdx.y : blockIdx.x / blocks;
  const bool live = T == 0 || wanted < rows;
  const size_t row = live ? wanted : 0;
  //@ for _, p in ipairs(active) do
  __shared__ $(program.gathered(p)) shared$p$[T > 0 ? 1 : $(schedule.cluster * 32)];
  //@ end
  __shared__ unsigned long long arrivals[2];
  lathe_cluster cluster(arrivals, blocks);
  $(program.uniforms("call"))
  //@ local known, kept = {}, {}
  //@ local function read_held(list)
  //@ row.read(list, known, true)
  //@ row.read_ends(list)
  //@ end
  //@ row.begin(program, "unsigned", true)
  //@ if schedule.staged then
  const size_t first = (size_t)blockIdx.x * blockDim.y;
  const unsigned own = live ? threadIdx.y * count : 0;
  const unsigned staged = (unsigned)(rows - first < blockDim.y ? rows - first : blockDim.y) * count;
  //@ for _, list in ipairs { read, written } do
  //@ for _, x in ipairs(list) do
  //@ local type = (list == read and "const " or "") .. k:element_type(x.operand)
  __shared__ uint4 $x.name$_room[STAGED ? $schedule.short_threads$ * H + 1 : 1];
  $type$ *const $x.name$_whole = $x.name$ - row * count + first * count;
  if (STAGED)
    $x.name$ = lathe_staged($x.name$_room, $x.name$_whole) + own;
  //@ end
  //@ end
  if (STAGED) {
    //@ for _, x in ipairs(read) do
    lathe_carry(lathe_staged($x.name$_room, ($(k:element_type(x.operand)) *)$x.name$_whole), $x.name$_whole, staged);
    //@ end
    __syncthreads();
  }
  //@ end
  //@ row.ends("unsigned", row.few_threads)
  const unsigned from = MODE == LATHE_APART ? thread : head + thread * $V$;
  //@ -- A row of fewer accesses, where one at its ends may not count, would go to a shape with half as many.
  //@ row.places("unsigned", "H / 2")
  //@ if k.width == 8 then -- all at once: such operands take few registers
  //@ read_held(staged)
  //@ end
  //@ for p, phase in ipairs(phases) do
  //@ if passes[p] then
  //@ read_held(rows.elements({ passes[p] }, known))
  //@ room_for(phase, "kept")
  //@ room_for_ends(phase, "kept_ends")
  $(program.gathered(p)) mine$p$;
  {
    auto &mine = mine$p$;
    mine.clear();
    //@ points.gather(program, p, kept)
    //@ points.gather_ends(program, p, kept)
  }
  //@ if p == active[1] then
  cluster.await_start();
  //@ end
  //@ if p == active[#active] and point then -- ahead of the wait for other threads
  //@ read_held(rows.elements({ point }, known, false, schedule.columns_last and "whole" or nil))
  //@ end
  //@ local last = p == active[#active] and not point
  cluster.merge_row<T$(last and ", false" or "")>(mine$p$, shared$p$);
  //@ if last then
  if (thread > 0)
    return;
  //@ end
  //@ end
  //@ points.follow(program, p, passes[p] and "mine" .. p)
  //@ end
  //@ points.write_totals(program)
  //@ if point then
  //@ read_held(rows.elements({ point }, known))
  if (live) {
    //@ points.compute(program, kept)
    //@ points.compute_ends(program, kept)
  }
  //@ if schedule.staged then
  if (STAGED) {
    __syncthreads();
    //@ for _, x in ipairs(written) do
    lathe_carry($x.name$_whole, lathe_staged($x.name$_room, $x.name$_whole), staged);
    //@ end
  }
  //@ end
  //@ end
}

//@ end
//@ function define_ahead()
//@ local finish, program = #k.program.columns > 0, row.in_registers
//@ local phases, active, passes, point = program.phases, program.active, program.passes, program.point
//@ -- The nth of the rows at once, after its first phases.
//@ local function each_row(last)
const size_t wanted = row_of(first + nth * step + threadIdx.y);
const bool live = wanted < rows;
const size_t row = live ? wanted : 0;
//@ row.begin(program, "unsigned", true)
//@ for i, x in ipairs(staged) do
const auto &$x.pointer$_ends = $x.pointer$_now[nth];
lathe_pack<$k.storage$, $V$> $x.pointer$_pack[H];
#pragma unroll
for (int slot = 0; slot < H; slot++)
  memcpy(&$x.pointer$_pack[slot], staged(stage, nth, $(i - 1), slot), 16);
//@ end
//@ for p, phase in ipairs(phases) do
//@ for _, y in ipairs(passes[p] and phase.stash or {}) do
auto &$y.operand.name$_kept = $y.operand.name$_rows[nth];
auto &$y.operand.name$_kept_ends = $y.operand.name$_ends_rows[nth];
//@ end
//@ end
//@ for p = 1, last do
//@ points.follow(program, p, passes[p] and "rows" .. p .. ".of[nth]")
//@ end
//@ end
/* Rows of which a block, or one of CLUSTERS, holds one or more: T threads share a row, with T = 0 those with the
 * same threadIdx.y, and work on ROWS at once, of which they wait for each other together. Each copies what it needs
 * of its rows into shared memory, STAGES - 1 times as many ahead, and has per-column operands in
 * registers for all of its rows. */
template <int MODE, int T, int H, int ROWS, int STAGES, bool CLUSTERS>
static __device__ __forceinline__ void $k.name$_ahead(const lathe_args &args) {
  enum { EACH = H * $V$ };
  extern __shared__ uint4 room[];
  //@ row.dims("unsigned")
  const unsigned blocks = CLUSTERS ? lathe_cluster_size() : 1;
  const unsigned threads = T > 0 ? T : blockDim.x * blocks;
  const unsigned thread = blockIdx.x % blocks * blockDim.x + threadIdx.x;
  const unsigned block = blockDim.x * blockDim.y, mine = threadIdx.y * blockDim.x + threadIdx.x;
  //@ row.share_rows("blockIdx.x / blocks", "gridDim.x / blocks")
  //@ for _, p in ipairs(active) do
  __shared__ lathe_rows<$(program.gathered(p)), ROWS> shared$p$[2][T > 0 ? 1 : (CLUSTERS ? $schedule.cluster$ : 1) * $(schedule.ahead_threads // 32)];
  //@ end
  unsigned stage = 0, turn = 0;
  $(k:pointers())
  //@ row.ends("unsigned", row.few_threads, nil, "row_of(0)")
  const unsigned from = head + thread * $V$;
  //@ row.places("unsigned")
  //@ if finish then
  $k.name$_columns over_rows[EACH], over_ends[ENDS + 1];
  //@ end
  //@ local by_columns = rows.elements(all, {}, false, "column")
  //@ row.read(by_columns, {})
  //@ row.read_ends(by_columns)
  const auto staged = [=](unsigned stage, int nth, int operand, int slot) {
    return room + (((stage * ROWS + nth) * $(#staged) + operand) * H + slot) * block + mine;
  };
  const auto fetch = [&](size_t first, unsigned stage) {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      const size_t row = row_of(first + nth * step + threadIdx.y);
#pragma unroll
      for (int slot = 0; slot < H; slot++)
        if (row < rows && inside(slot * $V$)) {
          //@ for i, x in ipairs(staged) do
          lathe_copy_ahead(staged(stage, nth, $(i - 1), slot), $x.pointer$ + row * count + at(slot * $V$));
          //@ end
        }
    }
    lathe_end_group();
  };
  //@ for _, x in ipairs(staged) do
  $k.storage$ $x.pointer$_next[ROWS][ENDS + 1];
  //@ end
  const auto fetch_ends = [&](size_t first) {
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      const size_t row = row_of(first + nth * step + threadIdx.y);
#pragma unroll
      for (int end = 0; end < ENDS; end++) {
        const size_t at = row < rows && end_at(end) < count ? row * count + end_at(end) : 0;
        //@ for _, x in ipairs(staged) do
        $x.pointer$_next[nth][end] = $x.pointer$[at];
        //@ end
      }
    }
  };

  $(program.uniforms("call"))
  //@ if finish then
  //@ columns.clear()
  //@ end
#pragma unroll
  for (int nth = 0; nth < STAGES - 1; nth++)
    fetch(begin + nth * (ROWS * step), nth);
  fetch_ends(begin);
  __shared__ unsigned long long arrivals[2];
  lathe_cluster cluster(arrivals, blocks);
  cluster.await_start();
  for (size_t first = begin; row_of(first) < rows; first += ROWS * step) {
    lathe_await_groups<STAGES - 2>();
    fetch(first + (STAGES - 1) * (ROWS * step), stage > 0 ? stage - 1 : STAGES - 1);
    turn ^= 1;
    //@ for _, x in ipairs(staged) do
    $k.storage$ $x.pointer$_now[ROWS][ENDS + 1];
    memcpy($x.pointer$_now, $x.pointer$_next, sizeof $x.pointer$_now);
    //@ end
    fetch_ends(first + ROWS * step);
    //@ local kept = {}
    //@ for _, p in ipairs(active) do
    //@ room_for(phases[p], "rows[ROWS]")
    //@ room_for_ends(phases[p], "ends_rows[ROWS]")
    //@ end
    //@ for p in ipairs(phases) do
    //@ if passes[p] then
    lathe_rows<$(program.gathered(p)), ROWS> rows$p$;
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      //@ each_row(p - 1)
      auto &mine = rows$p$.of[nth];
      mine.clear();
      //@ points.gather(program, p, kept)
      //@ points.gather_ends(program, p, kept)
    }
    cluster.merge_row<T>(rows$p$, shared$p$[turn]);
    //@ end
    //@ end
#pragma unroll
    for (int nth = 0; nth < ROWS; nth++) {
      //@ each_row(#phases)
      //@ points.write_totals(program)
      //@ if point then
      if (live) {
        //@ points.compute(program, kept)
        //@ points.compute_ends(program, kept)
      }
      //@ end
    }
    stage = stage < STAGES - 1 ? stage + 1 : 0;
  }
  lathe_await_groups<0>();
  //@ if finish then
  __syncthreads();
  $k.name$_columns *const partial = $k.name$_partial(args, group);
  $k.name$_columns *const all = ($k.name$_columns *)room;
  //@ columns.leave("all", "head")
  if (blockIdx.x == 0 && mine == 0)
    *$k.name$_partials(args) = groups;
  //@ end
}

//@ end
