/* stream_fetched.h - the same as stream_tensor.h by the tensor cores of compute capability 9.0 (wgmma), of factors that the
 * copy engine brings (TMA): a block of GROUPS * 64 rows, of up to DEPTH terms.
 *
 * One thread asks for what is next of keys and values. Each group of four warps takes 64 rows through all keys. Two groups
 * gather in turn, so that one multiplies meanwhile: 4 x 16 heads of 4096 x 128 in bf16 take 1.37 ms on an H100. */
#ifndef LATHE_STREAM_FETCHED_H
#define LATHE_STREAM_FETCHED_H

#include "bulk.h"
#include "stream_tensor.h"

template <typename First, typename Second, typename Rows, int GROUPS, int DEPTH, int COLUMNS,
          int KEYS>
struct lathe_fetched_stream {
  using element = typename First::element;
  static constexpr int BM = GROUPS * 64, THREADS = GROUPS * 128, TERMS = 64,
                       STEP = 16; /* terms of an mma */
  static constexpr int SLICES = DEPTH / TERMS, PARTS = KEYS / TERMS, TURNS = 2;
  using rows_of = lathe_tensor_rows<Rows, 1, KEYS / 8, COLUMNS / 8>;
  using rows_slice = lathe_slice<element, BM, First::A_ALONG_K, 128>;
  using keys_slice = lathe_slice<element, KEYS, First::B_ALONG_K, 128>;
  using values_slice = lathe_slice<element, COLUMNS, Second::B_ALONG_K, 128>;
  using results = lathe_results_of_warp<COLUMNS>;
  static constexpr int KEYS_AT = SLICES * rows_slice::CHUNKS,
                       VALUES_AT = KEYS_AT + TURNS * SLICES * keys_slice::CHUNKS;
  static constexpr int LINES_AT = VALUES_AT + TURNS * PARTS * values_slice::CHUNKS;
  static constexpr int CHUNKS = LINES_AT + GROUPS * 4 * results::ROOM;
  static constexpr int BYTES = CHUNKS * 16 + BM * rows_of::GATHERED * 4;

  /* When tiles are there, and when nobody needs them any more. */
  struct ring {
    unsigned long long rows, full[2][TURNS], empty[2][TURNS]; /* of keys, of values */

    __device__ __forceinline__ void open() {
      if (threadIdx.x == 0) {
        lathe_open(&rows, 1);
        for (int of = 0; of < 2 * TURNS; of++) {
          lathe_open(&full[0][0] + of, 1);
          lathe_open(&empty[0][0] + of, GROUPS * 4);
        }
        lathe_show_barriers();
      }
      __syncthreads();
    }
  };

  static __device__ __forceinline__ void fetch(const First &a, const Second &b, uint4 *room,
                                               ring &r, size_t m, size_t n,
                                               const lathe_map &map_rows, const lathe_map &map_keys,
                                               const lathe_map &map_values) {
    const typename Rows::rows_at at(a, m, BM);
    auto next = [&](size_t key) { return lathe_next_tile<Rows, KEYS>(at, a, key); };
    const int slices = (int)lathe_times(a.k_count, TERMS);
    lathe_arrive_before(&r.rows, slices * rows_slice::CHUNKS * 16);
    for (int slice = 0; slice < slices; slice++)
      a.template fetch_a<BM>(room + slice * rows_slice::CHUNKS, map_rows, (int)m, slice * TERMS,
                             &r.rows);
    int turn = 0;
    unsigned parity = 1;
    for (size_t key = next(0); key < a.n_count; key = next(key + KEYS)) {
      lathe_await_phase(&r.empty[0][turn], parity);
      lathe_arrive_before(&r.full[0][turn], slices * keys_slice::CHUNKS * 16);
      for (int slice = 0; slice < slices; slice++)
        a.template fetch_b<KEYS>(room + KEYS_AT + (turn * SLICES + slice) * keys_slice::CHUNKS,
                                 map_keys, (int)key, slice * TERMS, &r.full[0][turn]);
      lathe_await_phase(&r.empty[1][turn], parity);
      lathe_arrive_before(&r.full[1][turn], PARTS * values_slice::CHUNKS * 16);
      for (int part = 0; part < PARTS; part++)
        b.template fetch_b<COLUMNS>(room + VALUES_AT + (turn * PARTS + part) * values_slice::CHUNKS,
                                    map_values, (int)n, (int)key + part * TERMS, &r.full[1][turn]);
      turn ^= 1;
      parity ^= turn == 0;
    }
  }

