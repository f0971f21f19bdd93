-- What an op may say: one row per key. The rows check a spec, and give the definition file by
-- which an editor completes one. check() turns the loaded tables into ops that the later stages
-- can trust:
--
--   op.name doc family f file line files where(...)
--   op.operands   inputs in the order of the function's parameters, then outputs by name:
--                 { name, output, dims, dim_index, place, low, high, dtype, index }
--                 place: "whole", "row", "column" or "single": which of the op's dimensions it has
--                 index: the dimension that an operand of indexes points into
--   op.key        the key of the function; op.family may be another: see find_places
--   op.scalars { name, value }   op.dims   op.sizes { name, dim }   op.dtypes   op.ulp
--   op.sets { name, shapes: lists of extents, each a list of choices }
--   op.in_place  op.any_zero_sign  op.peers { name, expression }  op.variants

local expr = require "expr"
local load_stage = require "load"
local limits = require "limits"
local sizes = require "sizes"
local text = require "text"
local trace = require "trace"

local schema = {}

schema.dtypes = { "f64", "f32", "f16", "bf16" }
local families = { "map", "reduce", "rows" }
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
  { "ulp", "table", luals = "table<lathe.dtype, number>",
    doc = "The most a result may be off, in units of the last place, per precision." },
  { "any_zero_sign", "boolean", optional = true,
    doc = "Whether +0 and -0 are equally right (default: where a max, a min or a sum decides the sign of a zero)." },
  { "in_place", "boolean", optional = true,
    doc = "Whether the output may be the first input's memory (default: wherever the shapes agree)." },
  { "backward", "boolean", "table", optional = true, luals = "boolean|lathe.backward",
    doc = "Whether an op NAME_backward computes its gradient; a table says what differs from the op itself: ulp, "
      .. "variants, sizes, peers." },
  { "variants", "table", luals = "table[]",
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

-- Names that generated code needs for itself: what C, CUDA or GLSL reserve, and the templates'
-- own variables.
local reserved = {}
for name in ([[asm auto bool break case char const continue default do double else enum extern float for goto if inline
  int long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile
  while linux unix typeof
  and catch class compl delete explicit export friend mutable namespace new not operator or private protected public
  template this throw try typeid typename using virtual xor
  attribute coherent precise varying centroid flat smooth noperspective patch sample invariant precision lowp mediump
  highp subroutine common partition active resource input output filter interface packed external noinline superp
  discard vec dvec ivec uvec bvec hvec fvec mat dmat
  true false in out inout uniform buffer shared layout main half fabs isfinite args best block count end
  hit i inside pair row rows
  thread slot lane nth at aligned first tile packs tail head whole mine left last counter workspace step start
  all begin blocks column columns each fetch from group groups here invocation keys lanes live numbers of_row
  other over_rows owner pack part partial partials parts place pos room stage stride term there threads ticket
  to_aligned turn wanted width]]):gmatch "%S+" do
  reserved[name] = true
end
for name in pairs(expr.vocabulary) do
  reserved[name] = true
end

local function check_name(where, what, name)
  if type(name) ~= "string" or not name:find "^%l[%l%d_]*$" or name:find "_$" or name:find "^[tu]%d+$"
    or name:find "_number$" or name:find "_value$" or name:find "_hit$"
    or name:find "^lathe_" or name:find "^%a+%d+$" and reserved[name:match "^%a+"] then
    text.fail(where, "%s: expected a name of lower-case letters, digits and _ that generated code does not use "
      .. "itself, found %s", what, text.show(name))
  elseif reserved[name] then
    text.fail(where, "%s: '%s' is reserved in C, GLSL, the templates or a spec's functions; expected another name",
      what, name)
  end
end

local largest = 0x1.fffffffffffffp1023 -- that is finite

local function expect_number(where, what, value, least, most)
  if type(value) ~= "number" or value ~= value or value < least or value > most then
    text.fail(where, "%s: expected a %s, found %s", what,
      least > -largest and string.format("number of at least %g", least) or "finite number", text.show(value))
  end
end

local function check_operands(op, key, output, list)
  for name, shape in text.sorted_pairs(op.keys[key]) do
    local where = op.where(key, name)
    check_name(where, key, name)
    if type(shape) ~= "table" then
      text.fail(where, "%s.%s: expected a list of dimensions such as { \"n\" }, found a %s", key, name, type(shape))
    end
    local operand = { name = name, output = output, dims = {}, low = -1.0, high = 1.0, key = key }
    for k, value in text.sorted_pairs(shape) do
      if math.type(k) == "integer" then
        if type(value) ~= "string" or not value:find "^%l[%l%d_]*$" then
          text.fail(where, "%s.%s: expected names of dimensions such as \"n\", found %s", key, name,
            text.show(value))
        end
        operand.dims[#operand.dims + 1] = value
      elseif k == "range" and not output then
        if type(value) ~= "table" or #value ~= 2 then
          text.fail(where, "%s.%s: expected range = { low, high }", key, name)
        end
        expect_number(where, name .. ".range", value[1], -largest, largest)
        expect_number(where, name .. ".range", value[2], value[1], largest)
        operand.low, operand.high = value[1] * 1.0, value[2] * 1.0
      elseif k == "index" and not output then
        operand.index, operand.dtype = value, "i64"
      elseif k == "dtype" and not output then
        if value ~= "i64" then
          text.fail(where, "%s.%s: expected dtype = \"i64\" (else it has the variant's), found %s", key, name,
            text.show(value))
        end
        operand.dtype = value
        if not shape.range then
          operand.low, operand.high = 0.0, 2.0 ^ 31
        end
      else
        text.fail(where, "%s.%s: unknown key %s%s; expected dimensions%s", key, name, text.show(k),
          text.did_you_mean(k, { "range", "index", "dtype" }), output and "" or ", range, index and dtype")
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
  local by_name = {}
  for _, list in ipairs { inputs, outputs, op.scalars } do
    for _, operand in ipairs(list) do
      if by_name[operand.name] then
        text.fail(where, "op \"%s\": two operands are called '%s'", op.name, operand.name)
      end
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
      text.fail(where, "%s: parameter '%s' is no input and no scalar%s", op.family, name,
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
      text.fail(where, "%s: '%s' is declared but is no parameter of the function", op.family, name)
    end
  end
  op.operands, op.scalars = ordered.inputs, ordered.scalars
  table.move(outputs, 1, #outputs, #op.operands + 1, op.operands)
  if #op.scalars > 8 then -- LATHE_MAX_SCALARS
    text.fail(where, "op \"%s\": expected at most 8 scalars, found %d", op.name, #op.scalars)
  end
end

local function list_of(names)
  return #names == 0 and "{}" or '{ "' .. table.concat(names, '", "') .. '" }'
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

-- The op's dimensions are those of its largest input; every other operand has some of them.
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
  if op.family == "rows" and #op.dims < 2 then
    text.fail(where, "rows: expected inputs of at least two dimensions such as { \"rows\", \"cols\" }, found %s",
      list_of(op.dims))
  end
  return position
end

local function place_of(op, operand, last)
  if #operand.dims == #op.dims then
    return "whole"
  elseif #operand.dims == 0 then
    return "single"
  elseif #operand.dims == #op.dims - 1 and last < #op.dims then
    return "row"
  elseif #operand.dims == 1 and last == #op.dims then
    return "column"
  end
end

local function check_integers(op, operand, at)
  if operand.index and (operand.place ~= "row" or operand.index ~= op.dims[#op.dims]) then
    text.fail(at, "%s.%s: expected an index for each row into '%s', such as { %s, index = \"%s\" }", operand.key,
      operand.name, op.dims[#op.dims], #op.dims > 1 and '"' .. op.dims[1] .. '"' or '"rows"', op.dims[#op.dims])
  elseif operand.dtype and not operand.index and operand.place ~= "single" then
    text.fail(at, "%s.%s: expected dtype = \"i64\" with a single value, { dtype = \"i64\" }", operand.key, operand.name)
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
          list_of(op.dims), list_of(operand.dims), position[dim] and "; " .. limits.order or "")
      end
      last = position[dim]
      operand.dim_index[i] = last
    end
    operand.place = place_of(op, operand, last)
    if not places[op.key][operand.output and "output" or "input"][operand.place] then
      text.fail(at, "%s.%s: the %s family has no place for the shape %s beside %s", operand.key, operand.name,
        op.key, list_of(operand.dims), list_of(op.dims))
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

-- The bounds under a key of an op or of its backward.
local function check_ulp(op, ulp, where)
  local seen = {}
  for _, dtype in ipairs(op.dtypes) do
    seen[dtype] = true
    if not ulp[dtype] then
      text.fail(where, "ulp: expected a bound for '%s', found none", dtype)
    end
  end
  for dtype, bound in text.sorted_pairs(ulp) do
    if not seen[dtype] then
      text.fail(where, "ulp: %s is not among the op's dtypes%s", text.show(dtype),
        text.did_you_mean(dtype, op.dtypes))
    end
    expect_number(where, "ulp." .. dtype, bound, 0, math.huge)
  end
  return ulp
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
    list[#list + 1] = { name = name, expression = expression }
  end
  return list
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
    local key, want, other = row[1], row[2], row[3]
    local value = keys[key]
    if value == nil and not row.optional then
      text.fail(op.where(), "op \"%s\": expected the key '%s' (%s)", name, key, row.doc)
    elseif value ~= nil and type(value) ~= want and type(value) ~= other then
      text.fail(op.where(key), "op \"%s\": %s: expected a %s, found a %s", name, key,
        other and want .. " or a " .. other or want, type(value))
    end
  end
  for _, family in ipairs(families) do
    if keys[family] then
      if op.family then
        text.fail(op.where(family), "op \"%s\": expected one of %s, found '%s' beside '%s'", name,
          text.one_of(families), family, op.family)
      end
      op.key, op.family, op.f = family, family, keys[family]
    end
  end
  if not op.family then
    text.fail(op.where(), "op \"%s\": expected a function under one of %s, found none", name, text.one_of(families))
  end
end

local function one_line(doc)
  return (doc:match("^%s*(.-)%s*$"):gsub("%s+", " "))
end

local function check_op(op)
  local keys = op.keys
  check_keys(op)
  op.doc = one_line(keys.doc)
  op.any_zero_sign = keys.any_zero_sign -- nil: trace.op finds it
  op.scalars = {}
  for name, value in text.sorted_pairs(keys.scalars or {}) do
    local where = op.where("scalars", name)
    check_name(where, "scalars", name)
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
  find_places(op)
  check_precisions(op)
  op.ulp = check_ulp(op, keys.ulp, op.where "ulp")
  op.sizes = sizes.check(op, keys.sizes, op.where "sizes")
  op.sets = sizes.check_sets(op)
  local first, result = op.operands[1], op.operands[#inputs + 1]
  local same_shape = table.concat(first.dims, " ") == table.concat(result.dims, " ")
  if keys.in_place and not same_shape then
    text.fail(op.where "in_place", "in_place: expected '%s' and '%s' to have the same shape", first.name, result.name)
  end
  op.in_place = same_shape and keys.in_place ~= false
  op.peers = check_peers(op, keys.peers, "peers")
  text.expect_list(op.where "variants", "variants", keys.variants)
  op.variants = keys.variants
end

-- What backward = { ... } may say: key -> type.
local backward_keys = { ulp = "table", variants = "table", sizes = "table", peers = "table", doc = "string" }

-- The op that computes another's gradient: what its spec says under backward, the rest as the op itself.
local function derive(op)
  local where, keys = op.where "backward", op.keys.backward
  keys = keys == true and {} or keys
  for key, value in text.sorted_pairs(keys) do
    if not backward_keys[key] then
      text.fail(where, "backward: unknown key %s%s", text.show(key),
        text.did_you_mean(key, text.sorted_keys(backward_keys)))
    elseif type(value) ~= backward_keys[key] then
      text.fail(where, "backward.%s: expected a %s, found a %s", key, backward_keys[key], type(value))
    end
  end
  local derived = trace.backward_of(op)
  derived.doc = keys.doc and one_line(keys.doc) or derived.doc
  derived.ulp = keys.ulp and check_ulp(op, keys.ulp, op.where("backward", "ulp")) or op.ulp
  derived.sizes = keys.sizes and sizes.check(op, keys.sizes, op.where("backward", "sizes")) or op.sizes
  derived.peers = check_peers(op, keys.peers, "backward", "peers")
  if keys.variants then
    text.expect_list(op.where("backward", "variants"), "variants", keys.variants)
  elseif derived.family ~= op.family then
    text.fail(where, "backward: expected variants of the %s family, which the gradient belongs to", derived.family)
  end
  derived.variants = keys.variants or op.variants
  return derived
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
      add(derive(op))
    end
  end
  table.sort(ops, function(a, b)
    return a.name < b.name
  end)
  return ops
end

-- A definition file for LuaLS: the keys above and the vocabulary of a spec's functions.
function schema.definitions()
  local out = {
    "---@meta", "-- Made by `lathe-gen definitions`: what a spec may say, for editors.", "",
    "---@alias lathe.dtype " .. table.concat(text.map(schema.dtypes, function(d)
      return '"' .. d .. '"'
    end), " | "),
    "---@class lathe.operand : string[]", "---@field range? number[]", "---@field index? string",
    "---@field dtype? string",
    "---@class lathe.size : { [string]: integer, [1]: string }", "---@class lathe.value",
    "---@operator add(lathe.value|number): lathe.value", "---@operator sub(lathe.value|number): lathe.value",
    "---@operator mul(lathe.value|number): lathe.value", "---@operator div(lathe.value|number): lathe.value",
    "---@operator unm: lathe.value", "", "---@class lathe.op",
  }
  for _, row in ipairs(schema.keys) do
    out[#out + 1] = string.format("---@field %s%s %s %s", row[1], row.optional and "?" or "",
      row.luals or row[2], row.doc)
  end
  out[#out + 1] = "\n---@param name string\n---@return fun(keys: lathe.op)\nfunction op(name) end\n"
  out[#out + 1] = "---A file inside specs/; returns what it returns.\n---@param path string\n"
    .. "function include(path) end\n"
  for name in text.sorted_pairs(expr.vocabulary) do
    out[#out + 1] = "---@param ... lathe.value|number\n---@return lathe.value\nfunction " .. name .. "(...) end\n"
  end
  return table.concat(out, "\n")
end

return schema
