#!/bin/sh
# test_export.sh - files of kernels that another program takes: right, alone, small, the bench's own to the bit, and
# tested by what comes with them. Needs LATHE_SRC, LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

strict='-Wall -Wextra -Werror -fvisibility=hidden'
mkdir "$tmp/dir"
cd "$tmp/dir" || exit 1

generate() { "$LATHE_GEN" --src "$LATHE_SRC" export "$@"; }
# shellcheck disable=SC2086
built_by() { # built_by COMPILER OP OPTION...: OP.c with its test, strictly; and it is right
  compiler=$1 of=$2
  shift 2
  $compiler $strict "$@" "$of.c" "${of}_test.c" -lm -o "$of" && ./"$of" 7
}
fails() { ! "$@"; }
refuses() { # refuses STATUS TEXT OPTION...: one line with this text, and no file
  status=$1 wanted=$2
  shift 2
  rm -rf none
  generate --out none "$@" >"$tmp/out" 2>"$tmp/err"
  [ $? = "$status" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] && [ ! -e none ] && grep -F -e "$wanted" "$tmp/err"
}
nothing() { # nothing COMMAND...: it prints nothing
  "$@" >"$tmp/found"
  cat "$tmp/found"
  [ ! -s "$tmp/found" ]
}

# As a README says, from an empty folder.
is 'makes files' generate softmax
is 'these three' test "$(echo *)" = 'softmax.c softmax.h softmax_test.c'
is 'compiles' cc softmax.c softmax_test.c -lm
is 'is right' ./a.out
cp softmax.c "$tmp/before.c"
is 'makes them again' generate softmax
is 'the same' cmp softmax.c "$tmp/before.c"

# An op of each kind: a map with random numbers and one of a table, a reduction, rows, products, a chain, a nest, a scan,
# a stream; elements of 8 and 16 bits; the gradients of some.
kinds='gelu argmax softmax matmul mlp cumsum attention_causal'
# shellcheck disable=SC2086
is 'of each kind' generate $kinds --dtypes f32
is 'with gradients' generate rmsnorm --gradient --dtypes f32,f16
without() { # a gradient that a build leaves out is not exported with its op
  "$LATHE_GEN" --src "$LATHE_SRC" --ops 'softmax,-softmax_backward' export softmax --gradient --dtypes f32 \
    --out "$tmp/without" &&
    [ -e "$tmp/without/softmax.c" ] && [ ! -e "$tmp/without/softmax_backward.c" ]
}
is 'without one that is left out' without
is 'in 8 bits' generate linear_i8_i8 dropout --dtypes f32 --backend avx2 --backend sse2 --backend neon
for op in $kinds rmsnorm rmsnorm_backward linear_i8_i8 dropout; do
  is "$op" built_by 'gcc -std=c11' "$op" -O1
done
for op in softmax mlp; do
  is "$op in C++" built_by 'g++ -x c++ -std=c++17' "$op" -O1
done
if command -v clang >/dev/null; then
  for op in softmax gelu; do
    is "$op by clang" built_by 'clang -std=c11' "$op" -O1
  done
  is "mlp by clang, in C++" built_by 'clang++ -x c++ -std=c++17' mlp -O0
fi
mkdir narrow && cd narrow || exit 1 # vectors of 16 bytes alone: sanitizers take long to compile
# shellcheck disable=SC2086
is 'narrow vectors' generate $kinds --dtypes f32 --backend sse2 --backend neon
for op in $kinds; do
  is "$op with sanitizers" built_by gcc "$op" -O1 -fsanitize=address,undefined -fno-sanitize-recover
done
is 'matmul in C++' built_by 'g++ -x c++ -std=c++17' matmul -O0
cd ..

# With fewer instructions than the processor has: SSE2, AVX2, all. For each what comes with it finds faults.
is 'in f32' generate softmax --dtypes f32
cp softmax.c "$tmp/softmax.c"
faulty() { # faulty SED OPTION...: that fault is planted and found
  sed "$1" "$tmp/softmax.c" >softmax.c
  shift
  fails cmp -s softmax.c "$tmp/softmax.c" && gcc -O1 "$@" softmax.c softmax_test.c -lm -o faulty && {
    ./faulty 7 >"$tmp/out"
    [ $? = 1 ] && grep -q 'WRONG' "$tmp/out"
  }
}
for features in 0x1 0xf ~0ull; do
  cp "$tmp/softmax.c" softmax.c
  is "with features $features" built_by gcc softmax -O1 "-DSOFTMAX_FEATURES=$features"
  is 'a coefficient' faulty 's/0\.16666543f/0.1668f/' "-DSOFTMAX_FEATURES=$features"
  is 'the last lanes' faulty 's/if (i < count) {/if (i + 1 < count) {/' "-DSOFTMAX_FEATURES=$features"
