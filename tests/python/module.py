#!/usr/bin/env python3
"""Checks an installed package of test_python.sh's ops.

usage: module.py FOLDER numpy|plain|time

  numpy  results, errors, memory, DLPack and the ops for PyTorch, the last by stand_in/torch.py
  plain  without NumPy: arrays of Python's own
  time   nanoseconds a call at 100 elements, beside numpy.add; exit status 1 where a call takes longer than that
"""

import array
import ctypes
import gc
import random
import sys
import threading
import timeit
from pathlib import Path

FOLDER, WHAT = sys.argv[1:]
sys.path.insert(0, FOLDER)
import ours  # noqa: E402

failed = 0


def holds(what, value):
    global failed
    if not value:
        failed += 1
        print("FAILED", what)


def fails(kind, text, f, *given, **named):
    """A call raises this error, in these words."""
    try:
        f(*given, **named)
        found = "no error"
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    holds(f"{kind.__name__}: {text}; found {found}", found == f"{kind.__name__}: {text}")


def near(found, expected, most):
    return found.shape == expected.shape and np.all(np.abs(found.astype("d") - expected) <= most)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def results():
    rng = np.random.default_rng(1)
    for dtype, most in (("d", 1e-15), ("f", 1e-6), ("e", 2e-3)):
        x = rng.normal(size=(7, 33)).astype(dtype)
        wide = x.astype("d")
        y = ours.softmax(x)
        holds(f"softmax {dtype}", type(y) is np.ndarray and y.dtype == x.dtype and near(y, softmax(wide), most))
        holds("out is what is returned", ours.softmax(x, out=y) is y and near(y, softmax(wide), most))
        holds("in place", ours.softmax(y, out=y) is y and near(y, softmax(softmax(wide)), most))
        holds("by name", near(ours.relu(x=x), np.maximum(wide, 0), 0))
        for shape in ((), (231,), (7, 3, 11), (1, 7, 1, 33), (0,), (3, 0)):
            holds(f"relu {shape}", near(ours.relu(np.resize(x, shape)), np.maximum(np.resize(wide, shape), 0), 0))
        for shape in ((33,), (7, 3, 11), (2, 0, 5), (2, 5, 0)):
            z = np.resize(x, shape)
            holds(f"softmax {shape}", near(ours.softmax(z), softmax(np.resize(wide, shape)) if z.size else z, most))
        w = rng.normal(size=(33, 5)).astype(dtype)
        for a in (x, x[0], np.resize(x, (2, 3, 33))):
            product = a.astype("d") @ w.astype("d")
            holds(f"matmul {a.shape}", near(ours.matmul(a, w), product, 40 * most))
        dy = rng.normal(size=x.shape).astype(dtype)
        s = softmax(wide)
        slope = s * (dy - (s * dy).sum(-1, keepdims=True, dtype="d"))
        holds("softmax_backward", near(ours.softmax_backward(x, dy), slope, 4 * most))
    large = rng.normal(size=(300, 300))
    holds("a workspace", near(ours.matmul(large, large), large @ large, 1e-11))
    r = ours.argmax(large.ravel())
    holds("an index", r.dtype == np.int64 and r.shape == () and r == large.argmax())
    q, scale = ours.quantise_dynamic(large.astype("f"))
    holds("two results", q.dtype == np.int8 and scale.shape == (300,) and near(q * scale[:, None], large, scale.max()))
    given = np.empty_like(q), np.empty_like(scale)
    found = ours.quantise_dynamic(large.astype("f"), out=given)
    holds("two given", found[0] is given[0] and found[1] is given[1] and np.all(given[0] == q))
    holds("f32 where nothing says", ours.dequantise(q, 1, 0.5).dtype == np.float32)
    half = ours.dequantise(q, 1, scale=0.5, out=np.empty(q.shape, "e"))
    holds("the type of out", near(half, (q.astype("d") - 1) * 0.5, 0))
    ones = np.ones(1000)
    kept = ours.dropout(ones, 3, 5, p=0.25)
    holds("integers", 600 < np.count_nonzero(kept) < 900 and np.all(kept == ours.dropout(ones, np.int64(3), 5, 0.25)))
    holds("of any shape", np.all(ours.dropout(ones.reshape(2, 5, 100), 3, 5, 0.25).ravel() == kept))
    holds("another seed", np.any(kept != ours.dropout(ones, 4, 5, 0.25)))
    holds("names of Python's", np.all(ours.pass_(lambda_=2 * ones, out_=ones) == 2))
    x = np.ones((2, 3))
    fails(TypeError, "spread: y: expected out=, for no input has its axis 'o'", ours.spread, x)
    holds("an axis of out's", np.all(ours.spread(x, out=np.empty((2, 5))) == 3))
    holds(
        "documentation",
        ours.softmax.__text_signature__ == "(x, *, out=None)" and "over each row" in ours.softmax.__doc__,
    )


