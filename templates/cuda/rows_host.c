//@ local H = use "host.c"
//@ local S = use "shapes.c"
//@ H.image()
//@ for _, v in ipairs(variants) do
extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t count = args->dim[$(#op.dims - 1)];

  //@ for _, s in ipairs(S.shapes(v.params)) do
  if (count <= $(s.threads * s.hold * k.width)) {
    launches[0] = (lathe_launch){
        .kernel = "$v.name$_$s.threads$x$s.hold$",
        .grid = {blocks(rows, $s.rows$, limits->grid), 1, 1},
        .block = {$(s.threads * s.rows), 1, 1},
    };
    return 1;
  }
  //@ end
  launches[0] = (lathe_launch){
      .kernel = "$v.name$_long",
      .grid = {blocks(rows, 1, limits->grid), 1, 1},
      .block = {1024, 1, 1},
  };
  return 1;
}

//@ end
