/* r = finish(op over i of f(x0[i], ...)), op one of sum, max, min, argmax, argmin. Limited by
 * reading the inputs once: a thread has `unroll` accesses of 16 bytes to each in flight. One launch
 * for each pass over the data: the other blocks hand what they gathered to the first, which merges
 * it in an order that depends on nothing but the grid, so that results are the same from run to run.
 * It waits for them, and they for nobody. Short inputs are limited by these steps: a counter of
 * the blocks that are done, the usual way, takes one trip to memory more.
 *
 * The workspace: 256 bytes for each phase's merged results, then the slots, empty between calls. */
//@ local P = use "parts.cu"
//@ local phases, passes, totals = k.program.phases, k.passes, k.totals
//@ for _, point in ipairs(k.points) do
//@ P.define(point)
//@ end
//@ for p, phase in ipairs(phases) do
//@ P.define_gatherer(k.name .. "_gathered" .. p, phase.reductions)
//@ end
//@
//@ -- Gathers the term of one point, at index i.
//@ function one(phase, point)
//@ P.call(point, function(x) return x.pointer .. "[i]" end)
const auto here = [=](int) { return i; };
//@ for _, r in ipairs(phase.reductions) do
const $k.number$ $r.name$_terms[1] = {$r.name$_term};
mine.$r.name$.take($r.name$_terms, here);
//@ end
//@ end
//@
//@ -- Whether packs of what a phase gathers need not be taken apart.
//@ local function as_stored(phase, how)
//@   return how == "pack" and k:is_as_stored(phase)
//@ end
//@ -- How a thread has its N elements of an operand at a time: by packs, or each apart.
//@ local function declared(v, phase, how, x)
//@   local pack = as_stored(phase, how) and "uint4" or ("lathe_pack<%s, %d>"):format(k:element_type(x.operand),
//@     k.width)
//@   return ("%s %s_%s[%d]"):format(how == "pack" and pack or k:element_type(x.operand), x.pointer, how,
//@     how == "pack" and v.shape.unroll or v.shape.unroll * k.width)
//@ end
//@ local function element(how)
//@   local at = how == "pack" and ("_pack[nth / %d].at[nth %% %d]"):format(k.width, k.width) or "_at[nth]"
//@   return function(x) return x.pointer .. at end
//@ end
//@
//@ function terms_of(phase, reductions, point, how)
//@ if as_stored(phase, how) then
//@ for _, r in ipairs(reductions) do
lathe_stored<$k.storage$, N> $r.name$_terms($r.term.name$_pack);
//@ end
//@ else
//@ for _, r in ipairs(reductions) do
$k.number$ $r.name$_terms[N];
//@ end
#pragma unroll
for (int nth = 0; nth < N; nth++) {
  //@ P.call(point, element(how))
  //@ for _, r in ipairs(reductions) do
  $r.name$_terms[nth] = $r.name$_term;
  //@ end
}
//@ end
//@ end
//@
//@ -- Reductions to a place know which N elements improved them last; those read last are still there. Others
//@ -- are read again, by the threads of which it may be the place.
//@ local function indexes(phase)
//@   local list = {}
//@   for _, r in ipairs(phase.reductions) do
//@     list[#list + 1] = k:is_index(r.kind) and r or nil
//@   end
//@   return list
//@ end
//@ -- Reads the thread's elements from place `first` on: all of them, or those before `end`.
//@ function read(v, phase, point, how, all)
//@ for _, x in ipairs(point.inputs) do
//@ if how == "pack" then
//@ local place = ("%s + at(first, slot * %d)"):format(x.pointer, k.width)
#pragma unroll
for (int slot = 0; slot < $v.shape.unroll$; slot++)
  if ($all$first + slot * $v.shape.block$ < end)
    $x.pointer$_pack[slot] = $((as_stored(phase, how) and "lathe_words(%s)" or "lathe_load<" .. k.width .. ">(%s)"):format(place));
//@ else
#pragma unroll
for (int nth = 0; nth < N; nth++)
  if ($all$first + nth * $v.shape.block$ < end)
    $x.pointer$_at[nth] = $x.pointer$[at(first, nth)];
