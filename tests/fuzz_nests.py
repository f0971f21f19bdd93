"""Random ops over any axes for the fuzzer: operands with some of them in any order, reductions over some, one after the
other."""

from fuzz_lua import spec_of
from fuzz_ops import FuzzOp, Input, has_gradient, prune
from fuzz_products import PRECISIONS, Factory
from fuzz_values import Node

AXES = "g h s t".split()
REDUCTIONS = ["sum", "sum", "mean", "maximum", "minimum"]


class Nest:
    """Grows values whose places are the names of the axes that they differ along."""

    def __init__(self, rng, factory, axes):
        self.rng, self.factory, self.axes = rng, factory, axes
        self.made, self.number = factory.made, factory.number
        self.values = [factory.operand(axes)]
        for _ in range(rng.choice([0, 1, 1, 2])):
            self.values.append(factory.operand(factory.some(axes, 1), typed=rng.random() < 0.15))

    def position(self):
        """Where a point is along an axis."""
        return Node("position", place=frozenset(self.rng.choice(self.axes)))

    def index(self, along, axes=None):
        """A new operand of indexes."""
        axes = self.factory.some(set(self.axes) - {along}) if axes is None else axes
        name = self.factory.free.pop(0)
        self.factory.inputs.append(Input(name, axes, kind="index", along=along))
        return Node("input", name=name, place=frozenset(axes))

    def place(self, axis):
        """A place along an axis, mostly on it."""
        rng, made, number = self.rng, self.made, self.number
        here, kind = Node("position", place=frozenset(axis)), rng.random()
        if kind < 0.2 and len(self.axes) > 1 and self.factory.free:
            index = made("whole", self.index(axis))
            return index if rng.random() < 0.5 else made("sub", index, number(1.0))
        if kind < 0.35:
            return made(rng.choice(["add", "sub"]), here, number(rng.choice([1.0, 2.0, 7.0])))
        if kind < 0.5:
            return made("sub", number(rng.choice([3.0, 30.0])), here)
        if kind < 0.65:
            return made("sub", made("add", here, self.position()), number(1.0))
        if kind < 0.75:
            return made("floor", made("div", self.position(), number(rng.choice([2.0, 3.0]))))
        return made("sub", made("mul", self.position(), number(2.0)), number(rng.choice([0.0, 3.0])))

    def elsewhere(self, x):
        """What is at other places along some of its axes."""
        over = self.factory.some(x.place, 1)
        places = tuple(self.place(axis) for axis in over)
        place = frozenset(x.place - set(over)).union(*(p.place for p in places))
        outside = self.rng.choice([0.0, 0.0, 1.5, -2.0])
        return Node("at", (x, *places), place=place, over=over, number=outside)

    def mask(self):
        """A comparison of places: of two axes, of one and what is not far from it, or of whole numbers made of one."""
        rng, made = self.rng, self.made
        here = self.position()
        if rng.random() < 0.3:
            here = made("floor", made("mul", here, self.number(rng.choice([0.5, 0.25]))))
        there = self.position() if rng.random() < 0.6 else self.number(rng.choice([0.0, 2.0, 9.0]))
        if rng.random() < 0.4:
            here, there = made("abs", made("sub", here, there)), self.number(rng.choice([1.0, 4.0]))
        return made(rng.choice(["lt", "le", "gt", "ge", "eq", "ne"]), here, there)

    def map(self, x):
        """A function that is defined everywhere."""
        rng, made = self.rng, self.made
        if rng.random() < 0.1:
            return made("div", x, made("add", self.position(), self.number(1.0)))
        kind = rng.choice(["exp", "sqrt", "tanh", "sigmoid", "square", "relu", "affine", "neg", "abs"])
        if kind == "exp":
            return made("exp", made("neg", made("abs", x)))
        if kind == "sqrt":
            return made("sqrt", made("add", made("abs", x), self.number(0.25)))
        if kind == "relu":
            return made("max", x, self.number(0.125))
        if kind == "affine":
            return made("add", made("mul", x, self.factory.scalar()), self.number(rng.choice([0.5, -1.5])))
        return made(kind, x)

    def combine(self, x, y):
        rng, made = self.rng, self.made
        op = rng.choice(["add", "sub", "mul", "mul", "max", "min", "select", "masked", "div"])
        if op == "div":
            return made("div", x, made("add", made("abs", y), self.number(0.5)))
        if op == "masked":
            return made("select", self.mask(), x, made("mul", y, self.number(0.5)))
        if op == "select":
            return made("select", made("lt", x, y), x, made("mul", y, self.number(0.5)))
        return made(op, x, y)

    def reduce(self, x, kind):
        over = self.factory.some(x.place, 1)
        if kind in ("argmax", "argmin"):
            over = self.rng.choice([over[:1], tuple(sorted(x.place))])
        return Node(kind, (x,), place=x.place - set(over), over=tuple(over))

    def scan(self, x):
        """What x comes to along one of its axes. A product's factors, and a recurrence's, are not far from 1."""
        kind = self.rng.choice(["cumsum", "cumsum", "cumprod", "cummax", "cummin", "recurrence"])
        args = [x]
        if kind in ("cumprod", "recurrence"):
            args = [self.made(self.rng.choice(["tanh", "sigmoid"]), x)]
        if kind == "recurrence":
            args.append(self.rng.choice([*self.values, self.number(1.0)]))
        place = frozenset().union(*(arg.place for arg in args))
        ways = [0, 2] if kind in ("cummax", "cummin") else [0, 0, 1, 2, 3]  # the extreme of nothing is infinite
        return Node(kind, tuple(args), number=float(self.rng.choice(ways)), place=place,
                    over=(self.rng.choice(sorted(place)),))

    def step(self):
        rng = self.rng
        x = rng.choice(self.values[-3:])
        if rng.random() < 0.5:
            x = self.map(x)
        if rng.random() < 0.6:
            x = self.combine(x, rng.choice(self.values))
        if x.place and rng.random() < 0.25:
            x = self.elsewhere(x)
        if x.place and rng.random() < 0.2:
            x = self.scan(x)
        if x.place and rng.random() < 0.6:
            x = self.reduce(x, rng.choice(REDUCTIONS))
        self.values.append(x)

    def output(self):
        """The last value or another one, an index of its extreme, or what is beside an operand again."""
        rng, x = self.rng, self.rng.choice(self.values[-2:])
        kind = rng.random()
        if x.place and kind < 0.12:
            return self.reduce(x, rng.choice(["argmax", "argmin"]))
        return self.combine(self.values[0], x) if kind < 0.5 else x


