#!/usr/bin/env python3
"""What only a machine with a GPU can show. On one, after `ninja`:

usage: on_gpu.py [--bench FILE] [--backends A,B] [--seconds N] [--pack DIR] [--seeds A,B] [--points N]
                 [--sample N] [--layers DIR] [--gpu N] [--kinds A,B]
                 check|draw|exported|faults|figures|foreign|fuzz|mutants|long...

  check    all CUDA and Vulkan kernels are right, in all precisions, at sizes that fill tiles and that do not
  draw     how fast the kernels that dispatch chooses are beside other libraries', at N shapes drawn from each seed and
           for each of the kinds of shapes.py: the geometric mean of the ratios, their 5th percentile and the ten worst;
           with `--backends cpu` those of a processor, on one thread
  exported files that `ninja export-OP` writes of some ops find nothing wrong with themselves
  faults   some of each template, or so many ops of a pack, run clean under compute-sanitizer, and under Vulkan's
           validation layer, which is looked for in DIR, where its Debian package was unpacked
  foreign  functions of PyTorch and Triton that somebody wrote (tests/with) have the verdicts that they are to have
  fuzz     all kernels of a pack of random specs, that `fuzz.py --pack N` made, are right with each of some seeds,
           at sizes of up to N points
  mutants  results of all kernels, made wrong in each of some ways, are called wrong
  figures  the times of runtime/README.md's tables, with those of PyTorch and cuBLAS in the same run
  long     sums of 2^20 to 2^30 terms, results of 2^27 to 2^31 elements, more than 65,535 blocks in a dimension are right

Each step of them has N seconds (500). Rows that are not right are shown; exit status 1 where there are some, where a
step took too long, or where a fault was found. Of several GPUs `fuzz` uses the one with the number that --gpu gives.
"""

import argparse
import ast
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fuzz_run
import shapes

