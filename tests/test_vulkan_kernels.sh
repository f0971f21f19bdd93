#!/bin/sh
# test_vulkan_kernels.sh - what the Vulkan kernels compute, on whatever device there is; Mesa's lavapipe will
# do. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

bench() { "$LATHE_BENCH" --backend vulkan --check-only "$@"; }

"$LATHE_BENCH" --list-backends >"$tmp/backends"
is 'lists the backend' grep '^vulkan ' "$tmp/backends"
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  is 'is right' bench --dtype all --size 100,1K,64x64
  is 'is right on rows that fill a kernel' bench --dtype all --size 9x32,9x64,300x64,150x256,5x1024,3x2048,2x8192 \
    --op softmax,layernorm,layernorm_backward,cross_entropy,cross_entropy_backward,softmax_backward
  is 'is right on many rows that start anywhere' bench --dtype all --size 300x71,100x1021,30x4099,67x9001 \
    --op layernorm_backward,rmsnorm_backward,column_sum
  is 'is right on long rows' bench --dtype f32,f16 --size 3x40000,1x100001 \
    --op softmax,layernorm_backward,cross_entropy,column_sum,row_argmax
  is 'is right at any address' bench --dtype all --size 1003,37x1000 --offset 2
  is 'is right in place' bench --dtype all --size 1003,37x1000 --in-place --op add,softmax
  is 'is right with special values' bench --dtype all --size 1003,9x77 --special nan,inf,zero,denormal
  tree
  mkdir -p "$tmp/build/out" "$tmp/tree/specs/include"
  cp "$LATHE_SRC/specs/include/vector.lua" "$tmp/tree/specs/include/"
  cp "$LATHE_SRC/tests/specs-rows/rows.lua" "$LATHE_SRC/tests/specs-functions/functions.lua" "$tmp/tree/specs/"
  tools=$(dirname "$LATHE_BENCH")/tools
  [ ! -d "$tools" ] || ln -s "$(cd "$tools" && pwd)" "$tmp/build/out/"
  cd "$tmp/build" || exit 1
  is 'configures for unusual rows and functions' configure --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 \
    --disable-sse2
  is 'builds their kernels' ninja
  LATHE_BENCH=out/bench
  functions=waves,waves_backward,powers,slopes,slopes_backward,inverse_roots,inverse_roots_backward
  functions=$functions,steps,steps_backward,sizes_of,sizes_of_backward
  is 'is right on unusual rows' bench --dtype all --size 300x71,900x6,70x1024,9x9000
  is 'has the functions right' bench --dtype all --size 1003 --op $functions
  is 'has special values of the functions right' bench --dtype all --size 1003 --op $functions \
    --special nan,inf,zero,denormal
fi

summary
