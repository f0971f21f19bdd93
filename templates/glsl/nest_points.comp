//@ -- What an invocation of a nest does at its points and terms: where elements are, how they are read, gathered and
//@ -- stored.

//@ local P = use "parts.comp"
//@ local S = use "../c/nest_step.c"
//@ local C = use "contract_step.comp"
//@ -- Of the kernel that is being written: the type of its indexes, what ends their literals, the elements of its
//@ -- vectors, and whether steps share it, of which one reads what another stored.
//@ local I, u, V, is_fused
//@ function set_kernel(...) I, u, V, is_fused = ... end
//@ local PLAIN = 8 -- terms of a sum, or vectors of them, that are added up before rounding errors are carried
//@ has = S.has
//@ function by_points(step) return V > 1 and has(step.of.axes, step.of.along) end
//@ local function by_terms(step) return V > 1 and has(step.of.over, step.of.along) end
//@ -- Text in the kernel's own extents.
//@ function own(text) return (text:gsub("args%->dim%[(%d+)%]", "dim%1")) end
//@ function bytes_of(operand)
//@   return operand.integers and 4 or operand.temporary and k.spelling.bits // 8 or k:bytes_of(operand)
//@ end
//@ -- The address of an element; instead: by place, the text of other indexes.
//@ function address(operand, instead)
//@   local home = operand.temporary and operand.name .. "_at" or "args." .. operand.name
//@   local index = own(S.at(operand.dim_index, nil, nil, instead))
//@   return index == "0" and home or ("%s + uint64_t(%s) * %dul"):format(home, index, bytes_of(operand))
//@ end
//@ function element(operand, instead)
//@   local type = operand.dtype and "lathe_integer" or operand.integers and "lathe_word"
//@   return ("%s(%s).at"):format(type or is_fused and "lathe_kept" or "lathe_number", address(operand, instead))
//@ end
//@ local function get(operand, instead)
//@   if operand.dtype or operand.temporary then
//@     return element(operand, instead)
//@   end
//@   return k:get(operand) .. "(" .. address(operand, instead) .. ")"
//@ end
//@ -- How an operand's elements lie along a step's vectors, and how far apart.
//@ function lie(step, operand)
//@   local how, within = S.lie(step, operand)
//@   return how, within and own(within)
//@ end
//@ -- The words of places, where a point is at `index` of an axis' place.
//@ local function words_at(index)
//@   return C.language.words(index, function(name) return get(S.operand_of(name)) end)
//@ end
//@ words = words_at(function(place) return "int64_t(i" .. place .. ")" end)
//@ -- The first and the last place of a loop that has a span, which an invocation's points along the vectors share.
//@ local function span(step, place)
//@   local shared = by_points(step) and step.of.along
//@   local function ends(node, more)
//@     return k.place(node, words_at(function(place)
//@       return ("int64_t(i%d%s)"):format(place, more and place == shared and more or "")
//@     end))
//@   end
//@   return ends(step.of.spans[place].low), ends(step.of.spans[place].high, (" + %d%s"):format(V - 1, u))
//@ end
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
//@ function words_of(step, mine) return P.words(S.phase_of(step), mine) end
//@ function from_words(step, word) return P.from_words(step.name .. "_gathered", S.phase_of(step), word) end
//@
//@ -- Accesses to a vector: how many of an operand's, and how many elements one has.
//@ function accesses(operand)
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
//@ local function begins(from, first, apart) return from .. (first > 0 and (" + %dul * %s"):format(first, apart)
//@   or "") end
//@ -- Reads a vector of an operand to NAME_read, from an address on; apart: bytes from an element to the next.
//@ function load(operand, from, apart, whole)
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
//@ function store_vector(operand, to, apart, whole, value)
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
//@ function stays(step, set, not_so)
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
//@ function bring(step, part, turned, wanted)
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
//@ function each(step, begin, guarded, body)
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
//@ function count(step, places)
//@   local list = {}
//@   for i, place in ipairs(places) do
//@     list[i] = extent(step, place)
//@   end
//@   return #list > 0 and table.concat(list, " * ") or "1" .. u
//@ end
//@ local function decode(step, places, number, declare, extent_of)
//@ for i = #places, 1, -1 do
//@ local place = places[i]
//@ local all = extent_of and extent_of(place) or extent(step, place)
$(declare(place, number .. (i > 1 and " % " .. all or "")));
//@ if i > 1 then
$number$ /= $all$;
//@ end
//@ end
//@ end
//@ function decode_points(step, places, number)
//@   decode(step, places, number, function(place, index)
//@     return ("const %s i%d = %s"):format(I, place, V > 1 and place == step.of.along
//@       and ("(%s) * %d%s"):format(index, V, u) or index)
//@   end)
//@ end
//@
//@ -- What a step has ahead of all: where temporaries are, and whether vectors may be read by accesses of several
//@ -- elements.
//@ function begin(step)
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
//@ function take(step, mine, plain)
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
//@ -- Of those of a listed step's terms that count for its points: how many there are before them, and how many.
//@ local function count_listed(step)
//@ local listed, target = step.of.listed, step.of.listed.target
//@ local function ends_at(index) return element(listed.ends, { [target] = index }) end
const $I$ last = min(i$target$ + $(target == step.of.along and V or 1)$u$, dim$(target - 1));
const $I$ skipped = i$target$ > 0$u$ ? $(ends_at("i" .. target .. " - 1" .. u)) : 0$u$;
const $I$ listed = $(ends_at("last - 1" .. u)) - skipped;
//@ end
//@ -- Takes terms from one on, each so many after the one before.
//@ function terms(step, from, to, apart)
//@ local pick, loops, along = S.gathers(step, "pick"), step.of.loops, step.of.along
//@ if pick then
const int64_t index = $(get(S.operand_of(pick.index.name)));
if ($from$ < $to$ && uint64_t(index) < dim$(loops[1] - 1)) {
  const $I$ i$(loops[1]) = $I$(index);
  //@ take(step, "mine")
}
//@ else
//@ local listed, spans, all = step.of.listed, step.of.spans, {}
//@ local function index(place)
//@   return by_terms(step) and place == along and "vector" or (spans[place] and "within" or "i") .. place
//@ end
//@ local function extent_of(place) return spans[place] and "all" .. place or extent(step, place) end
$I$ nth = $from$;
//@ loops = S.loops_besides(step)
//@ if listed then
//@ count_listed(step)
//@ all[1] = "listed"
//@ end
//@ local has_spans = false
//@ for _, place in ipairs(loops) do
//@ all[#all + 1], has_spans = extent_of(place), has_spans or spans[place]
//@ if spans[place] then
//@ local low, high = span(step, place)
const int64_t of$place$ = int64_t(dim$(place - 1));
const $I$ from$place$ = $I$(clamp($low$, 0l, of$place$));
const $I$ all$place$ = $I$(clamp($high$ + 1l, int64_t(from$place$), of$place$)) - from$place$;
//@ end
//@ end
//@ if listed or has_spans then
const $I$ end_counted = min($to$, $(table.concat(all, " * ")));
//@ to = "end_counted"
//@ end
if (nth < $to$) {
  //@ bring(step, step.terms, nil, stays(step, step.of.over))
  //@ if listed then
  const $I$ each_listed = $(count(step, loops));
  $I$ entry = nth / each_listed;
  nth %= each_listed;
  //@ end
  //@ local function declare(place, value) return ("%s %s = %s"):format(I, index(place), value) end
  //@ decode(step, loops, "nth", declare, extent_of)
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
      //@ for _, place in ipairs(loops) do
      //@ if spans[place] then
      const $I$ i$place$ = from$place$ + within$place$;
      //@ end
      //@ end
      //@ if listed then
      //@ local places_at = address(listed.places, S.first_of(listed, "0" .. u))
      const $I$ nth_place = lathe_word($places_at$ + uint64_t(skipped + entry) * 4ul).at;
      //@ S.decode_listed(listed, "nth_place", function(place, text)
      const $I$ i$place$ = $(own(text));
      //@ end)
      //@ end
      //@ if vectors or by_terms(step) then
      //@ each(step, vectors and "i" .. along or ("vector * %d%s"):format(V, u), by_terms(step)
      //@   or reads_there(step.terms), {
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
      $(#loops > 0 and index(loops[#loops]) or "entry") += $apart$;
      //@ for i = #loops, listed and 1 or 2, -1 do
      //@ local inner, outer = loops[i], i > 1 and index(loops[i - 1]) or "entry"
      if ($(index(inner)) >= $(extent_of(inner))) {
        const $I$ carried = $(index(inner)) / $(extent_of(inner));
        $(index(inner)) -= carried * $(extent_of(inner));
        $outer$ += carried;
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
//@ function store(step, turned, wanted)
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
//@   store_vector(value.operand, at_first(step, value.operand), apart, whole,
//@     function(e) return ("%s_made[%d]"):format(value.operand.name, e) end)
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
