-- Which source files hold the kernels of an op, and what each is made of. The one place that makes the name of a file;
-- nothing parses it.

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

-- The source files of an op, each path below the output folder:
--   { path, backend, parts }               kernels for the CPU, in all precisions
--   { path, backend, parts, image }        device code of one part, of which the build makes an image
--   { path, backend, parts, host = true, packed }  what carries the images of all parts, packed, and says how they
--                                          are launched
--   { path, reference = true }
-- What the build makes of it is at made. A part is what a template is expanded for: { stem, dtype, backend, template,
-- needs, variants, image }, one for each precision, enabled backend and implementation, or for a variant whose
-- parameters need an extension where a backend has these apart. An op that is left out has no files.
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
  end
  for _, variant in ipairs(op.planned) do
    local backend = variant.backend
    if not variant.disabled then
      local alone = backend.needs_apart and #variant.params_need > 0
      local of = "__" .. backend.name .. (variant.implementation and "_" .. variant.implementation or "")
      local stem = alone and variant.name or op.name .. "_" .. variant.dtype .. of
      if not parts[stem] then
        local part = {
          stem = stem, dtype = variant.dtype, backend = backend, template = variant.template, needs = variant.needs,
          implementation = variant.implementation, steps = variant.steps, variants = {},
        }
        local own, all = op.name .. "/" .. stem, op.name .. "/" .. op.name .. "__" .. backend.name
        if backend.kind == "cpu" then
          add(files, part, { path = op.name .. "/" .. op.name .. of .. backend.extension })
        else
          part.image = own .. ".image"
          add(files, part, { path = own .. backend.extension, image = part.image })
          add(hosts, part, { path = all .. "_host.c", host = true, packed = all .. "_host.images.xz" })
        end
        parts[stem] = part
      end
      table.insert(parts[stem].variants, variant)
      variant.part = parts[stem]
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
