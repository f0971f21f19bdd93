/* contraction_mutants.h - would wrong kernels of a contraction be found out? As mutate.h, of what kernels of matrix
 * products do wrong: terms left out, operands read in another order, tiles that are not written. */
#ifndef CONTRACTION_MUTANTS_H
#define CONTRACTION_MUTANTS_H

#include "mutate.h"

/* Judges wrong results at a size, of which no more than 64 places of the last three dimensions are taken, and 3 of
 * others. Returns as mutate_survivors does. */
int contraction_mutants(const lathe_op *op, lathe_dtype dtype, result_source *from,
                        const size_t *dim, mutate_survivor *survivors, int most);

#endif
