"""Random ops of all kinds for the fuzzer: expression trees."""

import dataclasses

import numpy as np

from fuzz_lua import REDUCTIONS, or_default, spec_of, tables, variants
from fuzz_values import FUNCTIONS, INTEGERS, Evaluation, Node

NAMES = "a b c d e p q v w z".split()  # of inputs; those that the templates want for themselves are none
DIMS = [["n"], ["m", "n"], ["k", "m", "n"]]
NO_DERIVATIVE = set("detach lt le gt ge eq ne isnan all_of any_of negate argmax argmin floor round sign".split())
MOST_DEPTH = 3  # of reductions in each other
SAMPLE = {1: (35,), 2: (5, 7), 3: (2, 3, 6)}  # the sizes that ranges are looked at with


@dataclasses.dataclass
class Input:
    name: str
    place: str
    low: float = -1.0
    high: float = 1.0
    kind: str = "float"
    dtype: str = ""  # where that is not the op's
    along: str = ""  # of an index, the axis; the innermost where it does not say

    def whole(self):
        return self.dtype in INTEGERS


@dataclasses.dataclass
class FuzzOp:
    name: str
    key: str  # how its expressions are grown, after the template of most of them: map, reduce or rows
    dims: list
    inputs: list
    scalars: dict
    outputs: dict  # name -> Node
    place: dict  # of each output
    backward: bool
    dtypes: list
    rows: list  # of `variants`, as Lua
    gradient_rows: list  # the same of its gradient
    lua: str = ""
    types: dict = dataclasses.field(default_factory=dict)  # of outputs whose type is not the op's
    reads: list = dataclasses.field(default_factory=list)  # outputs that its gradient reads

    def nodes(self):
        """All of them, arguments first."""
        seen = {}

        def walk(node):
            if node not in seen:
                for arg in node.args:
                    walk(arg)
                seen[node] = None

        for node in self.outputs.values():
            walk(node)
        return list(seen)


