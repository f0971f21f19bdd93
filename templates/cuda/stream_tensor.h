/* stream_tensor.h - a pass of a stream by tensor cores: of factors that are elements of 16 bits as they are in memory
 * (tensor.h). What comes to the products of keys is rounded to such elements.
 *
 * A block has some rows, all of whose terms stay in shared memory, and COLUMNS of the columns of the products of keys.
 * KEYS at a time are in shared memory or on their way there, two tiles in turn. A warp has whole rows, so that it
 * gathers them in registers, where sums of the first products become the left factors of those of keys. Where there are
 * few rows, warps share the keys of a tile, and merge what they have in the end. */
#ifndef LATHE_STREAM_TENSOR_H
#define LATHE_STREAM_TENSOR_H

#include "stream_rows.h"
#include "tensor.h"
#include "tensor_results.h"

/* Slices of a row's terms. */
template <int TERMS> static __device__ __forceinline__ int lathe_slices_of(size_t terms) {
  return (int)lathe_times(terms, TERMS);
}

/* What a warp has of its rows: tiles of 16 rows and 8 keys, of which threads have what they have of mma's sums. LAST:
 * tiles of a product's columns. A point's numbers, and then its factors, are in place of its sums. */
template <typename Rows, int TILES, int TILES_KEYS, int LAST> struct lathe_tensor_rows {
  static constexpr int FIRSTS = Rows::FIRSTS, LASTS = Rows::LASTS;
  static constexpr int PLACES = lathe_most_of(FIRSTS, Rows::RESULTS, LASTS);
  typedef float sums_of_keys[TILES][TILES_KEYS][4];
  typedef sums_of_keys keys[PLACES];
  typedef float sums_of_columns[TILES][LAST][4];
  typedef sums_of_columns columns[LASTS > 0 ? LASTS : 1];
  static constexpr int KEYS = TILES_KEYS * 8, SUMS = Rows::SUMS > 0 ? Rows::SUMS : 1;
  static constexpr int RESULTS = Rows::RESULTS > 0 ? Rows::RESULTS : 1;
  static constexpr int GATHERED = Rows::SUMS + (Rows::PEAK ? 1 : 0);

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

  /* What the number of a point is that is not there. */
  static __device__ __forceinline__ float nothing(int of) {
    return Rows::PEAK && of == 0 ? -INFINITY : 0;
  }

  /* What follows of sums from row m on, in their place; beyond the last row, what follows there. WHOLE: all keys are
   * there; FREE: and count; ALIGNED: operands at whole points are. */
  template <bool WHOLE, bool FREE, bool ALIGNED, typename Inner>
  static __device__ __forceinline__ void follow(const Inner &a, keys &tile, size_t m, size_t key) {
    typename Rows::row_found rows[TILES][2];
#pragma unroll
    for (int nth = 0; nth < TILES * 2; nth++)
      rows[nth / 2][nth % 2] = a.find_row(lathe_least(m + row_of(nth / 2, nth % 2), a.m_count - 1));
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int j = 0; j < TILES_KEYS; j++) {
        const size_t column = key + column_of(j);
        const long long there = (long long)a.n_count - (long long)column;
        const auto keys = a.template find_keys<2>(column, there);
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const size_t row = lathe_least(m + row_of(i, half), a.m_count - 1);
          float two[FIRSTS][2], to[RESULTS][2];
#pragma unroll
          for (int of = 0; of < FIRSTS; of++)
#pragma unroll
            for (int nth = 0; nth < 2; nth++)
              two[of][nth] = tile[of][i][j][half * 2 + nth];
#pragma unroll
          for (int of = 0; of < RESULTS; of++)
            to[of][0] = to[of][1] = nothing(of);
          if (WHOLE || there > 0)
            Rows::template results<FREE, WHOLE, ALIGNED>(a, rows[i][half], keys, row, column, two,
                                                         there, to);
#pragma unroll
          for (int of = 0; of < RESULTS; of++) {
            tile[of][i][j][half * 2] = to[of][0];
            tile[of][i][j][half * 2 + 1] = WHOLE || there > 1 ? to[of][1] : nothing(of);
          }
        }
      }
  }

  /* By what sums of a thread's rows become smaller where a peak grows. */
  typedef float shares[TILES][2];

  /* Makes sums of a row's products that are below a peak smaller. */
  static __device__ __forceinline__ void shrink(columns &sums, int i, int half, float by) {
#pragma unroll
    for (int last = 0; last < LASTS; last++)
#pragma unroll
      for (int j = 0; j < LAST && Rows::powered(last); j++) {
        sums[last][i][j][half * 2] *= by;
        sums[last][i][j][half * 2 + 1] *= by;
      }
  }
  static __device__ __forceinline__ void shrink(columns &sums, const shares &by) {
#pragma unroll
    for (int nth = 0; nth < TILES * 2 && Rows::PEAK; nth++)
      shrink(sums, nth / 2, nth % 2, by[nth / 2][nth % 2]);
  }

  /* Gathers `there` keys, and leaves factors of their products in place of their numbers; by: of products of keys
   * before. WHOLE: that is all of them. */
  template <bool WHOLE> __device__ __forceinline__ void gather(keys &tile, shares &by, int there) {
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        if (Rows::PEAK) {
          float mine = peak[i][half];
#pragma unroll
          for (int j = 0; j < TILES_KEYS; j++)
            mine = lathe_peak_of(
                mine, lathe_peak_of(tile[0][i][j][half * 2], tile[0][i][j][half * 2 + 1]));
#pragma unroll
          for (int lanes = 1; lanes < 4; lanes *= 2)
            mine = lathe_peak_of(mine, __shfl_xor_sync(0xffffffff, mine, lanes));
          by[i][half] = lathe_shrink_near(peak[i][half], mine);
          Rows::scale(sums[i][half], by[i][half]);
          peak[i][half] = mine;
        }
        const float below = lathe_peak_below(peak[i][half]) * LATHE_LOG2_E;
#pragma unroll
        for (int j = 0; j < TILES_KEYS; j++)
#pragma unroll
          for (int nth = 0; nth < 2; nth++) {
            float of[RESULTS];
#pragma unroll
            for (int result = 0; result < RESULTS; result++)
              of[result] = tile[result][i][j][half * 2 + nth];
            const float power = Rows::PEAK ? lathe_power_near(of[0], below) : 1.0f;
            const bool is_there = WHOLE || column_of(j) + nth < there;
            if (is_there)
              Rows::take(sums[i][half], power, of);
            lathe_each<LASTS>([&](auto last) {
              constexpr int N = decltype(last)::value;
              tile[N][i][j][half * 2 + nth] = is_there ? Rows::template factor<N>(power, of) : 0;
            });
          }
      }
  }

  /* Takes the sums of a tile of keys. at: where the rows from m on are; asked: what masks ask of the keys; by: what
   * products of keys before are to be made smaller by. */
  template <typename Inner>
  __device__ __forceinline__ void take(const Inner &a, const typename Rows::rows_at &at,
                                       const typename Rows::keys_at &asked, keys &tile, shares &by,
                                       size_t m, size_t key) {
    if (key + KEYS <= a.n_count) {
      const bool is_free = Rows::FREE && Rows::is_free(at, asked, a, key, KEYS);
      if (is_free && a.whole_values)
        follow<true, true, true>(a, tile, m, key);
      else if (is_free)
        follow<true, true, false>(a, tile, m, key);
      else if (a.whole_values)
        follow<true, false, true>(a, tile, m, key);
      else
        follow<true, false, false>(a, tile, m, key);
      gather<true>(tile, by, KEYS);
    } else {
      follow<false, false, false>(a, tile, m, key);
      const long long there = (long long)a.n_count - (long long)key;
      gather<false>(tile, by, there < KEYS ? (int)there : KEYS);
    }
  }

  /* The left factor of 16 keys, of tile i: neighbours rounded to elements. */
  template <typename T>
  static __device__ __forceinline__ void factor(unsigned (&to)[4], const sums_of_keys &tile, int i,
                                                int term) {
#pragma unroll
    for (int nth = 0; nth < 4; nth++) {
      const float *const two = &tile[i][term / 8 + nth / 2][nth % 2 * 2];
      to[nth] = lathe_round_two((const T *)nullptr, two[0], two[1]);
    }
  }

  /* Numbers of a thread that parts of the keys leave for the last one: of each of its rows the peak and sums, and those
   * of products. */
  static constexpr int OF_ROW = 1 + Rows::SUMS, OF_ROWS = TILES * 2 * OF_ROW;
  static constexpr int NUMBERS_LEFT = OF_ROWS + LASTS * TILES * LAST * 4;

  /* there: rows of the warp that are there; others leave nothing. */
  template <typename Left>
  __device__ __forceinline__ void leave(const columns &products, const Left &to, int there) const {
#pragma unroll
    for (int i = 0; i < TILES * 2; i++) {
      if (i * 8 >= there)
        continue;
      to.leave(i * OF_ROW, peak[i / 2][i % 2]);
#pragma unroll
      for (int of = 0; of < Rows::SUMS; of++)
        to.leave(i * OF_ROW + 1 + of, sums[i / 2][i % 2][of]);
#pragma unroll
      for (int nth = 0; nth < LASTS * LAST * 2; nth++)
        to.leave(OF_ROWS + i * LASTS * LAST * 2 + nth,
                 products[nth / (LAST * 2)][i / 2][nth / 2 % LAST][i % 2 * 2 + nth % 2]);
    }
  }

  /* Adds what a part has left. */
  template <typename Left>
  __device__ __forceinline__ void join(columns &products, const Left &from, size_t part,
                                       int there) {
#pragma unroll
    for (int i = 0; i < TILES * 2; i++) {
      const int tile = i / 2, half = i % 2;
      float by = 1, terms[SUMS];
      if (i * 8 >= there)
        continue;
      if (Rows::PEAK) {
        const float other = from.take(part, i * OF_ROW),
                    both = lathe_peak_of(peak[tile][half], other),
                    mine = lathe_shrink_near(peak[tile][half], both);
        by = lathe_shrink_near(other, both);
        Rows::scale(sums[tile][half], mine);
        shrink(products, tile, half, mine);
        peak[tile][half] = both;
      }
#pragma unroll
      for (int of = 0; of < Rows::SUMS; of++)
        terms[of] = from.take(part, i * OF_ROW + 1 + of);
      Rows::scale(terms, by);
#pragma unroll
      for (int of = 0; of < Rows::SUMS; of++)
        sums[tile][half][of] += terms[of];
#pragma unroll
      for (int last = 0; last < LASTS; last++)
#pragma unroll
        for (int nth = 0; nth < LAST * 2; nth++) {
          const int j = nth / 2, at = half * 2 + nth % 2;
          const float term = from.take(part, OF_ROWS + (i * LASTS + last) * LAST * 2 + nth);
          products[last][tile][j][at] += Rows::powered(last) ? term * by : term;
        }
    }
  }

  /* Nothing gathered. */
  __device__ __forceinline__ void clear(columns &products) {
    *this = lathe_tensor_rows();
#pragma unroll
    for (int nth = 0; nth < LASTS * TILES * LAST * 4; nth++)
      products[nth / (TILES * LAST * 4)][nth / (LAST * 4) % TILES][nth / 4 % LAST][nth % 4] = 0;
  }

  /* Where blocks share the keys: whether this one is the last, which has all that was gathered. */
  template <int THREADS, bool ALONE>
  __device__ __forceinline__ bool join_all(columns &products, const lathe_stream_tile<float> &block,
                                           int there) {
    const lathe_left<NUMBERS_LEFT, THREADS, ALONE, float> all = {block.work, block.arrived,
                                                                 block.left};
    leave(products, all, there);
    if (!all.is_last())
      return false;
    clear(products);
    for (size_t part = 0; part < block.work.parts; part++)
      join(products, all, part, there);
    return true;
  }

  /* What was gathered of the rows, of all threads that have a share. */
  __device__ __forceinline__ void merge(float *gathered) const {
#pragma unroll
    for (int i = 0; i < TILES; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float *const to = gathered + row_of(i, half) * GATHERED;
        const bool is_first = threadIdx.x % 4 == 0;
        if (Rows::PEAK && is_first)
          to[0] = peak[i][half];
#pragma unroll
        for (int of = 0; of < Rows::SUMS; of++) {
          float sum = sums[i][half][of];
#pragma unroll
          for (int lanes = 1; lanes < 4; lanes *= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, lanes);
          if (is_first)
            to[GATHERED - Rows::SUMS + of] = sum;
        }
      }
    __syncwarp();
  }

  /* Stores the results of the warp's rows, from m and n on. lines: shared memory of the warp's own. */
  template <typename Inner, typename Lasts>
  static __device__ __forceinline__ void finish(const Inner &a, const Lasts &b,
                                                const columns &products, uint4 *lines, size_t m,
                                                size_t n) {
    for (size_t row = threadIdx.x % 32; n == 0 && row < TILES * 16 && m + row < a.m_count;
         row += 32)
      Rows::finish_rows(a, m + row);
    lathe_each<LASTS>([&](auto last) {
      constexpr int N = decltype(last)::value;
      using results = lathe_results_of_warp<LAST * 8>;
      const auto &step = b.template at<N>();
      const bool whole =
          step.whole_values && m + TILES * 16 <= step.m_count && n + LAST * 8 <= step.n_count;
#pragma unroll
      for (int i = 0; i < TILES; i++)
        if (whole)
          results::template finish<true>(step, products[N][i], lines, m + i * 16, n, 0);
        else
          results::template finish<false>(step, products[N][i], lines, m + i * 16, n, 0);
    });
  }
};

