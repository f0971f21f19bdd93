-- The graph of what a spec's function computes. The function is called with nodes in place of numbers, wrapped by
-- symbol.lua so that it can do nothing but compute. Equal nodes are one node, so common subexpressions are shared by
-- construction.
--
-- A node belongs to a graph, node.graph, and knows the axes of that which it varies over, node.axes. How a kernel goes
-- over these axes is no part of it: program.lua.

local axes = require "axes"
local fold = require "fold"
local operation_rows = require "operations"

local expr = {}

local operations, type_names = operation_rows.rows, operation_rows.type_names
expr.operations, expr.type_names = operations, type_names

local node_meta = { __metatable = "a node" }

local current -- the graph that nodes are made in: { axes, nodes: by their keys }
local count = 0 -- of the nodes of all graphs: a number that two had would make one node of what is made of either

-- Makes a graph over axes by these names, in which nodes are made from now on. Nodes of another one must not meet those
-- of it, but as adopt() makes them again.
function expr.begin(names)
  current = { axes = { names = names, all = axes.all(names) }, nodes = {} }
  return current
end
expr.begin {}

-- Has nodes made in a graph that was begun before.
function expr.enter(graph)
  current = graph
end

-- The axes of that graph: their names, in order, and all as a set.
function expr.axes()
  return current.axes
end

local function intern(key, make, mask)
  local node = current.nodes[key]
  if not node then
    count = count + 1
    make.id, make.key, make.axes, make.graph = count, " " .. count, mask, current
    node = setmetatable(make, node_meta)
    current.nodes[key] = node
  end
  return node
end

-- A real constant; the double is rounded to the compute type where it is used.
function expr.const(value)
  return intern(string.format("const %a", value), { op = "const", type = "r", value = value * 1.0 }, 0)
end

-- An integer constant of the compute type's width.
function expr.iconst(value)
  return intern("iconst " .. value, { op = "iconst", type = "i", value = value }, 0)
end

-- A value from outside: "input" (an operand's element), "integer" (an operand's only one, of type i64), "index" (a
-- position along the axis k), "scalar" (an argument of the op), "points" (how many points the axes k have), "position"
-- (the point's place along the axis k), "result" (of a step: steps.lua), "tiny" (the type's smallest normal number),
-- "unit" (the spacing of numbers next to 1, of the digits that kernels compute by), "flushed" (that smallest number in
-- such units where a kernel may take what is below as zero, else 0), "narrowed" (in these units, how far what is
-- between two products is rounded, or 0), "vanishing" (below what that is lost), "bursting" (from what on it is
-- infinite), "narrow" (1 where results are of a type of 16 bits, else 0); and those of passes.lua.
-- mask: the axes that it varies over, none where it is left out; leaves of other axes are others.
function expr.leaf(op, name, node_type, mask, k)
  local key = string.format("%s %s %d", op, name, mask or 0)
  return intern(key, { op = op, type = node_type or "r", name = name, k = k }, mask or 0)
end

function expr.is_node(value)
  return getmetatable(value) == node_meta.__metatable
end

local function to_node(value, op, position)
  if expr.is_node(value) then
    return value
  elseif type(value) == "number" then
    return expr.const(value)
  end
  error(
    string.format(
      "%s: expected a number or a symbolic value as argument %d, found %s",
      op,
      position,
      type(value) == "nil" and "nothing" or "a " .. type(value)
    ),
    0
  )
end

-- Rounds what constants fold to. Those of a spec are folded in double precision: the reference, which is wider than
-- the kernel, reads them alike.
local function in_double(value)
  return value
end
local round_folded = in_double

-- What run() gives, where constants fold as a type computes, by its round(value): in a function that is written for
-- that type's roundings.
function expr.folded_as(round, run, ...)
  round_folded = round
  local result = run(...)
  round_folded = in_double
  return result
end

local folds = fold.rules(function(node)
  return expr.abs(node)
end)

local commutes = { add = true, mul = true, eq = true, ne = true, all_of = true, any_of = true, same = true }

