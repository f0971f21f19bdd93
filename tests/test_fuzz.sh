#!/bin/sh
# test_fuzz.sh - the fuzzer finds nothing in a few ops, and what is planted: a derivative that is wrong, and a
# function that means something else to kernels and references alike. In packs of ops, a kernel that leaves out an
# element, and a verdict that says right of everything. Needs LATHE_SRC and LATHE_PYTHON, a Python with NumPy.

. "$LATHE_SRC/tests/check.sh"

unset LATHE_FUZZ
export PYTHONDONTWRITEBYTECODE=1
ran() { # ran COMMAND...: its status is in $status, its output in $tmp/output
  status=0
  (cd "$tmp" && "$LATHE_PYTHON" "$@") >"$tmp/output" 2>&1 || status=$?
}
fuzz() { # fuzz FOLDER OPTION...
  folder=$1
  shift
  ran "$LATHE_SRC/tests/fuzz.py" --folder "$tmp/$folder" --rounds 1 --kinds cpu --seed 1094 "$@"
}
pack() { # pack FOLDER OPTION...: builds a pack and runs it
  fuzz "$1" --pack 2 --seed 31 --out "$tmp/$1/built"
  ends 0
  folder=$1
  shift
  ran "$tmp/$folder/built/on_gpu.py" --pack "$tmp/$folder/built" --backends cpu --points 2000 --seeds 1,2 "$@"
}
ends() { is "ends with $1" sh -c '[ "$1" = "$2" ] || { cat "$3"; exit 1; }' - "$status" "$1" "$tmp/output"; }

fuzz clean --ops 4
ends 0
is 'tries something of each kind' grep -E '^\[.* round 0 \(cpu\): 4 specs, .* [1-9][0-9]* rows, [0-9]* unproved, [1-9][0-9]* results, [1-9][0-9]* gradients, [1-9][0-9]* mutants, .*; 0 found$' \
  "$tmp/output"
is 'sums up' grep '^4 specs, 0 findings$' "$tmp/output"
pack clean fuzz mutants
ends 0
is 'runs a pack' grep -E '^pack 31: 2 specs, 2 seeds, [1-9][0-9]* rows, [1-9].* right, 0 wrong, 0 killed, .* 0 runs broken; 0 variants found$' \
  "$tmp/output"
is 'tries mutants' grep -E '^mutants: [1-9][0-9]* of [0-9]* rows; [1-9][0-9]* right, 0 unproved, 0 wrong, [0-9]* skipped$' "$tmp/output"
ran "$tmp/clean/built/on_gpu.py" --pack "$tmp/clean/built" --backends cpu --seconds 0 fuzz
ends 1
is 'ends when its time is over' grep -E '^pack 31: .* 0 right, .* [1-9][0-9]* runs left out, 0 runs broken;' "$tmp/output"

ran -c "import sys
sys.path.insert(0, '$LATHE_SRC/tests')
import numpy as np
from fuzz_values import Evaluation
class Node:
    detached = False
    def __init__(self, op, *args, **more):
        self.op, self.args = op, args
        self.__dict__.update(more)
total = Node('add', Node('input', name='x'), Node('input', name='y'))
read = Node('at', total, Node('const', number=1), over=['n'], number=0)
run = Evaluation((2, 3), {'x': np.ones((2, 1)), 'y': np.ones((2, 3))}, tangents={'x': np.eye(2)[..., None]}, dims='rn')
print(run.of(read)[1].ravel().astype(int).tolist())"
is 'slopes of what is read that has fewer axes' grep -Fx '[1, 0, 0, 1]' "$tmp/output"

for kind in products quantised layers networks training memory cpu_products cpu_memory; do
  ran "$LATHE_SRC/tests/shapes.py" 5 200 "$kind"
  cp "$tmp/output" "$tmp/once"
  ran "$LATHE_SRC/tests/shapes.py" 5 200 "$kind"
  is "draws the same shapes of $kind from a seed" cmp "$tmp/once" "$tmp/output"
  is "draws so many" sh -c '[ "$(grep -cE "^[a-z0-9_]+ [0-9]+(x[0-9]+)*$" "$1")" = 200 ]' - "$tmp/output"
done
ran "$LATHE_SRC/tests/shapes.py" 6 200 memory
is 'draws others from another seed' sh -c '! cmp -s "$1" "$2"' - "$tmp/once" "$tmp/output"
ran -c "import sys
sys.path.insert(0, '$LATHE_SRC/tests')
from on_gpu import compared
row = dict(op='o', dtype='f32', size='3', status='right', rounds_factors=False, peer=False, dispatched=False,
           variant='o_f32__b', backend='cuda', ceiling_share=0.5, ceiling='copy')
rows = [row | dict(real_time=2e3, dispatched=True), row | dict(real_time=1e3), row | dict(real_time=9e2, status='wrong'),
        row | dict(real_time=3e3, peer=True), row | dict(real_time=4e3, peer=True),
        row | dict(real_time=1e2, rounds_factors=True)]
print([(key, ratio, choice) for key, ratio, choice, _ in compared(rows)])"
is 'compares the chosen kernel with the best peer' grep -Fx "[(('f32', False), 1.5, 0.5)]" "$tmp/output"

mkdir "$tmp/source"
for name in configure build.ninja.in gen templates runtime tests specs; do
  cp -R "$LATHE_SRC/$name" "$tmp/source/"
done
plant() { # plant FILE FROM TO: a fault in the generator
  is "plants a fault in $1" sh -c 'sed "s|$2|$3|" "$4/$1" >"$4/new" && ! cmp -s "$4/new" "$4/$1" && mv "$4/new" "$4/$1"' \
    - "$1" "$2" "$3" "$tmp/source"
}
plant gen/trace/gradient.lua '{ g \* b, g \* a } end' '{ g * b, g * b } end'
plant gen/trace/vocabulary.lua 'return total / expr.count(total.k)' 'return total / (expr.count(total.k) + 1)'
LATHE_SRC=$tmp/source
fuzz planted --ops 4 --mutants 0
ends 1
is 'finds the derivative' grep -E 'FOUND .*_backward .* by the reference, .* by the evaluator; ' "$tmp/output"
is 'finds the mean' grep -E 'FOUND (f0_[0-9]+): \1 .* by the reference, .* by the evaluator; ' "$tmp/output"
is 'keeps the specs' sh -c 'grep -l mean "$1"/*.lua' - "$tmp/planted/found"
again=$(sed -n 's/.*FOUND.* by the evaluator; .*; again: fuzz.py //p' "$tmp/output" | head -n 1)
# shellcheck disable=SC2086
fuzz planted $again --mutants 0
is 'says how to find it again' grep -E 'FOUND .* by the evaluator; ' "$tmp/output"

plant templates/c/parts.c 'if (i < \$count\$) {' 'if (i + 1 < $count$) {'
pack planted fuzz
ends 1
is 'finds the element' grep -E '^FOUND p31_.*__avx2' "$tmp/output"
is 'makes it smaller' grep -E '^  .*bench --check-only --op p31_.* --size [1-9](x[1-9])* ' "$tmp/output"
plant runtime/check/check.c 'r->verdict = CHECK_WRONG;' 'r->verdict = CHECK_RIGHT;'
pack planted mutants
ends 1
is 'finds the verdict' grep -E 'weak: a result of 0, .* would pass' "$tmp/output"

summary