class Grower:
    """Grows expressions for one op, at a place: whether a value differs from point to point, from row to
    row, by column, or is one alone."""

    def __init__(self, rng, key, reduces_to, dims, inputs, scalars, backward):
        self.rng, self.key, self.dims, self.inputs, self.scalars = rng, key, dims, inputs, scalars
        self.reduces_to, self.backward = reduces_to, backward  # the place of results, where key is reduce
        self.pool = {}
        random = np.random.default_rng(rng.getrandbits(32))
        shape, values = SAMPLE[len(dims)], dict(scalars)
        for i in inputs:
            extent = {"point": shape, "row": shape[:-1] + (1,), "single": (1,) * len(shape),
                      "column": (1,) * (len(shape) - 1) + shape[-1:]}[i.place]
            values[i.name] = (np.array(random.uniform(i.low, i.high, extent)) if i.kind == "float"
                              else random.integers(0, shape[-1], extent))
        self.sample, self.interned = Evaluation(shape, values), {}

    def node(self, op, args=(), **more):
        """Equal nodes are one."""
        node = Node(op, args, **more)
        key = (op, args, node.name, repr(node.number), node.place, node.detached)
        return self.interned.setdefault(key, node)

    def leaf(self, place):
        rng, choices = self.rng, []
        below = {"point": ["point"] * 4 + ["row", "column", "single"], "row": ["row", "single"],
                 "column": ["column"], "single": ["single"] if self.key == "reduce" else []}[place]
        for want in below:
            choices += [i for i in self.inputs if i.place == want and i.kind == "float"]
        kind = rng.random()
        if choices and kind < (0.85 if place == "point" else 0.6):
            chosen = rng.choice(choices)
            alone = chosen.place == "single"
            return self.node("input", name=chosen.name, place=chosen.place, detached=alone and self.backward,
                        varying=chosen.place in ("point", "column"))
        if self.scalars and kind < 0.9:
            return self.node("scalar", name=rng.choice(sorted(self.scalars)), place="single")
        return self.constant()

    def constant(self):
        if self.rng.random() < 0.15:  # traced before the op's function is
            argument = self.number(self.rng.choice([2.0, 0.3, 0.75]))
            return self.made(self.rng.choice(["sqrt", "exp", "log1p", "erf"]), argument)
        return self.number(self.rng.choice([0.5, 2.0, -1.0, 3.0, 0.1, 1 / 3, 1.5, 0.25, -2.0, 0.0, 1.0,
                                       round(self.rng.uniform(-3, 3), 3)]))

    def number(self, number):
        return self.node("const", number=number, place="single")

    def range_of(self, node):
        value = self.sample.of(node)[0]
        return float(np.min(value)), float(np.max(value))

    def made(self, op, *args, place=None, **more):
        """A node whose place is the widest of its arguments' or the one given."""
        order = ["single", "row", "column", "point"]
        if place is None:
            places = {a.place for a in args}
            place = "point" if {"row", "column"} <= places else max(places, key=order.index)
        more.setdefault("varying", any(a.varying for a in args))
        if op == "select" and args[1] is args[2]:
            return args[1]
        return self.node(op, args, place=place, **more)

    def safe(self, node, ok, fix):
        """Mostly what a function is defined for, sometimes anything."""
        return node if ok(*self.range_of(node)) or self.rng.random() < 0.06 else fix(node)

    def plus(self, node, number):
        return self.made("add", node, self.number(number))

    def function(self, op, x):
        absolute = self.made("abs", x)
        if op in ("sqrt", "log", "log2", "log10", "rsqrt"):
            x = self.safe(x, lambda low, high: low > 0.05, lambda _: self.plus(absolute, 0.25))
        elif op == "log1p":
            x = self.safe(x, lambda low, high: low > -0.8, lambda _: absolute)
        elif op == "acosh":
            x = self.safe(x, lambda low, high: low > 1.05, lambda _: self.plus(absolute, 1.25))
        elif op in ("asin", "acos", "atanh"):
            x = self.safe(x, lambda low, high: -0.9 < low and high < 0.9,
                          lambda _: self.made("mul", self.made("sin", x), self.number(0.8)))
        elif op in ("sinh", "cosh"):
            x = self.safe(x, lambda low, high: -5 < low and high < 5, lambda _: self.made("sin", x))
        elif op in ("exp", "exp2", "expm1"):
            x = self.safe(x, lambda low, high: high < 5, lambda _: self.made("neg", absolute))
        return self.made(op, x)

    def power(self, x, y):
        """To a power that is a constant, or not."""
        if self.rng.random() < 0.6:
            exponent = self.rng.choice([3.0, 4.0, 5.0, -1.0, -2.0, 0.5, 1.5, -0.5, 0.0, 1.0])
            if exponent != int(exponent) or exponent < 0:
                x = self.plus(self.made("abs", x), 0.5)
            return self.made("power", x, self.number(exponent))
        return self.made("pow", self.plus(self.made("abs", x), 0.25), y)

    def quotient(self, a, b):
        return self.made("div", a, self.safe(b, lambda low, high: low > 0.05 or high < -0.05,
                                             lambda _: self.plus(self.made("abs", b), 0.5)))

    def tame(self, node):
        """Keeps values where all types have room for what is made of them."""
        low, high = self.range_of(node)
        if not (np.isfinite(low) and np.isfinite(high)):
            return node if self.rng.random() < 0.1 else self.leaf(node.place)
        if max(-low, high) > 100:
            return self.made(self.rng.choice(["tanh", "sigmoid"]), self.made(
                "mul", node, self.number(2.0**-8)))
        return node

    def mask(self, place, depth, nested):
        rng = self.rng
        kind = rng.random()
        if kind < 0.08:
            return self.made("negate", self.mask(place, depth - 1, nested))
        if kind < 0.2 and depth > 0:
            return self.made(rng.choice(["all_of", "any_of"]), self.mask(place, depth - 1, nested),
                             self.mask(place, depth - 1, nested))
        if kind < 0.27:
            return self.made("isnan", self.grow(place, depth, nested))
        op = rng.choice(["lt", "le", "gt", "ge", "lt", "gt", "eq", "ne"])
        return self.made(op, self.grow(place, depth, nested), self.other(place, depth, nested))

    def other(self, place, depth, nested):
        """A second argument: of the same place, or of less."""
        if self.rng.random() < 0.4:
            return self.leaf(place)
        return self.grow(place, depth, nested)

    def reductions(self, place, nested):
        """Whether there is a reduction that ends at a place, at that depth inside of others."""
        if self.key == "reduce":
            return place == self.reduces_to and nested < (1 if place == "column" else MOST_DEPTH)
        return self.key == "rows" and (place == "row" or place == "column" and nested == 0) and nested < MOST_DEPTH

    def reduction(self, place, depth, nested):
        rng = self.rng
        term = self.grow("point", depth, nested + 1, reduced=place)
        for _ in range(20):
            if has_axes(term, place):
                break
            term = self.leaf("point")
        if not has_axes(term, place):
            term = self.node("input", name=self.inputs[0].name, place="point", varying=True)
        targets = [i for i in self.inputs if i.kind == "index"]
        if targets and place == "row" and rng.random() < 0.4:
            index = self.node("input", name=targets[0].name, place="row")
            return self.node("pick", (term, index), place="row")
        op = rng.choice(["sum", "mean", "mean", "maximum", "minimum"])
        return self.node(op, (term,), place=place)

    def grow(self, place, depth, nested=0, reduced=None):
        """A value at a place. nested: how many reductions it is under; reduced: where the innermost of
        them ends."""
        rng = self.rng
        if depth <= 0:
            return self.bottom(place, nested, reduced)
        known = self.pool.setdefault((place, nested > 0), [])
        if known and rng.random() < 0.15:
            return rng.choice(known)
        node = self.tame(self.step(place, depth, nested))
        known.append(node)
        return node

    def bottom(self, place, nested, reduced):
        inside = reduced or {"map": None, "rows": "row"}.get(self.key, self.reduces_to)
        if place == "point" and inside and inside != "column" and self.reductions(inside, nested) \
                and self.rng.random() < 0.25:
            return self.reduction(inside, 1, nested)
        if place in ("row", "column", "single") and self.reductions(place, nested):
            return self.reduction(place, 1, nested)
        return self.leaf(place)

    def step(self, place, depth, nested):
        rng = self.rng
        kind = rng.random()
        if place in ("row", "column", "single") and self.reductions(place, nested) and kind < 0.5:
            return self.reduction(place, depth - 1, nested)
        x = self.grow(place, depth - 1, nested)
        if kind < 0.3:
            return self.function(rng.choice([*FUNCTIONS, "abs", "neg"]), x)
        if kind < 0.4:
            mask = self.mask(place, depth - 2, nested)
            return self.made("select", mask, x, self.other(place, depth - 1, nested))
        if kind < 0.45:
            low, high = sorted([round(rng.uniform(-2, 2), 2), round(rng.uniform(-2, 2), 2)])
            return self.made("clamp", x, self.number(low), self.number(high))
        y = self.other(place, depth - 1, nested)
        if rng.random() < 0.5:
            x, y = y, x
        op = rng.choice(["add", "sub", "mul", "mul", "div", "max", "min", "copysign", "fma", "add", "detach", "pow"])
        if op == "div":
            return self.quotient(x, y)
        if op == "pow":
            return self.power(x, y)
        if op == "fma":
            return self.made("fma", x, y, self.other(place, depth - 1, nested))
        if op == "detach":
            return self.made("add", x, self.made("detach", y))
        return self.made(op, x, y)


