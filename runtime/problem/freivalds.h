/* freivalds.h - a test of all results of a contraction in a fraction of its operations (Freivalds 1977). An output that is
 * linear along a dimension in the inputs that have it (lathe_bench.linear) is so in sums: of y = a b the sum of some
 * columns of y, each with a sign that the seed draws, is a times that sum of the columns of b. Places of the dimension
 * are taken together in blocks, and what results come to in each is compared with the reference of the inputs' sums.
 *
 * Such a sum of results may be off by
 *
 *     bound * unit of the computed type * (what sizes come to + what magnitudes come to)
 *         + min(all, 9 * 2-norm of all) of half a spacing of the stored type at each result,
 *
 * the second term where results are rounded once more (judge.h). Sizes and magnitudes are those of the reference of
 * the inputs' sizes, which come to no less than those of the results themselves. What results are rounded by knows
 * nothing of the signs, so that their sum is more than 9 times the 2-norm only by a chance of 10^-17 (Hoeffding 1963).
 * The first is a bound for any inputs. As errors of all sums are made in the same way, one that is more than 24 times
 * as far off as the median of all is wrong too, each as a share of its bound, and where that is more than four results
 * together may be off. So a single result that is wrong is found where it stands out of what all of its block are
 * rounded by; a block has as few places as there is time for. */
#ifndef FREIVALDS_H
#define FREIVALDS_H

#include "problem.h"

typedef struct freivalds freivalds;

/* Whether an output can be tested. */
bool freivalds_can(const lathe_op *op, lathe_dtype dtype, int output);

/* Solves the sums, with at most so many operations as far as that can be had; null where memory is short. */
freivalds *freivalds_make(const problem *of, int output, double flops);
void freivalds_free(freivalds *f);

/* Bytes of memory that freivalds_make takes. */
double freivalds_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim, int output,
                      double flops);

typedef struct freivalds_finding {
  size_t sums, wrong;
  size_t first, stride,
      results; /* the first sum that is wrong: of so many results, from the first on */
  double got, expected, allowed; /* what it is, should be, and how far these may be apart */
} freivalds_finding;

/* got: all results, in the output's own type; digits: to which products were rounded; 0: not at all. */
freivalds_finding freivalds_judge(const freivalds *f, int digits, const void *got);

#endif
