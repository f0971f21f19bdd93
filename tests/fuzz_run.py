"""Runs a pack of random specs (fuzz_pack.py) where there is a GPU, and makes what fails smaller."""

import collections
import json
import math
import os
import queue
import random
import re
import shlex
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

EXTENTS = [1, 2, 3, 5, 7, 8, 16, 17, 31, 33, 48, 64, 65, 70, 96, 100, 127, 128, 129, 130, 200, 255, 257, 300, 384, 513]
MOST_WORK, MOST_POINTS = 1 << 24, 1 << 21  # of a product: multiplications, and elements of an operand
# What takes each row of launches: few and many blocks, parts of them, rows that stay in registers and that do not.
PLAIN = ["1", "7", "33", "257", "1003", "4099", "10007", "70001", "1x65", "5x129", "17x4", "37x1000", "3x5001",
         "4099x33", "1x8193", "9x77", "300x71", "3x5x33", "2x70x264", "129x1"]
LARGE = ["1100003", "9000011", "2x300007", "70001x19", "600x2049", "40x33x517", "5x1000003", "3001x640"]
# Every second seed of an op has one of these; the others have sizes alone, the first of them a large one.
SETTINGS = [["--special", "nan,inf,zero,denormal"], ["--offset"], ["--in-place"], ["--special", "denormal"],
            ["--special", "nan,inf"], ["--offset"], ["--special", "ties"], ["--special", "zero"]]
PROCESSORS = queue.SimpleQueue()
for processor in sorted(os.sched_getaffinity(0)):
    PROCESSORS.put(processor)
ABREAST = {"cuda": 4}  # runs of a backend at once; contexts take turns on a GPU, so that more of them wait for each other
TOGETHER = 8  # ops of a run: making a context takes 0.4 to 0.8 s, in which a driver lets no other program make one
TRIES = 40  # of a finding, at the most, to make it smaller


def ops_of(bench, patterns="*"):
    """The names of the ops that match."""
    done = subprocess.run([bench, "--list-ops", "--op", patterns], stdout=subprocess.PIPE, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()[1:]
            if line[:1].isalnum() and not line.startswith("left out by ")]


def points_of(size):
    return math.prod(int(extent) for extent in size.split("x"))


def sizes_of(rng, dims, large, points):
    """Some sizes, of so many points at the most: of products with so many axes, or of other ops, whose dims are 0."""
    if not dims:
        sizes = rng.sample(PLAIN, 8) + ([rng.choice(LARGE)] if large else [])
        return [size for size in sizes if points_of(size) <= points]
    sizes = []
    while len(sizes) < 6 + large:
        most = min(points, MOST_WORK << (4 if large and not sizes else 0))
        extents = [rng.choice([*EXTENTS, 1024, 2000] if most > MOST_WORK else EXTENTS) for _ in range(dims)]
        if math.prod(extents) <= most and max(extents) * sorted(extents)[-2 if len(extents) > 1 else 0] <= MOST_POINTS:
            sizes.append("x".join(map(str, extents)))
    return sizes


def offset_of(spec):
    """The smallest number of bytes that operands of an op may be off a boundary by."""
    types = re.search(r"^  dtypes = (.*)", spec, re.M)[1]
    return "8" if "f64" in types else "2" if "16" in types else "4"


