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
//@ local Rows = use "stream_gather.c"
//@ local record, L, own = k.record, k.lanes, k.own
//@ local TEMPORARIES = S.bytes_of_temporaries()
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
//@ -- What kernels of a pass are made of: its steps, the numbers at a point, how many lines of these a tile has, and in
//@ -- which of them are the weights of products over keys and over rows (`across`).
//@ local function facts_of(pass)
//@   local made = { pass = pass, inner = pass.inner, stem = pass.inner.name, place_of = {},
//@     weights = {}, line = {}, across_line = {}, peak = pass.of.peak ~= nil }
//@   for i, value in ipairs(pass.of.values) do
//@     made.place_of[value.operand.name] = i - 1
//@   end
//@   local line_of = {}
//@   local function put(name, powered)
//@     local key = (name or "") .. (powered and " powered" or "")
//@     made.weights[#made.weights + 1] = not line_of[key] and { name = name, powered = powered } or nil
//@     line_of[key] = line_of[key] or #made.weights - 1
//@     return line_of[key]
//@   end
//@   for i, last in ipairs(pass.lasts) do
//@     made.line[i] = put(last.of.weight, last.of.powered)
//@   end
//@   for i, last in ipairs(pass.across) do
//@     made.across_line[i] = put(pass.of.across.weights[i], false)
//@   end
//@   made.lines = math.max(#pass.of.values, #pass.firsts, #made.weights, 1)
//@   made.has = { fields = "at->", loop = "here->", language = S.language, rows = S.size(S.core(pass.inner, "m")),
//@     keys = S.size(S.core(pass.inner, "n")) }
//@   return made
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

//@ Rows.define_gather(f, first.values, "gather")
//@ if first.restricted then
//@ Rows.define_gather(f, first.free, "gather_free")
//@ end
//@ Rows.define_finish(f)
//@ end
//@ -- A pass by tiles of MR rows and NR keys or columns: how its numbers lie in the workspace, and a block of rows.
//@ local function define_block(f, v, name)
//@ local pass, first, stem = f.pass, f.inner, f.stem
//@ local MR, NV, TILES = v.params.mr, v.params.nv, 8
//@ local NR = NV * L
//@ local turns = #pass.across > 0 -- what is at the points of all tiles stays then, to be multiplied by rows
//@ local HIGH = turns and TILES * MR or MR
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
//@ local across_direct, pack_across = {}, {}
//@ for nth, last in ipairs(pass.across) do
//@   local values = Factor.direct(last, last.of.b, { "n", "k" })
//@   across_direct[nth] = values and values.n == "1" and values or false
//@   pack_across[nth] = not across_direct[nth] and pack(last, last.b, "n", NR)
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
  //@ for nth in ipairs(pass.across) do
  size_t across_columns$nth$, across_width$nth$, across_values$nth$;
  //@ end
} $name$_room;

static $name$_room $name$_measure(const lathe_args *args) {
  $name$_room r = {.rows = $f.has.rows$, .keys = $f.has.keys$};
  size_t at = $v.name$_common_bytes(args) / sizeof($k.number$);
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
  //@ for nth, last in ipairs(pass.across) do
  r.across_columns$nth$ = $(S.size(S.core(last, "n")));
  r.across_width$nth$ = (r.across_columns$nth$ + $(NR - 1)) / $NR$ * $NR$;
  r.across_values$nth$ = at;
  //@ if not across_direct[nth] then
  at += r.across_width$nth$ * $HIGH$ + $NR$;
  //@ end
  //@ end
  r.points = at;
  at += $(f.lines * HIGH * KEYS);
  r.gathered = (at + 15) / 16 * 16;
  r.all = r.gathered + ($(TILES * MR) * sizeof($stem$_row) + sizeof($k.number$) - 1) / sizeof($k.number$);
  return r;
}

//@ for nth in ipairs(pass.firsts) do
/* A tile's product with some keys: `high` rows and `keys` columns. */
static void $name$_multiply$nth$(const $name$_room *r, $k.number$ *room, $k.number$ *points, const $k.number$ *rows,
    size_t high, size_t key, size_t keys) {
  for (size_t j = 0; j < keys; j += $NR$) {
    const size_t wide = keys - j < $NR$ ? keys - j : $NR$, vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
    const $k.number$ *panel = room + r->keys$nth$ + (key + j) * r->terms$nth$;
    for (size_t term = 0; term == 0 || term < r->terms$nth$; term += LATHE_TERMS)
      $tile$[high - 1][vectors - 1][lanes < $L$](r->terms$nth$ - term < LATHE_TERMS ? r->terms$nth$ - term : (size_t)LATHE_TERMS, rows + term * $MR$, 1, $MR$, panel + term * $NR$, $NR$, points + $((nth - 1) * HIGH * KEYS) + j, $KEYS$, term > 0, lanes);
  }
}

