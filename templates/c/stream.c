//@ if first then
/* Products of operands whose results are reduced over their rows or columns alone (gen/program/stream.lua), in passes.
 * In each some rows go through all columns, called keys here, a block of keys at a time: what products come to there,
 * what is gathered of these, and what they add to products over the keys stay in the first caches. The largest power of
 * a row may grow from block to block; what was gathered before is made smaller then. The keys of a matrix are packed
 * once, as contract.c packs a factor. Limited by arithmetic: 2 operations for each row, key and term of each product,
 * and a power. */
#include "stream.h"

//@ end
//@ local S = use "contract_step.c"
//@ local Pack = use "contract_pack.c"
//@ local Tile = use "contract_tile.c"
//@ local Factor = use "chain_factor.c"
//@ local Masks = use "stream_masks.c"
//@ local record, L, own = k.record, k.lanes, k.own
//@ local one = L > 1 and "1" or nil -- lanes of what is one number
//@ local tallest = 1
//@ for _, v in ipairs(variants) do
//@   tallest = math.max(tallest, v.params.mr)
//@ end
//@ local TEMPORARIES = S.bytes_of_temporaries()
//@ -- Vectors of a row's `count` numbers from i = 0 on, and what is left of them, of which lanes are "lanes". in_turn:
//@ -- each second vector is told so, to be gathered apart from the first.
//@ local function vectors(count, body, in_turn)
{
  size_t i = 0;
  //@ if in_turn then
  for (; $count$ - i >= $(2 * L); i += $L$) {
    {
      //@ body()
    }
    i += $L$;
    {
      //@ body(nil, true)
    }
  }
  //@ end
  for (; $count$ - i >= $L$; i += $L$) {
    //@ body()
  }
  //@ if L > 1 then
  if (i < $count$) {
    const size_t lanes = $count$ - i;
    (void)lanes;
    //@ body("lanes")
  }
  //@ end
}
//@ end
//@ -- Of a vector of which `lanes` count, the others as nothing.
//@ local function counted(value, lanes, nothing)
//@   return lanes and own:text("select", own:text("mask_part", lanes), value, nothing) or value
//@ end
//@ -- The parameters of a matrix's number, and the arguments, of a step's loops.
//@ local function each_loop(step, text)
//@   local list = {}
//@   for i in ipairs(S.loops_of(step)) do
//@     list[i] = ", " .. text .. "loop" .. i
//@   end
//@   return table.concat(list)
//@ end
//@ for _, step in ipairs(k.steps) do
//@ S.define(step)
//@ -- A matrix's operands, at the indexes of the loops around it.
//@ local places = {}
//@ for i, run in ipairs(S.loops_of(step)) do
//@   places[i] = { run = run, index = "loop" .. i }
//@ end
static $step.name$ $step.name$_at(const lathe_args *args$(each_loop(step, "size_t "))) {
  //@ S.declare(step)
  //@ if #record.temporaries > 0 then
  char *const temporaries = (char *)args->workspace;
  (void)temporaries;
  //@ end
  //@ S.place(step, places)
  //@ for i in ipairs(S.placed_loops(step)) do
  here.loop$i$_ = loop$i$;
  //@ end
  return here;
}

//@ end
//@ -- What kernels of a pass are made of: its steps, the numbers at a point, and how many lines of these a tile has.
//@ local function facts_of(pass)
//@   local made = { pass = pass, inner = pass.inner, stem = pass.inner.name, place_of = {},
//@     peak = pass.of.peak ~= nil }
//@   for i, value in ipairs(pass.of.values) do
//@     made.place_of[value.operand.name] = i - 1
//@   end
//@   made.lines = math.max(#pass.of.values, #pass.firsts, #pass.lasts, 1)
//@   made.has = { fields = "at->", loop = "here->", language = S.language, rows = S.size(S.core(pass.inner, "m")),
//@     keys = S.size(S.core(pass.inner, "n")) }
//@   return made
//@ end
//@ -- What a name comes to at a vector of points, times the power there.
//@ local function at_point(f, name, powered)
//@   local of = f.place_of[name] and "of" .. f.place_of[name]
//@   return of and powered and own:text("mul", "power", of) or of or powered and "power" or k:constant(1)
//@ end
//@ -- What is asked of a tile by places.
//@ local function define_masks(f)
//@ local first, stem = f.inner, f.stem
/* Where some rows lie along axes. */
typedef struct $stem$_rows {
  //@ Masks.fields(first)
  char none; /* where there is nothing of these */
} $stem$_rows;

