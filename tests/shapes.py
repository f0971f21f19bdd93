"""Shapes that nobody chose, drawn from a seed, for `on_gpu.py draw`.

usage: shapes.py SEED N KIND    prints an op and its size in each line

A kind is products, quantised, layers (a product with what follows it), networks, training or memory (maps, reductions
and rows). Those of a processor, cpu_products and cpu_memory, are smaller. Extents are drawn by their logarithms. A
third of them are multiples of 64, a third of 8, a third any; of a third of the products one side has at most 128.
"""

import math
import random
import sys

MOST_WORK = 2**41  # operations of a product
MOST_BYTES = 2**31  # of all its operands, in f32
MEMORY = ("gelu", "add", "dot", "sum", "argmax", "softmax", "layernorm", "batch_norm", "bias_gelu", "column_sum",
          "softmax_backward", "layernorm_backward", "row_argmax")
# By kind: the ops, each with how it is drawn; the types; and with which of the peers.
KINDS = {
    "products": (("matmul", "matmul_nt", "matmul_tn", "matmul_batched"), "bf16,f16,f32", "torch,cublas"),
    "quantised": (("linear_i8_i8",), "f32", "torch"),
    "layers": (("linear", "linear_gelu"), "bf16,f16", "torch,torch.compile"),
    "networks": (("mlp",), "f16", "torch"),
    "training": (("mlp_backward",), "f16", "torch"),
    "memory": (MEMORY, "f16,f32", "torch,torch.compile"),
}
CPU_KINDS = {
    "cpu_products": (("matmul", "matmul_nt", "matmul_tn"), "f32", "numpy,openblas,torch"),
    "cpu_memory": (MEMORY, "f32", "numpy,torch"),
}


def between(rng, least, most):
    """A whole number whose logarithm is drawn, as a multiple of 64 or of 8 or neither."""
    extent = math.exp(rng.uniform(math.log(least), math.log(most)))
    each = rng.choice((64, 8, 1))
    return min(max(each, round(extent / each) * each), most)


def product(rng, batches, most):
    while True:
        b = round(math.exp(rng.uniform(0, math.log(64)))) if batches else 1
        m, n, k = (between(rng, 1, most) for _ in range(3))
        if rng.randrange(3) == 0:
            small = between(rng, 1, 128)
            m, n, k = rng.choice(((small, n, k), (m, small, k), (m, n, small)))
        if 2 * b * m * n * k <= MOST_WORK and 4 * b * (m * n + m * k + n * k) <= MOST_BYTES:
            return ([b] if batches else []) + [m, n, k]


def network(rng):
    """Its axes are batch, output, input, hidden."""
    return [between(rng, 1, 65536), *(between(rng, 16, 1024) for _ in range(3))]


def in_memory(rng, rows, least, most):
    points = math.exp(rng.uniform(math.log(least), math.log(most)))
    if not rows:
        return [round(points)]
    columns = between(rng, 8, min(65536, most // 8))
    return [max(1, round(points / columns)), columns]


def size_of(rng, op, on_cpu):
    if op.startswith("mlp"):
        return network(rng)
    if op.startswith(("matmul", "linear")):
        return product(rng, op == "matmul_batched", 2048 if on_cpu else 16384)
    least, most = (100, 10**6) if on_cpu else (2**20, 2**27)
    return in_memory(rng, op not in ("gelu", "add", "dot", "sum", "argmax"), least, most)


def draw(seed, count, kind):
    """Pairs of an op and its size, so many."""
    rng = random.Random(f"{kind}:{seed}")
    ops = (KINDS | CPU_KINDS)[kind][0]
    of_cpu = kind in CPU_KINDS
    return [(op, "x".join(map(str, size_of(rng, op, of_cpu)))) for op in (ops[i % len(ops)] for i in range(count))]


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in KINDS | CPU_KINDS:
        sys.exit(__doc__.split("\n\n")[1])
    for op, size in draw(sys.argv[1], int(sys.argv[2]), sys.argv[3]):
        print(op, size)
