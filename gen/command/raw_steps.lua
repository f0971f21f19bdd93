-- What raw.lua tells of calls that launch kernels in steps (launch_steps.c): of each step the ways to cut it, with
-- expressions for what lathe_try and lathe_take of launches.c compute.

local capacity = require "capacity"

local raw_steps = {}

-- The product of some dimensions, a bit each.
local function product(bits)
  local cells = {}
  for d = 0, capacity.dims - 1 do
    cells[#cells + 1] = bits >> d & 1 == 1 and ("dim[%d]"):format(d) or nil
  end
  return #cells > 0 and table.concat(cells, " * ") or "1"
end
raw_steps.product = product

local function upwards(count, each)
  return ("up(%s, %d) * %d"):format(count, each, each)
end

-- The largest of some expressions, or their sum.
local function largest(list)
  local made = list[1] or "0"
  for i = 2, #list do
    made = ("max(%s, %s)"):format(made, list[i])
  end
  return made
end

local function sum(list)
  return #list > 0 and table.concat(list, " + ") or "0"
end

-- The product of some dimensions. units: of some, by place, how many points are one.
local function in_units(bits, units)
  local rest, some = bits, ""
  for place = 1, capacity.dims do
    local each = units and bits >> place - 1 & 1 == 1 and units[place]
    if each and each > 1 then
      rest, some = rest & ~(1 << place - 1), some .. (" * up(dim[%d], %d)"):format(place - 1, each)
    end
  end
  return rest == 0 and some ~= "" and some:sub(4) or product(rest) .. some
end

-- The columns of a step's matrices: the most of those that a block has tiles of.
local function columns(of)
  local list = { in_units(of.n, of.units) }
  for _, other in ipairs(of.columns or {}) do
    list[#list + 1] = product(other)
  end
  return largest(list)
end

-- Conditions on extents, added to a list.
local function on_extents(list, extents)
  for _, extent in ipairs(extents or {}) do
    list[#list + 1] = extent.above and ("%s > %d"):format(product(extent.of), extent.above)
      or ("%s <= %d"):format(product(extent.of), extent.most)
  end
  return list
end

-- When a cut is for a size.
local function is_for(cut, m, n)
  local list = {}
  list[#list + 1] = cut.rows and ("%s <= %d"):format(m, cut.rows) or nil
  list[#list + 1] = cut.columns and ("%s <= %d"):format(n, cut.columns) or nil
  return on_extents(list, cut.extents)
end

local function both(conditions)
  return #conditions > 0 and table.concat(conditions, " && ") or "1"
end

-- The bytes of a cut's rooms, where so many blocks share the columns.
local function rooms_of(step, cut, blocks)
  local list = {}
  for i = 1, cut.rooms or 0 do
    local r = step.rooms[i]
    local line = r.of and ("(%s + 8) * %d"):format(upwards(product(r.of), 64), r.bytes)
    local share = r.columns and upwards(("up(%s, %s)"):format(product(r.columns), blocks), 16)
    list[i] = r.packs and ("%d * %s"):format(cut.bn * r.bytes, in_units(r.packs, r.units))
      or not share and ("%d * %s"):format(cut.bm, line)
      or r.across and ("%s * (%s * %d + 16)"):format(upwards(product(r.of), 16), share, r.bytes)
      or ("%s * %s"):format(share, line)
  end
  return sum(list)
end

-- What must hold for a tensor map to be made (lathe_lay_out), added to a list; the map as it is told. places: where
-- temporaries are.
local function map_of(map, needs, places, list)
  local made = {
    operand = not map.temporary and map.operand or nil, workspace = places[map.temporary], bytes = map.bytes,
    swizzle = map.swizzle or 0, tf32 = map.rounded == 1, extents = list {}, box = list {},
  }
  local stride = tostring(map.bytes)
  needs[#needs + 1] = not map.temporary and ("address[%d] %% 16 == 0"):format(map.operand) or nil
  for i, of in ipairs(map.extent) do
    local extent = product(of)
    if of == 0 then
      break
    end
    if i > 1 then
      needs[#needs + 1] = ("%s %% 16 == 0 && %s < %d"):format(stride, stride, 1 << 40)
    end
    needs[#needs + 1] = ("%s > 0 && %s <= %d"):format(extent, extent, 0x7fffffff)
    made.extents[i], made.box[i] = extent, map.box[i]
    stride = ("%s * %s"):format(stride, extent)
  end
  return made
end

-- A cut of a step: what is told of it, and what the workspace and fits say of it. let: names an expression.
local function cut_of(step, cut, names, of, let, list)
  local wanted, needs = is_for(cut, names.m, names.n), {}
  local tiles = {}
  for i, matrices in ipairs(names.matrices) do
    tiles[i] = ("up(%s, %d) * %s * (%s)"):format(matrices.m, cut.bm,
      cut.bn and ("up(%s, %d)"):format(matrices.n, cut.bn) or "1", matrices.count)
  end
  local all, slices = let("tiles", sum(tiles)), let("slices", ("up(%s, %d)"):format(names.k, cut.terms))
  local fewest = cut.depth and ("if(%s > %d && %s <= %d, up(%s, %d), 1)"):format(names.k, cut.depth, all, cut.most,
    names.k, cut.depth) or "1"
  fewest = let("fewest", fewest)
  local function shares(blocks)
    local some = ("max(if(%s > 0 && %s < %s, %s / max(%s, 1), 1), %s)"):format(all, all, blocks, blocks, all, fewest)
    return ("if(%s < %s, max(%s, 1), %s)"):format(slices, some, slices, some)
  end
  local at_once = ("machine * %d"):format(cut.at_once)
  local clusters = "1"
  for _ = 1, cut.cluster and 3 or 0 do
    clusters = let("clusters", ("if(%s * 2 <= min(min(%d, cluster), %s) && %s * 2 * %s <= %s, %s * 2, %s)"):format(
      clusters, cut.cluster, slices, clusters, all, at_once, clusters, clusters))
  end
  local shared = let("shared", ("%d + %s"):format(cut.shared or 0, rooms_of(step, cut, clusters)))
  table.move(wanted, 1, #wanted, 1, needs)
  needs[#needs + 1] = ("%d <= group"):format(cut.threads)
  needs[#needs + 1] = ("shared >= %s"):format(shared)
  needs[#needs + 1] = cut.room and ("%s <= %d"):format(shared, cut.room) or nil
  needs[#needs + 1] = cut.architecture and ("architecture >= %d"):format(cut.architecture) or nil
  local maps, lie = list {}, {}
  for i, map in ipairs(cut.maps or {}) do
    maps[i] = map_of(map, lie, of.places, list)
  end
  if #maps > 0 then -- in a description rows that no map can have are not copied
    needs[#needs + 1] = "maps"
    table.move(lie, 1, #lie, #needs + 1, needs)
    of.rest = ("if(%s, 0, 1)"):format(both(lie))
  end
  local every = let("all", shares(("min(%s, %d)"):format(at_once, cut.most)))
  local groups = ("%s * shares * %s"):format(all, clusters)
  local kernels = { ["0"] = of.stem .. cut.name, ["1"] = cut.cluster and of.stem .. cut.name .. "_cluster" or nil }
  local made = {
    when = table.concat(needs, " && "), most = every, fits = ("%s <= %s"):format(groups, of.vulkan and 0x7fffffff
      or "grid"), block = list { tostring(cut.threads), "1", "1" }, maps = #maps > 0 and maps or nil,
  }
  if cut.rate then
    made.rate, made.start, made.terms, made.at_once = cut.rate, cut.start or 0, cut.terms, cut.at_once
    made.wait, made.slice, made.threads, made.k = cut.wait or 0, cut.slice or 1, cut.threads, names.k
    made.rest, made.rest_rate, made.rest_wait = cut.rest_rate and of.rest, cut.rest_rate, cut.rest_wait
    made.tile, made.left, made.fewest, made.tiles, made.slices = cut.bm * cut.bn, cut.left, fewest, all, slices
  end
  if of.vulkan then
    made.grid = list { ("min(%s, grid)"):format(groups), ("max(up(%s, grid), 1)"):format(groups), "1" }
    made.file = of.file_of(cut.number or 0)
    made.constants = list { tostring(cut.threads), "subgroup", tostring(cut.number or 0), tostring(cut.threads), "0",
      "0", "0", "0" }
  else
    local x = cut.stays and ("min(%s, %s)"):format(groups, at_once) or groups
    made.grid = list { ("if(%s > 0, %s, %s)"):format(groups, x, clusters), "1", "1" }
    made.cluster, made.shared, made.kernels = clusters, shared, kernels
    if cut.joins then
      made.joins = cut.joins
      local most, counts = cut.joins, ("%s * %d > %d"):format(all, cut.joins, cut.most)
      local alone = ("cluster < %d || (shares > %d && (shares %% %d > 0 || %s))"):format(most, most, most, counts)
      made.cluster = ("if(%s, 1, min(shares, %d))"):format(alone, most)
    end
    made.kernel = ("%s > 1"):format(clusters)
  end
  local if_wanted = both(wanted)
  local of_all = shares(tostring(cut.most))
  local left = ("if(%s && %s > 1, %d * %s * %s, 0)"):format(if_wanted, of_all, cut.left, of_all, all)
  local alone = ("%d + %s"):format(cut.shared or 0, rooms_of(step, cut, "1"))
  local fits = #maps == 0 and (cut.room and ("%s && %s <= %d && %s <= least"):format(if_wanted, alone, cut.room, alone)
    or if_wanted) or "0"
  return made, cut.left > 0 and left or nil, fits
end

-- A variant's steps: { steps, let, workspace, fits }, where fits is nil if any size does. file_of(stem, number): a file
-- of Vulkan's; list: makes lists.
function raw_steps.of(v, vulkan, file_of, list)
  local lets, count, launches = list {}, 0, 0
  local shape, work = v.launching.shape, v.launching.work
  local function let(name, expression)
    count = count + 1
    lets[#lets + 1] = list { name .. count, expression }
    return name .. count
  end
  local told_of
  local temporaries, places = {}, {}
  for i, of in ipairs(shape.temporaries) do
    places[i] = ("%d + %s"):format(work.bytes, sum(temporaries))
    temporaries[i] = upwards(("%s * %d"):format(product(of), shape.number), 64)
  end

  -- What is told of one launch, what its blocks leave, and whether it fits.
  local function launch(step)
    launches = launches + 1
    local matrices = {}
    for i, other in ipairs { step, table.unpack(step.beside or {}) } do
      matrices[i] = { m = let("m", product(other.m)), n = let("n", columns(other)), count = product(other.matrices) }
    end
    local names = { m = matrices[1].m, n = matrices[1].n, k = let("k", product(step.k)), matrices = matrices }
    local run = step.image and v.part.runs and v.part.runs[step.image + 1]
    local of = {
      vulkan = vulkan, stem = (step.of_run or v.part.stem) .. (step.stem or "_step" .. launches),
      places = places,
      file_of = function(number)
        return file_of((run or v.part).stem, number)
      end,
    }
    local cuts, lefts, fit = list {}, {}, {}
    for c, cut in ipairs(step.cuts) do
      local made, left, fits = cut_of(step, cut, names, of, let, list)
      cuts[c], lefts[#lefts + 1], fit[c] = made, left, "(" .. fits .. ")"
    end
    return { cuts = cuts }, largest(lefts), "(" .. table.concat(fit, " || ") .. ")"
  end

  -- The same of steps that one of several conditions brings.
  local function choice(step)
    local choices, left, fits, all = list {}, "0", "1", {}
    for c, one in ipairs(step.choices) do
      local steps, its_left, its_fits = told_of(one.steps)
      all[c] = { when = both(on_extents({}, one.when)), left = its_left, fits = its_fits }
      choices[c] = { when = all[c].when, steps = steps }
    end
    for c = #all, 1, -1 do
      left = ("if(%s, %s, %s)"):format(all[c].when, all[c].left, left)
      fits = ("if(%s, %s, %s)"):format(all[c].when, all[c].fits, fits)
    end
    return { choices = choices }, left, fits
  end

  function told_of(steps)
    local told, lefts, fit = list {}, {}, {}
    for s, step in ipairs(steps) do
      told[s], lefts[s], fit[s] = (step.choices and choice or launch)(step)
    end
    return told, largest(lefts), table.concat(fit, " && ")
  end

  local steps, left, fits = told_of(shape.steps)
  return {
    steps = steps, let = lets, workspace = ("%d + %s + %s"):format(work.bytes, left, sum(temporaries)),
    fits = v.launching.fits and fits or nil,
  }
end

return raw_steps
