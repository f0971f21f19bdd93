#!/bin/sh
# test_meet.sh - sums of what two values come to that is no product (tests/specs-meet), by CUDA on tests/cuda/emulator and
# by Vulkan on whatever device there is; and faults planted in their templates, which the check must find. Needs
# LATHE_SRC, LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
templates_of_its_own
cp "$LATHE_SRC"/tests/specs-meet/* "$tmp/tree/specs/"

shows() { # shows OP TEXT: what its program is
  "$LATHE_GEN" --src "$tmp/tree" --backend "${backend:-cuda}" show "$1" --stage program | tr -s ' \n' ' ' | grep -F -e "$2"
}
is 'finds both values' shows lengths_12 'right = y left = x t1 = left - right term = t1 * t1 r ='
is 'finds that of the result' shows lengths_11_backward 'own = x term = (own - left) * right'
is 'finds what one side makes' shows not_zero 'left = x * w right = y own = v'
is 'finds operands where both sides make several things' shows twice 'left = x right = y own = w term ='
is 'leaves three values alone' shows three 'a = 1 b = abs(w + (x - y))'
refused() { # layers are products
  cat >"$tmp/tree/specs/layers.lua" <<'EOF'
op "layers" {
  doc = "layers", inputs = { x = { "b", "i" }, v = { "h", "i" }, w = { "o", "h" } }, outputs = { y = { "b", "o" } },
  compute = function(x, v, w) return sum(max(sum(abs(x - v), "i"), 0) * w, "h") end,
  sizes = { { "S", b = 5, i = 3, h = 7, o = 2 } }, dtypes = { "f32" }, ulp = 8,
  variants = { { backend = "cuda", implementation = "for_loop" } },
}
EOF
  "$LATHE_GEN" --src "$tmp/tree" --backend cuda show layers 2>"$tmp/refusal"
  code=$?
  rm "$tmp/tree/specs/layers.lua"
  [ $code = 1 ] && grep -F 'found a first product without rows' "$tmp/refusal"
}
is 'takes no layer for one that is no product' refused
backend=scalar
is 'leaves processors alone' shows lengths_12 'a = 1 t1 = x - y'

# Parts of tiles and several; terms that are no whole slices, and that blocks share.
sizes=m=9xn=20xk=13,m=70xn=130xk=17,m=1xn=1xk=1,m=33xn=3xk=700
checked() { LD_LIBRARY_PATH=. "$bench" --backend "$backend" --check-only --no-probe --dtype f32 --size m=70xn=130xk=17 "$@"; }

backend=cuda
if command -v "${CXX:-c++}" >/dev/null; then
  mkdir "$tmp/build" && cd "$tmp/build" || exit 1
  is 'builds the driver' emulator_driver
  is 'configures' configure_emulator
  is 'takes the runtime' reuse
  is 'builds the kernels' ninja out/bench
  is 'is right' emulated --size "$sizes"
  is 'is right in batches' emulated --no-probe --op 'lengths_batched*' --size b=3xm=9xn=20xk=13
  is 'is right of special values' emulated --no-probe --special nan,inf,zero,denormal --size m=9xn=20xk=13
  is 'finds terms past the last' fault not_zero cuda/tiles.h '!C::MEETS || to - k > (size_t)term' 'true'
  is 'finds values of other results' fault lengths_11 cuda/tiles.h 'c.load_own(m + at_m(i / AT_ONCE) + i % AT_ONCE,' \
    'c.load_own(m + at_m(i / AT_ONCE),'
  is 'finds sides that are exchanged' fault not_zero cuda/contract_step.cu 'step.of.meet.a and "a"' 'step.of.meet.b and "a"'
else
  echo 'skipped: CUDA on the processor: there is no C++ compiler'
fi

backend=vulkan
"$LATHE_BENCH" --list-backends >"$tmp/backends"
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  mkdir -p "$tmp/vulkan/out" && cd "$tmp/vulkan" || exit 1
  tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools
  [ ! -d "$tools" ] || ln -s "$tools" out/
  by_vulkan() { "$bench" --backend vulkan --dtype f32,f16 --check-only "$@"; }
  is 'configures for Vulkan' configure CFLAGS=-O1 KERNEL_CFLAGS=-Og --enable-vulkan --disable-cuda --disable-amx \
    --disable-avx512 --disable-avx2 --disable-sse2 --disable-scalar
  is 'takes the runtime for Vulkan' reuse
  is 'builds the kernels for Vulkan' ninja out/bench
  is 'is right by Vulkan' by_vulkan --size "$sizes"
  is 'is right in batches by Vulkan' by_vulkan --no-probe --op 'lengths_batched*' --size b=3xm=9xn=20xk=13
  is 'is right of special values by Vulkan' by_vulkan --no-probe --special nan,inf,zero,denormal --size m=9xn=20xk=13
  is 'finds terms past the last by Vulkan' fault not_zero glsl/contract_tile.comp '"[[dont_unroll]]", "kept"' \
    '"[[dont_unroll]]", shape.bk .. "u"'
  is 'finds values of other results by Vulkan' fault lengths_11 glsl/contract_tile.comp 'or at, C.component(point))' \
    'or 0, C.component(point))'
else
  echo 'skipped: Vulkan: there is no device'
fi

summary
