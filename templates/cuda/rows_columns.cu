//@ -- Some columns of some rows. The kernel for them is of reductions over the rows, where these are not read ahead, and
//@ -- of programs that reduce nothing; these have one for rows that start anywhere, too. What blocks leave of reductions
//@ -- is in the workspace, and a kernel merges it.
//@ local P, rows = use "parts.cu", use "../gpu/rows.c"
//@ local row, points = use "row.cu", use "row_points.cu"
//@ local V, program = k.width, row.read_again
//@ local phases, point = program.phases, program.point
//@
//@ local finish, over = k.finish, schedule.over_rows
//@ -- How many partial results of each column there may be.
//@ local function most_partials()
//@   return ("(count < %d ? %d : count < %d ? %d / count : %d)"):format(over.numbers // over.most, over.most,
//@     over.numbers // over.fewest, over.numbers, over.fewest)
//@ end
//@ if finish then
//@ P.define(finish)
//@ P.define_gatherer(k.name .. "_columns", k.program.column_reductions)
/* What the passes over a row came to. */
struct $k.name$_left {
  //@ for _, phase in ipairs(phases) do
  //@ for _, r in ipairs(phase.reductions) do
  $(k:result_type(r.kind)) $r.name$;
  //@ end
  //@ for _, r in ipairs(phase.picks) do
  $k.number$ $r.name$;
  //@ end
  //@ end
};

/* The workspace: how many partial results there are, these, and for each row what is left of it. */
static __device__ __forceinline__ unsigned *$k.name$_partials(const lathe_args &args) {
  return (unsigned *)args.workspace;
}

