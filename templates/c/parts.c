//@ -- What the C templates share: definitions of point functions, loads, and the loop over points.

//@ -- The definition of a point function.
//@ function define(point)
static inline $point.type$ $point.name$($point.parameters$) {
  $point.body$
}

//@ end
//@ -- One vector of points at index `at`, `lanes` of them where that is given: loads what the point
//@ -- function reads and calls it.
//@ function load_and_call(point, at, lanes)
//@   for _, x in ipairs(point.inputs) do
const $k.vector$ $x.variable$ = $(k:text(lanes and "load_part" or "load", x.pointer, at, nil, lanes));
//@   end
$point.call$
//@ end
//@ function store_points(outputs, at, lanes, streaming)
//@   for i, y in ipairs(outputs) do
//@     local how = lanes and "store_part" or streaming and i == 1 and "stream" or "store"
$(k:text(how, y.operand.name, at, y.operand.name .. "_", lanes));
//@   end
//@ end
//@ -- outputs[i] = point(inputs[i]) for every i below count. Each vector's inputs are all read
//@ -- before its outputs are written, so an output may be an input's own memory.
//@ function for_each_point(point, outputs, count, unroll, streaming)
//@ local L, at = k.lanes, "i"
//@ if streaming then
//@   local y = outputs[1].operand.name
/* Streaming stores need whole vectors: first the elements before the first aligned one. */
size_t i = (0 - (uintptr_t)$y$ / sizeof *$y$) % $L$;
i = i < $count$ ? i : $count$;
if (i > 0) {
  //@ load_and_call(point, "0", "i")
  //@ store_points(outputs, "0", "i")
}
//@ else
size_t i = 0;
//@ end
//@ for _, step in ipairs(unroll > 1 and { unroll, 1 } or { 1 }) do
for (; $count$ - i >= $(step * L); i += $(step * L)) {
  //@ if step == 1 then
  //@ load_and_call(point, "i")
  //@ store_points(outputs, "i", nil, streaming)
  //@ else
  //@ for u = 0, step - 1 do
  {
    //@ local at = u == 0 and "i" or "i + " .. u * L
    //@ load_and_call(point, at)
    //@ store_points(outputs, at, nil, streaming)
  }
  //@ end
  //@ end
}
//@ end
//@ if L > 1 then
if (i < $count$) {
  //@ load_and_call(point, "i", count .. " - i")
  //@ store_points(outputs, "i", count .. " - i")
}
//@ end
//@ if streaming then
$(k:text("fence"));
//@ end
//@ end