def errors():
    x, ro = np.ones((2, 3), "f"), np.ones((2, 3), "f")
    ro.flags.writeable = False
    s, of = "softmax: ", "float32, float64, float16 or bfloat16"
    gaps = (
        ": expected elements without gaps, the last axis side by side, found other strides; make a copy without, such "
    )
    gaps += "as numpy.ascontiguousarray(x) or x.contiguous()"
    fails(TypeError, f"{s}x: expected elements of {of}, found int32", ours.softmax, x.astype("i"))
    fails(TypeError, f"{s}x: expected elements of {of}, found >f4", ours.softmax, x.astype(">f4"))
    fails(TypeError, f"{s}x: expected elements of {of}, found complex64", ours.softmax, x.astype("F"))
    fails(TypeError, f"{s}x: expected elements of {of}, found object", ours.softmax, x.astype("O"))
    fails(TypeError, f"{s}x: expected elements of {of}, found the format 'i'", ours.softmax, array.array("i", [1]))
    fails(TypeError, f"{s}x: expected an array of {of}, found an object of the class list", ours.softmax, [1.0])
    fails(TypeError, f"{s}y: expected elements of float32, found float64", ours.softmax, x, out=x.astype("d"))
    fails(TypeError, "matmul: b: expected elements of float32, found float64", ours.matmul, x, x.astype("d"))
    fails(TypeError, "argmax: r: expected elements of int64, found float32", ours.argmax, x[0], out=np.empty((), "f"))
    fails(ValueError, f"{s}x{gaps}", ours.softmax, x.T)
    fails(ValueError, f"{s}y{gaps}", ours.softmax, x, out=np.empty((2, 6), "f")[:, ::2])
    fails(ValueError, f"{s}y: expected an array to write to, found one that is read-only", ours.softmax, x, out=ro)
    holds("a read-only input", np.all(ours.softmax(ro) > 0.3))
    fails(ValueError, f"{s}y: expected the shape (2, 3), found (3, 2)", ours.softmax, x, out=np.empty((3, 2), "f"))
    fails(
        ValueError, f"{s}y: expected the shape (2, 3), found (1, 2, 3)", ours.softmax, x, out=np.empty((1, 2, 3), "f")
    )
    fails(ValueError, "matmul: b: expected the shape (3, n), found (2, 3)", ours.matmul, x, x)
    fails(ValueError, "matmul: b: expected the shape (3, n), found (3,)", ours.matmul, x, x[0])
    fails(ValueError, "argmax: x: expected the shape (n,), found (2, 3)", ours.argmax, x)
    fails(ValueError, f"{s}x: expected the shape (rows, cols), found ()", ours.softmax, np.float32(1))
    fails(
        ValueError,
        f"{s}y: expected memory of its own, found some of x's",
        ours.softmax,
        x[:1],
        out=x.ravel()[1:4][None],
    )
    fails(
        ValueError,
        "quantise_dynamic: scale: expected memory of its own, found some of x's",
        ours.quantise_dynamic,
        x,
        out=(x.view("b")[:, :3].copy(), x.ravel()[:2]),
    )
    odd = np.zeros(9, "u1")[1:].view("f")
    fails(
        ValueError,
        f"relu: x: expected an address that is a multiple of 4 bytes, found {odd.ctypes.data:#x}",
        ours.relu,
        odd,
    )
    fails(TypeError, f"{s}expected an argument 'x', found none", ours.softmax)
    fails(TypeError, f"{s}expected at most 1 positional arguments, found 2", ours.softmax, x, x)
    fails(TypeError, f"{s}found an unknown argument 'z'", ours.softmax, x, z=x)
    fails(TypeError, f"{s}found 'x' twice", ours.softmax, x, x=x)
    fails(TypeError, "dropout: p: expected a number, found an object of the class str", ours.dropout, x[0], 1, 2, "p")
    fails(
        ValueError,
        "dropout: seed: expected an integer of 64 bits, found a larger one",
        ours.dropout,
        x[0],
        1 << 64,
        2,
        0.5,
    )
    fails(TypeError, "quantise_dynamic: out: expected a tuple of 2 arrays", ours.quantise_dynamic, x, out=x)
    fails(
        TypeError,
        "relu: expected out=, for nothing is known that makes arrays of the class array",
        ours.relu,
        array.array("f", [1]),
    )


