//@ -- A step's products by units that multiply elements of 8 or 16 bits, where both factors are these as they are in
//@ -- memory. Panels of both (panels.h) are packed for blocks of kc terms, mc rows and nc columns, as for vectors
//@ -- (contract.c). Where a spec does not set these, two panels take a sixteenth of the second cache, a's block a
//@ -- quarter of it and b's half: measured with AMX on a Xeon whose second cache is 2 MB. Products of 8 bits add up to
//@ -- i32, which has room for 33,025 of those of u8: blocks have fewer, whose sums are added in f32.
//@ local S = use "contract_step.c"
//@ local Tile = use "contract_tile.c"
//@ local Dots = use "contract_dots.c"
//@ local units = { vector = use "contract_amx.c", vnni = use "contract_vnni.c" } -- by a variant's parameter

//@ local LINES, MOST_WHOLE = 32, 32768 -- lines of a panel; terms of a block of 8 bits
//@ lines = LINES
//@ assert(MOST_WHOLE * 255 * 255 < 1 << 31, "a block's sums are to fit i32")
//@ -- The operand that a factor is element by element as it is in memory, or nil.
//@ local function element_factor(step, letter)
//@   local node = step.of[letter]
//@   for _, operand in ipairs(node.op == "input" and step.of.operands or {}) do
//@     if operand.name == node.name and not operand.temporary then
//@       return operand
//@     end
//@   end
//@ end
//@ -- What multiplies a step's factors in a variant, or nil: its name, bytes of an element, terms of a tile; of: whose.
//@ local function unit_of(v, step)
//@   local a, b = element_factor(step, "a"), element_factor(step, "b")
//@   local name, of = a and b and #step.of.k < 2 and k:type_of(a) .. "_" .. k:type_of(b), units[v.params.unit]
//@   local bytes = name and of.takes(name) and k:bytes_of(a)
//@   return bytes and { name = name, of = of, bytes = bytes, terms = 64 // bytes } or nil
//@ end
//@ function takes(v, step)
//@   return unit_of(v, step) ~= nil
//@ end
//@ -- Packs a panel of a factor. first, lines: texts.
//@ local function pack(step, letter, across, to, first, lines)
//@   local operand = element_factor(step, letter)
//@   local line, term = S.stride(step, operand, across), S.stride(step, operand, "k")
lathe_pack_panel($to$, $(tostring(letter == "a")), here.$operand.name$ + ($first$) * $line$ + term * $term$, $(k:bytes_of(operand)), $lines$, $line$, terms, $term$);
//@ end
//@ -- Defines NAME_make_plan and NAME, as contract.c does. One row, or one column, is for dots. once:
//@ -- contract_step.c's.
//@ function define(v, step, name, loops, places, once)
//@ local values, unit, dots = step.name .. "_values", unit_of(v, step), Dots.ways(step)
//@ if not shared.panels then
//@ shared.panels = true
#include "panels.h"

//@ end
//@ local multiply, shifts = unit.of.define(unit.name, unit.bytes == 1)
//@ local TERMS = unit.terms
//@ local function share(part) return ("lathe_cache(2) / %d / (p.kc * %d)"):format(part, unit.bytes) end
//@ local kc = "lathe_cache(2) / " .. 16 * 2 * LINES * unit.bytes
//@ if v.params.kc > 0 then
//@   kc = v.params.kc
//@ elseif unit.bytes == 1 then
//@   kc = ("%s < %d ? %s : %d"):format(kc, MOST_WHOLE, kc, MOST_WHOLE)
//@ end
//@ once(values, function() Tile.define_values(step, values) end)
//@ local carry = Tile.define_carry()
//@ for _, way in ipairs(dots) do
//@ once(way.name, function() Dots.define(step, way.across, way.name, values) end)
//@ end
enum { $name$_PACKED, $name$_DOTS_m, $name$_DOTS_n };

/* A matrix, how its product is computed, and where in the workspace, in numbers: what begins there, and how much it
 * is. */
typedef struct $name$_plan {
  size_t rows, columns, terms, blocks;
  size_t kc, mc, nc;
  size_t row, last_row, column, last_column; /* what is computed of the matrix */
  size_t depth, packs_b, tiles, all, apart; /* as contract.c has them */
  int way;
} $name$_plan;

