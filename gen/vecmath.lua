-- Elementary functions as expressions over the primitives of expr, one source for every target.
--
-- Each function here takes a node x and a target t and returns the node of its value:
--   t.dtype   "f32" or "f64": the compute type
--   t.fma     mad(a, b, c) is rounded once; elsewhere it is a product and a sum
--   t.scalef  ldexp is one instruction
-- There are no branches and no tables: an argument is reduced with the bits of its exponent, a
-- minimax polynomial covers the reduced range, and select puts the special cases in. Every
-- function is right for NaN, infinities, zeros of both signs, and numbers below the normal range,
-- which are neither read nor returned as zero.

local expr = require "expr"

local mad, select = expr.mad, expr.select
local bits, real, iconst = expr.bits, expr.real, expr.iconst

local vecmath = {}

-- What depends on the compute type alone.
--   mantissa  the bits of it that are stored
--   magic     adding it rounds a small number to a whole one, in the lowest bits of the sum; as
--             bits it has zeros where those go when shifted into the exponent, halved or not
--   ln2       in two parts; the first times a whole number of the exponent's range is exact
--   expm1     c[k] of e^r = 1 + r + r^2 (c[1] + c[2] r + ...), |r| <= ln2 / 2
local formats = {
  f32 = {
    mantissa = 23,
    bias = 127,
    sign = 1 << 31,
    magic = 0x1.8p23,
    tiny = 0x1p-126,
    sqrt_half = 0x3f3504f3,
    ln2 = { 0x1.62e4p-1, 0x1.7f7d1cp-20 },
    exp_range = { -104, 89 },
    expm1_range = { -30, 89 },
    exp2_range = { -151, 129 },
    tanh_limit = 9.5,
    erf_split = 0.875,
    erf_limit = 3.95,
    erfc_limit = 10.1,
    erf = {
      0x1.06eba6p-3, -0x1.812702p-2, 0x1.ce2036p-4, -0x1.b6ea32p-6, 0x1.499f5cp-8, -0x1.44aba8p-11,
    },
    log2_erfc = {
      -0x1.a193f4p-13, -0x1.a092b2p0, -0x1.d65c3ep-1, -0x1.342466p-3, 0x1.08bfaap-5,
      -0x1.23e228p-8, 0x1.2f3646p-12,
    },
    exp2_low = { 1, 0x1.62e42ap-1, 0x1.ebf9bap-3, 0x1.c6b69ap-5, 0x1.3ceaf8p-7, 0x1.5bfd58p-10 },
    erfc = {
     0x1.20e142p-1 ,
     0x1.b09eaep-1 ,
     0x1.0343dep0 ,
     0x1.77b83p-2 ,
     0x1.27492ep0 ,
     -0x1.0c85cap3 ,
     0x1.65c872p3 ,
     -0x1.3eee68p2 ,
    },
    expm1 = {
      0x1.fffffep-2, 0x1.5554bp-3, 0x1.555716p-5, 0x1.12279ep-7, 0x1.6b7376p-10,
    },
    exp2 = {
      1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af76p-5, 0x1.3b30ap-7, 0x1.5f0b82p-10,
      0x1.3fa206p-13,
    },
  },
  f64 = {
    mantissa = 52,
    bias = 1023,
    sign = 1 << 63,
    magic = 0x1.8p52,
    tiny = 0x1p-1022,
    sqrt_half = 0x3fe6a09e667f3bcd,
    ln2 = { 0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42 },
    exp_range = { -746, 710 },
    expm1_range = { -50, 710 },
    exp2_range = { -1076, 1025 },
    tanh_limit = 19.5,
    erf_split = 1,
    erf_limit = 6,
    erfc_limit = 27.3,
    erf = {0x1.06eba8214db69p-3,-0x1.812746b0379fdp-2,0x1.ce2f21a04362dp-4,-0x1.b82ce312abf08p-6,0x1.565bcd12991cp-8,-0x1.c02db49b09506p-11,0x1.f9a335388d2f5p-14,-0x1.f4d333884b5cap-17,0x1.b9ee95850f6f5p-20,-0x1.5f9828c55da45p-23,0x1.fc78cbccf6129p-27,-0x1.46794feb16f44p-30,0x1.2978304266ff7p-34},
    log2_erfc = {     -0x1.73d4194f79a2bp-21 ,
     -0x1.a0be0e0ee4e87p0 ,
     -0x1.d6432e1ae4b0fp-1 ,
     -0x1.2f75718a58614p-3 ,
     0x1.c0fa44f9c4779p-6 ,
     0x1.321991ac248b5p-11 ,
     -0x1.69277fca465e1p-9 ,
     0x1.21a535ee77bf3p-10 ,
     -0x1.8fa6d18a99288p-13 ,
     -0x1.06c032c7ae906p-15 ,
     0x1.1aeed939b844fp-15 ,
     -0x1.abb1ff4a281cbp-17 ,
     0x1.a525155446a19p-19 ,
     -0x1.2687a0de4ef4cp-21 ,
     0x1.25402911f07adp-24 ,
     -0x1.8e1274fd66708p-28 ,
     0x1.4b784df18c771p-32 ,
     -0x1.fff78a8656d6bp-38 ,},
    erfc = {
     0x1.20dd75041fb0dp-1 ,
     0x1.b14c2f8d6e6c2p-1 ,
     0x1.f9838a6c892f9p-1 ,
     0x1.44f99ba7635ccp-1 ,
     -0x1.0edfe9ec9dc6dp-1 ,
     -0x1.07a3a3ae7440ep1 ,
     -0x1.d4e00e0c45293p0 ,
     0x1.1a00e5d117fb9p2 ,
     0x1.67761f2ac831fp0 ,
     0x1.7d600bbed5ce8p6 ,
     -0x1.670318d99cf9ep9 ,
     0x1.dad75f18c78cfp11 ,
     -0x1.13cdc96586b1ap14 ,
     0x1.f4e8f0f64eb99p15 ,
     -0x1.4efa96cd99fcap17 ,
     0x1.46e6d1f3e93a4p18 ,
     -0x1.cefe63640ee04p18 ,
     0x1.d21b4f993f56cp18 ,
     -0x1.3d9480b7a9657p18 ,
     0x1.07594d5820cafp17 ,
     -0x1.92003d1e010f2p14 ,
    },
    expm1 = {
      0x1p-1, 0x1.5555555555559p-3, 0x1.555555555554dp-5, 0x1.111111110f655p-7,
      0x1.6c16c16c1aafep-10, 0x1.a01a01b0036d9p-13, 0x1.a01a018e0f1d8p-16, 0x1.71ddf80f86bfep-19,
      0x1.27e51339881a6p-22, 0x1.af5f2c464c9c2p-26, 0x1.1f1a36b0a9e8ap-29,
    },
    exp2 = {
      1, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58dp-3, 0x1.c6b08d704a182p-5, 0x1.3b2ab6fba53b8p-7,
      0x1.5d87fe7888dffp-10, 0x1.430912f7013a2p-13, 0x1.ffcbfcdb1c5bep-17, 0x1.62c027b683cf7p-20,
      0x1.b524232262315p-24, 0x1.e4bbc00d2bdaap-28, 0x1.eafdc2f7f8aa1p-32, 0x1.de49d623857dp-36,
    },
  },
}

