-- Reverse-mode differentiation of a traced graph: from the nodes of an op's outputs and the
-- derivatives of a final result by them, the derivatives of that result by the op's inputs, as nodes.
-- Two rules lead over axes: what a sum passes on to its terms is the same for all of them; and what a node gets is
-- summed over the axes that its use added.
--
-- At a kink (max, min, abs, clamp) the derivative is one side's: 0 for the constant of a max
-- or min, 0 for abs at 0; the largest of a row shares it among equals. detach stops it.
--
-- What a select, or a max, does not take has the derivative 0, also where the slope of what leads to it is
-- infinite or NaN there, as that of sqrt(x) for x < 0: 0 times that would be NaN. So what a node gets of the
-- derivative is carried as it would be everywhere, beside a guard: the masks that say where it counts. It is
-- 0 elsewhere after the slopes were multiplied with it, not before. A contraction ends a guard: its factors are
-- multiplied with 0 there, so that the derivatives by them are contractions too.

local contraction = require "contraction"
local elementary = require "elementary"
local expr = require "expr"
local move = require "move"

local gradient = {}

-- Where a derivative counts: where the mask is `taken` and the guard `outer` holds, or where one of two guards
-- does. apply(value, other): value there, else the other. Equal guards have equal keys.
local function under(outer, mask, taken)
  return {
    key = (outer and outer.key or "") .. (taken and "+" or "-") .. mask.id, outer = outer, mask = mask, taken = taken,
    axes = mask.axes | (outer and outer.axes or 0),
    apply = function(value, other)
      local inner = taken and expr.select(mask, value, other) or expr.select(mask, other, value)
      return outer and outer.apply(inner, other) or inner
    end,
  }
end

local function is_same(a, b)
  return (a and a.key) == (b and b.key)
end

-- Whether b holds wherever a does, for it is one of those that a is under.
local function is_within(a, b)
  while a and not is_same(a, b) do
    a = a.outer
  end
  return is_same(a, b)
end

local function either(a, b)
  if is_within(a, b) then
    return b
  elseif is_within(b, a) then
    return a
  elseif a.mask and rawequal(a.mask, b.mask) and is_same(a.outer, b.outer) then
    return a.outer -- both branches of one select
  end
  return {
    key = "(" .. a.key .. "|" .. b.key .. ")", axes = a.axes | b.axes,
    apply = function(value, other)
      return a.apply(value, b.apply(value, other))
    end,
  }
end

-- A rule's share for an argument that counts only where the mask is true, or where it is not.
local function zero_unless(mask, value)
  return { mask = mask, taken = true, value = value }
end

local function zero_where(mask, value)
  return { mask = mask, taken = false, value = value }
end

local function by_sign_of(g, x)
  return zero_where(expr.eq(x, 0), g * expr.sign(x))
end

-- The derivative of an extreme goes to the terms that nothing is better than, in equal shares: these equal it. Where
-- it is NaN all terms get NaN.
local function extreme(worse)
  return function(node, g, term)
    local others = worse(term, node)
    local share = g / expr.sum(expr.select(others, 0, 1), node.k)
    return { zero_where(others, expr.select(expr.eq(node, node), share, 0 / 0)) }
  end
end

-- What the second argument of a max or min gets: that of equals it is the one, but not beside a
-- constant.
local function beside(better, no_worse, g, b, a)
  return zero_unless((a.op == "const" and better or no_worse)(b, a), g)
end

-- rules[op](node, g, a, b, c): what the arguments a, b, c of a node get of its derivative g, in proportion to it.
local rules = {
  add = function(_, g) return { g, g } end,
  sub = function(_, g) return { g, -g } end,
  mul = function(_, g, a, b) return rawequal(a, b) and { 2 * g * a } or { g * b, g * a } end,
  div = function(node, g, _, b) return { g / b, -(g * node / b) } end,
  neg = function(_, g) return { -g } end,
  abs = function(_, g, a) return { by_sign_of(g, a) } end,
  sqrt = function(node, g) return { 0.5 * g / node } end,
  fma = function(_, g, a, b) return { g * b, g * a, g } end,
  max = function(_, g, a, b) return { zero_unless(expr.gt(a, b), g), beside(expr.gt, expr.ge, g, b, a) } end,
  min = function(_, g, a, b) return { zero_unless(expr.lt(a, b), g), beside(expr.lt, expr.le, g, b, a) } end,
  copysign = function(node, g, a) return { by_sign_of(g * expr.copysign(1, node), a) } end,
  pow = function(node, g, a, b)
    -- Of 0 to a power that is not negative the logarithm's part is 0.
    local ends = expr.eq(expr.select(expr.ge(b, 0), a, 1), 0)
    return {
      zero_where(expr.eq(b, 0), g * (b * expr.pow(a, b - 1))), zero_where(ends, g * (node * expr.log(a))),
    }
  end,
  floor = function() return {} end,
  round = function() return {} end,
  sign = function() return {} end,
  select = function(_, g, mask) return { false, zero_unless(mask, g), zero_where(mask, g) } end,
  sum = function(_, g) return { g } end,
  maximum = extreme(expr.lt),
  minimum = extreme(expr.gt),
  pick = function(node, g, _, index) return { zero_unless(expr.hit(index, node.k), g) } end,
  read = function(node, g)
    local back, reason = move.adjoint(node, g)
    return back and { back }, reason
  end,
  whole = function() return {} end,
  detach = function() return {} end,
}
for op, row in pairs(elementary) do
  rules[op] = function(node, g, ...) return { row.back(expr, node, g, ...) } end
