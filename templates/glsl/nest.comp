/* Nests of loops, a launch for each step or for steps that share points: any axes in any order. A workgroup has some
 * points, or vectors of them, each of which a few invocations share, who take terms in turn: of terms that lie side by
 * side neighbours, else neighbours have points that do. Where there are few points, workgroups share the terms: all but
 * the last to come leave what they gathered, and that one merges it in order. What lies across vectors goes through
 * shared memory in squares. Limited by memory where operands lie so; else by how far apart elements are that
 * neighbours read. */

//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local S = use "../c/nest_step.c"
//@ local C = use "contract_step.comp"
//@ local N = use "nest_points.comp"
//@ local L = use "nest_lists.comp"
//@ local I, u, V, is_fused -- as N has them
//@ local by_points, own, bytes_of, address, lie = N.by_points, N.own, N.bytes_of, N.address, N.lie
//@ local words_of, from_words, accesses, load = N.words_of, N.from_words, N.accesses, N.load
//@ local store_vector, stays, bring, each, count = N.store_vector, N.stays, N.bring, N.each, N.count
//@ local decode_points, begin, take, terms, store, has = N.decode_points, N.begin, N.take, N.terms, N.store, N.has
//@ -- What scans come to, NAME_result, by the gatherers of the place itself and of all before it.
//@ local function scan_results(step, exclusive)
//@ for _, r in ipairs(step.of.scans) do
//@ if (r.exclusive or false) == exclusive then
//@ local of = (exclusive and "before." or "now.") .. r.name
//@ local result = S.next_scanned(r, "") and r.name .. "_so_far" or r.kind == "sum" and "lathe_result(" .. of .. ")"
//@   or of .. ".value"
$r.name$_result = $result$;
//@ end
//@ end
//@ end
//@ -- Goes along an axis: a point's invocations take so many places each, and then the next so many. Those of a
//@ -- workgroup merge what they have with what those before them have, in the order of places, and go over their places
//@ -- once more.
//@ local function scan(step, shape, room)
//@ local place, merged, type, lanes = step.of.scanned, S.phase_of(step).reductions, step.name .. "_gathered",
//@   shape.lanes
//@ local places = "dim" .. place - 1
//@ local function put()
//@ for w, word in ipairs(words_of(step, "mine")) do
$room$[$((w - 1) * lanes * shape.points)u + thread_at] = $word$;
//@ end
barrier();
//@ end
//@ local function got(lane)
//@   return from_words(step, function(w) return ("%s[%du + (%s) * %du + own]"):format(room, w * lanes * shape.points,
//@     lane, shape.points) end)
//@ end
//@ local function index()
const $I$ i$place$ = $(own(S.scanned_index(step)));
//@ end
//@ -- Takes the place and stores what follows there; `now` becomes what there is with it.
//@ local function go_on()
//@ index()
//@ for _, r in ipairs(step.of.scans) do
$k.number$ $r.name$_result;
//@ end
//@ if #merged > 0 then
const $type$ before = now;
//@ end
//@ scan_results(step, true)
{
  //@ take(step, "now")
}
//@ scan_results(step, false)
//@ store(step)
//@ end
//@ for _, r in ipairs(step.of.scans) do
//@ if S.next_scanned(r, "") then
$k.number$ $r.name$_so_far = $(k:neutral_number(r.kind));
//@ end
//@ end
//@ if lanes == 1 then
//@ if #merged > 0 then
precise $type$ now;
lathe_clear(now);
//@ end
for ($I$ nth = 0$u$; is_there && nth < $places$; nth++) {
  //@ go_on()
}
//@ else
const uint thread_at = lane * $shape.points$u + own;
precise $type$ so_far;
lathe_clear(so_far);
for ($I$ from = 0$u$; from < $places$; from += $(lanes * shape.each)$u$) {
  const $I$ begin = min(from + lane * $shape.each$u, $places$);
  const $I$ end = is_there ? min(begin + $shape.each$u, $places$) : begin;
  precise $type$ mine;
  lathe_clear(mine);
  for ($I$ nth = begin; nth < end; nth++) {
    //@ index()
    //@ take(step, "mine")
  }
  [[dont_unroll]] for (uint apart = 1u; apart < $lanes$u; apart *= 2u) {
    //@ put()
    if (lane >= apart) {
      precise $type$ all = $(got "lane - apart");
      lathe_merge(all, mine);
      mine = all;
    }
    barrier();
  }
  //@ put()
  precise $type$ now = so_far;
  if (lane > 0u)
    lathe_merge(now, $(got "lane - 1u"));
  for ($I$ nth = begin; nth < end; nth++) {
    //@ go_on()
  }
  lathe_merge(so_far, $(got(lanes - 1 .. "u")));
  barrier();
}
//@ end
//@ end
//@
//@ -- Does something with what an invocation has of each of its points; body(mine, e): the text of it and its number.
//@ local function each_mine(step, body)
//@ if by_points(step) then
[[unroll]] for (uint e = 0u; e < $V$u; e++) {
  //@ body("mine[e]", function(words) return ("(e * %du + %%du) * "):format(words) end)
}
//@ else
//@ body("mine", function() return "%du * " end)
//@ end
//@ end
//@ local function declare_mine(step)
precise $step.name$_gathered mine$(by_points(step) and "[" .. V .. "]" or "");
//@ end
//@ local function clear_mine(step)
//@ each_mine(step, function(mine)
lathe_clear($mine$);
//@ end)
//@ end
//@ -- Words of shared memory that half of a workgroup's invocations have for each other.
//@ local function room_of(step, shape)
//@   return #words_of(step, "mine") * (by_points(step) and V or 1) * (shape.points * shape.lanes // 2)
//@ end
//@ -- What the invocations of a point have becomes that of the first.
//@ local function join(step, shape, room)
//@ local half, all = shape.lanes // 2, shape.points * shape.lanes // 2
//@ while half > 0 do
barrier();
if (lane >= $half$u && lane < $(2 * half)u) {
  const uint at = (lane - $half$u) * $shape.points$u + own;
  //@ each_mine(step, function(mine, number)
  //@ local list = words_of(step, mine)
  //@ for w, word in ipairs(list) do
  $room$[$(number(#list):format(w - 1))$all$u + at] = $word$;
  //@ end
  //@ end)
}
barrier();
if (lane < $half$u) {
  const uint at = lane * $shape.points$u + own;
  //@ each_mine(step, function(mine, number)
  //@ local words = #words_of(step, mine)
  lathe_merge($mine$, $(from_words(step, function(w) return ("%s[%s%du + at]"):format(room, number(words):format(w), all) end)));
  //@ end)
}
//@ half = half // 2
//@ end
//@ end
//@ for _, step in ipairs(k.steps) do
//@ for _, part in ipairs { step.terms, step.values } do
//@ if #part.results > 0 then
//@ P.define(part.point)
//@ end
//@ end
//@ local type, reductions = step.name .. "_gathered", S.phase_of(step).reductions
//@ if #reductions > 0 then
struct $type$ {
  //@ for _, r in ipairs(reductions) do
  $(k:gatherer(r.kind)) $r.name$;
  //@ end
};

void lathe_clear(out precise $type$ mine) {
  //@ for _, r in ipairs(reductions) do
  lathe_clear(mine.$r.name$);
  //@ end
}

void lathe_merge(inout precise $type$ mine, $type$ other) {
  //@ for _, r in ipairs(reductions) do
  lathe_merge(mine.$r.name$, other.$r.name$);
  //@ end
}

//@ end
//@ end
//@ function piece.lathe_kept()
/* A number that other invocations of the workgroup read, or have stored. */
layout(buffer_reference, std430, buffer_reference_align = $(k.spelling.bits // 8)) coherent buffer lathe_kept {
  $k.number$ at;
};
//@ end

//@ function piece.lathe_load_kept()
/* Some of these, up to $C.W$ that are `apart` bytes apart. */
uvec4 lathe_load_kept(uint64_t from, uint64_t apart, uint there, bool whole) {
  uvec4 words = uvec4(0u);
  if (whole && there >= $C.W$u)
    return lathe_left(from).at;
  [[unroll]] for (uint nth = 0u; nth < $C.W$u; nth++)
    if (nth < there) {
      //@ for w = 0, 4 // C.W - 1 do
      words[nth * $(4 // C.W)u + $w$u] = lathe_word(from + nth * apart + $(4 * w)ul).at;
      //@ end
    }
  return words;
}
//@ end

//@ function piece.lathe_store_kept()
void lathe_store_kept(uint64_t from, uint64_t apart, uvec4 words, uint there, bool whole) {
  if (whole && there >= $C.W$u) {
    lathe_left(from).at = words;
    return;
  }
  [[unroll]] for (uint nth = 0u; nth < $C.W$u; nth++)
    if (nth < there) {
      //@ for w = 0, 4 // C.W - 1 do
      lathe_word(from + nth * apart + $(4 * w)ul).at = words[nth * $(4 // C.W)u + $w$u];
      //@ end
    }
}
//@ end

//@ -- One step of a launch.
//@ local function alone(step, shape, room)
const $I$ points = $(count(step, step.of.keep)), tiles = points / $shape.points$$u$ + (points % $shape.points$$u$ != 0$u$ ? 1$u$ : 0$u$);
if (tiles == 0$u$)
  return;
const $I$ tile = group % tiles, part = group / tiles;
const $I$ parts = gl_NumWorkGroups.y == 1u ? gl_NumWorkGroups.x / tiles : 1$u$;
if (part >= parts)
  return;
const $I$ point = tile * $shape.points$$u$ + own;
const bool is_there = point < points;
$I$ rest = is_there ? point : 0$u$;
//@ decode_points(step, step.of.keep, "rest")
//@ if step.of.scanned then
//@ scan(step, shape, room)
//@ else
//@ if #step.of.gathered > 0 then
const $I$ terms = $(S.gathers(step, "pick") and "1" .. u or count(step, step.of.loops));
const $I$ each = terms / parts + (terms % parts != 0$u$ ? 1$u$ : 0$u$);
const $I$ from = min(part * each, terms), to = from + min(each, terms - from);
//@ declare_mine(step)
//@ clear_mine(step)
if (is_there) {
  //@ terms(step, "from + lane", "to", shape.lanes .. u)
}
//@ join(step, shape, room)
if (parts > 1$u$) {
  //@ local all = #words_of(step, "mine") * (by_points(step) and V or 1) * 4
  const uint64_t arrived = args.workspace + tile * 4ul;
  const uint64_t left = args.workspace + $schedule.counts$ul + $(C.bytes_of_temporaries()) + (uint64_t(tile) * parts * $shape.points$ul + own) * $all$ul;
  if (lane == 0u) {
    const uint64_t at = left + part * $(shape.points * all)ul;
    //@ each_mine(step, function(mine, number)
    //@ local list = words_of(step, mine)
    //@ for w, word in ipairs(list) do
    lathe_word(at + $(number(#list):format(w - 1))4u).at = $word$;
    //@ end
    //@ end)
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
  //@ clear_mine(step)
  for (uint of = lane; of < parts; of += $shape.lanes$u) {
    const uint64_t at = left + of * $(shape.points * all)ul;
    //@ each_mine(step, function(mine, number)
    //@ local words = #words_of(step, mine)
    lathe_merge($mine$, $(from_words(step, function(w) return ("lathe_word(at + %s4u).at"):format(number(words):format(w)) end)));
    //@ end)
  }
  //@ join(step, shape, room)
}
//@ end
if (lane == 0u && is_there) {
  //@ store(step)
}
//@ end
//@ end
//@ -- One of several for the shared points of a workgroup, all of whose invocations take part.
//@ local function one_of(step, about, shape, room)
//@ local shared, extra, gathers = {}, {}, #step.of.gathered > 0
//@ for _, place in ipairs(step.of.keep) do
//@ local list = has(about.shared, place) and shared or extra
//@ list[#list + 1] = place
//@ end
//@ local besides = step.of.axes & ~about.shared
//@ local terms_of = S.gathers(step, "pick") and "1" .. u or count(step, step.of.loops)
{
  //@ begin(step)
  const $I$ point = group * $shape.points$u + own;
  const bool is_there = point < $(count(step, shared));
  $I$ rest = is_there ? point : 0$u$;
  //@ decode_points(step, shared, "rest")
  //@ if #extra > 0 then
  //@ bring(step, #step.values.results > 0 and step.values or {}, nil, stays(step, besides))
  const $I$ extra = $(count(step, extra))$(gathers and ", terms = " .. terms_of or "");
  for ($I$ at = lane; is_there && at < extra; at += $shape.lanes$u) {
    $I$ more = at;
    //@ decode_points(step, extra, "more")
    //@ if gathers then
    //@ declare_mine(step)
    //@ clear_mine(step)
    //@ terms(step, "0" .. u, "terms", "1" .. u)
    //@ end
    //@ store(step, nil, stays(step, besides, true))
  }
  //@ else
  //@ if gathers then
  const $I$ terms = $terms_of$;
  //@ declare_mine(step)
  //@ clear_mine(step)
  if (is_there) {
    //@ terms(step, "lane", "terms", shape.lanes .. u)
  }
  //@ join(step, shape, room)
  //@ end
  if (lane == 0u && is_there) {
    //@ store(step)
  }
  //@ end
}
//@ end
//@ -- A square of points along two axes, for what lies along one of them and is wanted along the other.
//@ local function square(step, about, room)
//@ local along, axis, side, rest, turned, made = step.of.along, about.across.axis, about.across.side, {}, {}, {}
//@ local each = side // V
//@ for _, value in ipairs(step.of.values) do
//@ made[value.operand] = true
//@ end
//@ for nth, operand in ipairs(about.across.operands) do
//@ turned[operand] = ("%s[%d]"):format(room, nth - 1)
//@ end
//@ for _, place in ipairs(step.of.keep) do
//@ rest[#rest + 1] = place ~= along and place ~= axis and place or nil
//@ end
//@ -- Goes over the square, vectors of which lie along `across`.
//@ local function go(across, body)
for (uint at = thread; at < $(side * each)u; at += gl_WorkGroupSize.x) {
  const uint $(across == axis and "row = at / " .. each .. "u, column = at % " .. each .. "u * " .. V .. "u" or "row = at % " .. each .. "u * " .. V .. "u, column = at / " .. each .. "u");
  const $I$ i$along$ = from$along$ + row, i$axis$ = from$axis$ + column;
  if (i$along$ < dim$(along - 1) && i$axis$ < dim$(axis - 1)) {
    //@ body()
  }
}
//@ end
//@ local function move(inputs)
//@ for _, operand in ipairs(about.across.operands) do
//@ if not made[operand] == inputs then
//@ go(axis, function()
//@ local tile, _, one = turned[operand], accesses(operand)
const uint64_t from = $(address(operand));
const uint there = uint(min(dim$(axis - 1) - i$axis$, $V$u));
const bool aligned = from % $(one * bytes_of(operand))ul == 0ul;
//@ if inputs then
//@ load(operand, "from", bytes_of(operand) .. "ul", "aligned")
[[unroll]] for (uint e = 0u; e < $V$u; e++)
  $tile$[row][column + e] = $operand.name$_read[e];
//@ else
//@ store_vector(operand, "from", bytes_of(operand) .. "ul", "aligned",
//@   function(e) return ("%s[row][column + %du]"):format(tile, e) end)
//@ end
//@ end)
//@ end
//@ end
//@ end
const $I$ rows = dim$(along - 1) / $side$u + (dim$(along - 1) % $side$u != 0u ? 1u : 0u);
const $I$ columns = dim$(axis - 1) / $side$u + (dim$(axis - 1) % $side$u != 0u ? 1u : 0u);
if (group >= $(#rest > 0 and count(step, rest) .. " * " or "")rows * columns)
  return;
$I$ nth = group / columns;
const $I$ from$axis$ = group % columns * $side$u, from$along$ = nth % rows * $side$u;
nth /= rows;
//@ decode_points(step, rest, "nth")
//@ move(true)
barrier();
//@ go(along, function()
//@ store(step, turned)
//@ end)
barrier();
//@ move(false)
//@ end
//@ for _, kernel in ipairs(schedule.kernels) do
//@ local shape, first, name = kernel.shape, k.steps[kernel.first], {}
//@ local room = "lathe_room_" .. shape.number
//@ I, u, V = "uint", "u", shape.vector
//@ if shape.large then
//@ I, u = "uint64_t", "ul"
//@ end
//@ is_fused = kernel.last > kernel.first
//@ N.set_kernel(I, u, V, is_fused)
//@ local words = 0
//@ for nth = kernel.first, kernel.last do
//@ name[#name + 1] = k.steps[nth].of.name
//@ words = math.max(words, first.of.scanned and #words_of(first, "mine") * shape.points * shape.lanes
//@   or room_of(k.steps[nth], shape))
//@ end
//@ if shape.turned then
//@ local across = schedule.steps[kernel.first].across
shared $k.number$ $room$[$(#across.operands)][$across.side$][$(across.side + 1)];

//@ elseif first.of.kind == "list" then
//@ L.declare(shape)
//@ elseif shape.lanes > 1 and words > 0 then
shared uint $room$[$words$];

//@ end
/* $(table.concat(name, ", "))$(V > 1 and ": vectors of " .. V .. " elements" or "") */
//@ P.begin_kernel(shape.number)
  const uint thread = gl_LocalInvocationID.x;
  //@ for place = 1, #op.dims do
  const $I$ dim$(place - 1) = $I$(args.dim[$(place - 1)]);
  //@ end
  const $I$ group = $I$(lathe_group());
  //@ if shape.turned then
  //@ begin(first)
  //@ square(first, schedule.steps[kernel.first], room)
  //@ elseif first.of.kind == "list" then
  //@ begin(first)
  //@ L.list(first, shape, I, u)
  //@ else
  //@ local together = shape.together
  //@ if not is_fused then
  //@ together = schedule.steps[kernel.first].together
  //@ end
  const uint lane = $(together and "thread % " .. shape.lanes .. "u" or "thread / " .. shape.points .. "u");
  const uint own = $(together and "thread / " .. shape.lanes .. "u" or "thread % " .. shape.points .. "u");
  //@ if is_fused then
  //@ for nth = kernel.first, kernel.last do
  //@ if nth > kernel.first then
  memoryBarrierBuffer();
  barrier();
  //@ end
  //@ one_of(k.steps[nth], schedule.steps[nth], shape, room)
  //@ end
  //@ else
  //@ begin(first)
  //@ alone(first, shape, room)
  //@ end
  //@ end
//@ P.end_kernel()

//@ end
//@ P.main(#schedule.kernels)
