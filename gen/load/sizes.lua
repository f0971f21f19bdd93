-- The sizes that a spec names: those that are run by default, and sets of shapes that are run when asked
-- for by name.

local capacity = require "capacity"
local text = require "text"
local types = require "types"

local sizes = {}

local function is_extent(value)
  return math.type(value) and value >= 1 and value == math.floor(value)
end

-- Bytes of an element of the widest type that the op is wanted in.
local function widest_element(op)
  local widest = 0
  for _, dtype in ipairs(op.dtypes) do
    for _, own in ipairs(types.in_memory(op, dtype)) do
      widest = math.max(widest, types[own].bytes)
    end
  end
  return widest
end

-- Refuses extents of the op's dimensions with which no memory holds an operand. What operands only have together, as
-- the m, n and k of a product of matrices, is computed, not stored.
local largest_operand = 2.0 ^ 40 -- bytes
local function expect_addressable(where, what, op, dim)
  local widest = widest_element(op)
  for _, operand in ipairs(op.operands) do
    local extents, total = {}, widest * 1.0
    for i, place in ipairs(operand.dim_index) do
      extents[i] = string.format("%.0f", dim[place])
      total = total * dim[place]
    end
    if total > largest_operand then
      text.fail(where, "%s: expected operands of at most 1 TiB, found %s of %s elements of %d bytes", what,
        operand.name, table.concat(extents, " x "), widest)
    end
  end
end

-- What an op's dimensions become of extents, slowest first: runtime/size.h.
local function fold(op, extents)
  local dim = {}
  for i = 1, #op.dims do
    dim[i] = 1
  end
  for i, extent in ipairs(extents) do
    local into = math.max(1, #op.dims - #extents + i)
    dim[into] = dim[into] * extent
  end
  return dim
end

-- The sizes under a key of an op or of its backward: { name, dim }.
function sizes.check(op, given, where)
  if #given == 0 then
    text.fail(where, "sizes: expected at least one, such as { \"1K\", n = 1000 }, found none")
  end
  local known, names = {}, {}
  for _, dim in ipairs(op.dims) do
    known[dim] = true
  end
  local list = {}
  text.expect_list(where, "sizes", given)
  for i, size in ipairs(given) do
    if type(size) ~= "table" or type(size[1]) ~= "string" or size[1] == "" then
      text.fail(where, "sizes[%d]: expected a name and dimensions such as { \"1K\", n = 1000 }", i)
    end
    local name = size[1]
    text.expect_plain(where, string.format("sizes[%d]", i), name)
    if names[name] then
      text.fail(where, "sizes: '%s' stands twice", name)
    elseif name:find "[,%s]" then
      text.fail(where, "sizes: expected a name without commas and spaces, found '%s'", name)
    end
    names[name] = true
    for key, value in text.sorted_pairs(size) do
      if key ~= 1 and not known[key] then
        text.fail(where, "sizes '%s': unknown dimension %s%s; the op has %s", name, text.show(key),
          text.did_you_mean(key, op.dims), text.one_of(op.dims))
      elseif key ~= 1 and not is_extent(value) then
        text.fail(where, "sizes '%s': expected a whole number of at least 1 for '%s', found %s", name, key,
          text.show(value))
      end
    end
    local dim = text.map(op.dims, function(key)
      if not size[key] then
        text.fail(where, "sizes '%s': dimension '%s' is missing", name, key)
      end
      return size[key]
    end)
    expect_addressable(where, "sizes '" .. name .. "'", op, dim)
    list[i] = { name = name, dim = text.map(dim, math.tointeger) }
  end
  return list
end

local most_shapes = 1000

-- One shape of a set: each extent becomes a list of choices.
local function check_shape(op, where, what, shape)
  if type(shape) ~= "table" or #shape == 0 or #shape > capacity.dims then
    text.fail(where, "%s: expected 1 to %d extents such as { 1024, 1024 }, found %s", what, capacity.dims,
      type(shape) == "table" and tostring(#shape) or text.show(shape))
  end
  text.expect_list(where, what, shape)
  local choices = text.map(shape, function(extent)
    local list = type(extent) == "table" and extent or { extent }
    text.expect_list(where, what, list)
    for _, value in ipairs(#list > 0 and list or { "nothing" }) do
      if not is_extent(value) then
        text.fail(where, "%s: expected whole numbers of at least 1, or lists of them, found %s", what,
          #list > 0 and text.show(value) or "an empty list")
      end
    end
    return list
  end)
  local shapes = 1
  for _, list in ipairs(choices) do
    shapes = shapes * #list
    if shapes > most_shapes then
      text.fail(where, "%s: expected lists that multiply out to at most %d shapes, found more", what, most_shapes)
    end
  end
  expect_addressable(where, what, op, fold(op, text.map(choices, function(list)
    return math.max(table.unpack(list)) * 1.0
  end)))
  return text.map(choices, function(list)
    return text.map(list, math.tointeger)
  end)
end

-- The sets of an op: { name, shapes }.
function sizes.check_sets(op)
  local sets = {}
  for name, shapes in text.sorted_pairs(op.keys.sets or {}) do
    local where, what = op.where("sets", name), "sets." .. tostring(name)
    if not text.is_name(name) then
      text.fail(where, "sets: expected %s, found %s", text.a_name, text.show(name))
    elseif type(shapes) ~= "table" or #shapes == 0 then
      text.fail(where, "%s: expected a list of shapes such as { { 1024, 1024 } }, found %s", what,
        type(shapes) == "table" and "none" or text.show(shapes))
    end
    for _, size in ipairs(op.sizes) do
      if size.name == name then
        text.fail(where, "%s: a size has that name already; expected another", what)
      end
    end
    text.expect_list(where, what, shapes)
    sets[#sets + 1] = {
      name = name,
      shapes = text.map(shapes, function(shape, i)
        return check_shape(op, where, what .. "[" .. i .. "]", shape)
      end),
    }
  end
  return sets
end

return sizes