/* What the warps of a block leave for the first one: of each, and of its lanes, so many numbers. */
template <int NUMBERS> struct lathe_left_by_warps {
  float *const left;

  __device__ __forceinline__ float *of(size_t warp, int nth) const {
    return left + (warp * NUMBERS + nth) * 32 + threadIdx.x % 32;
  }
  __device__ __forceinline__ void leave(int nth, float number) const {
    *of(threadIdx.x / 32, nth) = number;
  }
  __device__ __forceinline__ float take(size_t warp, int nth) const {
    return *of(warp, nth);
  }
};

/* By mma.sync, of factors that the threads copy: a block of WARPS * TILES * 16 rows, of up to DEPTH terms. SPLIT: warps
 * that share the keys of one warp's rows, where these are all. */
template <typename Firsts, typename Lasts, typename Rows, int WARPS, int TILES, int DEPTH,
          int COLUMNS, int SPLIT>
struct lathe_tensor_stream {
  using firsts = Firsts;
  using lasts = Lasts;
  static constexpr int FIRSTS = Rows::FIRSTS, LASTS = Rows::LASTS;
  using inner = typename lathe_type_at<FIRSTS - 1, firsts>::type;
  using element = typename inner::element;
  static constexpr int KEYS = 64, BM = WARPS * TILES * 16, TERMS = 64, SLICES = DEPTH / TERMS;
  static constexpr int OWN_KEYS = KEYS / SPLIT, THREADS = WARPS * SPLIT * 32;
  static_assert(SPLIT == 1 || WARPS == 1, "warps share rows or keys");
  template <typename Step>
  using first_sums = lathe_tensor_sums<Step, BM, KEYS, TILES * 16, OWN_KEYS, 2>;
  template <typename Step>
  using values_slice = lathe_slice<element, COLUMNS, Step::B_ALONG_K, THREADS>;
  using rows_of = lathe_tensor_rows<Rows, TILES, OWN_KEYS / 8, COLUMNS / 8>;
  static constexpr int ROWS_CHUNKS = first_sums<inner>::slice_a::CHUNKS * SLICES;
  static constexpr int KEYS_CHUNKS = first_sums<inner>::slice_b::CHUNKS * SLICES;
  static constexpr int VALUES_CHUNKS = COLUMNS * 8; /* of 64 keys, 128 bytes of each column */
  static constexpr int KEYS_AT = FIRSTS * ROWS_CHUNKS,
                       VALUES_AT = KEYS_AT + 2 * FIRSTS * KEYS_CHUNKS;
  static constexpr int CHUNKS = VALUES_AT + 2 * LASTS * VALUES_CHUNKS;
  static constexpr int BYTES = CHUNKS * 16 + BM * rows_of::GATHERED * 4;
  static constexpr int LEFT = rows_of::NUMBERS_LEFT * WARPS * 32;
  static_assert(SPLIT == 1 || SPLIT * rows_of::NUMBERS_LEFT * 128 <= CHUNKS * 16,
                "what warps leave has room where the factors were");

