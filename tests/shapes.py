"""Shapes that nobody chose, drawn from a seed, for `on_gpu.py draw`.

usage: shapes.py SEED N KIND    prints an op and its size in each line

A kind is products, quantised, layers (a product with what follows it), networks, training or memory (maps, reductions
and rows). Extents are drawn by their logarithms. A third of them are multiples of 64, a third of 8, a third any; of a
third of the products one side has at most 128.
"""

import math
import random
import sys

MOST_WORK = 2**41  # operations of a product
MOST_BYTES = 2**31  # of all its operands, in f32
# By kind: the ops, each with how it is drawn; the types; and with which of the peers.
KINDS = {
    "products": (("matmul", "matmul_nt", "matmul_tn", "matmul_batched"), "bf16,f16,f32", "torch,cublas"),
    "quantised": (("linear_i8_i8",), "f32", "torch"),
    "layers": (("linear", "linear_gelu"), "bf16,f16", "torch,torch.compile"),
    "networks": (("mlp",), "f16", "torch"),
    "training": (("mlp_backward",), "f16", "torch"),
    "memory": (("gelu", "add", "dot", "sum", "argmax", "softmax", "layernorm", "batch_norm", "bias_gelu", "column_sum",
                "softmax_backward", "layernorm_backward", "row_argmax"), "f16,f32", "torch,torch.compile"),
}


def between(rng, least, most):
    """A whole number whose logarithm is drawn, as a multiple of 64 or of 8 or neither."""
    extent = math.exp(rng.uniform(math.log(least), math.log(most)))
    each = rng.choice((64, 8, 1))
    return min(max(each, round(extent / each) * each), most)


def product(rng, batches):
    while True:
        b = round(math.exp(rng.uniform(0, math.log(64)))) if batches else 1
        m, n, k = (between(rng, 1, 16384) for _ in range(3))
        if rng.randrange(3) == 0:
            small = between(rng, 1, 128)
            m, n, k = rng.choice(((small, n, k), (m, small, k), (m, n, small)))
        if 2 * b * m * n * k <= MOST_WORK and 4 * b * (m * n + m * k + n * k) <= MOST_BYTES:
            return ([b] if batches else []) + [m, n, k]


def network(rng):
    """Its axes are batch, output, input, hidden."""
    return [between(rng, 1, 65536), *(between(rng, 16, 1024) for _ in range(3))]


def in_memory(rng, rows):
    points = math.exp(rng.uniform(math.log(2**20), math.log(2**27)))
    if not rows:
        return [round(points)]
    columns = between(rng, 8, 65536)
    return [max(1, round(points / columns)), columns]


def size_of(rng, op):
    if op.startswith("mlp"):
        return network(rng)
    if op.startswith(("matmul", "linear")):
        return product(rng, op == "matmul_batched")
    return in_memory(rng, op not in ("gelu", "add", "dot", "sum", "argmax"))


def draw(seed, count, kind):
    """Pairs of an op and its size, so many."""
    rng = random.Random(f"{kind}:{seed}")
    ops = KINDS[kind][0]
    return [(op, "x".join(map(str, size_of(rng, op)))) for op in (ops[i % len(ops)] for i in range(count))]


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in KINDS:
        sys.exit(__doc__.split("\n\n")[1])
    for op, size in draw(sys.argv[1], int(sys.argv[2]), sys.argv[3]):
        print(op, size)
