-- Element types, a row each: what a number is in memory, what it is computed in, and how each language spells it.
--
--   name, bytes   of an element
--   digits, emin, emax   a binary format: its numbers are m * 2^(e - digits + 1) with |m| < 2^digits and
--                 emin <= e <= emax; integers that stand for numbers have emin = emax = digits - 1, so that neighbours
--                 are 1 apart; digits = 0: indexes and seeds, which are exact and nothing is computed of
--   low, high     the smallest and the largest number; beyond them there are infinities, or of integers none: those
--                 are rounded to nearest, beyond their range to its end, and NaN to 0
--   decimals      how many digits tell any two numbers apart
--   compute       the type computed in, where it is another
--   pack          of a type that is computed in: the format of string.pack that rounds to it
--   c, cuda, glsl its words in each language; number: the type of a variable, f: what ends constants and the names of
--                 the library; storage, element: the type in memory; see the lowerings
--   python        what NumPy and PyTorch call it; format: the letters that Python's buffers have for it, none where
--                 they have no such elements; code: its kind in DLPack
--   needs         what a kind of devices must have besides, by the names of dispatch.h, and extensions of its compiler

local limits = require "limits"
local text = require "text"

local types = {}

types.rows = {
  {
    name = "f64", bytes = 8, digits = 53, emin = -1022, emax = 1023, high = 0x1.fffffffffffffp1023, decimals = 17,
    pack = "<d",
    python = { name = "float64", format = "d", code = 2 },
    c = { number = "double", f = "" }, cuda = { number = "double", f = "" },
    glsl = { number = "double", f = "lf", element = "double" },
    needs = {
      vulkan = { features = { "VULKAN_F64" }, extensions = { "GL_EXT_shader_explicit_arithmetic_types_float64" } },
    },
  },
  {
    name = "f32", bytes = 4, digits = 24, emin = -126, emax = 127, high = 0x1.fffffep127, decimals = 9, pack = "<f",
    python = { name = "float32", format = "f", code = 2 },
    c = { number = "float", f = "f" }, cuda = { number = "float", f = "f" },
    glsl = { number = "float", f = "", element = "float" },
  },
  {
    name = "f16", bytes = 2, digits = 11, emin = -14, emax = 15, high = 0x1.ffcp15, decimals = 5, compute = "f32",
    python = { name = "float16", format = "e", code = 2 },
    -- signs: the type computed in where nothing but signs change
    c = { storage = "uint16_t", signs = "h16" }, cuda = { storage = "__half", header = "<cuda_fp16.h>" },
    glsl = { element = "float16_t" },
    needs = {
      vulkan = {
        features = { "VULKAN_F16", "VULKAN_STORAGE16" },
        extensions = { "GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_float16" },
      },
    },
  },
  {
    name = "bf16", bytes = 2, digits = 8, emin = -126, emax = 127, high = 0x1.fep127, decimals = 4, compute = "f32",
    python = { name = "bfloat16", format = "", code = 4 },
    c = { storage = "uint16_t", signs = "h16" }, cuda = { storage = "__nv_bfloat16", header = "<cuda_bf16.h>" },
    glsl = { element = "uint16_t" },
    needs = {
      vulkan = { features = { "VULKAN_STORAGE16" }, extensions = { "GL_EXT_shader_16bit_storage" } },
    },
  },
  {
    name = "i8", bytes = 1, digits = 7, emin = 6, emax = 6, low = -128.0, high = 127.0, decimals = 3, integer = true,
    compute = "f32",
    python = { name = "int8", format = "b", code = 0 },
    c = { storage = "int8_t" }, cuda = { storage = "lathe_i8", header = '"whole.h"' }, glsl = { element = "int8_t" },
    needs = {
      vulkan = { features = { "VULKAN_STORAGE8" }, extensions = { "GL_EXT_shader_8bit_storage" } },
    },
  },
  {
    name = "u8", bytes = 1, digits = 8, emin = 7, emax = 7, low = 0.0, high = 255.0, decimals = 3, integer = true,
    compute = "f32",
    python = { name = "uint8", format = "B", code = 1 },
    c = { storage = "uint8_t" }, cuda = { storage = "lathe_u8", header = '"whole.h"' }, glsl = { element = "uint8_t" },
    needs = {
      vulkan = { features = { "VULKAN_STORAGE8" }, extensions = { "GL_EXT_shader_8bit_storage" } },
    },
  },
  {
    name = "i64", bytes = 8, digits = 0, decimals = 19, integer = true,
    python = { name = "int64", format = "ql", code = 0 },
    c = { storage = "int64_t" }, cuda = { storage = "long long" }, glsl = { element = "int64_t" },
  },
}

-- What an operand may have of its own besides: the type that a kernel computes in, whichever that is.
types.computed = { name = "computed", low = -math.huge, high = math.huge }

for _, row in ipairs(types.rows) do
  types[row.name] = row
  row.low = row.low or row.high and -row.high
end

-- How many digits products have, by the names that specs have: factors of f32 may be rounded to tf32 before they are
-- multiplied; sums of f16 are rounded with every few terms. Theirs are what sums of some 30,000 terms keep; those of
-- the layers that cooperative vectors are for have some hundred. What is between two products may be rounded to a
-- narrow kernel's type, and nothing else.
types.products = { tf32 = 11, f16 = 8, f16_vectors = 11, narrow = 0 }

