-- The command `lathe-gen export`: which files, and the command that makes them again.

local export = require "export"
local found_errors = require "found"
local instruction_sets = require "instruction_sets"
local parts = require "parts"
local python = require "python"
local sources = require "sources"
local text = require "text"
local trace = require "trace"

local largest_file = 1 << 28 -- bytes, of what is read in a build folder or replaced

-- The kinds of devices that --backends lists, in the order in which there are variants for them.
local function kinds_of(options)
  local there, known, kinds = { "cpu", "cuda", "vulkan" }, {}, {}
  for name in ((options.kinds or "cpu") .. ","):gmatch "([^,]*)," do
    if not text.contains(there, name) then
      text.refuse("--backends: expected %s, found '%s'%s", text.one_of(there), name,
        text.did_you_mean(name, there))
    end
    known[name] = true
  end
  for _, kind in ipairs(there) do
    kinds[#kinds + 1] = known[kind] and kind or nil
  end
  return kinds
end

-- Options as they were given, as words.
local function given_options(options, wanted, has_sets)
  local given = {}
  for _, name in ipairs(wanted) do
    local option = "--" .. name:gsub("_", "-")
    local words = options[name] == true and { option } or { option, options[name] }
    table.move(words, 1, options[name] and #words or 0, #given + 1, given)
  end
  for _, set in ipairs(has_sets and options.asked and instruction_sets.rows or {}) do
    if options.backends[set.name] then
      table.move({ "--backend", set.name }, 1, 2, #given + 1, given)
    end
  end
  return given
end

local function shell_words(words)
  return table.concat(text.map(words, text.shell_word), " ")
end

-- The words that make the files of an op again; the build makes those for GPUs.
local function export_command(options, op, kind)
  local is_made = kind ~= "cpu"
  local words = is_made and "ninja " .. text.shell_word("export-" .. (op.forward and op.forward.name or op.name))
    or shell_words { "lathe-gen", "export", op.name }
  local given = given_options(options, { "dtypes", "variants", "found", "prefix" }, not is_made)
  if options.raw then
    table.move({ "--raw", "--backends", options.kinds }, 1, 3, #given + 1, given)
  end
  given = shell_words(given)
  return given == "" and words or is_made and "EXPORT=" .. text.shell_word(given) .. " " .. words
    or words .. " " .. given
end

-- Those that make a package for Python again, in which all belongs together.
local function package_command(options, ops)
  local words = { "lathe-gen", "export", table.unpack(ops) }
  local given = given_options(options, { "python", "dtypes", "variants", "found", "prefix", "gradient", "tvm_ffi" },
    true)
  if options.kinds then
    table.move({ "--backends", options.kinds }, 1, 2, #given + 1, given)
  end
  return shell_words(table.move(given, 1, #given, #words + 1, words))
end

-- Calls a reader's read(path) for a header or C file of the library, or for a template.
local function library_file(reader, name)
  for _, folder in ipairs { "", "templates/c/", "templates/gpu/", "runtime/library/" } do
    local found = (folder ~= "" or name:find "/") and reader.read(folder .. name)
    if found then
      return found
    end
  end
  text.fail(name, "expected this header beside templates/, in runtime/library")
end

-- Every file is there before the first one is written. stages: functions of driver.lua.
return function(stages, options, words)
  local marks, kinds = { "Make it again with:\n", "lathe-gen export " }, kinds_of(options)
  if options.raw and text.contains(kinds, "cpu") then
    text.refuse("--raw: expected --backends cuda, vulkan or both, found cpu, which has no device code")
  end
  if not text.is_name(options.prefix or "a") then
    text.refuse("--prefix: expected %s, found %s", text.a_name, text.show(options.prefix))
  end
  if options.tvm_ffi and not options.python then
    text.refuse("--tvm-ffi: expected --python NAME, the package that has these functions")
  end
  if options.python then
    python.check_name(options.python)
    if kinds[1] ~= "cpu" or kinds[#kinds] == "vulkan" then
      text.refuse("--python: expected --backends cpu or cpu,cuda, found %s", options.kinds)
    end
  end
  options.src = stages.spec_root(options)
  options.processor, options.line, options.asked = "any", false, options.backends
  options.backends = options.backends or {}
  for _, set in ipairs(text.contains(kinds, "cpu") and not options.asked and instruction_sets.rows or {}) do
    options.backends[set.name] = true
  end
  for _, kind in ipairs(kinds) do
    options.backends[kind] = kind ~= "cpu" or nil
  end
  local run, files, exported, ops = stages.prepare(options), {}, {}, {}
  for _, op in ipairs(stages.named_ops(run, words, "export")) do
    ops[#ops + 1] = not text.contains(ops, op) and op or nil
  end
  for _, op in ipairs(options.gradient and run.all or {}) do
    local wanted = text.contains(ops, op.forward) and not op.left_out and not text.contains(ops, op)
    ops[#ops + 1] = wanted and op or nil
  end
  -- is_ours(old): whether a file that is there may be replaced.
  local function keep(path, content, is_ours)
    path = options.out .. "/" .. path
    local old = host.files.read(path, largest_file)
    if old and old ~= content and not is_ours(old) then
      text.fail(path, "expected a file of 'lathe-gen export' to be replaced, found another; move it away")
    end
    files[#files + 1] = { path = path, content = content }
  end
  local function keep_text(path, content)
    keep(path, content, function(old)
      local begins = old:sub(1, 4096)
      return begins:find(marks[1], 1, true) or begins:find(marks[2], 1, true)
    end)
  end
  local by_variant = options.found
    and found_errors.read(stages.checked(host.files.read(options.found, largest_file)), options.found)
  local command_of_all = options.python and package_command(options, words)
  for _, op in ipairs(ops) do
    local matches = options.variants and parts.matcher(options.variants)
    options.exported = export.choose(op, kinds, matches)
    op.sources = sources.of(op)
    local engine, poured, by_path = stages.expander(run.reader, options), {}, {}
    export.begin(op, by_path)
    stages.expand_op(op, engine, options, function(path, content)
      poured[by_path[path]] = content
    end)
    local context = {
      engine = engine, prefix = options.prefix or "", poured = poured, images = options.images or "out/gen",
      found = by_variant and function(of, functions)
        return found_errors.sentence(by_variant, of, text.map(functions, function(t)
          return t.dtype
        end))
      end,
      raw = options.raw and {}, spirv_kernel = host.spirv_kernel,
      write = function(path, content)
        keep_text((options.python and "src/" or "") .. path, content)
      end,
      write_raw = function(path, content)
        keep(path, content, function(old)
          return old:sub(1, 4) == content:sub(1, 4) -- as such files begin
        end)
      end,
      read = function(name)
        return library_file(run.reader, name)
      end,
      image = function(path)
        return host.files.read(path, largest_file)
      end,
    }
    for _, kind in ipairs(kinds) do
      export.check(op, kind, matches)
      context.command = command_of_all or export_command(options, op, kind)
      local made = export.op(op, kind, context)
      if kind == "cpu" then
        exported[#exported + 1] = made
      elseif options.python then
        exported[#exported][kind] = made
      end
    end
    if options.raw then
      export.describe(op, context)
    end
  end
  if options.python then
    for _, row in ipairs(exported) do -- a gradient's axes are its op's
      if row.op.forward and not row.op.forward.cut then
        trace.op(row.op.forward)
      end
    end
    python.package(stages.expander(run.reader, options), options.python, exported, run.all, command_of_all,
      options.tvm_ffi, keep_text)
  end
  for _, file in ipairs(files) do
    stages.checked(host.files.write(file.path, file.content))
  end
end
