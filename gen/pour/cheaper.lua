-- Cheaper forms of operations, for languages whose kernels have little time for each point: where an
-- argument was rounded itself, or results are rounded to a narrower type, less than full accuracy is
-- enough: narrow.lua. exp_near, quotient and root are for languages with texts for them.

local expr = require "expr"
local narrow = require "narrow"
local reductions = require "reductions"
local vecmath = require "vecmath"

local cheaper = {}

for _, name in ipairs { "exp_near", "exp_summed", "root", "reciprocal_root", "reciprocal_near", "reciprocal" } do
  expr.operations[name] = { "r", "r", cost = 1 }
end
expr.operations.quotient = { "r", "rr", cost = 1 }

-- Whether what is computed is rounded to half the bits later.
local function is_narrow(k)
  return k.narrow
end

-- What is one of its arguments, and no other number, by their places.
local moves = {
  neg = { 1 }, abs = { 1 }, copysign = { 1 }, detach = { 1 }, pick = { 1 }, max = { 1, 2 }, min = { 1, 2 },
  select = { 2, 3 },
}

-- Whether a value is, or may be moved from, one of which something holds.
local function comes_of(node, holds)
  for _, place in ipairs(moves[node.op] or {}) do
    if comes_of(node[place], holds) then
      return true
    end
  end
  return not moves[node.op] and holds(node)
end

-- A value that was rounded itself: not an operand's element, nor a plain number.
local function is_rounded(node)
  return comes_of(node, function(of)
    return #of > 0
  end)
end
cheaper.is_rounded = is_rounded

-- The kind of the reduction that a phase of the kernel's program gathers under a name; of two results, the one's kind.
local function kind_of(k, name)
  for _, phase in ipairs(k.program.phases) do
    for _, reduction in ipairs(phase.reductions) do
      if reduction.second == name then
        return "sum"
      elseif reduction.name == name then
        return reductions[reduction.kind].first or reduction.kind
      end
    end
  end
end

-- Functions with results of few bits.
local short = { floor = true, round = true, sign = true, pow = true }

-- Whether a value is made of results of functions, or of a row's sums: as good as never right between two
-- numbers of a narrower type, so that it does not matter to which of them such a one is rounded.
function cheaper.is_never_halfway(k, node)
  local found = false
  expr.visit({ node }, function(part)
    found = found or vecmath[part.op] and not short[part.op] or part.op == "sqrt"
      or part.op == "reduced" and kind_of(k, part.name) == "sum"
  end)
  return found
end

-- What stands for an operation; nil or false where nothing does.
local forms = {}

-- The plain number of a product, and what it is times.
local function factors(node)
  for i = 1, node.op == "mul" and 2 or 0 do
    if node[i].op == "const" then
      return node[i].value, node[3 - i]
    end
  end
end

-- The x of x / sqrt(2), or of minus that, and whether it is the latter.
local function deviation(node)
  local by, x = factors(node)
  if by and math.abs(math.abs(by) - math.sqrt(0.5)) < 1e-15 then
    return x, by < 0
  end
end

-- In f32 itself for what is the difference from a row's largest, and such, where a few ulp are allowed.
function forms.exp(k, args, node)
  local x = node[1]
  if is_narrow(k) then
    local square = x.op == "neg" and x[1].op == "mul" and x[1][1] == x[1][2] and x[1][1]
    local of = square and deviation(square)
    if of then
      return narrow.bell[k.dtype](cheaper.expand(k, of))
    end
    local form = is_rounded(x) and narrow.exp[k.dtype] or k.set.narrow_exp == k.dtype and narrow.exp_element
    return form and form(args[1])
  end
  local shifted = x.op == "sub" and x[2].op == "reduced"
  return shifted and k.set["exp_near_" .. k.dtype] and expr.make("exp_near", args)
end

