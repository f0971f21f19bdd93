/* saved.h - inputs of a gradient that are results of the op itself: what backward.reads of a spec lists. They are what
 * the op's reference makes of the other inputs, so that others who compute the gradient find the same. */
#ifndef SAVED_H
#define SAVED_H

#include "problem.h"

/* Fills them in, of a problem whose other inputs are drawn and repeat (sampling.h) after so many places of each
 * dimension; of an op that was not built they stay as drawn. False where there is no memory. */
bool saved_fill(problem *p, const size_t *different);

#endif