done
is 'beside the result' faulty 's/for (; count - i >= \(4\|8\|16\); i += \1)/for (; i < count; i += \1)/'
is 'in place' faulty 's/args.buf\[1\] = (void \*)y;/args.buf[1] = (void *)(x == y ? y - 1 : y);/'
cp "$tmp/softmax.c" softmax.c

# It stands alone: no name but its own, libc at most, and little of it. Of two in a program none knows the other, and
# the same op may be in it twice, in libraries or by other names.
is 'compiles' gcc -std=c11 -O1 -fPIC -c softmax.c matmul.c cumsum.c gelu.c
is 'defines its functions alone' nothing sh -c "nm -g --defined-only softmax.o | awk 'NF == 3 && \$3 !~ /^softmax_(f32|status)/'"
is 'takes from libc alone' nothing sh -c "nm -u softmax.o matmul.o cumsum.o | awk 'NF == 2 && \$2 !~ /^(mem(set|cpy|move)|sysconf)$/'"
is 'is small' test "$(size -A softmax.o | awk '$1 == "Total" { print $2 }')" -lt 102400
cat >two.c <<'C'
#include <stdlib.h>
#include "gelu.h"
#include "softmax.h"
#include "mine_softmax.h"
int main(void) {
  float x[3] = {0, 0, 0}, y[3], z[3];
  return softmax_f32(x, y, 1, 3) || mine_softmax_f32(x, z, 1, 3) || gelu_f32(x, z, 3) || y[2] != 1 / 3.0f ||
         softmax_f32(NULL, y, 1, 3) != SOFTMAX_NULL || softmax_f32(NULL, NULL, 0, 3) != SOFTMAX_OK ||
         softmax_f32(x, y, (size_t)1 << 40, (size_t)1 << 40) != SOFTMAX_SIZE || !softmax_status(SOFTMAX_SIZE)[0];
}
C
is 'by another name' generate softmax --dtypes f32 --prefix mine_
is 'its test too' built_by gcc mine_softmax -O1
is 'two in a program' gcc $strict two.c softmax.o gelu.o mine_softmax.c -o two
is 'runs' ./two
is 'in one translation unit' sh -c "cat softmax.c gelu.c mine_softmax.c two.c | gcc $strict -x c - -o two && ./two"
is 'a library' gcc -shared softmax.o -o liba.so
is 'another' gcc -shared -fvisibility=hidden softmax.o gelu.o -o libb.so
is 'both in a program' gcc two.c mine_softmax.c -L. -la -lb -Wl,-rpath,"$PWD" -o two
is 'runs' ./two

cat >lent.c <<'C'
#include <stdint.h>
#include <stdlib.h>
#include "matmul.h"
int main(void) {
  static float x[90000], w[90000], y[90000];
  char *room = (char *)malloc(matmul_f32_workspace(300, 300, 300) + 64);
  room += 64 - (uintptr_t)room % 64;
  return matmul_f32_workspace(300, 300, 300) == 0 || matmul_f32(x, w, y, 300, 300, 300, room) != MATMUL_OK ||
         matmul_f32(x, w, y, 300, 300, 300, room + 4) != MATMUL_WORKSPACE ||
         matmul_f32(x, w, y, 300, 300, 300, NULL) != MATMUL_WORKSPACE;
}
C
is 'a workspace is asked for' sh -c "gcc $strict lent.c matmul.o -o lent && ./lent"

# The first calls may come at once.
cat >threads.c <<'C'
#include <pthread.h>
#include "softmax.h"
static void *call(void *result) {
  const float x[5] = {1, 2, 3, 4, 5};
  softmax_f32(x, (float *)result, 1, 5);
  return NULL;
}
int main(void) {
  static float y[8][5];
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    if (pthread_create(&threads[i], NULL, call, y[i]))
      return 1;
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], NULL);
  return y[0][4] != y[7][4];
}
C
is 'threads' gcc -O1 -g -fsanitize=thread threads.c softmax.c -o threads
is 'share nothing' ./threads

