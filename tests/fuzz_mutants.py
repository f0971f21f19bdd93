"""Kernels with one step exchanged, for the fuzzer: what the bench must call wrong."""

import dataclasses
import re
from pathlib import Path

import numpy as np

from mutants import NAMES, OPERATORS

# The relative error of all results together that no right kernel has.
CLEARLY = {"f64": 1e-9, "f32": 1e-2, "f16": 0.1, "bf16": 0.2}
# The smallest number of each type: a right result may be off by as much, however small it is.
SMALLEST = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}


@dataclasses.dataclass
class Mutant:
    op: object
    row: str  # the op's name in the table: its own or its gradient's
    dtype: str
    backend: str
    path: Path
    change: str
    text: str


def steps(text):
    """The lines of a kernel file that can be exchanged, each as it is and as it would be, and of which precision."""
    found, inside = [], False
    for number, line in enumerate(text.split("\n")):
        function = re.match(r"static inline .*\b\w+_([a-z]+\d+)__\w+_(point|pass\d+|term\d*)\(", line)
        if function:
            inside, dtype = True, function[1]
        elif line.startswith("}"):
            inside = False
        elif inside and "epi" not in line:
            step = re.match(r"  const [\w ]+ t\d+ = (?:_mm\d*(_[a-z]+_)p|\w+( [+*/-] )\w+;)", line)
            if step and (step[1] or step[2]) in (NAMES | OPERATORS):
                old = step[1] or step[2]
                found.append((number, line, line.replace(old, (NAMES | OPERATORS)[old], 1), dtype))
    return found


def draw(gen, ops, rng, most):
    """Mutants of up to `most` kernel files below the folder of generated code, each of one step."""
    files = []
    for op in ops:
        for folder in [Path(gen) / op.name, *sorted(Path(gen).glob(f"{op.name}_backward*"))]:
            files += [(op, folder.name, path) for path in sorted(folder.glob(f"{folder.name}__*.c"))]
    rng.shuffle(files)
    mutants = []
    for op, row, path in files:
        text = path.read_text()
        found = steps(text)
        if not found or len(mutants) == most:
            continue
        number, old, new, dtype = rng.choice(found)
        lines = text.split("\n")
        lines[number] = new
        backend = path.stem.removeprefix(row + "__")
        change = f"{path.name}:{number + 1}: '{old.strip()}' as '{new.strip()}'"
        mutants.append(Mutant(op, row, dtype, backend, path, change, "\n".join(lines)))
    return mutants


def shows(dump, mutant, sizes, seed):
    """Whether the results of a mutant are clearly not the reference's, in words, or None. What a first-order
    bound allows a result that cancels is for the bench to say: results that are so small beside the inputs
    are left out."""
    row = dump.ops[mutant.row]
    for variant in [v for v in row.variants.get(mutant.dtype, []) if f"__{mutant.backend}" in v]:
        for shape in sizes:
            problem = dump.problem(row, mutant.dtype, shape, seed, 0, variant)
            for name, got in problem.got.items():
                expected = problem.expected[name]
                if got.dtype != np.float64:
                    continue
                fine = np.isfinite(expected) & (np.abs(expected) < 6e4)
                if not np.array_equal(np.isfinite(got[fine]), np.ones(fine.sum(), bool)):
                    return f"{name} of {variant} is not finite where it should be ({'x'.join(map(str, shape))})"
                norm, differences = np.linalg.norm(expected[fine]), got[fine] - expected[fine]
                off = np.linalg.norm(differences[np.abs(differences) > SMALLEST[mutant.dtype]])
                if norm > 0 and off > CLEARLY[mutant.dtype] * norm:
                    return f"{name} of {variant} is off by {off / norm:.2g} of its norm ({'x'.join(map(str, shape))})"
    return None
