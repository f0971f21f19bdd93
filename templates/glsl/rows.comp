/* A program over each row: passes of reductions over the row, then its values. Limited by bytes
 * moved where a row fits the registers of a workgroup: it is read once, all accesses in flight, and
 * written once; the passes work on registers. THREADS invocations share a row and hold a number of
 * accesses of 16 bytes of each operand; several short rows go to a workgroup. Rows too long for that
 * are read again in each pass, by a workgroup of the largest size; what is dear to compute twice is
 * then kept in the output between passes. Where there are fewer of these than multiprocessors, or only totals
 * follow from one pass, each is split into parts, a launch for each pass: a few microseconds that many workgroups
 * soon repay.
 *
 * Reductions over the rows: an invocation keeps what it gathers at its columns, over all the rows that
 * it meets, in registers. A workgroup leaves them in the workspace, and one more launch merges what all
 * have left, in an order that depends on nothing but the grid. Long rows, and programs with nothing else,
 * are dealt out by tiles of columns: what the passes over a row gave is in the workspace then.
 *
 * Where rows start anywhere, accesses of 16 bytes are those that lie in the row whole, and a few elements at both its
 * ends go apart; where operands lie unlike, all elements do. Workgroups that gather over rows then take rows that
 * start alike, so that an invocation has the same columns in all of them. Where a row is as long as a kernel has room
 * for, nothing needs a condition. */
//@ use "kernel.comp"
//@ local P = use "parts.comp"
//@ local S, split = use "shapes.c", use "../gpu/split.c"
/* How many of a row's elements lie ahead of the first that an access of 16 bytes may start at. */
uint lathe_head(uint64_t row, uint64_t count) {
  return uint(min(-(row / $k.bytes$ul) & $(k.width - 1)ul, count));
}

/* The nth of the places ahead of these accesses and behind them, or one that no row has. */
uint64_t lathe_end(uint nth, uint head, uint64_t until, uint64_t count) {
  const uint64_t place = nth < head ? nth : until + (nth - head);
  return place < count ? place : ~0ul;
}

/* The 16 bytes that lie `past` bytes past others: some of these, then of the next. */
uvec4 lathe_past(uvec4 pack, uvec4 next, uint past) {
  const bool by_two = (past & 8u) != 0u, by_one = (past & 4u) != 0u;
  const uvec4 a = by_two ? uvec4(pack.zw, next.xy) : pack, b = by_two ? next.zwzw : next;
  const uvec4 c = by_one ? uvec4(a.yzw, b.x) : a;
  //@ if k.bytes == 2 then
  return (past & 2u) != 0u ? c >> 16u | uvec4(c.yzw, by_one ? b.y : b.x) << 16u : c;
  //@ else
  return c;
  //@ end
}

