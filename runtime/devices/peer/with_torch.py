"""Operands and calls of PyTorch: the third part of peer.py's script."""

import ast
import functools
import math
import os


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
        self.forwards = {}
        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
        torch.set_grad_enabled(False)
        if compiled:  # a forward pass is asked for its gradient more than once, and there are many to compile
            import torch._dynamo.config
            import torch._functorch.config
            torch._functorch.config.donated_buffer = False
            for limit in ("recompile_limit", "accumulated_recompile_limit", "cache_size_limit"):
                if hasattr(torch._dynamo.config, limit):
                    setattr(torch._dynamo.config, limit, 1 << 16)

    def view(self, memory, offset, dtype, shape):
        if dtype not in self.types:
            raise Refused(f"PyTorch has no {dtype}")
        count = math.prod(shape)
        if count == 0:
            return self.torch.empty(shape, dtype=self.types[dtype])
        return self.torch.frombuffer(memory, dtype=self.types[dtype], count=count, offset=offset).reshape(shape)

    def copy(self, view, device):
        return view.clone()

    def tidy(self):
        pass

    def ones(self, dtype, shape, device):
        """An operand of the forward pass that its gradient does not depend on."""
        one = self.torch.ones if self.types[dtype].is_floating_point else self.torch.zeros
        return self.copy(one(shape, dtype=self.types[dtype]), device)

    def forward(self, work):
        """What the expression computes, as a function that is compiled once for all operands of one kind."""
        statements, value = work.statements, work.value
        if not self.compiled:
            return function_of(statements, value, work.inputs, dict(self.known))
        kind = (work.expression, work.gradient, *((name, getattr(one, "dtype", None), getattr(one, "shape", None))
                                                  for name, one in work.inputs.items()))
        if kind not in self.forwards:
            plain = function_of(statements, value, work.inputs, dict(self.known))
            self.forwards[kind] = self.torch.compile(plain, dynamic=False, fullgraph=True)
        return self.forwards[kind]

    def backward(self, work, forward, operands):
        """The operands of autograd after one pass forward, which is no part of what is timed."""
        inputs = {name: one.detach() if self.torch.is_tensor(one) else one
                  for name, one in operands.items() if name in work.inputs}
        leaves = [inputs[name[1:]].requires_grad_() for name in work.outputs]
        with self.torch.enable_grad():
            results = forward(**inputs)
        results = results if isinstance(results, tuple) else (results,)
        names = [name for place, name in enumerate(work.results) if place not in work.later]
        given = [(one, operands["d" + name]) for name, one in zip(names, results) if "d" + name in operands]
        return {"_of": [one for one, _ in given], "_by": leaves, "_given": [d for _, d in given]}

    def call(self, work):
        """What is timed, as statements and a value, what they know by name, and a function that makes operands ready
        for them."""
        if not (self.compiled or work.gradient):
            return work.statements, work.value, dict(self.known), lambda operands: operands
        forward = self.forward(work)
        if not work.gradient:
            return [], call_of("_forward", work.inputs), {"_forward": forward}, lambda operands: operands
        value = ast.parse("_grad(_of, _by, _given, retain_graph=True)").body[0].value
        return [], value, {"_grad": self.torch.autograd.grad}, lambda operands: self.backward(work, forward, operands)

    def repeated(self, statements, value, known, ready, work):
        operands = ready(work.operands)
        return Loop(loop_of(statements, value, operands, known), operands)

    def random_state(self):
        return self.torch.get_rng_state()

    def prepare(self, work):
        self.torch.manual_seed(0)
        before = self.random_state()
        statements, value, known, ready = self.call(work)
        calls = self.repeated(statements, value, known, ready, work)
        result = calls.one()  # also for what is made once, and cannot be while a graph is recorded
        base, operands = getattr(result, "_base", None), work.operands.values()
        if base is not None and any(base is one or base is getattr(one, "_base", None) for one in operands):
            copied = functools.partial(self.torch.clone, memory_format=self.torch.contiguous_format)
            calls = self.repeated(statements, whole(value), known | {"_whole": copied}, ready, work)
        if self.torch.equal(before, self.random_state()):
            return calls
        return Drawing(calls, self.torch.manual_seed)

    def flat(self, result):
        return result.detach().reshape(-1)

    def store(self, part, view):
        view.copy_(part)

    def shape(self, result):
        return tuple(result.shape)


class Graphs:
    """Calls on a GPU, recorded and replayed, so that none waits for Python; timed by the GPU's own events."""
    RECORDED = 64  # calls of a graph, at most, but for those that find their operands in no cache
    KEPT = 2  # graphs
    SETS = 4096  # of operands that calls take in turn, at most
    CACHES = 3  # times the cache that they fill

    def __init__(self, torch, once, ready, work):
        self.torch, self.once, self.ready, self.work = torch, once, ready, work
        self.stream = torch.cuda.Stream(work.device)
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.graphs = {}
        torch.cuda.synchronize(work.device)
        with torch.cuda.stream(self.stream):
            self.sets = [ready(work.operands)]

    def one(self):
        with self.torch.cuda.stream(self.stream):
            result = self.once(**self.sets[0])
        self.stream.synchronize()
        return result

    def record(self, calls):
        """A graph of calls, and the results that the last ones leave: of as many as there are sets."""
        graph, held = self.torch.cuda.CUDAGraph(), [None] * len(self.sets)
        with self.torch.cuda.graph(graph, stream=self.stream):
            for call in range(calls):
                nth = call % len(self.sets)
                held[nth] = self.once(**self.sets[nth])
        return graph, held

    def time(self, calls):
        sets = len(self.sets)
        each = -(-min(calls, self.RECORDED) // sets) * sets
        if each not in self.graphs:
            while len(self.graphs) >= self.KEPT:
                del self.graphs[next(iter(self.graphs))]
            self.graphs[each] = self.record(each)
        graph, held = self.graphs[each]
        times = -(-calls // each)
        with self.torch.cuda.stream(self.stream):
            graph.replay()  # so that the GPU is at work while Python asks for what is timed
            self.begin.record()
            for _ in range(times):
                graph.replay()
            self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) * 1e6 * calls / (each * times), held[0]

    def cool(self):
        cuda, device = self.torch.cuda, self.work.device
        moved = self.work.bytes()
        wanted = self.CACHES * getattr(cuda.get_device_properties(device), "L2_cache_size", 0)
        if not wanted or wanted > moved * self.SETS:
            return False
        count = max(2, math.ceil(wanted / moved))
        if (count - 1) * moved > cuda.mem_get_info(device)[0] / 2:
            return False
        self.graphs.clear()
        with cuda.stream(self.stream):
            for _ in range(count - 1):
                self.sets.append(self.ready({name: one.clone() if self.torch.is_tensor(one) else one
                                             for name, one in self.work.operands.items()}))
        return True


class TorchOnGpu(Torch):
    """The same on a GPU."""

    def __init__(self, compiled):
        super().__init__(compiled)
        if not self.torch.cuda.is_available():
            raise Refused(f"{self.version} finds no GPU")

    def copy(self, view, device):
        return view.to(device)

    def repeated(self, statements, value, known, ready, work):
        once = function_of(statements, value, ready(work.operands), known)
        return Graphs(self.torch, once, ready, work)

    def random_state(self):
        return self.torch.cuda.get_rng_state()

    def tidy(self):
        self.torch.cuda.empty_cache()
