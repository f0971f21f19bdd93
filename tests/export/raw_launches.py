#!/usr/bin/env python3
"""Says where OP.json tells of other launches than the exported C makes: raw_launches.py KIND OP RAW CODE COUNTED

OP.json is in the folder RAW, OP_KIND.c and .h are in CODE, and for CUDA the counting driver is in COUNTED. Expressions are
evaluated here by the rules that the file itself gives (about).
"""
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

kind, op, raw, code, counted = sys.argv[1:6]
described = json.load(open(os.path.join(raw, op + ".json")))
dtype, = described["kinds"][kind]
of_type = described["kinds"][kind][dtype]
variants = of_type["variants"]
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i64": 8}
LIMITS = {
    "cuda": {"machine": 100, "subgroup": 32, "group": 1024, "grid": 0x7fffffff},
    "vulkan": {"machine": 32, "subgroup": 32, "group": 1024, "grid": 65535, "shared": 49152, "cluster": 0, "least": 101376},
}[kind]


def value_of(expression, known):
    """The value of an expression: C's quotients are those of Python where nothing is below 0."""
    text = str(expression).replace("&&", " and ").replace("||", " or ").replace("if(", "choose(").replace("/", "//")
    return int(eval(text, {"min": min, "max": max, "up": lambda a, b: -(-a // b),
                           "choose": lambda c, a, b: a if c else b}, known))


def add_lets(lets, known):
    for name, expression in lets:
        known[name] = value_of(expression, known)


def lines_of(launch, known):
    """What the driver prints for a launch, or None where it has no blocks."""
    grid, block = ([value_of(e, known) for e in launch[what]] for what in ("grid", "block"))
    if 0 in grid:
        return None
    if kind == "cuda":
        kernel = launch["kernels"][str(value_of(launch["kernel"], known))]
        return kernel, grid + block + [value_of(launch.get("cluster", 1), known), value_of(launch["shared"], known)]
    return launch["file"], grid + [value_of(e, known) & 0xffffffff for e in launch["constants"][:5]]


def flat(steps, known):
    """The cuts of each step, those that choices bring among them."""
    for step in steps:
        if "cuts" in step:
            yield step["cuts"]
        else:
            chosen = next((one for one in step["choices"] if value_of(one["when"], known)), {"steps": []})
            yield from flat(chosen["steps"], known)


def take(cuts, known):
    """The cut of a step that is taken, with what expressions of it know; None where there is none."""
    best = None
    for cut in cuts:
        if best and "rate" not in cut:
            break
        if not value_of(cut["when"], known):
            continue
        most = value_of(cut["most"], known)
        if "rate" not in cut:
            best = (0, most, cut)
            break
        tiles, slices, fewest, terms = (value_of(cut[what], known) for what in ("tiles", "slices", "fewest", "k"))
        rest = value_of(cut.get("rest", 0), known)
        rate, wait = (cut["rest_" + what] if rest else cut[what] for what in ("rate", "wait"))
        for shares in range(fewest, most + 1):
            each = -(-tiles * shares // known["machine"])
            waves, full = -(-each // cut["at_once"]), min(-(-slices // shares) * cut["terms"], terms)
            clocks = max(each * (cut["tile"] * full / rate + cut["tile"] / 4.3),
                         waves * -(-full // cut["slice"]) * wait) + waves * cut["start"]
            blocks = value_of(cut["cluster"], dict(known, shares=shares)) if "joins" in cut else 1
            if blocks > 1:
                clocks += 2950 + cut["left"] / 16
            if shares > blocks:
                clocks += 1000 + cut["left"] * 8 / min(cut["threads"], 128) / blocks * (shares // blocks + 1)
            if not best or clocks < best[0]:
                best = (clocks, shares, cut)
    if not best:
        return None
    known = dict(known, shares=best[1])
    return (best[2], known) if value_of(best[2]["fits"], known) else None


def is_for(calls, dims, size):
    """Whether a call of so many bytes is one of those."""
    points = [dims[i] for i in calls.get("dims", [])]
    return calls["from"] <= size < calls.get("to", float("inf")) and all(
        n <= calls.get("most", n) and n % calls.get("multiple", 1) == 0 for n in points)


def launches_of(limits, dims, addresses):
    """The variant's name with its workspace, and the lines that the driver prints for a call."""
    size = 0
    for operand in described["operands"]:
        count = BYTES[operand["type"] or dtype]
        for dim in operand["dims"]:
            count *= dims[described["dims"].index(dim)]
        size += count
    able = []
    for v in variants:
        known = dict(limits, dim=dims, address=addresses)
        add_lets(v["let"], known)
        if ("SM90A" not in v["needs"] or limits.get("is_90")) and value_of(v.get("fits", 1), known):
            able.append((v, known))
    v, known = next(((v, k) for v, k in able if any(is_for(calls, dims, size) for calls in v["prefer"])), able[0])
    name = "%s %d" % (v["name"], value_of(v["workspace"], known))
    if "steps" in v:
        launches = [take(cuts, known) for cuts in flat(v["steps"], known)]
        return name, [] if None in launches else [lines_of(*launch) for launch in launches if lines_of(*launch)]
    for way in v["ways"]:
        if not value_of(way["when"], known):
            continue
        if way.get("none"):
            return name, []
        inner = dict(known)
        add_lets(way["let"], inner)
        if "fits" in way and not value_of(way["fits"], inner):
            continue
        return name, [line for line in [lines_of(launch, inner) for launch in way["launches"]] if line]
    return name, []


def calls():
    draw = random.Random(7)
    count = len(described["dims"])
    for _ in range(150):
        longest = draw.choice([4, 40, 400, 5000, 200000])
        dims = [draw.randint(1, longest) for _ in range(count)]
        if count > 1 and draw.random() < 0.5:
            dims[0] = draw.choice([1, 2, 7, 60, 250, 3000])
        if draw.random() < 0.5:
            dims[-1] = dims[-1] * draw.choice([1, 4, 8, 32])
        while math.prod(dims) > 1 << 36:
            dims[dims.index(max(dims))] //= 8
        start = [(1 << 30) * (o + 1) for o in range(len(described["operands"]))]
        shift = draw.choice([0, 0, 4, None])
        yield dims, [a + (shift if shift is not None else 4 * draw.randint(0, 3)) for a in start]


header = open(os.path.join(code, f"{op}_{kind}.h")).read()
has_workspace = f"{op}_{dtype}_{kind}_workspace(" in header
in_memory = kind == "vulkan" and of_type["arguments"]["bytes"] > 128
made = list(calls())
scalars = [str(s["example"]) for s in described["scalars"]]
lines = [f'#include "{op}_{kind}.h"', "#include <stdio.h>"]
if kind == "cuda":
    lines += ["#include <dlfcn.h>", "int main(void) {", "  void *context;",
              '  int (*create)(void **, unsigned, int) = (int (*)(void **, unsigned, int))dlsym(dlopen("libcuda.so.1", RTLD_NOW), '
              '"cuCtxCreate_v2");', "  create(&context, 0, 0);"]
else:
    lines += [f'#include "{os.path.dirname(os.path.abspath(__file__))}/recording.h"', "int main(void) {",
              f"  {op}_vulkan *on;",
              "  VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, "
              ".bufferDeviceAddress = 1, .shaderFloat16 = 1, .storageBuffer8BitAccess = 1};",
              "  VkPhysicalDeviceVulkan11Features v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, "
              ".pNext = &v12, .storageBuffer16BitAccess = 1};",
              "  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11, "
              ".features = {.shaderInt64 = 1, .shaderFloat64 = 1}};",
              f"  {op}_vulkan_device device = {{0, of_instance, 0, 0, &features, 0}};",
              f"  {op}_vulkan_make(&on, &device);"]
for dims, addresses in made:
    sizes = ", ".join(f"{d}u" for d in dims)
    if kind == "cuda":
        given = ", ".join([f"(void *){a}u" for a in addresses] + scalars + [sizes, "NULL"] + ["(void *)64"] * has_workspace)
        name, room = f'{op}_{dtype}_cuda_variant({sizes})', f"{op}_{dtype}_cuda_workspace({sizes})"
        call = f"{op}_{dtype}_cuda({given})"
    else:
        given = ", ".join(["on", "NULL"] + [f"{a}u" for a in addresses] + scalars + [sizes] + ["NULL, 0, 64"] * in_memory
                          + ["64"] * has_workspace)
        name, room = f'{op}_{dtype}_vulkan_variant(on, {sizes})', f"{op}_{dtype}_vulkan_workspace(on, {sizes})"
        call = f"{op}_{dtype}_vulkan_record({given})"
    room = room if has_workspace else "(size_t)0"
    lines += [f'  printf("call %s %zu %d\\n", {name}, {room}, {call});']
lines += ["  return 0;", "}"]
wrong = 0
with tempfile.TemporaryDirectory() as folder:
    source, program = os.path.join(folder, "calls.c"), os.path.join(folder, "calls")
    open(source, "w").write("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-O0", "-w", "-I" + code, source, os.path.join(code, f"{op}_{kind}.c"), "-lm", "-ldl", "-o",
                    program], check=True)
    for is_90 in [False, True] if kind == "cuda" else [False]:
        environment = dict(os.environ, COUNTED_LOG="1", LD_LIBRARY_PATH=counted)
        if is_90:
            environment["COUNTED_90"] = "1"
        told = subprocess.run([program], env=environment, check=True, capture_output=True, text=True).stdout.splitlines()
        limits = dict(LIMITS)
        if kind == "cuda":
            limits.update(shared=(227 if is_90 else 163) << 10, cluster=8 if is_90 else 1, is_90=is_90, maps=1,
                          architecture=90 if is_90 else 80, least=232448 if is_90 else 101376)
        found = []
        for dims, addresses in made:
            while not told[0].startswith("call "):
                words = told.pop(0).split()
                found.append((words[0], [int(w) for w in words[1:]]))
            _, variant, room, status = told.pop(0).split()
            variant += " " + room
            name, expected = launches_of(limits, dims, addresses)
            if kind == "vulkan":  # modes are added to the modules
                found = [(None, n) for _, n in found if n[0] > 0]
                expected = [(None, n) for _, n in expected]
            is_right = name == variant and found == expected and (int(status) == 0) == bool(expected)
            if not is_right and wrong < 3:
                print(f"{op} {dims} {addresses}: told {name} {expected}, made {variant} {found} status {status}")
            wrong += not is_right
            found = []
print(f"{len(made)} calls of {op} on {kind}: {wrong} told wrong")
sys.exit(wrong > 0)
