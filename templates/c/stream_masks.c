//@ -- What a stream's masks by places come to over a whole tile (gen/pour/ranges.lua), in C and in CUDA: where its rows lie
//@ -- along axes, and what is asked of its keys. first: the inner step of a pass. has: texts of the target language:
//@ --   fields       before the fields of what rows_of makes, as "at."
//@ --   loop         before a field of the step
//@ --   rows, keys   how many there are of each in all
//@ --   by_warp      whether a warp's threads ask together, so that each looks at some of a tile
//@ local S = use "contract_step.c"

//@ -- The range of places along an axis, of an index from one on to another.
//@ local function range(first, of, from, to)
//@   local _, within, extent = S.index_of(first, of.place)
//@   return ("lathe_places(%s, %s, %s, %s)"):format(from, to, within, extent or "0")
//@ end
//@ local function is_of_keys(first, of)
//@   return S.index_of(first, of.place) == "n"
//@ end
//@ -- The temporaries that have to be finite numbers where nothing counts: those of keys, or those of rows.
//@ local function finite(first, of_keys)
//@   local list = {}
//@   for _, of in ipairs(first.rules_out and first.finite or {}) do
//@     list[#list + 1] = (S.kind(first, of.operand, "n") ~= "none") == of_keys and of.operand or nil
//@   end
//@   return list
//@ end
//@ local function is_zero(has)
//@   return has.by_warp and "__all_sync(0xffffffffu, apart == 0)" or "apart == 0"
//@ end
//@ -- Sums what some temporaries are less themselves, from an index to the last, to `apart`: 0 of finite numbers alone.
//@ local function sum_apart(first, has, list, letter)
$k.number$ apart = 0;
for (size_t i = $letter$$(has.by_warp and " + threadIdx.x % 32" or ""); i <= last; i += $(has.by_warp and 32 or 1)) {
  //@ for _, operand in ipairs(list) do
  //@ local at = S.offset(first, operand, { [letter] = "i" }):gsub("here%->", has.loop)
  apart += $has.loop$$operand.name$[$at$] - $has.loop$$operand.name$[$at$];
  //@ end
}
//@ end
//@ -- Declares what is known of some rows.
//@ function fields(first)
//@ for _, of in ipairs(first.places or {}) do
//@ if not is_of_keys(first, of) then
$k.number$ $of.name$lo, $of.name$hi;
//@ end
//@ end
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
const size_t last = $has.rows$ - m < rows ? $has.rows$ - 1 : m + rows - 1;
(void)last;
//@ for _, of in ipairs(first.places or {}) do
//@ local index = S.index_of(first, of.place)
//@ if not is_of_keys(first, of) then
const lathe_range $of.name$ = $(index == "m" and range(first, of, "m", "last") or range(first, of, has.loop .. index, has.loop .. index));
$has.fields$$of.name$lo = ($k.number$)$of.name$.from;
$has.fields$$of.name$hi = ($k.number$)$of.name$.to;
//@ end
//@ end
//@ for _, of in ipairs(first.points or {}) do
$has.fields$$of.name$ = ($k.number$)($(S.size(of.places)));
//@ end
//@ for _, of in ipairs(first.scalars or {}) do
$has.fields$$of.name$ = ($k.number$)args->scalar[$(of.place - 1)];
//@ end
//@ local list = finite(first, false)
//@ if #list > 0 then
//@ sum_apart(first, has, list, "m")
$has.fields$are_finite = $(is_zero(has));
//@ end
//@ end
//@ -- What is asked of `keys` keys from n on, by where they and the rows lie along axes.
//@ local function known(first, has, what)
//@ local function declare(name, value)
//@ if what:find(name, 1, true) then
const $k.number$ $name$ = $value$;
//@ end
//@ end
const size_t last = $has.keys$ - n < keys ? $has.keys$ - 1 : n + keys - 1;
(void)last;
//@ for _, of in ipairs(first.places) do
//@ if is_of_keys(first, of) then
const lathe_range $of.name$ = $(range(first, of, "n", "last"));
//@ declare(of.name .. "lo", "(" .. k.number .. ")" .. of.name .. ".from")
//@ declare(of.name .. "hi", "(" .. k.number .. ")" .. of.name .. ".to")
//@ else
//@ declare(of.name .. "lo", has.fields .. of.name .. "lo")
//@ declare(of.name .. "hi", has.fields .. of.name .. "hi")
//@ end
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
//@ -- Whether no key of a tile counts in any of these rows: where rules_out is known.
//@ function skips(first, has)
//@ known(first, has, first.rules_out)
if (!($first.rules_out$)$(#finite(first, false) > 0 and " || !" .. has.fields .. "are_finite" or ""))
  return false;
//@ local list = finite(first, true)
//@ if #list > 0 then
//@ sum_apart(first, has, list, "n")
return $(is_zero(has));
//@ else
return true;
//@ end
//@ end
//@ -- Whether all keys of a tile do by their places: where restricted is known.
//@ function is_free(first, has)
//@ known(first, has, first.restricted)
return !($first.restricted$);
//@ end
