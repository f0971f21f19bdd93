/* work.h - what a block has of a launch, and how blocks that share a tile's terms put their sums together. */
#ifndef LATHE_WORK_H
#define LATHE_WORK_H

#include "kernel.h"

static __device__ __forceinline__ size_t lathe_times(size_t count, size_t each) {
  return count / each + (count % each != 0);
}

/* What a block has of a launch: a tile of one of the matrices, and a part of its terms. The tiles of blocks that run
 * at the same time share rows and columns, which so stay in the cache: tiles go in groups of a few rows, down each
 * column of a group. Where there are fewer blocks than tiles, each goes on to the tile as many further as blocks are.
 * fewest: parts of each tile's terms. */
struct lathe_work {
  size_t m, n;                            /* the tile's first */
  unsigned all, nth, matrix, part, parts; /* tiles; nth: its number among them */
  /* Blocks of a cluster that share a tile's terms, or 1. Several clusters may share a tile, whose parts follow one
   * another; consecutive clusters have other tiles. */
  unsigned joined;
  bool is_there;

  /* Most numbers here are less than what they are divided by. */
  static __device__ __forceinline__ void divide(unsigned number, unsigned by, unsigned &times,
                                                unsigned &rest) {
    times = 0;
    rest = number;
    if (number >= by) {
      times = number / by;
      rest = number - times * by;
    }
  }

  __device__ __forceinline__ lathe_work(unsigned bm, unsigned bn, size_t m_count, size_t n_count,
                                        size_t matrices, unsigned fewest = 1,
                                        unsigned block = blockIdx.x, unsigned given_joined = 1)
      : joined(given_joined) {
    const unsigned GROUP = 8;
    const unsigned rows = (unsigned)lathe_times(m_count, bm),
                   columns = (unsigned)lathe_times(n_count, bn);
    const unsigned tiles = rows * columns;
    unsigned at, group, within, row;
    all = tiles * (unsigned)matrices;
    if (joined > 1) {
      unsigned cluster, set, rank;
      divide(block, joined, cluster, rank);
      divide(cluster, all, set, nth);
      part = set * joined + rank;
    } else {
      divide(block, all, part, nth);
    }
    divide(nth, tiles, matrix, at);
    divide(at, GROUP * columns, group, within);
    const unsigned left = rows - group * GROUP;
    if (left >= GROUP) {
      row = within % GROUP;
      within /= GROUP;
    } else {
      divide(within, left, within, row);
    }
    m = (size_t)(group * GROUP + row) * bm;
    n = (size_t)within * bn;
    parts = gridDim.x > all ? gridDim.x / all : 1;
    parts = parts < fewest ? fewest : parts;
    is_there = part < parts;
  }
};

/* The fewest parts that the terms of some tiles have, so that no block adds up more than `depth` of them. */
static __device__ __forceinline__ unsigned lathe_fewest(size_t tiles, size_t most, size_t terms,
                                                        size_t depth) {
  return tiles <= most && terms > depth ? (unsigned)lathe_times(terms, depth) : 1;
}

/* Whether this block, which has left its own, is the last of `parts` blocks to come here. arrived: how many have, zero
 * before and after; ALONE: there are threads after these THREADS that do not come here. */
template <int THREADS, bool ALONE>
static __device__ __forceinline__ bool lathe_is_last(unsigned *arrived, unsigned parts) {
  __shared__ unsigned order;
  const auto await = []() {
    if constexpr (ALONE)
      lathe_await_first<THREADS>();
    else
      __syncthreads();
  };
  __threadfence();
  await();
  if (threadIdx.x == 0)
    order = atomicAdd(arrived, 1);
  await();
  if (order + 1 < parts)
    return false;
  __threadfence();
  if (threadIdx.x == 0)
    *arrived = 0;
  return true;
}

/* Where blocks have parts of the same tile's terms: what each leaves of its own for the last one to come here, NUMBERS
 * of each of THREADS threads. arrived: a count for each tile, zero before and after; left: room for all numbers of each
 * block; ALONE: there are threads after these that do not come here. Without it there may be threads besides that leave
 * nothing. */
template <int NUMBERS, int THREADS, bool ALONE, typename N> struct lathe_left {
  const lathe_work &work;
  unsigned *const arrived;
  N *const left;

  __device__ __forceinline__ N *of(size_t part, int nth) const {
    const size_t block = (size_t)work.nth * work.parts + part;
    return left + (block * NUMBERS + nth) * THREADS + threadIdx.x % THREADS;
  }
  __device__ __forceinline__ void leave(int nth, N number) const {
    *of(work.part, nth) = number;
  }
  __device__ __forceinline__ N take(size_t part, int nth) const {
    return __ldcg(of(part, nth));
  }
  /* Whether this block, which has left its own, is the last one of its tile. */
  __device__ __forceinline__ bool is_last() const {
    return lathe_is_last<THREADS, ALONE>(arrived + work.nth, work.parts);
  }
};

/* Where blocks have parts of the same tile's terms, all but the last to come here leave their sums behind and are
 * done: false. That one adds up all in the order of the parts, so that results are the same in every run. sums: the
 * thread's, of SUMS in all; the others as lathe_left has them. */
