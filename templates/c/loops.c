/* The op in $k.number$, for checking kernels against, of a pattern that no other template does: plain loops over its
 * axes, the C library's functions. It is asked for everything at once: see reference.h. */
//@ local G = use "gather.c"
//@ local on = {}
//@ function on.open_group()
{
  //@ _push("  ");
//@ end
//@ function on.open(axis)
for (size_t i$axis$ = 0; i$axis$ < args->dim[$axis$]; i$axis$++) {
  //@ _push("  ");
//@ end
//@ function on.open_at(axis, index)
if ((uint64_t)$index$ < args->dim[$axis$]) {
  const size_t i$axis$ = (size_t)$index$;
  //@ _push("  ");
//@ end
//@ function on.close()
//@ _pop();
}
//@ end
//@ function on.begin(r)
//@ G.begin({ r })
//@ end
//@ on.take = G.take
//@ function on.finish(r)
//@ G.finish({ r })
//@ end
//@ function on.begin_pick(name)
$k.number$ $name$ = $(k:literal(0 / 0));
//@ end
//@ function on.take_pick(name, term)
$name$ = $term$;
//@ end
//@ function on.declare(type, name, value)
const $type$ $name$ = $value$;
//@ end
//@ function on.store(operand, at, value)
$operand.name$[$at$] = $value$;
//@ end
void $k.name$(const lathe_args *args) {
  const reference_part *part = (const reference_part *)args;
  if (part->step == REFERENCE_SHAPE) {
    *part->shape = (reference_shape){0};
    return;
  }
  $(k:scalars(op))
  $(k:pointers())
  //@ walk(on)
}
