/* tiles.h - sums of products over tiles of the result, by plain arithmetic: of any types and strides, whatever is
 * computed of the factors before they are multiplied; or sums of what else two values come to.
 *
 * A block has a tile of BM x BN sums, y[m][n] = the sum over k of a[m][k] * b[n][k], of which each thread has TM x TN
 * in registers. Slices of BK terms of both factors go through shared memory, two in turn: while one is multiplied, the
 * next is on its way in registers.
 *
 * A step's struct C says what is multiplied, of one matrix product:
 *   number                    what is computed in
 *   m_count, n_count, k_count its extents
 *   raw_a, VA, A_ALONG_K      what is read of a at once: VA elements, along k or along m; the same of b
 *   load_a<WHOLE>(raw, m, k)  reads from (m, k) on; what lies beyond the ends, which is nothing where WHOLE, is zero
 *   make_a(raw, x)            computes VA factors of what was read; the same of b
 *   MEETS, meet(a, b, own)    whether terms are no products, and one of them
 *   OWN, load_own(m, n, x)    whether they are made of a value of the result too, and those of AT_ONCE from (m, n) on
 *   finish(m, n, sums, there) computes and stores the results of `there` sums from (m, n) on along n */
#ifndef LATHE_TILES_H
#define LATHE_TILES_H

#include "kernel.h"
#include "work.h"

/* Elements 0 ... N - 1, of which the first `there` exist, by whole accesses where they are `aligned`. */
template <bool WHOLE, int N, typename T>
static __device__ __forceinline__ void lathe_load_some(lathe_pack<T, N> &pack, const T *from,
                                                       long long there, bool aligned) {
  const bool all = WHOLE || there >= N;
  if constexpr (sizeof(T) == 2 && N >= 4) { /* by words, as some rows of any length have them */
    typename lathe_access<sizeof pack>::words whole;
    if (aligned && all) {
      lathe_read_whole(whole, from);
    } else {
      unsigned words[N / 2];
      if (all && (size_t)from % 4 == 0) {
#pragma unroll
        for (int nth = 0; nth < N / 2; nth++)
          words[nth] = reinterpret_cast<const unsigned *>(from)[nth];
      } else {
        const unsigned short *const halves = reinterpret_cast<const unsigned short *>(from);
#pragma unroll
        for (int nth = 0; nth < N; nth += 2)
          words[nth / 2] = (WHOLE || nth < there ? halves[nth] : 0u) |
                           (WHOLE || nth + 1 < there ? halves[nth + 1] : 0u) << 16;
      }
      memcpy(&whole, words, sizeof whole);
    }
    memcpy(&pack, &whole, sizeof pack);
  } else if (aligned && all) {
    pack = *reinterpret_cast<const lathe_pack<T, N> *>(from);
  } else {
#pragma unroll
    for (int nth = 0; nth < N; nth++)
      pack.at[nth] = WHOLE || nth < there ? from[nth] : T(0.0f);
  }
}

/* The same of elements that are `stride` apart. */
template <bool WHOLE, int N, typename T>
static __device__ __forceinline__ void lathe_load_apart(lathe_pack<T, N> &pack, const T *from,
                                                        size_t stride, long long there) {
#pragma unroll
  for (int nth = 0; nth < N; nth++)
    pack.at[nth] = WHOLE || nth < there ? from[nth * stride] : T(0.0f);
}

/* Elements of 16 bits whose address is even go by words where they are side by side. */
template <int N, typename T>
static __device__ __forceinline__ void lathe_store_some(T *to, const lathe_pack<T, N> &pack,
                                                        size_t stride, long long there,
                                                        bool aligned) {
  if (aligned && there >= N) {
    lathe_store(to, pack);
    return;
  }
  if constexpr (sizeof(T) == 2 && N >= 4) {
    if (stride == 1 && there >= N && (size_t)to % 4 == 0) {
      unsigned words[N / 2];
      memcpy(words, &pack, sizeof pack);
#pragma unroll
      for (int nth = 0; nth < N / 2; nth++)
        reinterpret_cast<unsigned *>(to)[nth] = words[nth];
      return;
    }
  }
#pragma unroll
  for (int nth = 0; nth < N; nth++)
    if (nth < there)
      to[nth * stride] = pack.at[nth];
}

/* An access to what nobody writes meanwhile: it may come before stores that stand before it. */
template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load_kept(const T *from) {
  typedef typename lathe_access<sizeof(T) * N>::words words;
  const words read = __ldg(reinterpret_cast<const words *>(from));
  lathe_pack<T, N> pack;

  memcpy(&pack, &read, sizeof pack);
  return pack;
}

