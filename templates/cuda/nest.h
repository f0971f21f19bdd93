/* nest.h - the loops around steps of any axes. A block has POINTS vectors of points, or points, each of which LANES
 * threads share: of terms that lie side by side neighbouring threads, else neighbouring threads have points that do.
 * Where there are few points, blocks share the terms: all but the last to come leave what they gathered, and that one
 * merges it in order. Steps that share points go one after the other through those of a block (lathe_fused); what lies
 * across vectors goes through shared memory in squares (lathe_turned).
 *
 * A step N says what is gathered:
 *   index                       the type of its numbers of points and terms
 *   gathered                    of a point, with clear() and merge(other)
 *   MINE                        points of a thread
 *   TOGETHER                    whether terms lie side by side
 *   points(), terms()           how many vectors there are of each
 *   place(point)                makes it the step of one vector of points
 *   whole                       whether its vectors may be read by one access each
 *   keep<whole>()               reads what stays the same at all terms of the point
 *   take<whole>(mine, from, to, apart)   takes the terms from one on, each so many after the one before
 *   finish<whole>(mine)         stores what follows
 *   shared(), extra(), place_shared(nth), place_extra(nth)   the same of the points that it shares with other steps, and
 *                               of those that it has besides, if HAS_EXTRA
 *   hold_in(room, nth)          tells it where the block holds what several steps read, and which of its points it has
 *   squares(), place_square(nth), bring(tile), turn(tile), put(tile)   of those that go by squares
 * nest_scan.h has what a step of scans says besides. */
#ifndef LATHE_NEST_H
#define LATHE_NEST_H

#include "gather.h"
#include "../c/places.h"
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

/* So many terms of a sum, or a vector of them, are added up plainly before errors are carried. */
enum { LATHE_PLAIN_TERMS = 8 };

template <typename T, int N> struct lathe_plain {
  T at[N];

  __device__ __forceinline__ lathe_plain() {
#pragma unroll
    for (int nth = 0; nth < N; nth++)
      at[nth] = T(-0.0);
  }
};

/* The term at an index; NaN where there is none. */
template <typename T> struct lathe_picked {
  T value;
  unsigned is_there;

  __device__ __forceinline__ void clear() {
    value = T(NAN);
    is_there = 0;
  }
  __device__ __forceinline__ void take(T term) {
    value = term;
    is_there = 1;
  }
  __device__ __forceinline__ void merge(const lathe_picked &other) {
    if (!is_there)
      *this = other;
  }
  __device__ __forceinline__ T result() const {
    return value;
  }
};

/* A place as one of `extent`, or the nearest end. */
template <typename I> static __device__ __forceinline__ I lathe_within(int64_t place, I extent) {
  return place <= 0 ? 0 : (uint64_t)place < extent ? (I)place : extent;
}

/* The indexes of some loops, the last the innermost. */
template <int N, typename I> struct lathe_odometer {
  I index[N], extent[N];

  __device__ __forceinline__ lathe_odometer(I from, const I (&extents)[N]) {
#pragma unroll
    for (int nth = N - 1; nth >= 0; nth--) {
      extent[nth] = extents[nth];
      index[nth] = nth > 0 ? from % extents[nth] : from;
      from = nth > 0 ? from / extents[nth] : from;
    }
  }
  __device__ __forceinline__ void advance(I by) {
    index[N - 1] += by;
#pragma unroll
    for (int nth = N - 1; nth > 0; nth--)
      if (index[nth] >= extent[nth]) {
        const I carried = index[nth] / extent[nth];
        index[nth] -= carried * extent[nth];
        index[nth - 1] += carried;
      }
  }
};

/* Does something for each of so many numbers, of a few at once: what these read does not wait for the one before. */
template <unsigned AT_ONCE = 4, typename I, typename F>
static __device__ __forceinline__ void lathe_each_of(I from, I to, I apart, F one) {
  I nth = from;
  while (nth < to && to - nth > (AT_ONCE - 1) * apart) {
#pragma unroll
    for (unsigned of = 0; of < AT_ONCE; of++, nth += apart)
      one(nth);
  }
  for (; nth < to; nth += apart)
    one(nth);
}

/* What a thread has of its points. */
template <typename N> struct lathe_mine {
  typename N::gathered at[N::MINE];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      at[nth].clear();
  }
  /* As it is before the first place of a scan. */
  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      at[nth].begin();
  }
  __device__ __forceinline__ void merge(const lathe_mine &other) {
#pragma unroll
    for (int nth = 0; nth < N::MINE; nth++)
      at[nth].merge(other.at[nth]);
  }
};

