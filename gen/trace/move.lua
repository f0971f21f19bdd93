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

-- Whether a node is a place, a whole number of those above.
local known_places = setmetatable({}, { __mode = "k" })
function move.is_place(node)
  local is_place = known_places[node]
  if is_place ~= nil then
    return is_place
  elseif node.op == "floor" then
    local divided = move.quotient(node[1])
    is_place = divided ~= nil and move.is_place(divided)
  elseif made_of_places[node.op] then
    is_place = move.is_place(node[1]) and (not node[2] or move.is_place(node[2]))
  else
    is_place = node.op == "position" or node.op == "points" or node.op == "whole" or is_whole(node)
  end
  known_places[node] = is_place
  return is_place
end

-- An argument as a place, else an error that says which.
function move.place(value, what)
  local node = expr.argument(value, "r", what, 2)
  if not move.is_place(node) then
    error(what .. ": expected a whole number made of position(...), count(...), whole constants and index operands by "
      .. "+ - * min max and floor(a / 2), found another value", 0)
  end
  return node
end

local function refuse(what)
  error("at: " .. what, 0)
end

-- An operand, a scan or a sum at places, by axes as sets of one.
local function read_at(leaf, places)
  local args, named = { leaf }, 0
  for _, index in ipairs(axes.indexes(leaf.axes)) do
    local place = places[1 << index]
    args[#args + 1], named = place, named | (place and 1 << index or 0)
  end
  return expr.make("read", args, named)
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
  local rules = {
    position = function(node) return places[node.k] end,
    input = function(node) return read_at(node, places) end,
    read = function(node)
      local known = {}
      for i, index in ipairs(axes.indexes(node.k)) do
        known[1 << index] = walk(node[i + 1])
      end
      return read_at(node[1], setmetatable(known, { __index = places }))
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
      local is_caught = expr.reduces(node) and node.k & varies ~= 0 -- by a name that means two axes
      if is_caught and node.op ~= "sum" then
        refuse(string.format("a place varies over %s, which an extreme that is read there is over; give one of these "
          .. "another name", axes.show(expr.axes().names, node.k & varies)))
      end
      local stays = is_caught or expr.scans(node) and node.k & (set | varies) ~= 0
      local rule = stays and rules.input or rules[node.op]
      memo[node] = rule and rule(node) or expr.make(node.op, all(node, 1), node.k)
    end
    return memo[node]
  end
  return walk(root)
end

-- Whether an extreme under a node, that lies along axes of a set, is over an axis that a place varies over.
local function has_caught(root, set, varies)
  local found = false
  expr.visit({ root }, function(node)
    found = found or expr.reduces(node) and node.op ~= "sum" and node.axes & set ~= 0 and node.k & varies ~= 0
  end)
  return found
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

-- By how much a place grows with each position along an axis; nil where that is not the same everywhere.
function move.slope(node, axis)
  local op, a, b = node.op, node[1], node[2]
  if node.axes & axis == 0 then
    return 0
  elseif op == "position" then
    return 1
  elseif op == "neg" then
    local by = move.slope(a, axis)
    return by and -by
  elseif op == "add" or op == "sub" then
    local by, more = move.slope(a, axis), move.slope(b, axis)
    return by and more and by + (op == "add" and more or -more)
  elseif op == "mul" and (is_whole(a) or is_whole(b)) then
    local by = move.slope(is_whole(a) and b or a, axis)
    return by and by * math.tointeger((is_whole(a) and a or b).value)
  end
end

-- What a place that grows evenly along an axis is at the first position there.
local function at_first(node, axis)
  local op, a, b = node.op, node[1], node[2]
  if node.axes & axis == 0 then
    return node
  elseif op == "position" then
    return expr.const(0)
  elseif op == "neg" then
    return -at_first(a, axis)
  elseif op == "mul" then
    a, b = is_whole(a) and b or a, is_whole(a) and a or b
    return at_first(a, axis) * b
  end
  return sum(at_first(a, axis), at_first(b, axis), op == "add" and 1 or -1)
end

-- A place as a number times the position along an axis, and the rest; nil where it is none.
local function by_position(node, axis)
  local by = move.slope(node, axis)
  return by, by and at_first(node, axis)
end

-- By how much a read's place along an axis of its operand grows with each position along another; nil as of slope.
function move.slope_of_read(read, axis, along)
  for i, index in ipairs(axes.indexes(read.k)) do
    if 1 << index == axis then
      return move.slope(read[i + 1], along)
    end
  end
  return axis == along and 1 or 0
end

-- ---- sums over places -----------------------------------------------------------------------------------------------

-- What a node is where some masks hold, added to a list, where it is 0 elsewhere.
function move.unmasked(node, list)
  local mask, value = expr.masked(node)
  while mask do
    expr.parts_of_mask(mask, list)
    node = value
    mask, value = expr.masked(node)
  end
  return node
end

local function masked(node, masks)
  local all
  for _, mask in ipairs(masks) do
    all = all and expr.all_of(all, mask) or mask
  end
  return all and expr.select(all, node, 0) or node
end

-- Masks without those that are so where others are: a place that is one along an axis is inside of it.
local function without_inside(masks)
  local is_position, list = {}, {}
  for _, mask in ipairs(masks) do
    for i = 1, mask.op == "same" and 2 or 0 do
      is_position[mask[i].op == "position" and mask[3 - i].key .. " " .. mask[i].k or false] = true
    end
  end
  for _, mask in ipairs(masks) do
    list[#list + 1] = not (mask.op == "inside" and is_position[mask[1].key .. " " .. mask.k]) and mask or nil
  end
  return list
end

-- Where along an axis a mask holds, if that is at one place at most: that place, and masks that hold where it is there.
local function solve(mask, axis)
  for i = 1, mask.op == "same" and 2 or 0 do
    local by, rest = by_position(mask[i], axis)
    local other = mask[3 - i]
    if by and by ~= 0 and other.axes & axis == 0 then
      local place = by > 0 and sum(other, rest, -1) or sum(rest, other, -1)
      local steps = math.abs(by)
      if steps == 1 then
        return place, { expr.inside(place, axis) }
      end
      local nth = expr.make("floor", { place / steps })
      return nth, { expr.inside(nth, axis), expr.same(nth * steps, place) }, true
    end
  end
end

-- Whether what a node is elsewhere can be said.
local function moves(root, set, varies)
  local can = not stays(root, set)
  expr.visit({ root }, function(node)
    local is_gathered = expr.reduces(node) or expr.scans(node)
    can = can and not (is_gathered and node.axes & set ~= 0 and node.k & (set | varies) ~= 0)
  end)
  return can
end

local function sum_of(node, over)
  return over ~= 0 and expr.sum(node, over) or node
end

-- How many elements a node is made of that are read elsewhere.
local function count_reads(root)
  local count = 0
  expr.visit({ root }, function(node)
    count = count + (node.op == "read" and 1 or 0)
  end)
  return count
end

-- A sum of products under a mask of one of the factors: that factor is 0 where the mask does not hold. So is the other
-- one where it is read elsewhere, for outside of what is read it is NaN.
local function sum_of_masked(value, masks, over)
  local set = 0
  for _, mask in ipairs(masks) do
    set = set | mask.axes
  end
  local term = value.op == "sum" and #masks > 0 and set & value.k == 0 and value[1]
  for i = 1, term and term.op == "mul" and 2 or 0 do
    local other = term[3 - i]
    if set & ~term[i].axes == 0 then
      other = count_reads(other) > 0 and masked(other, masks) or other
      return expr.sum(masked(term[i], masks) * other, over | value.k)
    end
  end
  return sum_of(masked(value, masks), over)
end

-- Of what is made of more reads than these a value is kept, not computed anew at each of the places where it is wanted:
-- a sum over no axis is what is kept of one term.
local FEW = 2

-- A value under masks of which those that read something are its own, where that is kept; then those that are left.
local function with_its_masks(value, masks)
  local own, others = {}, {}
  for _, mask in ipairs(masks) do
    local list = count_reads(mask) > 0 and own or others
    list[#list + 1] = mask
  end
  local whole = masked(value, own)
  if count_reads(whole) > FEW then
    return whole, others, true
  end
  return value, masks
end

-- A sum over axes, along some of which its terms are 0 but where a place is another one, as that of what is at these
-- places: nil where there is no such axis. Where most of the places are none of those, a product is read there; else
-- its factors are. first: the axes that are tried before others.
local function solved(term, over, first)
  local given, found, is_seldom, places, set, varies = {}, nil, false, {}, 0, 0
  local value, masks, is_kept = with_its_masks(move.unmasked(term, given), without_inside(given))
  local function step()
    for _, some in ipairs { over & first, over & ~first } do
      for _, index in ipairs(axes.indexes(some)) do
        local axis = 1 << index
        for i, mask in ipairs(masks) do
          local place, holds, by_steps = solve(mask, axis)
          if place and moves(masked(value, masks), set | axis, varies | place.axes) then
            local list = holds
            for j, other in ipairs(masks) do
              list[#list + 1] = j ~= i and moved(other, { [axis] = place }, axis, place.axes) or nil
            end
            masks, over, is_seldom = list, over & ~axis, is_seldom or by_steps
            places[axis], set, varies = place, set | axis, varies | place.axes
            return true
          end
        end
      end
    end
  end
  while step() do
    found = true
  end
  if not found then
    return nil
  elseif is_kept or is_seldom and value.op == "sum" and value[1].op == "mul" then
    local kept = expr.gathers(value) and value or expr.make("sum", { value }, 0)
    return sum_of(masked(read_at(kept, places), masks), over)
  end
  return sum_of_masked(moved(value, places, set, varies), masks, over)
end

-- What is added up in a node: a list.
function move.addends(node)
  local list = {}
  local function walk(n)
    if n.op == "add" then
      walk(n[1])
      return walk(n[2])
    end
    list[#list + 1] = n
  end
  walk(node)
  return list
end

-- The sum of a term over axes as sums over fewer of what is at places, of each of its addends where there is such a
-- one; nil where there is none.
function move.solved(term, over, first)
  local all, rest
  for _, addend in ipairs(move.addends(term)) do
    local found = solved(addend, over, first)
    all = found and (all and all + found or found) or all
    rest = not found and (rest and rest + addend or addend) or rest
  end
  return all and (rest and all + expr.sum(rest, over) or all)
end

-- What an operand gets of a derivative by a read of it: a sum over the points, wherever these read it. That along an
-- axis which the read has itself goes back the way of the place. Where there is no such way: nil, and what it is.
function move.adjoint(read, derivative)
  local back, mask, set, varies = {}, nil, 0, 0
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
      back[axis] = by > 0 and sum(expr.position(axis), rest, -1) or sum(rest, expr.position(axis), -1)
      set, varies = set | axis, varies | back[axis].axes
    end
  end
  if stays(derivative, set) then
    return nil, "at(...) times what an index along the same axis reads"
  elseif has_caught(derivative, set, varies) then
    return nil, "at(...) whose place varies over an axis that its derivative has an extreme over"
  end
  local at_point = mask and expr.select(mask, derivative, 0) or derivative
  return next(back) and move.at(at_point, back, expr.const(0)) or at_point
end

return move