static __device__ __forceinline__ float lathe_multiply_add(float x, float y, float sum) {
  return fmaf(x, y, sum);
}

static __device__ __forceinline__ double lathe_multiply_add(double x, double y, double sum) {
  return fma(x, y, sum);
}

/* The reads of one factor's slice: which each thread does, and where in shared memory their factors go. */
template <int ROWS, int TERMS, int V, bool ALONG_K, int THREADS> struct lathe_reads {
  static constexpr int READS = ROWS * TERMS / V / THREADS;
  static constexpr int ACROSS = TERMS / V < 2 ? 1 : 2; /* that are side by side in one row */
  static_assert(READS * V * THREADS == ROWS * TERMS, "all threads have as many reads");

  static __device__ __forceinline__ int row(int nth) {
    const int at = nth * THREADS + (int)threadIdx.x;
    return ALONG_K ? at / ACROSS % ROWS : at % (ROWS / V) * V;
  }
  static __device__ __forceinline__ int term(int nth) {
    const int at = nth * THREADS + (int)threadIdx.x;
    return ALONG_K ? (at / ACROSS / ROWS * ACROSS + at % ACROSS) * V : at / (ROWS / V);
  }
  template <typename N, int PADDED>
  static __device__ __forceinline__ void keep(N (*to)[PADDED], int nth, const N (&x)[V]) {
    constexpr int AT_ONCE = V * (int)sizeof(N) < 16 ? 1 : 16 / (int)sizeof(N);
    if constexpr (ALONG_K || AT_ONCE == 1) {
#pragma unroll
      for (int v = 0; v < V; v++)
        to[term(nth) + (ALONG_K ? v : 0)][row(nth) + (ALONG_K ? 0 : v)] = x[v];
    } else {
#pragma unroll
      for (int v = 0; v < V; v += AT_ONCE) {
        lathe_pack<N, AT_ONCE> pack;
#pragma unroll
        for (int lane = 0; lane < AT_ONCE; lane++)
          pack.at[lane] = x[v + lane];
        lathe_store(&to[term(nth)][row(nth) + v], pack);
      }
    }
  }
};

/* A thread's reads of a slice of BK terms of both factors, on their way to shared memory. */
template <typename C, int BM, int BN, int BK, int THREADS> struct lathe_slice_reads {
  using number = typename C::number;
  using reads_a = lathe_reads<BM, BK, C::VA, C::A_ALONG_K, THREADS>;
  using reads_b = lathe_reads<BN, BK, C::VB, C::B_ALONG_K, THREADS>;
  typename C::raw_a a[reads_a::READS];
  typename C::raw_b b[reads_b::READS];

  template <bool WHOLE>
  __device__ __forceinline__ void load(const C &c, size_t m, size_t n, size_t k) {
#pragma unroll
    for (int nth = 0; nth < reads_a::READS; nth++)
      c.template load_a<WHOLE>(a[nth], m + reads_a::row(nth), k + reads_a::term(nth));
#pragma unroll
    for (int nth = 0; nth < reads_b::READS; nth++)
      c.template load_b<WHOLE>(b[nth], n + reads_b::row(nth), k + reads_b::term(nth));
  }

  /* Terms from `more` on are none: both factors are zero there, whatever they are computed of. */
  template <bool WHOLE, int PADDED_A, int PADDED_B>
  __device__ __forceinline__ void keep(const C &c, number (*to_a)[PADDED_A],
                                       number (*to_b)[PADDED_B], int more) const {
#pragma unroll
    for (int nth = 0; nth < reads_a::READS; nth++) {
      number x[C::VA];
      c.make_a(a[nth], x);
#pragma unroll
      for (int v = 0; v < C::VA; v++)
        x[v] = WHOLE || reads_a::term(nth) + (C::A_ALONG_K ? v : 0) < more ? x[v] : number(0);
      reads_a::keep(to_a, nth, x);
    }
#pragma unroll
    for (int nth = 0; nth < reads_b::READS; nth++) {
      number x[C::VB];
      c.make_b(b[nth], x);
#pragma unroll
      for (int v = 0; v < C::VB; v++)
        x[v] = WHOLE || reads_b::term(nth) + (C::B_ALONG_K ? v : 0) < more ? x[v] : number(0);
      reads_b::keep(to_b, nth, x);
    }
  }
};

