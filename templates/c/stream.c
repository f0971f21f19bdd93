//@ if first then
/* Two products and reductions between them (gen/program/stream.lua): the columns of the first, called keys here, are the
 * terms of the second, and nothing of their number times that of the rows is ever in memory. Some rows go through all
 * keys, a block of keys at a time: their sums of the first product, what is gathered of these, and what they add to the
 * second product stay in the first caches. The largest power of a row may grow from block to block; what was gathered
 * before is made smaller then. The keys of a matrix are packed once, as contract.c packs a factor. Limited by arithmetic:
 * 2 * (terms + columns) operations for each row and key, and a power. */
#include "stream.h"

//@ end
//@ local S = use "contract_step.c"
//@ local Pack = use "contract_pack.c"
//@ local Tile = use "contract_tile.c"
//@ local Factor = use "chain_factor.c"
//@ local Masks = use "stream_masks.c"
//@ local record, L, own = k.record, k.lanes, k.own
//@ local first, second = k.steps[1], k.steps[2]
//@ local loops, place_of = S.loops_of(first), {}
//@ for i, value in ipairs(first.of.values) do
//@   place_of[value.operand.name] = i - 1
//@ end
//@ local one = L > 1 and "1" or nil -- lanes of what is one number
//@ local NUMBERS, GATHERED = #first.of.values, #first.gathered
//@ local peak = record.peak ~= nil
//@ local has = { fields = "at->", loop = "here->", rows = S.size(S.core(first, "m")), keys = S.size(S.core(first, "n")) }
//@ -- What a name comes to at a vector of points, times the power there.
//@ local function at_point(name, powered)
//@   local of = place_of[name] and "of" .. place_of[name]
//@   return of and powered and own:text("mul", "power", of) or of or powered and "power" or k:constant(1)
//@ end
//@ -- Vectors of a row's `count` numbers from i = 0 on, and what is left of them, of which lanes are "lanes".
//@ local function vectors(count, body)
{
  size_t i = 0;
  for (; $count$ - i >= $L$; i += $L$) {
    //@ body()
  }
  //@ if L > 1 then
  if (i < $count$) {
    const size_t lanes = $count$ - i;
    //@ body("lanes")
  }
  //@ end
}
//@ end
//@ -- Of a vector of which `lanes` count, the others as nothing.
//@ local function counted(value, lanes, nothing)
//@   return lanes and own:text("select", own:text("mask_part", lanes), value, nothing) or value
//@ end
//@ for _, step in ipairs(k.steps) do
//@ S.define(step)
//@ -- A matrix's operands, at the indexes of the loops around it.
//@ local places, parameters = {}, {}
//@ for i, run in ipairs(loops) do
//@   places[i], parameters[i] = { run = run, index = "loop" .. i }, ", size_t loop" .. i
//@ end
static $step.name$ $step.name$_at(const lathe_args *args$(table.concat(parameters))) {
  //@ S.declare(step)
  //@ S.place(step, places)
  //@ for i in ipairs(S.placed_loops(step)) do
  here.loop$i$_ = loop$i$;
  //@ end
  return here;
}

//@ end
//@ if first.places then
/* Where some rows lie along axes. */
typedef struct $part.stem$_rows {
  //@ Masks.fields()
} $part.stem$_rows;

static $part.stem$_rows $part.stem$_rows_at(const $first.name$ *here, size_t m, size_t rows) {
  const lathe_args *args = here->args;
  $part.stem$_rows at;
  //@ Masks.rows_of { fields = "at.", loop = "here->", rows = has.rows }
  return at;
}

//@ -- Defines a function that asks something of a tile.
//@ local function ask(name, define)
static bool $part.stem$_$name$(const $part.stem$_rows *at, const $first.name$ *here, size_t n, size_t keys) {
  const lathe_args *args = here->args;
  (void)at;
  //@ define(has)
}

//@ end
//@ if first.largest then
//@ ask("skips", Masks.skips)
//@ end
//@ if first.restricted then
//@ ask("is_free", Masks.is_free)
//@ end
//@ end
//@ if peak then
/* e^(power - peak) of a number. */
static $k.number$ $part.stem$_shrink($k.number$ power, $k.number$ peak) {
  $(first.powers.k:uniforms("call"))
  //@ S.call(first, first.powers, { column = function(name) return own:text("splat", name) end }, "n")
  return $(own:text("first_lane", "powers_"));
}

//@ end
/* A row: its largest power so far, and lanes of its sums. */
typedef struct $part.stem$_row {
  //@ if peak then
  $k.number$ peak;
  //@ end
  //@ for _, sum in ipairs(record.sums) do
  $k.number$ $sum.name$[$L$];
  //@ end
  char none; /* where there is nothing of these */
} $part.stem$_row;

