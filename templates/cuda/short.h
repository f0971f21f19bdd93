/* short.h - sums of a few terms, as products of thin matrices have them: bound by the results, which are written once.
 * What a tile's rows and columns are multiplied of is in shared memory at once, so that a thread has few instructions
 * beside its results. In words of tiles.h, a thread has TM rows of TN neighbouring columns. */
#ifndef LATHE_SHORT_H
#define LATHE_SHORT_H

#include "tiles.h"

template <typename C, int BM, int BN> struct lathe_short_sums {
  using number = typename C::number;
  static constexpr int TERMS = 16, TM = 8, TN = 16 / sizeof(number), LANES_N = BN / TN,
                       THREADS = BM / TM * LANES_N;

  struct slices {
    alignas(16) number a[TERMS][BM];
    alignas(16) number b[TERMS][BN];
  };
  number sums[TM][TN];

  __device__ __forceinline__ lathe_short_sums() {
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = 0; j < TN; j++)
        sums[i][j] = 0;
  }

  static __device__ __forceinline__ int at_m() {
    return (int)threadIdx.x / LANES_N * TM;
  }
  static __device__ __forceinline__ int at_n() {
    return (int)threadIdx.x % LANES_N * TN;
  }

  __device__ __forceinline__ void add(const C &c, slices &s, size_t m, size_t n, size_t from,
                                      size_t to) {
    for (size_t k = from; k < to; k += TERMS) {
      const int count = to - k < TERMS ? (int)(to - k) : TERMS;
      __syncthreads();
#pragma unroll 4
      for (int at = (int)threadIdx.x; at < count * BM; at += THREADS)
        s.a[at / BM][at % BM] = c.one_a(m + at % BM, k + at / BM);
#pragma unroll 4
      for (int at = (int)threadIdx.x; at < count * BN; at += THREADS)
        s.b[at / BN][at % BN] = c.one_b(n + at % BN, k + at / BN);
      __syncthreads();
#pragma unroll 2
      for (int term = 0; term < count; term++) {
        const auto b = lathe_load<TN>(&s.b[term][at_n()]);
#pragma unroll
        for (int i = 0; i < TM; i += TN) {
          const auto a = lathe_load<TN>(&s.a[term][at_m() + i]);
#pragma unroll
          for (int lane = 0; lane < TN; lane++)
#pragma unroll
            for (int j = 0; j < TN; j++)
              sums[i + lane][j] = lathe_multiply_add(a.at[lane], b.at[j], sums[i + lane][j]);
        }
      }
    }
  }

  __device__ __forceinline__ bool gather(slices &, const lathe_work &, unsigned *, number *) const {
    return true; /* blocks do not share so few terms */
  }

  __device__ __forceinline__ void finish_apart(const C &c, slices &s, size_t m, size_t n) const {
    constexpr int LINE = LANES_N < 32 ? BN : 32 * TN, LINES = 32 * TN / LINE;
    const int first = (int)threadIdx.x / 32 * 32, lane = (int)threadIdx.x % 32;
    number *const lines = reinterpret_cast<number *>(&s) + first * TN;
    static_assert(sizeof(slices) >= THREADS * TN * sizeof(number), "a warp has room for its lines");
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TM; i++) {
      lathe_pack<number, TN> pack;
#pragma unroll
      for (int j = 0; j < TN; j++)
        pack.at[j] = sums[i][j];
      lathe_store(lines + lane * TN, pack);
      lathe_finish_apart<LINE, LINES>(
          c, lines, [&](int line) { return m + (first / LANES_N + line) * TM + i; },
          n + first % LANES_N * TN);
    }
  }

  __device__ __forceinline__ void finish(const C &c, slices &s, size_t m, size_t n) const {
    if constexpr (sizeof(typename C::element) == 4)
      if (lathe_is_apart(c)) {
        finish_apart(c, s, m, n);
        return;
      }
    const size_t row = m + at_m(), column = n + at_n();
#pragma unroll
    for (int i = 0; i < TM; i++)
      if (row + i < c.m_count && column < c.n_count)
        c.finish(row + i, column, sums[i], (long long)(c.n_count - column));
  }
};

#endif
