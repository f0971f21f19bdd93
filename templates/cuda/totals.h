/* totals.h - sums over a batch of the products of two factors that are computed on their way to shared memory, by
 * tensor cores. Words as in tiles.h.
 *
 * A and B say what the factors' numbers are multiplied as (tensor_factors.h): those of 16 bits as they are, others as
 * two halves, so that results are as good as f32's, or rounded. Tensor cores cut off what they add, so each eight terms
 * are added up by themselves.
 *
 * A block has SIDE x SIDE sums, a warp 32 x 32: where that is less than all, warps share a slice's terms by turns of
 * eight. Where terms are few, small tiles have a slice of all, for which a block waits once. */
#ifndef LATHE_TOTALS_H
#define LATHE_TOTALS_H

#include "tensor_factors.h"
#include "tiles.h"

template <typename C, int SIDE, int TERMS, lathe_factor A, lathe_factor B> struct lathe_total_sums {
  static constexpr int THREADS = 256, WARP = 32; /* rows and columns of a warp */
  static constexpr int ACROSS = SIDE / WARP, SHARING = THREADS / 32 / (ACROSS * ACROSS);
  static constexpr int TILES_M = WARP / 16, TILES_N = WARP / 8, EACH = SIDE * SIDE / THREADS / 4;
  static constexpr int PADDED = SIDE + 8; /* which puts neighbouring terms into other banks */
  static_assert(SHARING * SIDE <= 2 * TERMS, "there is room for all warps' sums");
  using reads = lathe_slice_reads<C, SIDE, SIDE, TERMS, THREADS>;

  struct slices {
    float a[TERMS][PADDED], b[TERMS][PADDED];
  };
  float sums[TILES_M][TILES_N][4];
  /* Then those that the thread gives out: four neighbours in each of some rows. */
  float given[EACH][4];

  __device__ __forceinline__ lathe_total_sums() {
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
#pragma unroll
        for (int nth = 0; nth < 4; nth++)
          sums[i][j][nth] = 0;
  }

  /* Which of the warps that share terms. */
  static __device__ __forceinline__ int part() {
    return (int)threadIdx.x / 32 / (ACROSS * ACROSS);
  }
  static __device__ __forceinline__ int first_m() {
    return (int)threadIdx.x / 32 / ACROSS % ACROSS * WARP;
  }
  static __device__ __forceinline__ int first_n() {
    return (int)threadIdx.x / 32 % ACROSS * WARP;
  }
  static __device__ __forceinline__ int lane() {
    return (int)threadIdx.x % 32;
  }

  __device__ __forceinline__ void multiply(const slices &s) {
#pragma unroll 2
    for (int eight = part(); eight < TERMS / 8; eight += SHARING) {
      const int k = eight * 8 + lane() % 4;
      unsigned high[TILES_M][4], low[TILES_M][4];
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
#pragma unroll
        for (int nth = 0; nth < 4; nth++)
          lathe_part<A>(s.a[k + nth / 2 * 4][first_m() + i * 16 + nth % 2 * 8 + lane() / 4],
                        high[i][nth], low[i][nth]);
#pragma unroll
      for (int j = 0; j < TILES_N; j++) {
        unsigned whole[2], rest[2];
#pragma unroll
        for (int nth = 0; nth < 2; nth++)
          lathe_part<B>(s.b[k + nth * 4][first_n() + j * 8 + lane() / 4], whole[nth], rest[nth]);
#pragma unroll
        for (int i = 0; i < TILES_M; i++) {
          float few[4] = {0, 0, 0, 0};
          if (B == LATHE_HALVED)
            lathe_mma_numbers(few, high[i], rest[0], rest[1]);
          if (A == LATHE_HALVED)
            lathe_mma_numbers(few, low[i], whole[0], whole[1]);
          lathe_mma_numbers(few, high[i], whole[0], whole[1]);
#pragma unroll
          for (int nth = 0; nth < 4; nth++)
            sums[i][j][nth] += few[nth];
        }
      }
    }
  }

  /* Adds the terms from `from` to `to`, which is where terms end or a multiple of TERMS further. */
  __device__ __forceinline__ void add(const C &c, slices &s, size_t m, size_t n, size_t from,
                                      size_t to) {
    const bool whole = m + SIDE <= c.m_count && n + SIDE <= c.n_count;
    reads r;
    auto load = [&](size_t k) {
      if (whole && to - k >= TERMS)
        r.template load<true>(c, m, n, k);
      else if (k < to)
        r.template load<false>(c, m, n, k);
    };
    load(from);
    for (size_t k = from; k < to; k += TERMS) {
      if (to - k >= TERMS)
        r.template keep<true>(c, s.a, s.b, TERMS);
      else
        r.template keep<false>(c, s.a, s.b, (int)(to - k));
      __syncthreads();
      if (to - k > TERMS)
        load(k + TERMS);
      multiply(s);
      __syncthreads();
    }
    add_up(reinterpret_cast<float(*)[PADDED]>(&s));
  }

  /* What warps have that share terms, in the order of these. */
  __device__ __forceinline__ void add_up(float (*lines)[PADDED]) {
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          lathe_pack<float, 2> pack;
          pack.at[0] = sums[i][j][half * 2];
          pack.at[1] = sums[i][j][half * 2 + 1];
          lathe_store(lines[part() * SIDE + first_m() + i * 16 + half * 8 + lane() / 4] +
                          first_n() + j * 8 + lane() % 4 * 2,
                      pack);
        }
    __syncthreads();
#pragma unroll
    for (int nth = 0; nth < EACH; nth++)
#pragma unroll
      for (int other = 0; other < SHARING; other++) {
        const auto pack = lathe_load<4>(lines[other * SIDE + row(nth)] + column());
#pragma unroll
        for (int v = 0; v < 4; v++)
          given[nth][v] = other == 0 ? pack.at[v] : given[nth][v] + pack.at[v];
      }
  }

  static __device__ __forceinline__ int row(int nth) {
    return (nth * THREADS + (int)threadIdx.x) / (SIDE / 4);
  }
  static __device__ __forceinline__ int column() {
    return (int)threadIdx.x % (SIDE / 4) * 4;
  }

  __device__ __forceinline__ bool gather(const lathe_work &work, unsigned *arrived, float *left) {
    return lathe_gather<SIDE * SIDE, THREADS>(work, &given[0][0], arrived, left);
  }

  /* As lathe_tensor_layers::mend, over all terms. */
  static __device__ __forceinline__ void mend(const C &c, size_t m, size_t n, float &sum) {
    constexpr int ACROSS_A = C::A_ALONG_K ? 1 : C::VA, ACROSS_B = C::B_ALONG_K ? 1 : C::VB;
    constexpr int ALONG_A = C::VA / ACROSS_A, ALONG_B = C::VB / ACROSS_B;
    if (fabsf(sum) >= 0x1p-100f || sum == 0)
      return;
    sum = 0;
#pragma unroll 1
    for (size_t k = 0; k < c.k_count; k++) {
      typename C::raw_a raw_a;
      typename C::raw_b raw_b;
      float a[C::VA], b[C::VB], x = 0, y = 0;
      c.template load_a<false>(raw_a, m - m % ACROSS_A, k - k % ALONG_A);
      c.template load_b<false>(raw_b, n - n % ACROSS_B, k - k % ALONG_B);
      c.make_a(raw_a, a);
      c.make_b(raw_b, b);
#pragma unroll
      for (int v = 0; v < C::VA; v++)
        x = (size_t)v == (C::A_ALONG_K ? k % ALONG_A : m % ACROSS_A) ? a[v] : x;
#pragma unroll
      for (int v = 0; v < C::VB; v++)
        y = (size_t)v == (C::B_ALONG_K ? k % ALONG_B : n % ACROSS_B) ? b[v] : y;
      sum = fmaf(x, y, sum);
    }
  }

  __device__ __forceinline__ void finish(const C &c, size_t m, size_t n) {
#pragma unroll
    for (int nth = 0; nth < EACH; nth++) {
      const size_t y = m + row(nth), x = n + column();
      if (y >= c.m_count || x >= c.n_count)
        continue;
      const size_t left = c.n_count - x;
#pragma unroll
      for (int v = 0; v < 4; v++)
        if (v < left)
          mend(c, y, x + v, given[nth][v]);
      c.finish(y, x, given[nth], (long long)left);
    }
  }
};

/* What a block has to do where its tile, of `all` in the launch, is number `tile` of a step's. */
template <int SIDE, int TERMS, lathe_factor A, lathe_factor B, typename C>
static __device__ __forceinline__ void lathe_total(C &here, uint4 *room, unsigned tile,
                                                   unsigned all, unsigned *arrived, float *left) {
  using kind = lathe_total_sums<C, SIDE, TERMS, A, B>;
  lathe_work work(SIDE, SIDE, here.m_count, here.n_count, 1, 1, tile);
  work.all = all;
  work.nth = blockIdx.x % all;
  work.part = blockIdx.x / all;
  work.parts = gridDim.x / all;
  const size_t each = lathe_times(lathe_times(here.k_count, TERMS), work.parts) * TERMS;
  const size_t from = work.part * each < here.k_count ? work.part * each : here.k_count;
  const size_t to = here.k_count - from < each ? here.k_count : from + each;
  kind sums;
  here.place();
  sums.add(here, *reinterpret_cast<typename kind::slices *>(room), work.m, work.n, from, to);
  if (sums.gather(work, arrived, left))
    sums.finish(here, work.m, work.n);
}

#endif
