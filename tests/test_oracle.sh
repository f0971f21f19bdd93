#!/bin/sh
# test_oracle.sh - what the specs' functions compute is what their peers.numpy says; and a spec that says
# something else is found. Needs LATHE_SRC, LATHE_GEN, LATHE_DUMP, LATHE_LIBRARIES
# and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"

oracle() { PYTHONDONTWRITEBYTECODE=1 "$LATHE_PYTHON" "$LATHE_SRC/tests/oracle.py" "$@"; }

is 'every op is what NumPy makes of it' oracle

# Specs that say something else, each in one place.
tree
cp -R "$LATHE_SRC/specs/." "$tmp/tree/specs/"
mkdir "$tmp/build"
planted=''
plant() { # plant FILE FROM TO OP...: the first FROM in a spec becomes TO, which makes these ops wrong
  file=$tmp/tree/specs/$1
  is "plants a fault in $1" awk -v from="$2" -v to="$3" '
    !found && (at = index($0, from)) { $0 = substr($0, 1, at - 1) to substr($0, at + length(from)); found = 1 }
    { print > (FILENAME ".new") }
    END { exit !found }' "$file"
  mv "$file.new" "$file"
  shift 3
  planted="$planted $*"
}
plant activations.lua 'return max(x, 0)' 'return select(gt(x, 0), x, 0)' relu
plant activations.lua 'math.sqrt(0.5)' '0.7071' gelu gelu_backward bias_gelu bias_gelu_backward
plant arithmetic.lua 'return x - y' 'return y - x' sub
plant axes.lua 'row[1](x, along.over)' 'row[1](2 * x, along.over)' row_max row_mean row_sum column_max column_mean \
  column_sum
plant dropout.lua 'random(seed, offset)' 'random(offset, seed)' dropout dropout_backward
plant elementwise.lua 'fma(x, y, z)' 'fma(x, z, y)' fma
plant elementwise.lua 'return x + t * (y - x)' 'return y + t * (x - y)' lerp
plant losses.lua 'mean((x - t) ^ 2)' 'sum((x - t) ^ 2)' mse mse_backward
plant losses.lua 'at(shifted, target)' 'at(x, target)' cross_entropy
plant norms.lua 'mean(centred * centred, "cols")' 'sum(centred * centred, "cols") / (count("cols") - 1)' layernorm \
  layernorm_backward
plant norms.lua 'sqrt(mean(x * x, "cols") + eps)' '(sqrt(mean(x * x, "cols")) + eps)' rmsnorm rmsnorm_backward
plant reductions.lua 'return argmax(x)' 'return argmin(x)' argmax
plant reductions.lua 'max(abs(x))' 'max(x)' norm_linf
plant quantise.lua 'return (q - zero) * scale' 'return q - zero * scale' dequantise
plant quantise.lua 'max(abs(x), "cols")' 'max(x, "cols")' quantise_dynamic
plant scans.lua 'cumsum(x, row[2])' 'cumsum(x, row[2], { exclusive = true })' cumsum cumsum_backward cumsum_outer cumsum_outer_backward
plant scans.lua 'recurrence(a, b, "t")' 'recurrence(b, a, "t")' recurrence recurrence_backward_a recurrence_backward_b
plant softmax.lua 'sum(e, "cols")' 'detach(sum(e, "cols"))' softmax_backward
plant softmax.lua 'shifted - log' 'x - log' log_softmax

is 'builds the references' references "$tmp/build/dump"
oracle --dump "$tmp/build/dump" >"$tmp/found"
for op in $planted; do
  is "finds the wrong $op" grep "^FAILED $op: .*peers.numpy" "$tmp/found"
done
is 'finds nothing else' sh -c '[ "$(grep -c "^FAILED" "$1")" = "$2" ] || { cat "$1"; exit 1; }' - "$tmp/found" \
  "$(echo "$planted" | wc -w)"

# A spec without NumPy's way, or with one that cannot be, is named.
cat >"$tmp/tree/specs/silent.lua" <<'SPEC'
local vector = include "include/vector.lua"
for name, peers in pairs { silent = {}, broken = { numpy = "x +* y" }, other = { numpy = "(x, x)" } } do
  op(name) {
    doc = "x", inputs = { x = { "n" } }, outputs = { y = { "n" } }, compute = function(x) return 2 * x end,
    sizes = vector.sizes, dtypes = vector.dtypes, ulp = vector.ulp(1), peers = peers,
  }
end
SPEC
is 'builds the references' references "$tmp/build/dump"
oracle --dump "$tmp/build/dump" --op silent,broken,other >"$tmp/found"
is 'names an op without' grep 'FAILED silent: there is no peers.numpy to compare with' "$tmp/found"
is 'names one that is no Python' grep 'FAILED broken: peers.numpy: SyntaxError' "$tmp/found"
is 'names one of other outputs' grep 'FAILED other: peers.numpy: expected 1 outputs (y), found 2' "$tmp/found"

summary
