-- Decides which variants there are: multiplies out each row of an op's tuning parameters over its
-- precisions and backends, and checks the rows against what the templates accept. The one place
-- that makes a variant's name; nothing parses it.

local defaults = require "defaults"
local preferences = require "preferences"
local text = require "text"
local types = require "types"

local variants = {}

local function as_list(value)
  return type(value) == "table" and value or { value }
end

-- The letters that a parameter's value adds to a name.
local function short_name(parameter, value)
  if type(parameter.short) == "table" then
    return parameter.short[value] and "_" .. parameter.short[value] or ""
  end
  return "_" .. parameter.short .. value
end

local function check_value(where, backend, parameter, value)
  local name, range = parameter[1], parameter.range
  if range then
    if math.type(value) ~= "integer" or value < range[1] or value > range[2] then
      text.fail(where, "%s: expected a whole number from %d to %d for '%s', found %s", backend.name, range[1], range[2],
        name, text.show(value))
    end
    return
  end
  for _, allowed in ipairs(parameter.names) do
    if value == allowed then
      return
    end
  end
  text.fail(where, "%s: expected %s for '%s', found %s%s", backend.name, text.one_of(parameter.names), name,
    text.show(value), text.did_you_mean(value, parameter.names))
end

local most_combinations, most_variants = 1000, 10000 -- of a row, and of an op for a backend

