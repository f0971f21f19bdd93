-- Elementary functions as expressions over the primitives of expr: one source for every target.
--
-- Each function takes a node x (pow: x and y) and a target t and returns the node of its value:
--   t.dtype   "f32" or "f64", the compute type
--   t.scalef  ldexp is one instruction
--   t.reciprocal  reciprocal, of numbers from 1 to 2^126 and off by a few ulp, is at hand and cheaper than
--             a division; then mad is rounded once
-- mad(a, b, c) may be rounded once or twice; nothing here needs the one or the other.
-- There are no tables, and no branches but around what large arguments of sin and cos take: the argument
-- is reduced through the bits of its exponent, a
-- minimax polynomial covers the reduced range, and select puts special cases in. All are right for
-- NaN, infinities and zeros of both signs, and for numbers below the normal range, which are
-- neither read nor returned as zero.
--
-- Each function's error is in units in the last place (ulp) of the exact result, mad rounded once /
-- twice, and what it is due to: in f32 the largest over all 2^32 arguments, in f64 the largest of
-- 40 million from all ranges, denormals and the neighbours of every limit here. Of inverse and hyperbolic functions,
-- and of logarithms by other bases, the largest of 200,000 in f64, of erfinv of 20,000. Of acos, atan, cosh and erfinv
-- it is the largest of two million in f32, of atan2 and hypot of 800,000.

local expr = require "expr"
local formats = require "coefficients"

local vecmath = {}

local mad, select = expr.mad, expr.select
local bits, real, iconst = expr.bits, expr.real, expr.iconst

local log2_e = 0x1.71547652b82fep0

-- c[1] + c[2] x + c[3] x^2 + ...
local function polynomial(x, c)
  local y = c[#c]
  for i = #c - 1, 1, -1 do
    y = mad(y, x, c[i])
  end
  return y
end

-- NaN stays: minraw and maxraw return their second argument then.
local function clamp(x, range)
  return expr.maxraw(range[1], expr.minraw(range[2], x))
end

local function with_sign_of(x, magnitude, format)
  return real(expr.ior(bits(magnitude), expr.iand(bits(x), iconst(format.sign))))
end

-- The number with its exponent field in the lowest bits of `exponent`, its sign in the next one.
local function power_of_two(exponent, format)
  return real(expr.ishl(exponent, format.mantissa))
end

-- p 2^n, rounded once; exponent: n + 2 bias in the lowest bits. Where ldexp is not at hand 2^n,
-- which need not be in range itself, is the product of two halves. Of the lowest n, -2 bias, both are 0: there the
-- ranges of exp and exp2 end, so that what is far below (a masked score) costs no more than other numbers. A product
-- that falls below the normal range takes x86 some 150 cycles.
local function scale_by_power(p, n, exponent, format, t)
  if t.scalef then
    return expr.ldexp(p, n)
  end
  local half = expr.ishr(exponent, 1)
  return p * power_of_two(half, format) * power_of_two(expr.isub(exponent, half), format)
end

-- scale x = n ln2 + scale r, |scale r| <= ln2 / 2, a little more where rounding moves n. Returns
--   n, r
--   high, low   their sum is r before it is rounded; high is exact
--   exponent    bits, the lowest of which hold n + bias
local function reduce(x, scale, bias, format)
  local shift = format.magic + bias
  local shifted = mad(x, scale * log2_e, shift)
  local n = shifted - shift
  local high = mad(n, -format.ln2[1] / scale, x)
  return {
    n = n,
    r = mad(n, -format.ln2[2] / scale, high),
    high = high,
    low = n * (-format.ln2[2] / scale),
    exponent = bits(shifted),
  }
end

-- A polynomial's coefficients, lowest power first, each times that power of scale; first: of the first.
local function scaled(list, scale, first)
  local c = {}
  for k, value in ipairs(list) do
    c[k] = value * scale ^ (first + k - 1)
  end
  return c
end

-- power (e^(scale r) - 1) / scale + offset; coefficients of the polynomial in scale r. What is
-- inexact is added last: where power r and the offset nearly cancel, their sum is exact.
local function scaled_expm1(part, scale, power, offset, format)
  local rest = mad(part.r * part.r, polynomial(part.r, scaled(format.expm1, scale, 1)), part.low)
  return mad(power, rest, mad(power, part.high, offset))
end

-- -a / (h + 1), 0 <= a <= h.
local function minus_share(a, h, t)
  local by = -1 - h
  if not t.reciprocal then
    return a / by
  end
  local reciprocal = -expr.make("reciprocal", { 1 + h })
  local near = a * reciprocal
  return mad(mad(-near, by, a), reciprocal, near)
end

-- h / (h + 1), h >= 0, as c - c^2 / (h + 1), c = min(h, 1): the difference is half of c at least,
-- and what is wrong with the quotient counts for half at most.
local function ratio(h, t)
  local c = expr.minraw(1, h)
  return mad(c, minus_share(c, h, t), c)
end

-- e^(scale x) = 2^n e^(scale r), of an x that is not far out of the range; scale: 1 or -1.
local function exp_in_range(x, scale, t)
  local format = formats[t.dtype]
  local part = reduce(x, scale, 2 * format.bias, format)
  local p = polynomial(part.r, scaled({ 1, 1, table.unpack(format.expm1) }, scale, 0))
  return scale_by_power(p, part.n, part.exponent, format, t)
end

-- ulp: f32 0.91 / 1.19, f64 0.89 / 1.19; the polynomial's last step, then what r lost.
function vecmath.exp(x, t)
  return exp_in_range(clamp(x, formats[t.dtype].exp_range), 1, t)
end

-- 2^x = 2^n 2^r, r = x - n.
-- ulp: f32 0.88 / 1.08, f64 0.80 / 1.08; the polynomial's last step.
function vecmath.exp2(x, t)
  local format = formats[t.dtype]
  local shift = format.magic + 2 * format.bias
  x = clamp(x, format.exp2_range)
  local shifted = x + shift
  local n = shifted - shift
  return scale_by_power(polynomial(x - n, format.exp2), n, bits(shifted), format, t)
end

-- e^x - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2): half of it, as 2^n may be out of range. The half
-- of a number below the normal range would be rounded: there x itself is the result.
-- ulp: f32 1.24 / 1.26, f64 1.25 / 1.24; the two sums, both inexact for large x.
function vecmath.expm1(x, t)
  local format = formats[t.dtype]
  local part = reduce(clamp(x, format.expm1_range), 1, format.bias - 1, format)
  local power = power_of_two(part.exponent, format)
  local half = scaled_expm1(part, 1, power, power - 0.5, format)
  return select(expr.lt(expr.abs(x), 0x1p-60), x, half + half)
