-- Small helpers on text and tables that every stage shares. What a spec's calls reach, errors among it, makes do
-- with the few methods of strings that specs have (load.lua): string.find(s), not s:find().

local text = {}

-- An error meant for the user is a table { message, status } with this metatable, which no spec can
-- make; any other error is a fault of the generator's own.
local problem_meta = {}

function text.problem(message, status)
  return setmetatable({ message = message, status = status or 1 }, problem_meta)
end

function text.is_problem(value)
  return type(value) == "table" and getmetatable(value) == problem_meta
end

local longest_message, longest_shown, longest_name = 1000, 60, 64 -- bytes

local function shorten(s, most)
  return #s > most and s:sub(1, most - 3) .. "..." or s
end

local subject -- an op's name, or nil

-- What text.fail says from here on is about this op; nil: about none. It is named where others have the same line in
-- their spec, as those that a function declares have.
function text.about(op)
  subject = op and op.shares_line and op.name
end

-- Raises such an error: one line, `where: what`, whatever a spec put into it.
function text.fail(where, format, ...)
  local line = where .. ": " .. (subject and "op \"" .. subject .. "\": " or "") .. string.format(format, ...)
  error(text.problem((string.gsub(shorten(line, longest_message), "%c", function(c)
    return c == "\t" and c or string.format("\\%d", c:byte())
  end))), 0)
end

-- The same for a call that asks for what cannot be: exit status 2.
function text.refuse(format, ...)
  error(text.problem("lathe-gen: " .. string.format(format, ...), 2), 0)
end

-- A value as a message names it.
function text.show(value)
  if type(value) == "string" then
    return "'" .. shorten(value, longest_shown) .. "'"
  elseif type(value) == "number" or type(value) == "boolean" then
    return value ~= value and "NaN" or tostring(value)
  end
  return value == nil and "nothing" or "a " .. type(value)
end

