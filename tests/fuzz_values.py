"""Expressions of the fuzzer, and what they come to: an evaluator of lathe's functions that shares nothing
with it. Values are computed in NumPy's long double, derivatives forward (dual numbers), where lathe's gradients
go backward through a graph. What is rounded on the way is found by computing again with noise."""

import dataclasses

import numpy as np

import problems

# Several times what any right evaluation is off by at each step, in double and in f32.
NOISE = {np.float64: 2.0**-44, np.float32: 2.0**-18}
NOISY_RUNS = 4
INTEGERS = {"i8": (-128, 127), "u8": (0, 255)}


@dataclasses.dataclass(eq=False)
class Node:
    op: str
    args: tuple = ()
    name: str = ""  # an input's or a scalar's
    number: float = 0.0  # a constant's; a scan's: of 1 where it is exclusive and 2 where it goes back, the sum
    place: str = "point"  # point, row, column, or single: what it differs along
    varying: bool = False  # as the generator has it: it differs along a row
    detached: bool = False  # an input that has no derivative
    over: tuple = ()  # of a sum whose places are axes by their names: those that it goes over


# What is as exact as its arguments.
SCANS = set("cumsum cumprod cummax cummin recurrence".split())
UNSIGNED = {*"sum mean max min maximum minimum".split(), *SCANS}  # where zeros of both signs meet: in any order
EXACT = set("input scalar const neg abs max min select copysign detach maximum minimum pick clamp count floor round "
            "sign random argmax argmin position whole at cummax cummin".split())

_erf = np.vectorize(problems.math.erf, otypes=[np.float64])
_erfc_double = np.vectorize(problems.math.erfc, otypes=[np.float64])
_slope = 2 / np.sqrt(np.longdouble(np.pi))


def _erfc(x):
    """Where that is below what a double has, by its asymptotic series (Abramowitz and Stegun 7.1.23). Of negative numbers
    by that of positive ones, which a double has more digits of."""
    x = np.asarray(x, np.longdouble)
    far = np.where(x > 25, x, np.longdouble(30))
    series, t = np.longdouble(1), 1 / (2 * far * far)
    for odd in (11, 9, 7, 5, 3, 1):
        series = 1 - odd * t * series
    beyond = np.exp(-far * far) / (far * np.sqrt(np.longdouble(np.pi))) * series
    near = _erfc_double(np.abs(x)).astype(np.longdouble)
    return np.where(x > 25, beyond, np.where(x < 0, 2 - near, near))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


# The value of a function of one number, and its derivative there, from argument and value; None where that is 0
# whatever the argument depends on.
FUNCTIONS = {
    "sqrt": (np.sqrt, lambda x, y: 0.5 / y),
    "exp": (np.exp, lambda x, y: y),
    "exp2": (np.exp2, lambda x, y: y * np.log(np.longdouble(2))),
    "expm1": (np.expm1, lambda x, y: np.exp(x)),
    "log": (np.log, lambda x, y: 1 / x),
    "log2": (np.log2, lambda x, y: 1 / (x * np.log(np.longdouble(2)))),
    "log10": (np.log10, lambda x, y: 1 / (x * np.log(np.longdouble(10)))),
    "log1p": (np.log1p, lambda x, y: 1 / (1 + x)),
    "tanh": (np.tanh, lambda x, y: 1 / np.cosh(x) / np.cosh(x)),
    "sinh": (np.sinh, lambda x, y: np.cosh(x)),
    "cosh": (np.cosh, lambda x, y: np.sinh(x)),
    "asinh": (np.arcsinh, lambda x, y: 1 / np.sqrt(1 + x * x)),
    "acosh": (np.arccosh, lambda x, y: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1))),
    "atanh": (np.arctanh, lambda x, y: 1 / ((1 - x) * (1 + x))),
    "asin": (np.arcsin, lambda x, y: 1 / np.sqrt((1 - x) * (1 + x))),
    "acos": (np.arccos, lambda x, y: -1 / np.sqrt((1 - x) * (1 + x))),
    "atan": (np.arctan, lambda x, y: 1 / (1 + x * x)),
    "sigmoid": (_sigmoid, lambda x, y: _sigmoid(x) * _sigmoid(-x)),
    "erf": (_erf, lambda x, y: _slope * np.exp(-x * x)),
    "erfc": (_erfc, lambda x, y: -_slope * np.exp(-x * x)),
    "square": (lambda x: x * x, lambda x, y: 2 * x),
    "sin": (np.sin, lambda x, y: np.cos(x)),
    "cos": (np.cos, lambda x, y: -np.sin(x)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x, y: -0.5 * y / x),
    "floor": (np.floor, None),
    "round": (np.rint, None),
    "sign": (lambda x: np.sign(x) + 0, None),
}
COMPARISONS = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
               "eq": np.equal, "ne": np.not_equal}