-- c[1] + c[2] x + c[3] x^2 + ...
local function polynomial(x, c)
  local y = c[#c]
  for i = #c - 1, 1, -1 do
    y = mad(y, x, c[i])
  end
  return y
end

-- minraw and maxraw return their second argument for NaN.
local function clamp(x, range)
  return expr.maxraw(range[1], expr.minraw(range[2], x))
end

local function with_sign_of(x, magnitude, format)
  return real(expr.ior(bits(magnitude), expr.iand(bits(x), iconst(format.sign))))
end

-- scale x = n ln2 + scale r, |scale r| <= ln2 / 2 (a little more where rounding moves n). Returns n,
-- r, and the bits of a number whose lowest hold n + bias.
local function reduce(x, format, scale, bias)
  local shift = format.magic + bias
  local shifted = mad(x, scale * 0x1.71547652b82fep0, shift)
  local n = shifted - shift
  local high = mad(n, -format.ln2[1] / scale, x)
  return n, mad(n, -format.ln2[2] / scale, high), bits(shifted), high, n * (-format.ln2[2] / scale)
end

-- c[k] of (e^(scale r) - 1) / scale = r + r^2 (c[1] + c[2] r + ...)
local function expm1_coefficients(format, scale)
  local c = {}
  for k, value in ipairs(format.expm1) do
    c[k] = value * scale ^ k
  end
  return c
end

-- The number whose biased exponent is in the lowest bits given.
local function power_of_two(biased, format)
  return real(expr.ishl(biased, format.mantissa))
end

-- 2^n as a product of two powers of two that are in range where 2^n is not; biased: n + 2 bias.
local function split_power(biased, format)
  local half = expr.ishr(biased, 1)
  return power_of_two(half, format), power_of_two(expr.isub(biased, half), format)
end

-- p 2^n, rounded once, where that is below the normal range too.
local function scale_by_power(p, n, biased, format, t)
  if t.scalef then
    return expr.ldexp(p, n)
  end
  local a, b = split_power(biased, format)
  return p * a * b
end

function vecmath.exp(x, t)
  local format = formats[t.dtype]
  local n, r, biased = reduce(clamp(x, format.exp_range), format, 1, 2 * format.bias)
  local p = polynomial(r, { 1, 1, table.unpack(format.expm1) })
  return scale_by_power(p, n, biased, format, t)
end

function vecmath.exp2(x, t)
  local format = formats[t.dtype]
  local shift = format.magic + 2 * format.bias
  x = clamp(x, format.exp2_range)
  local shifted = x + shift
  local n = shifted - shift
  return scale_by_power(polynomial(x - n, format.exp2), n, bits(shifted), format, t)
end

-- power (e^(scale r) - 1) / scale + offset, r = high + low. The sum that is inexact comes last: where
-- power high and the offset nearly cancel, theirs is exact.
local function scaled_expm1(r, high, low, power, offset, coefficients)
  local rest = mad(r * r, polynomial(r, coefficients), low)
  return mad(power, rest, mad(power, high, offset))
end

-- e^x - 1 = 2 (2^(n-1) (e^r - 1) + 2^(n-1) - 1/2): half of it, as 2^n may be out of range.
function vecmath.expm1(x, t)
  local format = formats[t.dtype]
  local _, r, biased, high, low = reduce(clamp(x, format.expm1_range), format, 1, format.bias - 1)
  local power = power_of_two(biased, format)
  local half = scaled_expm1(r, high, low, power, power - 0.5, format.expm1)
  return select(expr.lt(expr.abs(x), 0x1p-60), x, half + half)
end

-- h / (h + 1), h >= 0, as c - c^2 / (h + 1), c = min(h, 1): the last term's errors count for half at
-- most.
local function ratio(h)
  local c = expr.minraw(1, h)
  return mad(c, c / (-1 - h), c)
end

-- tanh |x| = h / (h + 1), h = (e^(2|x|) - 1) / 2 = 2^n (e^(2r) - 1) / 2 + (2^n - 1) / 2.
function vecmath.tanh(x, t)
  local format = formats[t.dtype]
  local magnitude = expr.minraw(format.tanh_limit, expr.abs(x))
  local _, r, biased, high, low = reduce(magnitude, format, 2, format.bias)
  local power = power_of_two(biased, format)
  local h = scaled_expm1(r, high, low, power, mad(power, 0.5, -0.5), expm1_coefficients(format, 2))
  return with_sign_of(x, ratio(h), format)
end

-- 1 / (1 + e^-x) = e^x / (e^x + 1).
function vecmath.sigmoid(x, t)
  return ratio(vecmath.exp(x, t))
end

-- log(1 + f) - f + rest, sqrt(1/2) <= 1 + f < sqrt(2); adding f last leaves its rounding alone.
local log1p_tail = {}

function log1p_tail.f32(f, rest)
  return mad(f * f, polynomial(f, {
    -0x1.fffffap-2, 0x1.5556f4p-2, -0x1.0004bp-2, 0x1.98d2aap-3, -0x1.535a14p-3, 0x1.31837ep-3,
    -0x1.251642p-3, 0x1.65f522p-4,
  }), rest)
end

-- With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s)).
function log1p_tail.f64(f, rest)
  local s = f / (2 + f)
  local z = s * s
  local half_square = 0.5 * f * f
  local R = z * polynomial(z, {
    0x1.5555555555558p-1, 0x1.99999999952b9p-2, 0x1.2492492dfb9b8p-2, 0x1.c71c62d649d8cp-3,
    0x1.7462b925fa03ep-3, 0x1.39fdcbbceb4c6p-3, 0x1.2b5f5b2f9f871p-3,
  })
  return mad(s, half_square + R, rest) - half_square
