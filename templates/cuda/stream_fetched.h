/* stream_fetched.h - the same as stream_tensor.h by the tensor cores of compute capability 9.0 (wgmma), of factors that
 * the copy engine brings (TMA): a block of GROUPS * 64 rows, of up to DEPTH terms.
 *
 * One warp asks for what is next of keys and values, and tells the others which keys masks leave. Each group of four
 * warps takes 64 rows through all keys. Two groups gather in turn, so that one multiplies meanwhile. To begin a tile's
 * products of keys while those of the last one's values go on was tried: it was no faster. 4 x 16 heads of 2048 x 128
 * in f16 take 0.28 ms on an H200. Of that beginning and ending a block are a sixth. */
#ifndef LATHE_STREAM_FETCHED_H
#define LATHE_STREAM_FETCHED_H

#include "bulk.h"
#include "stream_tensor.h"

template <typename Firsts, typename Lasts, typename Rows, int GROUPS, int DEPTH, int COLUMNS,
          int KEYS>
struct lathe_fetched_stream {
  using firsts = Firsts;
  using lasts = Lasts;
  template <int N> using first = typename lathe_type_at<N, firsts>::type;
  template <int N> using last = typename lathe_type_at<N, lasts>::type;
  static constexpr int FIRSTS = Rows::FIRSTS, LASTS = Rows::LASTS, ALL = FIRSTS + LASTS;
  using inner = first<FIRSTS - 1>;
  using element = typename inner::element;
  static constexpr int BM = GROUPS * 64, THREADS = GROUPS * 128, TERMS = 64,
                       STEP = 16; /* terms of an mma */
  static constexpr int SLICES = DEPTH / TERMS, PARTS = KEYS / TERMS, TURNS = 2;
  using rows_of = lathe_tensor_rows<Rows, 1, KEYS / 8, COLUMNS / 8>;
  template <typename S> using rows_slice = lathe_slice<element, BM, S::A_ALONG_K, 128>;
  template <typename S> using keys_slice = lathe_slice<element, KEYS, S::B_ALONG_K, 128>;
  template <typename S> using values_slice = lathe_slice<element, COLUMNS, S::B_ALONG_K, 128>;
  using results = lathe_results_of_warp<COLUMNS>;
  /* Chunks of 16 bytes: of a tile's rows, keys and values. */
  static constexpr int ROWS = SLICES * rows_slice<inner>::CHUNKS,
                       SOME_KEYS = SLICES * keys_slice<inner>::CHUNKS, VALUES = PARTS * COLUMNS * 8;
  static constexpr int KEYS_AT = FIRSTS * ROWS, VALUES_AT = KEYS_AT + TURNS * FIRSTS * SOME_KEYS;
  static constexpr int LINES_AT = VALUES_AT + TURNS * LASTS * VALUES;
  static constexpr int CHUNKS = LINES_AT + GROUPS * 4 * results::ROOM;
  static constexpr int BYTES = CHUNKS * 16 + BM * rows_of::GATHERED * 4;
  static constexpr int LEFT = rows_of::NUMBERS_LEFT * THREADS;

  /* When tiles are there, and when nobody needs them any more: those of each product's keys, then values. Where there
   * are masks, which keys they are is told with the first product's; after the last tile it is where the keys end. */
  struct ring {
    unsigned long long rows, full[ALL][TURNS], empty[ALL][TURNS];
    size_t key[TURNS];
    typename Rows::keys_at asked[TURNS];

    __device__ __forceinline__ void open() {
      if (threadIdx.x == 0) {
        lathe_open(&rows, 1);
        for (int of = 0; of < ALL * TURNS; of++) {
          lathe_open(&full[0][0] + of, 1);
          lathe_open(&empty[0][0] + of, GROUPS * 4);
        }
        lathe_show_barriers();
      }
      __syncthreads();
    }
  };

  static __device__ __forceinline__ uint4 *keys_of(uint4 *room, int nth, int turn) {
    return room + KEYS_AT + (turn * FIRSTS + nth) * SOME_KEYS;
  }
  static __device__ __forceinline__ uint4 *values_of(uint4 *room, int nth, int turn) {
    return room + VALUES_AT + (turn * LASTS + nth) * VALUES;
  }

