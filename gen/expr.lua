-- The graph of what a spec's function computes. The function is called with nodes in place of numbers, wrapped by
-- symbol.lua so that it can do nothing but compute. Equal nodes are one node, so common subexpressions are shared by
-- construction; what is folded is folded only where the result is the same to the bit, for NaN,
-- infinities and signed zeros too.

local axes = require "axes"

local expr = {}

-- One row per operation: its result's type, then its arguments' types. r is a real number of the
-- compute type, m a mask (true or false in each lane), i an integer as wide as the real, x an index
-- operand, s a single integer, k a plain number of the generator's: a count, or a set of axes.
-- cost: how many arithmetic operations a point of it counts as in a row's flop figure.
-- reduction: over axes of its argument, which its k names as a set. It varies over the others.
local operations = {
  add = { "r", "rr", cost = 1 },
  sub = { "r", "rr", cost = 1 },
  mul = { "r", "rr", cost = 1 },
  div = { "r", "rr", cost = 1 },
  neg = { "r", "r", cost = 0 },
  abs = { "r", "r", cost = 1 },
  sqrt = { "r", "r", cost = 1 },
  fma = { "r", "rrr", cost = 2 }, -- rounded once
  mad = { "r", "rrr", cost = 2 }, -- rounded once where that is as fast, else twice
  min = { "r", "rr", cost = 1 }, -- NaN if either is
  max = { "r", "rr", cost = 1 },
  minraw = { "r", "rr", cost = 1 }, -- a < b ? a : b
  maxraw = { "r", "rr", cost = 1 }, -- a > b ? a : b
  copysign = { "r", "rr", cost = 1 }, -- magnitude, sign
  ldexp = { "r", "rr", cost = 1 }, -- a * 2^b, b a whole number
  exp = { "r", "r", cost = 1 },
  exp2 = { "r", "r", cost = 1 },
  expm1 = { "r", "r", cost = 1 },
  log = { "r", "r", cost = 1 },
  log1p = { "r", "r", cost = 1 },
  tanh = { "r", "r", cost = 1 },
  sigmoid = { "r", "r", cost = 1 }, -- 1 / (1 + exp(-x))
  erf = { "r", "r", cost = 1 },
  erfc = { "r", "r", cost = 1 },
  sin = { "r", "r", cost = 1 },
  cos = { "r", "r", cost = 1 },
  pow = { "r", "rr", cost = 1 }, -- as C's
  rsqrt = { "r", "r", cost = 1 }, -- 1 / sqrt(x)
  floor = { "r", "r", cost = 1 },
  round = { "r", "r", cost = 1 }, -- to the nearest whole number, of two the even one
  sign = { "r", "r", cost = 1 }, -- -1, +0 or 1; NaN stays
  lt = { "m", "rr", cost = 1 },
  le = { "m", "rr", cost = 1 },
  gt = { "m", "rr", cost = 1 },
  ge = { "m", "rr", cost = 1 },
  eq = { "m", "rr", cost = 1 },
  ne = { "m", "rr", cost = 1 }, -- true where either is NaN
  all_of = { "m", "mm", cost = 1 },
  any_of = { "m", "mm", cost = 1 },
  negate = { "m", "m", cost = 1 },
  select = { "r", "mrr", cost = 1 }, -- where the mask is true the second, else the third
  seldom = { "r", "mrr", cost = 1 }, -- the same, of a mask seldom true, and a second not computed where it never is
  bits = { "i", "r", cost = 0 },
  real = { "r", "i", cost = 0 },
  iadd = { "i", "ii", cost = 1 },
  isub = { "i", "ii", cost = 1 },
  iand = { "i", "ii", cost = 1 },
  ior = { "i", "ii", cost = 1 },
  ixor = { "i", "ii", cost = 1 },
  ishl = { "i", "ik", cost = 1 },
  ishr = { "i", "ik", cost = 1 }, -- zeros come in
  sum = { "r", "rk", cost = 1, reduction = true },
  maximum = { "r", "rk", cost = 1, reduction = true },
  minimum = { "r", "rk", cost = 1, reduction = true },
  argmax = { "n", "rk", cost = 1, reduction = true }, -- n: an index; the first of equals, or NaN
  argmin = { "n", "rk", cost = 1, reduction = true },
  pick = { "r", "rxk", cost = 0, reduction = true }, -- the term at an index along k; NaN outside of that axis
  hit = { "m", "xk", cost = 0 }, -- where the point is the one that an index along k names
  random = { "r", "ss", cost = 1 }, -- see templates/c/philox.h; another one at each point of the op
  detach = { "r", "r", cost = 0 }, -- the argument, but for gradients a constant
}
expr.operations = operations

