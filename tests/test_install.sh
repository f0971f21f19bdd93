#!/bin/sh
# test_install.sh - what `ninja install` puts where is all that specs of one's own need, and programs that call kernels;
# `ninja uninstall` takes it away. Runs in the build folder, ninja's own commands but without ninja; needs LATHE_SRC.

. "$LATHE_SRC/tests/check.sh"

build=$PWD

# run RULE: what ninja would run for it.
run() {
  DESTDIR=$tmp/root sh -c "$(ninja -t commands "$1" | tail -n 1)"
}

is 'installs the files' run install
bin=$(dirname "$(find "$tmp/root" -name lathe-gen)")
prefix=${bin%/bin}

mkdir -p "$tmp/project/specs"
cat >"$tmp/project/specs/own.lua" <<'SPEC'
op "own" {
  doc = "a spec of one's own",
  inputs = { x = { "rows", "cols" } },
  outputs = { y = { "rows", "cols" } },
  compute = function(x) return exp(x - max(x, "cols")) end,
  sizes = { { "1K", rows = 10, cols = 100 } },
  dtypes = { "f32", "f16" },
  ulp = 4,
  variants = { { backend = { "scalar", "sse2" } } },
}
SPEC
cd "$tmp/project" || exit 1
is 'generates' "$bin/lathe-gen" --out made all
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
for source in table.c own/own_reference.c own/own__scalar.c own/own__sse2.c; do
  # shellcheck disable=SC2046 # words
  is 'finds the headers' cc $(pkg-config --cflags lathe-gen) -Wall -Werror -fsyntax-only "made/$source"
done
is 'exports' "$bin/lathe-gen" export own --out made
is 'what needs no header' sh -c 'cc made/own.c made/own_test.c -lm -o made/tested && made/tested'

mkdir "$tmp/empty" && cd "$tmp/empty" || exit 1
is 'exports what is installed' "$bin/lathe-gen" export softmax --dtypes f32
is 'is right in an empty folder' sh -c 'cc -O1 softmax.c softmax_test.c -lm && ./a.out'
# README's own spec, beside those that come with lathe, and its C.
sed -n '/^op "softrelu"/,/^}/p' "$LATHE_SRC/README.md" >op.lua
is 'README has a spec' grep -q compute op.lua
mkdir -p described && cp -R "$prefix/share/lathe/specs" described/
{ echo 'local vector = include "include/vector.lua"' && cat op.lua; } >described/specs/softrelu.lua
is 'exports it' "$bin/lathe-gen" --src described export softrelu --dtypes f32
is 'it is right' sh -c 'cc -O1 softrelu.c softrelu_test.c -lm && ./a.out'
sed -n '/^#include "softmax.h"/,/^```/p' "$LATHE_SRC/runtime/library/README.md" | sed '$d' >file.c
is "README's program compiles" cc -include stdio.h file.c softmax.c -o file
is "README's program runs" test "$(./file)" = '0.0900306 0.244728 0.665241'
cd "$tmp/project" || exit 1

# ---- programs that call kernels -----------------------------------------------------------------

programs=$LATHE_SRC/tests/library
if [ -n "$LATHE_SANITIZE" ]; then
  echo 'skipped: programs with the library: its objects have sanitizers of their own'
elif [ ! -e "$prefix/include/lathe/softmax.h" ]; then
  echo 'skipped: programs with the library: the build has no softmax for processors'
else
  strict='-std=c99 -pedantic -Wall -Wextra -Werror'
  # shellcheck disable=SC2046,SC2086 # words
  build() { gcc $strict "$programs/$1.c" $(pkg-config $2 --cflags --libs lathe) $3 -o "$1"; }
  with() { LD_LIBRARY_PATH=$prefix/lib "$@"; }
  says() { [ "$("$@")" = '0.5 0.5' ]; }
  is 'nine lines' test "$(grep -c . "$programs/nine.c")" -le 12
  is 'builds by pkg-config' build nine ''
  is 'runs' says with ./nine
  is 'takes the shared library' sh -c 'ldd nine | grep liblathe.so.0'
  is 'one op' build one ''
  is 'runs' with ./one
  is 'builds by pkg-config --static' build nine --static -static
  is 'runs' says ./nine
  is 'one op, static' build one --static -static
  is 'runs' ./one
  is 'builds what opens it' gcc -D_DEFAULT_SOURCE -std=gnu99 -I"$prefix/include" "$programs/opened.c" -ldl -o opened
  is 'opens it' ./opened "$prefix/lib/liblathe.so.0"
  is 'not opened' sh -c '! ./opened ./no_such_library'
  shown() { nm -D --defined-only "$prefix/lib/liblathe.so.0" | awk '$3 !~ /^lathe_/ { print $3 }'; }
  is 'shows its own names alone' test -z "$(shown)"
  hidden() { nm -D --defined-only "$prefix/lib/liblathe.so.0" | awk '{ print $3 }' |
    grep -E '^lathe_(choose|find_|fill|say|kernel|call_now|run_on|run_by|all_|bytes|parts)'; }
  is 'hides what is the library'\''s own' test -z "$(hidden)"
  needed() { readelf -d "$prefix/lib/liblathe.so.0" | awk '/NEEDED/ && !/libc[.]|libm[.]|ld-linux/'; }
  is 'needs libc alone' test -z "$(needed)"
  if command -v g++ >/dev/null; then
    # shellcheck disable=SC2046
    is 'builds as C++' g++ -std=c++11 -pedantic -Wall -Wextra -Werror -x c++ "$programs/nine.c" -x none \
      $(pkg-config --cflags --libs lathe) -o nine
    is 'runs' says with ./nine
  else
    echo 'skipped: C++: there is no g++'
  fi
  if command -v cmake >/dev/null; then
    mkdir cmake
    cp "$programs/nine.c" "$programs/one.c" cmake
    cat >cmake/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.10)
project(user C)
find_package(lathe 0.1 REQUIRED)
add_executable(shared nine.c)
target_link_libraries(shared lathe::lathe)
add_executable(alone one.c)
target_link_libraries(alone lathe::static)
CMAKE
    is 'configures by CMake' cmake -S cmake -B cmake/out -DCMAKE_PREFIX_PATH="$prefix"
    is 'builds by CMake' cmake --build cmake/out
    is 'runs' says cmake/out/shared
    is 'runs' cmake/out/alone
    is 'refuses a later version' sh -c "! sed -i 's/lathe 0.1/lathe 99/' cmake/CMakeLists.txt ||
      ! cmake -S cmake -B cmake/other -DCMAKE_PREFIX_PATH='$prefix'"
  else
    echo 'skipped: CMake: there is no cmake; ./configure --install-deps=all installs it'
  fi
fi
cd "$build" || exit 1

is 'uninstalls' run uninstall
is 'leaves nothing' test -z "$(find "$tmp/root" ! -type d)"

summary
