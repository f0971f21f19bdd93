#!/bin/sh
# test_chain.sh - chains of small contractions by the C kernels of every instruction set that there is: depths,
# activations, gradients, orders of axes, widths that fill no tile; faults planted in their templates, which the check
# must find; and what is no chain. Needs LATHE_SRC, LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
cp "$LATHE_SRC/tests/specs-chain/chain.lua" "$tmp/tree/specs/"
templates_of_its_own
mkdir "$tmp/build" "$tmp/faulty"

cd "$tmp/build" || exit 1
# shellcheck disable=SC2086
is 'configures' configure --disable-cuda --disable-vulkan $runnable CFLAGS=-O0 KERNEL_CFLAGS=-O0
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
checked() { "$bench" --backend cpu --dtype all --check-only "$@"; }
is 'is right' checked
is 'is right with special values' checked --no-probe --special nan,inf,zero,denormal
is 'is right for one row, and for many' checked --no-probe --op one_layer --size batch=1xi=7xo=5,batch=1000xi=7xo=5
another_batch() { checked --no-probe --op one_layer --size S --batch-size 3 | grep ' 3x12x12 '; }
is 'takes another batch' another_batch
is 'takes an implementation' checked --no-probe --op one_layer --implementation simd
unknown_way() { ! checked --implementation simt 2>"$tmp/line" && grep "unknown implementation 'simt'" "$tmp/line"; }
is 'names an unknown implementation' unknown_way

# ---- planted faults ---------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configure --disable-cuda --disable-vulkan --disable-sse2 --disable-avx512 --disable-scalar \
  CFLAGS=-O0 KERNEL_CFLAGS=-O0 --ops=three_layers_trained --dtypes=f32
is 'takes the runtime for faults' reuse

is 'finds a total that begins again in each block' fault three_layers_trained c/chain.c \
  '", first / "' '", 0 * first / "'
is 'finds operands that stay at the first block' fault three_layers_trained c/chain.c \
  'rows * ($(per_row(operand)))' '0 * ($(per_row(operand)))'
is 'finds a total without its last columns' fault three_layers_trained c/chain.c \
  'const bool whole = columns == $NR$;' 'const bool whole = true;'
is 'finds a panel of other columns' fault three_layers_trained c/chain.c \
  '+ column * terms, column,' '+ column * terms, 0,'
is 'finds a tile of too many rows' fault three_layers_trained c/chain_tile.c \
  'height = $height$;' 'height = $height$ + (rows - i > 6);'
is 'finds a term left out' fault three_layers_trained c/chain_tile.c 'term < terms; term++' 'term + 1 < terms; term++'

# ---- what is no chain -------------------------------------------------------------------------------

# refused INPUTS FUNCTION IMPLEMENTATION LINE [BACKEND]: the generator has that line of such a spec
refused() {
  cat >"$tmp/tree/specs/chain.lua" <<SPEC
op "refused" {
  doc = "refused", inputs = { $1 }, outputs = { y = { "m", "n" } }, compute = $2,
  sizes = { { "S", m = 4, n = 4, k = 4 } }, dtypes = { "f32" }, ulp = 4,
  variants = { { backend = "${5-avx2}", implementation = $3 } },
}
SPEC
  ! "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/refused" all 2>"$tmp/line" && grep -F "$4" "$tmp/line"
}
product='function(a, b) return sum(a * b, "k") end'
is 'names an implementation that there is not' refused 'a = { "m", "k" }, b = { "k", "n" }' "$product" '"fast"' \
  "specs/chain.lua:4: variants[1]: unknown implementation 'fast' of backend 'avx2'; expected 'product', 'sequence', 'simd', 'stream' or 'unfused'"
is 'says what is no chain' refused 'a = { "k", "m" }, b = { "k", "n" }' "$product" '"simd"' \
  "specs/chain.lua:4: variants: refused: expected layers of a batch's rows, one after the other, for this \
implementation, found 'a' without the batch outermost"
is 'says what has no steps' refused 'a = { "m", "n" }, b = { "k" }' \
  'function(a, b) return a * max(b, "k") end' '"simd"' 'for this implementation, found a reduction other than a sum'
is 'says which matrix has another type' refused 'a = { "m", "k" }, b = { "k", "n", dtype = "f16" }' "$product" '"coopmat"' \
  "are operands as they are in memory for this implementation, found 'b' with a dtype of its own" cuda

cat >"$tmp/tree/specs/chain.lua" <<'SPEC'
op "deep" {
  doc = "deep", outputs = { y = { "m", "i" } }, sizes = { { "S", m = 4, i = 4, h = 4 } },
  inputs = { x = { "m", "i" }, v = { "h", "i" }, w = { "i", "h" } },
  compute = function(x, v, w)
    for _ = 1, 13 do
      x = sum(w * max(sum(v * x, "i"), 0), "h")
    end
    return x
  end,
  dtypes = { "f32" }, ulp = 4, variants = { { backend = "cuda" } },
}
SPEC
too_deep() {
  ! "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/refused" all 2>"$tmp/line" && grep -F "specs/chain.lua:10: variants: \
deep: expected at most the 24 launches that a call has, found 26 for 'cuda_m128_n128_s3'" "$tmp/line"
}
is 'refuses more steps than a call has launches' too_deep

summary
