/* r = finish(op over i of f(x0[i], ...)), op one of sum, max, min, argmax, argmin. Limited by
 * reading the inputs once: a thread has `unroll` accesses of 16 bytes to each in flight. One launch
 * for each pass over the data: the other blocks hand what they gathered to the first, which merges
 * it in an order that depends on nothing but the grid, so that results are the same from run to run.
 * It waits for them, and they for nobody. Short inputs are limited by these steps: a counter of
 * the blocks that are done, the usual way, takes one trip to memory more.
 *
 * The workspace: 256 bytes for each phase's merged results, then the slots, empty between calls. */
//@ local P = use "parts.cu"
//@ local H = use "host.c"
//@ local phases = k.program.phases
//@ local passes = k:passes(P.define)
//@ local totals = k:totals()
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
//@ -- Gathers N terms of which the nth is at index at(nth), and which are all there where `whole`, else
//@ -- those for which `inside`; `any` tells whether there is one.
//@ function many(phase, point, element, inside, any)
//@ for _, r in ipairs(phase.reductions) do
$k.number$ $r.name$_terms[N];
//@ end
#pragma unroll
for (int nth = 0; nth < N; nth++) {
  //@ P.call(point, element)
  //@ for _, r in ipairs(phase.reductions) do
  $r.name$_terms[nth] = $r.name$_term;
  //@ end
}
if (!whole) {
#pragma unroll
  for (int nth = 0; nth < N; nth++) {
    //@ for _, r in ipairs(phase.reductions) do
    if (!($inside$))
      $r.name$_terms[nth] = mine.$r.name$.nothing();
    //@ end
  }
}
if (whole || $any$) {
  //@ for _, r in ipairs(phase.reductions) do
  mine.$r.name$.take($r.name$_terms, at);
  //@ end
}
//@ end
//@
//@ -- Where in the workspace a phase has its slots: 32 bytes for each reduction.
//@ local function slots_at(p)
//@   local at = 256 * #phases
//@   for q = 1, p - 1 do
//@     at = at + H.MOST_BLOCKS * 32 * #phases[q].reductions
//@   end
//@   return at
//@ end
//@ -- What a kernel of phase p has ahead of its loop, and after it.
//@ function begin(v, p)
enum { N = $(v.params.unroll * k.width) };
$(k:pointers())
$(k:scalars(op))
const size_t count = $(k:product("args.dim", 1, #op.dims));
$(k:row_values())
$(k:uniforms("call"))
$(k:uniforms("row"))
//@ for q = 1, p - 1 do
const $k.name$_gathered$q$ earlier$q$ = *(const $k.name$_gathered$q$ *)((char *)args.workspace + $(256 * (q - 1)));
//@ P.results(phases[q].reductions, "earlier" .. q)
$(k:uniforms(q))
//@ end
$k.name$_gathered$p$ mine;

mine.clear();
//@ end
//@
//@ function finish(v, p)
//@ local gathered, phase = k.name .. "_gathered" .. p, phases[p]
__shared__ $gathered$ shared[2][$(math.max(v.params.block // 32, 1))];
lathe_slot<$gathered$> *const slots = (lathe_slot<$gathered$> *)((char *)args.workspace + $(slots_at(p)));

lathe_merge_row<0>(mine, shared[0], 1);
if (blockIdx.x > 0) {
  if (threadIdx.x == 0)
    lathe_hand_over(slots + blockIdx.x, mine);
  return;
}
if (gridDim.x > 1) {
  if (threadIdx.x > 0)
    mine.clear();
  for (unsigned from = threadIdx.x > 0 ? threadIdx.x : $v.params.block$; from < gridDim.x; from += $v.params.block$)
    mine.merge(lathe_receive(slots + from));
  lathe_merge_row<0>(mine, shared[1], 1);
}
if (threadIdx.x == 0) {
  //@ if p < #phases then
  *($gathered$ *)((char *)args.workspace + $(256 * (p - 1))) = mine;
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
//@ local B, U, V = v.params.block, v.params.unroll, k.width
//@ local point = passes[p]
/* $v.params_text$: phase $p$, all operands at multiples of 16 bytes. The grid's blocks must all run at
 * once, for the work is dealt out among them: hence the bound on registers. */
extern "C" __global__ void __launch_bounds__($B$, $v.params.waves$)
    $v.name$_$p$(const __grid_constant__ lathe_args args) {
  //@ begin(v, p)
  const size_t packs = count / $V$, tail = count % $V$;
  for (size_t tile = (size_t)blockIdx.x * $(B * U); tile < packs;
       tile += (size_t)gridDim.x * $(B * U)) {
    const size_t first = tile + threadIdx.x;
    const bool whole = packs - tile >= $(B * U);
    const auto at = [=](int nth) { return (first + nth / $V$ * $B$) * $V$ + nth % $V$; };
    //@ for _, x in ipairs(point.inputs) do
    lathe_pack<$k.storage$, $V$> $x.pointer$_pack[$U$] = {};
#pragma unroll
    for (int slot = 0; slot < $U$; slot++)
      if (whole || first + slot * $B$ < packs)
        $x.pointer$_pack[slot] = lathe_load<$V$>($x.pointer$ + at(slot * $V$));
    //@ end
    //@ local function from_pack(x) return x.pointer .. "_pack[nth / " .. V .. "].at[nth % " .. V .. "]" end
    //@ many(phase, point, from_pack, "first + nth / " .. V .. " * " .. B .. " < packs", "first < packs")
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x < tail) {
    const size_t i = count - tail + threadIdx.x;
    //@ one(phase, point)
  }
  //@ finish(v, p)
}

/* The same by accesses of one element each. */
extern "C" __global__ void __launch_bounds__($B$, $v.params.waves$)
    $v.name$_apart$p$(const __grid_constant__ lathe_args args) {
  //@ begin(v, p)
  for (size_t tile = (size_t)blockIdx.x * $(B * U * V); tile < count;
       tile += (size_t)gridDim.x * $(B * U * V)) {
    const size_t first = tile + threadIdx.x;
    const bool whole = count - tile >= $(B * U * V);
    const auto at = [=](int nth) { return first + (size_t)nth * $B$; };
    //@ for _, x in ipairs(point.inputs) do
    $k.storage$ $x.pointer$_at[N] = {};
#pragma unroll
    for (int nth = 0; nth < N; nth++)
      if (whole || at(nth) < count)
        $x.pointer$_at[nth] = $x.pointer$[at(nth)];
    //@ end
    //@ many(phase, point, function(x) return x.pointer .. "_at[nth]" end, "at(nth) < count", "first < count")
  }
  //@ finish(v, p)
}

//@ end
//@ end
