/* tensor.h - sums of products by tensor cores (mma.sync): of factors that are elements as they are in memory. Products
 * of f16 and bf16 are exact; factors of f32 are rounded to 11 digits (tf32). All are added up in f32. The rest is as in
 * tiles.h.
 *
 * STAGES slices of BK terms of both factors are in shared memory or on their way there. A step's struct has also
 *   element                   the type of both factors
 *   from_a(m, k), whole_a     where an element of a is, and whether accesses of 16 bytes are aligned; the same of b */
#ifndef LATHE_TENSOR_H
#define LATHE_TENSOR_H

#include "padded.h"
#include "tf32.h"
#include "tiles.h"

/* The first of the 64 rows that a group of four warps has. The compiler sees that it is the same for a warp. */
static __device__ __forceinline__ int lathe_rows_of_group() {
  return __shfl_sync(0xffffffff, (int)threadIdx.x / 128, 0) * 64;
}

/* One factor's slice in shared memory, of 128 bytes of terms: lines of eight chunks of 16 bytes along the axis that is
 * side by side in memory, one below the other along the other axis; where lines are of rows, as many of them as there
 * are terms, and the next as many after all lines. The chunks of a line are rotated, so that those of eight lines lie
 * in different banks, as tensor cores want them. */
template <typename T, int ROWS, bool ALONG_K, int THREADS> struct lathe_slice {
  static constexpr int V = 16 / sizeof(T), TERMS = 8 * V, CHUNKS = ROWS * 8,
                       COPIES = CHUNKS / THREADS;
  static constexpr bool NUMBERS = sizeof(T) == 4;
  static_assert(ALONG_K || ROWS % TERMS == 0, "lines are of as many elements as there are terms");
  static_assert(COPIES * THREADS == CHUNKS, "all threads have as many copies");

  static __device__ __forceinline__ int place(int line, int chunk) {
    return line * 8 + (chunk ^ line % 8);
  }
  /* Where a line of a row, or of several, and a term begins, as if chunks were in their order. */
  static __device__ __forceinline__ int line_of(int row, int term) {
    return ALONG_K ? row * 8 + term / V : (row / TERMS * TERMS + term) * 8;
  }
  static __device__ __forceinline__ int place_of(int row, int term) {
    return ALONG_K ? place(row, term / V) : place(row / TERMS * TERMS + term, row % TERMS / V);
  }

  /* Copies what there is from some place on: `rows` rows and `terms` terms; beyond are zeros. from(row, k): an address,
   * where there is nothing of which nothing is read. whole: whether accesses of 16 bytes are aligned. */
  template <typename From>
  static __device__ __forceinline__ void copy(uint4 *to, From from, int rows, int terms,
                                              bool whole) {
#pragma unroll 1 /* or their addresses take more registers than there are */
    for (int nth = 0; nth < COPIES; nth++) {
      const int at = nth * THREADS + (int)threadIdx.x, line = at / 8, chunk = at % 8;
      const int row = ALONG_K ? line : line / TERMS * TERMS + chunk * V;
      const int term = ALONG_K ? chunk * V : line % TERMS;
      const bool is_there = row < rows && term < terms;
      const int more = ALONG_K ? terms - term : rows - row, there = !is_there  ? 0
                                                                    : more < V ? more
                                                                               : V;
      uint4 *const here = to + place(line, chunk);
      if (whole) {
        lathe_copy_some(here, from(row, term), there * (int)sizeof(T));
      } else {
        lathe_pack<T, V> pack;
#pragma unroll
        for (int v = 0; v < V; v++)
          pack.at[v] =
              v < there ? *from(row + (ALONG_K ? 0 : v), term + (ALONG_K ? v : 0)) : T(0.0f);
        lathe_store(reinterpret_cast<T *>(here), pack);
      }
    }
  }

  /* The same by threads that have registers for MOST addresses at once; what is not aligned goes through registers. */
  template <int MOST, typename From>
  static __device__ __forceinline__ void copy_several(uint4 *to, From from, int rows, int terms,
                                                      bool whole) {
    constexpr int AT_ONCE = COPIES % MOST == 0 ? MOST : 1;
    auto each = [&](int nth, auto f) {
      const int at = nth * THREADS + (int)threadIdx.x, line = at / 8, chunk = at % 8;
      const int row = ALONG_K ? line : line / TERMS * TERMS + chunk * V;
      const int term = ALONG_K ? chunk * V : line % TERMS;
      const int more = ALONG_K ? terms - term : rows - row;
      const bool is_there = row < rows && term < terms;
      f(from(row, term), !is_there ? 0 : more < V ? more : V, to + place(line, chunk));
    };
    if (whole) {
#pragma unroll(AT_ONCE)
      for (int nth = 0; nth < COPIES; nth++)
        each(nth, [](const T *one, int there, uint4 *here) {
          lathe_copy_some(here, one, there * (int)sizeof(T));
        });
      return;
    }
#pragma unroll 1
    for (int first = 0; first < COPIES; first += AT_ONCE) {
      lathe_unaligned<T, V> read[AT_ONCE];
#pragma unroll
      for (int nth = 0; nth < AT_ONCE; nth++)
        each(first + nth, [&](const T *one, int there, uint4 *) { read[nth].load(one, there); });
#pragma unroll
      for (int nth = 0; nth < AT_ONCE; nth++)
        each(first + nth, [&](const T *, int, uint4 *here) { *here = read[nth].chunk(); });
    }
  }

  /* Four matrices of 8 rows and V terms from (row, term) on: of rows 0 and 8 and terms 0 and V further, in the order
   * that the left factor of an mma has them, or for a right one those of one row first. */
  template <bool LEFT>
  static __device__ __forceinline__ void load(unsigned (&to)[4], const uint4 *from, int row,
                                              int term) {
    const int lane = (int)threadIdx.x % 32, second = lane / 8 % 2, third = lane / 16,
              below = lane % 8;
    const int further_row = (LEFT ? second : third) * 8, further_term = (LEFT ? third : second) * V;
    if (ALONG_K)
      lathe_load_matrices<false>(to,
                                 from + place_of(row + further_row + below, term + further_term));
    else if (!NUMBERS)
      lathe_load_matrices<true>(to,
                                from + place_of(row + further_row, term + further_term + below));
#pragma unroll
    for (int nth = 0; nth < 4 && NUMBERS; nth++) {
      const int at = row + (LEFT ? nth % 2 : nth / 2) * 8 + lane / 4,
                of = term + (LEFT ? nth / 2 : nth % 2) * V + lane % 4;
      const unsigned *const chunk = reinterpret_cast<const unsigned *>(from + place_of(at, of));
      to[nth] = lathe_rounded(__uint_as_float(ALONG_K ? to[nth] : chunk[at % V]));
    }
  }
};

