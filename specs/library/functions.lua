-- Functions of one element, or of one from each of some vectors, by NumPy's and PyTorch's names.

local library = include "include/library.lua"

-- name = { NumPy's text, the function, what its first input is between, and its second, and so on; whole = steps }
local functions = {
  neg = { "-x", function(x) return -x end },
  square = { "x * x", function(x) return x ^ 2 end },
  cube = { "x ** 3", function(x) return x ^ 3 end },
  reciprocal = { "1 / x", function(x) return 1 / x end, { 0.1, 2 } },
  sqrt = { "np.sqrt(x)", sqrt, { 0, 4 } },
  rsqrt = { "1 / np.sqrt(x)", rsqrt, { 0.1, 4 } },
  exp2 = { "np.exp2(x)", exp2, { -10, 10 } },
  expm1 = { "np.expm1(x)", expm1, { -3, 3 } },
  log = { "np.log(x)", log, { 0.1, 10 } },
  log2 = { "np.log2(x)", log2, { 0.1, 10 } },
  log10 = { "np.log10(x)", log10, { 0.1, 10 } },
  log1p = { "np.log1p(x)", log1p, { -0.9, 10 } },
  sin = { "np.sin(x)", sin, { -10, 10 } },
  cos = { "np.cos(x)", cos, { -10, 10 } },
  tan = { "np.tan(x)", tan, { -1, 1 } },
  asin = { "np.arcsin(x)", asin, { -0.9, 0.9 } },
  acos = { "np.arccos(x)", acos, { -0.9, 0.9 } },
  atan = { "np.arctan(x)", atan, { -10, 10 } },
  sinh = { "np.sinh(x)", sinh, { -5, 5 } },
  cosh = { "np.cosh(x)", cosh, { -5, 5 } },
  asinh = { "np.arcsinh(x)", asinh, { -10, 10 } },
  acosh = { "np.arccosh(x)", acosh, { 1.1, 10 } },
  atanh = { "np.arctanh(x)", atanh, { -0.9, 0.9 } },
  erf = { "erf(x)", erf, { -3, 3 } },
  erfc = { "erfc(x)", erfc, { -3, 3 } },
  erfinv = {
    "y = np.where(np.abs(x) < 1, np.sqrt(np.pi) / 2 * x, np.nan); "
      .. "[y := y - (erf(y) - x) * np.sqrt(np.pi) / 2 * np.exp(y * y) for _ in range(50)][-1]",
    erfinv, { -0.9, 0.9 },
  },
  logit = { "np.log(x / (1 - x))", function(x) return log(x / (1 - x)) end, { 0.1, 0.9 } },
  sinc = {
    "np.sinc(x)", function(x) return select(eq(x, 0), 1, sin(math.pi * x) / (math.pi * x)) end, { -3, 3 },
  },
  deg2rad = { "np.deg2rad(x)", function(x) return x * (math.pi / 180) end, { -180, 180 } },
  rad2deg = { "np.rad2deg(x)", function(x) return x * (180 / math.pi) end },
  atan2 = { "np.arctan2(x, y)", atan2 },
  hypot = { "np.hypot(x, y)", hypot },
  logaddexp = {
    "np.logaddexp(x, y)",
    function(x, y) return max(x, y) + select(eq(x, y), math.log(2), log1p(exp(-abs(x - y)))) end, { -9, 9 }, { -9, 9 },
  },
  xlogy = {
    "np.where((x == 0) & (y == y), 0, x * np.log(y))",
    function(x, y) return select(all_of(eq(x, 0), eq(y, y)), 0, x * log(y)) end, { -1, 1 }, { 0.1, 9 },
  },
  power = { "np.power(x, y)", pow, { 0.1, 5 }, { -3, 3 } },
  maximum = { "np.maximum(x, y)", max },
  minimum = { "np.minimum(x, y)", min },
  copysign = { "np.copysign(x, y)", copysign },
  addcmul = { "x + y * z", function(x, y, z) return x + y * z end, {}, {}, {} },
  addcdiv = { "x + y / z", function(x, y, z) return x + y / z end, {}, {}, { 0.5, 2 } },
  clip = { "np.clip(x, y, z)", function(x, y, z) return clamp(x, y, z) end, {}, { -1, 0 }, { 0, 1 } },
  where = { "np.where(x > 0, y, z)", function(x, y, z) return select(gt(x, 0), y, z) end, {}, {}, {} },
  nan_to_num = {
    "np.nan_to_num(x, posinf=1e4, neginf=-1e4)", function(x) return select(isnan(x), 0, clamp(x, -1e4, 1e4)) end,
  },
  -- Steps, whose slope says nothing.
  floor = { "np.floor(x)", floor, { -9, 9 }, whole = true },
  ceil = { "np.ceil(x)", ceil, { -9, 9 }, whole = true },
  round = { "np.rint(x)", round, { -9, 9 }, whole = true },
  trunc = { "np.trunc(x)", trunc, { -9, 9 }, whole = true },
  frac = { "x - np.trunc(x)", frac, { -9, 9 }, whole = true },
  sign = { "np.sign(x)", sign, whole = true },
  heaviside = {
    "np.heaviside(x, y)", function(x, y) return select(isnan(x), x, select(eq(x, 0), y, select(gt(x, 0), 1, 0))) end,
    whole = true,
  },
  floor_divide = { "np.floor_divide(x, y)", floor_divide, { -9, 9 }, { 0.5, 3 }, whole = true },
  remainder = { "np.remainder(x, y)", remainder, { -9, 9 }, { 0.5, 3 }, whole = true },
  fmod = { "np.fmod(x, y)", fmod, { -9, 9 }, { 0.5, 3 }, whole = true },
}

local names, defaults = { "x", "y", "z" }, { {}, {}, {} }
local two = {}
for name in pairs { atan2 = 1, hypot = 1, maximum = 1, minimum = 1, copysign = 1, heaviside = 1 } do
  two[name] = true
end
for name, row in pairs(functions) do
  local count = two[name] and 2 or math.max(1, #row - 2)
  local inputs = {}
  for i = 1, count do
    local range = row[i + 2] or defaults[i]
    inputs[names[i]] = { "n", range = range[1] and range }
  end
  local f = row[2]
  library(name) {
    row[1], row[1], inputs = inputs, outputs = { r = { "n" } }, backward = not row.whole, ulp = 4,
    compute = count == 1 and function(x) return f(x) end or count == 2 and function(x, y) return f(x, y) end
      or function(x, y, z) return f(x, y, z) end,
  }
end

-- Truths, as bytes, of numbers or of bytes below `most`.
local truths = {
  less = { "x < y", lt }, less_equal = { "x <= y", le }, greater = { "x > y", gt }, greater_equal = { "x >= y", ge },
  equal = { "x == y", eq, most = 3 }, not_equal = { "x != y", ne, most = 3 },
  logical_and = { "(x != 0) & (y != 0)", function(x, y) return all_of(ne(x, 0), ne(y, 0)) end, most = 1 },
  logical_or = { "(x != 0) | (y != 0)", function(x, y) return any_of(ne(x, 0), ne(y, 0)) end, most = 1 },
  logical_xor = { "(x != 0) ^ (y != 0)", function(x, y) return one_of(ne(x, 0), ne(y, 0)) end, most = 1 },
}
for name, row in pairs(truths) do
  local operand = { "n", dtype = row.most and "u8", range = row.most and { 0, row.most } }
  library(name) {
    row[1], "1.0 * (" .. row[1] .. ")", inputs = { x = operand, y = operand }, outputs = { r = { "n", dtype = "u8" } },
    backward = false, ulp = 0, dtypes = { "f32", "f16", "bf16" }, compute = function(x, y) return row[2](x, y) end,
  }
end
