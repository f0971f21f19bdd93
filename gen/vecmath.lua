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
    top = 31,
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
    exact_power = 2.0 ^ 40, -- of any number but 1 it is 0 or infinity
    half = -1 << 12, -- leaves as many bits that the product of two such numbers is exact

    -- pi / 2 in parts. Of an argument below the limit the first two leave a number that is exact, and so is
    -- the product of the third with a whole number of quarter turns.
    half_pi = { 0x1.922p0, -0x1.2cp-18, 0x1.11p-26, 0x1.68c234p-39, limit = 6430 },
    digit = 12, -- bits of one of 2 / pi

    -- sin r = r + r^3 p(r^2)
    -- fpminimax(sin(x), [|3,5,7|], [|SG...|], [1b-40;.7859], relative, x): 4.0e-9
    sin = { -0x1.555546p-3, 0x1.110778p-7, -0x1.9953d8p-13 },

    -- cos r = 1 - r^2 / 2 + r^4 p(r^2)
    -- fpminimax(cos(sqrt(x)), [|2,3,4|], [|SG...|], [1b-30;.7859^2], relative, 1 - x / 2): 1.2e-10
    cos = { 0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e9p-16 },

    -- log((1 + s) / (1 - s)) = 2/3 s (3 + z + z^2 p(z)), z = s^2
    -- fpminimax((log((1 + sqrt(x)) / (1 - sqrt(x))) / sqrt(x) * 1.5 - 3 - x) / x^2, 3, [|SG...|],
    --   [1b-60;.02945], absolute): 1.5e-12
    log2 = { 0x1.333334p-1, 0x1.b6da0ap-2, 0x1.558a76p-2, 0x1.1c77b6p-2 },
    log2_scale = { 0x1.ec8p-1, -0x1.ec478cp-14 }, -- 2 / (3 ln 2)

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
    top = 63,
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
    exact_power = 2.0 ^ 70,
    half = -1 << 27,
    half_pi = {
      0x1.921fb54p0, 0x1.10b462p-30, -0x1.cb3b398p-55, -0x1.d747f23e32ed7p-83, limit = 2.0 ^ 26,
    },
    digit = 26,

    -- fpminimax(sin(x), [|3,5,7,9,11,13|], [|D...|], [1b-40;.7855], relative, x): 3.8e-18
    sin = {
      -0x1.5555555555548p-3, 0x1.111111110f75dp-7, -0x1.a01a019bf222ep-13, 0x1.71de355f05599p-19,
      -0x1.ae5e5471f5501p-26, 0x1.5d8e3511cdb44p-33,
    },

    -- fpminimax(cos(sqrt(x)), [|2,3,4,5,6,7|], [|D...|], [1b-30;.7855^2], relative, 1 - x / 2): 5.7e-20
    cos = {
      0x1.555555555554bp-5, -0x1.6c16c16c15016p-10, 0x1.a01a019c8f3eep-16, -0x1.27e4f7f19d4b2p-22,
      0x1.1ee9dbd0d86ap-29, -0x1.8fa681e38485fp-37,
    },

    -- fpminimax(..., 7, [|D...|], [1b-60;.02945], absolute): 4.3e-22
    log2 = {
      0x1.3333333333333p-1, 0x1.b6db6db6db97p-2, 0x1.5555555507f26p-2, 0x1.1745d1b548371p-2,
      0x1.d89d5042f8478p-3, 0x1.99a8095b51967p-3, 0x1.675c9c69dd62fp-3, 0x1.6a70277451865p-3,
    },
    log2_scale = { 0x1.ec709ep-1, -0x1.e2fe0145b01f5p-28 },

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

-- Sine and cosine -----------------------------------------------------------------------------

-- 2 / pi, 1280 bits of it from 2^-1 on.
local two_over_pi = "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
  .. "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ff"
  .. "de05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
  .. "56033046fc7b6babf0cfbc209af4361d"

