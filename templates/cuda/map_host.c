//@ local H = use "host.c"
//@ H.image()
//@ for _, v in ipairs(variants) do
//@ local B, U = v.params.block, v.params.unroll
extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  const bool aligned = $(k:is_aligned());

  launches[0] = (lathe_launch){
      .kernel = aligned ? "$v.name$" : "$v.name$_apart",
      .grid = {blocks(count, $(B * U * k.width), limits->grid), 1, 1},
      .block = {$B$, 1, 1},
  };
  return 1;
}

//@ end
