#!/bin/sh
# test_contract_cuda.sh - contractions by CUDA kernels, run on the processor by tests/cuda/emulator: tiles in registers,
# tensor cores of both kinds, few rows, terms split among blocks; and faults planted in their templates, which the check
# must find. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

if ! command -v "${CXX:-c++}" >/dev/null; then
  echo 'skipped: CUDA contractions on the processor: there is no C++ compiler'
  summary
  exit
fi

tree
for name in include matmul.lua linear.lua weighted_sum.lua; do
  cp -r "$LATHE_SRC/specs/$name" "$tmp/tree/specs/"
done
cp "$LATHE_SRC/tests/specs-contract/contract.lua" "$tmp/tree/specs/"
templates_of_its_own
mkdir "$tmp/build" "$tmp/faulty"

cd "$tmp/build" || exit 1
is 'builds the driver' emulator_driver
is 'configures' configure_emulator --dtypes=f32,bf16
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
is 'is right' emulated
# Few rows; numbers of 11 digits, of which a factor lies across terms; an odd number of slices, and an even one.
is 'tensor copies of few rows' emulated --dtype bf16 --variant '*wgmma*' --op 'matmul,matmul_nt,linear' \
  --size 1x136x264,16x72x1304
is 'numbers of 11 digits' emulated --dtype f32 --variant '*tf32' --op 'matmul,matmul_n*,matmul_tn,linear,product_*' \
  --size 67x136x264,136x300x72,3x64x128
# Tensors that the copy engine can have: rows of multiples of 16 bytes; more tiles than blocks.
is 'tensor copies' emulated --dtype bf16 --variant '*wgmma*' --op 'matmul,matmul_n*,matmul_tn,linear*' \
  --size 67x136x264,136x600x72,72x64x1304
is 'tensor copies of batches' emulated --dtype bf16 --variant '*wgmma*' --op 'matmul_batched,batch_*,heads,out_of_heads,terms_*' \
  --size 3x72x64x40
# One term; one row, or as many as are few; one column; edges of tiles; terms that blocks share.
is 'sizes' emulated --op 'matmul,matmul_n*,matmul_tn,linear*' \
  --size 1x1x1,1x130x700,8x67x257,131x1x67,67x131x257,9x5x1300
is 'products' emulated --op 'product_*,dequantised,alpha_beta,scaled_inside,beyond_zero,outer_sum,chain,typed_*' \
  --size 67x131x65,9x5x600
is 'groups of axes' emulated --op 'batch_*,heads,out_of_heads,terms_*,mlp*' --size 3x67x35x70
is 'batches' emulated --op matmul_batched --size 1x67x131x65,3x8x40x300
is 'factors below the normal range' emulated --no-probe --dtype f32 --variant '*tf32' --op matmul_backward --size 1x7x257 \
  --seed 2560355971 --special inf,zero,denormal,beyond --offset 4
is 'gradients' emulated --op 'matmul_backward*,linear_gelu_backward*' --size 67x131x70,1x5x513,131x1x1

# Each way of cutting, where it is asked for: few rows and one, few columns, and all tiles.
EMULATOR_RAN=$tmp/ran
export EMULATOR_RAN
for cut in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
  is "way $cut of cutting" emulated --no-probe --dtype f32,bf16 --op matmul --size 8x8x136,8x8x9 --cut "$cut"
done
is 'rows that the copy engine cannot have' emulated --no-probe --dtype f32,bf16 --op 'matmul,matmul_n*,matmul_tn' \
  --size 67x131x65 --cut 10
is 'one row' emulated --no-probe --dtype f32 --op matmul --size 1x8x136 --cut 4
is 'one row of tensor cores' emulated --no-probe --dtype bf16 --op matmul --size 1x8x136 --cut 5
is 'every way was taken' all_ran '^$' matmul
unset EMULATOR_RAN

# By a cluster's blocks, and by more blocks than a cluster has; by several clusters, where many blocks run at once.
is 'long sums' emulated --no-probe --dtype f32,bf16 --op 'matmul,linear' --size 8x40x20000,70x40x3000
is 'long sums by small tiles' emulated --no-probe --dtype bf16 --op matmul --size 8x40x20000,70x40x3000 --cut 12
export EMULATOR_MULTIPROCESSORS=24
for cut in 9 10 11 12 13; do
  is "sums shared by several clusters, way $cut" emulated --no-probe --dtype f32,bf16 --op 'matmul,linear' \
    --size 8x40x5000,70x130x3000 --cut "$cut"