-- Keys of a table in an order that is the same on every run: numbers by value, then the rest by type and
-- name.
function text.sorted_keys(t)
  local keys = {}
  for key in next, t do
    keys[#keys + 1] = key
  end
  table.sort(keys, function(a, b)
    local a_number, b_number = type(a) == "number", type(b) == "number"
    if a_number and b_number then
      return a < b
    elseif a_number ~= b_number then
      return a_number
    elseif type(a) ~= type(b) then
      return type(a) < type(b)
    end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- pairs() in that order.
function text.sorted_pairs(t)
  local keys, i = text.sorted_keys(t), 0
  return function()
    i = i + 1
    if keys[i] ~= nil then
      return keys[i], t[keys[i]]
    end
  end
end

function text.map(list, f)
  local result = {}
  for i, item in ipairs(list) do
    result[i] = f(item, i)
  end
  return result
end

function text.contains(list, value)
  for _, item in ipairs(list) do
    if item == value then
      return true
    end
  end
  return false
end

-- What of a list is not in another one.
function text.without(list, others)
  local left = {}
  for _, item in ipairs(list) do
    left[#left + 1] = not text.contains(others, item) and item or nil
  end
  return left
end

-- The number of letters to add, drop or change to make b of a (Levenshtein).
local function distance(a, b)
  local row = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local best = math.min(row[j] + 1, row[j - 1] + 1, diagonal + cost)
      diagonal, row[j] = row[j], best
    end
  end
  return row[#b]
end

-- " (did you mean 'unroll'?)" for the name nearest to a wrong one, or "" when none is near.
function text.did_you_mean(wrong, names)
  if type(wrong) ~= "string" or #wrong > longest_name then
    return ""
  end
  local best, best_distance
  for _, name in ipairs(names) do
    local d = distance(wrong, name)
    if not best or d < best_distance then
      best, best_distance = name, d
    end
  end
  if best and best_distance <= math.max(1, math.min(#wrong, #best) // 2) then
    return string.format(" (did you mean '%s'?)", best)
  end
  return ""
end

-- "'a', 'b' or 'c'"
function text.one_of(names)
  local quoted = text.map(names, function(name)
    return "'" .. tostring(name) .. "'"
  end)
  if #quoted < 2 then
    return quoted[1] or "nothing"
  end
  return table.concat(quoted, ", ", 1, #quoted - 1) .. " or " .. quoted[#quoted]
end

-- What the names are like that a spec gives; whether something is one.
text.a_name = string.format("a name of at most %d lower-case letters, digits and _", longest_name)
function text.is_name(value)
  return type(value) == "string" and #value <= longest_name and string.find(value, "^%l[%l%d_]*$") ~= nil
end

local words_of_python = " and as assert async await break class continue def del elif else except finally for from "
  .. "global if import in is lambda nonlocal not or pass raise return try while with yield "

-- Whether a name is none in Python, but a word of its own.
function text.is_word_of_python(name)
  return string.find(words_of_python, " " .. name .. " ", 1, true) ~= nil
end

-- What of a string no generated file may have, or nil: what is no UTF-8, and the code points that show as
-- nothing or turn the text around them (Unicode's controls, line ends and marks of direction).
local function unprintable(s)
  local length, at = utf8.len(s)
  if not length then
    return "a byte that is no UTF-8 at position " .. at
  end
  for _, code in utf8.codes(s) do
    if code < 0x20 or code >= 0x7f and code < 0xa0 or code == 0x61c or code >= 0x200b and code <= 0x200f
      or code >= 0x2028 and code <= 0x202e or code >= 0x2060 and code <= 0x206f or code == 0xfeff then
      return string.format("the invisible character U+%04X", code)
    end
  end
end

-- Refuses such a string.
function text.expect_plain(where, what, s)
  local found = unprintable(s)
  if found then
    text.fail(where, "%s: expected plain text, found %s in it", what, found)
  end
end

-- Refuses the path of a file that generated files are to name in comments, strings and build edges.
function text.expect_path(where, path)
  if unprintable(path) or string.find(path, "[^%w%._+/ \x80-\xff-]") then
    text.fail(where, "expected a path of letters, digits, spaces and . _ + - alone, found %s", text.show(path))
  end
end

-- A string in C. Two question marks may begin a trigraph.
function text.c_string(s)
  return '"' .. s:gsub('[%c"\\]', function(c)
    return string.format("\\%03o", c:byte())
  end):gsub("%?%?", "?\\077") .. '"'
end

-- A text inside of a comment in C: nothing in it begins or ends one, nor is a trigraph.
function text.in_comment(s)
  return (s:gsub("%*/", "* /"):gsub("/%*", "/ *"):gsub("%?%?", "? ?"))
end

-- Lines in which a text is broken at spaces, so that none is longer than width where that can be; those after the
-- first are indented.
function text.wrap(s, width, indent)
  local lines, line = {}, nil
  for word in string.gmatch(s, "%S+") do
    if line and #line + 1 + #word > width then
      lines[#lines + 1], line = line, indent .. word
    else
      line = line and line .. " " .. word or word
    end
  end
  lines[#lines + 1] = line
  return lines
end

-- Lines as a comment in C.
function text.comment(lines)
  return "/* " .. table.concat(lines, "\n * ") .. " */"
end

-- A word as a shell takes it.
function text.shell_word(s)
  return string.find(s, "^[%w_.,:/=+-]+$") and s or "'" .. string.gsub(s, "'", "'\\''") .. "'"
end

-- Refuses keys that are no positions of a list.
function text.expect_list(where, what, list)
  for key in text.sorted_pairs(list) do
    if math.type(key) ~= "integer" or key < 1 or key > #list then
      text.fail(where, "%s: expected a list, found the key %s in it", what, text.show(key))
    end
  end
end

-- The path of a file that another names, as seen from its own folder.
function text.sibling(from, other)
  local path = from:gsub("[^/]*$", "") .. other
  local longer
  repeat
    longer, path = path, path:gsub("[^/.][^/]*/%.%./", "", 1)
  until path == longer
  return path
end

text.largest = 0x1.fffffffffffffp1023 -- number that is finite

-- Refuses what is no number from `least` to `most`. what: the value's name in the message.
function text.expect_number(where, what, value, least, most)
  if type(value) ~= "number" or value ~= value or value < least or value > most then
    text.fail(where, "%s: expected a %s, found %s", what,
      least > -text.largest and string.format("number of at least %g", least) or "finite number", text.show(value))
  end
end

return text
