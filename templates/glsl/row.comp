//@ -- One row, as every kernel of rows has it: where its elements are, and how they are read and written. An invocation
//@ -- holds H accesses of 16 bytes of each operand at a time, and is number `thread` of the THREADS that share the row.
//@ local P, rows = use "parts.comp", use "../gpu/rows.c"
//@ local V = k.width
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
  //@ if k.mixed then
  const uint bits = (past & 3u) * 8u;
  return bits != 0u ? c >> bits | uvec4(c.yzw, by_one ? b.y : b.x) << 32u - bits : c;
  //@ elseif k.bytes == 2 then
  return (past & 2u) != 0u ? c >> 16u | uvec4(c.yzw, by_one ? b.y : b.x) << 16u : c;
  //@ else
  return c;
  //@ end
}

//@ AT_ENDS = V == 8 and 2 or 1 -- elements at a row's ends, at most 2 V - 2, of each of 8 invocations or more
//@ function each_end(name)
//@   return AT_ENDS == 2 and { name .. "_end0", name .. "_end1" } or { name .. "_end0" }
//@ end
//@
//@ -- The programs of rows that are read again, and of those that stay in registers, where what is dear may stay too.
//@ local function program_of(lowered)
//@   return rows.program_of(lowered, P.define, function(name, phase)
//@     P.define_gatherer(name, phase, 1)
//@   end)
//@ end
//@ read_again = program_of(k)
//@ in_registers = k.held == k and read_again or program_of(k.held)
//@
//@ function dims(program)
$(k:scalars(op))
const uint64_t rows = $(k:product("args.dim", 1, #op.dims - 1)), count = args.dim[$(#op.dims - 1)];
const uint invocation = gl_SubgroupID * SUBGROUP + gl_SubgroupInvocationID, thread = invocation % THREADS;
const uint start = MODE == LATHE_APART ? thread : thread * $V$u, step = MODE == LATHE_APART ? THREADS : 1u;
$(program.uniforms("call"))
//@ end
//@
//@ -- What is the same for the whole row, and what picks will read. The row's elements are better asked for
//@ -- ahead of these, which wait for one another.
//@ function begin(program)
$(k:row_values())
$(program.uniforms("row"))
//@ for _, phase in ipairs(program.phases) do
//@ for _, pick in ipairs(phase.picks) do
//@ for _, x in ipairs(rows.elements({ pick.point }, {})) do
const $k.number$ $pick.name$_$x.pointer$ =
    uint64_t($pick.index$_value) < count ? $(k:get(x.operand))($x.pointer$ + uint64_t($pick.index$_value) * $(k:bytes_of(x.operand))ul) : 0;
//@ end
//@ end
//@ end
//@ end
//@ -- The row that an invocation works on, whether there is one, and where its operands are.
//@ function the_row(wanted)
const uint64_t wanted = $wanted$;
const bool live = wanted < rows;
const uint64_t row = live ? wanted : 0ul;
$(k:pointers(rows.offset))
//@ end
//@
//@ -- The place of the nth element that an invocation holds, from where the row's accesses start, and whether it is
//@ -- there, ahead of `end`: with packs, a whole access is if its first element is. All rows have the first `sure`
//@ -- packs of each invocation: who writes a kernel of such rows sets it meanwhile.
//@ sure = 0
//@ function at(nth)
//@   return string.format("start + %du * THREADS + %du * step", nth // V * V, nth % V)
//@ end
//@ function inside(nth)
//@   local packed = at(nth // V * V) .. " < end"
//@   return string.format("(MODE == LATHE_FULL || (MODE != LATHE_APART ? %s : %s < end))", nth < sure * V and "true"
//@     or packed, at(nth))
//@ end
//@
//@ -- Of a row that starts anywhere: how many elements lie ahead of the first multiple of 16 bytes, and where the
//@ -- accesses of so many end, one earlier than they could where operands for columns are then read past that. Those at
//@ -- both ends, fewer than 2 V, are the first invocations', N of each, where `there`. Of a row of operands that are
//@ -- members of `from`, where pointers are not to the row's data.
//@ function ends(N, there, from, row)
//@ local whole = rows.first_whole()
const uint head = $(whole and ("MODE == LATHE_ENDS ? lathe_head(%s%s, count) : "):format(k:as_own(whole, (from or "") .. whole.name), row and (" + %s * count * %dul"):format(row, k.bytes) or "") or "")0u;
const uint64_t until = MODE == LATHE_ENDS ? head + (count / $V$ul - (head > 0u && count >= $V$ul ? 1ul : 0ul)) * $V$ul : count;
//@ for nth = 0, N - 1 do
//@ local condition = (there and there .. " && " or "") .. (nth > 0 and ("THREADS < %du && "):format(2 * V - 1) or "")
const uint64_t end_at$nth$ = $condition$MODE == LATHE_ENDS ? lathe_end(thread + $nth$u * THREADS, head, until, count) : ~0ul;
//@ end
//@ end
//@ -- Of a row's accesses from `tile` on, with what there is ahead of them: where that is, and where they end.
//@ function span(tile, most)
const uint64_t base = head + $tile$, from = base * $k.bytes$ul;
const uint end = uint($(most and ("min(until - base, %s)"):format(most) or "until - base"));
//@ end
//@ -- Where a workgroup, number `group` of `groups`, works on many rows: the nth of those that it may meet, which
//@ -- all start alike. Sets where their accesses start and end, as `ends` has it.
//@ function share_rows(group, groups, there)
const uint64_t PERIOD = MODE == LATHE_ENDS ? $V$ul : 1ul, share = $groups$ / PERIOD, own = $group$ % PERIOD;
//@ ends(AT_ENDS, there, "args.", "own")
//@ end
//@ function row_of(nth) return ("(%s) * PERIOD + own"):format(nth) end
//@
//@ -- Reads H accesses at an address into uvec4s named pack0..., which declare_packs has declared.
//@ function declare_packs(pack, H)
//@ for slot = 0, H - 1 do
uvec4 $pack$$slot$ = uvec4(0u);
//@ end
//@ end
//@ -- column: whether the operand is one for each column, which lies as many elements ahead as the row has ahead of its
//@ -- accesses.
//@ function read_packs(operand, pack, address, H)
//@ local column, bytes = operand.place == "column", k:bytes_of(operand)
//@ local function place(slot)
//@   return ("%s%s + uint64_t(start) * %dul + %dul * (THREADS * %dul)"):format(address, column and " - head * "
//@     .. bytes .. "u" or "", bytes, slot, k:access_bytes(operand))
//@ end
//@ for slot = 0, H - 1 do
//@ local lanes = {}
//@ for lane = 0, V - 1 do
//@   lanes[lane + 1] = "lane" .. lane
//@ end
if (MODE != LATHE_APART && $(inside(slot * V))) {
  $pack$$slot$ = $(k:load_pack(operand, place(slot)));
} else if (MODE == LATHE_APART && $(inside(slot * V))) {
  //@ for lane = 0, V - 1 do
  //@ local nth = slot * V + lane
  const $k.number$ lane$lane$ = $(inside(nth)) ? $(k:get(operand))($address$ + uint64_t($(at(nth))) * $(bytes)ul) : 0;
  //@ end
  $pack$$slot$ = $(k:pack(lanes, nil, operand));
}
//@ end
//@ if column then
if (MODE == LATHE_ENDS && head > 0u) {
  //@ for slot = 0, H - 1 do
  const uvec4 next$slot$ = $(inside(slot * V)) ? $(k:load_pack(operand, ("%s + %dul"):format(place(slot), k:access_bytes(operand)))) : uvec4(0u);
  //@ end
  //@ for slot = 0, H - 1 do
  $pack$$slot$ = lathe_past($(k:joined(operand, pack .. slot, "next" .. slot)), head * $(bytes)u);
  //@ end
}
//@ end
//@ end
//@ function read(list, known, H)
//@ for _, x in ipairs(list) do
//@ known[x.pointer] = true
//@ declare_packs(x.pointer .. "_pack", H)
//@ read_packs(x.operand, x.pointer .. "_pack", x.pointer .. " + " .. k:of_own(x.operand, "from"), H)
//@ end
//@ end
//@ -- The same of an invocation's elements at the ends of the row, N of them; from: what pointers are members of.
//@ function read_ends(list, N, from)
//@ for _, x in ipairs(list) do
//@ for nth = 0, N - 1 do
const $k.number$ $x.pointer$_end$nth$ = end_at$nth$ < count ? $(k:get(x.operand))($(from or "")$x.pointer$ + end_at$nth$ * $(k:bytes_of(x.operand))ul) : 0;
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
if (MODE != LATHE_APART && $(inside(slot * V))) {
  //@ local place = ("%s + %s + uint64_t(start) * %dul + %dul * (THREADS * %dul)"):format(name,
  //@   k:of_own(y.operand, "from"), k:bytes_of(y.operand), slot, k:access_bytes(y.operand))
  $(k:store_pack(y.operand, place, k:pack(values, y.node, y.operand)));
} else if (MODE == LATHE_APART && $(inside(slot * V))) {
  //@ for lane = 0, V - 1 do
  //@ local nth = slot * V + lane
  if ($(inside(nth)))
    $(k:put(y.operand))($name$ + $(k:of_own(y.operand, "from")) + uint64_t($(at(nth))) * $(k:bytes_of(y.operand))ul, $name$_out$nth$);
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
