//@ -- Kernels of rows that are read again in each pass: by a workgroup each, or by the workgroups of its parts.
//@ local P = use "parts.comp"
//@ local rows, row, points = use "../gpu/rows.c", use "row.comp", use "row_points.comp"
//@ local V, program = k.width, row.read_again
//@ local phases, active, passes, point = program.phases, program.active, program.passes, program.point
//@ local number, split = schedule.number, schedule.split
//@
//@ -- The loop of an invocation of a long row over what it holds at a time.
//@ local function tiles(H, first, step)
//@   return string.format("for (uint64_t tile = %s * (THREADS * %dul); tile < until - head; tile += %s * (THREADS * %dul)) {",
//@     first, H * V, step, H * V)
//@ end
//@ -- One tile of phase p, or of the results.
//@ local function pass(p, H)
//@ row.span("tile", ("THREADS * %dul"):format(H * V))
//@ if p <= #phases then
//@ row.read(rows.elements({ passes[p] }, {}, true), {}, H)
//@ points.gather(program, p, H)
//@ else
//@ row.read(rows.elements({ point }, {}, true), {}, H)
//@ points.compute(program, H, {}, "true")
//@ end
//@ end
//@ local function pass_ends(p)
//@ row.read_ends(rows.elements({ passes[p] or point }, {}, true), 1)
//@ if p <= #phases then
//@ points.gather_ends(program, p, 1)
//@ else
//@ points.compute_ends(program, 1, {}, "true")
//@ end
//@ end
//@
//@ function define_long()
//@ local H, finish = schedule.long_hold, #k.program.columns > 0
/* Rows of any length$(finish and ": what the passes over them give" or "") */
//@ P.begin_kernel(number.longer)
  //@ row.dims(program)
  const uint64_t row = lathe_group();
  if (row < rows) {
    $(k:pointers(rows.offset))
    //@ row.ends(1)
    //@ row.begin(program)
    //@ for p in ipairs(phases) do
    //@ if passes[p] then
    //@ points.clear(program, p)
    $(tiles(H, "0ul", "1ul"))
      //@ pass(p, H)
    }
    {
      //@ pass_ends(p)
    }
    //@ end
    //@ points.merge(program, p, p == active[#active] and (finish or not point))
    //@ if passes[p] and finish then
    if (thread == 0u)
      lathe_leave(lathe_row_results(count) + $(schedule.over_rows.row_results_at[p])ul * rows, row, rows, mine$p$);
    //@ end
    //@ end
    //@ points.write_totals(program, "thread == 0u")
    //@ if point and not finish then
    $(tiles(H, "0ul", "1ul"))
      //@ pass(#phases + 1, H)
    }
    //@ pass_ends(#phases + 1)
    //@ end
  }
//@ P.end_kernel()

//@ end
//@
//@ function define_split()
//@ local H = split.hold
//@ for step = 1, #active + 1 do
//@ local p = active[step] or #phases + 1
/* Rows split into parts: $(p <= #phases and "phase " .. p or "the results") */
//@ P.begin_kernel(number["part" .. p])
  //@ row.dims(program)
  const uint part = gl_WorkGroupID.x;
  const uint64_t row = gl_WorkGroupID.y;
  //@ if step == 1 then
  const uint parts = gl_NumWorkGroups.x;
  if (row == 0ul && part == 0u && thread == 0u)
    lathe_word(args.workspace).at = parts;
  //@ else
  const uint parts = lathe_word(args.workspace).at;
  //@ end
  $(k:pointers(rows.offset))
  //@ if p <= #phases or point then
  //@ row.ends(1, "part == 0u")
  //@ end
  //@ row.begin(program)
  //@ for q = 1, p - 1 do
  //@ if passes[q] then
  //@ points.clear(program, q)
  for (uint from = thread; from < parts; from += THREADS) {
    $(program.gathered(q)) other;
    lathe_find(args.workspace + $(split.left_at[q])ul, row * parts + from, $split.most_parts$ul, other);
    lathe_merge(mine$q$, other);
  }
  //@ end
  //@ points.merge(program, q)
  //@ end
  //@ if p > #phases then
  //@ points.write_totals(program, "thread == 0u && part == 0u")
  //@ end
  //@ if p <= #phases then
  //@ points.clear(program, p)
  //@ end
  //@ if p <= #phases or point then
  $(tiles(H, "uint64_t(part)", "uint64_t(parts)"))
    //@ pass(p, H)
  }
  //@ pass_ends(p)
  //@ end
  //@ if p <= #phases then
  lathe_merge_threads(mine$p$, 0u, false);
  if (thread == 0u)
    lathe_leave(args.workspace + $(split.left_at[p])ul, row * parts + part, $split.most_parts$ul, mine$p$);
  //@ end
//@ P.end_kernel()

//@ end
//@ end
