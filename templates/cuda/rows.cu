/* A program over each row: passes of reductions over the row, then its values. Limited by bytes
 * moved where a row fits in registers: it is read once, all accesses in flight, and written once;
 * the passes work on registers. What its threads wait for each other for costs most then: a mean and a
 * variance are gathered at once, and so are the largest and the powers below it. A part of a warp has a
 * short row, a thread one of 16 bytes, a block a longer one; where there are few, a cluster of blocks, which reach each
 * other's shared memory, has one longer still; where there are many, and nothing is by columns, clusters stay and read
 * ahead.
 * Other rows are read again, from the second-level cache if that has them, in each pass; what is dear to compute
 * twice is then kept in the output between passes. Where there are fewer of these than multiprocessors, or only
 * totals follow from one pass, each is split into parts, a launch for each pass: a few microseconds that many
 * blocks soon repay.
 *
 * Short rows that start anywhere are in shared memory meanwhile. Where longer ones do, accesses of 16 bytes are those
 * that lie in the row whole; the few elements at both its ends go to the first threads, one each, and what there is for
 * each column is put together of two accesses. Where nothing is reduced, as many rows as an access has elements are one
 * that starts at a multiple of 16 bytes.
 * Blocks that stay for many rows take those that start alike: each thread then has the same columns in all of
 * them. Rows of operands that lie unlike go by elements.
 *
 * Reductions over the rows are gathered in the last pass: each thread has its columns in registers
 * for all of its rows, and blocks leave what they gathered in the workspace, for one more launch to
 * merge, in an order that depends on nothing but the grid. Rows that a block can hold are
 * read once for all passes, ahead of their turn, into shared memory. With other rows, one launch leaves what the
 * passes came to, and the next, in which blocks have some columns of some rows, reads them again. */
#include "staged.h"

//@ local row, columns = use "row.cu", use "rows_columns.cu"
//@ local held, long = use "rows_held.cu", use "rows_long.cu"
//@ local program, finish = k.program, k.finish
//@ if not schedule.tile or schedule.staged then
//@ held.define_held(row.in_registers, "held")
//@ if k.short ~= k.held then
//@ held.define_held(row.of_short, "short")
//@ end
//@ end
//@ if not schedule.tile or program.leaves then
//@ long.define_long()
//@ end
//@ if schedule.split then
//@ long.define_split()
//@ end
//@ local some_ahead = false
//@ for _, v in ipairs(variants) do
//@   some_ahead = some_ahead or #v.shape.ahead > 0 or v.shape.ahead.cluster
//@ end
//@ if some_ahead then
//@ held.define_ahead()
//@ end
//@ if schedule.tile then
//@ columns.define_tile()
//@ end
//@ if schedule.flat then
//@ columns.define_flat()
//@ end
//@ if finish then
//@ columns.define_merged()
//@ end
//@
//@ -- What kernels call: the functions above, of their mode and shape. Short rows have one of their own where that
//@ -- differs.
//@ local modes = { full = "LATHE_FULL", packs = "LATHE_PACKS", ends = "LATHE_ENDS", apart = "LATHE_APART" }
//@ local calls = {}
//@ function calls.held(x)
//@   return ("held<%s, %d, %d%s>(args, %s)"):format(modes[x.mode], x.threads, x.hold, x.staged and ", true" or "",
//@     x.clusters and "lathe_cluster_size()" or 1)
//@ end
//@ function calls.short(x)
//@   return (k.short ~= k.held and calls.held(x):gsub("^held", "short") or calls.held(x))
//@ end
//@ function calls.long(x) return ("long<%s, %d>(args, blockIdx.x)"):format(modes[x.mode], x.hold) end
//@ function calls.split(x) return ("split%d<%s, %d>(args)"):format(x.step, modes[x.mode], x.hold) end
//@ function calls.tile(x) return ("tile<%s>(args)"):format(modes[x.mode]) end
//@ function calls.flat() return "flat(args)" end
//@ function calls.merged() return "merged(args)" end
//@ function calls.ahead(x)
//@   return ("ahead<%s, %d, %d, %d, %d, %s>(args)"):format(modes[x.mode], x.threads, x.hold, x.rows, x.stages,
//@     x.clusters or false)
//@ end
//@ function define_kernels(v, kernels)
//@ for _, x in ipairs(kernels) do
extern "C" __global__ void __launch_bounds__($(table.concat(x.bounds, ", ")))
    $v.name$_$x.name$(const __grid_constant__ lathe_args args) {
  lathe_begin();
  $k.name$_$(calls[x.does](x));
}

//@ end
//@ end
//@ if schedule.clusters then
#ifndef LATHE_CLUSTERS_ALONE
//@ end
//@ for _, v in ipairs(variants) do
/* $v.params_text$ */
//@ define_kernels(v, v.shape.kernels)
//@ end
//@ if schedule.clusters then
#endif

#if __CUDA_ARCH__ >= 900
//@ for _, v in ipairs(variants) do
//@ define_kernels(v, v.shape.cluster_kernels)
//@ end
#endif
//@ end
