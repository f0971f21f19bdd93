/* solve.h - an op's reference run on a problem, by all processors: see reference.h for the parts. */
#ifndef SOLVE_H
#define SOLVE_H

#include "library/reference.h"
#include "problem.h"

/* Fills in what is expected of all outputs, their magnitudes and terms; false where there is no memory. */
bool solve(const problem *p);

/* Runs a reference on a part's buffers, of whole operands. number: bytes of its type; false where there is no
 * memory. */
bool solve_by(lathe_fn *reference, const reference_part *part, size_t number);

/* The reader of inputs for references of a type. */
reference_read *solve_reader(bool wide);

/* Bytes of memory that it takes beside the problem's own. */
double solve_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim, bool wide);

#endif
