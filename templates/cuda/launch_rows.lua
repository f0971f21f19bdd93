-- Which kernels of rows are launched when, from the record of schedule_rows.lua: rows of runtime/library/launch.h, of
-- which the first that holds is a call's. Limits are in accesses of a row, and in rows for each eighth of a
-- multiprocessor.

local ANY, ALIKE = { "apart", "packs", "ends" }, { "packs", "ends" }
local EIGHTHS = 8
local WARP = 32

-- The endings of a kernel's names by mode.
local function names(stem, modes)
  local list = {}
  for _, mode in ipairs(modes) do
    list[mode] = "_" .. stem .. "_" .. mode
  end
  return list
end

-- Rows that are read ahead, by the blocks that stay for them: a launch for each shape, with what follows.
local function launch_ahead(s, when, after, add)
  for i, shape in ipairs(s.ahead) do
    local limits = { modes = ALIKE, shared = s.ahead.bytes, to = s.ahead.most }
    if i < #s.ahead then
      limits.to = math.min(limits.to, shape.threads * shape.hold)
    end
    for key, value in pairs(when) do
      limits[key] = value
    end
    add(limits, {
      {
        name = names("ahead" .. shape.name, s.ahead.modes), deal = "stay", threads = shape.threads,
        spread = shape.threads == 0 and WARP or 0, held = shape.hold, rows = shape.block, waves = s.ahead.blocks,
        shared = s.ahead.bytes,
      },
      table.unpack(after),
    })
  end
end

-- With reductions over the rows: rows that are read ahead, or tiles of columns, after what is known of each row.
local function launch_columns(made, s, leaves, add)
  local over = made.over_rows
  local merge = { name = { apart = "_merge", packs = "_merge", ends = "_merge" }, deal = "merge", threads = WARP,
    each = WARP, rows = over.mergers }
  launch_ahead(s, {}, { merge }, add)
  local list = {}
  if leaves then
    list[1] = { name = names("long", ANY), deal = "blocks", threads = made.long_threads, spread = WARP, held = s.hold }
  end
  list[#list + 1] = {
    name = names("tile", ANY), deal = "columns", threads = leaves and WARP or math.min(over.threads, 128),
    spread = leaves and 0 or 1, rows = over.threads, waves = over.blocks,
  }
  list[#list + 1] = merge
  add({ modes = ANY }, list)
end

-- Rows split into parts, where they are not for clusters: of fewer than an eighth for each multiprocessor, or too long
-- for those, or where there are none.
local function launch_split(made, s, has_points, add)
  local split = made.split
  local function kernels(accesses, threads_of_last)
    local list = {}
    for step = 1, split.steps do
      local joins = step == split.steps and not has_points -- merges what parts have left
      list[step] = {
        name = names("split" .. step, ALIKE), deal = joins and "join" or "parts",
        threads = joins and threads_of_last or split.threads, each = accesses,
      }
    end
    return list
  end
  local few, many = kernels(split.few, split.threads), split.always and kernels(split.many, WARP)
  local function launch(above, below)
    local rows_below = math.min(EIGHTHS, below.rows_below or EIGHTHS)
    add({
      modes = ALIKE, above = above, rows_below = rows_below, cluster_below = below.cluster,
      parts_waves = split.few_parts,
    }, few)
    if many and not below.rows_below then
      add({ modes = ALIKE, above = above, cluster_below = below.cluster, parts_most = split.most_parts }, many)
    end
  end
  if made.clusters then
    launch(0, { rows_below = 1 })
    launch(s.threads * s.hold * made.cluster, {})
    launch(0, { cluster = made.cluster })
  else
    launch(0, {})
  end
end

local function launch_clusters(made, s, add)
  for _, cluster in ipairs { 2, 4, 8 } do
    add({
      modes = ALIKE, cluster = cluster, rows_below = EIGHTHS * made.most_clustered, to = s.threads * s.hold * cluster,
    }, { { name = names("cluster", ALIKE), deal = "blocks", spread = WARP, held = s.hold, cluster = cluster } })
  end
end

local function launch_ahead_clusters(s, add)
  local shape = s.ahead.cluster
  for _, cluster in ipairs(shape and { 2, 4, 8 } or {}) do
    add({ modes = { "packs" }, shared = s.ahead.bytes, cluster = cluster, to = shape.hold * shape.block * cluster }, {
      {
        name = { packs = "_ahead_cluster" }, deal = "blocks", spread = WARP, held = shape.hold, cluster = cluster,
        shared = s.ahead.bytes, resident = 1,
      },
    })
  end
end

-- The launches of a variant: its record s, of the part's, and the program of rows that are read again.
return function(made, s, again)
  local list = {}
  local function add(when, kernels)
    list[#list + 1] = { when = when, kernels = kernels }
  end
  if made.over_rows then
    launch_columns(made, s, again.leaves, add)
    return list
  end
  add({ modes = { "apart" } }, {
    { name = names("long", { "apart" }), deal = "blocks", threads = made.long_threads // 2, spread = WARP },
  })
  for _, shape in ipairs(s.short) do
    add({ modes = ALIKE, to = shape.threads * shape.hold }, {
      {
        name = names(shape.name, shape.modes), deal = "rows", threads = shape.threads, held = shape.hold,
        rows = made.short_threads // shape.threads,
      },
    })
  end
  launch_ahead(s, { rows_above = EIGHTHS * s.ahead.blocks }, {}, add)
  add({ modes = ALIKE, to = s.threads * s.hold }, {
    { name = names("block", made.modes), deal = "blocks", spread = WARP, held = s.hold },
  })
  if made.split then
    launch_split(made, s, #again.points > 0, add)
  end
  if made.clusters then
    launch_clusters(made, s, add)
    launch_ahead_clusters(s, add)
  end
  for _, below in ipairs { 2 * EIGHTHS, 0 } do
    local threads = below > 0 and made.long_threads or made.long_threads // 2
    add({ modes = ALIKE, rows_below = below }, { { name = names("long", ALIKE), deal = "blocks", threads = threads } })
  end
  return list
end
