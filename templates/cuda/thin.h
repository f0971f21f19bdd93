/* thin.h - sums of products of a matrix with few rows, or one: bound by the memory that the other factor is read from.
 * In words of tiles.h, a block has up to M rows of a, in slices in shared memory, and BN rows of b, each of which is
 * read once, straight to registers: where b's elements lie side by side along k, a warp has a few rows, and its threads
 * neighbouring terms; elsewhere each thread has neighbouring rows, and each warp every eighth term. Where b has fewer
 * rows than that, warps share rows, or threads of a warp do, and have their parts of the terms.
 *
 * A result with few columns is the same of the factors in turn. */
#ifndef LATHE_THIN_H
#define LATHE_THIN_H

#include "tiles.h"

template <typename C, int M> struct lathe_thin_sums {
  using number = typename C::number;
  static constexpr int AT_ONCE = 16 / sizeof(number);
  static constexpr int THREADS = 256, WARPS = THREADS / 32, V = C::VB;
  static constexpr int BN = C::B_ALONG_K ? WARPS * AT_ONCE : 32 * V;
  static constexpr int BK = 4096 / sizeof(number);
  static constexpr int READS = M == 1 ? 8 : 4; /* that a thread has in flight */
  static constexpr int GROUPS = V < AT_ONCE ? 1 : V / AT_ONCE;

  union slices {
    alignas(16) number a[M * BK];
    number sums[WARPS][32 * V];
  };
  int across; /* warps that have rows of their own, or threads of a warp: a power of two */
  /* Of results (row, at_n() ... at_n() + AT_ONCE - 1) where the thread has some. */
  number sums[M][AT_ONCE];
  number partial[M][C::B_ALONG_K ? AT_ONCE : V];

  __device__ __forceinline__ lathe_thin_sums() : across(1) {
#pragma unroll
    for (int row = 0; row < M; row++)
#pragma unroll
      for (int nth = 0; nth < (C::B_ALONG_K ? AT_ONCE : V); nth++)
        partial[row][nth] = 0;
  }

  static __device__ __forceinline__ int warp() {
    return (int)threadIdx.x / 32;
  }
  static __device__ __forceinline__ int lane() {
    return (int)threadIdx.x % 32;
  }

  /* Where a's slice has an element. Along k threads read V neighbouring ones by accesses of 16 bytes, which lie a plane
   * of the slice apart, so that neighbouring threads' are in different banks. */
  static __device__ __forceinline__ int place(int row, int term) {
    if (!C::B_ALONG_K)
      return term * M + row;
    const int group = term / AT_ONCE;
    return row * BK + (group % GROUPS * (BK / V) + group / GROUPS) * AT_ONCE + term % AT_ONCE;
  }

  static __device__ __forceinline__ void keep_a(const C &c, slices &s, size_t m, size_t k,
                                                size_t to) {
    constexpr int LINES = C::A_ALONG_K ? M : (M + C::VA - 1) / C::VA;
    constexpr int EACH = C::A_ALONG_K ? BK / C::VA : BK;
    const int left = to - k < BK ? (int)(to - k) : BK;
    const int read = (left + V - 1) / V * V; /* terms; 0 past the last, not what lies there */
    for (int at = (int)threadIdx.x; at < LINES * EACH; at += THREADS) {
      const int row = at / EACH * (C::A_ALONG_K ? 1 : C::VA),
                term = at % EACH * (C::A_ALONG_K ? C::VA : 1);
      typename C::raw_a raw;
      number x[C::VA];
      if (term >= read)
        continue;
      c.template load_a<false>(raw, m + row, k + term);
      c.make_a(raw, x);
#pragma unroll
      for (int v = 0; v < C::VA; v++)
        if (C::A_ALONG_K || row + v < M)
          s.a[place(row + (C::A_ALONG_K ? 0 : v), term + (C::A_ALONG_K ? v : 0))] =
              term + (C::A_ALONG_K ? v : 0) < left ? x[v] : number(0);
    }
  }

  /* How many of `most` are for so many rows, of which each has EACH. */
  static __device__ __forceinline__ int across_of(size_t rows, int most) {
    constexpr int EACH = C::B_ALONG_K ? AT_ONCE : V;
    int across = 1;
    while (across < most && (size_t)(across * EACH) < rows)
      across *= 2;
    return across;
  }

  template <bool WHOLE>
  __device__ __forceinline__ void add_along_k(const C &c, const slices &s, size_t n, size_t k,
                                              int left) {
    const int first = (warp() / across * 32 + lane()) * V, step = WARPS / across * 32 * V;
    for (int term = first; term < left; term += step) {
      typename C::raw_b raw[AT_ONCE];
#pragma unroll
      for (int nth = 0; nth < AT_ONCE; nth++)
        c.template load_b<WHOLE>(raw[nth], n + nth, k + term);
#pragma unroll
      for (int nth = 0; nth < AT_ONCE; nth++) {
        number b[V];
        c.make_b(raw[nth], b);
#pragma unroll
        for (int v = 0; v < V; v++)
          b[v] = WHOLE || term + v < left ? b[v] : number(0);
#pragma unroll
        for (int row = 0; row < M; row++)
#pragma unroll
          for (int group = 0; group < GROUPS; group++) {
            const auto a = lathe_load<AT_ONCE>(&s.a[place(row, term + group * AT_ONCE)]);
#pragma unroll
            for (int v = 0; v < AT_ONCE; v++)
              partial[row][nth] =
                  lathe_multiply_add(a.at[v], b[group * AT_ONCE + v], partial[row][nth]);
          }
      }
    }
  }

  template <bool WHOLE>
  __device__ __forceinline__ void add_along_n(const C &c, const slices &s, size_t n, size_t k,
                                              int left) {
    const int each = WARPS * 32 / across; /* terms that are read at once */
    for (int first = warp() * (32 / across) + lane() / across; first < left;
         first += each * READS) {
      typename C::raw_b raw[READS];
#pragma unroll
      for (int nth = 0; nth < READS; nth++)
        if (first + nth * each < left)
          c.template load_b<WHOLE>(raw[nth], n, k + first + nth * each);
#pragma unroll
      for (int nth = 0; nth < READS; nth++) {
        number b[V];
        if (first + nth * each >= left)
          break;
        c.make_b(raw[nth], b);
#pragma unroll
        for (int row = 0; row < M; row++) {
          const number a = s.a[place(row, first + nth * each)];
#pragma unroll
          for (int v = 0; v < V; v++)
            partial[row][v] = lathe_multiply_add(a, b[v], partial[row][v]);
        }
      }
    }
  }

  __device__ __forceinline__ void add(const C &c, slices &s, size_t m, size_t n, size_t from,
                                      size_t to) {
    const bool whole = n + BN <= c.n_count && (!C::B_ALONG_K || to % V == 0);
    across = across_of(c.n_count - n, C::B_ALONG_K ? WARPS : 32);
    for (size_t k = from; k < to; k += BK) {
      const int left = to - k < BK ? (int)(to - k) : BK;
      __syncthreads();
      keep_a(c, s, m, k, to);
      __syncthreads();
      if constexpr (C::B_ALONG_K) {
        const size_t first = n + warp() % across * AT_ONCE;
        if (whole)
          add_along_k<true>(c, s, first, k, left);
        else
          add_along_k<false>(c, s, first, k, left);
      } else {
        const size_t first = n + lane() % across * V;
        if (whole)
          add_along_n<true>(c, s, first, k, left);
        else
          add_along_n<false>(c, s, first, k, left);
      }
    }
  }

  /* Which thread has results: one of each warp with rows of its own, or the first of the block. */
  static __device__ __forceinline__ int at_n() {
    return C::B_ALONG_K ? warp() * AT_ONCE : (int)threadIdx.x * AT_ONCE;
  }
  __device__ __forceinline__ bool has_some() const {
    return C::B_ALONG_K ? lane() == 0 && warp() < across : (int)threadIdx.x * AT_ONCE < BN;
  }

  /* Adds what warps with the same rows have to what the first of them has. */
  __device__ __forceinline__ void add_warps(slices &s, number (&row)[AT_ONCE]) const {
    __syncthreads();
#pragma unroll
    for (int nth = 0; nth < AT_ONCE && lane() == 0; nth++)
      s.sums[warp()][nth] = row[nth];
    __syncthreads();
    for (int of = warp() + across; of < WARPS && has_some(); of += across)
#pragma unroll
      for (int nth = 0; nth < AT_ONCE; nth++)
        row[nth] += s.sums[of][nth];
  }

  /* Adds up what the threads have. */
  __device__ __forceinline__ void merge(slices &s) {
#pragma unroll
    for (int row = 0; row < M; row++) {
      if constexpr (C::B_ALONG_K) {
#pragma unroll
        for (int nth = 0; nth < AT_ONCE; nth++) {
          number sum = partial[row][nth];
#pragma unroll
          for (int apart = 16; apart > 0; apart /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, apart);
          sums[row][nth] = sum;
        }
        if (across < WARPS)
          add_warps(s, sums[row]);
      } else {
        __syncthreads();
#pragma unroll
        for (int v = 0; v < V; v++) {
          number sum = partial[row][v];
          for (int apart = 16; apart >= across; apart /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, apart);
          s.sums[warp()][lane() * V + v] = sum;
        }
        __syncthreads();
#pragma unroll
        for (int nth = 0; nth < AT_ONCE; nth++) {
          sums[row][nth] = 0;
          for (int of = 0; of < WARPS && has_some(); of++)
            sums[row][nth] += s.sums[of][at_n() + nth];
        }
      }
    }
  }

  __device__ __forceinline__ bool gather(slices &s, const lathe_work &work, unsigned *arrived,
                                         number *left) {
    merge(s);
    return lathe_gather<THREADS * M * AT_ONCE, THREADS>(work, &sums[0][0], arrived, left);
  }

  __device__ __forceinline__ void finish(const C &c, slices &, size_t m, size_t n) const {
    const size_t column = n + at_n();
    if (!has_some() || column >= c.n_count)
      return;
#pragma unroll
    for (int row = 0; row < M; row++)
      if (m + row < c.m_count)
        c.finish(m + row, column, sums[row], (long long)(c.n_count - column));
  }
};

