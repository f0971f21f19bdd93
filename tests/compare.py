"""What the scripts that time another library beside the bench program share.

A round times each op in the library and then in the bench, on one thread and the same work; a figure
is the median of the rounds. Of the bench's variants that one counts which dispatch chooses. --avx2
leaves AVX-512 out on both sides. Nothing here fails for being slow; exit status 1 says that a
kernel's results were wrong, 2 that something could not be run.
"""

import argparse
import json
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


def parse(usage, dtypes):
    parser = argparse.ArgumentParser(usage=usage.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--bench", default=os.environ.get("LATHE_BENCH", "out/bench"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--op", default=",".join(MAPS + REDUCTIONS + ROWS))
    parser.add_argument("--avx2", action="store_true")
    if len(dtypes) > 1:
        parser.add_argument("--dtype", default=",".join(dtypes))
    options = parser.parse_args()
    options.ops = options.op.split(",")
    options.dtypes = options.dtype.split(",") if len(dtypes) > 1 else dtypes
    for op in options.ops:
        if op not in MAPS + REDUCTIONS + ROWS:
            parser.error(f"unknown op '{op}'")
    for dtype in options.dtypes:
        if dtype not in dtypes:
            parser.error(f"unknown dtype '{dtype}'")
    if options.rounds < 1:
        parser.error("--rounds takes a number above 0")
    return options


def set_environment(**variables):
    """What must be set before a library is loaded."""
    os.environ.update(variables)


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


def bench_rows(options, op, dtype):
    """The rows of the variants that dispatch chooses, by size."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.json")
        command = [options.bench, "--backend", "cpu", "--op", op, "--dtype", dtype, "--json", path,
                   "--size", ",".join(str(n) for n in SIZES)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            print(f"{os.path.basename(sys.argv[0])}: {options.bench}: {error.strerror}", file=sys.stderr)
            raise SystemExit(2) from error
        if result.returncode != 0:
            print(result.stdout, result.stderr, sep="", file=sys.stderr)
            raise SystemExit(1 if result.returncode == 1 else 2)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
    # Rows and vectors: the last dimension is the size.
    return {list(row["sizes"].values())[-1]: row for row in rows if row["dispatched"]}


def measure(options, calls):
    """{(op, dtype, size): (seconds in the library, bench row of the median round)}"""
    ranges = {(wide, dtype, n): calls(dtype, n, wide)
              for wide in {RANGES.get(op, 1) for op in options.ops}
              for dtype in options.dtypes for n in SIZES}
    progress = sys.stderr if sys.stderr.isatty() else open(os.devnull, "w", encoding="ascii")
    theirs, ours = {}, {}
    for number in range(options.rounds):
        for op in options.ops:
            print(f"\rround {number + 1} of {options.rounds}: {op:<12}", end="", file=progress)
            for dtype in options.dtypes:
                for n in SIZES:
                    call = ranges[RANGES.get(op, 1), dtype, n][op]
                    theirs.setdefault((op, dtype, n), []).append(seconds_of(call))
                for n, row in bench_rows(options, op, dtype).items():
                    ours.setdefault((op, dtype, n), []).append(row)
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
    print(f"{key[0]:<12} {key[1]:<5} {key[2]:>8} {seconds * 1e6:>10.2f} {row['real_time'] / 1e3:>10.3f} "
          f"{ratio(result):>8.2f}  {how}")


def print_table(results, name):
    theirs = name.lower() + " us"
    head = f"{'op':<12} {'type':<5} {'n':>8} {theirs:>10} {'lathe us':>10} {'ratio':>8}  variant"
    print(head)
    for key in results:
        print_line(key, results[key])
    large = {key: result for key, result in results.items() if key[2] >= 1000}
    ratios = [ratio(result) for result in large.values()]
    fast = sum(r >= 1 for r in ratios)
    print(f"\nn >= 1000: geometric mean of the ratios {statistics.geometric_mean(ratios):.2f}; "
          f"{fast} of {len(ratios)} at least as fast as {name} ({100 * fast / len(ratios):.0f} %)")
    print("\nThe least ahead:\n" + head)
    for key in sorted(large, key=lambda key: ratio(large[key]))[:10]:
        print_line(key, large[key])


def print_shares(results, title, ops, sizes, least):
    """How much of what the machine can move at that size, where that should be all."""
    rows = [results[op, "f32", n][1] for op in ops for n in sizes if (op, "f32", n) in results]
    if rows:
        print(f"\n{title} (the aim: {100 * least:.0f} %)")
    for row in rows:
        rate, most = row["bytes_per_second"], row["ceiling_bytes_per_second"]
        print(f"{row['op']:<12} {row['size']:>8} {rate / 1e9:>8.1f} GB/s of {most / 1e9:>6.1f}, "
              f"{row['ceiling']:<18}{100 * rate / most:>4.0f} %"
              f"{'' if rate >= least * most else '  below'}")


def main(usage, name, prepare, dtypes):
    """prepare(avx2) gives the library's version, and calls(dtype, n, wide), the ops on n numbers
    between -wide and wide as functions without arguments, by their names."""
    options = parse(usage, dtypes)
    set_environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    if options.avx2:
        set_environment(LATHE_CPU_FEATURES="sse2,avx2,fma,f16c")
    try:
        version, calls = prepare(options.avx2)
    except ImportError:
        print(f"{os.path.basename(sys.argv[0])}: this Python has no {name}; run the script with "
              "one that has", file=sys.stderr)
        return 2
    print(f"{name} {version}, Python {sys.version.split()[0]}, {options.rounds} rounds"
          f"{', without AVX-512' if options.avx2 else ''}\n")
    results = measure(options, calls)
    print_table(results, name)
    print_shares(results, "Reductions: share of the measured read rate", READERS, [10000, 100000],
                 0.85)
    print_shares(results, "Element-wise at 1M: share of the measured copy rate", CHEAP_MAPS,
                 [1000000], 0.9)
    if ("exp", "f32", 10000) in results:
        each = results["exp", "f32", 10000][1]["real_time"] / 10000
        print(f"\nexp at 10K: {each:.2f} ns an element (the aim: 1.1)")
    return 0
