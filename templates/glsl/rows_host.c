//@ local H = use "host.c"
//@ local S, split = use "shapes.c", use "../gpu/split.c"
//@ H.image()
//@ local phases, columns, V = k.program.phases, k.program.column_reductions, k.width
//@ local _, number = S.kernels(V, k.program)
//@ local parts = {}
//@ for p = 1, #phases + 1 do
//@   parts[#parts + 1] = number["part" .. p] and p
//@ end
//@ if first and #columns > 0 then
/* How many workgroups may leave what they gathered over the rows. */
static inline size_t most_partials(size_t count) {
  const size_t some = $S.PARTIAL_NUMBERS$ / (count ? count : 1);

  return some < $S.FEWEST_PARTIALS$ ? $S.FEWEST_PARTIALS$ : some > $S.MOST_PARTIALS$ ? $S.MOST_PARTIALS$ : some;
}

//@ end
//@ if #columns > 0 then
/* What merges them. */
static inline lathe_launch $part.stem$_finish(size_t count, const lathe_limits *limits) {
  const uint32_t groups = blocks(count, $S.MERGE_COLUMNS$, SIZE_MAX);

  return (lathe_launch){
      .kernel = "$part.stem$_finish",
      .grid = $H.GRID$,
      .block = {$(S.MERGE_COLUMNS * S.MERGE_LANES), 1, 1},
      .constant = {$number.finish$, 1},
  };
}

//@ end
//@ for _, v in ipairs(variants) do
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  //@ if #columns > 0 then
  const double rows = (double)($(k:product("dim", 1, #op.dims - 1)));
  const size_t count = dim[$(#op.dims - 1)];

  return 64 + (double)most_partials(count) * (double)count * $(#columns * k.spelling.bits // 8)
         + rows * $(S.row_results_at(phases, #phases + 1));
  //@ else
  (void)dim;
  return $(split.workspace(k.program));
  //@ end
}

extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t count = args->dim[$(#op.dims - 1)];
  //@ if number.longer then
  uint32_t longest = 1024;
  //@ end
  const bool aligned = $(k:is_aligned());
  const bool alike = $(k:is_alike());
  const uint32_t mode = aligned && count % $V$ == 0 ? PACKS : alike ? ENDS : APART;
  //@ if #S.shapes(V, k.program) > 0 then
  const size_t reach = mode == ENDS ? count - count % $V$ : count; /* elements of accesses that a row may have */
  //@ end
  //@ if S.shapes(V, k.program).alone then
  const uint32_t step = limits->subgroup > 32 ? limits->subgroup : 32;
  uint32_t threads;
  //@ end
  //@ if #columns > 0 then
  const size_t period = mode == ENDS ? $V$ : 1; /* rows so far apart start alike */
  const size_t most = most_partials(count);
  //@ if #S.shapes(V, k.program) > 0 then
  const size_t at_once = limits->multiprocessors < most ? limits->multiprocessors : most;
  //@ end
  size_t tiles, across = 8, share;

  if (limits->group < $(S.MERGE_COLUMNS * S.MERGE_LANES))
    return 0;
  //@ end
  //@ for _, s in ipairs(S.shapes(V, k.program)) do
  //@ local threads, block = s.threads, s.threads * s.rows
  //@ if s.alone then
  //@ threads, block = "threads", "threads"
  threads = blocks(reach, step * $(s.hold * V), SIZE_MAX) * step;
  //@ end
  if (reach <= $(s.threads * s.hold * V) && limits->group >= $block$) {
    const bool full = mode == PACKS && count == $(s.alone and "(size_t)" or "")$threads$ * $(s.hold * V);
    //@ if #columns == 0 then
    const uint32_t groups = blocks(rows, $s.rows$, SIZE_MAX);
    //@ end
    launches[0] = (lathe_launch){
        .kernel = "$v.name$_$s.threads$x$s.hold$",
        //@ if #columns > 0 then
        .grid = {blocks(rows, $s.rows$ * period, at_once / period) * (uint32_t)period, 1, 1},
        //@ else
        .grid = $H.GRID$,
        //@ end
        .block = {$block$, 1, 1},
        .constant = {$(number["held" .. s.hold]), $threads$, full ? FULL : mode},
    };
    //@ if #columns > 0 then
    launches[1] = $part.stem$_finish(count, limits);
    //@ end
    return $(#columns > 0 and 2 or 1);
  }
  //@ end
  //@ if #parts > 0 then
  //@ split.declare_parts(k.program)
  if (parts_of_row > 1 && limits->group >= $split.THREADS$) {
    const uint32_t parts = blocks(count, $(split.part(k.program, V)), parts_of_row);

    //@ for l, p in ipairs(parts) do
    //@ local last = l == #parts and #k.program.points == 0 -- it merges what parts have left
    launches[$(l - 1)] = (lathe_launch){
        .kernel = "$v.name$_part$p$",
        .grid = {$(last and "1" or "parts"), (uint32_t)rows, 1},
        .block = {$split.THREADS$, 1, 1},
        .constant = {$(number["part" .. p]), $split.THREADS$, mode},
    };
    //@ end
    return $(#parts);
  }
  //@ end
  //@ if number.longer then
  const uint32_t groups = blocks(rows, 1, SIZE_MAX);
  while (longest > limits->group)
    longest /= 2;
  launches[0] = (lathe_launch){
      .kernel = "$v.name$_longer",
      .grid = $H.GRID$,
      .block = {longest, 1, 1},
      .constant = {$number.longer$, longest, mode},
  };
  //@ end
  //@ if #columns > 0 then
  //@ local l = number.longer and 1 or 0
  while (across < $S.COLUMNS_THREADS$ && across * $V$ < count)
    across *= 2;
  tiles = blocks(count, across * $V$, SIZE_MAX);
  if (tiles > limits->grid)
    return 0;
  share = (size_t)limits->multiprocessors * $S.COLUMNS_WAVES$ / tiles;
  share = (share < most ? share : most) / period;
  launches[$l$] = (lathe_launch){
      .kernel = "$v.name$_columns",
      .grid = {(uint32_t)tiles, blocks(rows, $(S.COLUMNS_THREADS * S.ROWS_AT_ONCE) / across * period, share) * (uint32_t)period, 1},
      .block = {$S.COLUMNS_THREADS$, 1, 1},
      .constant = {$number.columns$, (uint32_t)across, mode},
  };
  launches[$(l + 1)] = $part.stem$_finish(count, limits);
  return $(l + 2);
  //@ else
  return 1;
  //@ end
}

//@ end