end

-- tanh |x| = h / (h + 1), h = (e^(2|x|) - 1) / 2 = 2^n (e^(2r) - 1) / 2 + (2^n - 1) / 2.
-- ulp: f32 1.75 / 1.81, f64 1.71 / 1.79; the roundings of h, h + 1 and the quotient, |x| < 1/4.
function vecmath.tanh(x, t)
  local format = formats[t.dtype]
  local magnitude = expr.minraw(format.tanh_limit, expr.abs(x))
  local part = reduce(magnitude, 2, format.bias, format)
  local power = power_of_two(part.exponent, format)
  local h = scaled_expm1(part, 2, power, mad(power, 0.5, -0.5), format)
  return with_sign_of(x, ratio(h, t), format)
end

-- 1 / (1 + e^-x) with h = e^-|x|: h / (1 + h) where x < 0, else 1 - h / (1 + h); as c - c h / (1 + h), c
-- being h or 1. It has all but the last steps in common with the function of -x.
-- ulp: f32 1.65 / 1.98, f64 1.66 / 1.86; the errors of h, h + 1 and the quotient, -1.2 < x < 0.
function vecmath.sigmoid(x, t)
  local h = exp_in_range(expr.minraw(-formats[t.dtype].exp_range[1], expr.abs(x)), -1, t)
  local c = select(expr.lt(x, 0), h, 1)
  return mad(c, minus_share(h, h, t), c)
end

-- Hyperbolic functions are halves of a sum that may be in range where its terms are not: of quarters and halves.

