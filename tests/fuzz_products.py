"""Random sums of products for the fuzzer: contractions of any structure, and chains of them."""

import dataclasses
import math

from fuzz_lua import gpu_products, or_default, spec_of
from fuzz_ops import FuzzOp, Input, has_gradient, make_op, prune
from fuzz_values import Node

NAMES = "a b c d e p q v w z".split()
BYTES = {"i8": [(-128, 127), (-9, 9)], "u8": [(0, 255), (0, 9)]}
TRUTHS = set("lt le gt ge eq ne isnan all_of any_of negate".split())  # what is no number
PRECISIONS = [["f32"], ["f32"], ["f16"], ["bf16"], ["f16"], ["f64"], ["f32", "bf16"]]


class Factory:
    """Makes the nodes of one op, whose places are the names of the axes that a value differs along."""

    def __init__(self, rng, dtypes):
        self.rng, self.dtypes = rng, dtypes
        self.inputs, self.scalars, self.extents, self.free = [], {}, [], list(NAMES)

    def axes(self, letter, most):
        """Up to so many new axes."""
        names = [letter + "12"[i] if most > 1 else letter for i in range(self.rng.choice(range(most + 1)))]
        return tuple(names)

    def operand(self, axes, low=-1.0, high=1.0, typed=False):
        """A new input of these axes, in any order in memory."""
        rng, name = self.rng, self.free.pop(0)
        axes = list(axes)
        if rng.random() < 0.5:
            rng.shuffle(axes)
        dtype = ""
        if typed and "f64" not in self.dtypes:
            dtype = rng.choice(["i8", "u8", "f16", "bf16", "f32"])
            low, high = rng.choice(BYTES[dtype]) if dtype in BYTES else (low, high)
        self.inputs.append(Input(name, tuple(axes), low, high, dtype=dtype))
        return Node("input", name=name, place=frozenset(axes))

    def made(self, op, *args):
        return Node(op, args, place=frozenset().union(*(a.place for a in args)))

    def number(self, number):
        return Node("const", number=number, place=frozenset())

    def scalar(self):
        name = ["alpha", "beta", "gamma"][len(self.scalars) % 3]
        self.scalars.setdefault(name, round(self.rng.uniform(-2, 2), 3))
        return Node("scalar", name=name, place=frozenset())

    def some(self, axes, least=0):
        """Some of the axes."""
        axes = sorted(axes)
        return tuple(a for a in axes if self.rng.random() < 0.5) or (tuple(axes[:1]) if least else ())

    def factor(self, axes, plain):
        rng, made = self.rng, self.made
        x = self.operand(axes, typed=rng.random() < 0.25)
        kind = rng.random()
        if plain or kind < 0.6 or len(self.free) < 4:
            return x
        if kind < 0.7:
            scaled = made("mul", x, self.operand(self.some(axes), 0.5, 1.5))
            return scaled
        if kind < 0.76:
            return made("mul", made("sub", x, self.operand(self.some(axes))), self.operand(self.some(axes), 0.1, 1.0))
        if kind < 0.82:
            return made("mul", x, self.scalar())
        if kind < 0.88:
            return made("add", x, self.number(rng.choice([0.5, 2.0, -1.5])))
        if kind < 0.94:
            return made(rng.choice(["abs", "tanh", "sigmoid", "square", "neg"]), x)
        return made("max", x, self.number(0.0))

    def term(self, a, b):
        """What two values come to: mostly their product."""
        kind = self.rng.random()
        if kind < 0.88:
            return self.made("mul", a, b)
        if kind < 0.92:
            return self.made("max", a, b)
        return self.made(self.rng.choice(["abs", "square"]), self.made("sub", a, b))

    def sum(self, a, b, over):
        product = self.term(a, b) if b is not None else a
        kind = "mean" if self.rng.random() < 0.1 else "sum"
        return Node(kind, (product,), place=product.place - set(over), over=tuple(over))

    def activation(self, z):
        rng, made, number = self.rng, self.made, self.number
        kind = rng.choice(["relu", "relu", "gelu", "swish", "tanh", "sigmoid", "clamp", "leaky", "none"])
        if kind == "relu":
            return made("max", z, number(0.0))
        if kind == "gelu":
            inner = made("erfc", made("mul", z, number(-math.sqrt(0.5))))
            return made("mul", z, made("mul", number(0.5), inner))
        if kind == "swish":
            return made("mul", z, made("sigmoid", z))
        if kind == "clamp":
            return made("clamp", z, number(-1.0), number(0.75))
        if kind == "leaky":
            return made("select", made("gt", z, number(0.0)), z, made("mul", z, number(0.125)))
        return made(kind, z) if kind != "none" else z

    def epilogue(self, z):
        """What follows a sum, of its axes."""
        rng, made, axes = self.rng, self.made, z.place
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            if len(self.free) < 3:
                break
            kind = rng.random()
            if kind < 0.25:
                z = made("add", z, self.operand(self.some(axes, 1)))
            elif kind < 0.45:
                z = made(rng.choice(["mul", "mul", "sub", "max", "min"]), z, self.operand(self.some(axes)))
            elif kind < 0.55:
                z = made("add", z, self.operand(sorted(axes)))
            elif kind < 0.65:
                z = made(rng.choice(["mul", "add"]), z, self.scalar())
            elif kind < 0.73 and axes:
                both = self.operand(self.some(axes)), self.operand(self.some(axes))
                mask = made(rng.choice(["lt", "le", "gt", "ge"]), *both)
                z = made("select", mask, z, self.number(rng.choice([0.0, -1.0])))
            elif kind < 0.78:
                z = made("div", z, made("add", self.number(1.5), made("abs", self.operand(self.some(axes)))))
            else:
                z = self.activation(z)
        return z


