/* Nests of loops, a launch each: any axes in any order. A workgroup has some points, each of which a few invocations
 * share, who take terms in turn: of terms that lie side by side neighbours, else neighbours have points that do. Where there
 * are few points, workgroups share the terms: all but the last to come leave what they gathered, and that one merges it in
 * order. Limited by how far apart elements are that neighbours read. */

//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local S = use "../c/nest_step.c"
//@ local C = use "contract_step.comp"
//@ local function glsl(text) return (text:gsub("args%->", "args.")) end
//@ -- The address of an element.
//@ local function address(operand, instead)
//@   local home = operand.temporary and ("args.workspace + %dul + %s"):format(schedule.counts, C.bytes_of_temporaries(operand))
//@     or "args." .. operand.name
//@   local bytes = operand.dtype and 8 or operand.temporary and k.spelling.bits // 8 or k:bytes_of(operand)
//@   return ("%s + (%s) * %dul"):format(home, glsl(S.at(operand.dim_index, nil, nil, instead)):gsub("^0$", "0ul"), bytes)
//@ end
//@ local function get(operand, instead)
//@   local address = address(operand, instead)
//@   return operand.dtype and ("lathe_integer(%s).at"):format(address) or operand.temporary and ("lathe_number(%s).at"):format(address)
//@     or k:get(operand) .. "(" .. address .. ")"
//@ end
//@ -- The words of places.
//@ local words = {
//@   unsigned = "uint64_t", number = function(value) return ("%dl"):format(value) end,
//@   position = function(axis) return "int64_t(i" .. S.places_of(axis)[1] .. ")" end,
//@   points = function(set) return "int64_t(" .. C.size(S.places_of(set)) .. ")" end,
//@   whole = function(leaf) return get(S.operand_of(leaf.name)) end,
//@ }
//@ local function input(x)
//@   if x.kind == "column" then -- of what is gathered or scanned
//@     return x.name .. "_result"
//@   elseif x.kind == "hit" then
//@     return ("%s == int64_t(i%d)"):format(get(S.operand_of(x.index)), x.place)
//@   elseif x.kind == "position" then
//@     return ("%s(i%d)"):format(k.number, x.place)
//@   elseif x.kind == "whole" then
//@     return ("%s(%s)"):format(k.number, get(S.operand_of(x.index)))
//@   elseif x.of then
//@     return glsl(S.elsewhere(x, words, get))
//@   elseif x.kind == "random" then
//@     local place, each = glsl(S.at(x.places)), k.bytes == 2 and 8 or 4
//@     return ("lathe_random(lathe_philox(lathe_integer(args.%s).at, lathe_integer(args.%s).at, (%s) / %dul), uint((%s) %% %dul))"):format(x.seed, x.offset, place, each, place, each)
//@   end
//@   return get(x.operand)
//@ end
//@ local function words(step) return P.words(S.phase_of(step), "mine") end
//@ local function from_words(step, word) return P.from_words(step.name .. "_gathered", S.phase_of(step), word) end
//@ -- Indexes from a number of points or terms.
//@ local function decode(places, number)
//@ for i = #places, 1, -1 do
//@ local place = places[i]
uint64_t i$place$ = $number$$(i > 1 and " % args.dim[" .. place - 1 .. "]" or "");
//@ if i > 1 then
$number$ /= args.dim[$(place - 1)];
//@ end
//@ end
//@ end
//@ local function take(step)
//@ P.call(step.terms.point, input)
//@ for _, r in ipairs(step.of.scanned and step.of.scans or step.of.gathered) do
//@ local next = S.next_scanned(r, r.name .. "_so_far")
//@ local mine, term = "mine." .. r.name, r.name .. "_term"
//@ if next then
$r.name$_so_far = $next$;
//@ elseif r.kind == "sum" then
lathe_take($mine$, $term$);
//@ elseif r.kind == "pick" then
$mine$.value = $term$;
//@ elseif k:is_index(r.kind) then
lathe_merge($mine$, $(k:gatherer(r.kind))($term$, $(glsl(S.at(step.places)))));
//@ else
lathe_merge($mine$, $(k:gatherer(r.kind))($term$));
//@ end
//@ end
//@ end
//@ local function terms(step, lanes)
//@ local pick, loops = S.gathers(step, "pick"), step.of.loops
//@ if pick then
const int64_t index = $(get(S.operand_of(pick.index.name)));
if (from < to && uint64_t(index) < args.dim[$(loops[1] - 1)]) {
  const uint64_t i$(loops[1]) = uint64_t(index);
  //@ take(step)
}
//@ else
uint64_t first = from + lane;
if (first < to) {
  uint64_t nth = first;
  //@ decode(loops, "nth")
  for (; first < to; first += $lanes$ul) {
    //@ take(step)
    i$(loops[#loops]) += $lanes$ul;
    //@ for i = #loops, 2, -1 do
    if (i$(loops[i]) >= args.dim[$(loops[i] - 1)]) {
      const uint64_t carried = i$(loops[i]) / args.dim[$(loops[i] - 1)];
      i$(loops[i]) -= carried * args.dim[$(loops[i] - 1)];
      i$(loops[i - 1]) += carried;
    }
    //@ end
  }
}
//@ end
//@ end
//@ local function store(step)
//@ if #step.values.results > 0 then
//@ P.call(step.values.point, input)
//@ end
//@ for _, value in ipairs(step.of.values) do
//@ local operand, name = value.operand, value.operand.name
//@ if value.name then
lathe_integer($(address(operand))).at = $value.name$_result;
//@ elseif operand.temporary then
lathe_number($(address(operand))).at = $name$_;
//@ else
$(k:put(operand))($(address(operand)), $name$_);
//@ end
//@ end
//@ end
//@ -- What scans come to, NAME_result, by the gatherers of the place itself and of all before it.
//@ local function scan_results(step, exclusive)
//@ for _, r in ipairs(step.of.scans) do
//@ if (r.exclusive or false) == exclusive then
//@ local of = (exclusive and "before." or "now.") .. r.name
//@ local result = S.next_scanned(r, "") and r.name .. "_so_far" or r.kind == "sum" and "lathe_result(" .. of .. ")" or of .. ".value"
$r.name$_result = $result$;
//@ end
//@ end
//@ end
//@ -- Goes along an axis: a point's invocations take a place each, and then the next so many. Those of a workgroup merge what
//@ -- they have with what those before them have, in the order of places.
//@ local function scan(step, lanes, room, count)
//@ local place, merged, type = step.of.scanned, S.phase_of(step).reductions, step.name .. "_gathered"
//@ local function clear(name)
//@ if #merged > 0 then
precise $type$ $name$;
//@ for _, r in ipairs(merged) do
lathe_clear($name$.$r.name$);
//@ end
//@ end
//@ end
//@ local function put(lane)
//@ for w, word in ipairs(words(step)) do
$room$[$lane$ * $count$u + $(w - 1)u] = $word$;
//@ end
barrier();
//@ end
//@ local function got(lane) return from_words(step, function(w) return ("%s[(%s) * %du + %du]"):format(room, lane, count, w) end) end
//@ clear(lanes == 1 and "mine" or "so_far")
//@ for _, r in ipairs(step.of.scans) do
//@ if S.next_scanned(r, "") then
$k.number$ $r.name$_so_far = $(k:neutral_number(r.kind));
//@ end
//@ end
const uint64_t places = args.dim[$(place - 1)];
//@ if lanes == 1 then
for (uint64_t nth = 0ul; is_there && nth < places; nth++) {
  //@ else
for (uint64_t from = 0ul; from < places; from += $lanes$ul) {
  const uint64_t nth = from + lane;
  //@ clear "mine"
  //@ end
  const uint64_t i$place$ = $(step.of.reverse and "places - 1ul - nth" or "nth");
  //@ for _, r in ipairs(step.of.scans) do
  $k.number$ $r.name$_result;
  //@ end
  //@ if lanes == 1 then
  //@ if #merged > 0 then
  const $type$ before = mine;
  //@ end
  //@ scan_results(step, true)
  {
    //@ take(step)
  }
  //@ if #merged > 0 then
  const $type$ now = mine;
  //@ end
  //@ scan_results(step, false)
  //@ store(step)
  //@ else
  if (nth < places) {
    //@ take(step)
  }
  [[dont_unroll]] for (uint apart = 1u; apart < $lanes$u; apart *= 2u) {
    //@ put "lane"
    if (lane >= apart) {
      precise $type$ all = $(got "lane - apart");
      lathe_merge(all, mine);
      mine = all;
    }
    barrier();
  }
  //@ put "lane"
  precise $type$ now = so_far, before = so_far;
  lathe_merge(now, mine);
  if (lane > 0u)
    lathe_merge(before, $(got "lane - 1u"));
  lathe_merge(so_far, $(got(lanes - 1 .. "u")));
  if (nth < places) {
    //@ scan_results(step, true)
    //@ scan_results(step, false)
    //@ store(step)
  }
  barrier();
  //@ end
}
//@ end
//@ -- What the invocations of a point have becomes that of the first.
//@ local function join(step, shape, room, count)
//@ local half = shape.lanes // 2
//@ while half > 0 do
barrier();
if (lane >= $half$u && lane < $(2 * half)u) {
  //@ for w, word in ipairs(words(step)) do
  $room$[((lane - $half$u) * $shape.points$u + own) * $count$u + $(w - 1)u] = $word$;
  //@ end
}
barrier();
if (lane < $half$u)
  lathe_merge(mine, $(from_words(step, function(w) return ("%s[(lane * %du + own) * %du + %du]"):format(room, shape.points, count, w) end)));
//@ half = half // 2
//@ end
//@ end
//@ for _, step in ipairs(k.steps) do
//@ for _, part in ipairs { step.terms, step.values } do
//@ if #part.results > 0 then
//@ P.define(part.point)
//@ end
//@ end
//@ if #S.phase_of(step).reductions > 0 then
struct $step.name$_gathered {
  //@ for _, r in ipairs(S.phase_of(step).reductions) do
  $(k:gatherer(r.kind)) $r.name$;
  //@ end
};

void lathe_merge(inout precise $step.name$_gathered mine, $step.name$_gathered other) {
  //@ for _, r in ipairs(S.phase_of(step).reductions) do
  lathe_merge(mine.$r.name$, other.$r.name$);
  //@ end
}

//@ end
//@ end
//@ for _, kernel in ipairs(schedule.kernels) do
//@ local step, shape = k.steps[kernel.first], kernel.shape
//@ local together, gathers = schedule.steps[kernel.first].together, #step.of.gathered > 0
//@ local count, room = #words(step), "lathe_room_" .. shape.number
//@ if shape.lanes > 1 then
shared uint $room$[$(step.of.scanned and shape.lanes * count or shape.points * shape.lanes // 2 * count)];

//@ end
/* $(step.of.name) */
//@ P.begin_kernel(shape.number)
  const uint thread = gl_LocalInvocationID.x;
  const uint lane = $(together and "thread % " .. shape.lanes .. "u" or "thread / " .. shape.points .. "u");
  const uint own = $(together and "thread / " .. shape.lanes .. "u" or "thread % " .. shape.points .. "u");
  const uint64_t points = $(C.size(step.of.keep):gsub("^1$", "1ul"));
  const uint64_t tiles = points / $shape.points$ul + (points % $shape.points$ul != 0ul ? 1ul : 0ul);
  if (tiles == 0ul)
    return;
  const uint64_t group = lathe_group(), tile = group % tiles, part = group / tiles;
  const uint64_t parts = gl_NumWorkGroups.y == 1u ? gl_NumWorkGroups.x / tiles : 1ul;
  if (part >= parts)
    return;
  const uint64_t point = tile * $shape.points$ul + own;
  const bool is_there = point < points;
  uint64_t rest = is_there ? point : 0ul;
  //@ decode(step.of.keep, "rest")
  //@ for _, item in ipairs(S.given(step)) do
  const $k.number$ $item.name$ = $(item.place and "args." .. item.name or k.number .. "(" .. C.size(item.places) .. ")");
  //@ end
  $(step.k:uniforms("call"))
  //@ if gathers then
  const uint64_t terms = $(S.gathers(step, "pick") and "1ul" or C.size(step.of.loops));
  const uint64_t each = terms / parts + (terms % parts != 0ul ? 1ul : 0ul);
  const uint64_t from = min(part * each, terms), to = min(from + each, terms);
  precise $step.name$_gathered mine;
  //@ for _, r in ipairs(step.of.gathered) do
  lathe_clear(mine.$r.name$);
  //@ end
  if (is_there) {
    //@ terms(step, shape.lanes)
  }
  //@ join(step, shape, room, count)
  if (parts > 1ul) {
    const uint64_t arrived = args.workspace + tile * 4ul;
    const uint64_t left = args.workspace + $schedule.counts$ul + $(C.bytes_of_temporaries()) + (tile * parts * $shape.points$ul + own) * $(count * 4)ul;
    if (lane == 0u) {
      //@ for w, word in ipairs(words(step)) do
      lathe_word(left + part * $(shape.points * count * 4)ul + $(4 * (w - 1))ul).at = $word$;
      //@ end
    }
    memoryBarrierBuffer();
    barrier();
    if (thread == 0u)
      lathe_order = atomicAdd(lathe_word(arrived).at, 1u);
    barrier();
    if (lathe_order + 1u < parts)
      return;
    memoryBarrierBuffer();
    if (thread == 0u)
      lathe_word(arrived).at = 0u;
    //@ for _, r in ipairs(step.of.gathered) do
    lathe_clear(mine.$r.name$);
    //@ end
    for (uint64_t of = lane; of < parts; of += $shape.lanes$ul)
      lathe_merge(mine, $(from_words(step, function(w) return ("lathe_word(left + of * %dul + %dul).at"):format(shape.points * count * 4, 4 * w) end)));
    //@ join(step, shape, room, count)
  }
  //@ end
  //@ if step.of.scanned then
  //@ scan(step, shape.lanes, room, count)
  //@ else
  if (lane == 0u && is_there) {
    //@ for _, r in ipairs(step.of.gathered) do
    //@ if r.kind == "sum" then
    const $k.number$ $r.name$_result = lathe_result(mine.$r.name$);
    //@ elseif k:is_index(r.kind) then
    const int64_t $r.name$_result = mine.$r.name$.index == lathe_nowhere ? int64_t(-1) : int64_t(mine.$r.name$.index);
    //@ else
    const $k.number$ $r.name$_result = mine.$r.name$.value;
    //@ end
    //@ end
    //@ store(step)
  }
  //@ end
//@ P.end_kernel()

//@ end
//@ P.main(#schedule.kernels)