-- Makes a node from arguments that are nodes of the right types already.
local function make(op, args, k)
  local a, b, c = args[1], args[2], args[3]
  for i = 1, #args do
    assert(args[i].graph == current, "a node of another graph")
  end
  local rule = folds[op]
  if rule then
    local folded = rule(a, b, c)
    if folded ~= nil then
      return to_node(type(folded) == "number" and round_folded(folded) or folded, op, 1)
    end
  end
  if commutes[op] and a.id > b.id then
    args[1], args[2] = b, a
    a, b = b, a
  end
  local key = op .. (a and a.key or "") .. (b and b.key or "") .. (c and c.key or "")
  for i = 4, #args do
    key = key .. args[i].key
  end
  key = key .. (k and " " .. k or "")
  local known = current.nodes[key]
  if known then
    return known
  end
  local mask = (op == "random" and (k or current.axes.all) or op == "hit" and k or 0)
    | (a and (op == "read" and a.axes & ~k or a.axes) or 0)
  for i = 2, #args do
    mask = mask | args[i].axes
  end
  local row = operations[op]
  args.op, args.type, args.k = op, row[1], k
  return intern(key, args, row.reduction and mask & ~k or row.scan and mask | k or mask)
end
expr.make = make

-- An argument of a function called `name` as a node of a type; a wrong one is an error that says which.
function expr.argument(value, want, name, position)
  local node = to_node(value, name, position)
  if want == "r" and node.type == "x" then
    return make("whole", { node })
  elseif node.type ~= want then
    local instead = operation_rows.instead[want] and operation_rows.instead[want][node.type]
    error(string.format("%s: expected %s as argument %d, found %s%s", name, type_names[want], position,
      type_names[node.type], instead and "; write " .. instead or ""), 0)
  end
  return node
end

-- Refuses another number of arguments than a function takes.
function expr.expect_count(name, expected, given)
  if given ~= expected then
    error(string.format("%s: expected %d argument%s, found %d", name, expected, expected == 1 and "" or "s", given), 0)
  end
end