//@ end
//@ for nth, last in ipairs(pass.lasts) do
/* Adds a tile's product of the points with the values of some keys. */
static void $name$_add$nth$(const $last.name$ *here, const $name$_room *r, $k.number$ *room,
    const $k.number$ *points, $k.number$ *sums, size_t high, size_t key, size_t keys) {
  (void)here, (void)room;
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
    $tile$[high - 1][vectors - 1][lanes < $L$](keys, points + $(f.line[nth] * HIGH * KEYS), $KEYS$, 1, some, by_key, sums + j, r->width$nth$, true, lanes);
  }
}

//@ end
//@ for nth, last in ipairs(pass.across) do
/* Adds to sums of some keys the product of the points of a block's rows with these rows' values. */
static void $name$_turn$nth$(const $last.name$ *here, const $name$_room *r, $k.number$ *room, $k.number$ *sums,
    size_t row, size_t rows, size_t keys) {
  const $k.number$ *const points = room + r->points + $(f.across_line[nth] * HIGH * KEYS);
  (void)here, (void)row;
  for (size_t i = 0; i < keys; i += $MR$)
    for (size_t j = 0; j < r->across_columns$nth$; j += $NR$) {
      const size_t high = keys - i < $MR$ ? keys - i : $MR$;
      const size_t wide = r->across_columns$nth$ - j < $NR$ ? r->across_columns$nth$ - j : $NR$;
      const size_t vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
      //@ local values = across_direct[nth]
      //@ if values then
      const $k.number$ *some = $values.from$ + j + row * $values.k$;
      const size_t by_row = $values.k$;
      //@ else
      const $k.number$ *some = room + r->across_values$nth$ + j * $HIGH$;
      const size_t by_row = $NR$;
      //@ end
      $tile$[high - 1][vectors - 1][lanes < $L$](rows, points + i, 1, $KEYS$, some, by_row,
          sums + i * r->across_width$nth$ + j, r->across_width$nth$, true, lanes);
    }
}

//@ end
//@ if turns and first.rules_out then
/* Points of some rows that a mask rules out count as nothing: those before some place, and those between two others. */
static void $name$_clear($k.number$ *points, size_t rows, size_t before, size_t from, size_t to) {
  //@ local is_cleared = {}
  //@ for _, line in ipairs(f.across_line) do
  //@ if not is_cleared[line] then
  //@ is_cleared[line] = true
  for (size_t row = 0; row < rows; row++) {
    $k.number$ *const at = points + $(line * HIGH * KEYS) + row * $KEYS$;
    for (size_t i = 0; i < before; i++)
      at[i] = 0;
    for (size_t i = from; i < to; i++)
      at[i] = 0;
  }
  //@ end
  //@ end
}