static $name$_plan $name$_make_plan(const lathe_args *args) {
  $name$_plan p = {.rows = $(S.size(S.core(step, "m"))), .columns = $(S.size(S.core(step, "n"))), .terms = $(S.size(S.core(step, "k")))};
  //@ for _, way in ipairs(dots) do
  if (p.$way.few$ == 1) {
    p.way = $name$_DOTS_$way.across$;
    p.all = p.terms + $k.lanes$;
    return p;
  }
  //@ end
  lathe_cut(&p.kc, p.terms, $kc$, $TERMS$);
  lathe_cut(&p.mc, p.rows, $(v.params.mc > 0 and v.params.mc or share(4)), $LINES$);
  lathe_cut(&p.nc, p.columns, $(v.params.nc > 0 and v.params.nc or share(2)), $LINES$);
  p.blocks = (p.terms + p.kc - 1) / p.kc;
  //@ local each = 4 // unit.bytes
  p.packs_b = p.mc * p.kc / $each$; /* $each$ elements for a number */
  p.tiles = p.packs_b + p.nc * p.kc / $each$;
  p.depth = p.blocks > 1 && lathe_is_long(p.terms) ? lathe_depth(p.kc) : 0;
  p.apart = p.blocks > 1 ? (p.rows + $(LINES - 1)) / $LINES$ * $LINES$ * p.nc : $(LINES * LINES);
  p.all = p.tiles + (p.depth ? 3 : 1) * p.apart;
  return p;
}

static void $name$(const lathe_args *args, char *temporaries, $k.number$ *packs) {
  $name$_plan p = $name$_make_plan(args);
  //@ S.declare(step)
  (void)temporaries;
  //@ if unit.of.begin then
  $unit.of.begin$
  //@ end
  //@ S.each_matrix(step, LINES, LINES, function()
    //@ S.place(step, places)
    char *const packs_a = (char *)packs, *const packs_b = (char *)(packs + p.packs_b);
    //@ for _, way in ipairs(dots) do
    if (p.way == $name$_DOTS_$way.across$) {
      $way.name$(&here, p.terms, $way.from$, $way.last$, p.$way.few$, packs);
    } else
    //@ end
    for (size_t column = p.column; column < p.last_column; column += p.nc) {
      const size_t columns = p.last_column - column < p.nc ? p.last_column - column : p.nc;
      /* A sum of nothing has a result too. */
      for (size_t block = 0; block == 0 || block < p.blocks; block++) {
        const size_t term = block * p.kc;
        const size_t terms = p.terms - term < p.kc ? p.terms - term : p.kc;
        const size_t blocks = (terms + $(TERMS - 1)) / $TERMS$, panel = 2 * LATHE_TILE * blocks;
        for (size_t j = 0; j < columns; j += $LINES$) {
          const size_t wide = columns - j < $LINES$ ? columns - j : $LINES$;
          //@ pack(step, "b", "n", "packs_b + j / " .. LINES .. " * panel", "column + j", "wide")
        }
        for (size_t row = p.row; row < p.last_row; row += p.mc) {
          const size_t rows = p.last_row - row < p.mc ? p.last_row - row : p.mc;
          for (size_t i = 0; i < rows; i += $LINES$) {
            const size_t high = rows - i < $LINES$ ? rows - i : $LINES$;
            //@ pack(step, "a", "m", "packs_a + i / " .. LINES .. " * panel", "row + i", "high")
            //@ if shifts then
            lathe_shift_bytes(packs_a + i / $LINES$ * panel, panel);
            //@ end
          }
          for (size_t j = 0; j < columns; j += $LINES$) {
            const size_t wide = columns - j < $LINES$ ? columns - j : $LINES$;
            for (size_t i = 0; i < rows; i += $LINES$) {
              const size_t high = rows - i < $LINES$ ? rows - i : $LINES$;
              $k.number$ *const place = packs + p.tiles + (p.blocks > 1 ? (row + i) * p.nc + j * $LINES$ : 0);
              const bool last = block + 1 >= p.blocks;
              $multiply$(blocks, packs_a + i / $LINES$ * panel, packs_b + j / $LINES$ * panel, place, p.depth ? block % p.depth > 0 : block > 0, high, wide);
              if (p.depth && (last || (block + 1) % p.depth == 0))
                $carry$(place, p.apart, $(LINES * LINES), block >= p.depth, last);
              if (last)
                $values$(&here, place, $LINES$, row + i, high, column + j, wide);
            }
          }
        }
      }
    }
  //@ end)
  //@ if unit.of.finish then
  $unit.of.finish$
  //@ end
}

//@ end
