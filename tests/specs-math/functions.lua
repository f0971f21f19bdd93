-- One op for each function of the vector mathematics, for math_sweep.c.

local functions = {
  erf = erf, erfc = erfc, exp = exp, exp2 = exp2, expm1 = expm1, log = log, log1p = log1p,
  sigmoid = sigmoid, tanh = tanh,
}

-- erfc is at its worst where its tail begins, just above 1: 3.33 ulp without fma, 3.08 with it.
local bounds = { erfc = 3.5 }

for name, f in pairs(functions) do
  op(name) {
    doc = name .. "(x)",
    inputs = { x = { "n" } },
    outputs = { y = { "n" } },
    map = function(x) return f(x) end,
    sizes = { { "1K", n = 1000 } },
    dtypes = { "f32" },
    ulp = { f32 = bounds[name] or 2 },
    variants = { { backend = { "scalar", "sse2", "avx2", "avx512" } } },
  }
end