//@ end
//@ -- The steps of the pass as parameters, and as arguments.
//@ local parameters, arguments = {}, {}
//@ for nth, step in ipairs(pass.firsts) do
//@   parameters[nth], arguments[nth] = ("const %s *first%d"):format(step.name, nth), "&first" .. nth
//@ end
//@ local inner = "first" .. #pass.firsts
/* A block's rows go through all keys. */
static void $name$_block($(table.concat(parameters, ", "))$(Rows.parameters_of(pass.lasts, "const %s *last%d"))$(Rows.parameters_of(pass.across, "const %s *across%d")), const $name$_room *r, $k.number$ *room$(turns and ", " .. k.number .. " *turned" or ""), size_t row, size_t rows) {
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
  //@ for nth, last in ipairs(pass.across) do
  //@ if pack_across[nth] then
  for (size_t column = 0; column < r->across_columns$nth$; column += $NR$)
    $(pack_across[nth])(across$nth$, room + r->across_values$nth$ + column * $HIGH$, column,
        r->across_columns$nth$ - column < $NR$ ? r->across_columns$nth$ - column : $NR$, $NR$, row, rows);
  //@ end
  //@ end
  for (size_t block = 0; block < r->keys; block += $KEYS$) {
    const size_t stop = r->keys - block < $KEYS$ ? r->keys : block + $KEYS$;
    //@ if turns then
    bool is_any = false;
    //@ end
    for (size_t i = 0, tile = 0, high; tile < tiles; i += high, tile++) {
      size_t key = block, end = stop;
      high = (rows - i + tiles - tile - 1) / (tiles - tile);
      //@ if first.places then
      const $stem$_rows at = $stem$_rows_at($inner$, row + i, high);
      //@ end
      //@ if first.rules_out then
      while (key < end && $stem$_skips(&at, $inner$, key, $NR$))
        key += $NR$;
      while (key < end && $stem$_skips(&at, $inner$, (end - 1) / $NR$ * $NR$, $NR$))
        end = (end - 1) / $NR$ * $NR$;
      //@ end
      $k.number$ *const points = room + r->points$(turns and (" + i * %d + key - block"):format(KEYS) or "");
      //@ if turns and first.rules_out then
      $name$_clear(room + r->points + i * $KEYS$, high, key - block, (end > key ? end : key) - block, stop - block);
      //@ end
      //@ if first.rules_out then
      if (key >= end)
        continue;
      //@ end
      //@ if turns then
      is_any = true;
      //@ end
      //@ for nth in ipairs(pass.firsts) do
      $name$_multiply$nth$(r, room, points, room + r->rows$nth$ + tile * $MR$ * r->terms$nth$, high, key, end - key);
      //@ end
      //@ if first.restricted then
      const bool is_free = $stem$_is_free(&at, $inner$, key, end - key);
      //@ end
      //@ if f.peak then
      $k.number$ by[$MR$];
      //@ end
      //@ local given = "(" .. inner .. ", gathered + i, points, " .. HIGH * KEYS .. ", " .. KEYS
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
      $name$_add$nth$(last$nth$, r, room, points, sums$nth$ + i * r->width$nth$, high, key, end - key);
      //@ end
    }
    //@ local before = "0"
    //@ for nth in ipairs(pass.across) do
    if (is_any)
      $name$_turn$nth$(across$nth$, r, room, turned + $before$ * r->keys + block * r->across_width$nth$, row, rows,
          stop - block);
    //@ before = (nth > 1 and before:sub(1, -2) or "(0") .. " + r->across_width" .. nth .. ")"
    //@ end
  }
  for (size_t i = 0; i < rows; i++)
    $stem$_finish($inner$, gathered + i$(Rows.parameters_of(pass.lasts, "last%d, sums%d + i * r->width%d, r->columns%d")), row + i);
}

/* Blocks of rows of a matrix, each of `most` rows. */
static size_t $name$_blocks(const lathe_args *args, size_t *most) {
  const size_t rows = $f.has.rows$;

  lathe_cut(most, rows, $(TILES * MR), $MR$);
  return (rows + *most - 1) / *most;
}

//@ if turns then
/* Numbers of what is added up over rows, of a group of blocks. */
static size_t $name$_turned(const $name$_room *r) {
  return r->keys * (0$(Rows.parameters_of(pass.across, "r->across_width%d"):gsub(",", " +")));
}

/* Groups that a matrix's blocks are dealt to, each with sums over its own rows: the fewer matrices, the more, so that
 * threads have some each. How many there are depends on extents alone, and so do results. */
static size_t $name$_groups(const lathe_args *args) {
  const size_t enough = 32, matrices = $(S.size(S.loop_places(first)));
  size_t most, blocks = $name$_blocks(args, &most), groups = (enough + matrices - 1) / (matrices > 0 ? matrices : 1);
  groups = groups < blocks ? groups : blocks;
  return groups > 0 ? groups : 1; /* of no rows sums are 0 */
}

//@ end
/* All matrices of a pass, or a part's $(turns and "groups of blocks" or "blocks") of their rows. */
static void $name$(const lathe_args *args) {
  const $name$_room r = $name$_measure(args);
  $k.number$ *room = ($k.number$ *)((char *)args->workspace + args->part * args->apart);
  size_t most, unit, end, packed = SIZE_MAX;
  const size_t blocks = $name$_blocks(args, &most), groups = $(turns and name .. "_groups(args)" or "blocks");
  lathe_units(args, $(S.size(S.loop_places(first))) * groups, &unit, &end);
  for (; unit < end; unit++) {
    const size_t matrix = unit / groups, group = lathe_from_either_end(unit % groups, groups);
    //@ S.find_loops(first, "matrix")
    //@ for nth, step in ipairs(pass.firsts) do
    const $step.name$ first$nth$ = $step.name$_at(args$(each_loop(step, "")));
    //@ end
    //@ for letter, list in pairs { last = pass.lasts, across = pass.across } do
    //@ for nth, last in ipairs(list) do
    const $last.name$ $letter$$nth$ = $last.name$_at(args$(each_loop(last, "")));
    //@ end
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
    //@ if turns then
    $k.number$ *const turned = ($k.number$ *)((char *)args->workspace + $TEMPORARIES$)
        + (matrix * groups + group) * $name$_turned(&r);
    for (size_t i = 0; i < $name$_turned(&r); i++)
      turned[i] = 0;
    //@ end
    for (size_t block = blocks * group / groups; block < blocks * (group + 1) / groups; block++)
      $name$_block($(table.concat(arguments, ", "))$(Rows.parameters_of(pass.lasts, "&last%d"))$(Rows.parameters_of(pass.across, "&across%d")),
          &r, room$(turns and ", turned" or ""), block * most, r.rows - block * most < most ? r.rows - block * most : most);
  }
}

