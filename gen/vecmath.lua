-- Elementary functions as expressions over the primitives of expr: one source for every target.
--
-- Each function takes a node x and a target t and returns the node of its value:
--   t.dtype   "f32" or "f64", the compute type
--   t.scalef  ldexp is one instruction
--   t.reciprocal  reciprocal, of numbers from 1 to 2^126 and off by a few ulp, is at hand and cheaper than
--             a division; then mad is rounded once
-- mad(a, b, c) may be rounded once or twice; nothing here needs the one or the other.
-- There are no branches and no tables: the argument is reduced through the bits of its exponent, a
-- minimax polynomial covers the reduced range, and select puts special cases in. All are right for
-- NaN, infinities and zeros of both signs, and for numbers below the normal range, which are
-- neither read nor returned as zero.
--
-- Each function's error is in units in the last place (ulp) of the exact result, mad rounded once /
-- twice, and what it is due to: in f32 the largest over all 2^32 arguments, in f64 the largest of
-- 40 million from all ranges, denormals and the neighbours of every limit here.
--
-- The polynomials are Sollya's, rounded to the compute type, lowest power first. Above each stand
-- the command that makes it and the largest error that it leaves, relative to the result.

local expr = require "expr"

local vecmath = {}

local mad, select = expr.mad, expr.select
local bits, real, iconst = expr.bits, expr.real, expr.iconst

local log2_e = 0x1.71547652b82fep0

