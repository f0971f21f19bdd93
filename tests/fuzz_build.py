"""Source trees whose specs are the fuzzer's, and what is built of them."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

SOURCE = Path(os.environ.get("LATHE_SRC", Path(__file__).resolve().parent.parent))

# What a random spec may be refused for, rightly.
REFUSALS = [
    r"expected what varies over some axis",
    r"expected axes out of those of its argument",
    r"nothing of what '.*' reads has a derivative",
    r"at: a place varies over .* which an extreme that is read there is over", r"at: the index '.*' is read at the point",
    r"backward: at\(\.\.\.\) (along an axis|times what an index|whose place varies over an axis)",
    r"backward\.reads: the gradient of '.*' has no use for",
    r"expected at most 24 operands",
    r"expected at most 24 reductions",
    # Of a chain that fuzz_products.py has too few layers for, or whose gradient has other products besides.
    r"expected layers whose matrices are operands", r"expected layers of a batch's rows",
    r"; the template \w+ has for",  # not the parameters of the template that fuzz_ops.py takes it for
]


def forward_of(name):
    """The name of the op that an op belongs to: its own, or the one whose gradient it computes."""
    return name.partition("_backward")[0]


def configure(folder, options, environment):
    """Makes a build folder of a source tree without specs. What is wrong, or nothing."""
    specs = folder / "tree" / "specs"
    specs.mkdir(parents=True, exist_ok=True)
    for name in ("configure", "build.ninja.in", "gen", "templates", "runtime", "tests"):
        link = folder / "tree" / name
        if not link.is_symlink():
            link.symlink_to(SOURCE / name)
    if not (specs / "include").is_symlink():
        (specs / "include").symlink_to(SOURCE / "specs" / "include")
    tools = Path("out", "tools").absolute()
    (folder / "out").mkdir(exist_ok=True)
    if tools.is_dir() and not (folder / "out" / "tools").exists():
        (folder / "out" / "tools").symlink_to(tools)
    if os.environ.get("LATHE_LAUNCHER"):
        options = [*options, f"--launcher={os.environ['LATHE_LAUNCHER']}"]
    done = subprocess.run(["tree/configure", *options], cwd=folder, env=os.environ | environment, capture_output=True,
                          text=True)
    return (done.stderr or done.stdout).strip().splitlines()[-1] if done.returncode else ""


def ninja(folder, targets, ends):
    """The status of a build and its output; no status where the time that it should end at came first."""
    with subprocess.Popen(["ninja", "-k", "0", *targets], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        try:
            output, _ = process.communicate(timeout=ends and max(1, ends - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.communicate()
            return None, ""
    return process.returncode, output


def build(folder, ops, targets, failed, ends=None):
    """Builds what can be built of the ops and returns it. failed: is told of each other, with the generator's reason or
    None, and all output; it is an error where it is none's. ends: when ops that are not built by then are left out."""
    ops = {op.name: op for op in ops}
    specs = folder / "tree" / "specs"
    for old in specs.glob("*.lua"):
        old.unlink()
    for op in ops.values():
        (specs / f"{op.name}.lua").write_text(op.lua)
    while ops:
        status, output = ninja(folder, targets, ends)
        if status == 0:
            return list(ops.values())
        if status is None:
            _, output = ninja(folder, ["-n", *targets], None)
            late = re.findall(r"] (?:NVCC|GLSL|EXPAND|CC) (?:out/gen/)?(\w+)", output)
            for name in {forward_of(name) for name in late} & ops.keys():
                (specs / f"{name}.lua").unlink()
                del ops[name]
            ends = None
            continue
        bad = {}
        for name, reason in re.findall(r"^(?:lathe-gen: )?specs/(\w+)\.lua:\d+: (.*)$", output, re.M):
            bad.setdefault(name, reason)
        for name in re.findall(r"out/gen/(\w+?)/", "\n".join(re.findall(r"^FAILED: (.*)$", output, re.M))):
            bad.setdefault(forward_of(name), None)
        bad = {name: reason for name, reason in bad.items() if name in ops}
        if not bad:
            raise RuntimeError(f"a build failed for no op: {output[-2000:]}")
        for name, reason in bad.items():
            failed(ops.pop(name), reason, output)
            (specs / f"{name}.lua").unlink()
    return []
