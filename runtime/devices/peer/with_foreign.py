"""A function that somebody wrote, to be judged: the fourth part of peer.py's script."""

import importlib.util
import inspect
import random
import sys
import time


class ForeignCalls:
    """Calls of a function. Between two of them an element of an input changes every 100 us or so. After the last change
    inputs are as they were. Returned values are copied to the results within the time; a function with a parameter
    `out` writes there itself."""
    APART = 100e3  # ns

    def __init__(self, library, function, work):
        self.function, self.inputs = function, work.inputs
        self.results = [library.copy(view, None) for view in work.outputs.values()]
        self.spoilt = [one.reshape(-1) for one in self.results]
        self.changing = [one.reshape(-1) for one in work.inputs.values() if hasattr(one, "reshape")]
        self.changing = [one for one in self.changing if len(one) > 1]
        self.out, self.each = {}, self.APART
        self.random = random.Random()  # not the one that the function may seed
        if "out" in inspect.signature(function).parameters:
            self.out["out"] = self.results[0] if len(self.results) == 1 else tuple(self.results)

    def take(self, given):
        if self.out:
            if given is not None and given is not self.out["out"]:
                raise Refused("expected what `out` is, or nothing, as the result of a function with such a parameter")
            return
        found = given if isinstance(given, tuple) else (given,)
        if len(found) != len(self.results):
            raise Refused(f"expected {len(self.results)} results, found {len(found)}")
        for one, to in zip(found, self.results):
            if type(one) is not type(to):
                raise Refused(f"expected a result of type {type(to).__name__}, found {type(one).__name__}")
            if tuple(one.shape) != tuple(to.shape) or one.dtype != to.dtype:
                raise Refused(f"expected {to.dtype} of shape {tuple(to.shape)}, "
                              f"found {one.dtype} of {tuple(one.shape)}")
            to[...] = one

    def spoil(self):
        """Something else in an element of a result, which a function that finds its result there would leave."""
        for one in self.spoilt:
            if len(one):
                one[self.random.randrange(len(one))] = self.random.randrange(100)

    def change(self):
        """Puts an element of an input in another one's place. What puts it back."""
        one = self.random.choice(self.changing)
        at, other = self.random.randrange(len(one)), self.random.randrange(len(one))
        was = one[at:at + 1] + 0
        one[at] = one[other]
        return one, at, was

    def time(self, calls):
        start, changed, arguments = time.perf_counter_ns(), None, list(self.inputs.values())
        apart = max(1, round(self.APART / self.each))
        for left in range(calls, 0, -1):
            if left == 1 or left % apart == 0:
                self.spoil()
                if changed:
                    one, at, was = changed
                    one[at:at + 1] = was
                changed = self.change() if left > 1 and self.changing else None
            self.take(self.function(*arguments, **self.out))
        taken = time.perf_counter_ns() - start
        self.each = max(taken / calls, 1)
        return taken, tuple(self.results)

    def cool(self):
        return False


class Foreign:
    """Arrays of NumPy, or tensors where the function's module has loaded PyTorch."""

    def __init__(self, name):
        path, _, function = name.rpartition(":")
        spec = importlib.util.spec_from_file_location("foreign", path)
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, path.rpartition("/")[0])
        spec.loader.exec_module(module)
        self.function = getattr(module, function, None)
        if not callable(self.function):
            raise Refused(f"{path} has no function {function}")
        self.base = Torch(False) if "torch" in sys.modules else Numpy()
        self.version, self.kind, self.calls = self.base.version, None, None

    def __getattr__(self, name):
        return getattr(self.base, name)

    def prepare(self, work):
        """The same arrays again where they have the same shapes: what is remembered by its place is another then."""
        kind = tuple((name, getattr(one, "shape", None)) for name, one in work.inputs.items())
        if self.kind != kind:
            self.kind, self.calls = kind, ForeignCalls(self.base, self.function, work)
            return self.calls
        for name, one in work.inputs.items():
            if hasattr(one, "reshape"):
                self.calls.inputs[name][...] = one
            else:
                self.calls.inputs[name] = one
        return self.calls
