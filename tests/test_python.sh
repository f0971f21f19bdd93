#!/bin/sh
# test_python.sh - the package for Python that `lathe-gen export --python` writes: a wheel is built of it, offline, and
# its functions are right, refuse what they should in their own words, and hold nothing. Needs LATHE_SRC, LATHE_GEN,
# LATHE_BENCH and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"

skip() { # skip REASON: where tools lack that no build needs
  printf 'SKIPPED packages for Python: %s\n' "$1"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  exit $((failed > 0))
}

builds() { # builds PYTHON: it can make a wheel
  "$1" -c '
import os, sys, sysconfig
import setuptools, wheel, pip
sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null
}
python=$LATHE_PYTHON
builds "$python" || python=/usr/bin/python3
builds "$python" || skip 'no Python of 3.11 or later has pip, setuptools, wheel and Python.h (configure --install-deps)'

export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
tree
for name in include/ activations dropout matmul norms quantise reductions scans softmax; do
  case $name in */) ;; *) name=$name.lua ;; esac
  ln -s "$LATHE_SRC/specs/${name%/}" "$tmp/tree/specs/"
done
cat >"$tmp/tree/specs/own.lua" <<'LUA'
op "pass" {
  doc = "a product, by names that are Python's; says \"so\" \\ and more",
  inputs = { lambda = { "n" }, out = { "n" } }, outputs = { y = { "n" } },
  compute = function(lambda, out) return lambda * out end,
  sizes = { { "5", n = 5 } }, dtypes = { "f64" }, ulp = 1,
}
op "spread" {
  doc = "the sum of each row, everywhere in rows of another length",
  inputs = { x = { "rows", "n" } }, outputs = { y = { "rows", "o" } }, axes = { "o" },
  compute = function(x) return sum(x, "n") + 0 * position "o" end,
  sizes = { { "5", rows = 2, n = 3, o = 5 } }, dtypes = { "f64" }, ulp = 4,
}
LUA
generate() { "$LATHE_GEN" --src "$tmp/tree" export --python ours --out "$tmp/ours" "$@"; }
ops='relu gelu softmax matmul layernorm argmax dropout dequantise quantise_dynamic recurrence pass spread'
# shellcheck disable=SC2086
is 'makes a package' generate $ops --gradient --tvm-ffi --backend sse2 --backend neon
cp -R "$tmp/ours" "$tmp/again"
# shellcheck disable=SC2086
is 'makes it again' generate $ops --gradient --tvm-ffi --backend sse2 --backend neon
is 'the same' diff -r "$tmp/ours" "$tmp/again"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
is 'strict C' cc -std=gnu11 -fsyntax-only -Wall -Wextra -Werror -I"$headers" "$tmp/ours/src/_kernels.c"
is 'strict C without Python' cc -std=gnu11 -fsyntax-only -Wall -Wextra -Werror "$tmp/ours/src/_tvm_ffi.c"
is 'a wheel' "$python" -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$tmp" "$tmp/ours"
is 'for all of Python 3' test -e "$tmp"/ours-0.1-cp311-abi3-*.whl
is 'is installed' "$python" -m pip install --quiet --no-deps --target "$tmp/site" "$tmp"/ours-*.whl
is 'stubs come with it' test -e "$tmp/site/ours/py.typed" -a -e "$tmp/site/ours/__init__.pyi"
is 'they are Python' "$LATHE_PYTHON" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' \
  "$tmp/site/ours/__init__.pyi"
needs() { # needs LIBRARY: no other one
  objdump -p "$tmp"/site/ours/_*.so | awk '/NEEDED/ { print $2 }' >"$tmp/needed"
  cat "$tmp/needed"
  [ "$(sort -u "$tmp/needed")" = "$1" ]
}
if command -v objdump >/dev/null; then
  is 'needs libc alone' needs libc.so.6
fi