-- What depends on the compute type alone.
--   mantissa   how many of its bits are stored
--   magic      added to a small number, rounds it to a whole one, in the lowest bits of the sum;
--              as bits it has zeros wherever those go when shifted into the exponent's place,
--              and half of it has, too
--   tiny       the smallest normal number
--   ln2        in two parts: the first times a whole number of the exponent's range is exact
--   *_range    beyond it the function has the same value as at its end
local formats = {
  f32 = {
    mantissa = 23,
    bias = 127,
    sign = 1 << 31,
    sqrt_half = 0x3f3504f3, -- as bits
    magic = 0x1.8p23,
    tiny = 0x1p-126,
    ln2 = { 0x1.62e4p-1, 0x1.7f7d1cp-20 },
    exp_range = { -104, 89 },
    expm1_range = { -30, 89 },
    exp2_range = { -151, 129 },
    tanh_limit = 9.5,
    erf_limit = 3.95,
    erfc_limit = 10.1,
    erf_split = 0.875,

    -- e^r = 1 + r + r^2 p(r)
    -- fpminimax(expm1(x), [|2,...,6|], [|SG...|], [-.3467;.3467], relative, x): 5.3e-9 of e^r,
    -- 1.4e-8 of e^r - 1
    expm1 = { 0x1.fffffep-2, 0x1.5554bp-3, 0x1.555716p-5, 0x1.12279ep-7, 0x1.6b7376p-10 },

    -- 2^r = p(r)
    -- fpminimax(2^x, [|1,...,6|], [|SG...|], [-.5;.5], relative, 1): 3.6e-9
    exp2 = {
      1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af76p-5, 0x1.3b30ap-7, 0x1.5f0b82p-10, 0x1.3fa206p-13,
    },

    -- fpminimax(2^x, [|1,...,5|], [|SG...|], [-.5;.5], relative, 1): 9.2e-8; for where the result
    -- counts for a fifth at most
    exp2_short = { 1, 0x1.62e42ap-1, 0x1.ebf9bap-3, 0x1.c6b69ap-5, 0x1.3ceaf8p-7, 0x1.5bfd58p-10 },

    -- log(1 + f) = f + f^2 p(f)
    -- fpminimax(log1p(x), [|2,...,9|], [|SG...|], [-.2929;.4143], relative, x): 3.0e-8
    log1p = {
      -0x1.fffffap-2, 0x1.5556f4p-2, -0x1.0004bp-2, 0x1.98d2aap-3, -0x1.535a14p-3, 0x1.31837ep-3,
      -0x1.251642p-3, 0x1.65f522p-4,
    },

    -- erf x = x + x p(x^2)
    -- fpminimax(erf(sqrt(x)) / sqrt(x) - 1, 5, [|SG...|], [1b-60;.875^2], absolute): 1.4e-8
    erf = {
      0x1.06eba6p-3, -0x1.812702p-2, 0x1.ce2036p-4, -0x1.b6ea32p-6, 0x1.499f5cp-8, -0x1.44aba8p-11,
    },

    -- log2(erfc x) = p(x)
    -- remez(log2(erfc(x)) * erfc(x), 6, [.87;3.95], erfc(x)): 6.8e-9 of erf x
    log2_erfc = {
      -0x1.a193f4p-13, -0x1.a092b2p0, -0x1.d65c3ep-1, -0x1.342466p-3, 0x1.08bfaap-5,
      -0x1.23e228p-8, 0x1.2f3646p-12,
    },

    -- erfc x = e^(-x^2) u p(u), u = 1 / (x + 3/2)
    -- fpminimax(exp((1/x - 1.5)^2) * erfc(1/x - 1.5) / x, 7, [|SG...|],
    --   [1/(10.1 + 1.5);1/(.87 + 1.5)], relative): 1.6e-8
    erfc = {
      0x1.20e142p-1, 0x1.b09eaep-1, 0x1.0343dep0, 0x1.77b83p-2, 0x1.27492ep0, -0x1.0c85cap3,
      0x1.65c872p3, -0x1.3eee68p2,
    },
  },

  f64 = {
    mantissa = 52,
    bias = 1023,
    sign = 1 << 63,
    sqrt_half = 0x3fe6a09e667f3bcd,
    magic = 0x1.8p52,
    tiny = 0x1p-1022,
    ln2 = { 0x1.62e42fefa3p-1, 0x1.3de6af278ece6p-42 },
    exp_range = { -746, 710 },
    expm1_range = { -50, 710 },
    exp2_range = { -1076, 1025 },
    tanh_limit = 19.5,
    erf_limit = 6,
    erfc_limit = 27.3,
    erf_split = 1,

    -- fpminimax(expm1(x), [|2,...,11|], [|D...|], [-.3467;.3467], relative, x): 7.4e-18 of e^r,
    -- 1.9e-17 of e^r - 1
    expm1 = {
      0x1.0000000000005p-1, 0x1.555555555553bp-3, 0x1.5555555552101p-5, 0x1.1111111118834p-7,
      0x1.6c16c17f336cp-10, 0x1.a01a0177f3ca6p-13, 0x1.a019a6914c09ap-16, 0x1.71de80fa36f19p-19,
      0x1.28a2a1b3c047fp-22, 0x1.ae77aa5a5b9e6p-26,
    },

    -- fpminimax(2^x, [|1,...,11|], [|D...|], [-.5;.5], relative, 1): 5.7e-18
    exp2 = {
      1, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5a6p-3, 0x1.c6b08d704a12cp-5, 0x1.3b2ab6fb9fda6p-7,
      0x1.5d87fe789e96fp-10, 0x1.4309130f6cbdbp-13, 0x1.ffcbfc6685ee5p-17, 0x1.62bfc6596be6ap-20,
      0x1.b52522bc20bcdp-24, 0x1.e61d4332035bap-28, 0x1.e9731780488cp-32,
    },

    -- log(1 + f) = 2 atanh(s) = 2 s + s^3 p(s^2), s = f / (2 + f)
    -- fpminimax((log((1 + sqrt(x)) / (1 - sqrt(x))) / sqrt(x) - 2) / x, 6, [|D...|],
    --   [1b-60;.02945], absolute): 4.5e-18
    atanh = {
      0x1.5555555555558p-1, 0x1.99999999952b9p-2, 0x1.2492492dfb9b8p-2, 0x1.c71c62d649d8cp-3,
      0x1.7462b925fa03ep-3, 0x1.39fdcbbceb4c6p-3, 0x1.2b5f5b2f9f871p-3,
    },

    -- fpminimax(erf(sqrt(x)) / sqrt(x) - 1, 12, [|D...|], [1b-60;1], absolute): 1.1e-17
    erf = {
      0x1.06eba8214db69p-3, -0x1.812746b0379fdp-2, 0x1.ce2f21a04362dp-4, -0x1.b82ce312abf08p-6,
      0x1.565bcd12991cp-8, -0x1.c02db49b09506p-11, 0x1.f9a335388d2f5p-14, -0x1.f4d333884b5cap-17,
      0x1.b9ee95850f6f5p-20, -0x1.5f9828c55da45p-23, 0x1.fc78cbccf6129p-27,
      -0x1.46794feb16f44p-30, 0x1.2978304266ff7p-34,
    },

    -- remez(log2(erfc(x)) * erfc(x), 17, [.99;6], erfc(x)): 1.8e-17 of erf x
    log2_erfc = {
      -0x1.73d4194f79a2bp-21, -0x1.a0be0e0ee4e87p0, -0x1.d6432e1ae4b0fp-1, -0x1.2f75718a58614p-3,
      0x1.c0fa44f9c4779p-6, 0x1.321991ac248b5p-11, -0x1.69277fca465e1p-9, 0x1.21a535ee77bf3p-10,
      -0x1.8fa6d18a99288p-13, -0x1.06c032c7ae906p-15, 0x1.1aeed939b844fp-15,
      -0x1.abb1ff4a281cbp-17, 0x1.a525155446a19p-19, -0x1.2687a0de4ef4cp-21,
      0x1.25402911f07adp-24, -0x1.8e1274fd66708p-28, 0x1.4b784df18c771p-32,
      -0x1.fff78a8656d6bp-38,
    },

    -- fpminimax(exp((1/x - 1.5)^2) * erfc(1/x - 1.5) / x, 20, [|D...|],
    --   [1/(27.3 + 1.5);1/(.99 + 1.5)], relative): 2.8e-17
    erfc = {
      0x1.20dd75041fb0dp-1, 0x1.b14c2f8d6e6c2p-1, 0x1.f9838a6c892f9p-1, 0x1.44f99ba7635ccp-1,
      -0x1.0edfe9ec9dc6dp-1, -0x1.07a3a3ae7440ep1, -0x1.d4e00e0c45293p0, 0x1.1a00e5d117fb9p2,
      0x1.67761f2ac831fp0, 0x1.7d600bbed5ce8p6, -0x1.670318d99cf9ep9, 0x1.dad75f18c78cfp11,
      -0x1.13cdc96586b1ap14, 0x1.f4e8f0f64eb99p15, -0x1.4efa96cd99fcap17, 0x1.46e6d1f3e93a4p18,
      -0x1.cefe63640ee04p18, 0x1.d21b4f993f56cp18, -0x1.3d9480b7a9657p18, 0x1.07594d5820cafp17,
      -0x1.92003d1e010f2p14,
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
-- which need not be in range itself, is the product of two halves.
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
-- being h or 1. It has all but the last steps in common with that of -x.
-- ulp: f32 1.65 / 1.98, f64 1.66 / 1.86; those of h, h + 1 and the quotient, -1.2 < x < 0.
function vecmath.sigmoid(x, t)
  local h = exp_in_range(expr.minraw(-formats[t.dtype].exp_range[1], expr.abs(x)), -1, t)
  local c = select(expr.lt(x, 0), h, 1)
  return mad(c, minus_share(h, h, t), c)
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

-- e ln2 + log(1 + f), the logarithm of x > 0; for other x its value there. With -e, not e, a zero's
-- sign survives (e = 0, f = -0).
local function log_sum(x, minus_e, f, t)
  local ln2 = formats[t.dtype].ln2
  local rest = log1p_rest[t.dtype](f, minus_e * -ln2[2])
  local y = mad(minus_e, -ln2[1], f + rest)
  y = select(expr.lt(x, math.huge), y, x)
  return select(expr.gt(x, 0), y, select(expr.eq(x, 0), -math.huge, 0 / 0))
end

-- log x = e ln2 + log m.
-- ulp: f32 1.20 / 1.22, f64 0.85 / 0.85; in f32 the polynomial, for x from 0.7 to 0.8.
function vecmath.log(x, t)
  local format = formats[t.dtype]
  local offset = format.bias + 2.0 ^ format.mantissa
  local raise = format.mantissa + 1
  local below = expr.lt(x, format.tiny)
  local parts = split(select(below, x * 2.0 ^ raise, x), format)
  local minus_e = select(below, offset + raise, offset) - exponent_of(parts, format)
  local from_sqrt_half = expr.iand(parts, iconst((1 << format.mantissa) - 1))
  local m = real(expr.iadd(from_sqrt_half, iconst(format.sqrt_half)))
  return log_sum(x, minus_e, m - 1, t)
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
