-- The functions of specs, by name, as functions of nodes (expr.lua).

local axes = require "axes"
local elementary = require "elementary"
local expr = require "expr"
local move = require "move"
local text = require "text"

-- The name of an axis, for an example.
local function some_axis()
  local names = expr.axes().names
  return names[#names] or "cols"
end

-- What a reduction goes over: axes that its argument has.
local function expect_axes(node, set, name)
  if node.axes == 0 then
    error(string.format("%s: expected what varies over some axis, found what is the same at every point; write x * "
      .. "count(\"%s\") for the sum of an x along an axis, and x for its mean, max and min", name, some_axis()), 0)
  elseif set & ~node.axes ~= 0 then
    error(string.format("%s: expected axes out of those of its argument, %s; found %s", name,
      axes.show(expr.axes().names, node.axes), axes.show(expr.axes().names, set)), 0)
  end
  return set
end

-- A function that makes reductions, and goes by a name in messages. The names of the axes to go over follow its
-- argument; without names it goes over all that the argument has.
local function reducer(op, name)
  return function(...)
    local given = select("#", ...)
    if given > 1 and type((select(2, ...))) ~= "string" then
      error(string.format("%s: expected the names of axes after the argument, as in %s(x, \"%s\"), found a %s", name,
        name, some_axis(), type((select(2, ...)))), 0)
    end
    expr.expect_count(name, 1, math.min(given, 1))
    local node = expr.argument((...), "r", name, 1)
    local set = given > 1 and axes.named(expr.axes().names, name, select(2, ...)) or node.axes
    return expr.make(op, { node }, expect_axes(node, set, name))
  end
end

-- A function of two arguments as one of two or more.
local function joined(two)
  return function(...)
    local given = select("#", ...)
    local all = given > 2 and ... or two(...)
    for i = 2, given > 2 and given or 0 do
      all = two(all, (select(i, ...)))
    end
    return all
  end
end

-- Of one argument, and names of axes, a reduction; of more the element-wise operation of that name, as in mathematics.
local function either(name, one)
  local several = joined(expr[name])
  return function(...)
    local reduces = select("#", ...) == 1 or type((select(2, ...))) == "string"
    return (reduces and one or several)(...)
  end
end

-- Whether a comparison holds at all points of some axes (reduce: the smallest of 1 and 0), or at any.
local function holds(name, reduce)
  return either(name, function(mask, ...)
    return expr.ne(reduce(expr.select(expr.argument(mask, "m", name, 1), 1, 0), ...), 0)
  end)
end

local sum_for_mean = reducer("sum", "mean")
local function mean(...)
  local total = sum_for_mean(...)
  return total / expr.count(total.k)
end

-- What a scan goes along, and how: what follows its arguments.
local function axis_of_scan(name, example, axis, how, ...)
  if type(axis) ~= "string" then
    error(string.format("%s: expected the name of an axis, as in %s, found %s", name, example,
      axis == nil and "nothing" or "a " .. (expr.is_node(axis) and "symbolic value" or type(axis))), 0)
  elseif type(how) == "string" then
    error(string.format("%s: expected one axis, found \"%s\" and \"%s\"; along two axes it is a scan of a scan", name,
      axis, how), 0)
  elseif how ~= nil and (type(how) ~= "table" or expr.is_node(how)) or select("#", ...) > 0 then
    error(string.format("%s: expected nothing after the axis but { exclusive = true, reverse = true }", name), 0)
  end
  for key, value in text.sorted_pairs(how or {}) do
    if key ~= "exclusive" and key ~= "reverse" or type(value) ~= "boolean" then
      error(string.format("%s: expected exclusive = true or reverse = true, found %s = %s%s", name, key,
        text.show(value), text.did_you_mean(key, { "exclusive", "reverse" })), 0)
    end
  end
  return axes.named(expr.axes().names, name, axis), how or {}
end

-- A function that makes scans of so many arguments.
local function scanner(name, count)
  return function(...)
    local args, set = {}, 0
    for i = 1, count do
      args[i] = expr.argument((select(i, ...)), "r", name, i)
      set = set | args[i].axes
    end
    local example = string.format("%s(%s, \"%s\")", name, count > 1 and "a, b" or "x", some_axis())
    local axis, how = axis_of_scan(name, example, select(count + 1, ...))
    if set & axis == 0 then
      error(string.format("%s: expected an axis out of those of what is scanned, %s; found %s", name,
        axes.show(expr.axes().names, set), axes.show(expr.axes().names, axis)), 0)
    end
    return expr.scan(name, how, args, axis)
  end
end

-- What is at places along axes, by the names of these.
local function at_places(x, given, outside)
  local places = {}
  for name, value in text.sorted_pairs(given) do
    local axis = axes.named(expr.axes().names, "at", name)
    if x.axes & axis == 0 then
      error(string.format("at: expected axes out of those of what is read, %s; found '%s'",
        axes.show(expr.axes().names, x.axes), name), 0)
    end
    places[axis] = move.place(value, "at")
  end
  if not next(places) then
    error(string.format("at: expected places by the names of axes, as in { %s = position \"%s\" - 1 }, found none",
      some_axis(), some_axis()), 0)
  end
  return move.at(x, places, outside and expr.argument(outside, "r", "at", 3))
end

local vocabulary = {
  max = either("max", reducer("maximum", "max")),
  min = either("min", reducer("minimum", "min")),
  sum = reducer("sum", "sum"),
  argmax = reducer("argmax", "argmax"),
  argmin = reducer("argmin", "argmin"),
  cumsum = scanner("cumsum", 1),
  cumprod = scanner("cumprod", 1),
  cummax = scanner("cummax", 1),
  cummin = scanner("cummin", 1),
  recurrence = scanner("recurrence", 2),
  mean = mean,
  count = function(...)
    return expr.count(select("#", ...) > 0 and axes.named(expr.axes().names, "count", ...) or expr.axes().all)
  end,
  position = function(...)
    local name = ...
    expr.expect_count("position", 1, select("#", ...))
    if type(name) ~= "string" then
      error(string.format("position: expected the name of an axis, as in position \"%s\", found a %s", some_axis(),
        expr.is_node(name) and "symbolic value" or type(name)), 0)
    end
    return expr.position(axes.named(expr.axes().names, "position", name))
  end,
  at = function(...)
    local x, index, outside = ...
    x = expr.argument(x, "r", "at", 1)
    if type(index) == "table" and not expr.is_node(index) then
      return at_places(x, index, outside)
    end
    expr.expect_count("at", 2, select("#", ...))
    index = expr.argument(index, "x", "at", 2)
    return expr.make("pick", { x, index }, index.k)
  end,
  random = function(...)
    local seed, offset = ...
    expr.expect_count("random", 2, math.min(select("#", ...), 2))
    local args = { expr.argument(seed, "s", "random", 1), expr.argument(offset, "s", "random", 2) }
    local all, given = expr.axes().all, select("#", ...)
    local set = given > 2 and axes.named(expr.axes().names, "random", select(3, ...)) or all
    return expr.make("random", args, set ~= all and set or nil)
  end,
  all_of = holds("all_of", reducer("minimum", "all_of")),
  any_of = holds("any_of", reducer("maximum", "any_of")),
  one_of = function(a, b)
    a, b = expr.argument(a, "m", "one_of", 1), expr.argument(b, "m", "one_of", 2)
    return expr.any_of(expr.all_of(a, expr.negate(b)), expr.all_of(b, expr.negate(a)))
  end,
  clamp = function(x, low, high)
    x, low = expr.argument(x, "r", "clamp", 1), expr.argument(low, "r", "clamp", 2)
    return expr.min(expr.max(x, low), expr.argument(high, "r", "clamp", 3))
  end,
}

-- Functions that are formulas of others, of numbers.
local function truncated(x) return expr.copysign(expr.floor(expr.abs(x)), x) end
-- x - q y, of an infinite y too, and whether it is beyond 0 because the quotient was rounded up to q.
local function rest(x, y, q)
  local left = expr.select(expr.eq(q, 0), x, expr.fma(-q, y, x))
  return left, expr.lt(left * expr.copysign(1, y), 0)
end
local formulas = {
  tan = function(x) return expr.sin(x) / expr.cos(x) end,
  ceil = function(x) return -expr.floor(-x) end,
  trunc = truncated,
  frac = function(x) return x - truncated(x) end,
  isinf = function(x) return expr.eq(expr.abs(x), math.huge) end,
  isfinite = function(x) return expr.lt(expr.abs(x), math.huge) end,
  isnan = function(x) return expr.ne(x, x) end,
  floor_divide = function(x, y)
    local q = expr.floor(x / y)
    local left, is_beyond = rest(x, y, q)
    return expr.select(expr.any_of(expr.eq(left, left), expr.eq(y, 0)), expr.select(is_beyond, q - 1, q), left)
  end,
  remainder = function(x, y)
    local left, is_beyond = rest(x, y, expr.floor(x / y))
    return expr.select(is_beyond, left + y, left)
  end,
  fmod = function(x, y)
    local left, is_beyond = rest(expr.abs(x), expr.abs(y), expr.floor(expr.abs(x / y)))
    return expr.copysign(expr.select(is_beyond, left + expr.abs(y), left), x)
  end,
}
for name, formula in pairs(formulas) do
  local count = debug.getinfo(formula, "u").nparams
  vocabulary[name] = function(...)
    expr.expect_count(name, count, select("#", ...))
    local x, y = ...
    return formula(expr.argument(x, "r", name, 1), count == 2 and expr.argument(y, "r", name, 2) or nil)
  end
end
for _, name in ipairs {
  "abs", "sqrt", "fma", "copysign", "pow", "floor", "round", "sign", "negate", "select", "detach",
} do
  vocabulary[name] = expr[name]
end
for name in pairs(elementary) do
  vocabulary[name] = expr[name]
end

-- Places that are made of indexes are compared as whole numbers, of which those of a type computed in have not all.
local function is_of_indexes(node)
  local found = false
  expr.visit({ node }, function(n)
    found = found or n.op == "whole"
  end)
  return found and move.is_place(node)
end
local of_places = {
  eq = function(a, b) return expr.same(a, b) end,
  ne = function(a, b) return expr.negate(expr.same(a, b)) end,
  lt = function(a, b) return expr.below(a, b) end,
  ge = function(a, b) return expr.negate(expr.below(a, b)) end,
  gt = function(a, b) return expr.below(b, a) end,
  le = function(a, b) return expr.negate(expr.below(b, a)) end,
}
for name, compare in pairs(of_places) do
  vocabulary[name] = function(...)
    expr.expect_count(name, 2, select("#", ...))
    local a, b = ...
    a, b = expr.argument(a, "r", name, 1), expr.argument(b, "r", name, 2)
    return (is_of_indexes(a) and is_of_indexes(b) and compare or expr[name])(a, b)
  end
end

return vocabulary
