#!/bin/sh
# test_chain_cuda.sh - chains by CUDA kernels whose layers are products of matrices, run on the processor by
# tests/cuda/emulator: depths, gradients, clusters, widths that fill no tile; and faults planted in their templates, which
# the check must find. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

if ! command -v "${CXX:-c++}" >/dev/null; then
  echo 'skipped: CUDA chains on the processor: there is no C++ compiler'
  summary
  exit
fi

# Without f64, whose kernels on the emulator are f32's.
tree
cp -r "$LATHE_SRC/specs/include" "$tmp/tree/specs/"
without_f64() { sed 's/, f64 = bound//; s/"f64", //' "$1" >"$tmp/tree/specs/$2"; }
without_f64 "$LATHE_SRC/specs/include/vector.lua" include/vector.lua
without_f64 "$LATHE_SRC/tests/specs-chain/chain.lua" chain.lua
without_f64 "$LATHE_SRC/specs/mlp.lua" mlp.lua
templates_of_its_own
plant "$tmp/tree/templates/cuda/schedule_chain_matrix.lua" 'MANY = 2048' 'MANY = 512' # of two layers, to take less time
mkdir "$tmp/build" "$tmp/faulty"
checked() { emulated --implementation coopmat "$@"; }
# Widths of several tiles, with edges, that blocks of a cluster share; matrices that come slice by slice; one of all.
sizes=batch=17xi=70xh=200xl=130xo=150,batch=40xi=304xh=304xl=40xo=24,batch=1xi=1xh=1xl=1xo=1,S
# Two layers of many rows, of which blocks take several tiles in turn, with edges.
pairs=batch=660xi=72xh=136xo=40
# Sums over a batch of several parts, the last one not whole, in tiles with edges.
totals=batch=230xi=70xh=130xo=9,batch=64xi=20xh=65xo=70,batch=600xi=20xh=30xo=9

cd "$tmp/build" || exit 1
is 'builds the driver' emulator_driver
is 'configures' configure_emulator
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
is 'is right' checked --size S,odd,small
is 'sizes' checked --op 'mlp*,three_layers*,swish_*,one_layer*' --size "$sizes"
is 'sums over the batch' checked --op mlp_backward,swish_of_transposed_backward --size "$totals"
is 'many rows' checked --op three_layers --size batch=2100xi=9xh=20xl=9xo=7,batch=2100xi=200xh=80xl=9xo=7
is 'slices for a cluster' checked --op three_layers --size batch=5xi=600xh=500xl=9xo=7
is 'a batch of two axes' checked --op residual --size batch=5xseq=7xi=70xh=200
is 'special values' checked --op 'mlp*' --size small --special nan,inf,zero,denormal
# Two layers of many rows: matrices that stay and that come again, hidden values of several chunks, edges of each.
is 'two layers of many rows' checked --op mlp --dtype f16 --size batch=640xi=72xh=136xo=20,batch=513xi=640xh=136xo=128
is 'matrices across' checked --op swish_of_transposed --dtype bf16 --size "$pairs"
is 'special values of many rows' checked --op mlp --dtype f16,bf16 --size batch=700xi=16xh=16xo=8 --special nan,inf,zero,denormal
# Rows that blocks of 64 have no room for, and that no block has.
is 'wide rows' checked --op one_layer --dtype f32 --size batch=2100xi=700xo=20
too_wide() {
  ! checked --op one_layer --dtype f32 --size batch=3xi=5000xo=20 && tr -s '\n ' ' ' <"$tmp/rows" |
    grep "a block's shared memory has no room for rows that long"
}
is 'says what is too wide' too_wide
# Which of mlp's variants dispatch chooses.
chosen() { # chosen DTYPE SIZE VARIANT
  LD_LIBRARY_PATH=. out/bench --op mlp --backend cuda --dtype "$1" --list-variants --size "$2" |
    tr -s '\n ' ' ' | grep "$3 [^_]*dispatch chooses it"
}
is 'chooses products of matrices' chosen f32 batch=3xi=64xh=64xo=16 mlp_f32__cuda_coopmat
is 'chooses plain contractions for what is too wide' chosen f32 batch=3xi=6000xh=64xo=16 mlp_f32__cuda_m128_n128_s3
is 'chooses one launch for small layers' chosen f16 batch=8xi=64xh=42xo=40 mlp_f16__cuda_coopmat
is 'chooses a launch for each of large ones' chosen f16 batch=21xi=184xh=709xo=285 mlp_f16__cuda_product_wgmma_m128_s4_narrow

# Layers a launch each, with what is between them in 16 bits. The probe has hidden values that these cannot have.
export EMULATOR_RAN="$tmp/ran"
apart() { emulated --implementation product "$@"; }
is 'a launch for each layer' apart --op 'mlp*' --size batch=17xi=40xh=72xo=33,batch=130xi=24xh=64xo=8,batch=3xi=9xh=130xo=70
# Such small ones go to the copy engine if they are asked to.
brought_size=batch=130xi=24xh=64xo=8
is 'a launch for each layer by the copy engine' apart --no-probe --op 'mlp*' --size $brought_size --cut 9
brought() { sort -u "$EMULATOR_RAN" | grep -x "mlp_$1__cuda_product_narrow_step2_fetched128x64"; }
is 'the copy engine brings what is between them' brought f16
is 'of both types' brought bf16
is 'special values of a launch for each' apart --op mlp --size batch=17xi=40xh=72xo=33 --special nan,inf,zero,denormal
elsewhere() {
  plant "$tmp/tree/templates/gpu/launch_steps.c" '1, map.temporary - 1)' '1, map.temporary)' && ninja out/bench
  built=$?
  apart --no-probe --op mlp_backward --size $brought_size --cut 9
  wrong=$?
  cp "$LATHE_SRC/templates/gpu/launch_steps.c" "$tmp/tree/templates/gpu/"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}
