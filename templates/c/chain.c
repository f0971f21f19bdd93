//@ if first then
/* Layers, of which each row of a batch goes through all (gen/program/chain.lua): `rows` rows at a time, so that what is
 * between layers stays in the caches. Matrices are packed once a call. Sums over the batch take one block of rows after
 * the other, so that their order is always the same; of many rows they carry their rounding errors along. */
#include "contract.h"

//@ end
//@ local S = use "contract_step.c"
//@ local Pack = use "contract_pack.c"
//@ local Tile = use "chain_tile.c"
//@ local Factor = use "chain_factor.c"
//@ local has_totals = false
//@ for _, kind in ipairs(k.chain.kinds) do
//@   has_totals = has_totals or kind == "total"
//@ end
//@ local carry = has_totals and use("contract_tile.c").define_carry()
//@ local L = k.lanes
//@ local batch = S.size(k.chain.batch)
//@ -- The elements that an operand has in each row of the batch, as C.
//@ local function per_row(operand)
//@   return S.size(k.stride(operand, k.chain.batch))
//@ end
//@ for _, step in ipairs(k.steps) do
//@ S.define(step)
//@ end
//@ for _, v in ipairs(variants) do
//@ local MR, NV, ROWS = v.params.mr, v.params.nv, v.params.rows
//@ local NR = NV * L
//@ local tile = k.name .. "_tile" .. MR .. "x" .. NV
//@ S.once(tile, function()
//@   for _, height in ipairs(Tile.heights(MR)) do
//@     for vectors = 1, NV do
//@       Tile.define(tile .. "_" .. height .. "x" .. vectors, height, vectors)
//@     end
//@   end
//@ end)
/* Where in the workspace, in numbers: temporaries of a block, packed matrices or sums of each step, and what a step
 * computes of its factors; how much in all. */
typedef struct $v.name$_room {
  //@ for _, operand in ipairs(k.record.temporaries) do
  size_t $operand.name$;
  //@ end
  //@ for _, step in ipairs(k.steps) do
  size_t $step.of.name$;
  //@ end
  size_t a, b, all;
} $v.name$_room;

static $v.name$_room $v.name$_measure(const lathe_args *args) {
  $v.name$_room r;
  size_t at = 0, a = 0;
  //@ for _, operand in ipairs(k.record.temporaries) do
  r.$operand.name$ = at;
  at += $ROWS$ * ($(per_row(operand))) + $NR$;
  //@ end
  //@ for i, step in ipairs(k.steps) do
  {
    const size_t columns = ($(S.size(S.core(step, "n"))) + $(NR - 1)) / $NR$ * $NR$;
    r.$step.of.name$ = at;
    //@ if k.chain.kinds[i] == "layer" then
    const size_t width = $(S.size(S.core(step, "k"))), numbers = columns * width;
    //@ else
    const size_t width = $(S.size(S.core(step, "m"))), numbers = (lathe_is_long($batch$) ? 3 : 1) * columns * width;
    //@ end
    at += numbers + $NR$;
    a = width > a ? width : a;
  }
  //@ end
  r.a = at;
  at += $ROWS$ * a + $NR$;
  r.b = at;
  r.all = at + $(ROWS * NR) + $NR$;
  return r;
}

//@ for i, step in ipairs(k.steps) do
//@ local own = v.name .. "_" .. step.of.name
//@ local values = S.once(step.name .. "_values", function() Tile.define_values(step, step.name .. "_values") end)
//@ local is_layer = k.chain.kinds[i] == "layer"
//@ local across = is_layer and "k" or "m"
//@ local a, b = Factor.direct(step, step.of.a, { "m", "k" }), Factor.direct(step, step.of.b, { "n", "k" })
//@ local rows_a, rows_b = step.name .. "_rows_a", step.name .. "_rows_b"
//@ local panels = step.name .. "_panels" .. NR
//@ if not a then
//@ S.once(rows_a, function() Factor.define_rows(step, step.a, is_layer and "m" or "k", across, rows_a) end)
//@ end
//@ if is_layer then
//@ S.once(panels, function() Pack.define(step, step.b, "n", NR, panels) end)
//@ else
//@ S.once(rows_b, function() Factor.define_rows(step, step.b, "k", "n", rows_b) end)
//@ end
/* $(is_layer and "A layer: what it makes of a block's rows." or "A total: what a block's rows add to it.") */
static void $own$(const $step.name$ *here, const $v.name$_room *r, $k.number$ *room, size_t $(is_layer and "rows" or "terms, size_t block, size_t blocks")) {
  const lathe_args *args = here->args;
  //@ if is_layer then
  const size_t terms = $(S.size(S.core(step, "k")));
  //@ else
  const size_t rows = $(S.size(S.core(step, "m"))), depth = lathe_is_long($batch$) ? lathe_depth($ROWS$) : blocks;
  const bool last = block + 1 == blocks;
  //@ end
  const size_t all = $(S.size(S.core(step, "n")));
  //@ if a then
  const $k.number$ *a = $a.from$;
  const size_t a_row = $a.m$, a_term = $a.k$;
  //@ else
  const $k.number$ *a = room + r->a;
  const size_t a_row = $(is_layer and "terms" or "1"), a_term = $(is_layer and "1" or "rows");
  $rows_a$(here, room + r->a, $(is_layer and "terms, rows, 0, terms" or "rows, terms, 0, rows"));
  //@ end
  for (size_t column = 0; column < all; column += $NR$) {
    const size_t columns = all - column < $NR$ ? all - column : $NR$;
    size_t height;
    //@ if is_layer then
    const $k.number$ *b = room + r->$step.of.name$ + column * terms;
    $k.number$ sums[$(MR * NR)];
    for (size_t i = 0; i < rows; i += height) {
      //@ Tile.choose(tile, MR, NV, ("terms, a + i * a_row, a_row, a_term, b, %d, sums, %d, false"):format(NR, NR))
      $values$(here, sums, $NR$, i, height, column, columns);
    }
    //@ else
    $k.number$ *sums = room + r->$step.of.name$ + column * rows;
    //@ if b and b.n == "1" then
    const bool whole = columns == $NR$;
    const $k.number$ *b = whole ? $b.from$ + column : room + r->b;
    const size_t b_term = whole ? $b.k$ : $NR$;
    if (!whole)
    //@ else
    const $k.number$ *b = room + r->b;
    const size_t b_term = $NR$;
    //@ end
      $rows_b$(here, room + r->b, $NR$, terms, column, columns);
    for (size_t i = 0; i < rows; i += height) {
      //@ Tile.choose(tile, MR, NV,
      //@   ("terms, a + i * a_row, a_row, a_term, b, b_term, sums + i * %d, %d, block %% depth > 0"):format(NR, NR))
    }
    if (depth < blocks && (last || (block + 1) % depth == 0))
      $carry$(sums, (all + $(NR - 1)) / $NR$ * $NR$ * rows, rows * $NR$, block >= depth, last);
    //@ end
  }
}

