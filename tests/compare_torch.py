#!/usr/bin/env python3
"""Times PyTorch and the bench program in turns, on one thread and the same work, and compares.

usage: compare_torch.py [--bench FILE] [--rounds N] [--op A,B] [--dtype f32,f16,bf16] [--avx2]

See compare.py. PyTorch writes into tensors that are there already wherever it can. The build for
processors alone is enough.
"""

import math
import sys

import compare


def calls(torch, dtype, n, wide):
    """The ops on n numbers between -wide and wide, as functions without arguments."""
    generator = torch.Generator().manual_seed(1)
    x, y, z = (torch.empty(n).uniform_(-wide, wide, generator=generator).to(dtype)
               for _ in range(3))
    r, nn, norm = torch.empty_like(x), torch._C._nn, torch.linalg.vector_norm
    return {
        "add": lambda: torch.add(x, y, out=r),
        "sub": lambda: torch.sub(x, y, out=r),
        "mul": lambda: torch.mul(x, y, out=r),
        "div": lambda: torch.div(x, y, out=r),
        "scale": lambda: torch.mul(x, 1.7, out=r),
        "abs": lambda: torch.abs(x, out=r),
        "clamp": lambda: torch.clamp(x, -1, 1, out=r),
        "lerp": lambda: torch.lerp(x, y, 0.3, out=r),
        "fma": lambda: torch.addcmul(z, x, y, out=r),
        "relu": lambda: torch.clamp_min(x, 0, out=r),
        "exp": lambda: torch.exp(x, out=r),
        "sigmoid": lambda: torch.sigmoid(x, out=r),
        "tanh": lambda: torch.tanh(x, out=r),
        "gelu": lambda: nn.gelu(x, out=r),
        "swish": lambda: nn.silu(x, out=r),
        "sum": x.sum,
        "dot": lambda: torch.dot(x, y),
        "max": x.max,
        "min": x.min,
        "argmax": x.argmax,
        "argmin": x.argmin,
        "norm_l1": lambda: norm(x, 1),
        "norm_l2": lambda: norm(x, 2),
        "norm_linf": lambda: norm(x, math.inf),
        "softmax": lambda: torch.softmax(x, -1),
        "log_softmax": lambda: torch.log_softmax(x, -1),
    }


def prepare(avx2):
    """PyTorch, and the calls it makes for a type, a number of elements, and their range."""
    if avx2:
        compare.set_environment(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2",
                                MKL_ENABLE_INSTRUCTIONS="AVX2")
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    dtypes = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    return torch.__version__, lambda dtype, n, wide: calls(torch, dtypes[dtype], n, wide)


if __name__ == "__main__":
    sys.exit(compare.main(__doc__, "PyTorch", prepare, ["f32", "f16", "bf16"]))
