-- Loads specs: runs each file of specs/ in a sandbox and collects the ops it declares. Nothing
-- here knows what an op's keys mean.

local environment = require "environment"
local guard = require "guard"
local limits = require "limits"
local symbol = require "symbol"
local text = require "text"

local load_stage = {}

local spent = {} -- what the calls of a spec took so far, by its path

-- Calls f in the sandbox; a failure becomes one line that names the spec's line. where: the line, or the
-- spec, to name when the spec did not come to run a line; the spec in it is the one whose limits hold.
function load_stage.call(where, f, ...)
  local spec = where:match "^(.-):%d+$" or where
  spent[spec] = spent[spec] or {}
  local result = table.pack(host.sandbox(environment.string_methods, where, spent[spec], f, ...))
  if result[1] then
    return table.unpack(result, 2, result.n)
  end
  local failure = result[2]
  local message = failure.message
  if text.is_problem(message) then
    error(message, 0)
  end
  where = failure.where
  if type(message) ~= "string" then
    message = "the spec raised an error that is not a string"
  end
  local at, rest = message:match "^(specs/[^:]*:%d+): (.*)$"
  if at then
    where, message = at, rest
  end
  text.fail(where, "%s", (message:gsub("%s*\n%s*", "; ")))
end

local marked = {} -- by path: a source, and what guard made of it; what many specs include is marked once

local function mark(source, path)
  if not marked[path] or marked[path].source ~= source then
    marked[path] = { source = source, code = guard.mark(source, path) }
  end
  return marked[path].code
end

-- A line of a source, counted from 1.
local function line_of(source, number)
  local at = 0
  for line in string.gmatch(source .. "\n", "([^\n]*)\n") do
    at = at + 1
    if at == number then
      return line
    end
  end
  return ""
end

-- Compiles a file in an environment; the file is recorded in reads.
local function compile(reader, path, env, from)
  text.expect_path(from or path, path)
  local source, message = reader.read(path)
  if not source then
    text.fail(from or path, "%s%s", from and "include: " .. path .. ": " or "", message)
  end
  source = string.gsub(source, "^\xef\xbb\xbf", "") -- the mark that some editors begin UTF-8 with
  if source:sub(1, 1) == "\27" then
    text.fail(path .. ":1", "expected Lua source, found bytecode; write the spec as text")
  end
  local function compiled(code)
    local _, chunk
    _, chunk, message = pcall(load, code, "@" .. path, "t", env) -- what nests too deep is an error raised
    if not chunk then
      local number, rest = string.match(message, "^.-:(%d+): (.*)$")
      if number then
        text.fail(path .. ":" .. number, "%s", limits.explain(rest, line_of(source, tonumber(number))))
      end
      text.fail(path, "%s", string.find(message, "C stack overflow", 1, true)
        and "parentheses, tables or functions are too deep in each other; expected at most some 100 levels" or message)
    end
    return chunk
  end
  compiled(source) -- which tells what is wrong as the source has it
  return guard.open(compiled(mark(source, path))), source
end