static $stem$_rows $stem$_rows_at(const $first.name$ *here, size_t m, size_t rows) {
  const lathe_args *args = here->args;
  $stem$_rows at;
  (void)args, (void)m, (void)rows;
  at.none = 0;
  //@ Masks.rows_of(first, { fields = "at.", loop = "here->", rows = f.has.rows, language = S.language })
  return at;
}

//@ -- Defines a function that asks something of a tile.
//@ local function ask(name, define)
static bool $stem$_$name$(const $stem$_rows *at, const $first.name$ *here, size_t n, size_t keys) {
  const lathe_args *args = here->args;
  (void)args, (void)at, (void)n, (void)keys;
  //@ define(first, f.has)
  return $name$;
}

//@ end
//@ if first.rules_out then
//@ ask("skips", Masks.skips)
//@ end
//@ if first.restricted then
//@ ask("is_free", Masks.is_free)
//@ end
//@ end
//@ -- Gathers of a tile's rows what their sums at some keys come to, and leaves the factors of products over keys in
//@ -- their place. Of points numbers of a row lie `apart`, and rows `from_row`. by[nth]: what sums below the nth row's
//@ -- peak are to be multiplied by. Peaks of all rows are found together, so that none waits for another's.
//@ local function define_gather(f, values, name)
//@ local pass, first, stem = f.pass, f.inner, f.stem
//@ local function line(i) return i .. " * apart + i" end
//@ local function each_row(body)
for (size_t nth = 0; nth < high; nth++) {
  $k.number$ *const at = points + nth * from_row;
  const size_t row = first_row + nth;
  (void)at, (void)row;
  //@ body()
}
//@ end
static inline void $stem$_$name$(const $first.name$ *here, $stem$_row *of_rows, $k.number$ *points, size_t apart,
    size_t from_row, size_t first_row, size_t high, size_t key, size_t keys$(f.peak and ", " .. k.number .. " *by" or "")) {
  //@ S.prelude(values)
  (void)here, (void)of_rows, (void)key, (void)apart;
  //@ local places = { m = "row", n = "(key + i)" }
  //@ local nth_of = {}
  //@ for i, step in ipairs(pass.firsts) do
  //@   nth_of[step.of.name] = i - 1
  //@ end
  //@ local function call(lanes)
  //@ S.call(first, values, places, "n", lanes, function(step) return own:text("load_own", "at",
  //@   line(nth_of[step])) end)
  //@ end
  //@ -- Adds to sums, and leaves what factors are, where a vector's numbers are of0, of1, ... and power.
  //@ local function take(lanes)
  //@ for i = 0, #pass.of.values - 1 do
  (void)of$i$;
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  $sum.name$_all = $(own:text("add", sum.name .. "_all", counted(at_point(f, sum.name, sum.powered), lanes, k:constant(0))));
  //@ end
  //@ for i, last in ipairs(pass.lasts) do
  $(own:text("store_own", "at", line(i - 1), at_point(f, last.of.weight, last.of.powered)));
  //@ end
  //@ end
  //@ if f.peak then
  $k.number$ lanes_of[$tallest$][$L$];
  $(first.powers.k:uniforms("call"))
  //@ each_row(function()
  $k.vector$ most = $(k:neutral("maximum")), other = most;
  //@ vectors("keys", function(lanes, is_other)
  //@ call(lanes)
  //@ for i, value in ipairs(first.of.values) do
  $(own:text("store_own", "at", line(i - 1), value.operand.name .. "_"));
  //@ end
  const $k.vector$ term = $(counted("power_", lanes, k:neutral("maximum")));
  //@ local largest = is_other and "other" or "most"
  $largest$ = $(k:combine_columns("maximum", largest, "term"));
  //@ end, true)
  $(own:text("store_own", "lanes_of[nth]", "0", k:combine_columns("maximum", "most", "other")));
  //@ end)
  //@ each_row(function()
  const $k.number$ *const lane_of = lanes_of[nth];
  const $k.number$ before = of_rows[nth].peak, folded = $(k:fold_lanes("maximum", "lane_of", "peak"));
  of_rows[nth].peak = lathe_peak_$k.compute$(before, folded);
  by[nth] = before == of_rows[nth].peak ? 1 : $stem$_shrink(before, of_rows[nth].peak);
  //@ end)
  //@ end
  //@ each_row(function()
  //@ if f.peak then
  /* So far no key counts: powers of -infinity are 0 below any number. */
  const $k.vector$ below = $(own:text("splat", "of_rows[nth].peak == -INFINITY ? 0 : of_rows[nth].peak"));
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  $k.vector$ $sum.name$_all = $(k:constant(0));
  //@ end
  //@ vectors("keys", function(lanes)
  //@ if f.peak then
  //@ for i = 0, #pass.of.values - 1 do
  const $k.vector$ of$i$ = $(own:text("load_own", "at", line(i)));
  //@ end
  //@ S.call(first, first.powers, { column = function(name) return name == "power" and "of0" or "below" end }, "n")
  const $k.vector$ power = powers_;
  (void)power;
  //@ else
  //@ call(lanes)
  //@ for i, value in ipairs(first.of.values) do
  const $k.vector$ of$(i - 1) = $value.operand.name$_;
  //@ end
  //@ end
  //@ take(lanes)
  //@ end)
  /* Sums of some keys are added to those before as one term: errors grow with the number of blocks. */
  //@ for _, sum in ipairs(pass.of.sums) do
  {
    $k.vector$ before_them = $(own:text("load_own", "of_rows[nth]." .. sum.name, "0"));
    //@ if sum.powered then
    before_them = $(own:text("mul", "before_them", own:text("splat", "by[nth]")));
    //@ end
    $(own:text("store_own", "of_rows[nth]." .. sum.name, "0", own:text("add", "before_them", sum.name .. "_all")));
  }
  //@ end
  //@ end)
}

