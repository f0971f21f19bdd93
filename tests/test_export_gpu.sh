#!/bin/sh
# test_export_gpu.sh - kernels for GPUs that another program takes, as files or by the library: CUDA's on the emulator of
# tests/cuda and by a driver that counts calls, Vulkan's by whatever driver there is. Needs LATHE_SRC, LATHE_GEN and LATHE_BENCH.

. "$LATHE_SRC/tests/check.sh"

strict='-std=c11 -Wall -Wextra -Werror -fvisibility=hidden'
fails() { ! "$@"; }
# shellcheck disable=SC2086
built() { # built OP KIND OPTION...: OP_KIND.c with its test, strictly
  of=$1_$2
  shift 2
  gcc $strict "$@" "$of.c" "${of}_test.c" -lm -ldl -o "$of"
}
faulty() { # faulty OP KIND SED: that fault is planted and found
  cp "$1_$2.c" "$tmp/kept.c"
  sed -i "$3" "$1_$2.c"
  fails cmp -s "$1_$2.c" "$tmp/kept.c" && built "$1" "$2" -O0
  planted=$?
  LD_LIBRARY_PATH=. "./$1_$2" 7 >"$tmp/out"
  status=$?
  mv "$tmp/kept.c" "$1_$2.c"
  cat "$tmp/out"
  [ $planted = 0 ] && [ $status = 1 ] && grep -q WRONG "$tmp/out"
}

# ---- CUDA ---------------------------------------------------------------------------------------

