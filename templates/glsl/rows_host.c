//@ local H = use "host.c"
//@ local S = use "shapes.c"
//@ H.image()
//@ local phases = k.program.phases
//@ local part = S.SPLIT_THREADS * S.SPLIT_HOLD * k.width
//@ local _, number = S.kernels(k.width, phases)
//@ for _, v in ipairs(variants) do
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  (void)dim;
  return $(S.left_at(phases, #phases + 1));
}

extern lathe_launches $v.name$_launches;
int $v.name$_launches(const lathe_args *args, const lathe_limits *limits, lathe_launch *launches) {
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t count = args->dim[$(#op.dims - 1)];
  uint32_t longest = 1024;

  //@ for _, s in ipairs(S.shapes(k.width)) do
  if (count <= $(s.threads * s.hold * k.width) && limits->group >= $(s.threads * s.rows)) {
    launches[0] = (lathe_launch){
        .kernel = "$v.name$_$s.threads$x$s.hold$",
        .grid = {blocks(rows, $s.rows$, limits->grid), 1, 1},
        .block = {$(s.threads * s.rows), 1, 1},
        .constant = {$(number["held" .. s.hold]), $s.threads$},
    };
    return 1;
  }
  //@ end
  //@ if #phases < 4 then -- a launch each, and one for the results
  if (rows < limits->multiprocessors && limits->group >= $S.SPLIT_THREADS$) {
    const size_t most = 2 * (size_t)limits->multiprocessors / rows;
    const uint32_t parts = blocks(count, $part$, most < $S.MOST_PARTS$ ? most : $S.MOST_PARTS$);

    //@ for p = 1, #phases + 1 do
    launches[$(p - 1)] = (lathe_launch){
        .kernel = "$v.name$_part$p$",
        .grid = {parts, (uint32_t)rows, 1},
        .block = {$S.SPLIT_THREADS$, 1, 1},
        .constant = {$(number["part" .. p]), $S.SPLIT_THREADS$},
    };
    //@ end
    return $(#phases + 1);
  }
  //@ end
  while (longest > limits->group)
    longest /= 2;
  launches[0] = (lathe_launch){
      .kernel = "$v.name$_longer",
      .grid = {blocks(rows, 1, limits->grid), 1, 1},
      .block = {longest, 1, 1},
      .constant = {$number.longer$, longest},
  };
  return 1;
}

//@ end
