-- Which source files hold the kernels of an op, and what each is made of. The one place that makes the name of a file;
-- nothing parses it.

local text = require "text"

local sources = {}

-- The C names of an op's references: in double, f64; and where variants of f64 are wanted, which is double itself, in
-- long double, wide.
function sources.references(op)
  local names = { f64 = op.name .. "_reference_f64" }
  for _, v in ipairs(op.planned) do
    names.wide = names.wide or v.dtype == "f64" and not v.left_out and op.name .. "_reference_wide" or nil
  end
  return names
end

-- The parts of a sequence's runs.
local function runs_of(part, op)
  local list = {}
  if not op.sequence then
    text.fail(op.where "variants", "variants: %s: expected products among other reductions for this implementation, "
      .. "found %s", op.name, op.kind_says)
  end
  for i, run in ipairs(op.sequence.runs) do
    list[i] = {
      stem = part.stem .. "_run" .. i, dtype = part.dtype, backend = part.backend, template = run.template,
      needs = part.needs, implementation = part.implementation, narrows = part.narrows, run = i, variants = {},
    }
  end
  return list
end

-- Gives a part a variant, and its runs one each of the same parameters.
local function add_variant(part, variant)
  table.insert(part.variants, variant)
  variant.part = part
  for i, run in ipairs(part.runs or {}) do
    table.insert(run.variants, setmetatable({
      name = variant.name .. "_run" .. i, template = run.template, part = run,
    }, { __index = variant }))
  end
end

-- The source files of an op, each path below the output folder:
--   { path, backend, parts }               kernels for the CPU, in all precisions
--   { path, backend, parts, image }        device code of one part, of which the build makes an image
--   { path, backend, parts, host = true, packed, images }  what carries the images of all parts, packed, and says how
--                                          they are launched; images: the parts that have one each
--   { path, reference = true }
-- What the build makes of it is at made. A part is what a template is expanded for: { stem, dtype, backend, template,
-- needs, variants, image, nth }, nth of a file's images; one for each precision, enabled backend and implementation,
-- or for a variant whose parameters need an extension where a backend has these apart; and of products one that
-- `narrows` what is only a product's factor to the op's type (types.of_temporary): streams have no such factors in
-- memory. A sequence has its part, with `runs`, and one for each of these, with `run`, its number, and variants
-- { name, ... } like the sequence's. An op that is left out has no files.
function sources.of(op)
  local files, hosts, parts, by_path = {}, {}, {}, {}
  if op.left_out then
    return files
  end
  local function add(list, part, file)
    if not by_path[file.path] then
      by_path[file.path] = file
      file.backend, file.parts = part.backend, {}
      list[#list + 1] = file
    end
    table.insert(by_path[file.path].parts, part)
    return by_path[file.path]
  end
  -- A part of an op, in files of their own or, for the CPU, in one with those of other precisions.
  local function add_part(part, path)
    local backend = part.backend
    local all = op.name .. "/" .. op.name .. "__" .. backend.name .. "_host"
    local is_sequence = part.template == "sequence"
    local devices = is_sequence and runs_of(part, op) or { part }
    part.runs = is_sequence and devices or nil
    if backend.kind == "cpu" then
      for _, run in ipairs(part.runs or {}) do
        add(files, run, { path = path .. backend.extension })
      end
      add(files, part, { path = path .. backend.extension })
      return
    end
    local host = add(hosts, part, { path = all .. ".c", host = true, packed = all .. ".images.xz", images = {} })
    for _, device in ipairs(devices) do
      device.image, device.nth = op.name .. "/" .. device.stem .. ".image", #host.images
      add(files, device, { path = op.name .. "/" .. device.stem .. backend.extension, image = device.image })
      host.images[device.nth + 1] = device
    end
  end
  for _, variant in ipairs(op.planned) do
    local backend = variant.backend
    if not variant.disabled then
      local alone = backend.needs_apart and #variant.params_need > 0
      local of = "__" .. backend.name .. (variant.implementation and "_" .. variant.implementation or "")
      local is_streamed = variant.template == "stream" or op.sequence and op.sequence.of_streams
      local narrows = not is_streamed and variant.params.products == "narrow"
      local stem = alone and variant.name or op.name .. "_" .. variant.dtype .. of .. (narrows and "_narrow" or "")
      if not parts[stem] then
        parts[stem] = {
          stem = stem, dtype = variant.dtype, backend = backend, template = variant.template, needs = variant.needs,
          implementation = variant.implementation, steps = variant.steps, variants = {},
          narrows = narrows and "factors" or backend.keeps_exact and "exact" or nil,
        }
        add_part(parts[stem], op.name .. "/" .. op.name .. of)
      end
      add_variant(parts[stem], variant)
    end
  end
  table.move(hosts, 1, #hosts, #files + 1, files)
  files[#files + 1] = { path = op.name .. "/" .. op.name .. "_reference.c", reference = true }
  for _, file in ipairs(files) do
    file.made = file.path:gsub("%.%w+$", file.image and ".image" or ".o")
  end
  return files
end

return sources
