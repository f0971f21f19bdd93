-- Graphs as a person reads them: in the words of specs, what is used more than once under a name of its own.

local axes = require "axes"
local operations = require "operations"

local formula = {}

local infix = { add = { " + ", 1 }, sub = { " - ", 1 }, mul = { " * ", 2 }, div = { " / ", 2 } }
local spec_words = { maximum = "max", minimum = "min", pick = "at", read = "at" }

-- A constant by the fewest digits that read back as the same number.
function formula.number(value)
  for digits = 1, 17 do
    local short = string.format("%." .. digits .. "g", value)
    if tonumber(short) == value then
      return short
    end
  end
  return value ~= value and "nan" or tostring(value)
end

-- A set of axes by their names, as a spec gives them to a function.
local function axes_of(set, dims)
  local list = {}
  for place, name in ipairs(dims) do
    list[#list + 1] = set & axes.at(place) ~= 0 and '"' .. name .. '"' or nil
  end
  return list
end

-- The text of a leaf, or nil.
local function leaf(node, dims)
  if node.op == "const" then
    return formula.number(node.value)
  elseif node.op == "iconst" then
    return string.format("0x%x", node.value)
  elseif node.op == "stash" then
    return "kept(" .. (node.called or node.name) .. ")"
  elseif node.op == "points" then
    return "count(" .. table.concat(axes_of(node.k, dims), ", ") .. ")"
  elseif node.op == "position" then
    return "position(" .. axes_of(node.k, dims)[1] .. ")"
  end
  local name = node.called or node.name
  return #node == 0 and (name ~= "" and name or node.op) or nil
end

-- How often each node that is no leaf is used under some roots.
local function count_uses(roots)
  local uses = {}
  local function walk(node)
    uses[node] = (uses[node] or 0) + 1
    for i = 1, uses[node] == 1 and #node or 0 do
      walk(node[i])
    end
  end
  for _, root in ipairs(roots) do
    walk(root.node)
  end
  return uses
end

-- Lines "begins expression" for roots { begins, node }, ahead of each those for what it shares, in the order of their
-- use; and how many names there are then. dims: the names of the op's axes; taken: how many names the lines before
-- had, which is counted on; stem: what these begin with, t if nothing else is said.
function formula.lines(roots, dims, taken, stem)
  local uses, names, lines = count_uses(roots), {}, {}
  local show

  -- A node's text where operators that bind less than `least` need parentheses.
  local function write(node, least)
    local known = leaf(node, dims) or names[node]
    local operator = infix[node.op]
    if known then
      return least > 2 and known:find "^%-" and "(" .. known .. ")" or known
    elseif operator then
      local level = operator[2]
      local made = show(node[1], level) .. operator[1] .. show(node[2], level + 1)
      return level < least and "(" .. made .. ")" or made
    elseif node.op == "neg" then
      return (least > 1 and "(-%s)" or "-%s"):format(show(node[1], 3))
    end
    local arguments = {}
    for i = 1, #node do
      arguments[i] = show(node[i], 0)
    end
    if math.type(node.k) == "integer" and (node.op == "ishl" or node.op == "ishr") then
      arguments[#arguments + 1] = tostring(node.k)
    elseif node.k then
      table.move(axes_of(node.k, dims), 1, #dims, #arguments + 1, arguments)
    end
    local scan = operations.rows[node.op] and operations.rows[node.op].scan
    if scan and (scan.exclusive or scan.reverse) then
      arguments[#arguments + 1] = "{ " .. (scan.exclusive and "exclusive = true" or "")
        .. (scan.exclusive and scan.reverse and ", " or "") .. (scan.reverse and "reverse = true" or "") .. " }"
    end
    return (scan and scan.name or spec_words[node.op] or node.op) .. "(" .. table.concat(arguments, ", ") .. ")"
  end

  function show(node, least)
    if uses[node] > 1 and not leaf(node, dims) and not names[node] then
      local made = write(node, 0)
      taken = taken + 1
      names[node] = (stem or "t") .. taken
      lines[#lines + 1] = names[node] .. " = " .. made
    end
    return write(node, least)
  end

  for _, root in ipairs(roots) do
    local made = show(root.node, 0)
    lines[#lines + 1] = root.begins .. " " .. made
  end
  return lines, taken
end

return formula
