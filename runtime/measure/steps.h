/* steps.h - where a series of figures changes its level for good: a fit that is constant between steps.
 *
 * The fit has the least sum of distances from its levels, which are medians, and a fee for each step (Potts' functional
 * in the L1 norm). A level has three figures at least, and what is far off those around it is a blip, which counts as
 * they do. */
#ifndef STEPS_H
#define STEPS_H

#include <stddef.h>

typedef struct step {
  size_t at;            /* the first figure of the new level */
  double before, after; /* the levels */
} step;

/* Puts the steps, at most count / 3, in their order, and returns how many there are; by more than `least`. Figures are
 * logarithms of times, so that levels differ by ratios. Of many figures the last 512 count. */
size_t steps_find(const double *figures, size_t count, double least, step *found);

#endif
