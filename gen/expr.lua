-- The graph of what a spec's function computes. The function is called with nodes in place of numbers, wrapped by
-- symbol.lua so that it can do nothing but compute. Equal nodes are one node, so common subexpressions are shared by
-- construction.

local axes = require "axes"
local fold = require "fold"
local operation_rows = require "operations"

local expr = {}

local operations, type_names = operation_rows.rows, operation_rows.type_names
expr.operations, expr.type_names = operations, type_names

local node_meta = { __metatable = "a node" }

local nodes, adopted -- of the graph being built: by key; and by the node of an earlier graph
local layout -- of its op: axes.lua
local count, first = 0, 0 -- of the nodes of all graphs; and when this one was begun

-- Starts a new graph. Nodes of an earlier one must not meet those of it, but as adopt() makes them again. The
-- count goes on: a number that two nodes had would make one node of what is made of either.
function expr.begin(of)
  nodes, adopted, first, layout = {}, {}, count, of
end
expr.begin(axes.none)

-- The layout of the graph being built.
function expr.layout()
  return layout
end

-- A node's `axes` are those of the op that it varies over; `varying`: whether it differs from point to point of a pass.
local function set_axes(node, mask)
  node.axes, node.varying = mask, mask & layout.inner ~= 0
  return node
end

local function intern(key, make)
  local node = nodes[key]
  if not node then
    count = count + 1
    make.id, make.key = count, " " .. count
    node = setmetatable(make, node_meta)
    nodes[key] = node
  end
  return node
end

-- A real constant; the double is rounded to the compute type where it is used.
function expr.const(value)
  return intern(string.format("const %a", value), set_axes({ op = "const", type = "r", value = value * 1.0 }, 0))
end

-- An integer constant of the compute type's width.
function expr.iconst(value)
  return intern("iconst " .. value, set_axes({ op = "iconst", type = "i", value = value }, 0))
end

-- A value from outside: "input" (an operand's element), "stash" (a point kept by an earlier pass),
-- "scalar" (an argument of the op), "shared" (an operand's only element, for a row or in all),
-- "integer" (the same of type i64), "count" and "rows" (how many points a pass has, and how many rows there are),
-- "points" (how many points the axes k have),
-- "reduced" (a reduction's result), "column" (the same of one over the rows), "result" (of a step: steps.lua), "tiny"
-- (the type's smallest normal number), "unit" (the spacing of numbers next to 1, of the digits that kernels compute
-- by), "flushed" (that smallest number in such units where a kernel may take what is below as zero, else 0), "narrow"
-- (1 where results are of a type of 16 bits, else 0).
-- mask: the axes that it varies over, none where it is left out.
function expr.leaf(op, name, node_type, mask)
  return intern(op .. " " .. name, set_axes({ op = op, type = node_type or "r", name = name }, mask or 0))
end

-- What is gathered over the rows under a name: it has a value at each point of a row.
function expr.column(name)
  return expr.leaf("column", name, "r", layout.inner)
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

local commutes = { add = true, mul = true, eq = true, ne = true, all_of = true, any_of = true }

-- Makes a node from arguments that are nodes of the right types already.
local function make(op, args, k)
  local a, b, c = args[1], args[2], args[3]
  assert((not a or a.id > first) and (not b or b.id > first) and (not c or c.id > first), "a node of an earlier graph")
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
  local key = op .. (a and a.key or "") .. (b and b.key or "") .. (c and c.key or "") .. (k and " " .. k or "")
  local known = nodes[key]
  if known then
    return known
  end
  local mask = (op == "random" and layout.all or op == "hit" and k or 0) | (a and a.axes or 0) | (b and b.axes or 0)
    | (c and c.axes or 0)
  local row = operations[op]
  args.op, args.type, args.k = op, row[1], k
  -- A reduction that is no part of a pass: over the rows, at each column.
  args.column = row.reduction and k & layout.outer ~= 0
  return intern(key, set_axes(args, row.reduction and mask & ~k or mask))
end
expr.make = make

-- A node of an earlier graph, made again in this one.
function expr.adopt(node)
  if node.id > first then
    return node
  elseif not adopted[node] then
    local args = {}
    for i = 1, #node do
      args[i] = expr.adopt(node[i])
    end
    adopted[node] = node.op == "const" and expr.const(node.value)
      or #node == 0 and expr.leaf(node.op, node.name, node.type, node.axes) or make(node.op, args, node.k)
  end
  return adopted[node]
end

-- An argument of a function called `name` as a node of a type; a wrong one is an error that says which.
function expr.argument(value, want, name, position)
  local node = to_node(value, name, position)
  if node.type ~= want then
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
  if mask == layout.inner or mask == layout.outer then
    return mask == layout.inner and expr.leaf("count", "count") or expr.leaf("rows", "rows")
  end
  local node = expr.leaf("points", "points" .. mask)
  node.k = mask
  return node
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

-- Rebuilds what is under a root with some nodes replaced: rules[op](node, arguments) gives the
-- new node, or nil for the same operation on the new arguments. memo carries what is done
-- already from call to call.
function expr.rewrite(root, rules, memo)
  local done = memo[root]
  if done then
    return done
  end
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

-- Arithmetic operations as a function of the size: { axes, each }, so many at each point of some axes, the most axes
-- first. Every traced node counts once, fma twice; a reduction at each of its terms.
function expr.work(roots)
  local by_axes, list = {}, {}
  expr.visit(roots, function(node)
    local row = operations[node.op]
    if row and row.cost > 0 then
      local set = row.reduction and node[1].axes | node.k or node.axes
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