template <int SUMS, int THREADS, bool ALONE = false, typename N>
static __device__ __forceinline__ bool lathe_gather(const lathe_work &work, N *sums,
                                                    unsigned *arrived, N *left) {
  if (work.parts == 1)
    return true;
  const lathe_left<SUMS / THREADS, THREADS, ALONE, N> all = {work, arrived, left};
#pragma unroll
  for (int nth = 0; nth < SUMS / THREADS; nth++)
    all.leave(nth, sums[nth]);
  if (!all.is_last())
    return false;
  constexpr int EACH = SUMS / THREADS, MANY = EACH < 64 ? 8 : 32, SOME = EACH < MANY ? EACH : MANY,
                PARTS = EACH < 64 ? 4 : 1; /* at once */
#pragma unroll
  for (int first = 0; first < EACH; first += SOME) {
#pragma unroll
    for (int nth = first; nth < first + SOME; nth++)
      sums[nth] = 0;
    for (size_t part = 0; part < work.parts; part += PARTS) {
      N taken[PARTS][SOME];
#pragma unroll
      for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int nth = 0; nth < SOME; nth++)
          taken[p][nth] = part + p < work.parts ? all.take(part + p, first + nth) : N(0);
#pragma unroll
      for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int nth = 0; nth < SOME; nth++)
          sums[first + nth] += taken[p][nth];
    }
  }
  return true;
}

/* Rows of results that lie at no multiples of 16 bytes go to memory in parts of 32 bytes, of which a GPU takes so many
 * at a time, whatever is in them. So neighbouring threads have neighbouring results of 4 bytes, one by one; but where
 * there are few blocks, more instructions take longer. */
template <typename C> static __device__ __forceinline__ bool lathe_is_apart(const C &c) {
  return sizeof(typename C::element) == 4 && !c.whole_values && gridDim.x > 128;
}

/* Finishes a warp's results so, of which LINES lines of LINE are in shared memory; place(line): the row of a line. */
template <int LINE, int LINES, typename C, typename Place>
static __device__ __forceinline__ void lathe_finish_apart(const C &c, const float *lines,
                                                          Place place, size_t n) {
  __syncwarp();
#pragma unroll 1
  for (int at = (int)threadIdx.x % 32; at < LINES * LINE; at += 32) {
    const float one[1] = {lines[at]};
    const size_t row = place(at / LINE), column = n + at % LINE;
    if (row < c.m_count && column < c.n_count)
      c.finish(row, column, one, 1);
  }
  __syncwarp();
}

/* Finishes a tile of which each block of a cluster has a part of all sums in shared memory, four numbers of a row from
 * some column on at place(row, column): each adds up its share of the rows in the order of the parts, so that none
 * waits for another's. Where several clusters share the tile, each leaves these sums of its cluster behind, and the
 * last block to come here of those with the same rows adds up all in the order of the clusters. arrived: a count for
 * each tile and share of rows, zero before and after; left: room for a tile of each cluster. */
template <int BM, int BN, int THREADS, typename C, typename Place>
static __device__ __forceinline__ void lathe_finish_joined(const C &c, const float *lines,
                                                           Place place, const lathe_work &work,
                                                           unsigned *arrived, float *left) {
  constexpr unsigned SETS = 8; /* at once */
  const unsigned joined = work.joined;
  unsigned sets = 1, set = 0, rank = work.part;
  if (work.parts > joined) {
    sets = work.parts / joined;
    set = work.part / joined;
    rank = work.part - set * joined;
  }
  const int share = (BM + (int)joined - 1) / (int)joined, first = (int)rank * share;
  const int rows = BM - first < share ? BM - first : share;
  const auto each = [&](auto f) {
#pragma unroll 1
    for (int at = (int)threadIdx.x; at < rows * (BN / 4); at += THREADS) {
      const int row = first + at / (BN / 4), column = at % (BN / 4) * 4;
      f(row, column);
    }
  };
  const auto left_of = [&](unsigned of, int row, int column) {
    const size_t tile = (size_t)work.nth * sets + of;
    return reinterpret_cast<uint4 *>(left + (tile * BM + row) * BN + column);
  };
  const auto add = [](float(&sums)[4], const uint4 &words) {
    float some[4];
    memcpy(some, &words, sizeof some);
#pragma unroll
    for (int nth = 0; nth < 4; nth++)
      sums[nth] += some[nth];
  };
  const auto add_blocks = [&](float(&sums)[4], int row, int column) {
#pragma unroll 4
    for (unsigned of = 0; of < joined; of++)
      add(sums, lathe_take_from(lines + place(row, column), of));
  };
  bool is_last = true;

  lathe_cluster_arrive();
  lathe_cluster_wait();
  if (sets > 1) {
    each([&](int row, int column) {
      float sums[4] = {};
      add_blocks(sums, row, column);
      uint4 words;
      memcpy(&words, sums, sizeof words);
      *left_of(set, row, column) = words;
    });
    is_last = lathe_is_last<THREADS, false>(arrived + work.nth * joined + rank, sets);
  }
  if (is_last)
    each([&](int row, int column) {
      float sums[4] = {};
      if (sets == 1)
        add_blocks(sums, row, column);
      for (unsigned from = 0; from < sets && sets > 1; from += SETS) {
        uint4 taken[SETS];
#pragma unroll
        for (unsigned of = 0; of < SETS; of++)
          taken[of] = from + of < sets ? __ldcg(left_of(from + of, row, column)) : uint4{};
#pragma unroll
        for (unsigned of = 0; of < SETS; of++)
          add(sums, taken[of]);
      }
      const size_t m = work.m + row, n = work.n + column;
      if (m < c.m_count && n < c.n_count)
        c.finish(m, n, sums, (long long)(c.n_count - n));
    });
  lathe_cluster_arrive(); /* others read what this block has */
  lathe_cluster_wait();
}

#endif