end
for _, comparison in ipairs { "lt", "le", "gt", "ge", "eq", "ne", "all_of", "any_of", "negate", "inside", "same",
  "below" } do
  rules[comparison] = function() return {} end
end

-- What the derivative by h of each place of h = a * h + b is, along the way that a scan goes: g there, and what comes
-- from the place after it through the a there. Of an exclusive scan all comes from there.
local function by_places(node, g, a)
  local how = expr.scans(node)
  local function back(term)
    return expr.scan("recurrence", { exclusive = true, reverse = not how.reverse }, { a, term }, node.k)
  end
  return how.exclusive and back(g) or g + back(a * g)
end

-- The value one place before that a scan's argument takes over.
local function before(node, name, ...)
  return expr.scan(name, { exclusive = true, reverse = expr.scans(node).reverse }, { ... }, node.k)
end

-- The largest or smallest so far: equals share a derivative, as those of a reduction do. better, worse: of a term and
-- what there was before.
local function extreme_so_far(name, better, worse)
  return function(node, g, term)
    local how = expr.scans(node)
    local last = before(node, name, term)
    local stays = expr.select(better(term, last), 0, 1)
    local equals = expr.scan("recurrence", how, { stays, expr.select(worse(term, last), 0, 1) }, node.k)
    local share = expr.select(expr.eq(node, node), g / (how.exclusive and expr.max(equals, 1) or equals), 0 / 0)
    return { zero_where(worse(term, last), by_places(node, share, stays)) }
  end
end

local scans = {
  sum = function(node, g)
    local how = expr.scans(node)
    return { expr.scan("cumsum", { exclusive = how.exclusive, reverse = not how.reverse }, { g }, node.k) }
  end,
  product = function(node, g, x) return { by_places(node, g, x) * before(node, "cumprod", x) } end,
  maximum = extreme_so_far("cummax", expr.gt, expr.lt),
  minimum = extreme_so_far("cummin", expr.lt, expr.gt),
  recurrence = function(node, g, a, b)
    local found = by_places(node, g, a)
    return { found * before(node, "recurrence", a, b), found }
  end,
}
for op, row in pairs(expr.operations) do
  rules[op] = row.scan and scans[row.scan.kind] or rules[op]
end

-- A product as factors that stay the same over some axes, and those that do not (nil for none).
local function factors(node, over)
  if node.axes & over == 0 then
    return node, nil
  elseif node.op == "neg" then
    local fixed, rest = factors(node[1], over)
    return fixed and -fixed or expr.const(-1), rest
  elseif node.op == "mul" then
    local fixed_a, rest_a = factors(node[1], over)
    local fixed_b, rest_b = factors(node[2], over)
    return fixed_a and fixed_b and fixed_a * fixed_b or fixed_a or fixed_b,
      rest_a and rest_b and rest_a * rest_b or rest_a or rest_b
  elseif node.op == "div" and node[2].axes & over == 0 then
    local fixed, rest = factors(node[1], over)
    return (fixed or expr.const(1)) / node[2], rest
  end
  return nil, node
end

-- Whether a node is x - mean(x) over some axes, which has no sum over them.
local function is_centred(node, over)
  local a, b = node[1], node[2]
  return node.op == "sub" and a.axes & over ~= 0 and rawequal(b, expr.sum(a, over) / expr.count(over))
end

-- The sum over some axes, or nil for 0. What stays the same goes in front, so that the sums of a gradient
-- are known after as few passes as may be.
local function gather(node, over)
  if node.op == "add" or node.op == "sub" then
    if is_centred(node, over) then
      return nil
    end
    local a, b = gather(node[1], over), gather(node[2], over)
    if node.op == "sub" then
      b = b and -b
    end
    return a and b and a + b or a or b
  end
  local fixed, rest = factors(node, over)
  local sum = expr.count(over)
  if rest and is_centred(rest, over) then
    return nil
  elseif rest and (rest.op == "add" or rest.op == "sub") then
    sum = gather(rest, over)
  elseif rest then
    sum = expr.sum(rest, over)
  end
  return fixed and sum and fixed * sum or sum
end

-- Rules that multiply with nothing, or with what is a number for sure: of 0 they make 0.
local plain = {
  add = true, sub = true, neg = true, max = true, min = true, select = true, sum = true, pick = true,
}
local function is_plain(node)
  return plain[node.op] or node.op == "mul" and (node[1].op == "const" or node[2].op == "const")
end

-- A derivative is { everywhere, guard, value }: what it would be without its guard (nil for none), and with it;
-- value is made when it is wanted.
local function value_of(derivative)
  derivative.value = derivative.value or derivative.guard.apply(derivative.everywhere, expr.const(0))
  return derivative.value
