-- One op for each function of the vector mathematics, for math_sweep.c and math_samples.c.

local functions = {
  acos = acos, acosh = acosh, asin = asin, asinh = asinh, atan = atan, atan2 = atan2, atanh = atanh, cos = cos,
  cosh = cosh, erf = erf, erfc = erfc, erfinv = erfinv, exp = exp, exp2 = exp2, expm1 = expm1, floor = floor, hypot = hypot, log = log,
  log10 = log10, log1p = log1p, log2 = log2, pow = pow, round = round, rsqrt = rsqrt, sigmoid = sigmoid, sign = sign,
  sin = sin, sinh = sinh, tanh = tanh,
}
local two = { atan2 = true, hypot = true, pow = true }

-- erfc is at its worst where its tail begins, just above 1: 3.40 ulp without fma, 3.09 with it.
local bounds = {
  acosh = 3, asin = 2.5, asinh = 2.5, atanh = 2.5, erfc = 3.5, erfinv = 3, log10 = 2.5, sinh = 2.5,
  floor = 0, round = 0, sign = 0,
}

for name, f in pairs(functions) do
  local bound = bounds[name] or 2
  op(name) {
    doc = name,
    inputs = two[name] and { x = { "n" }, y = { "n" } } or { x = { "n" } },
    outputs = { r = { "n" } },
    compute = two[name] and function(x, y) return f(x, y) end or function(x) return f(x) end,
    sizes = { { "1K", n = 1000 } },
    dtypes = { "f32", "f64" },
    ulp = { f32 = bound, f64 = bound },
    variants = { { backend = "cpu" } },
  }
end
