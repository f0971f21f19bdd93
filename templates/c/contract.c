//@ if first then
/* Steps, one after the other: sums of the products of two factors, as matrix products. A tile of the product is
 * gathered in registers from two streams of numbers, in one of three ways:
 *   dots     few columns, or few rows, where the other factor lies along the terms: a dot product for each element
 *   direct   small or thin products of factors that are numbers in memory: they are read there
 *   packed   all others (Goto and van de Geijn 2008): panels of both factors are packed, on the way of which each factor
 *            is computed, for blocks of kc terms, mc rows and nc columns, which fit the caches
 * Tiles share the rows evenly, so that none has rows to spare. Sums that are stored as they are gather where they
 * belong; others in the workspace, from where what is made of them is computed after the last block of terms. A sum
 * adds the terms of a block in their order, or as dots the lanes of a vector, and then the blocks. Those of more than
 * LATHE_DEPTH terms gather in the workspace too, and carry their rounding errors along. */
#include "contract.h"

//@ end
//@ local S = use "contract_step.c"
//@ local Pack = use "contract_pack.c"
//@ local Tile = use "contract_tile.c"
//@ local Dots = use "contract_dots.c"
//@ local Panels = use "contract_panels.c"
//@ local L = k.lanes
//@ -- Whether a variant reads the factors of some products where they are.
//@ local function is_direct(v, step)
//@   return v.params.direct > 0 and #step.of.k < 2 and S.plain_factor(step, "a") and S.plain_factor(step, "b")
//@     and S.kind(step, S.plain_factor(step, "b"), "n") == "unit"
//@ end
//@ -- Rows and columns of a tile.
//@ local function tile_of(v, step)
//@   return Panels.takes(v, step) and Panels.lines .. ", " .. Panels.lines or v.params.mr .. ", " .. v.params.nv * L
//@ end
//@ -- Places in the workspace, in numbers, are whole lines of a cache.
//@ local function lines(numbers)
//@   return "(" .. numbers .. " + 15) / 16 * 16"
//@ end
//@ for _, step in ipairs(k.steps) do
//@ S.define(step)
//@ end
//@ for _, v in ipairs(variants) do
//@ local MR, NV = v.params.mr, v.params.nv
//@ local NR = NV * L
//@ for _, step in ipairs(k.steps) do
//@ local own = v.name .. "_" .. step.of.name
//@ local loops, outer, places = S.loops_of(step), {}, {}
//@ for i, run in ipairs(loops) do
//@   places[i] = { run = run, index = "loop" .. i }
//@ end
//@ if Panels.takes(v, step) then
//@ Panels.define(v, step, own, loops, places, S.once)
//@ else
//@ local tile = Tile.define(MR, NV)
//@ local one_block = #step.of.k < 2
//@ local a, b, result = S.plain_factor(step, "a"), S.plain_factor(step, "b"), S.plain_value(step)
//@ local dots = Dots.ways(step)
//@ local pack_a, pack_b = step.name .. "_pack_a" .. MR, step.name .. "_pack_b" .. NR
//@ local values = step.name .. "_values"
//@ S.once(pack_a, function() Pack.define(step, step.a, "m", MR, pack_a) end)
//@ S.once(pack_b, function() Pack.define(step, step.b, "n", NR, pack_b) end)
//@ local carry = Tile.define_carry()
//@ S.once(values, function() Tile.define_values(step, values) end)
//@ for _, way in ipairs(dots) do
//@ S.once(way.name, function() Dots.define(step, way.across, way.name, values) end)
//@ end
enum { $own$_PACKED, $own$_DIRECT, $own$_DOTS_m, $own$_DOTS_n };

/* A matrix, how its product is computed, and where in the workspace, in numbers: what begins there, and how much it
 * is. */
typedef struct $own$_plan {
  size_t rows, columns, terms, blocks; /* blocks of terms in all */
  size_t kc, mc, nc;
  size_t row, last_row, column, last_column; /* what is computed of the matrix */
  size_t depth;               /* blocks that are added up before rounding errors are carried; 0: all */
  size_t packs_b, tiles, all; /* tiles: of which there are `apart` numbers, or three times as many */
  size_t apart;
  int way;
} $own$_plan;

