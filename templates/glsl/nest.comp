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
//@ -- Of the kernel that is being written: the type of its indexes, what ends their literals, the elements of its
//@ -- vectors, and whether steps share it, of which one reads what another stored.
//@ local I, u, V, is_fused
//@ local PLAIN = 8 -- terms of a sum, or vectors of them, that are added up before rounding errors are carried
//@ local has = S.has
//@ local function by_points(step) return V > 1 and has(step.of.axes, step.of.along) end
//@ local function by_terms(step) return V > 1 and has(step.of.over, step.of.along) end
//@ -- Text in the kernel's own extents.
//@ local function own(text) return (text:gsub("args%->dim%[(%d+)%]", "dim%1")) end
//@ local function bytes_of(operand) return operand.temporary and k.spelling.bits // 8 or k:bytes_of(operand) end
//@ -- The address of an element; instead: by place, the text of other indexes.
//@ local function address(operand, instead)
//@   local home = operand.temporary and operand.name .. "_at" or "args." .. operand.name
//@   local index = own(S.at(operand.dim_index, nil, nil, instead))
//@   return index == "0" and home or ("%s + uint64_t(%s) * %dul"):format(home, index, bytes_of(operand))
//@ end
//@ local function element(operand, instead)
//@   local type = operand.dtype and "lathe_integer" or is_fused and "lathe_kept" or "lathe_number"
//@   return ("%s(%s).at"):format(type, address(operand, instead))
//@ end
//@ local function get(operand, instead)
//@   if operand.dtype or operand.temporary then
//@     return element(operand, instead)
//@   end
//@   return k:get(operand) .. "(" .. address(operand, instead) .. ")"
//@ end
//@ -- How an operand's elements lie along a step's vectors, and how far apart.
//@ local function lie(step, operand)
//@   local how, within = S.lie(step, operand)
//@   return how, within and own(within)
//@ end
//@ -- The words of places.
//@ local words = {
//@   unsigned = "uint64_t", number = function(value) return ("%dl"):format(value) end,
//@   position = function(axis) return "int64_t(i" .. S.places_of(axis)[1] .. ")" end,
//@   points = function(set) return "int64_t(" .. C.size(S.places_of(set)) .. ")" end,
//@   whole = function(leaf) return get(S.operand_of(leaf.name)) end,
//@ }
//@ -- The text of each input of a point function at the place `e` of a vector. turned: the names of tiles of operands.
//@ local function input(step, turned)
//@   return function(x)
//@     if x.kind == "column" then -- of what is gathered or scanned
//@       return x.name .. "_result"
//@     elseif x.kind == "hit" then
//@       return ("%s == int64_t(i%d)"):format(get(S.operand_of(x.index)), x.place)
//@     elseif x.kind == "position" then
//@       return ("%s(i%d)"):format(k.number, x.place)
//@     elseif x.kind == "whole" then
//@       return ("%s(%s)"):format(k.number, get(S.operand_of(x.index)))
//@     elseif x.of then
//@       return own(S.elsewhere(x, words, function(operand, instead)
//@         local indexes = {}
//@         for place, index in pairs(instead) do
//@           indexes[place] = I .. "(" .. index .. ")"
//@         end
//@         return get(operand, indexes)
//@       end))
//@     elseif x.kind == "random" then
//@       local place, each = own(S.at(x.places)), k.bytes == 2 and 8 or 4
//@       local key = ("lathe_integer(args.%s).at, lathe_integer(args.%s).at"):format(x.seed, x.offset)
//@       local words = ("lathe_philox(%s, uint64_t(%s) / %dul)"):format(key, place, each)
//@       return ("lathe_random(%s, uint((%s) %% %d%s))"):format(words, place, each, u)
//@     elseif turned and turned[x.operand] then
//@       return turned[x.operand] .. "[row + e][column]"
//@     elseif V == 1 then
//@       return get(x.operand)
//@     end
//@     return x.operand.name .. "_read" .. (lie(step, x.operand) == "none" and "" or "[e]")
//@   end
//@ end
//@ -- Whether a part reads where a point is, which it must not past the end.
//@ local function reads_there(part)
//@   for _, x in ipairs(part.point and part.point.inputs or {}) do
//@     if x.kind == "hit" or x.kind == "whole" or x.of then
//@       return true
//@     end
//@   end
//@ end
//@ local function words_of(step, mine) return P.words(S.phase_of(step), mine) end
//@ local function from_words(step, word) return P.from_words(step.name .. "_gathered", S.phase_of(step), word) end
//@
//@ -- Accesses to a vector: how many of an operand's, and how many elements one has.
//@ local function accesses(operand)
//@   local each = math.min(V, 16 // bytes_of(operand))
//@   return V // each, each
//@ end
//@ local function function_of(verb, operand, each)
//@   local name = operand.temporary and is_fused and "lathe_%s_kept" or "lathe_%s%dx%d"
//@   return name:format(verb, bytes_of(operand), each)
//@ end
//@ -- How many elements there are from one of a vector on.
//@ local function past(first) return first > 0 and ("there - min(there, %du)"):format(first) or "there" end
//@ -- Where an access of a vector at an address begins, the first of whose elements is that number `first`.
//@ local function begins(from, first, apart) return from .. (first > 0 and (" + %dul * %s"):format(first, apart) or "") end
//@ -- Reads a vector of an operand to NAME_read, from an address on; apart: bytes from an element to the next.
//@ local function load(operand, from, apart, whole)
//@ local many, each = accesses(operand)
//@ local list = {}
//@ for nth = 0, many - 1 do
const uvec4 $operand.name$_pack$nth$ = $(function_of("load", operand, each))($(begins(from, nth * each, apart)), $apart$, $(past(nth * each)), $whole$);
//@ for lane = 0, each - 1 do
//@   local pack, component = operand.name .. "_pack" .. nth, lane * k.spelling.bits // 32 + 1
//@   if not operand.temporary then
//@     list[#list + 1] = k:unpack(pack, lane, operand)
//@   elseif k.spelling.bits == 64 then
//@     list[#list + 1] = ("packDouble2x32(%s.%s)"):format(pack, ("xyzw"):sub(component, component + 1))
//@   else
//@     list[#list + 1] = ("uintBitsToFloat(%s.%s)"):format(pack, ("xyzw"):sub(component, component))
//@   end
//@ end
//@ end
const $k.number$ $operand.name$_read[$V$] = $k.number$[]($(table.concat(list, ", ")));
//@ end
//@ -- Stores one that is value(e) at each place.
//@ local function store_vector(operand, to, apart, whole, value)
//@ local many, each = accesses(operand)
//@ for nth = 0, many - 1 do
//@ local list = {}
//@ for lane = 0, math.max(each, operand.temporary and C.W or 0) - 1 do
//@   list[lane + 1] = value(nth * each + math.min(lane, each - 1))
//@ end
//@ local pack = operand.temporary and k:pack_numbers(list) or k:pack_some(list, operand)
$(function_of("store", operand, each))($(begins(to, nth * each, apart)), $apart$, $pack$, $(past(nth * each)), $whole$);
//@ end
//@ end
//@ -- The bytes from an element of a vector to the next, and whether several go by one access.
//@ local function apart_of(step, operand)
//@   local how, within = lie(step, operand)
//@   if how == "unit" then
//@     return bytes_of(operand) .. "ul", "whole"
//@   end
//@   return ("uint64_t(%s) * %dul"):format(within, bytes_of(operand)), "false"
//@ end
//@ local function at_first(step, operand) return address(operand, { [step.of.along] = "first" }) end
//@ -- Whether an operand has the same element along the vectors and the axes of a set; else whether it has not.
//@ local function stays(step, set, not_so)
//@   return function(operand)
//@     local found = lie(step, operand) == "none"
//@     for _, place in ipairs(operand.dim_index) do
//@       found = found and not has(set, place)
//@     end
//@     return found == not not_so
//@   end
//@ end
//@ -- Reads what a part's vector at `first` has of operands, or of those that are `wanted`; there: how many of it there
//@ -- are.
//@ local function bring(step, part, turned, wanted)
//@ for _, x in ipairs(V > 1 and part.point and part.point.inputs or {}) do
//@ if x.kind == "element" and not (turned and turned[x.operand]) and (not wanted or wanted(x.operand)) then
//@ if lie(step, x.operand) == "none" then
const $k.number$ $x.operand.name$_read = $(get(x.operand));
//@ else
//@ load(x.operand, at_first(step, x.operand), apart_of(step, x.operand))
//@ end
//@ end
//@ end
//@ end
//@ -- A loop over the vector that begins at `begin`, an element at a time; guarded: those that are there.
//@ local function each(step, begin, guarded, body)
//@ local along = step.of.along
{
  const $I$ first = $begin$;
  const uint there = uint(min(dim$(along - 1) - first, $V$$u$));
  //@ body.before()
  [[unroll]] for (uint e = 0u; e < $V$u; e++) {
    const $I$ i$along$ = first + e;
    //@ if guarded then
    if (e < there) {
      //@ body.each()
    }
    //@ else
    //@ body.each()
    //@ end
  }
  //@ body.after()
}
//@ end
//@
//@ -- Indexes from a number of points or terms; name(place): the text of one.
//@ local function extent(step, place) return V > 1 and place == step.of.along and "vectors" or "dim" .. place - 1 end
//@ local function count(step, places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = extent(step, place)
//@   end
//@   return #list > 0 and table.concat(list, " * ") or "1" .. u
//@ end
//@ local function decode(step, places, number, declare)
//@ for i = #places, 1, -1 do
//@ local place = places[i]
$(declare(place, number .. (i > 1 and " % " .. extent(step, place) or "")));
//@ if i > 1 then
$number$ /= $(extent(step, place));
//@ end
//@ end
//@ end
//@ local function decode_points(step, places, number)
//@   decode(step, places, number, function(place, index)
//@     return ("const %s i%d = %s"):format(I, place, V > 1 and place == step.of.along and ("(%s) * %d%s"):format(index, V, u) or index)
//@   end)
//@ end
//@
//@ -- What a step has ahead of all: where temporaries are, and whether vectors may be read by accesses of several elements.
//@ local function begin(step)
//@ local whole = { ("dim%d %% %du == 0u"):format((step.of.along or 1) - 1, V) }
//@ for _, operand in ipairs(step.of.operands) do
//@ if operand.temporary then
const uint64_t $operand.name$_at = args.workspace + $schedule.counts$ul + $(C.bytes_of_temporaries(operand));
//@ elseif V > 1 and not operand.dtype and lie(step, operand) == "unit" then
//@   local _, each = accesses(operand)
//@   whole[#whole + 1] = ("args.%s %% %dul == 0ul"):format(operand.name, each * bytes_of(operand))
//@ end
//@ end
//@ if V > 1 then
const uint vectors = dim$(step.of.along - 1) / $V$u + (dim$(step.of.along - 1) % $V$u != 0u ? 1u : 0u);
const bool whole = $(table.concat(whole, " && "));
//@ end
//@ for _, item in ipairs(S.given(step)) do
const $k.number$ $item.name$ = $(item.place and "args." .. item.name or k.number .. "(" .. C.size(item.places) .. ")");
//@ end
$(step.k:uniforms("call"))
//@ end
//@
//@ -- Takes the term at a place for `mine`; plain: sums are added up plainly, of which that is the index.
//@ local function take(step, mine, plain)
//@ P.call(step.terms.point, input(step))
//@ for _, r in ipairs(step.of.scanned and step.of.scans or step.of.gathered) do
//@ local next = S.next_scanned(r, r.name .. "_so_far")
//@ local mine, term = mine .. "." .. r.name, r.name .. "_term"
//@ if next then
$r.name$_so_far = $next$;
//@ elseif r.kind == "sum" and plain then
$r.name$_plain$plain$ += $term$;
//@ elseif r.kind == "sum" then
lathe_take($mine$, $term$);
//@ elseif r.kind == "pick" then
$mine$.value = $term$;
//@ elseif k:is_index(r.kind) then
lathe_merge($mine$, $(k:gatherer(r.kind))($term$, uint64_t($(own(S.at(step.places))))));
//@ else
lathe_merge($mine$, $(k:gatherer(r.kind))($term$));
//@ end
//@ end
//@ end
//@ -- Takes terms from one on, each so many after the one before.
//@ local function terms(step, from, to, apart)
//@ local pick, loops, along = S.gathers(step, "pick"), step.of.loops, step.of.along
//@ if pick then
const int64_t index = $(get(S.operand_of(pick.index.name)));
if ($from$ < $to$ && uint64_t(index) < dim$(loops[1] - 1)) {
  const $I$ i$(loops[1]) = $I$(index);
  //@ take(step, "mine")
}
//@ else
//@ local function index(place) return by_terms(step) and place == along and "vector" or "i" .. place end
$I$ nth = $from$;
if (nth < $to$) {
  //@ bring(step, step.terms, nil, stays(step, step.of.over))
  //@ decode(step, loops, "nth", function(place, value) return ("%s %s = %s"):format(I, index(place), value) end)
  //@ local vectors = by_points(step)
  //@ local plain = vectors and "[e]" or ""
  //@ local function sums(visit)
  //@   for _, r in ipairs(step.of.gathered) do
  //@     if r.kind == "sum" then
  //@       visit(r.name .. "_plain", r.name)
  //@     end
  //@   end
  //@ end
  //@ local function clear()
  //@ sums(function(name)
  precise $k.number$ $name$$(vectors and "[" .. V .. "]" or " = " .. k:neutral_number "sum");
  //@ if vectors then
  [[unroll]] for (uint e = 0u; e < $V$u; e++)
    $name$[e] = $(k:neutral_number "sum");
  //@ end
  //@ end)
  //@ end
  //@ local function carry()
  //@ sums(function(name, sum)
  //@ if vectors then
  [[unroll]] for (uint e = 0u; e < $V$u; e++)
    lathe_take(mine[e].$sum$, $name$[e]);
  //@ else
  lathe_take(mine.$sum$, $name$);
  //@ end
  //@ end)
  //@ end
  for ($I$ begin = $from$; begin < $to$;) {
    const $I$ end = $to$ - begin > $PLAIN$$u$ * $apart$ ? begin + $PLAIN$$u$ * $apart$ : $to$;
    //@ if not by_terms(step) then
    //@ clear()
    //@ end
    for ($I$ term = begin; term < end; term += $apart$) {
      //@ if vectors or by_terms(step) then
      //@ each(step, vectors and "i" .. along or ("vector * %d%s"):format(V, u), by_terms(step) or reads_there(step.terms), {
      //@   before = function()
      //@   bring(step, step.terms, nil, stays(step, step.of.over, true))
      //@   if by_terms(step) then
      //@   clear()
      //@   end
      //@   end,
      //@   each = function()
      //@   take(step, vectors and "mine[e]" or "mine", plain)
      //@   end,
      //@   after = function()
      //@   if by_terms(step) then
      //@   carry()
      //@   end
      //@   end,
      //@ })
      //@ else
      //@ bring(step, step.terms, nil, stays(step, step.of.over, true))
      //@ take(step, "mine", plain)
      //@ end
      $(index(loops[#loops])) += $apart$;
      //@ for i = #loops, 2, -1 do
      //@ local inner, outer = loops[i], loops[i - 1]
      if ($(index(inner)) >= $(extent(step, inner))) {
        const $I$ carried = $(index(inner)) / $(extent(step, inner));
        $(index(inner)) -= carried * $(extent(step, inner));
        $(index(outer)) += carried;
      }
      //@ end
    }
    //@ if not by_terms(step) then
    //@ carry()
    //@ end
    begin = end;
  }
}
//@ end
//@ end
//@ -- The results of what was gathered.
//@ local function results(step, mine)
//@ for _, r in ipairs(step.of.gathered) do
//@ if r.kind == "sum" then
const $k.number$ $r.name$_result = lathe_result($mine$.$r.name$);
//@ elseif k:is_index(r.kind) then
const int64_t $r.name$_result = $mine$.$r.name$.index == lathe_nowhere ? int64_t(-1) : int64_t($mine$.$r.name$.index);
//@ else
const $k.number$ $r.name$_result = $mine$.$r.name$.value;
//@ end
//@ end
//@ end
//@ -- Stores what follows at a point or a vector of points. wanted: what it reads that has not been read before.
//@ local function store(step, turned, wanted)
//@ local vectors = by_points(step)
//@ local function is_whole(value) return vectors and not value.name and not (turned and turned[value.operand]) end
//@ local names_index = false
//@ for _, value in ipairs(step.of.values) do
//@ names_index = names_index or value.name ~= nil
//@ end
//@ local body = {
//@   before = function()
//@   bring(step, #step.values.results > 0 and step.values or {}, turned, wanted)
//@   for _, value in ipairs(step.of.values) do
//@   if is_whole(value) then
$k.number$ $value.operand.name$_made[$V$];
//@   end
//@   end
//@   end,
//@   each = function()
//@   results(step, vectors and "mine[e]" or "mine")
//@   if #step.values.results > 0 then
//@   P.call(step.values.point, input(step, turned))
//@   end
//@   for _, value in ipairs(step.of.values) do
//@   local operand, name = value.operand, value.operand.name
//@   if turned and turned[operand] then
$(turned[operand])[row + e][column] = $name$_;
//@   elseif is_whole(value) then
$name$_made[e] = $name$_;
//@   elseif value.name then
$(element(operand)) = $value.name$_result;
//@   elseif operand.temporary then
$(element(operand)) = $name$_;
//@   else
$(k:put(operand))($(address(operand)), $name$_);
//@   end
//@   end
//@   end,
//@   after = function()
//@   for _, value in ipairs(step.of.values) do
//@   if is_whole(value) then
//@   local apart, whole = apart_of(step, value.operand)
//@   store_vector(value.operand, at_first(step, value.operand), apart, whole, function(e) return ("%s_made[%d]"):format(value.operand.name, e) end)
//@   end
//@   end
//@   end,
//@ }
//@ if vectors then
//@ each(step, "i" .. step.of.along, names_index or reads_there(step.values), body)
//@ else
//@ body.before()
//@ body.each()
//@ end
//@ end
//@
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
//@ -- Goes along an axis: a point's invocations take so many places each, and then the next so many. Those of a workgroup
//@ -- merge what they have with what those before them have, in the order of places, and go over their places once more.
//@ local function scan(step, shape, room)
//@ local place, merged, type, lanes = step.of.scanned, S.phase_of(step).reductions, step.name .. "_gathered", shape.lanes
//@ local places = "dim" .. place - 1
//@ local function put()
//@ for w, word in ipairs(words_of(step, "mine")) do
$room$[$((w - 1) * lanes * shape.points)u + thread_at] = $word$;
//@ end
barrier();
//@ end
//@ local function got(lane)
//@   return from_words(step, function(w) return ("%s[%du + (%s) * %du + own]"):format(room, w * lanes * shape.points, lane, shape.points) end)
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
//@ store_vector(operand, "from", bytes_of(operand) .. "ul", "aligned", function(e) return ("%s[row][column + %du]"):format(tile, e) end)
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
//@ local words = 0
//@ for nth = kernel.first, kernel.last do
//@ name[#name + 1] = k.steps[nth].of.name
//@ words = math.max(words, first.of.scanned and #words_of(first, "mine") * shape.points * shape.lanes or room_of(k.steps[nth], shape))
//@ end
//@ if shape.turned then
//@ local across = schedule.steps[kernel.first].across
shared $k.number$ $room$[$(#across.operands)][$across.side$][$(across.side + 1)];

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
