/* stream.h - a pass of a stream by plain arithmetic: of any types and strides. The results of its first products at
 * rows and columns, called keys, are the terms of others. The keys come KEYS at a time, so that nothing of their number
 * is in memory.
 *
 * A block has BM rows, and COLUMNS of the columns of the products of keys. The sums of a tile of the first products are
 * in registers (tiles.h); what follows of them at each point goes to shared memory, a line for each key. There a few
 * threads of each row find its largest power so far, and make what was gathered smaller where that has grown; what they
 * leave in place of the powers are the left factors of the products of keys.
 *
 * Steps' structs are as in tiles.h. The inner one has finish_layer, which gives what is at points; the left factors of
 * those of keys are what is in shared memory. What is gathered is said by a struct Rows: stream_rows.h. */
#ifndef LATHE_STREAM_H
#define LATHE_STREAM_H

#include "stream_rows.h"
#include "tiles.h"

template <typename Firsts, typename Lasts, typename Rows, int BM, int KEYS, int COLUMNS, int BK,
          int TM, int TN_FIRST, int TN>
struct lathe_stream;

template <typename... First, typename... Last, typename Rows, int BM, int KEYS, int COLUMNS, int BK,
          int TM, int TN_FIRST, int TN>
struct lathe_stream<lathe_list<First...>, lathe_list<Last...>, Rows, BM, KEYS, COLUMNS, BK, TM,
                    TN_FIRST, TN> {
  using number = typename Rows::number;
  using firsts = lathe_list<First...>;
  using lasts = lathe_list<Last...>;
  template <typename Step> using first_sums = lathe_sums<Step, BM, KEYS, BK, TM, TN_FIRST>;
  template <typename Step> using last_sums = lathe_sums<Step, BM, COLUMNS, BK, TM, TN>;
  static constexpr int FIRSTS = Rows::FIRSTS, LASTS = Rows::LASTS;
  using inner = typename lathe_type_at<FIRSTS - 1, firsts>::type;
  using inner_sums = first_sums<inner>;
  static constexpr int THREADS = inner_sums::THREADS, AT_ONCE = inner_sums::AT_ONCE;
  static constexpr int LINE = BM + AT_ONCE, LANES = THREADS / BM,
                       NUMBERS = Rows::RESULTS > 0 ? Rows::RESULTS : 1;
  static constexpr int GATHERED = Rows::SUMS + (Rows::PEAK ? 1 : 0);
  static constexpr int SLICES = lathe_most_of((int)sizeof(typename first_sums<First>::slices)...,
                                              (int)sizeof(typename last_sums<Last>::slices)...);
  static_assert(LANES * BM == THREADS, "rows have as many threads");

  struct rooms {
    alignas(16) char slices[SLICES];
    alignas(16) number at[NUMBERS][KEYS][LINE]; /* of each point */
    alignas(16) number between[LASTS > 0 ? LASTS : 1][KEYS][LINE];
    number part[LANES][BM]; /* of each row what its threads have */
    number shrink[BM], gathered[BM * (GATHERED > 0 ? GATHERED : 1)];
  };

  static constexpr int BYTES = sizeof(rooms);

  /* Sums over rows, each thread's of its share of keys. */
  number peak, sums[Rows::SUMS > 0 ? Rows::SUMS : 1];

  static __device__ __forceinline__ int row() {
    return (int)threadIdx.x % BM;
  }
  static __device__ __forceinline__ int lane() {
    return (int)threadIdx.x / BM;
  }

  template <typename Sums>
  static __device__ __forceinline__ typename Sums::slices &slices_of(const Sums &, rooms &r) {
    return *reinterpret_cast<typename Sums::slices *>(r.slices);
  }

  /* What follows of the tiles' sums, at each point. */
  static __device__ __forceinline__ void leave(const inner &c,
                                               const lathe_list<first_sums<First>...> &tiles,
                                               rooms &r, size_t m, size_t n) {
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int group = 0; group < TN_FIRST / AT_ONCE; group++) {
        const int row = inner_sums::at_m(i / AT_ONCE) + i % AT_ONCE, key = inner_sums::at_n(group);
        const long long there = (long long)(c.n_count - n - key);
        number some[FIRSTS][AT_ONCE], to[NUMBERS][AT_ONCE] = {};
        lathe_each<FIRSTS>([&](auto first) {
          constexpr int FIRST = decltype(first)::value;
#pragma unroll
          for (int nth = 0; nth < AT_ONCE; nth++)
            some[FIRST][nth] = tiles.template at<FIRST>().sums[i][group * AT_ONCE + nth];
        });
        if (m + row < c.m_count && n + key < c.n_count)
          Rows::results(c, c.find_row(m + row), c.template find_keys<AT_ONCE>(n + key, there),
                        m + row, n + key, some, there, to);
#pragma unroll
        for (int of = 0; of < Rows::RESULTS; of++)
#pragma unroll
          for (int nth = 0; nth < AT_ONCE; nth++)
            r.at[of][key + nth][row] = to[of][nth];
      }
    __syncthreads();
  }

  /* The larger of what the threads of a row have. */
  __device__ __forceinline__ number largest(rooms &r, number mine) const {
    r.part[lane()][row()] = mine;
    __syncthreads();
#pragma unroll
    for (int other = 0; other < LANES; other++)
      mine = lathe_peak_of(mine, r.part[other][row()]);
    return mine;
  }

  /* Gathers the tile's keys, and leaves the factors of products of keys. */
  __device__ __forceinline__ void gather(rooms &r, int keys) {
    if (Rows::PEAK) {
      number mine = peak;
      for (int key = lane(); key < keys; key += LANES)
        mine = lathe_peak_of(mine, r.at[0][key][row()]);
      mine = largest(r, mine);
      const number by = lathe_shrink<Rows>(peak, mine);
      Rows::scale(sums, by);
      peak = mine;
      if (lane() == 0)
        r.shrink[row()] = by;
    }
    const number below = lathe_peak_below(peak);
    for (int key = lane(); key < keys; key += LANES) {
      number of[NUMBERS];
#pragma unroll
      for (int nth = 0; nth < Rows::RESULTS; nth++)
        of[nth] = r.at[nth][key][row()];
      const number power = Rows::PEAK ? Rows::power(of[0], below) : number(1);
      Rows::take(sums, power, of);
      lathe_each<LASTS>([&](auto last) {
        constexpr int LAST = decltype(last)::value;
        r.between[LAST][key][row()] = Rows::template factor<LAST>(power, of);
      });
    }
    __syncthreads();
  }

  /* Numbers of a thread that parts of the keys leave for the last one: its peak, its sums, and those of products. */
  static constexpr int NUMBERS_LEFT = 1 + Rows::SUMS + LASTS * TM * TN;
  static constexpr int LEFT = NUMBERS_LEFT * THREADS;
  using left = lathe_left<NUMBERS_LEFT, THREADS, false, number>;

  __device__ __forceinline__ void leave(const lathe_list<last_sums<Last>...> &products,
                                        const left &to) const {
    to.leave(0, peak);
#pragma unroll
    for (int of = 0; of < Rows::SUMS; of++)
      to.leave(1 + of, sums[of]);
    lathe_each<LASTS>([&](auto last) {
      constexpr int LAST = decltype(last)::value;
#pragma unroll
      for (int nth = 0; nth < TM * TN; nth++)
        to.leave(1 + Rows::SUMS + LAST * TM * TN + nth,
                 products.template at<LAST>().sums[nth / TN][nth % TN]);
    });
  }

  /* Adds what a part has left. */
  __device__ __forceinline__ void join(lathe_list<last_sums<Last>...> &products, rooms &r,
                                       const left &from, size_t part) {
    const number other = from.take(part, 0), both = lathe_peak_of(peak, other);
    const number by = Rows::PEAK ? lathe_shrink<Rows>(other, both) : number(1);
    if (Rows::PEAK) {
      const number mine = lathe_shrink<Rows>(peak, both);
      Rows::scale(sums, mine);
      peak = both;
      if (lane() == 0) {
        r.shrink[row()] = mine;
        r.part[0][row()] = by;
      }
      __syncthreads();
      shrink(products, r);
    }
    number terms[Rows::SUMS > 0 ? Rows::SUMS : 1];
#pragma unroll
    for (int of = 0; of < Rows::SUMS; of++)
      terms[of] = from.take(part, 1 + of);
    Rows::scale(terms, by);
#pragma unroll
    for (int of = 0; of < Rows::SUMS; of++)
      sums[of] += terms[of];
    lathe_each<LASTS>([&](auto last) {
      constexpr int LAST = decltype(last)::value;
      auto &to = products.template at<LAST>();
#pragma unroll
      for (int nth = 0; nth < TM * TN; nth++) {
        const number term = from.take(part, 1 + Rows::SUMS + LAST * TM * TN + nth);
        const int i = nth / TN, row = to.at_m(i / AT_ONCE) + i % AT_ONCE;
        to.sums[i][nth % TN] += Rows::powered(LAST) ? term * r.part[0][row] : term;
      }
    });
    __syncthreads();
  }

  /* Where blocks share the keys: whether this one is the last, which has all that was gathered. */
  __device__ __forceinline__ bool join_all(lathe_list<last_sums<Last>...> &products, rooms &r,
                                           const lathe_stream_tile<number> &tile) {
    const left all = {tile.work, tile.arrived, tile.left};
    leave(products, all);
    if (!all.is_last())
      return false;
    begin();
    lathe_each<LASTS>([&](auto last) { products.template at<decltype(last)::value>() = {}; });
    for (size_t part = 0; part < tile.work.parts; part++)
      join(products, r, all, part);
    return true;
  }

  /* Each row's sums, of all its threads. */
  __device__ __forceinline__ void merge(rooms &r) {
    number *const to = r.gathered + row() * GATHERED;
    if (Rows::PEAK && lane() == 0)
      to[0] = peak;
#pragma unroll
    for (int of = 0; of < Rows::SUMS; of++) {
      __syncthreads();
      r.part[lane()][row()] = sums[of];
      __syncthreads();
      number all = 0;
#pragma unroll
      for (int other = 0; other < LANES; other++)
        all += r.part[other][row()];
      if (lane() == 0)
        to[GATHERED - Rows::SUMS + of] = all;
    }
    __syncthreads();
  }

  /* Makes the sums of keys that are below a peak smaller. */
  static __device__ __forceinline__ void shrink(lathe_list<last_sums<Last>...> &sums,
                                                const rooms &r) {
    lathe_each<LASTS>([&](auto last) {
      constexpr int LAST = decltype(last)::value;
      if constexpr (Rows::powered(LAST)) {
        auto &of = sums.template at<LAST>();
#pragma unroll
        for (int i = 0; i < TM; i++) {
          const number by = r.shrink[of.at_m(i / AT_ONCE) + i % AT_ONCE];
#pragma unroll
          for (int j = 0; j < TN; j++)
            of.sums[i][j] *= by;
        }
      }
    });
  }

  __device__ __forceinline__ void begin() {
    peak = -INFINITY;
#pragma unroll
    for (int of = 0; of < Rows::SUMS; of++)
      sums[of] = 0;
  }

  static __device__ __forceinline__ void run(firsts &a, lasts &b, uint4 *room,
                                             const lathe_stream_tile<number> &block) {
    const size_t m = block.m, n = block.n;
    rooms &r = *reinterpret_cast<rooms *>(room);
    auto &c = a.template at<FIRSTS - 1>();
    lathe_stream rows;
    lathe_list<last_sums<Last>...> sums;
    rows.begin();
    lathe_each<LASTS>([&](auto last) {
      auto &step = b.template at<decltype(last)::value>();
      step.between = &r.between[decltype(last)::value][0][0];
      step.line = LINE;
    });
    lathe_show_gathered<FIRSTS, LASTS>(a, b, r.gathered, m);
    const typename Rows::rows_at at(c, m, BM);
    typename Rows::keys_at asked;
    auto next = [&](size_t key) {
      return lathe_next_tile<Rows, KEYS>(at, c, key, block.to, asked);
    };
    for (size_t key = next(block.from); key < block.to; key = next(key + KEYS)) {
      const int keys = c.n_count - key < KEYS ? (int)(c.n_count - key) : KEYS;
      lathe_list<first_sums<First>...> tiles;
      lathe_each<FIRSTS>([&](auto first) {
        auto &step = a.template at<decltype(first)::value>();
        auto &tile = tiles.template at<decltype(first)::value>();
        tile.add(step, slices_of(tile, r), m, key, 0, step.k_count);
      });
      leave(c, tiles, r, m, key);
      rows.gather(r, keys);
      if (Rows::PEAK)
        shrink(sums, r);
      lathe_each<LASTS>([&](auto last) {
        auto &step = b.template at<decltype(last)::value>();
        auto &of = sums.template at<decltype(last)::value>();
        step.first_k = key;
        of.add(step, slices_of(of, r), m, n, key, key + keys);
      });
    }
    if (block.work.parts > 1 && !rows.join_all(sums, r, block))
      return;
    rows.merge(r);
    if (n == 0 && lane() == 0 && m + row() < c.m_count)
      Rows::finish_rows(c, m + row());
    lathe_each<LASTS>([&](auto last) {
      auto &step = b.template at<decltype(last)::value>();
      auto &of = sums.template at<decltype(last)::value>();
      of.finish(step, slices_of(of, r), m, n);
    });
  }
};

#endif
