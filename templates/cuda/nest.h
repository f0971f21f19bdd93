/* nest.h - the loops around a step of any axes. A block has POINTS points, each of which LANES threads share: of terms
 * that lie side by side neighbouring threads, else neighbouring threads have points that do. Where there are few points,
 * blocks share the terms: all but the last to come leave what they gathered, and that one merges it in order.
 *
 * A step N says what is gathered:
 *   gathered                    with clear() and merge(other)
 *   TOGETHER                    whether terms lie side by side
 *   points(), terms()           how many there are
 *   place(point)                makes it the step of one point
 *   take(gathered, from, to, apart)   takes the terms from one on, each so many after the one before
 *   finish(gathered)            stores what follows
 * One of scans has in the place of the last three what is done at a place on the way:
 *   places()                    how many there are
 *   take_place(gathered, nth), store_place(now, before, nth) */
#ifndef LATHE_NEST_H
#define LATHE_NEST_H

#include "philox.h"
#include "tiles.h"

/* A sum that carries its rounding errors along: those of a sum of two are exact (Knuth 1969). */
template <typename T> struct lathe_carried {
  T value, lost;

  __device__ __forceinline__ void clear() {
    value = T(-0.0);
    lost = 0;
  }
  __device__ __forceinline__ void take(T term) {
    const T sum = value + term, taken = sum - value;
    lost += (value - (sum - taken)) + (term - taken);
    value = sum;
  }
  __device__ __forceinline__ void merge(const lathe_carried &other) {
    take(other.value);
    lost += other.lost;
  }
  /* An infinite sum has no error to add: infinity less infinity is NaN. */
  __device__ __forceinline__ T result() const {
    return lost == lost && lost != 0 ? value + lost : value;
  }
};

