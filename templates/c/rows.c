//@ if first then
/* A program over each row: passes of reductions over the row, then its values. A row that stays
 * in the first two cache levels is read from memory once; beyond that, once a pass. What is
 * dear to compute twice (an exponential) is kept in the output between passes. Reductions over the
 * rows are gathered in the last pass, in an array with an element for each column, and finished after
 * the last row. Where there is nothing else, so many columns go through all rows at a time that this
 * array stays in the first cache. */
//@ end
//@ local R = use "passes.c"
//@ local P = R.P
//@ local passes, point, finish, totals = k.passes, k.last, k.finish, k.totals
//@ P.define_all()
//@ -- Columns that go through the rows at a time, nil where rows are to be whole.
//@ local each = finish and #k.program.phases == 0 and #totals == 0 and 65536 // k.spelling.bits or nil
//@ for _, x in ipairs(each and point.inputs or {}) do
//@   each = x.kind == "element" and each or nil
//@ end
//@ local function columns_at_once(all)
//@   return each and ("(%s < %d ? %s : %d)"):format(all, each, all, each) or all
//@ end
//@ for _, v in ipairs(variants) do
//@ if finish then
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  return
  //@ P.column_bytes(columns_at_once("dim[" .. #op.dims - 1 .. "]"))
  ;
}

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  $(k:scalars(op))
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t $(each and "all" or "count") = args->dim[$(#op.dims - 1)];
  //@ if each then
  for (size_t first = 0; first == 0 || first < all; first += $each$) {
  const size_t count = $(columns_at_once "all - first");
  //@ end
  (void)count; /* nothing is read along the rows where a result is of what is alike in each */
  $(k:pointers(each and { column = "first" }, P.is_column))
  $(k:uniforms("call"))
  //@ P.begin_columns()
  for (size_t row = 0; row < rows; row++) {
    $(k:pointers({ whole = each and "row * all + first" or "row * count", row = "row" }, P.is_no_column))
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
  //@ if each then
  }
  //@ end
}

//@ end
