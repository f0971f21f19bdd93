#!/bin/sh
# test_nest.sh - nests of loops over any axes (tests/specs-nest) on processors, by Vulkan on whatever device there is, and
# by CUDA on tests/cuda/emulator; and faults planted in their templates, which the check must find. Needs LATHE_SRC and
# LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
templates_of_its_own
cp "$LATHE_SRC"/tests/specs-nest/* "$tmp/tree/specs/"
cp -R "$tmp/tree/templates" "$tmp/right"
tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools

# Few and many points of few and many terms, which side by side are one or the other; a last vector, blocks that share.
sizes=5x3x40,130x2x9,2x300x5,1x1x2000,40x33,7x700,2000x3
prepare() { # prepare FOLDER
  mkdir -p "$tmp/$1/out" && cd "$tmp/$1" || exit 1
  [ ! -d "$tools" ] || [ -e out/tools ] || ln -s "$tools" out/
}
# fault CHECK FILE FROM TO OPTION...: with that in place of a text, which is there once, some rows are wrong
fault() {
  checked=$1 file=$2
  plant "$tmp/tree/templates/$file" "$3" "$4" && ninja out/bench
  built=$?
  shift 4
  "$checked" "$@" >"$tmp/rows" 2>&1
  wrong=$?
  cp "$tmp/right/$file" "$tmp/tree/templates/$file"
  [ $built = 0 ] && [ $wrong = 1 ] && grep ' wrong' "$tmp/rows"
}

# The ops that faults are looked for in.
few='--ops=extremes,softmax_first,batch_norm,index_spread,placed,stencil,scanned,scanned_back --dtypes=f32'

# ---- processors -------------------------------------------------------------------------------------------------

prepare cpu
configured_cpu() { # configured_cpu OPTION...
  configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --disable-vulkan --disable-cuda --disable-amx --disable-avx512 --disable-sse2 "$@"
}
by_cpu() { out/bench --backend cpu --dtype all --check-only "$@"; }
is 'configures for processors' configured_cpu
is 'takes the runtime' reuse
is 'builds kernels for processors' ninja out/bench
is 'is right on processors' by_cpu --size "$sizes"
is 'is right of special values' by_cpu --no-probe --special nan,inf,zero,denormal --size 60x7,5x9x13
# Large enough for threads to share, along points and along lanes.
shared='--threads 3 --dtype f32 --size 130x120x40,2000x300'
# shellcheck disable=SC2086
is 'is right by several threads' by_cpu $shared --op extremes,softmax_first,batch_norm,stencil,scanned
prepare cpu_faults
# shellcheck disable=SC2086
is 'configures for faults' configured_cpu $few
is 'takes the runtime for faults' reuse
# shellcheck disable=SC2016
is 'finds vectors in the place of others' fault by_cpu c/nest.c 'first + $((u - 1) * L);
  //@ body' 'first;
  //@ body' --op softmax_first
# shellcheck disable=SC2016
is 'finds lanes past the end' fault by_cpu c/nest.c 'take(step, suffixes[1], "inside")' 'take(step, suffixes[1])' --op extremes
is 'finds places that lanes share' fault by_cpu c/nest.c '")(" .. index(x.place)' '")(i" .. x.place' --op placed
is 'finds places past the end of an axis' fault by_cpu c/nest_step.c '< args->dim[%d]' '<= args->dim[%d]' --op stencil
is 'finds a NaN that is no extreme' fault by_cpu c/nest.c ' || (term != term && best == best)' '' --op index_spread \
  --special nan
is 'finds a first element that is left out' fault by_cpu c/nest.c 'for (size_t nth = 0; nth < args->dim[$(axis - 1)]' \
  'for (size_t nth = 1; nth < args->dim[$(axis - 1)]' --op scanned
is 'finds an exclusive scan with the place itself' fault by_cpu c/nest.c 'if r.exclusive then' 'if false then' --op scanned
is 'finds a reverse scan from the front' fault by_cpu c/nest_step.c 'return step.of.reverse and' 'return false and' --op scanned
# shellcheck disable=SC2016
is 'finds what blocks of a scan leave lost' fault by_cpu c/nest.c '$name$_base = $(total(name));' '' --op scanned
is 'finds a NaN that a scan forgets' fault by_cpu c/nest.c '$(k:combine_columns(r.kind, acc, term));
//@ else
$acc$' '$(k:combine(r.kind, acc, term));
//@ else
$acc$' --op scanned_back --special nan
# shellcheck disable=SC2086
is 'finds a part that is another one as well' fault by_cpu c/nest.h 'lathe_units(args, units, from, to);' \
  'lathe_units(args, units, from, to), *to = *from;' $shared --op softmax_first
is 'finds rounding errors that are lost' fault by_cpu c/nest.c 'carries = true;' '' --op softmax_first \
  --size 200x5

# ---- Vulkan -----------------------------------------------------------------------------------------------------

"$LATHE_BENCH" --list-backends >"$tmp/backends"
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  prepare vulkan
  configured_vulkan() { # configured_vulkan OPTION...
    configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 --disable-sse2 \
      --disable-scalar "$@"
  }
  by_vulkan() { out/bench --backend vulkan --check-only --timeout 300 "$@"; }
  is 'configures for Vulkan' configured_vulkan
  is 'takes the runtime for Vulkan' reuse
  is 'builds kernels for Vulkan' ninja out/bench
  is 'is right by Vulkan' by_vulkan --dtype f32 --size "$sizes"
  is 'is right by Vulkan in f16' by_vulkan --dtype f16 --op 'batch_norm,scaled,picked'
  prepare vulkan_faults
  # shellcheck disable=SC2086
  is 'configures for faults of Vulkan' configured_vulkan $few
  is 'takes the runtime for faults of Vulkan' reuse
  is 'finds invocations that are not joined' fault by_vulkan glsl/nest.comp 'local half = shape.lanes // 2' \
    'local half = shape.lanes // 4' --dtype f32 --op extremes
  is 'finds a workgroup left out' fault by_vulkan glsl/nest.comp 'of < parts; of +=' 'of + 1ul < parts; of +=' \
    --dtype f32 --op extremes --size 1x1x20000
  # shellcheck disable=SC2016
  is 'finds an exclusive scan with the place itself by Vulkan' fault by_vulkan glsl/nest.comp \
    'lathe_merge(before, $(got "lane - 1u"));' 'lathe_merge(before, mine);' --dtype f32 --op scanned --size 1x300x5
  # shellcheck disable=SC2016
  is 'finds a workgroup that forgets what it has scanned' fault by_vulkan glsl/nest.comp \
    'lathe_merge(so_far, $(got(lanes - 1 .. "u")));' '' --dtype f32 --op scanned --size 1x1x2000
  is 'finds an index carried wrongly' fault by_vulkan glsl/nest.comp '+= carried;' '+= 1ul;' --dtype f32 --op batch_norm
else
  echo 'skipped: nests by Vulkan: there is no device'
fi

# ---- CUDA -------------------------------------------------------------------------------------------------------

if command -v "${CXX:-c++}" >/dev/null; then
  prepare cuda
  by_cuda() { LD_LIBRARY_PATH=. out/bench --backend cuda --check-only "$@"; }
  is 'builds the driver' emulator_driver
  is 'configures for CUDA' configure_emulator --dtypes=f32
  is 'takes the runtime for CUDA' reuse
  is 'builds kernels for CUDA' ninja out/bench
  is 'is right by CUDA' emulated --dtype f32 --size "$sizes"
  prepare cuda_faults
  cp ../cuda/libcuda.so.1 .
  # shellcheck disable=SC2086
  is 'configures for faults of CUDA' configure_emulator $few
  is 'takes the runtime for faults of CUDA' reuse
  is 'finds threads that are not joined' fault by_cuda cuda/nest.h 'half = LANES / 2' 'half = LANES / 4' --dtype f32 \
    --op extremes
  is 'finds a block left out' fault by_cuda cuda/nest.h 'of < parts; of +=' 'of + 1 < parts; of +=' --dtype f32 --op extremes \
    --size 1x1x20000
  is 'finds an exclusive scan with the place itself by CUDA' fault by_cuda cuda/nest.cu \
    '(r.exclusive and "before" or "now")' '("now")' --dtype f32 --op scanned
  is 'finds a block that forgets what it has scanned' fault by_cuda cuda/nest.h 'so_far.merge(shared[LANES - 1]);' '' \
    --dtype f32 --op scanned --size 1x1x2000
  is 'finds points past the end' fault by_cuda cuda/nest.h 'if (lane == 0 && point < points)' 'if (lane == 0)' \
    --dtype f32 --op softmax_first
else
  echo 'skipped: nests by CUDA on the processor: there is no C++ compiler'
fi

summary
