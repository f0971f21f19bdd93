/* stream_rows.h - what is gathered of rows between the products of a pass (stream.h, stream_tensor.h).
 *
 * A pass has lists of steps: those whose results are at rows and columns, which are called keys, of which the last is
 * the inner one; and those whose terms the keys are, which may be none. A struct Rows says what is between:
 *   number, PEAK, MASKED            whether there are a peak, and masks by places
 *   FIRSTS, RESULTS, SUMS, LASTS    how many results and numbers there are at a point, sums over a row, and products of keys
 *   powered(last)                   whether the factor of one of these is below the peak
 *   results(c, row, keys, m, n, sums, there, to)   the numbers at points, of those of the first products; c: the inner
 *                                   step, which finds row and keys. FREE: without masks by places; WHOLE: all points are
 *                                   there; ALIGNED: so are their operands
 *   rows_at(c, m, rows)             where some rows lie along axes, of which masks are made
 *   keys_at, look(c, n, keys)       what they ask of a tile's keys
 *   skips(at, of, c, n, keys)       whether no key of a tile counts in any of these
 *   FREE, is_free(at, of, c, n, keys)   whether masks by places are told apart, and all keys of a tile count by them
 *   power(x, peak)                  e^(x - peak)
 *   scale(sums, by)                 makes the sums that are below a peak smaller
 *   take(sums, power, of)           adds the terms at a point
 *   factor<LAST>(power, of)         the factor of one of the products of keys there
 *   finish_rows(c, m)               stores the values of a row */
#ifndef LATHE_STREAM_ROWS_H
#define LATHE_STREAM_ROWS_H

#include "../c/places.h"
#include "kernel.h"
#include "lists.h"
#include "tiles.h"

template <typename N> static __device__ __forceinline__ N lathe_least(N a, N b) {
  return a < b ? a : b;
}

template <typename N> static __device__ __forceinline__ N lathe_most(N a, N b) {
  return a > b ? a : b;
}

/* The largest number of a warp's threads. */
template <typename N> static __device__ __forceinline__ N lathe_most_of_warp(N mine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    mine = lathe_most(mine, __shfl_xor_sync(0xffffffffu, mine, lanes));
  return mine;
}

/* A block's tile of a pass: its rows and columns, and from which key to which it goes where others have the rest.
 * arrived, left: as lathe_left has them. */
template <typename N> struct lathe_stream_tile {
  const lathe_work &work;
  size_t m, n, from, to;
  unsigned *arrived;
  N *left;

  __device__ __forceinline__ lathe_stream_tile(const lathe_work &work, size_t m, size_t keys,
                                               int at_once, unsigned *arrived, N *left)
      : work(work), m(m), n(work.n), arrived(arrived), left(left) {
    const size_t each = lathe_times(lathe_times(keys, at_once), work.parts) * at_once;
    from = lathe_least(work.part * each, keys);
    to = lathe_least(from + each, keys);
  }
};

/* The next tile of keys that counts, from one on, and what masks ask of it; where there is none, `to`. */
template <typename Rows, int KEYS, typename First>
static __device__ __forceinline__ size_t lathe_next_tile(const typename Rows::rows_at &at,
                                                         const First &c, size_t key, size_t to,
                                                         typename Rows::keys_at &of) {
  for (; key < to; key += KEYS) {
    of = Rows::look(c, key, KEYS);
    if (!Rows::skips(at, of, c, key, KEYS))
      return key;
  }
  return to;
}

/* The larger of two; NaN where either is. */
static __device__ __forceinline__ double lathe_peak_of(double a, double b) {
  return a != a || a > b ? a : b;
}

static __device__ __forceinline__ float lathe_peak_of(float a, float b) {
  return lathe_extreme_of<true>(a, b);
}

/* A peak that powers can be below: 0 where they all were -infinity so far, so that they are 0. */
template <typename N> static __device__ __forceinline__ N lathe_peak_below(N peak) {
  return peak == -INFINITY ? N(0) : peak;
}

/* By how much what was gathered below one peak is larger than below the next. */
template <typename Rows, typename N>
static __device__ __forceinline__ N lathe_shrink(N from, N to) {
  return from == to ? N(1) : Rows::power(from, to);
}

/* The same, and e^x below, of what is rounded to 16 bits later: off by 2 ulp, and nothing below the normal range. */
static constexpr float LATHE_LOG2_E = 1.44269504f;

static __device__ __forceinline__ float lathe_shrink_near(float from, float to) {
  return from == to ? 1 : lathe_power((from - to) * LATHE_LOG2_E);
}

static __device__ __forceinline__ float lathe_power_near(float x, float peak_of_two) {
  return lathe_power(fmaf(x, LATHE_LOG2_E, -peak_of_two));
}

/* Shows the steps of a pass what was gathered of the rows from m on. */
template <int FIRSTS, int LASTS, typename Firsts, typename Lasts, typename N>
static __device__ __forceinline__ void lathe_show_gathered(Firsts &a, Lasts &b, const N *gathered,
                                                           size_t m) {
  auto show = [&](auto &step) {
    step.gathered = gathered;
    step.first_m = m;
  };
  show(a.template at<FIRSTS - 1>());
  lathe_each<LASTS>([&](auto last) { show(b.template at<decltype(last)::value>()); });
}

#endif
