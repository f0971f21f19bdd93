"""A function that somebody wrote, to be judged: the fourth part of peer.py's script."""

import ctypes
import importlib.util
import inspect
import random
import sys
import time


class Processor:
    """Where calls have computed when they return."""
    APART = 100e3  # ns between two changes of inputs
    all_copied = True

    def enter(self, device):
        pass

    def wait(self):
        pass


class Gpu:
    """Where calls may only have asked for what is computed. The driver itself waits for that: what is known of it here
    was found before the function's module was loaded."""
    APART = 3e6  # a change asks for five kernels
    all_copied = False  # a copy would take as long as many a call

    def __init__(self):
        import torch
        self.use, self.driver, self.context = torch.cuda.set_device, ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()

    def enter(self, device):
        self.use(device)
        self.driver.cuCtxGetCurrent(ctypes.byref(self.context))

    def wait(self):
        self.driver.cuCtxSetCurrent(self.context)
        error = self.driver.cuCtxSynchronize()
        if error:  # for good: only another process has the GPU again
            sys.exit(f"error {error} of CUDA's driver")


class ForeignCalls:
    """Calls of a function. Between two of them an element of an input changes now and then. After the last change
    inputs are as they were. Returned values are copied to the results within the time: all of them, or those of calls
    whose inputs changed; a function with a parameter `out` writes there itself."""

    def __init__(self, library, place, function, work):
        self.place, self.function, self.inputs = place, function, work.inputs
        self.results = [library.copy(view, work.device) for view in work.outputs.values()]
        self.spoilt = [one.reshape(-1) for one in self.results]
        self.changing = [one.reshape(-1) for one in work.inputs.values() if hasattr(one, "reshape")]
        self.changing = [one for one in self.changing if len(one) > 1]
        self.out, self.each, self.spare = {}, place.APART, None
        self.random = random.Random()  # not the one that the function may seed
        if "out" in inspect.signature(function).parameters:
            self.out["out"] = self.results[0] if len(self.results) == 1 else tuple(self.results)

    def take(self, given, copied):
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
            if getattr(one, "device", None) != getattr(to, "device", None):
                raise Refused(f"expected a result on {to.device}, found one on {one.device}")
            if tuple(one.shape) != tuple(to.shape) or one.dtype != to.dtype:
                raise Refused(f"expected {to.dtype} of shape {tuple(to.shape)}, "
                              f"found {one.dtype} of {tuple(one.shape)}")
            if copied:
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
        self.spare = None
        start, changed, arguments = time.perf_counter_ns(), None, list(self.inputs.values())
        apart = max(1, round(self.place.APART / self.each))
        try:
            for left in range(calls, 0, -1):
                changes = left == 1 or left % apart == 0
                if changes:
                    self.spoil()
                    if changed:
                        one, at, was = changed
                        one[at:at + 1] = was
                    changed = self.change() if left > 1 and self.changing else None
                self.take(self.function(*arguments, **self.out), changes or self.place.all_copied)
        finally:
            self.place.wait()
        taken = time.perf_counter_ns() - start
        self.each = max(taken / calls, 1)
        return taken, tuple(self.results)

    def idle(self):
        """What a timed call takes beside the function: as if one gave results that it had."""
        self.spare = self.spare or tuple(one + 0 for one in self.results)
        self.spoil()
        self.take(None if self.out else self.spare, True)
        self.place.wait()

    def cool(self):
        return False


class Foreign:
    """Arrays of NumPy, or tensors where the function's module has loaded PyTorch. FILE.py:FUNCTION, and ` on a GPU`
    where they are tensors there."""

    def __init__(self, name):
        path, _, function = name.rpartition(":")
        function, _, on_gpu = function.partition(" ")
        self.base = TorchOnGpu(False) if on_gpu else None
        self.place = Gpu() if on_gpu else Processor()
        spec = importlib.util.spec_from_file_location("foreign", path)
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, path.rpartition("/")[0])
        spec.loader.exec_module(module)
        self.function = getattr(module, function, None)
        if not callable(self.function):
            raise Refused(f"{path} has no function {function}")
        self.base = self.base or (Torch(False) if "torch" in sys.modules else Numpy())
        self.version, self.kind, self.calls = self.base.version, None, None

    def __getattr__(self, name):
        return getattr(self.base, name)

    def prepare(self, work):
        """The same arrays again where they have the same shapes: what is remembered by its place is another then."""
        kind = tuple((name, getattr(one, "shape", None)) for name, one in work.inputs.items())
        if self.kind != kind:
            self.place.enter(work.device)
            self.kind, self.calls = kind, ForeignCalls(self.base, self.place, self.function, work)
            return self.calls
        for name, one in work.inputs.items():
            if hasattr(one, "reshape"):
                self.calls.inputs[name][...] = one
            else:
                self.calls.inputs[name] = one
        return self.calls