STARTED = time.monotonic()
CHAINS = [f"batch={batch}xi={i}xh={h}xo={o}" for batch in (1, 17, 256, 4096) for i, h, o in ((64, 64, 16), (48, 100, 9))]
CHECKS = [
    ("*", ["--size", "100,70x255,37x1000"]),
    ("sum,argmax,column_*,*softmax*,*norm*,cross_entropy*", ["--size", "3x5001,2x40000,4099x33"]),
    ("*", ["--size", "1003,9x77", "--special", "nan,inf,zero,denormal"]),
    ("matmul*,linear*", ["--size", "1x1x1,67x129x35,1x300x70,300x1x257,512x384x640"]),
    ("mlp*", ["--size", ",".join(CHAINS)]),
]
EXPORTED = ["softmax", "gelu", "argmax", "layernorm", "matmul", "mlp", "attention_causal", "cumsum", "dropout"]
FAULTS = ["--op", "gelu,sum,softmax,layernorm_backward,matmul,linear_gelu,mlp,mlp_backward", "--dtype", "f32,f16"]
SMALL = ["--size", "1003,9x77,40x72x80,batch=70xi=64xh=72xo=16"]
FIGURES = [
    ["--op", "softmax,layernorm,layernorm_backward,cross_entropy", "--dtype", "f16", "--size", "4096x4096,16384x8192"],
    ["--op", "matmul", "--dtype", "bf16,f16", "--size", "1024x1024x1024,2048x2048x2048,4096x4096x4096,8192x8192x8192"],
    ["--op", "matmul", "--dtype", "f32", "--size", "1024x1024x1024,2048x2048x2048,4096x4096x4096"],
    ["--op", "matmul", "--dtype", "bf16", "--size", "8x8192x8192,1x8192x8192"],
    ["--op", "matmul_batched", "--dtype", "bf16", "--size", "16x512x512x512"],
    ["--op", "weighted_sum,weighted_sum_backward", "--dtype", "f32", "--size", "1024x2048,16384x8192"],
    ["--op", "mlp,mlp_backward", "--dtype", "f16"],
    ["--op", "mlp", "--dtype", "f16", "--batch-size", "65536"],
]
# 64 GiB of the GPU's memory and 110 GiB of the host's are enough for each.
LONG = [
    ["--op", "matmul,matmul_tn,matmul_nt", "--dtype", "all", "--size", "32x32x524288,1x1x4194304,3x70x1048577,70x3x300001"],
    ["--op", "matmul,matmul_tn,matmul_nt", "--dtype", "all", "--size", "1x1x2^28,9x8x2^24,130x140x4194304"],
    ["--op", "matmul*,linear*", "--dtype", "f32,f16,bf16", "--size", "40x5000000x3,5000000x40x3,1x70000000x2,70000000x1x2"],
    ["--op", "matmul,matmul_nt", "--dtype", "f16", "--size", "46341x46341x32,65537x32768x16"],
    ["--op", "matmul_batched", "--dtype", "f32,f16", "--size", "70000x9x10x11,70000x1x70x33,2200000x16x16x16"],
    ["--op", "linear*", "--dtype", "f32,f16", "--size", "1048577x64x48,64x48x1048577"],
    ["--op", "sum,max,argmax,argmin,norm_*,dot,mse", "--dtype", "f32,f16,bf16", "--size", "2^20,134217731,2^30"],
    ["--op", "sum,argmax,norm_l2", "--dtype", "f16", "--size", "2^31,2147483657"],
    ["--op", "max,argmin", "--dtype", "f16,bf16", "--size", "4294967301"],
    ["--op", "sum,argmax", "--dtype", "f64", "--size", "2^30"],
    ["--op", "add,gelu,dropout", "--dtype", "f16", "--size", "1073741827,2147483653"],
    ["--op", "quantise,dequantise", "--dtype", "f16", "--size", "2147483653"],
    ["--op", "exp,gelu_backward", "--dtype", "f32", "--size", "536870913,1073741825"],
    ["--op", "*softmax*,*norm,*norm_backward,cross_entropy*,row_*", "--dtype", "f32,f16", "--size", "70000x3,3x7000000"],
    ["--op", "softmax,layernorm,cross_entropy,row_argmax,row_sum", "--dtype", "f16", "--size", "3x70000000,70000000x3"],
    ["--op", "softmax,rmsnorm", "--dtype", "f16", "--size", "65536x32769,2147483659x1,1x2147483659"],
    ["--op", "column_*,batch_norm", "--dtype", "f32,f16", "--size", "4194305x65,70000000x5,5x70000000,1x134217731"],
    ["--op", "layernorm_backward,rmsnorm_backward", "--dtype", "f32,f16", "--size", "4194305x64,1048577x257"],
    ["--op", "weighted_sum*", "--dtype", "f32,f16", "--size", "4194305x65,33554433x8,3x30000001"],
    ["--op", "mlp,mlp_backward", "--dtype", "f32,f16", "--size", "batch=1048577xi=64xh=64xo=16,batch=4194305xi=8xh=16xo=3"],
    ["--op", "mlp,mlp_backward", "--dtype", "f32,f16", "--size", "batch=17xi=64xh=1048577xo=16"],
]


def ended(command, seconds):
    """A command that has ended; what takes longer is asked to end, and writes the rows that it has."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        try:
            _, error = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.terminate()
            try:
                child.communicate(timeout=30)
            finally:
                child.kill()
            raise
        return subprocess.CompletedProcess(command, child.returncode, None, error)


def run(asked, options, alone=False):
    """The rows of a run, and whether it ended well; alone: on a processor of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        command = [asked.bench, *options, "--json", str(path)]
        late = False
        try:
            done = fuzz_run.run_alone(command, asked.seconds) if alone else ended(command, asked.seconds)
        except subprocess.TimeoutExpired as found:
            print(f"not done within {found.timeout} s: {' '.join(command)}")
            late = True
        rows = json.loads(path.read_text())["benchmarks"] if path.exists() else []
    if late:
        return rows, False
    failed = [row for row in rows if row["status"] not in ("right", "skipped") and not row["peer"]]
    for row in failed:
        print(f"  {row['name']}: {row['status']}: {row['reason']}")
    none_runs = done.returncode == 3 and rows and all(row["status"] == "skipped" for row in rows)
    if done.returncode not in (0, 1) and not none_runs or done.returncode == 1 and not failed:
        print(f"status {done.returncode}: {' '.join(command)}\n{done.stderr.strip()}")
    return rows, done.returncode == 0 or none_runs


def ops_of(asked, patterns):
    return fuzz_run.ops_of(asked.bench, patterns)


