#!/bin/sh
# test_everyday.sh - the ops of specs/library: what they compute is what their peers.numpy says, their gradients are
# slopes of that, and some of them have right kernels on processors and on Vulkan; all of them for `test_everyday.sh all`.
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

ops='mish,swiglu,hypot,remainder,less,nll_loss*,gaussian_nll_loss,group_norm,row_var,column_logsumexp,adamw,rotary'
[ "${1-}" != all ] || ops='*'
cd "$tmp/build" || exit 1
is 'configures' configure KERNEL_CFLAGS=-O0 --ops="$ops" --dtypes=f32,f16 --disable-cuda --disable-avx512 --disable-sse2
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
bench() { out/bench --dtype f32,f16 --check-only "$@"; }
is 'is right on processors' bench --backend cpu
is 'is right on Vulkan' bench --backend vulkan

summary