static __device__ __forceinline__ $k.name$_columns *$k.name$_partial(const lathe_args &args, size_t nth) {
  return ($k.name$_columns *)((char *)args.workspace + $over.partials_at$) + nth * args.dim[$(#op.dims - 1)];
}

static __device__ __forceinline__ $k.name$_left *$k.name$_of_row(const lathe_args &args, size_t row) {
  const size_t count = args.dim[$(#op.dims - 1)];
  return ($k.name$_left *)((char *)$k.name$_partial(args, $(most_partials()))) + row;
}

//@ end
//@ -- A thread begins with nothing gathered over its rows, at EACH columns and at those at the ends.
//@ function clear()
#pragma unroll
for (int nth = 0; nth < EACH; nth++)
  over_rows[nth].clear();
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  over_ends[nth].clear();
//@ end
//@ -- Merges what the block's threads have gathered, EACH at each of the `threads` that share a row, `first` the first
//@ -- column, and at the ends. In the room, that of one place is two apart from the next: threads write by place and
//@ -- read by column.
//@ function leave(room, first)
for (unsigned mask = threads; mask < 32; mask *= 2) { // lanes with the same columns
#pragma unroll
  for (int nth = 0; nth < EACH; nth++)
    over_rows[nth].merge(lathe_exchange(over_rows[nth], mask));
#pragma unroll
  for (int nth = 0; nth < ENDS; nth++)
    over_ends[nth].merge(lathe_exchange(over_ends[nth], mask));
}
const unsigned sharing = threads < 32 ? 32 : threads, sharers = block / sharing;
const bool leaves = mine % sharing < threads;
const auto place = [=](unsigned sharer, unsigned nth, unsigned owner) {
  return (sharer * EACH + nth) * (threads + $over.apart$) + owner;
};
#pragma unroll
for (int nth = 0; nth < EACH; nth++)
  if (leaves)
    $room$[place(mine / sharing, nth, threadIdx.x)] = over_rows[nth];
__syncthreads();
for (unsigned pos = mine; pos < EACH * threads; pos += block) {
  const unsigned nth = MODE == LATHE_APART ? pos / threads : pos / $V$ / threads * $V$ + pos % $V$;
  const unsigned owner = MODE == LATHE_APART ? pos % threads : pos / $V$ % threads;
  $k.name$_columns whole = $room$[place(0, nth, owner)];
  for (unsigned other = 1; other < sharers; other++)
    whole.merge($room$[place(other, nth, owner)]);
  if ($first$ + pos < until)
    partial[$first$ + pos] = whole;
}
if (MODE == LATHE_ENDS) {
  __syncthreads();
#pragma unroll
  for (int nth = 0; nth < ENDS; nth++)
    if (leaves)
      $room$[place(mine / sharing, nth, threadIdx.x)] = over_ends[nth];
  __syncthreads();
#pragma unroll
  for (int nth = 0; nth < ENDS; nth++)
    if (threadIdx.y == 0 && end_at(nth) < count) {
      $k.name$_columns whole = over_ends[nth];
      for (unsigned other = 1; other < sharers; other++)
        whole.merge($room$[place(other, nth, threadIdx.x)]);
      partial[end_at(nth)] = whole;
    }
}
//@ end
//@
//@ function define_tile()
//@ local threads = schedule.tile.threads
//@ local leaves, whole = finish and k.program.leaves, rows.elements({ point }, {}, false, "whole")
//@ local by_row = {} -- operands with one value for each row
//@ for _, operand in ipairs(k.operands) do
//@   by_row[#by_row + 1] = operand.place == "row" and not operand.output and operand or nil
//@ end
/* Some columns of some rows, by as many threads as the block is wide. Each has an access to $schedule.tile.rows$
 * rows in flight, beside what there is of these rows once, which it would else wait for row by row. */
template <int MODE>
static __device__ __forceinline__ void $k.name$_tile(const lathe_args &args) {
  enum { H = 1, EACH = $V$, ROWS = $schedule.tile.rows$ };
  //@ if finish then
  __shared__ $k.name$_columns all[$(threads // 32 * (32 + over.apart) * V)];
  //@ end
  //@ row.dims("size_t")
  const unsigned threads = $(leaves and "32" or "blockDim.x"), thread = threadIdx.x;
  //@ row.share_rows("blockIdx.y", "gridDim.y")
  $(k:pointers())
  //@ row.ends("size_t", 1, "blockIdx.x == 0", "row_of(0)")
  const size_t tile = head + (size_t)blockIdx.x * (threads * $V$);
  const size_t from = tile + (MODE == LATHE_APART ? thread : thread * $V$);
  //@ if finish then
  const unsigned block = blockDim.x * blockDim.y, mine = threadIdx.y * blockDim.x + threadIdx.x;
  $k.name$_columns over_rows[EACH], over_ends[ENDS + 1];
  //@ clear()
  //@ end
  //@ row.places("size_t")
  //@ local by_columns = rows.elements({ point }, {}, false, "column")
  //@ row.read(by_columns, {})
  //@ row.read_ends(by_columns)

  $(program.uniforms("call"))
  for (size_t first = begin + threadIdx.y; row_of(first) < rows; first += ROWS * step) {
    const auto row_at = [=](int turn) { return row_of(first + turn * step); };
    //@ for _, x in ipairs(whole) do
    $(k:words(x.operand)) $x.pointer$_ahead[ROWS] = {};
    $(k:element_type(x.operand)) $x.pointer$_ends_ahead[ROWS][ENDS + 1];
    //@ end
    //@ for _, operand in ipairs(by_row) do
    $(k:element_type(operand)) $operand.name$_ahead[ROWS];
    //@ end
    //@ if leaves then
    $k.name$_left left_ahead[ROWS];
    //@ end
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++) {
      const size_t row = row_at(turn) < rows ? row_at(turn) : row_at(0);
      //@ for _, x in ipairs(whole) do
      const $(k:element_type(x.operand)) *const $x.pointer$_row = $x.pointer$ + row * count;
      //@ row.read_words(x.operand, x.pointer .. "_ahead[turn]", x.pointer .. "_row", "from", "0", true)
#pragma unroll
      for (int nth = 0; nth < ENDS; nth++)
        if (blockIdx.x == 0)
          $x.pointer$_ends_ahead[turn][nth] = $x.pointer$_row[end_at(nth) < count ? end_at(nth) : 0];
      //@ end
      //@ for _, operand in ipairs(by_row) do
      $operand.name$_ahead[turn] = $operand.name$[row];
      //@ end
      //@ if leaves then
      left_ahead[turn] = *$k.name$_of_row(args, row);
      //@ end
    }
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++) {
      const size_t row = row_at(turn);
      if (row < rows) {
        //@ local ahead = {}
        //@ for _, operand in ipairs(by_row) do
        //@   ahead[operand.name] = operand.name .. "_ahead + turn"
        //@ end
        //@ row.begin(program, "size_t", false, ahead)
        //@ for p, phase in ipairs(phases) do
        //@ for _, q in ipairs(phase.reductions) do
        const $(k:result_type(q.kind)) $q.name$ = left_ahead[turn].$q.name$;
        //@ end
        //@ for _, q in ipairs(phase.picks) do
        const $k.number$ $q.name$ = left_ahead[turn].$q.name$;
        //@ end
        $(program.uniforms(p))
        //@ end
        //@ for _, x in ipairs(whole) do
        lathe_pack<$(k:element_type(x.operand)), $V$> $x.pointer$_pack[1];
        lathe_unpack($x.pointer$_pack, &$x.pointer$_ahead[turn]);
        const auto &$x.pointer$_ends = $x.pointer$_ends_ahead[turn];
        //@ end
        //@ points.compute(program, {})
        //@ points.compute_ends(program, {})
      }
    }
  }
  //@ if finish then
  $k.name$_columns *const partial = $k.name$_partial(args, group);
  //@ leave("all", "tile")
  if (blockIdx.x == 0 && blockIdx.y == 0 && mine == 0)
    *$k.name$_partials(args) = groups;
  //@ end
}

//@ end
//@ -- Programs that reduce nothing along rows, and have nothing for each row.
//@ function define_flat()
//@ local whole = rows.elements({ point }, {}, false, "whole")
//@ local by_columns = rows.elements({ point }, {}, false, "column")
//@ -- Where an access of the row is, and whether it is there.
//@ local function within_row()
const size_t until = packed - row * count < count ? packed - row * count : count;
//@ row.places("size_t")
//@ end
/* Rows that start anywhere, $V$ of them as one: these start alike, and at multiples of 16 bytes where the operands do.
 * What there is for each column is put together once, for all rows of a thread. Of reductions over the rows they leave
 * what are $V$ partial results. */
static __device__ __forceinline__ void $k.name$_flat(const lathe_args &args) {
  enum { MODE = LATHE_PACKS, H = 1, EACH = $V$, ENDS = 0, ROWS = $schedule.tile.rows$ };
  $(k:scalars(op))
  const size_t columns = args.dim[$(#op.dims - 1)], count = columns * $V$;
  const size_t all = $(k:product("args.dim", 1, #op.dims)), packed = all / $V$ * $V$;
  const size_t rows = packed / count + (packed % count > 0);
  const unsigned threads = blockDim.x, thread = threadIdx.x;
  const size_t tile = (size_t)blockIdx.x * (threads * $V$), from = tile + thread * $V$;
  const size_t step = (size_t)gridDim.y * blockDim.y;
  $(k:pointers())
  $(program.uniforms("call"))
  //@ for _, x in ipairs(by_columns) do
  lathe_pack<$(k:element_type(x.operand)), $V$> $x.pointer$_pack[H];
#pragma unroll
  for (int lane = 0; lane < $V$; lane++)
    $x.pointer$_pack[0].at[lane] = $x.pointer$[(from + lane) % columns];
  //@ end
  //@ if finish then
  __shared__ $k.name$_columns all_columns[$(schedule.tile.threads // 32 * (32 + over.apart) * V)];
  $k.name$_columns over_rows[EACH], over_ends[ENDS + 1];
  //@ clear()
  //@ end
  for (size_t first = (size_t)blockIdx.y * blockDim.y + threadIdx.y; first < rows; first += ROWS * step) {
    //@ for _, x in ipairs(whole) do
    $(k:words(x.operand)) $x.pointer$_ahead[ROWS] = {};
    //@ end
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++) {
      const size_t row = first + turn * step < rows ? first + turn * step : first;
      //@ within_row()
      //@ for _, x in ipairs(whole) do
      const $(k:element_type(x.operand)) *const $x.pointer$_row = $x.pointer$ + row * count;
      //@ row.read_words(x.operand, x.pointer .. "_ahead[turn]", x.pointer .. "_row", "from", "0", true)
      //@ end
    }
#pragma unroll
    for (int turn = 0; turn < ROWS; turn++) {
      const size_t row = first + turn * step;
      if (row < rows) {
        //@ within_row()
        //@ row.begin(program, "size_t")
        //@ for _, x in ipairs(whole) do
        lathe_pack<$(k:element_type(x.operand)), $V$> $x.pointer$_pack[H];
        lathe_unpack($x.pointer$_pack, &$x.pointer$_ahead[turn]);
        //@ end
        if (inside(0)) { /* of the last row, which need not be whole */
          //@ points.compute(program, {})
        }
      }
    }
  }
  if (all > packed && from == packed % count && blockIdx.y == 0 && threadIdx.y == 0) {
    const int left = (int)(all - packed); /* the last elements, which are no access */
    const size_t row = 0;
    //@ row.begin(program, "size_t")
    //@ for _, x in ipairs(whole) do
    lathe_pack<$(k:element_type(x.operand)), $V$> $x.pointer$_pack[H];
#pragma unroll
    for (int lane = 0; lane < $V$; lane++)
      if (lane < left)
        $x.pointer$_pack[0].at[lane] = $x.pointer$[packed + lane];
    //@ end
    //@ points.compute_lanes(program, "left", "packed")
  }
  //@ if finish then
  const unsigned block = blockDim.x * blockDim.y, mine = threadIdx.y * blockDim.x + threadIdx.x;
  const size_t until = count;
  const auto end_at = [](int) { return ~(size_t)0; };
  $k.name$_columns *const partial = $k.name$_partial(args, (size_t)blockIdx.y * $V$);
  //@ leave("all_columns", "tile")
  if (blockIdx.x == 0 && blockIdx.y == 0 && mine == 0)
    *$k.name$_partials(args) = gridDim.y * $V$;
  //@ end
}

//@ end
//@ function define_merged()
/* The partial results of 32 columns, merged, and what is made of them. */
static __device__ __forceinline__ void $k.name$_merged(const lathe_args &args) {
  __shared__ $k.name$_columns all[$(over.mergers)][32];
  //@ row.dims("size_t")
  const unsigned partials = *$k.name$_partials(args);
  const size_t i = (size_t)blockIdx.x * 32 + threadIdx.x;
  $k.name$_columns mine;

  mine.clear();
  if (i < count) {
#pragma unroll 8
    for (unsigned nth = threadIdx.y; nth < partials; nth += $(over.mergers))
      mine.merge($k.name$_partial(args, nth)[i]);
  }
  all[threadIdx.y][threadIdx.x] = mine;
  for (unsigned half = $(over.mergers // 2); half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half)
      all[threadIdx.y][threadIdx.x].merge(all[threadIdx.y + half][threadIdx.x]);
  }
  if (threadIdx.y > 0 || i >= count)
    return;
  $(k:pointers())
  $(k:alone(finish))
  //@ P.call(finish, function(x)
  //@   return x.kind == "column" and "all[0][threadIdx.x]." .. x.name .. ".result()" or x.pointer .. "[i]"
  //@ end)
  //@ for _, y in ipairs(k.program.columns) do
  $y.operand.name$[i] = $y.operand.name$_;
  //@ end
}

//@ end
