/* result.h - what kernels leave of an output, in its own type. */
#ifndef RESULT_H
#define RESULT_H

#include "problem/problem.h"

/* What a right kernel would leave; to be freed, null where memory is short. */
void *result_right(const problem *p, int output);

/* Whether two results have the same numbers; -0 is 0. */
bool result_is_same(const problem *p, int output, const char *a, const char *b);

#endif
