/* fetched.h - sums of products by the tensor cores of compute capability 9.0 (wgmma), of factors as in tensor.h that the
 * copy engine brings (TMA).
 *
 * A block's last four warps have one thread that asks for slice after slice, of tile after tile, as far ahead as there are
 * stages; all others, in groups of four warps with 64 rows of the tile each, wait for a stage, multiply it, and give it
 * back when the next one's products have begun. So the factors of a tile come while results of the one before are stored.
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

/* An access to what nobody writes meanwhile: it may come before stores that stand before it. */
template <int N, typename T>
static __device__ __forceinline__ lathe_pack<T, N> lathe_load_kept(const T *from) {
  typedef typename lathe_access<sizeof(T) * N>::words words;
  const words read = __ldg(reinterpret_cast<const words *>(from));
  lathe_pack<T, N> pack;

  memcpy(&pack, &read, sizeof pack);
  return pack;
}

template <typename C, int BM, int BN, int STAGES> struct lathe_fetched_sums {
  using element = typename C::element;
  static constexpr int GROUPS = BM / 64, THREADS = GROUPS * 128; /* that multiply */
  using slice_a = lathe_slice<element, BM, C::A_ALONG_K, THREADS>;
  using slice_b = lathe_slice<element, BN, C::B_ALONG_K, 128>;
  static constexpr int BK = slice_a::TERMS, STAGE = slice_a::CHUNKS + slice_b::CHUNKS;
  static constexpr int AT_ONCE = 32, PADDED = AT_ONCE + 8; /* columns of results in shared memory */
  static_assert(BM % 64 == 0 && BN % AT_ONCE == 0, "groups have 64 rows each");

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

  /* Of the threads that multiply each has more registers than those that fetch. */
  static __device__ __forceinline__ void begin_fetching() {
    if (GROUPS > 1)
      lathe_leave_registers<40>();
  }
  static __device__ __forceinline__ void begin_multiplying() {
    if (GROUPS > 1)
      lathe_take_registers<GROUPS == 2 ? 232 : 112>();
  }

  /* Has the slices of the terms from `from` to `to` brought. */
  static __device__ __forceinline__ void fetch(const C &c, uint4 *room, ring &r, turn &t,
                                               const lathe_map &map_a, const lathe_map &map_b,
                                               size_t m, size_t n, size_t from, size_t to) {
    for (size_t k = from; k < to; k += BK) {
      uint4 *const at = room + t.stage * STAGE;
      lathe_await_phase(r.empty + t.stage, t.parity ^ 1);
      lathe_arrive_before(r.full + t.stage, STAGE * 16);
      c.template fetch_a<BM>(at, map_a, (int)m, (int)k, r.full + t.stage);
      c.template fetch_b<BN>(at + slice_a::CHUNKS, map_b, (int)n, (int)k, r.full + t.stage);
      t.next();
    }
  }

  float sums[BN / 8][4];

  __device__ __forceinline__ lathe_fetched_sums() {
#pragma unroll
    for (int j = 0; j < BN / 8; j++)
#pragma unroll
      for (int nth = 0; nth < 4; nth++)
        sums[j][nth] = 0;
  }

  static __device__ __forceinline__ void give_back(ring &r, int stage) {
    if (threadIdx.x % 32 == 0)
      lathe_arrive(r.empty + stage);
  }

  /* Adds the terms from `from` to `to`. */
  __device__ __forceinline__ void add(uint4 *room, ring &r, turn &t, size_t from, size_t to) {
    const int rows = (int)threadIdx.x / 128 * 64;
    int before = -1;
    for (size_t k = from; k < to; k += BK) {
      const uint4 *const stage = room + t.stage * STAGE;
      lathe_await_phase(r.full + t.stage, t.parity);
      lathe_begin_mma();
#pragma unroll
      for (int term = 0; term < BK; term += 16)
        lathe_group_mma<BN, C::A_ALONG_K, C::B_ALONG_K>(
            (const element *)nullptr, sums, stage + slice_a::line_of(rows, term),
            stage + slice_a::CHUNKS + slice_b::line_of(0, term));
      lathe_end_mma();
      lathe_await_mma<1>(sums);
      if (before >= 0)
        give_back(r, before);
      before = t.stage;
      t.next();
    }
    lathe_await_mma<0>(sums);
    if (before >= 0)
      give_back(r, before);
  }

  __device__ __forceinline__ bool gather(const lathe_work &work, unsigned *arrived, float *left) {
    return lathe_gather<BM * BN, THREADS, true>(work, &sums[0][0], arrived, left);
  }

  /* A warp's 16 rows of results, some columns at a time, through shared memory of its own past the stages. Those of whole
   * tiles are computed without a branch, so that what one waits for others fill. */
  __device__ __forceinline__ void finish(const C &c, uint4 *room, size_t m, size_t n) const {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    float *const lines = reinterpret_cast<float *>(room + STAGES * STAGE) + warp * 16 * PADDED;
    const bool whole = m + BM <= c.m_count && n + BN <= c.n_count && c.whole_values;
#pragma unroll
    for (int first = 0; first < BN; first += AT_ONCE) {
#pragma unroll
      for (int j = 0; j < AT_ONCE / 8; j++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          lathe_pack<float, 2> pack;
          pack.at[0] = sums[first / 8 + j][half * 2];
          pack.at[1] = sums[first / 8 + j][half * 2 + 1];
          lathe_store(lines + (half * 8 + lane / 4) * PADDED + j * 8 + lane % 4 * 2, pack);
        }
      __syncwarp();
      auto each = [&](int at, auto f) {
        const int row = at / (AT_ONCE / 4), column = at % (AT_ONCE / 4) * 4;
        const auto pack = lathe_load<4>(lines + row * PADDED + column);
        f(m + warp * 16 + row, n + first + column, pack.at);
      };
      if (whole) {
#pragma unroll
        for (int at = 0; at < 16 * AT_ONCE / 4; at += 32)
          each(at + lane,
               [&](size_t y, size_t x, const float(&some)[4]) { c.finish_whole(y, x, some, 4); });
      } else {
#pragma unroll 1
        for (int at = 0; at < 16 * AT_ONCE / 4; at += 32)
          each(at + lane, [&](size_t y, size_t x, const float(&some)[4]) {
            if (y < c.m_count && x < c.n_count)
              c.finish(y, x, some, (long long)(c.n_count - x));
          });
      }
      __syncwarp();
    }
  }
};

#endif
