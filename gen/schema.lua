-- What an op may say: one row per key. The rows check a spec, and give the definition file by
-- which an editor completes one (definitions.lua). check() turns the loaded tables into ops that the later stages
-- can trust:
--
--   op.name doc family f file line files where(...)
--   op.operands   inputs in the order of the function's parameters, then outputs by name:
--                 { name, output, dims, dim_index, place, low, high, dtype, index }
--                 axes: which of the op's dimensions it has; place: family.lua
--                 index: the dimension that an operand of indexes points into, `along` as a set
--   op.key        the key of the function
--   op.family, op.layout   family.lua, axes.lua; op.untemplated: why there is no template for it
--   op.scalars { name, value }   op.dims   op.sizes { name, dim }   op.dtypes   op.ulp
--   op.sets { name, shapes: lists of extents, each a list of choices }
--   op.in_place  op.any_zero_sign  op.peers { name, expression }  op.variants

local axes = require "axes"
local family = require "family"
local limits = require "limits"
local load_stage = require "load"
local names = require "names"
local sizes = require "sizes"
local text = require "text"
local trace = require "trace"

local schema = {}

schema.dtypes = { "f64", "f32", "f16", "bf16" }
local families = { "compute", "map", "reduce", "rows" }
local peers = { "numpy", "torch" }

-- key, what it must be, whether it may be left out, what it says; luals: its type for the editor.
schema.keys = {
  { "doc", "string", doc = "One line: what the op computes." },
  { "inputs", "table", luals = "table<string, lathe.operand>",
    doc = "The operands read: name = { \"n\" }, the dimensions slowest first, range = { low, high } of the random "
      .. "inputs, index = \"cols\" for positions along a dimension, dtype = \"i64\" for a single integer." },
  { "outputs", "table", luals = "table<string, lathe.operand>",
    doc = "The operands written: name = { \"n\" }, {} for one value, { \"rows\" } or { \"cols\" } for one a row or "
      .. "column." },
  { "scalars", "table", optional = true, luals = "table<string, number>",
    doc = "Plain numbers that the op takes: name = the value that checks and benchmarks use." },
  { "compute", "function", optional = true,
    doc = "The outputs at each point of their dimensions: x * w + b; sum(x, \"cols\"), max, min, mean, argmax, argmin "
      .. "over those that are named, or over all that x has." },
  { "map", "function", optional = true, doc = "y[i] = f(x[i], ...): what is computed at each point." },
  { "reduce", "function", optional = true,
    doc = "One result from all points: finish(sum(f(x))), or max, min, argmax, argmin." },
  { "rows", "function", optional = true,
    doc = "What is computed over a row: values at its points from row_max, row_min and row_sum." },
  { "sizes", "table", luals = "lathe.size[]", doc = "What to check and time: { { \"1K\", n = 1000 }, ... }." },
  { "sets", "table", optional = true, luals = "table<string, (integer|integer[])[][]>",
    doc = "Sizes for when they are asked for by the set's name: large = { { 4096, 4096 }, { { 16, 32 }, 512, 64 } }, "
      .. "extents slowest first; lists multiply out. --sweep runs the set 'sweep'." },
  { "dtypes", "table", luals = "lathe.dtype[]", doc = "The precisions wanted: { \"f32\", \"f64\" }." },
  { "ulp", "table", "number", luals = "number|table<lathe.dtype, number>",
    doc = "The most a result may be off, in units of the last place: a number, or one for each precision." },
  { "any_zero_sign", "boolean", optional = true,
    doc = "Whether +0 and -0 are equally right everywhere, not just where a max, a min or a sum of zeros decides." },
  { "in_place", "boolean", optional = true,
    doc = "Whether the output may be the first input's memory (default: wherever the shapes agree and no at(...) reads "
      .. "that input)." },
  { "backward", "boolean", "table", optional = true, luals = "boolean|lathe.backward",
    doc = "Whether an op NAME_backward computes its gradient; a table says what differs from the op itself: ulp, "
      .. "variants, sizes, peers." },
  { "variants", "table", luals = "lathe.variant[]",
    doc = "Rows of tuning parameters: { backend = \"avx2\", unroll = { 1, 4 } }; lists multiply out. dtypes = \"f16\" "
      .. "makes a row one of some precisions only." },
  { "peers", "table", optional = true, luals = "table<string, string>",
    doc = "The same computation for others: { numpy = \"x + y\", torch = \"x + y\" }. Statements may come first, "
      .. "each with a ; after it; several outputs are parted by commas, in their order." },
}

