//@ -- The steps of a contraction or a chain, each in the first way to cut it that suits a call (contract.lua).
//@ local work, kept = schedule.work, false

//@ -- When a cut, or one of several choices, is for a size.
//@ local function is_for(cut, extents)
//@   local list = {}
//@   list[#list + 1] = cut and cut.rows and "of->m <= " .. cut.rows or nil
//@   list[#list + 1] = cut and cut.columns and "of->n <= " .. cut.columns or nil
//@   for _, extent in ipairs(extents or {}) do
//@     list[#list + 1] = extent.above and ("%s > %d"):format(product(extent.of), extent.above)
//@       or ("%s <= %d"):format(product(extent.of), extent.most)
//@   end
//@   return #list > 0 and table.concat(list, " && ") or "true"
//@ end

//@ -- The product of some dimensions. units: of some, by place, how many points are one.
//@ local function in_units(bits, units)
//@   local rest, most = bits, ""
//@   for place = 1, 32 do
//@     local each = units and bits >> place - 1 & 1 == 1 and units[place]
//@     if each and each > 1 then
//@       rest, most = rest & ~(1 << place - 1), most .. (" * lathe_times(dim[%d], %d)"):format(place - 1, each)
//@     end
//@   end
//@   return rest == 0 and most ~= "" and most:sub(4) or product(rest) .. most
//@ end

//@ -- The bytes of a cut's rooms, the first of the step's: a tile's rows, or a block's share of a matrix; or packs for
//@ -- each of a tile's columns.
//@ local function rooms_of(step, cut, number)
//@   local list = {}
//@   for i = 1, cut.rooms or 0 do
//@     local r = step.rooms[i]
//@     list[i] = r.packs and ("%d * %s"):format(cut.bn * r.bytes, in_units(r.packs, r.units))
//@       or not r.columns and ("%d * lathe_line(%s, %d)"):format(cut.bm, product(r.of), r.bytes)
//@       or ("lathe_room(%s, %d, %s, %s, lathe_cluster(q, &s, &cut[%d]))"):format(product(r.of), r.bytes,
//@         product(r.columns), r.across, number)
//@     kept = kept or not r.packs
//@   end
//@   return #list > 0 and table.concat(list, " + ") or "0"
//@ end

//@ -- The columns of a step's matrices: the most of those that a block has tiles of.
//@ local function columns(of)
//@   local most = in_units(of.n, of.units)
//@   for _, other in ipairs(of.columns or {}) do
//@     most = ("lathe_most(%s, %s)"):format(most, product(other))
//@   end
//@   return most
//@ end

//@ -- What a step's tiles are of: its own matrices, and those whose tiles the same launch makes.
//@ local function matrices(of)
        {$(product(of.m)), $(columns(of)), $(product(of.matrices))},
//@ end

//@ -- A cut as C's lathe_cut has it, with the kernels' names, which begin with a stem.
//@ local function cut_row(cut, stem, step, maps)
//@ local first = kernels(stem .. cut.name, cut.cluster and stem .. cut.name .. "_cluster"
//@   or cut.pads and stem .. "_copies" or nil)
//@ local array = cut.maps and (", .nmaps = %d, .maps = %s"):format(#cut.maps, maps) or ""
//@ local copies = cut.pads and (", .copies = %s_copies"):format(name) or ""
//@ local image = step.image and step.image > 0 and ", .image = " .. step.image or ""
        {$first$$(fields(cut, "name", "rows", "columns", "extents", "rooms", "maps", "pads"))$array$$copies$$image$},
//@ end

//@ -- All launches that there may be, in order; their numbers are those of the steps.
//@ local all, number_of, has_copies = {}, {}, false
//@ local function collect(steps)
//@   for _, step in ipairs(steps) do
//@     for _, choice in ipairs(step.choices or {}) do
//@       collect(choice.steps)
//@     end
//@     all[#all + 1] = not step.choices and step or nil
//@     number_of[step] = #all
//@   end
//@ end
//@ collect(shape.steps)
//@ for _, step in ipairs(all) do
//@   for _, cut in ipairs(step.cuts) do
//@     has_copies = has_copies or cut.pads ~= nil
//@   end
//@ end
//@ local temporaries, placed, places, at = {}, {}, 0, {}
//@ for i, of in ipairs(shape.temporaries) do
//@   temporaries[i] = ("lathe_upwards(%s * %d, 64)"):format(product(of), shape.number)
//@ end