-- sinh |x| = 2 (q + q / (4 q + 1)), q = (e^|x| - 1) / 4. What is below the normal range is its own.
-- ulp: f32 2.36, f64 1.75; the errors of q and of the sum.
function vecmath.sinh(x, t)
  local format = formats[t.dtype]
  local size = expr.abs(x)
  local part = reduce(expr.minraw(format.sinh_limit, size), 1, format.bias - 2, format)
  local power = power_of_two(part.exponent, format)
  local quarter = scaled_expm1(part, 1, power, power - 0.25, format)
  local half = quarter + quarter / mad(quarter, 4, 1)
  return select(expr.lt(size, 0x1p-60), x, with_sign_of(x, half + half, format))
end

-- h + 1 / (4 h), h = e^|x| / 2.
-- ulp: f32 1.29 / 1.54, f64 1.25 / 1.38.
function vecmath.cosh(x, t)
  local format = formats[t.dtype]
  local part = reduce(expr.minraw(format.sinh_limit, expr.abs(x)), 1, 2 * format.bias - 1, format)
  local p = polynomial(part.r, { 1, 1, table.unpack(format.expm1) })
  local half = scale_by_power(p, part.n - 1, part.exponent, format, t)
  return half + 0.25 / half
end

-- log(1 + u), or log u + ln 2 of a large u, which 1 and more do not change.
local function log_of_sum(u, is_large)
  return expr.log1p(u) + select(is_large, math.log(2), 0)
end

-- asinh |x| = log(|x| + sqrt(x^2 + 1)).
-- ulp: f32 2.04 / 2.12, f64 1.40; log1p and u.
function vecmath.asinh(x, t)
  local size = expr.abs(x)
  local is_large, square = expr.gt(size, 0x1p60), size * size
  local u = select(is_large, size, size + square / (1 + expr.sqrt(square + 1)))
  return with_sign_of(x, log_of_sum(u, is_large), formats[t.dtype])
end

-- acosh x = log(x + sqrt(x^2 - 1)).
-- ulp: f32 2.88, f64 1.37; log1p and u, x near 1.
function vecmath.acosh(x)
  local is_large, above = expr.gt(x, 0x1p60), x - 1
  local u = select(is_large, x, above + expr.sqrt(above * (above + 2)))
  return select(expr.lt(x, 1), 0 / 0, log_of_sum(u, is_large))
end

-- atanh |x| = log((1 + |x|) / (1 - |x|)) / 2.
-- ulp: f32 2.37 / 2.46, f64 1.90; log1p and the quotient.
function vecmath.atanh(x, t)
  local size = expr.abs(x)
  return with_sign_of(x, 0.5 * expr.log1p(2 * size / (1 - size)), formats[t.dtype])
end

-- The logarithms' parts -----------------------------------------------------------------------

-- x = 2^e m, sqrt(1/2) <= m < sqrt(2), for x > 0 in the normal range. Returns bits: e + bias in the
-- exponent's place, and below it how far m is from sqrt(1/2).
local function split(x, format)
  return expr.iadd(bits(x), iconst((format.bias << format.mantissa) - format.sqrt_half))
end

-- e + bias + 2^mantissa as a number, of what split returns: below that power's exponent the bits
-- of a whole number are its own.
local function exponent_of(parts, format)
  local power = iconst((format.bias + format.mantissa) << format.mantissa)
  return real(expr.ior(expr.ishr(parts, format.mantissa), power))
end

-- log(1 + f) - f + rest, sqrt(1/2) <= 1 + f < sqrt(2).
local log1p_rest = {}

function log1p_rest.f32(f, rest)
  return mad(f * f, polynomial(f, formats.f32.log1p), rest)
end

-- 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + s^2 p(s^2)). The division is cheaper than the thirteen
-- more terms that a polynomial in f takes.
function log1p_rest.f64(f, rest)
  local s = f / (2 + f)
  local square = s * s
  local half = 0.5 * f * f
  return mad(s, half + square * polynomial(square, formats.f64.atanh), rest) - half
end

-- A logarithm y of x where there is one.
local function of_positive(x, y)
  y = select(expr.lt(x, math.huge), y, x)
  return select(expr.gt(x, 0), y, select(expr.eq(x, 0), -math.huge, 0 / 0))
end

