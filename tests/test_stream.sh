#!/bin/sh
# test_stream.sh - streams (tests/specs-stream) on this processor, by Vulkan on whatever device there is, and by CUDA on
# tests/cuda/emulator in each way to cut them; and faults planted in their templates, which the check must find. Needs
# LATHE_SRC, LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
templates_of_its_own
cp "$LATHE_SRC"/tests/specs-stream/* "$tmp/tree/specs/"

shows() { # shows OP TEXT: what its program is
  "$LATHE_GEN" --src "$tmp/tree" show "$1" --stage program | tr -s ' \n' ' ' | grep -F -e "$2"
}
is 'finds streams' shows causal 'stream of causal_f32__avx512_stream'
is 'has queries of a group as rows' shows causal 'm = { g s }, n = { t }, k = { d }'
is 'finds what is gathered with a maximum' shows window 'sum1 = sum of e^(power - peak)'
is 'takes what does not vary over keys out of a sum' shows biased 'select(t2, nan, step2) / (select(t2, nan, sum1) + exp('
is 'has sums without powers' shows normed 'between = weight'
is 'makes one op of a gradient, its rows first' shows causal_backward 'temporary1 = peak'
is 'turns sums so that a gradient has no product more' shows causal_backward 'sum2 = sum of sum2 * e^(power - peak)'
is 'has a peak beside one of the keys' shows documents 't1 = max(peak, sink)'
is 'has a choice of powers beside the sum of all' shows dropped 'between = weight1 * e^(power - peak)'
is 'leaves a choice of powers where nothing divides' shows chosen 'between = weight1 step3'
is 'compares indexes as integers' shows documents 'same(whole(of_query), whole(of_key))'
is 'has the rest of a gradient beside its stream' shows documents_backward 'sum1 = sum of cut7 dsink = sum1'
is 'has two products of keys in a pass' shows window_backward 'between = weight2'
is 'computes first what is beside a stream' shows saved_backward 'sum1 = sum of do * o cut1 = sum1'
is 'reads results in a gradient' shows saved_backward 't2 = select(t1, exp(step8 - l), 0)'
is 'has what is made of these beside the stream too' shows saved_backward 'dsink = sum1'
is 'has products of rows and of keys in a pass' shows causal_backward 'between, turned = weight1'

grouped=b=1xh=2xg=2xs=70xt=140xd=24xe=40
sequences() { # sequences COMMAND...: of sequences, not of streams alone
  variants='*sequence*'
  "$@"
  set -- $?
  unset variants
  return "$1"
}

mkdir -p "$tmp/cpu/out" "$tmp/cpu_faults/out" && cd "$tmp/cpu" || exit 1
configured_cpu() { configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --disable-vulkan --disable-cuda --disable-amx "$@"; }
# shellcheck disable=SC2086
is 'configures for processors' configured_cpu $widest REFERENCE_CFLAGS= # of which sizes here take much
is 'takes the runtime' reuse
is 'builds kernels in C' ninja out/bench
on_cpu() { "$bench" --backend cpu --check-only --variant "${variants:-*stream*}" "$@"; }
right_on_cpu() { # all rows are, and there are some
  on_cpu --dtype all "$@" >"$tmp/rows" 2>&1
  grep -E -A 3 'wrong' "$tmp/rows"
  grep -q -E '^[0-9]+ rows: [1-9][0-9]* right, 0 wrong' "$tmp/rows"
}
# Parts of tiles, of vectors and of blocks of keys; rows for several blocks; values that are packed, and that are not.
is 'is right in C' right_on_cpu --size "$grouped,b=2xh=1xg=3xs=150xt=300xd=72xe=136,b=1xh=1xg=1xs=1xt=1xd=1xe=1" \
  --op causal,window
is 'is right in C of gradients' right_on_cpu --size "$grouped,b=1xh=1xg=2xs=300xt=40xd=9xe=17,b=1xh=1xg=1xs=1xt=1xd=1xe=1" \
  --op 'causal_backward,window_backward*'
is 'is right in C of gradients that read results' sequences right_on_cpu --op saved_backward \
  --size "$grouped,b=1xh=1xg=2xs=300xt=40xd=9xe=17,b=1xh=1xg=1xs=1xt=1xd=1xe=1"
is 'is right in C of biases at points' right_on_cpu --op biased --size b=2xh=3xs=70xt=540xd=24xe=40,b=1xh=1xs=130xt=70xd=72xe=72
is 'is right in C without powers, and of keys that lie apart' right_on_cpu --op weighted,normed \
  --size s=70xt=540xd=24xe=40,s=9xt=70xd=72xe=136,s=3xt=20xd=2100xe=3
gated=b=2xh=1xs=70xt=140xd=24xe=40,b=1xh=2xs=150xt=70xd=72xe=136
is 'is right in C of what products of matrices do too' right_on_cpu --no-probe --op 'gated*' --size "$gated"
chosen() { # chosen SIZE PATTERN: of gated and its gradient, at a size
  "$bench" --op 'gated*' --dtype f32 --backend cpu --check-only --no-probe --rows --size "$1" | grep -c -e "^ >gated.*$2"
}
is 'takes a stream where it is narrow' test "$(chosen b=1xh=1xs=9xt=9xd=256xe=8 __.*_stream)" = 2
is 'takes products of matrices where it is wide' test "$(chosen b=1xh=1xs=9xt=9xd=8xe=257 _stream)" = 0
is 'is right in C of factors that do not vary over terms' right_on_cpu --op 'inside*,within*' --size "$grouped"
documents=${grouped}xdocument=3,b=1xh=1xg=1xs=1xt=300xd=24xe=40xdocument=3
dropped=${grouped}xdistance=9,b=1xh=1xg=1xs=150xt=300xd=9xe=17xdistance=400
is 'is right in C of documents' right_on_cpu --op 'documents*' --size "$documents"
# By a seed: a length that is 0 leaves nothing but NaN.
is 'is right in C of lengths, tables and random numbers' right_on_cpu --op dropped --seed 5 --size "$dropped"
is 'is right in C of special values' right_on_cpu --no-probe --op 'causal*,window*' --special nan,inf,zero,denormal \
  --size b=1xh=2xg=2xs=30xt=70xd=8xe=8
is 'is right in C of special values without powers' right_on_cpu --op 'normed*,cut' --special nan,inf,zero,denormal \
  --size s=9xt=300xd=7xe=3,s=9xt=1xd=7xe=3
is 'is right in C of a weight that a mask leaves out' right_on_cpu --no-probe --op left --special nan,inf --seed 5 \
  --size s=3xt=41xd=1xe=1,s=2xt=30xd=2xe=5
# Large enough for threads to share: several matrices, and blocks of rows of one.
shared='--no-probe --threads 3 --dtype f16 --size b=1xh=2xg=2xs=170xt=340xd=24xe=40,b=1xh=1xg=1xs=550xt=333xd=72xe=40'
# shellcheck disable=SC2086
is 'is right in C of special values that chance leaves out' right_on_cpu --no-probe --op dropped,chosen \
  --special nan,inf,zero --size b=1xh=2xg=2xs=30xt=3xd=8xe=8xdistance=9,s=300xt=2xd=7xe=3
is 'is right in C by several threads' right_on_cpu --op causal_backward,window $shared
cd "$tmp/cpu_faults" || exit 1
checked() { on_cpu --seed 3470038501 "$@"; }
is 'configures for faults' configured_cpu --disable-avx512 --disable-sse2 \
  --disable-scalar '--ops=causal,window,weighted,normed,documents,-documents_backward' --dtypes=f32,f16
is 'takes the runtime for faults' reuse
is 'finds a tile of documents left out' fault documents c/stream_masks.c 'number > $of.name$most ? number : $of.name$most' \
  'number' --dtype f16 --size b=1xh=1xg=1xs=1xt=300xd=24xe=40xdocument=3
is 'finds sums that are not made smaller' fault weighted c/stream.c \
  'sums$nth$[(i + of) * r->width$nth$ + j] *= by[of];' ';' \
  --dtype f32 --size s=20xt=600xd=24xe=40
is 'finds a row whose last keys are not gathered' fault weighted c/stream_gather.c '//@ vectors("keys", function(lanes)
  //@ if f.peak' '//@ vectors("(keys - 1)", function(lanes)
  //@ if f.peak' --dtype f32 --size s=20xt=60xd=24xe=40
is 'finds a tile left out' fault window c/places.h 'r.to = lathe_place(to, within, extent)' 'r.to = r.from' \
  --dtype f16 --size "$grouped"
is 'finds a mask that is not asked' fault causal c/stream.c 'const bool is_free = ' 'const bool is_free = true || ' \
  --dtype f16 --size "$grouped"
is 'finds a largest that loses NaN between blocks of keys' fault normed c/stream.h 'float larger = b > a ? b : a;
  return b != b ? b : larger' 'float larger = b > a ? b : a;
  return larger' \
  --op normed_backward --dtype f32 --special nan --size s=9xt=300xd=7xe=3
is 'finds a largest of every second vector alone' fault normed c/stream_gather.c \
  'k:combine_columns("maximum", "most", "other")' '"most"' \
  --op normed_backward --dtype f32 --special nan --size s=9xt=300xd=7xe=3
is 'finds a gradient that passes over rows of which no key counts' fault window c/stream_masks.c \
  'skips = $(is_zero(has));' '' --op 'window_backward*' --dtype f16 --size b=1xh=1xg=1xs=300xt=40xd=9xe=17
by_groups='--op window_backward* --dtype f16 --size b=1xh=1xg=1xs=300xt=600xd=24xe=40'
# shellcheck disable=SC2086
is 'finds a group of rows that is left out' fault window c/stream.c 'sums[i] += sums[group * count + i];' ';' $by_groups
# shellcheck disable=SC2086
is 'finds points that a mask rules out and that count' fault window c/stream.c 'for (size_t i = from; i < to; i++)
      at[i] = 0;' '(void)from, (void)to;' $by_groups
# shellcheck disable=SC2016,SC2086
is 'finds a key that is left out of products of rows' fault window c/stream.c '? keys - i : $MR$;
      const size_t wide' '? keys - i : $MR$ - 1;
      const size_t wide' $by_groups
# shellcheck disable=SC2086
is 'finds threads that use one room' fault window c/stream.c ' + args->part * args->apart' '' $shared

"$LATHE_BENCH" --list-backends >"$tmp/backends"
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools
  prepare() { # prepare FOLDER OPTION...
    mkdir -p "$tmp/$1/out" && cd "$tmp/$1" || exit 1
    [ ! -d "$tools" ] || ln -s "$tools" out/
    shift
    configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 --disable-sse2 \
      --disable-scalar "$@" && reuse
  }
  by_vulkan() { "$bench" --backend vulkan --timeout 300 --check-only --variant "${variants:-*stream*}" "$@"; }
  right_by_vulkan() { by_vulkan --dtype all "$@"; }
  gradients_by_vulkan() { by_vulkan --op causal_backward --size "$grouped,b=1xh=1xg=2xs=70xt=150xd=72xe=136" "$@"; }
  is 'configures for Vulkan' prepare vulkan
  is 'builds kernels for Vulkan' ninja out/bench
  # Tiles of 32 and 64 rows, of 64 and 128 columns, and parts of them; of f64 half the keys.
  is 'is right by Vulkan' right_by_vulkan --op causal,window --size "$grouped,b=2xh=1xg=1xs=150xt=200xd=72xe=136"
  is 'is right of gradients by Vulkan' gradients_by_vulkan --dtype f32
  # By kernels that are those of f32 but for what they read and store; those of bf16 are run with special values below.
  is 'is right of gradients by Vulkan in f16' gradients_by_vulkan --dtype f16 --no-probe
  is 'is right of gradients that read results by Vulkan' sequences right_by_vulkan --no-probe --op saved_backward --size "$grouped"
  is 'is right of biases at points by Vulkan' right_by_vulkan --op biased --size b=2xh=3xs=70xt=140xd=24xe=40
  is 'is right without powers by Vulkan' right_by_vulkan --op 'weighted,normed*' --size s=70xt=140xd=24xe=40,s=9xt=70xd=72xe=136
  is 'is right by Vulkan of what products of matrices do too' right_by_vulkan --no-probe --op 'gated*' --size "$gated"
  is 'is right of documents by Vulkan' right_by_vulkan --no-probe --op documents --size "$documents"
  is 'is right of lengths, tables and random numbers by Vulkan' right_by_vulkan --no-probe --op dropped --seed 5 --size "$dropped"
  is 'is right of special values by Vulkan' right_by_vulkan --no-probe --op 'causal*,normed*' \
    --special nan,inf,zero,denormal --size b=1xh=2xg=2xs=30xt=70xd=8xe=8,s=9xt=300xd=7xe=3
  checked() { by_vulkan --seed 3470038501 "$@"; }
  is 'configures for faults of Vulkan' prepare vulkan_faults --ops=causal,window,weighted --dtypes=f32,f16
  # shellcheck disable=SC2016
  is 'finds sums that are not made smaller by Vulkan' fault weighted glsl/stream.comp \
    'last$i$[nth] *= $names.shrink$[$m$];' ';' --dtype f32 --size s=20xt=200xd=24xe=40
  is 'finds a key that is not gathered by Vulkan' fault weighted glsl/stream.comp \
    'is_there = key < keys' 'is_there = key + 1u < keys' --dtype f32 --size s=20xt=60xd=24xe=40
  is 'finds a mask that is not asked by Vulkan' fault causal glsl/stream.comp 'if (is_free) {' 'if (true) {' \
    --no-probe --dtype f16 --size "$grouped"
  is 'finds a tile left out by Vulkan' fault window c/places.h 'r.to = lathe_place(to, within, extent)' 'r.to = r.from' \
    --no-probe --dtype f16 --size "$grouped"
else
  echo 'skipped: streams by Vulkan: there is no device'
fi

if ! command -v "${CXX:-c++}" >/dev/null; then
  echo 'skipped: streams by CUDA on the processor: there is no C++ compiler'
  summary
  exit
fi

mkdir -p "$tmp/cuda/out" && cd "$tmp/cuda" || exit 1
is 'builds the driver' emulator_driver
is 'configures' configure_emulator
is 'takes the runtime' reuse
is 'builds kernels' ninja out/bench
streams() { emulated --variant "${variants:-*stream*}" "$@"; }
# Tiles of 64 and 128 rows, keys and columns, and parts of them; terms for both depths, and beyond both.
is 'is right' streams --op causal,window --size "$grouped,b=2xh=1xg=1xs=150xt=200xd=72xe=136"
is 'is right of gradients' streams --op 'causal_backward,window_backward*' \
  --size "$grouped,b=1xh=1xg=1xs=150xt=200xd=72xe=136,b=1xh=1xg=2xs=128xt=150xd=128xe=64"
is 'is right of gradients that read results' sequences streams --op saved_backward --size "$grouped,b=1xh=1xg=2xs=128xt=150xd=128xe=64"
is 'is right of biases at points' streams --op biased --size b=2xh=3xs=70xt=140xd=24xe=40,b=1xh=1xs=130xt=70xd=72xe=72
is 'is right by plain arithmetic' streams --op weighted,normed --size s=70xt=140xd=24xe=40,s=9xt=70xd=72xe=136
is 'is right of what products of matrices do too' streams --op 'gated*' --size "$gated"
is 'is right of documents' streams --op 'documents*' --size "$documents"
is 'is right of lengths, tables and random numbers' streams --op dropped --seed 5 --size "$dropped"
is 'is right of many terms' streams --no-probe --op causal --size b=1xh=1xg=3xs=20xt=90xd=200xe=8,b=1xh=1xg=1xs=9xt=70xd=300xe=8
is 'is right where rows are not aligned' streams --no-probe --op causal --size b=1xh=2xg=1xs=40xt=70xd=23xe=21
# Keys for several blocks, of up to 16 rows and of more; places that a mask rules out for whole blocks.
many_keys=b=1xh=1xg=2xs=3xt=700xd=24xe=40,b=1xh=1xg=1xs=40xt=1100xd=72xe=72
is 'is right where blocks share keys' streams --no-probe --op causal,causal_backward,window --size $many_keys
is 'is right of special values' streams --no-probe --op 'causal*,window*' --special nan,inf,zero,denormal \
  --size b=1xh=2xg=2xs=30xt=70xd=8xe=8

mkdir -p "$tmp/cuda_faults/out" && cd "$tmp/cuda_faults" || exit 1
checked() { LD_LIBRARY_PATH=../cuda "$bench" --backend cuda --check-only --seed 3470038501 --variant '*stream*' "$@"; }
is 'configures for faults of CUDA' configure_emulator '--ops=causal,window,weighted,-*_backward*' --dtypes=f32,f16
is 'takes the runtime for faults of CUDA' reuse
is 'finds sums that are not made smaller' fault causal cuda/stream_tensor.h \
  'shrink(sums, nth / 2, nth % 2, by[nth / 2][nth % 2]);' ';' \
  --dtype f16 --size "$grouped"
is 'finds keys that are not gathered' fault weighted cuda/stream.h \
  'of.add(step, slices_of(of, r), m, n, key, key + keys);' \
  'of.add(step, slices_of(of, r), m, n, key, key + keys - 1);' --dtype f32 --size s=70xt=140xd=24xe=40
is 'finds a tile left out' fault window c/places.h 'r.to = lathe_place(to, within, extent)' 'r.to = r.from' \
  --dtype f16 --size "$grouped"
is 'finds a mask that is not asked' fault causal cuda/stream_tensor.h \
  'Rows::FREE && Rows::is_free(at, asked, a, key, KEYS)' 'Rows::FREE' --dtype f16 --size "$grouped"
is 'finds parts of keys that are not made smaller' fault causal cuda/stream_tensor.h 'term * by : term' 'term : term' \
  --no-probe --dtype f16 --size $many_keys
is 'finds parts of keys that are not made smaller by plain arithmetic' fault causal cuda/stream.h \
  'term * r.part[0][row] : term' 'term : term' --no-probe --dtype f32 --size $many_keys

summary
