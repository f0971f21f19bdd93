//@ -- Kernels of rows that are read once: a row in the registers of its invocations, and rows that workgroups which
//@ -- gather over many read ahead of their turn.
//@ local P, rows = use "parts.comp", use "../gpu/rows.c"
//@ local row, points, columns = use "row.comp", use "row_points.comp", use "rows_columns.comp"
//@ local V, program = k.width, row.in_registers
//@ local phases, active, passes, point = program.phases, program.active, program.passes, program.point
//@ local number = schedule.number
//@
//@ local function held_dims()
//@ row.dims(program)
const uint each = gl_WorkGroupSize.x / THREADS; /* rows of a workgroup */
//@ end
//@ -- How many of H packs an invocation has of each row: one of fewer, where one at its ends may not count, would go
//@ -- to a shape with half as many.
//@ local function sure_of(H) return H // 2 end
//@
//@ function define_held(H)
//@ row.sure = sure_of(H)
/* Rows of at most $(H * V) * THREADS elements. */
//@ P.begin_kernel(number["held" .. H])
  //@ held_dims()
  const uint64_t first = lathe_group() * each;
  //@ local known, kept = {}, {}
  //@ local function read_held(list)
  //@ row.read(list, known, H)
  //@ row.read_ends(list, row.AT_ENDS)
  //@ end
  if (first < rows) {
    //@ row.the_row("first + invocation / THREADS")
    //@ row.ends(row.AT_ENDS)
    //@ row.span("0ul")
    //@ read_held(rows.elements({ program.all[1] }, known))
    //@ row.begin(program)
    //@ for p, phase in ipairs(phases) do
    //@ if passes[p] then
    //@ read_held(rows.elements({ passes[p] }, known))
    //@ row.declare(phase.stash, "kept", 0, H * V)
    //@ row.declare(phase.stash, "kept_end", 0, row.AT_ENDS)
    //@ points.clear(program, p)
    {
      //@ points.gather(program, p, H, kept)
    }
    //@ points.gather_ends(program, p, row.AT_ENDS, kept)
    //@ if p == active[#active] and point then -- ahead of the wait for other invocations
    //@ read_held(rows.elements({ point }, known))
    //@ end
    //@ end
    //@ points.merge(program, p, p == active[#active] and not point)
    //@ end
    //@ points.write_totals(program, "thread == 0u && live")
    //@ if point then
    //@ read_held(rows.elements({ point }, known))
    //@ points.compute(program, H, kept, "live")
    //@ points.compute_ends(program, row.AT_ENDS, kept, "live")
    //@ end
  }
//@ P.end_kernel()

//@ row.sure = 0
//@ end
//@
//@ local rows_known = {} -- the types of what is gathered of several rows
//@ function define_ahead(H)
//@ row.sure = sure_of(H)
//@ local ROWS = schedule.at_once[H]
//@ local ahead = rows.elements(program.all, {}, false, "whole")
//@ local function rows_gathered(p) return program.gathered(p) .. "_rows" .. ROWS end
//@ for p, phase in ipairs(phases) do
//@ if passes[p] and not rows_known[rows_gathered(p)] then
//@ rows_known[rows_gathered(p)] = true
//@ local reductions = {}
//@ for n = 0, ROWS - 1 do
//@   for _, r in ipairs(phase.reductions) do
//@     reductions[#reductions + 1] = { name = r.name .. "_row" .. n, kind = r.kind }
//@   end
//@ end
//@ P.define_gatherer(rows_gathered(p), { reductions = reductions }, 1)
//@ end
//@ end
/* Rows of at most $(H * V) * THREADS elements. An invocation works on $ROWS$ at once, of which it waits for
 * others together, while it reads the next. */
