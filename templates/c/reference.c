/* The op in $k.number$, for checking kernels against: plain loops, the C library's functions, sums
 * that carry their rounding errors along (Neumaier 1974). */
//@ local P = use "parts.c"
//@ local passes = k:passes(P.define)
//@ local point, finish = k:last_pass(P.define), k:finish(P.define)
//@ local totals = k:totals()
//@ local per_row = op.family == "rows"
//@ local function is_column(operand)
//@   return operand.place == "column"
//@ end
//@ local function is_no_column(operand)
//@   return operand.place ~= "column"
//@ end
void $k.name$(const lathe_args *args) {
  $(k:scalars(op))
  const size_t rows = $(k:product("args->dim", 1, per_row and #op.dims - 1 or 0));
  const size_t count = $(k:product("args->dim", per_row and #op.dims or 1, #op.dims));
  $(k:pointers(nil, is_column))
  $(k:uniforms("call"))
  //@ P.begin_columns()
  for (size_t row = 0; row < rows; row++) {
    $(k:pointers({ whole = "row * count", row = "row" }, is_no_column))
    $(k:row_values())
    $(k:uniforms("row"))
    //@ for p, phase in ipairs(k.program.phases) do
    //@ P.picks(phase)
    //@ if passes[p] then
    //@ for _, r in ipairs(phase.reductions) do
    //@ if k:is_index(r.kind) then
    int64_t $r.name$ = -1;
    $k.number$ $r.name$_best = 0;
    //@ elseif r.kind == "sum" then
    $k.number$ $r.name$_sum = 0, $r.name$_error = 0;
    //@ else
    $k.number$ $r.name$ = $(k:neutral(r.kind));
    //@ end
    //@ end
    for (size_t i = 0; i < count; i++) {
      //@ P.load_and_call(passes[p], "i")
      //@ for _, r in ipairs(phase.reductions) do
      //@ local better = (r.kind == "argmax" or r.kind == "maximum") and ">" or "<"
      //@ local term = r.name .. "_term"
      //@ if k:is_index(r.kind) then
      if ($r.name$ < 0 || $term$ $better$ $r.name$_best || (isnan($term$) && !isnan($r.name$_best))) {
        $r.name$_best = $term$;
        $r.name$ = (int64_t)i;
      }
      //@ elseif r.kind == "sum" then
      const $k.number$ $r.name$_new = $r.name$_sum + $term$;
      $r.name$_error += !isfinite($r.name$_new) ? 0
          : $(k:text("abs", r.name .. "_sum")) >= $(k:text("abs", term))
              ? ($r.name$_sum - $r.name$_new) + $term$
              : ($term$ - $r.name$_new) + $r.name$_sum;
      $r.name$_sum = $r.name$_new;
      //@ else
      $r.name$ = $term$ $better$ $r.name$ || isnan($term$) ? $term$ : $r.name$;
      //@ end
      //@ end
    }
    //@ end
    //@ for _, r in ipairs(phase.reductions) do
    //@ if r.kind == "sum" then
    const $k.number$ $r.name$ = $r.name$_sum + $r.name$_error;
    //@ end
    //@ end
    $(k:uniforms(p))
    //@ end
    //@ for _, total in ipairs(totals) do
    $total$
    //@ end
    //@ if point then
    //@ P.for_each_point(point, k.program.points, "count", 1, false, finish ~= nil)
    //@ end
  }
  //@ if finish then
  //@ P.end_columns()
  //@ P.for_each_point(finish, k.program.columns, "count", 1)
  //@ end
}
