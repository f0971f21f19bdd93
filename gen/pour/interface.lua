-- The functions in C that an op has for another program: their names and parameters, what is said of them, and how its
-- test calls them.

local axes = require "axes"
local text = require "text"
local types = require "types"

local interface = {}

local widest = 115 -- of lines of text

-- Words of C and C++, and of the functions' bodies, that an axis may be called.
local reserved = {}
for word in ([[asm auto bool break case catch char class const continue default delete do double else enum export extern
  false float for friend goto if inline int long namespace new operator private protected public register restrict
  return short signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned
  using virtual void volatile while workspace bytes dim args kernel largest int64_t size_t stream status context
  variant on commands pushed
  arguments arguments_at arguments_address plan loaded]]):gmatch "%S+" do
  reserved[word] = true
end

-- Names for parameters, each another.
local function namer()
  local taken = {}
  return function(name)
    while reserved[name] or taken[name] do
      name = name .. "_"
    end
    taken[name] = true
    return name
  end
end

function interface.number(value)
  return value == math.huge and "HUGE_VAL" or string.format("%.17g", value)
end

local number = interface.number

-- What a variant prefers, as what stands in the braces of LATHE_PREFERS lathe_prefer.
function interface.prefer(prefer)
  local list = {}
  for i, p in ipairs(prefer) do
    list[i] = ("{%s, %s, %d, %d, %d}"):format(interface.number(p.from), interface.number(p.to), p.dims, p.width,
      p.multiple)
  end
  return table.concat(list, ", ")
end

local function c_type(dtype)
  local words = types[dtype].c
  return words.storage or words.number
end

-- Terms of an expression, on lines of their own where they are long.
local function joined(terms, operator)
  local line = table.concat(terms, " " .. operator .. " ")
  return #line < 80 and line or table.concat(terms, "\n    " .. operator .. " ")
end

local notes = {
  f16 = "f16: the bits of numbers of IEEE 754's binary16.",
  bf16 = "bf16: the bits of bfloat16, the upper half of a float.",
}

local workspace = " A call is lent a workspace of NAME_workspace bytes there, at a multiple of 64, which is zero "
  .. "before its first call and which no two calls use at once. A call leaves it fit for the next of the same sizes."

-- What functions on another kind of device are given before a workspace, and what is said of calls there.
local kinds = {
  cpu = { ending = "", called = "", before = "" },
  cuda = {
    ending = "_cuda", called = "", before = "", after = ", void *stream", test_after = "device_queue",
    says = "Operands are addresses of the GPU whose context the calling thread has (cudaSetDevice). A call puts its "
      .. "kernels on the stream, a CUstream or cudaStream_t of that context, and returns: it waits for nothing, "
      .. "prints nothing, allocates nothing on the device, and may be captured in a graph. Any number of threads may "
      .. "call at once. The first call in a context loads the code, as NAME_load does ahead of it. NAME_variant says "
      .. "which kernels a call takes there.",
    workspace = workspace,
  },
  vulkan = {
    ending = "_vulkan", called = "_record", address = "VkDeviceAddress", handle = true,
    pushed = 128, -- bytes of push constants that every device has
    before = ", VkCommandBuffer commands", test_before = { "device_handle", "device_commands" },
    says = "Operands are addresses of buffers on the device (vkGetBufferDeviceAddress), at multiples of an element's "
      .. "bytes. A call records kernels into the command buffer, of a queue for compute shaders, and barriers between "
      .. "them; those between its operands and what comes before and after are the caller's. It allocates nothing on "
      .. "the device but the pipelines that it is the first to want, and prints nothing. Any number of threads may "
      .. "call at once, each with a command buffer of its own. The device must have enabled bufferDeviceAddress and "
      .. "shaderInt64, for f64 and f16 shaderFloat64 and shaderFloat16, and for elements of 16 and 8 bits "
      .. "storageBuffer16BitAccess and storageBuffer8BitAccess. Where subgroups may have several sizes on it, "
      .. "subgroupSizeControl and computeFullSubgroups too. No kernel needs another extension. NAME_variant says which "
      .. "kernels a call takes.",
    in_memory = " A call's arguments, more than push constants have room for, go into a buffer of the caller's, by "
      .. "vkCmdUpdateBuffer: 384 bytes, at a multiple of 64, which has that address. No other call may use them "
      .. "before this one has run.",
    workspace = workspace,
  },
}

