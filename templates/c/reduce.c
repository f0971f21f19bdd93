//@ if first then
/* r = finish(op over i of f(x0[i], ...)), op one of sum, max, min, argmax, argmin. Limited by
 * reading the inputs once, from whatever level of the cache holds them: passes.c. */
//@ end
//@ local R = use "passes.c"
//@ local passes, totals = k.passes, k.totals
//@ R.P.define_all()
//@ for _, v in ipairs(variants) do
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  $(k:pointers())
  $(k:scalars(op))
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  $(k:row_values())
  $(k:uniforms("call"))
  $(k:uniforms("row"))
  //@ for p, phase in ipairs(k.program.phases) do
  //@ R.pass(phase, passes[p], "count", v.params.accumulators)
  $(k:uniforms(p))
  //@ end
  //@ for _, total in ipairs(totals) do
  $total$
  //@ end
}

//@ end
