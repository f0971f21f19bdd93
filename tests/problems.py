"""Ops and problems as out/tests/problem-dump gives them, and NumPy's way to an op's results.

What is here shares nothing with the generator and the runtime but the table's plain facts.
"""

import ast
import dataclasses
import math
import subprocess

import numpy as np


@dataclasses.dataclass
class Operand:
    name: str
    kind: str  # float, integer or index
    dims: list  # positions in the op's dimensions
    along: int = -1  # of an index: the position of the dimension that it goes into


@dataclasses.dataclass
class Op:
    name: str
    dims: list = dataclasses.field(default_factory=list)
    operands: list = dataclasses.field(default_factory=list)
    inputs: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)
    scalars: list = dataclasses.field(default_factory=list)
    numpy: str = ""
    dtypes: list = dataclasses.field(default_factory=list)
    variants: dict = dataclasses.field(default_factory=dict)  # names by dtype


@dataclasses.dataclass
class Problem:
    dtype: str
    scalars: dict  # by name
    inputs: dict  # float64 or int64, each of its shape
    expected: dict  # the reference's outputs
    got: dict  # a variant's, where one was asked for

    def floats(self):
        return [a for a in self.inputs.values() if a.dtype == np.float64]


class Refused(Exception):
    """The program has no answer, for the reason that it gives."""


class Dump:
    """The program, for as long as it is asked."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ops = {}
        self._read_ops()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f"{self.process.args[0]} ended with status {self.process.wait()}")
        return line.decode().rstrip("\n")

    def _read_ops(self):
        op = None
        while (line := self._line()) != "end":
            word, _, rest = line.partition(" ")
            if word == "op":
                op = self.ops[rest] = Op(rest)
            elif word in ("input", "output"):
                name, kind, *dims = rest.split()
                kind, _, along = kind.partition(":")
                operand = Operand(name, kind, [int(d) for d in dims], int(along or -1))
                op.operands.append(operand)
                (op.inputs if word == "input" else op.outputs).append(operand)
            elif word == "numpy":
                op.numpy = rest
            elif word == "variant":
                dtype, name = rest.split()
                op.variants.setdefault(dtype, []).append(name)
            else:
                {"dim": op.dims, "scalar": op.scalars, "dtype": op.dtypes}[word].append(rest)

    def problem(self, op, dtype, size, seed, special=0, variant="-"):
        """Raises Refused, or EOFError where the program ended."""
        ask = f"{op.name} {dtype} {seed} {special} {variant} {' '.join(map(str, size))}\n"
        self.process.stdin.write(ask.encode())
        self.process.stdin.flush()
        line = self._line()
        if line.startswith("! "):
            raise Refused(line[2:])
        data, at = self.process.stdout.read(int(line)), 0
        if len(data) != int(line):
            raise EOFError(f"{self.process.args[0]} ended with status {self.process.wait()}")

        def take(kind, shape):
            nonlocal at
            array = np.frombuffer(data, np.float64 if kind == "float" else np.int64, math.prod(shape), at)
            at += array.nbytes
            return array.reshape(shape)

        def operands(list_of):
            return {o.name: take(o.kind, tuple(size[d] for d in o.dims)) for o in list_of}

        scalars = dict(zip(op.scalars, take("float", (len(op.scalars),))))
        values = operands(op.operands)
        return Problem(dtype, scalars, {o.name: values[o.name] for o in op.inputs},
                       {o.name: values[o.name] for o in op.outputs},
                       operands(op.outputs) if variant != "-" else {})


erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def philox(seed, offset, counters):
    """The four words of Philox4x32-10 for each of some counters (Salmon and others, SC 2011): the
    counter's low half is a number of these, its high half `offset`, its key `seed`."""
    low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
    key = [np.uint64(int(seed) & 0xFFFFFFFF), np.uint64(int(seed) >> 32 & 0xFFFFFFFF)]
    counters = np.asarray(counters, np.uint64)
    words = [counters & low, counters >> high, np.full_like(counters, int(offset) & 0xFFFFFFFF),
             np.full_like(counters, int(offset) >> 32 & 0xFFFFFFFF)]
    for number in range(10):
        if number:
            key = [(key[0] + np.uint64(0x9E3779B9)) & low, (key[1] + np.uint64(0xBB67AE85)) & low]
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [second >> high ^ words[1] ^ key[0], second & low, first >> high ^ words[3] ^ key[1], first & low]
    return words


def random(seed, offset, n, narrow):
    """Numbers in [0, 1) for n points: 24 bits of a word for each, or where narrow 16 bits."""
    words = np.stack(philox(seed, offset, np.arange(n // (8 if narrow else 4) + 1)), axis=-1).ravel()
    if narrow:
        halves = np.stack([words & np.uint64(0xFFFF), words >> np.uint64(16)], axis=-1).ravel()
        return halves[:n] / 2.0**16
    return (words[:n] >> np.uint64(8)) / 2.0**24


def evaluate(op, problem):
    """The outputs by the op's peers.numpy, a list of float64 or int64 arrays in the order of its outputs. It
    may use np, erf, erfc, random(seed, offset, n) and `shape`, that of the first output."""
    def random_of(seed, offset, n):
        return random(seed, offset, n, problem.dtype in ("f16", "bf16"))

    shape = problem.expected[op.outputs[0].name].shape
    names = {"np": np, "erf": erf, "erfc": erfc, "random": random_of, "shape": shape}
    names |= problem.scalars | problem.inputs
    *statements, last = ast.parse(op.numpy).body
    with np.errstate(all="ignore"):
        exec(compile(ast.Module(statements, []), "peers.numpy", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "peers.numpy", "eval"), names)
    return [np.asarray(v) for v in (value if isinstance(value, tuple) else (value,))]
