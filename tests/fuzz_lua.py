"""The Lua of the fuzzer's ops: their specs, and random rows of `variants`."""

from fuzz_values import SCANS

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
BOUND = 4  # what each operation may be off by, in ulp: as much as the least exact function
# The same where a sum has many equal terms, whose roundings go to one side: of 64, which kernels add one after the
# other, up to 16, and of the equal sums of 64 that a thread has of long rows up to 16 once more.
EQUAL_BOUND = 36
EQUALS = set("select max min clamp floor round sign copysign position at cummax cummin".split())  # what may be the same at many points
REDUCTIONS = set("sum mean maximum minimum pick argmax argmin".split())


class Writer:
    """The Lua of an op's function."""

    def __init__(self, rng, op):
        self.op, self.lines, self.local, self.uses, self.top = op, [], {}, {}, []
        for node in op.nodes():
            for arg in node.args:
                self.uses[arg] = self.uses.get(arg, 0) + 1
        for node in op.nodes():
            fixed = all(arg.op == "const" for arg in node.args)
            if node.op in ("input", "scalar", "const", "count", "position", "whole"):
                continue
            if fixed or self.uses.get(node, 0) > 1 or rng.random() < 0.2:
                line = f"local v{len(self.local) + 1}_ = {self.of(node)}"
                self.local[node] = f"v{len(self.local) + 1}_"
                if fixed and rng.random() < 0.5:
                    self.top.append(line + "\n")
                else:
                    self.lines.append("    " + line)

    def of(self, node):
        if node in self.local:
            return self.local[node]
        args = [self.of(arg) for arg in node.args]
        if node.op in ("input", "scalar"):
            return f"detach({node.name})" if node.detached else node.name
        if node.op == "const":
            return repr(node.number) if node.number >= 0 else f"({node.number!r})"
        if node.op == "position":
            return f"position '{[*node.place][0]}'"
        if node.op == "whole":
            return args[0]
        if node.op == "at":
            places = ", ".join(f"{axis} = {place}" for axis, place in zip(node.over, args[1:]))
            outside = "" if node.number != node.number else f", {node.number!r}"
            return f"at({args[0]}, {{ {places} }}{outside})"
        if node.op == "neg":
            return f"(-{args[0]})"
        if node.op == "square":
            return f"{args[0]} ^ 2" if node.args[0] in self.local else f"({args[0]}) ^ 2"
        if node.op == "power":
            return f"({args[0]} ^ {node.args[1].number!r})" if node.args[0] in self.local else \
                f"(({args[0]}) ^ {node.args[1].number!r})"
        if node.op in INFIX:
            return f"({args[0]} {INFIX[node.op]} {args[1]})"
        if node.op in SCANS:
            how = [name + " = true" for bit, name in enumerate(("exclusive", "reverse")) if int(node.number) >> bit & 1]
            return f"{node.op}({', '.join(args + self.axes(node))}" + (f", {{ {', '.join(how)} }})" if how else ")")
        names = {"maximum": "max", "minimum": "min", "pick": "at"}
        return f"{names.get(node.op, node.op)}({', '.join(args + self.axes(node))})"

    def axes(self, node):
        """The names of the axes that a reduction goes over, quoted; none for all."""
        if node.over:
            return [f'"{axis}"' for axis in node.over]
        if node.op not in REDUCTIONS - {"pick"} or node.place == "single":
            return []
        return [f'"{d}"' for d in (self.op.dims[-1:] if node.place == "row" else self.op.dims[:-1])]

    def function(self):
        results = {name: self.of(node) for name, node in self.op.outputs.items()}
        parameters = [i.name for i in self.op.inputs] + sorted(self.op.scalars)
        body = [f"    return {{ {', '.join(f'{n} = {text}' for n, text in results.items())} }}"]
        if len(results) == 1:
            body = [f"    return {text}" for text in results.values()]
        return f"function({', '.join(parameters)})\n" + "\n".join(self.lines + body) + "\n  end"


