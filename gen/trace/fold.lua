-- What operations fold to: a constant, or a node that there is already. Only where the result is the same to the bit,
-- for NaN, infinities and signed zeros too.

local fold = {}

local function is_const(node, value)
  return node.op == "const" and (value == nil or node.value == value)
end

local function is_power_of_two(x)
  if x == 0 or x ~= x or math.abs(x) == math.huge then
    return false
  end
  local mantissa = string.match(string.format("%a", math.abs(x)), "^0x1p")
  return mantissa ~= nil
end

local function one_of_equals(a, b)
  if rawequal(a, b) then
    return a
  end
end

local function floor_of(value)
  return value == value and math.abs(value) < 0x1p52 and value ~= 0 and math.floor(value) * 1.0 or value
end

local function nearest(value)
  if value ~= value or math.abs(value) >= 0x1p52 then
    return value
  end
  local whole = math.abs(value) + 0x1p52 - 0x1p52 -- of two equally near the even one
  return value < 0 and -whole or value == 0 and value or whole
end

-- What each operation folds to, given its argument nodes: a number, a node, or nil for nothing. abs: makes a node of
-- that operation.
function fold.rules(abs)
  return {
    add = function(a, b)
      if is_const(a) and is_const(b) then
        return a.value + b.value
      end
    end,
    sub = function(a, b)
      if is_const(a) and is_const(b) then
        return a.value - b.value
      elseif is_const(b, 0) and 1 / b.value > 0 then
        return a -- x - (+0) is x, for -0 as well; x + 0 is not
      end
    end,
    mul = function(a, b)
      if is_const(a) and is_const(b) then
        return a.value * b.value
      elseif is_const(a, 1) then
        return b
      elseif is_const(b, 1) then
        return a
      elseif is_const(b, -1) then
        return -a
      elseif is_const(a, -1) then
        return -b
      end
    end,
    div = function(a, b)
      if is_const(a) and is_const(b) then
        return a.value / b.value
      elseif is_const(b, 1) then
        return a
      elseif is_const(b) and is_power_of_two(b.value) and math.abs(math.log(math.abs(b.value), 2)) < 100 then
        return a * (1 / b.value) -- exact: both powers are normal numbers of every type
      end
    end,
    neg = function(a)
      if is_const(a) then
        return -a.value
      elseif a.op == "neg" then
        return a[1]
      end
    end,
    abs = function(a)
      if is_const(a) then
        return math.abs(a.value)
      elseif a.op == "neg" or a.op == "abs" then
        return abs(a[1])
      end
    end,
    sqrt = function(a)
      if is_const(a) and a.value >= 0 then
        return math.sqrt(a.value)
      end
    end,
    floor = function(a)
      if is_const(a) then
        return floor_of(a.value)
      end
    end,
    round = function(a)
      if is_const(a) then
        return nearest(a.value)
      end
    end,
    negate = function(a)
      if a.op == "negate" then
        return a[1]
      end
    end,
    all_of = one_of_equals,
    any_of = one_of_equals,
    select = function(_, a, b)
      return one_of_equals(a, b)
    end,
  }
end

return fold
