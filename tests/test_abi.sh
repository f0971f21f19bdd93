#!/bin/sh
# test_abi.sh - programs that were compiled with the headers of the library as library.abi describes them run with it: by
# abidiff. With LATHE_UPDATE_GOLDEN=1 in the environment library.abi is written anew. Needs LATHE_SRC and LATHE_BENCH, in
# the folder of the build.

. "$LATHE_SRC/tests/check.sh"

stored=$LATHE_SRC/tests/library/library.abi
headers='lathe.h lathe_ops.h lathe_tune.h lathe_vulkan.h'
if ! command -v abidiff >/dev/null; then
  echo 'skipped: there is no abidiff (./configure --install-deps=all installs it)'
  summary
  exit
elif [ "$(uname -m)" != x86_64 ]; then
  echo "skipped: tests/library/library.abi is for x86_64, this is $(uname -m)"
  summary
  exit
fi

# functions FOLDER: the prototypes of the headers there, a line each.
functions() {
  for header in $headers; do
    sed 's,/\*.*\*/,,; /^ *[/ ]\*/d; /^#/d' "$1/$header" | tr '\n' ' ' | sed 's/;/;\n/g'
  done | sed 's/  */ /g; s/^ //' | sed 's/^\(} \)*extern "C" { //' | grep -E '^[a-z][a-z_ *]* ?\**lathe_[a-z_]*\(.*\);$' | grep -v '^typedef'
}

# describe FOLDER TO: what programs see of these headers.
describe() {
  {
    for header in $headers; do echo "#include \"$header\""; done
    functions "$1" | sed 's/;$/ { __builtin_trap(); }/'
  } >"$tmp/seen.c"
  gcc -std=c11 -g -O0 -w -shared -fPIC -I"$1" "$tmp/seen.c" -o "$tmp/liblathe.so" &&
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash --drop-undefined-syms \
      "$tmp/liblathe.so" | sed "/<elf-needed>/,/<.elf-needed>/d; s, path='[^']*', path='lathe.h',; s/ language='[^']*'//" >"$2"
}

is 'describes the headers' describe "$LATHE_SRC/runtime/library" "$tmp/now.abi"
[ -z "${LATHE_UPDATE_GOLDEN-}" ] || cp "$tmp/now.abi" "$stored"
is 'as stored, or accept: LATHE_UPDATE_GOLDEN=1 TESTS=abi ninja test' abidiff "$stored" "$tmp/now.abi"
is 'finds functions' test "$(grep -c 'elf-symbol name' "$tmp/now.abi")" -ge 16

# What the shared library shows besides the functions and tables of ops.
shared=$(dirname "$LATHE_BENCH")/liblathe.so.0
if [ -e "$shared" ]; then
  functions "$LATHE_SRC/runtime/library" | sed 's/(.*//; s/.*[ *]//' | sort >"$tmp/wanted"
  nm -D --defined-only "$shared" | awk '{ print $3 }' | grep -vE '_(f64|f32|f16|bf16)(_|$)' | sort >"$tmp/shown"
  is 'the shared library shows these' diff "$tmp/wanted" "$tmp/shown"
else
  echo 'skipped: what the shared library shows: the build has none'
fi

# The faults that this is to find.
changed() { # changed HEADER SED: that change is no difference to abidiff
  mkdir -p "$tmp/changed"
  for header in $headers; do cp "$LATHE_SRC/runtime/library/$header" "$tmp/changed/"; done
  sed -i "$2" "$tmp/changed/$1"
  cmp -s "$tmp/changed/$1" "$LATHE_SRC/runtime/library/$1" && return 0
  describe "$tmp/changed" "$tmp/changed.abi" && abidiff "$stored" "$tmp/changed.abi"
}
finds() { ! changed "$@"; }
is 'no difference' finds lathe.h 's/struct lathe_plan {/struct lathe_plan { int first;/'
is 'a field that is gone' finds lathe.h '/int digits;/d'
is 'another type' finds lathe.h 's/lathe_text(int status)/lathe_text(long status)/'
is 'a function that is gone' finds lathe_ops.h '/lathe_describe/d'
is 'a status in between' finds lathe.h 's/LATHE_NULL,/LATHE_NEW, LATHE_NULL,/'
is 'a comment is none' changed lathe.h 's/Nothing is checked/Nothing whatever is checked/'

summary
