"""How calls of a library are repeated: the first part of peer.py's script."""

import ast
import itertools
import time

# No operand's name begins with an underscore.
LOOP = """
def _timed(_calls, _clock, _repeat, {names}):
    _start = _clock()
    for _ in _repeat(None, _calls):
        pass
    return _clock() - _start, _result
"""


class Refused(Exception):
    """What a library cannot do, in words for a row of the table."""


def statements_of(expression):
    """The statements ahead of an expression, the expression, and by place its results that are no part of what is
    timed: those behind `lambda:`."""
    *statements, last = ast.parse(expression).body
    if not isinstance(last, ast.Expr):
        raise Refused(f"expected an expression at the end of '{expression}'")
    results = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    later = {place: one.body for place, one in enumerate(results) if isinstance(one, ast.Lambda)}
    timed = [one for one in results if not isinstance(one, ast.Lambda)]
    if not later:
        return statements, last.value, later
    return statements, timed[0] if len(timed) == 1 else ast.Tuple(timed, ast.Load()), later


def loop_of(statements, value, names, known):
    """A function of calls, a clock, itertools.repeat and the operands that computes so often, as if written out."""
    tree = ast.parse(LOOP.format(names=", ".join(names)))
    assign = ast.Assign([ast.Name("_result", ast.Store())], value)
    tree.body[0].body[1].body = [*statements, assign]
    exec(compile(ast.fix_missing_locations(tree), "peer", "exec"), known)
    return known["_timed"]


def function_of(statements, value, names, known):
    """A function of the operands that computes once."""
    tree = ast.parse(f"def _once({', '.join(names)}):\n    pass")
    tree.body[0].body = [*statements, ast.Return(value)]
    exec(compile(ast.fix_missing_locations(tree), "peer", "exec"), known)
    return known["_once"]


def call_of(name, operands):
    """An expression that calls a function with the operands."""
    return ast.parse(f"{name}({', '.join(operands)})").body[0].value


def whole(value):
    """The expression as elements of its own: what only views an operand is no result to compare a kernel with."""
    return ast.Call(ast.Name("_whole", ast.Load()), [value], [])


class Loop:
    """Calls on a processor, one after the other."""

    def __init__(self, timed, operands):
        self.timed, self.operands = timed, operands

    def time(self, calls):
        return self.timed(calls, time.perf_counter_ns, itertools.repeat, **self.operands)

    def one(self):
        return self.time(1)[1]

    def cool(self):
        return False


class Drawing:
    """Calls that draw random numbers: what they leave is that of one more, from the seed that all begin with."""

    def __init__(self, calls, seed):
        self.calls, self.seed = calls, seed
        self.cool = calls.cool

    def time(self, calls):
        taken, _ = self.calls.time(calls)
        self.seed(0)
        return taken, self.calls.one()