-- Whether dispatch may choose a variant of such products for an op that allows others, or nil, which allows none.
function types.may_round(allowed, products)
  local digits = types.products[products]
  if not digits or not allowed or allowed == products then
    return not digits or allowed == products
  end
  return products ~= "narrow" and allowed ~= "narrow" and digits >= types.products[allowed]
end

-- The names of those that a test holds for.
local function names_where(holds)
  local list = {}
  for _, row in ipairs(types.rows) do
    list[#list + 1] = holds(row) and row.name or nil
  end
  return list
end

-- The precisions of an op; what an operand may have of its own that is a number; of both, the types that are converted
-- where they are read and written.
types.of_variants = names_where(function(row)
  return not row.integer
end)
types.of_operands = names_where(function(row)
  return row.digits > 0
end)
table.insert(types.of_operands, "computed")
types.converted = names_where(function(row)
  return row.compute
end)

-- Refuses what is no precision of an op.
function types.expect_precision(where, what, dtype)
  if not text.contains(types.of_variants, dtype) then
    local limit = limits.of_dtype(dtype)
    text.fail(where, "%s: unknown dtype %s%s; expected %s", what, text.show(dtype),
      limit and "; " .. limit or text.did_you_mean(dtype, types.of_variants), text.one_of(types.of_variants))
  end
end

-- The type of an operand's numbers in memory, in a variant of some type.
function types.stored(operand, dtype)
  return operand.storage == "computed" and types.compute(dtype) or operand.storage or dtype
end

-- The same of any elements: numbers, indexes and seeds.
function types.of_elements(operand, dtype)
  return operand.dtype or types.stored(operand, dtype)
end

-- What lathe.h calls an operand's type.
function types.enumerator(operand)
  local own = operand.dtype or operand.storage
  local of_variant = { [false] = "VARIANT_DTYPE", computed = "COMPUTED_DTYPE" }
  return "LATHE_" .. (of_variant[own or false] or own:upper())
end

-- The types that a variant has in memory, its own and its operands'.
function types.in_memory(op, dtype)
  local list = { dtype }
  for _, operand in ipairs(op.operands) do
    local own = types.of_elements(operand, dtype)
    list[#list + 1] = not text.contains(list, own) and own or nil
  end
  return list
end

-- The elements of an access on a GPU: 16 bytes of the widest operand along the last dimension, but no more than eight.
-- And whether some operand has a type of its own.
function types.access(operands, dtype)
  local widest, mixed = 0, false
  for _, operand in ipairs(operands) do
    local own = types.stored(operand, dtype)
    mixed = mixed or own ~= dtype
    if operand.place == "whole" or operand.place == "column" then
      widest = math.max(widest, types[own].bytes)
    end
  end
  return mixed and widest > 0 and math.min(8, 16 // widest) or 16 // types[dtype].bytes, mixed
end

-- The type that a type is computed in.
function types.compute(dtype)
  return types[dtype].compute or dtype
end

-- The type of a temporary: that which is computed in, but the op's where that has it as well. narrows: "exact" where
-- that goes for what operands have, "factors" where it goes for factors of products too, which are rounded; or nil.
function types.of_temporary(operand, dtype, narrows)
  local is_narrow = narrows and operand.is_exact or narrows == "factors" and operand.is_factor
  return is_narrow and dtype or types.compute(dtype)
end

-- The types as one language has them, by name, for a lowering: its words, with what all languages ask for. bits: of a
-- variable of a type that is computed in; digits: decimal ones.
function types.spelt(language)
  local spelt = {}
  for _, row in ipairs(types.rows) do
    local words = { compute = row.compute, bytes = row.bytes, pack = row.pack }
    if row.pack then
      words.bits, words.digits = 8 * row.bytes, row.decimals
    end
    for key, value in pairs(row[language]) do
      words[key] = value
    end
    spelt[row.name] = words
  end
  return spelt
end

-- What a kind of devices must have for some types: features, extensions.
function types.needs(dtypes, kind)
  local features, extensions = {}, {}
  local function add(list, names)
    for _, name in ipairs(names or {}) do
      list[#list + 1] = not text.contains(list, name) and name or nil
    end
  end
  for _, dtype in ipairs(dtypes) do
    local needs = types[dtype].needs and types[dtype].needs[kind] or {}
    add(features, needs.features)
    add(extensions, needs.extensions)
  end
  return features, extensions
end

-- The text of types.h, by which the runtime knows the rows.
function types.header()
  local function number(value)
    return value and string.format("%a", value) or "0"
  end
  local rows = text.map(types.rows, function(row)
    return string.format('    [LATHE_%s] = {"%s", %d, %d, %d, %d, %d, %s, LATHE_%s, %s, %s},\n', row.name:upper(),
      row.name, row.bytes, row.digits, row.emin or 0, row.emax or 0, row.decimals, tostring(row.integer or false),
      types.compute(row.name):upper(), number(row.low), number(row.high))
  end)
  return table.concat {
    "/* Generated by lathe-gen from gen/base/types.lua; do not edit. What dtype.h says of each element type. */\n",
    "#define TYPES_OF_VARIANTS \"", table.concat(types.of_variants, ", "), "\"\n\n",
    "#define TYPES_ROWS { \\\n", (table.concat(rows):gsub("\n", " \\\n")), "}\n\n",
    "_Static_assert(LATHE_DTYPES == ", tostring(#types.rows), ",\n",
    "               \"expected the types of runtime/library/lathe.h to be those of gen/base/types.lua\");\n",
  }
end

return types
