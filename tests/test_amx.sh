#!/bin/sh
# test_amx.sh - contractions by tiles of AMX, as tests/amx/tiles.h makes them of arrays: all orders of axes, batches,
# groups of axes, and steps that tiles do not take; and faults planted in the templates, which the check must find. Needs
# LATHE_SRC and LATHE_BENCH, and a processor with AVX-512.

. "$LATHE_SRC/tests/check.sh"

"$LATHE_BENCH" --list-backends >"$tmp/backends"
if ! grep -q '^avx512 .* ready' "$tmp/backends"; then
  echo 'skipped: tiles of AMX: this processor or compiler has no AVX-512'
  summary
  exit
fi

tree
for spec in contract bytes; do
  sed 's/backend = { "scalar", [^}]*}/backend = "amx"/; s/keys\.dtypes or { "f32", "bf16" }/{ "bf16" }/; /backend = "cuda"/d
    s/backend = "avx512", unit = "vnni"/backend = "amx"/; s/dtypes = { "f32" }/dtypes = { "bf16" }/' \
    "$LATHE_SRC/tests/specs-contract/$spec.lua" >"$tmp/tree/specs/$spec.lua"
done
templates_of_its_own
cp "$LATHE_SRC/tests/amx/tiles.h" "$tmp/tree/templates/c/"
sed -i 's/^#include "simd_avx512.h"/&\n#include "tiles.h"/' "$tmp/tree/templates/c/simd_amx.h"
sed -i 's/return idle("amx".*/return/' "$tmp/tree/templates/c/backend.lua" # steps that tiles do not take, alone too
mkdir "$tmp/build" "$tmp/faulty"

# Kernels that any processor with AVX-512 may run.
configured() {
  configure --disable-cuda --disable-vulkan --disable-sse2 --disable-avx2 --disable-avx512 --disable-scalar \
    CFLAGS=-O1 KERNEL_CFLAGS=-O0 "$@" && reuse && ninja out/gen/table.c && sed -i 's/ | LATHE_AMX_[A-Z0-9]*//g' out/gen/table.c
}

cd "$tmp/build" || exit 1
is 'configures' configured
if ! grep -q '^checking backend amx\.\.\. yes' "$tmp/said"; then
  echo 'skipped: tiles of AMX: the compiler does not know them'
  summary
  exit
fi
is 'builds the kernels' ninja out/bench
bench() { out/bench --backend amx --dtype bf16 --check-only "$@"; }
is 'is right' bench
is 'is right with special values' bench --no-probe --special nan,inf,zero
is 'is right for tiles that are full, and two more of each' bench --no-probe \
  --op 'product_111,product_222,bytes_[su]*' \
  --size 34x34x34,64x64x64,34x66x130
is 'takes what is elements of bf16 by tiles' grep -q lathe_multiply_tiles_bf16_bf16 out/gen/product_111/product_111__amx.c
is 'takes what is elements of 8 bits by tiles' grep -q lathe_multiply_tiles_i8_u8 out/gen/bytes_su/bytes_su__amx.c
is 'takes what is computed by vectors' grep -q tile3x2 out/gen/dequantised/dequantised__amx.c

# ---- planted faults ---------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configured --ops=product_111,product_222,bytes_su,bytes_long

# fault OP FILE FROM TO: with that in place of a text, which is there once, the op's kernels are built, and are wrong
fault() {
  template=$tmp/tree/templates/c/$2
  cp "$template" "$tmp/right"
  plant "$template" "$3" "$4" && ninja "$1" && sed -i 's/ | LATHE_AMX_[A-Z0-9]*//g' "out/gen/$1/table.c" && ninja "$1"
  built=$?
  "out/bench-$1" --op "$1" --backend amx --check-only --size "${size-40x50x70}" >"$tmp/output" 2>&1
  status=$?
  cp "$tmp/right" "$template"
  [ $built = 0 ] && [ $status = 1 ] && grep ' wrong' "$tmp/output"
}
is 'finds a sum that begins again' fault product_111 contract_panels.c 'p.depth ? block % p.depth > 0 : block > 0' false
is 'finds rows of a second tile left out' fault product_111 contract_amx.c 'high > 16' 'high > 32'
is 'finds columns of a second tile left out' fault product_111 contract_amx.c 'wide > 16) {' 'wide > 32) {'
is 'finds a block of terms left out' fault product_111 contract_panels.c '(terms + $(TERMS - 1)) / $TERMS$' 'terms / $TERMS$'
is 'finds terms that there are not' fault product_111 panels.h 't < 4 / (size_t)bytes && t < terms' 't < 4 / (size_t)bytes'
is 'finds a line taken for another' fault product_222 panels.h '(i < lines ? i * line : 0)' '0'
is 'finds terms past the end' fault product_222 panels.h 'terms * each < 64 ? (1ull << terms * each) - 1 : ~0ull' '~0ull'
is 'finds values before the last block' fault product_111 contract_panels.c 'block + 1 >= p.blocks' 'block == 0'
is 'finds tiles given back too early' fault product_111 contract_panels.c '  $unit.of.begin$' '  $unit.of.begin$ $unit.of.finish$'
is 'finds bytes in other places' fault bytes_su panels.h '(int)t * 8 * bytes' '(int)(3 - t) * 8 * bytes'
is 'finds whole sums that begin again' fault bytes_su panels.h 'more ? _mm512_add_ps' '0 ? _mm512_add_ps'
is 'finds a sign that there is not' fault bytes_su contract_panels.c 'k:type_of(a) .. "_" .. k:type_of(b)' '"i8_i8"'
size=2x3x70001
is 'finds sums beyond i32' fault bytes_long contract_panels.c 'kc = ("%s < %d ? %s : %d"):format(kc, MOST_WHOLE, kc, MOST_WHOLE)' \
  'kc = "70016"'

summary
