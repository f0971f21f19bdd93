-- How far rounding may put a value off, from the graph itself: the first-order bound of its error, in units of one
-- rounding (Higham 2002, chapter 3). Every operation adds the rounding of its own result, and passes on the errors
-- of its arguments by its slope. A result is judged against this: check.h.
--
-- The error of a node is a node, or nil where it is exact: an operand's element, and what only moves such elements.
-- Where a first-order bound says nothing, for a divisor may be zero within its error, or what is off is multiplied by
-- an infinity, it is infinite.

local elementary = require "elementary"
local expr = require "expr"
local move = require "move"
local zero = require "zero"

local magnitude = {}

-- Errors in units of one rounding, times this, are errors in value: the spacing of numbers next to 1.
local function unit()
  return expr.leaf("unit", "unit")
end

-- Errors up to this many units are planned for where a bound turns on whether two values may meet.
local most_units = 16

local function plus(a, b)
  return a and b and a + b or a or b
end

-- Where an argument is what it is for sure, whatever its error: nothing, but where it may be any number.
local function nothing(error)
  return expr.select(expr.lt(error, math.huge), 0, math.huge)
end

-- slope * error. NaN, and an infinity where the slope is 0, stay what they are.
local function passed(slope, error)
  if not error or slope.op == "const" then
    return error and (slope.value == 1 and error or slope * error)
  end
  return expr.select(expr.gt(slope, 0), expr.select(expr.eq(error, 0), 0, slope * error),
    nothing(error))
end

-- What a result is rounded by: nothing where it is infinite or NaN. A device may take it as zero where it is below the
-- smallest normal number, and what comes of it may be large again.
local function rounded(node)
  local size = expr.abs(node)
  return expr.maxraw(expr.leaf("flushed", "flushed"), expr.select(expr.lt(size, math.huge), size, 0))
end

-- How many binary digits after the point a number has that is made of places along axes, numbers of points and
-- constants by operations which leave few; nil of others.
local most_digits = 12
local function none() return 0 end
local function sum_of(a, b) return a + b end
local digits_by = {
  const = function(node)
    local digits = 0
    while digits <= most_digits and node.value * 2 ^ digits % 1 ~= 0 do
      digits = digits + 1
    end
    return digits
  end,
  position = none, points = none, whole = none,
}
local digits_of_results = {
  neg = math.max, abs = math.max, add = math.max, sub = math.max, min = math.max, max = math.max, mul = sum_of,
  floor = none, round = none, sign = none,
  select = function(_, a, b) return math.max(a, b) end,
}
local digits_known = setmetatable({}, { __mode = "k" }) -- of nodes, false for nil
local function digits_of(node)
  if digits_known[node] == nil then
    local digits, list = digits_by[node.op] and digits_by[node.op](node), {}
    for i = 1, digits_of_results[node.op] and #node or 0 do
      list[i] = node[i].type == "m" and 0 or digits_of(node[i])
    end
    if digits_of_results[node.op] and #list == #node then
      digits = digits_of_results[node.op](table.unpack(list))
    end
    digits_known[node] = digits and digits <= most_digits and digits or false
  end
  return digits_known[node] or nil
end

-- Whether a node is such a number of places.
local function is_of_places(node)
  return node.axes ~= 0 and digits_of(node) ~= nil
end

-- What such a number is rounded by: nothing up to the largest that has no gaps.
local function rounded_place(node)
  local largest = expr.select(expr.gt(expr.leaf("tiny", ""), 0x1p-200), 0x1p24, 0x1p53)
  return expr.select(expr.gt(expr.abs(node), largest * 2.0 ^ -digits_of(node)), expr.abs(node), 0)
end

-- A product below the smallest normal number is rounded as if it were as large.
local function rounded_product(node)
  return expr.maxraw(expr.leaf("tiny", ""), rounded(node))
end

-- Where a value is beyond the largest number of the type computed in, 4 / tiny, and infinite there: infinite, else
-- what is given.
local function unless_beyond(node, given)
  local size = expr.abs(node)
  local beyond = expr.all_of(expr.gt(size * expr.leaf("tiny", ""), 2), expr.lt(size, math.huge))
  return expr.select(beyond, math.huge, given)
end

