-- The command line of lathe-gen, and the order of the stages: load, plan, lower and expand, table.

local edges = require "edges"
local expand = require "expand"
local load_stage = require "load"
local plan = require "plan"
local schema = require "schema"
local dispatch = require "dispatch"
local template = require "template"
local text = require "text"
local trace = require "trace"

local usage = [[
lathe-gen: makes kernels, their dispatch table and their build edges from specs and templates

  lathe-gen [options] index             check all specs; write the table and the edges
  lathe-gen [options] expand OP...      write the sources of some ops
  lathe-gen [options] all               both, for every op
  lathe-gen [options] definitions FILE  write what an editor needs to complete a spec

  --src DIR                 where specs/ and templates/ are (.)
  --out DIR                 where to write (out/gen)
  --backend NAME            make kernels for this backend; may be given again (all)
  --disabled NAME=REASON    why a backend is off, for the table; where NAME is BACKEND:EXTENSION,
                            why its kernels that need the extension are
  --no-line                 leave #line out of what is generated
  --help                    print this
]]

local function parse(arguments)
  local options = { src = ".", out = "out/gen", reasons = {}, line = true, words = {} }
  local i = 1
  local function value()
    i = i + 1
    if not arguments[i] then
      text.refuse("%s: expected a value after it; see lathe-gen --help", arguments[i - 1])
    end
    return arguments[i]
  end
  while arguments[i] do
    local argument = arguments[i]
    if argument == "--src" then
      options.src = value()
    elseif argument == "--out" then
      options.out = value()
    elseif argument == "--backend" then
      options.backends = options.backends or {}
      options.backends[value()] = true
    elseif argument == "--disabled" then
      local name, reason = value():match "^([^=]+)=(.+)$"
      if not name then
        text.refuse("--disabled: expected NAME=REASON, found '%s'", arguments[i])
      end
      options.reasons[name] = reason
    elseif argument == "--no-line" then
      options.line = false
    elseif argument == "--help" then
      options.help = true
    elseif argument:sub(1, 1) == "-" then
      text.refuse("unknown option '%s'%s; see lathe-gen --help", argument, text.did_you_mean(argument,
        { "--src", "--out", "--backend", "--disabled", "--no-line", "--help" }))
    else
      table.insert(options.words, argument)
    end
    i = i + 1
  end
  return options
end

local largest_source = 1 << 20 -- bytes, of a spec or a template

-- Reads below the source folder and remembers what was read.
local function recording_reader(src)
  local prefix = src == "." and "" or src .. "/"
  local reads, seen = {}, {}
  local function record(path)
    if not seen[path] then
      seen[path] = true
      reads[#reads + 1] = prefix .. path
    end
  end
  return {
    reads = reads,
    read = function(path)
      local content, message = host.files.read(prefix .. path, largest_source)
      if content then
        record(path)
      end
      return content, message and message:sub(#prefix + #path + 3)
    end,
    list = function(path, suffix)
      record(path)
      local names, message = host.files.list(prefix .. path, suffix)
      return names, message and message:sub(#prefix + #path + 3)
    end,
  }
end

local function checked(result, message)
  if result == nil then
    text.fail("lathe-gen", "%s; check the folder's permissions and free space", message)
  end
  return result
end

local function prepare(options)
  local reader = recording_reader(options.src)
  local run = { options = options, reader = reader }
  run.backends = plan.backends(reader, options.backends, options.reasons)
  run.ops = schema.check(load_stage.all(reader))
  if #run.ops == 0 then
    text.fail("specs", "expected at least one spec that declares an op, found none")
  end
  for _, op in ipairs(run.ops) do
    op.planned = plan.variants(op, run.backends)
    op.sources = plan.files(op)
  end
  return run
end

local function write(run, path, content)
  return checked(host.files.write(run.options.out .. "/" .. path, content))
end

local function write_index(run)
  local out = run.options.out
  local manifest = edges.manifest(run.ops)
  local old = host.files.read(out .. "/manifest.txt")
  if old and old ~= manifest then
    for _, path in ipairs(edges.stale(old, manifest)) do
      host.files.remove(out .. "/" .. path)
    end
  end
  write(run, "manifest.txt", manifest)
  write(run, "table.c", dispatch.write(run.ops, run.backends))
  write(run, "kernels.ninja", edges.ninja(run.ops, out, "out/lathe-gen"))
  checked(host.files.write(out .. "/kernels.ninja.d", edges.depfile(out .. "/kernels.ninja", run.reader.reads)))
end

local function expander(reader, options)
  return template.engine(reader.read, { line = options.line })
end

-- The ops with these names, and their specs alone.
local function expand_some(options, names)
  local run = prepare(options)
  local by_name = {}
  for _, op in ipairs(run.ops) do
    by_name[op.name] = op
  end
  for _, name in ipairs(names) do
    local op = by_name[name]
    if not op then
      text.refuse("expand: unknown op '%s'%s", name, text.did_you_mean(name, text.sorted_keys(by_name)))
    end
    trace.op(op)
    -- What this op is made from: its own spec, not the others that were read to find it.
    local reader = recording_reader(options.src)
    plan.backends(reader, options.backends, options.reasons)
    for _, file in ipairs(op.files) do
      reader.read(file)
    end
    local first
    expand.op(expander(reader, options), op, function(path, content)
      first = first or path
      write(run, path, content)
    end)
    write(run, op.name .. "/expand.d", edges.depfile(options.out .. "/" .. first, reader.reads))
  end
end

local function run_command(...)
  local options = parse { ... }
  local command = options.words[1]
  if options.help then
    io.write(usage)
  elseif command == "index" and #options.words == 1 then
    local run = prepare(options)
    for _, op in ipairs(run.ops) do
      trace.op(op)
    end
    write_index(run)
  elseif command == "expand" and #options.words > 1 then
    expand_some(options, table.move(options.words, 2, #options.words, 1, {}))
  elseif command == "all" and #options.words == 1 then
    local run = prepare(options)
    local engine = expander(run.reader, options)
    for _, op in ipairs(run.ops) do
      trace.op(op)
      expand.op(engine, op, function(path, content)
        write(run, path, content)
      end)
      op.values, op.magnitudes = nil, nil -- the graph is done with, and may be large
    end
    write_index(run)
  elseif command == "definitions" and #options.words == 2 then
    checked(host.files.write(options.words[2], schema.definitions()))
  else
    text.refuse("%s; expected index, expand OP..., all or definitions FILE; see lathe-gen --help",
      command and "unknown or incomplete command '" .. command .. "'" or "no command")
  end
end

-- Runs a command line; returns the exit status: 1 for a fault in specs, templates or files, 2 for
-- a bad call.
return function(...)
  collectgarbage "generational" -- most of what is made is a line of text that lives for a moment
  local done, failure = xpcall(run_command, function(failure)
    return text.is_problem(failure) and failure
      or text.problem(debug.traceback("lathe-gen: internal error: " .. tostring(failure), 2))
  end, ...)
  if done then
    return 0
  end
  io.stderr:write(failure.message, "\n")
  return failure.status
end
