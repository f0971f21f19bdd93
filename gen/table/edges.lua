-- Writes the build's edges for everything that comes out of the specs, and keeps the list of files
-- that do, so that those no spec asks for any more can be removed.

local library = require "library"
local text = require "text"

local edges = {}

-- What the functions of launches share, which build.ninja.in compiles.
local LAUNCHES = "out/obj/launches.o"

local function ninja_path(path)
  return (path:gsub("[$ :]", "$%0"))
end

-- What compiles a source file: the rule, what else that needs, and the backend's flags.
local function compile(file)
  if file.image then
    return file.backend.rule, {}, file.backend.name .. "_" .. file.parts[1].dtype
  elseif file.host then
    return "cc_host", { file.packed }
  elseif file.reference then
    return "cc_reference", {}
  end
  return "cc_kernel", {}, file.backend.name
end

-- What an image is compiled for, where that is not what its rule says.
local function target_of(file)
  for _, extension in ipairs(file.parts[1].needs) do
    local other = file.backend.targets and file.backend.targets[extension]
    if other then
      return "  target = " .. other
    end
  end
end

-- Targets of build.ninja.in that no op's takes the name of.
local targets = {}
for name in ("always bench cost dist format fuzz install lines lint screenshot test uninstall"):gmatch "%S+" do
  targets[name] = true
end

-- The edge of images as the program carries them; out/bundle is a program of build.ninja.in's.
local function pack(host, path_in_out)
  local images = table.concat(text.map(host.images, function(part)
    return path_in_out(part.image)
  end), " $\n    ")
  return string.format("build %s: pack $\n    %s | out/bundle\n  bundle_flags = $bundle_flags_%s",
    path_in_out(host.packed), images, host.backend.rule)
end