-- What may be beyond the largest number of operands of everyday sizes, and products of such.
local grows = { pow = true, div = true }

local beyond = setmetatable({}, { __mode = "k" }) -- of nodes, what is known
local function may_be_beyond(node)
  if beyond[node] == nil then
    local is_product = node.op == "mul" or node.op == "fma"
    beyond[node] = grows[node.op] or is_product and (may_be_beyond(node[1]) or may_be_beyond(node[2])) or false
  end
  return beyond[node]
end

-- Where a value may be zero within its error, or to a device that knows no numbers below the normal range.
local function near_zero(value, error)
  return expr.gt(expr.maxraw(most_units * unit() * error, expr.leaf("tiny", "")), expr.abs(value))
end

-- Infinite there, else what is given.
local function unless_zero(value, error, given)
  return expr.select(expr.all_of(expr.gt(error, 0), near_zero(value, error)), math.huge, given)
end

-- What a factor's error makes of a product. An infinity times what is not zero is infinite for sure.
local function passed_by_factor(size, factor, error)
  return error and expr.select(expr.eq(size, math.huge), unless_zero(factor, error, nothing(error)),
    passed(size, error))
end

-- Whether a node is at least 0, or NaN, however it is rounded.
local stays_positive = { abs = true, points = true, position = true, sqrt = true }
local of_positives = {
  add = 2, mul = 2, div = 2, min = 2, detach = 1, sum = 1, maximum = 1, minimum = 1, floor = 1, round = 1,
}
local never_negative = setmetatable({}, { __mode = "k" }) -- of nodes, what is known
local function is_never_negative(node)
  if never_negative[node] == nil then
    local op, a, b, c = node.op, node[1], node[2], node[3]
    local arguments, found = of_positives[op], stays_positive[op]
    if op == "const" then
      found = node.value >= 0
    elseif op == "mul" and rawequal(a, b) then
      found = true
    elseif op == "max" then
      found = is_never_negative(a) or is_never_negative(b)
    elseif op == "fma" then
      found = (rawequal(a, b) or is_never_negative(a) and is_never_negative(b)) and is_never_negative(c)
    elseif arguments then
      found = is_never_negative(a) and (arguments == 1 or is_never_negative(b))
    end
    never_negative[node] = found or false
  end
  return never_negative[node]
end

local function is_power_of_two(node)
  local bits = node.op == "const" and string.format("%a", node.value)
  return bits and bits:find "^-?0x1p" ~= nil
end

-- Whether a constant is the same in every type that is computed in.
local function is_exact(value)
  return value ~= value or string.unpack("<f", string.pack("<f", value)) == value
end

