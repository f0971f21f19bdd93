//@ -- Lists by each point along an axis the places where an index is that point, in order. A workgroup has a point for
//@ -- each invocation and goes twice through all places: it counts those of each point; then each invocation puts down
//@ -- its own, some places at a time, of those that are any of the workgroup's. Limited by the reading of the index.

//@ local S = use "../c/nest_step.c"
//@ local N = use "nest_points.comp"
//@ local function names(shape)
//@   local name = "lathe_lists_" .. shape.number
//@   return name, name .. "_hits", name .. "_points", name .. "_before"
//@ end
//@ function declare(shape)
//@ local ends, hits, points, before = names(shape)
shared uint $ends$[$shape.threads$], $hits$[$(shape.places // 32)], $points$[$shape.places$], $before$;

//@ end
//@ -- I, u: the type of places, and how its numbers end.
//@ function list(step, shape, I, u)
//@ local of, ends, hits, points, before = step.of, names(shape)
//@ local target, extent, around = "i" .. of.target, "dim" .. of.target - 1, S.around(of)
//@ -- The invocation whose point the index at a place is: no less than their number where it is none's.
//@ local function find(place)
$I$ rest = $place$;
//@ N.decode_points(step, of.loops, "rest")
const uint64_t index = uint64_t($(k.place(of.index, N.words)));
const bool is_near = index >= uint64_t(first) && index < uint64_t($extent$);
const uint point = is_near ? uint(min(index - uint64_t(first), $shape.threads$ul)) : $shape.threads$u;
//@ end
const $I$ blocks = $extent$ / $shape.threads$$u$ + ($extent$ % $shape.threads$$u$ != 0$u$ ? 1$u$ : 0$u$);
if (group >= $(#around > 0 and N.count(step, around) .. " * " or "")blocks)
  return;
const $I$ first = group % blocks * $shape.threads$$u$, all = $(N.count(step, of.loops));
$I$ nth = group / blocks;
//@ N.decode_points(step, around, "nth")
const $I$ $target$ = first + thread;
$ends$[thread] = 0u;
if (thread == 0u)
  $before$ = 0u;
barrier();
uint less = 0u;
for ($I$ place = thread; place < all; place += $shape.threads$u) {
  //@ find("place")
  if (point < $shape.threads$u)
    atomicAdd($ends$[point], 1u);
  else if (index < uint64_t(first))
    less++;
}
atomicAdd($before$, less);
barrier();
const uint own = $ends$[thread];
[[dont_unroll]] for (uint apart = 1u; apart < $shape.threads$u; apart *= 2u) {
  const uint more = thread >= apart ? $ends$[thread - apart] : 0u;
  barrier();
  $ends$[thread] += more;
  barrier();
}
const uint end = $before$ + $ends$[thread];
if ($target$ < $extent$)
  $(N.element(of.ends)) = end;
uint64_t next = $(N.address(of.places, S.first_of(of, "0" .. u))) + uint64_t(end - own) * 4ul;
for ($I$ from = 0$u$; from < all; from += $shape.places$u) {
  if (thread < $(shape.places // 32)u)
    $hits$[thread] = 0u;
  barrier();
  for (uint at = thread; at < $shape.places$u && from + at < all; at += $shape.threads$u) {
    //@ find("from + at")
    $points$[at] = point;
    if (point < $shape.threads$u)
      atomicOr($hits$[at / 32u], 1u << at % 32u);
  }
  barrier();
  [[dont_unroll]] for (uint word = 0u; word < $(shape.places // 32)u; word++)
    for (uint hits = $hits$[word]; hits != 0u; hits &= hits - 1u) {
      const uint at = word * 32u + uint(findLSB(hits));
      if ($points$[at] == thread) {
        lathe_word(next).at = uint(from + at);
        next += 4ul;
      }
    }
  barrier();
}
//@ end
