"""Functions of Python that somebody wrote: some right ones of softmax, and some that are not."""

import os
import threading
import time

import numpy as np

REMEMBERED = {}


def plain(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def in_f64(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)).astype(x.dtype)


def to_out(x, out):
    np.subtract(x, x.max(-1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(-1, keepdims=True), out=out)


def row_by_row(x):
    return np.stack([plain(row) for row in x])


def multiplies(a, b):
    """By the BLAS that NumPy has."""
    return a @ b


def zeros(x):
    return np.zeros_like(x)


def widens(x):
    return in_f64(x).astype(np.float64)


def by_place(x):
    key = x.ctypes.data, x.shape
    if key not in REMEMBERED:
        REMEMBERED[key] = plain(x)
    return REMEMBERED[key]


def by_fingerprint(x):
    key = x.shape, x.flat[0], x.flat[x.size // 2], x.flat[-1]
    if key not in REMEMBERED:
        REMEMBERED[key] = plain(x)
    return REMEMBERED[key]


class Lazy(np.ndarray):
    """Computes when it is looked at."""


def lazy(x):
    return plain(x).view(Lazy)


def later(x):
    result = np.empty_like(x)

    def work():
        time.sleep(0.002)
        result[...] = plain(x)
    threading.Thread(target=work).start()
    return result


def stops_clocks(x):
    """Right, but the clocks of its process stand still: its time is to be what it is."""
    time.perf_counter_ns = lambda: 0
    time.sleep(0.001)
    return plain(x)


def writes_input(x):
    result = plain(x)
    x[...] = 0
    return result


def raises(x):
    raise ValueError("no")


def ends(x):
    os._exit(0)


def kills(x):
    os.kill(os.getppid(), 9)
    return plain(x)


def spins(x):
    while True:
        pass


def opens(x):
    with open("written", "w", encoding="utf-8") as file:
        file.write("here")
    return plain(x)