-- What stands for a term of a sum, and nothing else: one of the powers e^(x - largest x) is 1, so that those
-- below the normal range do not count.
function cheaper.summed(k, term)
  local x = term.op == "exp" and is_narrow(k) and k.set.power_near and term[1]
  local largest = x and x.op == "sub" and x[2].op == "reduced" and kind_of(k, x[2].name) == "maximum"
  expr.enter(term.graph)
  return largest and expr.make("exp_summed", { x }) or term
end

function forms.exp_summed(_, args)
  return narrow.exp.f16(args[1])
end

-- The normal distribution's function of x is erfc(-x / sqrt(2)) / 2, as in gelu; its bell, e^(-x^2 / 2).
function forms.erfc(k, args, node)
  if not is_rounded(node[1]) then
    return false
  end
  return is_narrow(k) and 2 * narrow.normal(args[1] * -math.sqrt(2), k.dtype) or narrow.erfc(args[1])
end

function forms.mul(k, _, node)
  local half, tail = factors(node)
  if is_narrow(k) and half == 0.5 and tail.op == "erfc" then
    local x, negative = deviation(tail[1])
    return x and narrow.normal(cheaper.expand(k, negative and x or -x), k.dtype)
  end
end

-- Two products and something else: added to that one after the other, each product is one operation with its sum.
function forms.add(k, args, node)
  for i = 1, is_narrow(k) and 2 or 0 do
    local sum, other = args[i], args[3 - i]
    local products = sum.op == "add" and sum[1].op == "mul" and sum[2].op == "mul" and k:varies(node[i])
    if products and (other.op ~= "mul" or not k:varies(node[3 - i])) then
      return sum[1] + (sum[2] + other)
    end
  end
end

function forms.tanh(k, args)
  return is_narrow(k) and narrow.tanh(args[1])
end

function forms.log1p(k, args)
  return is_narrow(k) and narrow.log1p(args[1])
end

-- sigmoid(-x) is 1 - sigmoid(x), and takes the same steps as sigmoid(x).
function forms.sigmoid(k, args, node)
  if not is_narrow(k) then
    return false
  end
  local complement = node[1].op == "neg" and args[1].op == "neg"
  return narrow.sigmoid(complement and args[1][1] or args[1], k.dtype, is_rounded(node[1]), complement)
end

-- Whether a value is a sum of products.
local function is_result(node)
  return comes_of(node, function(of)
    return of.op == "result"
  end)
end

-- By a sum, or by what is made of reductions' results: one division for all points. What is the same for
-- all points, or a sum of products, and is narrow later is divided without the steps that make it exact.
function forms.div(k, args, node)
  local by, inexact = node[2], is_narrow(k) and k.set.quotient
  local rounded = is_rounded(by) or by.op == "reduced" and kind_of(k, by.name) == "sum"
  local function reciprocal()
    if args[2].op == "root" then
      return expr.make("reciprocal_root", { args[2][1] })
    end
    return inexact and expr.make("quotient", { expr.const(1), args[2] }) or 1 / args[2]
  end
  if k:varies(node[1]) and not k:varies(by) and rounded then
    return args[1] * reciprocal()
  elseif inexact and (not k:varies(node) or is_result(node[1])) then
    return (by.op == "count" or args[2].op == "root") and args[1] * reciprocal() or expr.make("quotient", args)
  end
end

function forms.sqrt(k, args, node)
  return is_narrow(k) and k.set.root and not k:varies(node) and expr.make("root", args)
end

-- kernel:expand of lower.lua, with these.
function cheaper.expand(k, node)
  if not k.cheaper_rules then
    k.cheaper_rules = setmetatable({}, { __index = k.rules })
    for name, form in pairs(forms) do
      local rule = k.rules[name]
      if k.compute == "f32" or name == "div" then
        k.cheaper_rules[name] = function(old, args)
          return form(k, args, old) or rule and rule(old, args)
        end
      end
    end
  end
  return expr.rewrite(node, k.cheaper_rules, k.memo)
end

return cheaper
