"""Packs of random specs: a bench program with their kernels for CUDA and Vulkan, to be run where there is a GPU."""

import json
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import fuzz_build
import fuzz_products

BACKENDS = ["cuda", "vulkan"]
PRODUCTS = ("contract", "chain")  # what asks for sizes by the names of its axes
MOST_BYTES = 40 << 20  # of the program


def make_specs(count, seed, backends):
    rng, made = random.Random(f"pack:{seed}"), []
    while len(made) < count:
        op = fuzz_products.make_any(rng, f"p{seed}_{len(made)}", backends)
        made += [op] if op else []
    return made


def make_pack(options):
    """The status: 0, or 1 where a spec was not built that should have been."""
    started, seed, found = time.monotonic(), options.seed, []
    out = Path(options.out or f"out/packs/{seed}").absolute()
    folder = Path(options.folder).absolute() / "pack"
    settings = [f"--disable-{b}" for b in fuzz_build.CPU] + [f"--enable-{b}" for b in BACKENDS]
    wrong = fuzz_build.configure(folder, [*settings, "--cuda-arch=sm_90a", *options.configure], {"CFLAGS": "-O1"})
    if wrong:
        print(f"no pack: {wrong}")
        return 1
    refused = 0

    def failed(op, reason, output):
        nonlocal refused
        refused += 1
        if not reason or not any(re.search(allowed, reason) for allowed in fuzz_build.REFUSALS):
            found.append(op.name)
            (out / "found").mkdir(parents=True, exist_ok=True)
            (out / "found" / f"{op.name}.lua").write_text(op.lua)
            (out / "found" / f"{op.name}.txt").write_text(output)
            print(f"FOUND {op.name}: {reason or 'is not built'}; {out}/found/{op.name}.lua", flush=True)

    shutil.rmtree(out, ignore_errors=True)
    (out / "specs").mkdir(parents=True)
    ops = fuzz_build.build(folder, make_specs(options.pack, seed, BACKENDS), ["out/bench"], failed,
                           started + options.seconds)
    made = len(ops) + refused
    subprocess.run(["strip", "-o", str(out / "bench"), str(folder / "out" / "bench")], check=True)
    for op in ops:
        (out / "specs" / f"{op.name}.lua").write_text(op.lua)
    size, seconds = (out / "bench").stat().st_size, time.monotonic() - started
    for name in ("on_gpu.py", "fuzz_run.py"):  # so that a pack runs by itself
        shutil.copy(fuzz_build.SOURCE / "tests" / name, out)
    (out / "pack.json").write_text(json.dumps({"seed": seed, "ops": {op.name: op.dims if op.key in PRODUCTS else [] for op in ops}}))
    print(f"{out}: {len(ops)} specs, {refused} refused, {options.pack - made} not built in time, {len(found)} findings; {size / 2**20:.1f} MiB, {seconds:.0f} s")
    if size > MOST_BYTES:
        print(f"the program has more than {MOST_BYTES >> 20} MiB: ask for fewer specs")
    return 1 if found or size > MOST_BYTES else 0
