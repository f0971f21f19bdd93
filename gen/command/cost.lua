-- What ops cost: the kernels and bytes of text that are generated for them, and, by ninja's log, the seconds and
-- bytes of what is compiled from these.

local text = require "text"

local cost = {}

local dearest = 15 -- ops, and files, that are shown

-- The columns of both tables: the backends, and what every op has besides.
local function columns(backends)
  local names = text.map(backends, function(backend)
    return backend.name
  end)
  names[#names + 1] = "reference"
  return names
end

local function column_of(file)
  return file.reference and "reference" or file.backend.name
end

local function kernels_of(file)
  local count = 0
  for _, part in ipairs(not file.host and file.parts or {}) do
    count = count + #part.variants
  end
  return count
end

local function add(sums, key, value)
  sums[key] = (sums[key] or 0) + value
end

-- ---- what is generated -------------------------------------------------------------------------------

-- A table of the kernels of each op and backend, and of the kilobytes of their sources with their hosts' sides.
-- texts: the length of each source by its path.
function cost.generated(ops, backends, texts)
  local lines, names = {}, columns(backends)
  local all_kernels, all_bytes = {}, {}
  local function line(name, kernels, bytes)
    local cells = { string.format("%-22s", name) }
    for i, column in ipairs(names) do
      local count, size = kernels[column] or 0, bytes[column]
      cells[i + 1] = string.format("%3s %4s", count > 0 and count or "-",
        size and string.format("%.0f", size / 1000) or "-")
    end
    lines[#lines + 1] = table.concat(cells, " "):gsub(" +$", "")
  end
  lines[1] = "# Kernels of each op and backend, and kilobytes of their sources: what compiling takes grows with both."
  lines[2] = string.format("%-22s", "op")
  for _, name in ipairs(names) do
    lines[2] = lines[2] .. string.format(" %8s", name == "reference" and "ref." or name)
  end
  for _, op in ipairs(ops) do
    local kernels, bytes = {}, {}
    for _, file in ipairs(op.sources) do
      local column = column_of(file)
      for _, sums in ipairs { kernels, all_kernels } do
        add(sums, column, kernels_of(file))
      end
      for _, sums in ipairs { bytes, all_bytes } do
        add(sums, column, texts[file.path])
      end
    end
    line(op.name, kernels, bytes)
  end
  line("all", all_kernels, all_bytes)
  return table.concat(lines, "\n") .. "\n"
end

-- ---- what was compiled -------------------------------------------------------------------------------

-- The seconds of the last build of each file, by its path, and of all edges but of those in `except`.
function cost.read_log(log)
  local seconds, edges = {}, {}
  for from, to, path, edge in log:gmatch "(%d+)\t(%d+)\t%d+\t([^\t\n]+)\t(%x+)" do
    seconds[path] = (to - from) / 1000
    edges[path] = from .. "-" .. to .. "-" .. edge
  end
  return seconds, edges
end

-- The bytes of an object of 64 bits that go into a program: its loaded sections.
local function loaded_bytes(object)
  if object:sub(1, 6) ~= "\127ELF\2\1" then
    return 0
  end
  local at, size, count = string.unpack("<I8", object, 41), string.unpack("<I2I2", object, 59)
  local bytes = 0
  for section = 0, count - 1 do
    local kind, flags, _, _, length = string.unpack("<I4I8I8I8I8", object, at + section * size + 5)
    local no_bits = 8
    bytes = bytes + (flags & 2 ~= 0 and kind ~= no_bits and length or 0)
  end
  return bytes
end

-- What files there are of the ops: { path, op, column, kernels, seconds, bytes }.
local function compiled_files(ops, out, seconds)
  local files = {}
  for _, op in ipairs(ops) do
    for _, file in ipairs(op.sources) do
      local path = out .. "/" .. file.made
      if seconds[path] then
        files[#files + 1] = {
          path = path, op = op.name, column = column_of(file), kernels = kernels_of(file), seconds = seconds[path],
          bytes = loaded_bytes(host.files.read(path) or ""),
        }
      end
    end
  end
  return files
end

-- A list's rows by falling seconds, and what is the same then by name.
local function sorted(rows)
  table.sort(rows, function(a, b)
    if a.seconds ~= b.seconds then
      return a.seconds > b.seconds
    end
    return a.name < b.name
  end)
  return rows
end

-- A report of what the last build of everything took, as far as ninja's log tells; nil where that has no kernel.
function cost.compiled(ops, backends, out, log)
  local seconds, edges = cost.read_log(log)
  local files = compiled_files(ops, out, seconds)
  if #files == 0 then
    return nil
  end
  local lines, names = {}, columns(backends)
  local rows, by_op, all = {}, {}, { name = "all", seconds = 0, bytes = 0 }
  local known = {}
  for _, file in ipairs(files) do
    local row = by_op[file.op] or { name = file.op, seconds = 0, bytes = 0 }
    if not by_op[file.op] then
      by_op[file.op], rows[#rows + 1] = row, row
    end
    for _, sums in ipairs { row, all } do
      add(sums, "seconds", file.seconds)
      add(sums, "bytes", file.bytes)
      add(sums, file.column, file.seconds)
    end
    file.name, known[edges[file.path]] = file.path, true
  end

  local function op_line(row)
    local cells = string.format("%-22.22s %8.1f", row.name, row.seconds)
    for _, name in ipairs(names) do
      cells = cells .. (row[name] and string.format(" %6.1f", row[name]) or "      -")
    end
    return cells .. string.format(" %8.0f", row.bytes / 1000)
  end
  lines[1] = string.format("%-22s %8s", "op", "seconds")
  for _, name in ipairs(names) do
    lines[1] = lines[1] .. string.format(" %6s", name == "reference" and "ref." or name)
  end
  lines[1] = lines[1] .. "       KB"
  sorted(rows)
  for i = 1, math.min(dearest, #rows) do
    lines[#lines + 1] = op_line(rows[i])
  end
  if #rows > dearest then
    lines[#lines + 1] = string.format("... and %d more", #rows - dearest)
  end
  lines[#lines + 1] = op_line(all)

  lines[#lines + 1] = "\n seconds kernels    each  file"
  sorted(files)
  for i = 1, math.min(dearest, #files) do
    local file = files[i]
    lines[#lines + 1] = string.format("%8.1f %7s %7s  %.73s", file.seconds, file.kernels > 0 and file.kernels or "-",
      file.kernels > 0 and string.format("%.2f", file.seconds / file.kernels) or "-", file.path)
  end

  local rest = 0
  for path, edge in text.sorted_pairs(edges) do
    if not known[edge] then
      known[edge] = true
      rest = rest + seconds[path]
    end
  end
  lines[#lines + 1] = string.format("\n%.1f s of compiling in %d files, and %.1f s of all else that ninja ran here "
    .. "last: generating, the\nruntime, tests, links", all.seconds, #files, rest)
  return table.concat(lines, "\n") .. "\n"
end

return cost
