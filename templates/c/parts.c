//@ -- What the C templates share: definitions of point functions, loads, the loop over points, and what
//@ -- is gathered over the rows at each column.

//@ -- The definition of a point function.
//@ function define(point)
$point.comment$
static inline $point.type$ $point.name$($point.parameters$) {
  $point.body$
}

//@ end
//@ -- Those of all point functions.
//@ function define_all()
//@ for _, point in ipairs(k.points) do
//@ define(point)
//@ end
//@ if k.finish then
//@ define(k.finish)
//@ end
//@ end
//@ -- Which operands lie along the columns, which do not, and which the finish reads the only element of.
//@ function is_column(operand)
//@   return operand.place == "column"
//@ end
//@ function is_no_column(operand)
//@   return operand.place ~= "column"
//@ end
//@ function is_read_alone(operand)
//@   return k.finish.singles[operand.name]
//@ end
//@ -- The names of the arrays in the workspace that a reduction over the rows has: what it came to, and
//@ -- of a sum what rounding took from it.
//@ function arrays_of(r)
//@   return r.kind == "sum" and { r.name .. "_total", r.name .. "_lost" } or { r.name .. "_total" }
//@ end
//@ -- What a point function is given at index `at`: the text, and its type.
//@ local function input(x, at, lanes, half)
//@   if x.kind == "hit" then
//@     return k:text("hit", x.index .. "_value", at), k.mask
//@   elseif x.kind == "random" then
//@     return k:text("random", x.seed .. "_value", x.offset .. "_value", at), k.vector
//@   elseif x.kind == "column" then
//@     return k:text("load_own", x.name .. "_total", at), k.vector
//@   end
//@   local how = lanes and "load_part" or half and "load_" .. half or "load"
//@   return k:access(x.operand, how, x.pointer, at, nil, lanes), k.vector
//@ end
//@ -- One vector of points at index `at`, `lanes` of them where that is given: loads what the point
//@ -- function reads and calls it. Of two vectors, half says "even" or "odd".
//@ function load_and_call(point, at, lanes, half)
//@   for _, x in ipairs(point.inputs) do
//@     local value, type = input(x, at, lanes, half)
const $type$ $x.variable$ = $value$;
//@   end
$point.call$
//@ end
//@ function store_points(outputs, at, lanes, streaming)
//@   for i, y in ipairs(outputs) do
//@     local how = lanes and "store_part" or streaming and i == 1 and "stream" or "store"
$(k:access(y.operand, how, y.operand.name, at, y.operand.name .. "_", lanes));
//@   end
//@ end
//@ -- Two vectors of points at index `at`: those at even places, and those at odd ones.
//@ local function pair(point, outputs, at, streaming)
//@ for i = 1, #outputs do
$k.vector$ pair$i$[2];
//@ end
//@ for h, half in ipairs { "even", "odd" } do
{
  //@ load_and_call(point, at, nil, half)
  //@ for i, y in ipairs(outputs) do
  pair$i$[$(h - 1)] = $y.operand.name$_;
  //@ end
}
//@ end
//@ for i, y in ipairs(outputs) do
//@   local how = streaming and i == 1 and "stream_pair" or "store_pair"
$(k:text(how, y.operand.name, at, "pair" .. i));
//@ end
//@ end
//@ -- Whether points can be taken two vectors at a time: in types that are cheaper to convert so, and
//@ -- where all that is read are operands.
//@ local function pairs_well(point)
//@   for _, x in ipairs(point.inputs) do
//@     if x.kind ~= "element" then
//@       return false
//@     end
//@   end
//@   return k.set["store_pair_" .. k.dtype] ~= nil and not k.mixed
//@ end
//@ -- total += term, and what rounding takes from it to lost: the exact error of a sum of two (Knuth
//@ -- 1969).
//@ function add_exactly(total, lost, term)
{
  const $k.vector$ sum = $(k:text("add", total, term));
  const $k.vector$ taken = $(k:text("sub", "sum", total));
  const $k.vector$ kept = $(k:text("sub", "sum", "taken"));
  const $k.vector$ off_total = $(k:text("sub", total, "kept"));
  const $k.vector$ off_term = $(k:text("sub", term, "taken"));
  const $k.vector$ off = $(k:text("add", "off_total", "off_term"));
  $lost$ = $(k:text("add", lost, "off"));
  $total$ = sum;
}
//@ end
//@ -- The bytes of workspace that reductions over the rows take.
//@ function column_bytes(dim)
//@   local arrays = 0
//@   for _, r in ipairs(k.program.column_reductions) do
//@     arrays = arrays + #arrays_of(r)
//@   end
(double)(($dim$ + $(k.lanes - 1)) / $k.lanes$ * $k.lanes$ * $arrays$ * sizeof($k.number$))
//@ end
//@ -- Their arrays, as nothing gathered.
//@ function begin_columns()
//@ local at = 0
//@ if #k.program.column_reductions > 0 then
const size_t padded = (count + $(k.lanes - 1)) / $k.lanes$ * $k.lanes$;
//@ end
//@ for _, r in ipairs(k.program.column_reductions) do
//@ for j, array in ipairs(arrays_of(r)) do
$k.number$ *$array$ = ($k.number$ *)args->workspace + $at$ * padded;
for (size_t i = 0; i < padded; i++)
  $array$[i] = $(j == 1 and k:neutral_number(r.kind) or k:literal(0));
