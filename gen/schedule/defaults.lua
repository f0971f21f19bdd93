-- The variants of an op whose spec leaves them out, or names them by "default" in its list: those of its kind. Each
-- language of templates/ has its own, in defaults.lua beside the templates.

local text = require "text"

local defaults = {}

-- The default rows of an op, of all languages that some backends are of: those of its kind, or of its template where a
-- language has none of that kind.
local function rows_of(op, backends)
  local rows, seen = {}, {}
  for _, backend in ipairs(backends) do
    local of_kinds = not seen[backend.language] and backend.defaults or {}
    local own = of_kinds[op.kind] or of_kinds[op.template] or {}
    seen[backend.language] = true
    table.move(own, 1, #own, #rows + 1, rows)
  end
  return rows
end

-- The rows { row, number, default } of a spec's list of variants, with what "default" stands for in its place; or the
-- default rows where there is no list. number: the place in the list.
function defaults.resolve(op, list, backends)
  local rows = {}
  for number, row in ipairs(list or { "default" }) do
    local is_default = row == "default"
    for _, each in ipairs(is_default and rows_of(op, backends) or { row }) do
      rows[#rows + 1] = { row = each, number = number, default = is_default }
    end
  end
  return rows
end

-- A row as a spec writes it.
local function written(value)
  if type(value) ~= "table" then
    return type(value) == "string" and '"' .. value .. '"' or tostring(math.tointeger(value) or value)
  end
  local cells = {}
  for key, field in text.sorted_pairs(value) do
    cells[#cells + 1] = (math.type(key) == "integer" and "" or key .. " = ") .. written(field)
  end
  return "{ " .. table.concat(cells, ", ") .. " }"
end

-- What an op is and its default rows, in words, for a list that does not fit it.
function defaults.described(op, backends)
  return string.format("'%s' computes %s: \"default\" stands for %s", op.name, op.kind_says,
    table.concat(text.map(rows_of(op, backends), written), ", "))
end

return defaults
