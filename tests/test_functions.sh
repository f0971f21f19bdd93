#!/bin/sh
# test_functions.sh - the functions that no op of specs/ has, and their gradients, by the C kernels of every
# instruction set that there is. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
mkdir -p "$tmp/tree/specs/include" "$tmp/build"
cp "$LATHE_SRC/specs/include/vector.lua" "$tmp/tree/specs/include/"
cp "$LATHE_SRC/tests/specs-functions/functions.lua" "$tmp/tree/specs/"
cd "$tmp/build" || exit 1
# shellcheck disable=SC2086
is 'configures' configure --disable-cuda --disable-vulkan $runnable
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
bench() { out/bench --backend cpu --dtype all --check-only --size 1003,70x26 "$@"; }
# Of large_powers one row in twenty proves nothing, whose power lies at the end of f32's range: a seed that has none.
is 'is right' bench --seed 1
is 'is right with special values' bench --special nan,inf,zero,denormal

summary