-- A function that makes nodes of an operation. Numbers become constants.
local function maker(op)
  local signature = operations[op][2]
  return function(...)
    expr.expect_count(op, #signature, select("#", ...))
    local args, k = {}, nil
    for i = 1, #signature do
      local value, want = (select(i, ...)), signature:sub(i, i)
      if want == "k" then
        k = value
      else
        args[i] = expr.argument(value, want, op, i)
      end
    end
    return make(op, args, k)
  end
end

-- expr.add(a, b), expr.exp(x), ... : one function per row of the table above.
for op in pairs(operations) do
  expr[op] = maker(op)
end

function node_meta.__add(a, b)
  return expr.add(a, b)
end
function node_meta.__sub(a, b)
  return expr.sub(a, b)
end
function node_meta.__mul(a, b)
  return expr.mul(a, b)
end
function node_meta.__div(a, b)
  return expr.div(a, b)
end
function node_meta.__unm(a)
  return expr.neg(a)
end
function node_meta.__pow(a, b)
  return expr.power(a, b) -- power.lua
end
function node_meta.__tostring()
  return "a symbolic value"
end

-- How many points some axes have together.
function expr.count(mask)
  return expr.leaf("points", "points" .. mask, "r", 0, mask)
end

-- The place of a point along an axis, from 0 on.
function expr.position(axis)
  return expr.leaf("position", "position" .. axis, "r", axis, axis)
end

-- Whether a node is a reduction of its argument over the axes k, or what is at an index of it there.
function expr.reduces(node)
  local row = operations[node.op]
  return row ~= nil and row.reduction == true
end

-- What a scan along the axis k is, its row's `scan`; nil of other nodes.
function expr.scans(node)
  local row = operations[node.op]
  return row and row.scan
end

-- Makes a scan of such a kind, of one argument or two.
function expr.scan(name, how, args, k)
  return make(name .. (how.exclusive and "_exclusive" or "") .. (how.reverse and "_reverse" or ""), args, k)
end

-- Whether what a node comes to is gathered from several points.
function expr.gathers(node)
  return expr.reduces(node) or expr.scans(node) ~= nil
end

-- Whether a node depends on where points are along the axes k, or on what is elsewhere along these.
local of_places = { position = true, hit = true, read = true, inside = true }
function expr.asks_for_place(node)
  return of_places[node.op] or expr.scans(node) ~= nil
end

-- Visits every node under the roots once, arguments first.
function expr.visit(roots, f)
  local seen = {}
  local function walk(node)
    if not seen[node] then
      seen[node] = true
      for i = 1, #node do
        walk(node[i])
      end
      f(node)
    end
  end
  for _, root in ipairs(roots) do
    walk(root)
  end
end

-- Rebuilds what is under a root with some nodes replaced, in its graph: rules[op](node, arguments) gives
-- the new node, or nil for the same operation on the new arguments. memo carries what is done
-- already from call to call.
function expr.rewrite(root, rules, memo)
  local done = memo[root]
  if done then
    return done
  end
  current = root.graph
  local args = {}
  for i = 1, #root do
    args[i] = expr.rewrite(root[i], rules, memo)
  end
  local rule = rules[root.op]
  local new = rule and rule(root, args)
  if not new then
    new = #root == 0 and root or make(root.op, args, root.k)
  end
  memo[root] = new
  return new
end

-- Nodes of another graph, with all that they are made of, made again in this one: by the others, those of it. They are
-- made in the order that they were made in there, so that sums and products have their arguments in the same one.
-- leaf_of(leaf), where it is given: what is in the place of a leaf, nil for its like.
function expr.adopt(roots, leaf_of)
  local list, adopted = {}, {}
  expr.visit(roots, function(node)
    list[#list + 1] = node
  end)
  table.sort(list, function(a, b)
    return a.id < b.id
  end)
  for _, node in ipairs(list) do
    local args = {}
    for i = 1, #node do
      args[i] = adopted[node[i]]
    end
    adopted[node] = node.op == "const" and expr.const(node.value) or #node > 0 and make(node.op, args, node.k)
      or leaf_of and leaf_of(node) or expr.leaf(node.op, node.name, node.type, node.axes, node.k)
    adopted[node].called = adopted[node].called or node.called
  end
  return adopted
end

-- What is 0 but where a mask holds: that mask, and what it is there; nil of other nodes.
function expr.masked(node)
  if node.op == "select" and node[3].op == "const" and node[3].value == 0 then
    return node[1], node[2]
  end
end

-- The masks all of which are to hold for one to hold, added to a list.
function expr.parts_of_mask(mask, list)
  if mask.op == "all_of" then
    expr.parts_of_mask(mask[1], list)
    return expr.parts_of_mask(mask[2], list)
  end
  list[#list + 1] = mask
  return list
end

-- Along which axes a mask holds at one place at most, where an index is the place: { axis, index } for each.
function expr.hits(mask)
  local list = {}
  for _, part in ipairs(expr.parts_of_mask(mask, {})) do
    for i = 1, part.op == "same" and 2 or 0 do
      local place, index = part[i], part[3 - i]
      local is_hit = place.op == "position" and index.axes & place.k == 0
      list[#list + 1] = is_hit and { axis = place.k, index = index } or nil
    end
  end
  return list
end

-- Arithmetic operations as a function of the size: { axes, each }, so many at each point of some axes, the most axes
-- first. Every traced node counts once, fma twice; a reduction at each of its terms, but for those that are 0 because
-- an index is another place.
function expr.work(roots)
  local by_axes, list = {}, {}
  expr.visit(roots, function(node)
    local row = operations[node.op]
    if row and row.cost > 0 then
      local set, masked = node.axes, node
      if row.reduction then
        set, masked = node[1].axes | node.k, node[1]
      end
      for _, hit in ipairs(expr.hits(expr.masked(masked) or node)) do
        set = set & ~hit.axis
      end
      if not by_axes[set] then
        by_axes[set] = { axes = set, each = 0 }
        list[#list + 1] = by_axes[set]
      end
      by_axes[set].each = by_axes[set].each + row.cost
    end
  end)
  table.sort(list, function(a, b)
    local more, fewer = #axes.indexes(a.axes), #axes.indexes(b.axes)
    if more ~= fewer then
      return more > fewer
    end
    return a.axes < b.axes
  end)
  return list
end

return expr
