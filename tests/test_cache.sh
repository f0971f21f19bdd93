#!/bin/sh
# test_cache.sh - with ccache as launcher, a second copy of the sources in another folder finds all that it would
# compile, CUDA kernels too, and makes the same program of it. So does one on another machine, of what others compiled by
# shares: machines are folders with caches of their own, and a remote in common. Needs LATHE_SRC.

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
unset CCACHE_DISABLE CCACHE_BASEDIR CCACHE_DEPEND CCACHE_NODIRECT CCACHE_RECACHE CCACHE_READONLY
: >"$CCACHE_CONFIGPATH"

build() { # build FOLDER [TARGET]: a copy of the sources with two ops there, and bench of it, or the target
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
    ninja "${2:-out/bench}"
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

# ---- by shares ------------------------------------------------------------------------------------

export CCACHE_REMOTE_STORAGE="file:$tmp/remote"
machine() { # machine NAME TARGET: built there, of nothing but what the remote has
  CCACHE_DIR="$tmp/cache-$1" build "$tmp/machine $1" "$2"
}
on() { # on NAME COMMAND...: there
  name=$1
  shift
  (cd "$tmp/machine $name/build" && CCACHE_DIR="$tmp/cache-$name" "$@")
}
is 'the first of two shares' machine one shard-1/2
is 'the second of two' machine two shard-2/2
is 'a share is no program' test ! -e "$tmp/machine one/build/out/bench"
is 'a share twice is nothing to do' test "$(on two ninja shard-2/2)" = 'ninja: no work to do.'
is 'another machine builds all' machine three out/bench
CCACHE_DIR="$tmp/cache-three"
is 'it compiles nothing' test "$(counted cache_miss)" = 0
is 'it has all from the remote' test "$(counted remote_storage_hit)" -gt 20
is 'it makes the same program' cmp "$tmp/one/build/out/bench" "$tmp/machine three/build/out/bench"
# A share that is cut short loses what it had not compiled. Other machines are those folders with new caches.
rm -rf "$tmp/remote"
anew() { # anew FOLDER CACHE COMMAND...: there, where nothing is built
  cd "$tmp/$1/build" && CCACHE_DIR="$tmp/cache-$2" || return
  shift 2
  ninja -t clean >/dev/null && ccache -z >/dev/null && "$@"
}
cut_short() { # ninja is stopped after some files
  ninja out/lathe-gen && ninja out/gen/shards/2 || return
  ninja -j 1 shard-2/2 >log 2>&1 &
  while [ "$(grep -c 'CC out\|NVCC out' log)" -lt 3 ]; do sleep 0.05; done
  kill -INT $!
  ! wait $!
}
is 'the first share once more' anew 'machine one' five ninja shard-1/2
is 'the second is cut short' anew 'machine two' six cut_short
is 'another machine builds all the same' anew 'machine three' seven ninja out/bench
CCACHE_DIR="$tmp/cache-seven"
missed=$(counted cache_miss)
is "it compiles $missed files, a part of the other share" test "$missed" -gt 0 -a "$missed" -lt "$misses"
is 'and makes the same program' cmp "$tmp/one/build/out/bench" "$tmp/machine three/build/out/bench"

CCACHE_REMOTE_STORAGE=redis://127.0.0.1:1
is 'a server that is down is done without' anew 'machine three' seven ninja out/bench
is 'and the same program comes of it' cmp "$tmp/one/build/out/bench" "$tmp/machine three/build/out/bench"
unset CCACHE_REMOTE_STORAGE

# Every count of shares is disjoint and whole, by the last build's seconds as well.
shares() { # shares COUNT: what all of them build
  rm -f "out/gen/shards/$1"
  for nth in $(seq "$1"); do
    ninja "shard-$nth/$1" >/dev/null || echo "shard-$nth/$1 fails"
  done
  sed -n 's/^    \(.*\)$/\1/p' "out/gen/shards/$1" | sed 's/ \$$//' | sort
}
cd "$tmp/one/build" || exit 1
shares 1 >"$tmp/whole"
is 'one share is all kernels' test "$(grep -c '^out/gen/' "$tmp/whole")" -ge "$(find out/gen -name '*.o' ! -name '*host.o' ! -name 'own.o' | wc -l)"
for count in 2 3 4 5 6 7 8 9; do
  shares $count >"$tmp/shares"
  is "$count shares are disjoint and whole" cmp "$tmp/whole" "$tmp/shares"
  is "$count shares are there" test "$(grep -c '^build shard-' "out/gen/shards/$count")" = $count
done
dear=out/gen/twice/twice_reference.o
cp out/.ninja_log log
awk -F '\t' -v OFS='\t' -v dear="$dear" '$4 == dear { $2 = $1 + 1000000 } { print }' log >out/.ninja_log
is 'what was dear is a share of its own' test "$(rm -f out/gen/shards/2; ninja shard-1/2 >/dev/null; sed -n 3p out/gen/shards/2)" = "    $dear"
cp log out/.ninja_log
is 'more shares than there are targets for' sh -c '! ninja shard-1/65 2>"$1" && grep -q "unknown target" "$1"' - "$tmp/said"
is 'nor by the generator' sh -c '! out/lathe-gen --src ../ --out out/gen shards 65 2>"$1" && grep -q "expected a number from 1 to 64, found .65." "$1"' - "$tmp/said"

# A launcher for nvcc alone, and none for it.
launchers() { # launchers OPTION...: what stands before cc and nvcc
  mkdir -p "$tmp/one/launchers" && cd "$tmp/one/launchers" && ../configure --disable-vulkan "$cuda" "$@" >/dev/null &&
    sed -n 's/^launcher = //p; s/^nvcc_launcher = //p' build.ninja
}
is 'one for C alone' test "$(launchers --launcher=env --launcher-nvcc=)" = 'env'
if [ "$cuda" = --enable-cuda ]; then
  is 'ccache for nvcc alone' test "$(launchers --launcher=env --launcher-nvcc=ccache | tail -n 1)" = \
    'CCACHE_COMPILERCHECK=content CCACHE_NOHASHDIR=1 ccache'
fi
is 'one that is not there' sh -c '! ../configure --launcher-nvcc=nothing-here >"$1" 2>&1 && grep -q "does not start a compiler" "$1"' - "$tmp/said"

summary