//@ end
//@ S.define_workspace(v)
//@ if is_tried then
extern const lathe_way $v.name$_ways[];
const lathe_way $v.name$_ways[] = {
  //@ for i, step in ipairs(k.steps) do
  //@ local is_layer = k.chain.kinds[i] == "layer"
  //@ S.way(step, { 0, 0, 0 }, { MR, NR }, { is_layer and ROWS or 0, 0, is_layer and 0 or ROWS })
  //@ end
  {0},
};

//@ end
/* $v.params_text$ */
void $v.name$(const lathe_args *args) {
  const $v.name$_room r = $v.name$_measure(args);
  $k.number$ *room = ($k.number$ *)args->workspace;
  const size_t batch = $batch$;
  //@ if has_totals then
  const size_t blocks = batch > $ROWS$ ? (batch + $(ROWS - 1)) / $ROWS$ : 1;
  //@ end
  size_t first = 0;
  //@ for i, step in ipairs(k.steps) do
  $step.name$ $step.of.name$ = {
    .args = args,
    //@ for _, operand in ipairs(step.of.operands) do
    //@ if operand.temporary then
    .$operand.name$ = room + r.$operand.name$,
    //@ else
    //@ for place, given in ipairs(op.operands) do
    //@ if given.name == operand.name then
    .$operand.name$ = ($(k:element_type(given)) *)args->buf[$(place - 1)],
    //@ end
    //@ end
    //@ end
    //@ for _, letter in ipairs { "m", "n", "k" } do
    //@ local how, places = S.kind(step, operand, letter)
    //@ if how == "strided" then
    .$(S.field(operand, letter)) = $(S.size(places)),
    //@ end
    //@ end
    //@ end
  };
  //@ end
  //@ for i, step in ipairs(k.steps) do
  //@ if k.chain.kinds[i] == "layer" then
  for (size_t column = 0, all = $(S.size(S.core(step, "n"))), terms = $(S.size(S.core(step, "k"))); column < all; column += $NR$)
    $step.name$_panels$NR$(&$step.of.name$, room + r.$step.of.name$ + column * terms, column, all - column < $NR$ ? all - column : $NR$, $NR$, 0, terms);
  //@ end
  //@ end
  /* Without rows a total has a result too. */
  do {
    const size_t rows = batch - first < $ROWS$ ? batch - first : $ROWS$;
    //@ for i, step in ipairs(k.steps) do
    $v.name$_$step.of.name$(&$step.of.name$, &r, room, rows$(k.chain.kinds[i] == "layer" and "" or ", first / " .. ROWS .. ", blocks"));
    //@ end
    //@ for _, step in ipairs(k.steps) do
    //@ for _, operand in ipairs(step.of.operands) do
    //@ if not operand.temporary and k.stride(operand, k.chain.batch) then
    $step.of.name$.$operand.name$ += rows * ($(per_row(operand)));
    //@ end
    //@ end
    //@ end
    first += rows;
  } while (first < batch);
  //@ for i, step in ipairs(k.steps) do
  //@ if k.chain.kinds[i] == "total" then
  for (size_t column = 0, all = $(S.size(S.core(step, "n"))), rows = $(S.size(S.core(step, "m"))); column < all; column += $NR$)
    $step.name$_values(&$step.of.name$, room + r.$step.of.name$ + column * rows, $NR$, 0, rows, column, all - column < $NR$ ? all - column : $NR$);
  //@ end
  //@ end
}

//@ end