  /* By a warp, which finds together what tiles there are; its first thread asks for them. maps: of the rows and keys of
   * each of the first products, and of the values of the others. */
  static __device__ __forceinline__ void fetch(const firsts &a, const lasts &b, uint4 *room,
                                               ring &r, const lathe_stream_tile<float> &block,
                                               const lathe_map *const (&maps)[FIRSTS + ALL]) {
    const inner &c = a.template at<FIRSTS - 1>();
    const typename Rows::rows_at at(c, block.m, BM);
    typename Rows::keys_at asked;
    auto next = [&](size_t key) {
      return lathe_next_tile<Rows, KEYS>(at, c, key, block.to, asked);
    };
    const bool asks = threadIdx.x % 32 == 0;
    int turn = 0;
    unsigned parity = 1;
    auto tell = [&](size_t key) {
      if (Rows::MASKED) {
        lathe_await_phase(&r.empty[0][turn], parity);
        r.key[turn] = key;
        r.asked[turn] = asked;
      }
    };
    if (asks)
      fetch_rows(a, room, r, block.m, maps);
    for (size_t key = next(block.from); key < block.to; key = next(key + KEYS)) {
      if (asks) {
        tell(key);
        fetch_tile(a, b, room, r, block.n, key, turn, parity, maps);
      }
      turn ^= 1;
      parity ^= turn == 0;
    }
    if (asks && Rows::MASKED) {
      tell(block.to);
      lathe_arrive(&r.full[0][turn]);
    }
  }

  static __device__ __forceinline__ void fetch_rows(const firsts &a, uint4 *room, ring &r, size_t m,
                                                    const lathe_map *const (&maps)[FIRSTS + ALL]) {
    int chunks = 0;
    lathe_each<FIRSTS>([&](auto nth) {
      chunks +=
          lathe_slices_of<TERMS>(a.template at<decltype(nth)::value>().k_count) * (ROWS / SLICES);
    });
    lathe_arrive_before(&r.rows, chunks * 16);
    lathe_each<FIRSTS>([&](auto nth) {
      constexpr int N = decltype(nth)::value;
      const auto &step = a.template at<N>();
      for (int slice = 0; slice < lathe_slices_of<TERMS>(step.k_count); slice++)
        step.template fetch_a<BM>(room + N * ROWS + slice * (ROWS / SLICES), *maps[2 * N], (int)m,
                                  slice * TERMS, &r.rows);
    });
  }

  /* A tile's keys and values, each where what was there is not needed any more. */
  static __device__ __forceinline__ void fetch_tile(const firsts &a, const lasts &b, uint4 *room,
                                                    ring &r, size_t n, size_t key, int turn,
                                                    unsigned parity,
                                                    const lathe_map *const (&maps)[FIRSTS + ALL]) {
    lathe_each<FIRSTS>([&](auto nth) {
      constexpr int N = decltype(nth)::value;
      const auto &step = a.template at<N>();
      const int slices = lathe_slices_of<TERMS>(step.k_count);
      lathe_await_phase(&r.empty[N][turn], parity);
      lathe_arrive_before(&r.full[N][turn], slices * (SOME_KEYS / SLICES) * 16);
      for (int slice = 0; slice < slices; slice++)
        step.template fetch_b<KEYS>(keys_of(room, N, turn) + slice * (SOME_KEYS / SLICES),
                                    *maps[2 * N + 1], (int)key, slice * TERMS, &r.full[N][turn]);
    });
    lathe_each<LASTS>([&](auto nth) {
      constexpr int N = decltype(nth)::value;
      lathe_await_phase(&r.empty[FIRSTS + N][turn], parity);
      lathe_arrive_before(&r.full[FIRSTS + N][turn], VALUES * 16);
      for (int part = 0; part < PARTS; part++)
        b.template at<N>().template fetch_b<COLUMNS>(
            values_of(room, N, turn) + part * (VALUES / PARTS), *maps[2 * FIRSTS + N], (int)n,
            (int)key + part * TERMS, &r.full[FIRSTS + N][turn]);
    });
  }

