/* steps.h - what launch.c has of steps.c, and both of sizes. */
#ifndef STEPS_H
#define STEPS_H

#include "launch.h"

/* The product of some of a call's dimensions, a bit each. */
static inline size_t lathe_product(const size_t *dim, uint32_t of) {
  size_t all = 1;
  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    all *= of >> d & 1 ? dim[d] : 1;
  return all;
}

static inline size_t lathe_smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Bytes of temporaries, and the most that a step's blocks leave, whatever the device and whichever cut is taken there. */
double lathe_left_by_steps(const lathe_schedule *schedule, const size_t *dim);

/* The launches of steps, of at most `most` tiles and shares of them each; 0 where there is none for the size. A step of
 * nothing has no blocks. */
int lathe_launch_steps(const lathe_schedule *schedule, const lathe_args *args,
                       const lathe_limits *limits, size_t most, lathe_launch *launches);

#endif
