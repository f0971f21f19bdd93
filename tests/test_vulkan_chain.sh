#!/bin/sh
# test_vulkan_chain.sh - chains of small contractions by the GLSL kernels, on whatever device there is; Mesa's lavapipe
# will do: depths, activations, gradients, orders of axes, rows and widths that fill no slice; and faults planted in
# their template, which the check must find. Needs LATHE_SRC and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

"$LATHE_BENCH" --list-backends >"$tmp/backends"
if ! grep -q '^vulkan .* ready' "$tmp/backends"; then
  echo 'skipped: Vulkan chains: there is no device'
  summary
  exit
fi

tree
cp "$LATHE_SRC/tests/specs-chain/chain.lua" "$tmp/tree/specs/"
templates_of_its_own

# Loops over an invocation's results stay loops in this copy: lavapipe takes twice as long to compile what is unrolled.
# Those over the terms of a row do not, for lavapipe ends a kernel's loops after 65,535 rounds.
rolled() (
  cd "$tmp/tree/templates/glsl" &&
    sed -i 's/\[\[unroll\]\]/[[dont_unroll]]/' contract_tile.comp contract_thin.comp &&
    sed -i '/\$many\$u; n/s/\[\[unroll\]\]/[[dont_unroll]]/' contract_step.comp &&
    sed -i '/\$vecs\$u; nth++) {$/s/\[\[unroll\]\]/[[dont_unroll]]/' chain_row.comp &&
    grep -q 'dont_unroll.*\$many\$u; n' contract_step.comp && grep -q 'dont_unroll.*\$vecs\$u; nth++' chain_row.comp
)
is 'rolls loops' rolled
tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools
for build in right matrix vector faulty; do
  mkdir -p "$tmp/$build/out"
  [ ! -d "$tools" ] || ln -s "$tools" "$tmp/$build/out/"
done
configured() { # configured OPTION...: with Vulkan alone
  configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 \
    --disable-sse2 --disable-scalar "$@" && reuse
}
checked() { "$bench" --backend vulkan --dtype all --check-only --timeout 300 "$@"; }

cd "$tmp/right" || exit 1
is 'configures' configured
is 'builds the kernels' ninja out/bench
is 'is right' checked
is 'is right for one row, and for many' checked --no-probe --op one_layer --size batch=1xi=7xo=5,batch=300xi=5xo=70
is 'is right with special values' checked --no-probe --dtype f32 --special nan,inf,zero,denormal --size S

# ---- products of matrices ---------------------------------------------------------------------------------------

# A device that has none gets kernels that make them of numbers, for subgroups of 8, in slices that fit into its shared
# memory.
emulate() {
  templates=$tmp/tree/templates/glsl
  sed -i 's/needs = { matrix = MATRIX_NEEDS }, *$//; s/features = { matrix = { "VULKAN_MATRIX" } },//' $templates/backend.lua
  sed -i 's/subgroups = 8, side = { 16, 16, 16 }/threads = 64/; s/256, 64)/128, 32)/; s/256, 32)/128, 16)/; s/64, 128, 8, 64, 32)/32, 128, 8, 32, 16)/' \
    $templates/schedule_chain.lua
  sed -i 's/coopmat<[^>]*>(0\.0)/emulated_of(0.0)/; s/coopmat<[^>]*>/emulated/; s/\[\[unroll\]\]/[[dont_unroll]]/
    /^layout(constant_id = [567])/d' $templates/chain_layers.comp
  sed -i "/use \"kernel.comp\"/r $LATHE_SRC/tests/vulkan/matrices.comp" $templates/chain_matrix.comp
}
"$LATHE_BENCH" --list-devices >"$tmp/devices" 2>&1
emulated=
if grep -A3 'llvmpipe' "$tmp/devices" | grep 'subgroups of 8,' >/dev/null; then
  emulated=yes
  cd "$tmp/matrix" || exit 1
  is 'takes matrices of its own' emulate
  is 'configures for matrices' configured --ops=three_layers,residual,one_layer* --dtypes=f16
  is 'builds kernels of matrices' ninja out/bench
  is 'is right by matrices' checked --implementation coopmat
  is 'is right by matrices, of more rows' checked --no-probe --implementation coopmat --op one_layer \
    --size batch=2100xi=19xo=140,batch=8200xi=9xo=136
  is 'is right by matrices, of few columns' checked --no-probe --implementation coopmat --op three_layers \
    --size batch=2100xi=9xh=30xl=40xo=7
fi

# ---- products of vectors ----------------------------------------------------------------------------------------

