-- Functions of f32 as expressions, for results that are rounded to half the bits, and for arguments that have been
-- rounded themselves: as cheap as that allows, for all languages that have these operations:
--
--   power_near      2^x
--   inverse_near    1 / x
--   quotient_near   x / y
--   log2_near       the logarithm
--
-- all off by about 2 ulp, where numbers below the normal range may count as zero. Errors are in ulp of f32, of which
-- those of f16 and bf16 are 2^13 and 2^16. An argument that has been rounded is off by half an ulp itself.

local expr = require "expr"

local narrow = {}

for name, arguments in pairs { power_near = "r", inverse_near = "r", quotient_near = "rr", log2_near = "r" } do
  expr.operations[name] = { "r", arguments, cost = 1 }
end

local mad, select, abs = expr.mad, expr.select, expr.abs

local function power(x)
  return expr.make("power_near", { x })
end

local function inverse(x)
  return expr.make("inverse_near", { x })
end

-- A polynomial's value at x, highest coefficient first.
local function polynomial(x, list)
  local y = expr.const(list[1])
  for i = 2, #list do
    y = mad(y, x, list[i])
  end
  return y
end

local log2_e = 0x1.715476p0

local function square(x)
  return x * x
end

-- e^x of an argument that has been rounded, which makes it wrong by |x| / 2, and is wrong by about three times as much.
-- In bf16 half the power squared has results below the normal range too; f16 has none there.
narrow.exp = {
  f16 = function(x) return power(x * log2_e) end,
  bf16 = function(x) return square(power(x * (log2_e / 2))) end,
}

-- e^x of an x of 8 bits: log2(e) in two parts, of which the first has so few bits that its product with x is exact. The
-- second's power is 1 + y, near enough.
function narrow.exp_element(x)
  local y = select(expr.lt(x, -104), -104, x)
  local whole = square(power(y * 0x1.7154p-1))
  return mad(whole, y * 0x1.480fb6p-18, whole)
end

-- e^-|x| of an x of 11 bits, or of 8, in the same way.
local falls = {
  f16 = function(x)
    local a = select(expr.gt(abs(x), 104), 104, abs(x))
    local whole = power(a * -0x1.715p0)
    return mad(whole, a * -0x1.8be626p-15, whole)
  end,
  bf16 = function(x)
    local a = select(expr.gt(abs(x), 104), 104, abs(x))
    local whole = square(power(a * -0x1.7154p-1))
    return mad(whole, a * -0x1.480fb6p-18, whole)
  end,
}

-- 1 / (1 + e^-x), or if it is the complement 1 less that: with e = e^-|x|, 1 / (1 + e) or e / (1 + e). rounded: of an
-- argument that has been.
function narrow.sigmoid(x, dtype, rounded, complement)
  local fall = rounded and square(power(-abs(x) * (log2_e / 2))) or falls[dtype](x)
  local below, above = fall, 1
  if complement then
    below, above = above, below
  end
  return select(expr.lt(x, 0), below, above) * inverse(1 + fall)
end

-- erfc x by the polynomials of vecmath.lua: below 7/8 it is (1 - x) - x p(x^2), above e^(-x^2) u p(u) with
-- u = 1 / (|x| + 7/4), which is off by 5e-9 of the result and 2 x^2 + 1 ulp; a rounded argument makes it wrong by x^2.
function narrow.erfc(x)
  local x_square, u = square(x), inverse(abs(x) + 1.75)
  local root = power(x_square * (-log2_e / 2))
  local p = polynomial(u, {
    0x1.befc3cp+2, -0x1.519b08p+3, 0x1.8d023cp+1, 0x1.1d671cp+0, 0x1.7c1faap+0, 0x1.f89b26p-1, 0x1.20e136p-1,
  })
  local far = p * u * root * root
  local near = polynomial(x_square, {
    -0x1.44aba8p-11, 0x1.499f5cp-8, -0x1.b6ea32p-6, 0x1.ce2036p-4, -0x1.812702p-2, 0x1.06eba6p-3,
  })
  return select(expr.lt(abs(x), 0.875), mad(-x, near, 1 - x), select(expr.lt(x, 0), 2 - far, far))
end

-- Those below are off by 12 ulp at most, 1.5 thousandths of one of f16's; the bell and the normal function by x^2 + 1
-- times that.

-- The normal distribution's bell, e^(-x^2 / 2).
narrow.bell = {
  f16 = function(x) return power(x * x * (-log2_e / 2)) end,
  bf16 = function(x) return square(power(x * x * (-log2_e / 4))) end,
}

-- Its function, erfc(-x / sqrt(2)) / 2, by the bell u p(u) with u = 1 / (|x| + 2 sqrt(2)): 1.5e-7.
function narrow.normal(x, dtype)
  local u = inverse(abs(x) + math.sqrt(8))
  local p = polynomial(u, {
    0x1.03fc9ep+6, -0x1.70e756p+6, 0x1.1ae8fap+5, 0x1.46c014p+0, 0x1.947b5p+1, 0x1.1d0356p+0, 0x1.98bcb4p-2,
  })
  local far = p * u * narrow.bell[dtype](x)
  return select(expr.gt(x, 0), 1 - far, far)
end

-- x + x^3 p(x^2), or 1 - 2 / (e^(2|x|) + 1); the former may lose the sign of zero.
function narrow.tanh(x)
  local x_square = square(x)
  local far = mad(-2, inverse(1 + power(abs(x) * (2 * log2_e))), 1)
  local p = polynomial(x_square, { 0x1.e43334p-7, -0x1.a734dcp-5, 0x1.106ea4p-3, -0x1.5551e0p-2 })
  return expr.copysign(select(expr.lt(abs(x), 0.65), mad(p * x_square, x, x), far), x)
end

-- From -1/2 to 1 2 atanh(s) with s = x / (2 + x), s^2 at most 1/9; elsewhere log2(1 + x) is 1 at least, and as good as
-- that sum.
function narrow.log1p(x)
  local s = expr.make("quotient_near", { x, 2 + x })
  local s_square = square(s)
  local p = polynomial(s_square, { 0x1.5c1d36p-2, 0x1.95db46p-2, 0x1.555e52p-1 })
  local far = expr.make("log2_near", { 1 + x }) * math.log(2)
  return select(expr.le(abs(x - 0.25), 0.75), mad(p * s_square, s, 2 * s), far)
end

return narrow