/* The term at an index; NaN where there is none. */
template <typename T> struct lathe_picked {
  T value;

  __device__ __forceinline__ void clear() {
    value = T(NAN);
  }
  __device__ __forceinline__ void take(T term) {
    value = term;
  }
  __device__ __forceinline__ void merge(const lathe_picked &) {
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

/* The indexes of some loops, the last the innermost. */
template <int N> struct lathe_odometer {
  size_t index[N], extent[N];

  __device__ __forceinline__ lathe_odometer(size_t from, const size_t (&extents)[N]) {
#pragma unroll
    for (int nth = N - 1; nth >= 0; nth--) {
      extent[nth] = extents[nth];
      index[nth] = nth > 0 ? from % extents[nth] : from;
      from = nth > 0 ? from / extents[nth] : from;
    }
  }
  __device__ __forceinline__ void advance(size_t by) {
    index[N - 1] += by;
#pragma unroll
    for (int nth = N - 1; nth > 0; nth--)
      if (index[nth] >= extent[nth]) {
        const size_t carried = index[nth] / extent[nth];
        index[nth] -= carried * extent[nth];
        index[nth - 1] += carried;
      }
  }
};

/* The random number of one point. */
template <bool NARROW, typename T>
static __device__ __forceinline__ T lathe_random_at(long long seed, long long offset,
                                                    size_t point) {
  const lathe_keys keys(seed);
  T number[1];

  lathe_random<NARROW>(number, keys, offset, point);
  return number[0];
}

/* What LANES threads have of each point becomes that of the first. shared: for each thread of the block. */
template <unsigned POINTS, unsigned LANES, typename G>
static __device__ __forceinline__ void lathe_join(G &mine, G *shared, unsigned lane, unsigned nth) {
#pragma unroll
  for (unsigned half = LANES / 2; half > 0; half /= 2) {
    if (lane >= half && lane < 2 * half)
      shared[lane * POINTS + nth] = mine;
    __syncthreads();
    if (lane < half)
      mine.merge(shared[(lane + half) * POINTS + nth]);
  }
}

/* Scans: a point's threads take a place each, and then the next so many. Those of a block merge what they have with what
 * threads before them have, in the order of places. */
template <typename N, unsigned POINTS, unsigned LANES>
static __device__ __forceinline__ void lathe_scan(const lathe_args &args) {
  typedef typename N::gathered gathered;
  N step(args);
  const unsigned lane = threadIdx.x % LANES;
  const size_t point = (size_t)blockIdx.x * POINTS + threadIdx.x / LANES, places = step.places();
  gathered so_far;
  if (point >= step.points())
    return;
  step.place(point);
  so_far.clear();
  if constexpr (LANES == 1) {
    for (size_t nth = 0; nth < places; nth++) {
      const gathered before = so_far;
      step.take_place(so_far, nth);
      step.store_place(so_far, before, nth);
    }
  } else {
    __shared__ __align__(16) char room[sizeof(gathered) * LANES];
    gathered *const shared = reinterpret_cast<gathered *>(room);
    for (size_t from = 0; from < places; from += LANES) {
      const size_t nth = from + lane;
      gathered mine, now = so_far, before = so_far;
      mine.clear();
      if (nth < places)
        step.take_place(mine, nth);
      for (unsigned apart = 1; apart < LANES; apart *= 2) {
        shared[lane] = mine;
        __syncthreads();
        if (lane >= apart) {
          gathered all = shared[lane - apart];
          all.merge(mine);
          mine = all;
        }
        __syncthreads();
      }
      shared[lane] = mine;
      __syncthreads();
      now.merge(mine);
      if (lane > 0)
        before.merge(shared[lane - 1]);
      if (nth < places)
        step.store_place(now, before, nth);
      so_far.merge(shared[LANES - 1]);
      __syncthreads();
    }
  }
}

/* arrived: a count for each tile of points, zero before and after; left: room for what blocks leave. */
template <typename N, unsigned POINTS, unsigned LANES>
static __device__ __forceinline__ void lathe_nest(const lathe_args &args, unsigned *arrived,
                                                  char *left) {
  typedef typename N::gathered gathered;
  __shared__ __align__(16) char room[LANES > 1 ? sizeof(gathered) * POINTS * LANES : 16];
  __shared__ unsigned order;
  gathered *const shared = reinterpret_cast<gathered *>(room);
  N step(args);
  const size_t points = step.points(), terms = step.terms();
  const unsigned tiles = (unsigned)lathe_times(points, POINTS);
  if (tiles == 0)
    return;
  const unsigned tile = blockIdx.x % tiles, part = blockIdx.x / tiles, parts = gridDim.x / tiles;
  const unsigned lane = N::TOGETHER ? threadIdx.x % LANES : threadIdx.x / POINTS;
  const unsigned nth = N::TOGETHER ? threadIdx.x / LANES : threadIdx.x % POINTS;
  const size_t point = (size_t)tile * POINTS + nth, each = lathe_times(terms, parts);
  const size_t from = part * each < terms ? part * each : terms;
  const size_t to = terms - from < each ? terms : from + each;
  gathered mine;
  mine.clear();
  if (point < points) {
    step.place(point);
    step.take(mine, from + lane, to, LANES);
  }
  lathe_join<POINTS, LANES>(mine, shared, lane, nth);
  if (parts > 1) {
    gathered *const all = reinterpret_cast<gathered *>(left) + (size_t)tile * parts * POINTS + nth;
    if (lane == 0)
      all[part * POINTS] = mine;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      order = atomicAdd(arrived + tile, 1);
    __syncthreads();
    if (order + 1 < parts)
      return;
    __threadfence();
    if (threadIdx.x == 0)
      arrived[tile] = 0;
    mine.clear();
    for (unsigned of = lane; of < parts; of += LANES)
      mine.merge(all[of * POINTS]);
    lathe_join<POINTS, LANES>(mine, shared, lane, nth);
  }
  if (lane == 0 && point < points)
    step.finish(mine);
}

#endif
