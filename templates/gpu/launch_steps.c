//@ -- The steps of a contraction or a chain, each in the first way to cut it that suits a call (contract.lua).
//@ local work = schedule.work
//@ local steps, rooms = shape.steps, false
//@ for s, step in ipairs(steps) do
//@ for c, cut in ipairs(step.cuts) do
//@ for m, map in ipairs(cut.maps or {}) do
//@ if m == 1 then
static const lathe_tensor_map $name$_maps$s$_$c$[] = {
//@ end
    {$map.operand$$(fields(map, "operand"))},
//@ end
//@ if cut.maps then
};
//@ end
//@ end
//@ end
static bool $name$_steps(lathe_query *q) {
  const size_t *dim = q->dim;

//@ for s, step in ipairs(steps) do
  {
    const lathe_matrices of[] = {
        {$(product(step.m)), $(product(step.n)), $(product(step.matrices))},
//@ for _, beside in ipairs(step.beside or {}) do
        {$(product(beside.m)), $(product(beside.n)), $(product(beside.matrices))},
//@ end
    };
    const lathe_step s = {of, $(1 + #(step.beside or {})), $(product(step.k))};
    static const lathe_cut cut[] = {
//@ local wanted, besides = {}, {}
//@ for c, cut in ipairs(step.cuts) do
//@ local stem = ("%s_step%d%s"):format(part.stem, s, cut.name)
//@ local made, when, room = {}, {}, {}
//@ for key, value in pairs(cut) do
//@   made[key] = value
//@ end
//@ made.name = kernels(stem, cut.cluster and stem .. "_cluster")
//@ made.maps, made.nmaps = cut.maps and ("%s_maps%d_%d"):format(name, s, c), cut.maps and #cut.maps
//@ when[1] = cut.rows and "of->m <= " .. cut.rows
//@ when[#when + 1] = cut.columns and "of->n <= " .. cut.columns or nil
//@ for _, extent in ipairs(cut.extents or {}) do
//@   when[#when + 1] = ("%s %s %d"):format(product(extent.of), extent.above and ">" or "<=", extent.above or extent.most)
//@ end
//@ for i = 1, cut.rooms or 0 do
//@   local r = step.rooms[i]
//@   room[i] = r.columns and ("lathe_room(%s, %d, %s, %s, lathe_cluster(q, &s, &cut[%d]))"):format(product(r.of), r.bytes,
//@       product(r.columns), r.across, c - 1)
//@     or ("%d * lathe_line(%s, %d)"):format(cut.bm, product(r.of), r.bytes)
//@ end
//@ wanted[c], besides[c] = #when > 0 and table.concat(when, " && ") or "true", #room > 0 and table.concat(room, " + ") or 0
//@ rooms = rooms or #room > 0
        {$made.name$$(fields(made, "name", "rows", "columns", "extents", "rooms"))},
//@ end
    };
//@ for c in ipairs(step.cuts) do
    lathe_try(q, &s, $(wanted[c]), &cut[$(c - 1)], $(besides[c]));
//@ end
    if (!lathe_take(q, &s))
      return false;
  }
//@ end
  return true;
}

static int $(defines "launches")(const lathe_schedule *self, const lathe_args *args,
    const lathe_limits *limits, lathe_launch *to) {
  return lathe_launch_steps($name$_steps, $(tostring(backend.kind == "vulkan")), self, args, limits, to);
}

static double $(defines "workspace")(const size_t *dim) {
  size_t temporaries = 0;

//@ for _, of in ipairs(shape.temporaries) do
  temporaries += lathe_upwards($(product(of)) * $shape.number$, 64);
//@ end
  return $work.bytes$ + lathe_left_by_steps($name$_steps, dim) + (double)temporaries;
}

//@ if rooms then
static bool $(defines "fits")(const size_t *dim, size_t shared) {
  return lathe_steps_fit($name$_steps, dim, shared);
}

//@ end
static const lathe_way $(defines "ways")[] = {
//@ for _, step in ipairs(steps) do
//@ local rows, columns = 0, 0
//@ for _, cut in ipairs(step.cuts) do
    {.m = $step.m$, .n = $step.n$, .k = $step.k$, .above = {$rows$, $columns$}, .tile = {$cut.bm$, $(cut.bn or 7)}, .block = {0, 0, $cut.terms$}},
//@ rows, columns = math.max(rows, cut.rows or 0), math.max(columns, cut.columns or 0)
//@ end
//@ end
    {0},
};