# The same of vectors, in workgroups that fit into as little shared memory.
emulate_vectors() {
  templates=$tmp/tree/templates/glsl
  sed -i 's/needs = { coopvec = VECTOR_NEEDS },$//; s/features = { coopvec = { "VULKAN_VECTOR" } },//' $templates/backend.lua
  sed -i 's/vectors(2048, 32, 8, 256, { 16, 32,/vectors(100, 16, 2, 128, { 16,/
    s/vectors(nil, 128, 1, 64, { 16, 32,/vectors(nil, 64, 1, 64, { 16,/' $templates/schedule_chain.lua
  sed -i 's/coopvecNV<float16_t, \([^>]*\)>/emulated\1/; s/sums += made;/emulated_add(sums, made)/
    /for (uint nth = 0u; nth < \$wide\$u/d; s/sums\[nth\] = float16_t(0.0);/emulated_clear(sums)/
    s/\[\[unroll\]\]/[[dont_unroll]]/' $templates/chain_vectors.comp
  sed -i "/use \"kernel.comp\"/r $LATHE_SRC/tests/vulkan/vectors.comp" $templates/chain_vector.comp
}
by_vectors() { checked --implementation coopvec "$@"; }
cd "$tmp/vector" || exit 1
is 'takes vectors of its own' emulate_vectors
is 'configures for vectors' configured --ops=three_layers,residual,one_layer* --dtypes=f16
is 'builds kernels of vectors' ninja out/bench
is 'is right by vectors' by_vectors
is 'is right by vectors, of matrices in whole parts' by_vectors --no-probe --op three_layers,residual \
  --size batch=70xi=64xh=64xl=192xo=48,batch=40xseq=3xi=64xh=144
is 'is right by vectors, of what parts leave over' by_vectors --no-probe --op three_layers \
  --size batch=130xi=136xh=80xl=72xo=9
is 'is right by vectors, of matrices across' by_vectors --no-probe --op one_layer_backward --size batch=70xi=144xo=64
is 'is right by vectors, with special values' by_vectors --no-probe \
  --op one_layer,one_layer_backward --special nan,inf,zero \
  --size batch=20xi=72xo=80

# ---- planted faults ---------------------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configured --ops=three_layers --dtypes=f32
is 'builds what is to be faulty' ninja out/bench

how=for_loop sizes=batch=130xi=70xh=67xl=35xo=9
wrong() { # wrong FILE FROM TO: that fault is found
  fault three_layers "glsl/$1" "$2" "$3" --implementation $how --size $sizes
}
is 'finds a slice left out' wrong chain_row.comp 'first += $shape.terms$ul' 'first += $(2 * shape.terms)ul'
is 'finds columns left out' wrong chain_row.comp 'left += $shape.columns$ul' 'left += $(2 * shape.columns)ul'
is 'finds rows of another workgroup' wrong chain_row.comp 'lathe_group() * $shape.threads$ul' '0ul'
is 'finds a slice written too early' wrong chain_row.comp '      barrier();
      //@ keep' '      //@ keep'

if [ "$emulated" ]; then
  is 'configures for faults of matrices' configured --ops=three_layers --dtypes=f16
  how=coopmat
  is 'builds what is to be faulty, of matrices' ninja out/bench
  is 'is right without a fault' checked --implementation $how
  is 'finds a half left out' wrong chain_layers.comp 'f16vec2(lost)' 'f16vec2(0.0)'
  is 'finds rows that stay scaled' wrong chain_layers.comp \
    'a.plain and "" or (" * lathe_uns' 'true and "" or (" * lathe_uns'
  is 'finds a row whose largest number is not looked at' wrong chain_layers.comp 'if (point < there)' 'if (point < 1u)'
  is 'finds a slice of matrices left out' wrong chain_layers.comp 'first > 0ul' 'first > 0ul && first != 64ul'
  is 'finds the rows of another workgroup' wrong chain_layers.comp 'lathe_group() * $shape.bm$ul' '0ul'
  is 'finds a slice of matrices written too early' wrong chain_layers.comp '      barrier();
      //@ keep(step, a)' '      //@ keep(step, a)'
fi

is 'configures for faults of vectors' configured --ops=three_layers --dtypes=f16
is 'builds what is to be faulty, of vectors' ninja out/bench
how=coopvec sizes=batch=130xi=136xh=80xl=64xo=9
is 'is right by vectors without a fault' checked --implementation $how --size $sizes
is 'finds a part of a matrix left out' wrong chain_vectors.comp 'first < terms;' 'first + 64ul < terms;'
is 'finds terms left over left out' wrong chain_vectors.comp '<= n_count ? terms : 0ul' '<= n_count ? k_count : 0ul'
is 'finds columns left over left out' wrong chain_vectors.comp \
  '$wide$ul <= n_count ? terms : 0ul' '0ul <= n_count ? terms : 0ul'
is 'finds vectors of another workgroup' wrong chain_vectors.comp 'lathe_group() * $shape.bm$ul' '0ul'
is 'finds vectors written too early' wrong chain_vectors.comp '    barrier();
    //@ keep(' '    //@ keep('
is 'finds sums that nobody waits for' wrong chain_vectors.comp '* 16u);
  barrier();' '* 16u);'

summary
