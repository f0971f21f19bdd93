//@ -- What the GLSL templates share besides kernel.comp.
//@ call = use("../gpu/parts.c").call

//@ -- The definition of a point function.
//@ function define(point)
$point.comment$
$point.type$ $point.name$($point.parameters$) {
  $point.body$
}

//@ end
//@ -- The words of a phase's gatherers, and the gatherers from words.
//@ function words(phase, gathered)
//@   local list = {}
//@   for _, r in ipairs(phase.reductions) do
//@     for _, word in ipairs(k:words(r.kind, gathered .. "." .. r.name)) do
//@       list[#list + 1] = word
//@     end
//@   end
//@   return list
//@ end
//@ function from_words(type, phase, word)
//@   local members, at = {}, 0
//@   for i, r in ipairs(phase.reductions) do
//@     local mine = {}
//@     for w = 1, #k:words(r.kind, "") do
//@       mine[w] = word(at)
//@       at = at + 1
//@     end
//@     members[i] = k:from_words(r.kind, mine)
//@   end
//@   return type .. "(" .. table.concat(members, ", ") .. ")"
//@ end
//@ -- What a phase gathers, all its reductions together, of the type; arrays: how many are in shared memory.
//@ function define_gatherer(type, phase, arrays)
//@ local list = words(phase, "mine")
struct $type$ {
  //@ for _, r in ipairs(phase.reductions) do
  $(k:gatherer(r.kind)) $r.name$;
  //@ end
};

void lathe_clear(out $type$ mine) {
  //@ for _, r in ipairs(phase.reductions) do
  lathe_clear(mine.$r.name$);
  //@ end
}

void lathe_merge(inout $k.precise$$type$ mine, $type$ other) {
  //@ for _, r in ipairs(phase.reductions) do
  lathe_merge(mine.$r.name$, other.$r.name$);
  //@ end
}

void lathe_merge_lane(inout $k.precise$$type$ mine, uint mask, bool all) {
  //@ for _, r in ipairs(phase.reductions) do
  //@ if r.kind == "powers" then
  if (all)
    mine.$r.name$.total += lathe_exchange(mine.$r.name$.total, mask);
  else
  //@ end
    lathe_merge(mine.$r.name$, lathe_exchange(mine.$r.name$, mask));
  //@ end
}

/* Merges what `threads` neighbouring invocations of a subgroup have, or where what `all` of it have may be
 * merged as well, for it is the same again, that: powers then have one largest to be brought to. No loop: drivers,
 * which know `threads` when they compile, keep one that they meet. */
void lathe_merge_lanes(inout $k.precise$$type$ mine, uint threads, bool all) {
  //@ for _, r in ipairs(phase.reductions) do
  //@ if r.kind == "powers" then
  if (all)
    lathe_merge_subgroup(mine.$r.name$);
  //@ end
  //@ end
  //@ for step = 6, 0, -1 do
  if (threads > $(1 << step)u)
    lathe_merge_lane(mine, $(1 << step)u, all);
  //@ end
}

