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
tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools
for build in right matrix faulty; do
  mkdir -p "$tmp/$build/out"
  [ ! -d "$tools" ] || ln -s "$tools" "$tmp/$build/out/"
done
configured() { # configured OPTION...: with Vulkan alone
  configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 --enable-vulkan --disable-cuda --disable-avx512 --disable-avx2 \
    --disable-sse2 --disable-scalar "$@" && reuse
}
checked() { out/bench --backend vulkan --dtype all --check-only --timeout 300 "$@"; }

cd "$tmp/right" || exit 1
is 'configures' configured
is 'builds the kernels' ninja out/bench
is 'is right' checked
is 'is right for one row, and for many' checked --op one_layer --size batch=1xi=7xo=5,batch=300xi=5xo=70
is 'is right with special values' checked --dtype f32 --special nan,inf,zero,denormal --size S

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
  is 'is right by matrices, of more rows' checked --implementation coopmat --op one_layer \
    --size batch=2100xi=19xo=140,batch=8200xi=9xo=136
  is 'is right by matrices, of few columns' checked --implementation coopmat --op three_layers \
    --size batch=2100xi=9xh=30xl=40xo=7
fi

# ---- planted faults ---------------------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configured --ops=three_layers --dtypes=f32
is 'builds what is to be faulty' ninja out/bench

# fault FILE FROM TO: with that in place of a text, which is there once, kernels are built, and are wrong
fault() {
  template=$tmp/tree/templates/glsl/$1
  cp "$template" "$tmp/kept"
  plant "$template" "$2" "$3" && ninja out/bench
  built=$?
  checked --size batch=130xi=70xh=67xl=35xo=9 >"$tmp/output" 2>&1
  status=$?
  cp "$tmp/kept" "$template"
  cat "$tmp/output"
  [ $built = 0 ] && [ $status = 1 ] && grep ' wrong' "$tmp/output"
}
is 'finds a slice left out' fault chain_row.comp 'first += $shape.terms$ul' 'first += $(2 * shape.terms)ul'
is 'finds columns left out' fault chain_row.comp 'left += $shape.columns$ul' 'left += $(2 * shape.columns)ul'
is 'finds rows of another workgroup' fault chain_row.comp 'lathe_group() * $shape.threads$ul' '0ul'
is 'finds a slice written too early' fault chain_row.comp '      barrier();
      //@ keep' '      //@ keep'

if [ "$emulated" ]; then
  is 'configures for faults of matrices' configured --ops=three_layers --dtypes=f16
  is 'takes the implementation alone' sed -i '/"for_loop"/d' "$tmp/tree/specs/chain.lua"
  is 'is right without a fault' checked
  is 'finds a half left out' fault chain_layers.comp 'f16vec2(lost)' 'f16vec2(0.0)'
  is 'finds rows that stay scaled' fault chain_layers.comp 'a.plain and "" or (" * lathe_uns' 'true and "" or (" * lathe_uns'
  is 'finds a row whose largest number is not looked at' fault chain_layers.comp 'if (point < there)' 'if (point < 1u)'
  is 'finds a slice of matrices left out' fault chain_layers.comp 'first > 0ul' 'first > 0ul && first != 64ul'
  is 'finds the rows of another workgroup' fault chain_layers.comp 'lathe_group() * $shape.bm$ul' '0ul'
  is 'finds a slice of matrices written too early' fault chain_layers.comp '      barrier();
      //@ keep(step, a)' '      //@ keep(step, a)'
fi

summary
