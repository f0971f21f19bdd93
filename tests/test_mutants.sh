#!/bin/sh
# test_mutants.sh - kernels with one line changed, of which the bench is to find all (mutate.py): a few, and that they
# survive where the check is blind. As test_mutants.sh all, more of each template and backend. Needs LATHE_SRC,
# LATHE_BENCH and LATHE_PYTHON.

. "$LATHE_SRC/tests/check.sh"

tree
ln -s "$LATHE_SRC"/specs/* "$tmp/tree/specs/"
mkdir "$tmp/build"
cd "$tmp/build" || exit 1
mutate() { # mutate OPTION...: its status is in $status, its output in `said`
  status=0
  PYTHONDONTWRITEBYTECODE=1 "$LATHE_PYTHON" "$LATHE_SRC/tests/mutate.py" "$@" >said 2>&1 || status=$?
}
# What a deleted line leaves unset has a value of its own, rather than the one that suits.
flags='-O1 -ftrivial-auto-var-init=pattern'
ended() { [ "$status" = "$1" ] || { cat said && false; }; }

if [ "${1-}" = all ]; then
  ops='gelu,dropout,argmax,sum,softmax,layernorm_backward,column_sum,matmul_tn,linear_gelu,mlp'
  is 'configures' configure CFLAGS=-O1 KERNEL_CFLAGS="$flags" --disable-cuda --dtypes=f32,f16 \
    --ops='gelu,dropout,argmax,sum,softmax,layernorm,column_sum,matmul_tn,linear_gelu,mlp'
  is 'takes the runtime' reuse
  is 'builds the kernels' ninja out/bench
  backends=$(out/bench --list-backends | sed -n 's/ .* ready$//p' | paste -sd,)
  mutate --ops "$ops" --backends "$backends" --count 12 --seed 1
  cat said
  is 'finds no survivor' ended 0
  summary
  exit
fi

is 'configures' configure CFLAGS=-O1 KERNEL_CFLAGS="$flags" --disable-cuda --disable-vulkan --disable-amx --disable-avx512 \
  --disable-avx2 --disable-sse2 --dtypes=f32 --ops=sum,add
is 'takes the runtime' reuse
is 'builds the kernels' ninja out/bench
mutate --backends scalar --count 2 --seed 1
is 'kills' grep -E '^map +scalar +[1-9][0-9]* killed, ' said

# A change of nothing is equal.
is 'knows what is equal' "$LATHE_PYTHON" -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import mutants
copy = mutants.Copy(mutants.Build("."), "copy")
source = "out/gen/sum/sum__scalar.c"
text = open(source).read()
assert not copy.compile(source, text.replace("\n}", "\n  ;\n}"))
assert copy.compile(source, text.replace("0.0f", "1.0f", 1))' "$LATHE_SRC/tests"

# With a check that calls everything right.
sed 's/verdict = CHECK_WRONG/verdict = CHECK_RIGHT/' "$LATHE_SRC/runtime/check/check.c" >check.c
blind() {
  ! cmp -s check.c "$LATHE_SRC/runtime/check/check.c" &&
    cc -std=gnu11 -I"$LATHE_SRC/runtime" -I"$LATHE_SRC/runtime/check" -c check.c &&
    cp out/runtime.a own.a && ar r own.a check.o && mv own.a out/runtime.a
}
is 'blinds the check' blind
mutate --backends scalar --count 2 --seed 1
is 'fails' ended 1
is 'says who survives' grep -E "^survived: out/gen/.*__scalar\.c: .*:[0-9]+: .*: '.*' as '.*'" said

summary
