//@ -- One pass of reductions over `count` points: for each reduction named r, leaves the plain
//@ -- number r. The templates rows.c and reduce.c share it.
//@ --
//@ -- Limited by reading: each vector is a load and one to three operations, and enough
//@ -- accumulators hide the latency of the combination. Points are taken in blocks of DEPTH terms
//@ -- for each lane of each accumulator. A sum's rounding errors grow within a block only: between
//@ -- blocks they are carried along (the exact error of a sum of two, Knuth 1969). An argmax needs
//@ -- the block of the largest value only, and looks for the index there at the end, so that it
//@ -- reads as fast as a plain maximum.
//@ P = use "parts.c"
//@ local DEPTH = 64
//@
//@ -- Accumulator a combined with the variable r_<term>. The hardware's maximum drops NaN, which is
//@ -- looked for apart: two terms at a time where `pair` says which of two this is.
//@ local function combine(reductions, a, term, pair)
//@   for _, r in ipairs(reductions) do
//@     local acc, nan, value = r.name .. "_acc" .. a, r.name .. "_nan", r.name .. "_" .. term
$acc$ = $(k:combine(r.kind, acc, value));
//@     if k:is_extremum(r.kind) then
//@       if pair == "first" then
$r.name$_previous = $value$;
//@       else
//@         local other = pair == "second" and r.name .. "_previous" or value
$nan$ = $(k:text("any_of", nan, "(" .. k:text("unordered", other, value) .. ")"));
//@       end
//@     end
//@   end
//@ end
//@
//@ -- acc0 = all accumulators combined, pairwise.
//@ local function combine_accumulators(r, A)
//@   local width = 1
//@   while width < A do
//@     for a = 0, A - 1 - width, 2 * width do
//@       local to, from = r.name .. "_acc" .. a, r.name .. "_acc" .. a + width
$to$ = $(k:combine(r.kind, to, from));
//@     end
//@     width = width * 2
//@   end
//@ end
//@
//@ -- The plain number `name` from the lanes of a vector.
//@ local function fold_lanes(r, name, vector)
//@   if k.lanes > 1 then
$k.number$ $name$_lane[$k.lanes$];
$(k:text("store_lanes", name .. "_lane", vector));
const $k.number$ $name$ =
    //@ local folded = k:fold_lanes(r.kind, name .. "_lane") .. ";"
    $folded$
