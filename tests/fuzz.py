"""Random specs of all kinds, compiled, checked and mutated, against an evaluator that shares nothing
with lathe. `ninja fuzz` runs it for an hour.

usage: fuzz.py [--seconds N] [--seed N] [--first N] [--rounds N] [--ops N] [--kinds A,B] [--folder DIR]
       fuzz.py --pack N|--shrink SPEC...|--again PACK [--seconds N] [--seed N] [--kinds A] [--folder DIR] [--out DIR]

A round makes some ops of its seed and number alone and builds them for one kind of backend: cpu, wide
(AVX-512 and SSE2), cuda (on the processor, by tests/cuda/emulator) or vulkan. Then

  * the generator accepts them, or refuses them for a reason that it may have (REFUSALS);
  * the bench finds every kernel right: several sizes, special values, buffers off their places, in place;
  * the references, and gradients, are what the evaluator says (fuzz_values.py);
  * sizes of nothing crash no kernel;
  * a kernel with a step exchanged is called wrong by the bench, unless its results are right all the same.

What is found is a line, with the command that repeats it; its spec is kept in DIR/found. Exit status 1
where something was found.

--pack builds N specs into DIR, for CUDA and Vulkan unless --kinds says another kind: a program, the specs, and
on_gpu.py, whose part `fuzz` runs them where there is a GPU. --shrink does so with parts of specs that were found:
each is the value of a node below the output. --again builds a pack's specs with the kernels and verdicts of now.
LATHE_FUZZ in the environment has options that come before those given.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import fuzz_build
import fuzz_mutants
import fuzz_pack
import fuzz_streams
import fuzz_truths
import mutants
from fuzz_build import SOURCE, forward_of
from problems import Dump, Refused

BACKENDS = {"gpu": ["cuda", "vulkan"], "cpu": ["avx2", "scalar"], "wide": ["avx512", "sse2"], "cuda": ["cuda"],
            "vulkan": ["vulkan"]}
TURNS = ["cpu", "wide", "cpu", "cuda", "cpu", "wide", "cpu", "vulkan"]
SLOW = {"cuda": 3, "vulkan": 4}  # by how much fewer ops a round has
SIZES = {1: [(1,), (33,), (257,)], 2: [(1, 1), (1, 17), (7, 65), (19, 3)], 3: [(1, 1, 1), (3, 1, 9), (2, 5, 34)]}
PRODUCT_SIZES = [(1,) * 8, (3, 2, 4, 5, 2, 3, 2, 2), (5, 9, 1, 3, 2, 1, 2, 2)]
EMPTY = {1: [(0,)], 2: [(0, 5)], 3: [(2, 0, 3)]}
CHECKS = [
    ("--size", "1,7,33,1003,10007,1x65,5x129,17x4,2x3001,3x5x33,2x9x17x33,2x3x4x5x9"),
    ("--size", "67,3x100,2x3x21", "--special", "nan,inf,zero,denormal"),
    ("--size", "259,9x77", "--offset", "8"),
    ("--size", "65,7x33", "--in-place"),
    ("--size", "35,5x31", "--page-end"),
]
# The bits of random.h.
SPECIAL = ("nan inf zero denormal beyond alone ties narrow scalars small negative equal ends far poked nulls same peak "
           "rising falling").split()
SLACK = {"f64": 1e-12, "f32": 1e-4, "f16": 1e-2, "bf16": 0.1}  # relative errors that are no matter beside others

class Finding(Exception):
    """What stops a round."""


def sizes_of(op):
    """Some sizes, of products small ones: each element of their inputs is a direction for the evaluator."""
    return [shape[:len(op.dims)] for shape in PRODUCT_SIZES] if op.key in fuzz_pack.PRODUCTS else SIZES[len(op.dims)]


def empty(row):
    """A size with nothing along one axis."""
    return EMPTY.get(len(row.dims), [(2, 0, 3, 2, 2, 2, 2, 2)[:len(row.dims)]])


def gradients_of(dump, op):
    """The ops that compute an op's gradient: one, or one for each input."""
    return [row for name, row in sorted(dump.ops.items()) if forward_of(name) == op.name != name]


