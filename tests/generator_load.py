#!/usr/bin/env python3
"""Times the generator on a synthetic load: generator_load.py LATHE_GEN [VARIANTS...]

Makes, in a temporary folder, ops in the manner of specs/ (element-wise, with an exponential,
reductions, rows; two precisions, four backends, the tuning rows of the project's own ops) until
there are that many variants (10000 and 100000), runs `lathe-gen all` on them with the templates
beside this file, and prints its time and peak memory. Exit status 1 when 10,000 variants take
more than 2 s or 200 MB, or a larger load more than that in proportion and a fifth. Where the
file system is slow to make files, TMPDIR=/dev/shm shows the generator's own time.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS, MEGABYTES = 2.0, 200.0  # for 10,000 variants
SLACK = 1.2

# template, output, function over x and y, tuning rows, variants per op
WIDE = '{ "sse2", "avx2", "avx512" }'
MAP_ROWS = f"""{{
    {{ backend = {WIDE}, unroll = 4, store = "streaming", prefer = {{ from = 2 ^ 25 }} }},
    {{ backend = {WIDE}, unroll = {{ 4, 1 }} }},
    {{ backend = "scalar", unroll = {{ 1, 4 }} }},
  }}"""
PASS_ROWS = f"""{{
    {{ backend = {WIDE}, accumulators = {{ 8, 4, 2 }} }},
    {{ backend = "scalar", accumulators = {{ 8, 1 }} }},
  }}"""
SHAPES = [
    ("map", '{ "n" }', "x * y + %d", MAP_ROWS, 22),
    ("map", '{ "n" }', "exp(x * %d) - y", MAP_ROWS, 22),
    ("reduce", "{}", "sum(x * y) / %d", PASS_ROWS, 22),
    ("rows", '{ "rows", "n" }', 'x / sum(abs(y) + %d, "n")', PASS_ROWS, 22),
]


def op(number):
    template, output, function, rows, count = SHAPES[number % len(SHAPES)]
    dims, size = ('"n"', "n = 1000") if template != "rows" else ('"rows", "n"', "rows = 10, n = 100")
    return count, f"""op "op_{number}" {{
  doc = "synthetic",
  inputs = {{ x = {{ {dims} }}, y = {{ {dims} }} }},
  outputs = {{ z = {output} }},
  compute = function(x, y) return {function % (number + 3)} end,
  sizes = {{ {{ "1K", {size} }} }},
  dtypes = {{ "f32", "f64" }},
  ulp = {{ f32 = 8, f64 = 8 }},
  variants = {rows},
}}
"""


def write_specs(folder, variants):
    """Writes spec files of up to four ops each; returns the number of ops and of variants."""
    number = total = 0
    while total < variants:
        with open(os.path.join(folder, f"file_{number}.lua"), "w", encoding="utf-8") as file:
            for _ in SHAPES:
                if total < variants:
                    count, text = op(number)
                    file.write(text)
                    number += 1
                    total += count
    return number, total


def measure(generator, variants):
    """Seconds and megabytes of one run; prints them."""
    templates = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "templates")
    with tempfile.TemporaryDirectory(prefix="lathe-load-") as folder:
        os.mkdir(os.path.join(folder, "specs"))
        shutil.copytree(templates, os.path.join(folder, "templates"))
        ops, total = write_specs(os.path.join(folder, "specs"), variants)
        start = time.monotonic()
        child = subprocess.Popen([generator, "all"], cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
        seconds, megabytes = time.monotonic() - start, usage.ru_maxrss / 1024
        if status != 0:
            sys.exit(f"{generator} all: failed on {total} variants")
        print(f"{total:7} variants of {ops:5} ops  {seconds:6.2f} s "
              f"(user {usage.ru_utime:.2f}, system {usage.ru_stime:.2f})  "
              f"{megabytes:6.1f} MB  {1e6 * seconds / total:6.1f} us a variant", flush=True)
        return total, seconds, megabytes


def main():
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(__doc__)
    generator = os.path.abspath(sys.argv[1])
    good = True
    for variants in [int(word) for word in sys.argv[2:]] or [10000, 100000]:
        total, seconds, megabytes = measure(generator, variants)
        scale = total / 10000 * (1 if variants <= 10000 else SLACK)
        if seconds > SECONDS * scale or megabytes > MEGABYTES * scale:
            print(f"over the bar: {SECONDS * scale:.1f} s, {MEGABYTES * scale:.0f} MB")
            good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
