#!/usr/bin/env python3
"""Checks an installed package with kernels for CUDA, of softmax, add, dropout, layernorm and their gradients, on a GPU.

usage: on_gpu.py FOLDER PACKAGE

What ops.py does not see: the caller's stream, graphs, a second GPU, CuPy's arrays, what is refused, and what a call
waits for. Needs PyTorch.
"""

import importlib
import sys
import time

import torch

sys.path.insert(0, sys.argv[1])
ours = importlib.import_module(sys.argv[2])
failed = 0
SLEEP = 200_000_000  # clocks of a GPU, 100 ms or so


def holds(what, value):
    global failed
    failed += not value
    print("passed" if value else "FAILED", what, flush=True)


def near(found, expected):
    same_kind = found.shape == expected.shape and found.device == expected.device
    return same_kind and torch.allclose(found, expected, atol=1e-6)


def refused(what, kind, text, f, *given, **named):
    try:
        f(*given, **named)
        found = "nothing"
    except kind as error:
        found = str(error)
    holds(f"{what}: {found}", found == text)


def dropped(x):
    """By integers that are Python's."""
    return ours.dropout(x, seed=7, offset=3, p=0.5)


def layernorm_gradient(x, dy):
    """By a kernel with a workspace."""
    return ours.layernorm_backward(x=x, gamma=torch.ones_like(x[0]), eps=1e-5, dy=dy)


x = torch.randn(300, 1000, device="cuda")
dy = torch.randn_like(x)
expected = torch.softmax(x, -1)
holds("softmax", near(ours.softmax(x), expected))
holds("to out", ours.softmax(x, out=dy) is dy and near(dy, expected))
holds("no rows", ours.softmax(x[:0]).shape == (0, 1000))
drawn = dropped(x)
holds("random numbers as on the processor", near(drawn, dropped(x.cpu()).cuda()))

layernorm_gradient(x, dy)  # all code is loaded from here on

# ---- the caller's stream, which no call waits for ----
side = torch.cuda.Stream()
with torch.cuda.stream(side):  # PyTorch asks for memory for each stream
    kept = [torch.empty_like(x), ours.softmax(x), dropped(x), layernorm_gradient(x, dy)]
del kept
torch.cuda.synchronize()
start = time.perf_counter()
with torch.cuda.stream(side):
    torch.cuda._sleep(SLEEP)
    late = torch.empty_like(x).copy_(x)
    y = ours.softmax(late)
    again = dropped(late)
    gradients = layernorm_gradient(late, dy)
asked = time.perf_counter() - start
holds(f"is asked for in {asked * 1e3:.2f} ms, without waiting", not side.query())
holds("not on another stream", torch.cuda.default_stream().query())
side.synchronize()
holds("on that stream", near(y, expected) and near(again, drawn))
holds("workspaces there", all(map(torch.equal, gradients, layernorm_gradient(x, dy))))

# ---- graphs ----
graph, given = torch.cuda.CUDAGraph(), torch.zeros_like(x)
with torch.cuda.graph(graph):
    y, again, gradients = ours.softmax(given), dropped(given), layernorm_gradient(given, dy)
for _ in range(3):
    given.copy_(x)
    graph.replay()
    torch.cuda.synchronize()
    holds("captured", near(y, expected) and near(again, drawn))
    holds("with workspaces", all(map(torch.equal, gradients, layernorm_gradient(x, dy))))
    given.zero_()

# ---- what is refused ----
refused("another place", ValueError, "add: y: expected an array on cuda:0, found one in the processor's memory",
        ours.add, x, x.cpu())
refused("another place", ValueError, "add: y: expected an array in the processor's memory, found one on cuda:0",
        ours.add, x.cpu(), x)
refused("another shape", ValueError, "softmax: y: expected the shape (300, 1000), found (10, 1000)", ours.softmax, x,
        out=x[:10])
refused("gaps", ValueError, "softmax: x: expected elements without gaps, the last axis side by side, found other "
        "strides; make a copy without, such as numpy.ascontiguousarray(x) or x.contiguous()", ours.softmax, x.t())

# ---- other devices, other libraries ----
if torch.cuda.device_count() > 1:
    other = x.to("cuda:1")
    holds("the second GPU", near(ours.softmax(other), expected.to("cuda:1")) and torch.cuda.current_device() == 0)
    holds("and the first again", near(ours.softmax(x), expected))
    holds("with workspaces", all(near(a, b.to("cuda:1")) for a, b in zip(layernorm_gradient(other, dy.to("cuda:1")),
                                                                         layernorm_gradient(x, dy))))
    refused("two GPUs", ValueError, "add: y: expected an array on cuda:0, found one on cuda:1", ours.add, x, other)
else:
    print("there is no second GPU")
try:
    import cupy
except ImportError:
    print("there is no CuPy")
else:
    theirs, slopes = cupy.asarray(x.cpu().numpy()), cupy.asarray(dy.cpu().numpy())
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            found = ours.softmax(theirs)
            sums = ours.layernorm_backward(x=theirs, gamma=cupy.ones(1000, "f"), eps=1e-5, dy=slopes)
        stream.synchronize()
        holds("an array of CuPy", type(found) is cupy.ndarray and near(torch.from_dlpack(found), expected))
        holds("and its workspace", all(map(near, map(torch.from_dlpack, sums), layernorm_gradient(x, dy))))

try:
    import tvm_ffi  # noqa: F401
    theirs = importlib.import_module(sys.argv[2] + ".tvm_ffi")
except ImportError:
    print("there is no TVM-FFI")
else:
    y, again, gradients = torch.empty_like(x), torch.empty_like(x), [torch.empty_like(g) for g in gradients]
    gamma = torch.ones_like(x[0])
    for nth in range(2):  # code is loaded before what is looked at
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            if nth == 1:
                late.zero_()
                torch.cuda._sleep(SLEEP)
                late.copy_(x)
            theirs.softmax(late, y)
            theirs.dropout(late, 7, 3, again, 0.5)
            theirs.layernorm_backward(late, dy, gamma, *gradients, 1e-5)
    holds("by TVM-FFI on that stream", not side.query() and torch.cuda.default_stream().query())
    side.synchronize()
    holds("by TVM-FFI", near(y, expected) and near(again, drawn))
    holds("with workspaces", all(map(torch.equal, gradients, layernorm_gradient(x, dy))))

# ---- time ----
small, out = torch.ones(100, device="cuda"), torch.empty(100, device="cuda")
for name, call in (("ours.add", ours.add), ("torch.add", torch.add)):
    best = float("inf")
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            call(small, small, out=out)
        best = min(best, time.perf_counter() - start)
    print(f"{name}: {best / 500 * 1e9:.0f} ns to ask for 100 elements")
sys.exit(failed > 0)
