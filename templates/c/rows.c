//@ if first then
/* A program over each row: passes of reductions over the row, then its values. A row that stays
 * in the first two cache levels is read from memory once; beyond that, once a pass. What is
 * dear to compute twice (an exponential) is kept in the output between passes. Reductions over the
 * rows are gathered in the last pass, in an array with an element for each column, and finished after
 * the last row. */
//@ end
//@ local R = use "passes.c"
//@ local P = R.P
//@ local passes, point, finish, totals = k.passes, k.last, k.finish, k.totals
//@ P.define_all()
//@ for _, v in ipairs(variants) do
//@ if finish then
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  return
  //@ P.column_bytes("dim[" .. #op.dims - 1 .. "]")
  ;
}

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  $(k:scalars(op))
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t count = args->dim[$(#op.dims - 1)];
  (void)count; /* nothing is read along the rows where a result is of what is alike in each */
  $(k:pointers(nil, P.is_column))
  $(k:uniforms("call"))
  //@ P.begin_columns()
  for (size_t row = 0; row < rows; row++) {
    $(k:pointers({ whole = "row * count", row = "row" }, P.is_no_column))
    $(k:row_values())
    $(k:uniforms("row"))
    //@ for p, phase in ipairs(k.program.phases) do
    //@ P.picks(phase)
    //@ if passes[p] then
    //@ R.pass(phase, passes[p], "count", v.params.accumulators)
    //@ end
    $(k:uniforms(p))
    //@ end
    //@ for _, total in ipairs(totals) do
    $total$
    //@ end
    //@ if point then
    //@ P.for_each_point(point, k.program.points, "count", v.params.unroll, false, finish ~= nil)
    //@ end
  }
  //@ if finish then
  //@ P.end_columns("count")
  {
    $(k:pointers(nil, P.is_read_alone))
    $(k:alone(finish))
    //@ P.for_each_point(finish, k.program.columns, "count", 1)
  }
  //@ end
}

//@ end
