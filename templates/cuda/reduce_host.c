//@ local H = use "host.c"
//@ H.image()
//@ local phases = k.program.phases
//@ local bytes = 256 * #phases
//@ for _, phase in ipairs(phases) do
//@   bytes = bytes + H.MOST_BLOCKS * 32 * #phase.reductions
//@ end
//@ for _, v in ipairs(variants) do
//@ local B, U, W = v.params.block, v.params.unroll, v.params.waves
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  (void)dim;
  return $bytes$;
}

extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  const size_t machine = (size_t)limits->multiprocessors * $W$;
  const size_t most = machine < $H.MOST_BLOCKS$ ? machine : $H.MOST_BLOCKS$;
  const uint32_t grid = blocks(count, $(B * U * k.width), most);
  const bool aligned = $(k:is_aligned());

  //@ for p = 1, #phases do
  launches[$(p - 1)] = (lathe_launch){
      .kernel = aligned ? "$v.name$_$p$" : "$v.name$_apart$p$",
      .grid = {grid, 1, 1},
      .block = {$B$, 1, 1},
  };
  //@ end
  return $(#phases);
}

//@ end
