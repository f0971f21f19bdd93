#!/bin/sh
# test_emulator.sh - CUDA kernels of all templates, run on the processor by tests/cuda/emulator: what they
# compute, each of them at least once. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

if ! command -v "${CXX:-c++}" >/dev/null; then
  echo 'skipped: CUDA kernels on the processor: there is no C++ compiler'
  summary
  exit
fi

# Their tree has ops of each kind, and functions that C's library has as exactly as CUDA's. It has no f64, whose
# kernels are f32's, and of bf16, whose kernels but for matrices are f16's with other conversions, no more than some.
tree
templates_of_its_own
mkdir "$tmp/build" "$tmp/tree/specs/include"
without() { sed -E 's/, '"$1"' = (bound|narrow|[0-9]+)//g; s/"'"$1"'", //; s/, "'"$1"'"//; s/'"$1"' = 6, //'; }
without f64 <"$LATHE_SRC/specs/include/vector.lua" >"$tmp/tree/specs/include/vector.lua"
without bf16 <"$tmp/tree/specs/include/vector.lua" >"$tmp/tree/specs/include/without_bf16.lua"
for name in axes dropout mlp norms reductions softmax; do
  sed 's,include/vector,include/without_bf16,' "$LATHE_SRC/specs/$name.lua" >"$tmp/tree/specs/$name.lua"
done
without f64 <"$LATHE_SRC/tests/specs-rows/rows.lua" >"$tmp/tree/specs/unusual.lua"
without f64 <"$LATHE_SRC/tests/specs-chain/chain.lua" >"$tmp/tree/specs/chain.lua"
without bf16 <"$LATHE_SRC/specs/quantise.lua" >"$tmp/tree/specs/quantise.lua"
without bf16 <"$LATHE_SRC/tests/specs-types/types.lua" >"$tmp/tree/specs/types.lua"
cp "$LATHE_SRC/tests/specs-functions/functions.lua" "$tmp/tree/specs/"
# Those that are run; in f32 alone what has the shapes of another op.
maps=dropout*,waves*,powers,slopes*,inverse_roots*,of_constants,of_clamped_constants,steps*,sizes_of*,signs
reductions=sum,dot,max,min,argmax,argmin,norm_*
results=row_argmax,row_max,far_steps
values=softmax,softmax_backward,conditions,layernorm,batch_norm,shifted,crowded
gathered=layernorm_backward,batch_norm_backward,centred,totals_alone
alike=row_mean,row_sum,log_softmax,log_softmax_backward,logsumexp,logsumexp_backward,rmsnorm,rmsnorm_backward
columns=column_*,weighted,many,scaled_columns
chains='mlp*,three_layers*,swish_*,residual,one_layer'
own_points=dequantise,quantise,requantised,doubled_in_place,scaled_by_one,sum_of_bytes,first_largest_byte
own_rows=dequantise_*,quantise_*,softmax_of_bytes,picked_bytes,centred_bytes
ops=$maps,$reductions,$results,$values,$gathered,$columns,$chains,$own_points,$own_rows
cd "$tmp/build" || exit 1
is 'builds the driver' emulator_driver
is 'configures' configure_emulator --ops="$ops"
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench

EMULATOR_RAN=$tmp/ran
export EMULATOR_RAN
# What the probe ahead of the sizes runs all of: short, unaligned, in place, with special values. These are the sizes
# of all kernels that it does not reach: rows that parts of a warp hold, and blocks, of whole packs, as many as fit,
# or packs that are not whole; blocks that read ahead; and much for few blocks.
held=5x3,5x4,5x7,5x8,5x12,5x13,5x16,5x20,5x24,5x32,5x33,5x64,5x40,5x72,5x69,5x96,5x128,5x129,5x136,5x160,5x256,5x257,5x264
held=$held,5x512,5x513,5x520,5x525,5x768,5x1024,5x1025,5x2048,5x2049,5x2056
is 'points' emulated --op "$maps" --size 70x256
is 'reductions' emulated --op "$reductions" --size 300x1024
is 'rows' emulated --op "$results,$values,$gathered" --size "$held"
is 'chains' emulated --op "$chains" --size S,odd,small,batch=17xi=33xh=20xo=7
# Blocks that share columns, and of more rows, with whole matrices and with slices of them.
wide=batch=17xi=70xh=200xl=130xo=20,batch=40xi=300xh=300xl=33xo=20,batch=5xi=600xh=500xl=9xo=7
is 'chains of wide layers' emulated --no-probe --op three_layers --implementation coopmat --size "$wide"
is 'chains of many rows' emulated --no-probe --op three_layers --implementation coopmat \
  --size batch=2100xi=9xh=20xl=9xo=7,batch=2100xi=200xh=80xl=9xo=7
