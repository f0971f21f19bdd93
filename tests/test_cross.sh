#!/bin/sh
# test_cross.sh - kernels for another processor: a few ops of each kind for AArch64, built with a cross compiler and
# checked under an emulator. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

cc=aarch64-linux-gnu-gcc run=qemu-aarch64
skip() { # skip REASON: where tools lack that no build needs
  printf 'SKIPPED cross builds: %s\n' "$1"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  exit $((failed > 0))
}

# What specs say of them holds on every machine.
tree
mkdir "$tmp/build"
cat >"$tmp/tree/specs/few.lua" <<'EOF2'
local function few(name, keys)
  for key, value in pairs {
    doc = "Of the test.", dtypes = { "f32", "f64", "f16", "bf16" }, ulp = { f32 = 4, f64 = 4, f16 = 16, bf16 = 16 },
    sizes = { { "17", n = 17 }, { "1003", n = 1003 } }, inputs = { x = { "n", range = { -5, 5 } } },
    outputs = { y = { "n" } }, variants = { { backend = "cpu", unroll = 2 } },
  } do
    keys[key] = keys[key] or value
  end
  op(name)(keys)
end
local gathered = { variants = { { backend = "cpu" } }, outputs = { y = {} } }

few("few_map", { compute = function(x) return max(exp(x) - 1, 0.5 * x) + floor(x) / sqrt(x * x + 1) end })
few("few_signs", { compute = function(x) return abs(-x) end, ulp = { f32 = 0.5, f64 = 0.5, f16 = 0.5, bf16 = 0.5 } })
few("few_streamed", {
  compute = function(x) return x + x end, variants = { { backend = "simd", store = "streaming" } },
})
few("few_sum", { compute = function(x) return sum(x * x) end, variants = gathered.variants, outputs = gathered.outputs })
few("few_argmax", {
  compute = function(x) return argmax(x) end, variants = gathered.variants, outputs = gathered.outputs,
  ulp = { f32 = 0.5, f64 = 0.5, f16 = 0.5, bf16 = 0.5 },
})
few("few_bytes", {
  dtypes = { "f32" }, inputs = { q = { "n", dtype = "u8", range = { 0, 255 } } }, outputs = { y = { "n", dtype = "i8" } },
  compute = function(q) return (q - 128) * 0.75 end, ulp = { f32 = 4 },
})
few("few_softmax", {
  inputs = { x = { "m", "n", range = { -5, 5 } } }, outputs = { y = { "m", "n" } }, variants = gathered.variants,
  sizes = { { "3x21", m = 3, n = 21 } },
  compute = function(x) local e = exp(x - detach(max(x, "n"))) return e / sum(e, "n") end,
})
few("few_matmul", {
  inputs = { a = { "m", "k", range = { -1, 1 } }, b = { "k", "n", range = { -1, 1 } } }, outputs = { c = { "m", "n" } },
  sizes = { { "9x10x11", m = 9, n = 10, k = 11 } }, variants = gathered.variants,
  compute = function(a, b) return sum(a * b, "k") end,
})
EOF2
is 'for x86-64' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/x86_64" --processor x86_64 index
is 'for AArch64' "$LATHE_GEN" --src "$tmp/tree" --out "$tmp/aarch64" --processor aarch64 index
is 'x86-64 has its own instruction sets' grep -q 'few_map_f32__avx2_u2' "$tmp/x86_64/table.c"
is 'x86-64 has no NEON' sh -c '! grep -q neon "$0"' "$tmp/x86_64/table.c"
is 'AArch64 has NEON' grep -q 'few_map_f32__neon_u2' "$tmp/aarch64/table.c"
is 'AArch64 has none of the others' sh -c '! grep -qE "avx|sse" "$0"' "$tmp/aarch64/table.c"

cd "$tmp/build" || exit 1
command -v "$cc" >/dev/null || skip "there is no $cc (configure --cross-cc=$cc --install-deps installs it)"
../tree/configure --cross-cc="$cc" --disable-cuda --disable-vulkan --enable-neon CFLAGS=-O1 KERNEL_CFLAGS=-O1 \
  ${LATHE_LAUNCHER:+--launcher="$LATHE_LAUNCHER"} >stdout 2>stderr || {
  grep -q 'MISSING, and needed' stderr && skip "configure --cross-cc=$cc lacks $(sed -n '2,/^To/p' stderr | awk '/^  /{ print $1 }' | paste -sd' ')"
}
is 'configures' test -f build.ninja
is 'of x86-64 there is nothing to say' sh -c '! grep -E "OFF.*(avx|sse)" stdout'
is 'builds' ninja out/bench
is 'the generator runs here' out/lathe-gen --help
"$run" --version >/dev/null 2>&1 || skip "there is no $run (Debian: qemu-user)"
"$run" out/bench --list-backends >stdout 2>stderr || skip "$run does not run out/bench: $(head -1 stderr)"
"$run" out/bench --check-only --dtype all >stdout 2>stderr
is 'every kernel is right' test $? = 0
is 'NEON is checked' grep -qE '^92 rows: 92 right, 0 wrong, 0 skipped' stdout
grep -E 'rows:' stdout

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