done
unset EMULATOR_MULTIPROCESSORS
is 'other implementations' emulated --op 'weighted_sum*' --size 7x3,3x255,1x5000,1000x3,67x1300

# ---- planted faults -------------------------------------------------------------------------------------------

# Factors side by side along k, and not; an epilogue; sizes of several tiles, parts and slices, with edges, of which the
# first and the last are for tensor copies.
cd "$tmp/faulty" || exit 1
cp "$tmp/build/libcuda.so.1" .
is 'configures for faults' configure_emulator --ops=linear,matmul_tn --dtypes=f32,bf16
is 'takes the runtime for faults' reuse
is 'builds what is to be faulty' ninja out/bench
of_tiles=72x152x712,7x40x521,67x141x711,136x600x72,67x141x11 sizes=$of_tiles
checked() { emulated --size "$sizes" "$@"; }
is 'is right without a fault' checked
cp -R "$tmp/tree/templates" "$tmp/right"

# fault ROWS FILE FROM TO [OPTION...]: with that in place of a text, which is there once, kernels are built, and those
# whose names match ROWS are wrong
fault() {
  plant "$tmp/tree/templates/cuda/$2" "$3" "$4" && ninja out/bench
  built=$? rows=$1 file=$2
  shift 4
  checked --variant "*cuda_$rows" "$@"
  wrong=$?
  cp "$tmp/right/cuda/$file" "$tmp/tree/templates/cuda/$file"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}
tiles=m128_s3 mma='mma*' wgmma='wgmma*'
is 'finds a tile without an end' fault $tiles tiles.h '(long long)(c.n_count - column)' 'AT_ONCE'
is 'finds a barrier left out' fault $tiles tiles.h 'keep(k + BK, turn);
          __syncthreads();' 'keep(k + BK, turn);'
# Large tiles, whose blocks are no cluster.
is 'finds a part left out' fault $tiles work.h 'part + p < work.parts ? all' 'part + p + 1 < work.parts ? all' --cut 8
is 'finds a part that begins elsewhere' fault $tiles contract_kernel.cu \
  'work.part * each < to ? work.part * each' 'work.part * each < to ? work.part * (each + 1)'
# shellcheck disable=SC2016
is 'finds a stride of another axis' fault $tiles contract_step.cu \
  '$(S.field(operand, letter)) = $(S.size(places));' '$(S.field(operand, letter)) = $(S.size(S.core(step, "m")));'
is 'finds an epilogue of another sum' fault $tiles contract_step.cu '"sums[nth]"' '"sums[0]"'
is 'finds an epilogue without its operands' fault $tiles contract_step.cu \
  'load(step, part, { m = "m", n = "n" }, "n"' 'load(step, part, { m = "m", n = "0" }, "n"'
is 'finds few terms without the last' fault $tiles short.h 'term < count' 'term + 1 < count'
is 'finds a part of a cluster left out' fault $tiles work.h 'of < joined; of++' 'of + 1 < joined; of++'
export EMULATOR_MULTIPROCESSORS=24
sizes=70x40x3000 # by several clusters
is 'finds a cluster of several left out' fault "$wgmma" work.h 'from + of < sets' 'from + of + 1 < sets' --cut 12
is 'finds clusters that begin with the same term' fault "$wgmma" work.h 'part = set * joined + rank' 'part = rank' --cut 12
is 'finds shares of rows that are counted as one' fault "$wgmma" work.h 'work.nth * joined + rank, sets' \
  'work.nth * joined, sets' --cut 12