  /* What the warps have of the same rows becomes the first one's. */
  static __device__ __forceinline__ void
  merge_warps(rows_of &rows, typename rows_of::columns &products, uint4 *room, int there) {
    const lathe_left_by_warps<rows_of::NUMBERS_LEFT> left = {reinterpret_cast<float *>(room)};
    if (threadIdx.x >= 32)
      rows.leave(products, left, there);
    __syncthreads();
    if (threadIdx.x < 32)
      for (int warp = 1; warp < SPLIT; warp++)
        rows.join(products, left, warp, there);
  }

  /* Where blocks share the keys: whether this one is the last, whose first warp has all that was gathered. */
  static __device__ __forceinline__ bool join_blocks(rows_of &rows,
                                                     typename rows_of::columns &products,
                                                     const lathe_stream_tile<float> &block,
                                                     uint4 *room, int there) {
    const lathe_left<rows_of::NUMBERS_LEFT, 32, false, float> all = {block.work, block.arrived,
                                                                     block.left};
    if (threadIdx.x < 32)
      rows.leave(products, all, there);
    if (!all.is_last())
      return false;
    rows.clear(products);
    for (size_t part = threadIdx.x / 32; part < block.work.parts; part += SPLIT)
      rows.join(products, all, part, there);
    merge_warps(rows, products, room, there);
    return true;
  }

