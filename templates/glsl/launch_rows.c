//@ -- Which kernels of rows are launched when, from the record of schedule_rows.lua.
//@ local call = use "../gpu/launch_call.c"
//@ local over, split, number, program = schedule.over_rows, schedule.split, schedule.number, schedule.programs.again
//@ local tile = schedule.tile
//@ local merge = over and {
//@   deal = "merge", name = { packs = "_finish" }, of_part = true, each = over.merge_columns, rows = over.merge_lanes,
//@   number = number.finish,
//@ }
//@ local function launch_parts(when, parts, accesses)
//@   local list = {}
//@   for step = 1, split.steps do
//@     local p = program.active[step] or #program.phases + 1
//@     list[step] = {
//@       deal = step == split.steps and #program.points == 0 and "join" or "parts_of_rows",
//@       name = { packs = "_part" .. p }, threads = split.threads, each = accesses, number = number["part" .. p],
//@     }
//@   end
//@   call.launch(("%slathe_split(&c, %s)"):format(when, parts), list)
//@ end
//@ call.open(true)
//@ for _, s in ipairs(schedule.shapes) do
//@   call.launch((s.packed and "c.mode == LATHE_PACKS && " or "") .. call.accesses("<=", s.threads * s.hold), { {
//@     deal = over and "stay" or "rows", name = { packs = "_" .. s.name, full = "_" .. s.name },
//@     threads = s.alone and 0 or s.threads, spread = s.alone and 32 or 0, held = s.hold, rows = s.rows,
//@     waves = over and 1 or 0, number = number["held" .. s.hold],
//@   }, merge })
//@ end
//@ if split then
//@   launch_parts("c.rows < c.machine && ", split.few_parts .. " * c.machine", split.few)
//@ end
//@ if split and split.always then
//@   launch_parts("", split.most_parts, split.many)
//@ end
//@ local list = {}
//@ if number.longer then
//@   list[1] = { deal = "blocks", name = { packs = "_longer" }, threads = 1024, number = number.longer }
//@ end
//@ if tile then
//@   list[#list + 1] = {
//@     deal = "columns", name = { packs = "_columns" }, threads = tile.threads, each = tile.rows, waves = tile.waves,
//@     number = number.columns,
//@   }
//@ end
//@ list[#list + 1] = merge
//@ call.launch("true", list)
//@ call.close()
