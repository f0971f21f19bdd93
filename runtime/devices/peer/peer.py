"""Another library's way to an op's results, computed and timed for the bench program that started this.

usage: peer.py LIBRARY LINE, as the bench program calls it: LINE is a socket, by its number

Requests and answers are lines. The first answer says which library was found. Then each of
    load NUMBER BYTES FILE    and lines that say what is to be computed, and a last line `end`
    time NUMBER CALLS         computes what was loaded so often
    cool NUMBER               timed calls find their operands in no cache from here on; 0 where they cannot
    fetch NUMBER OUTPUT AT BYTES    puts these bytes of the last results into the file
    idle NUMBER               does what `time NUMBER 1` does beside the call of a function that is judged
    drop NUMBER
is answered by `ok FIGURE` (time: nanoseconds for all calls; load: 1 where the library draws random numbers of its
own) or `no REASON`. The file is memory that both processes have; a
number is that of one which is open here. Inputs are copied out of it: they lie where the
library itself puts what it computes.

The script is of several files, put one after the other (process.c): calls.py, with_numpy.py, with_torch.py,
with_foreign.py, this one. LIBRARY may be FILE.py:FUNCTION as well, which is then what is computed.
"""

import itertools
import mmap
import socket
import sys

LIBRARIES = {"numpy": Numpy, "torch": lambda: Torch(False), "torch.compile": lambda: Torch(True),
             "torch_cuda": lambda: TorchOnGpu(False), "torch.compile_cuda": lambda: TorchOnGpu(True)}


class Work:
    """What is to be computed: an expression over operands; or its gradient by derivatives `given` of the expression's
    results, which go by the names in `results`."""

    def __init__(self, library, memory, lines):
        self.inputs, self.given, self.outputs, self.results = {}, {}, {}, []
        self.expression, self.gradient, self.device = "", False, None
        for line in lines:
            word, _, rest = line.partition(" ")
            if word == "expression":
                self.expression = rest
            elif word == "gradient":
                self.gradient, self.results = True, rest.split()
            elif word == "device":
                self.device = rest
            elif word == "scalar":
                name, value = rest.split()
                self.inputs[name] = float(value)
            elif word == "unread":
                name, dtype, *shape = rest.split()
                self.inputs[name] = library.ones(dtype, tuple(map(int, shape)), self.device)
            else:
                name, dtype, offset, *shape = rest.split()
                view = library.view(memory, int(offset), dtype, tuple(map(int, shape)))
                places = {"input": self.inputs, "given": self.given, "output": self.outputs}
                places[word][name] = view if word == "output" else library.copy(view, self.device)
        self.operands = self.inputs | self.given
        self.statements, self.value, self.later = statements_of(self.expression)

    def bytes(self):
        return sum(one.nbytes for one in [*self.operands.values(), *self.outputs.values()] if hasattr(one, "nbytes"))


class Problem:
    """What was loaded, and what it came to last."""

    def __init__(self, library, memory, lines):
        self.library, self.work = library, Work(library, memory, lines)
        self.calls = library.prepare(self.work)
        self.results, self.flat = (), {}
        self.later = {} if self.work.gradient else self.work.later

    def check_shape(self, nth):
        name, view = list(self.work.outputs.items())[nth]
        shape, found = tuple(view.shape), self.library.shape(self.results[nth])
        if shape != found:
            raise Refused(f"expected {name} of shape {shape}, found {found}")

    def time(self, calls):
        taken, result = self.calls.time(calls)
        self.results, self.flat = list(result) if isinstance(result, (tuple, list)) else [result], {}
        for place in self.later:
            self.results.insert(place, None)
        outputs = self.work.outputs
        if len(self.results) != len(outputs):
            raise Refused(f"expected {len(outputs)} results ({', '.join(outputs)}), found {len(self.results)}")
        for nth in range(len(outputs)):
            if nth not in self.later:
                self.check_shape(nth)
        return taken

    def fetch(self, nth, at, size):
        """Puts bytes of a result into the file, and all of the elements that they are of."""
        work, view = self.work, list(self.work.outputs.values())[nth].reshape(-1)
        if nth in self.later and self.results[nth] is None:
            once = function_of(work.statements, self.later[nth], work.inputs, dict(self.library.known))
            self.results[nth] = once(**work.inputs)
            self.check_shape(nth)
        if nth not in self.flat:
            self.flat[nth] = self.library.flat(self.results[nth])
        first, last = at // view.itemsize, -(-(at + size) // view.itemsize)
        self.library.store(self.flat[nth][first:last], view[first:last])


def lines_of(stream):
    """The lines of a request after its first."""
    return list(itertools.takewhile(lambda line: line != "end", (line.rstrip("\n") for line in stream)))


def answer(library, problems, request, stream):
    word, number, *rest = request.split()
    if word == "load":
        lines = lines_of(stream)
        if rest[1].isdigit():
            memory = mmap.mmap(int(rest[1]), int(rest[0]))
        else:
            with open(rest[1], "r+b") as file:
                memory = mmap.mmap(file.fileno(), int(rest[0]))
        problems.pop(number, None)
        problems[number] = Problem(library, memory, lines)
        return int(isinstance(problems[number].calls, Drawing))
    if word == "time":
        return problems[number].time(int(rest[0]))
    if word == "idle":
        problems[number].calls.idle()
        return 0
    if word == "cool":
        return int(problems[number].calls.cool())
    if word == "fetch":
        problems[number].fetch(*map(int, rest))
    elif word == "drop" and problems.pop(number, None):
        library.tidy()
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
            library = LIBRARIES[name]() if name in LIBRARIES else Foreign(name)
        except (ImportError, Refused) as error:
            stream.write(f"no {error}\n")
            return
        stream.write(f"ok {library.version}, Python {sys.version.split()[0]}\n")
        stream.flush()
        serve(library, stream)


if __name__ == "__main__":
    main()