-- e ln2 + log(1 + f), the logarithm of x > 0; for other x its value there. With -e, not e, a zero's
-- sign survives (e = 0, f = -0).
local function log_sum(x, minus_e, f, t)
  local ln2 = formats[t.dtype].ln2
  local rest = log1p_rest[t.dtype](f, minus_e * -ln2[2])
  return of_positive(x, mad(minus_e, -ln2[1], f + rest))
end

-- -e and m of x = 2^e m, sqrt(1/2) <= m < sqrt(2), for x > 0.
local function split_any(x, format)
  local offset = format.bias + 2.0 ^ format.mantissa
  local raise = format.mantissa + 1
  local below = expr.lt(x, format.tiny)
  local parts = split(select(below, x * 2.0 ^ raise, x), format)
  local minus_e = select(below, offset + raise, offset) - exponent_of(parts, format)
  local from_sqrt_half = expr.iand(parts, iconst((1 << format.mantissa) - 1))
  return minus_e, real(expr.iadd(from_sqrt_half, iconst(format.sqrt_half)))
end

-- log x = e ln2 + log m.
-- ulp: f32 1.20 / 1.22, f64 0.85 / 0.85; in f32 the polynomial, for x from 0.7 to 0.8.
function vecmath.log(x, t)
  local minus_e, m = split_any(x, formats[t.dtype])
  return log_sum(x, minus_e, m - 1, t)
end

-- log x by another base: e log 2 + log m, log m = f log e + rest log e.
local function log_by(name, x, t)
  local format = formats[t.dtype]
  local per_e, per_two = format.per_e[name], format.per_two[name]
  local minus_e, m = split_any(x, format)
  local f = m - 1
  local low = mad(f, per_e[2], log1p_rest[t.dtype](f, 0) * (per_e[1] + per_e[2]))
  low = mad(f, per_e[1], per_two[2] and mad(minus_e, -per_two[2], low) or low)
  return of_positive(x, mad(minus_e, -per_two[1], low))
end

-- Powers of 2 are exact.
-- ulp: f32 1.68 / 1.86, f64 0.99 / 0.95; the polynomial, for x near sqrt(2).
function vecmath.log2(x, t)
  return log_by("log2", x, t)
end

-- ulp: f32 1.25 / 2.19, f64 0.81 / 1.59; without fma log e times f, for x near 4 / 3.
function vecmath.log10(x, t)
  return log_by("log10", x, t)
end

-- log(1 + x) = e ln2 + log(1 + f), e from 1 + x rounded, but f = 2^-e x - (1 - 2^-e) from x. 2^-e
-- may be below the normal range, 2^(2-e) is not.
-- ulp: f32 1.76 / 1.78, f64 1.38 / 1.38; f's rounding for x above sqrt(2) - 1, where e is 1.
function vecmath.log1p(x, t)
  local format = formats[t.dtype]
  local sum = 1 + x
  local parts = split(sum, format)
  local exponent = expr.iand(parts, iconst((2 * format.bias + 1) << format.mantissa))
  local power = real(expr.isub(iconst((2 * format.bias + 2) << format.mantissa), exponent))
  local f = x * power * 0.25 - mad(power, -0.25, 1)
  local minus_e = format.bias + 2.0 ^ format.mantissa - exponent_of(parts, format)
  return log_sum(sum, minus_e, f, t)
end

-- Below erf_split erf x = x + x p(x^2); above, 1 - 2^q(|x|), where errors count for a fifth at
-- most.
-- ulp: f32 1.60 / 1.66, f64 1.21 / 1.38; the sums of q just above erf_split.
function vecmath.erf(x, t)
  local format = formats[t.dtype]
  local magnitude = expr.abs(x)
  local small = mad(polynomial(x * x, format.erf), x, x)
  local q = polynomial(expr.minraw(format.erf_limit, magnitude), format.log2_erfc)
  -- n + bias, and a one in the sign's place: -2^n.
  local shift = format.magic + 3 * format.bias + 2
  local shifted = q + shift
  local minus_power = power_of_two(bits(shifted), format)
  local p = polynomial(q - (shifted - shift), format.exp2_short or format.exp2)
  local large = with_sign_of(x, mad(p, minus_power, 1), format)
  return select(expr.lt(magnitude, format.erf_split), small, large)
end

