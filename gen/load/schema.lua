-- Turns what specs say, tables under the keys of keys.lua, into ops that the later stages can trust:
--
--   op.name doc file line files where(...)
--   op.operands   inputs in the order of the function's parameters, then outputs by name:
--                 { name, output, dims, dim_index, place, low, high, dtype, index, storage }
--                 dtype: "i64" for indexes and seeds; storage: of numbers, the type in memory where it is not the
--                 variant's
--                 axes: which of the op's dimensions it has; place: pattern.lua
--                 index: the dimension that an operand of indexes points into, `along` as a set
--   op.key, op.f  the key of the function, and the function
--   op.called, op.graph, op.values   trace.lua
--   op.kind, op.kind_says   kind.lua
--   op.template, op.inner, op.steps   pattern.lua; op.lacking: of a pattern that not every backend has a template for,
--                 what is said of one that has none
--   op.scalars { name, value }   op.dims   op.sizes { name, dim }   op.dtypes   op.ulp
--   op.sets { name, shapes: lists of extents, each a list of choices }
--   op.in_place  op.any_zero_sign  op.peers { name, expression }
--   op.variants   the rows of its list, and those that it has by default: defaults.lua

local call = require "call"
local defaults = require "defaults"
local key_rows = require "keys"
local load_stage = require "load"
local names = require "names"
local operands = require "operands"
local sizes = require "sizes"
local text = require "text"
local trace = require "trace"
local types = require "types"

local schema = {}

local runs_python = { numpy = true, torch = true }
local peers = { "blas", "cudnn", "numpy", "torch" }

local function check_precisions(op)
  local where, seen = op.where "dtypes", {}
  op.dtypes = op.keys.dtypes
  if #op.dtypes == 0 then
    text.fail(where, "dtypes: expected at least one of %s", text.one_of(types.of_variants))
  end
  text.expect_list(where, "dtypes", op.dtypes)
  for _, dtype in ipairs(op.dtypes) do
    types.expect_precision(where, "dtypes", dtype)
    if seen[dtype] then
      text.fail(where, "dtypes: '%s' stands twice", dtype)
    end
    seen[dtype] = true
  end
end

-- The bounds under a key of an op or of its backward, by dtype. They count in the last place of the type that is
-- computed in.
local function check_ulp(op, given, where)
  for dtype in text.sorted_pairs(type(given) == "table" and given or {}) do
    types.expect_precision(where, "ulp", dtype)
  end
  local bounds = {}
  for _, dtype in ipairs(op.dtypes) do
    local bound, what = given, "ulp"
    if type(given) == "table" then
      bound, what = given[dtype], "ulp." .. dtype
    end
    if bound == nil then
      text.fail(where, "ulp: expected a bound for '%s', found none", dtype)
    end
    text.expect_number(where, what, bound, 0, math.huge)
    local most = 2.0 ^ (types[types.compute(dtype)].digits - 4)
    if bound > most then
      text.fail(where, "%s: expected at most %.0f, found %g: it would leave less than 4 bits of a result in '%s' to "
        .. "check", what, most, bound, dtype)
    end
    bounds[dtype] = bound
  end
  return bounds
end

