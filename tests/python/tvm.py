"""Functions of a package for TVM-FFI: tvm.py FOLDER NAME [STAND_IN [cuda]]. They are loaded by tvm_ffi; with STAND_IN,
a library that takes errors in its place, by ctypes. Arrays are NumPy's; on the tests' emulator of CUDA these are a
GPU's."""
import ctypes
import importlib
import sys
from pathlib import Path

import numpy

folder, name = sys.argv[1:3]
device = 2 if sys.argv[4:] == ["cuda"] else 1
sys.path.insert(0, folder)
failed = 0


def expect(what, holds):
    global failed
    if not holds:
        failed += 1
        print("expected", what)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("number", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Value(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("number", ctypes.c_double), ("at", ctypes.c_void_p)]


class Any(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", Value)]


def tensor_of(array):
    extents = ctypes.c_int64 * max(1, array.ndim)
    shape, strides = extents(*array.shape), extents(*(s // array.itemsize for s in array.strides))
    code = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[array.dtype.kind]
    return Tensor(array.ctypes.data, device, 0, array.ndim, code, 8 * array.itemsize, 1, shape, strides, 0)


def by_ctypes(path, stand_in):
    errors = ctypes.CDLL(stand_in, mode=ctypes.RTLD_GLOBAL)
    errors.kind.restype = errors.message.restype = ctypes.c_char_p
    library = ctypes.CDLL(path)
    kinds = {"TypeError": TypeError, "ValueError": ValueError}

    def function(op):
        def call(*given):
            tensors = [tensor_of(a) if isinstance(a, numpy.ndarray) else None for a in given]
            values = (Any * len(given))()
            for value, a, tensor in zip(values, given, tensors):
                if tensor:
                    value.type, value.value.at = 7, ctypes.addressof(tensor)
                elif a is None:
                    value.type = 0
                elif isinstance(a, int):
                    value.type, value.value.integer = 1, a
                else:
                    value.type, value.value.number = 3, a
            result = Any(99)
            if getattr(library, "__tvm_ffi_" + op)(None, values, len(given), ctypes.byref(result)):
                raise kinds[errors.kind().decode()](errors.message().decode())
            expect("nothing as the result", result.type == 0)
        return call
    return function


def by_tvm_ffi():
    module = importlib.import_module(name + ".tvm_ffi")
    expect("a library", module.library.exists())
    return lambda op: getattr(module, op)


def refused(kind, words, function, *given):
    try:
        function(*given)
        expect(f"'{words}'", False)
    except kind as error:
        expect(f"'{words}', found '{error}'", words in str(error))


if len(sys.argv) > 3:
    op = by_ctypes(str(next((Path(folder) / name).glob("_tvm_ffi*.so"))), sys.argv[3])
else:
    op = by_tvm_ffi()
random = numpy.random.default_rng(7)
for dtype in (numpy.float32,) if device == 2 else (numpy.float32, numpy.float64):
    x = random.standard_normal((3, 5, 7)).astype(dtype)
    y = numpy.empty_like(x)
    op("softmax")(x, y)
    e = numpy.exp(x - x.max(-1, keepdims=True))
    expect("a softmax", numpy.allclose(y, e / e.sum(-1, keepdims=True), rtol=1e-5))
    a, b, c = (random.standard_normal(s).astype(dtype) for s in ((40, 50), (50, 60), (40, 60)))
    op("matmul")(a, b, c)
    expect("a product", numpy.allclose(c, a @ b, rtol=1e-4, atol=1e-4))
    rows, gamma, beta = (random.standard_normal(s).astype(dtype) for s in ((4, 9), (9,), (9,)))
    normed = numpy.empty_like(rows)
    op("layernorm")(rows, gamma, beta, normed, 1e-5)
    right = (rows - rows.mean(-1, keepdims=True)) / numpy.sqrt(rows.var(-1, keepdims=True) + 1e-5) * gamma + beta
    expect("a layernorm", numpy.allclose(normed, right, rtol=1e-4, atol=1e-4))
    op("gelu")(x, x)
    expect("in place", not numpy.array_equal(x, y))
largest = numpy.zeros(1, numpy.int64)
dropped = numpy.empty(1000, numpy.float32)
op("dropout")(numpy.ones(1000, numpy.float32), 5, 0, dropped, 0.5)
expect("half of them", 300 < (dropped == 0).sum() < 700)

x, y = numpy.ones((4, 8), numpy.float32), numpy.ones((4, 8), numpy.float32)
softmax = op("softmax")
refused(TypeError, "softmax: expected 1 inputs, 1 outputs and 0 numbers, found 1 arguments", softmax, x)
refused(TypeError, "softmax: x: expected a tensor, found", softmax, None, y)
refused(TypeError, "softmax: x: expected elements of", softmax, x.astype(numpy.int16), y)
refused(TypeError, "softmax: y: expected elements of float32, found float64", softmax, x, y.astype(numpy.float64))
refused(ValueError, "softmax: y: expected 8 along its axis 'cols' as in the operands before it, found 7", softmax, x,
        numpy.ones((4, 7), numpy.float32))
refused(ValueError, "softmax: y: expected 4 along its axis 'rows'", softmax, x, numpy.ones((3, 8), numpy.float32))
refused(ValueError, "softmax: x: expected 2 axes or more, found 0", softmax, numpy.array(1, numpy.float32), y)
refused(ValueError, "softmax: x: expected elements without gaps", softmax, numpy.ones((4, 16), numpy.float32)[:, ::2], y)
refused(ValueError, "softmax: y: expected memory of its own, found some of x's", softmax, x[:3], x[1:])
refused(TypeError, "layernorm: eps: expected a number", op("layernorm"), x, x[0].copy(), x[0].copy(), y, None)
sys.exit(failed > 0)
