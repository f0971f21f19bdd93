#!/usr/bin/env python3
"""Checks the ops for PyTorch of an installed package: all that its torch.py has, or some by their names.

usage: ops.py FOLDER PACKAGE[:cuda] [OP...]

For each op: torch.library.opcheck; torch.autograd.gradcheck in float64, where it has a gradient; and that it is
compiled as one graph, which gives the same. On a GPU, also that results are those on the processor. Then nanoseconds a
call at 100 elements, where the package has `add`. Needs PyTorch of 2.4 or later.
"""

import importlib
import re
import sys
import timeit

import torch

FOLDER, NAME, *WANTED = sys.argv[1:]
NAME, _, DEVICE = NAME.partition(":")
DEVICE = DEVICE or "cpu"
sys.path.insert(0, FOLDER)
package, ops = importlib.import_module(NAME), importlib.import_module(NAME + ".torch")
failed = 0


def arguments(doc, dtype, leads, low):
    """What an op may be called with, by its documentation: numbers between low and low + 0.9.

    leads: the extents of an axis that may be several.
    """
    extents, given = {}, []
    several = re.search(r"In place of\s+(\w+)\s+there", doc)
    for line in doc.strip().split("\n")[2:]:
        name, colon, rest = line.strip().partition(": ")
        number, shape = re.match(r"a number, such as (\S+)$", rest), re.match(
            r"\((.*?),?\)(?:, (\w+))?(?:, places along (\w+))?", rest
        )
        if not colon or name.startswith("returns"):
            continue
        if number:
            given.append(float(number[1]))
        elif rest == "an integer":
            given.append(7)
        elif shape:
            axes = shape[1].split(", ") if shape[1] else []
            for axis in [*axes, *([shape[3]] if shape[3] else [])]:
                extents.setdefault(axis, 2 + len(extents))
            sizes = [n for a in axes for n in (leads if several and a == several[1] else [extents[a]])]
            if shape[3]:
                given.append(torch.randint(0, extents[shape[3]], sizes))
            elif shape[2] in ("int8", "uint8"):
                given.append(torch.randint(0, 100, sizes, dtype=getattr(torch, shape[2])))
            else:
                computed = "of float64, else" in rest and dtype != torch.float64
                kind = torch.float32 if computed else getattr(torch, shape[2]) if shape[2] else dtype
                given.append((torch.rand(sizes, dtype=torch.float64) * 0.9 + low).to(kind))
        else:
            raise AssertionError(f"no operand: {line}")
    return given


def listed(results):
    return [results] if isinstance(results, torch.Tensor) else results


def on(device, given):
    return [x.to(device) if isinstance(x, torch.Tensor) else x for x in given]


def try_op(name):
    global failed
    op, doc = getattr(ops, name), getattr(package, name).__doc__
    names = re.search(r"Elements are of\s+(.*?)(?:, where|\.)", doc, re.S)[1].replace("\n", " ").split(", ")
    dtype = getattr(torch, "float64" if "float64" in names else names[0])
    has_gradient = any(re.fullmatch(name + "_backward(_.*)?", other) for other in ops.__all__)
    for leads in ([3], [2, 1, 3]):
        torch.manual_seed(1)
        given = arguments(doc, dtype, leads, 0.05)
        done = []
        try:
            if any(x.isnan().any() for x in listed(op(*given))):
                given = arguments(doc, dtype, leads, 1.05)
            if DEVICE != "cpu":
                there = on(DEVICE, given)
                for found, expected in zip(listed(op(*there)), listed(op(*given))):
                    torch.testing.assert_close(found.cpu(), expected, equal_nan=True)
                given = there
                done.append("as on the processor")
            torch.library.opcheck(op, given)
            done.append("opcheck")
            if has_gradient and dtype == torch.float64:
                wanted = [
                    x.requires_grad_() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in given
                ]
                torch.autograd.gradcheck(op, wanted, eps=1e-6, atol=1e-6)
                done.append("gradcheck")
            torch._dynamo.reset()
            compiled = torch.compile(lambda *x: op(*x), fullgraph=True, backend="aot_eager")
            for found, expected in zip(listed(compiled(*given)), listed(op(*given))):
                assert torch.equal(found, expected) and found.dtype == expected.dtype
            done.append("compiled")
        except Exception as error:
            failed += 1
            done.append(f"FAILED: {type(error).__name__}: {str(error)[:600]}")
        print(f"{name:32s} {'x'.join(map(str, leads)):8s} {', '.join(done)}", flush=True)
        if not re.search("In place of", doc):
            break


for name in WANTED or ops.__all__:
    try_op(name)
if "add" in ops.__all__ and not WANTED:
    kind = torch.float32 if "float32" in package.add.__doc__ else torch.float64
    x, out = torch.ones(100, dtype=kind, device=DEVICE), torch.ones(100, dtype=kind, device=DEVICE)
    names = {"x": x, "out": out, "torch": torch, "package": package, "ops": ops}
    for call in (
        "package.add(x, x, out=out)",
        "torch.add(x, x, out=out)",
        "package.add(x, x)",
        "x + x",
        "ops.add(x, x)",
    ):
        best = min(timeit.repeat(call, globals=names, number=10000, repeat=9)) / 10000 * 1e9
        print(f"{call:32s} {best:.0f} ns")
sys.exit(failed > 0)
