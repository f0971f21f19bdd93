//@ -- What a stream's masks by places come to over a whole tile (gen/pour/ranges.lua), in C and in CUDA: where its rows lie
//@ -- along axes, and what is asked of its keys. has: texts of the target language:
//@ --   fields       before the fields of what rows_of makes, as "at."
//@ --   loop         before the index of a loop
//@ --   rows, keys   how many there are of each in all
//@ local S = use "contract_step.c"
//@ local first = k.steps[1]

//@ -- The range of places along an axis, of an index from one on to another.
//@ local function range(of, from, to)
//@   local _, within, extent = S.index_of(first, of.place)
//@   return ("lathe_places(%s, %s, %s, %s)"):format(from, to, within, extent or "0")
//@ end
//@ local function is_of_keys(of)
//@   return S.index_of(first, of.place) == "n"
//@ end
//@ -- Declares what is known of some rows.
//@ function fields()
//@ for _, of in ipairs(first.places or {}) do
//@ if not is_of_keys(of) then
$k.number$ $of.name$lo, $of.name$hi;
//@ end
//@ end
//@ for _, of in ipairs(first.points or {}) do
$k.number$ $of.name$;
//@ end
//@ for _, of in ipairs(first.scalars or {}) do
$k.number$ $of.name$;
//@ end
//@ end
//@ -- Sets them, of `rows` rows from m on; args: the call's.
//@ function rows_of(has)
const size_t last = $has.rows$ - m < rows ? $has.rows$ - 1 : m + rows - 1;
(void)last;
//@ for _, of in ipairs(first.places or {}) do
//@ local index = S.index_of(first, of.place)
//@ if not is_of_keys(of) then
const lathe_range $of.name$ = $(index == "m" and range(of, "m", "last") or range(of, has.loop .. index, has.loop .. index));
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
//@ end
//@ -- What is asked of `keys` keys from n on, by where they and the rows lie along axes.
//@ local function asks(what, has)
//@ local function known(name, value)
//@ if what:find(name, 1, true) then
const $k.number$ $name$ = $value$;
//@ end
//@ end
const size_t last = $has.keys$ - n < keys ? $has.keys$ - 1 : n + keys - 1;
(void)last;
//@ for _, of in ipairs(first.places) do
//@ if is_of_keys(of) then
const lathe_range $of.name$ = $(range(of, "n", "last"));
//@ known(of.name .. "lo", "(" .. k.number .. ")" .. of.name .. ".from")
//@ known(of.name .. "hi", "(" .. k.number .. ")" .. of.name .. ".to")
//@ else
//@ known(of.name .. "lo", has.fields .. of.name .. "lo")
//@ known(of.name .. "hi", has.fields .. of.name .. "hi")
//@ end
//@ end
//@ for _, list in ipairs { first.points, first.scalars } do
//@ for _, of in ipairs(list) do
//@ known(of.name, has.fields .. of.name)
//@ end
//@ end
return $what$;
//@ end
//@ -- Whether no key of a tile counts in any of these rows: where first.largest is known.
//@ function skips(has)
//@   asks(first.largest .. " == -INFINITY", has)
//@ end
//@ -- Whether all keys of a tile do by their places: where first.restricted is known.
//@ function is_free(has)
//@   asks("!(" .. first.restricted .. ")", has)
//@ end