-- The paths of the specs in a folder and below it. What specs include stands in folders called `include`.
local deepest_folder = 8
local function find_specs(reader, folder, depth, found)
  if depth > deepest_folder then
    text.fail(folder, "expected folders at most %d deep; look for a link to a folder above it", deepest_folder)
  end
  local names, message = reader.list(folder, ".lua")
  if not names then
    text.fail(folder, "%s; expected a folder of spec files", message)
  end
  local is_folder = {}
  for _, name in ipairs(reader.list(folder, "/")) do
    is_folder[name] = true
    if name ~= "include" then
      find_specs(reader, folder .. "/" .. name, depth + 1, found)
    end
  end
  for _, name in ipairs(names) do
    found[#found + 1] = not is_folder[name] and folder .. "/" .. name or nil
  end
  return found
end

-- reader: read(path) and list(folder, suffix), as in files.h. Returns the ops of all specs, each
-- { name, keys, file, line, files, code }.
function load_stage.all(reader)
  local ops = {}
  for _, path in ipairs(find_specs(reader, "specs", 1, {})) do
    for _, op in ipairs(load_stage.file(reader, path)) do
      ops[#ops + 1] = op
    end
  end
  return ops
end

-- What `op` was given, as a table of ours: the spec keeps its own, and may change it.
local deepest = 8
local function copy(value, depth, fail)
  if symbol.is(value) then
    fail "expected plain values, found a symbolic value"
  elseif type(value) ~= "table" then
    return value
  elseif depth > deepest then
    fail(string.format("expected tables at most %d deep in each other", deepest))
  end
  local result = {}
  for key, item in next, value do
    if type(key) ~= "string" and type(key) ~= "number" then
      fail("expected keys that are strings or numbers, found a " .. type(key))
    end
    result[key] = copy(item, depth + 1, fail)
  end
  return result
end

-- The lines of a source without their comments.
local function lines_of(source)
  local code = {}
  for line in string.gmatch(source .. "\n", "([^\n]*)\n") do
    code[#code + 1] = (line:gsub("%-%-.*$", ""))
  end
  return code
end

-- The ops of one file.
function load_stage.file(reader, path)
  local ops, pending, files, is_loaded = {}, nil, { path }, false
  local code -- of the file itself
  local names = environment.names()
  local env = {}

  -- `op` and `include` have nothing to say once a file is read.
  local function expect_reading(name)
    if is_loaded then
      symbol.fail("%s: expected where a spec is read, found in a function that is traced", name)
    end
  end

  -- The spec's line that calls one of them.
  local function called_at(name)
    expect_reading(name)
    local info = debug.getinfo(3, "Sl")
    return info.source:sub(2), info.currentline
  end

  function names.op(name)
    local file, line = called_at "op"
    if not text.is_name(name) then
      text.fail(file .. ":" .. line, "op: expected %s, found %s", text.a_name,
        type(name) == "string" and text.show(name) or "a " .. type(name))
    end
    if string.find(name, "^lathe%f[_\0]") then
      text.fail(file .. ":" .. line, "op: expected a name that is not 'lathe', nor begins with 'lathe_', as names of "
        .. "the library do, found %s", text.show(name))
    end
    pending = { name = name, file = file, line = line }
    return function(keys)
      expect_reading "op"
      if type(keys) ~= "table" or symbol.is(keys) then
        text.fail(file .. ":" .. line, "op \"%s\": expected a table { ... } after the name, found a %s", name,
          symbol.is(keys) and "symbolic value" or type(keys))
      end
      local op = { name = name, keys = {}, file = file, line = line, files = files }
      op.code = file == path and code or nil
      for key, value in text.sorted_pairs(keys) do
        op.keys[key] = copy(value, 1, function(message)
          text.fail(load_stage.where(op, key), "op \"%s\": %s: %s", name, text.show(key), message)
        end)
      end
      ops[#ops + 1] = op
      pending = nil
    end
  end

  function names.include(other)
    local file, line = called_at "include"
    local where = file .. ":" .. line
    if type(other) ~= "string" or other:sub(1, 1) == "/" or string.find("/" .. other .. "/", "/../", 1, true) then
      text.fail(where, "include: expected a path inside specs/, such as \"include/vector.lua\", found %s",
        type(other) == "string" and text.show(other) or "a " .. type(other))
    end
    local included = "specs/" .. other
    files[#files + 1] = included
    return (compile(reader, included, env, where))()
  end

  setmetatable(names, {
    __index = function(_, key)
      local limit = limits.of(tostring(key))
      error("unknown name " .. text.show(key)
        .. (limit and "; " .. limit or text.did_you_mean(key, text.sorted_keys(names))), 2)
    end,
  })
  setmetatable(env, {
    __index = names, __metatable = false,
    __newindex = function(_, key)
      error(string.format("expected 'local %s': a spec has no global names of its own", tostring(key)), 2)
    end,
  })

  local chunk, source = compile(reader, path, env)
  code = lines_of(source)
  load_stage.call(path, chunk)
  is_loaded = true
  if pending then
    text.fail(pending.file .. ":" .. pending.line, "op \"%s\": expected a table { ... } after the name", pending.name)
  end
  local first = {} -- by line
  for _, op in ipairs(ops) do
    local where = op.file .. ":" .. op.line
    if first[where] then
      first[where].shares_line, op.shares_line = true, true
    end
    first[where] = first[where] or op
  end
  return ops
end

-- The lines of an op that set something, { number, code }.
local function settings_of(op)
  local found = {}
  for number = op.line, op.code and #op.code or 0 do
    local code = op.code[number]
    if number > op.line and string.find(code, "^op[%s(\"']") then
      break
    elseif string.find(code, "=", 1, true) then
      found[#found + 1] = { number = number, code = code }
    end
  end
  return found
end

-- "specs/add.lua:7", the line where a key of an op is set: found by reading the source, since
-- Lua's tables do not tell; where it is not found, the line of the op. Keys nest: where(op,
-- "inputs", "x").
function load_stage.where(op, ...)
  local line_found, wanted, keys = op.line, 1, { ... }
  local patterns = text.map(keys, function(key)
    return "%f[%w_]" .. string.gsub(tostring(key), "%W", "%%%0") .. "%f[^%w_][\"%]]*%s*="
  end)
  op.settings = op.settings or settings_of(op)
  for _, line in ipairs(op.settings) do
    local at = 1
    while patterns[wanted] do
      local _, stop = string.find(line.code, patterns[wanted], at)
      if not stop then
        break
      end
      line_found, wanted, at = line.number, wanted + 1, stop
    end
    if not patterns[wanted] then
      break
    end
  end
  return op.file .. ":" .. line_found
end

return load_stage
