#!/bin/sh
# test_nest.sh - nests of loops over any axes (tests/specs-nest) on processors, by Vulkan on whatever device there is, and
# by CUDA on tests/cuda/emulator; and faults planted in their templates, which the check must find. Needs LATHE_SRC,
# LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
templates_of_its_own
cp "$LATHE_SRC"/tests/specs-nest/* "$tmp/tree/specs/"
tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools

# Few and many points of few and many terms, which side by side are one or the other; a last vector, blocks that share.
sizes=5x3x40,130x2x9,2x300x5,1x1x2000,40x33,7x700,2000x3,2x20x3x2x30
prepare() { # prepare FOLDER
  mkdir -p "$tmp/$1/out" && cd "$tmp/$1" || exit 1
  [ ! -d "$tools" ] || [ -e out/tools ] || ln -s "$tools" out/
}
# The ops that faults are looked for in, and those of their gradients that have a fault's loops and they have not.
few='--ops=extremes,softmax_first,batch_norm,index_spread,placed,stencil,scanned,scanned_back,transposed,added_across'
few="$few,looked_up,along_rows,recurring,scanned_rows,repeated"
few="$few,-softmax_first_backward*,-recurring_backward*,-scanned*_backward* --dtypes=f32"

shows() { # shows OP TEXT: how its kernels' work is cut
  "$LATHE_GEN" --src "$tmp/tree" show "$1" --stage schedule | grep -q -F -e "$2"
}
is 'shows what blocks hold' shows softmax_first 'holds = { x = { before = 0, first = true } }'

# ---- processors -------------------------------------------------------------------------------------------------

prepare cpu
configured_cpu() { # configured_cpu OPTION...
  configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --disable-vulkan --disable-cuda --disable-amx --disable-avx512 --disable-sse2 "$@"
}
by_cpu() { "$bench" --backend cpu --dtype all --check-only "$@"; }
is 'configures for processors' configured_cpu
is 'takes the runtime' reuse
is 'builds kernels for processors' ninja out/bench
is 'is right on processors' by_cpu --size "$sizes"
is 'is right of special values' by_cpu --no-probe --special nan,inf,zero,denormal --size 60x7,5x9x13
# Large enough for threads to share, along points and along lanes.
shared='--no-probe --threads 3 --dtype f32 --size 130x120x40,2000x300'
# shellcheck disable=SC2086
is 'is right by several threads' by_cpu $shared --op extremes,softmax_first,batch_norm,stencil,scanned
prepare sse2
is 'configures for vectors of two' configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --disable-vulkan --disable-cuda \
  --disable-amx --disable-avx512 --disable-avx2 --disable-scalar --dtypes=f64 --ops=stencil,upsampled,caught,repeated
is 'takes the runtime for them' reuse
is 'builds vectors of two' ninja out/bench
is 'is right by vectors of two' by_cpu --size "$sizes"
prepare cpu_faults
checked() { by_cpu "$@"; }
# shellcheck disable=SC2086
is 'configures for faults' configured_cpu --disable-scalar $few
is 'takes the runtime for faults' reuse
# shellcheck disable=SC2016
is 'finds vectors in the place of others' fault softmax_first c/nest.c 'first + $((u - 1) * L);
  //@ body' 'first;
  //@ body'
# shellcheck disable=SC2016
is 'finds lanes past the end' fault extremes c/nest.c 'take(step, suffixes[1], "inside")' 'take(step, suffixes[1])'
is 'finds places that lanes share' fault placed c/nest_points.c '")(" .. index(x.place)' '")(i" .. x.place'
is 'finds places past the end of an axis' fault stencil c/elsewhere.c '< args->dim[%d]' '<= args->dim[%d]'
is 'finds a NaN that is no extreme' fault index_spread c/nest.c ' || (term != term && best == best)' '' --special nan
is 'finds a first element that is left out' fault scanned c/nest.c 'for (size_t nth = 0; nth < args->dim[$(axis - 1)]' \
  'for (size_t nth = 1; nth < args->dim[$(axis - 1)]'
is 'finds an exclusive scan with the place itself' fault scanned c/nest.c 'if r.exclusive then' 'if false then'
is 'finds a reverse scan from the front' fault scanned c/nest_step.c 'return step.of.reverse and' 'return false and'
# shellcheck disable=SC2016
is 'finds what blocks of a scan leave lost' fault scanned c/nest.c '$name$_base = $(total(name));' ''
is 'finds a NaN that a scan forgets' fault scanned_back c/nest.c '$(k:combine_columns(r.kind, acc, term));
//@ else
$acc$' '$(k:combine(r.kind, acc, term));
//@ else
$acc$' --special nan
# shellcheck disable=SC2086
is 'finds a part that is another one as well' fault softmax_first c/nest.h 'lathe_units(args, units, from, to);' \
  'lathe_units(args, units, from, to), *to = *from;' $shared
is 'finds tiles of shared points left out' fault softmax_first c/nest.h 'return 1;' 'return 0;' --size 3x40000
# shellcheck disable=SC2016
is 'finds a square of an input that is not turned over' fault added_across c/nest_turn.c \
  'lathe_turn_$k.compute$(square, $operand.name$_turned, $L$);' \
  '__builtin_memcpy($operand.name$_turned, square, sizeof square);' --size 20x20
# shellcheck disable=SC2016
is 'finds a square of an output that is not turned over' fault transposed c/nest_turn.c \
  'lathe_turn_$k.compute$($operand.name$_turned, square, $L$);' \
  '__builtin_memcpy(square, $operand.name$_turned, sizeof square);' --size 20x20x20
is 'finds a NaN that is no extreme of a vector' fault index_spread c/nest.c '"any_of", "above", "is_first"' \
  '"any_of", "above", "above"' --special nan
# shellcheck disable=SC2016
is 'finds a list of the first lane alone' fault along_rows c/nest_lists.c 'ends[$first$ + $width$ - 1]' 'ends[$first$]'
is 'finds terms that a list leaves out' fault looked_up c/nest_lists.c 'nth < end; nth++' 'nth + 1 < end; nth++'
# shellcheck disable=SC2016
is 'finds the last term of a span left out' fault repeated c/nest_points.c 'lathe_within($high$ + 1,' \
  'lathe_within($high$,' --size 7x60x40
# shellcheck disable=SC2016
is 'finds the span of the first lane alone' fault repeated c/nest_lists.c '("%s + %s - 1"):format(first, width)' 'first'
is 'finds rounding errors that are lost' fault softmax_first c/nest.c 'carries = true;' '' --size 200x5

# ---- Vulkan -----------------------------------------------------------------------------------------------------

"$LATHE_BENCH" --list-backends >"$tmp/backends"
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  prepare vulkan
  configured_vulkan() { # configured_vulkan OPTION...
    configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 --disable-sse2 \
      --disable-scalar "$@"
  }
  by_vulkan() { "$bench" --backend vulkan --check-only --timeout 300 "$@"; }
  is 'configures for Vulkan' configured_vulkan --dtypes=f32
  is 'takes the runtime for Vulkan' reuse
  is 'builds kernels for Vulkan' ninja out/bench
  is 'is right by Vulkan' by_vulkan --dtype f32 --size "$sizes"
  is 'configures for Vulkan in f16' configured_vulkan --dtypes=f16 --ops=batch_norm,scaled,picked
  is 'takes the runtime for Vulkan in f16' reuse
  is 'builds kernels for Vulkan in f16' ninja out/bench
  is 'is right by Vulkan in f16' by_vulkan --dtype f16
  prepare vulkan_faults
  checked() { by_vulkan --dtype f32 "$@"; }
  # shellcheck disable=SC2086
  is 'configures for faults of Vulkan' configured_vulkan $few
  is 'takes the runtime for faults of Vulkan' reuse
  is 'finds invocations that are not joined' fault extremes glsl/nest.comp 'local half, all = shape.lanes // 2' \
    'local half, all = shape.lanes // 4'
  is 'finds a workgroup left out' fault extremes glsl/nest.comp 'of < parts; of +=' 'of + 1u < parts; of +=' \
    --size 1x1x20000
  is 'finds an exclusive scan with the place itself by Vulkan' fault scanned glsl/nest.comp \
    '(r.exclusive or false) == exclusive' 'false == exclusive'
  # shellcheck disable=SC2016
  is 'finds a workgroup that forgets what it has scanned' fault scanned glsl/nest.comp \
    'lathe_merge(so_far, $(got(lanes - 1 .. "u")));' '' --size 1x1x2000
  is 'finds an index carried wrongly' fault batch_norm glsl/nest_points.comp '+= carried;' '+= 1;'
  # shellcheck disable=SC2016
  is 'finds elements of a vector at one place' fault stencil glsl/nest_points.comp '= first + e;' '= first;'
  is 'finds vectors past the end of what is gathered' fault extremes glsl/nest_points.comp 'if (e < there)' 'if (true)'
  is 'finds lists of a workgroup that begin anew' fault looked_up glsl/nest_lists.comp 'less++' '' \
    --size v=600xu=3xd=2xa=6xb=7
  # shellcheck disable=SC2016
  is 'finds places of a list that are left out by Vulkan' fault looked_up glsl/nest_lists.comp \
    'from += $shape.places$u' 'from += $(2 * shape.places)u' --size v=30xu=3xd=2xa=60xb=40
  # shellcheck disable=SC2016
  is 'finds the last term of a span left out by Vulkan' fault repeated glsl/nest_points.comp 'clamp($high$ + 1l,' \
    'clamp($high$,'
  is 'finds a square that is not turned over' fault transposed glsl/nest_points.comp '[row + e][column] = ' '[column][row + e] = ' \
    --size 1x40x33
else
  echo 'skipped: nests by Vulkan: there is no device'
fi

# ---- CUDA -------------------------------------------------------------------------------------------------------

if command -v "${CXX:-c++}" >/dev/null; then
  prepare cuda
  is 'builds the driver' emulator_driver
  is 'configures for CUDA' configure_emulator --dtypes=f32
  is 'takes the runtime for CUDA' reuse
  is 'builds kernels for CUDA' ninja out/bench
  is 'is right by CUDA' emulated --dtype f32 --size "$sizes"
  is 'is right by CUDA of blocks that hold what they read' emulated --no-probe --dtype f32 --size 40x4000,30x100x80 \
    --op softmax_first,batch_norm
  # Rows of a warp's lanes, of whole warps and of blocks; blocks that share an axis, side by side and across; columns.
  rows=400x8,70x300,1x9000,3x31,1030x520
  columns=3x40x64,1x2600x9,1x200x900,1x70x33000
  is 'is right by CUDA of scans of rows' emulated --no-probe --dtype f32 --size $rows --op scanned_rows,scanned_back
  is 'is right by CUDA of scans of many rows' emulated --no-probe --dtype f32 --size 2060x520 --op scanned_rows
  is 'is right by CUDA of scans of columns' emulated --no-probe --dtype f32 --size $columns,2600x9,700x300 \
    --op scanned,recurring
  is 'is right by CUDA of scans that go on in turn' emulated --no-probe --dtype f32 --special inf,nan,zero \
    --size 2600x9,700x300,9x2600 --op scanned_rows,recurring
  prepare cuda_faults
  checked() { LD_LIBRARY_PATH=. "$bench" --backend cuda --check-only --dtype f32 "$@"; }
  cp ../cuda/libcuda.so.1 .
  # shellcheck disable=SC2086
  is 'configures for faults of CUDA' configure_emulator $few
  is 'takes the runtime for faults of CUDA' reuse
  is 'finds threads that are not joined' fault extremes cuda/nest.h 'half = LANES / 2' 'half = LANES / 4'
  is 'finds a block left out' fault extremes cuda/nest.h 'of < parts; of +=' 'of + 1 < parts; of +=' \
    --size 1x1x20000
  is 'finds an exclusive scan with the place itself by CUDA' fault scanned cuda/nest_scan.cu \
    '(r.exclusive and "before" or "all")' '("all")'
  is 'finds a lane that the last one does not reach' fault scanned cuda/nest_scan.h 'if (nth >= step)' 'if (nth > step)'
  is 'finds a chunk that forgets the one before' fault scanned_rows cuda/nest_scan.h 'if (ROWS)
        total.clear();
      add' 'total.clear();
      add' --no-probe --size 1x300
  is 'finds a row that goes on with the one before' fault scanned_rows cuda/nest_scan.h 'if (ROWS)
        total.clear();
      add' 'add' --no-probe --size 400x8
  is 'finds a block that forgets what it has scanned' fault scanned cuda/nest_scan.h \
    'shared.before[column] = shared.after[column];' '(void)column;' --no-probe --size 1x9x33000
  is 'finds a tile that forgets those before it' fault scanned_rows cuda/nest_scan.h 'all.merge(shared.ahead[of]);' \
    '(void)of;' --no-probe --size 1x9000
  is 'finds a tile of columns that forgets those before it' fault scanned cuda/nest_scan.h 'all.merge(its[of]);' \
    '(void)of;' --no-probe --size 1x600x9
  is 'finds a tile that forgets what is before a few' fault scanned cuda/nest_scan.h 'if (first > 0)
        all =' 'if (false)
        all =' --no-probe --size 1x2600x9
  is 'finds a part that is not what a point comes to' fault recurring cuda/nest_scan.h \
    'if (!all_sure(sure)) {' 'if (false) {' --no-probe --special zero --size 300x100
  is 'finds a lane that goes on before its turn' fault recurring cuda/nest_scan.h \
    'at == warp && nth == lane' 'nth == lane' --no-probe --special zero --size 2600x9
  is 'finds vectors past the end of a row' fault scanned_rows cuda/nest_scan.h 'if ((int)e < its.there)' 'if (true)' \
    --no-probe --size 3x31
  is 'finds steps that do not wait for each other' fault softmax_first cuda/nest.h \
    '__syncthreads(); /* what it stored the next one reads */' '' --size 40x4000
  is 'finds what is held of another point' fault softmax_first cuda/nest.cu '[nth * (I)HELD + own]' '[nth * (I)HELD]' \
    --no-probe --size 40x4000
  # shellcheck disable=SC2016
  is 'finds squares of other points' fault transposed cuda/nest.cu \
    'nth % (I)lathe_times(dim[$(axis - 1)], SIDE) * (I)SIDE;' 'nth * (I)SIDE;' --size 3x70x80
  is 'finds lists that begin after the first place of a block' fault looked_up cuda/nest_lists.h \
    'less += at < first' 'less += at <= first'
  is 'finds a warp that lists over what the one before has listed' fault looked_up cuda/nest_lists.h 'begin += some' ''
  is 'finds a lane that lists over another' fault looked_up cuda/nest_lists.h 'listed[next + earlier]' 'listed[next]'
  is 'finds lists of a block that begin anew' fault looked_up cuda/nest_lists.h 'end += before;' '' \
    --size v=600xu=3xd=2xa=6xb=7
  # shellcheck disable=SC2016
  is 'finds a list of the first point of a vector alone' fault along_rows cuda/nest.cu \
    'listed.target == of.along and "V" or "1"' '"1"'
  # shellcheck disable=SC2016
  is 'finds the last term of a span left out by CUDA' fault repeated cuda/nest.cu 'lathe_within($high$ + 1,' \
    'lathe_within($high$,'
  is 'finds the span of the first of a vector' fault repeated cuda/nest_points.cu '" + (I)(MINE - 1)"' '""'
  is 'finds points past the end' fault softmax_first cuda/nest.h 'if (lane == 0 && point < points)' 'if (lane == 0)'
else
  echo 'skipped: nests by CUDA on the processor: there is no C++ compiler'
fi

summary