//@   else
const $k.number$ $name$ = $vector$;
//@   end
//@ end
//@
//@ -- After the block of the largest value is known: the first index in it. Some vectors are asked together whether one
//@ -- of them has it.
//@ local function hit(r)
//@   local term = r.name .. "_term"
//@   local is_nan, is_best = k:text("unordered", term, term), k:text("eq", term, r.name .. "_total")
//@   return ("%s_is_nan ? %s : %s"):format(r.name, is_nan, is_best)
//@ end
//@ local function check_hit(r)
const $k.mask$ hit = $(hit(r));
if ($(k:text("mask_any", "hit"))) {
  $r.name$ = (int64_t)(i + $(k:text("mask_first", "hit")));
  break;
}
//@ end
//@ -- A vector's place from i on.
//@ local function from(nth) return nth > 0 and "i + " .. nth * k.lanes or "i" end
//@ local function find_index(r, point, count)
//@ local L, TOGETHER = k.lanes, 4
int64_t $r.name$ = -1;
{
  size_t i = $r.name$_block;
  //@ if L > 1 then
  for (; $count$ - i >= $(TOGETHER * L); i += $(TOGETHER * L)) {
    //@ local any
    $k.mask$ hits[$TOGETHER$];
    //@ for nth = 0, TOGETHER - 1 do
    {
      //@ P.load_and_call(point, from(nth))
      hits[$nth$] = $(hit(r));
      //@ any = any and k:text("any_of", any, "hits[" .. nth .. "]") or "hits[0]"
    }
    //@ end
    if ($(k:text("mask_any", "(" .. any .. ")"))) {
      //@ for nth = TOGETHER - 1, 0, -1 do
      if ($(k:text("mask_any", "hits[" .. nth .. "]")))
        $r.name$ = (int64_t)($(from(nth)) + $(k:text("mask_first", "hits[" .. nth .. "]")));
      //@ end
      break;
    }
  }
  //@ end
  for (; $r.name$ < 0 && i < $count$; i += $L$) {
    //@ if L > 1 then
    if ($count$ - i < $L$) { /* lanes past the end come after the one looked for */
      //@ P.load_and_call(point, "i", count .. " - i")
      //@ check_hit(r)
      break;
    }
    //@ end
    //@ P.load_and_call(point, "i")
    //@ check_hit(r)
  }
}
//@ end
//@
//@ function pass(phase, point, count, A)
//@ local L, reductions = k.lanes, phase.reductions
//@ local BLOCK = DEPTH * L * A
//@ for _, r in ipairs(reductions) do
//@   assert(not k:is_index(r.kind) or #reductions == 1, "argmax and argmin stand alone in their pass")
$k.vector$ $r.name$_total = $(k:neutral(r.kind));
//@   if k:is_extremum(r.kind) then
$k.mask$ $r.name$_nan = $(k:text("mask_none"));
//@   else
$k.vector$ $r.name$_lost = $(k:constant(0));
//@   end
//@   if k:is_index(r.kind) then
size_t $r.name$_block = 0;
//@   end
//@ end
for (size_t block = 0; block < $count$; block += $BLOCK$) {
  const size_t end = $count$ - block < $BLOCK$ ? $count$ : block + $BLOCK$;
  size_t i = block;
  //@ for _, r in ipairs(reductions) do
  //@ for a = 0, A - 1 do
  $k.vector$ $r.name$_acc$a$ = $(k:neutral(r.kind));
  //@ end
  //@ end
  //@ if A > 1 then
  for (; end - i >= $(A * L); i += $(A * L)) {
    //@ for _, r in ipairs(reductions) do
    //@ if k:is_extremum(r.kind) then
    $k.vector$ $r.name$_previous;
    //@ end
    //@ end
    //@ for a = 0, A - 1 do
    {
      //@ local at = a == 0 and "i" or "i + " .. a * L
      //@ P.load_and_call(point, at)
      //@ combine(reductions, a, "term", a % 2 == 1 and "second" or a < A - 1 and "first")
      //@ P.store_points(phase.stash, at)
    }
    //@ end
  }
  //@ end
  for (; end - i >= $L$; i += $L$) {
    //@ P.load_and_call(point, "i")
    //@ combine(reductions, 0, "term")
    //@ P.store_points(phase.stash, "i")
  }
  //@ if L > 1 then
  if (i < end) {
    const $k.mask$ inside = $(k:text("mask_part", "end - i"));
    //@ P.load_and_call(point, "i", "end - i")
    //@ for _, r in ipairs(reductions) do
    const $k.vector$ $r.name$_inside = $(k:text("select", "inside", r.name .. "_term", k:neutral(r.kind)));
    //@ end
    //@ combine(reductions, 0, "inside")
    //@ P.store_points(phase.stash, "i", "end - i")
  }
  //@ end
  //@ for _, r in ipairs(reductions) do
  //@ combine_accumulators(r, A)
  //@ if k:is_index(r.kind) then
  if ($(k:text("mask_any", r.name .. "_nan"))) {
    $r.name$_block = block;
    break;
  }
  //@ local better = k:text(k:better(r.kind), r.name .. "_acc0", r.name .. "_total")
  if (block == 0 || $(k:text("mask_any", "(" .. better .. ")"))) {
    //@ fold_lanes(r, "best", r.name .. "_acc0")
    $r.name$_total = $(k:text("splat", "best"));
    $r.name$_block = block;
  }
  //@ elseif k:is_extremum(r.kind) then
  $r.name$_total = $(k:combine(r.kind, r.name .. "_total", r.name .. "_acc0"));
  //@ else
  //@ P.add_exactly(r.name .. "_total", r.name .. "_lost", r.name .. "_acc0")
  //@ end
  //@ end
}
//@ for _, r in ipairs(reductions) do
//@ if k:is_extremum(r.kind) then
const bool $r.name$_is_nan = $(k:text("mask_any", r.name .. "_nan"));
//@ end
//@ if k:is_index(r.kind) then
//@ find_index(r, point, count)
//@ elseif k:is_extremum(r.kind) then
//@ fold_lanes(r, r.name .. "_extreme", r.name .. "_total")
const $k.number$ $r.name$ = $r.name$_is_nan ? $(k:literal(0 / 0)) : $r.name$_extreme;
//@ else
//@ fold_lanes(r, r.name .. "_rounded", r.name .. "_total")
$k.number$ $r.name$ = $r.name$_rounded;
if ($count$ > $BLOCK$) {
  //@ fold_lanes(r, "error", r.name .. "_lost")
  /* An infinite sum has no error to add: infinity less infinity is NaN. */
  $r.name$ = error == error ? $r.name$ + error : $r.name$;
}
//@ end
//@ end
//@ end