is 'columns' emulated --op "$columns" --size 300x71,70x264
is 'columns of what is gathered' emulated --no-probe --op "$gathered" --size 300x71,70x264
is 'types of their own' emulated --op "$own_points" --size 70x256
is 'types of their own over rows' emulated --op "$own_rows" --size "$held,300x71,1x8193,1x24577"

# Rows that clusters of blocks hold, that are split among blocks, or are read again: of one op of each shape.
long=1x8193,1x8200,1x12288,1x16392,1x24576,1x32769,1x32776,1x49152,1x65537,1x65544,1x98304,1x131073,1x131080,1x131081
is 'long rows' emulated --no-probe --op softmax,layernorm,row_argmax,softmax_backward \
  --size "$long,8x8200,8x16392,8x32769,8x32776,8x65544,4x131073,4x131080"
is 'long rows with columns' emulated --no-probe --op layernorm_backward,centred --size 1x8200,1x16392,1x16385
is 'packs in place' emulated --no-probe --in-place --op softmax,dropout --size 37x1000
is 'packs of special values' emulated --no-probe --special nan,inf,zero,denormal \
  --op "softmax,layernorm,row_argmax,argmax,norm_l2,signs" --size 33x256,5x3001

mkdir "$tmp/alike" && cd "$tmp/alike" && cp ../build/libcuda.so.1 . || exit 1
is 'configures for shapes that others have' configure_emulator --ops="$alike" --dtypes=f32
is 'takes the runtime for them' reuse
is 'builds their kernels' ninja out/bench
is 'rows like those of others' emulated --op "$alike" --size "$held"
is 'columns like those of others' emulated --no-probe --op rmsnorm_backward --size 300x71,70x264
cd "$tmp/build" || exit 1

echo 'skipped: CUDA kernels of operands that are not aligned alike, and of 8192 results of long rows'
is 'every kernel ran' all_ran '_apart$|row_argmax.*_long_' three_layers softmax layernorm row_argmax softmax_backward \
  layernorm_backward batch_norm shifted column_sum

# ---- planted faults ---------------------------------------------------------------------------------------------

mkdir -p "$tmp/faulty/out" && cd "$tmp/faulty" && cp ../build/libcuda.so.1 . || exit 1
checked() { LD_LIBRARY_PATH=. "$bench" --backend cuda --check-only "$@"; }
is 'configures for faults' configure_emulator --dtypes=f16 \
  --ops=softmax,batch_norm,column_sum,column_max,-softmax_backward,-batch_norm_backward
is 'takes the runtime for faults' reuse
# shellcheck disable=SC2016
is 'finds rows that threads share in shared memory' fault softmax cuda/rows_held.cu \
  '$x.name$_whole) + own;' '$x.name$_whole);' --size 30x7
is 'finds elements behind the last access that are not carried' fault softmax cuda/staged.h \
  'nth < n - packs * N' 'nth < head' --size 30x7
is 'finds columns of the first row for all that are one' fault batch_norm cuda/rows_columns.cu \
  '(from + lane) % columns' 'from % columns' --size 30x7
is 'finds a last element left out' fault batch_norm cuda/rows_columns.cu \
  '(int)(all - packed);' '(int)(all - packed) - 1;' --size 33x7
is 'finds a last element that no column has' fault column_sum cuda/rows_columns.cu \
  '(int)(all - packed);' '(int)(all - packed) - 1;' --size 33x7
is 'finds accesses of a last row that are not there' fault column_max cuda/rows_columns.cu \
  'if (inside(0)) { /*' 'if (true) { /*' --size 33x7
# shellcheck disable=SC2016
is 'finds rows that are one and leave what is one' fault column_sum cuda/rows_columns.cu \
  'gridDim.y * $V$;' 'gridDim.y;' --size 33x7
is 'finds rows in flight that are others' fault batch_norm cuda/rows_columns.cu \
  'first + turn * step < rows ? first + turn * step : first;' 'first;' --size 500x7

summary
