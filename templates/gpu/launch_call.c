//@ -- What begins and ends the functions of a variant whose kernels go over points, or over rows of points. Between
//@ -- open() and close() a template says which kernels a call `c` launches: the first that hold and have room. The
//@ -- record `work` of a part is that of work.lua.
//@ local work, limits, known = schedule.work, {}, {}

//@ -- A condition on the accesses of a row, which what tries a variant learns of.
//@ function accesses(sign, limit)
//@   limits[#limits + 1] = not known[limit] and limit or nil
//@   known[limit] = true
//@   return ("c.accesses %s %d"):format(sign, limit)
//@ end

//@ -- Where among the variant's kernels those of each mode begin, of which a kernel's record has the endings; of_part:
//@ -- whether they are the part's, whatever the variant.
//@ local function names_of(kernel)
//@   local list = {}
//@   for i, mode in ipairs { "apart", "packs", "full", "ends" } do
//@     list[i] = kernel.name[mode] and (kernel.of_part and part.stem or name) .. kernel.name[mode] or false
//@   end
//@   return list
//@ end
//@ local function place_of(list)
//@   local key = ("%s %s %s %s"):format(list[1], list[2], list[3], list[4])
//@   known[key] = known[key] or kernels(table.unpack(list))
//@   return known[key]
//@ end

//@ -- The launches of some kernels where `when` holds. Of a kernel deal says how blocks are dealt out (launches.h).
//@ local count = 0
//@ function launch(when, list)
//@ local way = note { when = when }
//@ for _, kernel in ipairs(list) do
//@ count = count + 1
//@ local names = names_of(kernel)
//@ way[#way + 1] = { kernel = kernel, names = names }
//@ when = ("%s && lathe_%s(&c, &k%d)"):format(when, kernel.deal, count)
  static const lathe_kernel k$count$ = {$(place_of(names))$(fields(kernel, "deal", "name", "of_part"))};
//@ end
  if ($when$)
    return c.launches;
//@ end

//@ -- There is no launch where `when` holds.
//@ function none(when)
//@ note { when = when, none = true }
  if ($when$)
    return 0;
//@ end

//@ function open(vulkan)
static int $(defines "launches")(const lathe_schedule *self, const lathe_args *args,
    const lathe_limits *limits, lathe_launch *to) {
  const size_t *dim = args->dim;
  lathe_call c = {
      .self = self,
      .limits = limits,
      .to = to,
      .rows = $(product(work.outer)),
      .count = $(product(work.inner)),
      .width = $work.width$,
      .by_rows = $(tostring(work.by_rows)),
//@ if work.mixed then
      .mixed = true,
//@ end
      .vulkan = $(tostring(vulkan)),
  };

//@ if work.numbers then
  c.partials = lathe_partials(c.count, $work.numbers$, $work.fewest$, $work.most$);
//@ end
  lathe_measure(&c, args, $work.whole$, $work.column$);
//@ end

//@ function close()
  return 0;
}

//@ if work.numbers then
static double $(defines "workspace")(const size_t *dim) {
  const size_t count = $(product(work.inner));
  const double partials = (double)lathe_partials(count, $work.numbers$, $work.fewest$, $work.most$);
  const double rows = (double)($(product(work.outer)));

  return $work.bytes$ + $work.bytes_of_partial$ * partials * (double)count + $work.bytes_of_row$ * rows;
}

//@ elseif work.bytes then
static double $(defines "workspace")(const size_t *dim) {
  (void)dim;
  return $work.bytes$;
}

//@ end
//@ if is_tried then
static const lathe_way $(defines "ways")[] = {
//@ limits[#limits + 1] = 0
//@ for _, limit in ipairs(limits) do
    {.m = $work.outer$, .n = $work.inner$, .above = {0, $(limit * work.width)}, .tile = {$work.width$, 0}},
//@ end
    {0},
};
//@ end
//@ end