/* The sums of a block's tile. */
template <typename C, int BM, int BN, int BK, int TM, int TN> struct lathe_sums {
  using number = typename C::number;
  static constexpr int AT_ONCE = 16 / sizeof(number); /* numbers of an access to shared memory */
  static constexpr int THREADS = BM / TM * (BN / TN);
  static constexpr int LANES_N = TN > TM ? 4 : 8, LANES_M = 32 / LANES_N;
  static constexpr int WARPS_N = BN / (LANES_N * TN);
  using reads = lathe_slice_reads<C, BM, BN, BK, THREADS>;
  static_assert(BK % 2 == 0, "factors of the first and the last term of a slice have two places");
  static_assert(BM % (LANES_M * TM) == 0 && BN % (LANES_N * TN) == 0, "a tile is of whole warps");
  static_assert(TM % AT_ONCE == 0 && TN % AT_ONCE == 0, "a thread's sums are of whole accesses");

  struct slices {
    alignas(16) number a[2][BK][BM + AT_ONCE];
    alignas(16) number b[2][BK][BN + AT_ONCE];
  };
  number sums[TM][TN];
  number own[C::OWN ? TM : 1][C::OWN ? TN : 1];

  /* Where in the tile the thread's sums are, which lie in groups of AT_ONCE. Of four neighbouring lanes two share rows
   * and two columns: shared memory serves an access of 16 bytes by 16 lanes at once where lanes that differ in one of
   * their lowest two bits read the same, and by 8 elsewhere. */
  static __device__ __forceinline__ int at_m(int group) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int row = lane % 2 + lane / (2 * LANES_N) * 2;
    return warp / WARPS_N * LANES_M * TM + (group * LANES_M + row) * AT_ONCE;
  }
  static __device__ __forceinline__ int at_n(int group) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    return warp % WARPS_N * LANES_N * TN + (group * LANES_N + lane / 2 % LANES_N) * AT_ONCE;
  }

  __device__ __forceinline__ lathe_sums() {
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = 0; j < TN; j++)
        sums[i][j] = 0;
    own[0][0] = 0;
  }

  static __device__ __forceinline__ void fragments(number (&a)[TM], number (&b)[TN],
                                                   const slices &s, int turn, int k) {
#pragma unroll
    for (int group = 0; group < TM / AT_ONCE; group++) {
      const auto pack = lathe_load<AT_ONCE>(&s.a[turn][k][at_m(group)]);
#pragma unroll
      for (int lane = 0; lane < AT_ONCE; lane++)
        a[group * AT_ONCE + lane] = pack.at[lane];
    }
#pragma unroll
    for (int group = 0; group < TN / AT_ONCE; group++) {
      const auto pack = lathe_load<AT_ONCE>(&s.b[turn][k][at_n(group)]);
#pragma unroll
      for (int lane = 0; lane < AT_ONCE; lane++)
        b[group * AT_ONCE + lane] = pack.at[lane];
    }
  }

  __device__ __forceinline__ void bring_own(const C &c, size_t m, size_t n) {
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int group = 0; group < TN / AT_ONCE; group++) {
        number x[AT_ONCE];
        c.load_own(m + at_m(i / AT_ONCE) + i % AT_ONCE, n + at_n(group), x);
#pragma unroll
        for (int nth = 0; nth < AT_ONCE; nth++)
          own[i][group * AT_ONCE + nth] = x[nth];
      }
  }

  /* Column by column: with 16 rows that is 6 % faster than row by row on an H200, 2.97 ms for 4096 cubed in f32. */
  __device__ __forceinline__ void multiply(const C &c, const number (&a)[TM],
                                           const number (&b)[TN]) {
#pragma unroll
    for (int j = 0; j < TN; j++)
#pragma unroll
      for (int i = 0; i < TM; i++)
        if constexpr (C::MEETS)
          sums[i][j] += c.meet(a[i], b[j], own[C::OWN ? i : 0][C::OWN ? j : 0]);
        else
          sums[i][j] = lathe_multiply_add(a[i], b[j], sums[i][j]);
  }

  /* Adds the terms from `from` to `to`, which is where terms end or a multiple of BK further. Of each term's factors
   * those of the next are read while they are multiplied, also from the next slice, for which all threads wait before
   * that. */
  __device__ __forceinline__ void add(const C &c, slices &s, size_t m, size_t n, size_t from,
                                      size_t to) {
    const bool whole = m + BM <= c.m_count && n + BN <= c.n_count;
    reads r;
    auto load = [&](size_t k) {
      if (whole && to - k >= BK)
        r.template load<true>(c, m, n, k);
      else
        r.template load<false>(c, m, n, k);
    };
    auto keep = [&](size_t k, int turn) {
      if (to - k >= BK)
        r.template keep<true>(c, s.a[turn], s.b[turn], BK);
      else
        r.template keep<false>(c, s.a[turn], s.b[turn], (int)(to - k));
    };
    if (from >= to)
      return;
    if constexpr (C::OWN)
      bring_own(c, m, n);
    number a[2][TM], b[2][TN];
    load(from);
    keep(from, 0);
    __syncthreads();
    fragments(a[0], b[0], s, 0, 0);
    int turn = 0;
    for (size_t k = from; k < to; k += BK) {
      const bool more = to - k > BK;
      if (more)
        load(k + BK);
#pragma unroll
      for (int term = 0; term < BK; term++) {
        const int next = (term + 1) % 2;
        if (term + 1 < BK) {
          fragments(a[next], b[next], s, turn, term + 1);
        } else if (more) {
          turn ^= 1;
          keep(k + BK, turn);
          __syncthreads();
          fragments(a[next], b[next], s, turn, 0);
        }
        if (!C::MEETS || to - k > (size_t)term) /* what zeros come to may be another number */
          multiply(c, a[term % 2], b[term % 2]);
      }
    }
    __syncthreads();
  }

  __device__ __forceinline__ bool gather(slices &, const lathe_work &work, unsigned *arrived,
                                         number *left) {
    return lathe_gather<BM * BN, THREADS>(work, &sums[0][0], arrived, left);
  }

  /* Neighbouring sums of a row. */
  __device__ __forceinline__ lathe_pack<number, AT_ONCE> pack_of(int i, int group) const {
    lathe_pack<number, AT_ONCE> pack;
#pragma unroll
    for (int nth = 0; nth < AT_ONCE; nth++)
      pack.at[nth] = sums[i][group * AT_ONCE + nth];
    return pack;
  }

  /* Of blocks that are joined: through shared memory, which has room for a tile. */
  __device__ __forceinline__ void finish_joined(const C &c, slices &s, const lathe_work &work,
                                                unsigned *arrived, number *left) const {
    number *const lines = reinterpret_cast<number *>(&s);
    static_assert(sizeof(slices) >= BM * (BN + AT_ONCE) * sizeof(number), "a tile has room");
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int group = 0; group < TN / AT_ONCE; group++) {
        const int row = at_m(i / AT_ONCE) + i % AT_ONCE;
        lathe_store(lines + row * (BN + AT_ONCE) + at_n(group), pack_of(i, group));
      }
    __syncthreads();
    lathe_finish_joined<BM, BN, THREADS>(
        c, lines, [](int row, int column) { return row * (BN + AT_ONCE) + column; }, work, arrived,
        left);
  }

  /* A row of each thread's at a time, through shared memory. */
  __device__ __forceinline__ void finish_apart(const C &c, slices &s, size_t m, size_t n) const {
    constexpr int LINE = LANES_N * TN;
    const int warp = (int)threadIdx.x / 32;
    number *const lines = reinterpret_cast<number *>(&s) + warp * LANES_M * LINE;
    static_assert(sizeof(slices) >= THREADS * TN * sizeof(number), "a warp has room for its lines");
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int row = at_m(0) / AT_ONCE % LANES_M;
#pragma unroll
      for (int group = 0; group < TN / AT_ONCE; group++)
        lathe_store(lines + row * LINE + at_n(group) % LINE, pack_of(i, group));
      lathe_finish_apart<LINE, LANES_M>(
          c, lines,
          [&](int line) {
            return m + warp / WARPS_N * LANES_M * TM + (i / AT_ONCE * LANES_M + line) * AT_ONCE +
                   i % AT_ONCE;
          },
          n + warp % WARPS_N * LINE);
    }
  }

  __device__ __forceinline__ void finish(const C &c, slices &s, size_t m, size_t n) const {
    if constexpr (sizeof(typename C::element) == 4 && BM > 32) /* small ones lack registers */
      if (lathe_is_apart(c)) {
        finish_apart(c, s, m, n);
        return;
      }
    auto each = [&](auto f) {
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int group = 0; group < TN / AT_ONCE; group++) {
          number some[AT_ONCE];
#pragma unroll
          for (int lane = 0; lane < AT_ONCE; lane++)
            some[lane] = sums[i][group * AT_ONCE + lane];
          f(m + at_m(i / AT_ONCE) + i % AT_ONCE, n + at_n(group), some);
        }
    };
    if (m + BM <= c.m_count && n + BN <= c.n_count && c.whole_values)
      each([&](size_t row, size_t column, const number(&some)[AT_ONCE]) {
        c.finish_whole(row, column, some, AT_ONCE);
      });
    else
      each([&](size_t row, size_t column, const number(&some)[AT_ONCE]) {
        if (row < c.m_count && column < c.n_count)
          c.finish(row, column, some, (long long)(c.n_count - column));
      });
  }
};

#endif
