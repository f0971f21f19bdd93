/* fetched.h - sums of products by the tensor cores of compute capability 9.0 (wgmma), of factors as in tensor.h that
 * the copy engine brings (TMA).
 *
 * A block's last four warps have one thread that asks for slice after slice, of tile after tile, as far ahead as there
 * are stages; all others, in groups of four warps with 64 rows of the tile each, wait for a stage, multiply it, and
 * give it back when the next one's products have begun. So the factors of a tile come while results of the one before
 * are stored.
 *
 * A step's struct has besides what tensor.h says
 *   fetch_a<ROWS>(to, map, m, k, barrier)   has a slice of a brought; the same of b
 *
 * What limits it: the tensor cores, which slow down for want of power, and between tiles the results, while which no
 * group multiplies. */
#ifndef LATHE_FETCHED_H
#define LATHE_FETCHED_H

#include "bulk.h"
#include "tensor.h"

/* ROWS and COLUMNS are what tensor cores call those of a tile; TURNED: they are the tile's columns and rows, and its
 * left factor is b. Tensor cores want numbers along terms in shared memory; of a left factor that lies across terms
 * each thread gives them what it has read from there. */
template <typename C, int ROWS, int COLUMNS, int STAGES, bool TURNED> struct lathe_fetched_sums {
  using element = typename C::element;
  static constexpr int GROUPS = ROWS / 64, THREADS = GROUPS * 128; /* that multiply */
  static constexpr bool LEFT_ALONG_K = TURNED ? C::B_ALONG_K : C::A_ALONG_K,
                        RIGHT_ALONG_K = TURNED ? C::A_ALONG_K : C::B_ALONG_K;
  static constexpr bool BY_THREADS = sizeof(element) == 4 && !LEFT_ALONG_K;
  using left = lathe_slice<element, ROWS, LEFT_ALONG_K, THREADS>;
  using right = lathe_slice<element, COLUMNS, RIGHT_ALONG_K, 128>;
  static constexpr int BK = left::TERMS, STEP = BK / 4; /* terms of an mma */
  static constexpr int STAGE = left::CHUNKS + right::CHUNKS;
  /* A warp's results in shared memory: some columns at once, as lines along n. Of 64 columns, of which memory takes
   * whole lines, there are half of the warp's rows at once. */
  static constexpr int HALVES = !TURNED && COLUMNS % 64 == 0 ? 2 : 1;
  static constexpr int MOST = HALVES * 32, AT_ONCE = COLUMNS < MOST ? COLUMNS : MOST,
                       LINE = TURNED ? 16 : AT_ONCE, LINES = 16 / HALVES * AT_ONCE / LINE,
                       PADDED = LINE + (TURNED ? 4 : 8);
  static_assert(ROWS % 64 == 0 && COLUMNS % AT_ONCE == 0, "groups have 64 rows each");

  /* When stages are there, and when nobody needs them any more. */
  struct ring {
    unsigned long long full[STAGES], empty[STAGES];

    __device__ __forceinline__ void open() {
      if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
          lathe_open(full + stage, 1);
          lathe_open(empty + stage, THREADS / 32);
        }
        lathe_show_barriers();
      }
      __syncthreads();
    }
  };

  /* The stage whose turn it is, and how often the ring was gone round, odd or even. */
  struct turn {
    int stage = 0;
    unsigned parity = 0;

    __device__ __forceinline__ void next() {
      if (++stage == STAGES) {
        stage = 0;
        parity ^= 1;
      }
    }
  };

  /* Of the threads that multiply each has more registers than those that fetch. A single group's have enough:
   * but from here on the compiler knows that warps are whole, and finds addresses once for each. */
  static __device__ __forceinline__ void begin_fetching() {
    lathe_leave_registers<40>();
  }
  static __device__ __forceinline__ void begin_multiplying() {
    lathe_take_registers<GROUPS == 1 ? 208 : GROUPS == 2 ? 232 : 112>();
  }

  /* Has the slices of the terms from `from` to `to` brought. */
  static __device__ __forceinline__ void fetch(const C &c, uint4 *room, ring &r, turn &t,
                                               const lathe_map &map_a, const lathe_map &map_b,
                                               size_t m, size_t n, size_t from, size_t to) {
    for (size_t k = from; k < to; k += BK) {
      uint4 *const at = room + t.stage * STAGE;
      lathe_await_phase(r.empty + t.stage, t.parity ^ 1);
      lathe_arrive_before(r.full + t.stage, STAGE * 16);
      c.template fetch_a<TURNED ? COLUMNS : ROWS>(TURNED ? at + left::CHUNKS : at, map_a, (int)m,
                                                  (int)k, r.full + t.stage);
      c.template fetch_b<TURNED ? ROWS : COLUMNS>(TURNED ? at : at + left::CHUNKS, map_b, (int)n,
                                                  (int)k, r.full + t.stage);
      t.next();
    }
  }

  float sums[COLUMNS / 8][4];

  __device__ __forceinline__ lathe_fetched_sums() {
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
      for (int nth = 0; nth < 4; nth++)
        sums[j][nth] = 0;
  }

  /* Of a stage before the first there is nothing to give back. */
  static __device__ __forceinline__ void give_back(ring &r, int stage) {
    if (stage >= 0 && threadIdx.x % 32 == 0)
      lathe_arrive(r.empty + stage);
  }

  static __device__ __forceinline__ const uint4 *await(const uint4 *room, ring &r, const turn &t) {
    lathe_await_phase(r.full + t.stage, t.parity);
    return room + t.stage * STAGE;
  }

  /* The row that a warp's nth of 16 is. Of a left factor that threads read two warps share 32 rows, so that what four
   * terms have of eight rows lies in different banks. */
  static __device__ __forceinline__ int row_of(int warp, int nth) {
    return BY_THREADS ? warp / 2 * 32 + nth / 8 * 16 + warp % 2 * 8 + nth % 8 : warp * 16 + nth;
  }
  /* Which of them the first or second of a thread's rows is; below: by four threads each. */
  static __device__ __forceinline__ int nth_of(int half, int below = (int)threadIdx.x % 32 / 4) {
    return BY_THREADS ? below / 4 * 8 + half * 4 + below % 4 : half * 8 + below;
  }

  /* Adds what is multiplied ahead, and one stage more: a thread's share of its left factor is read meanwhile. Two
   * shares are needed in turn. before: the stage that is multiplied, or -1. */
  __device__ __forceinline__ void add_by_threads(unsigned (&a)[4][4], const uint4 *room, ring &r,
                                                 turn &t, int &before) {
    const uint4 *const stage = await(room, r, t);
    const int warp = (int)threadIdx.x / 32, term = (int)threadIdx.x % 4;
#pragma unroll
    for (int nth = 0; nth < 16; nth++) {
      const int row = row_of(warp, nth_of(nth % 2));
      const uint4 *const chunk = stage + left::place_of(row, nth / 2 * 4 + term);
      a[nth / 4][nth % 4] = reinterpret_cast<const unsigned *>(chunk)[row % 4];
    }
    lathe_await_mma<0>(sums);
    give_back(r, before);
    lathe_begin_mma();
#pragma unroll
    for (int nth = 0; nth < 4; nth++)
      lathe_group_mma_numbers<COLUMNS>(sums, a[nth], stage + left::CHUNKS,
                                       right::line_of(0, nth * STEP));
    lathe_end_mma();
    before = t.stage;
    t.next();
  }

  /* Adds a stage while what was multiplied before it goes on. rows: the first of the group's. */
  __device__ __forceinline__ void add_stage(const uint4 *room, ring &r, turn &t, int &before,
                                            int rows) {
    const uint4 *const stage = await(room, r, t);
    lathe_begin_mma();
#pragma unroll
    for (int term = 0; term < BK; term += STEP)
      lathe_group_mma<COLUMNS, LEFT_ALONG_K, RIGHT_ALONG_K>(
          (const element *)nullptr, sums, stage, left::line_of(rows, term), stage + left::CHUNKS,
          right::line_of(0, term));
    lathe_end_mma();
    lathe_await_mma<1>(sums);
    give_back(r, before);
    before = t.stage;
    t.next();
  }

  /* Adds the terms from `from` to `to`. */
  __device__ __forceinline__ void add(uint4 *room, ring &r, turn &t, size_t from, size_t to) {
    int before = -1;
    if constexpr (BY_THREADS) {
      unsigned one[4][4], other[4][4];
      const size_t stages = lathe_times(to - from, BK);
      for (size_t two = 0; two < stages / 2;
           two++) { /* without a branch that products go on across */
        add_by_threads(one, room, r, t, before);
        add_by_threads(other, room, r, t, before);
      }
      if (stages % 2 == 1)
        add_by_threads(one, room, r, t, before);
    } else {
      const int rows = lathe_rows_of_group();
      for (size_t k = from; k < to; k += BK)
        add_stage(room, r, t, before, rows);
    }
    lathe_await_mma<0>(sums);
    give_back(r, before);
  }

  __device__ __forceinline__ bool gather(const lathe_work &work, unsigned *arrived, float *left) {
    return lathe_gather<ROWS * COLUMNS, THREADS, true>(work, &sums[0][0], arrived, left);
  }

  /* A warp's 16 rows of results, some columns at a time, through shared memory of its own past the stages. Those of
   * whole tiles are computed without a branch, so that what one waits for others fill. */
  __device__ __forceinline__ void finish(const C &c, uint4 *room, size_t m, size_t n) const {
    const int warp = (int)threadIdx.x / 32;
    float *const lines = reinterpret_cast<float *>(room + STAGES * STAGE) + warp * LINES * PADDED;
    const bool whole = m + (TURNED ? COLUMNS : ROWS) <= c.m_count &&
                       n + (TURNED ? ROWS : COLUMNS) <= c.n_count &&
                       (TURNED ? c.whole_values : c.wide_values);
#pragma unroll
    for (int first = 0; first < COLUMNS; first += AT_ONCE)
#pragma unroll
      for (int pass = 0; pass < HALVES; pass++) {
        leave(lines, first, pass);
        __syncwarp();
        if (whole)
          finish_whole<TURNED ? 4 : C::WHOLE_COUNT>(c, lines, m, n, first, pass);
        else
          finish_some(c, lines, m, n, first, pass);
        __syncwarp();
      }
  }

  /* Sums as they lie in shared memory: of both of a thread's rows, or of that whose pass it is. */
  __device__ __forceinline__ void leave(float *lines, int first, int pass) const {
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < AT_ONCE / 8; j++)
#pragma unroll
      for (int half = pass; half < (HALVES > 1 ? pass + 1 : 2); half++) {
        const float(&two)[4] = sums[first / 8 + j];
        const int row = HALVES > 1 ? lane / 4 : nth_of(half), column = j * 8 + lane % 4 * 2;
        if (TURNED) {
          lines[column * PADDED + row] = two[half * 2];
          lines[(column + 1) * PADDED + row] = two[half * 2 + 1];
        } else {
          lathe_pack<float, 2> pack;
          pack.at[0] = two[half * 2];
          pack.at[1] = two[half * 2 + 1];
          lathe_store(lines + row * PADDED + lathe_column(column), pack);
        }
      }
  }

  /* Calls f(y, x) with the place in the matrix of what is in a line from some place on. */
  template <typename F>
  static __device__ __forceinline__ void at_place(size_t m, size_t n, int first, int pass, int line,
                                                  int place, F f) {
    const int nth = TURNED ? place : HALVES > 1 ? nth_of(pass, line) : line;
    const size_t row = row_of((int)threadIdx.x / 32, nth);
    f(m + (TURNED ? first + line : row), n + (TURNED ? row : first + place));
  }

  /* All that is in the lines, by N values. */
  template <int N>
  static __device__ __forceinline__ void finish_whole(const C &c, const float *lines, size_t m,
                                                      size_t n, int first, int pass) {
    constexpr int ACROSS = LINE / N, PACKS = LINES * ACROSS / 32;
    const int lane = (int)threadIdx.x % 32;
    float all[PACKS][N];
#pragma unroll
    for (int nth = 0; nth < PACKS; nth++) {
      const int at = nth * 32 + lane;
      lathe_take_columns(all[nth], lines + at / ACROSS * PADDED, at % ACROSS * N);
    }
#pragma unroll
    for (int nth = 0; nth < PACKS; nth++) {
      const int at = nth * 32 + lane;
      at_place(m, n, first, pass, at / ACROSS, at % ACROSS * N,
               [&](size_t y, size_t x) { c.finish_whole(y, x, all[nth], N); });
    }
  }

  /* What there is of them. */
  static __device__ __forceinline__ void finish_some(const C &c, const float *lines, size_t m,
                                                     size_t n, int first, int pass) {
    constexpr int ACROSS = LINE / 4;
#pragma unroll 1
    for (int at = (int)threadIdx.x % 32; at < LINES * ACROSS; at += 32) {
      float some[4];
      lathe_take_columns(some, lines + at / ACROSS * PADDED, at % ACROSS * 4);
      at_place(m, n, first, pass, at / ACROSS, at % ACROSS * 4, [&](size_t y, size_t x) {
        if (y < c.m_count && x < c.n_count)
          c.finish(y, x, some, (long long)(c.n_count - x));
      });
    }
  }
};

#endif
