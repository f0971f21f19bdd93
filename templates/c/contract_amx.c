//@ -- A step's products by tiles of AMX: where both factors are elements of bf16 as they are in memory. Panels of both are
//@ -- packed for blocks of kc terms, mc rows and nc columns, as for vectors (contract.c). Where a spec does not set these,
//@ -- two panels take a sixteenth of the second cache, a's block a quarter of it and b's half: measured on a Xeon whose
//@ -- second cache is 2 MB.
//@ local S = use "contract_step.c"
//@ local Tile = use "contract_tile.c"

//@ local LINES, TERMS = 32, 32 -- of a panel, and of a block of its terms: simd_amx.h
//@ -- The operand that a factor is element by element, in the type that tiles multiply, or nil.
//@ local function element_factor(step, letter)
//@   local node = step.of[letter]
//@   for _, operand in ipairs(node.op == "input" and step.of.operands or {}) do
//@     if operand.name == node.name and not operand.temporary and k:type_of(operand) == k.set.tiles then
//@       return operand
//@     end
//@   end
//@ end
//@ function takes(step)
//@   return k.set.tiles and #step.of.k < 2 and element_factor(step, "a") and element_factor(step, "b") and true or false
//@ end
//@ -- Packs a panel of a factor. first, lines, from, terms: texts.
//@ local function pack(step, letter, across, to, first, lines)
//@   local operand = element_factor(step, letter)
//@   local line, term = S.stride(step, operand, across), S.stride(step, operand, "k")
lathe_pack_panel_bf16($to$, $(tostring(letter == "a")), here.$operand.name$ + ($first$) * $line$ + term * $term$, $lines$, $line$, terms, $term$);
//@ end
//@ -- Defines NAME_make_plan and NAME, as contract.c does.
//@ function define(v, step, name, loops, places)
//@ local values = name .. "_values"
//@ Tile.define_values(step, values)
/* A matrix, how its product is computed, and where in the workspace, in numbers: what begins there, and how much it
 * is. */
typedef struct $name$_plan {
  size_t rows, columns, terms, blocks;
  size_t kc, mc, nc;
  size_t packs_b, tiles, all;
} $name$_plan;

static $name$_plan $name$_make_plan(const lathe_args *args) {
  $name$_plan p = {.rows = $(S.size(S.core(step, "m"))), .columns = $(S.size(S.core(step, "n"))), .terms = $(S.size(S.core(step, "k")))};
  lathe_cut(&p.kc, p.terms, $(v.params.kc > 0 and v.params.kc or "lathe_cache(2) / " .. 16 * 2 * LINES * 2), $TERMS$);
  lathe_cut(&p.mc, p.rows, $(v.params.mc > 0 and v.params.mc or "lathe_cache(2) / 4 / (p.kc * sizeof(uint16_t))"), $LINES$);
  lathe_cut(&p.nc, p.columns, $(v.params.nc > 0 and v.params.nc or "lathe_cache(2) / 2 / (p.kc * sizeof(uint16_t))"), $LINES$);
  p.blocks = (p.terms + p.kc - 1) / p.kc;
  p.packs_b = p.mc * p.kc / 2; /* two of bf16 for a number */
  p.tiles = p.packs_b + p.nc * p.kc / 2;
  p.all = p.tiles + (p.blocks > 1 ? (p.rows + $(LINES - 1)) / $LINES$ * $LINES$ * p.nc : $(LINES * LINES));
  return p;
}

static void $name$(const lathe_args *args, char *temporaries, $k.number$ *packs) {
  const $name$_plan p = $name$_make_plan(args);
  //@ S.declare(step)
  (void)temporaries;
  lathe_tiles_begin();
  //@ for i, run in ipairs(loops) do
  for (size_t loop$i$ = 0; loop$i$ < $(S.size(run)); loop$i$++)
  //@ end
  {
    //@ S.place(step, places)
    uint16_t *const packs_a = (uint16_t *)packs, *const packs_b = (uint16_t *)(packs + p.packs_b);
    for (size_t column = 0; column < p.columns; column += p.nc) {
      const size_t columns = p.columns - column < p.nc ? p.columns - column : p.nc;
      /* A sum of nothing has a result too. */
      for (size_t block = 0; block == 0 || block < p.blocks; block++) {
        const size_t term = block * p.kc;
        const size_t terms = p.terms - term < p.kc ? p.terms - term : p.kc;
        const size_t blocks = (terms + $(TERMS - 1)) / $TERMS$, panel = $LINES$ * $TERMS$ * blocks;
        for (size_t j = 0; j < columns; j += $LINES$) {
          const size_t wide = columns - j < $LINES$ ? columns - j : $LINES$;
          //@ pack(step, "b", "n", "packs_b + j / " .. LINES .. " * panel", "column + j", "wide")
        }
        for (size_t row = 0; row < p.rows; row += p.mc) {
          const size_t rows = p.rows - row < p.mc ? p.rows - row : p.mc;
          for (size_t i = 0; i < rows; i += $LINES$) {
            const size_t high = rows - i < $LINES$ ? rows - i : $LINES$;
            //@ pack(step, "a", "m", "packs_a + i / " .. LINES .. " * panel", "row + i", "high")
          }
          for (size_t j = 0; j < columns; j += $LINES$) {
            const size_t wide = columns - j < $LINES$ ? columns - j : $LINES$;
            for (size_t i = 0; i < rows; i += $LINES$) {
              const size_t high = rows - i < $LINES$ ? rows - i : $LINES$;
              $k.number$ *const place = packs + p.tiles + (p.blocks > 1 ? (row + i) * p.nc + j * $LINES$ : 0);
              lathe_multiply_panels_bf16(blocks, packs_a + i / $LINES$ * panel, packs_b + j / $LINES$ * panel, place, block > 0, high > $(LINES // 2), wide > $(LINES // 2));
              if (block + 1 >= p.blocks)
                $values$(&here, place, $LINES$, row + i, high, column + j, wide);
            }
          }
        }
      }
    }
  }
  lathe_tiles_end();
}

//@ end
