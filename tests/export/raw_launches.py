#!/usr/bin/env python3
"""Says where OP.json tells of other launches than the exported C makes: raw_launches.py KIND OP RAW CODE COUNTED

OP.json is in the folder RAW, OP_KIND.c and .h are in CODE, and for CUDA the counting driver is in COUNTED. Expressions are
evaluated here by the rules that the file itself gives (about).
"""
import json
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
    "vulkan": {"machine": 32, "subgroup": 32, "group": 1024, "grid": 65535, "shared": 49152, "cluster": 0},
}[kind]


def value_of(expression, known):
    """The value of an expression: C's quotients are those of Python where nothing is below 0."""
    text = expression.replace("&&", " and ").replace("if(", "choose(").replace("/", "//")
    return int(eval(text, {"min": min, "max": max, "up": lambda a, b: -(-a // b),
                           "choose": lambda c, a, b: a if c else b}, known))


def add_lets(lets, known):
    for name, expression in lets:
        known[name] = value_of(expression, known)


def launches_of(limits, dims, addresses):
    """The variant's name with its workspace, and the lines that the driver prints for a call."""
    size = 0
    for operand in described["operands"]:
        count = BYTES[operand["type"] or dtype]
        for dim in operand["dims"]:
            count *= dims[described["dims"].index(dim)]
        size += count
    able = [v for v in variants if "SM90A" not in v["needs"] or limits.get("is_90")]
    v = next((v for v in able if v["from"] <= size < v.get("to", float("inf"))), able[0])
    known = dict(limits, dim=dims, address=addresses)
    add_lets(v["let"], known)
    name = "%s %d" % (v["name"], value_of(v["workspace"], known))
    for way in v["ways"]:
        if not value_of(way["when"], known):
            continue
        if way.get("none"):
            return name, []
        inner = dict(known)
        add_lets(way["let"], inner)
        if "fits" in way and not value_of(way["fits"], inner):
            continue
        lines = []
        for launch in way["launches"]:
            grid = [value_of(e, inner) for e in launch["grid"]]
            block = [value_of(e, inner) for e in launch["block"]]
            if 0 in grid:
                continue
            if kind == "cuda":
                kernel = launch["kernels"][str(value_of(launch["kernel"], inner))]
                numbers = grid + block + [launch.get("cluster", 0) or 1, launch["shared"]]
            else:
                kernel = launch["file"]
                numbers = grid + [value_of(e, inner) & 0xffffffff for e in launch["constants"][:5]]
            lines.append((kernel, numbers))
        return name, lines
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
        start = [(1 << 30) * (o + 1) for o in range(len(described["operands"]))]
        shift = draw.choice([0, 0, 4, None])
        yield dims, [a + (shift if shift is not None else 4 * draw.randint(0, 3)) for a in start]


header = open(os.path.join(code, f"{op}_{kind}.h")).read()
has_workspace = f"{op}_{dtype}_{kind}_workspace(" in header
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
        given = ", ".join(["on", "NULL"] + [f"{a}u" for a in addresses] + scalars + [sizes] + ["64"] * has_workspace)
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
            limits.update(shared=(227 if is_90 else 163) << 10, cluster=8 if is_90 else 1, is_90=is_90)
        found = []
        for dims, addresses in made:
            while not told[0].startswith("call "):
                words = told.pop(0).split()
                found.append((words[0], [int(w) for w in words[1:]]))
            _, variant, room, status = told.pop(0).split()
            variant += " " + room
            name, expected = launches_of(limits, dims, addresses)
            if kind == "vulkan":  # modes are added to the modules
                found = [(None, n) for _, n in found]
                expected = [(None, n) for _, n in expected]
            is_right = name == variant and found == expected and (int(status) == 0) == bool(expected)
            if not is_right and wrong < 3:
                print(f"{op} {dims} {addresses}: told {name} {expected}, made {variant} {found} status {status}")
            wrong += not is_right
            found = []
print(f"{len(made)} calls of {op} on {kind}: {wrong} told wrong")
sys.exit(wrong > 0)