end

local function unguarded(node)
  return { everywhere = node, value = node }
end

-- The sum of derivatives, nil for none.
local function sum_of(list)
  local all, guard = list[1], #list > 0 and list[#list].guard
  local same, known = true, true
  for i = #list - 1, 1, -1 do -- inner branches come later
    same = same and is_same(guard, list[i].guard)
    guard = either(guard, list[i].guard)
  end
  for _, derivative in ipairs(list) do
    known = known and derivative.value
  end
  for i = 2, #list do
    if same then
      all = {
        everywhere = all.everywhere + list[i].everywhere, guard = guard,
        value = known and all.value + list[i].value,
      }
    else
      all = unguarded(value_of(all) + value_of(list[i]))
    end
  end
  if all then
    all.guard = guard
  end
  return all
end

-- The sum of a derivative over some axes, nil for 0. Where the innermost axis is none of them, it is one pass over
-- rows whatever its factors are, and nothing is left to compute after it.
local function gathered(derivative, over, innermost)
  local guard = derivative.guard
  if over & innermost == 0 then
    return unguarded(expr.sum(value_of(derivative), over))
  elseif guard and guard.axes & over == 0 then
    local everywhere = gather(derivative.everywhere, over)
    return everywhere and { everywhere = everywhere, guard = guard }
  end
  local sum = gather(value_of(derivative), over)
  return sum and unguarded(sum)
end

-- A node's derivative from the nodes that use it, nil for nothing. A use varies over axes that the node may lack: what
-- comes of it is summed over these.
local function total(node, contributions, innermost)
  local by_axes, order, once, parts = {}, {}, {}, {}
  for _, c in ipairs(contributions) do
    local added = c.axes & ~node.axes
    if added ~= 0 and not by_axes[added] then
      by_axes[added] = {}
      order[#order + 1] = added
    end
    table.insert(added == 0 and once or by_axes[added], c.derivative)
  end
  for _, added in ipairs(order) do
    parts[#parts + 1] = gathered(sum_of(by_axes[added]), added, innermost)
  end
  parts[#parts + 1] = sum_of(once)
  return sum_of(parts)
end

-- The shares of a node's arguments in its derivative, by their position.
local function passed_on(node, derivative, fail)
  local rule = rules[node.op] or fail(node.op)
  local guard = derivative.guard
  local function by(g)
    return rule(node, g, node[1], node[2], node[3])
  end
  local guarded = derivative.value and (not guard or is_plain(node)) and by(derivative.value) or {}
  local result = {}
  local given_to, reason = by(derivative.everywhere)
  given_to = given_to or fail(reason)
  for k, given in pairs(given_to) do
    local with = guarded[k]
    if given and given.mask then
      result[k] = {
        everywhere = given.value, guard = under(guard, given.mask, given.taken),
        value = with and under(nil, given.mask, given.taken).apply(with.value, expr.const(0)),
      }
    elseif given then
      result[k] = { everywhere = given, guard = guard, value = with }
    end
  end
  return result
end

-- outputs: { node, derivative, axes }: those that the output has; innermost: the op's innermost axis. Returns the
-- derivative by each of the leaves that has one, by leaf. fail(op) is called for an operation that
-- has no derivative.
function gradient.of(outputs, leaves, innermost, fail)
  local depends, order, roots = {}, {}, {}
  for _, leaf in ipairs(leaves) do
    depends[leaf] = true
  end
  for i, output in ipairs(outputs) do
    roots[i] = output.node
  end
  expr.visit(roots, function(node)
    for i = 1, #node do
      depends[node] = depends[node] or node.op ~= "detach" and depends[node[i]]
    end
    order[#order + 1] = node
  end)
  local contributions = {}
  local function give(node, derivative, axes)
    contributions[node] = contributions[node] or {}
    table.insert(contributions[node], { derivative = derivative, axes = axes })
  end
  for _, output in ipairs(outputs) do
    give(output.node, unguarded(output.derivative), output.axes)
  end
  local found = {}
  for i = #order, 1, -1 do
    local node = order[i]
    if depends[node] and contributions[node] then
      local derivative = total(node, contributions[node], innermost)
      if derivative and (contraction.factors(node) or node.op == "read" or expr.scans(node)) then
        derivative = unguarded(value_of(derivative))
      end
      found[node] = derivative
      if derivative and #node > 0 then
        for k, given in pairs(passed_on(node, derivative, fail)) do
          if depends[node[k]] then
            give(node[k], given, node.axes)
          end
        end
      end
    end
  end
  local result, memo, of_outputs = {}, {}, 0
  for _, output in ipairs(outputs) do
    of_outputs = of_outputs | output.axes
  end
  local solved = {
    sum = function(node, args) return move.solved(args[1], node.k, of_outputs) end,
  }
  for _, leaf in ipairs(leaves) do
    result[leaf] = found[leaf] and expr.rewrite(value_of(found[leaf]), solved, memo)
  end
  return result
end

return gradient
