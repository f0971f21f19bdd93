"""What the outputs and the gradients of the fuzzer's ops come to, by its evaluator."""

import numpy as np

from fuzz_values import Evaluation, expand, truth_of, written


def shape_of(place, shape, dims):
    if isinstance(place, tuple):
        return tuple(shape[dims.index(dim)] for dim in place)
    return {"point": shape, "row": shape[:-1], "column": shape[-1:], "single": ()}[place]


def truths(op, problem, shape, seed, dims, own_type=False):
    """What the outputs should be for a problem's inputs; dims: the names of the shape's axes; own_type: where noisy
    evaluations are in the type that kernels compute in."""
    values = operands(op, problem, shape, dims)

    def evaluate(noise):
        run = Evaluation(shape, values, problem.dtype, noise, None, own_type, dims)
        return {name: written(result(run.of(node)[0], op.place[name], shape, dims), op.types.get(name))
                for name, node in op.outputs.items()}

    return truth_of(evaluate, seed)


def gradient_truths(op, problem, shape, seed, dims, own_type=False):
    """What the outputs of its gradient should be: of each input that has one, d<input>. Where the gradient
    of an input is a sum over the rows, as for a column's, every column is a direction of its own."""
    values = operands(op, problem, shape, dims)
    wanted = [i for i in op.inputs if "d" + i.name in problem.expected]
    missing = {n: np.zeros(shape_of(p, shape, dims)) for n, p in op.place.items() if "d" + n not in problem.inputs}
    given = {n: expand(problem.inputs.get("d" + n, missing.get(n)), p, dims) for n, p in op.place.items()}

    def evaluate(noise):
        found = {}
        for i in wanted:
            if isinstance(i.place, tuple):
                found["d" + i.name] = gathered_by_element(op, problem, given, values, i, shape, dims, noise, own_type)
                continue
            along = op.key != "map" and "single" not in op.place.values() and i.place in ("point", "column")
            ones = np.eye(shape[-1]).reshape((shape[-1],) + (1,) * (len(shape) - 1) + shape[-1:]) if along \
                else np.ones((1,) * len(shape))
            run = Evaluation(shape, values, problem.dtype, noise, {i.name: ones}, own_type)
            found["d" + i.name] = gathered(op, run, given, i, shape, along)
        return found

    return truth_of(evaluate, seed, derived=True)


def gathered_by_element(op, problem, given, values, i, shape, dims, noise, own_type):
    """The gradient of an input whose place is its axes: each of its elements is a direction."""
    own = shape_of(i.place, shape, dims)
    count = int(np.prod(own))
    ones = expand(np.eye(count).reshape((count,) + own), i.place, dims)
    run = Evaluation(shape, values, problem.dtype, noise, {i.name: ones}, own_type, dims)
    total = np.zeros(count, run.float)
    for name, node in op.outputs.items():
        tangent = run.of(node)[1]
        if tangent is not None:
            total = total + np.where(tangent == 0, 0, tangent * given[name]).reshape(count, -1).sum(-1)
    return total.reshape(own)


def gathered(op, run, given, i, shape, along):
    """The gradient of one input, from the tangents of all outputs."""
    total = np.zeros(shape_of(i.place, shape, op.dims), run.float)
    for name, node in op.outputs.items():
        alone = op.place[name] == "single"  # a sum, each of whose terms is a point's own
        tangent = run.of(node.args[0] if alone else node)[1]
        if tangent is None:
            continue
        if alone and node.op == "mean":
            tangent = tangent / np.prod(shape)
        full = shape if op.place[name] in ("point", "single") else shape[:-1] + (1,)
        product = np.broadcast_to(tangent * given[name], tangent.shape[:tangent.ndim - len(shape)] + full)
        if not along:  # each point for itself, or each row
            total = total + (product if i.place == "point" else product.sum(-1))
        elif i.place == "point":
            total = total + np.moveaxis(product.sum(-1), 0, -1)
        else:
            total = total + product.reshape(shape[-1], -1).sum(-1)
    return total


def operands(op, problem, shape, dims):
    """Their arrays by name. What a gradient does not take, for it does not depend on it, is some number everywhere."""
    values = {name: np.float64(value) for name, value in (op.scalars | problem.scalars).items()}
    for i in op.inputs:
        kind = np.float64 if i.kind == "float" else np.int64
        some = np.full(shape_of(i.place, shape, dims), (i.low + i.high) / 2, kind)
        values[i.name] = expand(problem.inputs.get(i.name, some), i.place, dims)
    return values


def result(value, place, shape, dims):
    if isinstance(place, tuple):
        kept = sorted(place, key=dims.index)
        value = np.broadcast_to(value, tuple(e if d in place else 1 for d, e in zip(dims, shape)))
        value = value.reshape(tuple(shape[dims.index(dim)] for dim in kept))
        return np.transpose(value, [kept.index(dim) for dim in place])
    wide = {"point": shape, "row": shape[:-1] + (1,), "single": (1,) * len(shape),
            "column": (1,) * (len(shape) - 1) + shape[-1:]}[place]
    return np.broadcast_to(value, wide).reshape(shape_of(place, shape, dims))