shared uint lathe_shared_$type$[$(arrays * #list)u * (gl_WorkGroupSize.x / SUBGROUP + 1u)];

/* Merges what groups of THREADS invocations have gathered: afterwards each has the whole, the same to
 * the bit; or, where not `all` need it, those of the group's first subgroup. Groups larger than a
 * subgroup need shared memory, one of the arrays, which must not be touched again without a barrier. */
void lathe_merge_threads(inout $k.precise$$type$ mine, uint array, bool all) {
  lathe_merge_lanes(mine, min(THREADS, SUBGROUP), THREADS >= SUBGROUP);
  if (THREADS > SUBGROUP) {
    const uint subgroups = gl_WorkGroupSize.x / SUBGROUP, each = THREADS / SUBGROUP;
    const uint base = array * ($(#list)u * subgroups);
    const uint first = gl_SubgroupID / each * each;

    if (gl_SubgroupInvocationID == 0) {
      //@ for w, word in ipairs(list) do
      lathe_shared_$type$[base + $(w - 1)u * subgroups + gl_SubgroupID] = $word$;
      //@ end
    }
    barrier();
    if (!all && gl_SubgroupID != first)
      return;
    //@ local function word(at)
    //@   return "lathe_shared_" .. type .. "[base + " .. at .. "u * subgroups + first + from]"
    //@ end
    const uint among = (each & (each - 1u)) == 0u ? min(each, SUBGROUP) : SUBGROUP;
    if (among == each) {
      const uint from = gl_SubgroupInvocationID % each;
      mine = $(from_words(type, phase, word));
    } else {
      lathe_clear(mine);
      for (uint from = gl_SubgroupInvocationID; from < each; from += SUBGROUP)
        lathe_merge(mine, $(from_words(type, phase, word)));
    }
    lathe_merge_lanes(mine, among, true);
  }
}

/* The same left in memory, of `count` neighbours the one at `place`, and read from there. */
void lathe_leave(uint64_t at, uint64_t place, uint64_t count, $type$ mine) {
  //@ for w, word in ipairs(list) do
  lathe_word(at + ($(w - 1)ul * count + place) * 4ul).at = $word$;
  //@ end
}

void lathe_find(uint64_t at, uint64_t place, uint64_t count, out $type$ mine) {
  //@ local function word(w)
  //@   return "lathe_word(at + (" .. w .. "ul * count + place) * 4ul).at"
  //@ end
  mine = $(from_words(type, phase, word));
}

//@ end
//@ -- Gathers N terms, variables named r.name .. "_term" .. nth, in mine; at(nth) is the place of one.
//@ function take(phase, mine, N, at)
//@ for _, r in ipairs(phase.reductions) do
//@ local terms, nans = {}, {}
//@ for nth = 0, N - 1 do
//@   local term = r.name .. "_term" .. nth
//@   terms[nth + 1], nans[nth + 1] = term, term .. " != " .. term
//@ end
//@ local value = mine .. "." .. r.name .. ".value"
//@ local largest = k:better(r.kind) == "gt"
{
  //@ if k:is_extremum(r.kind) then
  /* The device's own max and min may lose NaN, which is looked for apart. */
  const bool nan = $(table.concat(nans, " || "));
  const $k.number$ best = nan ? $(k:literal(0 / 0)) : $(k:fold(largest and "max" or "min", terms));
  //@ end
  //@ if k:is_index(r.kind) then
  /* A NaN is no less than, nor more than anything; nothing is better than the first of them. The
   * place is looked for only where some term is better than all before. */
  const bool better = !(best $(largest and "<=" or ">=") $value$) && $value$ == $value$;
  if (better || $mine$.$r.name$.index == lathe_nowhere) {
    uint nth = 0;
    //@ for nth = N, 1, -1 do
    nth = $(terms[nth]) == best || nan && $(nans[nth]) ? $(nth - 1)u : nth;
    //@ end
    $value$ = best;
    $mine$.$r.name$.index = $(at("nth"));
  }
  //@ else
  $value$ = $(k:fold(r.kind, { value, r.kind == "sum" and k:fold("sum", terms) or "best" }));
  //@ end
}
//@ end
//@ end
//@ -- The same for moments, of the terms for which there(nth) is true; the others are neutral.
//@ function take_moments(r, mine, N, there)
//@ local terms, squares = {}, {}
//@ for nth = 0, N - 1 do
//@   terms[nth + 1], squares[nth + 1] = r.name .. "_term" .. nth, ("off%d * off%d"):format(nth, nth)
//@ end
{
  uint found = 0u;
  //@ for nth = 0, N - 1 do
  found += $(there(nth)) ? 1u : 0u;
  //@ end
  const $k.precise$$k.number$ count = $k.number$(found), sum = $(k:fold("sum", terms));
  const $k.precise$$k.number$ mean = MODE == LATHE_FULL ? sum * $(k:literal(1 / N)) : sum / count;
  //@ for nth = 0, N - 1 do
  const $k.precise$$k.number$ off$nth$ = $(there(nth)) ? $(terms[nth + 1]) - mean : $(k:literal(0));
  //@ end
  const $k.precise$$k.number$ squares = $(k:fold("sum", squares));
  lathe_merge($mine$.$r.name$, lathe_moments(sum, squares, count));
}
//@ end
//@ -- Whether each number of H accesses, uvec4s named pack0..., is NaN.
//@ local function are_nan(pack, H)
//@   local list = {}
//@   for nth = 0, H * k.width - 1 do
//@     local number = k:unpack(pack .. nth // k.width, nth % k.width)
//@     list[nth + 1] = number .. " != " .. number
//@   end
//@   return list
//@ end
//@ -- The best of H accesses as they are in memory, two numbers compared at once where the language can: best0...
//@ -- of each, best of all, and whether it is NaN.
//@ function best_stored(largest, pack, H)
//@ local fold, all, bests = largest and "max" or "min", {}, {}
//@ for slot = 0, H - 1 do
//@ local stored = k:stored(pack .. slot)
//@ table.move(stored, 1, #stored, #all + 1, all)
//@ bests[slot + 1] = "best" .. slot
const $k.number$ best$slot$ = lathe_$(largest and "largest" or "smallest")_of($(k:fold(fold, stored)));
//@ end
$k.number$ best = $(k:fold(fold, bests));
/* The device's own max and min may lose NaN. A sum does not, though it may be one of none. */
const float any = lathe_sum_of($(k:fold("sum", all)));
bool nan = any != any;
[[dont_flatten]] if (nan) {
  nan = $(table.concat(are_nan(pack, H), " || "));
  best = nan ? $(k:literal(0 / 0)) : best;
}
//@ end
//@ -- The largest term and the powers, of N terms of which those that do not count are neutral; pack: where they
//@ -- are as in memory, or nil.
//@ function take_powers(r, mine, N, pack)
//@ local terms, nans, powers = {}, {}, {}
//@ for nth = 0, N - 1 do
//@   local term = r.name .. "_term" .. nth
//@   terms[nth + 1], nans[nth + 1] = term, term .. " != " .. term
//@   powers[nth + 1] = ("lathe_powers_of(%s, best)"):format(term)
//@ end
{
  //@ if pack then
  //@ best_stored(true, pack, N // k.width)
  //@ else
  const bool nan = $(table.concat(nans, " || "));
  const $k.number$ best = nan ? $(k:literal(0 / 0)) : $(k:fold("max", terms));
  //@ end
  const $k.precise$$k.number$ total = $(k:fold("sum", powers));
  lathe_merge($mine$.$r.name$, lathe_powers(best, total));
}
//@ end
//@ -- The same for the largest or smallest of such accesses: at(slot, lane) is the place of one. The place is
//@ -- looked for in the first access that has the best.
//@ function take_stored(r, mine, pack, H, at)
//@ local largest, V, nans = k:better(r.kind) == "gt", k.width, are_nan(pack, H)
{
  //@ best_stored(largest, pack, H)
  //@ local value = mine .. "." .. r.name .. ".value"
  //@ if k:is_index(r.kind) then
  const bool better = !(best $(largest and "<=" or ">=") $value$) && $value$ == $value$;
  if (better || $mine$.$r.name$.index == lathe_nowhere) {
    uint slot = $(H - 1)u, lane = $(V - 1)u;
    uvec4 found = $pack$$(H - 1);
    //@ for slot = H - 2, 0, -1 do
    if (best$slot$ == best) {
      slot = $slot$u;
      found = $pack$$slot$;
    }
    //@ end
    //@ for nth = V - 2, 0, -1 do
    lane = $(k:unpack("found", nth)) == best ? $nth$u : lane;
    //@ end
    [[dont_flatten]] if (nan) {
      //@ for nth = H * V - 1, 0, -1 do
      if ($(nans[nth + 1])) {
        slot = $(nth // V)u;
        lane = $(nth % V)u;
      }
      //@ end
    }
    $value$ = best;
    $mine$.$r.name$.index = $(at("slot", "lane"));
  }
  //@ else
  $value$ = $(k:fold(r.kind, { value, "best" }));
  //@ end
}
//@ end
//@ -- The results of a phase as plain numbers. Of `count` terms, for of none the index is -1, and powers add up to 0.
//@ function results(phase, from)
//@ for _, r in ipairs(phase.reductions) do
//@ local value = from .. "." .. r.name .. (k:is_index(r.kind) and ".index" or ".value")
const $(k:result_type(r.kind)) $r.name$ = $(k:is_index(r.kind) and "count == 0ul ? ~0ul : " or "")$value$;
//@ if r.second then
const $k.number$ $r.second$ = $(r.kind == "powers" and "count == 0ul ? " .. k:literal(0) .. " : " or "")lathe_second($from$.$r.name$);
//@ end
//@ end
//@ end
//@ -- Around what the nth kernel does, from 0 on.
//@ function begin_kernel(nth)
void kernel_$nth$() {
//@ end
//@ function end_kernel()
}

//@ end
//@ -- Calls them all, in the order of their numbers. The file is compiled once; a pipeline is made of what is left of
//@ -- main and the rest with one of the calls (runtime/library/spirv.c). It stays a call, for NVIDIA's compiler makes
//@ -- better code of that: layernorm_backward of 4096x8192 in f16 takes 72 us on an H200, in main itself 98.
//@ function main(kernels)
void main() {
  //@ for nth = 0, kernels - 1 do
  kernel_$nth$();
  //@ end
}
//@ end
