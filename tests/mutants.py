"""Kernels with one line changed, and programs that are linked with them: for mutate.py and the fuzzer."""

import dataclasses
import functools
import json
import os
import re
import subprocess
import threading
from pathlib import Path

# What an operator, or a part of an intrinsic's name, is exchanged for.
OPERATORS = {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / ", " << ": " >> ", " >> ": " << ",
             " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ",
             " || ": " && ", " & ": " | ", " | ": " & ", " += ": " -= ", " -= ": " += "}
NAMES = {"_add_": "_sub_", "_sub_": "_add_", "_mul_": "_add_", "_div_": "_mul_", "_max_": "_min_", "_min_": "_max_",
         "_fmadd_": "_fmsub_", "_fnmadd_": "_fmadd_", "_and_": "_or_", "_or_": "_and_", "unpacklo": "unpackhi",
         "unpackhi": "unpacklo", "_CMP_GT_": "_CMP_GE_", "_CMP_LT_": "_CMP_LE_", "_CMP_GE_": "_CMP_GT_",
         "_CMP_LE_": "_CMP_LT_", "_cmpgt_": "_cmpeq_", "_cmplt_": "_cmple_", "max(": "min(", "min(": "max(",
         "fmaxf(": "fminf(", "fminf(": "fmaxf(", "true": "false", "false": "true"}
TYPE = r"(?:unsigned |struct )?[A-Za-z_]\w*"
DECLARED = re.compile(rf"\b(?!return|else|goto|case|const)({TYPE}) (\*?)(?:const )?(?:restrict |__restrict__ )?(\w+)"
                      r"(?: =|;|,|\)|\[)")
STATEMENT = re.compile(r"\s+(?:\*?\(?[\w.>\-]+\)?(?:\[[^=]*\])?(?:[.>\-]\w+)* (?:[+*/|&^-]|<<|>>)?= .*"
                       r"|(?!return)\w+(?:\+\+|--)|(?!return|for|while|if|do)[\w.]+\(.*\));$")
NUMBER = re.compile(r"(?<![\w.])(\d+)(\.\d+(?:e[+-]?\d+)?)?(?![\w.]*\.)([uUlLf]*)(?!\w)")
INCLUDE = re.compile(r'#include "([\w.]+)"$')


@dataclasses.dataclass(frozen=True)
class Change:
    line: int  # counted from 0
    place: str  # the template's file and line, or the kernel's own within a function that is made of a graph
    function: str
    kind: str
    old: str
    new: str

    def __str__(self):
        return f"{self.place}: {self.function}: '{self.old.strip()}' as '{self.new.strip()}'"


def inlined(path, templates, known=None, shown=None):
    """The lines of a kernel's file, with headers out of folders of templates in place of their names."""
    known = set() if known is None else known
    shown = shown or path
    lines = []
    for number, line in enumerate(Path(path).read_text().split("\n"), 1):
        name = INCLUDE.match(line)
        header = name and next((f / name[1] for f in templates if (f / name[1]).exists()), None)
        if not header:
            lines += [line] if not line.startswith("#pragma once") else []
        elif header not in known:
            known.add(header)
            there = f"templates/{header.parent.name}/{name[1]}"
            lines += [f'#line 1 "{there}"', *inlined(header, templates, known, there),
                      f'#line {number + 1} "{shown}"']
    return lines


def owners(lines):
    """For each line the function that it is a part of, or ""."""
    function, found = "", []
    for number, line in enumerate(lines):
        name = re.match(r"(?!typedef|extern)[A-Za-z].*?\b(\w+)\(", line)
        if name:
            ends = next((text for text in lines[number:] if re.search(r"[;{}]\s*$", text)), ";")
            function = "" if ends.rstrip().endswith(";") else name[1]
        found.append(function)
        if line.startswith("}") or function and not line.startswith(" ") and line.endswith("}"):
            function = ""
    return found


def called(lines, functions):
    """The functions that are part of a kernel: those that others see, and what these call or have tables of."""
    names, static = {"": set()}, set()
    for line, function in zip(lines, functions):
        if function not in names and line.startswith("static"):
            static.add(function)
        names.setdefault(function, set()).update(set(re.findall(r"\w+", line)) - {function})
    found, left = set(), ["", *names.keys() - static]
    while left:
        name = left.pop()
        if name in names and name not in found:
            found.add(name)
            left += names[name]
    return found - {""}


def changes(lines):
    """All changes of one line of a kernel's text."""
    place, at, before, declared, comment, found = "", 0, "", {}, False, []
    functions = owners(lines)
    parts = called(lines, functions)
    for number, (line, function) in enumerate(zip(lines, functions)):
        says = re.match(r'#line (\d+) "([^"]+)"', line)
        if says:
            place, at = re.sub(r".*\b(?=templates/)", "", says[2]), int(says[1]) - 1
            continue
        at += 1
        comment = comment or "/*" in line
        inside = comment
        comment = comment and "*/" not in line
        if function != before:
            before, declared = function, {}
        for kind, star, name in DECLARED.findall(line):
            declared.setdefault(kind + star, {})[name] = None
        if function not in parts or inside and re.match(r"\s*(/\*|\*|[A-Za-z])", line) or not re.match(r"\s", line) or \
                line.strip().startswith(("//", "#", "(void)")):
            continue
        code = re.sub(r"\s*/\*.*?\*/|\s*//.*", "", line)
        found += [Change(number, f"{place}:{at}", function, kind, line, new) for kind, new in of_line(code, declared)]
    return found