/* The room for tiles, after what is packed. */
static void $own$_set_room($own$_plan *p) {
  p->depth = p->blocks > 1 && lathe_is_long(p->blocks * p->kc) ? lathe_depth(p->kc) : 0;
  p->apart = p->blocks > 1 ? p->rows * p->nc : $(MR * NR);
  p->all = p->tiles + (p->depth ? 3 : 1) * p->apart;
}

static $own$_plan $own$_make_plan(const lathe_args *args) {
  $own$_plan p = {.rows = $(S.size(S.core(step, "m"))), .columns = $(S.size(S.core(step, "n"))), .terms = $(S.size(S.core(step, "k")))};
  //@ for _, way in ipairs(dots) do
  if (lathe_is_dots(p.$way.many$, p.$way.few$, p.terms, $Dots.most_few$, $L$)) {
    p.way = $own$_DOTS_$way.across$;
    p.all = (p.$way.few$ == 1 ? 1 : p.$way.few$ + 3) * (p.terms + $L$);
    return p;
  }
  //@ end
  //@ if is_direct(v, step) then
  if (lathe_is_direct(p.rows, p.columns, p.terms, $(2 * MR), $NR$, $v.params.direct$)) {
    const size_t bytes = p.columns * p.terms * sizeof($k.number$);
    p.way = $own$_DIRECT;
    /* A few terms at a time, so that a large factor is read in the order of memory. */
    lathe_cut(&p.kc, p.terms, p.rows <= $(2 * MR) && bytes > lathe_cache(2) / 2 ? 16 : (size_t)LATHE_TERMS, 1);
    p.nc = $(lines("p.columns + " .. NR - 1));
    p.blocks = (p.terms + p.kc - 1) / p.kc;
    $own$_set_room(&p);
    return p;
  }
  //@ end
  lathe_cut(&p.kc, p.terms, $(v.params.kc > 0 and v.params.kc or "lathe_terms(" .. NR .. " * sizeof(" .. k.number .. "))"), 1);
  lathe_cut(&p.mc, p.rows, $(v.params.mc > 0 and v.params.mc or "lathe_rows(p.kc * sizeof(" .. k.number .. "))"), $MR$);
  lathe_cut(&p.nc, p.columns, $(v.params.nc > 0 and v.params.nc or "lathe_columns(p.kc * sizeof(" .. k.number .. "))"), $NR$);
  p.blocks = (p.terms + p.kc - 1) / p.kc;
  //@ for i = 1, #step.of.k - 1 do
  p.blocks *= $(S.size(step.of.k[i]));
  //@ end
  p.packs_b = $(lines("p.mc * (p.kc + " .. L .. ")"));
  p.tiles = p.packs_b + $(lines("p.nc * p.kc"));
  $own$_set_room(&p);
  return p;
}

//@ -- A tile at rows i and columns j. at: where it is, from where it reads, and its block of terms.
//@ local function one_tile(at)
const size_t vectors = (wide + $(L - 1)) / $L$, lanes = wide - (vectors - 1) * $L$;
//@ if result then
if (!p.depth) {
  $tile$[high - 1][vectors - 1][lanes < $L$]($at.terms$, $at.a$, $at.b$, here.$result.name$ + ($at.row$) * $(S.stride(step, result, "m")) + ($at.column$), $(S.stride(step, result, "m")), block > 0, lanes);
  continue;
}
//@ end
$k.number$ *const place = packs + p.tiles + (p.blocks > 1 ? ($at.row$) * p.nc + $at.across$ * high : 0);
const bool last = block + 1 >= p.blocks;
$tile$[high - 1][vectors - 1][$at.part$]($at.terms$, $at.a$, $at.b$, place, $NR$, p.depth ? block % p.depth > 0 : block > 0, lanes);
if (p.depth && (last || (block + 1) % p.depth == 0))
  $carry$(place, p.apart, high * $NR$, block >= p.depth, last);
