//@ -- Some columns of some rows. The kernel for them is of reductions over the rows, where these are not read ahead, and
//@ -- of programs that reduce nothing. What workgroups leave of reductions is in the workspace, and a kernel merges it.
//@ local P, rows = use "parts.comp", use "../gpu/rows.c"
//@ local row, points = use "row.comp", use "row_points.comp"
//@ local V, program, columns = k.width, row.read_again, k.program.column_reductions
//@ local phases, passes, point = program.phases, program.passes, program.point
//@ local number, over, finish = schedule.number, schedule.over_rows, k.finish
//@ if finish then
//@ P.define(finish)
/* The workspace: how many workgroups, or parts of them, have left something; what each has of each
 * reduction at all columns; what the passes over each row gave. Sizes are as in schedule_rows.lua. */
uint64_t lathe_partial(uint which, uint64_t partial, uint64_t count) {
  const uint64_t most = clamp($(over.numbers)ul / count, $over.fewest$ul, $over.most$ul);
  return args.workspace + $over.partials_at$ul + (which * most + partial) * count * $(k.spelling.bits // 8)ul;
}

uint64_t lathe_row_results(uint64_t count) {
  return lathe_partial($(#columns)u, 0ul, count);
}

/* For what invocations hand to others of their workgroup. */
shared $k.number$ lathe_room[$(over.room)];

//@ end
//@
//@ -- What an invocation gathers over the rows at each of N columns, and at those at the ends.
//@ local function held_columns(N)
//@   local all = {}
//@   for nth = 0, N - 1 do
//@     all[nth + 1] = nth
//@   end
//@   return all
//@ end
//@ local at_ends = row.each_end("")
//@ function begin(N)
//@ for _, r in ipairs(columns) do
//@ for _, list in ipairs { held_columns(N), at_ends } do
//@ for _, nth in ipairs(list) do
$k.precise$$k.number$ $r.name$_total$nth$ = $(k:neutral(r.kind));
//@ end
//@ end
//@ end
//@ end
//@ -- Merges that over the rows that the workgroup works on side by side.
//@ local function merge(list)
[[unroll]] for (uint mask = THREADS; mask < SUBGROUP; mask *= 2) {
  //@ for _, r in ipairs(columns) do
  //@ for _, nth in ipairs(list) do
  //@ local name = r.name .. "_total" .. nth
  $name$ = $(k:fold(r.kind, { name, "lathe_exchange(" .. name .. ", mask)" }));
  //@ end
  //@ end
}
//@ for _, r in ipairs(columns) do
//@ for first = 1, #list, over.room_numbers do
//@ local last = math.min(first + over.room_numbers - 1, #list)
for (uint apart = 1u << findMSB(gl_WorkGroupSize.x - 1u); apart >= max(THREADS, SUBGROUP); apart /= 2) {
  if (invocation >= apart && invocation < 2u * apart) {
    //@ for i = first, last do
    lathe_room[$(i - first)u * apart + invocation - apart] = $r.name$_total$(list[i]);
    //@ end
  }
  barrier();
  if (invocation < apart && invocation + apart < gl_WorkGroupSize.x) {
    //@ for i = first, last do
    //@ local name = r.name .. "_total" .. list[i]
    $name$ = $(k:fold(r.kind, { name, ("lathe_room[%du * apart + invocation]"):format(i - first) }));
    //@ end
  }
  barrier();
}
//@ end
//@ end
//@ end
//@ -- Leaves it in the workspace, merged. Of `end` columns from `base` on, and those at the ends; `group` is the
//@ -- workgroup's number among the `share` that have the same columns.
//@ function leave(N, group, share)
{
  //@ merge(held_columns(N))
  if (MODE == LATHE_ENDS) {
    //@ merge(at_ends)
  }
  if (invocation == 0u && gl_WorkGroupID.x == 0u && gl_WorkGroupID.y == 0u)
    lathe_word(args.workspace).at = $share$;
  if (invocation < THREADS) {
    //@ local bytes = k.spelling.bits // 8
    //@ local each = 16 // bytes -- numbers of a 16-byte access, the only kind that is fast
    //@ for i, r in ipairs(columns) do
    {
      const uint64_t whole = lathe_partial($(i - 1), $group$, count), left = whole + base * $bytes$ul;
      if (MODE == LATHE_FULL || MODE == LATHE_PACKS) {
        //@ for first = 0, N - 1, each do
        //@ local totals = {}
        //@ for nth = first, first + each - 1 do
        //@   totals[#totals + 1] = r.name .. "_total" .. nth
        //@ end
        if ($(row.inside(first // V * V)))
          lathe_pack(left + uint64_t($(row.at(first))) * $bytes$ul).at = $(k:pack_numbers(totals));
        //@ end
      } else {
        //@ for nth = 0, N - 1 do
        if ($(row.inside(nth)))
          lathe_number(left + uint64_t($(row.at(nth))) * $bytes$ul).at = $r.name$_total$nth$;
        //@ end
      }
      //@ for nth, at_end in ipairs(at_ends) do
      if (end_at$(nth - 1) < count)
        lathe_number(whole + end_at$(nth - 1) * $bytes$ul).at = $r.name$_total$at_end$;
      //@ end
    }
    //@ end
  }
}
//@ end
//@
//@ function define_tile()
/* A tile of columns, of all rows or some: the results, and what is reduced over the rows. */
//@ P.begin_kernel(number.columns)
  //@ row.dims(program)
  const uint lanes = gl_WorkGroupSize.x / THREADS; /* rows that a workgroup works on side by side */
  //@ row.share_rows("gl_WorkGroupID.y", "gl_NumWorkGroups.y", "gl_WorkGroupID.x == 0u")
  const uint64_t tile = uint64_t(gl_WorkGroupID.x) * (THREADS * $V$ul), stride = share * lanes;
  const uint64_t base = head + tile, from = base * $k.bytes$ul;
  const uint end = uint(min(until - min(base, until), THREADS * $V$ul));
  //@ begin(V)
  //@ local whole, by_columns = rows.elements({ point }, {}, false, "whole"),
  //@   rows.elements({ point }, {}, false, "column")
  //@ for _, x in ipairs(by_columns) do
  //@ row.declare_packs(x.pointer .. "_pack", 1)
  //@ row.read_packs(x.operand, x.pointer .. "_pack", "args." .. x.pointer .. " + " .. k:of_own(x.operand, "from"), 1)
  //@ end
  //@ row.read_ends(by_columns, row.AT_ENDS, "args.")
  //@ local function nth_row(u) return row.row_of(("first + %dul * stride"):format(u)) end
  for (uint64_t first = gl_WorkGroupID.y / PERIOD * lanes + invocation / THREADS; $(nth_row(0)) < rows; first += $schedule.tile.rows$ul * stride) {
    //@ for u = 0, schedule.tile.rows - 1 do
    //@ for _, x in ipairs(whole) do
    //@ row.declare_packs(x.pointer .. "_row" .. u .. "_", 1)
    $k.number$ $(table.concat(row.each_end(x.pointer .. "_row" .. u), ", "));
    if ($(nth_row(u)) < rows) {
      const uint64_t at = args.$x.pointer$ + ($(nth_row(u))) * count * $(k:bytes_of(x.operand))ul;
      //@ row.read_packs(x.operand, x.pointer .. "_row" .. u .. "_", "at + " .. k:of_own(x.operand, "from"), 1)
      //@ for nth, name in ipairs(row.each_end(x.pointer .. "_row" .. u)) do
      if (end_at$(nth - 1) < count)
        $name$ = $(k:get(x.operand))(at + end_at$(nth - 1) * $(k:bytes_of(x.operand))ul);
      //@ end
    }
    //@ end
    //@ end
    //@ for u = 0, schedule.tile.rows - 1 do
    if ($(nth_row(u)) < rows) {
      const uint64_t row = $(nth_row(u));
      $(k:pointers(rows.offset))
      //@ row.begin(program)
      //@ for p in ipairs(phases) do
      //@ if passes[p] then
      $(program.gathered(p)) mine$p$;
      lathe_find(lathe_row_results(count) + $(over.row_results_at[p])ul * rows, row, rows, mine$p$);
      //@ end
      //@ points.follow(program, p)
      //@ end
      //@ for _, x in ipairs(whole) do
      const uvec4 $x.pointer$_pack0 = $x.pointer$_row$u$_0;
      //@ for nth, name in ipairs(row.each_end(x.pointer .. "_row" .. u)) do
      const $k.number$ $x.pointer$_end$(nth - 1) = $name$;
      //@ end
      //@ end
      //@ points.compute(program, 1, {}, "true")
      //@ points.compute_ends(program, row.AT_ENDS, {}, "true")
    }
    //@ end
  }
  //@ if finish then
  //@ leave(V, "gl_WorkGroupID.y", "gl_NumWorkGroups.y")
  //@ end
//@ P.end_kernel()

//@ end
//@ function define_merged()
/* Merges what workgroups have left, and finishes it. */
//@ P.begin_kernel(number.finish)
  $(k:scalars(op))
  $(k:pointers())
  const uint64_t rows = $(k:product("args.dim", 1, #op.dims - 1)), count = args.dim[$(#op.dims - 1)];
  const uint invocation = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
  const uint lane = invocation / $over.merge_columns$u;
  const uint64_t column = lathe_group() * $over.merge_columns$ul + invocation % $over.merge_columns$u;
  const bool inside = column < count;
  const uint partials = lathe_word(args.workspace).at;
  $(k:alone(finish))
  //@ local AT_ONCE = 8 -- reads in flight
  //@ local function value(x)
  //@   return x.kind == "column" and x.name .. "_total" or ("%s(%s + column * %dul)"):format(k:get(x.operand),
  //@     x.pointer, k:bytes_of(x.operand))
  //@ end
  //@ for _, r in ipairs(columns) do
  $k.precise$$k.number$ $r.name$_total = $(k:neutral(r.kind));
  //@ end
  if (inside)
    for (uint first = lane; first < partials; first += $(over.merge_lanes * AT_ONCE)u) {
      //@ for i, r in ipairs(columns) do
      //@ for u = 0, AT_ONCE - 1 do
      $k.number$ $r.name$_term$u$ = $(k:neutral(r.kind));
      if (first + $(u * over.merge_lanes)u < partials)
        $r.name$_term$u$ = lathe_number(lathe_partial($(i - 1), first + $(u * over.merge_lanes)u, count) + column * $(k.spelling.bits // 8)ul).at;
      //@ end
      //@ end
      //@ for _, r in ipairs(columns) do
      //@ local terms = {}
      //@ for u = 0, AT_ONCE - 1 do
      //@   terms[u + 1] = r.name .. "_term" .. u
      //@ end
      $r.name$_total = $(k:fold(r.kind, { r.name .. "_total", k:fold(r.kind, terms) }));
      //@ end
    }
  for (uint apart = $(over.merge_lanes // 2)u; apart > 0u; apart /= 2u) {
    //@ for i, r in ipairs(columns) do
    lathe_room[$((i - 1) * over.merge_lanes * over.merge_columns)u + invocation] = $r.name$_total;
    //@ end
    barrier();
    if (lane < apart) {
      //@ for i, r in ipairs(columns) do
      const $k.number$ $r.name$_term = lathe_room[$((i - 1) * over.merge_lanes * over.merge_columns)u + invocation + apart * $over.merge_columns$u];
      $r.name$_total = $(k:fold(r.kind, { r.name .. "_total", r.name .. "_term" }));
      //@ end
    }
    barrier();
  }
  if (inside && lane == 0u) {
    //@ P.call(finish, value)
    //@ for _, y in ipairs(k.program.columns) do
    $(k:put(y.operand))($y.operand.name$ + column * $(k:bytes_of(y.operand))ul, $y.operand.name$_);
    //@ end
  }
//@ P.end_kernel()

//@ end
