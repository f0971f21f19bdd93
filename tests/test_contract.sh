#!/bin/sh
# test_contract.sh - contractions by the C kernels of every instruction set that there is: all orders of axes, batches,
# groups of axes, prologues, epilogues, steps, in every way that there is; and faults planted in their templates, which
# the check must find. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
cp "$LATHE_SRC/tests/specs-contract/contract.lua" "$LATHE_SRC/tests/specs-contract/bytes.lua" "$tmp/tree/specs/"
templates_of_its_own
mkdir "$tmp/build" "$tmp/faulty" "$tmp/bytes"

cd "$tmp/build" || exit 1
# shellcheck disable=SC2086
is 'configures' configure --disable-cuda --disable-vulkan $runnable CFLAGS=-O1 KERNEL_CFLAGS=-Og
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
checked() { "$bench" --backend cpu --dtype all --check-only "$@"; }
is 'is right' checked
is 'is right with special values' checked --no-probe --special nan,inf,zero,denormal
long=m=1xn=1xk=2^20,m=9xn=70xk=20011
is 'is right of long sums' checked --no-probe --dtype f32 --op product_111,product_121,product_211 \
  --size $long,m=70xn=1xk=40001
# Large enough for threads to share: rows of a matrix, its columns, many dot products, blocks of terms.
is 'is right by several threads' checked --no-probe --threads 3 --dtype f32 \
  --op product_111,product_121,product_211,two_outputs --size m=310xn=90xk=1400,m=90xn=310xk=1400,m=2xn=3000xk=900,m=20xn=40xk=20011

# ---- planted faults ---------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configure --disable-cuda --disable-vulkan --disable-sse2 --disable-avx512 --disable-scalar CFLAGS=-O0 \
  KERNEL_CFLAGS=-O0 --ops=product_111,product_121,product_211,two_outputs,epilogue,typed_bytes --dtypes=f32
is 'takes the runtime for faults' reuse

is 'finds an edge tile of wrong width' fault product_111 c/contract.c \
  'p.last_column - column < $NR$ ? p.last_column - column : $NR$' '$NR$'
is 'finds an edge tile that is left out' fault product_111 c/contract.c 'left > 0; row += high' 'left > 1; row += high'
is 'finds a stride of another axis' fault product_121 c/contract_step.c \
  '.$(field(operand, letter)) = $(size(places)),' \
  '.$(field(operand, letter)) = $(size(core(step, "m"))),'
is 'finds an epilogue before the last block' fault epilogue c/contract.c \
  'last = block + 1 >= p.blocks' 'last = block == 0'
is 'finds a sum that begins again' fault epilogue c/contract.c '> 0 : block > 0, lanes' '> 0 : false, lanes'
is 'finds a sum that begins again in place' fault product_111 c/contract.c \
  '"m")), block > 0, lanes' '"m")), false, lanes'
is 'finds a tail of terms left out' fault product_111 c/contract.c 'p.blocks = (p.terms + p.kc - 1) / p.kc;
  //@' 'p.blocks = p.terms < p.kc ? 1 : p.terms / p.kc;
  //@'
is 'finds a term left out' fault product_111 c/contract_tile.c 'term < terms; term++' 'term + 1 < terms; term++'
is 'finds part of a vector taken for all' fault product_111 c/contract_tile.c \
  'return part and j == V - 1' 'return nil and j == V - 1'
is 'finds blocks of a long sum that are forgotten' fault product_111 c/contract_tile.c \
  'more ? totals[i] : 0, sum' '0, sum' \
  --size $long
is 'finds long dot products that begin again' fault product_121 c/contract_dots.c \
  'more ? totals$nth$ : ' '' --size $long
is 'finds panels that overlap' fault product_111 c/contract.c \
  '$pack_a$(&here, packs + i * terms + (tiles - left) * $L$' \
  '$pack_a$(&here, packs + i * terms'
is 'finds columns of another block' fault product_111 c/contract.c \
  'packs_b + j * terms, column + j' 'packs_b + j * terms, j'
is 'finds rows of another block' fault product_111 c/contract.c '(tiles - left) * $L$, row + i, high' \
  '(tiles - left) * $L$, i, high'
is 'finds rows that no thread has' fault product_111 c/contract.h '*first = unit * s->points;' \
  '*first = unit * s->points + (unit > 0);' --threads 3 --size m=310xn=90xk=1400
is 'finds a square half turned' fault product_111 c/turn.h '_mm256_permute2f128_ps(b[i], b[i + 4], 0x31)' \
  '_mm256_permute2f128_ps(b[i], b[i + 4], 0x20)'
