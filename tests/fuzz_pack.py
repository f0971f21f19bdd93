"""Packs of random specs: a bench program with their kernels, to be run by on_gpu.py where there is a GPU."""

import json
import pickle
import random
import shutil
import subprocess
import time
from pathlib import Path

import fuzz_build
import fuzz_streams
import fuzz_products

PRODUCTS = ("contract", "chain", "nest")  # what asks for sizes by the names of its axes
MOST_BYTES = 40 << 20  # of the program
ALONE = ["on_gpu.py", "fuzz_run.py", "shapes.py"]  # what runs a pack, and goes with it


def make_specs(count, seed, backends):
    rng, made = random.Random(f"pack:{seed}"), []
    while len(made) < count:
        op = fuzz_streams.make_any(rng, f"p{seed}_{len(made)}", backends)
        made += [op] if op else []
    return made


def smaller_specs(paths):
    """Of specs of packs, given by their files, those with a part of what they compute."""
    made = []
    for path in map(Path, paths):
        ops = {op.name: op for op in pickle.loads((path.parent.parent / "ops.pickle").read_bytes())}
        made += fuzz_products.parts_of(ops[path.stem], random.Random(path.stem))
    return made


def make_pack(options, fuzzer, kind, backends):
    """The status: 0, or 1 where a spec was not built that should have been."""
    started, seed = time.monotonic(), options.seed
    fuzzer.kind = kind
    folder = fuzzer.build_folder(kind)
    if not folder:
        return 1
    out = Path(options.out or f"out/packs/{seed}").absolute()
    if options.again:
        specs = pickle.loads((Path(options.again) / "ops.pickle").read_bytes())
    else:
        specs = smaller_specs(options.shrink) if options.shrink else make_specs(options.pack, seed, backends)
    shutil.rmtree(out, ignore_errors=True)
    (out / "specs").mkdir(parents=True)
    failed = 0

    def fail(*what):
        nonlocal failed
        failed += 1
        fuzzer.failed(*what)

    ops = fuzz_build.build(folder, specs, ["out/bench"], fail, started + options.seconds)
    subprocess.run(["strip", "-o", str(out / "bench"), str(folder / "out" / "bench")], check=True)
    for op in ops:
        (out / "specs" / f"{op.name}.lua").write_text(op.lua)
    (out / "ops.pickle").write_bytes(pickle.dumps(ops))
    for name in ALONE:
        shutil.copy(fuzz_build.SOURCE / "tests" / name, out)
    about = {"seed": seed, "backends": backends, "ops": {op.name: op.dims if op.key in PRODUCTS else [] for op in ops}}
    (out / "pack.json").write_text(json.dumps(about))
    size, late = (out / "bench").stat().st_size, len(specs) - len(ops) - failed
    print(f"{out}: {len(ops)} specs, {fuzzer.counts['refused']} refused, {late} not built in time, "
          f"{fuzzer.found} findings; {size / 2**20:.1f} MiB, {time.monotonic() - started:.0f} s")
    if size > MOST_BYTES:
        print(f"the program has more than {MOST_BYTES >> 20} MiB: ask for fewer specs")
    return 1 if fuzzer.found or size > MOST_BYTES or not ops else 0