def has_axes(term, place):
    """Whether a term varies over the axes that a reduction to a place goes over."""
    return term.place == "point" or term.place == {"row": "column", "column": "row"}.get(place)


def template_of(op):
    """The template that the generator finds, but where it has none for the op."""
    places = {i.place for i in op.inputs} - {"point", "single"}
    reductions = {node.place for node in op.nodes() if node.op in REDUCTIONS}
    if not places and not reductions and set(op.place.values()) == {"point"}:
        return "map"
    return "reduce" if not places and reductions == {"single"} == set(op.place.values()) else "rows"


def gradient_template_of(op):
    """The same of its gradient, None where it depends on more."""
    template = template_of(op)
    by_row = "row" in op.place.values() or any(i.place == "row" for i in op.inputs)
    return "map" if template != "rows" else "rows" if by_row else None


def make_op(rng, name, backends):
    """A random op, for these backends. Some trees come to nothing that an op may be: then None."""
    key = rng.choice(["map", "rows", "rows", "reduce"])
    dims = rng.choice(DIMS[1:] if key == "rows" else DIMS)
    backward = rng.random() < 0.45
    kinds = ["point"] if key == "map" else ["single"]
    if key == "rows":
        kinds = rng.choice([["point"], ["row"], ["point", "row"], ["point", "column"], ["row", "column"], ["point"] * 2,
                            ["column"], ["point", "row", "column"]])
    elif key == "reduce" and len(dims) > 1:
        kinds = [rng.choice(["single", "row", "column"])]
    kinds = kinds * rng.choice([1, 1, 1, 2]) if len(kinds) == 1 else kinds
    dtypes = some(rng, ["f64", "f32", "f16", "bf16"])
    inputs = random_inputs(rng, key, "f64" not in dtypes)
    backward = backward and "column" not in kinds and (key != "reduce" or len(kinds) == 1)
    scalars = {s: round(rng.uniform(-2, 2), 3) for s in rng.choice([[], [], ["alpha"], ["alpha", "beta"]])}
    grower = Grower(rng, key, kinds[0], dims, inputs, scalars, backward)
    outputs, place = {}, {}
    for number, kind in enumerate(kinds):
        result = f"r{number}_{kind}" if len(kinds) > 1 else "r"
        node = grow_sum(rng, grower) if backward and kind == "single" else grow_output(rng, grower, key, kind)
        if kind == "point" and not node.varying or node.op in ("sum", "mean") and not has_axes(node.args[0], kind):
            return None
        backward = backward and node.op not in ("argmax", "argmin")
        outputs[result], place[result] = node, kind
    if "map" == key and any(i.kind == "integer" for i in inputs):
        inputs += [Input("offset", "single", kind="integer")]
    op = FuzzOp(name, key, dims, inputs, scalars, outputs, place, backward, dtypes, [], [])
    prune(op)
    if not any(i.place == "point" for i in op.inputs) or len(op.nodes()) > 60 \
            or reads(op) != reads(op, lambda node: not is_one(node)):
        return None
    op.backward = op.backward and has_gradient(op)
    op.rows = or_default(rng, variants(rng, template_of(op), backends) + tables(rng, op, backends))
    op.gradient_rows = or_default(rng, variants(rng, gradient_template_of(op), backends))
    if "f64" not in dtypes and not op.backward:
        op.types = {r: rng.choice(["i8", "u8", "f32"]) for r, node in outputs.items()
                    if rng.random() < 0.08 and node.op not in ("argmax", "argmin")}
    op.lua = spec_of(op, rng)
    return op