template <typename N>
static __device__ __forceinline__ void
lathe_take_terms(const N &step, lathe_mine<N> &mine, typename N::index from, typename N::index to,
                 typename N::index apart) {
  if (step.whole)
    step.template take<true>(mine.at, from, to, apart);
  else
    step.template take<false>(mine.at, from, to, apart);
}

template <typename N> static __device__ __forceinline__ void lathe_keep(N &step) {
  if (step.whole)
    step.template keep<true>();
  else
    step.template keep<false>();
}

template <typename N>
static __device__ __forceinline__ void lathe_finish_points(const N &step,
                                                           const lathe_mine<N> &mine) {
  if (step.whole)
    step.template finish<true>(mine.at);
  else
    step.template finish<false>(mine.at);
}

/* What LANES threads have of each point becomes that of the first: within warps by shuffles, then through shared
 * memory, which has room for half of the block's threads. */
template <bool TOGETHER, unsigned POINTS, unsigned LANES, typename G>
static __device__ __forceinline__ void lathe_join(G &mine, G *shared, unsigned lane, unsigned nth) {
  constexpr unsigned WARP = 32, APART = TOGETHER ? 1 : POINTS; /* threads from lane to lane */
  constexpr unsigned WITHIN = APART * LANES <= WARP ? LANES : APART < WARP ? WARP / APART : 1;
  if constexpr (WITHIN > 1) {
#pragma unroll
    for (unsigned mask = WITHIN / 2; mask > 0; mask /= 2)
      mine.merge(lathe_exchange(mine, (int)(mask * APART)));
    if constexpr (LANES > WITHIN) {
      constexpr unsigned WARPS = LANES / WITHIN, READERS = WARP / POINTS;
      if (lane % WITHIN == 0)
        shared[lane / WITHIN * POINTS + nth] = mine;
      __syncthreads();
      if (threadIdx.x < WARP) {
        const unsigned point = threadIdx.x % POINTS, reader = threadIdx.x / POINTS;
        mine.clear();
        for (unsigned warp = reader; warp < WARPS; warp += READERS)
          mine.merge(shared[warp * POINTS + point]);
#pragma unroll
        for (unsigned mask = READERS / 2; mask > 0; mask /= 2)
          mine.merge(lathe_exchange(mine, (int)(mask * POINTS)));
      }
    }
  } else {
#pragma unroll
    for (unsigned half = LANES / 2; half > 0; half /= 2) {
      if (lane >= half && lane < 2 * half)
        shared[(lane - half) * POINTS + nth] = mine;
      __syncthreads();
      if (lane < half)
        mine.merge(shared[lane * POINTS + nth]);
      if (half > 1)
        __syncthreads();
    }
  }
}

/* arrived: a count for each tile of points, zero before and after; left: room for what blocks leave. */
template <typename N, unsigned POINTS, unsigned LANES>
static __device__ __forceinline__ void lathe_nest(const lathe_args &args, unsigned *arrived,
                                                  char *left) {
  typedef lathe_mine<N> gathered;
  typedef typename N::index index;
  __shared__ __align__(16) char room[LANES > 1 ? sizeof(gathered) * POINTS * LANES / 2 : 16];
  gathered *const shared = reinterpret_cast<gathered *>(room);
  N step(args);
  const index points = step.points(), terms = step.terms();
  const unsigned tiles = (unsigned)lathe_times(points, POINTS);
  if (tiles == 0)
    return;
  const unsigned tile = blockIdx.x % tiles, part = blockIdx.x / tiles, parts = gridDim.x / tiles;
  const unsigned lane = N::TOGETHER ? threadIdx.x % LANES : threadIdx.x / POINTS;
  const unsigned nth = N::TOGETHER ? threadIdx.x / LANES : threadIdx.x % POINTS;
  const index point = (index)tile * POINTS + nth, each = (index)lathe_times(terms, parts);
  const index from = part * each < terms ? part * each : terms;
  const index to = terms - from < each ? terms : from + each;
  gathered mine;
  mine.clear();
  if (point < points) {
    step.place(point);
    lathe_keep(step);
    lathe_take_terms(step, mine, from + lane, to, (index)LANES);
  }
  lathe_join<N::TOGETHER, POINTS, LANES>(mine, shared, lane, nth);
  if (parts > 1) {
    gathered *const all = reinterpret_cast<gathered *>(left) + (size_t)tile * parts * POINTS + nth;
    if (lane == 0)
      all[part * POINTS] = mine;
    if (!lathe_is_last<POINTS * LANES, false>(arrived + tile, parts))
      return;
    mine.clear();
    for (unsigned of = lane; of < parts; of += LANES)
      mine.merge(all[of * POINTS]);
    lathe_join<N::TOGETHER, POINTS, LANES>(mine, shared, lane, nth);
  }
  if (lane == 0 && point < points)
    lathe_finish_points(step, mine);
}

