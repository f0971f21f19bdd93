/* stream.h - two products and what is between them, by plain arithmetic: of any types and strides. The columns of the
 * first product are the terms of the second. They come KEYS at a time, so that nothing of their number is in memory.
 *
 * A block has BM rows, of both products, and COLUMNS of the second's columns. The sums of a tile of the first product are
 * in registers (tiles.h); what follows of them at each point goes to shared memory, a line for each key. There a few
 * threads of each row find its largest power so far, and make what was gathered smaller where that has grown; what they
 * leave in place of the powers is the left factor of the second product.
 *
 * Steps' structs are as in tiles.h. The first has finish_layer, which gives what is at points; the second's left factor
 * is what is in shared memory. What is gathered
 * is said by a struct Rows: stream_rows.h. */
#ifndef LATHE_STREAM_H
#define LATHE_STREAM_H

#include "stream_rows.h"
#include "tiles.h"

template <typename First, typename Second, typename Rows, int BM, int KEYS, int COLUMNS, int BK,
          int TM, int TN_FIRST, int TN>
struct lathe_stream {
  using number = typename First::number;
  using first_sums = lathe_sums<First, BM, KEYS, BK, TM, TN_FIRST>;
  using second_sums = lathe_sums<Second, BM, COLUMNS, BK, TM, TN>;
  static constexpr int THREADS = first_sums::THREADS, AT_ONCE = first_sums::AT_ONCE;
  static constexpr int LINE = BM + AT_ONCE, LANES = THREADS / BM,
                       NUMBERS = Rows::RESULTS > 0 ? Rows::RESULTS : 1;
  static constexpr int GATHERED = Rows::SUMS + (Rows::PEAK ? 1 : 0);
  static_assert(THREADS == second_sums::THREADS, "both products have as many threads");
  static_assert(LANES * BM == THREADS, "rows have as many threads");

  union slices {
    typename first_sums::slices first;
    typename second_sums::slices second;
  };
  struct rooms {
    slices s;
    alignas(16) number at[NUMBERS][KEYS][LINE]; /* of each point */
    alignas(16) number between[KEYS][LINE];
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

  /* What follows of the tile's sums, at each point. */
  static __device__ __forceinline__ void leave(const First &c, const first_sums &tile, rooms &r,
                                               size_t m, size_t n) {
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int group = 0; group < TN_FIRST / AT_ONCE; group++) {
        const int row = first_sums::at_m(i / AT_ONCE) + i % AT_ONCE, key = first_sums::at_n(group);
        number some[AT_ONCE], to[NUMBERS][AT_ONCE] = {};
#pragma unroll
        for (int nth = 0; nth < AT_ONCE; nth++)
          some[nth] = tile.sums[i][group * AT_ONCE + nth];
        if (m + row < c.m_count && n + key < c.n_count)
          Rows::results(c, m + row, n + key, some, (long long)(c.n_count - n - key), to);
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

  /* Gathers the tile's keys, and leaves the second product's factor. */
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
      r.between[key][row()] = Rows::factor(power, of);
    }
    __syncthreads();
  }

  /* Each row's sums, of all its threads, over so many keys. */
  __device__ __forceinline__ void merge(rooms &r, size_t keys) {
    const number lost = lathe_lost<Rows>(peak, keys);
    number *const to = r.gathered + row() * GATHERED;
    if (Rows::PEAK && lane() == 0)
      to[0] = peak;
    Rows::scale(sums, lost);
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
    if (lane() == 0)
      r.shrink[row()] = lost;
    __syncthreads();
  }

  static __device__ __forceinline__ void shrink(second_sums &sums, const rooms &r) {
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const number by = r.shrink[second_sums::at_m(i / AT_ONCE) + i % AT_ONCE];
#pragma unroll
      for (int j = 0; j < TN; j++)
        sums.sums[i][j] *= by;
    }
  }

  static __device__ __forceinline__ void run(const First &a, Second &b, uint4 *room, size_t m,
                                             size_t n) {
    rooms &r = *reinterpret_cast<rooms *>(room);
    lathe_stream rows;
    second_sums sums;
    rows.peak = -INFINITY;
#pragma unroll
    for (int of = 0; of < Rows::SUMS; of++)
      rows.sums[of] = 0;
    b.between = &r.between[0][0];
    b.gathered = r.gathered;
    b.line = LINE;
    b.first_m = m;
    const typename Rows::rows_at at(a, m, BM);
    auto next = [&](size_t key) { return lathe_next_tile<Rows, KEYS>(at, a, key); };
    for (size_t key = next(0); key < a.n_count; key = next(key + KEYS)) {
      const int keys = a.n_count - key < KEYS ? (int)(a.n_count - key) : KEYS;
      first_sums tile;
      tile.add(a, r.s.first, m, key, 0, a.k_count);
      leave(a, tile, r, m, key);
      rows.gather(r, keys);
      if (Rows::PEAK && Rows::POWERED)
        shrink(sums, r);
      b.first_k = key;
      sums.add(b, r.s.second, m, n, key, key + keys);
    }
    rows.merge(r, a.n_count);
    if (n == 0 && lane() == 0 && m + row() < b.m_count)
      Rows::finish_rows(b, m + row());
    if (Rows::PEAK && Rows::POWERED)
      shrink(sums, r);
    sums.finish(b, r.s.second, m, n);
  }
};

#endif
