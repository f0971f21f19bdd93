-- Reads what is computed elsewhere than at the point: at(x, { h = place }) is x with the point's place along h
-- replaced. So it is made of what x is made of, there: of operands, positions, and what is read elsewhere itself.
-- What a scan comes to along such an axis is read as an operand is.
--
-- A place is a whole number that kernels find in integers of 64 bits: of positions, numbers of points, whole constants
-- and indexes, by + - * min max, and floor of a quotient by a whole constant.

local axes = require "axes"
local expr = require "expr"
local text = require "text"

local move = {}

local made_of_places = { add = true, sub = true, mul = true, neg = true, min = true, max = true }
local largest = 2 ^ 53

local function is_whole(node)
  return node.op == "const" and node.value % 1 == 0 and math.abs(node.value) < largest
end

-- Of a quotient by a whole constant above 0, which may be a product: what is divided, and by which; else nil.
function move.quotient(node)
  local a, b = node[1], node[2]
  if node.op == "div" and is_whole(b) and b.value > 0 then
    return a, b.value
  elseif node.op == "mul" then
    a, b = a.op == "const" and b or a, a.op == "const" and a or b
    local by = b.op == "const" and 1 / b.value or 0
    if by >= 1 and by % 1 == 0 and 1 / by == b.value then
      return a, by
    end
  end
end

local function is_place(node)
  if node.op == "position" or node.op == "points" or node.op == "whole" or is_whole(node) then
    return true
  elseif node.op == "floor" then
    local divided = move.quotient(node[1])
    return divided ~= nil and is_place(divided)
  elseif not made_of_places[node.op] then
    return false
  end
  return is_place(node[1]) and (not node[2] or is_place(node[2]))
end

-- An argument as a place, else an error that says which.
function move.place(value, what)
  local node = expr.argument(value, "r", what, 2)
  if not is_place(node) then
    error(what .. ": expected a whole number made of position(...), count(...), whole constants and index operands by "
      .. "+ - * min max and floor(a / 2), found another value", 0)
  end
  return node
end

local function refuse(what)
  error("at: " .. what, 0)
end

-- A node at other places: by axes, as sets of one, the places along these.
local function moved(root, places, set, varies)
  local memo = {}
  local walk
  local function all(node, from)
    local args = {}
    for i = from, #node do
      args[#args + 1] = walk(node[i])
    end
    return args
  end
  -- An operand or a scan, and its places so far, by axes.
  local function read(leaf, known)
    local args, named = { leaf }, 0
    for _, index in ipairs(axes.indexes(leaf.axes)) do
      local axis = 1 << index
      local place = known[axis] or places[axis]
      args[#args + 1], named = place, named | (place and axis or 0)
    end
    return expr.make("read", args, named)
  end
  local rules = {
    position = function(node) return places[node.k] end,
    input = function(node) return read(node, {}) end,
    read = function(node)
      local known = {}
      for i, index in ipairs(axes.indexes(node.k)) do
        known[1 << index] = walk(node[i + 1])
      end
      return read(node[1], known)
    end,
    whole = function(node)
      refuse(string.format("the index '%s' is read at the point alone, not elsewhere", node[1].name))
    end,
    hit = function() refuse "what is picked by an index is not read elsewhere" end,
    random = function() refuse "random numbers are not read elsewhere" end,
  }
  rules.pick = rules.hit
  function walk(node)
    if node.axes & set == 0 then
      return node
    elseif not memo[node] then
      if expr.reduces(node) and node.k & varies ~= 0 then
        refuse(string.format("a place varies over %s, which what is read there is reduced over; give one of these "
          .. "another name", axes.show(expr.axes().names, node.k & varies)))
      end
      local stays = expr.scans(node) and node.k & (set | varies) ~= 0
      local rule = stays and rules.input or rules[node.op]
      memo[node] = rule and rule(node) or expr.make(node.op, all(node, 1), node.k)
    end
    return memo[node]
  end
  return walk(root)
end

-- Whether something under a node is known at the point alone, along some axes.
local at_point_alone = { whole = true, hit = true, pick = true, random = true }
local function stays(root, set)
  local found = false
  expr.visit({ root }, function(node)
    found = found or at_point_alone[node.op] and node.axes & set ~= 0
  end)
  return found
end

-- at(x, places, outside), places by their axes, as sets of one: nodes. outside: a node, NaN where it is nil.
function move.at(x, places, outside)
  local set, varies, mask = 0, 0, nil
  for axis, place in text.sorted_pairs(places) do
    local inside = expr.inside(place, axis)
    set, varies, mask = set | axis, varies | place.axes, mask and expr.all_of(mask, inside) or inside
  end
  local there = moved(x, places, set, varies)
  return x.op == "input" and not outside and there or expr.select(mask, there, outside or 0 / 0)
end

-- What is made of x as a read is of its operand, and 0 outside.
function move.as_read(read, x)
  local places = {}
  for i, index in ipairs(axes.indexes(read.k)) do
    places[1 << index] = read[i + 1]
  end
  return move.at(x, places, expr.const(0))
end

-- a + b, or a - b, of which b may be 0.
local function sum(a, b, sign)
  if b.op == "const" and b.value == 0 then
    return a
  elseif a.op == "const" and a.value == 0 then
    return sign > 0 and b or -b
  end
  return sign > 0 and a + b or a - b
end

-- A place as a number times the position along an axis, and the rest; nil where it is none.
local function by_position(node, axis)
  local op, a, b = node.op, node[1], node[2]
  if node.axes & axis == 0 then
    return 0, node
  elseif op == "position" then
    return 1, expr.const(0)
  elseif op == "neg" then
    local by, rest = by_position(a, axis)
    return by and -by, by and -rest
  elseif op == "add" or op == "sub" then
    local by, rest = by_position(a, axis)
    local more, rest_more = by_position(b, axis)
    local sign = op == "add" and 1 or -1
    return by and more and by + sign * more, by and more and sum(rest, rest_more, sign)
  end
end

-- What an operand gets of a derivative by a read of it: a sum over the points, wherever these read it. That along an
-- axis which the read has itself goes back the way of the place. Where there is no such way: nil, and what it is.
function move.adjoint(read, derivative)
  local back, mask, set = {}, nil, 0
  for i, index in ipairs(axes.indexes(read.k)) do
    local axis, place = 1 << index, read[i + 1]
    if read.axes & axis == 0 then
      local same = expr.same(expr.position(axis), place)
      mask = mask and expr.all_of(mask, same) or same
    else
      local by, rest = by_position(place, axis)
      if (by ~= 1 and by ~= -1) or rest.axes & read.k & read.axes ~= 0 then
        return nil, "at(...) along an axis of its result by other steps than 1"
      end
      set = set | axis
      back[axis] = by > 0 and sum(expr.position(axis), rest, -1) or sum(rest, expr.position(axis), -1)
    end
  end
  if stays(derivative, set) then
    return nil, "at(...) times what an index along the same axis reads"
  end
  local at_point = mask and expr.select(mask, derivative, 0) or derivative
  return next(back) and move.at(at_point, back, expr.const(0)) or at_point
end

return move