-- It as digits of so many bits: a 0, then those from 2^0 on, each from minus to plus half of what it counts up to.
local function digits_of(width)
  local digits, number, held = { 0, 0 }, 0, 0
  for figure in two_over_pi:gmatch "." do
    number, held = number << 4 | tonumber(figure, 16), held + 4
    if held >= width then
      held = held - width
      digits[#digits + 1] = number >> held
      number = number & (1 << held) - 1
    end
  end
  for i = #digits, 2, -1 do
    if digits[i] >= 1 << width - 1 then
      digits[i], digits[i - 1] = digits[i] - (1 << width), digits[i - 1] + 1
    end
  end
  return digits
end

-- `count` of the digits from the one on whose number, from 0, is a node `place`: by as many steps as that has bits.
local function window(digits, place, most, count)
  local step = 1
  while 2 * step <= most do
    step = 2 * step
  end
  while step >= 1 do
    local further, list = expr.ge(place, step), {}
    for i = 1, count + step - 1 do
      list[i] = select(further, digits[i + step] or 0, digits[i] or 0)
    end
    digits, place, step = list, select(further, place - step, place), step // 2
  end
  return digits
end

-- What rounds a number to a multiple of `to` and is added to it.
local function nearest(x, format, to)
  local magic = format.magic * (to or 1)
  return x + magic - magic
end

-- x >= 0 in quarter turns, below half_pi's limit: bits, the lowest of which hold how many, and the angle that is
-- left, r + low, |r| <= pi / 4 and a little more.
local function turn_near(x, format)
  local parts = format.half_pi
  local shifted = mad(x, 2 / math.pi, format.magic)
  local n = shifted - format.magic
  local high = mad(n, -parts[2], mad(n, -parts[1], x))
  local r = mad(n, -parts[3], high)
  return { quarters = bits(shifted), r = r, low = mad(n, -parts[4], mad(n, -parts[3], high - r)) }
end

-- The same for x from 2^(mantissa - digit) on. x = 2^E m; of the digits of 2 / pi those count whose products with m
-- are neither whole turns, nor too small. With m in two parts the products are exact, and so are their sums by
-- weight and what these carry to the next. Payne and Hanek 1983, in the arithmetic there is.
local function turn_far(x, format)
  local width = format.digit
  local base, offset = 2.0 ^ width, format.bias + format.mantissa
  local exponent = exponent_of(bits(x), format) - (2.0 ^ format.mantissa + offset - width)
  local place = nearest(exponent * (1 / width) - (width - 1) / (2 * width), format)
  local fraction = expr.iand(bits(x), iconst((1 << format.mantissa) - 1))
  local m = real(expr.ior(fraction, iconst(offset << format.mantissa)))
  local upper_part = nearest(m * (1 / base), format)
  local lower_part = mad(upper_part, -base, m)
  local last = 7
  local digits = window(digits_of(width), place, (2 * format.bias - offset + width) // width, last + 2)
  local sums, weights = {}, {}
  local power = power_of_two(bits(mad(place, -width, exponent) + (format.magic + format.bias)), format)
  for c = 0, last do
    sums[c] = mad(lower_part, digits[c + 1], upper_part * digits[c + 2])
    weights[c] = power * base ^ -c
  end
  for c = last, 1, -1 do
    local carry = nearest(sums[c] * (1 / base), format)
    sums[c], sums[c - 1] = mad(carry, -base, sums[c]), sums[c - 1] + carry
  end
  local whole = sums[0] * power
  local turns = whole - nearest(whole, format, 8) + sums[1] * weights[1]
  local third = sums[2] * weights[2]
  local shifted = turns + third + format.magic
  local first = turns - (shifted - format.magic) + third
  local second = mad(sums[3], weights[3], sums[4] * weights[4])
  local share = first + second
  local low = first - share + second + mad(sums[5], weights[5], sums[6] * weights[6])

  local part = format.half_pi[1]
  local rest = format.half_pi[2] + format.half_pi[3]
  local high = upper(share, format)
  local exact = high * part
  rest = mad(high, rest, mad(share - high, part + rest, low * (part + rest)))
  local r = exact + (rest + (x - x)) -- NaN where x is infinite
  return { quarters = bits(shifted), r = r, low = exact - r + rest }
end

-- The sine of a turn that begins `first` quarters later, but for its sign, and quarters with the sign in bit 1.
local function sine(turn, first, format)
  local r, square = turn.r, turn.r * turn.r
  local of_r = r + mad(square * r, polynomial(square, format.sin), turn.low)
  local of_rest = mad(square, mad(square, polynomial(square, format.cos), -0.5), 1)
  local quarters = first == 0 and turn.quarters or expr.iadd(turn.quarters, iconst(first))
  local one = iconst(format.bias << format.mantissa)
  local is_odd = expr.lt(real(expr.ior(expr.ishl(quarters, format.top), one)), 0)
  local flip = expr.iand(expr.ishl(quarters, format.top - 1), iconst(format.sign))
  return real(expr.ixor(bits(select(is_odd, of_rest, of_r)), flip))
end

local function wave(x, first, t)
  local format = formats[t.dtype]
  return expr.seldom(expr.ge(x, format.half_pi.limit), sine(turn_far(x, format), first, format),
    sine(turn_near(x, format), first, format))
end

-- ulp: f32 1.17 / 1.40, f64 1.07 / 1.34, of a few million arguments; r's last sum, for |r| near pi / 4.
function vecmath.sin(x, t)
  local format = formats[t.dtype]
  local of_size = wave(expr.abs(x), 0, t)
  return real(expr.ixor(bits(of_size), expr.iand(bits(x), iconst(format.sign))))
end

function vecmath.cos(x, t)
  return wave(expr.abs(x), 1, t)
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
