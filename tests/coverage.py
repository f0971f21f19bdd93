#!/usr/bin/env python3
"""coverage.py - which lines of generated C the checks run.

Usage: coverage.py BUILD [BENCH-OPTION...]

BUILD is a folder of a build with --disable-line, KERNEL_CFLAGS='-O0 --coverage' and LDFLAGS=--coverage. Its bench
program checks all of it, or what the options name: the probe and the sizes of the specs. For each file the share of
its lines that ran is printed, and each line that did not. Ends with 1 where a line did not that should have.
"""

import json
import pathlib
import subprocess
import sys


def ran(data):
    """The lines of one file with code, by number, and how often each ran."""
    text = subprocess.run(["gcov", "--json-format", "--stdout", data.name], cwd=data.parent, check=True,
                          capture_output=True).stdout
    counts = {}
    for line in text.splitlines():
        for file in json.loads(line)["files"]:
            if not file["file"].endswith(data.stem + ".c"):
                continue
            for row in file["lines"]:
                counts[row["line_number"]] = counts.get(row["line_number"], 0) + row["count"]
    return counts


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for data in build.glob("out/gen/*/*__*.gcda"):
        data.unlink()
    checked = subprocess.run([build / "out/bench", "--check-only", "--in-process", *sys.argv[2:]],
                             capture_output=True, text=True)
    print(checked.stdout.strip().splitlines()[-1])
    left = 0
    for data in sorted(build.glob("out/gen/*/*__*.gcda")):
        source = data.with_suffix(".c")
        text = source.read_text().splitlines()
        counts = ran(data)
        missed = [n for n, count in sorted(counts.items()) if count == 0]
        print(f"{100 - 100 * len(missed) / max(len(counts), 1):5.1f} % of {len(counts):5} lines  "
              f"{source.relative_to(build)}")
        for n in missed:
            print(f"    {n:5}  {text[n - 1].rstrip()}")
        left += len(missed)
    sys.exit(left > 0 or checked.returncode)


main()
