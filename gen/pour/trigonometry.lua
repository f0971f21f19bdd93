-- Sine, cosine, their inverses and lengths: what vecmath.lua has besides, in its words.

local expr = require "expr"
local formats = require "coefficients"

local mad, select = expr.mad, expr.select
local bits, real, iconst = expr.bits, expr.real, expr.iconst

-- Adds the functions to vecmath; tools are functions of that file.
return function(vecmath, tools)
  local polynomial, with_sign_of, upper = tools.polynomial, tools.with_sign_of, tools.upper
  local power_of_two, exponent_of = tools.power_of_two, tools.exponent_of

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

  -- Angles --------------------------------------------------------------------------------------

  -- pi / 2 - a - b, exact but for what b and the last sum round.
  local function quarter_turn_less(a, b, format)
    return format.half_turn[1] - a - (b - format.half_turn[2])
  end

  -- asin s = s + rest, of s = |x| up to 1/2, above of s = sqrt((1 - |x|) / 2), as pi / 2 - 2 asin s is asin |x| then.
  local function arcsine(x, t)
    local format, size = formats[t.dtype], expr.abs(x)
    local is_far = expr.gt(size, 0.5)
    local square = select(is_far, mad(size, -0.5, 0.5), x * x)
    local s = select(is_far, expr.sqrt(square), size)
    return is_far, s, s * square * polynomial(square, format.asin), format
  end

  -- ulp: f32 2.03, f64 1.39; the root, above 1/2.
  function vecmath.asin(x, t)
    local is_far, s, rest, format = arcsine(x, t)
    return with_sign_of(x, select(is_far, quarter_turn_less(2 * s, 2 * rest, format), s + rest), format)
  end

  -- ulp: f32 1.09, f64 1.12.
  function vecmath.acos(x, t)
    local is_far, s, rest, format = arcsine(x, t)
    local is_below = expr.lt(x, 0)
    local near = quarter_turn_less(select(is_below, -s, s), select(is_below, -rest, rest), format)
    local far = select(is_below, quarter_turn_less(s, rest, format), s + rest)
    return select(is_far, 2 * far, near)
  end

  -- The angle below pi of a point at r = the smaller of |x| and |y| by the larger.
  local function angle(r, is_steep, format)
    local square = r * r
    local rest = r * square * polynomial(square, format.atan)
    return select(is_steep, quarter_turn_less(r, rest, format), r + rest)
  end

  -- ulp: f32 1.19, f64 1.12; the last sum, above 1.
  function vecmath.atan(x, t)
    local format, size = formats[t.dtype], expr.abs(x)
    local is_steep = expr.gt(size, 1)
    return with_sign_of(x, angle(select(is_steep, 1 / size, size), is_steep, format), format)
  end

  -- As C's atan2: of zeros and infinities too, by their signs.
  -- ulp: f32 1.43, f64 1.42; the quotient and the last sum.
  function vecmath.atan2(y, x, t)
    local format = formats[t.dtype]
    local width, height = expr.abs(x), expr.abs(y)
    local is_steep = expr.gt(height, width)
    local small, large = select(is_steep, width, height), select(is_steep, height, width)
    local r = select(expr.eq(small, large), select(expr.eq(large, 0), 0, 1), small / large)
    local turn = angle(r, is_steep, format)
    local back = quarter_turn_less(turn - format.half_turn[1], -format.half_turn[2], format)
    return with_sign_of(y, select(expr.lt(expr.copysign(1, x), 0), back, turn), format)
  end

  -- sqrt(x^2 + y^2), the larger brought near 1 by a power of two where the squares may be out of range. An infinity
  -- beside a NaN is one.
  -- ulp: f32 1.17, f64 1.14; the sum of squares.
  function vecmath.hypot(x, y, t)
    local bias = formats[t.dtype].bias
    local a, b = expr.abs(x), expr.abs(y)
    local large = select(expr.gt(b, a), b, a)
    local is_above, is_below = expr.gt(large, 2.0 ^ (bias // 2 - 3)), expr.lt(large, 2.0 ^ -(bias // 3))
    local down, up = 2.0 ^ -(bias // 2 + 7), 2.0 ^ (bias * 3 // 4)
    local scale = select(is_above, down, select(is_below, up, 1))
    local back = select(is_above, 1 / down, select(is_below, 1 / up, 1))
    local r = expr.sqrt(a * scale * (a * scale) + b * scale * (b * scale)) * back
    return select(expr.any_of(expr.eq(a, math.huge), expr.eq(b, math.huge)), math.huge, r)
  end
end
