-- Pours headers into generated C that is to stand alone: of each what is used, and once. Those that differ by the
-- instruction set before them (simd_*.h, turn.h) come once for each set, under names of its own. Functions of C files
-- are poured too, as static ones, without the prototypes that headers have of them.
--
-- What is poured is regular: an include guard around a header, definitions that begin in the first column with an empty
-- line after each, and names that begin with lathe_, LATHE_ or reference_. Of C files static functions may have others.

local headers = {}

local header = {} -- the class of what is read from one file

-- The names in a text that headers may define, and the functions of another set that it calls, as a set.
local function names_in(source, functions)
  local found = {}
  for name, opens in source:gmatch "([%a_][%w_]*)(%(?)" do
    found[name] = found[name] or name:find "^lathe_" or name:find "^LATHE_" or name:find "^reference_"
      or name:find "^REFERENCE_" or functions and opens ~= "" and functions[name] or nil
  end
  return found
end

-- What a definition defines: the names of an enumeration, of a type, or the last before its parameters, its
-- initializer or its end. A macro that is called (LATHE_BYTES) defines names that end as its first argument, by others
-- that end so or in _bytes.
local function defined_by(source)
  local code = source:gsub("/%*.-%*/", "")
  local ending = code:match "^%s*LATHE_[%u_]+%((%w+),"
  if ending then
    return {}, "_" .. ending
  elseif code:find "^%s*typedef struct" then
    return names_in((code:gsub("%b{}", "")))
  elseif code:find "^%s*enum" or code:find "^%s*typedef" then
    return names_in((code:gsub("%b()", "")))
  elseif code:find "^%s*#" then
    local names = {}
    for name in code:gmatch "#define ([%w_]+)" do
      names[#names + 1] = name
    end
    return names_in(table.concat(names, " "))
  end
  return names_in(code:match "^[^{=;(]*")
end

-- Parts a header's text at the empty lines between its definitions: { text, defined, ending }. Comments that stand
-- alone are dropped with what they are about.
local function definitions(source)
  local list, depth, lines = {}, 0, {}
  local function close()
    local whole = table.concat(lines, "\n")
    lines = {}
    if whole:find "%S" and whole:gsub("/%*.-%*/", ""):find "%S" then
      local defined, ending = defined_by(whole)
      list[#list + 1] = { text = whole, defined = defined, ending = ending }
    end
  end
  for line in source:gmatch "([^\n]*)\n" do
    depth = depth + select(2, line:gsub("{", "")) - select(2, line:gsub("}", ""))
    if line:find "^LATHE_%u+%(" then
      close()
      lines = { line }
      close()
    elseif line == "" and depth == 0 then
      close()
    else
      lines[#lines + 1] = line
    end
  end
  close()
  return list
end

-- Of a definition in C files, or in headers of such: its text as that of a static function, and its name if it is one;
-- nothing where it only says that there are functions.
local function as_static(source)
  local code = source:gsub("/%*.-%*/", ""):gsub("^%s+", "")
  local words = { typedef = true, extern = true, struct = true, enum = true, union = true }
  if code:find "^#" or words[code:match "^%a+"] then
    return source
  elseif not code:find "[{=]" then
    return nil
  end
  local name = code:match "^[^{=;(]-([%w_]+)%("
  if code:find "^static" then
    return source, name
  end
  local comment, rest = source:match "^(%s*/%*.-%*/\n)(%a.*)$"
  return (comment or "") .. "static " .. (rest or (source:gsub("^%s+", ""))), name
end

-- The branch that is taken of #if defined ... #elif defined ... #else at the first column, of guards of headers.
local function resolved(source, guards)
  return (source:gsub("\n#if defined (LATHE_[%w_]+_H)\n(.-)\n#endif\n", function(first, body)
    local taken, open, kept = guards[first], guards[first], {}
    for line in (body .. "\n"):gmatch "([^\n]*)\n" do
      local other = line:match "^#elif defined ([%w_]+)"
      if other or line:find "^#else" then
        open = not taken and (not other or guards[other])
        taken = taken or open
      elseif open then
        kept[#kept + 1] = line
      end
    end
    return "\n" .. table.concat(kept, "\n") .. "\n"
  end))
end

-- A file's text in which includes of headers are gone, and which of them it had: local ones, and the system's.
local function without_includes(source)
  local own, system = {}, {}
  source = source:gsub("#include ([<\"])([^>\"]+)[>\"][^\n]*\n", function(mark, name)
    table.insert(mark == "<" and system or own, name)
    return ""
  end)
  return source, own, system
end
headers.without_includes = without_includes

-- Reads headers by name from where read(name) finds them; as_static: and C files.
function headers.reader(read, is_static)
  return setmetatable({ read = read, known = {}, as_static = is_static and as_static }, { __index = header })
end

-- A header: { source, own, system, guard, per_set }. per_set: whether it, or one that it includes, differs by the
-- instruction set.
function header:of(name)
  if not self.known[name] then
    local source = self.read(name)
    local guard, body = source:match "#ifndef ([%w_]+)\n#define %1\n(.*)#endif\n$"
    local record = { name = name, guard = guard or name, as_static = self.as_static }
    body = (body or source):gsub("#ifdef __cplusplus\n.-#endif\n", "") -- what is poured is of one language
    record.source, record.own, record.system = without_includes(body)
    if name == "intrinsics.h" then -- its parts are for one instruction set alone
      record.source, record.system = "", { "immintrin.h" }
    end
    record.per_set = body:find "LATHE_SIMD_" or body:find "##" or body:find "_mm%d*_" or name:find "^simd_"
      or name == "intrinsics.h"
    self.known[name] = record
    for _, other in ipairs(record.own) do
      record.per_set = record.per_set or self:of(other).per_set
    end
    record.per_set = record.per_set and true or false
  end
  return self.known[name]
end

-- The headers with these names and all that they include, each after those.
function header:all(names, list, seen)
  list, seen = list or {}, seen or {}
  for _, name in ipairs(names) do
    if not seen[name] then
      seen[name] = true
      local record = self:of(name)
      self:all(record.own, list, seen)
      list[#list + 1] = record
    end
  end
  return list
end

-- The definitions in these headers that a text uses, and those that these use; all that they define, as a set; and
-- names of functions in C files that are no library's, as a set.
function headers.used(list, by)
  local guards, all, own = {}, {}, {}
  for _, record in ipairs(list) do
    guards[record.guard] = true
  end
  for _, record in ipairs(list) do
    for _, definition in ipairs(definitions(resolved(record.source, guards))) do
      local name
      if record.as_static then
        definition.text, name = record.as_static(definition.text)
      end
      if name then
        own[name], definition.defined = not name:find "^lathe_" or nil, { [name] = true }
      end
      all[#all + 1] = definition.text and definition or nil
    end
  end
  local defined, kept, wanted = {}, {}, names_in(by, own)
  for i = #all, 1, -1 do
    local definition, is_used = all[i], false
    for name in pairs(wanted) do
      is_used = is_used or definition.defined[name]
        or definition.ending and name:sub(-#definition.ending) == definition.ending
    end
    for name in pairs(definition.defined) do
      defined[name] = true
    end
    if is_used then
      table.insert(kept, 1, definition.text .. "\n")
      for name in pairs(names_in(definition.text, own)) do
        wanted[name] = true
      end
      for _, other in ipairs(definition.ending and all or {}) do
        for name in pairs(other.defined) do
          local is_called = name:sub(-#definition.ending) == definition.ending or name:find "_bytes$"
          wanted[name] = wanted[name] or is_called and true or nil
        end
      end
    end
  end
  return table.concat(kept, "\n"), defined, own
end

return headers
