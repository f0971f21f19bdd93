-- What a function of a spec reaches outside of itself: the locals around it, the tables in them, and what the
-- functions in them reach. A function that is traced must leave all of it as it was, or what an op computes depends
-- on what was traced before: kernels and the table of them are written by different runs. What the generator gives
-- to specs keeps nothing from call to call.

local outside = {}

-- A list of names and values, in the same order for as long as nothing changes.
function outside.look(f)
  local list, seen, found = {}, {}, { f }
  local function note(name, value)
    local kind = type(value)
    list[#list + 1], list[#list + 2] = name, value
    if (kind == "function" or kind == "table") and not seen[value] then
      seen[value] = name
      found[#found + 1] = value
    end
  end
  while #found > 0 do
    local at = table.remove(found)
    if type(at) == "table" then
      if not debug.getmetatable(at) then -- those that have one are ours
        for key, value in next, at do
          note(seen[at], key)
          note(seen[at], value)
        end
      end
    elseif debug.getinfo(at, "S").source:sub(1, 7) == "@specs/" then
      for i = 1, debug.getinfo(at, "u").nups do
        note(debug.getupvalue(at, i))
      end
    end
  end
  return list
end

-- The name of a local outside of a function that has changed, or what is in it, since its list was made; nil for none.
function outside.changed(before, f)
  local after = outside.look(f)
  for i = 1, math.max(#before, #after), 2 do
    local a, b = before[i + 1], after[i + 1]
    if not rawequal(a, b) and (a == a or b == b) then
      return before[i] or after[i]
    end
  end
end

return outside
