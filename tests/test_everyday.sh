#!/bin/sh
# test_everyday.sh - the ops of specs/library: what they compute is what their peers.numpy says, their gradients are
# slopes of that, and some of them have right kernels on processors and on Vulkan: all for `test_everyday.sh all`.
# Needs LATHE_SRC, LATHE_GEN, LATHE_BENCH, LATHE_LIBRARIES and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"

python() { program=$1; shift; PYTHONDONTWRITEBYTECODE=1 "$LATHE_PYTHON" "$LATHE_SRC/tests/$program" "$@"; }

tree
cp -R "$LATHE_SRC/specs/library" "$LATHE_SRC/specs/include" "$tmp/tree/specs/"
mkdir "$tmp/build"
is 'builds the references' references "$tmp/dump" --ops '*'
is 'every op is what NumPy makes of it' python oracle.py --dump "$tmp/dump" --forward
is 'gradients are slopes' python oracle_slopes.py --dump "$tmp/dump"

# They are in no program but their own unless they are named.
lathe_gen() { "$LATHE_GEN" --src "$LATHE_SRC" "$@"; }
named=$(lathe_gen --ops 'celu*,softmax' ops | tr '\n' ' ')
is 'builds those that are named' [ "$named" = 'celu celu_backward softmax softmax_backward ' ]
is 'builds no others' sh -c '! grep -qx celu' <<OPS
$(lathe_gen ops)
OPS
lathe_gen --out "$tmp/gen" index
is 'has no row of them' sh -c '! grep -q celu "$1"' - "$tmp/gen/table.c"
is 'has a target for each' grep -qx 'build celu_backward: phony out/bench-celu' "$tmp/gen/kernels.ninja"

# Cheaper functions of narrow types are for languages that have the operations in them.
is 'writes a gradient of erfc for all backends' lathe_gen --out "$tmp/gen" expand erfinv_backward

ops='remainder,less,nll_loss,row_var,adamw,rotary'
[ "${1-}" != all ] || ops='*'
cd "$tmp/build" || exit 1
is 'configures' configure KERNEL_CFLAGS=-O0 --ops="$ops" --dtypes=f32 --disable-cuda --disable-avx512 --disable-sse2
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
# A row whose results are nearly all zero proves nothing: a gradient that a probe's extents leave without terms.
right() {
  out/bench --dtype f32 --check-only --size 1003,70x26,5x3x8 "$@" >rows 2>&1
  grep -E -A 3 'WRONG' rows
  grep -q -E '^[0-9]+ rows: [1-9][0-9]* right, 0 wrong' rows || { tail -n 5 rows; false; }
}
is 'is right on processors' right --backend cpu
is 'is right on Vulkan' right --backend vulkan

summary