//@ -- Gathers of a row what its sums at some keys come to, and leaves the second product's factor in their place. at[of]:
//@ -- numbers of each key, which lie `apart`. Gives what sums below the row's peak are to be multiplied by.
//@ local function define_gather(values, name)
static inline $k.number$ $part.stem$_$name$(const $first.name$ *here, $part.stem$_row *of_row, $k.number$ *at, size_t apart, size_t row, size_t key,
    size_t keys) {
  //@ S.prelude(values)
  //@ if peak then
  $k.vector$ most = $(k:neutral("maximum"));
  //@ end
  (void)here, (void)row, (void)key, (void)apart;
  //@ local places = { m = "row", n = "(key + i)" }
  //@ vectors("keys", function(lanes)
  //@ S.call(first, values, places, "n", lanes, own:text("load_own", "at", "i"))
  //@ for i, value in ipairs(first.of.values) do
  $(own:text("store_own", "at", (i - 1) .. " * apart + i", value.operand.name .. "_"));
  //@ end
  //@ if peak then
  const $k.vector$ term = $(counted("power_", lanes, k:neutral("maximum")));
  most = $(k:combine_columns("maximum", "most", "term"));
  //@ end
  //@ end)
  //@ if peak then
  $k.number$ lane_of[$L$];
  $(own:text("store_own", "lane_of", "0", "most"));
  const $k.number$ before = of_row->peak, folded = $(k:fold_lanes("maximum", "lane_of"));
  const $k.number$ largest = lathe_max_$k.compute$(before, folded);
  const $k.number$ by = before == largest ? 1 : $part.stem$_shrink(before, largest);
  /* So far no key counts: powers of -infinity are 0 below any number. */
  const $k.vector$ below = $(own:text("splat", "largest == -INFINITY ? 0 : largest"));
  of_row->peak = largest;
  $(first.powers.k:uniforms("call"))
  //@ end
  //@ for _, sum in ipairs(record.sums) do
  $k.vector$ $sum.name$_all = $(own:text("load_own", "of_row->" .. sum.name, "0"));
  //@ if sum.powered then
  $sum.name$_all = $(own:text("mul", sum.name .. "_all", own:text("splat", "by")));
  //@ end
  //@ end
  //@ vectors("keys", function(lanes)
  //@ for i = 0, NUMBERS - 1 do
  const $k.vector$ of$i$ = $(own:text("load_own", "at", i .. " * apart + i"));
  (void)of$i$;
  //@ end
  //@ if peak then
  //@ S.call(first, first.powers, { column = function(name) return name == "power" and "of0" or "below" end }, "n")
  const $k.vector$ power = powers_;
  (void)power;
  //@ end
  //@ for _, sum in ipairs(record.sums) do
  $sum.name$_all = $(own:text("add", sum.name .. "_all", counted(at_point(sum.name, sum.powered), lanes, k:constant(0))));
  //@ end
  $(own:text("store_own", "at", "i", at_point("weight", record.powered)));
  //@ end)
  //@ for _, sum in ipairs(record.sums) do
  $(own:text("store_own", "of_row->" .. sum.name, "0", sum.name .. "_all"));
  //@ end
  return $(peak and "by" or "1");
}

//@ end
//@ define_gather(first.values, "gather")
//@ if first.restricted then
//@ define_gather(first.free, "gather_free")
//@ end
/* What a row's values come to, of what was gathered and of its sums of the second product. */
static void $part.stem$_finish(const $second.name$ *here, const $part.stem$_row *of_row, const $k.number$ *sums, size_t row, size_t keys, size_t columns) {
  $k.number$ gathered[$(math.max(GATHERED, 1))] = {0}, lost = 1;
  (void)of_row, (void)sums, (void)keys, (void)columns, (void)lost, (void)gathered;
  //@ if peak then
  /* Infinity was subtracted from itself at each of the keys. */
  if (of_row->peak == -INFINITY && keys > 0)
    lost = NAN;
  gathered[$(first.gathered[record.peak] - 1)] = of_row->peak;
  //@ end
  //@ for _, sum in ipairs(record.sums) do
  gathered[$(first.gathered[sum.name] - 1)] = $(k:fold_lanes("sum", "of_row->" .. sum.name))$(sum.powered and " * lost" or "");
  //@ end
  //@ local function column(name) return own:text("splat", "gathered[" .. first.gathered[name] - 1 .. "]") end
  //@ local at = { m = "row", n = "i", column = column }
  //@ if second.rows then
  {
    //@ S.prelude(second.rows)
    //@ S.call(second, second.rows, at, "n", one)
    //@ for _, value in ipairs(record.rows) do
    //@ S.store(second, value.operand, at, "n", one, value.operand.name .. "_")
    //@ end
  }
  //@ end
  //@ S.prelude(second.values)
  //@ vectors("columns", function(lanes)
  const $k.vector$ sum = $(record.powered and own:text("mul", own:text("load_own", "sums", "i"), own:text("splat", "lost")) or own:text("load_own", "sums", "i"));
  (void)sum;
  //@ S.call(second, second.values, at, "n", lanes, "sum")
  //@ for _, value in ipairs(second.of.values) do
  //@ S.store(second, value.operand, at, "n", lanes, value.operand.name .. "_")
  //@ end
  //@ end)
}