//@ if turns then
/* Adds up what groups of rows have come to for each key, and stores it. */
static void $name$_finish(const lathe_args *args) {
  const $name$_room r = $name$_measure(args);
  const size_t groups = $name$_groups(args), count = $name$_turned(&r);
  size_t unit, end;
  lathe_units(args, $(S.size(S.loop_places(first))) * r.keys, &unit, &end);
  for (; unit < end; unit++) {
    const size_t matrix = unit / r.keys, row = unit % r.keys;
    $k.number$ *turned = ($k.number$ *)((char *)args->workspace + $TEMPORARIES$)
        + matrix * groups * count;
    //@ S.find_loops(first, "matrix")
    //@ for nth, last in ipairs(pass.across) do
    {
      const $last.name$ across = $last.name$_at(args$(each_loop(last, ""))), *const here = &across;
      const size_t columns = r.across_columns$nth$;
      $k.number$ *const sums = turned + row * r.across_width$nth$;
      for (size_t group = 1; group < groups; group++)
        for (size_t i = 0; i < columns; i++)
          sums[i] += sums[group * count + i];
      (void)here;
      //@ Rows.store_row(last)
    }
    turned += r.keys * r.across_width$nth$;
    //@ end
  }
}

//@ end
//@ return MR, NR, TILES * MR, KEYS
//@ end
//@ local facts = {}
//@ for i, pass in ipairs(k.passes) do
//@ facts[i] = facts_of(pass)
//@ define_pass(facts[i])
//@ end
//@ for _, v in ipairs(variants) do
//@ local rows, most, phases = {}, "0", {}
/* Bytes of the workspace that all parts have in common: temporaries, and sums over rows. */
static size_t $v.name$_common_bytes(const lathe_args *args);

//@ local turned = "0" -- numbers
//@ for i, f in ipairs(facts) do
//@ local name = v.name .. "_pass" .. i
//@ rows[i] = { define_block(f, v, name) }
//@ most = ("lathe_larger(%s_measure(&sizes).all, %s)"):format(name, most)
//@ local matrices = S.size(S.loop_places(f.inner))
//@ local each = #f.pass.across > 0 and name .. "_groups(args)" or name .. "_blocks(args, &most)"
//@ table.insert(phases, { run = name, parts = ("%s * %s"):format(matrices, each) })
//@ if #f.pass.across > 0 then
//@ local widths = {}
//@ for nth, last in ipairs(f.pass.across) do
//@ widths[nth] = ("(%s + %d) / %d * %d"):format(S.size(S.core(last, "n")), rows[i][2] - 1, rows[i][2], rows[i][2])
//@ end
//@ turned = ("lathe_larger(%s, %s * %s_groups(args) * %s * (%s))"):format(turned, matrices, name, f.has.keys,
//@   table.concat(widths, " + "))
//@ table.insert(phases, { run = name .. "_finish", parts = ("%s * %s"):format(matrices, f.has.keys) })
//@ end
//@ end
static size_t $v.name$_common_bytes(const lathe_args *args) {
  (void)args;
  return $TEMPORARIES$ + ($turned$ * sizeof($k.number$) + 63) / 64 * 64;
}

//@ S.define_workspace(v, most)
//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  size_t most;
  (void)most;
  //@ for i, phase in ipairs(phases) do
  if (phase == $(i - 1))
    return $phase.parts$;
  //@ end
  return 0;
}

//@ end
//@ S.define_sharing(v, #phases, v.name .. "_common_bytes(args)")
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
  //@ for _, step in ipairs(pass.across) do
  //@ S.way(step, { 0, 0, 0 }, { mr, nr }, { keys, 0, high })
  //@ end
  //@ end
  {0},
};

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  //@ for i, phase in ipairs(phases) do
  if (args->parts == 0 || args->phase == $(i - 1))
    $phase.run$(args);
  //@ end
}

//@ end
