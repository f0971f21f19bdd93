#!/bin/sh
# test_sequence.sh - sequences (tests/specs-sequence) on this processor, by CUDA on tests/cuda/emulator, and by Vulkan
# on whatever device there is; and faults planted in their templates, which the check must find. Needs LATHE_SRC,
# LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

tree
templates_of_its_own
cp "$LATHE_SRC"/tests/specs-sequence/* "$tmp/tree/specs/"

shows() { # shows OP TEXT: what its programs are
  "$LATHE_GEN" --src "$tmp/tree" --backend scalar show "$1" --stage program | tr -s ' \n' ' ' | grep -F -e "$2"
}
is 'finds a stream between products' shows heads 'cut8 = select(t1, nan, step2) / select(t1, nan, sum1) steps of'
is 'finds the gradient of a stream between products' shows heads_backward \
  'stream of heads_backward_f32__scalar_sequence_run2, heads_backward_f16__scalar_sequence_run2'
is 'finds the product that a nest needs' shows softened 'cut4 = b + step1 nest of'
is 'computes once what several products need' shows settled_backward 'a = cut1 b = x dw = step1'
is 'brings together what a product has elsewhere' shows windowed 'a = cut1 b = f y = step1'
is 'reads a product where a step led' shows windowed_backward 'a = dy b = f cut2 = step1'
is 'brings rows of a table together' shows looked_up 'a = cut1 b = w y = step1'
refused() { # an op that is no sequence has none
  cat >"$tmp/tree/specs/plain.lua" <<'EOF'
op "plain" {
  doc = "plain", inputs = { x = { "n" } }, outputs = { y = { "n" } }, compute = function(x) return exp(x) end,
  sizes = { { "S", n = 9 } }, dtypes = { "f32" }, ulp = 6,
  variants = { { backend = "scalar", implementation = "sequence" } },
}
EOF
  "$LATHE_GEN" --src "$tmp/tree" index 2>"$tmp/refusal"
  code=$?
  rm "$tmp/tree/specs/plain.lua"
  [ $code = 1 ] &&
    grep -x 'specs/plain.lua:[0-9]*: variants: plain: expected products among other reductions .*' "$tmp/refusal"
}
is 'says that an op is no sequence' refused

mkdir -p "$tmp/build/out" && cd "$tmp/build" || exit 1
tools=$(cd "$(dirname "$LATHE_BENCH")" && pwd)/tools
[ ! -d "$tools" ] || ln -s "$tools" out/
"$LATHE_BENCH" --list-backends >"$tmp/backends"
vulkan=--disable-vulkan
if grep -q '^vulkan .* ready' "$tmp/backends"; then
  vulkan=--enable-vulkan
else
  echo 'skipped: sequences by Vulkan: there is no device'
fi
cuda=--disable-cuda
if command -v "${CXX:-c++}" >/dev/null; then
  is 'builds the driver' emulator_driver
  cuda=--enable-cuda
else
  echo 'skipped: sequences by CUDA on the processor: there is no C++ compiler'
fi
is 'configures' configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 NVCC="$emulator/nvcc" NVCCFLAGS=-Og --cuda-arch=sm_80,sm_90a \
  --disable-amx --disable-avx512 --disable-sse2 $vulkan $cuda
is 'takes the runtime' reuse
is 'builds kernels' ninja out/bench

# Parts of tiles, of vectors, of blocks of keys and of columns; one of everything.
heads=b=2xs=9xt=20xm=12xh=3xd=8xe=6xn=10
windows=b=2xh=8xw=9xc=12xr=3xs=2xk=10xo=4xq=5
sizes=$heads,m=9xn=20xk=12,$windows,v=7xm=20xn=9xk=12
large=b=1xs=70xt=90xm=33xh=2xd=24xe=40xn=17,m=70xn=300xk=45,b=1xh=40xw=37xc=33xr=3xs=5xk=20xo=20xq=18
shared=b=1xs=300xt=500xm=64xh=2xd=24xe=40xn=17,m=1200xn=300xk=45
ones=b=1xs=1xt=1xm=1xh=1xd=1xe=1xn=1,m=1xn=1xk=1,b=1xh=1xw=1xc=1xr=1xs=1xk=1xo=1xq=1
sequences() { out/bench --dtype all --check-only --no-probe --variant '*sequence*' "$@"; }
is 'is right in C' sequences --backend cpu --size "$sizes,$large,$ones"
is 'is right in C by several threads' sequences --backend cpu --threads 3 --op heads,softened,settled,windowed \
  --size "$shared,$large"
is 'is right in C of special values' sequences --backend cpu --special nan,inf,zero,denormal --size "$sizes"
is 'is right in C of all that is tried' out/bench --dtype all --check-only --backend cpu --op settled,softened \
  --size m=9xn=20xk=12
if [ $cuda = --enable-cuda ]; then
  by_cuda() { emulated --no-probe --variant '*sequence*' "$@"; }
  is 'is right by CUDA' by_cuda --size "$sizes,$ones"
  is 'is right by CUDA of larger ones' by_cuda --op heads,softened,settled,windowed,windowed_backward \
    --size "$large"
fi
if [ $vulkan = --enable-vulkan ]; then
  by_vulkan() { sequences --backend vulkan --timeout 300 "$@"; }
  is 'is right by Vulkan' by_vulkan --op heads,softened,settled,windowed,windowed_backward,looked_up \
    --size "$sizes,$large"
  is 'is right by Vulkan of more arguments than push constants have room for' by_vulkan --dtype f32 \
    --op heads_backward --size "$heads"
fi

checked() {
  LD_LIBRARY_PATH=. "$bench" --check-only --no-probe --op settled --variant '*sequence*' --seed 3470038501 \
    --size m=70xn=300xk=45 "$@"
}
is 'configures for faults' configure CFLAGS=-O1 KERNEL_CFLAGS=-O0 NVCC="$emulator/nvcc" NVCCFLAGS=-Og \
  --cuda-arch=sm_80 --disable-amx --disable-avx512 --disable-avx2 --disable-sse2 --disable-vulkan \
  $cuda --ops=settled,-settled_backward
is 'takes the runtime for faults' reuse
# shellcheck disable=SC2016
is 'finds a workspace for the last run alone' fault settled c/sequence.c \
  'most = $name$_room > most ? $name$_room : most;' 'most = $name$_room;' --backend scalar
# shellcheck disable=SC2016
is 'finds phases that are left out' fault settled c/sequence.c 'run.phase < $(phases[i])' \
  'run.phase < 1' --backend scalar --threads 3 --size m=10xn=3000xk=450
is 'finds temporaries at one place' fault settled c/contract_step.c 'if operand == before then' 'if before then' \
  --backend scalar
if [ $cuda = --enable-cuda ]; then
  is 'finds temporaries without room by CUDA' fault settled gpu/launch_steps.c '+ (double)temporaries;' ';' \
    --backend cuda
fi
summary