def emulator(folder):
    """The options that build for the emulator of CUDA, whose driver is put into the folder."""
    tests = SOURCE / "tests" / "cuda"
    folder.mkdir(parents=True, exist_ok=True)
    sources = ["emulator/emulator.c", "emulator/device.c", "driver/device.c", "driver/defaults.c"]
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-O1", "-shared", "-fPIC",
               f"-I{SOURCE / 'runtime'}", f"-I{tests / 'emulator'}", f"-I{tests}",
               *(str(tests / source) for source in sources), "-o", str(folder / "libcuda.so.1"), "-lm", "-lpthread"]
    subprocess.run(command, check=True)
    return [f"NVCC={tests / 'emulator' / 'nvcc'}", "NVCCFLAGS=-O0", "--cuda-arch=sm_90a"]


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.folder = Path(options.folder).absolute()
        self.started = time.monotonic()
        self.counts = dict.fromkeys(
            ["specs", "refused", "rows", "unproved", "results", "gradients", "mutants", "alive"], 0)
        self.found = 0
        self.ready = {}  # build folders by kind; None where it can't be built
        self.kind, self.round = "", 0

    def say(self, text):
        print(f"[{time.monotonic() - self.started:6.0f} s] {text}", flush=True)

    def finding(self, op, what, about=""):
        """One line, and the spec and whatever else there is in files of its own."""
        self.found += 1
        keep = self.folder / "found"
        keep.mkdir(exist_ok=True)
        (keep / f"{op.name}.lua").write_text(op.lua)
        if about:
            (keep / f"{op.name}.txt").write_text(about)
        self.say(f"FOUND {op.name}: {what}; {keep / op.name}.lua; again: fuzz.py --seed {self.options.seed} "
                 f"--first {self.round} --rounds 1 --kinds {self.kind} --ops {self.options.ops}")

    # -- building ---------------------------------------------------------------------------------

    def build_folder(self, kind):
        """A build folder that is configured for a kind; None, and a line, where this machine lacks what that takes."""
        if kind not in self.ready:
            folder = self.folder / kind
            everything = sum(BACKENDS.values(), [])
            options = [f"--disable-{b}" for b in everything if b not in BACKENDS[kind]]
            options += [f"--enable-{b}" for b in BACKENDS[kind]]
            options += emulator(folder) if kind == "cuda" else ["--cuda-arch=sm_90a"] if kind == "gpu" else []
            wrong = fuzz_build.configure(folder, options,
                                         {"CFLAGS": "-O1", "KERNEL_CFLAGS": "-O1"})
            if wrong:
                self.say(f"no rounds of {kind}: {wrong}")
            self.ready[kind] = None if wrong else folder
        return self.ready[kind]

    def failed(self, op, reason, output):
        """What to make of an op that is not built."""
        if not reason:
            self.finding(op, "is not built", output)
            return
        self.counts["refused"] += 1
        if not any(re.search(allowed, reason) for allowed in fuzz_build.REFUSALS):
            self.finding(op, f"refused: {reason}", output)

    # -- the bench --------------------------------------------------------------------------------

    def bench(self, folder, *options):
        """Rows that the bench has, right or not."""
        path = folder / "rows.json"
        path.unlink(missing_ok=True)
        environment = os.environ | {"LD_LIBRARY_PATH": str(folder)} if self.kind == "cuda" else os.environ
        command = ["out/bench", "--check-only", "--rows", "--dtype", "all", "--backend", ",".join(BACKENDS[self.kind]),
                   "--seed", str(self.seed()), "--json", "rows.json", *options]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1, 3) or not path.exists():
            raise Finding(f"{' '.join(command)} ended with {done.returncode}: {(done.stderr + done.stdout)[-1500:]}")
        return json.loads(path.read_text())["benchmarks"]

    def check_kernels(self, folder, ops):
        by_name = {op.name: op for op in ops}
        for options in CHECKS:
            wrong = {}
            for row in self.bench(folder, *options):
                self.counts["rows"] += 1
                self.counts["unproved"] += row["status"] == "unproved"
                if row["status"] == "wrong" and not self.by_chance(folder, by_name, row):
                    wrong.setdefault(row["op"], []).append(row)
            for name, rows in wrong.items():
                self.finding(by_name[forward_of(name)],
                             f"{len(rows)} rows of {name} are wrong with {' '.join(options)}, the first: "
                             f"{rows[0]['variant']}: {' '.join(str(rows[0].get('error_message')).split())}",
                             json.dumps(rows, indent=1))

    def by_chance(self, folder, by_name, row):
        """Whether a row with special values is wrong only where evaluations in the kernel's type differ: something
        on the way is beyond its range, or the sign of a zero or a NaN decides. Of a gradient that is only known
        where it is finite: 0 times infinity comes of the order of its products."""
        op = by_name[forward_of(row["op"])]
        # The trial that failed may be the bench's own, before the size.
        asked = dict(re.findall(r"--(size|seed|special) (\S+)", row["repro"] or ""))
        special = sum(1 << SPECIAL.index(name) for name in asked.get("special", "").split(",") if name)
        if not special & 31:
            return False
        shape = tuple(int(extent) for extent in asked["size"].split("x"))
        with Dump(str(folder / "out/tests/problem-dump")) as dump:
            variant = row["variant"] if self.kind in ("cpu", "wide") else "-"
            problem = dump.problem(dump.ops[row["op"]], row["dtype"], shape, int(asked["seed"]), special, variant)
        find = fuzz_truths.truths if row["op"] == op.name else fuzz_truths.gradient_truths
        for name, truth in find(op, problem, shape, self.seed(), dump.ops[row["op"]].dims, True).items():
            if not problem.got:  # of a device that the dump does not know: wherever that may be
                if truth.is_open(SLACK[row["dtype"]]):
                    return True
                continue
            got, expected = problem.got[name], problem.expected[name]
            if row["op"] != op.name:
                got = np.where(np.isfinite(expected) & np.isfinite(got), got, expected)
            if truth.disagrees(got, SLACK[row["dtype"]], expected) is not None:
                return False
        return bool(problem.got)

    # -- references -------------------------------------------------------------------------------

    def seed(self):
        return self.options.seed * 1000003 + self.round & 0xFFFFFFFF

    def check_references(self, folder, ops):
        with Dump(str(folder / "out/tests/problem-dump")) as dump:
            for op in ops:
                for dtype in op.dtypes:
                    for shape in sizes_of(op):
                        for special in (0, 7):
                            self.compare(dump, op, dump.ops[op.name], dtype, shape, special)
                        for row in gradients_of(dump, op):
                            self.compare(dump, op, row, dtype, shape[:len(row.dims)], 0)
                self.run_on_nothing(dump, op)

    def compare(self, dump, op, row, dtype, shape, special):
        gradient = row.name != op.name
        problem = dump.problem(row, dtype, shape, self.seed(), special)
        find = fuzz_truths.gradient_truths if gradient else fuzz_truths.truths
        rounded = gradient and op.reads != []  # results are inputs of it, in their type
        if rounded and (dtype in ("f16", "bf16") and any(op.types.get(name) != "computed" for name in op.reads)
                        or any(np.isnan(problem.inputs[name]).any() for name in op.reads if name in problem.inputs)):
            return  # what is read has too few digits to be held against the evaluator's, or is no number
        for name, truth in find(op, problem, shape, self.seed(), row.dims, rounded).items():
            self.counts["gradients" if gradient else "results"] += truth.exact.size
            at = truth.disagrees(problem.expected[name], SLACK[dtype] if rounded else SLACK["f64"])
            if at is not None:
                self.finding(op, f"{row.name} {dtype} {'x'.join(map(str, shape))} special {special}: {name}"
                             f"{[int(i) for i in at]} is {problem.expected[name][at]!r} by the reference, "
                             f"{float(truth.exact[at])!r} by the evaluator")
                return

    def run_on_nothing(self, dump, op):
        """Kernels on sizes with no points: they end, and what they leave is the reference's."""
        for row in [dump.ops[op.name], *gradients_of(dump, op)]:
            for dtype, names in row.variants.items():
                for shape, variant in [(s, v) for s in empty(row) for v in names]:
                    try:
                        problem = dump.problem(row, dtype, shape, 1, 0, variant)
                    except Refused as error:
                        self.finding(op, f"{variant} on {'x'.join(map(str, shape))}: {error}")
                        continue
                    truth = fuzz_truths.truths(op, problem, shape, self.seed(), row.dims) if row.name == op.name else {}
                    for output, got in problem.got.items():
                        if not np.allclose(got, problem.expected[output], SLACK[dtype], equal_nan=True) and (
                                output not in truth  # where the sign of an empty sum decides either is right
                                or truth[output].disagrees(got, SLACK[dtype], problem.expected[output]) is not None):
                            self.finding(op, f"{variant} on {'x'.join(map(str, shape))}: {output} is {got}, not "
                                         f"{problem.expected[output]}")

    # -- mutants ----------------------------------------------------------------------------------

    def check_mutants(self, folder, ops, rng):
        """Each kernel file gets one step exchanged; the bench is to say so of every row that shows it."""
        drawn = fuzz_mutants.draw(folder / "out" / "gen", ops, rng, self.options.mutants)
        shutil.rmtree(folder / "out" / "mutants", ignore_errors=True)
        copy = mutants.Copy(mutants.Build(folder), folder / "out" / "mutants")
        drawn = [m for m in drawn if copy.compile(str(m.path.relative_to(folder)), m.text)]
        if not drawn:
            return
        for program in ("out/bench", "out/tests/problem-dump"):
            copy.link(program)
        seen = self.bench(copy.path, *CHECKS[0])
        with Dump(str(copy.path / "out/tests/problem-dump")) as dump:
            for mutant in drawn:
                rows = [r for r in seen if r["op"] == mutant.row and r["dtype"] == mutant.dtype
                        and r["backend"] == mutant.backend]
                self.counts["mutants"] += 1
                said = {row["status"] for row in rows}
                if "wrong" in said or "right" not in said:  # unproved, it vouches for nothing
                    continue
                self.counts["alive"] += 1
                shown = fuzz_mutants.shows(dump, mutant, sizes_of(mutant.op), self.seed())
                weak = [re.search(r"^weak: .* would pass for (\w+),", row.get("note") or "") for row in rows]
                if shown and shown.split(" ")[0] not in [said[1] for said in weak if said]:
                    self.finding(mutant.op, f"the bench calls a mutant right: {mutant.row} {mutant.dtype} on "
                                 f"{mutant.backend}, {mutant.change}: {shown}", mutant.change)

    # -- rounds -----------------------------------------------------------------------------------

    def run_round(self):
        options = self.options
        rng = random.Random(f"{options.seed}:{self.round}")
        kinds = options.kinds.split(",") if options.kinds else TURNS
        self.kind = kinds[self.round % len(kinds)]
        folder = self.build_folder(self.kind)
        if not folder:
            return
        wanted, made = max(1, options.ops // SLOW.get(self.kind, 1)), []
        while len(made) < wanted:
            op = fuzz_streams.make_any(rng, f"f{self.round}_{len(made)}", BACKENDS[self.kind])
            made += [op] if op else []
        self.counts["specs"] += len(made)
        ops = fuzz_build.build(folder, made, ["out/bench", "out/tests/problem-dump"], self.failed)
        if not ops:
            return
        self.check_kernels(folder, ops)
        self.check_references(folder, ops)
        if self.kind in ("cpu", "wide"):
            self.check_mutants(folder, ops, rng)

    def run(self):
        options = self.options
        self.folder.mkdir(parents=True, exist_ok=True)
        self.say(f"seed {options.seed}")
        self.round = options.first
        while time.monotonic() - self.started < options.seconds and \
                (not options.rounds or self.round < options.first + options.rounds):
            try:
                self.run_round()
            except (Finding, mutants.Failed, EOFError, RuntimeError) as error:
                self.found += 1
                self.say(f"FOUND in round {self.round}: {error}; again: fuzz.py --seed {options.seed} "
                         f"--first {self.round} --rounds 1 --kinds {self.kind} --ops {options.ops}")
            self.round += 1
            self.say(f"round {self.round - 1} ({self.kind}): " +
                     ", ".join(f"{count} {name}" for name, count in self.counts.items()) + f"; {self.found} found")
        print(f"{self.counts['specs']} specs, {self.found} findings")
        return 1 if self.found or not self.counts["rows"] else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(20))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--ops", type=int, default=24)
    parser.add_argument("--mutants", type=int, default=12)
    parser.add_argument("--kinds")
    parser.add_argument("--folder", default="out/fuzz")
    parser.add_argument("--pack", type=int, default=0)
    parser.add_argument("--out")
    parser.add_argument("--shrink", nargs="+")
    parser.add_argument("--again")
    options = parser.parse_args(os.environ.get("LATHE_FUZZ", "").split() + sys.argv[1:])
    fuzzer = Fuzzer(options)
    if options.pack or options.shrink or options.again:
        kind = options.kinds or "gpu"
        return fuzz_pack.make_pack(options, fuzzer, kind, BACKENDS[kind])
    return fuzzer.run()


if __name__ == "__main__":
    sys.exit(main())
