//@ -- What a stream's masks by places come to over a whole tile (gen/pour/ranges.lua), in C, CUDA and GLSL: where its
//@ -- rows lie along axes, and what is asked of its keys. first: the inner step of a pass. has: texts of the language:
//@ --   fields       before the fields of what rows_of makes, as "at."; "" where they are variables
//@ --   loop         before a field of the step
//@ --   rows, keys   how many there are of each in all
//@ --   by_warp      whether a warp's threads ask together, so that each looks at some of a tile
//@ --   own          of GLSL: a text of C's with what arguments are called there
//@ --   element      of GLSL: an operand's number at an index
//@ --   language     as elsewhere.c has it
//@ --   ends         before what keys_of makes; nil where each question finds that itself
//@ local S = use "contract_step.c"
//@ local E = use "elsewhere.c"

//@ local EXACT = k:literal(2.0 ^ (k.spelling.bits == 64 and 53 or 24))
//@ local function as_number(x) return k.language.cast:format(k.number, x) end
//@ local function own(has, c) return has.own and has.own(c) or c end

//@ -- The range of places along an axis, of an index from one on to another.
//@ local function range(first, has, of, from, to)
//@   local _, within, extent = S.index_of(first, of.place)
//@   return own(has, ("lathe_places(%s, %s, %s, %s)"):format(from, to, within, extent or "0"))
//@ end
//@ local function is_of_keys(first, of)
//@   return S.index_of(first, of.place) == "n"
//@ end
//@ -- The temporaries that have to be finite numbers where nothing counts: those of keys, or those of rows.
//@ local function finite(first, of_keys)
//@   local list = {}
//@   for _, of in ipairs(first.rules_out and first.finite or {}) do
//@     list[#list + 1] = (S.kind(first, of.operand, "n") ~= "none") == of_keys and of or nil
//@   end
//@   return list
//@ end
//@ local function is_zero(has)
//@   return has.by_warp and "__all_sync(0xffffffffu, others == 0)" or "others == 0"
//@ end
//@ -- Declares the last of some indexes from one on, where it is read.
//@ local function last_of(letter, all, some, is_read)
//@ if is_read then
const size_t last = $all$ - $letter$ < $some$ ? $all$ - 1 : $letter$ + $some$ - 1;
//@ end
//@ end
//@ -- Counts in `others` the numbers of some temporaries that are not finite, from an index to the last.
//@ local function count_others(first, has, list, letter)
int others = 0;
for (size_t i = $letter$$(has.by_warp and " + threadIdx.x % 32" or ""); i <= last; i += $(has.by_warp and 32 or 1)) {
  //@ for _, of in ipairs(list) do
  //@ local operand = of.operand
  //@ local at = S.offset(first, operand, { [letter] = "i" }):gsub("here%->", has.loop)
  //@ local element = has.element and has.element(operand, at) or ("%s%s[%s]"):format(has.loop, operand.name, at)
  others += $element$ >= -$of.largest$ && $element$ <= $of.largest$ ? 0 : 1;
  //@ end
}
//@ end
//@ -- The ends of an index operand's numbers at a tile's keys or rows, from an index to the last.
//@ local function ends_of(first, has, of)
//@ local letter = of.side or "m"
//@ local function index(place)
//@   local from, within, extent = S.index_of(first, place)
//@   return own(has, S.place_of(from == letter and "i" or has.loop .. from, within, extent))
//@ end
$k.number$ $of.name$least = INFINITY, $of.name$most = -INFINITY;
//@ local first_i = letter .. (has.by_warp and of.side and " + threadIdx.x % 32" or "")
for (size_t i = $first_i$; i <= $(of.side and "last" or letter); i += $(has.by_warp and 32 or 1)) {
  const $k.number$ number = $(own(has, E.number({ kind = "whole", index = of.index }, index, has.language)));
  $of.name$least = number < $of.name$least ? number : $of.name$least;
  $of.name$most = number > $of.name$most ? number : $of.name$most;
}
/* Larger ones are rounded, and may be any. */
if (!($of.name$least > -$EXACT$ && $of.name$most < $EXACT$)) {
  $of.name$least = -INFINITY;
  $of.name$most = INFINITY;
}
//@ if has.by_warp and of.side then
$of.name$least = -lathe_most_of_warp(-$of.name$least);
$of.name$most = lathe_most_of_warp($of.name$most);
//@ end
//@ end
//@ -- The index operands of a tile's keys, or the others.
//@ local function indexes(first, of_keys)
//@   local list = {}
//@   for _, of in ipairs(first.indexes or {}) do
//@     list[#list + 1] = (of.side == "n") == of_keys and of or nil
//@   end
//@   return list
//@ end
//@ -- Declares their ends, and sets those; before: what is before the fields.
//@ local function declare_ends(list)
//@ for _, of in ipairs(list) do
$k.number$ $of.name$lo, $of.name$hi;
//@ end
//@ end
//@ local function set_ends(first, has, list, before)
//@ for _, of in ipairs(list) do
{
  //@ ends_of(first, has, of)
  $before$$of.name$lo = $of.name$least;
  $before$$of.name$hi = $of.name$most;
}
//@ end
//@ end
//@ -- Declares what is known of a tile's keys, and sets it, of `keys` keys from n on: where has.ends is what is before
//@ -- the fields, for more than one question.
//@ function key_fields(first)
//@ declare_ends(indexes(first, true))
//@ end
//@ function keys_of(first, has)
//@ local list = indexes(first, true)
//@ last_of("n", has.keys, "keys", #list > 0)
//@ set_ends(first, has, list, has.ends)
//@ end
//@ -- Declares what is known of some rows.
//@ function fields(first)
//@ for _, of in ipairs(first.places or {}) do
//@ if not is_of_keys(first, of) then
$k.number$ $of.name$lo, $of.name$hi;
//@ end
//@ end
//@ declare_ends(indexes(first, false))
//@ for _, list in ipairs { first.points or {}, first.scalars or {} } do
//@ for _, of in ipairs(list) do
$k.number$ $of.name$;
//@ end
//@ end
//@ if #finite(first, false) > 0 then
bool are_finite;
//@ end
//@ end
//@ -- Sets them, of `rows` rows from m on; args: the call's.
//@ function rows_of(first, has)
//@ local list = finite(first, false)
//@ local is_read = #list > 0
//@ for _, of in ipairs(first.places or {}) do
//@   is_read = is_read or S.index_of(first, of.place) == "m"
//@ end
//@ for _, of in ipairs(first.indexes or {}) do
//@   is_read = is_read or of.side == "m"
//@ end
//@ last_of("m", has.rows, "rows", is_read)
//@ for _, of in ipairs(first.places or {}) do
//@ local index = S.index_of(first, of.place)
//@ if not is_of_keys(first, of) then
const lathe_range $of.name$ = $(index == "m" and range(first, has, of, "m", "last") or range(first, has, of, has.loop .. index, has.loop .. index));
$has.fields$$of.name$lo = $(as_number(of.name .. ".from"));
$has.fields$$of.name$hi = $(as_number(of.name .. ".to"));
//@ end
//@ end
//@ set_ends(first, has, indexes(first, false), has.fields)
//@ for _, of in ipairs(first.points or {}) do
$has.fields$$of.name$ = $(as_number(own(has, "(" .. S.size(of.places) .. ")")));
//@ end
//@ for _, of in ipairs(first.scalars or {}) do
$has.fields$$of.name$ = $(as_number(own(has, ("args->scalar[%d]"):format(of.place - 1))));
//@ end
//@ if #list > 0 then
//@ count_others(first, has, list, "m")
$has.fields$are_finite = $(is_zero(has));
//@ end
//@ end
//@ -- What is asked of `keys` keys from n on, by where they and the rows lie along axes. list: temporaries of keys.
//@ local function known(first, has, what, list)
//@ local function declare(name, value)
//@ if what:find(name, 1, true) and name ~= value then
const $k.number$ $name$ = $value$;
//@ end
//@ end
//@ local is_read = #list > 0
//@ for _, of in ipairs(first.places) do
//@   is_read = is_read or is_of_keys(first, of)
//@ end
//@ for _, of in ipairs(first.indexes) do
//@   is_read = is_read or not has.ends and of.side == "n" and what:find(of.name, 1, true)
//@ end
//@ last_of("n", has.keys, "keys", is_read)
//@ for _, of in ipairs(first.places) do
//@ if is_of_keys(first, of) then
const lathe_range $of.name$ = $(range(first, has, of, "n", "last"));
//@ declare(of.name .. "lo", as_number(of.name .. ".from"))
//@ declare(of.name .. "hi", as_number(of.name .. ".to"))
//@ else
//@ declare(of.name .. "lo", has.fields .. of.name .. "lo")
//@ declare(of.name .. "hi", has.fields .. of.name .. "hi")
//@ end
//@ end
//@ for _, of in ipairs(first.indexes) do
//@ local from, is_found = of.side == "n" and has.ends or has.fields, of.side == "n" and not has.ends
//@ if is_found and what:find(of.name, 1, true) then
//@ ends_of(first, has, of)
//@ end
//@ declare(of.name .. "lo", is_found and of.name .. "least" or from .. of.name .. "lo")
//@ declare(of.name .. "hi", is_found and of.name .. "most" or from .. of.name .. "hi")
//@ end
//@ for _, of in ipairs(first.finite) do
//@ declare(of.name .. "lo", "-" .. of.largest)
//@ declare(of.name .. "hi", of.largest)
//@ end
//@ for _, list in ipairs { first.points, first.scalars } do
//@ for _, of in ipairs(list) do
//@ declare(of.name, has.fields .. of.name)
//@ end
//@ end
//@ end
//@ -- Declares `skips`, whether no key of a tile counts in any of these rows: where rules_out is known.
//@ function skips(first, has)
//@ local list = finite(first, true)
//@ known(first, has, first.rules_out, list)
bool skips = ($first.rules_out$)$(#finite(first, false) > 0 and " && " .. has.fields .. "are_finite" or "");
//@ if #list > 0 then
if (skips) {
  //@ count_others(first, has, list, "n")
  skips = $(is_zero(has));
}
//@ end
//@ end
//@ -- Declares `is_free`, whether all keys of a tile do by their places: where restricted is known.
//@ function is_free(first, has)
//@ known(first, has, first.restricted, {})
const bool is_free = !($first.restricted$);
//@ end