  static __device__ __forceinline__ void compute(firsts &a, lasts &b, uint4 *room, ring &r,
                                                 const lathe_stream_tile<float> &block) {
    const size_t m = block.m, n = block.n;
    inner &c = a.template at<FIRSTS - 1>();
    const int warp = (int)threadIdx.x / 32, group = lathe_rows_of_group(), from = warp * 16;
    float *const gathered = reinterpret_cast<float *>(room + CHUNKS);
    const typename Rows::rows_at own(c, m + from < c.m_count ? m + from : m, 16);
    rows_of rows;
    typename rows_of::columns products = {};
    auto give_back = [&](unsigned long long *barrier) {
      if (threadIdx.x % 32 == 0)
        lathe_arrive(barrier);
    };
    lathe_await_phase(&r.rows, 0);
    if (GROUPS == 2 && warp / 4 == 1)
      lathe_give_turn<THREADS>(0);
    int turn = 0;
    unsigned parity = 0;
    for (size_t key = block.from;; key += KEYS) {
      typename Rows::keys_at asked;
      if (Rows::MASKED) {
        lathe_await_phase(&r.full[0][turn], parity);
        key = r.key[turn];
        asked = r.asked[turn];
      }
      if (key >= block.to)
        break;
      typename rows_of::keys tile = {};
      lathe_each<FIRSTS>([&](auto nth) { lathe_settle(tile[decltype(nth)::value][0]); });
      lathe_each<FIRSTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        using S = first<N>;
        const uint4 *const keys = keys_of(room, N, turn);
        lathe_await_phase(&r.full[N][turn], parity);
        for (int slice = 0; slice < lathe_slices_of<TERMS>(a.template at<N>().k_count); slice++) {
          lathe_begin_mma();
#pragma unroll
          for (int term = 0; term < TERMS; term += STEP)
            lathe_group_mma<KEYS, S::A_ALONG_K, S::B_ALONG_K>(
                (const element *)nullptr, tile[N][0],
                room + N * ROWS + slice * rows_slice<S>::CHUNKS,
                rows_slice<S>::line_of(group, term), keys + slice * keys_slice<S>::CHUNKS,
                keys_slice<S>::line_of(0, term));
          lathe_end_mma();
        }
      });
      lathe_each<FIRSTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        lathe_await_mma<0>(tile[N][0]);
        give_back(&r.empty[N][turn]);
      });
      if (GROUPS == 2)
        lathe_await_turn<THREADS>(warp / 4);
      typename rows_of::shares by;
      rows.take(c, own, asked, tile, by, m + from, key);
      if (GROUPS == 2)
        lathe_give_turn<THREADS>(1 - warp / 4);
      rows_of::shrink(products, by);
      lathe_each<LASTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        using S = last<N>;
        const uint4 *const values = values_of(room, N, turn);
        unsigned parts[KEYS / STEP][4];
#pragma unroll
        for (int term = 0; term < KEYS; term += STEP)
          rows_of::template factor<element>(parts[term / STEP], tile[N], 0, term);
        lathe_await_phase(&r.full[FIRSTS + N][turn], parity);
        lathe_settle(products[N][0]);
        lathe_begin_mma();
#pragma unroll
        for (int term = 0; term < KEYS; term += STEP)
          lathe_group_mma_of_threads<COLUMNS, S::B_ALONG_K>(
              (const element *)nullptr, products[N][0], parts[term / STEP], values,
              term / TERMS * values_slice<S>::CHUNKS + values_slice<S>::line_of(0, term % TERMS));
        lathe_end_mma();
        lathe_await_mma<0>(products[N][0]);
        give_back(&r.empty[FIRSTS + N][turn]);
      });
      turn ^= 1;
      parity ^= turn == 0;
    }
    const int there = (int)lathe_least<size_t>(c.m_count - lathe_least(m + from, c.m_count), 16);
    if (block.work.parts > 1 && !rows.template join_all<THREADS, true>(products, block, there))
      return;
    rows.merge(gathered + from * rows_of::GATHERED);
    lathe_show_gathered<FIRSTS, LASTS>(a, b, gathered, m);
    rows_of::finish(c, b, products, room + LINES_AT + warp * results::ROOM, m + from, n);
  }

  static __device__ __forceinline__ void run(firsts &a, lasts &b, uint4 *room, ring &r,
                                             const lathe_stream_tile<float> &block,
                                             const lathe_map *const (&maps)[FIRSTS + ALL]) {
    r.open();
    if (threadIdx.x >= THREADS) {
      lathe_leave_registers<24>();
      if (threadIdx.x < THREADS + 32)
        fetch(a, b, room, r, block, maps);
    } else {
      lathe_take_registers<240>();
      compute(a, b, room, r, block);
    }
  }
};

#endif
