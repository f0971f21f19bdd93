"""Another library's way to an op's results, computed and timed for the bench program that started this.

usage: peer.py LIBRARY LINE, as the bench program calls it: LINE is a socket, by its number

Requests and answers are lines. The first answer says which library was found. Then each of
    load NUMBER BYTES FILE    and lines with an expression, its operands and scalars, and a last line `end`
    time NUMBER CALLS         computes what was loaded so often, and leaves the last results in the file
    drop NUMBER
is answered by `ok FIGURE` (time: nanoseconds for all calls) or `no REASON`. The file is memory that both processes
have. Inputs are copied out of it: they lie where the library itself puts what it computes.
"""

import ast
import itertools
import math
import mmap
import os
import socket
import sys
import time

# No operand's name begins with an underscore.
LOOP = """
def _timed(_calls, _clock, _repeat, {names}):
    _start = _clock()
    for _ in _repeat(None, _calls):
        pass
    return _clock() - _start, _result
"""


class Refused(Exception):
    """What a library cannot do, in words for a row of the table."""


def statements_of(expression):
    """The statements ahead of an expression, and the expression."""
    *statements, last = ast.parse(expression).body
    if not isinstance(last, ast.Expr):
        raise Refused(f"expected an expression at the end of '{expression}'")
    return statements, last.value


def loop_of(statements, value, names, known):
    """A function of calls, a clock, itertools.repeat and the operands that computes so often, as if written out."""
    tree = ast.parse(LOOP.format(names=", ".join(names)))
    assign = ast.Assign([ast.Name("_result", ast.Store())], value)
    tree.body[0].body[1].body = [*statements, assign]
    exec(compile(ast.fix_missing_locations(tree), "peer", "exec"), known)
    return known["_timed"]


class Numpy:
    """Operands as NumPy has them; what a ufunc computes last goes into the result's own memory."""

    def __init__(self):
        import numpy
        self.np = numpy
        self.version = f"NumPy {numpy.__version__}"
        self.types = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "i64": numpy.int64,
                      "i8": numpy.int8, "u8": numpy.uint8}
        self.known = {"np": numpy}
        numpy.seterr(all="ignore")
        try:
            import scipy.special
            self.known |= {"erf": scipy.special.erf, "erfc": scipy.special.erfc}
        except ImportError:
            pass

    def view(self, memory, offset, dtype, shape):
        if dtype not in self.types:
            raise Refused(f"NumPy has no {dtype}")
        count = math.prod(shape)
        return self.np.frombuffer(memory, self.types[dtype], count, offset).reshape(shape)

    def copy(self, view):
        return view.copy()

    def into(self, value):
        """The expression with `_out` as the place of its result, where its last step is a ufunc's."""
        operators = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
                     ast.Pow: "power", ast.MatMult: "matmul"}
        name = None
        if isinstance(value, ast.BinOp) and type(value.op) in operators:
            name, arguments = operators[type(value.op)], [value.left, value.right]
        elif (isinstance(value, ast.Call) and not value.keywords and isinstance(value.func, ast.Attribute)
              and isinstance(value.func.value, ast.Name) and value.func.value.id == "np"
              and isinstance(getattr(self.np, value.func.attr, None), self.np.ufunc)):
            name, arguments = value.func.attr, value.args
        if not name:
            return value
        function = ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())
        return ast.Call(function, arguments, [ast.keyword("out", ast.Name("_out", ast.Load()))])

    def prepare(self, expression, inputs, outputs):
        statements, value = statements_of(expression)
        for node in ast.walk(ast.parse(expression)):
            if isinstance(node, ast.Name) and node.id in ("erf", "erfc", "random") and node.id not in self.known:
                raise Refused(f"NumPy has no {node.id}" + (", which SciPy has" if node.id != "random" else ""))
        plain = loop_of(statements, value, inputs, dict(self.known))
        _, result = plain(1, time.perf_counter_ns, itertools.repeat, **inputs)
        out = next(iter(outputs.values()))
        # A result of another type or shape, as of a mean over integers, has no place in the op's own.
        if not (isinstance(result, self.np.ndarray) and result.shape == out.shape and result.dtype == out.dtype
                and result.ndim):
            return plain, inputs
        inputs = inputs | {"_out": self.np.empty_like(out)}
        return loop_of(statements, self.into(value), inputs, dict(self.known)), inputs

    def store(self, result, view):
        self.np.copyto(view, result, casting="unsafe")

    def shape(self, result):
        return self.np.shape(result)


