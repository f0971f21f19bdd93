"""Mutants of a build's kernels: one line changed, compiled, and what the bench says of them.

usage: mutate.py [--build DIR] [--ops GLOBS] [--backends A,B] [--count N] [--seed N] [--jobs N]
                 [--seconds N] [--json FILE]

Of each template and backend that the build has, N mutants are drawn: first a line of the templates, then a line that
was made of it, then a change (mutants.py). A mutant that is not compiled does not count; one of the same object code
is equal. All others are checked as `out/bench --check-only` does it, at the sizes that it takes by itself. A survivor,
which the bench calls right, is reported, unless mutants.equal says why it is none. Exit status 1 where one is, or
where nothing was tried.
"""

import argparse
import concurrent.futures
import fnmatch
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import mutants

SOURCE = Path(__file__).resolve().parent.parent
LIMIT = {"cuda": 60, "vulkan": 60}  # seconds for a launch, where it is slow
FOLDERS = {".c": "c", ".cu": "cuda", ".comp": "glsl"}
FILES = {"c": "*__{backend}*.c", "cu": "*_{dtype}__cuda*.cu", "comp": "*_{dtype}__vulkan*.comp"}


class Kernel:
    """A file of an op's kernels."""

    def __init__(self, build, path, op, backend, dtype, template, rows):
        self.source, self.op, self.backend, self.dtype, self.template = str(path), op, backend, dtype, template
        self.variants = {row["variant"] for row in rows}
        self.smallest = min(rows, key=lambda row: row["points"])["size"]
        self.path, self.same = build.folder / path, False

    @functools.cached_property
    def lines(self):
        return mutants.inlined(self.path, [SOURCE / "templates" / FOLDERS[self.path.suffix]])

    @functools.cached_property
    def by_place(self):
        """Its changes, by the line of the template, or of the point function, where it is."""
        found = {}
        for change in mutants.changes(self.lines):
            found.setdefault(change.place, []).append(change)
        return found

    def draw(self, rng):
        there = self.by_place[rng.choice(sorted(self.by_place))]
        kind = rng.choice(sorted({change.kind for change in there}))
        return rng.choice([change for change in there if change.kind == kind])

    def with_change(self, change):
        lines = self.lines[:]
        lines[change.line] = change.new
        return "\n".join(lines)


