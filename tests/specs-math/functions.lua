-- One op for each function of the vector mathematics, for math_sweep.c.

local functions = {
  erf = erf, erfc = erfc, exp = exp, exp2 = exp2, expm1 = expm1, log = log, log1p = log1p,
  sigmoid = sigmoid, tanh = tanh,
}

-- Where the tail is small the relative error of erfc grows with that of x * x.
local bounds = { erfc = 3 }

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
