/* A program over each row: passes of reductions over the row, then its values. Limited by bytes
 * moved where a row fits in registers: it is read once, all accesses in flight, and written once;
 * the passes work on registers. What its threads wait for each other for costs most then: a mean and a
 * variance are gathered at once, and so are the largest and the powers below it. A part of a warp has a
 * short row, a block a longer one; where there are few, a cluster of blocks, which reach each other's shared
 * memory, has one longer still; where there are many, and nothing is by columns, clusters stay and read ahead.
 * Other rows are read again, from the second-level cache if that has them, in each pass; what is dear to compute
 * twice is then kept in the output between passes. Where there are fewer of these than multiprocessors, or only
 * totals follow from one pass, each is split into parts, a launch for each pass: a few microseconds that many
 * blocks soon repay.
 *
 * Where rows start anywhere, accesses of 16 bytes are those that lie in the row whole; the few elements at both
 * its ends go to the first threads, one each, and what there is for each column is put together of two accesses.
 * Blocks that stay for many rows take those that start alike: each thread then has the same columns in all of
 * them. Rows of operands that lie unlike go by elements.
 *
 * Reductions over the rows are gathered in the last pass: each thread has its columns in registers
 * for all of its rows, and blocks leave what they gathered in the workspace, for one more launch to
 * merge, in an order that depends on nothing but the grid. Rows that a block can hold are
 * read once for all passes, ahead of their turn, into shared memory. With other rows, one launch leaves what the
 * passes came to, and the next, in which blocks have some columns of some rows, reads them again. */
//@ local S, split, rows = use "shapes.c", use "../gpu/split.c", use "../gpu/rows.c"
//@ local row, columns = use "row.cu", use "rows_columns.cu"
//@ local held, long = use "rows_held.cu", use "rows_long.cu"
//@ local program, finish = k.program, #k.program.columns > 0
//@ if not finish then
//@ held.define_held(row.in_registers, "held")
//@ if row.of_short ~= row.in_registers then
//@ held.define_held(row.of_short, "short")
//@ end
//@ end
//@ if not finish or program.leaves then
//@ long.define_long()
//@ end
//@ if split.splits(program) then
//@ long.define_split()
//@ end
//@ local some_ahead = false
//@ for _, v in ipairs(variants) do
//@   some_ahead = some_ahead or #S.ahead(v) > 0 or S.ahead(v).cluster
//@ end
//@ if some_ahead then
//@ held.define_ahead()
//@ end
//@ if finish then
//@ columns.define_tile()
//@ columns.define_merged()
//@ end
//@
//@ local modes = { full = "LATHE_FULL", packs = "LATHE_PACKS", ends = "LATHE_ENDS", apart = "LATHE_APART" }
//@ -- One kernel of a variant: its name's ending, most threads and fewest blocks on a multiprocessor, a call.
//@ function kernel(v, ending, bounds, call)
extern "C" __global__ void __launch_bounds__($bounds$)
    $v.name$_$ending$(const __grid_constant__ lathe_args args) {
  $k.name$_$call$;
}

//@ end
//@ local streams = #rows.elements(row.read_again.all, {}) -- operands that a thread holds elements of
//@ local shortly = row.of_short == row.in_registers and "held" or "short"
//@ -- Threads with unlike numbers of elements merge sums alone faster, too.
//@ function by_block(mode)
//@   return mode == "ends" and shortly or "held"
//@ end
//@ function ahead(mode, s, clusters)
//@   return ("ahead<%s, %d, %d, %d, %d, %s>(args)"):format(modes[mode], s.threads, s.hold, s.rows, s.stages, clusters)
//@ end
//@ -- A variant's kernels of clusters: each calls what other kernels of the mode call.
//@ function cluster_kernels(v)
//@ for _, mode in ipairs { "packs", "ends" } do
//@ kernel(v, "cluster_" .. mode, S.bounds(v, streams, v.params.threads, mode), ("%s<%s, 0, %d>(args, lathe_cluster_size())"):format(by_block(mode), modes[mode], S.hold(v)))
//@ end
//@ local s = S.ahead(v)
//@ if s.cluster then
//@ kernel(v, "ahead_cluster", S.AHEAD_THREADS .. ", " .. s.blocks, ahead("packs", s.cluster, true))
//@ end
//@ end
#ifndef LATHE_CLUSTERS_ALONE
//@ for _, v in ipairs(variants) do
/* $v.params_text$ */
//@ local H = S.hold(v)
//@ if not finish then
//@ for _, s in ipairs(S.short(v)) do
//@ for _, mode in ipairs(S.modes(s)) do
//@ kernel(v, s.threads .. "x" .. s.hold .. "_" .. mode, S.bounds(v, streams, S.SHORT_THREADS, mode), ("%s<%s, %d, %d>(args, 1)"):format(shortly, modes[mode], s.threads, s.hold))
//@ end
//@ end
//@ for _, mode in ipairs(S.modes()) do
//@ kernel(v, "block_" .. mode, S.bounds(v, streams, v.params.threads, mode), ("%s<%s, 0, %d>(args, 1)"):format(by_block(mode), modes[mode], H))
//@ end
//@ end
//@ for _, mode in ipairs { "packs", "ends", "apart" } do
//@ if not finish or program.leaves then
//@ kernel(v, "long_" .. mode, S.LONG_THREADS .. ", 1", ("long<%s, %d>(args, blockIdx.x)"):format(modes[mode], S.long_hold(v)))
//@ end
//@ if split.splits(program) and mode ~= "apart" then
//@ for step = 1, #program.active + 1 do
//@ kernel(v, "split" .. step .. "_" .. mode, split.THREADS .. ", 1", ("split%d<%s, %d>(args)"):format(step, modes[mode], split.HOLD))
//@ end
//@ end
//@ end
//@ for _, mode in ipairs(finish and { "packs", "ends", "apart" } or {}) do
//@ kernel(v, "tile_" .. mode, S.tiles() .. ", 2", ("tile<%s>(args)"):format(modes[mode]))
//@ end
//@ local shapes = S.ahead(v)
//@ for _, mode in ipairs(#shapes > 0 and S.AHEAD_MODES or {}) do
//@ for _, s in ipairs(shapes) do
//@ kernel(v, "ahead" .. s.name .. "_" .. mode, s.block .. ", " .. shapes.blocks, ahead(mode, s, false))
//@ end
//@ end
//@ if finish then
//@ kernel(v, "merge", 32 * S.mergers() .. ", 1", "merged(args)")
//@ end
//@ end
#endif
//@ if S.clusters(program) and not finish then

#if __CUDA_ARCH__ >= 900
//@ for _, v in ipairs(variants) do
//@ cluster_kernels(v)
//@ end
#endif
//@ end