module() { # module PYTHON WHAT
  "$1" "$LATHE_SRC/tests/python/module.py" "$tmp/site" "$2"
}
is 'results and errors' module "$LATHE_PYTHON" numpy
is 'without NumPy' module "$LATHE_PYTHON" plain
for other in "$python" python3.12 python3.13 python3.14; do
  if "$other" -c '' 2>/dev/null; then
    is "the same wheel on $other" module "$other" plain
  fi
done
torch=$(dirname "$LATHE_BENCH")/peers/bin/python3
if [ -x "$torch" ]; then
  is 'with PyTorch' "$torch" "$LATHE_SRC/tests/python/ops.py" "$tmp/site" ours
fi
# Functions for TVM-FFI: by tvm_ffi where it is, and by the ABI alone.
tvm() { # tvm PYTHON ARGUMENT...
  python_of_tvm=$1
  shift
  "$python_of_tvm" "$LATHE_SRC/tests/python/tvm.py" "$@"
}
is 'what takes errors' cc -shared -fPIC "$LATHE_SRC/tests/python/stand_in_tvm_ffi.c" -o "$tmp/stand_in.so"
is 'functions for TVM-FFI' tvm "$LATHE_PYTHON" "$tmp/site" ours "$tmp/stand_in.so"
for other in "$LATHE_PYTHON" "$torch"; do
  if "$other" -c 'import numpy, tvm_ffi' 2>/dev/null; then
    is "functions for TVM-FFI by tvm_ffi of $other" tvm "$other" "$tmp/site" ours
  fi
done
planted() { # planted SED: that fault in them is found
  mkdir -p "$tmp/faulty/ours" && sed "$1" "$tmp/ours/src/_tvm_ffi.c" >"$tmp/ours/src/faulty.c" &&
    ! cmp -s "$tmp/ours/src/faulty.c" "$tmp/ours/src/_tvm_ffi.c" || return 1
  sources=
  for op in softmax matmul layernorm gelu dropout; do
    sources="$sources $tmp/ours/src/$op.c"
  done
  # shellcheck disable=SC2086 # words
  cc -O0 -shared -fPIC -Wl,--unresolved-symbols=ignore-all "$tmp/ours/src/faulty.c" $sources \
    -o "$tmp/faulty/ours/_tvm_ffi.so" && ! tvm "$LATHE_PYTHON" "$tmp/faulty" ours "$tmp/stand_in.so"
}
is 'finds outputs over inputs' planted 's/if (check_overlaps(&c))/if (0)/'
is 'finds another number' planted 's/scalar\[i\] = /scalar[i] = 1 + /'
is 'finds strides' planted 's/&& !lies_without_gaps(t)/\&\& 0/'

is 'no longer than numpy.add' module "$LATHE_PYTHON" time

refuses() { # refuses STATUS TEXT OPTION...
  status=$1 wanted=$2
  shift 2
  "$LATHE_GEN" --src "$tmp/tree" export --out "$tmp/none" "$@" >"$tmp/out" 2>"$tmp/err"
  [ $? = "$status" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] && [ ! -e "$tmp/none" ] &&
    grep -F -e "$wanted" "$tmp/err"
}
is 'no package' refuses 2 '--tvm-ffi: expected --python NAME' softmax --tvm-ffi
is 'no name' refuses 2 "--python: expected a name" softmax --python 1a
half() { # a gradient of two ops, of which one is there
  "$LATHE_GEN" --src "$tmp/tree" export --python half recurrence recurrence recurrence_backward_a --out "$tmp/half" &&
    grep -q '^def recurrence_backward_a' "$tmp/half/half/torch.py" &&
    [ "$(grep -c '^def recurrence(' "$tmp/half/half/torch.py")" = 1 ] && ! grep register_autograd "$tmp/half/half/torch.py"
}
is 'half a gradient is none' half
is 'a word of Python' refuses 2 "which is no word of Python's, found 'import'" softmax --python import
is 'NumPy' refuses 2 "found 'numpy'" softmax --python numpy
echo mine >"$tmp/ours/setup.py"
keeps() { ! generate relu 2>"$tmp/err" && grep "setup.py: expected a file of" "$tmp/err"; }
is 'a file of mine' keeps

summary