/* Where in a line of sums in shared memory a column is: so that of eight threads that read eight columns each, by 16
 * bytes, none wants another's banks. */
static __device__ __forceinline__ int lathe_column(int column) {
  return column ^ column / 32 % 2 * 4;
}

/* N neighbouring columns from there on, which are multiples of N. */
template <int N>
static __device__ __forceinline__ void lathe_take_columns(float (&some)[N], const float *line,
                                                          int column) {
#pragma unroll
  for (int first = 0; first < N; first += 4) {
    const auto pack = lathe_load<4>(line + lathe_column(column + first));
#pragma unroll
    for (int nth = 0; nth < 4; nth++)
      some[first + nth] = pack.at[nth];
  }
}

/* A warp has WARP_M x WARP_N of the sums. */
template <typename C, int BM, int BN, int WARP_M, int WARP_N, int STAGES> struct lathe_tensor_sums {
  using element = typename C::element;
  static constexpr int WARPS_N = BN / WARP_N, THREADS = BM / WARP_M * WARPS_N * 32;
  using slice_a = lathe_slice<element, BM, C::A_ALONG_K, THREADS>;
  using slice_b = lathe_slice<element, BN, C::B_ALONG_K, THREADS>;
  static constexpr int BK = slice_a::TERMS, STEP = BK / 4; /* terms of an mma */
  static constexpr int AHEAD = STAGES - 1;
  static constexpr int STAGE = slice_a::CHUNKS + slice_b::CHUNKS;
  static constexpr int TILES_M = WARP_M / 16, TILES_N = WARP_N / 8;
  static constexpr int PADDED = BN + 8; /* of a line of sums in shared memory */
  static constexpr int BYTES =
      STAGES * STAGE * 16 > BM *PADDED * 4 ? STAGES *STAGE * 16 : BM *PADDED * 4;
  static constexpr int AT_ONCE =
      THREADS < 256 ? 4 : 2; /* addresses, or there are not enough registers */
  static_assert(TILES_N % 2 == 0, "matrices of the right factor are loaded for two tiles");

  float sums[TILES_M][TILES_N][4];

  __device__ __forceinline__ lathe_tensor_sums() {
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
#pragma unroll
        for (int nth = 0; nth < 4; nth++)
          sums[i][j][nth] = 0;
  }

  static __device__ __forceinline__ int first_m() {
    return (int)threadIdx.x / 32 / WARPS_N * WARP_M;
  }
  static __device__ __forceinline__ int first_n() {
    return (int)threadIdx.x / 32 % WARPS_N * WARP_N;
  }

  /* Of a slice of each factor. */
  __device__ __forceinline__ void multiply(const uint4 *left, const uint4 *right) {
#pragma unroll
    for (int k = 0; k < BK; k += STEP) {
      unsigned a[TILES_M][4], b[TILES_N / 2][4];
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
        slice_a::template load<true>(a[i], left, first_m() + i * 16, k);
#pragma unroll
      for (int j = 0; j < TILES_N / 2; j++)
        slice_b::template load<false>(b[j], right, first_n() + j * 16, k);
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
#pragma unroll
        for (int j = 0; j < TILES_N; j++)
          lathe_mma((const element *)nullptr, sums[i][j], a[i], b[j / 2][j % 2 * 2],
                    b[j / 2][j % 2 * 2 + 1]);
    }
  }

  /* Adds the terms from `from` to `to`. */
  __device__ __forceinline__ void add(const C &c, uint4 *room, size_t m, size_t n, size_t from,
                                      size_t to) {
    const int rows = c.m_count - m < BM ? (int)(c.m_count - m) : BM;
    const int columns = c.n_count - n < BN ? (int)(c.n_count - n) : BN;
    auto copy = [&](size_t k, int stage) {
      if (k < to) {
        uint4 *const at = room + stage * STAGE;
        const int terms = to - k < BK ? (int)(to - k) : BK;
        slice_a::template copy_several<AT_ONCE>(
            at, [&](int row, int term) { return c.from_a(m + row, k + term); }, rows, terms,
            c.whole_a);
        slice_b::template copy_several<AT_ONCE>(
            at + slice_a::CHUNKS, [&](int row, int term) { return c.from_b(n + row, k + term); },
            columns, terms, c.whole_b);
      }
      lathe_end_group();
    };
    if (from >= to)
      return;
    for (int stage = 0; stage < AHEAD; stage++)
      copy(from + (size_t)stage * BK, stage);
    int stage = 0, next = AHEAD;
    for (size_t k = from; k < to; k += BK) {
      lathe_await_groups<AHEAD - 1>();
      __syncthreads();
      copy(k + (size_t)AHEAD * BK, next);
      multiply(room + stage * STAGE, room + stage * STAGE + slice_a::CHUNKS);
      stage = stage + 1 == STAGES ? 0 : stage + 1;
      next = next + 1 == STAGES ? 0 : next + 1;
    }
    lathe_await_groups<0>();
    __syncthreads();
  }

  /* Sums as they lie in shared memory: lines of the tile. */
  __device__ __forceinline__ void leave(float *lines) const {
    const int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float *const to = lines + (first_m() + i * 16 + half * 8 + lane / 4) * PADDED +
                            lathe_column(first_n() + j * 8 + lane % 4 * 2);
          to[0] = sums[i][j][half * 2];
          to[1] = sums[i][j][half * 2 + 1];
        }
    __syncthreads();
  }

  __device__ __forceinline__ bool gather(uint4 *, const lathe_work &work, unsigned *arrived,
                                         float *left) {
    return lathe_gather<BM * BN, THREADS>(work, &sums[0][0][0], arrived, left);
  }

  __device__ __forceinline__ void finish(const C &c, uint4 *room, size_t m, size_t n) const {
    float *const lines = reinterpret_cast<float *>(room);
    leave(lines);
    const bool whole = m + BM <= c.m_count && n + BN <= c.n_count;
    if (whole && c.wide_values) {
      finish_whole<C::WHOLE_COUNT>(c, lines, m, n);
    } else if (C::WHOLE_COUNT > 4 && whole && c.whole_values) {
      finish_whole<4>(c, lines, m, n);
    } else {
#pragma unroll 1
      for (int at = (int)threadIdx.x; at < BM * BN / 4; at += THREADS) {
        const int row = at / (BN / 4), column = at % (BN / 4) * 4;
        float some[4];
        lathe_take_columns(some, lines + row * PADDED, column);
        if (m + row < c.m_count && n + column < c.n_count)
          c.finish(m + row, n + column, some, (long long)(c.n_count - n - column));
      }
    }
  }

  /* All of the tile, by N values. */
  template <int N>
  static __device__ __forceinline__ void finish_whole(const C &c, const float *lines, size_t m,
                                                      size_t n) {
#pragma unroll(16 / N)
    for (int at = (int)threadIdx.x; at < BM * BN / N; at += THREADS) {
      const int row = at / (BN / N), column = at % (BN / N) * N;
      float some[N];
      lathe_take_columns(some, lines + row * PADDED, column);
      c.finish_whole(m + row, n + column, some, N);
    }
  }

  /* Of blocks that are joined. */
  __device__ __forceinline__ void finish_joined(const C &c, uint4 *room, const lathe_work &work,
                                                unsigned *arrived, float *left) const {
    float *const lines = reinterpret_cast<float *>(room);
    leave(lines);
    lathe_finish_joined<BM, BN, THREADS>(
        c, lines, [](int row, int column) { return row * PADDED + lathe_column(column); }, work,
        arrived, left);
  }
};

#endif