//@ -- What the workspace has but for copies of operands.
//@ local function own_bytes()
  const size_t temporaries = $(#temporaries > 0 and table.concat(temporaries, " + ") or "0");

  //@ for _, of in ipairs(shape.listed or {}) do
  if ($(product(of)) > UINT32_MAX)
    return HUGE_VAL; /* places are listed by 32 bits */
  //@ end
  return $work.bytes$ + lathe_left_by_steps($name$_steps, dim) + (double)temporaries;
//@ end
//@ -- The bytes of copies, whose rows are padded where no tensor map can have them.
//@ local function bytes_of(copies)
//@   local list = {}
//@   for _, copy in ipairs(copies) do
//@     list[#list + 1] = (" + (double)lathe_padded(%s, %s, %d)"):format(product(copy.rows), product(copy.columns),
//@       copy.bytes)
//@   end
//@   return table.concat(list)
//@ end
//@ if has_copies then
static bool $name$_steps(lathe_query *q);

static double $name$_copies(const size_t *dim) {
//@ own_bytes()
}

//@ end
//@ -- Where the copy engine finds a temporary or a copy: what is before it in the workspace.
//@ local function place(map)
//@ local of = map.copy or map.temporary
//@ if not placed[of] then
//@ places = places + 1
//@ placed[of] = name .. "_place" .. places
static double $(placed[of])(const size_t *dim) {
//@ if map.copy then
  return $name$_copies(dim)$(bytes_of(map.copy.before));
//@ else
//@ local before = table.concat(temporaries, " + ", 1, map.temporary - 1)
  (void)dim;
  return $(work.bytes)$(before ~= "" and " + (double)(" .. before .. ")" or "");
//@ end
}

//@ end
//@ at[map] = ", .place = " .. placed[of]
//@ end
//@ for s, step in ipairs(all) do
//@ for c, cut in ipairs(step.cuts) do
//@ if cut.maps then
//@ for _, map in ipairs(cut.maps) do
//@ if map.temporary or map.copy then
//@ place(map)
//@ end
//@ end
_Static_assert($(#cut.maps) <= LATHE_MAX_MAPS, "a launch has room for that many maps");
static const lathe_tensor_map $name$_maps$s$_$c$[] = {
//@ for _, map in ipairs(cut.maps) do
    {$map.operand$$(fields(map, "operand", "temporary", "copy"))$(at[map] or "")},
//@ end
};
//@ end
//@ end
//@ end
//@ local function take(step)
//@ local s = number_of[step]
  {
    const lathe_matrices of[] = {
//@ matrices(step)
//@ for _, beside in ipairs(step.beside or {}) do
//@ matrices(beside)
//@ end
    };
    const lathe_step s = {of, $(1 + #(step.beside or {})), $(product(step.k))};
    static const lathe_cut cut[] = {
//@ for c, cut in ipairs(step.cuts) do
//@ cut_row(cut, (step.of_run or part.stem) .. (step.stem or "_step" .. s), step, ("%s_maps%d_%d"):format(name, s, c))
//@ end
    };
//@ for c, cut in ipairs(step.cuts) do
    lathe_try(q, &s, $(is_for(cut, cut.extents)), &cut[$(c - 1)], $(rooms_of(step, cut, c - 1)));
//@ end
    if (!lathe_take(q, &s))
      return false;
  }
//@ end
//@ local function take_all(steps)
//@ for _, step in ipairs(steps) do
//@ if step.choices then
//@ for i, choice in ipairs(step.choices) do
  $(i > 1 and "else " or "")$(choice.when and "if (" .. is_for(nil, choice.when) .. ") " or ""){
//@ take_all(choice.steps)
  }
//@ end
//@ else
//@ take(step)
//@ end
//@ end
//@ end
static bool $name$_steps(lathe_query *q) {
  const size_t *dim = q->dim;

//@ take_all(shape.steps)
  return true;
}

static int $(defines "launches")(const lathe_schedule *self, const lathe_args *args,
    const lathe_limits *limits, lathe_launch *to) {
  return lathe_launch_steps($name$_steps, $(tostring(backend.kind == "vulkan")), self, args, limits, to);
}

static double $(defines "workspace")(const size_t *dim) {
  //@ if has_copies then
  return $name$_copies(dim)$(bytes_of(shape.copies));
  //@ else
  //@ own_bytes()
  //@ end
}

//@ if kept then
static bool $(defines "fits")(const size_t *dim, size_t shared) {
  return lathe_steps_fit($name$_steps, dim, shared);
}

//@ end
//@ if is_tried then
//@ -- A way for each cut, past the sizes that those before it are for; where a tile has all columns, with a few of
//@ -- them. Terms that blocks do not share go in slices, of which so many are several. Those of a cluster's blocks are
//@ -- shared by others where there are many. A step may say what it is tried with, or that it is not (false).
//@ local FEW, SLICES, MANY = 7, 256, 16384
static const lathe_way $(defines "ways")[] = {
//@ for _, step in ipairs(all) do
//@ local rows, columns = 0, 0
//@ local way = step.way or {}
//@ for c, cut in ipairs(step.way ~= false and step.cuts or {}) do
//@ local wide = way.side or cut.bn and cut.bn * (step.vector or 1)
//@ local many = cut.joins and ", " .. MANY or ""
    {.m = $(way.m or step.m), .n = $(way.n or step.n), .k = $(way.k or step.k), .above = {$(way.above_m or rows), $(way.above or columns)},
     .tile = {$(way.side or cut.bm), $(wide or FEW)}, .block = {0, 0, $(way.block or cut.left > 0 and cut.terms or SLICES)$many$},
     .cut = $c$},
//@ rows, columns = math.max(rows, cut.rows or 0), math.max(columns, (cut.columns or 0) * (step.vector or 1))
//@ end
//@ end
    {0},
};
//@ end