# Rows and their gradient, a map, a reduction, products, and a sequence of two runs. A stream takes the emulator long.
tree
rmdir "$tmp/tree/specs"
cp -R "$LATHE_SRC/specs" "$tmp/tree/specs"
rm -r "$tmp/tree/specs/library"
cat >"$tmp/tree/specs/two_runs.lua" <<'LUA'
op "two_runs" {
  doc = "softmax of a product, over its rows",
  inputs = { a = { "m", "k" }, b = { "k", "n" } }, outputs = { y = { "m", "n" } },
  compute = function(a, b)
    local z = sum(a * b, "k")
    local e = exp(z - detach(max(z, "n")))
    return e / sum(e, "n")
  end,
  sizes = { { "S", m = 3, n = 4, k = 5 } }, dtypes = { "f32" }, ulp = 4,
}
LUA
kinds='softmax gelu sum matmul two_runs dropout layernorm column_sum batch_norm'
if command -v "${CXX:-c++}" >/dev/null; then
  mkdir "$tmp/build"
  cd "$tmp/build" || exit 1
  is 'builds the driver' emulator_driver
  is 'configures' configure_emulator --ops="$(echo "$kinds" | tr ' ' ,)" --dtypes=f32,f16
  is 'takes the generator' reuse
  EXPORT='--dtypes f32'
  export EXPORT
  for op in $kinds; do
    is "exports $op" ninja "export-$op"
  done
  EXPORT='--dtypes f16 --prefix half_'
  is 'in f16' ninja export-softmax
  cp libcuda.so.1 out/export
  cd out/export || exit 1
  for op in $kinds softmax_backward half_softmax; do
    is "$op compiles" built "$op" cuda -O0
    is "$op is right" env LD_LIBRARY_PATH=. "./${op}_cuda" 7
  done
  is 'finds the wrong kernel' faulty softmax cuda 's/c.accesses <= 8 /c.accesses <= 16 /'
  is 'finds an operand in the wrong place' faulty softmax cuda 's/args.buf\[0\] = (void \*)x/args.buf[0] = (void *)y/'
  is 'finds a wrong size' faulty matmul cuda 's/args.dim\[2\] = k;/args.dim[2] = k - (k > 5);/'
  is 'finds launches in another order' faulty two_runs cuda 's/for (int l = 0; l < count \&\& !error; l++)/for (int l = count; l-- > 0 \&\& !error;)/'

  # The library's plans have the same kernels.
  plans() {
    mkdir -p include/lathe && cp "$LATHE_SRC/runtime/library/lathe.h" include/ &&
      cp ../gen/softmax/lathe_softmax.h include/lathe/softmax.h &&
      gcc -std=gnu11 -O1 -Wall -Wextra -Werror -Iinclude "$LATHE_SRC/tests/library/cuda_results.c" ../liblathe.a \
        $LATHE_LIBRARIES -o plans && LD_LIBRARY_PATH=. ./plans
  }
  is 'builds the library' ninja -C ../.. out/liblathe.a
  is 'plans are right' plans

  # A package for Python, whose arrays may be on a GPU.
  include=$("$LATHE_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  python_built() { # python_built: its extension, of what is there
    # shellcheck disable=SC2046 # files
    gcc -std=gnu11 -O0 -Wall -Wextra -Werror -Wno-psabi -shared -fPIC -I"$include" \
      $(find ours/src -name '*.c' ! -name '*_test.c' ! -name _tvm_ffi.c) -ldl -o ours/ours/_kernels.abi3.so
  }
  tvm_built() {
    # shellcheck disable=SC2046 # files
    gcc -std=gnu11 -O0 -Wall -Wextra -Werror -Wno-psabi -shared -fPIC \
      $(find ours/src -name '*.c' ! -name '*_test.c' ! -name _kernels.c) -ldl -o ours/ours/_tvm_ffi.so &&
      cc -shared -fPIC "$LATHE_SRC/tests/python/stand_in_tvm_ffi.c" -o stand_in.so
  }
  tvm_right() { LD_LIBRARY_PATH=. "$LATHE_PYTHON" "$LATHE_SRC/tests/python/tvm.py" ours ours ./stand_in.so cuda; }
  python_right() { LD_LIBRARY_PATH=. "$LATHE_PYTHON" "$LATHE_SRC/tests/python/emulated.py" ours ours; }
  python_faulty() { # python_faulty FILE SED: that fault is planted and found
    cp "ours/src/$1" "$tmp/kept.c"
    sed -i "$2" "ours/src/$1"
    fails cmp -s "ours/src/$1" "$tmp/kept.c" && python_built
    planted=$?
    python_right >"$tmp/out"
    status=$?
    mv "$tmp/kept.c" "ours/src/$1"
    [ $planted = 0 ] && [ $status != 0 ]
  }
  if [ -e "$include/Python.h" ] && "$LATHE_PYTHON" -c 'import numpy' 2>/dev/null; then
    is 'a package' ../lathe-gen --src "$tmp/tree" --out .. export --python ours softmax matmul dropout gelu layernorm \
      --gradient --tvm-ffi --backends cpu,cuda --backend sse2 --dtypes f32 --images ../gen --out ours
    is 'compiles' python_built
    is 'is right' python_right
    is 'compiles for TVM-FFI' tvm_built
    is 'is right for TVM-FFI' tvm_right
    is 'finds a workspace that is not zero' python_faulty _kernels.c 's/make_workspace(c, \&w, room, /make_workspace(c, \&w, 0, /'
    is 'finds other integers' python_faulty _cuda.h 's/(unsigned)bits, 1, stream/(unsigned)bits + 1, 1, stream/'
    is 'finds a context that is left' python_faulty _kernels.c 's/^  cuda_leave(pushed);/  if (0) cuda_leave(pushed);/'
  else
    echo 'skipped: packages for Python: there is no NumPy, or no Python.h'
  fi

  # What a call asks of the driver.
  mkdir counted
  is 'builds what counts' cc -std=gnu11 -Wall -Wextra -Wno-unused-parameter -Werror -shared -fPIC -I"$LATHE_SRC/runtime" \
    -I"$LATHE_SRC/tests" -I"$LATHE_SRC/tests/cuda/driver" "$LATHE_SRC/tests/export/counting.c" \
    "$LATHE_SRC/tests/cuda/driver/device.c" "$LATHE_SRC/tests/cuda/driver/defaults.c" -o counted/libcuda.so.1
  is 'builds what calls' gcc -std=gnu11 -Wall -Wextra -Werror -I. -O0 -g -fsanitize=thread "$LATHE_SRC/tests/export/cuda_calls.c" \
    softmax_cuda.c -ldl -o calls
  is 'only launches' env LD_LIBRARY_PATH=counted ./calls
  mkdir none
  echo 'int nothing;' | cc -shared -fPIC -x c - -o none/libcuda.so.1
  is 'no driver' env LD_LIBRARY_PATH=none ./calls

  # What --raw tells is what the code does. Device code is the emulator's, but for Vulkan's below.
  raw_tells() { # raw_tells KIND CODE OP...
    kind=$1 code=$2
    shift 2
    for op; do
      "$LATHE_PYTHON" "$LATHE_SRC/tests/export/raw_launches.py" "$kind" "$op" raw "$code" counted || return 1
    done
  }
  EXPORT="--raw --backends cuda --dtypes f32 --out $PWD/raw"
  for op in $kinds; do
    is "raw $op" ninja -C ../.. "export-$op"
  done
  # shellcheck disable=SC2086
  is 'tells of launches' raw_tells cuda . $kinds softmax_backward matmul_backward layernorm_backward
  sed -i 's/up(outer, 16)/up(outer, 17)/' raw/softmax.json
  is 'a wrong grid is found' fails raw_tells cuda . softmax
  sed -i 's/"when": "m1 <= 1 /"when": "m1 <= 2 /' raw/matmul.json
  is 'a wrong cut is found' fails raw_tells cuda . matmul

  # Two ops, one of them twice, in a program, and in one translation unit; and nothing but libc.
  cat >two.c <<'C'