local by_key, key_names = {}, {}
for _, row in ipairs(schema.keys) do
  by_key[row[1]] = row
  key_names[#key_names + 1] = row[1]
end

local largest = 0x1.fffffffffffffp1023 -- that is finite

local function expect_number(where, what, value, least, most)
  if type(value) ~= "number" or value ~= value or value < least or value > most then
    text.fail(where, "%s: expected a %s, found %s", what,
      least > -largest and string.format("number of at least %g", least) or "finite number", text.show(value))
  end
end

-- The dimension at a place of an operand's shape.
local function check_dim(where, what, shape, at)
  if at < 1 or at > #shape then
    text.fail(where, "%s: expected a list of dimensions such as { \"n\" }, found the key %d in it", what, at)
  elseif not text.is_name(shape[at]) then
    text.fail(where, "%s: expected names of dimensions such as \"n\", found %s", what, text.show(shape[at]))
  end
  return shape[at]
end

local function check_operands(op, key, output, list)
  for name, shape in text.sorted_pairs(op.keys[key]) do
    local where = op.where(key, name)
    names.check(where, key, name)
    if type(shape) ~= "table" then
      text.fail(where, "%s.%s: expected a list of dimensions such as { \"n\" }, found a %s", key, name, type(shape))
    end
    local operand = { name = name, output = output, dims = {}, low = -1.0, high = 1.0, key = key }
    for k, value in text.sorted_pairs(shape) do
      if math.type(k) == "integer" then
        operand.dims[k] = check_dim(where, key .. "." .. name, shape, k)
      elseif k == "range" and not output then
        if type(value) ~= "table" or #value ~= 2 then
          text.fail(where, "%s.%s: expected range = { low, high }", key, name)
        end
        expect_number(where, name .. ".range", value[1], -largest, largest)
        expect_number(where, name .. ".range", value[2], value[1], largest)
        operand.low, operand.high = value[1] * 1.0, value[2] * 1.0
        if operand.high - operand.low > largest then
          text.fail(where, "%s.range: expected high - low to be a finite number, found %g and %g", name, value[1],
            value[2])
        end
      elseif k == "index" and not output then
        operand.index, operand.dtype = value, "i64"
      elseif k == "dtype" and not output then
        if value ~= "i64" then
          text.fail(where, "%s.%s: an operand has the precisions under 'dtypes'; expected no dtype of its own, or "
            .. "dtype = \"i64\" for one integer in all, found dtype = %s", key, name, text.show(value))
        end
        operand.dtype = value
        if not shape.range then
          operand.low, operand.high = 0.0, 2.0 ^ 31
        end
      else
        local known = output and {} or { "range", "index", "dtype" }
        text.fail(where, "%s.%s: unknown key %s%s; expected dimensions%s", key, name, text.show(k),
          text.did_you_mean(k, known), output and " alone, for what an output holds is found from the function"
          or ", range, index and dtype")
      end
    end
    if #operand.dims > 4 then
      text.fail(where, "%s.%s: expected at most 4 dimensions, found %d", key, name, #operand.dims)
    end
    list[#list + 1] = operand
  end
end

-- Puts inputs and scalars in the order of the function's parameters.
local function order_operands(op, inputs, outputs)
  local where = op.where(op.key)
  names.check_together(where, "op \"" .. op.name .. "\"", inputs, outputs, op.scalars)
  local by_name = {}
  for _, list in ipairs { inputs, outputs, op.scalars } do
    for _, operand in ipairs(list) do
      by_name[operand.name] = operand
    end
  end
  local info = debug.getinfo(op.f, "u")
  local candidates = table.move(op.scalars, 1, #op.scalars, #inputs + 1, { table.unpack(inputs) })
  local ordered = { inputs = {}, scalars = {} }
  for i = 1, info.nparams do
    local name = debug.getlocal(op.f, i)
    local operand = by_name[name]
    if not operand or operand.output then
      text.fail(where, "%s: parameter '%s' is no input and no scalar%s", op.key, name,
        text.did_you_mean(name, text.map(candidates, function(candidate)
          return candidate.name
        end)))
    end
    local list = operand.dims and ordered.inputs or ordered.scalars
    list[#list + 1] = operand
    by_name[name] = nil
  end
  for name, operand in text.sorted_pairs(by_name) do
    if not operand.output then
      text.fail(where, "%s: '%s' is declared but is no parameter of the function", op.key, name)
    end
  end
  op.operands, op.scalars = ordered.inputs, ordered.scalars
  table.move(outputs, 1, #outputs, #op.operands + 1, op.operands)
  if #op.scalars > 8 then -- LATHE_MAX_SCALARS
    text.fail(where, "op \"%s\": expected at most 8 scalars, found %d", op.name, #op.scalars)
  end
end

-- Which places an operand may have, by family: inputs and outputs.
local places = {
  map = { input = { whole = true, single = true }, output = { whole = true } },
  reduce = { input = { whole = true, single = true }, output = { single = true, row = true, column = true } },
  rows = {
    input = { whole = true, row = true, column = true, single = true },
    output = { whole = true, row = true, column = true },
  },
}

-- The op's dimensions are those of its largest input, and with `compute` what other inputs have besides.
local most_dims = 4 -- LATHE_MAX_DIMS
local function find_dims(op)
  op.dims = {}
  for _, operand in ipairs(op.operands) do
    if not operand.output and #operand.dims > #op.dims then
      op.dims = operand.dims
    end
  end
  local where = op.where "inputs"
  if #op.dims == 0 then
    text.fail(where, "op \"%s\": expected an input with at least one dimension", op.name)
  end
  local position = {}
  for i, dim in ipairs(op.dims) do
    if position[dim] then
      text.fail(where, "op \"%s\": dimension '%s' stands twice", op.name, dim)
    end
    position[dim] = i
  end
  if op.key == "compute" then
    op.dims = { table.unpack(op.dims) }
    for _, operand in ipairs(op.operands) do
      for _, dim in ipairs(operand.output and {} or operand.dims) do
        if not position[dim] then
          table.insert(op.dims, dim)
          position[dim] = #op.dims
        end
      end
    end
  end
  if #op.dims > most_dims then
    text.fail(where, "op \"%s\": expected at most %d dimensions together, found %s", op.name, most_dims,
      axes.list(op.dims))
  elseif op.family == "rows" and #op.dims < 2 then
    text.fail(where, "rows: expected inputs of at least two dimensions such as { \"rows\", \"cols\" }, found %s",
      axes.list(op.dims))
  end
  return position
end

-- The op's dimensions that an operand has.
local function find_axes(op, operand, position)
  local at, seen = op.where(operand.key, operand.name), {}
  operand.dim_index = {}
  for i, dim in ipairs(operand.dims) do
    if not position[dim] then
      text.fail(at, "%s.%s: expected dimensions out of those of the inputs, %s, found %s", operand.key, operand.name,
        axes.list(op.dims), axes.list(operand.dims))
    elseif seen[dim] then
      text.fail(at, "%s.%s: dimension '%s' stands twice", operand.key, operand.name, dim)
    end
    operand.dim_index[i], seen[dim] = position[dim], true
  end
  operand.axes = axes.set(operand.dim_index)
  if operand.index and (not position[operand.index] or seen[operand.index]) then
    text.fail(at, "%s.%s: expected an index along a dimension of the op that '%s' itself lacks, found %s", operand.key,
      operand.name, operand.name, text.show(operand.index))
  end
  operand.along = operand.index and axes.at(position[operand.index])
end

local function check_integers(op, operand, at)
  if operand.index and (operand.place ~= "row" or operand.index ~= op.dims[#op.dims]) then
    text.fail(at, "%s.%s: expected an index for each row into '%s', such as { %s, index = \"%s\" }", operand.key,
      operand.name, op.dims[#op.dims], #op.dims > 1 and '"' .. op.dims[1] .. '"' or '"rows"', op.dims[#op.dims])
  elseif operand.dtype and not operand.index and operand.place ~= "single" then
    text.fail(at, "%s.%s: expected dtype = \"i64\" with a single value, { dtype = \"i64\" }", operand.key, operand.name)
  end
end

-- Finds the family of an op whose function is `compute`, by tracing it.
local function find_family(op)
  local position = find_dims(op)
  for _, operand in ipairs(op.operands) do
    find_axes(op, operand, position)
  end
  trace.find_family(op)
  for _, operand in ipairs(op.operands) do
    if operand.dtype and not operand.index and operand.axes ~= 0 then
      check_integers(op, operand, op.where(operand.key, operand.name))
    end
  end
end

-- Gives every operand its place. A reduction that leaves one value per row or column is a program over
-- rows without points.
local function find_places(op)
  local position = find_dims(op)
  local first
  for _, operand in ipairs(op.operands) do
    local at, last = op.where(operand.key, operand.name), 0
    operand.dim_index = {}
    for i, dim in ipairs(operand.dims) do
      if not position[dim] or position[dim] <= last then
        text.fail(at, "%s.%s: expected dimensions out of %s in that order, found %s%s", operand.key, operand.name,
          axes.list(op.dims), axes.list(operand.dims), position[dim] and "; " .. limits.order or "")
      end
      last = position[dim]
      operand.dim_index[i] = last
    end
    operand.axes = axes.set(operand.dim_index)
    operand.along = operand.index and position[operand.index] and axes.at(position[operand.index])
    operand.place = family.place_of(op, operand)
    if not places[op.key][operand.output and "output" or "input"][operand.place] then
      text.fail(at, "%s.%s: the %s family has no place for the shape %s beside %s", operand.key, operand.name,
        op.key, axes.list(operand.dims), axes.list(op.dims))
    end
    check_integers(op, operand, at)
    if op.key == "reduce" and operand.output then
      first = first or operand
      if operand.place ~= first.place then
        text.fail(at, "reduce: '%s' and '%s' go along different dimensions; expected outputs of one shape", first.name,
          operand.name)
      elseif operand.place ~= "single" then
        op.family = "rows"
      end
    end
  end
  op.layout = axes.layout(op.dims, op.family == "rows" and 1 or #op.dims)
  if first and first.place == "column" then
    op.layout.reduced = op.layout.outer
  end
end

local function check_precisions(op)
  local where, seen = op.where "dtypes", {}
  op.dtypes = op.keys.dtypes
  if #op.dtypes == 0 then
    text.fail(where, "dtypes: expected at least one of %s", text.one_of(schema.dtypes))
  end
  text.expect_list(where, "dtypes", op.dtypes)
  for _, dtype in ipairs(op.dtypes) do
    if not text.contains(schema.dtypes, dtype) then
      local limit = limits.of_dtype(dtype)
      text.fail(where, "dtypes: unknown dtype %s%s; expected %s", text.show(dtype),
        limit and "; " .. limit or text.did_you_mean(dtype, schema.dtypes), text.one_of(schema.dtypes))
    elseif seen[dtype] then
      text.fail(where, "dtypes: '%s' stands twice", dtype)
    end
    seen[dtype] = true
  end
end

-- The bounds under a key of an op or of its backward, by dtype. They count in the last place of the type that is
-- computed in.
local digits = { f64 = 53, f32 = 24, f16 = 24, bf16 = 24 }
local function check_ulp(op, given, where)
  for dtype in text.sorted_pairs(type(given) == "table" and given or {}) do
    if not text.contains(schema.dtypes, dtype) then
      text.fail(where, "ulp: unknown dtype %s%s; expected %s", text.show(dtype),
        text.did_you_mean(dtype, schema.dtypes), text.one_of(schema.dtypes))
    end
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
    expect_number(where, what, bound, 0, math.huge)
    local most = 2.0 ^ (digits[dtype] - 4)
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
    list[#list + 1] = { name = name, expression = expression }
  end
  return list
end

-- Refuses a value of another type than a row of schema.keys says.
local function expect_type(where, what, row, value)
  local want, other = row[2], row[3]
  if type(value) ~= want and type(value) ~= other then
    text.fail(where, "%s: expected a %s, found a %s", what, other and want .. " or a " .. other or want, type(value))
  end
end

local function check_keys(op)
  local name, keys = op.name, op.keys
  for key in text.sorted_pairs(keys) do
    if not by_key[key] then
      text.fail(op.where(key), "op \"%s\": unknown key %s%s", name, text.show(key),
        text.did_you_mean(key, key_names))
    end
  end
  for _, row in ipairs(schema.keys) do
    local key = row[1]
    if keys[key] ~= nil then
      expect_type(op.where(key), string.format("op \"%s\": %s", name, key), row, keys[key])
    elseif not row.optional then
      text.fail(op.where(), "op \"%s\": expected the key '%s' (%s)", name, key, row.doc)
    end
  end
  for _, key in ipairs(families) do
    if keys[key] then
      if op.key then
        text.fail(op.where(key), "op \"%s\": expected one of %s, found '%s' beside '%s'", name,
          text.one_of(families), key, op.key)
      end
      op.key, op.family, op.f = key, key, keys[key]
    end
  end
  if not op.key then
    text.fail(op.where(), "op \"%s\": expected a function under one of %s, found none", name, text.one_of(families))
  end
end

local function one_line(where, doc)
  local line = doc:match("^%s*(.-)%s*$"):gsub("%s+", " ")
  text.expect_plain(where, "doc", line)
  return line
end

local function check_op(op)
  local keys = op.keys
  check_keys(op)
  op.doc = one_line(op.where "doc", keys.doc)
  op.any_zero_sign = keys.any_zero_sign or false
  op.scalars = {}
  for name, value in text.sorted_pairs(keys.scalars or {}) do
    local where = op.where("scalars", name)
    names.check(where, "scalars", name)
    expect_number(where, "scalars." .. name, value, -largest, largest)
    op.scalars[#op.scalars + 1] = { name = name, value = value * 1.0 }
  end
  local inputs, outputs = {}, {}
  check_operands(op, "inputs", false, inputs)
  check_operands(op, "outputs", true, outputs)
  if #outputs == 0 then
    text.fail(op.where "outputs", "outputs: expected at least one")
  end
  order_operands(op, inputs, outputs)
  if op.key == "compute" then
    find_family(op)
  else
    find_places(op)
  end
  check_precisions(op)
  op.ulp = check_ulp(op, keys.ulp, op.where "ulp")
  op.sizes = sizes.check(op, keys.sizes, op.where "sizes")
  op.sets = sizes.check_sets(op)
  local first, result = op.operands[1], op.operands[#inputs + 1]
  local same_shape = table.concat(first.dims, " ") == table.concat(result.dims, " ")
  if keys.in_place and not same_shape then
    text.fail(op.where "in_place", "in_place: expected '%s' and '%s' to have the same shape", first.name, result.name)
  end
  op.in_place, op.wants_in_place = same_shape and keys.in_place ~= false, keys.in_place
  op.peers = check_peers(op, keys.peers, "peers")
  text.expect_list(op.where "variants", "variants", keys.variants)
  op.variants = keys.variants
end

-- What backward = { ... } may say.
local backward_keys = { "doc", "peers", "sizes", "ulp", "variants" }

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
local function derive(op)
  local where, keys = op.where "backward", op.keys.backward
  keys = keys == true and {} or keys
  for key, value in text.sorted_pairs(keys) do
    if not text.contains(backward_keys, key) then
      text.fail(where, "backward: unknown key %s%s", text.show(key), text.did_you_mean(key, backward_keys))
    end
    expect_type(where, "backward." .. key, by_key[key], value)
  end
  local ops = trace.backward_of(op)
  for _, derived in ipairs(ops) do
    check_derivatives(where, derived, op)
    derived.doc = keys.doc and one_line(op.where("backward", "doc"), keys.doc) or derived.doc
    derived.ulp = keys.ulp and check_ulp(op, keys.ulp, op.where("backward", "ulp")) or op.ulp
    derived.sizes = keys.sizes and sizes.check(op, keys.sizes, op.where("backward", "sizes")) or op.sizes
    derived.peers = check_peers(op, keys.peers, "backward", "peers")
    if keys.variants then
      text.expect_list(op.where("backward", "variants"), "variants", keys.variants)
    elseif derived.family ~= op.family and not derived.untemplated then
      text.fail(where, "backward: expected variants of the %s family, which the gradient belongs to", derived.family)
    end
    derived.variants = keys.variants or op.variants
  end
  return ops
end

-- Checks the loaded ops; returns them and those that compute their gradients, sorted by name.
function schema.check(loaded)
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
    check_op(op)
    if op.keys.backward then
      for _, derived in ipairs(derive(op)) do
        add(derived)
      end
    end
  end
  table.sort(ops, function(a, b)
    return a.name < b.name
  end)
  return ops
end

return schema