end

-- x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for x > 0 in the normal range, given as bits.
-- Returns the biased exponent e + bias in the exponent's place and 1 + f.
local function split(x, format)
  local exponent_mask = (2 * format.bias + 1) << format.mantissa
  local shifted = expr.iadd(x, iconst((format.bias << format.mantissa) - format.sqrt_half))
  local mantissa = expr.iand(shifted, iconst((1 << format.mantissa) - 1))
  return expr.iand(shifted, iconst(exponent_mask)),
    real(expr.iadd(mantissa, iconst(format.sqrt_half))), shifted
end

-- -(e + offset) of the exponent in place
local function minus_exponent(shifted, format, offset)
  local one = 2.0 ^ format.mantissa
  local as_real = real(expr.ior(expr.ishr(shifted, format.mantissa), iconst((format.bias + format.mantissa) << format.mantissa)))
  return offset - as_real
end

-- e ln2 + log(1 + f), given -e: with it, not e, a zero's sign survives (e = 0, f = -0).
local function log_sum(minus_e, f, format, t)
  local tail = log1p_tail[t.dtype](f, minus_e * -format.ln2[2])
  return mad(minus_e, -format.ln2[1], f + tail)
end

-- y where x > 0 is finite, else the logarithm of x: inf, -inf for zero, NaN.
local function log_specials(x, y)
  y = select(expr.lt(x, math.huge), y, x)
  return select(expr.gt(x, 0), y, select(expr.eq(x, 0), -math.huge, 0 / 0))