class Noise:
    """What makes an evaluation differ from another; the first is rounded to its type and no further, and has +
    where a sign is open, the second has -."""

    def __init__(self, seed, number):
        self.random, self.number = np.random.default_rng((seed, number)), number

    def uniform(self, shape):
        return self.random.uniform(-1, 1, shape) if self.number else np.zeros(shape)

    def sign(self, shape):
        return np.full(shape, [1, -1][self.number]) if self.number < 2 else self.random.uniform(-1, 1, shape)


class Evaluation:
    """One evaluation of expressions over arrays that all have the op's dimensions, of extent 1 where they
    do not differ. A tangent has one dimension more in front where there are several directions."""

    def __init__(self, shape, values, dtype="f64", noise=None, tangents=None, own_type=False, dims=()):
        self.shape, self.noise, self.dims = shape, noise, dims
        self.float = np.longdouble if not noise else np.float32 if own_type and dtype != "f64" else np.float64
        self.values, self.tangents, self.memo = values, tangents or {}, {}
        self.narrow = dtype in ("f16", "bf16")

    def of(self, node):
        """The node's value and its tangent, None for zero."""
        if node not in self.memo:
            with np.errstate(all="ignore"):
                value, tangent = getattr(self, "_" + node.op, self._function)(node)
                if self.noise and value.dtype == self.float:
                    value = self.disturbed(node.op, value)
                    if tangent is not None and node.op not in EXACT:
                        tangent = self.blurred(tangent)
            self.memo[node] = value, tangent
        return self.memo[node]

    def disturbed(self, op, value):
        """What another right evaluation might have: rounded otherwise, a zero or a NaN of another sign."""
        if op not in EXACT:
            value = self.blurred(value)
        chance = np.isnan(value) if op not in ("input", "neg", "copysign") else np.zeros(np.shape(value), bool)
        chance = chance | (value == 0) if op in UNSIGNED else chance
        if chance.any():
            value = np.where(chance, np.copysign(value, self.noise.sign(np.shape(value))), value)
        return value.astype(self.float)

    def blurred(self, value):
        return value * (1 + NOISE[self.float] * self.noise.uniform(np.shape(value))).astype(self.float)

    def _all(self, node):
        pairs = [self.of(arg) for arg in node.args]
        return [value for value, _ in pairs], [tangent for _, tangent in pairs]

    def _input(self, node):
        value, tangent = self.values[node.name], self.tangents.get(node.name)
        return (value if value.dtype == np.int64 else value.astype(self.float),
                None if node.detached or tangent is None else tangent.astype(self.float))

    def _scalar(self, node):
        return np.full((1,) * len(self.shape), self.values[node.name], self.float), None

    def _const(self, node):
        return np.full((1,) * len(self.shape), node.number, self.float), None

    def _count(self, node):
        return np.full((1,) * len(self.shape), self._points(node.place), self.float), None

    def _position(self, node):
        axis = self.dims.index(*node.place)
        shape = [extent if nth == axis else 1 for nth, extent in enumerate(self.shape)]
        return np.arange(self.shape[axis]).reshape(shape).astype(self.float), None

    def _whole(self, node):
        return self.values[node.args[0].name].astype(self.float), None

    def _at(self, node):
        """The first argument at places along the axes `over`, which follow it; outside of it a number."""
        (value, *places), (tangent, *_) = self._all(node)
        named = [self.dims.index(axis) for axis in node.over]
        rest = [1 if axis in named else extent for axis, extent in enumerate(value.shape)]
        whole = np.broadcast_shapes(rest, *(place.shape for place in places))
        if 0 in value.shape:
            return np.full(whole, node.number, self.float), None
        if tangent is not None:  # it may be the same along an axis that is read at places
            tangent = np.broadcast_to(tangent, np.broadcast_shapes(tangent.shape, value.shape))
        index, inside = np.meshgrid(*map(np.arange, whole), indexing="ij", sparse=True), np.ones(whole, bool)
        index = [where if extent > 1 else where * 0 for where, extent in zip(index, value.shape)]
        for axis, place in zip(named, places):
            place = place.astype(np.int64)
            inside = inside & (place >= 0) & (place < value.shape[axis])
            index[axis] = np.clip(place, 0, value.shape[axis] - 1)
        value = np.where(inside, value[tuple(index)], np.asarray(node.number, self.float))
        return value, None if tangent is None else np.where(inside, tangent[(..., *index)], 0)

    def _random(self, node):
        seed, offset = (int(self.values[arg.name].ravel()[0]) for arg in node.args)
        numbers = problems.random(seed, offset, int(np.prod(self.shape)), self.narrow)
        return numbers.reshape(self.shape).astype(self.float), None

    def _function(self, node):
        (x,), (t,) = self._all(node)
        f, slope = FUNCTIONS[node.op]
        y = np.asarray(f(x)).astype(self.float)
        y = self.disturbed(node.op, y) if self.noise else y  # which the slope may be made of
        return y, _times(t, slope(x, y)) if t is not None and slope is not None else None

    def _neg(self, node):
        (x,), (t,) = self._all(node)
        return -x, None if t is None else -t

    def _abs(self, node):
        (x,), (t,) = self._all(node)
        return np.abs(x), _times(t, np.sign(x))

    def _detach(self, node):
        return self.of(node.args[0])[0], None

    def _add(self, node):
        (a, b), (ta, tb) = self._all(node)
        return a + b, _plus(ta, tb)

    def _sub(self, node):
        (a, b), (ta, tb) = self._all(node)
        return a - b, _plus(ta, None if tb is None else -tb)

    def _mul(self, node):
        (a, b), (ta, tb) = self._all(node)
        return a * b, _plus(_times(ta, b), _times(tb, a))

    def _div(self, node):
        (a, b), (ta, tb) = self._all(node)
        return a / b, _plus(_times(ta, 1 / b), _times(tb, -a / b / b))

    def _fma(self, node):
        (a, b, c), (ta, tb, tc) = self._all(node)
        return a * b + c, _plus(_plus(_times(ta, b), _times(tb, a)), tc)

    def _copysign(self, node):
        (a, b), (ta, _) = self._all(node)
        y = np.copysign(a, b)
        return y, _times(ta, np.sign(a) * np.copysign(1, y))

    def _extreme(self, node, better, choose):
        """Of equals the second has the derivative, but beside a constant."""
        (a, b), (ta, tb) = self._all(node)
        second = better(b, a) if node.args[0].op == "const" else ~better(a, b) & ~np.isnan(a) & ~np.isnan(b)
        return choose(a, b), _plus(_where(better(a, b), ta), _where(second, tb))

    def _max(self, node):
        return self._extreme(node, np.greater, np.maximum)

    def _min(self, node):
        return self._extreme(node, np.less, np.minimum)

    def _clamp(self, node):
        x, low, high = node.args
        return self.of(Node("min", (Node("max", (x, low)), high)))

    def _select(self, node):
        (mask, a, b), (_, ta, tb) = self._all(node)
        return np.where(mask, a, b), _plus(_where(mask, ta), _where(~mask, tb))

    def _power(self, node):
        """To a constant."""
        (a, b), (t, _) = self._all(node)
        return np.power(a, b), _times(t, b * np.power(a, b - 1))

    def _pow(self, node):
        """To any power, of a base above 0."""
        (a, b), (ta, tb) = self._all(node)
        y = np.power(a, b)
        return y, _plus(_times(ta, b * np.power(a, b - 1)), _times(tb, y * np.log(a)))

    def _negate(self, node):
        return ~self.of(node.args[0])[0], None

    def _all_of(self, node):
        return np.logical_and(*self._all(node)[0]), None

    def _any_of(self, node):
        return np.logical_or(*self._all(node)[0]), None

    def _isnan(self, node):
        return np.isnan(self.of(node.args[0])[0]), None

    def _compare(self, node):
        (a, b), _ = self._all(node)
        return COMPARISONS[node.op](a, b), None

    _lt = _le = _gt = _ge = _eq = _ne = _compare

    def _axes(self, node):
        dims = len(self.shape)
        if node.over:
            return tuple(self.dims.index(axis) - dims for axis in node.over)
        return {"row": (-1,), "column": tuple(range(-dims, -1)), "single": tuple(range(-dims, 0))}[node.place]

    def _points(self, node):
        return int(np.prod([self.shape[axis] for axis in self._axes(node)]))

    def _term(self, node):
        """A reduction's argument at every point."""
        value, tangent = self.of(node.args[0])
        if node.over:  # which it has, and other axes may be missing; a tangent may lack what another argument has
            if tangent is not None:
                tangent = np.broadcast_to(tangent, tangent.shape[:tangent.ndim - value.ndim] + value.shape)
            return value, tangent, self._axes(node)
        value = np.broadcast_to(value, self.shape)
        if tangent is not None:
            tangent = np.broadcast_to(tangent, tangent.shape[:tangent.ndim - len(self.shape)] + self.shape)
        return value, tangent, self._axes(node)

    def _sum(self, node):
        value, tangent, axes = self._term(node)
        return value.sum(axes, keepdims=True), None if tangent is None else tangent.sum(axes, keepdims=True)

    def _mean(self, node):
        value, tangent = self._sum(node)
        count = self._points(node)
        return value / count, None if tangent is None else tangent / count

    def _largest(self, node, choose):
        value, tangent, axes = self._term(node)
        best = choose(value, axes, keepdims=True, initial=-np.inf if choose is np.max else np.inf)
        if tangent is not None:
            equal = value == best
            tangent = np.where(equal, tangent, 0).sum(axes, keepdims=True) / equal.sum(axes, keepdims=True)
        return best, tangent

    def _maximum(self, node):
        return self._largest(node, np.max)

    def _minimum(self, node):
        return self._largest(node, np.min)

    def _scan(self, node, begin, take):
        """What take(h, dh, values, tangents), h from `begin` on, makes along an axis, at each of its places."""
        values, tangents = self._all(node)
        axis, back = self._axes(node)[0], bool(int(node.number) & 2)
        shape = np.broadcast_shapes(*(value.shape for value in values))
        extent = shape[axis]
        front = max((t.ndim for t in tangents if t is not None), default=0)
        tangents = [None if t is None else np.broadcast_to(t, t.shape[:front - len(shape)] + shape) for t in tangents]
        values = [np.broadcast_to(value, shape) for value in values]
        h, dh, found, slopes = np.full(np.take(values[0], [], axis).sum(axis).shape, begin, self.float), None, [], []
        for place in reversed(range(extent)) if back else range(extent):
            before = h, dh
            here = [np.take(value, place, axis) for value in values]
            h, dh = take(h, dh, here, [None if t is None else np.take(t, place, axis) for t in tangents])
            if self.noise and node.op not in EXACT:
                h, dh = self.blurred(h), None if dh is None else self.blurred(dh)
            kept = before if int(node.number) & 1 else (h, dh)
            found.append(kept[0])
            slopes.append(kept[1])
        if back:
            found, slopes = found[::-1], slopes[::-1]
        if extent == 0:
            return np.zeros(shape, self.float), None
        some = next((s for s in slopes if s is not None), None)
        if some is not None:
            some = np.stack([np.zeros_like(some) if s is None else s for s in slopes], axis)
        return np.stack(found, axis).astype(self.float), some

    def _cumsum(self, node):
        return self._scan(node, 0, lambda h, dh, x, t: (h + x[0], _plus(dh, t[0])))

    def _cumprod(self, node):
        return self._scan(node, 1, lambda h, dh, x, t: (h * x[0], _plus(_times(dh, x[0]), _times(t[0], h))))

    def _recurrence(self, node):
        return self._scan(node, 0, lambda h, dh, x, t: (
            x[0] * h + x[1], _plus(_plus(_times(dh, x[0]), _times(t[0], h)), t[1])))

    def _so_far(self, node, begin, better, choose):
        """The best so far: equals share its derivative."""
        count = 0

        def take(h, dh, x, t):
            nonlocal count
            ahead, equal = better(x[0], h), x[0] == h
            count = np.where(ahead, 1, count + equal)
            if t[0] is not None:
                dh = np.zeros_like(t[0]) if dh is None else dh
                dh = np.where(ahead, t[0], np.where(equal, dh + (t[0] - dh) / np.maximum(count, 1), dh))
            return choose(h, x[0]), dh

        return self._scan(node, begin, take)

    def _cummax(self, node):
        return self._so_far(node, -np.inf, np.greater, np.maximum)

    def _cummin(self, node):
        return self._so_far(node, np.inf, np.less, np.minimum)

    def _place(self, node, find):
        value, _, axes = self._term(node)
        if value.size == 0:
            return np.zeros([1 if d - value.ndim in axes else e for d, e in enumerate(value.shape)], np.int64), None
        if len(axes) == 1:
            return np.expand_dims(find(value, axes[0]), axes[0]), None
        return np.reshape(find(value.ravel()), (1,) * value.ndim), None

    def _argmax(self, node):
        return self._place(node, np.argmax)

    def _argmin(self, node):
        return self._place(node, np.argmin)

    def _pick(self, node):
        """The term at a row's index."""
        value, tangent, _ = self._term(node)
        index = self.values[node.args[1].name]
        if tangent is not None:
            at = np.broadcast_to(index, tangent.shape[:-1] + (1,))
            tangent = np.take_along_axis(tangent, at, -1)
        return np.take_along_axis(value, index, -1), tangent


