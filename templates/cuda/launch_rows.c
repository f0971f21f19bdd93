//@ -- Which kernels of rows are launched when, from the record of schedule_rows.lua.
//@ local call = use "../gpu/launch_call.c"
//@ local s, over, split, leaves = shape, schedule.over_rows, schedule.split, schedule.programs.again.leaves
//@ local tile = schedule.tile
//@ local has_points, WARP = #schedule.programs.again.points > 0, 32

//@ -- The endings of a kernel's names by mode.
//@ local function names(stem, modes)
//@   local list = {}
//@   for _, mode in ipairs(modes) do
//@     list[mode] = "_" .. stem .. "_" .. mode
//@   end
//@   return list
//@ end
//@ local ANY, ALIKE = { "apart", "packs", "ends" }, { "packs", "ends" }

//@ local function shared_to(bytes, accesses)
//@   return ("limits->shared >= %d && %s"):format(bytes, call.accesses("<=", accesses))
//@ end

//@ -- Rows that are read ahead, by the blocks that stay for them, with what follows.
//@ local function launch_ahead(when, after)
//@ for i, shape in ipairs(s.ahead) do
//@   local most = i < #s.ahead and math.min(s.ahead.most, shape.threads * shape.hold) or s.ahead.most
//@   call.launch(when .. (shape.packed and "c.mode == LATHE_PACKS && " or "") .. shared_to(s.ahead.bytes, most), { {
//@     deal = "stay", name = names("ahead" .. shape.name, shape.modes), threads = shape.threads,
//@     spread = shape.threads == 0 and WARP or 0, held = shape.hold, rows = shape.block, waves = s.ahead.blocks,
//@     shared = s.ahead.bytes,
//@   }, after })
//@ end
//@ end

//@ -- Rows split into parts, where they are not for clusters: of fewer than an eighth for each multiprocessor, or too
//@ -- long for those, or where there are none.
//@ local function launch_parts(when, parts, accesses, threads_of_last)
//@   local list = {}
//@   for step = 1, split.steps do
//@     local joins = step == split.steps and not has_points -- merges what parts have left
//@     list[step] = {
//@       deal = joins and "join" or "parts_of_rows", name = names("split" .. step, ALIKE),
//@       threads = joins and threads_of_last or split.threads, each = accesses,
//@     }
//@   end
//@   call.launch(("%slathe_split(&c, %s)"):format(when, parts), list)
//@ end
//@ local function launch_split(when, few)
//@   launch_parts(few .. when, split.few_parts .. " * c.machine", split.few, split.threads)
//@   if split.always and few == "c.rows < c.machine && " then
//@     launch_parts(when, split.most_parts, split.many, WARP)
//@   end
//@ end
//@ -- Short rows.
//@ local function launch_short(shape, when, name)
//@   call.launch(when .. call.accesses("<=", shape.threads * shape.hold), { {
//@     deal = "rows", name = name, threads = shape.threads, held = shape.hold,
//@     rows = schedule.short_threads // shape.threads,
//@   } })
//@ end
//@ local function launch_staged()
//@   for _, shape in ipairs(schedule.staged and s.short or {}) do
//@     local name, most = "_" .. shape.name .. "_staged", shape.threads * shape.hold * schedule.work.width
//@     if shape.staged then
//@       local fits = ("c.mode != LATHE_PACKS && c.count <= %d && "):format(most)
//@       launch_short(shape, fits, { ends = name, apart = name })
//@     end
//@   end
//@ end
//@ local function tile_of(deal, name)
//@   return {
//@     deal = deal, name = name, threads = leaves and WARP or math.min(tile.threads, 128), spread = leaves and 0 or 1,
//@     rows = tile.threads, each = tile.rows, waves = tile.blocks,
//@   }
//@ end
//@ -- Several rows as one, with what follows.
//@ local function launch_flat(after)
//@   local name = "_flat_rows"
//@   if schedule.flat then
//@     local flat = tile_of("columns_of_several", { ends = name, apart = name })
//@     call.launch("c.mode != LATHE_PACKS && c.aligned && c.count > 0", { flat, after })
//@   end
//@ end
//@ call.open(false)
//@ launch_staged()
//@ local tile_names = names("tile", ANY)
//@ if schedule.flat then -- rows that start anywhere, with operands that do not start at multiples of 16 bytes
//@   tile_names.ends = tile_names.apart
//@ end
//@ local tiles = tile and tile_of("columns", tile_names)
//@ if over then
//@   local merge = {
//@     deal = "merge", name = { apart = "_merge", packs = "_merge", ends = "_merge" }, threads = WARP, each = WARP,
//@     rows = over.mergers,
//@   }
//@   launch_ahead("c.mode != LATHE_APART && ", merge)
//@   launch_flat(merge)
//@   call.launch("true", leaves and {
//@     {
//@       deal = "blocks", name = names("long", ANY), threads = schedule.long_threads, spread = WARP, held = s.hold,
//@     }, tiles, merge,
//@   } or { tiles, merge })
//@ elseif tile then
//@   launch_flat()
//@   call.launch("true", { tiles })
//@ else
//@   call.launch("c.mode == LATHE_APART", {
//@     { deal = "blocks", name = names("long", { "apart" }), threads = schedule.long_threads // 2, spread = WARP },
//@   })
//@   call.none("c.mode == LATHE_APART")
//@   for _, shape in ipairs(s.short) do
//@     local fits = shape.staged and "c.mode == LATHE_PACKS && c.accesses > 0 && " or ""
//@     launch_short(shape, fits, names(shape.name, shape.modes))
//@   end
//@   launch_ahead(("c.rows > %d * c.machine && "):format(s.ahead.blocks))
//@   call.launch(call.accesses("<=", s.threads * s.hold), {
//@     { deal = "blocks", name = names("block", schedule.modes), spread = WARP, held = s.hold },
//@   })
//@   if split and schedule.clusters then
//@     launch_split("", "c.rows * 8 < c.machine && ")
//@     launch_split(call.accesses(">", s.threads * s.hold * schedule.cluster) .. " && ", "c.rows < c.machine && ")
//@     launch_split(("limits->cluster < %d && "):format(schedule.cluster), "c.rows < c.machine && ")
//@   elseif split then
//@     launch_split("", "c.rows < c.machine && ")
//@   end
//@   for _, cluster in ipairs(schedule.clusters and { 2, 4, 8 } or {}) do
//@     call.launch(("limits->cluster >= %d && c.rows < %d * c.machine && %s"):format(cluster, schedule.most_clustered,
//@       call.accesses("<=", s.threads * s.hold * cluster)),
//@       { { deal = "blocks", name = names("cluster", ALIKE), spread = WARP, held = s.hold, cluster = cluster } })
//@   end
//@   local shape = s.ahead.cluster
//@   for _, cluster in ipairs(schedule.clusters and shape and { 2, 4, 8 } or {}) do
//@     call.launch(("c.mode == LATHE_PACKS && limits->cluster >= %d && "):format(cluster)
//@       .. shared_to(s.ahead.bytes, shape.hold * shape.block * cluster), { {
//@       deal = "blocks", name = { packs = "_ahead_cluster" }, spread = WARP, held = shape.hold,
//@       cluster = cluster, shared = s.ahead.bytes, resident = 1,
//@     } })
//@   end
//@   for _, when in ipairs { "c.rows < 2 * c.machine", "true" } do
//@     call.launch(when, { {
//@       deal = "blocks", name = names("long", ALIKE), threads = schedule.long_threads // (when == "true" and 2 or 1),
//@     } })
//@   end
//@ end
//@ call.close()