def some(rng, list_of):
    return sorted(rng.sample(list_of, rng.choice([1, 1, 2])), key=list_of.index)


def random_inputs(rng, key, typed):
    """typed: whether some may have a type of their own."""
    ranges = [(-1.0, 1.0), (-1.0, 1.0), (0.5, 1.5), (-10.0, 10.0), (0.0, 1.0), (-0.1, 0.1)]
    places = ["point"] * rng.choice([1, 2, 2, 3])
    if key == "rows":
        places += [p for p in ("row", "column", "single") if rng.random() < 0.35]
    elif rng.random() < 0.2:
        places.append("single")
    inputs = [Input(NAMES[i], place, *rng.choice(ranges)) for i, place in enumerate(places)]
    for i in inputs if typed and rng.random() < 0.25 else []:
        if rng.random() < 0.5:
            i.dtype = rng.choice(["i8", "u8", "f16", "f32"])
            i.low, i.high = (INTEGERS[i.dtype] if rng.random() < 0.4 else (0, 9)) if i.whole() else (i.low, i.high)
    if key == "rows" and rng.random() < 0.3:
        inputs.append(Input("target", "row", kind="index"))
    if key == "map" and rng.random() < 0.15:
        inputs.append(Input("seed", "single", kind="integer"))
    return inputs


def grow_output(rng, grower, key, kind):
    depth = rng.choice([1, 2, 2, 3, 3, 4])
    node = grower.grow(kind, depth)
    if key == "map" and any(i.kind == "integer" for i in grower.inputs):
        random = Node("random", tuple(Node("input", name=n, place="single") for n in ("seed", "offset")), varying=True)
        return Node("select", (Node("lt", (random, Node("const", number=0.4, place="single"))), node,
                               Node("mul", (node, random))), varying=True)
    if key == "reduce" and kind != "column" and rng.random() < 0.2:
        term = grower.grow("point", depth, 1, kind)
        if has_axes(term, kind):
            return Node(rng.choice(["argmax", "argmin"]), (term,), place=kind)
    return node


def grow_sum(rng, grower):
    """What has a gradient that is no sum itself."""
    grower.key = "map"
    term = grower.grow("point", rng.choice([1, 2, 3]))
    return Node(rng.choice(["sum", "mean"]), (term,), place="single")


def is_one(node):
    """x ^ 0, which the generator makes 1 of, so that x is not read."""
    return node.op == "power" and node.args[1].number == 0


def reads(op, through=lambda node: True):
    """The names of what an op's expressions are made of; through: which nodes' arguments count."""
    seen, stack = set(), list(op.outputs.values())
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.args if through(node) else ()
    return {node.name for node in seen}


def prune(op):
    """Leaves out what is never read."""
    read = reads(op)
    op.inputs = [i for i in op.inputs if i.name in read]
    op.scalars = {name: value for name, value in op.scalars.items() if name in read}


def has_gradient(op):
    """Whether anything depends on an input in a way that has a derivative."""
    reached, stack = set(), list(op.outputs.values())
    while stack:
        node = stack.pop()
        if node.op not in NO_DERIVATIVE:
            reached.add(node)
            stack += node.args
    floats = {i.name for i in op.inputs if i.kind == "float" and not i.whole()}
    return any(n.op == "input" and n.name in floats and not n.detached for n in reached)