def _plus(a, b):
    return b if a is None else a if b is None else a + b


def _times(tangent, slope):
    """What a step makes of a direction; what has none takes no part, however steep it is there."""
    if tangent is None:
        return None
    return np.where(tangent == 0, 0, tangent * slope)


def _where(mask, tangent):
    return None if tangent is None else np.where(mask, tangent, 0)


def expand(array, place, dims):
    """An operand's array with all of the op's dimensions, whose names are dims."""
    if isinstance(place, tuple):
        lead = array.ndim - len(place)
        order = sorted(range(len(place)), key=lambda at: dims.index(place[at]))
        array = np.transpose(array, [*range(lead), *(lead + at for at in order)])
        extents = dict(zip([place[at] for at in order], array.shape[lead:]))
        return array.reshape(array.shape[:lead] + tuple(extents.get(dim, 1) for dim in dims))
    if place == "row":
        return array[..., None]
    return array.reshape((1,) * (len(dims) - array.ndim) + array.shape)


def written(value, dtype):
    """What is stored of it: the nearest integer of the type's range, and 0 for NaN."""
    if dtype not in INTEGERS:
        return value
    return np.where(np.isnan(value), 0, np.clip(np.rint(value), *INTEGERS[dtype]))


@dataclasses.dataclass
class Truth:
    """What an output should be: exactly, as noisy evaluations have it, and how far these are apart."""

    exact: np.ndarray
    noisy: list
    derived: bool = False  # the order of a gradient's products is not its spec's

    def in_double(self):
        with np.errstate(all="ignore"):
            return self.exact.astype(np.float64)

    def sure(self):
        """Where all evaluations have the same sort of number."""
        exact = self.in_double()
        sure = np.ones(exact.shape, bool)
        for noisy in self.noisy:
            same = (noisy == exact) | (np.isnan(noisy) & np.isnan(exact))
            sure &= np.where(np.isfinite(exact), np.isfinite(noisy), same)
        return sure

    def is_open(self, slack):
        """Whether there is an element that evaluations do not agree on."""
        with np.errstate(all="ignore"):
            apart = [np.abs(n - self.exact) > slack * np.abs(self.exact) for n in self.noisy]
        return bool(np.any(apart) or not np.all(self.sure()))

    def disagrees(self, got, slack=1e-12, beside=None):
        """The first place where what was got can't be, or None; slack: a relative error that is no matter; beside:
        what is right all the same."""
        exact = self.in_double()
        with np.errstate(all="ignore"):
            spread = np.max([np.abs(n - self.exact) for n in self.noisy], axis=0)
            near = np.abs(got - self.exact) <= 8 * spread + slack * np.abs(self.exact) + 1e-290
        alike = (got == exact) | (np.isnan(got) & np.isnan(exact))
        if self.derived:  # beyond the largest double it may be infinite, or made of infinite parts that cancel
            alike |= np.isfinite(self.exact) & ~np.isfinite(exact) & ~np.isfinite(got)
        # Where the evaluations themselves do not agree on what sort of number it is, nothing is known.
        sure = self.sure()
        if beside is not None:
            with np.errstate(all="ignore"):
                alike = alike | (got == beside) | (np.isnan(got) & np.isnan(beside)) | (
                    np.abs(got - beside) <= slack * np.abs(beside))
        wrong = sure & ~near & ~alike
        return np.unravel_index(np.argmax(wrong), wrong.shape) if wrong.any() else None


def truth_of(evaluate, seed, derived=False):
    """evaluate(noise) gives the outputs' arrays by name; noise is a Noise or None."""
    with np.errstate(all="ignore"):
        exact = evaluate(None)
        noisy = [evaluate(Noise(seed, n)) for n in range(NOISY_RUNS)]
    return {name: Truth(exact[name], [n[name] for n in noisy], derived) for name in exact}
