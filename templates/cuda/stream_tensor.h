/* stream_tensor.h - two products and what is between them, by tensor cores: of factors that are elements of 16 bits as they
 * are in memory (tensor.h). What is between the products is rounded to such elements.
 *
 * A block has some rows, all of whose terms stay in shared memory, and COLUMNS of the second product's columns. KEYS of the
 * first product's columns at a time are in shared memory or on their way there, two tiles in turn. A warp has whole rows, so
 * that it gathers them in registers, where sums of the first product become the second's left factor. */
#ifndef LATHE_STREAM_TENSOR_H
#define LATHE_STREAM_TENSOR_H

#include "stream_rows.h"
#include "tensor.h"
#include "tensor_results.h"

/* What a warp has of its rows: tiles of 16 rows and 8 keys, of which threads have what they have of mma's sums. LAST: tiles
 * of the second product's columns. */
template <typename Rows, int TILES, int TILES_KEYS, int LAST> struct lathe_tensor_rows {
  typedef float keys[TILES][TILES_KEYS][4];
  typedef float columns[TILES][LAST][4];
  static constexpr int KEYS = TILES_KEYS * 8, SUMS = Rows::SUMS > 0 ? Rows::SUMS : 1;
  static constexpr int GATHERED = Rows::SUMS + (Rows::PEAK ? 1 : 0);
  static_assert(Rows::RESULTS <= 1, "there is one number at a point, in place of the sum");

  /* Of each of a thread's rows, its share of the keys. */
  float peak[TILES][2], sums[TILES][2][SUMS];

  __device__ __forceinline__ lathe_tensor_rows() {
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        peak[i][half] = -INFINITY;
#pragma unroll
        for (int of = 0; of < SUMS; of++)
          sums[i][half][of] = 0;
      }
  }
  static __device__ __forceinline__ int row_of(int tile, int half) {
    return tile * 16 + half * 8 + (int)threadIdx.x % 32 / 4;
  }
  static __device__ __forceinline__ int column_of(int tile) {
    return tile * 8 + (int)threadIdx.x % 4 * 2;
  }

  /* What follows of sums from row m on, in their place. WHOLE: all rows and keys are there; FREE: and count. */
  template <bool WHOLE, bool FREE, typename First>
  static __device__ __forceinline__ void follow(const First &a, keys &tile, size_t m, size_t key) {
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int half = 0; half < 2; half++)
#pragma unroll
        for (int j = 0; j < TILES_KEYS; j++) {
          float *const at = &tile[i][j][half * 2];
          const size_t row = m + row_of(i, half), column = key + column_of(j);
          const long long there = (long long)a.n_count - (long long)column;
          const float two[2] = {at[0], at[1]}, nothing = Rows::PEAK ? -INFINITY : 0;
          float to[1][2] = {{nothing, nothing}};
          if (WHOLE || (row < a.m_count && there > 0))
            Rows::template results<FREE>(a, row, column, two, there, to);
          at[0] = to[0][0];
          at[1] = WHOLE || there > 1 ? to[0][1] : nothing;
        }
  }

  /* Makes sums of the second product smaller, of one row. */
  static __device__ __forceinline__ void shrink(columns &second, int i, int half, float by) {
#pragma unroll
    for (int j = 0; j < LAST && Rows::POWERED; j++) {
      second[i][j][half * 2] *= by;
      second[i][j][half * 2 + 1] *= by;
    }
  }

  /* Gathers `there` keys, and leaves the second product's factor in place of their numbers. WHOLE: that is all of them. */
  template <bool WHOLE>
  __device__ __forceinline__ void gather(keys &tile, columns &second, int there) {
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        if (Rows::PEAK) {
          float mine = peak[i][half];
#pragma unroll
          for (int j = 0; j < TILES_KEYS; j++)
            mine =
                lathe_peak_of(mine, lathe_peak_of(tile[i][j][half * 2], tile[i][j][half * 2 + 1]));
#pragma unroll
          for (int lanes = 1; lanes < 4; lanes *= 2)
            mine = lathe_peak_of(mine, __shfl_xor_sync(0xffffffff, mine, lanes));
          const float by = lathe_shrink_near(peak[i][half], mine);
          Rows::scale(sums[i][half], by);
          peak[i][half] = mine;
          shrink(second, i, half, by);
        }
        const float below = lathe_peak_below(peak[i][half]) * LATHE_LOG2_E;
#pragma unroll
        for (int j = 0; j < TILES_KEYS; j++)
#pragma unroll
          for (int nth = 0; nth < 2; nth++) {
            float &at = tile[i][j][half * 2 + nth];
            const float of[1] = {at};
            const float power = Rows::PEAK ? lathe_power_near(of[0], below) : 1.0f;
            const bool is_there = WHOLE || column_of(j) + nth < there;
            if (is_there)
              Rows::take(sums[i][half], power, of);
            at = is_there ? Rows::factor(power, of) : 0;
          }
      }
  }

  /* Takes the sums of a tile of keys. at: where the rows from m on are; whole: whether all of them are there. */
  template <typename First>
  __device__ __forceinline__ void take(const First &a, const typename Rows::rows_at &at, keys &tile,
                                       columns &second, size_t m, size_t key, bool whole) {
    if (whole && key + KEYS <= a.n_count) {
      if (Rows::FREE && Rows::is_free(at, a, key, KEYS))
        follow<true, true>(a, tile, m, key);
      else
        follow<true, false>(a, tile, m, key);
      gather<true>(tile, second, KEYS);
    } else {
      follow<false, false>(a, tile, m, key);
      gather<false>(tile, second, a.n_count - key < KEYS ? (int)(a.n_count - key) : KEYS);
    }
  }

  /* The left factor of 16 terms of the second product, of tile i: neighbours rounded to elements. */
  template <typename T>
  static __device__ __forceinline__ void factor(unsigned (&to)[4], const keys &tile, int i,
                                                int term) {
#pragma unroll
    for (int nth = 0; nth < 4; nth++) {
      const float *const two = &tile[i][term / 8 + nth / 2][nth % 2 * 2];
      to[nth] = lathe_round_two((const T *)nullptr, two[0], two[1]);
    }
  }

  /* What was gathered of the rows, of all threads that have a share; and the second product's sums with what they are
   * multiplied by in the end. all: keys. */
  __device__ __forceinline__ void merge(columns &second, float *gathered, size_t all) {
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float *const to = gathered + row_of(i, half) * GATHERED;
        const float lost = lathe_lost<Rows>(peak[i][half], all);
        const bool is_first = threadIdx.x % 4 == 0;
        if (Rows::PEAK && is_first)
          to[0] = peak[i][half];
        Rows::scale(sums[i][half], lost);
#pragma unroll
        for (int of = 0; of < Rows::SUMS; of++) {
          float sum = sums[i][half][of];
#pragma unroll
          for (int lanes = 1; lanes < 4; lanes *= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, lanes);
          if (is_first)
            to[GATHERED - Rows::SUMS + of] = sum;
        }
        if (Rows::PEAK)
          shrink(second, i, half, lost);
      }
    __syncwarp();
  }

  /* Stores the results of the warp's rows, from m and n on. lines: shared memory of the warp's own. */
  template <typename Second>
  static __device__ __forceinline__ void finish(const Second &b, const columns &second,
                                                uint4 *lines, size_t m, size_t n) {
    for (size_t row = threadIdx.x % 32; n == 0 && row < TILES * 16 && m + row < b.m_count;
         row += 32)
      Rows::finish_rows(b, m + row);
#pragma unroll
    for (int i = 0; i < TILES; i++)
      lathe_results_of_warp<LAST * 8>::template finish<false>(b, second[i], lines, m + i * 16, n,
                                                              0);
  }
};