def run_alone(command, seconds, ends=math.inf):
    """A program on one processor, which it shares with no other of these: else each would compute references on all. It
    has so many seconds, and ends by a time of the monotonic clock."""
    own = PROCESSORS.get()
    try:
        return subprocess.run(["taskset", "-c", str(own), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=max(min(seconds, ends - time.monotonic()), 0))
    finally:
        PROCESSORS.put(own)


def at_once(work, jobs):
    """What work makes of each job, whose first value is its backend: as many at once as that bears."""
    jobs = list(jobs)
    pools = {backend: ThreadPoolExecutor(ABREAST.get(backend, PROCESSORS.qsize())) for backend, *_ in jobs}
    waiting = [pools[backend].submit(work, backend, *rest) for backend, *rest in jobs]
    return [done.result() for done in waiting]


def together(ops):
    """The ops in groups, each for one run; neighbours are in different groups, since an op's gradients take long."""
    groups = -(-len(ops) // TOGETHER)
    return [ops[first::groups] for first in range(groups)]


class PackRun:
    def __init__(self, asked):
        self.pack, self.backends, self.points = Path(asked.pack), asked.backends.split(","), asked.points
        self.devices = {backend: ["--device", f"{backend}{asked.gpu}"] if asked.gpu is not None else []
                        for backend in self.backends}
        about = json.loads((self.pack / "pack.json").read_text())
        self.seed, self.ops = about["seed"], about["ops"]
        self.bench = os.path.abspath(self.pack / "bench")
        self.ends = time.monotonic() + asked.seconds
        self.runs_end = self.ends - asked.seconds / 4  # the rest is for making findings smaller
        self.counts = collections.Counter()
        self.skipped, self.found, self.broken = collections.Counter(), {}, []

    def rows(self, options, seconds, ends):
        """The rows of a run, and its command where it ended in another way than it should; no rows of one that was late."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.json"
            command = [self.bench, "--check-only", "--rows", *options, "--json", str(path)]
            text = shlex.join([str(self.pack / "bench"), "--check-only", *options])
            try:
                done = run_alone(command, seconds, ends)
            except subprocess.TimeoutExpired:
                self.counts["runs left out"] += 1
                return [], None if time.monotonic() >= ends else f"not done within {seconds} s: {text}"
            ended = done.returncode in (0, 1, 3, 4) and path.exists()
            rows = json.loads(path.read_text())["benchmarks"] if path.exists() else []
        return rows, None if ended else f"status {done.returncode}: {text}\n{done.stderr[-600:]}"

    def jobs(self, seeds):
        """The runs of all ops: each of some with as many axes, and with a setting for all."""
        offsets = {op: offset_of((self.pack / "specs" / f"{op}.lua").read_text()) for op in self.ops}
        kinds = sorted({(len(dims), offsets[op]) for op, dims in self.ops.items()})
        groups = [(dims, offset, group) for dims, offset in kinds
                  for group in together([op for op in self.ops if (len(self.ops[op]), offsets[op]) == (dims, offset)])]
        for turn, seed in enumerate(seeds):
            for number, (dims, offset, group) in enumerate(groups):
                setting = SETTINGS[(turn // 2 + number) % len(SETTINGS)] if turn % 2 else []
                setting = [*setting, offset] if setting == ["--offset"] else setting
                sizes = sizes_of(random.Random(f"{self.seed}:{group[0]}:{seed}"), dims, turn == 0, self.points)
                for backend in self.backends:
                    yield backend, group, seed, setting, sizes

    def job(self, backend, group, seed, setting, sizes):
        """Some ops and their gradients with a seed, on one backend."""
        ops = [name for op in group for name in ([op, f"{op}_backward*"] if op in self.with_gradients else [op])]
        rows, wrong = self.rows(["--op", ",".join(ops), "--dtype", "all", "--backend", backend, "--seed", str(seed),
                                 "--size", ",".join(sizes), *self.devices[backend], *setting], 150, self.runs_end)
        if wrong:
            self.broken.append(wrong)
        for row in rows:
            self.counts["rows"] += 1
            self.counts[row["status"]] += 1
            if row["status"] in ("skipped", "unproved"):
                self.skipped[f"{row['status']}: {row['backend']}: {row['reason']}"] += 1
            elif row["status"] in ("wrong", "killed"):
                self.found.setdefault((row["op"], row["dtype"], row["variant"]), []).append((seed, setting, row))

    def run(self, seeds):
        self.with_gradients = {name.partition("_backward")[0] for name in ops_of(self.bench) if "_backward" in name}
        at_once(self.job, self.jobs(seeds))
        with ThreadPoolExecutor(PROCESSORS.qsize()) as pool:
            return list(pool.map(self.smallest, self.found.values()))

    # -- making a finding smaller -------------------------------------------------------------------

    def smallest(self, rows):
        """The least that is wrong in the same way: its message, its command, and how many rows were so."""
        row = min((row for _, _, row in rows), key=lambda row: row["points"] or 0)
        finding = {"op": row["op"], "variant": row["variant"], "rows": len(rows),
                   "seeds": len({seed for seed, _, _ in rows}),
                   "sizes": sorted({row["size"] for _, _, row in rows})[:6],
                   "message": row["reason"], "again": row["repro"]}
        options = shlex.split(row["repro"] or "")[1:]
        if not options:
            return finding
        tries = TRIES

        def is_wrong(options):
            nonlocal tries
            if tries == 0 or time.monotonic() > self.ends:
                return False
            tries -= 1
            rows, _ = self.rows(options, 60, self.ends)
            bad = [row for row in rows if row["status"] in ("wrong", "killed")]
            if bad:
                finding["message"], finding["again"] = bad[0]["reason"], bad[0]["repro"]
            return bool(bad)

        options = [o for o in options if o != "--check-only"]
        for smaller in self.narrower(options):
            options = smaller if is_wrong(smaller) else options
        at = options.index("--size") + 1
        extents = [int(extent) for extent in options[at].split("x")]
        again = True
        while again and tries:
            again = False
            for d, extent in enumerate(extents):
                for less in sorted({1, 2, extent // 2, extent * 3 // 4, extent - 1} - {0, extent}):
                    trial = extents[:d] + [less] + extents[d + 1:]
                    if less < extents[d] and is_wrong(options[:at] + ["x".join(map(str, trial))] + options[at + 1:]):
                        extents, again = trial, True
                        break
        return finding

    @staticmethod
    def narrower(options):
        """The options without one of a setting, or with one special value alone, the fewest first."""
        for name, has_value in (("--in-place", False), ("--page-end", False), ("--offset", True), ("--special", True)):
            if name in options:
                at = options.index(name)
                yield options[:at] + options[at + 1 + has_value:]
                values = options[at + 1].split(",") if name == "--special" else []
                for value in values if len(values) > 1 else []:
                    yield options[:at + 1] + [value] + options[at + 2:]


def spec_text(pack, op):
    text = (pack / "specs" / f"{op.partition('_backward')[0]}.lua").read_text()
    return re.sub(r'^local vector.*\n\n|  (doc|sizes|ulp) = .*\n|  scalars = \{  \},\n', "", text, flags=re.M)


def fuzz(asked):
    """Whether nothing was found."""
    run = PackRun(asked)
    seeds = [int(seed) for seed in asked.seeds.split(",")]
    findings = sorted(run.run(seeds), key=lambda f: (f["op"], f["variant"]))
    keep = os.environ.get("OUT")
    if keep:
        (Path(keep) / f"findings-{run.seed}.json").write_text(json.dumps([findings, run.broken, run.skipped], indent=1))
    room, shown = 9000, set()
    for finding in findings:
        op = finding["op"].partition("_backward")[0]
        text = (f"FOUND {finding['variant']}: {finding['rows']} rows of {finding['seeds']} seeds, "
                f"{', '.join(finding['sizes'])}\n  {' '.join(finding['message'].split())[:400]}\n"
                f"  {finding['again']}\n")
        if op not in shown:
            text += spec_text(run.pack, op)
        if len(text) > room:
            text = f"FOUND {finding['variant']}: {finding['again']}\n"
        shown.add(op)
        room -= len(text)
        if room < -1500:
            print("and more")
            break
        print(text, flush=True)
    for text in run.broken[:5]:
        print(f"BROKEN {text[:800]}")
    for reason, count in run.skipped.most_common(12):
        print(f"  {count} {reason[:170]}")
    names = ("rows", "right", "wrong", "killed", "unproved", "skipped", "runs left out")
    counts = ", ".join(f"{run.counts[name]} {name}" for name in names)
    print(f"pack {run.seed}: {len(run.ops)} specs, {len(seeds)} seeds, {counts}, {len(run.broken)} runs broken; "
          f"{len(findings)} variants found")
    return not findings and not run.broken and run.counts["right"] > 0