if (last)
  $values$(&here, place, $NR$, $at.row$, high, $at.column$, wide);
//@ end
static void $own$(const lathe_args *args, char *temporaries, $k.number$ *packs) {
  $own$_plan p = $own$_make_plan(args);
  //@ S.declare(step)
  (void)temporaries;
  (void)packs;
  //@ S.each_matrix(step, MR, NR, function()
    //@ if one_block then
    //@ S.place(step, places)
    //@ end
    //@ for _, way in ipairs(dots) do
    if (p.way == $own$_DOTS_$way.across$) {
      $way.name$(&here, p.terms, $way.from$, $way.last$, p.$way.few$, packs);
    } else
    //@ end
    //@ if is_direct(v, step) then
    if (p.way == $own$_DIRECT) {
      const size_t tiles = (p.last_row - p.row + $(MR - 1)) / $MR$;
      for (size_t block = 0; block == 0 || block < p.blocks; block++)
        for (size_t column = p.column; column < p.last_column; column += $NR$) {
          const size_t wide = p.last_column - column < $NR$ ? p.last_column - column : $NR$, term = block * p.kc;
          const size_t terms = p.terms - term < p.kc ? p.terms - term : p.kc;
          for (size_t row = p.row, high, left = tiles; left > 0; row += high, left--) {
            high = (p.last_row - row + left - 1) / left;
            //@ local function at(operand, letter, place)
            //@   local along, by_term = S.stride(step, operand, letter), S.stride(step, operand, "k")
            //@   return ("here.%s + %s * %s + term * %s, %s%s"):format(operand.name, place, along, by_term,
            //@     letter == "m" and along .. ", " or "", by_term)
            //@ end
            //@ one_tile { terms = "terms", a = at(a, "m", "row"), b = at(b, "n", "column"), row = "row",
            //@   column = "column", across = "column", part = "lanes < " .. L }
          }
        }
    } else
    //@ end
    for (size_t column = p.column; column < p.last_column; column += p.nc) {
      const size_t columns = p.last_column - column < p.nc ? p.last_column - column : p.nc;
      /* A sum of nothing has a result too. */
      for (size_t block = 0; block == 0 || block < p.blocks; block++) {
        //@ if one_block then
        const size_t term = block * p.kc;
        const size_t terms = p.terms - term < p.kc ? p.terms - term : p.kc;
        //@ else
        const size_t each = (p.terms + p.kc - 1) / p.kc;
        const size_t term = p.blocks > 0 ? block % each * p.kc : 0;
        const size_t terms = p.blocks == 0 ? 0 : p.terms - term < p.kc ? p.terms - term : p.kc;
        size_t rest = p.blocks > 0 ? block / each : 0;
        //@ for i = #step.of.k - 1, 1, -1 do
        //@ places[#loops + i] = { run = step.of.k[i], index = "outer" .. i }
        const size_t outer$i$ = p.blocks > 0 ? rest % ($(S.size(step.of.k[i]))) : 0;
        rest = p.blocks > 0 ? rest / ($(S.size(step.of.k[i]))) : 0;
        //@ end
        (void)rest;
        //@ S.place(step, places)
        //@ end
        $k.number$ *const packs_b = packs + p.packs_b;
        for (size_t j = 0; j < columns; j += $NR$) {
          const size_t wide = columns - j < $NR$ ? columns - j : $NR$;
          $pack_b$(&here, packs_b + j * terms, column + j, wide, (wide + $(L - 1)) / $L$ * $L$, term, terms);
        }
        for (size_t row = p.row; row < p.last_row; row += p.mc) {
          const size_t rows = p.last_row - row < p.mc ? p.last_row - row : p.mc;
          const size_t tiles = (rows + $(MR - 1)) / $MR$;
          for (size_t i = 0, high, left = tiles; left > 0; i += high, left--) {
            high = (rows - i + left - 1) / left;
            $pack_a$(&here, packs + i * terms + (tiles - left) * $L$, row + i, high, high, term, terms);
          }
          for (size_t j = 0; j < columns; j += $NR$) {
            const size_t wide = columns - j < $NR$ ? columns - j : $NR$;
            for (size_t i = 0, high, left = tiles; left > 0; i += high, left--) {
              high = (rows - i + left - 1) / left;
              //@ one_tile { terms = "terms", a = "packs + i * terms + (tiles - left) * " .. L .. ", 1, high",
              //@   b = "packs_b + j * terms, (wide + " .. L - 1 .. ") / " .. L .. " * " .. L, row = "row + i",
              //@   column = "column + j",
              //@   across = "j", part = "false" }
            }
          }
        }
      }
    }
  //@ end)
}

