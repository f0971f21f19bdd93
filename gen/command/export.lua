-- Files that another program can take: OP.h, OP.c with the kernels of all instruction sets and what they include, and
-- OP_test.c with the reference; of a GPU's kernels OP_cuda.h and so on, with the images that the build has made of
-- them. Templates are poured as for the build, and put together in templates/*/export*.

local device_code = require "device_code"
local headers = require "headers"
local instruction_sets = require "instruction_sets"
local interface = require "interface"
local preferences = require "preferences"
local raw = require "raw"
local sources = require "sources"
local text = require "text"

local export = {}

local no_calls = interface.prefer(preferences.none) -- of the last row of a table, which is none

-- ---- which kernels -------------------------------------------------------------------------------------

-- Whether all calls that one variant is for are calls for another.
local function is_for_all(other, v)
  for _, calls in ipairs(v.prefer) do
    local any = false
    for _, p in ipairs(other.prefer) do
      any = any or p.from <= calls.from and p.to >= calls.to and p.dims == 0
    end
    if not any then
      return false
    end
  end
  return true
end

-- Whether dispatch never takes a variant: another of its backend comes before it for all sizes that it is for.
local function is_hidden(v, kept)
  for _, other in ipairs(kept) do
    if is_for_all(other, v) and other.dtype == v.dtype and other.backend == v.backend
      and #other.params_features == 0 and not (other.launching and other.launching.fits) then
      return true
    end
  end
  return v.by_name
end

-- Refuses an op that has no variant for a kind.
function export.check(op, kind, matches)
  if #op.by_kind[kind] == 0 then
    text.refuse("export: '%s' has no kernel %s %s", op.name, kind == "cpu" and "in C" or "for " .. kind,
      matches and "of --variants" or "for these precisions and backends")
  end
end

-- Plans an op's files for some kinds of devices. Of variants in C those are kept that dispatch may take, or that a list
-- of names and globs names: matches(name). Of those for GPUs all are, for an image has the kernels of all. What is
-- returned says which of them files have, when a variant's launches are known.
function export.choose(op, kinds, matches)
  local kept, by_kind = {}, {}
  for _, kind in ipairs(kinds) do
    by_kind[kind] = {}
  end
  local function keep(v)
    local list = by_kind[v.backend.kind]
    local has_extension = v.backend.kind == "vulkan" and #v.params_need > 0 -- files for it know of none
    local is_wanted = not has_extension and (matches and matches(v.name) or not matches and not is_hidden(v, list))
    list[#list + 1] = is_wanted and v or nil
    return is_wanted
  end
  for _, v in ipairs(op.planned) do
    local is_able = by_kind[v.backend.kind] and not v.backend.apart and not v.disabled
    kept[#kept + 1] = is_able and (v.backend.kind ~= "cpu" or keep(v)) and v or nil
  end
  op.planned, op.by_kind = kept, by_kind
  if by_kind.cpu then
    export.check(op, "cpu", matches)
  end
  return keep
end


-- The source files of an op with these variants, by their paths in a table: of the references those that its precisions
-- are held against.
function export.begin(op, by_path)
  local wanted, all = {}, sources.references(op)
  for _, v in ipairs(op.planned) do
    local name = v.dtype == "f64" and "wide" or "f64"
    wanted[name] = all[name]
  end
  for _, file in ipairs(op.sources) do
    by_path[file.path] = file
    file.references = file.reference and wanted or nil
  end
end

-- ---- files -------------------------------------------------------------------------------------------

local processors = { x86_64 = "defined __x86_64__", aarch64 = "defined __aarch64__" }

-- What a text has below its first comment.
local function below_comment(source)
  return (source:gsub("^/%*.-%*/\n", ""):gsub("^\n+", ""))
end

-- The name of something in a text that has another for each instruction set: all but what headers share.
local function own_names(source, set, shared)
  return (source:gsub("%f[%w_]([lL][aA][tT][hH][eE]_)([%w_]*)", function(begin, rest)
    return not shared[begin .. rest] and begin .. (begin == "LATHE_" and set:upper() or set) .. "_" .. rest or nil
  end))