class Torch:
    """Operands as PyTorch's tensors on the processor; compiled: by torch.compile."""

    def __init__(self, compiled):
        import torch
        import torch.nn.functional
        self.torch, self.compiled = torch, compiled
        if compiled and not hasattr(torch, "compile"):
            raise ImportError
        self.version = f"PyTorch {torch.__version__}"
        self.types = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
                      "i64": torch.int64, "i8": torch.int8, "u8": torch.uint8}
        self.known = {"torch": torch, "F": torch.nn.functional}
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        torch.set_grad_enabled(False)

    def view(self, memory, offset, dtype, shape):
        if dtype not in self.types:
            raise Refused(f"PyTorch has no {dtype}")
        count = math.prod(shape)
        if count == 0:
            return self.torch.empty(shape, dtype=self.types[dtype])
        return self.torch.frombuffer(memory, dtype=self.types[dtype], count=count, offset=offset).reshape(shape)

    def copy(self, view):
        return view.clone()

    def prepare(self, expression, inputs, outputs):
        statements, value = statements_of(expression)
        if not self.compiled:
            return loop_of(statements, value, inputs, dict(self.known)), inputs
        tree = ast.parse(f"def once({', '.join(inputs)}):\n    pass")
        tree.body[0].body = [*statements, ast.Return(value)]
        known = dict(self.known)
        exec(compile(ast.fix_missing_locations(tree), "peer", "exec"), known)
        self.torch._dynamo.reset()
        known["once"] = self.torch.compile(known["once"], dynamic=False, fullgraph=True)
        call = ast.parse(f"once({', '.join(inputs)})").body[0].value
        return loop_of([], call, inputs, known), inputs

    def store(self, result, view):
        view.copy_(result)

    def shape(self, result):
        return tuple(result.shape)


LIBRARIES = {"numpy": Numpy, "torch": lambda: Torch(False), "torch.compile": lambda: Torch(True)}


class Problem:
    """What was loaded: a function that is timed, what it is called with, and the places of its results."""

    def __init__(self, library, memory, lines):
        self.library, self.inputs, self.outputs = library, {}, {}
        expression = ""
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "expression":
                expression = rest
            elif word == "scalar":
                name, value = rest.split()
                self.inputs[name] = float(value)
            else:
                name, dtype, offset, *shape = rest.split()
                view = library.view(memory, int(offset), dtype, tuple(map(int, shape)))
                if word == "output":
                    self.outputs[name] = view
                else:
                    self.inputs[name] = library.copy(view)
        self.timed, self.inputs = library.prepare(expression, self.inputs, self.outputs)

    def time(self, calls):
        taken, result = self.timed(calls, time.perf_counter_ns, itertools.repeat, **self.inputs)
        results = result if isinstance(result, (tuple, list)) else (result,)
        if len(results) != len(self.outputs):
            raise Refused(f"expected {len(self.outputs)} results ({', '.join(self.outputs)}), found {len(results)}")
        for (name, view), one in zip(self.outputs.items(), results):
            shape, found = tuple(view.shape), self.library.shape(one)
            if shape != found:
                raise Refused(f"expected {name} of shape {shape}, found {found}")
            self.library.store(one, view)
        return taken


def lines_of(stream):
    """The lines of a request after its first."""
    return list(itertools.takewhile(lambda line: line != "end", (line.rstrip("\n") for line in stream)))


def answer(library, problems, request, stream):
    word, number, *rest = request.split()
    if word == "load":
        lines = lines_of(stream)
        with open(rest[1], "r+b") as file:
            memory = mmap.mmap(file.fileno(), int(rest[0]))
        problems[number] = Problem(library, memory, lines)
    elif word == "drop":
        problems.pop(number, None)
    else:
        return problems[number].time(int(rest[0]))
    return 0


def serve(library, stream):
    problems = {}
    for request in stream:
        try:
            said = f"ok {answer(library, problems, request, stream)}"
        except Exception as error:  # whatever a library does
            reason = str(error) if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
            said = "no " + " ".join(reason.split())[:200]
        stream.write(said + "\n")
        stream.flush()


def main():
    name, line = sys.argv[1], int(sys.argv[2])
    with socket.socket(fileno=line).makefile("rw") as stream:
        try:
            library = LIBRARIES[name]()
        except ImportError as error:
            stream.write(f"no {error}\n")
            return
        stream.write(f"ok {library.version}, Python {sys.version.split()[0]}\n")
        stream.flush()
        serve(library, stream)


if __name__ == "__main__":
    main()