def contraction(rng, made_by):
    """A sum or two of products, and what follows; sometimes summed once more."""
    f = made_by
    batch = f.axes("b", 1) if rng.random() < 0.35 else ()
    m, n, k = f.axes("m", 2 if rng.random() < 0.2 else 1), f.axes("n", 2 if rng.random() < 0.2 else 1), ()
    while not k:
        k = f.axes("k", 2 if rng.random() < 0.2 else 1)
    m, n = (m or ("m",) if rng.random() < 0.85 else m), (n or ("n",) if rng.random() < 0.85 else n)
    plain = rng.random() < 0.5
    a, b = f.factor(batch + m + k, plain), f.factor(batch + n + k, plain)
    z = f.sum(a, b, k)
    if rng.random() < 0.2:
        second = f.sum(a if rng.random() < 0.6 else f.factor(batch + m + k, True), f.factor(batch + n + k, True), k)
        gate = f.made(rng.choice(["sigmoid", "tanh"]), second) if rng.random() < 0.6 else second
        z = f.made("mul", f.epilogue(z) if rng.random() < 0.3 else z, gate)
    values = {"r": f.epilogue(z)}
    if rng.random() < 0.2:
        values["s"] = z if rng.random() < 0.5 else f.epilogue(z)
        if values["s"] is values["r"]:
            del values["s"]
    elif rng.random() < 0.12 and z.place:
        over = f.some(z.place, 1)
        values["r"] = f.sum(f.made("mul", values["r"], f.operand(over)), None, over)
    return values


def chain(rng, made_by):
    """Layers of the rows of a batch."""
    f = made_by
    batch = ("batch",) if rng.random() < 0.8 else ("batch", "seq")
    axes = ["i", "h", "l", "o"]
    x = f.operand(batch + ("i",))
    value, values = x, {}
    for layer in range(rng.choice([1, 2, 2, 2, 3])):
        into = axes[layer + 1]
        z = f.sum(f.operand((into, axes[layer])), value, (axes[layer],))
        if rng.random() < 0.7:
            z = f.made("add", z, f.operand((into,)))
        value = f.activation(z)
    if rng.random() < 0.15 and value is not z:
        values["s"] = z
    values["r"] = value if rng.random() < 0.3 else z
    if values.get("s") is values["r"]:
        del values["s"]
    return values


def walk(nodes):
    """All nodes below some."""
    seen, stack = set(), list(nodes)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.args
    return seen


def make_product(rng, name, backends):
    """A random op of products, or None where it comes to nothing that an op may be."""
    dtypes = rng.choice(PRECISIONS)
    factory = Factory(rng, dtypes)
    key = "chain" if rng.random() < 0.3 else "contract"
    outputs = (chain if key == "chain" else contraction)(rng, factory)
    if sum(node.op == "sum" for node in walk(outputs.values())) < 2:
        key = "contract"
    place = {}
    for output, node in outputs.items():
        axes = sorted(node.place)
        if rng.random() < 0.35 and key == "contract":
            rng.shuffle(axes)
        elif key == "chain":
            axes = [a for a in ("batch", "seq", "i", "h", "l", "o") if a in node.place]
        place[output] = tuple(axes)
    op = FuzzOp(name, key, [], factory.inputs, factory.scalars, outputs, place, rng.random() < 0.4, dtypes, [], [])
    prune(op)
    if len(op.inputs) + 2 * len(outputs) > 14:
        return None
    op.dims = sorted({axis for i in op.inputs for axis in i.place})
    op.backward = op.backward and has_gradient(op)
    whole = all(not i.dtype for i in op.inputs)
    if key == "contract" and "f64" not in dtypes and not op.backward and rng.random() < 0.15:
        op.types = {rng.choice(sorted(outputs)): rng.choice(["i8", "u8", "f32"])}
    op.rows = or_default(rng, gpu_products(rng, key, dtypes, backends, whole))
    op.gradient_rows = or_default(rng, gpu_products(rng, key, dtypes, backends, whole))
    op.lua = spec_of(op, rng)
    return op


def parts_of(op, rng):
    """Ops that compute a part of what an op does: the value of a node that is no operand, with the op's variants."""
    made = []
    nodes = [n for n in op.nodes() if n.args and n not in op.outputs.values() and n.op not in TRUTHS]
    for node in nodes[::-1]:
        place = tuple(sorted(node.place)) if isinstance(node.place, frozenset) else node.place
        part = dataclasses.replace(op, name=f"{op.name}_part{len(made)}", inputs=list(op.inputs),
                                   scalars=dict(op.scalars), outputs={"r": node}, place={"r": place}, types={})
        prune(part)
        if isinstance(node.place, frozenset):
            part.dims = sorted({axis for i in part.inputs for axis in i.place})
        part.backward = part.backward and has_gradient(part)
        part.lua = spec_of(part, rng)
        made.append(part)
    return made
