#!/bin/sh
# test_cache.sh - with ccache as launcher, a second copy of the sources in another folder finds all that it would
# compile, CUDA kernels too, and makes the same program of it. Needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

if ! command -v ccache >/dev/null; then
  echo 'skipped: builds out of a cache: there is no ccache'
  summary
  exit
fi
cuda=''
if command -v "${NVCC:-nvcc}" >/dev/null; then cuda=--enable-cuda; else
  echo 'skipped: CUDA kernels out of a cache: there is no nvcc'
  cuda=--disable-cuda
fi
export CCACHE_DIR="$tmp/cache" CCACHE_CONFIGPATH="$tmp/ccache.conf"
unset CCACHE_DISABLE CCACHE_BASEDIR CCACHE_NODIRECT CCACHE_RECACHE CCACHE_READONLY
: >"$CCACHE_CONFIGPATH"

build() { # build FOLDER: a copy of the sources with two ops there, and bench of it
  mkdir -p "$1/specs"
  for name in configure build.ninja.in gen templates runtime tests; do
    cp -r "$LATHE_SRC/$name" "$1/"
  done
  cat >"$1/specs/two.lua" <<'SPEC'
local function map(name, f)
  op(name) {
    doc = name, inputs = { x = { "n" } }, outputs = { y = { "n" } }, compute = f, sizes = { { "S", n = 100 } },
    dtypes = { "f32" }, ulp = 2, variants = { { backend = { "scalar", "avx2", "cuda" } } },
  }
end
map("twice", function(x) return x + x end)
op "centred" {
  doc = "rows", inputs = { x = { "m", "n" } }, outputs = { y = { "m", "n" } },
  compute = function(x) return x - mean(x, "n") end, sizes = { { "S", m = 10, n = 10 } }, dtypes = { "f32" }, ulp = 2,
  variants = { { backend = { "scalar", "avx2", "cuda" } } },
}
SPEC
  mkdir "$1/build"
  (
    cd "$1/build" || exit 1
    ../configure --launcher=ccache CFLAGS='-O0 -g' KERNEL_CFLAGS=-O0 --disable-vulkan "$cuda" --cuda-arch=sm_80,sm_90a
    ccache -z
    ninja out/bench
  )
}
counted() { # counted NAME: how often ccache says that it was so, since the last build began
  ccache --print-stats | awk -v name="$1" '$1 == name { print $2 }'
}

is 'builds' build "$tmp/one"
misses=$(counted cache_miss)
is 'caches all of it' test "$misses" -ge "$(cd "$tmp/one/build" && ninja -t commands out/bench | grep -c 'ccache ')"
is 'has nothing left to do' test "$(cd "$tmp/one/build" && ninja out/bench)" = 'ninja: no work to do.'
is 'builds again elsewhere' build "$tmp/the other folder"
is 'compiles nothing' test "$(counted cache_miss)" = 0
is 'finds all of it' test "$(counted direct_cache_hit)" = "$misses"
is 'asks for nothing that no cache has' test "$(counted called_for_link)$(counted unsupported_code_directive)$(
  counted unsupported_source_language)$(counted bad_compiler_arguments)" = 0000
is 'the same program' cmp "$tmp/one/build/out/bench" "$tmp/the other folder/build/out/bench"

summary
