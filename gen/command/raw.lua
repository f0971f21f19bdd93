-- Device code in files of their own for programs that load and launch it themselves, and one description in JSON of
-- what a call launches: which kernel, of how many blocks and threads, by expressions of its sizes
-- (templates/gpu/scheme.txt).

local axes = require "axes"
local capacity = require "capacity"
local interface = require "interface"
local raw_steps = require "raw_steps"
local text = require "text"

local raw = {}

-- ---- JSON --------------------------------------------------------------------------------------------

local list_meta = {}

-- A list, which may be empty.
local function list(items)
  return setmetatable(items, list_meta)
end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t" }

local function scalar(value)
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c)
      return escapes[c] or ("\\u%04x"):format(c:byte())
    end) .. '"'
  end
  return math.type(value) == "float" and ("%.17g"):format(value) or tostring(value)
end

local function encode(value, indent)
  if type(value) ~= "table" then
    return scalar(value)
  end
  local is_list, cells, inner = getmetatable(value) == list_meta, {}, indent .. "  "
  if is_list then
    cells = text.map(value, function(item)
      return encode(item, inner)
    end)
  else
    for key, item in text.sorted_pairs(value) do
      cells[#cells + 1] = scalar(key) .. ": " .. encode(item, inner)
    end
  end
  local open, close, line = is_list and "[" or "{", is_list and "]" or "}", table.concat(cells, ", ")
  if #line < 110 - #indent and not line:find "\n" then
    return open .. line .. close
  end
  return open .. "\n" .. inner .. table.concat(cells, ",\n" .. inner) .. "\n" .. indent .. close
end

-- ---- expressions ---------------------------------------------------------------------------------------

local product = raw_steps.product

local fields = { rows = "outer", count = "inner" } -- what C's lathe_call calls otherwise
local modes = { APART = "0", PACKS = "1", FULL = "2", ENDS = "3" }

local function plain(expression)
  expression = expression:gsub("c%.(%a+)", function(field)
    return fields[field] or field
  end)
  return (expression:gsub("LATHE_(%u+)", modes):gsub("limits%->", ""))
end

-- When a way is taken: an expression, and into how many parts rows are split then, or nil.
local function condition(when)
  local parts = when:match "lathe_split%(&c, ([^)]*)%)"
  local split = parts and ("(%s) / max(outer, 1)"):format(plain(parts))
  when = when:gsub("lathe_split%(&c, [^)]*%)", split and split:gsub("%%", "%%%%") .. " > 1" or "")
  return when == "true" and "1" or plain(when), split
end

local function some(points, each, most)
  local groups = ("up(%s, %s)"):format(points, each)
  return ("max(%s, 1)"):format(most and ("min(%s, %s)"):format(groups, most) or groups)
end

-- ---- how blocks are dealt out, as lathe_tiles and so on in launches.c ------------------------------------

-- The threads that share what a kernel deals out.
local function threads_of(k, vulkan)
  local spread = k.spread or 0
  if spread == 0 then
    return tostring(k.threads or 0)
  end
  local step = vulkan and ("max(%d, subgroup)"):format(spread) or tostring(spread)
  local clusters = (k.cluster or 0) > 1 and k.cluster or 1
  local each = k.held and ("%s * %d"):format(step, k.held * clusters) or step
  local most = (k.threads or 0) > 0 and ("%d / %s"):format(k.threads, step) or nil
  return ("%s * %s"):format(some(k.held and "accesses" or "inner", each, most), step)
end

-- A block for each so many points; needs: what must hold besides. or_one: also where there are none.
local function all(points, each, or_one, k, vulkan)
  local groups = ("up(%s, %s)"):format(points, each) .. ((k.cluster or 0) > 1 and " * " .. k.cluster or "")
  local most = vulkan and "if(grid < 65536, grid * grid, 4294967295)" or "grid"
  local x = ("min(%s, grid)"):format(groups)
  return or_one and ("max(%s, 1)"):format(x) or x, ("max(up(%s, grid), 1)"):format(groups), { groups .. " <= " .. most }
end

-- Of each way to deal blocks out: { x, y of the grid, threads of a row, rows of a block, needs, constants }. let(name,
-- expression) names one for the way. of: { width, vulkan, split }.
local deals = {}

function deals.tiles(k, of)
  local x, y, needs = all("inner", k.each, true, k, of.vulkan)
  return { x = x, y = y, threads = threads_of(k, of.vulkan), down = "1", needs = needs, constants = { [2] = "1" } }
end

function deals.waves(k, of)
  return {
    x = some("inner", k.each, ("min(machine * %d, %d)"):format(k.waves, k.most)), y = "1",
    threads = threads_of(k, of.vulkan), down = "1",
  }
end

function deals.rows(k, of)
  local x, y, needs = all("outer", k.rows, true, k, of.vulkan)
  return { x = x, y = y, threads = threads_of(k, of.vulkan), down = tostring(k.rows), needs = needs }
end

function deals.blocks(k, of, let)
  local threads = let("threads", threads_of(k, of.vulkan))
  for _ = 1, of.vulkan and 5 or 0 do
    threads = let("threads", ("if(%s > group, %s / 2, %s)"):format(threads, threads, threads))
  end
  local x, y, needs = all("outer", "1", of.vulkan, k, of.vulkan)
  return { x = x, y = y, threads = threads, down = "1", needs = needs }
end

function deals.stay(k, of, let)
  local threads = let("threads", threads_of(k, of.vulkan))
  local at_once = of.vulkan and tostring(k.rows) or let("at_once", ("%d / (%s)"):format(k.rows, threads))
  local most = ("machine * %d"):format(k.waves)
  most = of.partials and ("min(%s, partials)"):format(most) or most
  return {
    x = some("outer", ("(%s * period)"):format(at_once), ("%s / period"):format(most)) .. " * period", y = "1",
    threads = threads, down = at_once,
  }
end

function deals.parts_of_rows(k, of)
  local x = of.vulkan and some("inner", k.each * of.width, of.split) or some("accesses", k.each, of.split)
  return { x = x, y = "outer", threads = threads_of(k, of.vulkan), down = "1" }
end

function deals.join(k, of)
  return { x = "1", y = "outer", threads = threads_of(k, of.vulkan), down = "1" }
end

-- The threads of a tile of columns that share a row, where tiles leave partial results: few beyond the row's end.
local function lanes_of(k, of, let, inner, least)
  local lanes = tostring(k.threads)
  for _ = 1, 2 do
    lanes = let("lanes", ("if(%s > 32 && up(%s, %s * %d) * (%s * %d) - %s > %s / 16, %s / 2, %s)"):format(
      lanes, inner, lanes, of.width, lanes, of.width, inner, inner, lanes, lanes))
  end
  for _ = 1, (k.spread or 0) > 0 and 7 or 0 do
    lanes = let("lanes", ("if(%s > %s && %s / 2 * %d >= %s, %s / 2, %s)"):format(lanes, least, lanes,
      of.width, inner, lanes, lanes))
  end
  return lanes
end

-- On CUDA tiles are as wide as rows want, and have threads enough for their ends. inner, outer, period: of the rows.
local function columns_cuda(k, of, let, inner, outer, period, partials)
  local packs = let("packs", ("up(%s, %d)"):format(inner, of.width))
  local least = period == "period" and "least" or "1"
  local wanted = of.partials and lanes_of(k, of, let, inner, least)
    or ("up(%s, max(up(%s, %d), 1))"):format(packs, packs, k.threads)
  local lanes = let("lanes", ("max(%s, %s)"):format(wanted, least))
  local at_once = let("at_once", ("%d / %s"):format(k.rows, lanes))
  local across = let("across", some(inner, ("(%s * %d)"):format(lanes, of.width)))
  local waves, each = ("machine * %d"):format(k.waves), ("(%s * %s)"):format(at_once, period)
  local down
  if of.partials then
    down = some(waves, ("(%s * %s)"):format(across, period), ("%s / %s"):format(partials, period))
  else
    down = let("down", ("max(%s / (%s * %s), 1)"):format(waves, across, period))
    each = let("each", ("%s * %d"):format(each, k.each))
    each = ("(%s * max(up(%s, %s * %s), 1))"):format(each, outer, each, down)
  end
  return {
    x = across, y = ("%s * %s"):format(some(outer, each, let("share", down)), period), threads = lanes, down = at_once,
  }
end

function deals.columns_of_several(k, of, let)
  return columns_cuda(k, of, let, let("several", ("inner * %d"):format(of.width)),
    let("rows", ("up(outer, %d)"):format(of.width)), "1", ("partials / %d"):format(of.width))
end

function deals.columns(k, of, let)
  if not of.vulkan then
    return columns_cuda(k, of, let, "inner", "outer", "period", "partials")
  end
  local across = let("across", "if(mode == 1, 1, 8)")
  for _ = 1, 10 do
    across = let("across", ("if(%s < %d && %s * %d < inner, %s * 2, %s)"):format(across, k.threads, across, of.width,
      across, across))
  end
  local tiles = let("tiles", some("inner", ("(%s * %d)"):format(across, of.width)))
  local waves = ("machine * %d / %s"):format(k.waves, tiles)
  waves = of.partials and ("min(%s, partials)"):format(waves) or ("(%s)"):format(waves)
  local share = let("share", waves .. " / period")
  return {
    x = ("if(%s <= grid, %s, 0)"):format(tiles, tiles),
    y = some("outer", ("(%d / %s * period)"):format(k.threads * k.each, across), share) .. " * period",
    threads = tostring(k.threads), down = "1", constants = { [2] = across },
  }
end

function deals.merge(k, of)
  local x, y, needs = all("inner", k.each, true, k, of.vulkan)
  return {
    x = x, y = y, threads = tostring(k.each), down = tostring(k.rows), needs = needs,
    constants = { [2] = "1", [3] = "0" },
  }
end

-- ---- ways -----------------------------------------------------------------------------------------------

-- One kernel of a way, with what must hold for it. file_of(number): Vulkan's, of a kernel's number.
local function launch_of(entry, of, let, file_of)
  local k, names = entry.kernel, entry.names
  local dealt = deals[k.deal](k, of, let)
  local needs, kernels, mode = dealt.needs or {}, {}, "mode"
  for i, name in ipairs(names) do
    kernels[tostring(i - 1)] = name or nil
  end
  if names[3] then
    mode = let("full", ("if(mode == 1 && inner == %s * %d, 2, mode)"):format(dealt.threads, (k.held or 0) * of.width))
  end
  local made = {
    grid = list { dealt.x, dealt.y, "1" }, block = list { dealt.threads, dealt.down, "1" },
    cluster = k.cluster, resident = k.resident and true or nil, shared = k.shared or 0,
  }
  if of.vulkan then
    local block = dealt.down == "1" and dealt.threads or ("(%s) * (%s)"):format(dealt.threads, dealt.down)
    local given = dealt.constants or {}
    made.block = list { block, "1", "1" }
    made.constants = list { block, "subgroup", tostring(k.number or 0), given[2] or dealt.threads, given[3] or mode,
      "0", "0", "0" }
    made.file, made.shared = file_of(k.number or 0), nil
    needs[#needs + 1], needs[#needs + 2] = dealt.x .. " > 0", block .. " <= group"
  else
    made.kernel, made.kernels = mode, kernels
  end
  return made, needs
end

local function ways_of(v, of, file_of)
  return list(text.map(v.launching.ways, function(way)
    local lets, number = list {}, 0
    local function let(name, expression)
      number = number + 1
      lets[#lets + 1] = list { name .. number, expression }
      return name .. number
    end
    local when, split = condition(way.when)
    of.split = split
    local made = { when = when, none = way.none, let = lets }
    if not way.none then
      local fits = {}
      made.launches = list(text.map(way, function(entry)
        local launch, needs = launch_of(entry, of, let, file_of)
        table.move(needs, 1, #needs, #fits + 1, fits)
        return launch
      end))
      made.fits = #fits > 0 and table.concat(fits, " && ") or nil
    end
    return made
  end))
end

-- What expressions of a variant name, in order, of a call's sizes and addresses.
local function lets_of(work, vulkan)
  local packs, ends, aligned, first = {}, {}, {}, nil
  for o = 0, capacity.operands - 1 do
    local whole, column = work.whole >> o & 1 == 1, work.column >> o & 1 == 1
    packs[#packs + 1] = (whole or column) and ("address[%d] %% 16 == 0"):format(o) or nil
    aligned[#aligned + 1] = whole and ("address[%d] %% 16 == 0"):format(o) or nil
    ends[#ends + 1] = (column or whole and work.mixed) and ("address[%d] %% 16 == 0"):format(o) or nil
    ends[#ends + 1] = whole and first and not work.mixed
      and ("(address[%d] - address[%d]) %% 16 == 0"):format(o, first) or nil
    first = first or whole and o or nil
  end
  packs[#packs + 1] = work.by_rows and ("inner %% %d == 0"):format(work.width) or nil
  local function both(conditions)
    return #conditions > 0 and table.concat(conditions, " && ") or "1"
  end
  local mode = ("if(%s, 1, %s)"):format(both(packs), work.by_rows and ("if(%s, 3, 0)"):format(both(ends)) or "0")
  local accesses = ("inner / %d"):format(work.width)
  local lets = list {
    list { "outer", product(work.outer) }, list { "inner", product(work.inner) }, list { "mode", mode },
    list { "accesses", vulkan and ("if(mode == 0, up(inner, %d), %s)"):format(work.width, accesses) or accesses },
    list { "aligned", both(aligned) }, list { "period", ("if(mode == 3, %d, 1)"):format(work.width) },
    list { "least", "if(period > 1, 2 * period, 1)" },
  }
  if work.numbers then
    lets[#lets + 1] = list { "partials", ("max(min(%d / max(inner, 1), %d), %d)"):format(work.numbers, work.most,
      work.fewest) }
  end
  return lets
end

local function workspace_of(work)
  local bytes = tostring(work.bytes or 0)
  if work.numbers then
    bytes = ("%d + %d * partials * inner + %d * outer"):format(work.bytes, work.bytes_of_partial, work.bytes_of_row)
  end
  return bytes
end

-- ---- files ----------------------------------------------------------------------------------------------

-- The parts of an image for CUDA: of fat binaries, one after another, the files for one architecture each
-- (fatbinary_section.h). Of anything else it is one file.
local function cuda_files(stem, bytes, write)
  local files, at, nth = list {}, 1, 0
  local magic = string.pack("<I4", 0xba55ed50)
  while bytes:sub(at, at + 3) == magic do
    local head, rest = string.unpack("<I2I8", bytes, at + 6)
    local part, stop = at + head, at + head + rest
    nth = nth + 1
    while part < stop do
      local kind, _, part_head, size = string.unpack("<I2I2I4I8", bytes, part)
      local architecture = string.unpack("<I4", bytes, part + 28)
      if (kind ~= 1 and kind ~= 2) or part_head < 32 or part + part_head + size > stop then
        break
      end
      local data = bytes:sub(part + part_head, part + part_head + size - 1)
      local name = ("%s%s.sm_%d.%s"):format(stem, nth > 1 and "_" .. nth or "", architecture,
        kind == 2 and "cubin" or "ptx")
      write(name, kind == 1 and data:gsub("%z+$", "") or data)
      files[#files + 1] = { file = name, architecture = architecture, kind = kind == 2 and "cubin" or "ptx" }
      part = part + part_head + size
    end
    at = stop
  end
  if #files == 0 then
    write(stem .. ".fatbin", bytes)
    files[1] = { file = stem .. ".fatbin", kind = "fatbin" }
  end
  return files
end

-- What a kernel is called with.
local function arguments_of(op, vulkan, dtype)
  local made, at = list {}, 0
  local function add(name, type, bytes)
    made[#made + 1] = { name = name, type = type, offset = at }
    at = at + bytes
  end
  local function skip(places, count)
    at = at + (vulkan and 0 or 8 * (places - count))
  end
  for _, operand in ipairs(op.operands) do
    add(operand.name, "address", 8)
  end
  skip(capacity.operands, #op.operands)
  if vulkan then
    add("workspace", "address", 8)
  else
    for _, s in ipairs(op.scalars) do
      add(s.name, "f64", 8)
    end
    skip(capacity.scalars, #op.scalars)
  end
  for _, dim in ipairs(op.dims) do
    add(dim, "u64", 8)
  end
  skip(capacity.dims, #op.dims)
  if vulkan then
    for _, s in ipairs(op.scalars) do
      add(s.name, dtype == "f64" and "f64" or "f32", dtype == "f64" and 8 or 4)
    end
  else
    add("workspace", "address", 8)
    at = at + 4 * 8 -- of calls that threads share on a processor
  end
  return { bytes = at, fields = made }
end

-- The description of an op's variants for one kind of devices, of which write(name, bytes) is given the device code.
-- images: from device_code.lua; spirv_kernel(bytes, nth): one kernel of a module.
function raw.kind(op, kind, images, spirv_kernel, write)
  local vulkan, by_type, files, by_stem = kind == "vulkan", {}, {}, {}
  for _, image in ipairs(images) do
    by_stem[image.part.stem] = image
  end
  local function file_of(stem, number)
    local name = ("%s_%d.spv"):format(stem, number)
    if not files[name] then
      files[name] = true
      write(name, spirv_kernel(by_stem[stem].bytes, number))
    end
    return name
  end
  local function code_of(part)
    local code = list {}
    for _, device in ipairs(not vulkan and (part.runs or { part }) or {}) do
      files[device.stem] = files[device.stem] or cuda_files(device.stem, by_stem[device.stem].bytes, write)
      table.move(files[device.stem], 1, #files[device.stem], #code + 1, code)
    end
    return #code > 0 and code or nil
  end
  for _, v in ipairs(op.planned) do
    local work, row = v.launching.work
    if #v.launching.ways > 0 then
      local of = { vulkan = vulkan, width = work.width, partials = work.numbers and true or false }
      row = {
        let = lets_of(work, vulkan), workspace = workspace_of(work),
        ways = ways_of(v, of, function(number)
          return file_of(v.part.stem, number)
        end),
      }
    else
      row = raw_steps.of(v, vulkan, file_of, list)
    end
    by_type[v.dtype] = by_type[v.dtype]
      or { variants = list {}, arguments = arguments_of(op, vulkan, v.dtype), ulp = op.ulp[v.dtype] }
    row.name, row.prefer = v.name, list {}
    for i, p in ipairs(v.prefer) do
      row.prefer[i] = {
        from = p.from, to = p.to < math.huge and p.to or nil, dims = p.dims ~= 0 and list(axes.indexes(p.dims)) or nil,
        most = p.width > 0 and p.width or nil, multiple = p.multiple > 1 and p.multiple or nil,
      }
    end
    row.needs, row.code = list(text.map(v.features, tostring)), code_of(v.part)
    row.rounds_f32 = not (vulkan and by_stem[(v.part.runs or { v.part })[1].stem].loose)
    table.insert(by_type[v.dtype].variants, row)
  end
  return by_type
end

-- The whole description. kinds: of each what raw.kind made; scheme: how it is to be read, a text; again: the command.
function raw.description(op, kinds, scheme, again)
  local lines = list {}
  for line in scheme:gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
  end
  return encode({
    about = lines, again = again, licence = "0BSD", op = op.name, computes = op.doc, kinds = kinds,
    dims = list(text.map(op.dims, tostring)), in_place = op.in_place and true or false,
    operands = list(text.map(op.operands, function(operand)
      return {
        name = operand.name, output = operand.output and true or false, type = operand.dtype or operand.storage or "",
        dims = list(text.map(operand.dim_index, function(d)
          return op.dims[d]
        end)),
      }
    end)),
    scalars = list(text.map(op.scalars, function(s)
      return { name = s.name, example = tonumber(interface.number(s.value)) }
    end)),
  }, "") .. "\n"
end

return raw