//@ for _, v in ipairs(variants) do
//@ local MR, NV = v.params.mr, v.params.nv
//@ local NR, TILES = NV * L, 8
//@ local KEYS = math.max(v.params.keys * 4 // own.spelling.bits * 8 // NUMBERS // NR, 1) * NR
//@ local tile = Tile.define(MR, NV)
//@ local values = Factor.direct(second, second.of.b, { "n", "k" })
//@ values = values and values.n == "1" and values
//@ local pack_rows, pack_keys, pack_values = first.name .. "_pack_rows" .. MR, first.name .. "_pack_keys" .. NR, second.name .. "_pack" .. NR
//@ S.once(pack_rows, function() Pack.define(first, first.a, "m", MR, pack_rows) end)
//@ S.once(pack_keys, function() Pack.define(first, first.b, "n", NR, pack_keys) end)
//@ if not values then
//@ S.once(pack_values, function() Pack.define(second, second.b, "n", NR, pack_values) end)
//@ end
/* Where in the workspace, in numbers: packed keys and values of a matrix, packed rows of a block, what is at the points of
 * a tile, sums of a block's rows, and what is gathered of them; how much in all. */
typedef struct $v.name$_room {
  size_t rows, keys, terms, columns, width; /* width: columns in whole vectors */
  size_t values, packed_rows, points, sums, gathered, all;
} $v.name$_room;

static $v.name$_room $v.name$_measure(const lathe_args *args) {
  $v.name$_room r = {.rows = $(S.size(S.core(first, "m"))), .keys = $(S.size(S.core(first, "n"))), .terms = $(S.size(S.core(first, "k"))), .columns = $(S.size(S.core(second, "n")))};
  r.width = (r.columns + $(NR - 1)) / $NR$ * $NR$;
  r.values = (r.keys + $(NR - 1)) / $NR$ * $NR$ * r.terms + $NR$;
  r.packed_rows = r.values + $(values and "0" or "r.width * r.keys + " .. NR);
  r.points = r.packed_rows + $(TILES * MR) * r.terms + $(math.max(NR, L * L));
  r.sums = r.points + $(NUMBERS * MR * KEYS);
  r.gathered = (r.sums + $(TILES * MR) * r.width + 15) / 16 * 16;
  r.all = r.gathered + ($(TILES * MR) * sizeof($part.stem$_row) + sizeof($k.number$) - 1) / sizeof($k.number$);
  return r;
}

/* A tile's product with some keys: `high` rows and `keys` columns. */
static void $v.name$_multiply(const $v.name$_room *r, $k.number$ *room, const $k.number$ *rows, size_t high, size_t key, size_t keys) {
  for (size_t j = 0; j < keys; j += $NR$) {
    const size_t wide = keys - j < $NR$ ? keys - j : $NR$, vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
    const $k.number$ *panel = room + (key + j) * r->terms;
    for (size_t term = 0; term == 0 || term < r->terms; term += LATHE_TERMS)
      $tile$[high - 1][vectors - 1][lanes < $L$](r->terms - term < LATHE_TERMS ? r->terms - term : (size_t)LATHE_TERMS, rows + term * $MR$, 1, $MR$, panel + term * $NR$, $NR$, room + r->points + j, $KEYS$, term > 0, lanes);
  }
}

/* Adds a tile's product of the points with the values of some keys. */
static void $v.name$_add(const $second.name$ *here, const $v.name$_room *r, $k.number$ *room, $k.number$ *sums, size_t high, size_t key, size_t keys) {
  (void)here;
  for (size_t j = 0; j < r->columns; j += $NR$) {
    const size_t wide = r->columns - j < $NR$ ? r->columns - j : $NR$, vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
    //@ if values then
    const $k.number$ *some = $values.from$ + j + key * $values.k$;
    const size_t by_key = $values.k$;
    //@ else
    const $k.number$ *some = room + r->values + j * r->keys + key * $NR$;
    const size_t by_key = $NR$;
    //@ end
    $tile$[high - 1][vectors - 1][lanes < $L$](keys, room + r->points, $KEYS$, 1, some, by_key, sums + j, r->width, true, lanes);
  }
}

