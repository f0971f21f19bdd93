-- Loads specs: runs each file of specs/ in a sandbox and collects the ops it declares. Nothing
-- here knows what an op's keys mean.

local equality = require "equality"
local expr = require "expr"
local text = require "text"

local load_stage = {}

-- What a spec may use of Lua. No io, os, package, debug, load, coroutines or metatables; no
-- random numbers.
local function pick(library, names)
  local picked = {}
  for name in names:gmatch "%S+" do
    picked[name] = library[name]
  end
  return picked
end

-- The methods of strings while a spec runs.
local string_methods = pick(string, "byte char format len lower rep upper reverse sub")

-- The functions of Lua's math, which are for plain numbers: called with a symbolic value they name what is for
-- those.
local function plain_math()
  local plain = pick(math, "abs ceil exp floor fmod huge log max maxinteger min mininteger modf pi sqrt tointeger type "
    .. "ult")
  for name, f in pairs(plain) do
    plain[name] = type(f) ~= "function" and f or function(...)
      for i = 1, select("#", ...) do
        if expr.is_node((select(i, ...))) then
          error(string.format("math.%s is for plain numbers, found a symbolic value%s", name,
            expr.vocabulary[name] and "; write " .. name .. "(...)" or ""), 0)
        end
      end
      return f(...)
    end
  end
  return plain
end

local function base_env()
  local env = {
    assert = assert, error = error, ipairs = ipairs, pairs = text.sorted_pairs, tonumber = tonumber,
    tostring = tostring, type = type,
    math = plain_math(),
    string = setmetatable({}, { __index = string_methods, __metatable = false }),
    table = pick(table, "concat insert remove sort unpack"),
  }
  for _, names in ipairs { expr.vocabulary, equality.names } do
    for name, value in pairs(names) do
      env[name] = value
    end
  end
  return env
end

local spent = {} -- what the calls of a spec took so far, by its path

-- Calls f in the sandbox; a failure becomes one line that names the spec's line. where: the line, or the
-- spec, to name when the spec did not come to run a line; the spec in it is the one whose limits hold.
function load_stage.call(where, f, ...)
  local spec = where:match "^(.-):%d+$" or where
  spent[spec] = spent[spec] or {}
  local result = table.pack(host.sandbox(string_methods, where, spent[spec], f, ...))
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
  local _, chunk
  _, chunk, message = pcall(load, source, "@" .. path, "t", env) -- what nests too deep is an error raised
  if not chunk then
    local at, rest = string.match(message, "^(.-:%d+): (.*)$")
    text.fail(at or path, "%s", rest or message)
  end
  return load(equality.observe(source), "@" .. path, "t", env), source
end

-- The paths of the specs in a folder and below it. What specs include stands in folders called `include`.
local deepest = 8
local function find_specs(reader, folder, depth, found)
  if depth > deepest then
    text.fail(folder, "expected folders at most %d deep; look for a link to a folder above it", deepest)
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

-- The ops of one file.
function load_stage.file(reader, path)
  local ops, pending, files = {}, nil, { path }
  local env = base_env()

  function env.op(name)
    local line = debug.getinfo(2, "l").currentline
    local file = debug.getinfo(2, "S").source:sub(2)
    if not text.is_name(name) then
      text.fail(file .. ":" .. line, "op: expected %s, found %s", text.a_name,
        type(name) == "string" and text.show(name) or "a " .. type(name))
    end
    pending = { name = name, file = file, line = line }
    return function(keys)
      if type(keys) ~= "table" then
        text.fail(file .. ":" .. line, "op \"%s\": expected a table { ... } after the name, found a %s", name,
          type(keys))
      end
      ops[#ops + 1] = { name = name, keys = keys, file = file, line = line, files = files }
      pending = nil
    end
  end

  function env.include(other)
    local info = debug.getinfo(2, "Sl")
    local where = info.source:sub(2) .. ":" .. info.currentline
    if type(other) ~= "string" or other:sub(1, 1) == "/" or string.find("/" .. other .. "/", "/../", 1, true) then
      text.fail(where, "include: expected a path inside specs/, such as \"include/vector.lua\", found %s",
        type(other) == "string" and text.show(other) or "a " .. type(other))
    end
    local file = "specs/" .. other
    files[#files + 1] = file
    return (compile(reader, file, env, where))()
  end

  setmetatable(env, {
    __index = function(_, key)
      error("unknown name " .. text.show(key) .. text.did_you_mean(key, text.sorted_keys(env)), 2)
    end,
    __newindex = function(_, key)
      error(string.format("expected 'local %s': a spec has no global names of its own", tostring(key)), 2)
    end,
  })

  local chunk, source = compile(reader, path, env)
  load_stage.call(path, chunk)
  if pending then
    text.fail(pending.file .. ":" .. pending.line, "op \"%s\": expected a table { ... } after the name", pending.name)
  end
  local code = {} -- the lines without their comments
  for line in (source .. "\n"):gmatch "([^\n]*)\n" do
    code[#code + 1] = (line:gsub("%-%-.*$", ""))
  end
  for _, op in ipairs(ops) do
    op.code = op.file == path and code or nil
  end
  return ops
end

-- "specs/add.lua:7", the line where a key of an op is set: found by reading the source, since
-- Lua's tables do not tell; where it is not found, the line of the op. Keys nest: where(op,
-- "inputs", "x").
function load_stage.where(op, ...)
  local line_found, wanted, keys = op.line, 1, { ... }
  for number = op.line, op.code and #op.code or 0 do
    local code, at = op.code[number], 1
    if not keys[wanted] or number > op.line and code:find "^op[%s(\"']" then
      break
    end
    while keys[wanted] do
      local _, stop = code:find("%f[%w_]" .. tostring(keys[wanted]):gsub("%W", "%%%0") .. "%f[^%w_][\"%]]*%s*=", at)
      if not stop then
        break
      end
      line_found, wanted, at = number, wanted + 1, stop
    end
  end
  return op.file .. ":" .. line_found
end

return load_stage