def of_line(line, declared):
    """The kind of each change of a line, and the line as it would be."""
    for table, kind in ((OPERATORS, "operator"), (NAMES, "name")):
        for old, new in table.items():
            for at in [m.start() for m in re.finditer(re.escape(old), line)]:
                yield kind, line[:at] + new + line[at + len(old):]
    for m in NUMBER.finditer(line):
        if m[2]:
            yield "constant", f"{line[:m.start()]}{float(m[1] + m[2]) + 1}{m[3]}{line[m.end():]}"
        else:
            for value in {int(m[1]) + 1, max(int(m[1]) - 1, 0)} - {int(m[1])}:
                yield "constant", f"{line[:m.start(1)]}{value}{line[m.end(1):]}"
    for m in re.finditer(r"\w\[([^\]\[]+)\](?! = \{)", line):
        yield "index", line[:m.end(1)] + " + 1" + line[m.end(1):]
    if STATEMENT.match(line):
        yield "deleted", re.match(r"\s*", line)[0] + ";"
    m = re.match(r"\s*(?:\} else )?if \(", line)
    if m and line.endswith((")", ") {")):
        end = line.rindex(")")
        for value in (f"!({line[m.end():end]})", "false"):
            yield "condition", line[:m.end()] + value + line[end:]
    m = re.match(r"\s*for \([^;]*; [^;<]* < ", line)
    if m:
        yield "ended early", line[:m.end()] + "-1 + " + line[m.end():]
    right = re.search(rf"{TYPE} \*?\w+ = ", line)
    for m in re.finditer(r"(?<![\w.>])[A-Za-z_]\w*(?![\w(])", line[right.end() if right else 0:]):
        start, end = (x + (right.end() if right else 0) for x in m.span())
        for names in declared.values():
            if m[0] in names:
                for other in [name for name in list(names)[-6:] if name != m[0]]:
                    new = line[:start] + other + line[end:]
                    target = re.search(r"(\w+) = ", new)  # that is no value for itself
                    if not (right and re.search(rf"\b{target[1]}\b", new[target.end():])):
                        yield "variable", new


class Failed(Exception):
    """What is not built, and why."""


class Build:
    """A build folder, of which copies with other kernels are made, by its own commands."""

    def __init__(self, folder):
        self.folder = Path(folder).absolute()
        self.edges = {e["output"]: e for e in json.loads(self.ninja("compdb cc_kernel nvcc glsl pack cc_host"))}

    def ninja(self, tool):
        """What a tool of ninja says, with the source tree's path in it as every folder has it."""
        said = subprocess.run(f"ninja -t {tool}", shell=True, cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout
        tree = re.search(r"^src = (.*)$", (self.folder / "build.ninja").read_text(), re.M)[1]
        return said.replace(tree + "/", f"{(self.folder / tree).resolve()}/") if tree.startswith("..") else said

    @functools.cache
    def chain(self, source):
        """What is made of a kernel's file, step by step, up to the object of C that holds it."""
        first = [name for name, edge in self.edges.items() if edge["file"] == source]
        made = first[:1]
        while made and not made[-1].endswith(".o"):
            after = self.ninja(f"query {made[-1]}").partition("outputs:")[2].split()
            made += [name for name in after if name in self.edges][:1] or [".o"]
        return made

    @functools.cache
    def link(self, program):
        return self.ninja(f"commands -s {program}")


class Copy:
    """A folder that is a build's, by links, but for kernels of its own."""

    def __init__(self, build, path):
        self.build, self.path = build, Path(path)
        self.objects, self.lock = [], threading.Lock()
        for folder, others in (("", {"out"}), ("out", {"gen", "tests", "bench", "mutants"}), ("out/gen", set())):
            (self.path / folder).mkdir(parents=True)
            for entry in (build.folder / folder).iterdir():
                if entry.name not in others and not (folder == "out/gen" and entry.is_dir()):
                    (self.path / folder / entry.name).symlink_to(entry)
        (self.path / "out" / "tests").mkdir()

    def run(self, command, seconds=600):
        environment = os.environ | {"CCACHE_DISABLE": "1"}
        try:
            done = subprocess.run(["timeout", "-k", "1", str(seconds), "sh", "-c", command], cwd=self.path,
                                  env=environment, capture_output=True, text=True, check=False)
        except UnicodeDecodeError as error:
            raise Failed(str(error)) from error
        if done.returncode:
            raise Failed(f"{command}: {(done.stderr or done.stdout)[-2000:]}")

    def compile(self, source, text):
        """Whether a kernel's file with this text is compiled to something else than the build's own. Failed where it
        is not compiled."""
        own = self.path / source
        with self.lock:
            if not own.parent.exists():
                own.parent.mkdir()
                for entry in (self.build.folder / source).parent.iterdir():
                    (own.parent / entry.name).symlink_to(entry)
        made = self.build.chain(source)
        for name in [source, *made]:
            for old in (self.path / name, self.path / (name + ".d")):
                old.unlink(missing_ok=True)
        own.write_text(text)
        for name in made:
            self.run(self.build.edges[name]["command"].replace("-MMD", "").replace(f"-MF {name}.d", ""))
            if name == made[0] and (self.path / name).read_bytes() == (self.build.folder / name).read_bytes():
                for link in [source, *made]:
                    (self.path / link).unlink(missing_ok=True)
                    (self.path / link).symlink_to(self.build.folder / link)
                return False
        self.objects.append(made[-1])
        return True

    def link(self, program):
        command = self.build.link(program)
        (self.path / program).unlink(missing_ok=True)
        self.run(command.replace("out/gen/kernels.a", " ".join([*self.objects, "out/gen/kernels.a"])))