-- What others compute the same by, under a key of an op or of its backward.
local function check_peers(op, given, ...)
  local list = {}
  for name, expression in text.sorted_pairs(given or {}) do
    local where = op.where(...)
    if not text.contains(peers, name) then
      text.fail(where, "peers: unknown peer %s%s; expected %s", text.show(name), text.did_you_mean(name, peers),
        text.one_of(peers))
    elseif type(expression) ~= "string" then
      text.fail(where, "peers.%s: expected an expression as a string, found a %s", name, type(expression))
    end
    text.expect_plain(where, "peers." .. name, expression)
    for _, item in ipairs(runs_python[name] and table.move(op.scalars, 1, #op.scalars, #op.operands + 1,
      { table.unpack(op.operands) }) or {}) do
      if not item.output and text.is_word_of_python(item.name) then
        text.fail(where, "peers.%s: expected operands with names that Python takes, found '%s', a word of its own",
          name, item.name)
      end
    end
    list[#list + 1] = { name = name, expression = expression }
  end
  return list
end

-- How an op lets products be rounded; nil: not at all.
local function check_products(op)
  local known, given = text.sorted_keys(types.products), op.keys.products
  if given and not types.products[given] then
    text.fail(op.where "products", "products: expected %s, found %s%s", text.one_of(known), text.show(given),
      text.did_you_mean(given, known))
  end
  return given
end

local function one_line(where, doc)
  local line = doc:match("^%s*(.-)%s*$"):gsub("%s+", " ")
  if line == "" then
    text.fail(where, "doc: expected what the op computes, found none")
  end
  text.expect_plain(where, "doc", line)
  return line
end

-- The rows of an op's list of variants, which may be left out.
local function check_variants(op, list, where, backends)
  text.expect_list(where, "variants", list or {})
  return defaults.resolve(op, list, backends)
end

local function check_op(op, backends)
  local keys = op.keys
  key_rows.check(op)
  op.key, op.f = "compute", keys.compute
  op.doc = one_line(op.where "doc", keys.doc)
  op.any_zero_sign = keys.any_zero_sign or false
  op.products = check_products(op)
  op.scalars = {}
  for name, value in text.sorted_pairs(keys.scalars or {}) do
    local where = op.where("scalars", name)
    names.check(where, "scalars", name)
    text.expect_number(where, "scalars." .. name, value, -text.largest, text.largest)
    op.scalars[#op.scalars + 1] = { name = name, value = value * 1.0 }
  end
  operands.check(op)
  trace.call(op)
  check_precisions(op)
  operands.check_types(op)
  op.ulp = check_ulp(op, keys.ulp, op.where "ulp")
  op.sizes = sizes.check(op, keys.sizes, op.where "sizes")
  op.sets = sizes.check_sets(op)
  local first, result = op.operands[1], call.outputs_of(op)[1]
  local same_shape = table.concat(first.dims, " ") == table.concat(result.dims, " ")
  if keys.in_place and not same_shape then
    text.fail(op.where "in_place", "in_place: expected '%s' and '%s' to have the same shape", first.name, result.name)
  elseif keys.in_place and first.storage ~= result.storage then
    text.fail(op.where "in_place", "in_place: expected '%s' and '%s' to have the same type", first.name, result.name)
  end
  if keys.in_place and op.lacking then
    text.fail(op.where "in_place", "in_place: a kernel of this pattern reads '%s' again after it has results; leave "
      .. "in_place out", first.name)
  end
  op.in_place = same_shape and not op.lacking and first.storage == result.storage and keys.in_place ~= false
  op.wants_in_place = keys.in_place
  op.peers = check_peers(op, keys.peers, "peers")
  op.variants = check_variants(op, keys.variants, op.where "variants", backends)
end

-- The rows { name, forward, backward } of what an op's table compares, of implementations that the op and its gradient
-- have.
local function check_compared(op, gradients)
  local function check(where, what, name, ops)
    local known = {}
    local function add(own)
      known[#known + 1] = not text.contains(known, own) and own or nil
    end
    for _, of in ipairs(ops) do
      add(of.template)
      for _, variant in ipairs(of.variants) do
        local own = type(variant.row) == "table" and variant.row.implementation or {}
        for _, each in ipairs(type(own) == "table" and own or { own }) do
          add(each)
        end
      end
    end
    if not text.contains(known, name) then
      text.fail(where, "%s: expected %s, found %s%s", what, text.one_of(known), text.show(name),
        text.did_you_mean(name, known))
    end
  end
  local list, where = {}, op.where "compared"
  text.expect_list(where, "compared", op.keys.compared or {})
  for i, row in ipairs(op.keys.compared or {}) do
    local what = string.format("compared[%d]", i)
    if type(row) ~= "table" or type(row[1]) ~= "string" or #row > 3 then
      text.fail(where, "%s: expected a name and one or two implementations, such as { \"unfused\", \"unfused\" }", what)
    end
    text.expect_plain(where, what, row[1])
    check(where, what, row[2], { op })
    if row[3] ~= nil then
      check(where, what, row[3], gradients)
    end
    list[i] = { name = row[1], forward = row[2], backward = row[3] }
  end
  return list
end

local function name_of(operand)
  return operand.name
end

-- The outputs that a gradient may read, by name: what backward.reads lists.
local function check_reads(op, list)
  local found, where = {}, op.where("backward", "reads")
  local outputs = text.map(call.outputs_of(op), name_of)
  if list ~= nil and type(list) ~= "table" then
    text.fail(where, "backward.reads: expected a list of outputs, found %s", text.show(list))
  end
  for at, output in text.sorted_pairs(list or {}) do
    if math.type(at) ~= "integer" or not text.contains(outputs, output) then
      text.fail(where, "backward.reads: expected a list of outputs, of %s, found %s", text.one_of(outputs),
        text.show(math.type(at) == "integer" and output or at))
    end
    found[output] = true
  end
  return found
end

-- Refuses what a gradient is to read and has no use for.
local function check_use_of(op, reads, ops)
  local used = {}
  for _, derived in ipairs(ops) do
    for _, operand in ipairs(derived.operands) do
      used[operand.name] = used[operand.name] or operand.saved
    end
  end
  for output in text.sorted_pairs(reads) do
    if not used[output] then
      text.fail(op.where("backward", "reads"), "backward.reads: the gradient of '%s' has no use for '%s'; leave it "
        .. "out, or write the op with it: of m + log(sum(exp(x - m))) a gradient reads the sum where m is detach(...)",
        op.name, output)
    end
  end
end

-- Refuses what a spec says under backward, of all ops of a gradient, or in it under one derivative, of the op by that
-- input alone, that is none of key_rows.of_backward. more: further keys; whole: the one op of a gradient, of whose
-- derivatives none has keys of its own.
local function check_backward(op, said, more, whole, ...)
  local known = table.move(more, 1, #more, #key_rows.of_backward + 1, { table.unpack(key_rows.of_backward) })
  local what = table.concat({ "backward", ... }, ".")
  for key, value in text.sorted_pairs(said) do
    local where = op.where("backward", ...)
    if whole and text.contains(text.map(call.outputs_of(whole), name_of), key) then
      text.fail(where, "backward: unknown key '%s'; the gradient is one op, '%s': write what stands there in backward "
        .. "itself, such as backward = { variants = ... }; expected %s", key, whole.name, text.one_of(known))
    elseif not text.contains(known, key) then
      text.fail(where, "%s: unknown key %s%s; expected %s", what, text.show(key), text.did_you_mean(key, known),
        text.one_of(known))
    elseif not text.contains(more, key) then
      key_rows.expect_type(where, what .. "." .. key, key, value)
    elseif type(value) ~= "table" then
      text.fail(where, "%s.%s: expected a table, found a %s", what, key, type(value))
    end
  end
end

-- Generated code calls the derivative by x dx.
local function check_derivatives(where, derived, op)
  local known = {}
  for _, operand in ipairs(op.operands) do
    known[operand.name] = true
  end
  for _, operand in ipairs(derived.operands) do
    local by = operand.name:match "^d(.*)$"
    if by and known[by] then
      names.check(where, string.format("backward: the derivative by '%s'", by), operand.name)
    end
  end
  names.check_together(where, "backward", derived.operands, derived.scalars)
end

-- The ops that compute another's gradient: what its spec says under backward, the rest as the op itself.
local function derive(op, backends)
  local said = op.keys.backward == true and {} or op.keys.backward
  local reads, by = check_reads(op, said.reads), {}
  local ops = trace.backward_of(op, reads)
  check_use_of(op, reads, ops)
  for _, derived in ipairs(#ops > 1 and ops or {}) do
    by[#by + 1] = call.outputs_of(derived)[1].name
  end
  check_backward(op, said, { "reads", table.unpack(by) }, #ops == 1 and ops[1])
  if said.peers and #ops > 1 then
    text.fail(op.where("backward", "peers"), "backward.peers: the gradient is %d ops; expected peers for each, under "
      .. "%s, such as %s = { peers = { ... } }", #ops, text.one_of(by), by[1])
  end
  for i, derived in ipairs(ops) do
    local own = said[by[i]] or {}
    check_backward(op, own, {}, nil, by[i])
    function derived.where(key)
      if own[key] ~= nil then
        return op.where("backward", by[i], key)
      end
      return op.where("backward", said[key] ~= nil and key or nil)
    end
    local function get(key)
      if own[key] ~= nil then
        return own[key], derived.where(key)
      end
      return said[key], derived.where(key)
    end
    check_derivatives(op.where "backward", derived, op)
    local doc, doc_at = get "doc"
    local ulp, ulp_at = get "ulp"
    local given_sizes, sizes_at = get "sizes"
    local variants, variants_at = get "variants"
    derived.digits, derived.shares_line = op.digits, op.shares_line or #ops > 1
    derived.says_alone = not own.variants and by[i]
    derived.doc = doc and one_line(doc_at, doc) or derived.doc
    derived.ulp = ulp and check_ulp(op, ulp, ulp_at) or op.ulp
    derived.sizes = given_sizes and sizes.check(op, given_sizes, sizes_at) or op.sizes
    derived.peers = check_peers(op, (get "peers"), "backward", by[i] or "peers", by[i] and "peers")
    -- An op's list is none for another template: the gradient then has the default rows.
    local fits = derived.template == op.template and op.keys.variants or nil
    derived.variants = check_variants(derived, variants or fits, variants_at, backends)
  end
  return ops
end

-- Checks the loaded ops; returns them and those that compute their gradients, sorted by name. backends: what
-- backends.read gives.
function schema.check(loaded, backends)
  local ops, first = {}, {}
  local function add(op)
    if first[op.name] then
      text.fail(op.where(), "op \"%s\" stands at %s already; expected another name", op.name, first[op.name])
    end
    first[op.name] = op.where()
    ops[#ops + 1] = op
  end
  for _, op in ipairs(loaded) do
    op.where = function(...)
      return load_stage.where(op, ...)
    end
    add(op)
    text.about(op)
    check_op(op, backends)
    local gradients = op.keys.backward and derive(op, backends) or {}
    for _, derived in ipairs(gradients) do
      derived.compared = {}
      add(derived)
    end
    op.compared = check_compared(op, gradients)
    text.about(nil)
  end
  table.sort(ops, function(a, b)
    return a.name < b.name
  end)
  return ops
end

return schema