-- erfc x = e^(-x^2) u p(u), u = 1 / (x + 3/2), for x at least erf_split. x^2 is high^2, exact as
-- high has half of x's bits, and (x - high) (x + high). What rounding adds to x + 3/2 is found
-- exactly; with the slope of log(u p(u)), about -1.4 u, it goes into the power of e. Dividing by
-- x + 3/2 again, not taking u, keeps u's error out of the result.
local function erfc_tail(x, format, t)
  local sum = x + 1.5
  local u = 1 / sum
  local high = real(expr.iand(bits(x), iconst(-1 << (format.mantissa + 2) // 2)))
  local low = mad(high - x, high + x, (sum - 1.5 - x) * u * 1.4)
  local part = reduce(-(high * high), 1, 2 * format.bias, format)
  local r = part.high + (part.low + low)
  local q = r * polynomial(r, { 1, table.unpack(format.expm1) })
  local p = polynomial(u, format.erfc)
  return scale_by_power(mad(p, q, p) / sum, part.n, part.exponent, format, t)
end

-- Below erf_split 1 - (x + x p(x^2)) as in erf; above, the tail, or 2 less the tail. The comparison
-- is such that NaN takes the first, as the second loses it.
-- ulp: f32 3.09 / 3.33, f64 3.04 / 3.40; near x = 1.1 what u lost, through p. Negative x: 1.3.
function vecmath.erfc(x, t)
  local format = formats[t.dtype]
  local magnitude = expr.abs(x)
  local small = 1 - x - x * polynomial(x * x, format.erf)
  local tail = erfc_tail(expr.minraw(format.erfc_limit, magnitude), format, t)
  local large = select(expr.lt(x, 0), 2 - tail, tail)
  return select(expr.ge(magnitude, format.erf_split), large, small)
end

-- erfinv x = x p(w), w = -log(1 - x^2), and x p(sqrt(w)) of a w above 5, up to 37
-- remez(erfinv(x) / x, 5, [0;5], relative): 1.8e-5; [2.2;6.1]: 9.7e-5
local erfinv = {
  near = { 0.886243, 0.23173127, 0.012314067, -0.0030634565, 0.00016802794, 1.604512e-6 },
  far = { 0.6254874, 0.05218291, 0.4430081, -0.10177078, 0.011581974, -0.00052143584 },
}

-- From y / x by a polynomial in w = -log(1 - x^2), or in its root, off by 1e-4, steps of Halley's to where erf y is x:
-- in f64 two. Above 1/2 it is 1 - x that erfc y should be.
-- ulp: f32 2.27, f64 1.90; erf and erfc, |x| near 1/2.
function vecmath.erfinv(x, t)
  local format, size = formats[t.dtype], expr.abs(x)
  local w = -expr.log((1 - size) * (1 + size))
  local y = size * select(expr.lt(w, 5), polynomial(w, erfinv.near), polynomial(expr.sqrt(w), erfinv.far))
  for _ = 1, t.dtype == "f64" and 2 or 1 do
    local excess = select(expr.gt(size, 0.5), 1 - size - expr.erfc(y), expr.erf(y) - size)
    local step = excess * (0.5 * math.sqrt(math.pi)) * expr.exp(y * y)
    y = y - step / (1 + y * step)
  end
  return with_sign_of(x, select(expr.eq(size, 1), math.huge, y), format)
end

-- Powers --------------------------------------------------------------------------------------

-- The upper half of a number's bits.
local function upper(x, format)
  return real(expr.iand(bits(x), iconst(format.half)))
end

-- log2 x for x > 0 as the sum of an upper half and a number.
-- s = (m - 1) / (m + 1), then 3 + s^2 + ..., their product and its scale as such sums: products of two upper
-- halves are exact. After fdlibm's e_pow.c (Sun Microsystems 1993).
local function log2_sum(x, format)
  local minus_e, m = split_any(x, format)
  local f, inverse = m - 1, 1 / (m + 1)
  local s = f * inverse
  local s_high = upper(s, format)
  local high = upper(m + 1, format)
  local s_low = inverse * (f - s_high * high - s_high * (m - (high - 1)))
  local z, square = s * s, s_high * s_high
  local rest = mad(s_low, s_high + s, z * z * polynomial(z, format.log2))
  high = upper(3 + square + rest, format)
  local low = rest - (high - 3 - square)
  local exact = s_high * high
  local p_low = mad(low, s, s_low * high)
  local p_high = upper(exact + p_low, format)
  p_low = p_low - (p_high - exact)
  local scale = format.log2_scale
  exact = p_high * scale[1]
  low = mad(p_high, scale[2], p_low * (scale[1] + scale[2]))
  high = upper(exact + low - minus_e, format)
  return high, low - (high + minus_e - exact)
end

-- x^y = 2^(y log2 |x|). What is added to log2 is 0, or NaN where x is; of 0 and infinity nothing else is used.
-- Signs, and what has no logarithm, as C's pow has them: 1 for y = 0 and for x = 1 whatever the other is, NaN for
-- x < 0 and y that is not whole, but for x that is infinite.
-- ulp: f32 0.85 / 1.06, f64 0.82 / 1.07, of samples; the last polynomial's, as in exp2.
function vecmath.pow(x, y, t)
  local format = formats[t.dtype]
  local size = expr.abs(x)
  local log_high, log_low = log2_sum(size, format)
  local limited = clamp(y, { -format.exact_power, format.exact_power })
  local y_high = upper(limited, format)
  local high = clamp(y_high * log_high, format.exp2_range)
  local low = clamp(mad(limited - y_high, log_high, limited * (log_low + (size - size))), { -0.5, 0.5 })
  local shift = format.magic + 2 * format.bias
  local shifted = high + low + shift
  local n = shifted - shift
  local power = scale_by_power(polynomial(high - n + low, format.exp2), n, bits(shifted), format, t)

  local at_end = select(expr.lt(y, 0), select(expr.lt(size, 1), math.huge, 0), select(expr.gt(y, 0), size, y))
  power = select(expr.eq(size, size + size), at_end, power)
  local half = y * 0.5
  local of_whole = select(expr.ne(expr.round(half), half), expr.copysign(power, x), power)
  local of_others = select(expr.lt(select(expr.lt(size, math.huge), x, 0), 0), 0 / 0, power)
  power = select(expr.eq(expr.round(y), y), of_whole, of_others)
  return select(expr.eq(y, 0), 1, select(expr.eq(x, 1), 1, power))
end

-- ulp: 1.46; the roundings of the root and of the quotient.
function vecmath.rsqrt(x)
  return 1 / expr.sqrt(x)
end

-- Whole numbers -------------------------------------------------------------------------------

-- The nearest whole number, of two the even one, exactly: above 2^mantissa there are no others.
function vecmath.round(x, t)
  local format = formats[t.dtype]
  local size, limit = expr.abs(x), 2.0 ^ format.mantissa
  return select(expr.lt(size, limit), with_sign_of(x, size + limit - limit, format), x)
end

-- The largest whole number that is not above x.
function vecmath.floor(x)
  local near = expr.round(x)
  return select(expr.gt(near, x), near - 1, near)
end

-- -1, +0 or 1; NaN stays.
function vecmath.sign(x)
  local size = expr.abs(x)
  return select(expr.gt(size, 0), expr.copysign(1, x), size)
end

require "trigonometry"(vecmath, {
  polynomial = polynomial, with_sign_of = with_sign_of, upper = upper, power_of_two = power_of_two,
  exponent_of = exponent_of,
})

-- For results that are rounded to half the bits, of arguments that were rounded themselves.
vecmath.near = {}

-- erfc x = e^(-x^2) u p(u), u = 1 / (|x| + 2), for all x: p is off by 1.5e-7, u by 2 ulp, and the power by
-- as much as the rounding of x^2 makes of it. Half as long as what is right in f32.
function vecmath.near.erfc(x, t)
  local magnitude = expr.minraw(formats[t.dtype].erfc_limit, expr.abs(x))
  local sum = magnitude + 2
  local start = expr.make("reciprocal_near", { sum })
  local u = mad(start, mad(-sum, start, 1), start)
  local p = polynomial(u, {
    0x1.210552p-1, 0x1.1d0356p+0, 0x1.1e0302p+1, 0x1.46c014p-1, 0x1.901862p+3, -0x1.70e756p+4, 0x1.6fad46p+3,
  })
  local tail = p * u * vecmath.exp(-(magnitude * magnitude), t)
  return select(expr.lt(x, 0), 2 - tail, tail)
end

return vecmath
