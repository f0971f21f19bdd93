#!/bin/sh
# test_vulkan_kernels.sh [all] - what the Vulkan kernels compute, on whatever device there is; Mesa's lavapipe will
# do, which takes about half a second to compile a kernel, and several for a contraction's. So every op is tried in f32,
# but of contractions, chains and streams, which have tests of their own, one of each shape; and in the other precisions
# those that have a template, or a way to lower an operation, of their own; `all` is all. Needs LATHE_SRC, LATHE_GEN
# and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

right() { # right OPTION...: all rows, after the probe that each variant gets: short, unaligned, in place, special
  "$LATHE_BENCH" --backend vulkan --check-only "$@"
}

# As many elements as a kernel of rows holds, a few more, and rows that are not whole packs; then more than any holds.
held=5x64,5x72,5x128,5x136,5x256,5x264,5x512,5x520,5x768,5x1024,5x1032,3x2048,2x8192
long=1x8200,3x40000,1x100001
many=300x71,100x1021,67x9001

"$LATHE_BENCH" --list-backends >"$tmp/backends"
is 'lists the backend' grep '^vulkan ' "$tmp/backends"
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  if [ "${1-}" = all ]; then
    is 'every op is right' right --dtype all --size "100,64x64,37x1000"
    is 'rows that a kernel holds' right --no-probe --dtype all --size "$held" \
      --op '*softmax*,*norm*,cross_entropy*,row_*,logsumexp*'
    is 'long rows' right --no-probe --dtype all --size "$long" \
      --op '*softmax*,*norm*,cross_entropy*,row_*,logsumexp*,column_*'
    is 'many rows' right --no-probe --dtype all --size "$many" --op 'layernorm_backward,rmsnorm_backward,column_sum'
    is 'special values' right --no-probe --dtype all --size 1003,9x77 --special nan,inf,zero,denormal
  else
    echo 'skipped: Vulkan kernels of most ops in f64, f16 and bf16, and of some contractions and streams: ninja test-long runs them'
    ops=$("$LATHE_GEN" --src "$LATHE_SRC" --out "$tmp/gen" ops |
      grep -v -x -e 'attention_.*' -e linear -e linear_gelu_backward -e matmul -e 'matmul_[nt][nt]' -e mlp_backward |
      paste -s -d ,)
    is 'every op is right' right --size 64x64 --op "$ops"
    is 'every precision is right' right --dtype f64,f16,bf16 --size 37x1000 \
      --op gelu,dropout,sum,argmax,softmax,layernorm_backward
    is 'other rows in f16 are right' right --dtype f16 --size 37x1000 --op cross_entropy,column_sum
    is 'rows that a kernel holds' right --no-probe --dtype f16 --size "$held,$long" \
      --op softmax,layernorm_backward,cross_entropy
    is 'many rows' right --no-probe --dtype f16 --size "$many" --op layernorm_backward,column_sum
    is 'special values' right --no-probe --dtype f32,f16 --size 1003,9x77 --special nan,inf,zero,denormal \
      --op softmax,argmax
  fi
  tree
  mkdir -p "$tmp/build/out" "$tmp/tree/specs/include"
  cp "$LATHE_SRC/specs/include/vector.lua" "$tmp/tree/specs/include/"
  cp "$LATHE_SRC/tests/specs-rows/rows.lua" "$LATHE_SRC/tests/specs-functions/functions.lua" \
    "$LATHE_SRC/tests/specs-types/types.lua" "$tmp/tree/specs/"
  tools=$(dirname "$LATHE_BENCH")/tools
  [ ! -d "$tools" ] || ln -s "$(cd "$tools" && pwd)" "$tmp/build/out/"
  cd "$tmp/build" || exit 1
  rows=totals_alone,weighted,centred,many,conditions,scaled_columns
  points=requantised,doubled_in_place,scaled_by_one,sum_of_bytes,first_largest_byte,picked_bytes
  functions=waves,waves_backward,powers,slopes,slopes_backward,inverse_roots,inverse_roots_backward,of_constants
  functions=$functions,of_clamped_constants,steps,steps_backward,sizes_of,sizes_of_backward
  is 'configures for unusual rows and functions' configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 --enable-vulkan --disable-cuda \
    --disable-avx512 --disable-amx --disable-avx2 --disable-sse2 \
    --ops="$rows,far_steps,$points,softmax_of_bytes,centred_bytes,$functions,signs,with_zeros"
  is 'takes the runtime' reuse
  is 'builds their kernels' ninja out/bench
  LATHE_BENCH=out/bench
  is 'is right on unusual rows' right --dtype f16 --op $rows --size 300x71,900x6,70x1024,9x9000
  is 'is right on unusual rows of other precisions' right --dtype f64,f32 --op $rows,far_steps --size 9x70
  is 'keeps signs of NaN' right --dtype f32,bf16 --op signs --size 9x77 --special nan,alone
  is 'is right on unusual rows by loops' out/bench --backend scalar --check-only --dtype all --op $rows,far_steps \
    --size 300x71,9x70
  is 'is right on types of their own' right --dtype f32 --size 9x77 --op $points
  is 'is right on types of their own over rows' right --dtype f32,f16 --size 9x77,3x264,70x1030 \
    --op softmax_of_bytes,centred_bytes
  is 'has the functions right' right --dtype all --size 1003 --op $functions
  is 'computes with zeros' right --dtype all --op with_zeros,of_constants --size 1003 --special nan,inf,zero
fi

summary
