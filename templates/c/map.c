//@ if first then
/* y[i] = f(x0[i], x1[i], ...). Past the first-level cache this is limited by bytes moved, for
 * every function that costs less than about a nanosecond; inside it, by the operations of f.
 * unroll gives the processor independent vectors to overlap; streaming stores keep an output
 * larger than the last-level cache from being read before it is written. Random numbers are made
 * some at a time into the first-level cache, and read from there as if they were an operand. */
//@ end
//@ local P = use "parts.c"
//@ local outputs = k.program.points
//@ local point = k.last
//@ P.define(point)
//@ local random = k:random_input(point)
//@ local function any_looks_up()
//@   for _, v in ipairs(variants) do
//@     if v.params.values == "table" then
//@       return true
//@     end
//@   end
//@ end
//@ if any_looks_up() then
//@ local x, y = op.operands[1].name, op.operands[2].name
#include "table.h"

/* A function of one number of 16 bits has 65536 results: values = "table" looks them up, by two loads
 * each instead of f's operations. What numbers of everyday sizes need of the table stays in the
 * first-level cache. The first call fills it by the kernel's own arithmetic: so results are the same to
 * the bit as without it whatever f is, and a table is no part of the program's file, and of its
 * memory only where it is used. */
static void $k.name$_points(const uint16_t *$x$, uint16_t *$y$, size_t count) {
  //@ P.for_each_point(point, outputs, "count", 1)
}

static lathe_table $k.name$_table;

//@ end
//@ for _, v in ipairs(variants) do
//@ local streaming = v.params.store == "streaming"
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  const size_t count = $(k:product("args->dim", 1, #op.dims));
  $(k:scalars(op))
  //@ if random then
  $k.number$ numbers[LATHE_NUMBERS$(k.lanes > 1 and " + " .. k.lanes - 1 or "")]; /* the last vector is read whole */
  for (size_t first = 0; first < count; first += LATHE_NUMBERS) {
    const size_t some = count - first < LATHE_NUMBERS ? count - first : LATHE_NUMBERS;
    $(k:pointers { whole = "first" })
    $(k:row_values())
    $(k:uniforms("call"))
    $(k:uniforms("row"))
    lathe_randoms_$(k.dtype == k.compute and k.compute or "narrow")($random.seed$_value, $random.offset$_value, first, some, numbers);
    //@ P.for_each_point(point, outputs, "some", v.params.unroll, streaming)
  }
  //@ elseif v.params.values == "table" then
  //@ local x, y = op.operands[1].name, op.operands[2].name
  $(k:pointers())
  if (lathe_table_ready(&$k.name$_table, $k.name$_points))
    lathe_look_up($k.name$_table.result, $x$, $y$, count);
  else
    $k.name$_points($x$, $y$, count);
  //@ else
  $(k:pointers())
  $(k:row_values())
  $(k:uniforms("call"))
  $(k:uniforms("row"))
  //@ P.for_each_point(point, outputs, "count", v.params.unroll, streaming)
  //@ end
}

//@ end