-- Every combination of a row's values for one backend, each a table by parameter name. is_default: whether those that
-- the op cannot have are left out, not refused.
local function combinations(where, op, way, row, dtypes, is_default)
  local sets, backend, parameters = { {} }, way.backend, way.parameters
  for _, parameter in ipairs(parameters) do
    local name = parameter[1]
    local given = way.sets[name] == nil and row[name] or way.sets[name]
    local values = as_list(given == nil and parameter.default or given)
    if #values == 0 then
      text.fail(where, "variants: expected at least one value for '%s'", name)
    elseif #sets * #values > most_combinations then
      text.fail(where, "variants: expected lists that multiply out to at most %d variants for '%s', found more",
        most_combinations, backend.name)
    end
    local more = {}
    for _, set in ipairs(sets) do
      for _, value in ipairs(values) do
        check_value(where, backend, parameter, value)
        local copy = { [name] = value }
        for k, v in pairs(set) do
          copy[k] = v
        end
        more[#more + 1] = copy
      end
    end
    sets = more
  end
  local possible = {}
  for _, set in ipairs(sets) do
    local is_known = backend.templates[way.template] and backend.constraint
    local reason = is_known and backend.constraint(set, backend.name, op, dtypes)
    if reason and not is_default then
      text.fail(where, "variants: %s", reason)
    end
    possible[#possible + 1] = not reason and set or nil
  end
  return possible
end

-- The backends a row names, by name, group or kind, in the order of preference, of which -NAME leaves one out; and
-- those of them that the processor has.
local function backends_of(where, op, backends, row)
  local is_wanted = {}
  local names = text.map(backends, function(backend)
    return backend.name
  end)
  if row.backend == nil then
    text.fail(where, "variants: expected backend = %s", text.one_of(names))
  end
  for _, word in ipairs(as_list(row.backend)) do
    local found, excluded, name = false, tostring(word):match "^(%-?)(.*)$"
    for _, backend in ipairs(backends) do
      if excluded == "-" and backend.name == name then
        found = true
        is_wanted[backend] = nil
      elseif backend.name == word or not backend.apart and (backend.group == word or backend.kind == word) then
        found = true
        if not backend.templates[op.template] and not op.lacking and not row.implementation then
          text.fail(where, "variants: backend '%s' has no template '%s'", backend.name, op.template)
        end
        is_wanted[backend] = true
      end
    end
    if not found then
      text.fail(where, "variants: unknown backend %s%s; expected %s", text.show(word),
        text.did_you_mean(name, names), text.one_of(names))
    end
  end
  local wanted, here = {}, {}
  for _, backend in ipairs(backends) do
    wanted[#wanted + 1] = is_wanted[backend] and backend or nil
    here[#here + 1] = is_wanted[backend] and not backend.elsewhere and backend or nil
  end
  return wanted, here
end

-- The ways in which a row computes the op: { backend, name, template, parameters, sets, steps }, by a template with
-- those parameters, of which some are set; name: of the implementation, nil for the op's own template; steps: what
-- steps.make is to do otherwise than for contractions.
local function ways_of(where, op, backends, row, number)
  local ways = {}
  for _, backend in ipairs(backends) do
    local known = backend.implementations or {}
    for _, name in ipairs(as_list(row.implementation or false)) do
      if name and not known[name] then
        text.fail(where, "variants[%d]: unknown implementation %s of backend '%s'%s; expected %s", number,
          text.show(name), backend.name, text.did_you_mean(name, text.sorted_keys(known)),
          next(known) and text.one_of(text.sorted_keys(known)) or "none")
      end
      local template = name and known[name].template or op.template
      ways[#ways + 1] = {
        backend = backend, name = name or nil, template = template, parameters = backend.templates[template] or {},
        sets = name and known[name].sets or {}, steps = name and known[name].steps,
      }
    end
  end
  return ways
end

-- The op's precisions that a row is for: all of them where it does not say. Others that it names are passed over, so
-- that ops of fewer precisions can share lists of rows.
local function dtypes_of(where, op, row, number)
  if row.dtypes == nil then
    return op.dtypes
  end
  local wanted = as_list(row.dtypes)
  text.expect_list(where, string.format("variants[%d].dtypes", number), wanted)
  if #wanted == 0 then
    text.fail(where, "variants[%d]: expected at least one of %s for 'dtypes'", number, text.one_of(op.dtypes))
  end
  local here = {}
  for _, dtype in ipairs(wanted) do
    types.expect_precision(where, string.format("variants[%d]", number), dtype)
    here[#here + 1] = text.contains(op.dtypes, dtype) and dtype or nil
  end
  return here
end

-- The names of the parameters that a way leaves to a row.
local function parameter_names(way)
  local names = {}
  for _, parameter in ipairs(way.parameters) do
    names[#names + 1] = way.sets[parameter[1]] == nil and parameter[1] or nil
  end
  return names
end

local keys_of_rows = { "backend", "implementation", "prefer", "dtypes" } -- besides parameters

-- Whether a parameter is one of another template than a row's, so that the row is one for ops of another kind.
local function is_of_another_template(ways, key)
  for _, way in ipairs(ways) do
    for _, parameters in pairs(way.backend.templates) do
      for _, parameter in ipairs(parameters) do
        if parameter[1] == key then
          return true
        end
      end
    end
  end
  return false
end

-- Refuses a parameter that none of a row's ways has, and says which they have.
local function refuse_parameter(where, op, ways, key, number)
  local known, lists = { table.unpack(keys_of_rows) }, {}
  for _, way in ipairs(ways) do
    local names = parameter_names(way)
    table.move(names, 1, #names, #known + 1, known)
    local list = #names > 0 and text.one_of(names) or "none"
    lists[#lists + 1] = { way.backend.name, list }
  end
  -- Backends of one language have the same ones.
  local said = {}
  for i, list in ipairs(lists) do
    if i > 1 and lists[i - 1][2] == list[2] then
      said[#said] = { said[#said][1] .. ", " .. list[1], list[2] }
    else
      said[#said + 1] = list
    end
  end
  local more = op.says_alone and string.format("; variants of '%s' alone stand in backward = { %s = { variants = "
    .. "... } }", op.name, op.says_alone) or ""
  if is_of_another_template(ways, key) then
    more = more .. "; " .. defaults.described(op, text.map(ways, function(way)
      return way.backend
    end))
  end
  text.fail(where, "variants[%d]: unknown parameter %s%s; the template %s has %s%s", number, text.show(key),
    text.did_you_mean(key, known), ways[1].template, table.concat(text.map(said, function(list)
      return "for " .. list[1] .. " " .. list[2]
    end), ", "), more)
end

local function check_row(where, op, ways, row, number)
  if type(row) ~= "table" then
    text.fail(where, "variants[%d]: expected a table of tuning parameters or \"default\", found %s", number,
      text.show(row))
  end
  local known = {}
  for _, key in ipairs(keys_of_rows) do
    known[key] = true
  end
  for _, way in ipairs(ways) do
    for _, name in ipairs(parameter_names(way)) do
      known[name] = true
    end
  end
  for key in text.sorted_pairs(row) do
    if not known[key] then
      refuse_parameter(where, op, ways, key, number)
    end
  end
  return preferences.of(where, op, row.prefer, number)
end

-- What parameters with these values need: of the compiler, "needs", extensions; or of a device, "features".
local function needs_of(parameters, params, key)
  local needs = {}
  for _, parameter in ipairs(parameters) do
    local more = parameter[key] and parameter[key][params[parameter[1]]] or {}
    table.move(more, 1, #more, #needs + 1, needs)
  end
  return needs
end

-- The variants of an op: by dtype, then by preference.
--   { name, op, dtype, backend, implementation, template, params, params_text, params_need, features, needs, digits,
--     prefer, where, disabled }
-- prefer: the calls that it is for: preferences.lua.
-- template: what computes it, the op's own but for some implementations.
-- features: what its types and parameters need of a device besides what the backend does; needs: the extensions that
-- the compiler must know, of which params_need is for the parameters' sake.
function variants.of(op, backends)
  local where = op.where "variants"
  if #op.variants == 0 then
    text.fail(where, "variants: expected at least one row such as { backend = \"scalar\" }, found none")
  end
  local by_backend, taken = {}, {}
  for _, variant in ipairs(op.variants) do
    local row, number, wanted, here = variant.row, variant.number, {}, {}
    if type(row) == "table" then
      wanted, here = backends_of(where, op, backends, row)
    end
    local prefer = check_row(where, op, ways_of(where, op, wanted, row, number), row, number)
    local dtypes = dtypes_of(where, op, row, number)
    for _, way in ipairs(#dtypes > 0 and ways_of(where, op, here, row, number) or {}) do
      local backend, parameters = way.backend, way.parameters
      local rows = by_backend[backend] or {}
      by_backend[backend] = rows
      for _, params in ipairs(combinations(where, op, way, row, dtypes, variant.default)) do
        local how, described = backend.name .. (way.name and "_" .. way.name or ""), {}
        for _, parameter in ipairs(parameters) do
          how = how .. short_name(parameter, params[parameter[1]])
          described[#described + 1] = parameter[1] .. "=" .. tostring(params[parameter[1]])
        end
        local made_here = {} -- the precisions in which no row before has made one of this name
        for _, dtype in ipairs(dtypes) do
          local made = dtype .. "__" .. how
          if taken[made] and not variant.default then
            text.fail(where, "variants[%d]: '%s' is made by variants[%d] already; expected other parameters",
              number, how, taken[made])
          end
          made_here[#made_here + 1] = not taken[made] and dtype or nil
          taken[made] = taken[made] or number
        end
        if #rows == most_variants then
          text.fail(where, "variants[%d]: expected at most %d variants for '%s', found more", number, most_variants,
            backend.name)
        end
        rows[#rows + 1] = {
          how = how, op = op, backend = backend, implementation = way.name, template = way.template,
          steps = way.steps, dtypes = made_here, params = params,
          params_text = table.concat(described, " "), params_need = needs_of(parameters, params, "needs"),
          params_features = needs_of(parameters, params, "features"),
          where = where, prefer = prefer,
        }
      end
    end
  end
  local list = {}
  for _, dtype in ipairs(op.dtypes) do
    local made = #list
    for _, backend in ipairs(backends) do
      for _, row in ipairs(by_backend[backend] or {}) do
        if text.contains(row.dtypes, dtype) then
          local features, extensions = types.needs(types.in_memory(op, dtype), backend.kind)
          local products = row.params.products
          local variant = {
            digits = types.products[products] or 0, narrowed = products == "narrow" and types[dtype].digits or 0,
            by_name = not types.may_round(op.products, products),
            dtype = dtype, name = op.name .. "_" .. dtype .. "__" .. row.how, features = { table.unpack(features) },
            needs = { table.unpack(extensions) },
            disabled = not backend.templates[row.template] and op.lacking or backend.disabled,
          }
          table.move(row.params_need, 1, #row.params_need, #variant.needs + 1, variant.needs)
          table.move(row.params_features, 1, #row.params_features, #variant.features + 1, variant.features)
          for _, extension in ipairs(variant.needs) do
            variant.disabled = variant.disabled or backend.lacking[extension]
          end
          list[#list + 1] = setmetatable(variant, { __index = row })
        end
      end
    end
    if #list == made then
      text.fail(where, "variants: expected at least one row for '%s', found none", dtype)
    end
  end
  return list
end

return variants
