-- For which calls dispatch takes a variant first, as rows of variants say it: checked here, and nowhere read again.
--   { from, to, dims, width, multiple }   as lathe_prefer in runtime/library/call.h; a variant has
--                                         LATHE_PREFERS of them, and is for the calls of any

local axes = require "axes"
local capacity = require "capacity"
local chain = require "chain"
local text = require "text"

local preferences = {}

local NEVER = { from = 0, to = 0, dims = 0, width = 0, multiple = 1 }
local EXPECTED = "expected prefer = { from = bytes, to = bytes, width = extent, multiple = extent }, or two of them"

-- Of a row that is no variant's, such as the last of a table: for no calls.
preferences.none = {}
for i = 1, capacity.prefers do
  preferences.none[i] = NEVER
end

-- The axes within products, whose extents `width` and `multiple` are about: of a stream, and of a chain all but the
-- batch; nil where an op's products are neither.
local function widths_of(op)
  if op.stream then
    return op.stream.widths
  end
  local links = op.kind:find "^chain" and chain.of(op.steps, "any")
  return links and axes.all(op.dims) & ~axes.set(links.batch)
end

local function check_value(where, op, key, value, number)
  if key == "width" or key == "multiple" then
    if math.type(value) ~= "integer" or value < 1 then
      text.fail(where, "variants[%d]: prefer.%s: expected a whole number of at least 1, found %s", number, key,
        text.show(value))
    elseif not widths_of(op) then
      text.fail(where, "variants[%d]: prefer.%s: expected an op whose products may be a stream or are a chain, "
        .. "found %s", number, key, op.kind_says)
    end
  elseif key ~= "from" and key ~= "to" then
    text.fail(where, "variants[%d]: %s, found %s", number, EXPECTED, text.show(key))
  elseif type(value) ~= "number" or value ~= value or value < 0 then
    text.fail(where, "variants[%d]: prefer.%s: expected a number of bytes of at least 0, found %s", number, key,
      text.show(value))
  end
end

-- What a row's `prefer` says, the number of the row being for messages.
function preferences.of(where, op, prefer, number)
  if prefer ~= nil and type(prefer) ~= "table" then
    text.fail(where, "variants[%d]: %s, found a %s", number, EXPECTED, type(prefer))
  end
  local list = prefer and #prefer > 0 and prefer or { prefer or {} }
  if #list > capacity.prefers then
    text.fail(where, "variants[%d]: %s, found %d", number, EXPECTED, #list)
  end
  local made = {}
  for i, calls in ipairs(list) do
    if type(calls) ~= "table" then
      text.fail(where, "variants[%d]: %s, found a %s", number, EXPECTED, type(calls))
    end
    for key, value in text.sorted_pairs(calls) do
      check_value(where, op, key, value, number)
    end
    local from, to = calls.from or 0, calls.to or math.huge
    if from >= to then
      text.fail(where, "variants[%d]: expected prefer.from below prefer.to, found %s and %s", number,
        text.show(calls.from), text.show(calls.to))
    end
    made[i] = {
      from = from, to = to, dims = (calls.width or calls.multiple) and widths_of(op) or 0, width = calls.width or 0,
      multiple = calls.multiple or 1,
    }
  end
  return table.move(preferences.none, #made + 1, #preferences.none, #made + 1, made)
end

return preferences