end

-- No name in a program is the library's: each file's own begin with its op, as the file's name does. In strings are
-- names of kernels, which stay what they are. own: names of functions that are no library's.
local function finished(source, op_name, name, stem, own)
  source = source:gsub('"' .. op_name, '"\1')
  for _, begin in ipairs { "(%w+__)", "(reference_)" } do
    source = source:gsub("%f[%w_]" .. op_name .. "_" .. begin, name .. "_%1")
  end
  for called in text.sorted_pairs(own or {}) do
    source = source:gsub("%f[%w_]" .. called .. "%(", stem .. "_launch_%0")
  end
  source = source:gsub("%f[%w_]lathe_", stem .. "_"):gsub("%f[%w_]LATHE_", stem:upper() .. "_")
  return (source:gsub('"\1', '"' .. op_name):gsub("\n\n\n+", "\n\n"):gsub("^\n+", ""))
end

-- Adds to a list what is not in it.
local function list_into(list, items)
  for _, item in ipairs(items) do
    list[#list + 1] = not text.contains(list, item) and item or nil
  end
end

-- The sections of OP.c, one for each instruction set: { backend, bodies, own, system }, the texts of its kernels in
-- which includes are gone, and what they included.
local function sections_of(op, poured)
  local sections, by_backend = {}, {}
  for _, file in ipairs(op.sources) do
    if file.parts then
      local section = by_backend[file.backend]
      if not section then
        section = { backend = file.backend, bodies = {}, own = {}, system = {} }
        by_backend[file.backend], sections[#sections + 1] = section, section
      end
      local body, own, system = headers.without_includes(below_comment(poured[file]))
      table.insert(section.bodies, { text = body, implementation = file.parts[1].implementation })
      list_into(section.own, own)
      list_into(section.system, system)
    end
  end
  return sections
end

-- Fills in a section's text: what its kernels use of the headers that have another form for each instruction set, and
-- the kernels. shared: the names of what all sections share.
local function fill(section, reader, shared)
  local per_set = {}
  for _, record in ipairs(reader:all(section.own)) do
    per_set[#per_set + 1] = record.per_set and record or nil
    list_into(section.system, record.per_set and record.system or {})
  end
  local function kernels(named)
    return table.concat(text.map(section.bodies, named), "\n")
  end
  local above, known = headers.used(per_set, kernels(function(body)
    return body.text
  end))
  for name in pairs(shared) do
    known[name] = true
  end
  section.text = own_names(above .. "\n" .. kernels(function(body) -- each of several has some things of its own
    return body.implementation and own_names(body.text, body.implementation, known) or body.text
  end), section.backend.name, shared)
end

-- Its kernels, and of each function the rows of these that dispatch looks through.
local function list_kernels(section, op, functions)
  section.kernels, section.rows = {}, {}
  for _, t in ipairs(functions) do
    section.rows[t] = {}
    for _, v in ipairs(op.planned) do
      if v.backend == section.backend and v.dtype == t.dtype then
        local needs = {}
        list_into(needs, v.backend.features)
        list_into(needs, v.features)
        local row = {
          run = v.name, prefer = interface.prefer(v.prefer),
          workspace = v.backend.workspace(op, v.template) and v.name .. "_workspace",
          features = #needs == 0 and "0" or table.concat(text.map(needs, function(feature)
            return "LATHE_" .. feature
          end), " | "),
        }
        table.insert(section.rows[t], row)
        table.insert(section.kernels, row)
      end
    end
  end
end

-- The flags of a target attribute, or nil where an instruction set needs none.
local function target_of(set)
  local flags = {}
  for flag in set.flags:gmatch "%-m(%S+)" do
    flags[#flags + 1] = flag
  end
  return #flags > 0 and table.concat(flags, ",") or nil
end

-- For which processors what has no vectors is: for others alone, where every function has kernels with vectors that all
-- of the known ones can run.
local function condition_of_rest(op, functions)
  local has, others, is_spare = {}, {}, true
  for _, v in ipairs(op.planned) do
    has[v.backend.processor .. v.dtype] = #v.params_features == 0 or has[v.backend.processor .. v.dtype]
  end
  for processor, condition in text.sorted_pairs(processors) do
    others[#others + 1] = "!" .. condition
    for _, t in ipairs(functions) do
      is_spare = is_spare and has[processor .. t.dtype]
    end
  end
  return is_spare and table.concat(others, " && ") or "1 /* anywhere */"
end

-- Values of templates/c/export.c: sections; what these share; and which headers of the system they include, for all
-- processors and for each.
local function kernels_file(op, functions, poured, reader)
  local sections, shared = sections_of(op, poured), {}
  local system = { "math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h" }
  for _, section in ipairs(sections) do
    for _, record in ipairs(reader:all(section.own)) do
      list_into(shared, record.per_set and {} or { record })
    end
  end
  list_into(shared, reader:all { "call.h" })
  local _, names = headers.used(shared, "")
  for _, record in ipairs(shared) do
    list_into(system, record.system)
  end
  local all, of_processor, rest = {}, {}, condition_of_rest(op, functions)
  for i, section in ipairs(sections) do
    local backend, set = section.backend, instruction_sets[section.backend.name]
    fill(section, reader, names)
    list_kernels(section, op, functions)
    section.title, section.target = set.title, target_of(set)
    section.condition = processors[backend.processor] or rest
    of_processor[backend.processor] = of_processor[backend.processor] or {}
    list_into(backend.processor == "any" and system or of_processor[backend.processor], section.system)
    all[i] = section.text
  end
  local detect = reader:of "detect.h"
  of_processor.x86_64 = of_processor.x86_64 or {}
  list_into(of_processor.x86_64, detect.system)
  local apart = {}
  for processor, condition in text.sorted_pairs(processors) do
    local own = text.without(of_processor[processor] or {}, system)
    apart[#apart + 1] = #own > 0 and { condition = condition, system = own } or nil
  end
  return {
    sections = sections, system = system, processors = apart, x86 = processors.x86_64, no_calls = no_calls,
    detect = headers.used({ detect }, "lathe_detect"),
    common = headers.used(shared, table.concat(all, "\n")
      .. " lathe_args lathe_fn lathe_cost lathe_prefer LATHE_PREFERS lathe_prefers LATHE_SSE2"),
  }
end

-- Values of templates/c/export_test.c. device: the text of what runs calls elsewhere than on the CPU, or nil.
local function test_file(op, functions, poured, reader, device)
  local values = interface.test(op, functions)
  values.device = device or false
  for _, file in ipairs(op.sources) do
    if file.reference then
      local body, own, system = headers.without_includes(below_comment(poured[file]):gsub("REFERENCE_SETS ", ""))
      local wanted = { body, "lathe_fn LATHE_VARIANT_DTYPE reference_part" }
      for _, type in ipairs(values.used) do
        wanted[#wanted + 1] = ("lathe_from_%s lathe_to_%s"):format(type.name, type.name)
      end
      list_into(own, { "call.h", "reference.h", "half.h" })
      values.reference, values.references = body, text.sorted_keys(file.references)
      values.common = headers.used(reader:all(own), table.concat(wanted, " "))
      values.system = { "float.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h" }
      list_into(values.system, device and { "dlfcn.h" } or {})
      list_into(values.system, system)
    end
  end
  return values
end

-- ---- all of it -----------------------------------------------------------------------------------------

-- The op with what it has for one kind of devices alone.
local function of_kind(op, kind)
  local files = {}
  for _, file in ipairs(op.sources) do
    files[#files + 1] = (file.reference or file.backend.kind == kind) and file or nil
  end
  return setmetatable({ planned = op.by_kind[kind], sources = files }, { __index = op })
end

-- Folders of templates by kind of devices, and how words of an image are written.
local languages = {
  cpu = { folder = "c" },
  cuda = {
    folder = "cuda", headers = { "launch.c", "launches.c", "on_cuda.h" }, word = 8, each = 5,
    system = { "dlfcn.h", "pthread.h" },
  },
  vulkan = {
    folder = "glsl", headers = { "launch.c", "launches.c", "spirv.c", "on_vulkan.h" }, word = 4, each = 9,
    system = { "pthread.h" },
  },
}

-- The files of an op for one kind of devices. context: { engine (from template.lua), prefix,
-- poured (by source file its text), read(name) (a header, or C file of the library), image(path), images (a folder),
-- command (what makes them again), write }; for device code alone raw, where descriptions are put by kind, write_raw
-- and spirv_kernel. Returns what another file may call: { kind, op, name, functions }; nothing of device code alone.
function export.op(op, kind, context)
  local poured, language = context.poured, languages[kind]
  op = of_kind(op, kind)
  local name = context.prefix .. op.name
  local stem = name .. interface.ending(kind)
  local functions, reader = interface.functions(op, name), headers.reader(context.read)
  local own, images
  local function pour(folder, template, values)
    values.op, values.name, values.UPPER, values.types = op, stem, stem:upper(), functions
    values.doc, values.command = text.in_comment(op.doc), text.in_comment(context.command)
    values.made = "Generated by lathe-gen from " .. text.in_comment(op.file) .. "; do not edit."
    local expanded = context.engine("templates/" .. folder .. "/" .. template .. ".c", values)
    return expanded.text("", { path = template, lines = 0 })
  end
  local function write(ending, source)
    source = finished(source, op.name, name, stem, own)
    source = images and device_code.poured(source, images, language.word, language.each) or source
    context.write(stem .. ending, source)
  end
  local header = not context.raw and pour(language.folder, "export_header", {
    operands = interface.operands(op),
    rules = interface.rules(op, functions, stem .. "_test.c", false, context.found and context.found(op, functions)),
    calls = interface.calls(op, functions),
  })
  if header then
    write(".h", header)
  end
  if kind == "cpu" then
    write(".c", pour("c", "export", kernels_file(op, functions, poured, reader)))
    write("_test.c", pour("c", "export_test", test_file(op, functions, poured, reader)))
    return { kind = kind, op = op, name = name, functions = functions }
  end
  images = device_code.images(op, poured, context.images, context.image)
  if context.raw then
    context.raw[kind] = raw.kind(op, kind, images, context.spirv_kernel, context.write_raw)
    return
  end
  local rows, kernels = device_code.choices(op, functions)
  local launches
  for _, file in ipairs(op.sources) do
    launches = file.host and poured[file] or launches
  end
  local library = headers.reader(context.read, true)
  local shared, system = library:all(language.headers), { "math.h", "stdbool.h", "stddef.h", "stdint.h", "string.h" }
  for _, record in ipairs(shared) do
    list_into(system, record.system)
  end
  list_into(system, language.system)
  table.sort(system)
  local template = context.read("templates/" .. language.folder .. "/export.c")
  local common, _, helpers = headers.used(shared, launches .. template)
  own = helpers
  local file = pour(language.folder, "export", {
    common = common, launches = launches, images = images, system = system, rows = rows, kernels = kernels,
    no_calls = no_calls,
  })
  for i, image in ipairs(images) do
    image.name = stem .. "_code_" .. i - 1
  end
  write(".c", file)
  own = nil
  write("_test.c", pour("c", "export_test", test_file(op, functions, poured, reader,
    pour(language.folder, "export_test", {}))))
  return { kind = kind, op = op, name = name, functions = functions }
end

-- The description of an op's device code: calls context.write_raw(name, text).
function export.describe(op, context)
  context.write_raw(context.prefix .. op.name .. ".json",
    raw.description(op, context.raw, context.read("templates/gpu/scheme.txt"), context.command))
end

return export
