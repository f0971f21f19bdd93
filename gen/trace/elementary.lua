-- The elementary functions, one row each: what all stages know of them, but for how they are computed (vecmath.lua).

-- back(f, y, g, x)  what the argument x of y gets of y's derivative g, by f, the functions of expr.lua; of two
--             arguments both of theirs
-- passes(f, y, x)  how much of its argument's error a result has, where that is plainer than what back gives
-- pole(f, x)  what must not be zero within its error
-- tiny        whether results below the normal range come of arguments that are not
-- grows       whether results of everyday arguments may be beyond the largest number
-- positive    whether a result is never negative, nor -0; plain: never -0
-- arguments   2, or one where it does not say
-- ulp         by how many its kernels may be off, on the backend where that is most
-- cuda        for which type computed in CUDA's library is off by 2 ulp at most (CUDA C++ Programming Guide,
--             "Mathematical Functions"); true for all
-- reference   its text in C, where the C library has no function of this name
local two_over_root_pi = 2 / math.sqrt(math.pi)
local log2_e, log10_e = 1 / math.log(2), 1 / math.log(10)

local function itself(_, x) return x end
local function from_one(f, x) return 1 - f.abs(x) end

return {
  exp = { back = function(_, y, g) return g * y end, tiny = true, grows = true, positive = true, ulp = 2, cuda = true },
  exp2 = {
    back = function(_, y, g) return g * y * math.log(2) end, tiny = true, grows = true, positive = true, ulp = 2,
    cuda = true,
  },
  -- expm1(x) + 1 would lose its digits where x is far below 0, as 1 - tanh(x)^2 in the tails.
  expm1 = {
    back = function(f, _, g, x) return g * f.exp(x) end, passes = function(_, y) return y + 1 end, grows = true,
    ulp = 2, cuda = true,
  },
  log = { back = function(_, _, g, x) return g / x end, pole = itself, plain = true, ulp = 2, cuda = true },
  log2 = { back = function(_, _, g, x) return g * log2_e / x end, pole = itself, plain = true, ulp = 2, cuda = true },
  log10 = {
    back = function(_, _, g, x) return g * log10_e / x end, pole = itself, plain = true, ulp = 2.5, cuda = true,
  },
  log1p = {
    back = function(_, _, g, x) return g / (1 + x) end, pole = function(_, x) return 1 + x end, ulp = 2, cuda = true,
  },
  sin = { back = function(f, _, g, x) return g * f.cos(x) end, ulp = 2, cuda = true },
  cos = { back = function(f, _, g, x) return -(g * f.sin(x)) end, plain = true, ulp = 2, cuda = true },
  asin = {
    back = function(f, _, g, x) return g / f.sqrt((1 - x) * (1 + x)) end, pole = from_one, ulp = 2.5, cuda = true,
  },
  acos = {
    back = function(f, _, g, x) return -(g / f.sqrt((1 - x) * (1 + x))) end, pole = from_one, positive = true, ulp = 2,
    cuda = true,
  },
  atan = { back = function(_, _, g, x) return g / (1 + x * x) end, ulp = 2, cuda = true },
  -- By the distance from 0 twice: its square may be beyond the largest number.
  atan2 = {
    arguments = 2, ulp = 2.5,
    back = function(f, _, g, y, x)
      local r = f.hypot(y, x)
      return g * (x / r / r), -(g * (y / r / r))
    end,
    pole = function(f, y, x) return f.hypot(y, x) end,
  },
  hypot = {
    arguments = 2, ulp = 2, positive = true, back = function(_, r, g, x, y) return g * (x / r), g * (y / r) end,
    passes = function(f) return f.const(1) end,
  },
  sinh = { back = function(f, _, g, x) return g * f.cosh(x) end, grows = true, ulp = 3 },
  cosh = { back = function(f, _, g, x) return g * f.sinh(x) end, grows = true, positive = true, ulp = 2 },
  -- tanh(x)^2 from 1 would lose its digits in the tails.
  tanh = {
    back = function(f, _, g, x) return g * (4 * (f.sigmoid(2 * x) * f.sigmoid(-2 * x))) end,
    passes = function(_, y) return 1 - y * y end, ulp = 2, cuda = true,
  },
  asinh = { back = function(f, _, g, x) return g / f.hypot(x, 1) end, ulp = 3 },
  acosh = {
    back = function(f, _, g, x) return g / (f.sqrt(x - 1) * f.sqrt(x + 1)) end,
    pole = function(_, x) return x - 1 end, positive = true, ulp = 3,
  },
  atanh = { back = function(_, _, g, x) return g / ((1 - x) * (1 + x)) end, pole = from_one, ulp = 3 },
  sigmoid = { -- 1 / (1 + exp(-x))
    back = function(f, _, g, x) return g * (f.sigmoid(x) * f.sigmoid(-x)) end,
    passes = function(_, y) return y * (1 - y) end, tiny = true, positive = true, ulp = 2.5,
    reference = "1 / (1 + exp{f}(-{1}))",
  },
  erf = { back = function(f, _, g, x) return g * (two_over_root_pi * f.exp(-(x * x))) end, ulp = 2, cuda = true },
  erfc = {
    back = function(f, _, g, x) return -(g * (two_over_root_pi * f.exp(-(x * x)))) end, tiny = true, positive = true,
    ulp = 4, cuda = "f32",
  },
  erfinv = {
    back = function(f, y, g) return g * (f.exp(y * y) / two_over_root_pi) end, pole = from_one, ulp = 3,
    reference = "lathe_erfinv{f}({1})",
  },
  rsqrt = {
    back = function(_, y, g, x) return -0.5 * g * y / x end, pole = itself, plain = true, ulp = 1.5, cuda = true,
    reference = "1 / sqrt{f}({1})",
  },
}
