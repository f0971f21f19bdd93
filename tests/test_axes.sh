#!/bin/sh
# test_axes.sh - functions over named axes: what their references compute, also where no template does their pattern,
# is what NumPy makes of them, and their gradients are slopes. Needs LATHE_SRC, LATHE_GEN, LATHE_DUMP, LATHE_LIBRARIES
# and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"

python() {
  script=$1
  shift
  PYTHONDONTWRITEBYTECODE=1 "$LATHE_PYTHON" "$LATHE_SRC/tests/$script" --dump "$tmp/dump" "$@"
}

tree
cp "$LATHE_SRC"/tests/specs-axes/* "$tmp/tree/specs/"
"$LATHE_GEN" --src "$tmp/tree" ops >"$tmp/ops"
is 'makes several ops of a gradient' grep -x 'linear_gelu_backward_bias' "$tmp/ops"
is 'makes one op of a gradient that one family has' grep -x 'batch_norm_backward' "$tmp/ops"
is 'builds the references' references "$tmp/dump"
is 'an op is what NumPy makes of it' python oracle.py --op "$(grep -v _backward "$tmp/ops" | paste -s -d , -)"
is 'gradients are slopes' python oracle_slopes.py

summary
