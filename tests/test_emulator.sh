#!/bin/sh
# test_emulator.sh - CUDA kernels of all families, run on the processor by tests/cuda/emulator: what they
# compute, with every layout and launch that the bench program checks. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

if ! command -v "${CXX:-c++}" >/dev/null; then
  echo 'skipped: CUDA kernels on the processor: there is no C++ compiler'
  summary
  exit
fi

# Their tree has ops of each kind, and functions that C's library has as exactly as CUDA's. It has no f64, whose
# kernels are f32's.
emulator=$LATHE_SRC/tests/cuda/emulator
tree
mkdir "$tmp/build"
for name in include axes.lua dropout.lua norms.lua reductions.lua softmax.lua; do
  cp -r "$LATHE_SRC/specs/$name" "$tmp/tree/specs/"
done
without_f64() { sed 's/, f64 = bound//; s/"f64", //; s/f64 = 6, //' "$1" >"$tmp/tree/specs/$2"; }
without_f64 "$LATHE_SRC/specs/include/vector.lua" include/vector.lua
without_f64 "$LATHE_SRC/tests/specs-rows/rows.lua" unusual.lua
cp "$LATHE_SRC/tests/specs-functions/functions.lua" "$tmp/tree/specs/"
is 'builds the driver' cc -std=gnu11 -D_GNU_SOURCE -U_FORTIFY_SOURCE -O2 -Wall -Wextra -Wno-unused-parameter \
  -Werror -shared -fPIC -I"$LATHE_SRC/runtime" -I"$emulator" -I"$LATHE_SRC/tests/cuda" "$emulator/emulator.c" \
  "$LATHE_SRC/tests/cuda/driver/device.c" "$LATHE_SRC/tests/cuda/driver/defaults.c" \
  -o "$tmp/build/libcuda.so.1" -lm -lpthread
cd "$tmp/build" || exit 1
is 'configures' configure NVCC="$emulator/nvcc" NVCCFLAGS=-O0 --cuda-arch=sm_80,sm_90a --disable-vulkan \
  --disable-avx512 --disable-avx2 --disable-sse2
is 'builds the kernels' ninja

rows() { # rows OPTION...: says what is not right; true where all is, and that is something
  LD_LIBRARY_PATH=. out/bench --backend cuda --dtype all --check-only "$@" >"$tmp/rows" 2>&1
  grep -E -A 3 'wrong|skipped' "$tmp/rows"
  grep -q -E '^[0-9]+ rows: [1-9][0-9]* right, 0 wrong, 0 skipped' "$tmp/rows"
}

# Kernels of clusters are in the second part of an image, for the first is for GPUs that have none.
clusters() { # clusters SIZE: whether softmax of rows so long launches any
  LD_LIBRARY_PATH=. EMULATOR_SAYS=yes out/bench --backend cuda --check-only --op softmax --size "$1" 2>&1 |
    grep '^emulator: a launch of clusters'
}
is 'clusters' clusters 1x16384

# Rows that parts of a warp have, a block, and a cluster or blocks of several launches; then blocks and clusters that
# read them ahead; then a block that reads them again. Of whole packs and not, and starting anywhere.
is 'right' rows --size 1,100,70x256,300x1024,33x255
is 'right' rows --size 5x5000,1x16384,1x33001
is 'right' rows --size 300x71,100x1021,30x4099,67x9001 --op layernorm,layernorm_backward,rmsnorm_backward,column_sum
is 'right' rows --size 40x17001,9x34008 --op softmax,layernorm,layernorm_backward,softmax_backward
is 'right' rows --size 9x66001 --op layernorm,layernorm_backward,row_argmax
is 'right' rows --size 1003,37x1000 --offset 2
is 'right' rows --size 1003,37x1001 --in-place --op softmax,dropout
is 'right' rows --size 300x71,900x6,70x1024,9x9000 --op totals_alone,weighted,centred,many,conditions
is 'right' rows --special nan,inf,zero,denormal --size 33,33x256,5x3001

summary
