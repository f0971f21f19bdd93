/* A program over each row: passes of reductions over the row, then its values. A row that stays
 * in the first two cache levels is read from memory once; beyond that, once a pass. What is
 * dear to compute twice (an exponential) is kept in the output between passes. */
//@ local R = use "passes.c"
//@ local P = R.P
//@ local passes = k:passes(P.define)
//@ local point = #k.program.points > 0 and k:point("point", k:results(k.program.points))
//@ if point then
//@ P.define(point)
//@ end
//@ local totals = k:totals()
//@ for _, v in ipairs(variants) do
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  $(k:scalars(op))
  const size_t rows = $(k:product("args->dim", 1, #op.dims - 1));
  const size_t count = args->dim[$(#op.dims - 1)];
  $(k:uniforms(0))
  for (size_t row = 0; row < rows; row++) {
    $(k:row_pointers(op))
    //@ for p, phase in ipairs(k.program.phases) do
    //@ R.pass(phase, passes[p], "count", v.params.accumulators)
    $(k:uniforms(p))
    //@ end
    //@ for _, total in ipairs(totals) do
    $total$
    //@ end
    //@ if point then
    //@ P.for_each_point(point, k.program.points, "count", v.params.unroll)
    //@ end
  }
}

//@ end
