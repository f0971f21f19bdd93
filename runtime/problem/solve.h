/* solve.h - an op's reference run on a problem, by all processors: see reference.h for the parts. */
#ifndef SOLVE_H
#define SOLVE_H

#include "problem.h"

/* Fills in what is expected of all outputs, their magnitudes and terms; false where there is no memory. */
bool solve(const problem *p);

/* Bytes of memory that it takes beside the problem's own. */
double solve_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim, bool wide);

#endif