def dims_of(place, dims):
    """The axes of what has a place, which may be these themselves."""
    if isinstance(place, tuple):
        return list(place)
    return {"point": dims, "row": dims[:-1], "column": dims[-1:], "single": []}[place]


def bound_of(op):
    """The op's `ulp`."""
    stack = [node.args[0] for node in op.nodes() if node.op in ("sum", "mean", "cumsum")]
    while stack:
        node = stack.pop()
        if node.op in EQUALS:
            return EQUAL_BOUND
        stack += () if node.op in REDUCTIONS else node.args
    return BOUND


def spec_of(op, rng):
    """The op's spec, a file of its own."""
    def shape(dims, *more):
        return "{ " + ", ".join([f'"{d}"' for d in dims] + list(more)) + " }"

    def of_input(i):
        if i.along:
            return shape(i.place, f'index = "{i.along}"')
        if i.kind == "index":
            return shape(op.dims[:-1], f'index = "{op.dims[-1]}"')
        if i.kind == "integer":
            return '{ dtype = "i64" }'
        typed = [f'dtype = "{i.dtype}"'] if i.dtype else []
        return shape(dims_of(i.place, op.dims), *typed, f"range = {{ {i.low!r}, {i.high!r} }}")

    def of_output(name):
        return shape(dims_of(op.place[name], op.dims), *[f'dtype = "{d}"' for d in [op.types.get(name)] if d])

    inputs = ", ".join(f"{i.name} = {of_input(i)}" for i in op.inputs)
    outputs = ", ".join(f"{name} = {of_output(name)}" for name in op.outputs)
    scalars = ", ".join(f"{name} = {value!r}" for name, value in sorted(op.scalars.items()))
    ulp = ", ".join(f"{d} = vector.ulp({bound_of(op)}).{d}" for d in op.dtypes)
    sizes = ", ".join(f"{d} = {e}" for d, e in zip(op.dims, [11, 5, 37, 6, 35, 9, 4, 20][-len(op.dims):]))
    backward = ""
    if op.backward:
        reads = f"reads = {{ {', '.join(map(repr, op.reads))} }}, " if op.reads else ""
        backward = f"  backward = {{ {reads}variants = {{ {', '.join(op.gradient_rows)} }} }},\n"
    writer = Writer(rng, op)
    function = writer.function()
    return (f'local vector = include "include/vector.lua"\n\n{"".join(writer.top)}op "{op.name}" {{\n'
            f'  doc = "what the fuzzer came to",\n  inputs = {{ {inputs} }},\n  outputs = {{ {outputs} }},\n'
            f"  scalars = {{ {scalars} }},\n  compute = {function},\n"
            f'  sizes = {{ {{ "S", {sizes} }} }},\n  dtypes = {{ {", ".join(repr(d) for d in op.dtypes)} }},\n'
            f"  ulp = {{ {ulp} }},\n{backward}  variants = {{ {', '.join(op.rows)} }},\n}}\n").replace("'", '"')


def variants(rng, template, backends):
    """Rows of `variants`, with parameters of a template; without any where that is None."""
    rows = []
    for backend in backends:
        if backend in ("cuda", "vulkan"):
            chosen = gpu_parameters(rng, template, backend)
        else:
            parameters = {"map": ["unroll"], "reduce": ["accumulators"], "rows": ["accumulators", "unroll"],
                          None: []}[template]
            # With fewer accumulators more roundings follow each other than the bound is for.
            choices = {"unroll": [1, 1, 2, 4, 4, 8, 3], "accumulators": [4, 4, 4, 6, 8, 8, 16]}
            chosen = {p: rng.choice(choices[p]) for p in parameters}
            if template == "map" and backend != "scalar" and rng.random() < 0.2:
                chosen["store"] = '"streaming"'
        rows.append(f'{{ backend = "{backend}"' + "".join(f", {p} = {v}" for p, v in chosen.items()) + " }")
    return rows


def or_default(rng, rows):
    """These rows, or now and then those that the generator has for ops of the kind."""
    state = rng.getstate()
    is_default = rng.random() < 0.15
    rng.setstate(state)  # so that what is drawn next does not depend on it
    return ["'default'"] if is_default else rows


