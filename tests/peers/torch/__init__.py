"""A PyTorch that is none: exp, dropout and its gradient, by NumPy, on a processor and on a GPU that is none either.

Time on the GPU is what is counted here: a call takes 1 us, and 2 us where its input has left the cache, which gives up
the oldest first. What is recorded is computed when it is replayed, and not before. FAKE_TORCH in the environment says
what goes wrong: `no GPU`; `stale`, graphs compute nothing; `scale`, dropout leaves elements as they are; `share`, it
drops too few.
"""

import contextlib
import os

import numpy

__version__ = "2.0.fake"
CACHE = 1 << 20


class Type:
    def __init__(self, code):
        self.code, self.is_floating_point = code, code[0] == "f"


float64, float32, float16, int64, int8, uint8 = (Type(code) for code in ("f8", "f4", "f2", "i8", "i1", "u1"))
bfloat16 = Type("f2")  # nobody asks for it


def asked(what):
    return os.environ.get("FAKE_TORCH") == what


class Machine:
    """The clock in microseconds, what the cache has seen, the numbers drawn, and what is being recorded."""
    now, read, seen, drawn, recorded = 0.0, 0, {}, 0, None

    @classmethod
    def run(cls, work, reads):
        if cls.recorded is not None:
            cls.recorded.append((work, reads))
            return
        work()
        at, size = reads.ctypes.data, 2 * reads.nbytes
        gone = cls.read - cls.seen.get(at, -CACHE) + size > CACHE
        cls.read += size
        cls.seen[at] = cls.read
        cls.now += 2 if gone else 1


class Tensor(numpy.ndarray):
    grad_by, device = None, "cpu"

    def __array_finalize__(self, of):
        self.device = getattr(of, "device", "cpu")

    def to(self, device):
        assert device.startswith("cuda:")
        copied = self.copy()
        copied.device = device
        return copied

    def clone(self):
        return self.copy()

    def detach(self):
        return self

    def requires_grad_(self):
        return self

    def copy_(self, other):
        self[...] = other

    def result(self, compute):
        """A new tensor that a function of it fills."""
        out = numpy.full_like(self, -7)
        Machine.run(lambda: compute(out), self)
        return out

    def exp(self):
        return self.result(lambda out: numpy.exp(self, out=out))


def dropout(x, p):
    kept = numpy.zeros_like(x)
    factor = 1 if asked("scale") else 1 / (1 - p)

    def compute(out):
        Machine.drawn += 1
        chances = numpy.random.default_rng(Machine.drawn).random(x.shape)
        kept[...] = (chances >= (p / 2 if asked("share") else p)) * factor
        out[...] = x * kept
    result = x.result(compute)
    result.grad_by = kept
    return result


def manual_seed(seed):
    Machine.drawn = 1000 * seed


def get_rng_state():
    return Machine.drawn


def equal(one, other):
    return one == other


def is_tensor(one):
    return isinstance(one, Tensor)


def frombuffer(memory, dtype, count, offset):
    return numpy.frombuffer(memory, dtype.code, count, offset).view(Tensor)


def ones(shape, dtype):
    return numpy.ones(shape, dtype.code).view(Tensor)


def set_num_threads(_):
    pass


def set_grad_enabled(_):
    pass


compiled = []


def compile(function, **_):
    from torch._dynamo import config
    compiled.append(function)
    if len(compiled) > config.recompile_limit:
        raise RuntimeError("recompile_limit reached")
    return function


enable_grad = contextlib.nullcontext


class autograd:
    @staticmethod
    def grad(results, leaves, given, retain_graph):
        assert retain_graph and len(results) == len(leaves) == len(given) == 1
        kept = results[0].grad_by
        return (given[0].result(lambda out: numpy.multiply(given[0], kept, out=out)),)


class cuda:
    class Stream:
        def __init__(self, device):
            assert device == "cuda:0"

        def synchronize(self):
            pass

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing
            self.at = None

        def record(self):
            self.at = Machine.now

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return (end.at - self.at) * 1e-3

    class CUDAGraph:
        def replay(self):
            for work, reads in self.works:
                Machine.run((lambda: None) if asked("stale") else work, reads)

    @staticmethod
    @contextlib.contextmanager
    def graph(graph, stream):
        Machine.recorded = graph.works = []
        yield
        Machine.recorded = None

    class properties:
        L2_cache_size = CACHE

    stream = contextlib.nullcontext
    get_rng_state = get_rng_state

    @staticmethod
    def get_device_properties(_):
        return cuda.properties

    @staticmethod
    def is_available():
        return not asked("no GPU")

    @staticmethod
    def mem_get_info(_):
        return 1 << 32, 1 << 32

    @staticmethod
    def synchronize(_):
        pass

    @staticmethod
    def set_device(device):
        assert device == "cuda:0"

    @staticmethod
    def empty_cache():
        pass
