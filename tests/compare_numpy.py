#!/usr/bin/env python3
"""Times NumPy and the bench program in turns, on one thread and the same work, and compares.

usage: compare_numpy.py [--bench FILE] [--rounds N] [--op A,B] [--avx2]

A round times each op in NumPy and then in the bench; a figure is the median of the rounds. NumPy
writes into arrays that are there already wherever it can. Of the bench's variants that one counts
which dispatch chooses. --avx2 leaves AVX-512 out on both sides. Nothing here fails for being slow;
exit status 1 says that a kernel's results were wrong, 2 that something could not be run.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = [100, 1000, 10000, 100000, 1000000]
MAPS = "add sub mul div scale abs clamp lerp fma relu exp sigmoid tanh gelu swish".split()
CHEAP_MAPS = "add sub mul scale abs clamp lerp fma relu".split()  # bound by memory at 1M
REDUCTIONS = "sum dot max min argmax argmin norm_l1 norm_l2 norm_linf".split()
ROWS = "softmax log_softmax".split()
READERS = "sum dot norm_l1 norm_l2 norm_linf max argmax".split()  # what the read rate bounds
RANGES = {op: 10 for op in "relu exp sigmoid tanh gelu swish softmax log_softmax".split()}
RANGES["clamp"] = 2

SAMPLE_SECONDS = 200e-6
SAMPLES = 41


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--bench", default=os.environ.get("LATHE_BENCH", "out/bench"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--op", default=",".join(MAPS + REDUCTIONS + ROWS))
    parser.add_argument("--avx2", action="store_true")
    options = parser.parse_args()
    options.ops = options.op.split(",")
    for op in options.ops:
        if op not in MAPS + REDUCTIONS + ROWS:
            parser.error(f"unknown op '{op}'")
    if options.rounds < 1:
        parser.error("--rounds takes a number above 0")
    return options


def prepare_environment(options):
    """What must be set before NumPy is loaded."""
    for name in "OMP", "OPENBLAS", "MKL":
        os.environ[name + "_NUM_THREADS"] = "1"
    if options.avx2:
        # NumPy ignores, with a warning, those that it was not built with.
        os.environ["NPY_DISABLE_CPU_FEATURES"] = (
            "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4")
        os.environ["OPENBLAS_CORETYPE"] = "Haswell"
        os.environ["LATHE_CPU_FEATURES"] = "sse2,avx2,fma,f16c"


def numpy_calls(np, n, wide):
    """The ops on n numbers between -wide and wide, as functions without arguments."""
    rng = np.random.default_rng(1)
    x, y, z = (rng.uniform(-wide, wide, n).astype(np.float32) for _ in range(3))
    r, q = np.empty_like(x), np.empty_like(x)
    half, one, root = np.float32(0.5), np.float32(1), np.float32(math.sqrt(2 / math.pi))
    s, t, cubic = np.float32(1.7), np.float32(0.3), np.float32(0.044715)

    def lerp():
        np.subtract(y, x, out=r)
        np.multiply(r, t, out=r)
        np.add(r, x, out=r)

    def fma():
        np.multiply(x, y, out=r)
        np.add(r, z, out=r)

    def one_and_exp():
        np.negative(x, out=r)
        np.exp(r, out=r)
        np.add(r, one, out=r)

    def sigmoid():
        one_and_exp()
        np.reciprocal(r, out=r)

    def swish():
        one_and_exp()
        np.divide(x, r, out=r)

    def gelu():  # NumPy has no erf: the approximation by tanh, which is less work
        np.multiply(x, x, out=r)
        np.multiply(r, cubic, out=r)
        np.add(r, one, out=r)
        np.multiply(r, x, out=r)
        np.multiply(r, root, out=r)
        np.tanh(r, out=r)
        np.add(r, one, out=r)
        np.multiply(r, x, out=r)
        np.multiply(r, half, out=r)

    def softmax():
        np.subtract(x, x.max(), out=r)
        np.exp(r, out=r)
        np.divide(r, r.sum(), out=r)

    def log_softmax():
        np.subtract(x, x.max(), out=r)
        np.exp(r, out=q)
        np.subtract(r, np.log(q.sum()), out=r)

    return {
        "add": lambda: np.add(x, y, out=r),
        "sub": lambda: np.subtract(x, y, out=r),
        "mul": lambda: np.multiply(x, y, out=r),
        "div": lambda: np.divide(x, y, out=r),
        "scale": lambda: np.multiply(x, s, out=r),
        "abs": lambda: np.abs(x, out=r),
        "clamp": lambda: np.clip(x, -one, one, out=r),
        "lerp": lerp,
        "fma": fma,
        "relu": lambda: np.maximum(x, np.float32(0), out=r),
        "exp": lambda: np.exp(x, out=r),
        "sigmoid": sigmoid,
        "tanh": lambda: np.tanh(x, out=r),
        "gelu": gelu,
        "swish": swish,
        "sum": x.sum,
        "dot": lambda: np.dot(x, y),
        "max": x.max,
        "min": x.min,
        "argmax": x.argmax,
        "argmin": x.argmin,
        "norm_l1": lambda: np.abs(x, out=r).sum(),
        "norm_l2": lambda: math.sqrt(np.dot(x, x)),
        "norm_linf": lambda: np.abs(x, out=r).max(),
        "softmax": softmax,
        "log_softmax": log_softmax,
    }


def seconds_of(call):
    """The median time of a call, from samples of many calls."""
    clock, calls = time.perf_counter, 1
    while True:
        start = clock()
        for _ in range(calls):
            call()
        taken = clock() - start
        if taken >= SAMPLE_SECONDS:
            break
        calls = max(calls + 1, min(10 * calls, int(1.2 * calls * SAMPLE_SECONDS / taken)))
    samples = []
    for _ in range(SAMPLES):
        start = clock()
        for _ in range(calls):
            call()
        samples.append((clock() - start) / calls)
    return statistics.median(samples)


def bench_rows(options, op):
    """The rows of the variants that dispatch chooses, by size."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        command = [options.bench, "--op", op, "--dtype", "f32", "--json", path,
                   "--size", ",".join(str(n) for n in SIZES)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            print(f"compare_numpy.py: {options.bench}: {error.strerror}", file=sys.stderr)
            raise SystemExit(2) from error
        if result.returncode != 0:
            print(result.stdout, result.stderr, sep="", file=sys.stderr)
            raise SystemExit(1 if result.returncode == 1 else 2)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
    # Rows and vectors: the last dimension is the size.
    return {list(row["sizes"].values())[-1]: row for row in rows if row["dispatched"]}