unset EMULATOR_MULTIPROCESSORS
sizes=$of_tiles
is 'finds rows of a cluster in other places' fault "$mma" work.h 'const int row = first + at' 'const int row = at'
is 'finds copies of rows that lie apart' fault "$wgmma" padded.h 'row * columns + column' 'row * chunks * V + column'
is 'finds few rows without their last term' fault $tiles thin.h 'term < left; term += step' 'term + 1 < left; term += step'
is 'finds few rows by half of a warp' fault $tiles thin.h 'apart = 16; apart > 0' 'apart = 8; apart > 0'
is 'finds few rows by some of the warps' fault $tiles thin.h 'of < WARPS && has_some(); of += across' 'of < 0; of += across'
is 'finds few columns by some of the threads' fault $tiles thin.h 'apart >= across' 'apart > across'
is 'finds terms past the last' fault "$mma" tensor.h 'terms = to - k < BK ? (int)(to - k) : BK' 'terms = BK'
is 'finds copies that nobody waits for' fault "$mma" tensor.h 'lathe_await_groups<AHEAD - 1>' 'lathe_await_groups<AHEAD>'
is 'finds a barrier left out of tensor cores' fault "$mma" tensor.h '__syncthreads();
      copy(k' 'copy(k'
is 'finds matrices of other rows' fault "$mma" tensor.h 'second = lane / 8 % 2,' 'second = lane / 8 % 2 * 0,'
is 'finds sums in other places' fault "$wgmma" tensor.h 'half * 8 + lane / 4' 'half * 4 + lane / 4'
# Of stages that the copy engine fills.
is 'finds a stage that nobody waited for' fault "$wgmma" fetched.h 'lathe_await_phase(r.full + t.stage, t.parity);' ''
is 'finds a stage filled while it is read' fault "$wgmma" fetched.h 'lathe_await_phase(r.empty + t.stage, t.parity ^ 1);' ''
is 'finds a last stage that nobody waits for' fault "$wgmma" fetched.h 'lathe_await_mma<0>(sums);
    give_back(r, before);
  }' 'lathe_await_mma<1>(sums);
    give_back(r, before);
  }'
is 'finds results of another row' fault "$wgmma" fetched.h 'half * 8 + below' 'half * 4 + below'
is 'finds results stored before they are there' fault "$wgmma" fetched.h 'leave(lines, first, pass);
        __syncwarp();' 'leave(lines, first, pass);'
is 'finds copies whose chunks are not rotated' fault "$wgmma" tensor_shape.lua 'swizzle = 128' 'swizzle = 0'
is 'finds copies of other lines' fault "$wgmma" contract_step.cu 'across .. " + line"' 'across'
is 'finds tiles that no block goes on to' fault "$wgmma" work.h 'is_there = part < parts' \
  'is_there = block < gridDim.x' --cut 9
is 'finds whole tiles of another row' fault "$wgmma" fetched.h 'c.finish_whole(y, x, all[nth], N)' \
  'c.finish_whole(y ^ 1, x, all[nth], N)' --cut 9
is 'finds whole tiles of other columns' fault "$wgmma" tensor.h 'lathe_load<4>(line + lathe_column(column + first))' \
  'lathe_load<4>(line + column + first)' --cut 9
is 'finds rows of the other half' fault "$wgmma" fetched.h 'nth_of(pass, line)' 'nth_of(0, line)' --cut 9
is 'finds tiles that are not whole' fault "$wgmma" fetched.h 'n + (TURNED ? ROWS : COLUMNS) <= c.n_count &&' \
  'n < c.n_count &&' --cut 9
sizes=72x68x136 # rows of results lie at multiples of 8 bytes
is 'finds whole tiles by few columns of another row' fault "$wgmma" tensor.h 'finish_whole<4>(c, lines,' \
  'finish_whole<4>(c, lines + PADDED,' --cut 12
sizes=128x8x4864 # a block goes round the stages
is 'finds a stage given back too early' fault "$wgmma" fetched.h 'lathe_await_mma<1>' 'lathe_await_mma<2>'
sizes=9x136x1304
is 'finds few rows in the place of the others' fault "$wgmma" fetched.h 'TURNED ? at + left::CHUNKS : at, map_a' 'at, map_a'

# Of numbers of which a factor lies across terms.
mkdir "$tmp/numbers"
cd "$tmp/numbers" || exit 1
cp "$tmp/build/libcuda.so.1" .
is 'configures for numbers' configure_emulator --ops=matmul --dtypes=f32
is 'takes the runtime for numbers' reuse
tf32='*tf32' sizes=136x152x200
is 'finds factors of other terms' fault "$tf32" fetched.h 'nth / 2 * 4 + term' 'nth / 2 * 2 + term'
is 'finds rows of one half' fault "$tf32" fetched.h 'nth_of(nth % 2)' 'nth_of(0)'
is 'finds results that are not turned' fault "$tf32" fetched.h 'lines[(column + 1) * PADDED + row]' \
  'lines[column * PADDED + row + 1]'
is 'finds warps whose results lie in one place' fault "$tf32" fetched.h 'n + (TURNED ? row : first + place)' \
  'n + (TURNED ? place : first + place)'
is 'finds a last slice left out' fault "$tf32" fetched.h 'stages % 2 == 1' 'stages % 2 == 2'
is 'finds numbers of other lanes' fault "$tf32" tensor.h 'nth / 2 : nth % 2) * V + lane % 4' 'nth / 2 : nth % 2) * V'

summary
