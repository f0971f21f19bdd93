"""Random attention for the fuzzer: two products, of which the second takes what reductions over the first one's columns
leave, with masks by places, biases and functions of scores between them."""

from fuzz_lua import spec_of
from fuzz_nests import Nest, make_nest
from fuzz_ops import FuzzOp, make_op, prune
from fuzz_products import PRECISIONS, Factory, make_product
from fuzz_values import Node

NOTHING = -float("inf")


class Stream(Nest):
    """Queries of rows s, which some have g of for each, keys t, terms d and columns e; h is a batch."""

    def __init__(self, rng, factory):
        self.rng, self.factory, self.axes = rng, factory, ["s", "t"]
        self.made, self.number = factory.made, factory.number
        self.batch = rng.choice([(), ("h",), ("h",)])
        self.rows = (*self.batch, *rng.choice([(), (), ("g",)]), "s")

    def over(self, kind, x, axis="t"):
        return Node(kind, (x,), place=x.place - {axis}, over=(axis,))

    def score(self):
        rng, made, factory = self.rng, self.made, self.factory
        q, k = factory.operand((*self.rows, "d")), factory.operand((*self.batch, "t", "d"))
        x = self.over("sum", made("mul", q, k), "d")
        if rng.random() < 0.5:
            x = made("mul", x, factory.scalar() if rng.random() < 0.4 else self.number(0.25))
        if rng.random() < 0.25:
            x = made("mul", made("tanh", made("div", x, self.number(4.0))), self.number(4.0))
        if rng.random() < 0.3:
            x = made("add", x, factory.operand(factory.some((*self.rows, "t"), 1)))
        if rng.random() < 0.25:
            x = made("sub", x, made("mul", factory.operand(self.batch, 0.0, 1.0),
                                    made("abs", made("sub", *(Node("position", place=frozenset(a)) for a in "st")))))
        for _ in range(rng.choice([0, 1, 1, 2])):
            x = made("select", self.mask(), x, self.number(NOTHING if rng.random() < 0.7 else -3.0))
        return x

    def outputs(self):
        rng, made, factory = self.rng, self.made, self.factory
        x, v = self.score(), factory.operand((*self.batch, "t", "e"))
        peak = self.over("maximum", x)
        p = made("exp", made("sub", x, peak))
        total = self.over("sum", p)
        if rng.random() < 0.2:
            total = made("add", total, made("exp", made("sub", factory.operand(self.batch), peak)))
        if rng.random() < 0.15:
            p = made("mul", p, factory.operand(factory.some((*self.rows, "t"), 1)))
        found = {"r0": made("div", self.over("sum", made("mul", p, v)), total)}
        if rng.random() < 0.3:
            found["r0"] = self.over("sum", made("mul", made("div", p, total), v))
        if rng.random() < 0.3:
            found["r1"] = made("add", made("log", total), peak)
        return found


def make_stream(rng, name):
    dtypes = rng.choice(PRECISIONS)
    factory = Factory(rng, dtypes)
    outputs, place = Stream(rng, factory).outputs(), {}
    for output, node in outputs.items():
        axes = sorted(node.place)
        rng.shuffle(axes)
        place[output] = tuple(axes)
    op = FuzzOp(name, "nest", [], factory.inputs, factory.scalars, outputs, place, False, dtypes, ["'default'"],
                ["'default'"])
    prune(op)
    op.dims = sorted({axis for i in op.inputs for axis in i.place})
    op.lua = spec_of(op, rng)
    return op


def make_any(rng, name, backends):
    """A random op of any kind, or None."""
    kind = rng.random()
    if kind < 0.1:
        return make_stream(rng, name)
    if kind < 0.32:
        return make_nest(rng, name)
    return (make_product if kind < 0.64 else make_op)(rng, name, backends)
