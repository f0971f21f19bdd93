"""What lathe's references compute, held against what the specs give as NumPy's way to the same.

usage: oracle.py [--dump FILE] [--op A,B] [--forward]

Kernels and references come from one trace of a spec, so that neither sees where the spec says something
else than it should. Its `peers.numpy` does not share the trace: here it is evaluated in float64 on the
inputs that the reference was given. An op without one is a failure, but with --forward a gradient. Prints a line for each failure and
then "N passed, N failed"; exit status 0 only where something passed and nothing failed.
"""

import argparse
import os
import sys

import numpy as np

from problems import Dump, evaluate

DTYPES = ["f64", "f32", "f16", "bf16"]
NAN, INF, ZERO = 1, 2, 4  # the bits of random.h
VECTORS = [(1,), (2,), (33,), (1000,), (4099,)]
MATRICES = [(1, 1), (1, 33), (33, 1), (7, 100), (64, 64), (41, 257)]
# Of each as many as there are axes.
MORE = [(1,) * 16, (2, 3, 4, 5, 1, 2, 1, 3) + (2, 1) * 4, (5, 2, 3, 1, 2, 1, 3, 2) + (1, 2) * 4, (3, 17, 7, 9, 2, 1, 2, 3) + (1,) * 8]

# Both compute in double or better, and what is rounded is no larger than the largest result or input.
TOLERANCE = 1e-12


def differ(got, expected, scale):
    """Where two arrays do, as an index, or None; NaN equals NaN, and an infinity itself."""
    with np.errstate(invalid="ignore"):
        close = np.abs(got - expected) <= TOLERANCE * scale
    wrong = ~(close | (got == expected) | (np.isnan(got) & np.isnan(expected)))
    return np.unravel_index(np.argmax(wrong), wrong.shape) if wrong.any() else None


def scale_of(*arrays):
    finite = [np.abs(a[np.isfinite(a)]) for a in arrays]
    return max([1e-300] + [float(a.max()) for a in finite if a.size])


def stray(op, problem, size):
    """What is wrong with the indexes that were drawn: each is to be within its own axis."""
    for operand in op.inputs:
        indexes = problem.inputs[operand.name]
        if operand.kind == "index" and not 0 <= indexes.min() <= indexes.max() < size[operand.along]:
            return f"{operand.name} is {indexes.min()} to {indexes.max()} in an axis of {size[operand.along]}"
    return None


def compare(op, problem):
    """None where an op's reference agrees with its peer, else what does not, in words."""
    try:
        found = evaluate(op, problem)
    except Exception as error:  # whatever an expression does
        return f"peers.numpy: {type(error).__name__}: {error}"
    names = [operand.name for operand in op.outputs]
    if len(found) != len(names):
        return f"peers.numpy: expected {len(names)} outputs ({', '.join(names)}), found {len(found)}"
    for name, theirs in zip(names, found):
        ours = problem.expected[name]
        if theirs.shape != ours.shape:
            return f"peers.numpy: expected {name} of shape {ours.shape}, found {theirs.shape}"
        at = differ(ours, theirs, scale_of(ours, *problem.floats()))
        if at is not None:
            return (f"{name}[{', '.join(map(str, at))}] is {ours[at]!r} by the spec's function, "
                    f"{theirs[at]!r} by peers.numpy")
    return None


def sizes_of(op):
    return {1: VECTORS, 2: MATRICES}.get(len(op.dims)) or [size[:len(op.dims)] for size in MORE]


def requests(op):
    """The problems that an op is tried with: dtype, special values, dimensions."""
    sizes = sizes_of(op)
    for dtype in [d for d in DTYPES if d in op.dtypes]:
        for size in sizes:
            yield dtype, 0, size
    # A gradient at a NaN or an infinity is what the rules make of it.
    if "_backward" not in op.name:
        for special in (NAN, INF, ZERO):
            yield op.dtypes[0], special, sizes[-1]


def check(dump, op):
    """What is wrong with an op, or None."""
    if not op.numpy:
        return "there is no peers.numpy to compare with"
    for seed, (dtype, special, size) in enumerate(requests(op), 1):
        problem = dump.problem(op, dtype, size, seed, special)
        wrong = stray(op, problem, size) or compare(op, problem)
        if wrong:
            shape = "x".join(map(str, size))
            return f"{wrong} ({dtype} {shape}, seed {seed}{f', special {special}' if special else ''})"
    return None


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--dump", default=os.environ.get("LATHE_DUMP", "out/tests/problem-dump"))
    parser.add_argument("--op")
    parser.add_argument("--forward", action="store_true")
    options = parser.parse_args()
    passed = failed = 0
    with Dump(options.dump) as dump:
        for op in dump.ops.values():
            if not op.dtypes or options.op and op.name not in options.op.split(","):
                continue
            if options.forward and "_backward" in op.name and not op.numpy:
                continue
            wrong = check(dump, op)
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAILED {op.name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