def gpu_parameters(rng, template, backend):
    if template is None:
        return {}
    if template == "rows":
        return {"threads": rng.choice([128, 256, 512, 1024]), "hold": rng.choice(['"auto"', 1, 2, 4]),
                "ahead": rng.choice(['"auto"', '"never"', '"always"'])} if backend == "cuda" else {}
    chosen = {"block": rng.choice([32, 64, 128, 256, 512]), "unroll": rng.choice([1, 2, 4])}
    return chosen | ({"waves": rng.choice([1, 2, 4])} if template == "reduce" else {})


def gpu_products(rng, key, dtypes, backends, plain):
    """Rows of `variants` of sums of products; plain: of operands of the op's own type alone."""
    rows = []

    def row(backend, dtype, **parameters):
        listed = "".join(f", {p} = " + (f'"{v}"' if isinstance(v, str) else str(v)) for p, v in parameters.items())
        rows.append(f"{{ backend = '{backend}', dtypes = '{dtype}'{listed} }}")

    for dtype in dtypes:
        for backend in backends:
            unit = rng.choice(["vector", "mma", "wgmma"]) if dtype != "f64" and plain else "vector"
            if backend == "cuda" and key == "chain" and rng.random() < 0.6:
                how = rng.choice(["for_loop", "coopmat"] if dtype != "f64" else ["for_loop"])
                rounded = {"products": "tf32"} if how == "coopmat" and dtype == "f32" and rng.random() < 0.6 else {}
                row(backend, dtype, implementation=how, **rounded)
            elif backend == "cuda" and unit != "vector":
                rounded = {"products": "tf32"} if dtype == "f32" else {}
                more = (128, "auto") if unit == "wgmma" else (64, 64)
                tile = rng.choice([(64, 128), (128, 128), (64, 256), more])
                row(backend, dtype, unit=unit, bm=tile[0], bn=tile[1], stages=rng.choice([3, 4]), **rounded)
            elif backend == "cuda":
                row(backend, dtype, bm=rng.choice([64, 128]), bn=rng.choice([64, 128, "auto"]),
                    stages=rng.choice([2, 3]))
            elif backend == "vulkan" and key == "chain" and rng.random() < 0.6:
                row(backend, dtype, implementation=rng.choice(["for_loop", "coopmat", "coopvec"] if dtype == "f16"
                                                              else ["for_loop"]))
            elif backend == "vulkan" and dtype == "f16" and plain and rng.random() < 0.6:
                rounded = {"products": "f16"} if rng.random() < 0.4 else {}
                row(backend, dtype, unit=rng.choice(["matrix", "matrix", "workgroup"]), bm=128, bn=128, bk=32,
                    **rounded)
            elif backend == "vulkan":
                row(backend, dtype, bm=rng.choice([32, 64]), bn=rng.choice([64, 128]), bk=rng.choice([8, 16]))
            elif key == "chain" and backend != "cuda" and rng.random() < 0.5:
                row(backend, dtype, implementation="simd", mr=rng.choice([2, 5]), nv=rng.choice([1, 2]), rows=8)
            else:
                row(backend, dtype, mr=rng.choice([2, 4, 6]), nv=rng.choice([1, 2]), kc=rng.choice([16, 256]), mc=96)
    return rows


def tables(rng, op, backends):
    """A row of look-ups, for ops that may have one."""
    narrow = [d for d in op.dtypes if d in ("f16", "bf16")]
    alone = len(op.inputs) == 1 and op.inputs[0].kind == "float" and op.inputs[0].place == "point" and not op.scalars \
        and not op.inputs[0].dtype and not op.types
    if op.key != "map" or not narrow or not alone or len(op.outputs) > 1 or backends[0] in ("cuda", "vulkan") \
            or rng.random() < 0.5:
        return []
    listed = ", ".join(f"'{d}'" for d in narrow)
    return [f"{{ backend = '{backends[0]}', dtypes = {{ {listed} }}, values = 'table' }}"]
