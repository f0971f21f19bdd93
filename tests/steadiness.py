#!/usr/bin/env python3
"""Says how far figures can be trusted on this machine: runs the bench program against itself, and plants slower rows.

usage: steadiness.py [--bench FILE] [--pairs N] [--slower PERCENT] [--against] [--busy N] [-- BENCH-OPTION...]

Each pair is two runs of the same rows, one right after the other. A line says of a pair how many rows `bench compare`
calls slower or faster, which none is; how many medians agree within 2 and 5 %; and, of rows that are made slower in the
second run's file, one at a time, in how many it finds just that. With --against each pair is two runs of
`bench --against` instead: itself, and itself by a clock on which all takes that much longer, so that every row is to be
found. --busy has N other processes beside them. Nothing here fails for what it finds: a busy machine may be the reason.
"""

import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIMES = "real_time cpu_time low high best mean min max q1 q3".split()
OPTIONS = ["--backend", "cpu", "--op", "add,exp,sum,softmax,gelu,layernorm", "--size", "1K,10K,100K", "--rounds", "10"]


def run(bench, options, path):
    done = subprocess.run([bench, *options, "--json", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not path.exists():
        sys.exit(f"steadiness.py: {bench} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(path.read_text())


def called(bench, base, new):
    """How many rows are called slower and faster."""
    text = subprocess.run([bench, "compare", base, new], capture_output=True, text=True).stdout
    found = re.search(r"rows compared: (\d+) slower, (\d+) faster", text)
    if not found:
        sys.exit(f"steadiness.py: no comparison in:\n{text}")
    return int(found[1]), int(found[2])


def planted(bench, base, new, path, slower):
    """Of how many rows, each made slower alone, one more is called slower than without it."""
    timed = [i for i, row in enumerate(new["benchmarks"]) if row.get("real_time")]
    path.write_text(json.dumps(new))
    before, found = called(bench, base, path)[0], 0
    for i in timed:
        changed = copy.deepcopy(new)
        for name in TIMES:
            if changed["benchmarks"][i].get(name):
                changed["benchmarks"][i][name] *= 1 + slower / 100
        path.write_text(json.dumps(changed))
        found += called(bench, base, path)[0] > before
    return found, len(timed)


def turned(bench, options, other):
    """How many rows are called slower, faster, and how many are compared, against another program."""
    done = subprocess.run([bench, *options, "--against", other], capture_output=True, text=True)
    found = re.search(r"^(\d+) rows against .*: (\d+) slower, (\d+) faster", done.stdout, re.MULTILINE)
    if not found:
        sys.exit(f"steadiness.py: {bench} --against {other} ended with {done.returncode}: {done.stderr.strip()}")
    return int(found[2]), int(found[3]), int(found[1])


def by_turns(asked, options, folder):
    """Of each pair, how many rows are called different from themselves, and found where all are slower than the base."""
    bench, slow, clock = os.path.abspath(asked.bench), folder / "slow", folder / "slow_clock.so"
    source = Path(__file__).with_name("slow_clock.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", clock, "-ldl"], check=True)
    slow.write_text(f'#!/bin/sh\nSLOW_CLOCK={1 + asked.slower / 100} LD_PRELOAD={clock} exec {bench} "$@"\n')
    slow.chmod(0o755)
    print(f"pair   rows  called different  {asked.slower:g} % found")
    same = found = rows = 0
    for pair in range(asked.pairs):
        slower, faster, count = turned(bench, options, bench)
        planted = turned(bench, options, str(slow))[1]
        print(f"{pair + 1:4d} {count:6d} {(slower + faster) / count:17.1%} {planted / count:10.1%}", flush=True)
        same, found, rows = same + slower + faster, found + planted, rows + count
    print(f" all {rows:6d} {same / rows:17.1%} {found / rows:10.1%}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--bench", default="out/bench")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--slower", type=float, default=3)
    parser.add_argument("--against", action="store_true")
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("options", nargs="*", default=OPTIONS)
    asked = parser.parse_args()

    others = [subprocess.Popen([sys.executable, "-c", "while True: sum(range(10000))"]) for _ in range(asked.busy)]
    try:
        run_pairs(asked)
    finally:
        for other in others:
            other.kill()


def run_pairs(asked):
    if asked.against:
        options = [option for option in asked.options if asked.options is not OPTIONS or option not in ("--rounds", "10")]
        with tempfile.TemporaryDirectory() as folder:
            by_turns(asked, options, Path(folder))
        return
    print(f"pair   rows  called different  within 2 %  within 5 %  {asked.slower:g} % slower found")
    with tempfile.TemporaryDirectory() as folder:
        one, two, changed = (Path(folder) / name for name in ("one.json", "two.json", "changed.json"))
        for pair in range(asked.pairs):
            base, new = run(asked.bench, asked.options, one), run(asked.bench, asked.options, two)
            times = {row["name"]: row["real_time"] for row in base["benchmarks"] if row.get("real_time")}
            ratios = [row["real_time"] / times[row["name"]] for row in new["benchmarks"]
                      if row.get("real_time") and row["name"] in times]
            near = [sum(abs(ratio - 1) <= limit for ratio in ratios) / len(ratios) for limit in (0.02, 0.05)]
            different = sum(called(asked.bench, one, two)) / len(ratios)
            found, rows = planted(asked.bench, one, new, changed, asked.slower)
            print(f"{pair + 1:4d} {len(ratios):6d} {different:17.1%} {near[0]:11.1%} {near[1]:11.1%} {found / rows:16.1%}",
                  flush=True)


if __name__ == "__main__":
    main()
