-- Passes of a stream (stream.lua) over the same products, of which one goes by rows and the other by columns, as one: a
-- language that adds to products over rows and over columns at a time has these, and computes the products once.
--
--   pass.across   { lasts, weights }: the steps of the other pass, whose terms are this one's rows, and the names of
--                 what is multiplied by their b; none in other passes
--   record.joined { passes, steps }: what such a language has in the place of the record's

local expr = require "expr"
local steps = require "steps"
local text = require "text"

local joined = {}

-- A record with other fields.
local function with(record, fields)
  local made = {}
  for _, from in ipairs { record, fields } do
    for key, value in pairs(from) do
      made[key] = value
    end
  end
  return made
end

-- Of each of a pass's products of operands the one of another pass that it is with rows and columns exchanged, or nil
-- where some has none.
local function exchanged(pass, other)
  local found = {}
  for _, first in ipairs(pass.firsts) do
    for _, step in ipairs(other.firsts) do
      if rawequal(first.a, step.b) and rawequal(first.b, step.a) and first.over == step.over then
        found[first] = step
      end
    end
    if not found[first] then
      return nil
    end
  end
  return #pass.firsts == #other.firsts and found or nil
end

-- Whether steps go over the same matrices, the rows of the one being the terms of the other.
local function are_across(step, other)
  local function same(runs, others)
    for i = 1, math.max(#runs, #others) do
      if not steps.is_same_run(runs[i], others[i]) then
        return false
      end
    end
    return true
  end
  return #step.m == 1 and #other.m == 1 and same(step.batch, other.batch) and same(step.m, other.k)
    and same(step.k, other.m)
end

-- One pass in the place of two of one level, where the second has products over its columns alone, or nil. add, lay_out
-- and most_values: as joined.of has them.
local function join(record, pass, other, add, lay_out, most_values)
  local place = exchanged(pass, other)
  local alone = not pass.peak and not other.peak and #other.sums == 0 and #other.rows_of == 0
  if not place or not alone or pass.level ~= other.level or #pass.lasts == 0 then
    return nil
  end
  for _, last in ipairs(other.lasts) do
    if not are_across(pass.lasts[1], last) then
      return nil
    end
  end
  local made, leaf_of, memo = with(pass, { firsts = {}, lasts = {}, values = {} }), {}, {}
  local function moved(values)
    return text.map(values, function(value)
      return { operand = value.operand, node = expr.rewrite(value.node, {
        result = function(leaf)
          return leaf_of[leaf] or leaf
        end,
      }, memo) }
    end)
  end
  for _, list in ipairs { "firsts", "lasts" } do
    for i, step in ipairs(pass[list]) do
      leaf_of[step.leaf] = add(made[list], {
        over = step.over, axes = step.axes, a = step.a, b = step.b, weight = step.weight, powered = step.powered,
      }).leaf
      made[list][i].values = moved(step.values)
    end
  end
  for first, step in pairs(place) do
    leaf_of[step.leaf] = leaf_of[first.leaf]
  end
  made.values = moved(pass.values)
  local name_of, across = {}, { lasts = other.lasts, weights = {} }
  for i, value in ipairs(moved(other.values)) do
    local name = "across" .. i
    for _, known in ipairs(made.values) do
      name = rawequal(known.node, value.node) and known.operand.name or name
    end
    name_of[value.operand.name] = name
    if name == "across" .. i then
      table.insert(made.values, { operand = { name = name }, node = value.node })
    end
  end
  for i, last in ipairs(other.lasts) do
    across.weights[i] = name_of[last.weight]
  end
  made.across = across
  return #made.values <= most_values and not lay_out(record, made, {}) and made or nil
end

-- The passes and steps of a record with such passes, or nil where there are none. add(list, step): makes a step, and
-- adds it; lay_out(record, pass, list): finds the groups of axes of its steps, and gives a reason where there are none;
-- most_values: numbers that there may be at each point.
function joined.of(record, add, lay_out, most_values)
  local list, all, i = {}, {}, 1
  while record.passes[i] do
    local pass, other = record.passes[i], record.passes[i + 1]
    local made = other and join(record, pass, other, add, lay_out, most_values)
    list[#list + 1] = made or pass
    for _, steps_of in ipairs { list[#list].firsts, list[#list].lasts, list[#list].across.lasts } do
      table.move(steps_of, 1, #steps_of, #all + 1, all)
    end
    i = i + (made and 2 or 1)
  end
  return #list < #record.passes and { passes = list, steps = all } or nil
end

-- A record with the passes that it has for such a language in the place of its own.
local made_of = setmetatable({}, { __mode = "k" })
function joined.record(record)
  if record and record.joined and not made_of[record] then
    made_of[record] = with(record, record.joined)
  end
  return record and made_of[record] or record
end

return joined