-- The edges of an op's sources and of the files compiled from them; its objects.
local function op_edges(lines, op, path_in_out, generator)
  local sources, compiles, objects = {}, {}, {}
  for _, file in ipairs(op.sources) do
    local rule, needs, flags = compile(file)
    local made = path_in_out(file.made)
    sources[#sources + 1] = "    " .. path_in_out(file.path)
    compiles[#compiles + 1] = string.format("build %s: %s %s", made, rule, path_in_out(file.path))
      .. (#needs > 0 and " | $\n    " .. table.concat(text.map(needs, path_in_out), " $\n    ") or "")
    compiles[#compiles + 1] = flags and "  cflags_backend = $cflags_" .. flags
    compiles[#compiles + 1] = file.image and target_of(file)
    compiles[#compiles + 1] = file.host and pack(file, path_in_out)
    objects[#objects + 1] = not file.image and made or nil
  end
  sources[#sources + 1] = op.alone and "    " .. path_in_out(op.alone.table) or nil
  local files, header = library.files(op)
  for _, file in ipairs(files) do
    sources[#sources + 1] = "    " .. path_in_out(file.path)
  end
  sources[#sources + 1] = header and "    " .. path_in_out(header) or nil
  lines[#lines + 1] = "build $\n" .. table.concat(sources, " $\n") .. ": expand | " .. generator
    .. " out/generator-flags"
  lines[#lines + 1] = "  op = " .. op.name
  lines[#lines + 1] = "  spec = " .. text.shell_word(op.files[1]):gsub("%$", "$$")
  table.move(compiles, 1, #compiles, #lines + 1, lines)
  return objects
end

-- The edges of the bench program of one op, and the targets that go by the names of what is in it.
local function own_edges(lines, op, path_in_out, objects)
  local object, program = path_in_out(op.alone.table:gsub("%.c$", ".o")), "out/bench-" .. op.name
  local own = { object, LAUNCHES }
  for _, member in ipairs(op.alone.ops) do
    table.move(objects[member], 1, #objects[member], #own + 1, own)
  end
  lines[#lines + 1] = string.format("build %s: cc_reference %s", object, path_in_out(op.alone.table))
  lines[#lines + 1] = string.format("build %s: link out/obj/runtime/bench/bench.o $\n    %s | out/runtime.a", program,
    table.concat(own, " $\n    "))
  lines[#lines + 1] = "  libs = $own_libs"
  for _, member in ipairs(op.alone.ops) do
    lines[#lines + 1] = not targets[member.name] and "build " .. member.name .. ": phony " .. program or nil
  end
end

-- The edge that exports an op and its gradient, for all kinds of devices that they have kernels for.
local function export_edge(lines, op, path_in_out)
  local images, kinds, known = {}, {}, {}
  for _, member in ipairs(op.alone.ops) do
    for _, file in ipairs(member.sources) do
      local kind = not file.reference and file.backend.kind
      kinds[#kinds + 1] = kind and not known[kind] and kind or nil
      known[kind] = true
      images[#images + 1] = file.image and path_in_out(file.image) or nil
    end
  end
  lines[#lines + 1] = ("build export-%s: export | $\n    %s"):format(op.name,
    table.concat({ "out/lathe-gen", "always", table.unpack(images) }, " $\n    "))
  lines[#lines + 1] = "  op = " .. op.name
  lines[#lines + 1] = "  kinds = " .. table.concat(kinds, ",")
end

-- The edges of the members of liblathe.a that an op becomes, which are added to a list.
local function library_edges(lines, op, path_in_out, members)
  local objects = {}
  for _, file in ipairs(op.sources) do
    local kind = not file.reference and not file.image and file.backend.kind
    if kind then
      objects[kind] = objects[kind] or {}
      table.insert(objects[kind], path_in_out(file.made))
    end
  end
  for _, file in ipairs(library.files(op)) do
    lines[#lines + 1] = ("build %s: cc_host %s"):format(path_in_out(file.made), path_in_out(file.path))
  end
  for _, member in ipairs(library.members(op)) do
    local made = path_in_out(member.made)
    members[#members + 1] = made
    lines[#lines + 1] = ("build %s: member %s $\n    %s"):format(made, path_in_out(member.of.made),
      table.concat(objects[member.of.kind], " $\n    "))
    lines[#lines + 1] = "  roots = -Wl,-u," .. table.concat(member.roots, ",-u,")
  end
end

-- The text of kernels.ninja. out: the output folder as ninja sees it.
function edges.ninja(ops, out, generator)
  local lines = {
    "# Generated by lathe-gen from specs/; do not edit. Which kernels there are to build.",
    "",
  }
  local function path_in_out(path)
    return ninja_path(out .. "/" .. path)
  end
  local objects, all = {}, { path_in_out "table.o", LAUNCHES }
  for _, op in ipairs(ops) do
    if not op.left_out then
      objects[op] = op_edges(lines, op, path_in_out, generator)
      table.move(objects[op], 1, op.aside and 0 or #objects[op], #all + 1, all)
      lines[#lines + 1] = ""
    elseif not targets[op.name] then
      lines[#lines + 1] = "build " .. op.name .. ": left_out\n  why = " .. op.name .. " is " .. op.left_out .. "\n"
    end
  end
  local members = { path_in_out "all_kernels.o", LAUNCHES }
  for _, op in ipairs(ops) do
    if not op.left_out then
      library_edges(lines, op, path_in_out, members)
    end
  end
  lines[#lines + 1] = ("build %s: cc_host %s"):format(members[1], path_in_out "all_kernels.c")
  lines[#lines + 1] = "build out/liblathe.a: ar_library " .. table.concat(members, " $\n    ") .. " | out/library.a"
  lines[#lines + 1] = ""
  for _, op in ipairs(ops) do
    if op.alone then
      own_edges(lines, op, path_in_out, objects)
      export_edge(lines, op, path_in_out)
      lines[#lines + 1] = ""
    end
  end
  lines[#lines + 1] = string.format("build %s: cc_reference %s", all[1], path_in_out "table.c")
  lines[#lines + 1] = "build " .. path_in_out "kernels.a" .. ": ar $\n    " .. table.concat(all, " $\n    ")
  return table.concat(lines, "\n") .. "\n"
end

-- The text of the manifest: a path below the output folder a line, of sources and of what is made of several.
function edges.manifest(ops)
  local lines = {}
  for _, op in ipairs(ops) do
    for _, file in ipairs(op.sources) do
      lines[#lines + 1] = file.path
    end
    lines[#lines + 1] = op.alone and op.alone.table or nil
    local files, header = library.files(op)
    for _, file in ipairs(files) do
      lines[#lines + 1] = file.path
    end
    for _, member in ipairs(library.members(op)) do
      lines[#lines + 1] = member.made
    end
    lines[#lines + 1] = header
  end
  return table.concat(lines, "\n") .. "\n"
end

-- What the build makes of a source file, by its ending; and beside it for a whole op. Some of it is there
-- only where a step of the build was cut short.
local made = { ".o", ".o.d", ".image", ".image.d", ".image.clusters", ".image.spv", ".image.taken", ".images.xz",
  ".images.xz.tmp", ".images.xz.bundle" }
local made_of_op = { "expand.d" }

-- The files of an old manifest that a new one lacks, with what was built from them, each ahead of its folder,
-- which is wanted no more either. Paths that are no file of an op's folder are left alone.
function edges.stale(old, new)
  local kept, stale, wanted, folders = {}, {}, {}, {}
  for path in new:gmatch "[^\n]+" do
    kept[path] = true
    wanted[path:match "^[^/]*"] = true
  end
  for path in old:gmatch "[^\n]+" do
    local folder, stem = path:match "^(%l[%l%d_]*)/([%w_]+)%.%l+$"
    if folder and not kept[path] then
      stale[#stale + 1] = path
      for _, ending in ipairs(made) do
        stale[#stale + 1] = folder .. "/" .. stem .. ending
      end
      folders[folder] = not wanted[folder] or nil
    end
  end
  for folder in text.sorted_pairs(folders) do
    for _, name in ipairs(made_of_op) do
      stale[#stale + 1] = folder .. "/" .. name
    end
    stale[#stale + 1] = folder
    stale[#stale + 1] = "../bench-" .. folder
  end
  return stale
end

-- A depfile: target needs every one of the paths.
function edges.depfile(target, paths)
  local function escaped(path)
    return (path:gsub("[ $#]", { [" "] = "\\ ", ["$"] = "$$", ["#"] = "\\#" }))
  end
  return escaped(target) .. ": \\\n  " .. table.concat(text.map(paths, escaped), " \\\n  ") .. "\n"
end

return edges
