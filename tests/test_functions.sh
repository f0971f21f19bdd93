#!/bin/sh
# test_functions.sh - the functions that no op of specs/ has, and their gradients, by the C kernels of every
# instruction set that there is. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

tree
mkdir -p "$tmp/tree/specs/include" "$tmp/build"
cp "$LATHE_SRC/specs/include/vector.lua" "$tmp/tree/specs/include/"
cp "$LATHE_SRC/tests/specs-functions/functions.lua" "$tmp/tree/specs/"
cd "$tmp/build" || exit 1
is 'configures' configure --disable-cuda --disable-vulkan
is 'builds the kernels' ninja
bench() { out/bench --backend cpu --dtype all --check-only --size 1003 "$@"; }
# The slope of x^y is y x^(y - 1): of y below the normal range the latter is another number in a wider type.
is 'is right' bench
is 'is right with special values' bench --special nan,inf,zero,denormal \
  --op waves,waves_backward,powers,inverse_roots,inverse_roots_backward,steps,steps_backward,sizes_of,sizes_of_backward

summary
