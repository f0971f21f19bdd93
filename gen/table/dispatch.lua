-- Writes the dispatch table: the rows of the types of dispatch.h and bench.h as constant C data, one row per fact.

local axes = require "axes"
local interface = require "interface"
local sources = require "sources"
local text = require "text"
local types = require "types"

local dispatch = {}

local function number(value)
  if value == math.huge then
    return "HUGE_VAL"
  elseif value == -math.huge then
    return "-HUGE_VAL"
  end
  return string.format("%.17g", value)
end

local spaces = setmetatable({}, { __index = function(known, count)
  known[count] = (" "):rep(count)
  return known[count]
end })

-- Lines of cells with their columns aligned.
local function aligned(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i = 1, #row - 1 do
      local width = #row[i]
      if width > (widths[i] or 0) then
        widths[i] = width
      end
    end
  end
  return table.concat(text.map(rows, function(row)
    local cells, last = {}, #row
    for i = 1, last - 1 do
      cells[i] = row[i] .. "," .. spaces[widths[i] - #row[i] + 1]
    end
    cells[last] = row[last]
    return "  { " .. table.concat(cells) .. " },\n"
  end))
end

local function array(out, ctype, name, rows)
  if #rows == 0 then
    return "NULL"
  end
  out[#out + 1] = string.format("static const %s %s[] = {\n%s};\n", ctype, name, aligned(rows))
  return name
end

local function braces(list)
  return "{ " .. (#list > 0 and table.concat(list, ", ") or "0") .. " }"
end

-- Sets by operand.
local function by_operand(sets)
  local cells = {}
  for place, set in text.sorted_pairs(sets) do
    cells[#cells + 1] = string.format("[%d] = 0x%x", place, set)
  end
  return braces(cells)
end

-- The fields of an op's row, and in `out` the rows that they point to. gradient_of, bench: what these point to, or nil.
local function op_fields(out, op, gradient_of, bench)
  local name = op.name
  local operands = array(out, "lathe_operand", name .. "_operands", text.map(op.operands, function(o)
    return {
      text.c_string(o.name), types.enumerator(o), tostring(o.output),
      tostring(#o.dims), braces(text.map(o.dim_index, function(d)
        return tostring(d - 1)
      end)), number(o.low), number(o.high), tostring(o.index and axes.indexes(o.along)[1] + 1 or 0),
    }
  end))
  local scalars = array(out, "lathe_scalar", name .. "_scalars", text.map(op.scalars, function(s)
    return { text.c_string(s.name), number(s.value) }
  end))
  local work = array(out, "lathe_arithmetic", name .. "_work", text.map(op.work, function(w)
    return { string.format("0x%x", w.axes), tostring(w.each) }
  end))
  return string.format([[
    .name = %s,
    .doc = %s,
    .template_name = %s,
    .source = %s,
    .ndim = %d,
    .dim = { %s },
    .noperands = %d, .operands = %s,
    .nscalars = %d, .scalars = %s,
    .nwork = %d, .work = %s,
    .in_place = %s,
    .cut = %d,
    .gradient_of = %s,
    .bench = %s,
]], text.c_string(name), text.c_string(op.doc), text.c_string(op.template), text.c_string(op.where()), #op.dims,
    table.concat(text.map(op.dims, text.c_string), ", "), #op.operands, operands, #op.scalars, scalars, #op.work, work,
    tostring(op.in_place), op.cut, gradient_of or "NULL", bench or "NULL")
end

local function op_row(out, op, index_of)
  local name = op.name
  local f64, wide = "NULL", "NULL"
  if not op.left_out then
    local names = sources.references(op)
    f64, wide = names.f64, names.wide or wide
    for _, reference in text.sorted_pairs(names) do
      out[#out + 1] = string.format("extern lathe_fn %s;", reference)
    end
  end
  local share = op.masked ~= 0 and not op.left_out and name .. "_share" or "NULL"
  if share ~= "NULL" then
    out[#out + 1] = string.format("extern lathe_cost %s;", share)
  end
  local rounded_terms, extremes, saved, read = 0, 0, 0, {}
  for i, o in ipairs(op.operands) do
    read[i - 1] = op.read_at[o.name]
    saved = saved | (index_of[op.forward] and o.saved and 1 << i - 1 or 0)
    rounded_terms = rounded_terms | (o.rounded and 1 << i - 1 or 0)
    extremes = extremes | (op.extremes[i - 1] and 1 << i - 1 or 0)
  end
  local sizes = array(out, "lathe_size", name .. "_sizes", text.map(op.sizes, function(s)
    return { text.c_string(s.name), braces(text.map(s.dim, tostring)) }
  end))
  local sets = array(out, "lathe_set", name .. "_sets", text.map(op.sets, function(set, i)
    return { text.c_string(set.name), tostring(#set.shapes), array(out, "lathe_shape", name .. "_set" .. i,
      text.map(set.shapes, function(shape)
        local counts, choices = {}, {}
        for d, list in ipairs(shape) do
          counts[d] = tostring(#list)
          choices[d] = "(const size_t[])" .. braces(text.map(list, tostring))
        end
        return { tostring(#shape), braces(counts), braces(choices) }
      end)) }
  end))
  local bounds = array(out, "lathe_bound", name .. "_bounds", text.map(op.dtypes, function(d)
    return { "LATHE_" .. d:upper(), number(op.ulp[d]) }
  end))
  local compared = array(out, "lathe_compared", name .. "_compared", text.map(op.compared, function(c)
    return { text.c_string(c.name), text.c_string(c.forward), c.backward and text.c_string(c.backward) or "NULL" }
  end))
  local peers = array(out, "lathe_peer", name .. "_peers", text.map(op.peers, function(p)
    return { text.c_string(p.name), text.c_string(p.expression) }
  end))
  out[#out + 1] = string.format([[
static const lathe_bench %s_bench = {
  .nsizes = %d, .sizes = %s,
  .nsets = %d, .sets = %s,
  .nbounds = %d, .bounds = %s,
  .npeers = %d, .peers = %s,
  .ncompared = %d, .compared = %s,
  .any_zero_sign = %s,
  .rounded_terms = %d, .extremes = %d,
  .roughest = %s, .roughest_ulp = %s,
  .apart = %s, .saved = 0x%x, .said = %s,
  .read = %s,
  .masked = 0x%x, .share = %s, .leaves_out = %s,
  .reference_f64 = %s,
  .reference_wide = %s,
};
]], name, #op.sizes, sizes, #op.sets, sets, #op.dtypes, bounds, #op.peers, peers, #op.compared, compared,
    tostring(op.any_zero_sign), rounded_terms, extremes, op.roughest and text.c_string(op.roughest) or "NULL",
    number(op.roughest_ulp), by_operand(op.apart), saved,
    tostring(saved ~= 0 and op.says_saved), by_operand(read), op.masked, share,
    tostring(op.leaves_out), f64, wide)
  return "  {\n" .. op_fields(out, op, index_of[op.forward] and ("&lathe_ops[%d]"):format(index_of[op.forward] - 1),
    ("&%s_bench"):format(name)) .. "  },\n"
end

-- Where an op's rows of each type stand among all: its planned variants are in the order of their types.
local function spans(op, first)
  local at, cells, seen = first, {}, {}
  for i, v in ipairs(op.planned) do
    if i == #op.planned or op.planned[i + 1].dtype ~= v.dtype then
      local stop = first + i
      assert(not seen[v.dtype], "variants of one type are apart")
      seen[v.dtype] = true
      cells[#cells + 1] = string.format("[LATHE_%s] = { %d, %d, %s }", v.dtype:upper(), at, stop - at,
        v.left_out and text.c_string(v.left_out) or "NULL")
      at = stop
    end
  end
  return string.format("  { %s }, /* %s */\n", #cells > 0 and table.concat(cells, ", ") or "{ 0, 0, NULL }", op.name)
end

-- The files that an op's variants were made of, as a row for each: { path, how many variants are in it }.
local function made_rows(op)
  local cells = {}
  for _, file in ipairs(op.sources) do
    local count = 0
    for _, part in ipairs(file.parts or {}) do
      count = count + #part.variants
    end
    for _, part in ipairs(file.parts or {}) do
      for _, v in ipairs(part.variants) do
        cells[v] = cells[v] or {}
        table.insert(cells[v], string.format("{ %s, %d }", text.c_string(file.made), count))
      end
    end
  end
  return table.concat(text.map(op.planned, function(v)
    return "  { " .. table.concat(cells[v] or { "{ NULL, 0 }" }, ", ") .. " },\n"
  end))
end

local columns = "/* name, op, backend, dtype, features, disabled, run, image, schedule, workspace, ways, sharing, "
  .. "prefer, params, source, template, implementation, digits, narrowed, by_name */\n"

-- The cells of a variant's row, and what they name in other files. op_at, backend_at: where these rows are.
local function variant_row(externs, op, v, op_at, backend_at)
  local enabled = not v.disabled
  local features = text.map(v.features, function(f)
    return "LATHE_" .. f
  end)
  local run, image, schedule, workspace, ways, sharing = "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"
  local device = enabled and (v.part.runs and v.part.runs[1] or v.part)
  if device and device.image then
    image, schedule = "&" .. device.stem .. "_image", "&" .. v.name .. "_schedule"
    if v == v.part.variants[1] then
      externs[#externs + 1] = "extern const lathe_image " .. device.stem .. "_image;\n"
    end
    externs[#externs + 1] = "extern const lathe_schedule " .. v.name .. "_schedule;\n"
  elseif enabled then
    run = v.name
    externs[#externs + 1] = "extern lathe_fn " .. run .. ";\n"
  end
  if enabled and v.backend.workspace and v.backend.workspace(op, v.template) then
    workspace = v.name .. "_workspace"
    externs[#externs + 1] = "extern lathe_cost " .. workspace .. ";\n"
  end
  if enabled and v.backend.ways and v.backend.ways[v.template] then
    ways = v.name .. "_ways"
    externs[#externs + 1] = "extern const lathe_way " .. ways .. "[];\n"
  end
  if enabled and v.backend.sharing and v.backend.sharing[v.template] then
    sharing = "&" .. v.name .. "_sharing"
    externs[#externs + 1] = "extern const lathe_sharing " .. v.name .. "_sharing;\n"
  end
  return {
    text.c_string(v.name), op_at, backend_at, "LATHE_" .. v.dtype:upper(),
    #features > 0 and table.concat(features, " | ") or "0", v.disabled and text.c_string(v.disabled) or "NULL",
    run, image, schedule, workspace, ways, sharing, "{" .. interface.prefer(v.prefer) .. "}",
    text.c_string(v.params_text),
    text.c_string(v.where),
    not v.backend.templates[v.template] and "NULL"
      or text.c_string("templates/" .. v.backend.language .. "/" .. v.template .. v.backend.extension),
    v.implementation and text.c_string(v.implementation) or "NULL", tostring(v.digits), tostring(v.narrowed),
    tostring(v.by_name),
  }
end

-- The cells of a backend's.
local function backend_row(backend)
  local features = text.map(backend.features, function(f)
    return "LATHE_" .. f
  end)
  table.insert(features, 1, "LATHE_ON_" .. backend.kind:upper())
  return {
    text.c_string(backend.name), "LATHE_" .. backend.kind:upper(), table.concat(features, " | "),
    backend.disabled and text.c_string(backend.disabled) or "NULL",
  }
end

-- The whole of table.c, from ops sorted by name with op.planned variants.
function dispatch.write(ops, backends)
  local out, op_rows, variant_rows, span_rows, made, externs = {}, {}, {}, {}, {}, {}
  local backend_index, index_of = {}, {}
  local backend_rows = text.map(backends, function(backend, i)
    backend_index[backend] = i - 1
    return backend_row(backend)
  end)
  for i, op in ipairs(ops) do
    index_of[op] = i
  end
  for i, op in ipairs(ops) do
    op_rows[i] = op_row(out, op, index_of)
    span_rows[i] = spans(op, #variant_rows)
    made[i] = made_rows(op)
    for _, v in ipairs(op.planned) do
      variant_rows[#variant_rows + 1] = variant_row(externs, op, v, ("&lathe_ops[%d]"):format(i - 1),
        ("&lathe_backends[%d]"):format(backend_index[v.backend]))
    end
  end
  return table.concat {
    "/* Generated by lathe-gen from specs/; do not edit. The dispatch table: see dispatch.h. */\n",
    "#include <math.h>\n\n#include \"bench.h\"\n\n",
    "const lathe_backend lathe_backends[] = {\n", aligned(backend_rows), "};\n",
    "const size_t lathe_backend_count = sizeof lathe_backends / sizeof *lathe_backends;\n\n",
    table.concat(out, "\n"), "\n",
    "const lathe_op lathe_ops[] = {\n", table.concat(op_rows), "};\n",
    "const size_t lathe_op_count = sizeof lathe_ops / sizeof *lathe_ops;\n\n",
    table.concat(externs),
    "\n", columns,
    "const lathe_variant lathe_variants[] = {\n", aligned(variant_rows), "};\n",
    "const size_t lathe_variant_count = sizeof lathe_variants / sizeof *lathe_variants;\n\n",
    "const lathe_span lathe_spans[][LATHE_DTYPES] = {\n", table.concat(span_rows), "};\n\n",
    "const lathe_made lathe_variants_made[][LATHE_MADE_OF] = {\n", table.concat(made), "};\n",
  }
end

-- What tells the variants of an op and type from others, by their names: FNV-1a, as lathe_tuning_mark has it.
local function mark_of(op, dtype)
  local mark = 2166136261
  for _, v in ipairs(op.planned) do
    for _, byte in ipairs(v.dtype == dtype and { (v.name .. "\0"):byte(1, -1) } or {}) do
      mark = (mark ~ byte) * 16777619 & 0xffffffff
    end
  end
  return mark
end

-- The rows of those of an op's variants that are built for one kind of devices, and a lathe_kernels for each of their
-- types: for programs that are linked with the library.
function dispatch.kernels(op, kind)
  local arrays, externs, backend_at, backend_rows, of_types, by_type = {}, {}, {}, {}, {}, {}
  for _, v in ipairs(op.planned) do
    if v.backend.kind == kind and not v.disabled then
      if not backend_at[v.backend] then
        backend_rows[#backend_rows + 1] = backend_row(v.backend)
        backend_at[v.backend] = ("&backends[%d]"):format(#backend_rows - 1)
      end
      if not by_type[v.dtype] then
        by_type[v.dtype] = { dtype = v.dtype, kernels = ("lathe_%s_%s_%s"):format(op.name, v.dtype, kind), rows = {} }
        of_types[#of_types + 1] = by_type[v.dtype]
      end
      table.insert(by_type[v.dtype].rows, variant_row(externs, op, v, "&op", backend_at[v.backend]))
    end
  end
  local forward = op.forward and ("&(const lathe_op){ .name = %s }"):format(text.c_string(op.forward.name))
  local fields, rows = op_fields(arrays, op, forward), {}
  for _, t in ipairs(of_types) do
    rows[#rows + 1] = ("\nstatic const lathe_variant %s_rows[] = {\n%s};\n\n"):format(t.kernels, aligned(t.rows))
    rows[#rows + 1] = ("const lathe_kernels %s = { &op, LATHE_%s, LATHE_%s, %d, %s_rows, %s, 0x%08x };\n"):format(
      t.kernels, t.dtype:upper(), kind:upper(), #t.rows, t.kernels, number(op.ulp[t.dtype]), mark_of(op, t.dtype))
  end
  return table.concat {
    table.concat(externs), "\n", table.concat(arrays, "\n"),
    "\nstatic const lathe_op op = {\n", (fields:gsub("%f[^\n%z]    ", "  ")), "};\n",
    "\nstatic const lathe_backend backends[] = {\n", aligned(backend_rows), "};\n\n", columns,
    (table.concat(rows):gsub("^\n", "")),
  }
end

-- The list of these of all ops: all_kernels.c. names: of the lathe_kernels, sorted by the ops' names.
function dispatch.all_kernels(names)
  return table.concat {
    "/* Generated by lathe-gen from specs/; do not edit. All kernels that the library has: see plan.h. */\n",
    "#include \"plan.h\"\n\n",
    table.concat(text.map(names, function(name)
      return ("extern const lathe_kernels %s;\n"):format(name)
    end)),
    "\nconst lathe_kernels *const lathe_all_kernels[] = {\n",
    table.concat(text.map(names, function(name)
      return ("  &%s,\n"):format(name)
    end)),
    "  NULL,\n};\nconst size_t lathe_all_kernels_count = sizeof lathe_all_kernels / sizeof *lathe_all_kernels - 1;\n",
  }
end

return dispatch