/* By mma.sync, of factors that the threads copy: a block of WARPS * 32 rows, of up to DEPTH terms. */
template <typename First, typename Second, typename Rows, int WARPS, int DEPTH, int COLUMNS>
struct lathe_tensor_stream {
  using element = typename First::element;
  static constexpr int KEYS = 64, BM = WARPS * 32, TERMS = 64, SLICES = DEPTH / TERMS;
  using first_sums = lathe_tensor_sums<First, BM, KEYS, 32, KEYS, 2>;
  using rows_of = lathe_tensor_rows<Rows, 2, KEYS / 8, COLUMNS / 8>;
  using rows_slice = typename first_sums::slice_a;
  using keys_slice = typename first_sums::slice_b;
  using values_slice = lathe_slice<element, COLUMNS, Second::B_ALONG_K, WARPS * 32>;
  static constexpr int CHUNKS =
      SLICES * (rows_slice::CHUNKS + 2 * keys_slice::CHUNKS) + 2 * values_slice::CHUNKS;
  static constexpr int BYTES = CHUNKS * 16 + BM * rows_of::GATHERED * 4;

  /* Adds the products of a tile's keys. */
  static __device__ __forceinline__ void multiply(const typename rows_of::keys &tile,
                                                  typename rows_of::columns &second,
                                                  const uint4 *values) {
#pragma unroll
    for (int k = 0; k < KEYS; k += 16) {
      unsigned a[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++)
        rows_of::template factor<element>(a[i], tile, i, k);
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; j += 2) {
        unsigned b[4];
        values_slice::template load<false>(b, values, j * 8, k);
#pragma unroll
        for (int i = 0; i < 2; i++) {
          lathe_mma((const element *)nullptr, second[i][j], a[i], b[0], b[1]);
          lathe_mma((const element *)nullptr, second[i][j + 1], a[i], b[2], b[3]);
        }
      }
    }
  }

  static __device__ __forceinline__ void run(const First &a, Second &b, uint4 *room, size_t m,
                                             size_t n) {
    uint4 *const keys = room + SLICES * rows_slice::CHUNKS, *const values =
                                                                keys +
                                                                2 * SLICES * keys_slice::CHUNKS;
    float *const gathered = reinterpret_cast<float *>(room + CHUNKS);
    const int slices = (int)lathe_times(a.k_count, TERMS), first = first_sums::first_m();
    const int columns = b.n_count - n < COLUMNS ? (int)(b.n_count - n) : COLUMNS;
    auto terms_of = [&](int slice) { return (int)a.k_count - slice * TERMS; };
    auto keys_from = [&](size_t key) {
      return a.n_count - key < KEYS ? (int)(a.n_count - key) : KEYS;
    };
    auto copy_keys = [&](size_t key, int turn) {
      for (int slice = 0; slice < slices && key < a.n_count; slice++)
        keys_slice::copy(
            keys + (turn * SLICES + slice) * keys_slice::CHUNKS,
            [&](int row, int term) { return a.from_b(key + row, slice * TERMS + term); },
            keys_from(key), terms_of(slice), a.whole_b);
      lathe_end_group();
    };
    auto copy_values = [&](size_t key, int turn) {
      if (key < a.n_count)
        values_slice::copy(
            values + turn * values_slice::CHUNKS,
            [&](int row, int term) { return b.from_b(n + row, key + term); }, columns,
            keys_from(key), b.whole_b);
      lathe_end_group();
    };
    rows_of rows;
    typename rows_of::columns second = {};
    for (int slice = 0; slice < slices; slice++)
      rows_slice::copy(
          room + slice * rows_slice::CHUNKS,
          [&](int row, int term) { return a.from_a(m + row, slice * TERMS + term); },
          a.m_count - m < BM ? (int)(a.m_count - m) : BM, terms_of(slice), a.whole_a);
    const typename Rows::rows_at at(a, m, BM);
    auto next = [&](size_t key) { return lathe_next_tile<Rows, KEYS>(at, a, key); };
    const typename Rows::rows_at own(a, m + first < a.m_count ? m + first : m, 32);
    size_t key = next(0), following;
    copy_keys(key, 0);
    copy_values(key, 0);
    for (int turn = 0; key < a.n_count; key = following, turn ^= 1) {
      first_sums tile;
      following = next(key + KEYS);
      lathe_await_groups<1>();
      __syncthreads();
      copy_keys(following, turn ^ 1);
      for (int slice = 0; slice < slices; slice++)
        tile.multiply(room + slice * rows_slice::CHUNKS,
                      keys + (turn * SLICES + slice) * keys_slice::CHUNKS);
      rows.take(a, own, tile.sums, second, m + first, key, m + BM <= a.m_count);
      lathe_await_groups<1>();
      __syncthreads();
      copy_values(following, turn ^ 1);
      multiply(tile.sums, second, values + turn * values_slice::CHUNKS);
    }
    lathe_await_groups<0>();
    __syncthreads();
    rows.merge(second, gathered + first * rows_of::GATHERED, a.n_count);
    b.gathered = gathered;
    b.first_m = m;
    rows_of::finish(b, second, room + threadIdx.x / 32 * lathe_results_of_warp<COLUMNS>::ROOM,
                    m + first, n);
  }
};

#endif
