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
//@ local columns, held, long = use "rows_columns.comp", use "rows_held.comp", use "rows_long.comp"
//@ local program, finish = k.program, k.finish
//@ for _, H in ipairs(schedule.holds) do
//@ if finish then
//@ held.define_ahead(H)
//@ else
//@ held.define_held(H)
//@ end
//@ end
//@ if program.leaves then
//@ long.define_long()
//@ end
//@ if schedule.split then
//@ long.define_split()
//@ end
//@ if schedule.tile then
//@ columns.define_tile()
//@ end
//@ if finish then
//@ columns.define_merged()
//@ end
//@ use("parts.comp").main(#schedule.kernels)
