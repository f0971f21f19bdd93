"""Random attention for the fuzzer: two products, of which the second takes what reductions over the first one's
columns leave, with masks by places, biases and functions of scores between them; and what takes several kernels after
each other: attention of projections, and rows of products that are normalised."""

from fuzz_lua import spec_of
from fuzz_nests import Nest, make_nest
from fuzz_ops import FuzzOp, has_gradient, make_op, prune
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
        self.reads, self.types = [], {}

    def over(self, kind, x, axis="t"):
        return Node(kind, (x,), place=x.place - {axis}, over=(axis,))

    def operand(self, axes):
        return self.factory.operand(axes)

    def mask(self):
        """One by places, by a number for each row and each key, or by one for all keys of a batch."""
        rng, made = self.rng, self.made
        kind = rng.random() if len(self.factory.free) > 3 else 1
        if kind < 0.2:
            row, key = (made("whole", self.index("d", (*self.batch, axis))) for axis in "st")
            return made(rng.choice(["eq", "le", "ge"]), row, key)
        if kind < 0.35:
            return made("lt", Node("position", place=frozenset("t")), made("whole", self.index("t", self.batch)))
        return super().mask()

    def bias(self):
        """What an operand has at the distance of a row and a key."""
        made = self.made
        row, key = (Node("position", place=frozenset(axis)) for axis in "st")
        x, at = self.factory.operand((*self.batch, "d")), made("add", made("sub", row, key), self.number(2.0))
        return Node("at", (x, at), place=frozenset((*self.batch, "s", "t")), over=("d",), number=0.0)

    def score(self, nothing=NOTHING):
        rng, made, factory = self.rng, self.made, self.factory
        q, k = self.operand((*self.rows, "d")), self.operand((*self.batch, "t", "d"))
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
        if rng.random() < 0.15:
            x = made("add", x, self.bias())
        for _ in range(rng.choice([0, 1, 1, 2])):
            x = made("select", self.mask(), x, self.number(nothing if rng.random() < 0.7 else -3.0))
        return x

    def weight(self):
        """What a score comes to by itself, where no reduction of rows follows: a sigmoid, a power, or the score."""
        rng, made, number = self.rng, self.made, self.number
        x, kind = self.score(-2.0), rng.random()
        if kind < 0.4:
            x = made("div", number(1.0), made("add", number(1.0), made("exp", made("sub", number(0.0), x))))
        elif kind < 0.7:
            x = made("max", x, number(0.0)) if kind < 0.55 else made("mul", x, x)
        return made("select", self.mask(), x, number(0.0)) if rng.random() < 0.4 else x

    def outputs(self):
        rng, made, factory = self.rng, self.made, self.factory
        if rng.random() < 0.2:
            return {"r0": self.over("sum", made("mul", self.weight(), self.operand((*self.batch, "t", "e"))))}
        x, v = self.score(), self.operand((*self.batch, "t", "e"))
        peak = self.over("maximum", x)
        if rng.random() < 0.15 and factory.free:
            peak = made("max", peak, factory.operand(self.batch))
        reads = rng.random() < 0.5
        peak = made("detach", peak) if reads or rng.random() < 0.3 else peak
        p = made("exp", made("sub", x, peak))
        total = self.over("sum", p)
        if rng.random() < 0.2 and factory.free:
            total = made("add", total, made("exp", made("sub", factory.operand(self.batch), peak)))
        if rng.random() < 0.15 and factory.free:
            p = made("mul", p, factory.operand(factory.some((*self.rows, "t"), 1)))
        elif rng.random() < 0.15:
            p = made("select", self.mask(), p, self.number(0.0))
        found = {"r0": made("div", self.over("sum", made("mul", p, v)), total)}
        if rng.random() < 0.3:
            found["r0"] = self.over("sum", made("mul", made("div", p, total), v))
        if rng.random() < (0.7 if reads else 0.3):
            found["r1"] = made("add", made("log", total), peak)
            self.types = {"r1": "computed"} if rng.random() < 0.5 else {}
        self.reads = [name for name in found if reads and rng.random() < 0.8]
        return found


class Sequence(Stream):
    """Products on both sides of what a stream or a row of a product comes to, over axes m, k and n."""

    def projection(self, axes, over):
        """A value of some axes: the sum of a product over one more, of which each factor has some of them."""
        rng, factory = self.rng, self.factory
        taken = rng.randrange(1, len(axes))
        left, right = factory.operand((*axes[:taken], over)), factory.operand((*axes[taken:], over), -0.5, 0.5)
        x = self.over("sum", self.made("mul", left, right), over)
        return self.made("add", x, factory.operand(factory.some(axes, 1))) if rng.random() < 0.2 else x

    def operand(self, axes):
        return self.projection(axes, "m") if self.rng.random() < 0.6 else super().operand(axes)

    def normalised(self, x, axis):
        """Of a value its softmax along an axis, its norm, its largest, or its logarithms' sum."""
        made, kind = self.made, self.rng.random()
        if kind < 0.3:
            peak = self.over("maximum", x, axis)
            p = made("exp", made("sub", x, peak))
            return made("div", p, self.over("sum", p, axis))
        if kind < 0.6:
            apart = made("sub", x, self.over("mean", x, axis))
            return made("mul", apart, made("rsqrt", made("add", self.over("mean", made("mul", apart, apart), axis),
                                                         self.number(0.25))))
        if kind < 0.8:
            return self.over("maximum", x, axis)
        return made("log", made("add", self.over("sum", made("mul", x, x), axis), self.number(1.0)))

    def outputs(self):
        rng, made = self.rng, self.made
        if rng.random() < 0.5:
            found = super().outputs()
        else:
            x = self.projection((*self.rows, "t"), "m")
            x = made("add", x, self.factory.operand((*self.rows, "t"))) if rng.random() < 0.3 else x
            found = {"r0": self.normalised(x, rng.choice("st"))}
        x = found["r0"]
        if rng.random() < 0.6 and x.place:
            over = rng.choice(sorted(x.place))
            found["r0"] = self.over("sum", made("mul", x, self.factory.operand((over, "n"))), over)
        return found


def make_stream(rng, name, kind=Stream):
    dtypes = rng.choice(PRECISIONS)
    factory = Factory(rng, dtypes)
    made = kind(rng, factory)
    outputs, place = made.outputs(), {}
    for output, node in outputs.items():
        axes = sorted(node.place)
        rng.shuffle(axes)
        place[output] = tuple(axes)
    op = FuzzOp(name, "nest", [], factory.inputs, factory.scalars, outputs, place,
                made.reads != [] or rng.random() < (0.4 if kind is Sequence else 0.3), dtypes, ["'default'"],
                ["'default'"], types=made.types, reads=made.reads)
    prune(op)
    op.backward = op.backward and has_gradient(op)
    op.dims = sorted({axis for i in op.inputs for axis in i.place})
    op.lua = spec_of(op, rng)
    return op


def make_any(rng, name, backends):
    """A random op of any kind, or None."""
    kind = rng.random()
    if kind < 0.12:
        return make_stream(rng, name, Sequence if kind < 0.05 else Stream)
    if kind < 0.32:
        return make_nest(rng, name)
    return (make_product if kind < 0.64 else make_op)(rng, name, backends)