//@ local V, columns = k.width, k.program.column_reductions
//@ local AT_ENDS = V == 8 and 2 or 1 -- elements at a row's ends, at most 2 V - 2, of each of 8 invocations or more
//@ local function each_end(name)
//@   return AT_ENDS == 2 and { name .. "_end0", name .. "_end1" } or { name .. "_end0" }
//@ end
//@ -- The program that is being written: where a row stays in registers, so may what is dear. gathered(p): the
//@ -- type of what its phase p gathers.
//@ local phases, outputs, passes, point, totals, uniforms, gathered
//@ local gatherers = {} -- their types' names, by the kinds of what they gather
//@ local function define_gatherers()
//@ for p, phase in ipairs(phases) do
//@ if passes[p] then
//@ P.define_gatherer(gathered(p), phase, 1)
//@ end
//@ end
//@ end
//@ local function program_of(lowered)
//@   local own, point, totals = lowered:passes(P.define), lowered:last_pass(P.define), lowered:totals()
//@   local kinds = lowered.program.kinds
//@   local function select()
//@     phases, outputs = lowered.program.phases, lowered.program.points
//@     function gathered(p) return gatherers[kinds] .. "_gathered" .. p end
//@     return own, point, totals, function(step) return lowered:uniforms(step) end
//@   end
//@   if not gatherers[kinds] then
//@     gatherers[kinds] = lowered.name
//@     passes = select()
//@     define_gatherers()
//@   end
//@   return select
//@ end
//@ local read_again = program_of(k)
//@ local held = k:held(op)
//@ local in_registers = held == k and read_again or program_of(held)
//@ passes, point, totals, uniforms = read_again()
//@ local finish = k:finish(P.define)
//@ local function offset(operand)
//@   return operand.place == "whole" and "row * count" or operand.place == "row" and "row" or nil
//@ end
//@
//@ -- The place of the nth element that an invocation holds, from where the row's accesses start, and whether it is
//@ -- there, ahead of `end`: with packs, a whole access is if its first element is. All rows have the first `sure`
//@ -- packs of each invocation.
//@ local sure = 0
//@ local function at(nth)
//@   return string.format("start + %du * THREADS + %du * step", nth // V * V, nth % V)
//@ end
//@ local function inside(nth)
//@   local packed = at(nth // V * V) .. " < end"
//@   return string.format("(MODE == FULL || (MODE != APART ? %s : %s < end))", nth < sure * V and "true" or packed, at(nth))
//@ end
//@
//@ -- Reads H accesses at an address into uvec4s named pack0..., which declare_packs has declared.
//@ function declare_packs(pack, H)
//@ for slot = 0, H - 1 do
uvec4 $pack$$slot$ = uvec4(0u);
//@ end
//@ end
//@ -- column: of an operand for each column, which lies as many elements ahead as the row has ahead of its accesses.
//@ function read_packs(pack, address, H, column)
//@ local function place(slot)
//@   return ("%s%s + uint64_t(start) * %dul + %dul * (THREADS * 16ul)"):format(address, column and " - head * " .. k.bytes .. "u" or "", k.bytes, slot)
//@ end
//@ for slot = 0, H - 1 do
//@ local lanes = {}
//@ for lane = 0, V - 1 do
//@   lanes[lane + 1] = "lane" .. lane
//@ end
if (MODE != APART && $(inside(slot * V))) {
  $pack$$slot$ = lathe_pack($(place(slot))).at;
} else if (MODE == APART && $(inside(slot * V))) {
  //@ for lane = 0, V - 1 do
  //@ local nth = slot * V + lane
  const $k.number$ lane$lane$ = $(inside(nth)) ? lathe_get($address$ + uint64_t($(at(nth))) * $k.bytes$ul) : 0;
  //@ end
  $pack$$slot$ = $(k:pack(lanes));
}
//@ end
//@ if column then
if (MODE == ENDS && head > 0u) {
  //@ for slot = 0, H - 1 do
  const uvec4 next$slot$ = $(inside(slot * V)) ? lathe_pack($(place(slot)) + 16ul).at : uvec4(0u);
  //@ end
  //@ for slot = 0, H - 1 do
  $pack$$slot$ = lathe_past($pack$$slot$, next$slot$, head * $k.bytes$u);
  //@ end
}
//@ end
//@ end
//@ -- The operands that point functions read elements of, but for those in known, or of one place.
//@ local function elements(points, known, place)
//@   local list, taken = {}, {}
//@   for _, point in ipairs(points) do
//@     for _, x in ipairs(point.inputs) do
//@       if x.pointer and not known[x.pointer] and not taken[x.pointer] and (not place or x.operand.place == place) then
//@         taken[x.pointer] = true
//@         list[#list + 1] = x
//@       end
//@     end
//@   end
//@   return list
//@ end
//@ function read(list, known, H)
//@ for _, x in ipairs(list) do
//@ known[x.pointer] = true
//@ declare_packs(x.pointer .. "_pack", H)
//@ read_packs(x.pointer .. "_pack", x.pointer .. " + from", H, x.operand.place == "column")
//@ end
//@ end
//@ -- The same of an invocation's elements at the ends of the row, N of them; from: what pointers are members of.
//@ function read_ends(list, N, from)
//@ for _, x in ipairs(list) do
//@ for nth = 0, N - 1 do
const $k.number$ $x.pointer$_end$nth$ = end_at$nth$ < count ? lathe_get($(from or "")$x.pointer$ + end_at$nth$ * $k.bytes$ul) : 0;
//@ end
//@ end
//@ end
//@
//@ -- Writes one access of operands { operand }, of which the values are in variables name_outN.
//@ function write(list, slot)
//@ for _, y in ipairs(list) do
//@ local name = y.operand.name
//@ local values = {}
//@ for lane = 0, V - 1 do
//@   values[lane + 1] = name .. "_out" .. slot * V + lane
//@ end
if (MODE != APART && $(inside(slot * V))) {
  lathe_pack($name$ + from + uint64_t(start) * $k.bytes$ul + $slot$ul * (THREADS * 16ul)).at = $(k:pack(values, y.node));
} else if (MODE == APART && $(inside(slot * V))) {
  //@ for lane = 0, V - 1 do
  //@ local nth = slot * V + lane
  if ($(inside(nth)))
    lathe_put($name$ + from + uint64_t($(at(nth))) * $k.bytes$ul, $name$_out$nth$);
  //@ end
}
//@ end
//@ end
//@
//@ -- Declares N variables, from the first on, for the values of operands: name_outN for those that are to be
//@ -- written, name_keptN for those that stay.
//@ function declare(list, what, first, N)
//@ for _, y in ipairs(list) do
//@ for nth = first, first + N - 1 do
$k.precise$$k.number$ $y.operand.name$_$what$$nth$;
//@ end
//@ end
//@ end
//@
//@ -- The inputs of a point function: of what was read, or of what a pass has left in variables.
//@ function inputs(point, nth, kept)
//@ for _, x in ipairs(point.inputs) do
//@ if x.kind == "hit" then
const bool $x.variable$ = $(at(nth)) == $x.index$_place;
//@ elseif kept[x.pointer] then
const $k.number$ $x.variable$ = $x.pointer$_kept$nth$;
//@ else
const $k.number$ $x.variable$ = $(k:unpack(x.pointer .. "_pack" .. nth // V, nth % V));
//@ end
//@ end
//@ end
//@
//@ function inputs_at_end(point, nth, kept)
//@ for _, x in ipairs(point.inputs) do
//@ if x.kind == "hit" then
const bool $x.variable$ = end_at$nth$ == uint64_t($x.index$_value);
//@ else
const $k.number$ $x.variable$ = $x.pointer$$(kept[x.pointer] and "_kept" or "")_end$nth$;
//@ end
//@ end
//@ end
//@
//@ -- The place that an index names among the elements from `base` on, of which there are fewer than 2^32.
//@ function hits(point, base)
//@ for _, x in ipairs(point.inputs) do
//@ if x.kind == "hit" then
const uint $x.index$_place = uint(min(uint64_t($x.index$_value) - $base$, 0xfffffffful));
//@ end
//@ end
//@ end
//@
//@ -- Word w of an access to an operand, numbers that are not in the row replaced by the neutral one of `kind`.
//@ local function stored_word(pack, slot, w, kind)
//@   local word, neutral = pack .. slot .. "." .. ("xyzw"):sub(w + 1, w + 1), kind:find("max") and 0xff80 or 0x7f80
//@   if k.dtype == "f16" then
//@     neutral = kind:find("max") and 0xfc00 or 0x7c00
//@   end
//@   local apart = {}
//@   for half = 0, 1 do
//@     apart[half + 1] = ("(%s ? %s & 0x%xu : 0x%xu)"):format(inside(slot * V + 2 * w + half), word, 0xffff << 16 * half, neutral << 16 * half)
//@   end
//@   return ("MODE == APART ? %s | %s : %s ? %s : 0x%xu"):format(apart[1], apart[2], inside(slot * V), word, neutral << 16 | neutral)
//@ end
//@
//@ -- The terms of a reduction as they are in memory: NAME_stored0...
//@ function stored(r, H, kind)
//@ for slot = 0, H - 1 do
//@ local words = {}
//@ for w = 0, 3 do
//@   words[w + 1] = stored_word(r.term.name .. "_pack", slot, w, kind)
//@ end
const uvec4 $r.name$_stored$slot$ = uvec4($(table.concat(words, ", ")));
//@ end
//@ end
//@
//@ -- Gathers the terms of the points that are held; kept: where what it stashes stays in variables, else it
//@ -- is written.
//@ function gather(phase, point, mine, H, base, kept)
//@ if k:is_as_stored(phase) then
//@ for _, r in ipairs(phase.reductions) do
//@ stored(r, H, r.kind)
//@ P.take_stored(r, mine, r.name .. "_stored", H, function(slot, lane)
//@   return ("%s + uint64_t(start + %s * %du * THREADS + %s * step)"):format(base, slot, V, lane)
//@ end)
//@ end
//@ else
//@ hits(point, base)
//@ local at_once, by_access = {}, { reductions = {} } -- those with two results are taken of all that is held
//@ for _, r in ipairs(phase.reductions) do
//@   table.insert(r.second and at_once or by_access.reductions, r)
//@ end
//@ for _, r in ipairs(at_once) do
//@ for nth = 0, H * V - 1 do
$k.precise$$k.number$ $r.name$_term$nth$;
//@ end
//@ end
//@ for slot = 0, H - 1 do
{
  //@ declare(kept and {} or phase.stash, "out", slot * V, V)
  //@ for lane = 0, V - 1 do
  //@ local nth = slot * V + lane
  //@ for _, r in ipairs(by_access.reductions) do
  $k.precise$$k.number$ $r.name$_term$lane$;
  //@ end
  {
    //@ inputs(point, nth, kept or {})
    $point.call$
    //@ for _, r in ipairs(phase.reductions) do
    //@ local neutral = r.kind == "moments" and "sum" or r.kind == "powers" and "maximum" or r.kind
    $r.name$_term$(r.second and nth or lane) = $(inside(nth)) ? $r.name$_term : $(k:neutral(neutral));
    //@ end
    //@ for _, y in ipairs(phase.stash) do
    $y.operand.name$_$(kept and "kept" or "out")$nth$ = $y.operand.name$_;
    //@ end
  }
  //@ end
  //@ if #by_access.reductions > 0 then
  if ($(inside(slot * V))) {
    //@ P.take(by_access, mine, V, function(nth)
    //@   return ("%s + uint64_t(start + %du * THREADS + %s * step)"):format(base, slot * V, nth)
    //@ end)
  }
  //@ end
  //@ write(kept and {} or phase.stash, slot)
}
//@ end
//@ for _, r in ipairs(at_once) do
//@ if r.kind == "moments" then
//@ P.take_moments(r, mine, H * V, inside)
//@ elseif k:is_stored(r) then
//@ stored(r, H, "maximum")
//@ P.take_powers(r, mine, H * V, r.name .. "_stored")
//@ else
//@ P.take_powers(r, mine, H * V)
//@ end
//@ end
//@ end
//@ end
//@
//@ -- The same of the N elements at the ends of the row.
//@ function gather_ends(p, mine, N, kept)
//@ local phase, point = phases[p], passes[p]
//@ for nth = 0, N - 1 do
if (end_at$nth$ < count) {
  $k.precise$$(gathered(p)) at_end;
  lathe_clear(at_end);
  //@ inputs_at_end(point, nth, kept or {})
  $point.call$
  //@ for _, r in ipairs(phase.reductions) do
  const $k.precise$$k.number$ $r.name$_term0 = $r.name$_term;
  //@ if r.kind == "moments" then
  //@ P.take_moments(r, "at_end", 1, function() return "true" end)
  //@ elseif r.kind == "powers" then
  //@ P.take_powers(r, "at_end", 1)
  //@ else
  //@ P.take({ reductions = { r } }, "at_end", 1, function() return "end_at" .. nth end)
  //@ end
  //@ end
  lathe_merge($mine$, at_end);
  //@ for _, y in ipairs(phase.stash) do
  //@ if kept then
  $y.operand.name$_kept_end$nth$ = $y.operand.name$_;
  //@ else
  lathe_put($y.operand.name$ + end_at$nth$ * $k.bytes$ul, $y.operand.name$_);
  //@ end
  //@ end
}
//@ end
//@ end
//@
//@ -- Computes the points that are held and writes them, where the row is there (live), and gathers what is to
//@ -- be reduced over the rows.
//@ function compute(H, base, kept, live)
//@ hits(point, base)
if ($live$) {
  //@ for slot = 0, H - 1 do
  {
    //@ declare(outputs, "out", slot * V, V)
    //@ for nth = slot * V, slot * V + V - 1 do
    {
      //@ inputs(point, nth, kept)
      $point.call$
      //@ for _, y in ipairs(outputs) do
      $y.operand.name$_out$nth$ = $y.operand.name$_;
      //@ end
      //@ take_columns(nth)
    }
    //@ end
    //@ write(outputs, slot)
  }
  //@ end
}
//@ end
//@
//@ function compute_ends(N, kept, live)
//@ for nth = 0, N - 1 do
if ($live$ && end_at$nth$ < count) {
  //@ inputs_at_end(point, nth, kept)
  $point.call$
  //@ for _, y in ipairs(outputs) do
  lathe_put($y.operand.name$ + end_at$nth$ * $k.bytes$ul, $y.operand.name$_);
  //@ end
  //@ take_columns("_end" .. nth)
}
//@ end
//@ end
//@
//@ -- Gathers what is to be reduced over the rows, of an invocation's element `nth`.
//@ function take_columns(nth)
//@ for _, r in ipairs(columns) do
$r.name$_total$nth$ = $(k:fold(r.kind, { r.name .. "_total" .. nth, r.name .. "_term" }));
//@ end
//@ end
//@
//@ function prologue()
$(k:scalars(op))
const uint64_t rows = $(k:product("args.dim", 1, #op.dims - 1)), count = args.dim[$(#op.dims - 1)];
const uint invocation = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID, thread = invocation % THREADS;
const uint start = MODE == APART ? thread : thread * $V$u, step = MODE == APART ? THREADS : 1u;
$(uniforms("call"))
//@ end
//@
//@ -- What is the same for the whole row, and what picks will read. The row's elements are better asked for
//@ -- ahead of these, which wait for one another.
//@ function begin()
$(k:row_values())
$(uniforms("row"))
//@ for _, phase in ipairs(phases) do
//@ for _, pick in ipairs(phase.picks) do
//@ for _, x in ipairs(elements({ pick.point }, {})) do
const $k.number$ $pick.name$_$x.pointer$ =
    uint64_t($pick.index$_value) < count ? lathe_get($x.pointer$ + uint64_t($pick.index$_value) * $k.bytes$ul) : 0;
//@ end
//@ end
//@ end
//@ end
//@
//@ -- The terms at the places that indexes name, NaN where these are not in the row.
//@ function picks(phase)
//@ for _, pick in ipairs(phase.picks) do
$k.precise$$k.number$ $pick.name$ = $(k:literal(0 / 0));
if (uint64_t($pick.index$_value) < count) {
  //@ for _, x in ipairs(pick.point.inputs) do
  //@ if x.kind == "hit" then
  const bool $x.variable$ = $x.index$_value == $pick.index$_value;
  //@ else
  const $k.number$ $x.variable$ = $pick.name$_$x.pointer$;
  //@ end
  //@ end
  $pick.point.call$
  $pick.name$ = $pick.name$_term;
}
//@ end
//@ end
//@
//@ -- What phase p gives as plain numbers, of the record of what was gathered, and what follows from it.
//@ function results(p)
//@ if passes[p] then
//@ P.results(phases[p], "mine" .. p)
//@ end
//@ picks(phases[p])
$(uniforms(p))
//@ end
//@ -- Whether no pass comes after that of phase p.
//@ local function is_last(p)
//@   local last = true
//@   for q = p + 1, #phases do
//@     last = last and not passes[q]
//@   end
//@   return last
//@ end
//@ -- Phase p of all invocations that share a row; last: only the first needs it.
//@ function merge(p, last)
//@ if passes[p] then
lathe_merge_threads(mine$p$, 0u, $(last and "false" or "true"));
//@ if last then
if (thread != 0u)
  return;
//@ end
//@ end
//@ results(p)
//@ end
//@ function clear(p)
$k.precise$$(gathered(p)) mine$p$;
lathe_clear(mine$p$);
//@ end
//@
//@ function store_totals(condition)
//@ if #totals > 0 then
if ($condition$) {
  //@ for _, total in ipairs(totals) do
  $total$
  //@ end
}
//@ end
//@ end
//@
//@ -- Where a workgroup, number `group` of `groups`, works on many rows: the nth of those that it may meet, which
//@ -- all start alike. Sets where their accesses start and end, as `ends` has it.
//@ function share_rows(group, groups, there)
const uint64_t PERIOD = MODE == ENDS ? $V$ul : 1ul, share = $groups$ / PERIOD, own = $group$ % PERIOD;
//@ ends(AT_ENDS, there, "args.", "own")
//@ end
//@ local function row_of(nth) return ("(%s) * PERIOD + own"):format(nth) end
//@
//@ -- What an invocation gathers over the rows at each of N columns, and at those at the ends.
//@ local function held_columns(N)
//@   local all = {}
//@   for nth = 0, N - 1 do
//@     all[nth + 1] = nth
//@   end
//@   return all
//@ end
//@ local at_ends = each_end("")
//@ function begin_columns(N)
//@ for _, r in ipairs(columns) do
//@ for _, list in ipairs { held_columns(N), at_ends } do
//@ for _, nth in ipairs(list) do
$k.precise$$k.number$ $r.name$_total$nth$ = $(k:neutral(r.kind));
//@ end
//@ end
//@ end
//@ end
//@ -- Merges that over the rows that the workgroup works on side by side.
//@ function merge_columns(list)
[[unroll]] for (uint mask = THREADS; mask < SUBGROUP; mask *= 2) {
  //@ for _, r in ipairs(columns) do
  //@ for _, nth in ipairs(list) do
  //@ local name = r.name .. "_total" .. nth
  $name$ = $(k:fold(r.kind, { name, "lathe_exchange(" .. name .. ", mask)" }));
  //@ end
  //@ end
}
//@ for _, r in ipairs(columns) do
//@ for first = 1, #list, S.ROOM_NUMBERS do
//@ local last = math.min(first + S.ROOM_NUMBERS - 1, #list)
for (uint apart = gl_WorkGroupSize.x / 2; apart >= max(THREADS, SUBGROUP); apart /= 2) {
  if (invocation >= apart && invocation < 2u * apart) {
    //@ for i = first, last do
    lathe_room[$(i - first)u * apart + invocation - apart] = $r.name$_total$(list[i]);
    //@ end
  }
  barrier();
  if (invocation < apart) {
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
//@ function leave_columns(N, group, share, base)
//@ if finish then
{
  //@ merge_columns(held_columns(N))
  if (MODE == ENDS) {
    //@ merge_columns(at_ends)
  }
  if (invocation == 0u && gl_WorkGroupID.x == 0u && gl_WorkGroupID.y == 0u)
    lathe_word(args.workspace).at = $share$;
  if (invocation < THREADS) {
    //@ local bytes = k.spelling.bits // 8
    //@ local each = 16 // bytes -- numbers of a 16-byte access, the only kind that is fast
    //@ for i, r in ipairs(columns) do
    {
      const uint64_t whole = lathe_partial($(i - 1), $group$, count), left = whole + $base$ * $bytes$ul;
      if (MODE == FULL || MODE == PACKS) {
        //@ for first = 0, N - 1, each do
        //@ local totals = {}
        //@ for nth = first, first + each - 1 do
        //@   totals[#totals + 1] = r.name .. "_total" .. nth
        //@ end
        if ($(inside(first // V * V)))
          lathe_pack(left + uint64_t($(at(first))) * $bytes$ul).at = $(k:pack_numbers(totals));
        //@ end
      } else {
        //@ for nth = 0, N - 1 do
        if ($(inside(nth)))
          lathe_number(left + uint64_t($(at(nth))) * $bytes$ul).at = $r.name$_total$nth$;
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
//@ end
//@
//@ if finish then
/* The workspace: how many workgroups, or parts of them, have left something; what each has of each
 * reduction at all columns; what the passes over each row gave. Sizes are as in rows_host.c. */
uint64_t lathe_partial(uint which, uint64_t partial, uint64_t count) {
  const uint64_t most = clamp($(S.PARTIAL_NUMBERS)ul / count, $S.FEWEST_PARTIALS$ul, $S.MOST_PARTIALS$ul);
  return args.workspace + 64ul + (which * most + partial) * count * $(k.spelling.bits // 8)ul;
}

uint64_t lathe_row_results(uint64_t count) {
  return lathe_partial($(#columns)u, 0ul, count);
}

/* For what invocations hand to others of their workgroup. */
shared $k.number$ lathe_room[$(S.room(#columns))];

//@ end
//@ local _, number = S.kernels(V, k.program)
//@ passes, point, totals, uniforms = in_registers()
//@ local all, active = {}, 0
//@ for p in ipairs(phases) do
//@   all[#all + 1] = passes[p] or nil
//@   active = active + (passes[p] and 1 or 0)
//@ end
//@ all[#all + 1] = point
//@ -- The row that an invocation works on, whether there is one, and where its operands are.
//@ function the_row(wanted)
const uint64_t wanted = $wanted$;
const bool live = wanted < rows;
const uint64_t row = live ? wanted : 0ul;
$(k:pointers(offset))
//@ end
//@ function held_prologue()
//@ prologue()
const uint each = gl_WorkGroupSize.x / THREADS; /* rows of a workgroup */
//@ end
//@ -- Of a row that starts anywhere: how many elements lie ahead of the first multiple of 16 bytes, and where the
//@ -- accesses of so many end, one earlier than they could where operands for columns are then read past that. Those at
//@ -- both ends, fewer than 2 V, are the first invocations', N of each, where `there`. Of a row of operands that are
//@ -- members of `from`, where pointers are not to the row's data.
//@ function ends(N, there, from, row)
//@ local first
//@ for _, operand in ipairs(k.operands) do
//@   first = first or operand.place == "whole" and operand.name
//@ end
const uint head = MODE == ENDS ? lathe_head($(from or "")$first$$(row and (" + %s * count * %dul"):format(row, k.bytes) or ""), count) : 0u;
const uint64_t until = MODE == ENDS ? head + (count / $V$ul - (head > 0u && count >= $V$ul ? 1ul : 0ul)) * $V$ul : count;
//@ for nth = 0, N - 1 do
//@ local condition = (there and there .. " && " or "") .. (nth > 0 and ("THREADS < %du && "):format(2 * V - 1) or "")
const uint64_t end_at$nth$ = $condition$MODE == ENDS ? lathe_end(thread + $nth$u * THREADS, head, until, count) : ~0ul;
//@ end
//@ end
//@ -- Of a row's accesses from `tile` on, with what there is ahead of them: where that is, and where they end.
//@ function span(tile, most)
const uint64_t base = head + $tile$, from = base * $k.bytes$ul;
const uint end = uint($(most and ("min(until - base, %s)"):format(most) or "until - base"));
//@ end
//@ local rows_known = {} -- the types of what is gathered of several rows
//@ for _, H in ipairs(S.holds(V, k.program)) do
//@ sure = H // 2 -- else the row, where one at its ends may not count, would go to a shape with half as many
//@ if not finish then
/* Rows of at most $(H * V) * THREADS elements. */
//@ P.begin_kernel(number["held" .. H])
  //@ held_prologue()
  const uint64_t first = lathe_group() * each;
  //@ local known, kept, passed = {}, {}, 0
  //@ local function read_held(list)
  //@ read(list, known, H)
  //@ read_ends(list, AT_ENDS)
  //@ end
  if (first < rows) {
    //@ the_row("first + invocation / THREADS")
    //@ ends(AT_ENDS)
    //@ span("0ul")
    //@ read_held(elements({ all[1] }, known))
    //@ begin()
    //@ for p, phase in ipairs(phases) do
    //@ if passes[p] then
    //@ read_held(elements({ passes[p] }, known))
    //@ declare(phase.stash, "kept", 0, H * V)
    //@ declare(phase.stash, "kept_end", 0, AT_ENDS)
    //@ clear(p)
    {
      //@ gather(phase, passes[p], "mine" .. p, H, "base", kept)
    }
    //@ gather_ends(p, "mine" .. p, AT_ENDS, kept)
    //@ for _, y in ipairs(phase.stash) do
    //@ known[y.operand.name], kept[y.operand.name] = true, true
    //@ end
    //@ passed = passed + 1
    //@ if passed == active and point then -- ahead of the wait for other invocations
    //@ read_held(elements({ point }, known))
    //@ end
    //@ end
    //@ merge(p, is_last(p) and not point)
    //@ end
    //@ store_totals("thread == 0u && live")
    //@ if point then
    //@ read_held(elements({ point }, known))
    //@ compute(H, "base", kept, "live")
    //@ compute_ends(AT_ENDS, kept, "live")
    //@ end
  }
//@ P.end_kernel()

//@ else
//@ local ROWS = S.rows_at_once(V, H)
//@ local ahead = elements(all, {}, "whole")
//@ local function rows_gathered(p) return gathered(p) .. "_rows" .. ROWS end
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
  //@ held_prologue()
  //@ share_rows("gl_WorkGroupID.x", "gl_NumWorkGroups.x")
  //@ span("0ul")
  const uint64_t stride = share * each;
  //@ begin_columns(H * V)
  //@ local by_columns = elements(all, {}, "column")
  //@ for _, x in ipairs(by_columns) do
  //@ declare_packs(x.pointer .. "_pack", H)
  //@ read_packs(x.pointer .. "_pack", "args." .. x.pointer .. " + from", H, true)
  //@ end
  //@ read_ends(by_columns, AT_ENDS, "args.")
  //@ for n = 0, ROWS - 1 do
  //@ for _, x in ipairs(ahead) do
  //@ declare_packs(x.pointer .. "_next" .. n .. "_", H)
  $k.number$ $(table.concat(each_end(x.pointer .. "_next" .. n), ", "));
  //@ end
  //@ end
  //@ local function nth_row(first, n)
  //@   return row_of(("%s + %dul * stride + invocation / THREADS"):format(first, n))
  //@ end
  //@ function read_ahead(first)
  //@ for n = 0, ROWS - 1 do
  {
    const uint64_t row = $(nth_row(first, n)), skipped = row * count * $k.bytes$ul;
    if (row < rows) {
      //@ for _, x in ipairs(ahead) do
      //@ read_packs(x.pointer .. "_next" .. n .. "_", "args." .. x.pointer .. " + skipped + from", H)
      //@ for nth, name in ipairs(each_end(x.pointer .. "_next" .. n)) do
      if (end_at$(nth - 1) < count)
        $name$ = lathe_get(args.$x.pointer$ + skipped + end_at$(nth - 1) * $k.bytes$ul);
      //@ end
      //@ end
    }
  }
  //@ end
  //@ end
  //@ -- The nth row after the first phases.
  //@ function each_row(n, last)
  //@ the_row(nth_row("first", n))
  //@ for _, x in ipairs(ahead) do
  //@ for slot = 0, H - 1 do
  const uvec4 $x.pointer$_pack$slot$ = $x.pointer$_row$n$_$slot$;
  //@ end
  //@ for nth, name in ipairs(each_end(x.pointer .. "_row" .. n)) do
  const $k.number$ $x.pointer$_end$(nth - 1) = $name$;
  //@ end
  //@ end
  //@ begin()
  //@ for q = 1, last do
  //@ if passes[q] then
  $(gathered(q)) mine$q$;
  //@ for _, r in ipairs(phases[q].reductions) do
  mine$q$.$r.name$ = rows$q$.$r.name$_row$n$;
  //@ end
  //@ end
  //@ results(q)
  //@ end
  //@ end
  const uint64_t begin = gl_WorkGroupID.x / PERIOD * each;
  //@ read_ahead("begin")
  for (uint64_t first = begin; $(row_of("first")) < rows; first += $ROWS$ul * stride) {
    //@ for n = 0, ROWS - 1 do
    //@ for _, x in ipairs(ahead) do
    //@ for slot = 0, H - 1 do
    const uvec4 $x.pointer$_row$n$_$slot$ = $x.pointer$_next$n$_$slot$;
    //@ end
    //@ local coming = each_end(x.pointer .. "_next" .. n)
    //@ for nth, name in ipairs(each_end(x.pointer .. "_row" .. n)) do
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
      //@ clear(p)
      //@ gather(phase, passes[p], "mine" .. p, H, "base", {})
      //@ gather_ends(p, "mine" .. p, AT_ENDS, {})
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
      //@ store_totals("thread == 0u && live")
      //@ if point then
      //@ compute(H, "base", {}, "live")
      //@ compute_ends(AT_ENDS, {}, "live")
      //@ end
    }
    //@ end
    //@ if active == 1 then -- of two, each keeps the other's memory safe
    if (THREADS > SUBGROUP)
      barrier();
    //@ end
  }
  //@ leave_columns(H * V, "gl_WorkGroupID.x", "gl_NumWorkGroups.x", "base")
//@ P.end_kernel()

//@ end
//@ end
//@ sure = 0
//@ passes, point, totals, uniforms = read_again()
//@
//@ -- The loop of an invocation of a long row over what it holds at a time.
//@ local function tiles(H, first, step)
//@   return string.format("for (uint64_t tile = %s * (THREADS * %dul); tile < until - head; tile += %s * (THREADS * %dul)) {",
//@     first, H * V, step, H * V)
//@ end
//@ -- One tile of phase p, or of the results.
//@ function pass(p, mine, H)
//@ span("tile", ("THREADS * %dul"):format(H * V))
//@ if p <= #phases then
//@ read(elements({ passes[p] }, {}), {}, H)
//@ gather(phases[p], passes[p], mine, H, "base")
//@ else
//@ read(elements({ point }, {}), {}, H)
//@ compute(H, "base", {}, "true")
//@ end
//@ end
//@ function pass_ends(p, mine)
//@ read_ends(elements({ passes[p] or point }, {}), 1)
//@ if p <= #phases then
//@ gather_ends(p, mine, 1)
//@ else
//@ compute_ends(1, {}, "true")
//@ end
//@ end
//@ local H = S.LONG_HOLD
//@ if not finish or #phases > 0 then
/* Rows of any length$(finish and ": what the passes over them give" or "") */
//@ P.begin_kernel(number.longer)
  //@ prologue()
  const uint64_t row = lathe_group();
  if (row < rows) {
    $(k:pointers(offset))
    //@ ends(1)
    //@ begin()
    //@ for p, phase in ipairs(phases) do
    //@ if passes[p] then
    //@ clear(p)
    $(tiles(H, "0ul", "1ul"))
      //@ pass(p, "mine" .. p, H)
    }
    {
      //@ pass_ends(p, "mine" .. p)
    }
    //@ end
    //@ merge(p, is_last(p) and (finish or not point))
    //@ if passes[p] and finish then
    if (thread == 0u)
      lathe_leave(lathe_row_results(count) + $(S.row_results_at(phases, p))ul * rows, row, rows, mine$p$);
    //@ end
    //@ end
    //@ store_totals("thread == 0u")
    //@ if point and not finish then
    $(tiles(H, "0ul", "1ul"))
      //@ pass(#phases + 1, nil, H)
    }
    //@ pass_ends(#phases + 1)
    //@ end
  }
//@ P.end_kernel()

//@ end
//@ if finish then
/* A tile of columns, of all rows or some: the results, and what is reduced over the rows. */
//@ P.begin_kernel(number.columns)
  //@ prologue()
  const uint lanes = gl_WorkGroupSize.x / THREADS; /* rows that a workgroup works on side by side */
  //@ share_rows("gl_WorkGroupID.y", "gl_NumWorkGroups.y", "gl_WorkGroupID.x == 0u")
  const uint64_t tile = uint64_t(gl_WorkGroupID.x) * (THREADS * $V$ul), stride = share * lanes;
  const uint64_t base = head + tile, from = base * $k.bytes$ul;
  const uint end = uint(min(until - min(base, until), THREADS * $V$ul));
  //@ begin_columns(V)
  //@ local whole, by_columns = elements({ point }, {}, "whole"), elements({ point }, {}, "column")
  //@ for _, x in ipairs(by_columns) do
  //@ declare_packs(x.pointer .. "_pack", 1)
  //@ read_packs(x.pointer .. "_pack", "args." .. x.pointer .. " + from", 1, true)
  //@ end
  //@ read_ends(by_columns, AT_ENDS, "args.")
  //@ local function nth_row(u) return row_of(("first + %dul * stride"):format(u)) end
  for (uint64_t first = gl_WorkGroupID.y / PERIOD * lanes + invocation / THREADS; $(nth_row(0)) < rows; first += $S.ROWS_AT_ONCE$ul * stride) {
    //@ for u = 0, S.ROWS_AT_ONCE - 1 do
    //@ for _, x in ipairs(whole) do
    //@ declare_packs(x.pointer .. "_row" .. u .. "_", 1)
    $k.number$ $(table.concat(each_end(x.pointer .. "_row" .. u), ", "));
    if ($(nth_row(u)) < rows) {
      const uint64_t at = args.$x.pointer$ + ($(nth_row(u))) * count * $k.bytes$ul;
      //@ read_packs(x.pointer .. "_row" .. u .. "_", "at + from", 1)
      //@ for nth, name in ipairs(each_end(x.pointer .. "_row" .. u)) do
      if (end_at$(nth - 1) < count)
        $name$ = lathe_get(at + end_at$(nth - 1) * $k.bytes$ul);
      //@ end
    }
    //@ end
    //@ end
    //@ for u = 0, S.ROWS_AT_ONCE - 1 do
    if ($(nth_row(u)) < rows) {
      const uint64_t row = $(nth_row(u));
      $(k:pointers(offset))
      //@ begin()
      //@ for p, phase in ipairs(phases) do
      //@ if passes[p] then
      $(gathered(p)) mine$p$;
      lathe_find(lathe_row_results(count) + $(S.row_results_at(phases, p))ul * rows, row, rows, mine$p$);
      //@ end
      //@ results(p)
      //@ end
      //@ for _, x in ipairs(whole) do
      const uvec4 $x.pointer$_pack0 = $x.pointer$_row$u$_0;
      //@ for nth, name in ipairs(each_end(x.pointer .. "_row" .. u)) do
      const $k.number$ $x.pointer$_end$(nth - 1) = $name$;
      //@ end
      //@ end
      //@ compute(1, "base", {}, "true")
      //@ compute_ends(AT_ENDS, {}, "true")
    }
    //@ end
  }
  //@ leave_columns(V, "gl_WorkGroupID.y", "gl_NumWorkGroups.y", "base")
//@ P.end_kernel()

/* Merges what workgroups have left, and finishes it. */
//@ P.begin_kernel(number.finish)
  $(k:scalars(op))
  $(k:pointers())
  const uint64_t rows = $(k:product("args.dim", 1, #op.dims - 1)), count = args.dim[$(#op.dims - 1)];
  const uint invocation = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID;
  const uint lane = invocation / $S.MERGE_COLUMNS$u;
  const uint64_t column = lathe_group() * $S.MERGE_COLUMNS$ul + invocation % $S.MERGE_COLUMNS$u;
  const bool inside = column < count;
  const uint partials = lathe_word(args.workspace).at;
  $(uniforms("call"))
  //@ local AT_ONCE = 8 -- reads in flight
  //@ for _, r in ipairs(columns) do
  $k.precise$$k.number$ $r.name$_total = $(k:neutral(r.kind));
  //@ end
  if (inside)
    for (uint first = lane; first < partials; first += $(S.MERGE_LANES * AT_ONCE)u) {
      //@ for i, r in ipairs(columns) do
      //@ for u = 0, AT_ONCE - 1 do
      $k.number$ $r.name$_term$u$ = $(k:neutral(r.kind));
      if (first + $(u * S.MERGE_LANES)u < partials)
        $r.name$_term$u$ = lathe_number(lathe_partial($(i - 1), first + $(u * S.MERGE_LANES)u, count) + column * $(k.spelling.bits // 8)ul).at;
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
  for (uint apart = $(S.MERGE_LANES // 2)u; apart > 0u; apart /= 2u) {
    //@ for i, r in ipairs(columns) do
    lathe_room[$((i - 1) * S.MERGE_LANES * S.MERGE_COLUMNS)u + invocation] = $r.name$_total;
    //@ end
    barrier();
    if (lane < apart) {
      //@ for i, r in ipairs(columns) do
      const $k.number$ $r.name$_term = lathe_room[$((i - 1) * S.MERGE_LANES * S.MERGE_COLUMNS)u + invocation + apart * $S.MERGE_COLUMNS$u];
      $r.name$_total = $(k:fold(r.kind, { r.name .. "_total", r.name .. "_term" }));
      //@ end
    }
    barrier();
  }
  if (inside && lane == 0u) {
    //@ for _, x in ipairs(finish.inputs) do
    //@ if x.kind == "column" then
    const $k.number$ $x.variable$ = $x.name$_total;
    //@ else
    const $k.number$ $x.variable$ = lathe_get($x.pointer$ + column * $k.bytes$ul);
    //@ end
    //@ end
    $finish.call$
    //@ for _, y in ipairs(k.program.columns) do
    lathe_put($y.operand.name$ + column * $k.bytes$ul, $y.operand.name$_);
    //@ end
  }
//@ P.end_kernel()

//@ elseif split.splits(k.program) then
//@ H = split.HOLD
//@ local function is_first(p)
//@   local first = true
//@   for q = 1, p - 1 do
//@     first = first and not passes[q]
//@   end
//@   return first
//@ end
//@ for p = 1, #phases + 1 do
//@ if p > #phases or passes[p] then
/* Rows split into parts: $(p <= #phases and "phase " .. p or "the results") */
//@ P.begin_kernel(number["part" .. p])
  //@ prologue()
  const uint part = gl_WorkGroupID.x;
  const uint64_t row = gl_WorkGroupID.y;
  //@ if is_first(p) then
  const uint parts = gl_NumWorkGroups.x;
  if (row == 0ul && part == 0u && thread == 0u)
    lathe_word(args.workspace).at = parts;
  //@ else
  const uint parts = lathe_word(args.workspace).at;
  //@ end
  $(k:pointers(offset))
  //@ if p <= #phases or point then
  //@ ends(1, "part == 0u")
  //@ end
  //@ begin()
  //@ for q = 1, p - 1 do
  //@ if passes[q] then
  //@ clear(q)
  for (uint from = thread; from < parts; from += THREADS) {
    $(gathered(q)) other;
    lathe_find(args.workspace + $(split.left_at(phases, q))ul, row * parts + from, $split.MOST_PARTS$ul, other);
    lathe_merge(mine$q$, other);
  }
  //@ end
  //@ merge(q)
  //@ end
  //@ if p > #phases then
  //@ store_totals("thread == 0u && part == 0u")
  //@ end
  //@ if p <= #phases then
  //@ clear(p)
  //@ end
  //@ if p <= #phases or point then
  $(tiles(H, "uint64_t(part)", "uint64_t(parts)"))
    //@ pass(p, "mine" .. p, H)
  }
  //@ pass_ends(p, "mine" .. p)
  //@ end
  //@ if p <= #phases then
  lathe_merge_threads(mine$p$, 0u, false);
  if (thread == 0u)
    lathe_leave(args.workspace + $(split.left_at(phases, p))ul, row * parts + part, $split.MOST_PARTS$ul, mine$p$);
  //@ end
//@ P.end_kernel()

//@ end
//@ end
//@ end
