/* places.h - where points of a matrix's rows or columns lie along an axis, in C, CUDA and GLSL. A run of axes has
 * one index. `within` of its points have the same place along an axis, whose extent is 0 where no axis is around it. */
#ifndef LATHE_PLACES_H
#define LATHE_PLACES_H

#ifdef VULKAN
#define LATHE_PLACES
#define size_t uint64_t
#else
#include <stddef.h>
#include <stdint.h>
typedef struct lathe_range lathe_range;
#ifdef __CUDACC__
#define LATHE_PLACES static __device__ __forceinline__
#else
#define LATHE_PLACES static inline
#endif
#endif

LATHE_PLACES int64_t lathe_lesser(int64_t a, int64_t b) {
  return a < b ? a : b;
}

LATHE_PLACES int64_t lathe_greater(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* The first and the last place that a range of indexes has. */
struct lathe_range {
  size_t from, to;
};

LATHE_PLACES size_t lathe_place(size_t index, size_t within, size_t extent) {
  return extent == 0 ? index / within : index / within % extent;
}

LATHE_PLACES lathe_range lathe_places(size_t from, size_t to, size_t within, size_t extent) {
  lathe_range r;
  r.from = lathe_place(from, within, extent);
  r.to = lathe_place(to, within, extent);
  if (extent != 0 && from / within / extent != to / within / extent) {
    r.from = 0;
    r.to = extent - 1;
  }
  return r;
}

#endif
