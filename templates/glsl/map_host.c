//@ local H = use "host.c"
//@ H.image()
//@ local _, number = H.unrolls(variants)
//@ for _, v in ipairs(variants) do
//@ local B, U = v.params.block, v.params.unroll
extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  const uint32_t groups = blocks(count, $(B * U * k.width), SIZE_MAX);
  const bool aligned = $(k:is_aligned());

  if (limits->group < $B$)
    return 0;
  launches[0] = (lathe_launch){
      .kernel = "$v.name$",
      .grid = $H.GRID$,
      .block = {$B$, 1, 1},
      .constant = {$(number[U]), 1, aligned ? PACKS : APART},
  };
  return 1;
}

//@ end
