-- The keys of an op: one row per key, by which a spec is checked, and of which the definition file for editors is made
-- (definitions.lua).

local limits = require "limits"
local text = require "text"

local keys = {}

-- key, what it must be, whether it may be left out, what it says; luals: its type for the editor.
keys.rows = {
  { "doc", "string", doc = "One line: what the op computes." },
  { "inputs", "table", luals = "table<string, lathe.operand>",
    doc = "The operands read: name = { \"n\" }, the dimensions slowest first, range = { low, high } of the random "
      .. "inputs, index = \"cols\" for positions along a dimension, dtype = \"i64\" for a single integer, dtype = "
      .. "\"i8\" and the like for numbers of a type of their own." },
  { "outputs", "table", luals = "table<string, lathe.operand>",
    doc = "The operands written: name = { \"n\" }, {} for one value, { \"rows\" } or { \"cols\" } for one a row or "
      .. "column; dtype = \"i8\" and the like for numbers of a type of their own." },
  { "axes", "table", optional = true, luals = "string[]",
    doc = "Axes that no input has: of outputs, and of windows that at(...) reads. `sizes` says how long they are." },
  { "scalars", "table", optional = true, luals = "table<string, number>",
    doc = "Plain numbers that the op takes: name = the value that checks and benchmarks use." },
  { "compute", "function",
    doc = "The outputs at each point of their dimensions: x * w + b; sum(x, \"cols\"), max, min, mean, argmax, argmin "
      .. "over those that are named, or over all that x has." },
  { "sizes", "table", luals = "lathe.size[]", doc = "What to check and time: { { \"1K\", n = 1000 }, ... }." },
  { "sets", "table", optional = true, luals = "table<string, (integer|integer[])[][]>",
    doc = "Sizes for when they are asked for by the set's name: large = { { 4096, 4096 }, { { 16, 32 }, 512, 64 } }, "
      .. "extents slowest first; lists multiply out. --sweep runs the set 'sweep'." },
  { "dtypes", "table", luals = "lathe.dtype[]", doc = "The precisions wanted: { \"f32\", \"f64\" }." },
  { "ulp", "table", "number", luals = "number|table<lathe.dtype, number>",
    doc = "The most a result may be off, in units of the last place: a number, or one for each precision." },
  { "products", "string", optional = true, luals = "\"tf32\"|\"f16\"|\"f16_vectors\"|\"narrow\"",
    doc = "To what dispatch may choose variants that round products: factors of f32 to \"tf32\", 11 digits; sums of "
      .. "f16 to \"f16\", 8 of whose digits are sure, or as \"f16_vectors\" 11; what is between two products to the "
      .. "operands' type, \"narrow\". Without it only those who name such a "
      .. "variant get it." },
  { "any_zero_sign", "boolean", optional = true,
    doc = "Whether +0 and -0 are equally right everywhere, not just where a max, a min or a sum of zeros decides." },
  { "in_place", "boolean", optional = true,
    doc = "Whether the output may be the first input's memory (default: wherever the shapes agree and no at(...) reads "
      .. "that input)." },
  { "backward", "boolean", "table", optional = true, luals = "boolean|lathe.backward",
    doc = "Whether an op NAME_backward computes its gradient; a table says what differs from the op itself: ulp, "
      .. "variants, sizes, peers; and which of the op's outputs the gradient reads: reads = { \"o\" }." },
  { "variants", "table", optional = true, luals = "(lathe.variant|\"default\")[]",
    doc = "Rows of tuning parameters: { backend = \"avx2\", unroll = { 1, 4 } }; lists multiply out. dtypes = \"f16\" "
      .. "makes a row one of some precisions only. \"default\" stands for the rows that ops of its kind have without "
      .. "this key." },
  { "compared", "table", optional = true, luals = "string[][]",
    doc = "Implementations of the op and of its gradient that a table compares, the first with all others: "
      .. "{ { \"matrix product\", \"product\", \"product\" }, { \"fused\", \"rows\", \"rows\" } }. That by the op's "
      .. "own template has its name; without a third text a row is of the op alone." },
  { "peers", "table", optional = true, luals = "table<string, string>",
    doc = "The same computation for others: { numpy = \"x + y\", torch = \"x + y\" }. Statements may come first, "
      .. "each with a ; after it; several outputs are parted by commas, in their order." },
}

-- Those that a table of backward may have as well.
keys.of_backward = { "doc", "peers", "sizes", "ulp", "variants" }

local by_key, key_names = {}, {}
for _, row in ipairs(keys.rows) do
  by_key[row[1]] = row
  key_names[#key_names + 1] = row[1]
end

-- Refuses a value of another type than the row of a key says.
function keys.expect_type(where, what, key, value)
  local row = by_key[key]
  local want, other = row[2], row[3]
  if type(value) ~= want and type(value) ~= other then
    text.fail(where, "%s: expected a %s, found a %s", what, other and want .. " or a " .. other or want, type(value))
  end
end

-- Refuses an op with unknown keys, without those that it needs, or with values of other types.
function keys.check(op)
  local name, given = op.name, op.keys
  for key in text.sorted_pairs(given) do
    if not by_key[key] then
      local instead = limits.of_key(key)
      text.fail(op.where(key), "op \"%s\": unknown key %s%s", name, text.show(key),
        instead and "; " .. instead or text.did_you_mean(key, key_names))
    end
  end
  for _, row in ipairs(keys.rows) do
    local key = row[1]
    if given[key] ~= nil then
      keys.expect_type(op.where(key), string.format("op \"%s\": %s", name, key), key, given[key])
    elseif not row.optional then
      text.fail(op.where(), "op \"%s\": expected the key '%s' (%s)", name, key, row.doc)
    end
  end
end

return keys