def runs_of(asked, patterns, options):
    """Runs of some ops each, on one backend."""
    def run_ops(backend, ops):
        return run(asked, [*options, "--dtype", "all", "--backend", backend, "--op", ",".join(ops)], alone=True)

    return fuzz_run.at_once(run_ops, [(backend, ops) for ops in fuzz_run.together(ops_of(asked, patterns))
                                      for backend in asked.backends.split(",")])


def check(asked):
    well = True
    for patterns, options in CHECKS:
        runs = runs_of(asked, patterns, ["--check-only", *options])
        rows = [row for found, _ in runs for row in found]
        count = {status: sum(row["status"] == status for row in rows) for status in ("right", "skipped")}
        print(f"{patterns} {' '.join(options)}: {len(rows)} rows, {count['right']} right, {count['skipped']} skipped, "
              f"after {time.monotonic() - STARTED:.0f} s", flush=True)
        well = well and all(right for _, right in runs)
    return well


def exported(asked):
    """Each file of some ops and its test are a program, which is run alone."""
    out, well = Path(asked.bench).parent, True
    environment = dict(os.environ, EXPORT=f"--backends {asked.backends}")
    for op in EXPORTED:
        subprocess.run(["ninja", "-C", str(out.parent), f"export-{op}"], env=environment, stdout=subprocess.DEVNULL,
                       check=True)
        for test in sorted((out / "export").glob(f"{op}_*test.c")):
            program = str(test)[:-2]
            subprocess.run(["cc", "-O1", program[:-5] + ".c", str(test), "-lm", "-ldl", "-pthread", "-o", program],
                           check=True)
            done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=asked.seconds)
            print(done.stdout.rstrip(), flush=True)
            well = well and done.returncode == 0
    return well


