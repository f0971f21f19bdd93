-- Writes the host's side of an op's device code: the images, and the functions that say which kernels a call launches,
-- poured from launch_*.c beside the templates.

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
const lathe_image $stem_image = {.start = $host_start, .end = $host_end, .nth = $nth, .loose = $loose$next};
]]

local schedule = [[
static const char *const $name_kernels[] = {
    $kernels,
};
$storage lathe_schedule $name_schedule = {.kernels = $name_kernels, .nkernels = $count$fields};
]]

-- The fields of a record that are not 0, but for some, as an initializer after a first one has them.
local function fields(record, ...)
  local cells, left_out = {}, { ... }
  for key, value in text.sorted_pairs(record) do
    if value ~= 0 and not text.contains(left_out, key) then
      local list = type(value) == "table" and "{" .. table.concat(value, ", ") .. "}"
      cells[#cells + 1] = ", ." .. key .. " = " .. (list or tostring(value))
    end
  end
  return table.concat(cells)
end

-- The product of some dimensions, a bit each.
local function product(bits)
  local list = {}
  for d = 0, 63 do
    list[#list + 1] = bits >> d & 1 == 1 and ("dim[%d]"):format(d) or nil
  end
  return #list > 0 and table.concat(list, " * ") or "1"
end

-- A variant's functions, as the fields of its lathe_schedule, with the texts of its kernels' names.
local function pour(engine, scheduled, variant, shape, exported)
  local made, names, ways = {}, {}, {}
  local poured = engine(scheduled.launch, {
    name = variant.name, backend = variant.backend, shape = shape, part = scheduled.part, schedule = scheduled,
    fields = fields, product = product, is_tried = not exported,
    -- Adds to what launches there are, in order: { when, none } or { when, { kernel, names }... }.
    note = function(way)
      ways[#ways + 1] = way
      return way
    end,
    defines = function(field)
      made[field] = variant.name .. "_" .. field
      return made[field]
    end,
    -- The place of the first of some kernels among the variant's.
    kernels = function(...)
      local first = #names
      for _, name in ipairs { ... } do
        names[#names + 1] = name and text.c_string(name) or "NULL"
      end
      return first
    end,
  })
  return made, names, poured, ways
end

local function stem_of(host)
  return host.path:match "([%w_]+)%.c$"
end

-- The C that carries the images of all parts of a file.
function launches.images(host)
  return (images:gsub("%$(%l+)", { stem = stem_of(host), packed = host.packed }))
end

-- The C of the images of a part, the last first. is_loose(part): as in lathe_image.
function launches.images_of(part, host, is_loose)
  local made, next = {}, ""
  local devices = part.runs or { part }
  for i = #devices, 1, -1 do
    local device = devices[i]
    made[#made + 1] = image:gsub("%$(%l+)", {
      stem = device.stem, host = stem_of(host), nth = device.nth,
      loose = is_loose(device) and "1" or "0", next = next,
    })
    next = ", .next = &" .. device.stem .. "_image"
  end
  return table.concat(made)
end

-- The C of a file's parts from their schedules: begins, then what begin(part) gives and the functions of each. A
-- function that is the same as an earlier variant's is written once. exported: for another program's file, where all is
-- static: whether it has a variant, of which is noted before what it has: variant.launching = { kernels = how many,
-- workspace, fits = whether it has these functions, ways, work, shape = what launches there are }.
function launches.of(engine, schedules, host, path, begins, begin, exported)
  local lines, known, pieces, before = 0, {}, {}, begins
  local function add(part, variant, shape)
    local made, names, poured, ways = pour(engine, schedules[part], variant, shape, exported)
    variant.launching = {
      kernels = #names, workspace = made.workspace ~= nil, fits = made.fits ~= nil, ways = ways,
      work = schedules[part].work, shape = shape,
    }
    if exported and not exported(variant) then
      return
    end
    local file = { path = path, lines = lines }
    local c = poured.text(before, file)
    local key = c:sub(#before + 1):gsub("#line [^\n]*", ""):gsub(variant.name .. "%f[^%w]", "")
    if not known[key] then
      known[key], pieces[#pieces + 1], lines, before = made, c, file.lines, ""
    end
    local storage = exported and "static const"
      or ("extern const lathe_schedule %s_schedule;\nconst"):format(variant.name)
    before = before .. schedule:gsub("%$(%l+)", {
      storage = storage, name = variant.name, count = #names, kernels = table.concat(names, ",\n    "),
      fields = fields(known[key]),
    })
  end
  for _, part in ipairs(host.parts) do
    before = before .. begin(part)
    for i, variant in ipairs(part.variants) do
      add(part, variant, schedules[part].variants[i])
    end
  end
  return table.concat(pieces) .. before
end

return launches