is 'finds a dot product without its last term' fault product_121 c/contract_dots.c \
  '", terms - term")' '", terms - term - 1")'
is 'finds dot products with another column' fault product_121 c/contract_dots.c '"term + " .. j .. " * row_of"' '"term"'
is 'finds an epilogue without its operands' fault two_outputs c/contract_step.c 'from, element, nil, lanes));' \
  'from, along == "n" and at.m == "row" and "0" or element, nil, lanes));'
is 'finds whole numbers that are cut off' fault typed_bytes c/contract_step.c '$(k:access(operand, "store_number",' \
  '$(k:text("store_number",'

"$LATHE_BENCH" --list-devices >"$tmp/devices"
if grep -q avx512vnni "$tmp/devices"; then
  cd "$tmp/bytes" || exit 1
  is 'configures for faults of bytes' configure --disable-cuda --disable-vulkan --disable-sse2 --disable-avx2 --disable-amx \
    --disable-scalar CFLAGS=-O0 KERNEL_CFLAGS=-O0 --ops=bytes_ss,bytes_us
  is 'takes the runtime for faults of bytes' reuse
  is 'finds a shift that is not taken off' fault bytes_ss c/contract_vnni.c '_mm512_setzero_si512(), before0)' \
    '_mm512_setzero_si512(), before1)'
  is 'finds bytes that are not shifted' fault bytes_ss c/panels.h '(int)0x80808080' '(int)0x80808000'
  is 'finds rows of another tile' fault bytes_us c/contract_vnni.c '(2 * block + row / 16)' '(2 * block)'
  is 'finds signs of the other factor' fault bytes_us c/contract_vnni.c 'types == "u8_i8"' 'types == "i8_u8"'
else
  echo 'skipped: faults of products of bytes: this processor has no AVX-512 VNNI'
fi

# ---- refusals ---------------------------------------------------------------------------------------

# refused MR NV FROM TEXT: a tile that does not fit is refused, in a line
refused() {
  mkdir -p "$tmp/narrow/specs"
  cp "$LATHE_SRC/tests/specs-contract/contract.lua" "$tmp/narrow/specs/"
  ln -sfn "$LATHE_SRC/templates" "$tmp/narrow/templates"
  sed -i "s/mr = 3, nv = 2/mr = $1, nv = $2/" "$tmp/narrow/specs/contract.lua"
  ! "$LATHE_GEN" --src "$tmp/narrow" --out "$tmp/narrow/out" all >"$tmp/refusal" 2>&1 && cat "$tmp/refusal" &&
    [ "$(wc -l <"$tmp/refusal")" = 1 ] && grep -q "$3" "$tmp/refusal"
}
is 'refuses a tile of too many registers' refused 8 3 "takes 28 registers .* expected at most 16 for 'avx2'"
is 'refuses a unit with nothing to multiply' refused 3 '2, unit = "vnni"' "unit = vnni multiplies two inputs of i8 or u8"
is 'refuses it for the widest vectors' refused 16 2 "takes 35 registers .* expected at most 32 for 'avx512'"

# idle BACKEND DTYPE WHAT: a unit that would have nothing to multiply is refused, where its kernels would be of vectors
idle() {
  mkdir -p "$tmp/idle/specs"
  ln -sfn "$LATHE_SRC/templates" "$tmp/idle/templates"
  cat >"$tmp/idle/specs/idle.lua" <<EOS
op "idle" {
  doc = "a b", inputs = { a = { "m", "k" }, b = { "k", "n" } }, outputs = { c = { "m", "n" } },
  compute = function(a, b) return sum(a * b, "k") end,
  sizes = { { "64", m = 64, n = 64, k = 64 } }, dtypes = { "$2" }, ulp = 15,
  variants = { { backend = $1 } },
}
EOS
  ! "$LATHE_GEN" --src "$tmp/idle" --out "$tmp/idle/out" all >"$tmp/refusal" 2>&1 && cat "$tmp/refusal" &&
    [ "$(wc -l <"$tmp/refusal")" = 1 ] && grep -q "specs/idle.lua:5: variants: $3" "$tmp/refusal"
}
is 'refuses AMX for f32' idle '"amx"' f32 "backend 'amx' multiplies two inputs of bf16, or two of i8 or u8: found none in f32; "
is 'refuses VNNI for bf16' idle '"avx512", unit = "vnni"' bf16 'unit = vnni multiplies two inputs of i8 or u8: found none in bf16; '
is 'refuses a unit that others have' idle '"avx2", unit = "vnni"' f32 "unit = vnni: expected backend 'avx512', found 'avx2'$"

summary
