-- A definition file for LuaLS, by which an editor completes a spec: the keys, the tuning parameters of every
-- template and backend, and the vocabulary of a spec's functions.

local keys = require "keys"
local text = require "text"
local types = require "types"
local vocabulary = require "vocabulary"

local definitions = {}

local function quoted(names)
  return table.concat(text.map(names, function(name)
    return type(name) == "string" and '"' .. name .. '"' or tostring(name)
  end), " | ")
end

-- "map on cuda: 32 to 1024 (256)": which values a template's parameter has for a kind of backends, and the default.
local function values_of(parameter, template, kind)
  local range = parameter.range
  return string.format("%s on %s: %s (%s)", template, kind, range and range[1] .. " to " .. range[2]
    or table.concat(text.map(parameter.names, tostring), ", "), parameter.default)
end

-- The fields of a variant's row: what all have, and every parameter with the values that it may have.
local function variant_fields(backends)
  local values, luals_types, kinds, groups, names = {}, {}, {}, {}, {}
  for _, backend in ipairs(backends) do
    names[#names + 1] = backend.name
    if backend.group then
      groups[backend.group] = true
    end
    if not kinds[backend.kind] then
      kinds[backend.kind] = true
      for template, parameters in text.sorted_pairs(backend.templates) do
        for _, parameter in ipairs(parameters) do
          local name = parameter[1]
          values[name], luals_types[name] = values[name] or {}, luals_types[name] or {}
          table.insert(values[name], values_of(parameter, template, backend.kind))
          luals_types[name][parameter.range and "integer" or quoted(parameter.names)] = true
        end
      end
    end
  end
  for _, several in ipairs { kinds, groups } do
    for name in text.sorted_pairs(several) do
      names[#names + 1] = not text.contains(names, name) and name or nil
    end
  end
  local lines = {
    "---@alias lathe.backend " .. quoted(names), "---@class lathe.prefer",
    "---@field from? number Bytes of all operands.", "---@field to? number",
    "---@field width? integer Of each axis within products, at most.",
    "---@field multiple? integer", "---@class lathe.variant",
    "---@field backend lathe.backend|lathe.backend[] Which instruction sets or devices the row is for.",
    "---@field implementation? string|string[] Another way to compute it than by the op's own template.",
    "---@field dtypes? lathe.dtype|lathe.dtype[] Which of the op's precisions it is for; all where it does not say.",
    "---@field prefer? lathe.prefer|lathe.prefer[] For which sizes dispatch takes it first.",
  }
  for name, list in text.sorted_pairs(values) do
    local luals = table.concat(text.sorted_keys(luals_types[name]), " | ")
    lines[#lines + 1] = string.format("---@field %s? %s|(%s)[] %s", name, luals, luals, table.concat(list, "; "))
  end
  return lines
end

-- The text of the file. backends: from backends.lua.
function definitions.write(backends)
  local out = {
    "---@meta", "-- Made by `lathe-gen definitions`: what a spec may say, for editors.", "",
    "---@alias lathe.dtype " .. quoted(types.of_variants),
    "---@class lathe.operand : string[]", "---@field range? number[]", "---@field index? string",
    "---@field dtype? string",
    "---@class lathe.size : { [string]: integer, [1]: string }", "---@class lathe.value",
    "---@operator add(lathe.value|number): lathe.value", "---@operator sub(lathe.value|number): lathe.value",
    "---@operator mul(lathe.value|number): lathe.value", "---@operator div(lathe.value|number): lathe.value",
    "---@operator unm: lathe.value", "",
  }
  local fields = variant_fields(backends)
  table.move(fields, 1, #fields, #out + 1, out)
  local function field(row, is_optional)
    local luals = row.luals or row[2]
    out[#out + 1] = string.format("---@field %s%s %s %s", row[1], is_optional and "?" or "", luals, row.doc)
  end
  out[#out + 1] = "\n---@class lathe.op"
  for _, row in ipairs(keys.rows) do
    field(row, row.optional)
  end
  out[#out + 1] = "\n---@class lathe.backward\n---@field reads? string[] Outputs of the op that its gradient reads."
  for _, row in ipairs(keys.rows) do
    if text.contains(keys.of_backward, row[1]) then
      field(row, true)
    end
  end
  out[#out + 1] = "\n---@param name string\n---@return fun(keys: lathe.op)\nfunction op(name) end\n"
  out[#out + 1] = "---A file inside specs/; returns what it returns.\n---@param path string\n"
    .. "function include(path) end\n"
  for name in text.sorted_pairs(vocabulary) do
    out[#out + 1] = "---@param ... lathe.value|number\n---@return lathe.value\nfunction " .. name .. "(...) end\n"
  end
  return table.concat(out, "\n")
end

return definitions
