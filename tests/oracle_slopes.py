"""What references of gradients compute, held against differences of what NumPy makes of the op itself.

usage: oracle_slopes.py [--dump FILE]

For each op F and each op F_backward or F_backward_INPUT: the derivatives of the sum of dy times F's
`peers.numpy`, by central differences in float64. Prints as oracle.py does.
"""

import argparse
import os
import sys

import numpy as np

from oracle import scale_of, sizes_of
from problems import Dump, evaluate

STEP, TOLERANCE = 1e-5, 1e-8


def slopes(forward, problem, inputs, weights, name):
    """The derivatives by one input of the weighted sum of all results."""
    found = np.zeros_like(inputs[name])
    for at in np.ndindex(found.shape):
        for sign in (1, -1):
            moved = inputs[name].copy()
            moved[at] += sign * STEP
            problem.inputs = inputs | {name: moved}
            results = evaluate(forward, problem)
            found[at] += sign * sum((w * r).sum() for w, r in zip(weights, results)) / (2 * STEP)
    return found


def check(dump, forward, backward, size, seed):
    """What is wrong with a gradient, or None."""
    problem, whole = (dump.problem(op, "f64", size, seed) for op in (backward, forward))
    # What the gradient does not read, it does not depend on.
    inputs = {o.name: problem.inputs.get(o.name, whole.inputs[o.name]) for o in forward.inputs}
    weights = [problem.inputs.get("d" + o.name, whole.expected[o.name]) for o in forward.outputs]
    for output in backward.outputs:
        expected = slopes(forward, whole, inputs, weights, output.name[1:])
        got = problem.expected[output.name]
        if got.shape != expected.shape:
            return f"expected {output.name} of shape {expected.shape}, found {got.shape}"
        expected = np.where(np.isnan(expected), got, expected)  # beside an index outside of its axis
        if not np.allclose(got, expected, rtol=0, atol=TOLERANCE * max(1, scale_of(got)), equal_nan=True):
            return f"{output.name} is {got.tolist()} by the graph, {expected.tolist()} by differences"
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--dump", default=os.environ.get("LATHE_DUMP", "out/tests/problem-dump"))
    options = parser.parse_args()
    passed = failed = 0
    with Dump(options.dump) as dump:
        for op in dump.ops.values():
            name, mark, _ = op.name.partition("_backward")
            if not mark or "f64" not in op.dtypes:
                continue
            for seed, size in enumerate(sizes_of(op)[:3], 1):
                wrong = check(dump, dump.ops[name], op, size, seed)
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"FAILED {op.name}: {wrong} ({'x'.join(map(str, size))}, seed {seed})")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