//@ at = at + 1
//@ end
//@ end
//@ end
//@ -- Gathers a vector of terms at index `at`, of which the arrays have whole ones.
//@ function gather_columns(at)
//@ for _, r in ipairs(k.program.column_reductions) do
{
  $k.vector$ total = $(k:text("load_own", r.name .. "_total", at));
  //@ if r.kind == "sum" then
  $k.vector$ lost = $(k:text("load_own", r.name .. "_lost", at));
  //@ add_exactly("total", "lost", r.name .. "_term")
  $(k:text("store_own", r.name .. "_lost", at, "lost"));
  //@ else
  const $k.vector$ term = $r.name$_term;
  total = $(k:combine_columns(r.kind, "total", "term"));
  //@ end
  $(k:text("store_own", r.name .. "_total", at, "total"));
}
//@ end
//@ end
//@ -- Ends the sums over the rows: an infinite one has no error to add, for infinity less infinity is
//@ -- NaN.
//@ function end_columns(count)
//@ for _, r in ipairs(k.program.column_reductions) do
//@ if r.kind == "sum" then
for (size_t i = 0; i < $count$; i++)
  $r.name$_total[i] += $r.name$_lost[i] == $r.name$_lost[i] ? $r.name$_lost[i] : 0;
//@ end
//@ end
//@ end
//@ -- outputs[i] = point(inputs[i]) for every i below count, and what is gathered over the rows where
//@ -- `gather` says so. Each vector's inputs are all read before its outputs are written, so an output may
//@ -- be an input's own memory.
//@ function for_each_point(point, outputs, count, unroll, streaming, gather)
//@ local L, at = k.lanes, "i"
//@ local function vector(at, lanes, stream)
//@   load_and_call(point, at, lanes)
//@   store_points(outputs, at, lanes, stream)
//@   if gather then
//@     gather_columns(at)
//@   end
//@ end
//@ if streaming then
//@   local y = outputs[1].operand.name
/* Streaming stores need whole vectors: first the elements before the first aligned one. */
size_t i = (0 - (uintptr_t)$y$ / sizeof *$y$) % $L$;
i = i < $count$ ? i : $count$;
if (i > 0) {
  //@ vector("0", "i")
}
//@ else
size_t i = 0;
//@ end
//@ for _, step in ipairs(unroll > 1 and { unroll, 1 } or { 1 }) do
for (; $count$ - i >= $(step * L); i += $(step * L)) {
  //@ if step == 1 then
  //@ vector("i", nil, streaming)
  //@ else
  //@ local width = step % 2 == 0 and not gather and pairs_well(point) and 2 or 1
  //@ for u = 0, step - 1, width do
  {
    //@ local at = u == 0 and "i" or "i + " .. u * L
    //@ if width == 2 then
    //@ pair(point, outputs, at, streaming)
    //@ else
    //@ vector(at, nil, streaming)
    //@ end
  }
  //@ end
  //@ end
}
//@ end
//@ if L > 1 then
if (i < $count$) {
  //@ vector("i", count .. " - i")
}
//@ end
//@ if streaming then
$(k:text("fence"));
//@ end
//@ end
//@ -- The term of each pick of a phase at its row's index, a plain number; NaN outside of the row.
//@ function picks(phase)
//@ for _, pick in ipairs(phase.picks) do
$k.number$ $pick.name$ = $(k:literal(0 / 0));
if ((uint64_t)$pick.index$_value < count) {
  //@ load_and_call(pick.point, "(size_t)" .. pick.index .. "_value", k.lanes > 1 and "1" or nil)
  $pick.name$ = $(k:text("first_lane", pick.name .. "_term"));
}
//@ end
//@ end
