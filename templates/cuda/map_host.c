//@ local H = use "host.c"
//@ H.image()
//@ for _, v in ipairs(variants) do
//@ local B, U, W = v.params.block, v.params.unroll, v.params.waves
extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  const size_t most = $(W > 0 and "(size_t)limits->multiprocessors * " .. W or "limits->grid");

  launches[0] = (lathe_launch){
      .kernel = "$v.name$",
      .grid = {blocks(count, $(B * U * k.width), most), 1, 1},
      .block = {$B$, 1, 1},
  };
  return 1;
}

//@ end