def measure(options, np):
    """{(op, size): (seconds in NumPy, bench row of the median round)}"""
    ranges = {wide: {n: numpy_calls(np, n, wide) for n in SIZES}
              for wide in {RANGES.get(op, 1) for op in options.ops}}
    progress = sys.stderr if sys.stderr.isatty() else open(os.devnull, "w", encoding="ascii")
    theirs, ours = {}, {}
    for number in range(options.rounds):
        for op in options.ops:
            print(f"\rround {number + 1} of {options.rounds}: {op:<12}", end="", file=progress)
            for n in SIZES:
                call = ranges[RANGES.get(op, 1)][n][op]
                theirs.setdefault((op, n), []).append(seconds_of(call))
            for n, row in bench_rows(options, op).items():
                ours.setdefault((op, n), []).append(row)
    print("\r" + " " * 40 + "\r", end="", file=progress)
    middle = options.rounds // 2
    return {key: (statistics.median(theirs[key]),
                  sorted(ours[key], key=lambda row: row["real_time"])[middle])
            for key in theirs}


def ratio(result):
    seconds, row = result
    return seconds * 1e9 / row["real_time"]


def print_line(key, result):
    seconds, row = result
    how = row["variant"].partition("__")[2]
    print(f"{key[0]:<12} {key[1]:>8} {seconds * 1e6:>10.2f} {row['real_time'] / 1e3:>10.3f} "
          f"{ratio(result):>8.2f}  {how}")


def print_table(results):
    head = f"{'op':<12} {'n':>8} {'numpy us':>10} {'lathe us':>10} {'ratio':>8}  variant"
    print(head)
    for key in results:
        print_line(key, results[key])
    large = {key: result for key, result in results.items() if key[1] >= 1000}
    ratios = [ratio(result) for result in large.values()]
    fast = sum(r >= 1 for r in ratios)
    print(f"\nn >= 1000: geometric mean of the ratios {statistics.geometric_mean(ratios):.2f}; "
          f"{fast} of {len(ratios)} at least as fast as NumPy ({100 * fast / len(ratios):.0f} %)")
    print("\nThe least ahead:\n" + head)
    for key in sorted(large, key=lambda key: ratio(large[key]))[:10]:
        print_line(key, large[key])


def print_shares(results, title, ops, sizes, least):
    """How much of what the machine can move at that size, where that should be all."""
    rows = [results[op, n][1] for op in ops for n in sizes if (op, n) in results]
    if rows:
        print(f"\n{title} (the aim: {100 * least:.0f} %)")
    for row in rows:
        rate, most = row["bytes_per_second"], row["ceiling_bytes_per_second"]
        print(f"{row['op']:<12} {row['size']:>8} {rate / 1e9:>8.1f} GB/s of {most / 1e9:>6.1f}, "
              f"{row['ceiling']:<18}{100 * rate / most:>4.0f} %"
              f"{'' if rate >= least * most else '  below'}")


def main():
    options = parse()
    prepare_environment(options)
    try:
        import numpy as np
    except ImportError:
        print("compare_numpy.py: this Python has no NumPy; name another with LATHE_PYTHON or "
              "PYTHON=", file=sys.stderr)
        return 2
    np.seterr(all="ignore")
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}, {options.rounds} rounds"
          f"{', without AVX-512' if options.avx2 else ''}\n")
    results = measure(options, np)
    print_table(results)
    print_shares(results, "Reductions: share of the measured read rate", READERS, [10000, 100000],
                 0.85)
    print_shares(results, "Element-wise at 1M: share of the measured copy rate", CHEAP_MAPS,
                 [1000000], 0.9)
    if ("exp", 10000) in results:
        each = results["exp", 10000][1]["real_time"] / 10000
        print(f"\nexp at 10K: {each:.2f} ns an element (the aim: 1.1)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
