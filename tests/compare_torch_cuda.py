#!/usr/bin/env python3
"""Times PyTorch on a GPU beside the bench program: eager and compiled, as CUDA graphs, with the inputs
rotated past the cache.

usage: compare_torch_cuda.py [--bench FILE] [--op A,B] [--dtype f32,f16] [--backend cuda,vulkan]
                             [--no-compile]

A line for each op, type and size: the bench's best time by backend, its share of the rate that the
bench measured for as many bytes, PyTorch's times, and how many times longer the better of them takes.
Nothing here fails for being slow; exit status 1 says that a kernel's results were wrong, 2 that
something could not be run.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

MAP_SIZES = ["n=2^26"]
REDUCE_SIZES = ["n=2^20", "n=2^28"]
ROW_SIZES = ["4096x4096", "16384x8192", "65536x256"]
MAPS = ("add exp gelu gelu_tanh swish dropout gelu_backward gelu_tanh_backward swish_backward "
        "dropout_backward").split()
REDUCTIONS = "sum max argmax mse".split()
ROWS = ("softmax log_softmax layernorm rmsnorm cross_entropy softmax_backward log_softmax_backward "
        "layernorm_backward rmsnorm_backward cross_entropy_backward").split()
ROTATED_BYTES = 200e6
REPEATS, SAMPLES = 10, 15


def sizes_of(op):
    return MAP_SIZES if op in MAPS else REDUCE_SIZES if op in REDUCTIONS else ROW_SIZES


def shape_of(size):
    if size.startswith("n="):
        base, power = size[2:].split("^")
        return (int(base) ** int(power),)
    return tuple(int(extent) for extent in size.split("x"))


def forward_of(functional):
    """What an op computes, as a function of a set of inputs."""
    torch, f = functional
    return {
        "add": lambda s: s.x + s.y,
        "exp": lambda s: torch.exp(s.x),
        "gelu": lambda s: f.gelu(s.x),
        "gelu_tanh": lambda s: f.gelu(s.x, approximate="tanh"),
        "swish": lambda s: f.silu(s.x),
        "dropout": lambda s: f.dropout(s.x, 0.25),
        "sum": lambda s: s.x.sum(),
        "max": lambda s: s.x.max(),
        "argmax": lambda s: s.x.argmax(),
        "mse": lambda s: f.mse_loss(s.x, s.y),
        "softmax": lambda s: f.softmax(s.x, -1),
        "log_softmax": lambda s: f.log_softmax(s.x, -1),
        "layernorm": lambda s: f.layer_norm(s.x, s.x.shape[-1:], s.gamma, s.beta),
        "rmsnorm": lambda s: f.rms_norm(s.x, s.x.shape[-1:], s.gamma, 1e-5),
        "cross_entropy": lambda s: f.cross_entropy(s.x, s.target, reduction="none"),
    }


class Inputs:
    """One set of inputs of an op."""

    def __init__(self, torch, op, dtype, shape):
        def random(*extents):
            return torch.randn(*extents, device="cuda").to(dtype)
        self.x = random(*shape)
        if op in ("add", "mse"):
            self.y = random(*shape)
        if op.removesuffix("_backward") in ("layernorm", "rmsnorm"):
            self.gamma, self.beta = random(shape[-1]), random(shape[-1])
        if op.startswith("cross_entropy"):
            self.target = torch.randint(0, shape[-1], shape[:-1], device="cuda")
        self.leaves = [self.x] + [getattr(self, name) for name in ("gamma", "beta")
                                  if hasattr(self, name)]


def microseconds(torch, prepare, sets):
    """The median time of a call, of a graph of calls that take turns with the sets. prepare() makes the
    call; what it computes is on the graph's stream, for autograd goes back on that of the way there."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call = prepare()
        for inputs in sets:
            call(inputs)
    torch.cuda.synchronize()
    graph, calls = torch.cuda.CUDAGraph(), max(REPEATS, len(sets))
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            call(sets[i % len(sets)])
    times = []
    for _ in range(SAMPLES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / calls)
    return statistics.median(times)


def backward_call(torch, forward, sets):
    """Calls of autograd alone; the forward passes are done here, outside of what is timed."""
    for inputs in sets:
        for leaf in inputs.leaves:
            leaf.requires_grad_(True)
        inputs.result = forward(inputs)
        inputs.derivative = torch.randn_like(inputs.result)

    def call(inputs):
        return torch.autograd.grad(inputs.result, inputs.leaves, inputs.derivative,
                                   retain_graph=True, allow_unused=True)
    return call


def time_torch(torch, op, dtype, size, compiled):
    shape = shape_of(size)
    count = 1
    for extent in shape:
        count *= extent
    elements = torch.empty(0, dtype=dtype).element_size() * count
    sets = [Inputs(torch, op, dtype, shape)
            for _ in range(max(1, min(16, int(ROTATED_BYTES / elements))))]
    forward = forward_of((torch, torch.nn.functional))[op.removesuffix("_backward")]
    if compiled:
        torch._dynamo.reset()
        forward = torch.compile(forward, dynamic=False)
    if op.endswith("_backward"):
        return microseconds(torch, lambda: backward_call(torch, forward, sets), sets)
    with torch.no_grad():
        return microseconds(torch, lambda: forward, sets)


def time_bench(options, op, dtype, size):
    """The best row of each backend, by its name: its time with operands that are in no cache, as
    PyTorch's are, and its share of the ceiling; and whether all were right."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        status = subprocess.run(
            [options.bench, "--op", op, "--dtype", dtype, "--size", size, "--backend",
             options.backend, "--fast", "--rows", "--json", path],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
    best = {}
    for row in rows:
        if not row.get("real_time"):
            continue
        taken = row.get("cold_time") or row["real_time"]
        if row["backend"] not in best or taken < best[row["backend"]][0]:
            best[row["backend"]] = taken, row["ceiling_share"] or 0
    return best, status != 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--bench", default=os.environ.get("LATHE_BENCH", "out/bench"))
    parser.add_argument("--op", default=",".join(MAPS + REDUCTIONS + ROWS))
    parser.add_argument("--dtype", default="f32,f16")
    parser.add_argument("--backend", default="cuda,vulkan")
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("PyTorch is missing: python3 -m pip install torch", file=sys.stderr)
        return 2
    dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    backends, right = options.backend.split(","), True
    print(f"{'op':24}{'type':5}{'size':>11}" + "".join(f"{b:>9} us  ceil" for b in backends)
          + f"{'eager':>9}{'compile':>9}  ratio")
    for op in options.op.split(","):
        for dtype in options.dtype.split(","):
            for size in sizes_of(op):
                rows, all_right = time_bench(options, op, dtype, size)
                right = right and all_right
                line = f"{op:24}{dtype:5}{size:>11}"
                for backend in backends:
                    row = rows.get(backend)
                    line += (f"{row[0] / 1e3:12.2f} {100 * row[1]:4.0f}%" if row else f"{'-':>12}     -")
                peers = []
                for compiled in (False, True):
                    if compiled and options.no_compile:
                        continue
                    try:
                        peers.append(time_torch(torch, op, dtypes[dtype], size, compiled))
                        line += f"{peers[-1]:9.2f}"
                    except RuntimeError as error:
                        line += f"{'-':>9}"
                        print(f"{op} {dtype} {size}: {str(error).splitlines()[0]}", file=sys.stderr)
                    torch.cuda.empty_cache()
                if peers and rows:
                    ours = min(row[0] for row in rows.values()) / 1e3
                    line += f"{min(peers) / ours:7.2f}"
                print(line, flush=True)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