-- A function's prototype, on several lines where it is long, but with no parameter on two. result_and_name: what is
-- before the parameters.
function interface.prototype(result_and_name, parameters)
  local whole = result_and_name .. "(" .. table.concat(parameters, ", ") .. ")"
  local held_together = whole:gsub("([^,]) ", "%1\1")
  return (table.concat(text.wrap(held_together, widest, "    "), "\n"):gsub("\1", " "))
end

-- What the function of a precision is like: their names, parameters, and texts of their bodies.
local function function_of(op, name, dtype, has_workspace, kind)
  local fresh, t = namer(), { dtype = dtype, name = name .. "_" .. dtype .. kind.ending, note = notes[dtype] }
  t.called, t.number = t.name .. kind.called, c_type(types.compute(dtype))
  local handle = kind.handle and name .. kind.ending .. " *on" or ""
  t.handle, t.device_handle = kind.handle and "const " .. handle .. ", " or "", kind.handle and "device_handle, " or ""
  t.workspace = has_workspace
  local parameters, sizes, absent, nothing = {}, {}, {}, {}
  local operands = text.map(op.operands, function(operand)
    return fresh(operand.name)
  end)
  t.scalars = text.map(op.scalars, function(scalar)
    return fresh(scalar.name)
  end)
  t.dims = text.map(op.dims, fresh)
  for i, operand in ipairs(op.operands) do
    local own, extents = types.of_elements(operand, dtype), text.map(operand.dim_index, function(d)
      return t.dims[d]
    end)
    parameters[i] = kind.address and kind.address .. " " .. operands[i]
      or (operand.output and "" or "const ") .. c_type(own) .. " *" .. operands[i]
    sizes[i] = table.concat({ types[own].bytes .. ".0", table.unpack(text.map(extents, function(extent)
      return "(double)(int64_t)" .. extent
    end)) }, " * ")
    if operand.output then
      nothing[#nothing + 1] = #extents == 0 and "0" or "!(" .. table.concat(extents, " && ") .. ")"
    end
    local missing = "!" .. operands[i]
    absent[i] = #extents == 0 and missing or "(" .. missing .. " && " .. table.concat(extents, " && ") .. ")"
  end
  t.extents_given = table.concat(t.dims, ", ")
  t.extents = table.concat(text.map(t.dims, function(extent)
    return "size_t " .. extent
  end), ", ")
  t.pushed = 8 * (#operands + 1 + #t.dims) + #t.scalars * types[types.compute(dtype)].bytes
  t.in_memory = kind.pushed and t.pushed > kind.pushed or false
  local all = handle .. kind.before .. (handle == "" and "" or ", ") .. table.concat({
    table.concat(parameters, ", "), table.unpack(text.map(t.scalars, function(scalar)
      return "double " .. scalar
    end)),
  }, ", ") .. (#t.dims > 0 and ", " .. t.extents or "") .. (kind.after or "")
    .. (t.in_memory and ", VkBuffer arguments, VkDeviceSize arguments_at, VkDeviceAddress arguments_address" or "")
    .. (has_workspace and ", " .. (kind.address and kind.address .. " " or "void *") .. "workspace" or "")
  t.prototype = interface.prototype("int " .. t.called, { all })
  t.parameters = parameters
  t.arguments, t.bytes = operands, joined(sizes, "+")
  t.absent, t.nothing = joined(absent, "||"), joined(nothing, "&&")
  t.all_extents = table.concat(t.dims, " | ")
  return t
end

-- The endings of names of files and functions for a kind of device.
function interface.ending(kind)
  return kinds[kind].ending
end

local function takes_workspace(op, v)
  return v.launching and v.launching.workspace or v.backend.workspace and v.backend.workspace(op, v.template) or false
end

-- Those of an op with its planned variants, all for one kind of device, one for each precision. name: what theirs begin
-- with.
function interface.functions(op, name)
  local has_workspace, list, kind = {}, {}, kinds[op.planned[1].backend.kind]
  for _, v in ipairs(op.planned) do
    local known = has_workspace[v.dtype] ~= nil
    has_workspace[v.dtype] = has_workspace[v.dtype] or takes_workspace(op, v)
    list[#list + 1] = not known and v.dtype or nil
  end
  return text.map(list, function(dtype)
    return function_of(op, name, dtype, has_workspace[dtype], kind)
  end)
end

-- The arguments of a function's call: operands are in an array of pointers, extents in dim. scalar: the format of a
-- scalar's place.
function interface.arguments(op, t, pointers, scalar)
  local kind = kinds[op.planned[1].backend.kind]
  local given = table.move(kind.test_before or {}, 1, #(kind.test_before or {}), 1, {})
  for i, operand in ipairs(op.operands) do
    given[#given + 1] = kind.address and ("(%s)(uintptr_t)%s[%d]"):format(kind.address, pointers, i - 1)
      or ("(%s%s *)%s[%d]"):format(operand.output and "" or "const ", c_type(types.of_elements(operand, t.dtype)),
        pointers, i - 1)
  end
  for i in ipairs(op.scalars) do
    given[#given + 1] = scalar:format(i - 1)
  end
  given[#given + 1] = interface.extents(op)
  given[#given + 1] = kind.test_after
  given[#given + 1] = t.in_memory and "device_arguments, 0, device_arguments_address" or nil
  given[#given + 1] = t.workspace and (kind.address and "(VkDeviceAddress)(uintptr_t)workspace" or "workspace") or nil
  return table.concat(given, ", ")
end

-- Those of a function of extents alone.
function interface.extents(op)
  return table.concat(text.map(op.dims, function(_, i)
    return ("dim[%d]"):format(i - 1)
  end), ", ")
end

-- ---- what is said of them -----------------------------------------------------------------------------

-- A line on each operand and scalar.
function interface.operands(op)
  local longest, rows = 0, {}
  local function row(name, says)
    longest = math.max(longest, #name)
    rows[#rows + 1] = { name, says }
  end
  for i, operand in ipairs(op.operands) do
    local shape = table.concat(text.map(operand.dim_index, function(d)
      return "[" .. op.dims[d] .. "]"
    end))
    local own = operand.dtype or operand.storage
    own = own and (own == "computed" and "of the type computed in" or c_type(own))
    local says = (operand.output and "output " or "input ") .. (shape == "" and "of one element" or shape)
    says = says .. (own and ", " .. own or "")
    if operand.index then
      says = says .. ", places along " .. op.dims[axes.indexes(operand.along)[1] + 1]
    elseif op.in_place and operand.output and not op.operands[i - 1].output then
      says = says .. ", may be " .. op.operands[1].name .. " itself"
    end
    row(operand.name, says)
  end
  for _, scalar in ipairs(op.scalars) do
    row(scalar.name, string.format("a number, %.6g for example", scalar.value))
  end
  return text.map(rows, function(cells)
    return cells[1] .. (" "):rep(longest - #cells[1] + 2) .. text.in_comment(cells[2])
  end)
end

-- Sentences on kernels that round factors or sums of products, or what is between two of them, one for each number of
-- digits. by_name: of those that are for who names them.
local function rounding(op, by_name)
  local kernels, sentences = {}, {}
  for _, v in ipairs(op.planned) do
    local count, name = math.max(v.digits, v.narrowed), v.dtype .. " for " .. v.backend.name
    if count > 0 and v.by_name == by_name and not v.disabled then
      kernels[count] = kernels[count] or {}
      kernels[count][#kernels[count] + 1] = not text.contains(kernels[count], name) and name or nil
    end
  end
  for count, names in text.sorted_pairs(kernels) do
    sentences[#sentences + 1] = (" %s round products, or what is between two, to %d binary digits: %s."):format(
      by_name and "Kernels that are asked for by name" or "Some kernels", count, table.concat(names, ", "))
  end
  return table.concat(sentences)
end

-- What holds of memory and results; and of calls. checker: what checks that. has_named: whether a call may name its
-- kernel. found: a sentence on errors that were found, or nil.
function interface.rules(op, functions, checker, has_named, found)
  local bounds, narrow, rounded = {}, "", rounding(op, false) .. (has_named and rounding(op, true) or "")
  for _, t in ipairs(functions) do
    bounds[#bounds + 1] = string.format("%s %.4g", t.dtype, op.ulp[t.dtype])
    if types[t.dtype].compute then
      narrow = " What has 16 bits is computed in f32, which such units are of, and rounded once."
    end
  end
  return text.wrap("Elements lie without gaps, those along the last axis side by side"
    .. (has_named and ", but where a plan is made with lathe_options.row. " or ". ") .. "An axis may be empty. Inputs "
    .. "may share memory with each other; an output shares none with another operand"
    .. (op.in_place and ", but where it may be an input itself. " or ". ")
    .. "A result is off by at most so many units in its last place, or in that of what rounding on the way may put it "
    .. "off where that is more: " .. table.concat(bounds, ", ") .. "." .. (found or "") .. narrow .. rounded
    .. " " .. checker .. " checks that.", widest, "")
end

function interface.calls(op, functions)
  local has_workspace, in_memory = false, false
  for _, t in ipairs(functions) do
    has_workspace, in_memory = has_workspace or t.workspace, in_memory or t.in_memory
  end
  local kind = kinds[op.planned[1].backend.kind]
  if kind.says then
    return text.wrap(kind.says .. (in_memory and kind.in_memory or "") .. (has_workspace and kind.workspace or ""),
      widest, "")
  end
  return text.wrap("Calls print nothing, allocate nothing, and may be made by any number of threads at once. The first "
    .. "one looks at which instructions the processor has; NAME_variant says which kernel a call takes. "
    .. (has_workspace and "A call is lent a workspace of NAME_workspace bytes, at an address that is a multiple of 64."
      or "")
    .. (op.cut > 0 and " Threads may share a call by its " .. op.dims[op.cut]
      .. (has_workspace and ", each with a workspace of its own." or ".") or ""), widest, "")
end

-- ---- its test ------------------------------------------------------------------------------------------

-- What OP_test.c has of an op besides: its operands and the types of these, and how its functions are called.
function interface.test(op, functions)
  local used, types_used = {}, {}
  local function use(dtype)
    if not types_used[dtype] then
      local row, c = types[dtype], c_type(dtype)
      types_used[dtype] = true
      used[#used + 1] = {
        NAME = dtype:upper(), bytes = row.bytes, digits = row.digits, emin = row.emin or 0, low = number(row.low or 0),
        high = number(row.high or 0), COMPUTED = types.compute(dtype):upper(), c = c,
        name = dtype, read = row.compute and "lathe_from_" .. dtype .. "(%s)" or "(double)%s",
        write = row.compute and "lathe_to_" .. dtype .. "((float)%s)" or "(" .. c .. ")%s",
      }
      use(types.compute(dtype))
    end
  end
  for _, t in ipairs(functions) do
    for _, operand in ipairs(op.operands) do
      use(types.of_elements(operand, t.dtype))
    end
    t.call_extents = interface.extents(op)
    t.call, t.bound = interface.arguments(op, t, "buf", "(float)scalar[%d]"), number(op.ulp[t.dtype])
    t.reference, t.narrowed = t.dtype == "f64" and "wide" or "f64", 0
    for _, v in ipairs(op.planned) do
      t.narrowed = v.dtype == t.dtype and math.max(t.narrowed, v.narrowed or 0) or t.narrowed
    end
    use(t.dtype)
  end
  local rows = text.map(op.operands, function(o)
    return {
      name = o.name, type = types.enumerator(o), output = o.output, ndim = #o.dims,
      dims = #o.dims == 0 and "0" or table.concat(text.map(o.dim_index, function(d)
        return tostring(d - 1)
      end), ", "), low = number(o.low), high = number(o.high), rounded = o.rounded and true or false,
      index = o.index and axes.indexes(o.along)[1] + 1 or 0,
    }
  end)
  return {
    used = used, rows = rows, axes = table.concat(text.map(op.dims, function(name)
      return '"' .. name .. '", '
    end)) .. "NULL", scalars = table.concat(text.map(op.scalars, function(scalar)
      return number(scalar.value) .. ", "
    end)) .. "0", tostring = tostring,
  }
end

return interface