  static __device__ __forceinline__ void compute(const First &a, Second &b, uint4 *room, ring &r,
                                                 size_t m, size_t n) {
    const typename Rows::rows_at at(a, m, BM);
    auto next = [&](size_t key) { return lathe_next_tile<Rows, KEYS>(at, a, key); };
    const int slices = (int)lathe_times(a.k_count, TERMS), warp = (int)threadIdx.x / 32;
    const int group = warp / 4 * 64, first = warp * 16;
    float *const gathered = reinterpret_cast<float *>(room + CHUNKS);
    const typename Rows::rows_at own(a, m + first < a.m_count ? m + first : m, 16);
    rows_of rows;
    typename rows_of::columns second = {};
    auto give_back = [&](unsigned long long *barrier) {
      if (threadIdx.x % 32 == 0)
        lathe_arrive(barrier);
    };
    lathe_await_phase(&r.rows, 0);
    if (GROUPS == 2 && warp / 4 == 1)
      lathe_give_turn<THREADS>(0);
    int turn = 0;
    unsigned parity = 0;
    for (size_t key = next(0); key < a.n_count; key = next(key + KEYS)) {
      const uint4 *const keys = room + KEYS_AT + turn * SLICES * keys_slice::CHUNKS;
      const uint4 *const values = room + VALUES_AT + turn * PARTS * values_slice::CHUNKS;
      typename rows_of::keys tile = {};
      lathe_await_phase(&r.full[0][turn], parity);
      lathe_settle(tile[0]);
      for (int slice = 0; slice < slices; slice++) {
        lathe_begin_mma();
#pragma unroll
        for (int term = 0; term < TERMS; term += STEP)
          lathe_group_mma<KEYS, First::A_ALONG_K, First::B_ALONG_K>(
              (const element *)nullptr, tile[0],
              room + slice * rows_slice::CHUNKS + rows_slice::line_of(group, term),
              keys + slice * keys_slice::CHUNKS + keys_slice::line_of(0, term));
        lathe_end_mma();
      }
      lathe_await_mma<0>(tile[0]);
      give_back(&r.empty[0][turn]);
      if (GROUPS == 2)
        lathe_await_turn<THREADS>(warp / 4);
      rows.take(a, own, tile, second, m + first, key, m + BM <= a.m_count);
      if (GROUPS == 2)
        lathe_give_turn<THREADS>(1 - warp / 4);
      unsigned parts[KEYS / STEP][4];
#pragma unroll
      for (int term = 0; term < KEYS; term += STEP)
        rows_of::template factor<element>(parts[term / STEP], tile, 0, term);
      lathe_await_phase(&r.full[1][turn], parity);
      lathe_settle(second[0]);
      lathe_begin_mma();
#pragma unroll
      for (int term = 0; term < KEYS; term += STEP)
        lathe_group_mma_of_threads<COLUMNS, Second::B_ALONG_K>(
            (const element *)nullptr, second[0], parts[term / STEP],
            values + term / TERMS * values_slice::CHUNKS + values_slice::line_of(0, term % TERMS));
      lathe_end_mma();
      lathe_await_mma<0>(second[0]);
      give_back(&r.empty[1][turn]);
      turn ^= 1;
      parity ^= turn == 0;
    }
    rows.merge(second, gathered + first * rows_of::GATHERED, a.n_count);
    b.gathered = gathered;
    b.first_m = m;
    rows_of::finish(b, second, room + LINES_AT + warp * results::ROOM, m + first, n);
  }

  static __device__ __forceinline__ void run(const First &a, Second &b, uint4 *room, ring &r,
                                             size_t m, size_t n, const lathe_map &map_rows,
                                             const lathe_map &map_keys,
                                             const lathe_map &map_values) {
    r.open();
    if (threadIdx.x >= THREADS) {
      lathe_leave_registers<24>();
      if (threadIdx.x == THREADS)
        fetch(a, b, room, r, m, n, map_rows, map_keys, map_values);
    } else {
      lathe_take_registers<240>();
      compute(a, b, room, r, m, n);
    }
  }
};

#endif
