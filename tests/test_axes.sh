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
is 'makes several ops of a gradient' grep -x 'scaled_backward_x' "$tmp/ops"
is 'makes one op of a gradient that is a stream' grep -x 'attention_backward' "$tmp/ops"
is 'makes one op of a gradient that one template has' grep -x 'linear_gelu_backward' "$tmp/ops"
mlp_gradient() { "$LATHE_GEN" --src "$tmp/tree" show mlp_backward | grep -x '  dx = sum(w1 \* t2, "h")'; }
is 'the gradient through a relu is contractions' mlp_gradient
is 'builds the references' references "$tmp/dump"
is 'an op is what NumPy makes of it' python oracle.py --op "$(grep -v _backward "$tmp/ops" | paste -s -d , -)"
is 'and so is a gradient' python oracle.py --op linear_gelu_backward
is 'gradients are slopes' python oracle_slopes.py

summary