//@ end
//@ -- Of each of a pass's products over keys, some text with its number; a type's name first where that is wanted.
//@ function parameters_of(pass, format)
//@   local list = {}
//@   for nth, last in ipairs(pass.lasts) do
//@     list[nth] = ", " .. format:gsub("%%s", last.name):gsub("%%d", nth)
//@   end
//@   return table.concat(list)
//@ end
//@ -- What a row's values come to, of what was gathered and of its sums over keys.
//@ local function define_finish(f)
//@ local pass, first, stem = f.pass, f.inner, f.stem
static void $stem$_finish(const $first.name$ *here, const $stem$_row *of_row$(parameters_of(pass, "const %s *last%d, const " .. k.number .. " *sums%d, size_t columns%d")), size_t row) {
  $k.number$ gathered[$(math.max(#first.gathered, 1))] = {0};
  (void)here, (void)of_row, (void)row, (void)gathered;
  //@ if f.peak then
  gathered[$(first.gathered[pass.of.peak] - 1)] = of_row->peak;
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  gathered[$(first.gathered[sum.name] - 1)] = $(k:fold_lanes("sum", "of_row->" .. sum.name));
  //@ end
  //@ local function column(name) return own:text("splat", "gathered[" .. first.gathered[name] - 1 .. "]") end
  //@ local at = { m = "row", n = "i", column = column }
  //@ if first.rows then
  {
    //@ S.prelude(first.rows)
    //@ S.call(first, first.rows, at, "n", one)
    //@ for _, value in ipairs(pass.of.rows_of) do
    //@ S.store(first, value.operand, at, "n", one, value.operand.name .. "_")
    //@ end
  }
  //@ end
  //@ for nth, last in ipairs(pass.lasts) do
  {
    const $last.name$ *const here = last$nth$;
    const $k.number$ *const sums = sums$nth$;
    const size_t columns = columns$nth$;
    (void)here;
    //@ S.prelude(last.values)
    //@ vectors("columns", function(lanes)
    const $k.vector$ sum = $(own:text("load_own", "sums", "i"));
    (void)sum;
    //@ S.call(last, last.values, at, "n", lanes, "sum")
    //@ for _, value in ipairs(last.of.values) do
    //@ S.store(last, value.operand, at, "n", lanes, value.operand.name .. "_")
    //@ end
    //@ end)
  }
  //@ end
}

//@ end
//@ -- What all implementations of a pass share.
//@ local function define_pass(f)
//@ local pass, first, stem = f.pass, f.inner, f.stem
//@ if first.places then
//@ define_masks(f)
//@ end
//@ if f.peak then
/* e^(power - peak) of a number. */
static $k.number$ $stem$_shrink($k.number$ power, $k.number$ peak) {
  $(first.powers.k:uniforms("call"))
  //@ S.call(first, first.powers, { column = function(name) return own:text("splat", name) end }, "n")
  return $(own:text("first_lane", "powers_"));
}

//@ end
/* A row: its largest power so far, and lanes of its sums. */
typedef struct $stem$_row {
  //@ if f.peak then
  $k.number$ peak;
  //@ end
  //@ for _, sum in ipairs(pass.of.sums) do
  $k.number$ $sum.name$[$L$];
  //@ end
  char none; /* where there is nothing of these */
} $stem$_row;

//@ define_gather(f, first.values, "gather")
//@ if first.restricted then
//@ define_gather(f, first.free, "gather_free")
//@ end
//@ define_finish(f)
//@ end
//@ -- A pass by tiles of MR rows and NR keys or columns: how its numbers lie in the workspace, and a block of rows.
//@ local function define_block(f, v, name)
//@ local pass, first, stem = f.pass, f.inner, f.stem
//@ local MR, NV, TILES = v.params.mr, v.params.nv, 8
//@ local NR = NV * L
//@ local KEYS = math.max(v.params.keys * 4 // own.spelling.bits * 8 // f.lines // NR, 1) * NR
//@ local tile = Tile.define(MR, NV)
//@ local direct = {}
//@ local function pack(step, part, letter, wide)
//@   local packed = step.name .. "_pack_" .. letter .. wide
//@   return S.once(packed, function() Pack.define(step, part, letter, wide, packed) end)
//@ end
//@ for nth, last in ipairs(pass.lasts) do
//@   local values = Factor.direct(last, last.of.b, { "n", "k" })
//@   direct[nth] = values and values.n == "1" and values or false
//@ end
//@ local pack_rows, pack_keys, pack_values = {}, {}, {}
//@ for nth, step in ipairs(pass.firsts) do
//@ pack_rows[nth] = pack(step, step.a, "m", MR)
//@ pack_keys[nth] = pack(step, step.b, "n", NR)
//@ end
//@ for nth, last in ipairs(pass.lasts) do
//@ pack_values[nth] = not direct[nth] and pack(last, last.b, "n", NR)
//@ end
/* Where in the workspace, in numbers: of each product over terms its packed keys and rows, of each over keys its packed
 * values, and sums of a block's rows; what is at the points of a tile, and what is gathered of a block's rows; how much
 * in all. width: columns in whole vectors. */
typedef struct $name$_room {
  size_t rows, keys, points, gathered, all;
  //@ for nth in ipairs(pass.firsts) do
  size_t terms$nth$, keys$nth$, rows$nth$;
  //@ end
  //@ for nth in ipairs(pass.lasts) do
  size_t columns$nth$, width$nth$, values$nth$, sums$nth$;
  //@ end
} $name$_room;

static $name$_room $name$_measure(const lathe_args *args) {
  $name$_room r = {.rows = $f.has.rows$, .keys = $f.has.keys$};
  size_t at = ($TEMPORARIES$) / sizeof($k.number$);
  //@ for nth, step in ipairs(pass.firsts) do
  r.terms$nth$ = $(S.size(S.core(step, "k")));
  r.keys$nth$ = at;
  at += (r.keys + $(NR - 1)) / $NR$ * $NR$ * r.terms$nth$ + $NR$;
  r.rows$nth$ = at;
  at += $(TILES * MR) * r.terms$nth$ + $(math.max(NR, L * L));
  //@ end
  //@ for nth, last in ipairs(pass.lasts) do
  r.columns$nth$ = $(S.size(S.core(last, "n")));
  r.width$nth$ = (r.columns$nth$ + $(NR - 1)) / $NR$ * $NR$;
  r.values$nth$ = at;
  //@ if not direct[nth] then
  at += r.width$nth$ * r.keys + $NR$;
  //@ end
  r.sums$nth$ = at;
  at += $(TILES * MR) * r.width$nth$;
  //@ end
  r.points = at;
  at += $(f.lines * MR * KEYS);
  r.gathered = (at + 15) / 16 * 16;
  r.all = r.gathered + ($(TILES * MR) * sizeof($stem$_row) + sizeof($k.number$) - 1) / sizeof($k.number$);
  return r;
}

//@ for nth in ipairs(pass.firsts) do
/* A tile's product with some keys: `high` rows and `keys` columns. */
static void $name$_multiply$nth$(const $name$_room *r, $k.number$ *room, const $k.number$ *rows, size_t high, size_t key, size_t keys) {
  for (size_t j = 0; j < keys; j += $NR$) {
    const size_t wide = keys - j < $NR$ ? keys - j : $NR$, vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
    const $k.number$ *panel = room + r->keys$nth$ + (key + j) * r->terms$nth$;
    for (size_t term = 0; term == 0 || term < r->terms$nth$; term += LATHE_TERMS)
      $tile$[high - 1][vectors - 1][lanes < $L$](r->terms$nth$ - term < LATHE_TERMS ? r->terms$nth$ - term : (size_t)LATHE_TERMS, rows + term * $MR$, 1, $MR$, panel + term * $NR$, $NR$, room + r->points + $((nth - 1) * MR * KEYS) + j, $KEYS$, term > 0, lanes);
  }
}

//@ end
//@ for nth, last in ipairs(pass.lasts) do
/* Adds a tile's product of the points with the values of some keys. */
static void $name$_add$nth$(const $last.name$ *here, const $name$_room *r, $k.number$ *room, $k.number$ *sums, size_t high, size_t key, size_t keys) {
  (void)here;
  for (size_t j = 0; j < r->columns$nth$; j += $NR$) {
    const size_t wide = r->columns$nth$ - j < $NR$ ? r->columns$nth$ - j : $NR$, vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
    //@ local values = direct[nth]
    //@ if values then
    const $k.number$ *some = $values.from$ + j + key * $values.k$;
    const size_t by_key = $values.k$;
    //@ else
    const $k.number$ *some = room + r->values$nth$ + j * r->keys + key * $NR$;
    const size_t by_key = $NR$;
    //@ end
    $tile$[high - 1][vectors - 1][lanes < $L$](keys, room + r->points + $((nth - 1) * MR * KEYS), $KEYS$, 1, some, by_key, sums + j, r->width$nth$, true, lanes);
  }
}

//@ end
//@ -- The steps of the pass as parameters, and as arguments.
//@ local parameters, arguments = {}, {}
//@ for nth, step in ipairs(pass.firsts) do
//@   parameters[nth], arguments[nth] = ("const %s *first%d"):format(step.name, nth), "&first" .. nth
//@ end
//@ local inner = "first" .. #pass.firsts
/* A block's rows go through all keys. */
static void $name$_block($(table.concat(parameters, ", "))$(parameters_of(pass, "const %s *last%d")), const $name$_room *r, $k.number$ *room, size_t row, size_t rows) {
  const size_t tiles = (rows + $(MR - 1)) / $MR$;
  $stem$_row *gathered = ($stem$_row *)(room + r->gathered);
  for (size_t i = 0; i < rows; i++)
    gathered[i] = ($stem$_row){$(f.peak and ".peak = -INFINITY" or "0")};
  //@ for nth in ipairs(pass.lasts) do
  $k.number$ *sums$nth$ = room + r->sums$nth$;
  for (size_t i = 0; i < rows * r->width$nth$; i++)
    sums$nth$[i] = 0;
  //@ end
  for (size_t i = 0, tile = 0, high; tile < tiles; i += high, tile++) {
    high = (rows - i + tiles - tile - 1) / (tiles - tile);
    //@ for nth in ipairs(pass.firsts) do
    $(pack_rows[nth])(first$nth$, room + r->rows$nth$ + tile * $MR$ * r->terms$nth$, row + i, high, $MR$, 0, r->terms$nth$);
    //@ end
  }
  for (size_t block = 0; block < r->keys; block += $KEYS$)
    for (size_t i = 0, tile = 0, high; tile < tiles; i += high, tile++) {
      size_t key = block, end = r->keys - block < $KEYS$ ? r->keys : block + $KEYS$;
      high = (rows - i + tiles - tile - 1) / (tiles - tile);
      //@ if first.places then
      const $stem$_rows at = $stem$_rows_at($inner$, row + i, high);
      //@ end
      //@ if first.rules_out then
      while (key < end && $stem$_skips(&at, $inner$, key, $NR$))
        key += $NR$;
      while (key < end && $stem$_skips(&at, $inner$, (end - 1) / $NR$ * $NR$, $NR$))
        end = (end - 1) / $NR$ * $NR$;
      if (key >= end)
        continue;
      //@ end
      //@ for nth in ipairs(pass.firsts) do
      $name$_multiply$nth$(r, room, room + r->rows$nth$ + tile * $MR$ * r->terms$nth$, high, key, end - key);
      //@ end
      //@ if first.restricted then
      const bool is_free = $stem$_is_free(&at, $inner$, key, end - key);
      //@ end
      //@ if f.peak then
      $k.number$ by[$MR$];
      //@ end
      //@ local given = "(" .. inner .. ", gathered + i, room + r->points, " .. MR * KEYS .. ", " .. KEYS
      //@   .. ", row + i, high, key, end - key" .. (f.peak and ", by)" or ")")
      //@ if first.restricted then
      if (is_free)
        $stem$_gather_free$given$;
      else
        $stem$_gather$given$;
      //@ else
      $stem$_gather$given$;
      //@ end
      //@ for nth, last in ipairs(pass.lasts) do
      //@ if last.of.powered then
      for (size_t of = 0; of < high; of++)
        if (by[of] != 1)
          for (size_t j = 0; j < r->width$nth$; j++)
            sums$nth$[(i + of) * r->width$nth$ + j] *= by[of];
      //@ end
      //@ end
      //@ for nth in ipairs(pass.lasts) do
      $name$_add$nth$(last$nth$, r, room, sums$nth$ + i * r->width$nth$, high, key, end - key);
      //@ end
    }
  for (size_t i = 0; i < rows; i++)
    $stem$_finish($inner$, gathered + i$(parameters_of(pass, "last%d, sums%d + i * r->width%d, r->columns%d")), row + i);
}

/* Blocks of rows of a matrix, each of `most` rows. */
static size_t $name$_blocks(const lathe_args *args, size_t *most) {
  const size_t rows = $f.has.rows$;

  lathe_cut(most, rows, $(TILES * MR), $MR$);
  return (rows + *most - 1) / *most;
}

/* All matrices of a pass, or a part's blocks of their rows. */
static void $name$(const lathe_args *args) {
  const $name$_room r = $name$_measure(args);
  $k.number$ *room = ($k.number$ *)((char *)args->workspace + args->part * args->apart);
  size_t most, unit, end, packed = SIZE_MAX;
  const size_t blocks = $name$_blocks(args, &most);
  lathe_units(args, $(S.size(S.loop_places(first))) * blocks, &unit, &end);
  for (; unit < end; unit++) {
    const size_t matrix = unit / blocks, row = lathe_from_either_end(unit % blocks, blocks) * most;
    //@ S.find_loops(first, "matrix")
    //@ for nth, step in ipairs(pass.firsts) do
    const $step.name$ first$nth$ = $step.name$_at(args$(each_loop(step, "")));
    //@ end
    //@ for nth, last in ipairs(pass.lasts) do
    const $last.name$ last$nth$ = $last.name$_at(args$(each_loop(last, "")));
    //@ end
    if (matrix != packed) {
      packed = matrix;
      //@ for nth in ipairs(pass.firsts) do
      for (size_t key = 0; key < r.keys; key += $NR$)
        $(pack_keys[nth])(&first$nth$, room + r.keys$nth$ + key * r.terms$nth$, key, r.keys - key < $NR$ ? r.keys - key : $NR$, $NR$, 0, r.terms$nth$);
      //@ end
      //@ for nth, last in ipairs(pass.lasts) do
      //@ if pack_values[nth] then
      for (size_t column = 0; column < r.columns$nth$; column += $NR$)
        $(pack_values[nth])(&last$nth$, room + r.values$nth$ + column * r.keys, column, r.columns$nth$ - column < $NR$ ? r.columns$nth$ - column : $NR$, $NR$, 0, r.keys);
      //@ end
      //@ end
    }
    $name$_block($(table.concat(arguments, ", "))$(parameters_of(pass, "&last%d")), &r, room, row, r.rows - row < most ? r.rows - row : most);
  }
}

//@ return MR, NR, TILES * MR, KEYS
//@ end
//@ local facts = {}
//@ for i, pass in ipairs(k.passes) do
//@ facts[i] = facts_of(pass)
//@ define_pass(facts[i])
//@ end
//@ for _, v in ipairs(variants) do
//@ local rows, most = {}, "0"
//@ for i, f in ipairs(facts) do
//@ local name = v.name .. "_pass" .. i
//@ rows[i] = { define_block(f, v, name) }
//@ most = ("lathe_larger(%s_measure(&sizes).all, %s)"):format(name, most)
//@ end
//@ S.define_workspace(v, most)
//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  size_t most;
  //@ for i, f in ipairs(facts) do
  if (phase == $(i - 1))
    return $(S.size(S.loop_places(f.inner))) * $v.name$_pass$i$_blocks(args, &most);
  //@ end
  return 0;
}

//@ end
//@ S.define_sharing(v, #facts, TEMPORARIES)
//@ if is_tried then
extern const lathe_way $v.name$_ways[];
const lathe_way $v.name$_ways[] = {
  //@ for i, pass in ipairs(k.passes) do
  //@ local mr, nr, high, keys = table.unpack(rows[i])
  //@ for _, step in ipairs(pass.firsts) do
  //@ S.way(step, { 0, 0, 0 }, { mr, nr }, { high, keys, "LATHE_TERMS" })
  //@ end
  //@ for _, step in ipairs(pass.lasts) do
  //@ S.way(step, { 0, 0, 0 }, { mr, nr }, { high, 0, keys })
  //@ end
  //@ end
  {0},
};

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  //@ for i in ipairs(facts) do
  if (args->parts == 0 || args->phase == $(i - 1))
    $v.name$_pass$i$(args);
  //@ end
}

//@ end
