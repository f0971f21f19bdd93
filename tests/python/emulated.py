#!/usr/bin/env python3
"""Checks a package with kernels for CUDA on the tests' emulator, whose memory is the host's: arrays of NumPy say that
they are on a GPU. It has softmax, matmul, dropout and their gradients. Exit status 1 where something is wrong.

usage: emulated.py FOLDER PACKAGE
"""

import ctypes
import importlib
import sys

import numpy as np
from exchanger import Exchanger, lend_functions

sys.path.insert(0, sys.argv[1])
ours = importlib.import_module(sys.argv[2])
lend_functions()
failed = 0


def holds(what, value):
    global failed
    failed += not value
    print("passed" if value else "FAILED", what)


def on_gpu(*arrays):
    return [Exchanger(array, (2, 0)) if isinstance(array, np.ndarray) else array for array in arrays]


def as_there(what, f, *given):
    """Results on the GPU are those on the processor, and come to lie on the GPU."""
    there, here = f(*on_gpu(*given)), f(*given)
    pairs = list(zip(there, here)) if isinstance(here, tuple) else [(there, here)]
    holds(what, all(a.device == (2, 0) and np.allclose(a.of, b, 1e-5, 1e-6) for a, b in pairs))


def refused(text, f, *given, **named):
    try:
        f(*given, **named)
        found = "nothing"
    except (TypeError, ValueError) as error:
        found = str(error)
    holds(found, found == text)


def current():
    context = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(context))
    return context.value


driver = ctypes.CDLL("libcuda.so.1")
rng = np.random.default_rng(1)
x, dy = rng.normal(size=(2, 7, 33)).astype("f")
before = current()
as_there("softmax", ours.softmax, x)
holds("another context is back", current() == before)
mine = ctypes.c_void_p()
driver.cuCtxCreate_v2(ctypes.byref(mine), 0, 0)
as_there("with a context of the caller's", ours.softmax, x)
holds("which is back", current() == mine.value)
as_there("a product", ours.matmul, x, dy.T.copy())
as_there("gradients", ours.matmul_backward, x, dy.T.copy(), rng.normal(size=(7, 7)).astype("f"))
long = rng.random(size=(2, 3, 50000)).astype("f")
for what in ("a workspace", "and again"):
    as_there(what, ours.matmul, long[0], long[1].T.copy())
as_there("integers", ours.dropout, x, 7 << 40 | 5, 3, 0.5)
as_there("negative ones", ours.dropout, x, -7, 3, 0.5)
as_there("integers of arrays", ours.dropout, x[:3], np.full((), 9), np.full((), 2), 0.5)
as_there("and Python's after them", ours.dropout, x[:3], 9, 2, 0.5)
as_there("nothing", ours.softmax, x[:0])
out = Exchanger(np.empty_like(x), (2, 0))
holds("out", ours.softmax(*on_gpu(x), out=out) is out and np.allclose(out.of, ours.softmax(x), atol=1e-6))

elsewhere = Exchanger(x, (2, 1))
in_memory, first = "in the processor's memory", Exchanger(x, (2, 0))
refused(f"dropout: seed: expected an array on cuda:0, found one {in_memory}", ours.dropout, first, np.array(3), 0, 0.5)
refused(f"softmax: y: expected an array {in_memory}, found one on cuda:0", ours.softmax, x, out=first)
refused("softmax: y: expected an array on cuda:0, found one on cuda:1", ours.softmax, first, out=elsewhere)
anywhere = f"{in_memory} or on cuda"
refused(f"softmax: x: expected an array {anywhere}, found one on rocm:0", ours.softmax, Exchanger(x, (10, 0)))
sys.exit(failed > 0)