expr.type_names = {
  r = "a number", m = "a comparison", i = "integer bits", n = "an index", x = "an index operand",
  s = "a single i64 operand",
}

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

-- A node's `axes` are those of the op that it varies over; `varying`: whether it differs from point to point of a pass.
local function set_axes(node, mask)
  node.axes, node.varying = mask, mask & layout.inner ~= 0
  return node
end

local function intern(key, make)
  local node = nodes[key]
  if not node then
    count = count + 1
    make.id = count
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
-- "reduced" (a reduction's result), "column" (the same of one over the rows), "tiny" (the type's smallest normal
-- number), "unit" (the spacing of the type's numbers next to 1).
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

-- What each operation folds to, given its argument nodes; nil leaves it as it is. Constants are
-- folded in double precision: the reference, which is wider than the kernel, reads them alike.
local folds = {
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
      return expr.abs(a[1])
    end
  end,
  sqrt = function(a)
    if is_const(a) and a.value >= 0 then
      return math.sqrt(a.value)
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

local commutes = { add = true, mul = true, eq = true, ne = true, all_of = true, any_of = true }

-- Makes a node from arguments that are nodes of the right types already.
local function make(op, args, k)
  for i = 1, #args do
    assert(args[i].id > first, "a node of an earlier graph")
  end
  local fold = folds[op]
  if fold then
    local folded = fold(args[1], args[2], args[3])
    if folded ~= nil then
      return to_node(folded, op, 1)
    end
  end
  if commutes[op] and args[1].id > args[2].id then
    args[1], args[2] = args[2], args[1]
  end
  local key, mask = op, op == "random" and layout.all or op == "hit" and k or 0
  for i = 1, #args do
    key = key .. " " .. args[i].id
    mask = mask | args[i].axes
  end
  local row = operations[op]
  args.op, args.type, args.k = op, row[1], k
  -- A reduction that is no part of a pass: over the rows, at each column.
  args.column = row.reduction and k & layout.outer ~= 0
  return intern(k and key .. " " .. k or key, set_axes(args, row.reduction and mask & ~k or mask))
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
local function argument(value, want, name, position)
  local node = to_node(value, name, position)
  if node.type ~= want then
    error(string.format("%s: expected %s as argument %d, found %s", name, expr.type_names[want], position,
      expr.type_names[node.type]), 0)
  end
  return node
end

-- What a reduction goes over: axes that its argument has.
local function expect_axes(node, set, name)
  if set == 0 then
    error(name .. ": expected what varies over some axis, found what is the same at every point", 0)
  elseif set & ~node.axes ~= 0 then
    error(string.format("%s: expected axes out of those of its argument, %s; found %s", name,
      axes.show(layout.names, node.axes), axes.show(layout.names, set)), 0)
  end
  return set
end

-- The set of axes that a function of a spec goes over: `which` of the layout. An op whose function names its axes
-- knows no rows.
local function set_of(which, name)
  if which ~= "reduced" and not layout.reduced then
    error(string.format("%s: expected axes by their names, as in %s(x, \"%s\")", name, (string.gsub(name, "^%a+_", "")),
      layout.names[#layout.names]), 0)
  end
  return layout[which]
end

-- A function that makes nodes of an operation, and goes by a name in messages. Numbers become constants. A reduction
-- of a spec has k by the names of axes after its arguments, or it is that set of the layout which `which` names.
local function maker(op, name, which)
  local signature = which and operations[op][2]:gsub("k", "") or operations[op][2]
  return function(...)
    local given = select("#", ...)
    local named = which and given > #signature and type((select(#signature + 1, ...))) == "string"
      and axes.named(layout, name, select(#signature + 1, ...))
    given = named and #signature or given
    if given ~= #signature then
      error(string.format("%s: expected %d argument%s, found %d", name, #signature,
        #signature == 1 and "" or "s", given), 0)
    end
    local args, k = {}, named or which and set_of(which, name)
    for i = 1, #signature do
      local value, want = (select(i, ...)), signature:sub(i, i)
      if want == "k" then
        k = value
      else
        args[i] = argument(value, want, name, i)
      end
    end
    if which and not layout.reduced then
      k = expect_axes(args[1], k or args[1].axes, name)
    end
    return make(op, args, k)
  end
end

-- expr.add(a, b), expr.exp(x), ... : one function per row of the table above.
for op in pairs(operations) do
  expr[op] = maker(op, op)
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

-- The functions a spec sees, by name. max(x) with one argument is a reduction, with two it is
-- element-wise, as in mathematics.
local function either(name, one)
  local two = maker(name, name)
  return function(...)
    local reduces = select("#", ...) == 1 or type((select(2, ...))) == "string"
    return (reduces and one or two)(...)
  end
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


-- Two comparisons, or more, as one.
local function joined(name)
  local two = maker(name, name)
  return function(...)
    local given = select("#", ...)
    local all = given > 2 and ... or two(...)
    for i = 2, given > 2 and given or 0 do
      all = two(all, (select(i, ...)))
    end
    return all
  end
end

local function mean(name, which)
  local sum = maker("sum", name, which)
  return function(...)
    local total = sum(...)
    return total / expr.count(total.k)
  end
end

expr.vocabulary = {
  max = either("max", maker("maximum", "max", "reduced")),
  min = either("min", maker("minimum", "min", "reduced")),
  sum = maker("sum", "sum", "reduced"),
  argmax = maker("argmax", "argmax", "reduced"),
  argmin = maker("argmin", "argmin", "reduced"),
  mean = mean("mean", "reduced"),
  count = function(...)
    return expr.count(select("#", ...) > 0 and axes.named(layout, "count", ...) or layout.reduced or layout.all)
  end,
  row_sum = maker("sum", "row_sum", "inner"),
  row_max = maker("maximum", "row_max", "inner"),
  row_min = maker("minimum", "row_min", "inner"),
  row_mean = mean("row_mean", "inner"),
  column_sum = maker("sum", "column_sum", "outer"),
  column_max = maker("maximum", "column_max", "outer"),
  column_min = maker("minimum", "column_min", "outer"),
  at = function(...)
    local x, index = ...
    if select("#", ...) ~= 2 then
      error(string.format("at: expected 2 arguments, found %d", select("#", ...)), 0)
    end
    x, index = argument(x, "r", "at", 1), argument(index, "x", "at", 2)
    return make("pick", { x, index }, index.along)
  end,
  all_of = joined "all_of",
  any_of = joined "any_of",
  clamp = function(x, low, high)
    x, low = argument(x, "r", "clamp", 1), argument(low, "r", "clamp", 2)
    return expr.min(expr.max(x, low), argument(high, "r", "clamp", 3))
  end,
  isnan = function(x)
    x = argument(x, "r", "isnan", 1)
    return expr.ne(x, x)
  end,
}
for _, name in ipairs {
  "abs", "sqrt", "fma", "copysign", "exp", "exp2", "expm1", "log", "log1p", "tanh", "sigmoid",
  "erf", "erfc", "sin", "cos", "pow", "rsqrt", "floor", "round", "sign", "lt", "le", "gt", "ge", "eq", "ne", "negate",
  "select", "random", "detach",
} do
  expr.vocabulary[name] = expr[name]
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

-- Arithmetic operations for each point: every traced node counts once, fma twice.
function expr.flops(roots)
  local total = 0
  expr.visit(roots, function(node)
    local row = operations[node.op]
    total = total + (row and row.cost or 0)
  end)
  return total
end

return expr