-- The comparisons that a mask is made of, but for those that what is compared is made of: its error has these.
local function comparisons(mask)
  local found, seen = {}, {}
  local function walk(node)
    if seen[node] or node.type ~= "m" then
      return
    end
    seen[node] = true
    if #node == 2 and node[1].type == "r" and node.op ~= "same" and node.op ~= "below" then
      found[#found + 1] = node
      return
    end
    for i = 1, #node do
      walk(node[i])
    end
  end
  walk(mask)
  return found
end

-- The error of what may be one of two values that far apart; to or from NaN it may be anything.
local function jumped(distance)
  return expr.select(expr.lt(distance, math.huge), distance * (4 / unit()), math.huge)
end

-- Whether a comparison asks if a row's element is its largest or smallest. That of the one which is holds whatever
-- rounding does to both, which are one number: only another as near may be taken for it.
local function asks_for_extreme(pair)
  local term, extreme_of = pair[1], pair[2]
  local better = extreme_of.op == "maximum" and "lt" or extreme_of.op == "minimum" and "gt"
  return (pair.op == "eq" and better or pair.op == better) and rawequal(extreme_of[1], term)
end

-- Whether two values may change places that are that far off together: places that are exact do not.
local function is_near(a, b, off)
  local near = expr.le(expr.abs(a - b), most_units * unit() * off)
  return (is_of_places(a) or is_of_places(b)) and expr.all_of(expr.gt(off, 0), near) or near
end

-- What is added to an error where one of some pairs of values may change places: the jump that comes of it, and the
-- error of what is jumped to. A number and itself, which asks for NaN, never do.
local function flips(pairs_of, errors, jump, error_there)
  local added
  for _, pair in ipairs(pairs_of) do
    local off = not rawequal(pair[1], pair[2]) and plus(errors(pair[1]), errors(pair[2]))
    if off then
      local near = is_near(pair[1], pair[2], off)
      if asks_for_extreme(pair) then
        near = expr.all_of(near, expr.gt(expr.sum(expr.select(near, 1, 0), pair[2].k), 1))
      end
      added = expr.select(near, plus(jumped(jump), error_there), added or 0)
    end
  end
  return added
end

-- The largest or smallest of two: the other's error counts where it may be the one.
local function extreme(chosen)
  return function(_, errors, a, b)
    local off_a, off_b = errors(a), errors(b)
    local off = plus(off_a, off_b)
    if not off then
      return nil
    end
    off_a, off_b = off_a or expr.const(0), off_b or expr.const(0)
    return expr.select(expr.le(expr.abs(a - b), most_units * unit() * off), expr.max(off_a, off_b),
      expr.select(chosen(a, b), off_a, off_b))
  end
end

local function same(_, errors, a)
  return errors(a)
end

-- The largest, or the smallest, of a row is off by as much as one that it may be taken from: distance(node, term) is
-- how far that lies below it, or above.
local function of_extreme(distance)
  return function(node, errors, term)
    local off = errors(term)
    local near = off and expr.select(expr.gt(distance(node, term), most_units * unit() * off), 0, off)
    return near and expr.maximum(near, node.k)
  end
end

-- A sum's error does not grow with its length, but with its terms. Of terms that are together beyond the type's largest
-- number some that are added before others may be.
local function summed(node, errors, term)
  local all = expr.sum(plus(rounded(term), errors(term)), node.k)
  return expr.select(expr.gt(all * expr.leaf("tiny", ""), 2), math.huge, all)
end

-- The same along an axis. What a factor multiplies is off by as much as it multiplies that: of an infinite one, unless
-- that is 0; of NaN nothing is left to be off.
local function along(node, name, how, ...)
  local all = expr.scan(name, how, { ... }, node.k)
  return expr.select(expr.lt(all * expr.leaf("tiny", ""), 2), all, math.huge)
end

local function by_factors(node, factor, off)
  local size = expr.select(expr.eq(factor, factor), expr.abs(factor), 0)
  return along(node, "recurrence", expr.scans(node), size, off)
end

local function last_of(node, name, ...)
  return expr.scan(name, { exclusive = true, reverse = expr.scans(node).reverse }, { ... }, node.k)
end

-- By the kind of a scan. Products of factors and sums of them are each rounded, and multiplied by the factors after.
local scans = {
  sum = function(node, errors, term)
    return along(node, "cumsum", expr.scans(node), plus(rounded(term), errors(term)))
  end,
  product = function(node, errors, x)
    local off, whole = errors(x), expr.scan("cumprod", { reverse = expr.scans(node).reverse }, { x }, node.k)
    local own = unless_beyond(whole, rounded_product(whole))
    return by_factors(node, x, plus(own, off and passed(expr.abs(last_of(node, "cumprod", x)), off)))
  end,
  maximum = function(node, errors, term)
    return errors(term) and expr.scan("cummax", expr.scans(node), { errors(term) }, node.k)
  end,
  recurrence = function(node, errors, a, b)
    local off_a, off_b = errors(a), errors(b)
    local whole = expr.scan("recurrence", { reverse = expr.scans(node).reverse }, { a, b }, node.k)
    local own = unless_beyond(whole, 2 * rounded_product(whole) + rounded(b))
    local off = off_a and passed(expr.abs(last_of(node, "recurrence", a, b)), off_a)
    return by_factors(node, a, plus(own, plus(off, off_b)))
  end,
}
scans.minimum = scans.maximum

-- What is added to a sum's error where terms are added one after the other: each is added to what came before, which
-- for terms of one sign is as much as the sum, and rounding errors add up like the steps of a random walk (Higham and
-- Mary 2019). Tensor cores, which multiply numbers of 16 bits, cut off what they add instead of rounding it, so that
-- errors are all to one side (Fasi et al. 2021): sums of 8192 terms are 730 units short on an H200. A bound of 15 times
-- this allows for twice as much.
local function added_in_order(sum)
  local count = expr.count(sum.k)
  return (0.5 * expr.sqrt(count) + expr.leaf("narrow", "") * count / 128) * rounded(sum)
end

local function factors_of(product, found)
  for i = 1, 2 do
    local factor = product[i]
    if factor.op == "mul" then
      factors_of(factor, found)
    elseif factor.op ~= "const" then
      found[#found + 1] = expr.abs(factor)
    end
  end
  return found
end

-- What is added to the error of a product, { sum, factor, other, reads_all }, whose factor comes of other products. It
-- may be rounded to elements, vanish where it is below what those tell from 0, or be infinite where it, with its own
-- error, is beyond the largest of them. Where a part of it is 0, as a mask makes it, what that is multiplied by may not
-- be read, whatever it is, unless the product reads_all.
local function between(product, error_of_factor)
  local by, least = expr.leaf("narrowed", "narrowed"), expr.leaf("vanishing", "vanishing")
  local off = by * rounded(product.sum[1]) + least / unit() * rounded(product.other)
  local largest = expr.abs(product.factor) + error_of_factor * unit()
  local is_finite = expr.lt(largest, expr.leaf("bursting", "bursting"))
  local all = expr.select(expr.gt(by, 0), expr.select(is_finite, off, math.huge), 0)
  if not product.reads_all then
    local is_cut, is_read = nil, expr.lt(expr.abs(product.other), math.huge)
    for _, part in ipairs(product.factor.op == "mul" and factors_of(product.factor, {}) or { product.factor }) do
      is_cut = is_cut and expr.any_of(is_cut, expr.eq(part, 0)) or expr.eq(part, 0)
      is_read = expr.all_of(is_read, expr.lt(expr.abs(part), math.huge))
    end
    all = expr.select(expr.all_of(is_cut, expr.negate(is_read)), math.huge, all)
  end
  return expr.sum(all, product.sum.k)
end

-- What is added to the error of a product of three factors or more where kernels group them as their operands lie: some
-- may come below the normal range before the others are multiplied, which may be large or infinite. Nil for two.
local function regrouped(product)
  local factors = factors_of(product, {})
  local small, large = expr.const(1), expr.const(1)
  for _, size in ipairs(factors) do
    small, large = small * expr.minraw(size, 1), large * expr.maxraw(size, 1)
  end
  local tiny = expr.leaf("tiny", "")
  local vanishes = expr.all_of(expr.gt(small, 0), expr.lt(small, tiny))
  return #factors > 2 and expr.select(vanishes, expr.maxraw(tiny, expr.leaf("flushed", "flushed")) * large, 0) or nil
end

-- What changes by 1 at edges: where an argument may lie on either side of one; and by more where that lies further off.
local function stepped(edge)
  return function(_, errors, a)
    local off = errors(a)
    return off and expr.select(is_near(a, edge(a), off), 4 / unit() + off, 0)
  end
end

-- rules[op](node, errors, ...): the error of a node with these arguments; errors(argument) is the error of one.
local rules = {
  position = rounded_place,
  whole = rounded_place,
  add = function(node, errors, a, b)
    return plus(is_of_places(node) and rounded_place(node) or rounded(node), plus(errors(a), errors(b)))
  end,
  mul = function(node, errors, a, b)
    local off_a, off_b = passed_by_factor(expr.abs(b), a, errors(a)), passed_by_factor(expr.abs(a), b, errors(b))
    local scales = is_power_of_two(a) or is_power_of_two(b)
    local least = expr.maxraw(expr.leaf("tiny", ""), expr.leaf("flushed", "flushed"))
    local own = is_of_places(node) and rounded_place(node) or scales and least or rounded_product(node)
    return plus(own, plus(off_a, off_b))
  end,
  div = function(node, errors, a, b)
    local size, off_a, off_b = expr.abs(b), errors(a), errors(b)
    -- As 1 / x of an x below the smallest normal number, which may be 0 to a kernel.
    local own = unless_beyond(node, rounded_product(node))
    local off = plus(own, passed_by_factor(1 / size, a, off_a))
    return off_b and unless_zero(b, off_b, off + passed(expr.abs(node) / size, off_b)) or off
  end,
  fma = function(node, errors, a, b, c)
    local off = plus(passed(expr.abs(b), errors(a)), passed(expr.abs(a), errors(b)))
    return plus(rounded_product(node), plus(off, errors(c)))
  end,
  -- The root of an error where that is more than what it is the error of; and of what may be negative to a kernel, NaN.
  sqrt = function(node, errors, a)
    local off = errors(a)
    if not off then
      return rounded(node)
    end
    local most = expr.minraw(off * 0.5 / expr.abs(node), expr.sqrt(off / unit()))
    local all = plus(rounded(node), expr.select(expr.eq(off, 0), 0, most))
    return is_never_negative(a) and all or unless_zero(a, off, all)
  end,
  neg = same,
  abs = same,
  detach = same,
  -- A NaN of 16 bits has lost its sign where a device has converted it.
  copysign = function(_, errors, a, b)
    local jump = 2 * expr.abs(a)
    local is_lost = expr.all_of(expr.ne(b, b), expr.gt(expr.leaf("narrow", ""), 0))
    local lost = expr.select(is_lost, jumped(jump), 0)
    return plus(plus(errors(a), flips({ { b, expr.const(0) } }, errors, jump)), lost)
  end,
  pow = function(node, errors, a, b)
    local off_a, off_b = errors(a), errors(b)
    local all = plus(rounded_product(node), off_a and passed(expr.abs(node * b / a), off_a))
    local logarithm = expr.select(expr.eq(a, 0), 0, expr.log(expr.abs(a)))
    all = plus(all, off_b and passed(expr.abs(node * logarithm), off_b))
    return off_a and unless_zero(a, off_a, all) or all
  end,
  floor = stepped(expr.round),
  round = stepped(function(a) return expr.floor(a) + 0.5 end),
  sign = function(_, errors, a) return flips({ { a, expr.const(0) } }, errors, 2) end,
  max = extreme(expr.gt),
  min = extreme(expr.lt),
  select = function(_, errors, mask, a, b)
    local off_a, off_b = errors(a), errors(b)
    local taken = (off_a or off_b) and expr.select(mask, off_a or 0, off_b or 0)
    return plus(taken, flips(comparisons(mask), errors, expr.abs(a - b), plus(off_a, off_b)))
  end,
  sum = summed,
  maximum = of_extreme(function(node, term) return node - term end),
  minimum = of_extreme(function(node, term) return term - node end),
  pick = function(node, errors, term)
    local off = errors(term)
    return off and expr.pick(off, node[2], node.k)
  end,
  read = function(node, errors, x)
    local off = errors(x)
    return off and move.as_read(node, off)
  end,
}
rules.sub = rules.add
for op, row in pairs(expr.operations) do
  rules[op] = row.scan and scans[row.scan.kind] or rules[op]
end

-- How much of an argument's error an elementary function passes on.
local function passed_on(row, node, i)
  if row.passes then
    return row.passes(expr, node, node[i])
  end
  local slope = select(i, row.back(expr, node, expr.const(1), table.unpack(node, 1, #node)))
  slope = slope.op == "neg" and slope[1] or slope
  return is_never_negative(slope) and slope or expr.abs(slope)
end

for op, row in pairs(elementary) do
  rules[op] = function(node, errors, ...)
    local all, off = row.tiny and rounded_product(node) or rounded(node), nil
    for i = 1, #node do
      local own = errors(node[i])
      off = plus(off, own)
      all = plus(all, own and passed(passed_on(row, node, i), own))
    end
    local pole = row.pole and row.pole(expr, ...)
    -- An operand below the normal range may be zero to a logarithm, and itself to what stands beside that.
    local near = off or pole and rawequal(pole, node[1]) and expr.leaf("flushed", "flushed")
    return pole and near and unless_zero(pole, near, all) or all
  end
end

-- Below 0 the angle of a point turns with the sign of what it is above it.
local of_angle = rules.atan2
rules.atan2 = function(node, errors, y, x)
  return plus(of_angle(node, errors, y, x), flips({ { y, expr.const(0) } }, errors, 2 * expr.abs(node)))
end

-- What the sign of an argument decides that may be a zero, or a NaN, of either sign: added to an error there.
local function infinite(node)
  return expr.select(expr.eq(expr.abs(node), math.huge), math.huge, 0)
end
local by_sign = {
  copysign = { [2] = function(_, a) return expr.select(expr.eq(a, a), jumped(2 * expr.abs(a)), 0) end },
  div = { [2] = infinite },
  pow = { infinite },
  rsqrt = { infinite },
  atan2 = {
    function(node) return jumped(2 * expr.abs(node)) end,
    function(_, y) return expr.select(expr.eq(y, 0), jumped(expr.const(math.pi)), 0) end,
  },
}

local function added_by_sign(node, memo)
  local added
  for i = 1, by_sign[node.op] and #node or 0 do
    local jump = by_sign[node.op][i]
    local open = jump and zero.has_open_sign(node[i], memo.signs)
    added = plus(added, open and expr.select(open, jump(node, node[1]), 0) or nil)
  end
  return added
end

-- Whether a node is a whole number of places, and computed exactly: quotients are, by powers of two.
local function is_exact_place(node)
  local is_so = move.is_place(node)
  expr.visit(is_so and { node } or {}, function(part)
    local _, by = move.quotient(part)
    by = by and math.tointeger(by)
    is_so = is_so and (not by or by & by - 1 == 0)
  end)
  return is_so
end

-- The error of a node, nil where it is exact. memo carries what is done already from call to call.
local function error_of(node, memo)
  if memo[node] == nil then
    local rule = rules[node.op]
    local off
    if rule and not is_exact_place(node) then
      off = rule(node, function(argument)
        local known = error_of(argument, memo) or nil
        return known and may_be_beyond(argument) and unless_beyond(argument, known) or known
      end, table.unpack(node, 1, #node))
      off = plus(off, added_by_sign(node, memo))
      for _, product in ipairs(memo.products or {}) do
        local is_here = rawequal(node, product.sum)
        off = plus(off, is_here and between(product, error_of(product.factor, memo) or expr.const(0)) or nil)
      end
      if memo.in_order then -- as contractions do
        off = plus(off, node.op == "sum" and added_in_order(node) or node.op == "mul" and regrouped(node) or nil)
      end
    elseif node.op == "const" and not is_exact(node.value) then
      off = expr.abs(node)
    end
    memo[node] = off or false
  end
  return memo[node]
end

-- Adds to a memo what is asked of signs.
local function begun(memo)
  memo.signs = memo.signs or {
    may_be_zero = function(node)
      local off = error_of(node, memo)
      return off and near_zero(node, off) or expr.eq(node, 0)
    end,
  }
  return memo
end

-- As much as says that the sign of a zero is left open: judge.c.
local some = 128

-- The magnitude of a node, as a node: its error in units of one rounding. memo begins as {}, or with in_order = true
-- where kernels add the terms of sums in their order, not in blocks whose rounding errors they carry along, and
-- multiply factors in theirs; and with products, those over the columns of a stream (stream.lua).
function magnitude.of(node, memo)
  local off, open = error_of(node, begun(memo)) or nil, zero.open(node, memo.signs)
  local either = open and expr.select(expr.all_of(expr.eq(node, 0), open), some * expr.leaf("tiny", ""), 0)
  return plus(off, either) or expr.const(0)
end

-- By how many ulp the kernels of an operation may be off by themselves, on the backend where that is most; a sum,
-- where 64 equal terms, which are added one after the other, all round to one side.
local rough = {
  add = 0.5, sub = 0.5, mul = 0.5, div = 0.5, fma = 0.5, sqrt = 0.5, sum = 16,
}
for op, row in pairs(elementary) do
  grows[op], stays_positive[op], rough[op] = row.grows, row.positive, row.ulp
end

-- The operation under some nodes whose own rounding is the widest, and by how many ulp; nil where all is exact.
function magnitude.roughest(nodes)
  local name, most = nil, 0
  expr.visit(nodes, function(node)
    if (rough[node.op] or 0) > most then
      name, most = node.op, rough[node.op]
    end
  end)
  return name, most
end

-- Whether anything is rounded on the way to a node.
function magnitude.rounds(node)
  return error_of(node, begun {}) ~= false
end

return magnitude