def make_nest(rng, name):
    """A random op over any axes, or None where it comes to nothing that an op may be."""
    dtypes = rng.choice(PRECISIONS)
    factory = Factory(rng, dtypes)
    nest = Nest(rng, factory, AXES[:rng.choice([2, 2, 3, 3, 4])])
    for _ in range(rng.choice([1, 2, 2, 3, 4])):
        nest.step()
    outputs, place = {}, {}
    for nth in range(rng.choice([1, 1, 1, 2])):
        node = nest.output()
        if node.op == "input" or node in outputs.values():
            return None
        axes = sorted(node.place)
        rng.shuffle(axes)
        outputs[f"r{nth}"], place[f"r{nth}"] = node, tuple(axes)
    op = FuzzOp(name, "nest", [], factory.inputs, factory.scalars, outputs, place, rng.random() < 0.4, dtypes,
                ["'default'"], ["'default'"])
    prune(op)
    op.dims = sorted({axis for i in op.inputs for axis in i.place})
    asked = {axis for node in op.nodes() if node.op == "position" for axis in node.place} | {i.along for i in op.inputs}
    if not asked <= {*op.dims, ""}:
        return None
    op.backward = op.backward and has_gradient(op) and all(n.op not in ("argmax", "argmin") for n in outputs.values())
    op.lua = spec_of(op, rng)
    return op
