//@ -- Kernels of rows that are read again in each pass: by a block each, or by the blocks of its parts.
//@ local rows = use "../gpu/rows.c"
//@ local row, points = use "row.cu", use "row_points.cu"
//@ local V, program = k.width, row.read_again
//@ local phases, active, passes, point = program.phases, program.active, program.passes, program.point
//@
//@ -- Does the work of phase p, or after the last of the results, on a tile.
//@ local function work(p)
//@ row.read(rows.elements({ passes[p] or point }, {}, true), {})
//@ if phases[p] then
//@ points.gather(program, p)
//@ else
//@ points.compute(program, {})
//@ end
//@ end
//@ -- The same on all tiles of a row, or on those of one of so many blocks, and on the elements at its ends: tiles that
//@ -- lie in the row whole, of which nothing needs a condition, then the last.
//@ local function pass(p, block, blocks)
{
  const size_t size = threads * (H * $V$), apart = $(blocks and blocks .. " * size" or "size");
  size_t tile = head$(block and " + " .. block .. " * size" or "");
  for (; MODE != LATHE_APART && tile + size <= until; tile += apart) {
    const size_t from = tile + thread * $V$;
    //@ row.places("size_t", "H")
    //@ work(p)
  }
  for (; tile < until; tile += apart) {
    const size_t from = tile + (MODE == LATHE_APART ? thread : thread * $V$);
    //@ row.places("size_t")
    //@ work(p)
  }
}
//@ row.read_ends(rows.elements({ passes[p] or point }, {}, true))
//@ if phases[p] then
//@ points.gather_ends(program, p)
//@ else
//@ points.compute_ends(program, {})
//@ end
//@ end
//@
//@ function define_long()
//@ local finish = #k.program.columns > 0
/* A row of any length, by a block$(finish and ", which leaves what the passes came to" or ""). */
template <int MODE, int H>
static __device__ __forceinline__ void $k.name$_long(const lathe_args &args, size_t row) {
  //@ row.dims("size_t")
  const unsigned threads = blockDim.x, thread = threadIdx.x;
  const bool live = true;
  //@ for _, p in ipairs(active) do
  __shared__ $(program.gathered(p)) shared$p$[32];
  //@ end
  $(program.uniforms("call"))
  //@ row.begin(program, "size_t", true)
  //@ row.ends("size_t", 1)
  //@ for p in ipairs(phases) do
  //@ if passes[p] then
  $(program.gathered(p)) mine$p$;
  {
    auto &mine = mine$p$;
    mine.clear();
    //@ pass(p)
  }
  lathe_merge_row<0>(mine$p$, shared$p$);
  //@ end
  //@ points.follow(program, p, passes[p] and "mine" .. p)
  //@ end
  //@ points.write_totals(program)
  //@ if finish then
  if (thread == 0) {
    $k.name$_left *const left = $k.name$_of_row(args, row);
    //@ for _, phase in ipairs(phases) do
    //@ for _, list in ipairs { phase.reductions, phase.picks } do
    //@ for _, r in ipairs(list) do
    left->$r.name$ = $r.name$;
    //@ end
    //@ end
    //@ end
  }
  //@ elseif point then
  //@ pass(#phases + 1)
  //@ end
}

//@ end
//@ -- Where in the workspace the parts of rows leave what they gathered in phase p.
//@ local function parts_at(p)
//@   return string.format("((%s *)((char *)args.workspace + %d))", program.gathered(p), schedule.split.left_at[p])
//@ end
//@ function define_split()
//@ for step = 1, #active + 1 do
//@ local p = active[step] or #phases + 1
/* Rows split into parts: $(active[step] and "phase " .. p or "the results") */
template <int MODE, int H>
static __device__ __forceinline__ void $k.name$_split$step$(const lathe_args &args) {
  //@ row.dims("size_t")
  const unsigned threads = blockDim.x, thread = threadIdx.x;
  const size_t row = blockIdx.y;
  const bool live = blockIdx.x == 0;
  //@ if step == 1 and active[step] then
  const unsigned parts = gridDim.x;
  if (row == 0 && live && thread == 0)
    *(unsigned *)args.workspace = parts;
  //@ elseif step > 1 then
  const unsigned parts = *(const unsigned *)args.workspace;
  //@ end
  //@ for _, q in ipairs(active) do
  __shared__ $(program.gathered(q)) shared$q$[32];
  //@ end
  $(program.uniforms("call"))
  //@ row.begin(program, "size_t", true)
  //@ if active[step] or point then
  //@ row.ends("size_t", 1, "live")
  //@ end
  //@ for q = 1, p - 1 do
  //@ if passes[q] then
  $(program.gathered(q)) mine$q$;
  mine$q$.clear();
  for (unsigned part = thread; part < parts; part += threads)
    mine$q$.merge($(parts_at(q))[row * parts + part]);
  lathe_merge_row<0>(mine$q$, shared$q$);
  //@ end
  //@ points.follow(program, q, passes[q] and "mine" .. q)
  //@ end
  //@ if not active[step] then
  //@ points.write_totals(program)
  //@ else
  $(program.gathered(p)) mine;
  mine.clear();
  //@ end
  //@ if active[step] or point then
  //@ pass(p, "blockIdx.x", "(size_t)gridDim.x")
  //@ end
  //@ if active[step] then
  lathe_merge_row<0>(mine, shared$p$);
  if (thread == 0)
    $(parts_at(p))[row * parts + blockIdx.x] = mine;
  //@ end
}

//@ end
//@ end