  /* Adds the products of a tile's keys, or of the warp's own. */
  template <typename Step>
  static __device__ __forceinline__ void multiply(const typename rows_of::sums_of_keys &tile,
                                                  typename rows_of::sums_of_columns &sums,
                                                  const uint4 *values, int first) {
#pragma unroll
    for (int k = 0; k < OWN_KEYS; k += 16) {
      unsigned a[TILES][4];
#pragma unroll
      for (int i = 0; i < TILES; i++)
        rows_of::template factor<element>(a[i], tile, i, k);
#pragma unroll
      for (int j = 0; j < COLUMNS / 8; j += 2) {
        unsigned b[4];
        values_slice<Step>::template load<false>(b, values, j * 8, first + k);
#pragma unroll
        for (int i = 0; i < TILES; i++) {
          lathe_mma((const element *)nullptr, sums[i][j], a[i], b[0], b[1]);
          lathe_mma((const element *)nullptr, sums[i][j + 1], a[i], b[2], b[3]);
        }
      }
    }
  }

  static __device__ __forceinline__ void run(firsts &a, lasts &b, uint4 *room,
                                             const lathe_stream_tile<float> &block) {
    const size_t m = block.m, n = block.n;
    auto &c = a.template at<FIRSTS - 1>();
    float *const gathered = reinterpret_cast<float *>(room + CHUNKS);
    const int first = first_sums<inner>::first_m(), first_key = first_sums<inner>::first_n();
    auto keys_from = [&](size_t key) {
      return c.n_count - key < KEYS ? (int)(c.n_count - key) : KEYS;
    };
    auto keys_of = [&](int nth, int turn) {
      return room + KEYS_AT + (turn * FIRSTS + nth) * KEYS_CHUNKS;
    };
    auto values_of = [&](int nth, int turn) {
      return room + VALUES_AT + (turn * LASTS + nth) * VALUES_CHUNKS;
    };
    auto copy_keys = [&](size_t key, int turn) {
      lathe_each<FIRSTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        const auto &step = a.template at<N>();
        using slice = typename first_sums<typename lathe_type_at<N, firsts>::type>::slice_b;
        for (int at = 0; at < lathe_slices_of<TERMS>(step.k_count) && key < block.to; at++)
          slice::copy(
              keys_of(N, turn) + at * slice::CHUNKS,
              [&](int row, int term) { return step.from_b(key + row, at * TERMS + term); },
              keys_from(key), (int)step.k_count - at * TERMS, step.whole_b);
      });
      lathe_end_group();
    };
    auto copy_values = [&](size_t key, int turn) {
      lathe_each<LASTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        const auto &step = b.template at<N>();
        const int columns = step.n_count < n             ? 0
                            : step.n_count - n < COLUMNS ? (int)(step.n_count - n)
                                                         : COLUMNS;
        if (key < block.to)
          values_slice<typename lathe_type_at<N, lasts>::type>::copy(
              values_of(N, turn),
              [&](int row, int term) { return step.from_b(n + row, key + term); }, columns,
              keys_from(key), step.whole_b);
      });
      lathe_end_group();
    };
    rows_of rows;
    typename rows_of::columns products = {};
    lathe_each<FIRSTS>([&](auto nth) {
      constexpr int N = decltype(nth)::value;
      const auto &step = a.template at<N>();
      using slice = typename first_sums<typename lathe_type_at<N, firsts>::type>::slice_a;
      for (int at = 0; at < lathe_slices_of<TERMS>(step.k_count); at++)
        slice::copy(
            room + N * ROWS_CHUNKS + at * slice::CHUNKS,
            [&](int row, int term) { return step.from_a(m + row, at * TERMS + term); },
            c.m_count - m < BM ? (int)(c.m_count - m) : BM, (int)step.k_count - at * TERMS,
            step.whole_a);
    });
    const typename Rows::rows_at at(c, m, BM);
    typename Rows::keys_at asked, asked_next;
    auto next = [&](size_t key) {
      return lathe_next_tile<Rows, KEYS>(at, c, key, block.to, asked_next);
    };
    const typename Rows::rows_at own(c, m + first < c.m_count ? m + first : m, TILES * 16);
    size_t key = next(block.from), following;
    copy_keys(key, 0);
    copy_values(key, 0);
    for (int turn = 0; key < block.to; key = following, turn ^= 1) {
      typename rows_of::keys tile;
      asked = asked_next;
      following = next(key + KEYS);
      lathe_await_groups<1>();
      __syncthreads();
      copy_keys(following, turn ^ 1);
      lathe_each<FIRSTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        using sums_of = first_sums<typename lathe_type_at<N, firsts>::type>;
        sums_of sums;
        for (int at = 0; at < lathe_slices_of<TERMS>(a.template at<N>().k_count); at++)
          sums.multiply(room + N * ROWS_CHUNKS + at * sums_of::slice_a::CHUNKS,
                        keys_of(N, turn) + at * sums_of::slice_b::CHUNKS);
        memcpy(tile[N], sums.sums, sizeof tile[N]);
      });
      typename rows_of::shares by;
      rows.take(c, own, asked, tile, by, m + first, key + first_key);
      rows_of::shrink(products, by);
      lathe_await_groups<1>();
      __syncthreads();
      copy_values(following, turn ^ 1);
      lathe_each<LASTS>([&](auto nth) {
        constexpr int N = decltype(nth)::value;
        multiply<typename lathe_type_at<N, lasts>::type>(tile[N], products[N], values_of(N, turn),
                                                         first_key);
      });
    }
    lathe_await_groups<0>();
    __syncthreads();
    const int there = (int)lathe_least<size_t>(c.m_count - lathe_least(m + first, c.m_count), BM);
    if constexpr (SPLIT > 1) {
      merge_warps(rows, products, room, there);
      if (block.work.parts > 1 && !join_blocks(rows, products, block, room, there))
        return;
      if (threadIdx.x >= 32)
        return;
    } else if (block.work.parts > 1 &&
               !rows.template join_all<WARPS * 32, false>(products, block, there)) {
      return;
    }
    rows.merge(gathered + first * rows_of::GATHERED);
    lathe_show_gathered<FIRSTS, LASTS>(a, b, gathered, m);
    rows_of::finish(c, b, products, room + threadIdx.x / 32 * lathe_results_of_warp<COLUMNS>::ROOM,
                    m + first, n);
  }
};

#endif