//@ end
//@ end
//@ end
//@
//@ function find(v, phase, point, how)
//@ for _, r in ipairs(indexes(phase)) do
const bool $r.name$_leads = mine.$r.name$.leads();
if ($r.name$_leads && mine.$r.name$.index != mine.$r.name$.NONE) {
  if ($r.name$_first != first) {
    first = $r.name$_first;
    //@ read(v, phase, point, how, "")
  }
  //@ terms_of(phase, { r }, point, how)
  mine.$r.name$.find($r.name$_terms, [=](int nth) { return at(first, nth); });
}
//@ end
//@ end
//@
//@ -- Gathers N terms of which the nth is at index at(first, nth), and which are all there where `whole`,
//@ -- else those for which `inside`.
//@ function many(phase, point, how, inside)
//@ terms_of(phase, phase.reductions, point, how)
if (!whole) {
#pragma unroll
  for (int nth = 0; nth < N; nth++) {
    //@ for _, r in ipairs(phase.reductions) do
    if (!($inside$))
      lathe_leave_out($r.name$_terms, nth, mine.$r.name$.nothing());
    //@ end
  }
}
if (whole || first < end) {
  //@ for _, r in ipairs(phase.reductions) do
  //@ if k:is_index(r.kind) then
  if (mine.$r.name$.improve($r.name$_terms))
    $r.name$_first = first;
  //@ else
  mine.$r.name$.take($r.name$_terms, 0);
  //@ end
  //@ end
}
//@ end
//@
//@ function take_tile(v, phase, point, how)
first = tile + threadIdx.x;
//@ read(v, phase, point, how, "whole || ")
//@ many(phase, point, how, how == "pack" and ("first + nth / %d * %d < end"):format(k.width, v.shape.block)
//@   or "at(first, nth) < end")
//@ end
//@
//@ -- Gathers all that there is for this thread, N elements at a time: by packs, or each apart.
//@ function sweep(v, phase, point, how)
//@ local B, V, each = v.shape.block, k.width, v.shape.unroll
//@ if how == "pack" then
const size_t end = count / $V$;
const auto at = [](size_t first, int nth) { return (first + nth / $V$ * $B$) * $V$ + nth % $V$; };
//@ else
//@ each = each * V
const size_t end = count;
const auto at = [](size_t first, int nth) { return first + (size_t)nth * $B$; };
//@ end
//@ for _, x in ipairs(point.inputs) do
$(declared(v, phase, how, x)) = {};
//@ end
size_t first = 0;
//@ for _, r in ipairs(indexes(phase)) do
size_t $r.name$_first = 0;
//@ end
size_t tile = (size_t)blockIdx.x * $(B * each);
for (; tile < end && end - tile >= $(B * each); tile += (size_t)gridDim.x * $(B * each)) {
  const bool whole = true;
  //@ take_tile(v, phase, point, how)
}
if (tile < end) {
  const bool whole = false;
  //@ take_tile(v, phase, point, how)
}
//@ find(v, phase, point, how)
//@ end
//@
//@ -- What a kernel of phase p has ahead of its loop, and after it.
//@ function begin(v, p)
enum { N = $(v.shape.unroll * k.width) };
$(k:pointers())
$(k:scalars(op))
const size_t count = $(k:product("args.dim", 1, #op.dims));
$(k:row_values())
$(k:uniforms("call"))
$(k:uniforms("row"))
//@ for q = 1, p - 1 do
const $k.name$_gathered$q$ earlier$q$ = *(const $k.name$_gathered$q$ *)((char *)args.workspace + $(schedule.result_at[q]));
//@ P.results(phases[q].reductions, "earlier" .. q)
$(k:uniforms(q))
//@ end
$k.name$_gathered$p$ mine;

mine.clear();
//@ end
//@
//@ function finish(v, p)
//@ local gathered, phase = k.name .. "_gathered" .. p, phases[p]
__shared__ $gathered$ shared[2][$(math.max(v.shape.block // 32, 1))];
lathe_slot<$gathered$> *const slots = (lathe_slot<$gathered$> *)((char *)args.workspace + $(schedule.slots_at[p]));

lathe_merge_row<0>(mine, shared[0]);
if (blockIdx.x > 0) {
  if (threadIdx.x == 0)
    lathe_hand_over(slots + blockIdx.x, mine);
  return;
}
if (gridDim.x > 1) {
  if (threadIdx.x > 0)
    mine.clear();
  for (unsigned from = threadIdx.x > 0 ? threadIdx.x : $v.shape.block$; from < gridDim.x; from += $v.shape.block$)
    mine.merge(lathe_receive(slots + from));
  lathe_merge_row<0>(mine, shared[1]);
}
if (threadIdx.x == 0) {
  //@ if p < #phases then
  *($gathered$ *)((char *)args.workspace + $(schedule.result_at[p])) = mine;
  //@ else
  //@ P.results(phase.reductions, "mine")
  $(k:uniforms(p))
  //@ for _, total in ipairs(totals) do
  $total$
  //@ end
  //@ end
}
//@ end
//@ for _, v in ipairs(variants) do
//@ for p, phase in ipairs(phases) do
//@ local B, V = v.shape.block, k.width
//@ local point = passes[p]
/* $v.params_text$: phase $p$, all operands at multiples of 16 bytes. The grid's blocks must all run at
 * once, for the work is dealt out among them: hence the bound on registers. */
extern "C" __global__ void __launch_bounds__($B$, $v.shape.waves$)
    $v.name$_$p$(const __grid_constant__ lathe_args args) {
  lathe_begin();
  //@ begin(v, p)
  //@ sweep(v, phase, point, "pack")
  const size_t tail = count % $V$;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x < tail) {
    const size_t i = count - tail + threadIdx.x;
    //@ one(phase, point)
  }
  //@ finish(v, p)
}

/* The same by accesses of one element each. */
extern "C" __global__ void __launch_bounds__($B$, $v.shape.waves$)
    $v.name$_apart$p$(const __grid_constant__ lathe_args args) {
  lathe_begin();
  //@ begin(v, p)
  //@ sweep(v, phase, point, "at")
  //@ finish(v, p)
}

//@ end
//@ end
