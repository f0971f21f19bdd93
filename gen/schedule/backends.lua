-- Reads the folders of templates/: which backends there are, what their templates take, and how their kernels are
-- scheduled. What stands there is Lua, in files beside the templates.

local instruction_sets = require "instruction_sets"
local text = require "text"

local backends = {}

-- What such a file gives. It knows plain Lua, the rows of instruction_sets.lua, and by use "../gpu/other.lua" other
-- such files.
local function beside(reader, path)
  local source = reader.read(path) or text.fail(path, "expected a description of the templates beside it")
  local known = {
    pairs = text.sorted_pairs, ipairs = ipairs, assert = assert, math = math, string = string, table = table,
    setmetatable = setmetatable, instruction_sets = instruction_sets.rows,
    use = function(other)
      return beside(reader, text.sibling(path, other))
    end,
  }
  local chunk, problem = load(source, "@" .. path, "t", known)
  if not chunk then
    error(text.problem(problem), 0)
  end
  return chunk()
end

-- Refuses the name of an extension that backend.lua does not have: that would disable nothing.
local function check_tried(backend, extension)
  local tried = backend.tried_extensions or {}
  for _, name in ipairs(tried) do
    if name == extension then
      return
    end
  end
  text.refuse("--disabled: unknown extension '%s' of backend '%s'%s; expected %s", extension, backend.name,
    text.did_you_mean(extension, tried), text.one_of(tried))
end

-- The parameters of a sequence's variants: of all templates that do a run of it; one that several have, with the values
-- that any of them has.
local function parameters_of_sequence(templates)
  local list, known = {}, {}
  for _, template in ipairs { "contract", "stream", "nest" } do
    for _, parameter in ipairs(templates[template]) do
      local made = known[parameter[1]]
        or setmetatable({ names = parameter.names and {}, short = {} }, { __index = parameter })
      list[#list + 1] = not known[parameter[1]] and made or nil
      known[parameter[1]] = made
      for _, name in ipairs(parameter.names or {}) do
        made.names[#made.names + 1] = not text.contains(made.names, name) and name or nil
        made.short[name] = parameter.short[name] or made.short[name]
      end
      made.short = parameter.range and parameter.short or made.short
    end
  end
  return list
end

-- Every backend that the folders of templates/ describe, in order of preference:
-- { name, group, kind, lowering, language, extension, features, templates, apart, constraint, schedule, defaults,
-- enabled, disabled, lacking, elsewhere }. apart: whether a spec must name it, for it has few templates, and its group
-- and kind do not stand for it. enabled: a set of names, or nil for all. reasons: why some are off, by name, or by
-- name:extension where a backend's compiler lacks one of its extensions; lacking is the reason by extension.
-- elsewhere: whether other processors than `processor` ("any": all of them) have it, so that specs may name it and no
-- variants come of that.
function backends.read(reader, enabled, reasons, processor)
  local rows, known = {}, {}
  local languages, message = reader.list("templates", "/")
  if not languages then
    text.fail("templates", "%s; expected a folder of templates", message)
  end
  for _, language in ipairs(languages) do
    local description = beside(reader, "templates/" .. language .. "/backend.lua")
    if description.templates and description.templates.stream then
      description.templates.sequence = parameters_of_sequence(description.templates)
      description.implementations.sequence = { template = "sequence" }
    end
    for _, backend in ipairs(description.backends) do
      local row = setmetatable({ language = language }, { __index = description })
      row.name, row.features, row.group = backend.name, backend.features, backend.group
      if backend.templates then
        row.templates, row.apart = {}, true
        for _, template in ipairs(backend.templates) do
          row.templates[template] = description.templates[template]
        end
      end
      row.processor = backend.processor or "any"
      row.elsewhere = row.processor ~= "any" and processor ~= "any" and row.processor ~= processor
      row.disabled = reasons[row.name] or enabled and not enabled[row.name] and "not asked for" or nil
      row.lacking = {}
      for name, reason in text.sorted_pairs(reasons) do
        local whose, extension = name:match "^(.-):(.*)$"
        if whose == row.name then
          check_tried(row, extension)
          row.lacking[extension] = reason
        end
      end
      rows[#rows + 1] = row
      known[row.name] = true
    end
  end
  for option, named in text.sorted_pairs { ["--backend"] = enabled or {}, ["--disabled"] = reasons } do
    for name in text.sorted_pairs(named) do
      if not known[name:match "^[^:]*"] then
        text.refuse("%s: unknown backend '%s'; expected %s", option, name, text.one_of(text.map(rows, function(b)
          return b.name
        end)))
      end
    end
  end
  return rows
end

return backends