# The bench's kernel of the same name gives the same bits.
objects=$(dirname "$LATHE_BENCH")/gen/softmax
if [ -z "$LATHE_SANITIZE" ] && [ -e "$objects/softmax__scalar.o" ]; then
  variant=$(./softmax 7 | sed -n 's/.*; \(softmax_f32__[a-z0-9_]*\)$/\1/p')
  set=${variant#softmax_f32__}
  cat >bits.c <<C
#include <string.h>
#include "call.h"
#include "softmax.h"
extern lathe_fn $variant;
int main(void) {
  static float x[1003 * 7], y[1003 * 7], z[1003 * 7];
  const lathe_args args = {.buf = {x, z}, .dim = {7, 1003}};
  for (int i = 0; i < 7 * 1003; i++)
    x[i] = (float)(i * 7919 % 1009) / 100 - 5;
  $variant(&args);
  return softmax_f32(x, y, 7, 1003) != SOFTMAX_OK || memcmp(y, z, sizeof y) != 0;
}
C
  is 'links with the bench' gcc -std=gnu11 -march=native -O3 -I"$LATHE_SRC/runtime/library" bits.c softmax.c \
    "$objects/softmax__${set%%_*}.o" -o bits
  is 'the same bits' ./bits
fi

# Another processor.
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
  for op in softmax mlp cumsum; do
    # shellcheck disable=SC2086
    is "$op for AArch64" aarch64-linux-gnu-gcc -std=c11 $strict -O1 -static "$op.c" "${op}_test.c" -lm -o "$op.arm"
    is 'is right' qemu-aarch64 "./$op.arm"
  done
fi

# Other systems, whose headers zig has. Nothing is linked: building their C libraries takes a minute each.
if command -v zig >/dev/null; then
  export ZIG_GLOBAL_CACHE_DIR="$tmp/zig" ZIG_LOCAL_CACHE_DIR="$tmp/zig"
  for system in x86_64-windows-gnu aarch64-macos x86_64-linux-musl; do
    # shellcheck disable=SC2086
    for op in softmax mlp; do
      is "$op for $system" zig cc -target "$system" -std=c11 $strict -O1 -c "$op.c" -o "$op.o"
      is 'and its test' zig cc -target "$system" -std=c11 $strict -O1 -c "${op}_test.c" -o "${op}_test.o"
    done
  done
  { echo '#include <sys/mman.h>' && cat softmax.c; } >unix.c
  is 'finds headers that Windows lacks' fails zig cc -target x86_64-windows-gnu -std=c11 -c unix.c -o unix.o
  is 'which musl has' zig cc -target x86_64-linux-musl -std=c11 -c unix.c -o unix.o
else
  echo 'SKIPPED exported files for Windows, macOS and musl: there is no zig'
fi

# Ops of one's own, from a folder that has specs alone beside the templates.
tree
cat >"$tmp/tree/specs/own.lua" <<'LUA'
op "squeeze" {
  doc = "x / (1 + scale * |x|), and of each row the largest and how far the one at a place is below",
  inputs = { x = { "double", "n", range = { -5, 5 } }, place = { "double", index = "n" } },
  scalars = { scale = 0.1 },
  outputs = { y = { "double", "n" }, most = { "double" }, below = { "double" } },
  compute = function(x, place, scale)
    local y = x / (1 + scale * abs(x))
    return { y = y, most = max(y, "n"), below = max(y, "n") - at(y, place) }
  end,
  sizes = { { "small", double = 3, n = 5 } }, dtypes = { "f32", "f64" }, ulp = 4,
}
LUA
is 'an op of mine' "$LATHE_GEN" --src "$tmp/tree" export squeeze
is 'is right' built_by gcc squeeze -O1
is 'in C++' built_by 'g++ -x c++ -std=c++17' squeeze -O1

refuses_ours() { # what is no file of export is not replaced, nor is anything written before
  echo mine >"$1" && fails generate sum argmin --dtypes f32 2>"$tmp/err" && grep -q "$1: expected" "$tmp/err" &&
    [ "$(cat "$1")" = mine ] && [ ! -e sum.c ]
}
is 'a file of mine' refuses_ours argmin.h
# What the bench program found; a field may have commas and quotation marks.
cat >found.csv <<'CSV'
"name",variant,status,reason,ulp
"softmax","softmax_f32__sse2_a4_u4","right","one, ""two"", three",0.25
"softmax","softmax_f32__avx2_a4_u4","right",,0.125
"softmax","softmax_f32__avx2_a4_u4","wrong",,99
"other","softmax_f32__of_nobody","right",,50
CSV
is 'what was found' generate softmax --dtypes f32 --found found.csv --out with_found
is 'says it' grep -F 'In 2 rows of the bench program it was at most f32 0.25.' with_found/softmax.h
is 'by which command' grep -F -e '--dtypes f32 --found found.csv' with_found/softmax.h
is 'no file of rows' refuses 1 'cannot read' softmax --found none.csv
echo text >text.csv
is 'a file of no rows' refuses 1 "text.csv: expected a file of 'out/bench --csv'" softmax --found text.csv
is 'an unknown op' refuses 2 "unknown op 'softmx' (did you mean 'softmax'?)" softmx
is 'no op' refuses 2 'expected the names of ops' --dtypes f32
is 'no kernels' refuses 2 "'softmax' has no kernel in C" softmax --backend amx
is 'no variants' refuses 2 "'softmax' has no kernel in C of --variants" softmax --variants 'gelu*'
is 'no precision' refuses 2 "--dtypes: expected" softmax --dtypes f8
is 'no name' refuses 2 '--prefix: expected' softmax --prefix 1a
is 'no folder' refuses 1 'cannot' softmax --out /proc/none
is 'variants by name' generate softmax --dtypes f32 --variants '*sse2*,*neon*'
is 'no other' fails grep -q avx softmax.c
is 'tells how' sh -c '"$LATHE_GEN" export --help | grep -q -e --gradient'

summary