//@ end
//@ end
extern lathe_cost $v.name$_workspace;
double $v.name$_workspace(const size_t *dim) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  size_t most = 0;
  //@ for _, step in ipairs(k.steps) do
  const size_t $step.of.name$ = $v.name$_$step.of.name$_make_plan(args).all;
  most = $step.of.name$ > most ? $step.of.name$ : most;
  //@ end
  return (double)($(S.bytes_of_temporaries())) + (double)most * sizeof($k.number$);
}

//@ if is_tried then
extern const lathe_way $v.name$_ways[];
const lathe_way $v.name$_ways[] = {
  //@ for _, step in ipairs(k.steps) do
  //@ for _, way in ipairs(Dots.ways(step)) do
  //@ local across_m = way.across == "m"
  //@ local tile = across_m and { Dots.together, Dots.most_few } or { Dots.most_few, Dots.together }
  //@ local block = across_m and { Dots.most_at_once, 0, 0, Dots.block } or { 0, Dots.most_at_once, 0, Dots.block }
  //@ S.way(step, { 0, 0, 4 * L - 1 }, tile, block)
  //@ end
  //@ if Panels.takes(v, step) then
  //@ S.way(step, { 0, 0, 0 }, { Panels.lines, Panels.lines }, { v.params.mc, v.params.nc, v.params.kc })
  //@ else
  //@ local blocks = { v.params.mc, v.params.nc, v.params.kc > 0 and v.params.kc or "LATHE_TERMS", "2 * LATHE_DEPTH" }
  //@ if is_direct(v, step) then
  //@ local terms = math.min(v.params.direct ^ 3 // ((2 * MR + 1) * (NR + 1)), 1 << 20)
  //@ S.way(step, { 0, 0, 0 }, { MR, NR }, { 0, 0, "LATHE_TERMS", "2 * LATHE_DEPTH" })
  //@ S.way(step, { 2 * MR, NR, string.format("%d", terms) }, { MR, NR }, blocks)
  //@ else
  //@ S.way(step, { 0, 0, 0 }, { MR, NR }, blocks)
  //@ end
  //@ end
  //@ end
  {0},
};

//@ end
//@ if is_tried then
static size_t $v.name$_parts(const size_t *dim, int phase) {
  const lathe_args sizes = {.dim = {$(S.dims())}}, *args = &sizes;
  //@ for i, step in ipairs(k.steps) do
  if (phase == $(i - 1)) {
    const $v.name$_$step.of.name$_plan p = $v.name$_$step.of.name$_make_plan(args);
    return lathe_shares_of($(S.size(S.loop_places(step))), p.rows, p.columns, $(tile_of(v, step))).units;
  }
  //@ end
  return 0;
}

//@ end
//@ S.define_sharing(v, #k.steps, S.bytes_of_temporaries())
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  char *temporaries = (char *)args->workspace;
  $k.number$ *packs = ($k.number$ *)(temporaries + $(S.bytes_of_temporaries()) + args->part * args->apart);
  //@ for i, step in ipairs(k.steps) do
  if (args->parts == 0 || args->phase == $(i - 1))
    $v.name$_$step.of.name$(args, temporaries, packs);
  //@ end
}

//@ end
