-- Between which numbers a graph lies over a range of points, as text: for kernels that leave out what a mask rules out.
-- Only places, counts, scalars, constants and indexes are known; whatever else is read may be any number. Arithmetic is
-- the kernels' own, whose rounding keeps the order of numbers, so that what they compute at a point of the range is
-- within.

local ranges = {}

local ANY = { lo = "-INFINITY", hi = "INFINITY", any = true } -- any number, NaN too
local EITHER = { may = "true", may_not = "true" }

local function less(a, b, or_equal)
  local op = or_equal and "<=" or "<"
  return { may = ("(%s %s %s)"):format(a.lo, op, b.hi), may_not = ("!(%s %s %s)"):format(a.hi, op, b.lo) }
end

local function equal(a, b)
  return {
    may = ("(%s <= %s && %s <= %s)"):format(a.lo, b.hi, b.lo, a.hi),
    may_not = ("!(%s == %s && %s == %s)"):format(a.lo, b.hi, b.lo, a.hi),
  }
end

-- Of comparisons: when one may hold, and when it may not.
local comparisons = {
  lt = function(a, b) return less(a, b) end, le = function(a, b) return less(a, b, true) end,
  gt = function(a, b) return less(b, a) end, ge = function(a, b) return less(b, a, true) end,
  eq = equal, same = equal, below = function(a, b) return less(a, b) end,
  ne = function(a, b)
    local is = equal(a, b)
    return { may = is.may_not, may_not = is.may }
  end,
}
local masks = {
  all_of = function(a, b)
    return { may = ("(%s && %s)"):format(a.may, b.may), may_not = ("(%s || %s)"):format(a.may_not, b.may_not) }
  end,
  any_of = function(a, b)
    return { may = ("(%s || %s)"):format(a.may, b.may), may_not = ("(%s && %s)"):format(a.may_not, b.may_not) }
  end,
  negate = function(a) return { may = a.may_not, may_not = a.may } end,
}

-- The results { lo, hi } of a word for a function that rises with what it is given.
local function rising(word, a, b)
  return { lo = word:format(a.lo, b and b.lo), hi = word:format(a.hi, b and b.hi) }
end

-- Of numbers that are all known. words: by name, the text of a function in the kernels' language.
local numbers = {
  add = function(a, b)
    return { lo = ("(%s + %s)"):format(a.lo, b.lo), hi = ("(%s + %s)"):format(a.hi, b.hi) }
  end,
  sub = function(a, b)
    return { lo = ("(%s - %s)"):format(a.lo, b.hi), hi = ("(%s - %s)"):format(a.hi, b.lo) }
  end,
  neg = function(a) return { lo = ("(-%s)"):format(a.hi), hi = ("(-%s)"):format(a.lo) } end,
  abs = function(a, _, words)
    local most = words.most
    return { lo = most:format(most:format(a.lo, "-" .. a.hi), "0"), hi = most:format("-" .. a.lo, a.hi) }
  end,
  min = function(a, b, words) return rising(words.least, a, b) end,
  max = function(a, b, words) return rising(words.most, a, b) end,
  floor = function(a, _, words) return rising(words.floor, a) end,
  exp = function(a) return { lo = "0", hi = ("(%s == -INFINITY ? 0 : INFINITY)"):format(a.hi) } end,
}

-- A factor or divisor that is a constant above zero: places are multiplied by such, and divided.
local function by_constant(op)
  return function(node, of)
    for at = op == "*" and 1 or 2, 2 do
      local constant, other = node[at], of(node[3 - at])
      if constant.op == "const" and constant.value > 0 and constant.value < math.huge and not other.any then
        local by = of(constant).lo
        return { lo = ("(%s %s %s)"):format(other.lo, op, by), hi = ("(%s %s %s)"):format(other.hi, op, by) }
      end
    end
    return ANY
  end
end

-- When a number is 0 for sure.
function ranges.is_zero(a)
  return ("(%s == 0 && %s == 0)"):format(a.lo, a.hi)
end

-- Of two factors neither of which is a constant it is known where they are 0.
local function product(node, of)
  local made = by_constant "*"(node, of)
  local a, b = of(node[1]), of(node[2])
  if not made.any or a.any or b.any then
    return made
  end
  local zero = ranges.is_zero(a) .. " || " .. ranges.is_zero(b)
  return { lo = ("(%s ? 0 : -INFINITY)"):format(zero), hi = ("(%s ? 0 : INFINITY)"):format(zero) }
end
local products = { mul = product, div = by_constant "/" }

-- The range { lo, hi } of a node of numbers; any is set where nothing is known of it. words: those of `numbers`;
-- leaf(node) gives the range of a place, a count, a scalar, a constant or an index, or nil. Then a table of the masks
-- under it that these decide: when one may not hold. reads: what leaves stand for, by name: reads.lua.
function ranges.of(root, words, leaf, reads)
  local known, decided = {}, {}
  local function of(node)
    if known[node] then
      return known[node]
    end
    local from = comparisons[node.op] and reads and reads[node.name] or node
    local a, b, c = from[1] and of(from[1]), from[2] and of(from[2]), from[3] and of(from[3])
    local made = (#node == 0 or node.op == "whole") and leaf(node)
    if made then
      known[node] = made
    elseif comparisons[node.op] then
      known[node] = (a.any or b.any) and EITHER or comparisons[node.op](a, b)
      decided[node] = known[node] ~= EITHER and known[node].may_not or nil
    elseif node.type == "m" then
      known[node] = masks[node.op] and masks[node.op](a, b) or EITHER
      decided[node] = decided[node[1]] and (not node[2] or decided[node[2]]) and known[node].may_not or nil
    elseif node.op == "select" then
      known[node] = {
        lo = ("(%s ? %s ? %s : %s : %s)"):format(a.may, a.may_not, words.least:format(b.lo, c.lo), b.lo, c.lo),
        hi = ("(%s ? %s ? %s : %s : %s)"):format(a.may, a.may_not, words.most:format(b.hi, c.hi), b.hi, c.hi),
        any = b.any and c.any,
      }
    elseif products[node.op] then
      known[node] = products[node.op](node, of)
    else
      local rule = numbers[node.op]
      known[node] = rule and not (a.any or b and b.any) and rule(a, b, words) or ANY
    end
    return known[node]
  end
  return of(root), decided
end

return ranges