class Lender:
    """An array that has DLPack alone: of another device, another type, an older version, on request."""

    def __init__(self, of, device=(1, 0), versions=True, bits=None):  # number 9: it lends nothing
        self.of, self.device, self.versions, self.bits = of, device, versions, bits

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **given):
        if given and not self.versions:
            raise TypeError("of no such argument")
        if self.device[1] == 9:
            raise BufferError(f"none\nof {self.device}")
        capsule = self.of.__dlpack__(**given)
        if self.bits:  # a tensor's type stands behind its data, device and number of axes
            name = PyCapsule_GetName(capsule)
            at = PyCapsule_GetPointer(capsule, name) + (32 if name == b"dltensor_versioned" else 0) + 20
            ctypes.c_uint32.from_address(at).value = self.bits
        return capsule


def prototype(result, *given):
    return ctypes.PYFUNCTYPE(result, *given)


PyCapsule_GetName = prototype(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
PyCapsule_GetPointer = prototype(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
BFLOAT16 = 4 | 16 << 8 | 1 << 16


def tensors():
    x = np.linspace(-1, 1, 12, dtype="f").reshape(3, 4)
    expected, out = softmax(x.astype("d")), np.empty_like(x)
    for versions in (True, False):
        lent = Lender(out, versions=versions)
        holds("DLPack", ours.softmax(Lender(x, versions=versions), out=lent) is lent and near(out, expected, 1e-6))
        out[:] = 0
    bits = (x.view("u4") >> 16).astype("u2")  # of x cut off
    narrow, found = (bits.astype("u4") << 16).view("f"), np.empty_like(bits)
    ours.relu(Lender(bits, bits=BFLOAT16), out=Lender(found, bits=BFLOAT16))
    holds("bfloat16", np.all((found.astype("u4") << 16).view("f") == np.maximum(narrow, 0)))
    read_only = x.copy()
    read_only.flags.writeable = False
    of = "float32, float64, float16 or bfloat16"
    fails(ValueError, "softmax: x: none", ours.softmax, Lender(x, device=(1, 9)))
    fails(
        ValueError,
        "softmax: x: expected an array in the processor's memory, found one on cuda:1",
        ours.softmax,
        Lender(x, device=(2, 1)),
    )
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # before, NumPy itself refused
        fails(
            ValueError,
            "softmax: y: expected an array to write to, found one that is read-only",
            ours.softmax,
            x,
            out=Lender(read_only),
        )
    fails(TypeError, f"softmax: x: expected elements of {of}, found int32", ours.softmax, Lender(x.astype("i")))
    fails(
        TypeError,
        "softmax: expected out=, for nothing is known that makes arrays of the class Lender",
        ours.softmax,
        Lender(x),
    )
    gaps = (
        ": expected elements without gaps, the last axis side by side, found other strides; make a copy without, such "
    )
    gaps += "as numpy.ascontiguousarray(x) or x.contiguous()"
    fails(ValueError, f"softmax: x{gaps}", ours.softmax, Lender(x.T))


def exchange():
    from exchanger import Exchanger, lend_functions

    lend_functions()
    x = np.linspace(-1, 1, 12).reshape(3, 4)
    y = ours.softmax(Exchanger(x))
    holds("DLPack's exchange", type(y) is Exchanger and near(y.of, softmax(x), 1e-15))
    out = Exchanger(np.empty_like(x))
    holds("its out", ours.softmax(Exchanger(x), out=out) is out and near(out.of, softmax(x), 1e-15))
    holds("its index", type(ours.matmul(Exchanger(x[:1]), Exchanger(x.reshape(4, 3))).of) is np.ndarray)
    fails(ValueError, "matmul: b: expected the shape (4, n), found (3, 4)", ours.matmul, Exchanger(x), Exchanger(x))
    out.device = (2, 0)
    elsewhere = "expected an array in the processor's memory, found one on cuda:0"
    fails(ValueError, f"softmax: y: {elsewhere}", ours.softmax, x, out=out)


def memory():
    """Nothing is held after a call, right or wrong, and nothing grows."""
    x, out, q = np.ones((5, 6), "f"), np.empty((5, 6), "f"), np.ones(4)
    lent, lent_out, far, broken = Lender(x), Lender(out), Lender(x, device=(2, 3)), Lender(x, device=(1, 9))
    whole = x.astype("i")

    def wrong(*given, **named):
        try:
            ours.softmax(*given, **named)
        except (TypeError, ValueError):
            return
        raise AssertionError

    calls = [
        lambda: ours.softmax(x),
        lambda: ours.softmax(x, out=out),
        lambda: ours.softmax(lent, out=lent_out),
        lambda: ours.quantise_dynamic(x),
        lambda: ours.dropout(q, 1, 2, 0.5),
        lambda: wrong(x.T),
        lambda: wrong(lent),
        lambda: wrong(x, out=q),
        lambda: wrong(x, out=1),
        lambda: wrong(1),
        lambda: wrong(x, z=1),
        lambda: wrong(whole),
        lambda: wrong(far),
        lambda: wrong(broken),
        lambda: ours.matmul(x, x.reshape(6, 5)),
    ]
    held = [
        x,
        out,
        q,
        lent,
        lent_out,
        far.device,
        np.dtype("i"),
        ours.softmax,
        np.empty_like,
        float,
        np.ndarray,
        BufferError,
        Lender,
        None,
    ]

    def many(times):
        for call in calls:
            for _ in range(times):
                call()
        gc.collect()

    many(100)
    before, blocks = [sys.getrefcount(o) for o in held], sys.getallocatedblocks()
    many(100000 // len(calls))
    after, blocks = [sys.getrefcount(o) for o in held], sys.getallocatedblocks() - blocks
    holds(
        f"references: {before} {after}", all(abs(a - b) < 20 for a, b in zip(before, after) if a < 1 << 30)
    )  # more: immortal
    holds(f"memory: {blocks} blocks more", blocks < 100)


def random_calls():
    """Whatever is given is taken, or refused in one line."""
    draw = random.Random(5)

    def anything():
        if draw.random() < 0.1:
            return draw.choice([1, 2.5, None, "x", [1.0], b"abcd", 1 << 70, -1, np.float32(2), object, ()])
        shape = [draw.choice([0, 1, 2, 3, 3, 3, 5]) for _ in range(draw.choice([0, 1, 1, 2, 2, 2, 3, 4]))]
        a = np.ones(shape, draw.choice("ffffffdelbBi?FO"))
        way = draw.randrange(9)
        if way == 0:
            return a.T
        if way == 1:
            return a[..., ::-1] if shape else a
        if way == 2:
            a.flags.writeable = False
        return Lender(a) if way == 3 else np.broadcast_to(a, (2, *a.shape)) if way == 4 else a

    counts = {"taken": 0, "refused": 0}
    for _ in range(20000):
        name = draw.choice(ours.__all__)
        call = getattr(ours, name)
        parameters = call.__text_signature__[1:].split(", *")[0].split(", ")
        given = [anything() for _ in range(len(parameters) + draw.choice([0, 0, 0, 0, -1, 1]))]
        given = [given[0] if draw.random() < 0.5 else value for value in given]
        given = [draw.random() if p in ("p", "eps", "scale") else value for p, value in zip(parameters, given)]
        named = {"out": draw.choice([anything(), (anything(), anything()), given])} if draw.random() < 0.3 else {}
        try:
            call(*given, **named)
            counts["taken"] += 1
        except (TypeError, ValueError) as error:
            counts["refused"] += 1
            holds(f"{error}: is a line", str(error).startswith(name + ": ") and "\n" not in str(error))
    holds(f"random calls: {counts}", min(counts.values()) > 500)


def threads():
    """Calls that are large let others run, and classes are known by many at once."""
    x = np.random.default_rng(2).normal(size=(400, 500))
    expected, wrong = softmax(x), []

    def call():
        for _ in range(20):
            if not near(ours.softmax(x), expected, 1e-15):
                wrong.append(1)

    all_of_them = [threading.Thread(target=call) for _ in range(4)]
    for thread in all_of_them:
        thread.start()
    for thread in all_of_them:
        thread.join()
    holds("threads", not wrong)


def ops_of_torch():
    holds("PyTorch is left alone", "torch" not in sys.modules)
    sys.path.insert(0, str(Path(__file__).parent / "stand_in"))
    import ours.torch as ops
    import torch

    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5))
    for name, given in {
        "softmax": (x,),
        "relu": (x,),
        "gelu": (x[0],),
        "matmul": (x, w),
        "layernorm": (x, x[0, 0], x[1, 1], 1e-3),
        "dropout": (x.ravel(), 3, 5, 0.25),
        "argmax": (x.ravel(),),
        "recurrence": (x[0], x[1]),
    }.items():
        op = getattr(ops, name)
        holds(f"{name} is ours::{name}", torch.library.ops.get("ours::" + name) is op)

        def run(*values):
            return op(*(torch.Tensor(v) if isinstance(v, np.ndarray) else v for v in values)).array

        y = run(*given)
        holds(f"torch's {name}", np.all(y == getattr(ours, name)(*given)))
        if name in ("argmax", "relu"):
            holds("no gradient", op.backward is None)
            continue
        dy = rng.normal(size=y.shape)
        tensors = [torch.Tensor(v) if isinstance(v, np.ndarray) else v for v in given]
        found = op.gradient(tensors, [torch.Tensor(dy.T.copy().T)])
        holds(f"{name}: a derivative by each argument", len(found) == len(given))
        for i, value in enumerate(given):
            if not isinstance(value, np.ndarray):
                holds(f"{name}: none by a number", found[i] is None)
                continue
            way, step = rng.normal(size=value.shape), 1e-6
            ends = [run(*given[:i], value + sign * step * way, *given[i + 1 :]) for sign in (1, -1)]
            slope = np.sum((ends[0] - ends[1]) / (2 * step) * dy)
            holds(f"{name}: the derivative by argument {i}", abs(np.sum(found[i].array * way) - slope) < 1e-6)
    pair = [torch.Tensor(x[0]), torch.Tensor(x[1])]
    alone = ops.recurrence.gradient(pair, [torch.Tensor(x[0])], [False, True])
    holds("only what is needed", alone[0] is None and alone[1] is not None)
    holds("no op of unknown axes", not hasattr(ops, "spread"))


def plain():
    x, y = array.array("f", [1, -2, 3]), array.array("f", [0, 0, 0])
    holds("arrays of Python's own", ours.relu(x, out=y) is y and list(y) == [1, 0, 3])
    z = (ctypes.c_double * 2)(-1, 4)
    holds("ctypes", list(ours.relu(z, out=z)) == [0, 4])
    fails(ValueError, "relu: y: expected the shape (3,), found (2,)", ours.relu, x, out=array.array("f", [0, 0]))
    holds("neither is imported", "numpy" not in sys.modules and "torch" not in sys.modules)


def time():
    x, out = np.ones(100, "f"), np.ones(100, "f")
    names = {"x": x, "out": out, "relu": ours.relu, "add": np.add}
    found = {}
    for call in ("relu(x, out=out)", "add(x, x, out=out)"):
        found[call] = min(timeit.repeat(call, globals=names, number=20000, repeat=15)) / 20000 * 1e9
    print(", ".join(f"{call} {ns:.0f} ns" for call, ns in found.items()))
    holds("as fast as numpy.add", found["relu(x, out=out)"] <= found["add(x, x, out=out)"])


if WHAT != "plain":
    import numpy as np
for step in {
    "numpy": [results, errors, tensors, exchange, memory, random_calls, threads, ops_of_torch],
    "plain": [plain],
    "time": [time],
}[WHAT]:
    step()
sys.exit(failed > 0)
