-- The command line of lathe-gen, and the order of the stages.

local backends = require "backends"
local cost = require "cost"
local definitions = require "definitions"
local edges = require "edges"
local export_command = require "export_command"
local library = require "library"
local load_stage = require "load"
local parts = require "parts"
local names = require "names"
local pour = require "pour"
local program = require "program"
local schedule = require "schedule"
local schema = require "schema"
local show = require "show"
local dispatch = require "dispatch"
local sources = require "sources"
local shards = require "shards"
local template = require "template"
local text = require "text"
local trace = require "trace"
local types = require "types"
local variants = require "variants"

local usage = [[
lathe-gen: makes kernels, their dispatch table and their build edges from specs and templates

  lathe-gen [options] index             check all specs; write the table and the edges
  lathe-gen [options] expand OP...      write the sources of some ops
  lathe-gen [options] all               both, for every op
  lathe-gen [options] show OP...        print the stages' records of some ops: the graph, the passes over the data, how
                                        each kernel's work is cut, the launches of a call
  lathe-gen [options] export OP...      write C files of some ops that another program can take; see export --help
  lathe-gen [options] ops               list the ops that are built, a line each
  lathe-gen [options] size              count the kernels and kilobytes that all of it would be
  lathe-gen [options] cost              tell which files took long in the last build, by ninja's log
  lathe-gen [options] shards N          share the files of a build out to N machines
  lathe-gen [options] definitions FILE  write definitions by which an editor completes a spec

  --src DIR                 where specs/ is, and templates/ where they are not those installed (.)
  --out DIR                 where to write (out/gen)
  --backend NAME            make kernels for this backend; may be given again (all)
  --disabled NAME=REASON    why a backend is off, for the table; where NAME is BACKEND:EXTENSION,
                            why its kernels that need the extension are
  --processor NAME          make kernels for the instruction sets of these processors: x86_64, aarch64, ... (this
                            machine's)
  --ops LIST                build these ops, names or globs, with their gradients; -NAME leaves one out (all)
  --dtypes LIST             build these precisions (all)
  --spec FILE               read this spec alone, as in --spec specs/add.lua (all below specs/)
  --stage NAME              what show prints: trace, program, schedule or launch (all of them)
  --no-line                 leave #line out of generated files
  --help                    print this

C that it makes includes call.h and the headers beside its templates; an installed lathe-gen comes with
a file for pkg-config that says where they are, and how to compile: cc $(pkg-config --cflags lathe) ...
]]

local usage_of_export = [[
lathe-gen export OP... writes C files that another program can take, and compile as C11 or C++17 with its own flags:

  OP.h       the functions: one for each precision, with what they compute, how exact they are and what they return
  OP.c       the kernels of all processors, of which a call takes the best that this one has; needs libc alone
  OP_test.c  a program that holds OP.c against a reference in higher precision: cc OP.c OP_test.c -lm && ./a.out

  --out DIR        where to write (.); files that are no such ones are left alone
  --gradient       the gradients of the ops too, as OP_backward.h and so on
  --dtypes LIST    these precisions, as in --dtypes f32,f16 (all that the op has)
  --variants LIST  these variants, names or globs as out/bench --list-variants has them (those that dispatch may take)
  --backends LIST  for these kinds of devices, of cpu, cuda and vulkan (cpu); of GPUs see below
  --backend NAME   for this instruction set; may be given again (all, but for those that ops have by name alone)
  --found FILE     say in headers how far off results were found to be, of rows that `out/bench --csv FILE` wrote
  --prefix NAME    begin all names with it, as in --prefix mine_: mine_softmax.h (none)
  --python NAME    and a package NAME for Python around them: `pip wheel ./DIR` makes one wheel, for 3.11 and later;
                   with --backends cpu,cuda for tensors on GPUs too, after 'ninja export-OP' of all its ops
  --tvm-ffi        functions for TVM-FFI in that package, __tvm_ffi_OP
  --src DIR        where specs/ is, with ops of your own (., or what is installed where that has none);
                   --spec FILE reads one spec alone

  lathe-gen export softmax --dtypes f32 --gradient --out vendor
  lathe-gen export --python mine softmax gelu --gradient --out mine

For GPUs the build's compilers make device code. 'ninja export-OP' in its folder has an op and its gradient made, and
writes all files to out/export; EXPORT='--dtypes f32' in the environment has options for it. These files are C11:

  OP_cuda.h, OP_cuda.c, OP_cuda_test.c        kernels put on a stream of the caller's, by NVIDIA's driver alone
  OP_vulkan.h, OP_vulkan.c, OP_vulkan_test.c  kernels recorded into a command buffer of the caller's

  --images DIR     where the build makes device code (out/gen)
  --raw            device code alone, as .cubin, .ptx and .spv, and OP.json, which says what calls launch
]]

local function parse(arguments)
  local options = {
    src = ".", reasons = {}, line = true, processor = host.processor, words = {},
  }
  local i = 1
  local function value()
    i = i + 1
    if (arguments[i] or "") == "" then
      text.refuse("%s: expected a value after it; see lathe-gen --help", arguments[i - 1])
    end
    return arguments[i]
  end
  for _, argument in ipairs(arguments) do
    if argument:find "%c" then
      text.refuse("expected arguments without line breaks and the like, found '%s'", (argument:gsub("%c", "?")))
    end
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
    elseif argument == "--processor" then
      options.processor = value()
    elseif argument == "--ops" then
      options.ops = value()
    elseif argument == "--dtypes" then
      options.dtypes = value()
    elseif argument == "--spec" then
      options.spec = value()
    elseif argument == "--stage" then
      options.stage = value()
    elseif argument == "--backends" then
      options.kinds = value()
    elseif argument == "--raw" then
      options.raw = true
    elseif argument == "--images" then
      options.images = value()
    elseif argument == "--variants" then
      options.variants = value()
    elseif argument == "--gradient" then
      options.gradient = true
    elseif argument == "--prefix" then
      options.prefix = value()
    elseif argument == "--python" then
      options.python = value()
    elseif argument == "--found" then
      options.found = value()
    elseif argument == "--tvm-ffi" then
      options.tvm_ffi = true
    elseif argument == "--no-line" then
      options.line = false
    elseif argument == "--help" then
      options.help = true
    elseif argument:sub(1, 1) == "-" then
      text.refuse("unknown option '%s'%s; see lathe-gen --help", argument, text.did_you_mean(argument,
        { "--src", "--out", "--backend", "--disabled", "--processor", "--ops", "--dtypes", "--spec", "--stage",
          "--variants", "--gradient", "--prefix", "--python", "--tvm-ffi", "--found", "--backends", "--images", "--raw",
          "--no-line", "--help" }))
    else
      table.insert(options.words, argument)
    end
    i = i + 1
  end
  return options
end

local largest_source = 1 << 20 -- bytes, of a spec or a template

-- Where the templates are: in the source folder, or where they were installed with this program.
local function template_root(src)
  for _, root in ipairs { src, host.program and host.program:gsub("[^/]*/[^/]*$", "share/lathe") } do
    if host.files.list(root .. "/templates", "/") then
      return root
    end
  end
  return src
end

-- Where an export's specs are: those installed with this program, where no others were named and none are here.
local function spec_root(options)
  local root = template_root(options.src)
  local is_elsewhere = options.src == "." and not options.spec and not host.files.list("specs", ".lua")
  return is_elsewhere and host.files.list(root .. "/specs", ".lua") and root or options.src
end

-- Reads below the source folder, templates from where they are, and remembers what was read.
local function recording_reader(src)
  local reads, seen = {}, {}
  local root_of_templates = template_root(src)
  local roots = { templates = root_of_templates, runtime = root_of_templates }
  local function path_of(path)
    local root = roots[string.match(path, "^[^/]*")] or src -- an include is read with few methods of strings
    return root == "." and path or root .. "/" .. path
  end
  local function record(path)
    if not seen[path] then
      seen[path] = true
      reads[#reads + 1] = path
    end
  end
  return {
    reads = reads,
    path_of = path_of,
    read = function(path)
      local full = path_of(path)
      local content, message = host.files.read(full, largest_source)
      if content then
        record(full)
      end
      return content, message and message:sub(#full + 3)
    end,
    list = function(path, suffix)
      local full = path_of(path)
      record(full)
      local found, message = host.files.list(full, suffix)
      return found, message and message:sub(#full + 3)
    end,
  }
end

local function checked(result, message)
  if result == nil then
    text.fail("lathe-gen", "%s; check the folder's permissions and free space", message)
  end
  return result
end

-- The material of a command: run.all has all ops, run.ops the ones that are not aside.
local function prepare(options)
  local reader = recording_reader(options.src)
  local run = { options = options, reader = reader, backends = {} }
  local known = backends.read(reader, options.backends, options.reasons, options.processor)
  for _, backend in ipairs(known) do
    table.insert(run.backends, not backend.elsewhere and backend or nil)
  end
  run.ops = schema.check(options.spec and load_stage.file(reader, options.spec) or load_stage.all(reader), known)
  if #run.ops == 0 then
    text.fail("specs", "expected at least one spec that declares an op, found none")
  end
  for _, op in ipairs(run.ops) do
    text.about(op)
    op.planned = variants.of(op, known)
  end
  text.about(nil)
  parts.choose(run.ops, options.ops, options.dtypes, not options.spec)
  parts.group(run.ops)
  run.all, run.ops = run.ops, {}
  for _, op in ipairs(run.all) do
    op.sources = sources.of(op)
    run.ops[#run.ops + 1] = not op.aside and op or nil
  end
  return run
end

local function write(run, path, content)
  return checked(host.files.write(run.options.out .. "/" .. path, content))
end

local function write_index(run)
  local out = run.options.out
  local manifest = edges.manifest(run.all)
  local old = host.files.read(out .. "/manifest.txt")
  if old and old ~= manifest then
    for _, path in ipairs(edges.stale(old, manifest)) do
      checked(host.files.remove(out .. "/" .. path))
    end
  end
  write(run, "manifest.txt", manifest)
  write(run, "table.c", dispatch.write(run.ops, run.backends))
  write(run, "types.h", types.header())
  local kernels = {}
  for _, op in ipairs(run.ops) do
    for _, member in ipairs(library.members(op)) do
      table.move(member.kernels, 1, #member.kernels, #kernels + 1, kernels)
    end
  end
  write(run, "all_kernels.c", dispatch.all_kernels(kernels))
  write(run, "kernels.ninja", edges.ninja(run.all, out, "out/lathe-gen") .. "\n" .. shards.edges(out .. "/shards"))
  checked(host.files.write(out .. "/kernels.ninja.d", edges.depfile(out .. "/kernels.ninja", run.reader.reads)))
end

local function expander(reader, options)
  return template.engine(reader.read, { line = options.line and reader.path_of })
end

-- Calls take(path, text) for the sources of an op: trace, program, schedule, pour.
local function expand_op(op, engine, options, take)
  trace.op(op)
  pour.op(engine, schedule.of(program.of(names.in_code(op))), options, take)
end

-- What programs link of a traced op.
local function write_library(run, op)
  library.write(op, function(path, content)
    write(run, path, content)
  end)
end

-- The same for the sources of all ops, one op after the other.
local function expand_all(run, engine, take)
  for _, op in ipairs(run.ops) do
    expand_op(op, engine, run.options, take)
    -- Done with, and may be large.
    op.called, op.graph, op.values, op.magnitudes = nil, nil, nil, nil
    op.steps, op.stream, op.sequence = nil, nil, nil
  end
end

-- The table of an op's own bench program, which has its gradient too: all of them traced.
local function write_own_table(run, op)
  if op.alone then
    write(run, op.alone.table, dispatch.write(op.alone.ops, run.backends))
  end
end

-- The ops with these names, for a command.
local function named_ops(run, wanted, command)
  local by_name = {}
  for _, op in ipairs(run.all) do
    by_name[op.name] = op
  end
  return text.map(wanted, function(name)
    local op = by_name[name]
    if not op then
      text.refuse("%s: unknown op '%s'%s", command, name, text.did_you_mean(name, text.sorted_keys(by_name)))
    elseif op.left_out then
      local reason = command == "export" and op.left_out:gsub("by configure ", "by ") or op.left_out
      text.refuse("%s: '%s' is %s", command, name, reason)
    end
    return op
  end)
end

-- The ops with these names, and their specs alone.
local function expand_some(options, words)
  local run = prepare(options)
  for _, op in ipairs(named_ops(run, words, "expand")) do
    -- What this op is made from: its own spec, not the others that were read to find it.
    local reader = recording_reader(options.src)
    backends.read(reader, options.backends, options.reasons, options.processor)
    for _, file in ipairs(op.files) do
      reader.read(file)
    end
    expand_op(op, expander(reader, options), options, function(path, content)
      write(run, path, content)
    end)
    for _, member in ipairs(op.alone and op.alone.ops or {}) do
      trace.op(member)
    end
    write_own_table(run, op)
    write_library(run, op)
    write(run, op.name .. "/expand.d", edges.depfile(options.out .. "/" .. op.sources[1].path, reader.reads))
  end
end

local function index(options)
  local run = prepare(options)
  for _, op in ipairs(run.ops) do
    trace.op(op)
  end
  write_index(run)
end

local function all(options)
  local run = prepare(options)
  expand_all(run, expander(run.reader, options), function(path, content)
    write(run, path, content)
  end)
  for _, op in ipairs(run.ops) do
    write_own_table(run, op)
    write_library(run, op)
  end
  write_index(run)
end

local function show_some(options, words)
  local stages = { "trace", "program", "schedule", "launch" }
  if options.stage and not text.contains(stages, options.stage) then
    text.refuse("--stage: expected %s, found '%s'%s", text.one_of(stages), options.stage,
      text.did_you_mean(options.stage, stages))
  end
  local lines, run = {}, prepare(options)
  for _, op in ipairs(named_ops(run, words, "show")) do
    trace.op(op)
    local programs = program.of(op)
    local scheduled = schedule.of(programs)
    local records = { trace = op, program = programs, schedule = scheduled, launch = scheduled }
    for _, stage in ipairs(stages) do
      if stage == (options.stage or stage) then
        lines[#lines + 1] = op.name .. ": " .. stage
        show[stage](records[stage], lines, run.reader)
      end
    end
  end
  io.write(table.concat(lines, "\n"), "\n")
end

local function export_some(options, words)
  export_command({
    prepare = prepare, spec_root = spec_root, expander = expander, expand_op = expand_op, named_ops = named_ops,
    checked = checked,
  }, options, words)
end

local function list_ops(options)
  for _, op in ipairs(prepare(options).ops) do
    if not op.left_out then
      print(op.name)
    end
  end
end

local function count_sources(options)
  local run = prepare(options)
  local lengths = {}
  expand_all(run, expander(run.reader, options), function(path, content)
    lengths[path] = #content
  end)
  io.write(cost.generated(run.ops, run.backends, lengths))
end

-- Where ninja says what it has built, and when.
local function log_of(options)
  return options.out:gsub("[^/]*$", "") .. ".ninja_log"
end

local function share_out(options, words)
  local count = shards.count_of(words[1])
  local run = prepare(options)
  write(run, "shards/" .. count, shards.write(run.ops, options.out, host.files.read(log_of(options)) or "", count))
end

local function tell_cost(options)
  local run = prepare(options)
  local log = log_of(options)
  local report = cost.compiled(run.ops, run.backends, options.out, host.files.read(log) or "")
  if not report then
    text.fail(log, "expected how long kernels took to compile, found none; build them first, by ninja")
  end
  io.write(report)
end

local function define(options, words)
  local known = backends.read(recording_reader(options.src), options.backends, options.reasons, options.processor)
  checked(host.files.write(words[1], definitions.write(known)))
end

-- What a command is called with: the words after it, least and most.
local commands = {
  index = { run = index, takes = "no word", least = 0, most = 0 },
  expand = { run = expand_some, takes = "the names of ops", least = 1, most = math.huge },
  all = { run = all, takes = "no word", least = 0, most = 0 },
  export = { run = export_some, takes = "the names of ops", least = 1, most = math.huge, out = ".",
    help = usage_of_export },
  show = { run = show_some, takes = "the names of ops", least = 1, most = math.huge },
  ops = { run = list_ops, takes = "no word", least = 0, most = 0 },
  size = { run = count_sources, takes = "no word", least = 0, most = 0 },
  cost = { run = tell_cost, takes = "no word", least = 0, most = 0 },
  shards = { run = share_out, takes = "a number", least = 1, most = 1 },
  definitions = { run = define, takes = "one file", least = 1, most = 1 },
}

local function run_command(...)
  local options = parse { ... }
  local name = table.remove(options.words, 1)
  local command = commands[name]
  if options.help then
    io.write(command and command.help or usage)
    return
  end
  if not command then
    text.refuse("%s; expected index, expand OP..., all, show OP..., export OP..., ops, size, cost, shards N or "
      .. "definitions FILE; see lathe-gen --help", name and "unknown command " .. text.show(name)
      .. text.did_you_mean(name, text.sorted_keys(commands))
      or "no command")
  elseif #options.words < command.least or #options.words > command.most then
    text.refuse("%s: expected %s after it, found %s; see lathe-gen --help", name, command.takes,
      #options.words == 0 and "nothing" or "'" .. table.concat(options.words, " ") .. "'")
  end
  options.out = options.out or command.out or "out/gen"
  command.run(options, options.words)
end

-- Runs a command line; returns the exit status: 1 for a fault in specs, templates or files, 2 for
-- a bad call.
return function(...)
  collectgarbage("incremental", 800, 400) -- seldom: what is made are lines, of which an op's are gone with it
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