#include "gelu_cuda.h"
#include "softmax_cuda.h"
#include "half_softmax_cuda.h"
int main(void) {
  return softmax_f32_cuda(0, 0, 0, 3, 0, 0) == SOFTMAX_CUDA_NULL || gelu_f32_cuda(0, 0, 0, 0) == GELU_CUDA_NULL ||
         half_softmax_f16_cuda(0, 0, 0, 3, 0, 0) == HALF_SOFTMAX_CUDA_NULL;
}
C
  # shellcheck disable=SC2086
  is 'in one program' gcc $strict two.c gelu_cuda.c softmax_cuda.c half_softmax_cuda.c -ldl -o two
  is 'runs' ./two
  is 'in one translation unit' sh -c "cat gelu_cuda.c softmax_cuda.c half_softmax_cuda.c two.c | gcc $strict -x c - -ldl -o two"
  is 'the header in C++' sh -c "echo '#include \"softmax_cuda.h\"' | g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ -I. -"
  gcc -c -O1 softmax_cuda.c
  nm -u softmax_cuda.o | awk '$2 !~ /^(mem(set|cpy)|dl(open|sym|close|error)|pthread_mutex_(lock|unlock)|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_)$/' >"$tmp/found"
  cat "$tmp/found"
  is 'libc alone' test ! -s "$tmp/found"

  # Code that is not what would be generated now is not taken.
  cd ../..
  sed -i 's/lathe_reciprocal/lathe_other/' out/gen/softmax/softmax_f32__cuda.cu
  echo 'float another;' >>out/gen/softmax/softmax_f32__cuda.cu
  stale() { # stale WORDS COMMAND...: refused with these
    words=$1
    shift
    "$@" >"$tmp/out" 2>"$tmp/err"
    [ $? = 1 ] && [ "$(wc -l <"$tmp/err")" = 1 ] && grep -F -e "$words" "$tmp/err"
  }
  is 'an older source' stale 'softmax_f32__cuda.cu: expected what is generated now' "$LATHE_GEN" --src ../tree export softmax \
    --dtypes f32 --backends cuda --out "$tmp/none"
  rm out/gen/softmax/softmax_f32__cuda.image
  is 'no image' stale "'ninja export-softmax' in a build's folder makes it" "$LATHE_GEN" --src ../tree export softmax \
    --dtypes f32 --backends cuda --out "$tmp/none"
  is 'nothing was written' test ! -e "$tmp/none"
else
  echo 'skipped: exported CUDA kernels: there is no C++ compiler'
fi

# ---- Vulkan -------------------------------------------------------------------------------------

mkdir "$tmp/vulkan"
cd "$tmp/vulkan" || exit 1
out=$(dirname "$LATHE_BENCH")
from_build() { # from_build OP OPTION...: by the images of the build under test
  eval "set -- $(head -n 1 "$out/generator-flags")" '"$@"'
  "$LATHE_GEN" --src "$LATHE_SRC" "$@"
}
if [ ! -e "$out/gen/softmax/softmax_f32__vulkan.image" ]; then
  echo 'skipped: exported Vulkan kernels: the build has no softmax for Vulkan in f32'
