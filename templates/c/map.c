/* y[i] = f(x0[i], x1[i], ...). Past the first-level cache this is limited by bytes moved, for
 * every function that costs less than about a nanosecond; inside it, by the operations of f.
 * unroll gives the processor independent vectors to overlap; streaming stores keep an output
 * larger than the last-level cache from being read before it is written. */
//@ local P = use "parts.c"
//@ local point = k:point("point", k:results(k.program.points))
//@ P.define(point)
//@ for _, v in ipairs(variants) do
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  $(k:pointers(op))
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  $(k:uniforms(0))
  //@ P.for_each_point(point, k.program.points, "count", v.params.unroll, v.params.store == "streaming")
}

//@ end
