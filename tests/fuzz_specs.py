"""Random specs of all families, compiled, checked and mutated, against an evaluator that shares nothing
with lathe. `ninja fuzz` runs it for an hour.

usage: fuzz_specs.py [--seconds N] [--seed N] [--first N] [--rounds N] [--ops N] [--kinds A,B]
                     [--folder DIR]

A round makes some ops of its seed and number alone and builds them for one kind of backend: cpu, wide
(AVX-512 and SSE2), cuda (on the processor, by tests/cuda/emulator) or vulkan. Then

  * the generator accepts them, or refuses them for a reason that it may have (REFUSALS);
  * the bench finds every kernel right: several sizes, special values, buffers off their places, in place;
  * the references, and gradients, are what the evaluator says (fuzz_values.py);
  * sizes of nothing crash no kernel;
  * a kernel with a step exchanged is called wrong by the bench, unless its results are right all the same.

What is found is a line, with the command that repeats it; its spec is kept in DIR/found. Exit status 1
where something was found. LATHE_FUZZ in the environment has options that come before those given.
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

import fuzz_mutants
import fuzz_ops
import fuzz_truths
import mutants
from problems import Dump, Refused

SOURCE = Path(os.environ.get("LATHE_SRC", Path(__file__).resolve().parent.parent))
BACKENDS = {"cpu": ["avx2", "scalar"], "wide": ["avx512", "sse2"], "cuda": ["cuda"], "vulkan": ["vulkan"]}
TURNS = ["cpu", "wide", "cpu", "cuda", "cpu", "wide", "cpu", "vulkan"]
SLOW = {"cuda": 3, "vulkan": 4}  # by how much fewer ops a round has
SIZES = {1: [(1,), (33,), (257,)], 2: [(1, 1), (1, 17), (7, 65), (19, 3)], 3: [(1, 1, 1), (3, 1, 9), (2, 5, 34)]}
EMPTY = {1: [(0,)], 2: [(0, 5)], 3: [(2, 0, 3)]}
CHECKS = [
    ("--size", "1,7,33,1003,10007,1x65,5x129,17x4,2x3001,3x5x33"),
    ("--size", "67,3x100,2x3x21", "--special", "nan,inf,zero,denormal"),
    ("--size", "259,9x77", "--offset", "8"),
    ("--size", "65,7x33", "--in-place"),
    ("--size", "35,5x31", "--page-end"),
]
SPECIAL = "nan inf zero denormal alone ties narrow scalars".split()  # the bits of random.h
SLACK = {"f64": 1e-12, "f32": 1e-4, "f16": 1e-2, "bf16": 0.1}  # relative errors that are no matter beside others
# What a random spec may be refused for, rightly.
REFUSALS = [
    r"expected what varies over some axis",
    r"expected axes out of those of its argument",
    r"nothing of what '.*' reads has a derivative",
    r"expected at most 16 operands",
    r"expected at most 8 reductions",
    r"; the \w+ family has for",  # not the parameters of the family that fuzz_ops.py takes it for
]


class Finding(Exception):
    """What stops a round."""


def forward_of(name):
    """The name of the op that an op belongs to: its own, or the one whose gradient it computes."""
    return name.partition("_backward")[0]


def gradients_of(dump, op):
    """The ops that compute an op's gradient: one, or one for each input."""
    return [row for name, row in sorted(dump.ops.items()) if forward_of(name) == op.name != name]


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
        self.say(f"FOUND {op.name}: {what}; {keep / op.name}.lua; again: fuzz_specs.py --seed {self.options.seed} "
                 f"--first {self.round} --rounds 1 --kinds {self.kind} --ops {self.options.ops}")

    # -- building ---------------------------------------------------------------------------------

    def build_folder(self, kind):
        """A source tree whose specs are the fuzzer's, and a build folder that is configured for it."""
        if kind not in self.ready:
            folder = self.folder / kind
            specs = folder / "tree" / "specs"
            specs.mkdir(parents=True, exist_ok=True)
            for name in ("configure", "build.ninja.in", "gen", "templates", "runtime", "tests"):
                link = folder / "tree" / name
                if not link.is_symlink():
                    link.symlink_to(SOURCE / name)
            if not (specs / "include").is_symlink():
                (specs / "include").symlink_to(SOURCE / "specs" / "include")
            self.ready[kind] = folder if self.configure(kind, folder) else None
        return self.ready[kind]

    def configure(self, kind, folder):
        """False where this machine lacks what that takes, with a line that says so."""
        everything = sum(BACKENDS.values(), [])
        options = [f"--disable-{b}" for b in everything if b not in BACKENDS[kind]]
        options += [f"--enable-{b}" for b in BACKENDS[kind]]
        if kind == "cuda":
            emulator = SOURCE / "tests" / "cuda" / "emulator"
            options += [f"NVCC={emulator / 'nvcc'}", "NVCCFLAGS=-O0", "--cuda-arch=sm_90a"]
            driver = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-O1", "-shared", "-fPIC",
                      f"-I{SOURCE / 'runtime'}", f"-I{emulator}", f"-I{SOURCE / 'tests' / 'cuda'}",
                      str(emulator / "emulator.c"), str(SOURCE / "tests/cuda/driver/device.c"),
                      str(SOURCE / "tests/cuda/driver/defaults.c"), "-o", str(folder / "libcuda.so.1"), "-lm",
                      "-lpthread"]
            subprocess.run(driver, check=True)
        if os.environ.get("LATHE_LAUNCHER"):
            options.append(f"--launcher={os.environ['LATHE_LAUNCHER']}")
        tools = Path("out", "tools").absolute()
        (folder / "out").mkdir(exist_ok=True)
        if tools.is_dir() and not (folder / "out" / "tools").exists():
            (folder / "out" / "tools").symlink_to(tools)
        environment = os.environ | {"CFLAGS": "-O1", "KERNEL_CFLAGS": "-O1"}
        done = subprocess.run(["tree/configure", *options], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            self.say(f"no rounds of {kind}: {(done.stderr or done.stdout).strip().splitlines()[-1]}")
        return done.returncode == 0

    def build(self, folder, ops):
        """Builds what can be built of the ops and returns it."""
        ops = {op.name: op for op in ops}
        specs = folder / "tree" / "specs"
        for old in specs.glob("*.lua"):
            old.unlink()
        for op in ops.values():
            (specs / f"{op.name}.lua").write_text(op.lua)
        while ops:
            done = subprocess.run(["ninja", "-k", "0", "out/bench", "out/tests/problem-dump"], cwd=folder,
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return list(ops.values())
            bad = self.failures(done.stdout + done.stderr, ops)
            for name in bad:
                (specs / f"{name}.lua").unlink()
                del ops[name]
        return []

    def failures(self, output, ops):
        """The ops that a build failed for, each judged."""
        bad = set()
        for name, reason in re.findall(r"^(?:lathe-gen: )?specs/(\w+)\.lua:\d+: (.*)$", output, re.M):
            if name in ops and name not in bad:
                bad.add(name)
                self.counts["refused"] += 1
                if not any(re.search(allowed, reason) for allowed in REFUSALS):
                    self.finding(ops[name], f"refused: {reason}", output)
        for name in re.findall(r"out/gen/(\w+?)/", "\n".join(re.findall(r"^FAILED: (.*)$", output, re.M))):
            if forward_of(name) in ops and forward_of(name) not in bad:
                bad.add(forward_of(name))
                self.finding(ops[forward_of(name)], "is not built", output)
        if not bad:
            raise Finding(f"a build failed for no op: {output[-2000:]}")
        return bad

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
        if not special & 15:
            return False
        shape = tuple(int(extent) for extent in asked["size"].split("x"))
        with Dump(str(folder / "out/tests/problem-dump")) as dump:
            variant = row["variant"] if self.kind in ("cpu", "wide") else "-"
            problem = dump.problem(dump.ops[row["op"]], row["dtype"], shape, int(asked["seed"]), special, variant)
        find = fuzz_truths.truths if row["op"] == op.name else fuzz_truths.gradient_truths
        for name, truth in find(op, problem, shape, self.seed(), True).items():
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
                    for shape in SIZES[len(op.dims)]:
                        for special in (0, 7):
                            self.compare(dump, op, dump.ops[op.name], dtype, shape, special)
                        for row in gradients_of(dump, op):
                            self.compare(dump, op, row, dtype, shape, 0)
                self.run_on_nothing(dump, op)

    def compare(self, dump, op, row, dtype, shape, special):
        gradient = row.name != op.name
        problem = dump.problem(row, dtype, shape, self.seed(), special)
        find = fuzz_truths.gradient_truths if gradient else fuzz_truths.truths
        for name, truth in find(op, problem, shape, self.seed()).items():
            self.counts["gradients" if gradient else "results"] += truth.exact.size
            at = truth.disagrees(problem.expected[name])
            if at is not None:
                self.finding(op, f"{row.name} {dtype} {'x'.join(map(str, shape))} special {special}: {name}"
                             f"{[int(i) for i in at]} is {problem.expected[name][at]!r} by the reference, "
                             f"{float(truth.exact[at])!r} by the evaluator")
                return

    def run_on_nothing(self, dump, op):
        """Kernels on sizes with no points: they end, and what they leave is the reference's."""
        for row in [dump.ops[op.name], *gradients_of(dump, op)]:
            for dtype, names in row.variants.items():
                for shape, variant in [(s, v) for s in EMPTY[len(op.dims)] for v in names]:
                    try:
                        problem = dump.problem(row, dtype, shape, 1, 0, variant)
                    except Refused as error:
                        self.finding(op, f"{variant} on {'x'.join(map(str, shape))}: {error}")
                        continue
                    truth = fuzz_truths.truths(op, problem, shape, self.seed()) if row.name == op.name else {}
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
                shown = fuzz_mutants.shows(dump, mutant, SIZES[len(mutant.op.dims)], self.seed())
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
            op = fuzz_ops.make_op(rng, f"f{self.round}_{len(made)}", BACKENDS[self.kind])
            made += [op] if op else []
        self.counts["specs"] += len(made)
        ops = self.build(folder, made)
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
            except (Finding, mutants.Failed, EOFError) as error:
                self.found += 1
                self.say(f"FOUND in round {self.round}: {error}; again: fuzz_specs.py --seed {options.seed} "
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
    return Fuzzer(parser.parse_args(os.environ.get("LATHE_FUZZ", "").split() + sys.argv[1:])).run()


if __name__ == "__main__":
    sys.exit(main())