class Run:
    def __init__(self, options):
        self.options = options
        self.build = mutants.Build(options.build)
        self.rng = random.Random(options.seed)
        self.started = time.monotonic()
        self.equal = [line.split(" # ") for line in
                      (SOURCE / "tests" / "mutants.equal").read_text().splitlines() if line[:1] not in ("", "#")]
        self.counts, self.found = {}, []
        self.work = self.build.folder / "out" / "mutants"
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(self.build.folder), "GALLIVM_PERF": "nopt"}

    def bench(self, folder, op, backend, *options):
        """Rows of an op, or the words that the program ended with."""
        rows = self.work / f"rows-{threading.get_ident()}.json"
        rows.unlink(missing_ok=True)
        command = ["timeout", "-k", "1", "1800", "out/bench", "--check-only", "--op", op, "--backend", backend,
                   "--seed", str(self.options.seed), "--timeout", str(LIMIT.get(backend, 3)), "--json", str(rows),
                   *options]
        done = subprocess.run(command, cwd=folder, env=self.environment, capture_output=True, text=True,
                              errors="replace", check=False)
        if not rows.exists():
            return f"{done.returncode}: {(done.stderr + done.stdout)[-500:]}"
        return json.loads(rows.read_text())["benchmarks"]

    def trial(self, folder, kernel, change):
        """What the bench says of a mutant: of what calls the function that is changed, at the smallest size and at
        all."""
        options = ["--dtype", kernel.dtype or "all"]
        dtype = re.search(r"_(f64|f32|f16|bf16)__", change.function)
        variant = max((v for v in kernel.variants if change.function.startswith(v)), key=len, default=None)
        if variant:
            options += ["--variant", variant]
        elif dtype:
            options[1] = dtype[1]
        for size in ([self.sizes()] if self.options.size else [["--size", kernel.smallest], []]):
            rows = self.bench(folder, kernel.op, kernel.backend, *options, *size)
            said = {row["status"] for row in rows} - {"skipped"} if isinstance(rows, list) else {"ended"}
            if said != {"right"}:
                break
        return said

    def sizes(self):
        return ["--size", self.options.size] if self.options.size else []

    def kernels(self):
        """Files of ops whose kernels are right as they are, by template and backend."""
        found = {}
        for backend in self.options.backends.split(","):
            for folder in sorted(self.build.folder.glob("out/gen/*/")):
                op = folder.name
                if not any(fnmatch.fnmatch(op, glob) for glob in self.options.ops.split(",")):
                    continue
                for language, pattern in FILES.items():
                    for dtype in ([""] if language == "c" else ["f64", "f32", "f16", "bf16"]):
                        for path in sorted(folder.glob(op + pattern.format(backend=backend, dtype=dtype))):
                            if "_reference" in path.name or "_host" in path.name or \
                                    language != "c" and f"__{backend}" not in path.name:
                                continue
                            found.setdefault((backend, op, dtype), []).append(path.relative_to(self.build.folder))
        groups = {}
        named = [",".join(sorted({key[i] for key in found})) for i in (1, 0)]
        rows = self.bench(self.build.folder, *named, "--dtype", "all", *self.sizes()) if found else []
        if isinstance(rows, str):
            sys.exit(f"out/bench ended with {rows}")
        for (backend, op, dtype), paths in found.items():
            own = [row for row in rows if (row["backend"], row["op"]) == (backend, op) and dtype in ("", row["dtype"])]
            bad = next((row for row in own if row["status"] not in ("right", "skipped")), None)
            own = [row for row in own if row["status"] == "right"]
            if bad or not own:
                print(f"left out: {op} on {backend}: {bad and (bad['error_message'] or bad['status'])}")
                continue
            template = re.search(r"(\w+)\.\w+$", own[0]["template"])[1]
            groups.setdefault((template, backend), []).extend(
                Kernel(self.build, path, op, backend, dtype, template, own) for path in paths)
        return groups

    def compile(self, copy, kernel, seed):
        """A change of a kernel that is compiled to something else, or None after some that are not."""
        rng, said = random.Random(seed), []
        if not kernel.same and copy.compile(kernel.source, "\n".join(kernel.lines)):
            raise mutants.Failed(f"{kernel.source} with its headers in it is another")
        kernel.same = True
        for _ in range(10):
            change = kernel.draw(rng)
            try:
                differs = copy.compile(kernel.source, kernel.with_change(change))
            except mutants.Failed:
                said.append("no")
                continue
            if differs:
                return change, said
            said.append("same")
        return None, said

    def batch(self, number, chosen):
        """One mutant of each of some files, none of the same op and backend, in one program."""
        folder = self.work / str(number)
        shutil.rmtree(folder, ignore_errors=True)
        copy = mutants.Copy(self.build, folder)
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            seeds = [self.rng.getrandbits(60) for _ in chosen]
            made = list(pool.map(lambda both: self.compile(copy, *both), zip(chosen, seeds)))
            copy.link("out/bench")
            tried = [(kernel, change) for kernel, (change, _) in zip(chosen, made) if change]
            for kernel, (change, said) in zip(chosen, made):
                count = self.count(kernel)
                count["equal"] += said.count("same")
                count["not compiled"] += said.count("no")
            for (kernel, change), said in zip(tried, pool.map(lambda both: self.trial(folder, *both), tried)):
                self.judge(kernel, change, said)
        shutil.rmtree(folder)

    def count(self, kernel):
        return self.counts.setdefault((kernel.template, kernel.backend), dict.fromkeys(
            ["killed", "listed", "survived", "equal", "not compiled"], 0))

    def judge(self, kernel, change, said):
        reason = None
        if said == {"right"}:
            text = f"{kernel.source}: {change}"
            reason = next((reason for pattern, reason in self.equal if re.search(pattern, text)), None)
        verdict = "killed" if said != {"right"} else "listed" if reason else "survived"
        self.count(kernel)[verdict] += 1
        entry = {"template": kernel.template, "backend": kernel.backend, "op": kernel.op, "dtype": kernel.dtype,
                 "verdict": verdict, "said": sorted(said), "place": change.place, "function": change.function,
                 "kind": change.kind, "old": change.old.strip(), "new": change.new.strip(), "reason": reason,
                 "file": kernel.source}
        if self.options.json:
            with open(self.options.json, "a") as out:
                out.write(json.dumps(entry) + "\n")
        if verdict == "survived":
            print(f"survived: {kernel.source}: {change}", flush=True)

    def choose(self, groups):
        """Files for a batch, of groups that lack most, none of the same op and backend."""
        chosen, seen = [], set()
        left = {group: self.options.count - sum(self.counts.get(group, {}).get(name, 0)
                                                for name in ("killed", "listed", "survived")) for group in groups}
        kernels = [(group, kernel) for group in groups for kernel in groups[group]]
        self.rng.shuffle(kernels)
        while len(chosen) < self.options.batch:
            free = [(group, kernel) for group, kernel in kernels
                    if left[group] > 0 and (kernel.op, kernel.backend) not in seen]
            if not free:
                break
            group, kernel = max(free, key=lambda pair: left[pair[0]])
            left[group] -= 1
            seen.add((kernel.op, kernel.backend))
            chosen.append(kernel)
        return chosen

    def run(self):
        print(f"seed {self.options.seed}", flush=True)
        self.work.mkdir(exist_ok=True)
        groups = self.kernels()
        number = 0
        while time.monotonic() - self.started < self.options.seconds:
            chosen = self.choose(groups)
            if not chosen:
                break
            self.batch(number, chosen)
            number += 1
            print(f"[{time.monotonic() - self.started:5.0f} s] batch {number}: {len(chosen)} files", flush=True)
        for (template, backend), count in sorted(self.counts.items()):
            print(f"{template:9} {backend:7} " + ", ".join(f"{n} {name}" for name, n in count.items()))
        survived = sum(count["survived"] for count in self.counts.values())
        killed = sum(count["killed"] for count in self.counts.values())
        return 1 if survived or not killed else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--build", default=".")
    parser.add_argument("--ops", default="*")
    parser.add_argument("--backends", default="scalar,sse2,avx2")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(20))
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--size")
    parser.add_argument("--json")
    return Run(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