/* A block's rows go through all keys. */
static void $v.name$_block(const $first.name$ *step1, const $second.name$ *step2, const $v.name$_room *r, $k.number$ *room, size_t row, size_t rows) {
  const size_t tiles = (rows + $(MR - 1)) / $MR$;
  $part.stem$_row *gathered = ($part.stem$_row *)(room + r->gathered);
  $k.number$ *sums = room + r->sums;
  for (size_t i = 0; i < rows; i++)
    gathered[i] = ($part.stem$_row){$(peak and ".peak = -INFINITY" or "0")};
  for (size_t i = 0; i < rows * r->width; i++)
    sums[i] = 0;
  for (size_t i = 0, tile = 0, high; tile < tiles; i += high, tile++) {
    high = (rows - i + tiles - tile - 1) / (tiles - tile);
    $pack_rows$(step1, room + r->packed_rows + tile * $MR$ * r->terms, row + i, high, $MR$, 0, r->terms);
  }
  for (size_t block = 0; block < r->keys; block += $KEYS$)
    for (size_t i = 0, tile = 0, high; tile < tiles; i += high, tile++) {
      size_t key = block, end = r->keys - block < $KEYS$ ? r->keys : block + $KEYS$;
      high = (rows - i + tiles - tile - 1) / (tiles - tile);
      //@ if first.places then
      const $part.stem$_rows at = $part.stem$_rows_at(step1, row + i, high);
      //@ end
      //@ if first.largest then
      while (key < end && $part.stem$_skips(&at, step1, key, $NR$))
        key += $NR$;
      while (key < end && $part.stem$_skips(&at, step1, (end - 1) / $NR$ * $NR$, $NR$))
        end = (end - 1) / $NR$ * $NR$;
      if (key >= end)
        continue;
      //@ end
      $v.name$_multiply(r, room, room + r->packed_rows + tile * $MR$ * r->terms, high, key, end - key);
      //@ if first.restricted then
      const bool is_free = $part.stem$_is_free(&at, step1, key, end - key);
      //@ end
      for (size_t nth = 0; nth < high; nth++) {
        $k.number$ *const points = room + r->points + nth * $KEYS$;
        //@ local arguments = "(step1, gathered + i + nth, points, " .. MR * KEYS .. ", row + i + nth, key, end - key)"
        //@ if first.restricted then
        const $k.number$ by = is_free ? $part.stem$_gather_free$arguments$ : $part.stem$_gather$arguments$;
        //@ else
        const $k.number$ by = $part.stem$_gather$arguments$;
        //@ end
        //@ if record.powered then
        if (by != 1)
          for (size_t j = 0; j < r->width; j++)
            sums[(i + nth) * r->width + j] *= by;
        //@ else
        (void)by;
        //@ end
      }
      $v.name$_add(step2, r, room, sums + i * r->width, high, key, end - key);
    }
  for (size_t i = 0; i < rows; i++)
    $part.stem$_finish(step2, gathered + i, sums + i * r->width, row + i, r->keys, r->columns);
}

//@ S.define_workspace(v)
//@ if is_tried then
extern const lathe_way $v.name$_ways[];
const lathe_way $v.name$_ways[] = {
  //@ S.way(first, { 0, 0, 0 }, { MR, NR }, { TILES * MR, KEYS, "LATHE_TERMS" })
  //@ S.way(second, { 0, 0, 0 }, { MR, NR }, { TILES * MR, 0, KEYS })
  {0},
};

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  const $v.name$_room r = $v.name$_measure(args);
  $k.number$ *room = ($k.number$ *)args->workspace;
  size_t most;
  lathe_cut(&most, r.rows, $(TILES * MR), $MR$);
  //@ local given = {}
  //@ for i, run in ipairs(loops) do
  //@ given[i] = ", loop" .. i
  for (size_t loop$i$ = 0; loop$i$ < $(S.size(run)); loop$i$++)
  //@ end
  {
    const $first.name$ step1 = $first.name$_at(args$(table.concat(given)));
    const $second.name$ step2 = $second.name$_at(args$(table.concat(given)));
    for (size_t key = 0; key < r.keys; key += $NR$)
      $pack_keys$(&step1, room + key * r.terms, key, r.keys - key < $NR$ ? r.keys - key : $NR$, $NR$, 0, r.terms);
    //@ if not values then
    for (size_t column = 0; column < r.columns; column += $NR$)
      $pack_values$(&step2, room + r.values + column * r.keys, column, r.columns - column < $NR$ ? r.columns - column : $NR$, $NR$, 0, r.keys);
    //@ end
    for (size_t row = 0; row < r.rows; row += most)
      $v.name$_block(&step1, &step2, &r, room, row, r.rows - row < most ? r.rows - row : most);
  }
}

//@ end
