//@ -- One row, as every kernel of rows has it: where its elements are, and how they are read and written. Kernels have
//@ -- the parameters MODE, how rows lie, and H, the accesses of 16 bytes that a thread holds of each operand at a time.
//@ -- A thread is number `thread` of the `threads` that share the row.
//@ local P, rows = use "parts.cu", use "../gpu/rows.c"
//@ local V = k.width
//@ -- The programs of rows that are read again, and of those that stay in registers, where what is dear may stay too.
//@ local function program_of(lowered)
//@   return rows.program_of(lowered, P.define, function(name, phase)
//@     P.define_gatherer(name, phase.reductions)
//@   end)
//@ end
//@ read_again = program_of(k)
//@ in_registers = k.held == k and read_again or program_of(k.held)
//@ of_short = k.short == k.held and in_registers or program_of(k.short)
//@
//@ function dims(type)
$(k:scalars(op))
const size_t rows = $(k:product("args.dim", 1, #op.dims - 1));
const $type$ count = ($type$)args.dim[$(#op.dims - 1)];
//@ end
//@
//@ -- Pointers to the row's data and what there is of it once: where its indexes point to, as a place, and where there
//@ -- are to be picks what they read. ahead: where the values of operands that have one for each row already are.
//@ function begin(program, type, picks, ahead)
$(k:pointers(rows.offset))
//@ for name, where in pairs(ahead or {}) do
$name$ = $where$;
//@ end
$(k:row_values())
$(program.uniforms("row"))
//@ for _, operand in ipairs(k.operands) do
//@ if operand.index then
const $type$ $operand.name$_place = (unsigned long long)$operand.name$_value < count ? ($type$)$operand.name$_value : ~($type$)0;
//@ end
//@ end
//@ for _, phase in ipairs(picks and program.phases or {}) do
//@ for _, pick in ipairs(phase.picks) do
//@ for _, x in ipairs(rows.elements({ pick.point }, {})) do
const $k.number$ $pick.name$_$x.pointer$ = $pick.index$_place < count ? ($k.number$)$x.pointer$[$pick.index$_place] : 0;
//@ end
//@ end
//@ end
//@ end
//@
//@ -- Where elements are: `from`, the place of the thread's first, and `until`, where those in accesses of 16 bytes
//@ -- end, are to be set. All rows have the first `sure` accesses of each thread.
//@ function places(type, sure)
const auto at = [=](int nth) {
  return from + (MODE == LATHE_APART ? nth * ($type$)threads
                                     : nth / $V$ * ($type$)threads * $V$ + nth % $V$);
};
const auto inside = [=](int nth) {
  return MODE == LATHE_FULL || $(sure and ("nth < %s * %d || "):format(sure, V) or "")at(MODE == LATHE_APART ? nth : nth / $V$ * $V$) < until;
};
//@ end
//@ -- Of a row that starts anywhere: how many elements lie ahead of the first multiple of 16 bytes, and where the
//@ -- accesses of so many end, one earlier than they could where operands for columns are then read past that. Those at
//@ -- both ends, fewer than 2 V, are the first threads', at most `most` of each, if `there`. row: of this one, where
//@ -- pointers are not to the row's data.
//@ few_threads = ("T > 0 && T < %d ? 2 : 1"):format(2 * V - 1)
//@ function ends(type, most, there, row)
enum { ENDS = MODE == LATHE_ENDS ? $most$ : 0 };
unsigned head = 0;
$type$ until = count;
if (MODE == LATHE_ENDS) {
//@ if rows.first_whole() then
  head = lathe_head<$V$>($(rows.first_whole().name)$(row and " + " .. row .. " * count" or ""), count);
//@ end
  until = head + (count / $V$ - (head > 0 && count >= $V$)) * $V$;
}
const auto end_at = [=](int nth) {
  const unsigned place = thread + nth * threads;
  return $(there and there .. " && " or "")place < head + (count - until) ? place < head ? place : until + (place - head) : ~($type$)0;
};
//@ end
//@ -- Where blocks, by groups, work on many rows: the nth of those that a group may meet, the first that it does, and
//@ -- how far the next are from these. All start alike, so that each thread has the same columns in them.
//@ function share_rows(group, groups)
enum { PERIOD = MODE == LATHE_ENDS ? $V$ : 1 };
const unsigned group = $group$, groups = $groups$;
const auto row_of = [=](size_t nth) { return nth * PERIOD + group % PERIOD; };
const size_t begin = (size_t)(group / PERIOD) * blockDim.y, step = (size_t)(groups / PERIOD) * blockDim.y;
//@ end
//@
//@ -- Reads 16 bytes of a row, from the place `from` on, into the words of `slot`: the elements that are there. once:
//@ -- the row is read only once.
//@ function read_words(operand, words, row, from, slot, once)
if (MODE == LATHE_APART) {
  lathe_pack<$(k:element_type(operand)), $V$> apart = {};
#pragma unroll
  for (int lane = 0; lane < $V$; lane++)
    if (inside($slot$ * $V$ + lane))
      apart.at[lane] = $row$[at($slot$ * $V$ + lane)];
  memcpy(&$words$, &apart, sizeof apart);
} else if (inside($slot$ * $V$)) {
  $words$ = $(k:read_words(operand, once))(lathe_further<$V$>($row$ + $from$, $slot$ * threads));
}
//@ end
//@ -- Reads operands; once: no more than once.
//@ function read(list, known, once)
//@ for _, x in ipairs(list) do
//@ known[x.pointer] = true
//@ local first = x.operand.place == "column" and "(from - head)" or "from"
$(k:words(x.operand)) $x.pointer$_words[H] = {};
#pragma unroll
for (int slot = 0; slot < H; slot++) {
  //@ read_words(x.operand, x.pointer .. "_words[slot]", x.pointer, first, "slot", once and x.operand.place == "whole")
}
//@ if x.operand.place == "column" then
if (MODE == LATHE_ENDS && head > 0) {
  $(k:words(x.operand)) next[H] = {};
#pragma unroll
  for (int slot = 0; slot < H; slot++)
    if (inside(slot * $V$))
      next[slot] = $(k:read_words(x.operand))(lathe_further<$V$>($x.pointer$ + (from - head), slot * threads) + $V$);
#pragma unroll
  for (int slot = 0; slot < H; slot++)
    $x.pointer$_words[slot] = lathe_past<$(k:element_type(x.operand))>($x.pointer$_words[slot], next[slot], head);
}
//@ end
lathe_pack<$(k:element_type(x.operand)), $V$> $x.pointer$_pack[H];
lathe_unpack($x.pointer$_pack, $x.pointer$_words);
//@ end
//@ end
//@ -- Without a condition, so that they are not put off until they are needed.
//@ function read_ends(list)
//@ for _, x in ipairs(list) do
$(k:element_type(x.operand)) $x.pointer$_ends[ENDS + 1];
#pragma unroll
for (int nth = 0; nth < ENDS; nth++)
  $x.pointer$_ends[nth] = $x.pointer$[end_at(nth) < count ? end_at(nth) : 0];
//@ end
//@ end
//@
//@ -- Writes NAME_out as pack [slot] of an operand; once: not to be read again soon.
//@ function write(name, once)
if (MODE == LATHE_APART) {
#pragma unroll
  for (int lane = 0; lane < $V$; lane++)
    if (inside(slot * $V$ + lane))
      $name$[at(slot * $V$ + lane)] = $name$_out.at[lane];
} else if (inside(slot * $V$)) {
  lathe_store$(once and "_once" or "")(lathe_further<$V$>($name$ + from, slot * threads), $name$_out);
}
//@ end