is 'finds the place of another temporary' elsewhere

# fault_of_mlp FILE FROM TO OPTION...: with that in place of a text, which is there once, mlp's kernels are wrong.
fault_of_mlp() {
  template=$1
  plant "$tmp/tree/templates/cuda/$template" "$2" "$3" && ninja out/bench
  built=$?
  shift 3
  checked "$@"
  wrong=$?
  cp "$LATHE_SRC/templates/cuda/$template" "$tmp/tree/templates/cuda/"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}
is 'finds second parts that are too large' fault_of_mlp two_layers.h \
  'fmaf(sums[1][tile][nth], 1 / LARGER, sums[0][tile][nth])' 'sums[1][tile][nth] + sums[0][tile][nth]' \
  --op mlp --dtype f16 --size batch=640xi=72xh=136xo=20

# ---- planted faults -------------------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
cp "$tmp/build/libcuda.so.1" .
is 'configures for faults' configure_emulator --ops=one_layer,three_layers,swish_of_transposed
is 'takes the runtime for faults' reuse
is 'builds what is to be faulty' ninja out/bench
is 'is right without a fault' checked --size "$sizes,$totals"
cp -R "$tmp/tree/templates" "$tmp/right"

# fault FILE FROM TO: with that in place of a text, which is there once, kernels are built, and are wrong; the seed is one
# whose probe draws numbers of which nothing is left where none are mended
fault() {
  plant "$tmp/tree/templates/cuda/$1" "$2" "$3" && ninja out/bench
  built=$?
  checked --size "$sizes,$totals" --seed 3822681012
  wrong=$?
  cp "$tmp/right/cuda/$1" "$tmp/tree/templates/cuda/$1"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}
layers=tensor_layers.h
is 'finds a number without its second half' fault tf32.h 'low = lathe_rounded(x - __uint_as_float(high))' 'low = 0'
is 'finds a NaN that is rounded' fault tf32.h 'fabsf(x) < INFINITY ? 0x1000 : 0' '0x1000'
is 'finds sums of parts that are not mended' fault $layers 'fabsf(sum) >= 0x1p-100f || sum == 0' 'true'
is 'finds copies that nobody waits for' fault $layers 'STAGES > 2 ? STAGES - 2' 'STAGES > 2 ? STAGES - 1'
is 'finds a barrier left out' fault $layers '__syncthreads();
    more();' 'more();'
is 'finds terms that nobody has' fault $layers '(sharing - 1)) == part' 'sharing) == part'
is 'finds shares that are not added up' fault $layers 'other < sharing && warp()' 'other + 1 < sharing && warp()'
is 'finds merging without a barrier' fault $layers 'sums[0][j][nth];
    __syncthreads();' 'sums[0][j][nth];'
is 'finds columns that two blocks have' fault $layers 'rank * each' 'rank * 16'
is 'finds what stays in its own block' fault $layers 'block < blocks; block++' 'block < 1; block++'
is 'finds the wrong rows' fault $layers 'half * 8 + lane() / 4) * line + k' 'half * 4 + lane() / 4) * line + k'
is 'finds a slice of other columns' fault $layers 'n = mine.first + at_chunk' 'n = mine.first'
is 'finds a whole matrix without its last lines' fault $layers 'line < all_lines' 'line + 16 < all_lines'
is 'finds a matrix that nobody waits for' fault chain_matrix.cu 'lathe_await_groups<$(#schedule.layers - nth)>' 'lathe_await_groups<$(#schedule.layers)>'
is 'finds a layer that begins too early' fault chain_matrix.cu '>();
  __syncthreads();' '>();'
is 'finds a cluster that does not wait' fault chain_matrix.cu 'lathe_cluster_arrive();
  lathe_cluster_wait();' ''

pair() { # pair FILE FROM TO: the same of two layers of many rows, the second's factors in parts
  plant "$tmp/tree/templates/cuda/$1" "$2" "$3" && ninja out/bench
  built=$?
  checked --op swish_of_transposed --dtype bf16 --size "$pairs"
  wrong=$?
  cp "$tmp/right/cuda/$1" "$tmp/tree/templates/cuda/$1"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}
is 'finds hidden values without their last parts' pair two_layers.h 'return x - part;' 'return 0;'
is 'finds the second matrix of other hidden values' pair two_layers.h 'n * HIDDEN + part * TERMS' 'part * TERMS'
is 'finds results that nobody waits for' pair tensor_results.h '% 2 * 2, pack);
        }
        __syncwarp();' '% 2 * 2, pack);
        }'
is 'finds rows of the tile before' pair two_layers.h 'first_row = row;' ';'

sums=totals.h
is 'finds terms of some warps left out' fault $sums 'other < SHARING' 'other < SHARING / 2'
is 'finds a total without second halves' fault $sums 'lathe_mma_numbers(few, low[i], whole[0], whole[1]);' ';'
is 'finds tiny numbers that are lost' fault tensor_factors.h 'low = __float_as_uint(NAN);' ';'
is 'finds totals that are not mended' fault $sums 'mend(c, y, x + v, given[nth][v]);' ';'
is 'finds a part of the terms twice' fault $sums 'work.part * each < here.k_count ? work.part * each' 'work.part * each < here.k_count ? work.part * 0'
is 'finds the tile of another total' fault $sums 'work.nth = blockIdx.x % all;' 'work.nth = tile;'
is 'finds a slice of totals written too early' fault $sums 'multiply(s);
      __syncthreads();' 'multiply(s);'
is 'finds a total of the wrong tile' fault chain_matrix.cu 'tile -= tiles$(schedule.totals[nth - 1]);' ''

summary
