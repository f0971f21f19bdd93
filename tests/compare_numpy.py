#!/usr/bin/env python3
"""Times NumPy and the bench program in turns, on one thread and the same work, and compares.

usage: compare_numpy.py [--bench FILE] [--rounds N] [--op A,B] [--avx2]

See compare.py. NumPy writes into arrays that are there already wherever it can.
"""

import math
import sys

import compare


def calls(np, n, wide):
    """The ops on n numbers between -wide and wide, as functions without arguments."""
    rng = np.random.default_rng(1)
    x, y, z = (rng.uniform(-wide, wide, n).astype(np.float32) for _ in range(3))
    r, q = np.empty_like(x), np.empty_like(x)
    half, one, root = np.float32(0.5), np.float32(1), np.float32(math.sqrt(2 / math.pi))
    s, t, cubic = np.float32(1.7), np.float32(0.3), np.float32(0.044715)

    def lerp():
        np.subtract(y, x, out=r)
        np.multiply(r, t, out=r)
        np.add(r, x, out=r)

    def fma():
        np.multiply(x, y, out=r)
        np.add(r, z, out=r)

    def one_and_exp():
        np.negative(x, out=r)
        np.exp(r, out=r)
        np.add(r, one, out=r)

    def sigmoid():
        one_and_exp()
        np.reciprocal(r, out=r)

    def swish():
        one_and_exp()
        np.divide(x, r, out=r)

    def gelu():  # NumPy has no erf: the approximation by tanh, which is less work
        np.multiply(x, x, out=r)
        np.multiply(r, cubic, out=r)
        np.add(r, one, out=r)
        np.multiply(r, x, out=r)
        np.multiply(r, root, out=r)
        np.tanh(r, out=r)
        np.add(r, one, out=r)
        np.multiply(r, x, out=r)
        np.multiply(r, half, out=r)

    def softmax():
        np.subtract(x, x.max(), out=r)
        np.exp(r, out=r)
        np.divide(r, r.sum(), out=r)

    def log_softmax():
        np.subtract(x, x.max(), out=r)
        np.exp(r, out=q)
        np.subtract(r, np.log(q.sum()), out=r)

    return {
        "add": lambda: np.add(x, y, out=r),
        "sub": lambda: np.subtract(x, y, out=r),
        "mul": lambda: np.multiply(x, y, out=r),
        "div": lambda: np.divide(x, y, out=r),
        "scale": lambda: np.multiply(x, s, out=r),
        "abs": lambda: np.abs(x, out=r),
        "clamp": lambda: np.clip(x, -one, one, out=r),
        "lerp": lerp,
        "fma": fma,
        "relu": lambda: np.maximum(x, np.float32(0), out=r),
        "exp": lambda: np.exp(x, out=r),
        "sigmoid": sigmoid,
        "tanh": lambda: np.tanh(x, out=r),
        "gelu": gelu,
        "swish": swish,
        "sum": x.sum,
        "dot": lambda: np.dot(x, y),
        "max": x.max,
        "min": x.min,
        "argmax": x.argmax,
        "argmin": x.argmin,
        "norm_l1": lambda: np.abs(x, out=r).sum(),
        "norm_l2": lambda: math.sqrt(np.dot(x, x)),
        "norm_linf": lambda: np.abs(x, out=r).max(),
        "softmax": softmax,
        "log_softmax": log_softmax,
    }


def prepare(avx2):
    """NumPy, and the calls it makes for a type, a number of elements, and their range."""
    if avx2:
        # Those that it was not built with are ignored, with a warning.
        compare.set_environment(
            NPY_DISABLE_CPU_FEATURES="AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL "
            "AVX512_SPR X86_V4",
            OPENBLAS_CORETYPE="Haswell")
    import numpy as np
    np.seterr(all="ignore")
    return np.__version__, lambda _, n, wide: calls(np, n, wide)


if __name__ == "__main__":
    sys.exit(compare.main(__doc__, "NumPy", prepare, ["f32"]))