end

function vecmath.log(x, t)
  local format = formats[t.dtype]
  local offset = format.bias + 2.0 ^ format.mantissa
  local below = expr.lt(x, format.tiny)
  local normal = select(below, x * 2.0 ^ (format.mantissa + 1), x)
  local _, m, shifted = split(bits(normal), format)
  local minus_e = minus_exponent(shifted, format, select(below, offset + format.mantissa + 1, offset))
  return log_specials(x, log_sum(minus_e, m - 1, format, t))
end

function vecmath.log1p(x, t)
  local format = formats[t.dtype]
  local u = 1 + x
  local e, _, shifted = split(bits(u), format)
  local minus_e = minus_exponent(shifted, format, format.bias + 2.0 ^ format.mantissa)
  local s4 = real(expr.isub(iconst((2 * format.bias + 2) << format.mantissa), e))
  local f = x * s4 * 0.25 - mad(s4, -0.25, 1)
  return log_specials(u, log_sum(minus_e, f, format, t))
end

-- |x| at most erf_split: erf x = x + x p(x^2). Above: 1 - 2^q(|x|).
function vecmath.erf(x, t)
  local format = formats[t.dtype]
  local exp2_low = format.exp2_low or format.exp2
  local magnitude = expr.abs(x)
  local small = mad(polynomial(x * x, format.erf), x, x)
  local q = polynomial(expr.minraw(format.erf_limit, magnitude), format.log2_erfc)
  -- The bit above the exponent is the sign: the power is negative.
  local shift = format.magic + 3 * format.bias + 2
  local shifted = q + shift
  local minus_power = power_of_two(bits(shifted), format)
  local large = mad(polynomial(q - (shifted - shift), exp2_low), minus_power, 1)
  return select(expr.lt(magnitude, format.erf_split), small, with_sign_of(x, large, format))
end

-- e^(-x^2) p(u) / (x + 3/2), u = 1 / (x + 3/2), for x at least erf_split. The second division costs
-- less accuracy than a product with u.
local function erfc_tail(x, format, t)
  local sum = x + 1.5
  local u = 1 / sum
  local high = real(expr.iand(bits(x), iconst(-1 << (format.mantissa + 2) // 2)))
  local low = mad(high - x, high + x, (sum - 1.5 - x) * u * 1.4)
  local square = high * high
  local shift = format.magic + 2 * format.bias
  local shifted = mad(square - low, -0x1.71547652b82fep0, shift)
  local n = shifted - shift
  local r = mad(n, -format.ln2[1], -square) + mad(n, -format.ln2[2], low)
  local q = r * polynomial(r, { 1, table.unpack(format.expm1) })
  local p = polynomial(u, format.erfc)
  return scale_by_power(mad(p, q, p) / sum, n, bits(shifted), format, t)
end

function vecmath.erfc(x, t)
  local format = formats[t.dtype]
  local magnitude = expr.abs(x)
  local small = 1 - x - x * polynomial(x * x, format.erf)
  local tail = erfc_tail(expr.minraw(format.erfc_limit, magnitude), format, t)
  local large = select(expr.lt(x, 0), 2 - tail, tail)
  return select(expr.lt(magnitude, format.erf_split), small, large)
end

return vecmath
