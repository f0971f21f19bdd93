-- a ^ b in a spec. Constant powers that are few products, of the base and of its root, are these; all others are pow.

local expr = require "expr"

-- Of more products more is rounded than pow is off by.
local most_products = 8

-- x^n, n a whole number from 1 on, by squaring.
local function product(x, n)
  if n == 1 then
    return x
  end
  local half = product(x, n // 2)
  local square = half * half
  return n % 2 == 0 and square or square * x
end

-- x^n, 2 n a whole number other than 0.
local function of_halves(x, n)
  local whole = math.abs(n) // 1
  local power = whole > 0 and product(x, whole)
  if n % 1 ~= 0 then
    if not power then
      return n > 0 and expr.sqrt(x) or expr.rsqrt(x)
    end
    power = power * expr.sqrt(x)
  end
  return n > 0 and power or 1 / power
end

function expr.power(a, b)
  if type(b) == "number" and math.abs(b) <= most_products and 2 * b % 1 == 0 then
    return b == 0 and expr.const(1) or of_halves(a, b)
  elseif a == 2 then
    return expr.exp2(b)
  end
  return expr.pow(a, b)
end
