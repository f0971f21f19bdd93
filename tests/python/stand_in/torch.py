"""As much of PyTorch as a package's torch.py uses, over NumPy. An op is held against what it says of its results."""

import numpy

float64, float32, float16, int64, int8, uint8 = "float64", "float32", "float16", "int64", "int8", "uint8"


class Tensor:
    device = "cpu"

    def __init__(self, array):
        self.array = array

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype.name)

    def detach(self):
        return self

    def contiguous(self):
        return Tensor(numpy.ascontiguousarray(self.array))

    def new_empty(self, shape, dtype=None):
        return Tensor(numpy.empty(shape, dtype or self.dtype))

    def __dlpack__(self, **given):
        return self.array.__dlpack__(**given)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def empty(shape, dtype, device):
    assert device == "cpu"
    return Tensor(numpy.empty(shape, dtype))


def empty_like(x):
    return Tensor(numpy.empty_like(x.array))


def listed(results):
    return results if isinstance(results, tuple) else (results,)


class Context:
    def save_for_backward(self, *tensors):
        assert all(isinstance(t, Tensor) for t in tensors)
        self.saved_tensors = tensors


class Op:
    fake = setup = backward = None

    def __init__(self, name, run, schema):
        self.name, self.run = name, run
        parameters, self.returns = schema.split(" -> ")
        self.kinds = [parameter.split()[0] for parameter in parameters[1:-1].split(", ")]

    def register_fake(self, fake):
        self.fake = fake

    def register_autograd(self, backward, *, setup_context):
        self.backward, self.setup = backward, setup_context

    def __call__(self, *given):
        for kind, value in zip(self.kinds, given, strict=True):
            assert isinstance(value, {"Tensor": Tensor, "int": int, "float": float}[kind]), (kind, value)
        found = self.run(*given)
        results, fakes = listed(found), listed(self.fake(*given))
        assert len(results) == len(fakes) == self.returns.count("Tensor")
        for result, fake in zip(results, fakes):
            assert isinstance(result, Tensor) and result.array.flags.c_contiguous
            assert (result.shape, result.dtype) == (fake.shape, fake.dtype), (result.shape, fake.shape, fake.dtype)
        return found

    def gradient(self, given, slopes, needed=None):
        context = Context()
        context.needs_input_grad = needed or [True] * len(given)
        self.setup(ctx=context, inputs=given, output=self(*given))
        return listed(self.backward(context, *slopes))


class library:
    ops = {}

    @staticmethod
    def custom_op(name, *, mutates_args, device_types, schema):
        assert mutates_args == () and device_types == "cpu"

        def of(run):
            op = library.ops[name] = Op(name, run, schema)
            return op

        return of
