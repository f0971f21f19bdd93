-- Writes the host's side of an op's device code: the images, and as constant C data the rows that say which kernels
-- a call launches (runtime/library/launch.h).

local text = require "text"

local launches = {}

local images = [[
__asm__(".section .rodata\n"
        ".balign 16\n"
        "$stem_start:\n"
        ".incbin \"$packed\"\n"
        "$stem_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char $stem_start[], $stem_end[];
]]

local image = [[
extern const lathe_image $stem_image;
const lathe_image $stem_image = {.start = $host_start, .end = $host_end, .nth = $nth, .loose = $loose};
]]

-- The fields of C's types, in their order, with what a value is beside a number.
local work_fields = {
  "outer", "inner", "whole", "column", "by_rows", "width", "numbers", "fewest", "most", "bytes", "bytes_of_partial",
  "bytes_of_row",
}
local when_fields = {
  "modes", "above", "to", "rows_above", "rows_below", "shared", "cluster", "cluster_below", "architecture",
  "architecture_below", "parts_waves", "parts_most",
}
local kernel_fields = {
  "name", "deal", "threads", "spread", "held", "rows", "each", "waves", "most", "shared", "cluster", "resident",
  "number", "maps",
}
local map_fields = { "operand", "bytes", "extent", "box", "swizzle", "rounded" }

local mode_names = { apart = "LATHE_APART", packs = "LATHE_PACKS", full = "LATHE_FULL", ends = "LATHE_ENDS" }

-- An initializer of the fields that are not 0; texts: what those are that are no plain numbers.
local function initializer(record, fields, texts)
  local cells = {}
  for _, field in ipairs(fields) do
    local value = record[field]
    if texts and texts[field] then
      cells[#cells + 1] = texts[field]
    elseif value and value ~= 0 then
      cells[#cells + 1] = "." .. field .. " = " .. tostring(value)
    end
  end
  for key in text.sorted_pairs(record) do
    assert(text.contains(fields, key) or key == "of_part", "no field of launch.h: " .. key)
  end
  return "{" .. table.concat(cells, ", ") .. "}"
end

local function braces(list)
  return "{" .. table.concat(list, ", ") .. "}"
end

-- The texts of the fields that say which maps something has, which are an array of their own, ahead of it.
local function maps_text(out, maps, name)
  if not maps then
    return nil
  end
  out[#out + 1] = string.format("static const lathe_tensor_map %s[] = {\n%s};\n", name,
    table.concat(text.map(maps, function(map)
      return "    " .. initializer(map, map_fields, {
        operand = ".operand = " .. map.operand, extent = ".extent = " .. braces(map.extent),
        box = ".box = " .. braces(map.box),
      }) .. ",\n"
    end)))
  return string.format(".maps = %s, .nmaps = %d", name, #maps)
end

local function kernel_row(out, kernel, variant, part, name_of_maps)
  local names = {}
  for mode, ending in text.sorted_pairs(kernel.name) do
    names[#names + 1] = string.format('[%s] = "%s%s"', mode_names[mode], kernel.of_part and part.stem or variant.name,
      ending)
  end
  return initializer(kernel, kernel_fields, {
    name = ".name = {" .. table.concat(names, ", ") .. "}", deal = ".deal = LATHE_" .. kernel.deal:upper(),
    maps = maps_text(out, kernel.maps, name_of_maps),
  })
end

local function when_row(when)
  local bits = {}
  for i, mode in ipairs(when.modes) do
    bits[i] = "1 << " .. mode_names[mode]
  end
  return initializer(when, when_fields, { modes = ".modes = " .. table.concat(bits, " | ") })
end

-- The rows of a variant; lists of kernels that many rows have are written once.
local function variant_rows(out, variant, part, rows)
  local known, count, lines = {}, 0, {}
  for i, row in ipairs(rows) do
    if not known[row.kernels] then
      count = count + 1
      known[row.kernels] = variant.name .. "_kernels" .. count
      local kernels = text.map(row.kernels, function(kernel)
        return "    " .. kernel_row(out, kernel, variant, part, variant.name .. "_maps" .. count) .. ",\n"
      end)
      out[#out + 1] = string.format("static const lathe_kernel %s[] = {\n%s};\n", known[row.kernels],
        table.concat(kernels))
    end
    lines[i] = string.format("    {.when = %s, .kernels = %s, .nkernels = %d},\n", when_row(row.when),
      known[row.kernels], #row.kernels)
  end
  out[#out + 1] = string.format([[
static const lathe_row %s_rows[] = {
%s};
extern const lathe_schedule %s_schedule;
const lathe_schedule %s_schedule = {.work = &%s_work, .rows = %s_rows, .nrows = %d};

]], variant.name, table.concat(lines), variant.name, variant.name, part.stem, variant.name, #rows)
end

local cut_fields = {
  "name", "rows", "columns", "bm", "bn", "terms", "at_once", "threads", "subgroups", "side", "shared", "architecture",
  "most", "depth", "number", "left", "cluster", "of_cluster", "room", "rooms", "stays", "rate", "start", "maps",
  "extents",
}
local step_fields = { "m", "n", "k", "matrices", "beside", "rooms", "cuts" }
local extent_fields = { "of", "above", "most" }
local tiles_fields = { "m", "n", "matrices" }
local room_fields = { "of", "columns", "across", "bytes" }

-- The texts of the fields that say which rows a record has as `key`: an array of their own, ahead of it.
local function array_text(out, record, key, ctype, fields, name)
  if not record[key] then
    return nil
  end
  out[#out + 1] = string.format("static const %s %s[] = {%s};\n", ctype, name,
    table.concat(text.map(record[key], function(row)
      return initializer(row, fields)
    end), ", "))
  return string.format(".%s = %s, .n%s = %d", key, name, key, #record[key])
end

-- The steps of a variant, with the cuts of each; a cut's kernel has the part's name, then its own.
local function variant_steps(out, variant, part, scheduled)
  local steps, lines, temporaries = scheduled.steps, {}, ""
  if #scheduled.temporaries > 0 then
    out[#out + 1] = string.format("static const uint32_t %s_temporaries[] = {%s};\n", variant.name,
      table.concat(scheduled.temporaries, ", "))
    temporaries = string.format(", .temporaries = %s_temporaries, .ntemporaries = %d, .number = %d", variant.name,
      #scheduled.temporaries, scheduled.number)
  end
  for i, step in ipairs(steps) do
    local cuts = string.format("%s_step%d", variant.name, i)
    local rows = text.map(step.cuts, function(cut, c)
      return "    " .. initializer(cut, cut_fields, {
        name = string.format('.name = "%s_step%d%s"', part.stem, i, cut.name),
        of_cluster = cut.cluster and string.format('.of_cluster = "%s_step%d%s_cluster"', part.stem, i, cut.name),
        side = cut.side and ".side = " .. braces(cut.side),
        maps = maps_text(out, cut.maps, cuts .. "_maps" .. c),
        extents = array_text(out, cut, "extents", "lathe_extent", extent_fields, cuts .. "_extents" .. c),
      }) .. ",\n"
    end)
    out[#out + 1] = string.format("static const lathe_cut %s[] = {\n%s};\n", cuts, table.concat(rows))
    local function array(key, ctype, fields)
      return array_text(out, step, key, ctype, fields, string.format("%s_%s%d", variant.name, key, i))
    end
    local rooms, beside = array("rooms", "lathe_room", room_fields), array("beside", "lathe_tiles", tiles_fields)
    lines[i] = "    " .. initializer(step, step_fields, {
      beside = beside,
      cuts = string.format(".cuts = %s, .ncuts = %d", cuts, #step.cuts),
      rooms = rooms,
    }) .. ",\n"
  end
  out[#out + 1] = string.format([[
static const lathe_step %s_steps[] = {
%s};
extern const lathe_schedule %s_schedule;
const lathe_schedule %s_schedule = {.work = &%s_work, .steps = %s_steps, .nsteps = %d%s};

]], variant.name, table.concat(lines), variant.name, variant.name, part.stem, variant.name, #steps,
    temporaries)
end

local function stem_of(host)
  return host.path:match "([%w_]+)%.c$"
end

-- The C that carries the images of all parts of a file.
function launches.images(host)
  return (images:gsub("%$(%l+)", { stem = stem_of(host), packed = host.packed }))
end

-- The C of the nth part of a file with its schedule; loose: as in lathe_image.
function launches.of_part(scheduled, host, nth, loose)
  local part, out = scheduled.part, {}
  out[1] = image:gsub("%$(%l+)", {
    stem = part.stem, host = stem_of(host), nth = nth - 1, loose = loose and "1" or "0",
  })
  out[2] = string.format("static const lathe_work %s_work = %s;\n\n", part.stem,
    initializer(scheduled.work, work_fields))
  for i, variant in ipairs(part.variants) do
    local scheduled_variant = scheduled.variants[i]
    if scheduled_variant.steps then
      variant_steps(out, variant, part, scheduled_variant)
    else
      variant_rows(out, variant, part, scheduled_variant.launches)
    end
  end
  return table.concat(out)
end

return launches
