-- Which terms of a sum may be other than 0, where masks by places say so: from one place of an axis to another. A sum
-- over an axis goes through these alone, of the gradient of what is read at places that grow with the point's: windows,
-- edges that are repeated, pixels between others.

local expr = require "expr"
local move = require "move"
local text = require "text"

local spans = {}

local FAR = 2 ^ 31 -- more than an axis has points, times which places are whole numbers of 64 bits

local function floor_of(node, by)
  return by == 1 and node or expr.make("floor", { node / by })
end

local function larger(a, b)
  return expr.make("max", { a, b })
end

local function smaller(a, b)
  return expr.make("min", { a, b })
end

-- Of two arguments the one that varies along an axis, and the other.
local function varying(node, axis)
  local a, b = node[1], node[2]
  if a.axes & axis ~= 0 and b.axes & axis == 0 then
    return a, b
  elseif node.op ~= "sub" and b.axes & axis ~= 0 and a.axes & axis == 0 then
    return b, a
  end
end

-- rules: what each operation asks of its argument, given a bound of itself.
local function search(rules)
  local function of(node, bound, axis)
    if node.op == "position" and node.k == axis then
      return bound
    end
    if node.op == "floor" then
      local divided, by = move.quotient(node[1])
      return of(divided, rules.floor(bound, by), axis)
    end
    local a, b
    if node[2] then
      a, b = varying(node, axis)
    end
    if not a then
      return nil
    elseif node.op == "add" or node.op == "sub" then
      return of(a, node.op == "add" and bound - b or bound + b, axis)
    elseif node.op == "mul" and b.op == "const" and b.value > 0 then
      return of(a, rules.mul(bound, math.tointeger(b.value)), axis)
    elseif node.op == "min" or node.op == "max" then
      local found = of(a, bound, axis)
      return found and rules[node.op](found, bound, b)
    end
  end
  return of
end

-- The first place along an axis where a node, which does not fall along it, may be `least` or more, or the last one
-- where it may be `most` or less; nil where that is not known. max(a, b) is `least` everywhere where b is, as min(a, b)
-- is at most `most` where b is.
local first_where = search {
  floor = function(least, by) return least * by end,
  mul = function(least, by) return floor_of(least + (by - 1), by) end,
  max = function(found, least, other) return smaller(found, (least - other) * FAR) end,
  min = function(found) return found end,
}
local last_where = search {
  floor = function(most, by) return most * by + (by - 1) end,
  mul = function(most, by) return floor_of(most, by) end,
  min = function(found, most, other) return larger(found, (most - other + 1) * FAR) end,
  max = function(found) return found end,
}

local function has_index(root)
  local found = false
  expr.visit({ root }, function(node)
    found = found or node.op == "whole"
  end)
  return found
end

-- Adds what a mask says of an axis to a span; points: the axes that its ends may vary over.
local function narrow(span, mask, axis, points)
  local function bounds(node, other, is_least, is_most, by)
    if node.axes & axis == 0 or other.axes & ~points ~= 0 or has_index(node) or has_index(other) then
      return
    end
    local low = is_least and first_where(node, other + by, axis)
    local high = is_most and last_where(node, other - by, axis)
    span.low = low and (span.low and larger(span.low, low) or low) or span.low
    span.high = high and (span.high and smaller(span.high, high) or high) or span.high
  end
  local op, a, b = mask.op, mask[1], mask[2]
  if op == "inside" then
    bounds(a, expr.const(0), true, false, 0)
    bounds(a, expr.count(mask.k) - 1, false, true, 0)
  elseif b and move.is_place(a) and move.is_place(b) then
    local strict = (op == "gt" or op == "lt") and 1 or 0
    if op == "same" or op == "eq" then
      bounds(a, b, true, true, 0)
      bounds(b, a, true, true, 0)
    elseif op == "ge" or op == "gt" then
      bounds(a, b, true, false, strict)
      bounds(b, a, false, true, strict)
    elseif op == "le" or op == "lt" then
      bounds(a, b, false, true, strict)
      bounds(b, a, true, false, strict)
    end
  end
end

-- Whether a place does not fall along an axis.
local function rises(node, axis)
  if node.axes & axis == 0 or node.op == "position" then
    return true
  elseif node.op == "floor" then
    return rises((move.quotient(node[1])), axis)
  elseif node.op == "sub" then
    return node[2].axes & axis == 0 and rises(node[1], axis)
  elseif node.op == "mul" then
    local a, b = varying(node, axis)
    return a ~= nil and b.op == "const" and b.value >= 0 and rises(a, axis)
  end
  local is_known = node.op == "add" or node.op == "min" or node.op == "max"
  return is_known and rises(node[1], axis) and rises(node[2], axis)
end

-- Of terms { node } that are added up over axes the span along one of these, { low, high }: places of the first and the
-- last that may count, which vary over `points`. Nil of no span.
function spans.of(terms, axis, points)
  local lows, highs = {}, {}
  for _, term in ipairs(terms) do
    for _, addend in ipairs(move.addends(term)) do
      local masks, span = {}, {}
      move.unmasked(addend, masks)
      for _, mask in ipairs(masks) do
        narrow(span, mask, axis, points)
      end
      if not (span.low and span.high) then
        return nil
      end
      lows[span.low.key], highs[span.high.key] = span.low, span.high
    end
  end
  local low, high
  for _, node in text.sorted_pairs(lows) do
    low = low and smaller(low, node) or node
  end
  for _, node in text.sorted_pairs(highs) do
    high = high and larger(high, node) or node
  end
  return low and { low = low, high = high }
end

-- Whether neither end of a span falls along an axis.
function spans.rises(span, axis)
  return rises(span.low, axis) and rises(span.high, axis)
end

return spans
