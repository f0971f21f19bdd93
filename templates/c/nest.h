/* nest.h - which points of a nest's step a part of a call goes through. */
#ifndef LATHE_NEST_H
#define LATHE_NEST_H

#include "call.h"

/* Along each axis of an op: from one point to before another. */
typedef struct lathe_box {
  size_t from[LATHE_MAX_DIMS], to[LATHE_MAX_DIMS];
} lathe_box;

/* Of a set of axes, a bit each, the one with the most units, and how many those are. A unit is `each` points along axis
 * `along`, which is -1 for none, and one along any other. */
static inline int lathe_longest(const size_t *dim, unsigned axes, int along, size_t each,
                                size_t *units) {
  int longest = -1;

  *units = 0;
  for (int axis = 0; axis < LATHE_MAX_DIMS; axis++) {
    const size_t some = axis == along ? (dim[axis] + each - 1) / each : dim[axis];
    if (axes >> axis & 1 && (longest < 0 || some > *units)) {
      longest = axis;
      *units = some;
    }
  }
  return longest;
}

/* A part's points: of the axis that lathe_longest says its share, of others all. */
static inline lathe_box lathe_box_of(const lathe_args *args, unsigned axes, int along,
                                     size_t each) {
  lathe_box box = {{0}, {0}};

  for (int axis = 0; axis < LATHE_MAX_DIMS; axis++)
    box.to[axis] = args->dim[axis];
  size_t units;
  const int axis = lathe_longest(args->dim, axes, along, each, &units);
  if (args->parts > 0 && axis >= 0) {
    size_t *from = &box.from[axis], *to = &box.to[axis];
    lathe_units(args, units, from, to);
    if (axis == along) {
      *from *= each;
      *to = *to * each < args->dim[axis] ? *to * each : args->dim[axis];
    }
  }
  return box;
}

#endif
