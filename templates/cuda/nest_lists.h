/* nest_lists.h - lists by each point along an axis the places where an index is that point, in order. A block has
 * POINTS of the points, as many as threads, and goes twice through all places, a share of them by each warp: it counts
 * how many each point has of each warp's share, and puts them where these counts say that they begin. Limited by the
 * reading of the index, once for each block.
 *
 * A step N says:
 *   index                  the type of its numbers of places
 *   lists(each)            how many blocks there are, of so many points each
 *   place_list(nth, each)  makes it the step of one block
 *   first(), extent()      the block's first point, and how many points there are in all
 *   places(), index_at(nth)  how many places there are, and the index at one; one that is negative counts as large
 *   ends(), listed()       where the end of each point's list is to be, and the lists, one after the other */
#ifndef LATHE_NEST_LISTS_H
#define LATHE_NEST_LISTS_H

#include "nest.h"

/* PLACES: that a block goes through at a time. */
template <typename N, unsigned POINTS, unsigned PLACES>
static __device__ __forceinline__ void lathe_list_places(const lathe_args &args) {
  typedef typename N::index index;
  typedef unsigned long long whole;
  constexpr unsigned WARP = 32, WARPS = POINTS / WARP, AHEAD = PLACES / POINTS, ALL = 0xffffffff;
  constexpr whole NONE = ~0ull;
  __shared__ unsigned counts[WARPS][POINTS], ends[POINTS], before;
  N step(args);
  if (blockIdx.x >= step.lists(POINTS))
    return;
  step.place_list(blockIdx.x, POINTS);
  const unsigned me = threadIdx.x, warp = me / WARP, lane = me % WARP;
  const index places = step.places(), each = (index)lathe_times(places, WARPS);
  const index from = warp * each < places ? warp * each : places;
  const index to = places - from < each ? places : from + each;
  const whole first = step.first(), rest = step.extent() - first;
  const unsigned points = rest < POINTS ? (unsigned)rest : POINTS;
  /* Does something with each place of the warp and the index there, of its lanes together. */
  const auto each_place = [&](auto one) {
    for (index at = from; at < to; at += WARP * AHEAD) {
      whole of[AHEAD];
#pragma unroll
      for (unsigned nth = 0; nth < AHEAD; nth++) {
        const index place = at + nth * WARP + lane;
        of[nth] = place < to ? step.index_at(place) : NONE;
      }
#pragma unroll
      for (unsigned nth = 0; nth < AHEAD; nth++)
        one(at + nth * WARP + lane, of[nth]);
    }
  };
  for (unsigned of = 0; of < WARPS; of++)
    counts[of][me] = 0;
  if (me == 0)
    before = 0;
  __syncthreads();
  unsigned less = 0;
  each_place([&](index, whole at) {
    less += at < first;
    if (at - first < points)
      atomicAdd(&counts[warp][at - first], 1);
  });
#pragma unroll
  for (int mask = WARP / 2; mask > 0; mask /= 2)
    less += __shfl_xor_sync(ALL, less, mask);
  if (lane == 0)
    atomicAdd(&before, less);
  __syncthreads();
  unsigned own = 0;
  for (unsigned of = 0; of < WARPS; of++)
    own += counts[of][me];
  unsigned end = own;
  for (unsigned step_of = 1; step_of < POINTS; step_of *= 2) {
    ends[me] = end;
    __syncthreads();
    end += me >= step_of ? ends[me - step_of] : 0;
    __syncthreads();
  }
  end += before;
  if (me < points)
    step.ends()[first + me] = end;
  unsigned begin = end - own;
  for (unsigned of = 0; of < WARPS; of++) {
    const unsigned some = counts[of][me];
    counts[of][me] = begin;
    begin += some;
  }
  __syncthreads();
  unsigned *const listed = step.listed();
  each_place([&](index place, whole at) {
    const bool is_listed = at - first < points;
    if (__ballot_sync(ALL, is_listed) == 0)
      return;
    const unsigned point = is_listed ? (unsigned)(at - first) : POINTS;
    const unsigned same = __match_any_sync(ALL, point);
    const unsigned earlier = (unsigned)__popc(same & ((1u << lane) - 1));
    const unsigned next = is_listed ? counts[warp][point] : 0;
    __syncwarp();
    if (is_listed) {
      listed[next + earlier] = (unsigned)place;
      if (earlier == 0)
        counts[warp][point] = next + (unsigned)__popc(same);
    }
    __syncwarp();
  });
}

#endif
