/* repeats.h - elements of a reference's result that are the same number: what was computed once and handed out
 * many times is off by the same each time. */
#ifndef REPEATS_H
#define REPEATS_H

#include "problem/problem.h"

/* The sum of the fourth powers of a floating output's magnitudes, as judge.h takes them, where all that are equal
 * count as one that is as large as they are in the 2-norm. 0 where there is no memory. */
long double repeats_fourth(const problem *p, int output);

#endif
