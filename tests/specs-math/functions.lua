-- One op for each function of the vector mathematics, for math_sweep.c and math_samples.c.

local functions = {
  cos = cos, erf = erf, erfc = erfc, exp = exp, exp2 = exp2, expm1 = expm1, floor = floor, log = log, log1p = log1p,
  pow = pow, round = round, rsqrt = rsqrt, sigmoid = sigmoid, sign = sign, sin = sin, tanh = tanh,
}

-- erfc is at its worst where its tail begins, just above 1: 3.40 ulp without fma, 3.09 with it.
local bounds = { erfc = 3.5, floor = 0, round = 0, sign = 0 }

for name, f in pairs(functions) do
  local bound = bounds[name] or 2
  op(name) {
    doc = name,
    inputs = name == "pow" and { x = { "n" }, y = { "n" } } or { x = { "n" } },
    outputs = { r = { "n" } },
    compute = name == "pow" and function(x, y) return f(x, y) end or function(x) return f(x) end,
    sizes = { { "1K", n = 1000 } },
    dtypes = { "f32", "f64" },
    ulp = { f32 = bound, f64 = bound },
    variants = { { backend = "cpu" } },
  }
end
