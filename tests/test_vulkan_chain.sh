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
for build in right faulty; do
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

# ---- planted faults ---------------------------------------------------------------------------------------------

cd "$tmp/faulty" || exit 1
is 'configures for faults' configured --ops=three_layers --dtypes=f32
is 'builds what is to be faulty' ninja out/bench

# fault FROM TO: with that in place of a text, which is there once, kernels are built, and are wrong
fault() {
  template=$tmp/tree/templates/glsl/chain_row.comp
  cp "$template" "$tmp/kept"
  plant "$template" "$1" "$2" && ninja out/bench
  built=$?
  checked --size batch=130xi=70xh=67xl=35xo=9 >"$tmp/output" 2>&1
  status=$?
  cp "$tmp/kept" "$template"
  cat "$tmp/output"
  [ $built = 0 ] && [ $status = 1 ] && grep ' wrong' "$tmp/output"
}
is 'finds a slice left out' fault 'first += $shape.terms$ul' 'first += $(2 * shape.terms)ul'
is 'finds columns left out' fault 'left += $shape.columns$ul' 'left += $(2 * shape.columns)ul'
is 'finds rows of another workgroup' fault 'lathe_group() * $shape.threads$ul' '0ul'
is 'finds a slice written too early' fault '      barrier();
      //@ keep' '      //@ keep'

summary
