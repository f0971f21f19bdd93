/* points.h - values at points, of which nothing is summed: in words of tiles.h, products of one term whose first factor
 * is the constant 1. A thread has EACH neighbours along n. */
#ifndef LATHE_POINTS_H
#define LATHE_POINTS_H

#include "tiles.h"

template <typename C> struct lathe_points {
  using number = typename C::number;
  static constexpr int AT_ONCE = 16 / sizeof(number), V = C::VB, EACH = V < AT_ONCE ? AT_ONCE : V;
  struct slices {};
  number values[EACH];

  static __device__ __forceinline__ int at_n() {
    return (int)threadIdx.x * EACH;
  }

  __device__ __forceinline__ void add(const C &c, slices &, size_t, size_t n, size_t, size_t) {
#pragma unroll
    for (int first = 0; first < EACH; first += V) {
      typename C::raw_b raw;
      number some[V];
      c.template load_b<false>(raw, n + at_n() + first, 0);
      c.make_b(raw, some);
#pragma unroll
      for (int v = 0; v < V; v++)
        values[first + v] = some[v];
    }
  }

  __device__ __forceinline__ bool gather(slices &, const lathe_work &, unsigned *, number *) {
    return true;
  }

  __device__ __forceinline__ void finish(const C &c, slices &, size_t m, size_t n) const {
#pragma unroll
    for (int first = 0; first < EACH; first += AT_ONCE) {
      const size_t column = n + at_n() + first;
      number some[AT_ONCE];
#pragma unroll
      for (int lane = 0; lane < AT_ONCE; lane++)
        some[lane] = values[first + lane];
      if (column < c.n_count)
        c.finish(m, column, some, (long long)(c.n_count - column));
    }
  }
};

#endif
