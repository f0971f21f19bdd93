//@ local H = use "host.c"
//@ local S, split = use "shapes.c", use "../gpu/split.c"
//@ H.image()
//@ local program, V = k.program, k.width
//@ local by_column = #program.columns > 0
//@
//@ function launch(name, grid, block, more)
launches[count_of_launches++] = (lathe_launch){
    .kernel = $name$,
    .grid = {$grid$},
    .block = {$block$},
    //@ for _, line in ipairs(more or {}) do
    $line$,
    //@ end
};
//@ end
//@
//@ -- The name of a kernel in one of its modes, which it has; full: the condition for every access to be within the row.
//@ local function name_of(v, ending, modes, full)
//@   local rest = ('aligned ? "%s_%s_packs" : "%s_%s_ends"'):format(v.name, ending, v.name, ending)
//@   return modes and modes[1] == "full" and ('aligned && %s ? "%s_%s_full" : %s'):format(full, v.name, ending, rest) or rest
//@ end
//@ -- How many threads there are to share packs, `hold` of them each: whole warps.
//@ local function threads(packs, hold)
//@   return ("blocks(%s, %d, SIZE_MAX) * 32"):format(packs, 32 * hold)
//@ end
//@
//@ -- Whether rows are read ahead: where they start anywhere a block takes those that start alike.
//@ local function ahead_fits(s)
//@   return ("alike && limits->shared >= %d && packs <= %d"):format(s.bytes, s.most)
//@ end
//@ -- Persistent blocks, at most so many, for rows that are read ahead.
//@ function launch_ahead(v, most)
//@ local ahead = S.ahead(v)
const char *name;
uint32_t threads, each, at_once;
//@ for i, s in ipairs(ahead) do
$(i > 1 and "} else " or "")$(i < #ahead and ("if (packs <= %d) "):format(s.threads * s.hold) or ""){
  threads = $(s.threads > 0 and s.threads or threads("packs", s.hold));
  each = $(s.hold * V);
  at_once = $s.block$ / threads;
  name = $(name_of(v, "ahead" .. s.name, S.AHEAD_MODES, "count == (size_t)threads * each"));
//@ end
}
//@ launch("name", ("blocks(rows, at_once * period, (%s) / period) * period, 1, 1"):format(most), "threads, at_once, 1", { ".shared = " .. ahead.bytes })
//@ end
//@ for _, v in ipairs(variants) do
//@ local hold, most = S.hold(v), v.params.threads
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  //@ if by_column then
  const size_t rows = $(k:product("dim", 1, #op.dims - 1)), count = dim[$(#op.dims - 1)];
  const size_t partials = $S.MOST_PARTIALS$;

  return 64 + 8.0 * (double)(partials * count) * $(#program.column_reductions) + 16.0 * (double)rows * $(S.results(program));
  //@ else
  (void)dim;
  return $(split.workspace(program));
  //@ end
}

extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t count = args->dim[$(#op.dims - 1)];
  const bool aligned = count % $V$ == 0 && $(k:is_aligned());
  const bool alike = $(k:is_alike());
  //@ if program.leaves or not by_column then
  const size_t packs = count / $V$; /* that a row may have */
  //@ end
  //@ if by_column or #S.ahead(v) > 0 then
  const uint32_t period = aligned || !alike ? 1 : $V$; /* rows so far apart start alike */
  //@ end
  int count_of_launches = 0;

  //@ if by_column then
  const size_t most = $S.MOST_PARTIALS$;
  //@ local s = S.ahead(v)
  //@ if #s > 0 then
  if ($(ahead_fits(s))) {
    //@ launch_ahead(v, "limits->multiprocessors < most ? limits->multiprocessors : most")
  } else {
  //@ else
  {
  //@ end
    //@ local tile_threads, tile_blocks = S.tiles()
    //@ if program.leaves then
    const uint32_t lanes = 32;
    //@ else
    uint32_t lanes = $(tile_threads < 128 and tile_threads or 128); /* that share a row: few beyond its end, and enough for its ends */
    while (lanes > 32 && blocks(count, lanes * $V$, SIZE_MAX) * (size_t)lanes * $V$ - count > count / 16)
      lanes /= 2;
    while (lanes > 2 * period && lanes / 2 * $V$ >= count)
      lanes /= 2;
    //@ end
    const uint32_t across = blocks(count, lanes * $V$, SIZE_MAX), at_once = $tile_threads$ / lanes;
    const size_t down = blocks((size_t)limits->multiprocessors * $tile_blocks$, across * period, most / period);

    //@ if program.leaves then
    if (rows > 0) {
      //@ launch(('alike ? %s : "%s_long_apart"'):format(name_of(v, "long"), v.name), "(uint32_t)rows, 1, 1", ("packs < %d ? %s : %d, 1, 1"):format(S.LONG_THREADS * hold, threads("packs", hold), S.LONG_THREADS))
    }
    //@ end
    //@ launch(('alike ? %s : "%s_tile_apart"'):format(name_of(v, "tile"), v.name), "across, blocks(rows, at_once * period, down) * period, 1", "lanes, at_once, 1")
  }
  //@ launch('"' .. v.name .. '_merge"', "blocks(count, 32, SIZE_MAX), 1, 1", ("32, %d, 1"):format(S.mergers()))
  //@ else
  if (!alike) {
    //@ launch('"' .. v.name .. '_long_apart"', "(uint32_t)rows, 1, 1", ("blocks(count, 32, %d) * 32, 1, 1"):format(S.LONG_THREADS // 64))
    return count_of_launches;
  }
  //@ for _, s in ipairs(S.short(v)) do
  if (packs <= $(s.threads * s.hold)) {
    //@ launch(name_of(v, s.threads .. "x" .. s.hold, S.modes(s), "count == " .. s.threads * s.hold * V), ("blocks(rows, %d, limits->grid), 1, 1"):format(S.SHORT_THREADS // s.threads), ("%d, %d, 1"):format(s.threads, S.SHORT_THREADS // s.threads))
    return count_of_launches;
  }
  //@ end
  //@ local s = S.ahead(v)
  //@ if #s > 0 then
  const size_t persistent = (size_t)limits->multiprocessors * $s.blocks$;
  if ($(ahead_fits(s)) && rows > persistent) {
    //@ launch_ahead(v, "persistent")
    return count_of_launches;
  }
  //@ end
  if (packs <= $(most * hold)) {
    const uint32_t threads = $(threads("packs", hold));
    //@ launch(name_of(v, "block", S.modes(), ("count == (size_t)threads * %d"):format(hold * V)), "(uint32_t)rows, 1, 1", "threads, 1, 1")
    return count_of_launches;
  }
  //@ local clusters = S.clusters(program)
  //@ if split.splits(program) then
  //@ split.declare_parts(program)
  //@ if clusters then
  const bool clusters = packs <= $(most * hold * S.CLUSTER) && limits->cluster >= $S.CLUSTER$;
  if (parts_of_row > 1 && (!clusters || rows * $S.CLUSTER$ < limits->multiprocessors)) {
  //@ else
  if (parts_of_row > 1) {
  //@ end
    const uint32_t parts = blocks(packs, $(split.part(program, 1)), parts_of_row);

    //@ for step = 1, #program.active + 1 do
    //@ local last = step > #program.active and #program.points == 0 -- it merges what parts have left
    //@ launch(name_of(v, "split" .. step), (last and "1" or "parts") .. ", (uint32_t)rows, 1", (last and "few_rows ? %d : 32" or "%d"):format(split.THREADS) .. ", 1, 1")
    //@ end
    return count_of_launches;
  }
  //@ end
  //@ if clusters then
  const bool few = rows < $S.MOST_CLUSTERED$ * (size_t)limits->multiprocessors;
  for (uint32_t cluster = 2; few && cluster <= $S.CLUSTER$ && cluster <= limits->cluster; cluster *= 2)
    if (packs <= $(most * hold) * (size_t)cluster) {
      const uint32_t threads = blocks(packs, $(32 * hold) * cluster, SIZE_MAX) * 32;
      //@ launch(name_of(v, "cluster"), "(uint32_t)rows * cluster, 1, 1", "threads, 1, 1", { ".cluster = cluster" })
      return count_of_launches;
    }
  //@ end
  //@ local s = S.ahead(v)
  //@ if s.cluster then
  for (uint32_t cluster = 2; cluster <= $S.CLUSTER$ && cluster <= limits->cluster; cluster *= 2)
    if (aligned && limits->shared >= $s.bytes$ && packs <= $(s.cluster.hold * s.cluster.block) * (size_t)cluster) {
      const uint32_t threads = blocks(packs, $(32 * s.cluster.hold) * cluster, SIZE_MAX) * 32;
      //@ launch('"' .. v.name .. '_ahead_cluster"', "(uint32_t)rows * cluster, 1, 1", "threads, 1, 1", { ".shared = " .. s.bytes, ".cluster = cluster", ".resident = 1" })
      return count_of_launches;
    }
  //@ end
  //@ launch(name_of(v, "long"), "(uint32_t)rows, 1, 1", ("rows < 2 * (size_t)limits->multiprocessors ? %d : %d, 1, 1"):format(S.LONG_THREADS, S.LONG_THREADS // 2))
  //@ end
  return count_of_launches;
}

//@ end