//@ P.begin_kernel(number["held" .. H])
  //@ held_dims()
  //@ row.share_rows("gl_WorkGroupID.x", "gl_NumWorkGroups.x")
  //@ row.span("0ul")
  const uint64_t stride = share * each;
  //@ columns.begin(H * V)
  //@ local by_columns = rows.elements(program.all, {}, false, "column")
  //@ for _, x in ipairs(by_columns) do
  //@ row.declare_packs(x.pointer .. "_pack", H)
  //@ row.read_packs(x.operand, x.pointer .. "_pack", "args." .. x.pointer .. " + " .. k:of_own(x.operand, "from"), H)
  //@ end
  //@ row.read_ends(by_columns, row.AT_ENDS, "args.")
  //@ for n = 0, ROWS - 1 do
  //@ for _, x in ipairs(ahead) do
  //@ row.declare_packs(x.pointer .. "_next" .. n .. "_", H)
  $k.number$ $(table.concat(row.each_end(x.pointer .. "_next" .. n), ", "));
  //@ end
  //@ end
  //@ local function nth_row(first, n)
  //@   return row.row_of(("%s + %dul * stride + invocation / THREADS"):format(first, n))
  //@ end
  //@ local function read_ahead(first)
  //@ for n = 0, ROWS - 1 do
  {
    const uint64_t row = $(nth_row(first, n)), skipped = row * count * $k.bytes$ul;
    if (row < rows) {
      //@ for _, x in ipairs(ahead) do
      //@ row.read_packs(x.operand, x.pointer .. "_next" .. n .. "_", "args." .. x.pointer .. " + "
      //@   .. k:of_own(x.operand, "skipped") .. " + " .. k:of_own(x.operand, "from"), H)
      //@ for nth, name in ipairs(row.each_end(x.pointer .. "_next" .. n)) do
      if (end_at$(nth - 1) < count)
        $name$ = $(k:get(x.operand))(args.$x.pointer$ + $(k:of_own(x.operand, "skipped")) + end_at$(nth - 1) * $(k:bytes_of(x.operand))ul);
      //@ end
      //@ end
    }
  }
  //@ end
  //@ end
  //@ -- The nth row after the first phases.
  //@ local function each_row(n, last)
  //@ row.the_row(nth_row("first", n))
  //@ for _, x in ipairs(ahead) do
  //@ for slot = 0, H - 1 do
  const uvec4 $x.pointer$_pack$slot$ = $x.pointer$_row$n$_$slot$;
  //@ end
  //@ for nth, name in ipairs(row.each_end(x.pointer .. "_row" .. n)) do
  const $k.number$ $x.pointer$_end$(nth - 1) = $name$;
  //@ end
  //@ end
  //@ row.begin(program)
  //@ for q = 1, last do
  //@ if passes[q] then
  $(program.gathered(q)) mine$q$;
  //@ for _, r in ipairs(phases[q].reductions) do
  mine$q$.$r.name$ = rows$q$.$r.name$_row$n$;
  //@ end
  //@ end
  //@ points.follow(program, q)
  //@ end
  //@ end
  const uint64_t begin = gl_WorkGroupID.x / PERIOD * each;
  //@ read_ahead("begin")
  for (uint64_t first = begin; $(row.row_of("first")) < rows; first += $ROWS$ul * stride) {
    //@ for n = 0, ROWS - 1 do
    //@ for _, x in ipairs(ahead) do
    //@ for slot = 0, H - 1 do
    const uvec4 $x.pointer$_row$n$_$slot$ = $x.pointer$_next$n$_$slot$;
    //@ end
    //@ local coming = row.each_end(x.pointer .. "_next" .. n)
    //@ for nth, name in ipairs(row.each_end(x.pointer .. "_row" .. n)) do
    const $k.number$ $name$ = $(coming[nth]);
    //@ end
    //@ end
    //@ end
    //@ read_ahead("first + " .. ROWS .. "ul * stride")
    //@ for p, phase in ipairs(phases) do
    //@ if passes[p] then
    $k.precise$$(rows_gathered(p)) rows$p$;
    //@ for n = 0, ROWS - 1 do
    {
      //@ each_row(n, p - 1)
      //@ points.clear(program, p)
      //@ points.gather(program, p, H, {})
      //@ points.gather_ends(program, p, row.AT_ENDS, {})
      //@ for _, r in ipairs(phase.reductions) do
      rows$p$.$r.name$_row$n$ = mine$p$.$r.name$;
      //@ end
    }
    //@ end
    lathe_merge_threads(rows$p$, 0u, true);
    //@ end
    //@ end
    //@ for n = 0, ROWS - 1 do
    {
      //@ each_row(n, #phases)
      //@ points.write_totals(program, "thread == 0u && live")
      //@ if point then
      //@ points.compute(program, H, {}, "live")
      //@ points.compute_ends(program, row.AT_ENDS, {}, "live")
      //@ end
    }
    //@ end
    //@ if #active == 1 then -- of two, each keeps the other's memory safe
    if (THREADS > SUBGROUP)
      barrier();
    //@ end
  }
  //@ columns.leave(H * V, "gl_WorkGroupID.x", "gl_NumWorkGroups.x")
//@ P.end_kernel()

//@ row.sure = 0
//@ end