/* A step for the shared points of a block, all of whose threads take part. room, held: of what they gather, and of what
 * they hold for all steps. */
template <typename N, unsigned POINTS, unsigned LANES>
static __device__ __forceinline__ void lathe_one_of(const lathe_args &args, char *room, char *held,
                                                    unsigned lane, unsigned nth) {
  typedef lathe_mine<N> gathered;
  typedef typename N::index index;
  N step(args);
  step.hold_in(held, nth);
  const index point = (index)blockIdx.x * POINTS + nth;
  const bool is_there = point < step.shared();
  if (is_there)
    step.place_shared(point), lathe_keep(step);
  if constexpr (N::HAS_EXTRA) {
    const index extra = step.extra(), terms = step.terms();
    lathe_each_of((index)lane, is_there ? extra : 0, (index)LANES, [&](index at) {
      gathered mine;
      step.place_extra(at);
      if constexpr (N::GATHERS) {
        mine.clear();
        lathe_take_terms(step, mine, (index)0, terms, (index)1);
      }
      lathe_finish_points(step, mine);
    });
  } else {
    gathered mine;
    if constexpr (N::GATHERS) {
      mine.clear();
      if (is_there)
        lathe_take_terms(step, mine, (index)lane, step.terms(), (index)LANES);
      lathe_join<N::TOGETHER, POINTS, LANES>(mine, reinterpret_cast<gathered *>(room), lane, nth);
    }
    if (lane == 0 && is_there)
      lathe_finish_points(step, mine);
  }
  __syncthreads(); /* what it stored the next one reads */
}

/* The room that a thread needs for the step that gathers most. */
template <typename... N> struct lathe_room_of { static constexpr size_t bytes = 1; };
template <typename N, typename... More> struct lathe_room_of<N, More...> {
  static constexpr size_t own = N::GATHERS && !N::HAS_EXTRA ? sizeof(lathe_mine<N>) : 1;
  static constexpr size_t rest = lathe_room_of<More...>::bytes;
  static constexpr size_t bytes = own > rest ? own : rest;
};

/* HELD: where in the memory that the launch gives what is held begins, after what is gathered; -1: nothing is. */
template <unsigned POINTS, unsigned LANES, bool TOGETHER, int HELD, typename... N>
static __device__ __forceinline__ void lathe_fused(const lathe_args &args) {
  constexpr size_t bytes = lathe_room_of<N...>::bytes * POINTS * (LANES > 1 ? LANES / 2 : 1);
  const unsigned lane = TOGETHER ? threadIdx.x % LANES : threadIdx.x / POINTS;
  const unsigned nth = TOGETHER ? threadIdx.x / LANES : threadIdx.x % POINTS;
  if constexpr (HELD < 0) {
    __shared__ __align__(16) char room[bytes];
    (lathe_one_of<N, POINTS, LANES>(args, room, nullptr, lane, nth), ...);
  } else {
    extern __shared__ __align__(1024) uint4 room[];
    static_assert(bytes <= HELD, "what is gathered has room before what is held");
    char *const given = reinterpret_cast<char *>(room);
    (lathe_one_of<N, POINTS, LANES>(args, given, given + HELD, lane, nth), ...);
  }
}

/* A square of points: what is read across comes in rows, and what is written across leaves in rows. */
template <typename N> static __device__ __forceinline__ void lathe_turned(const lathe_args &args) {
  __shared__ typename N::square tile;
  N step(args);
  if (blockIdx.x >= step.squares())
    return;
  step.place_square(blockIdx.x);
  step.bring(tile);
  __syncthreads();
  step.turn(tile);
  __syncthreads();
  step.put(tile);
}

#endif