/* A step whose factors, and rows and columns, are in turn. */
template <typename C> struct lathe_turned {
  using number = typename C::number;
  using raw_a = typename C::raw_b;
  using raw_b = typename C::raw_a;
  static constexpr int VA = C::VB, VB = C::VA;
  static constexpr bool A_ALONG_K = C::B_ALONG_K, B_ALONG_K = C::A_ALONG_K;
  const C &c;
  const size_t m_count, n_count;

  __device__ __forceinline__ lathe_turned(const C &given)
      : c(given), m_count(given.n_count), n_count(given.m_count) {
  }
  template <bool WHOLE>
  __device__ __forceinline__ void load_a(raw_a &raw, size_t m, size_t k) const {
    c.template load_b<WHOLE>(raw, m, k);
  }
  template <bool WHOLE>
  __device__ __forceinline__ void load_b(raw_b &raw, size_t n, size_t k) const {
    c.template load_a<WHOLE>(raw, n, k);
  }
  __device__ __forceinline__ void make_a(const raw_a &raw, number (&x)[VA]) const {
    c.make_b(raw, x);
  }
  __device__ __forceinline__ void make_b(const raw_b &raw, number (&x)[VB]) const {
    c.make_a(raw, x);
  }
};

/* Sums of products of a matrix with up to N columns. */
template <typename C, int N> struct lathe_thin_columns {
  using number = typename C::number;
  using in_turn = lathe_thin_sums<lathe_turned<C>, N>;
  using slices = typename in_turn::slices;
  static constexpr int AT_ONCE = in_turn::AT_ONCE;
  in_turn sums;

  __device__ __forceinline__ void add(const C &c, slices &s, size_t m, size_t n, size_t from,
                                      size_t to) {
    sums.add(lathe_turned<C>(c), s, n, m, from, to);
  }

  __device__ __forceinline__ bool gather(slices &s, const lathe_work &work, unsigned *arrived,
                                         number *left) {
    return sums.gather(s, work, arrived, left);
  }

  __device__ __forceinline__ void finish(const C &c, slices &, size_t m, size_t n) const {
    if (!sums.has_some())
      return;
#pragma unroll
    for (int nth = 0; nth < AT_ONCE; nth++)
#pragma unroll
      for (int first = 0; first < N; first += AT_ONCE) {
        const size_t row = m + in_turn::at_n() + nth, column = n + first;
        number some[AT_ONCE];
#pragma unroll
        for (int lane = 0; lane < AT_ONCE; lane++)
          some[lane] = sums.sums[first + lane][nth];
        if (row < c.m_count && column < c.n_count)
          c.finish(row, column, some, (long long)(c.n_count - column));
      }
  }
};

#endif