elif ! echo '#include <vulkan/vulkan_core.h>' | gcc -fsyntax-only -x c - 2>/dev/null; then
  echo 'skipped: exported Vulkan kernels: there is no vulkan/vulkan_core.h'
else
  for op in softmax matmul rmsnorm_backward; do
    [ -e "$out/gen/$op/${op}_f32__vulkan.image" ] || continue
    is "exports $op" from_build export "$op" --dtypes f32 --backends vulkan --images "$out/gen"
    is "$op compiles" built "$op" vulkan -O0
    "./${op}_vulkan" 7 >"$tmp/out" 2>&1
    status=$?
    if [ $status = 2 ]; then
      sed 's/^/skipped: /' "$tmp/out"
    else
      is "$op is right" cat "$tmp/out" && is "$op is right" test $status = 0
    fi
  done
  # Arguments that push constants have no room for.
  if [ "$status" != 2 ] && command -v glslangValidator >/dev/null; then
    {
      printf 'op "many" {\n  doc = "a sum of 16",\n  inputs = {'
      for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do printf ' x%s = { "n" },' "$i"; done
      printf ' },\n  outputs = { y = { "n" } },\n'
      names=x1
      for i in 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do names="$names, x$i"; done
      printf '  compute = function(%s) return %s end,\n' "$names" "$(echo "$names" | sed 's/,/ +/g')"
      printf '  sizes = { { "S", n = 5 } }, dtypes = { "f32" }, ulp = 20,\n}\n'
    } >"$tmp/tree/specs/many.lua"
    is 'generates' "$LATHE_GEN" --src "$tmp/tree" --backend vulkan --dtypes f32 expand many
    is 'compiles' glslangValidator --quiet -g0 -S comp --target-env vulkan1.2 -o out/gen/many/many_f32__vulkan.image \
      out/gen/many/many_f32__vulkan.comp
    is 'many arguments' "$LATHE_GEN" --src "$tmp/tree" export many --dtypes f32 --backends vulkan
    is 'compiles' built many vulkan -O1
    is 'is right' ./many_vulkan 7
    is 'raw' "$LATHE_GEN" --src "$tmp/tree" export many --raw --dtypes f32 --backends vulkan --out raw
    is 'tells of launches' "$LATHE_PYTHON" "$LATHE_SRC/tests/export/raw_launches.py" vulkan many raw . .
    is 'finds arguments elsewhere' faulty many vulkan 's/on->update(commands, to, at/on->update(commands, to, at + 8/'
  fi
  for op in softmax rmsnorm_backward matmul; do
    [ -e "$out/gen/$op/${op}_f32__vulkan.image" ] || continue
    is "raw $op" from_build export "$op" --raw --dtypes f32 --backends vulkan --images "$out/gen" --out raw
    is 'tells of launches' "$LATHE_PYTHON" "$LATHE_SRC/tests/export/raw_launches.py" vulkan "$op" raw . .
  done
  valid() { for file; do spirv-val --target-env vulkan1.2 "$file" || return 1; done; }
  is 'modules of one kernel' valid raw/*.spv
  if [ "$status" != 2 ]; then
    is 'finds a wrong size' faulty softmax vulkan 's/pushed.dim\[1\] = cols;/pushed.dim[1] = cols - (cols > 5);/'
    is 'finds the wrong kernel' faulty softmax vulkan 's/p->constant\[0\], &count/0, \&count/'
  fi
  is 'the header in C++' sh -c "echo '#include \"softmax_vulkan.h\"' | g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -x c++ -I. -"
fi

# ---- what is refused ----------------------------------------------------------------------------

refuses() { # refuses TEXT OPTION...: one line with this text
  wanted=$1
  shift
  "$LATHE_GEN" --src "$LATHE_SRC" export "$@" --out "$tmp/none" >"$tmp/out" 2>"$tmp/err"
  [ $? = 2 ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -e "$tmp/none" ] && grep -F -e "$wanted" "$tmp/err"
}
is 'an unknown kind' refuses "--backends: expected 'cpu', 'cuda' or 'vulkan', found 'cuca' (did you mean 'cuda'?)" \
  softmax --backends cpu,cuca
is 'raw of a processor' refuses '--raw: expected --backends cuda, vulkan or both, found cpu' softmax --raw
is 'no variant' refuses "'softmax' has no kernel for cuda of --variants" softmax --backends cuda --variants 'gelu*'

summary