def functions_of(path):
    """The functions of a module that are for a GPU, by their names, and two lists that it may have."""
    tree, names, lists = ast.parse(path.read_text()), [], {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and ".numpy()" not in ast.unparse(node):
            names.append(node.name)
        elif isinstance(node, ast.Assign) and node.targets[0].id in ("CHEATS", "SLOW"):
            lists[node.targets[0].id] = eval(ast.unparse(node.value), {})
    return names, lists.get("CHEATS", {}), lists.get("SLOW", [])


def foreign(asked):
    """Right ones are called so, cheats are not, and what hides its time has it."""
    least, ops, files = 900e3, ops_of(asked, "*"), Path(__file__).parent / "with"
    asked_for = []
    for path in (files / "others.py", files / "on_gpu.py"):
        names, cheats, slow = functions_of(path)
        for name in names:
            op = max((op for op in ops if name.startswith(op + "_")), key=len, default=None)
            if op:
                asked_for.append(("cuda", f"{path}:{name}", op, cheats.get(name, ["right"]), name in slow))

    def judge(backend, function, op, wanted, is_slow):
        size = "257x130x65" if op.startswith("matmul") else "300x1000"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.json"
            done = subprocess.run([asked.bench, "--op", op, "--backend", backend, "--fast", "--timeout", "60", "--size",
                                   size, "--with", function, "--json", str(path)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            rows = json.loads(path.read_text())["benchmarks"] if path.exists() else []
        found = [row for row in rows if row["foreign"]]
        said = ", ".join(sorted({row["verdict"] for row in found})) or f"status {done.returncode}: {done.stdout[-300:]}"
        well = bool(found) and all(row["verdict"] in wanted for row in found)
        if is_slow and well:
            well, said = all(row["real_time"] > least for row in found), f"{said}, {found[0]['real_time'] / 1e3:.0f} us"
        why = next((row["reason"] for row in found if row["reason"]), "")
        return well, f"{function.rpartition(':')[2]}: {said}{'' if well else ', NOT ' + ' or '.join(wanted)} {why}"

    told = fuzz_run.at_once(judge, asked_for)
    print(*(line for _, line in told), sep="\n", flush=True)
    return bool(told) and all(well for well, _ in told)


def long(asked):
    """A run at a time, of one size: operands take most of the memory."""
    well = True
    for options in LONG:
        for size in options[-1].split(","):
            rows, right = run(asked, ["--check-only", "--backend", asked.backends, *options[:-1], size])
            skipped = sorted({row["reason"] for row in rows if row["status"] == "skipped"})
            print(f"{' '.join(options[:-1])} {size}: {len(rows)} rows, {'well' if right else 'NOT WELL'}", *skipped, sep="\n    ",
                  flush=True)
            well = well and right
    return well


def faults_of(asked, backend):
    """The commands that a run comes after, by their names, each with the words of what it finds."""
    if backend == "cuda":
        common = ["compute-sanitizer", "--target-processes", "all", "--error-exitcode", "9",
                  "--report-api-errors", "no"]
        return {tool: ([*common, "--tool", tool], "=========    ")
                for tool in ("memcheck", "racecheck", "initcheck", "synccheck")}
    layers = [f"VK_LAYER_PATH={asked.layers}/usr/share/vulkan/explicit_layer.d",
              f"LD_LIBRARY_PATH={asked.layers}/usr/lib/x86_64-linux-gnu"] if asked.layers else []
    settings = ["VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation", "VK_LOADER_DEBUG=layer",
                "VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT"]
    return {"validation": (["env", *layers, *settings], "Validation Error|Validation Warning|SYNC-HAZARD")}


def faults(asked):
    """Kernels of each template, or of a pack, under what looks for faults of memory and of synchronisation."""
    chosen = FAULTS
    if asked.pack:
        ops = sorted(json.loads((Path(asked.pack) / "pack.json").read_text())["ops"])
        drawn = random.Random(asked.seeds).sample(ops, min(asked.sample, len(ops)))
        with_gradients = [op for op in ops_of(asked, "*") if op.partition("_backward")[0] in drawn]
        chosen = ["--op", ",".join(with_gradients), "--dtype", "all"]
    well = True
    for backend in asked.backends.split(","):
        for tool, (command, fault) in faults_of(asked, backend).items():
            command = [*command, asked.bench, "--in-process", "--rows", "--backend", backend, "--check-only", *chosen,
                       *(["--size", "3x77"] if asked.pack else SMALL)]
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                      timeout=asked.seconds)
            except (subprocess.TimeoutExpired, FileNotFoundError) as error:
                print(f"{backend} {tool}: {error}")
                well = False
                continue
            ran = re.search(r"rows: [1-9]\d* right|[1-9]\d* right", done.stdout) and (
                tool != "validation" or re.search(r"[Ii]nsert.*VK_LAYER_KHRONOS_validation", done.stdout))
            found = [line for line in done.stdout.splitlines() if re.search(fault, line)]
            clean = ran and not found and done.returncode in (0, 1)
            words = "clean" if clean else "FAULTS" if ran else "NOT RUN: no row was right, or the tool is not there"
            print(f"{backend} {tool}: {words}", flush=True)
            if not clean:
                print("\n".join(found[:40]) or done.stdout[-3000:])
            well = well and bool(clean)
    return well


def mutants(asked):
    """Results of all kernels, made wrong in each of some ways: the bench is to call each of them wrong."""
    runs = runs_of(asked, "*", ["--mutants", "--rows", "--size", "1"])
    rows = [row for found, _ in runs for row in found]
    tried = sum(int(row["checked"].split()[0]) for row in rows if (row["checked"] or "").endswith("mutants"))
    states = ("right", "unproved", "wrong", "skipped")
    counts = ", ".join(f"{sum(row['status'] == state for row in rows)} {state}" for state in states)
    print(f"mutants: {tried} of {len(rows)} rows; {counts}", flush=True)
    return tried > 0 and all(right for _, right in runs)


def best(rows, **wanted):
    """The shortest time in us of the right rows that have these values; infinite where there is none. Variants that round
    products are held against nobody."""
    return min((row["real_time"] / 1e3 for row in rows if row["status"] == "right" and row["real_time"]
                and row["params"].get("products", "exact") == "exact"
                and all(row[key] == value for key, value in wanted.items())), default=float("inf"))


def figures(asked):
    well = True
    backends = asked.backends.split(",")
    columns = " ".join(f"{column:>10}" for column in [*backends, "peer", "ratio"])
    print(f"{'op':22} {'type':5} {'size':>26} {columns}  (us, the best of each)")
    for options in FIGURES:
        rows, right = run(asked, ["--fast", "--backend", asked.backends, "--peers", "torch,cublas", *options])
        for op, dtype, size in dict.fromkeys((row["op"], row["dtype"], row["size"]) for row in rows):
            same = {"op": op, "dtype": dtype, "size": size}
            ours = [best(rows, **same, backend=backend, peer=False) for backend in backends]
            other = best(rows, **same, peer=True)
            times = " ".join(f"{time:10.2f}" for time in [*ours, other, other / min(ours)])
            print(f"{op:22} {dtype:5} {size:>26} {times}", flush=True)
        well = well and right
    return well


def compared(rows):
    """Of each op, type and size the dispatched kernel beside the best peer: the ratio, above 1 where ours is faster, that
    of our best kernel, and a line. Products that round factors are held against peers' that do."""
    found = {}
    for row in rows:
        if row["status"] == "right" and row["real_time"]:
            key = row["op"], row["dtype"], row["size"], bool(row["rounds_factors"])
            found.setdefault(key, []).append(row)
    for (op, dtype, size, rounds), same in found.items():
        ours = [row for row in same if not row["peer"]]
        peers = [row for row in same if row["peer"]]
        chosen = next((row for row in ours if row["dispatched"]), None) or min(ours, key=lambda row: row["real_time"],
                                                                              default=None)
        if chosen and peers:
            peer = min(peers, key=lambda row: row["real_time"])
            fastest = min(row["real_time"] for row in ours)
            line = (f"{op} {dtype} {size}: {chosen['real_time'] / 1e3:.2f} us, {peer['backend']} "
                    f"{peer['real_time'] / 1e3:.2f}, ours by the best {fastest / 1e3:.2f}; {chosen['variant'].split('__')[1]}, "
                    f"{100 * (chosen['ceiling_share'] or 0):.0f} % of {chosen['ceiling']}")
            yield (dtype, rounds), peer["real_time"] / chosen["real_time"], fastest / chosen["real_time"], line


def draw(asked):
    well = True
    kinds = shapes.CPU_KINDS if asked.backends == "cpu" else shapes.KINDS
    for kind in asked.kinds.split(",") if asked.kinds else kinds:
        if kind not in kinds:
            sys.exit(f"on_gpu.py: no kind {kind} of {asked.backends}; there are {', '.join(kinds)}")
        ops, dtypes, peers = kinds[kind]
        drawn = [pair for seed in asked.seeds.split(",") for pair in shapes.draw(seed, asked.sample, kind)]
        rows = []
        for op in ops:
            sizes = ",".join(size for name, size in drawn if name == op)
            more, right = run(asked, ["--fast", "--backend", asked.backends, "--peers", peers, "--op", op, "--dtype", dtypes,
                                      "--size", sizes]) if sizes else ([], True)
            rows, well = rows + more, well and right
        by_type = {}
        for key, *rest in compared(rows):
            by_type.setdefault(key, []).append(rest)
        for (dtype, rounds), found in by_type.items():
            found.sort()
            ratios = [ratio for ratio, _, _ in found]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            near = sum(choice > 0.97 for _, choice, _ in found) / len(found)
            print(f"{kind} {dtype}{' rounded' if rounds else ''}: {len(found)} shapes, mean {mean:.2f}, 5th percentile "
                  f"{ratios[len(ratios) // 20]:.2f}; the choice is within 3 % of our best in {near:.0%}", flush=True)
            for ratio, _, line in found[:10]:
                print(f"  {ratio:.2f} {line}")
            if os.environ.get("OUT"):
                text = "".join(f"{ratio:.3f} {choice:.3f} {line}\n" for ratio, choice, line in found)
                (Path(os.environ["OUT"]) / f"{kind}-{dtype}{'-rounded' if rounds else ''}.txt").write_text(text)
    return well


def main():
    parts = {"check": check, "draw": draw, "exported": exported, "faults": faults, "figures": figures,
             "foreign": foreign, "fuzz": fuzz_run.fuzz, "mutants": mutants, "long": long}
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("--bench", default="out/bench")
    parser.add_argument("--backends", default="cuda,vulkan")
    parser.add_argument("--seconds", type=int, default=500)
    parser.add_argument("--pack", help="in place of --bench")
    parser.add_argument("--points", type=int, default=1 << 28)
    parser.add_argument("--sample", type=int, default=24)
    parser.add_argument("--kinds")
    parser.add_argument("--gpu", type=int)
    parser.add_argument("--layers", help="where the Debian package vulkan-validationlayers is unpacked")
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("parts", nargs="+", choices=parts)
    asked = parser.parse_args()
    asked.bench = os.path.abspath(Path(asked.pack) / "bench" if asked.pack else asked.bench)
    sys.exit(0 if all([parts[part](asked) for part in asked.parts]) else 1)


if __name__ == "__main__":
    main()
