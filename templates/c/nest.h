/* nest.h - which points of a nest's steps a part of a call goes through, and in which tiles. */
#ifndef LATHE_NEST_H
#define LATHE_NEST_H

#include <math.h>

#include "call.h"
#include "places.h"

/* Along each axis of an op: from one point to before another. */
typedef struct lathe_box {
  size_t from[LATHE_MAX_DIMS], to[LATHE_MAX_DIMS];
} lathe_box;

/* A place as one of `extent`, or the nearest end. */
static inline size_t lathe_within(int64_t place, size_t extent) {
  return place <= 0 ? 0 : (uint64_t)place < extent ? (size_t)place : extent;
}

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

/* Narrows some lanes, from *low to before *high, to those at which first + slope * lane is a place along an axis. */
static inline void lathe_narrow_lanes(int64_t first, int64_t slope, int64_t extent, int64_t *low,
                                      int64_t *high) {
  int64_t from = 0, to = first >= 0 && first < extent ? *high : 0;

  if (slope > 0) {
    from = first < 0 ? (slope - 1 - first) / slope : 0;
    to = first < extent ? (extent - 1 - first) / slope + 1 : 0;
  } else if (slope < 0) {
    from = first >= extent ? (first - extent) / -slope + 1 : 0;
    to = first >= 0 ? first / -slope + 1 : 0;
  }
  *high = to < *high ? to : *high;
  *low = from > *low ? from : *low;
  *low = *low < *high ? *low : *high;
}

/* A box in tiles: the one that is at hand, and how many points a whole one has along each axis. */
typedef struct lathe_tiles {
  lathe_box all, box;
  size_t each[LATHE_MAX_DIMS];
} lathe_tiles;

/* Bytes that a tile has at the most, where that is not less than its least: about half of a core's second cache. */
#define LATHE_TILE_BYTES (256u << 10)

/* The tiles of a box along a set of axes, a bit each; other axes are whole in all. along: of the set, the axis along
 * which a tile has at least `unit` points, or -1; bytes: what goes with a point of the set. The first is at hand. */
static inline lathe_tiles lathe_tiles_of(const lathe_box *all, unsigned axes, int along,
                                         size_t unit, double bytes) {
  lathe_tiles tiles = {*all, *all, {0}};
  double room = LATHE_TILE_BYTES / (bytes > 1 ? bytes : 1);

  for (int nth = LATHE_MAX_DIMS; nth >= 0; nth--) {
    const int axis = nth == LATHE_MAX_DIMS ? along : nth;
    if (axis < 0 || !(axes >> axis & 1) || tiles.each[axis] > 0)
      continue;
    const size_t extent = all->to[axis] - all->from[axis], least = axis == along ? unit : 1;
    const size_t some = room > (double)least ? (size_t)room / least * least : least;
    tiles.each[axis] = some < extent || extent == 0 ? some : extent;
    tiles.box.to[axis] = all->from[axis] + (some < extent ? some : extent);
    room /= (double)tiles.each[axis];
  }
  return tiles;
}

/* Goes on to the next tile; false after the last. */
static inline int lathe_next_tile(lathe_tiles *tiles) {
  for (int axis = LATHE_MAX_DIMS - 1; axis >= 0; axis--) {
    const size_t each = tiles->each[axis], end = tiles->all.to[axis];
    size_t *from = &tiles->box.from[axis], *to = &tiles->box.to[axis];
    if (each == 0)
      continue;
    const int is_last = *to >= end;
    *from = is_last ? tiles->all.from[axis] : *to;
    *to = end - *from < each ? end : *from + each;
    if (!is_last)
      return 1;
  }
  return 0;
}

#endif
