/* tensor_layers.h - layers that a block's rows go through, one after the other, by tensor cores.
 *
 * What a layer reads of the rows is in shared memory: elements as they are in memory, or numbers that a layer before
 * has left. Its matrix comes in slices of TERMS terms and COLUMNS columns, STAGES of which are there or on their way,
 * also those of the layers to come. Elements of 16 bits are multiplied as they are, with products that are exact. A
 * number is multiplied as the sum of two of 11 digits each (tf32), of which no digit within f32's bounds is lost: so
 * what is between layers is as good as f32, and never beyond the range of a type of 16 bits. A layer of f32 may have
 * its factors rounded to 11 digits instead (LATHE_ROUNDED), for a third of the products.
 *
 * With STAGES 0 the block's columns of all matrices are there whole: that takes fewer instructions, and no waiting from
 * slice to slice.
 *
 * A warp has sums of TILES_M x 16 rows and TILES_N x 8 columns. Where all warps have the same rows and a layer has few
 * columns, several share the terms of the same columns. */
#ifndef LATHE_TENSOR_LAYERS_H
#define LATHE_TENSOR_LAYERS_H

#include "tensor_factors.h"
#include "tiles.h"

template <typename T, int BM, int COLUMNS, int WARPS_M, int WARPS_N, int STAGES>
struct lathe_tensor_layers {
  static constexpr int TERMS = 64, V = 16 / sizeof(T), PAD = V;
  static constexpr int THREADS = WARPS_M * WARPS_N * 32;
  static constexpr int TILES_M = BM / WARPS_M / 16, TILES_N = COLUMNS / WARPS_N / 8;
  static constexpr int ALONG = COLUMNS * (TERMS + PAD), ACROSS = TERMS * (COLUMNS + PAD);
  static constexpr int SLICE = ALONG > ACROSS ? ALONG : ACROSS; /* elements */
  static constexpr int MERGED = 8192;                           /* bytes */
  static_assert(TILES_N % 2 == 0, "columns of the right factor are loaded for two tiles");
  static_assert(WARPS_M > 1 || (TILES_M == 1 && WARPS_N * TILES_N * 512 <= MERGED),
                "there is room to merge");

  float *const merged;
  T *const slices;
  unsigned char *const tiles; /* what layers read */
  /* Of a cluster, whose blocks share the columns of each layer: a power of two. */
  const unsigned blocks, rank, shift;
  /* The slice to be copied next, by its layer, and where it goes; where the next one is to be found. */
  int at_layer, at_chunk, at_term;
  T *copied;
  const T *found;

  __device__ __forceinline__ lathe_tensor_layers(uint4 *room, unsigned blocks)
      : merged(reinterpret_cast<float *>(room)),
        slices(reinterpret_cast<T *>(merged + (WARPS_M > 1 ? 0 : MERGED / 4))),
        tiles(reinterpret_cast<unsigned char *>(slices + STAGES * SLICE)), blocks(blocks),
        rank(blockIdx.x & (blocks - 1)), shift(blocks > 4   ? 3
                                               : blocks > 2 ? 2
                                               : blocks > 1 ? 1
                                                            : 0),
        at_layer(0), at_chunk(0), at_term(0), copied(slices), found(slices) {
  }

  static __device__ __forceinline__ int warp() {
    return (int)threadIdx.x / 32;
  }
  static __device__ __forceinline__ int lane() {
    return (int)threadIdx.x % 32;
  }
  /* Elements from one row of a tile to the next. */
  static __device__ __forceinline__ int line_of(size_t terms) {
    return (int)lathe_times(terms, TERMS) * TERMS + 8;
  }

  /* The columns of a layer that are this block's, from `first` on. */
  struct share {
    int first, columns, each; /* each: the most that a block has, a multiple of 16 */
  };
  __device__ __forceinline__ share share_of(size_t columns) const {
    const int each = (int)(((columns + 15) / 16 + blocks - 1) >> shift) * 16;
    const int first = (int)rank * each, left = (int)columns - first;
    return {first, left < each ? (left < 0 ? 0 : left) : each, each};
  }

  /* The place in a ring of slices after one. */
  template <typename S> __device__ __forceinline__ S *after(S *slice) const {
    return slice == slices + (STAGES - 1) * SLICE ? slices : slice + SLICE;
  }

  /* `there` elements, from(v) each, and zeros up to 16 bytes. */
  template <typename From>
  static __device__ __forceinline__ void copy(T *to, From from, int there, bool whole) {
    there = there < 0 ? 0 : there < V ? there : V;
    if (whole) {
      lathe_copy_some(to, from(0), there * (int)sizeof(T));
    } else {
      lathe_pack<T, V> pack;
#pragma unroll
      for (int v = 0; v < V; v++)
        pack.at[v] = v < there ? *from(v) : T(0.0f);
      lathe_store(to, pack);
    }
  }

  /* Begins to copy the rows of an operand that a layer reads. */
  template <typename C>
  __device__ __forceinline__ void copy_rows(const C &here, T *tile, size_t m) const {
    const int line = line_of(here.k_count), terms = (int)here.k_count;
#pragma unroll 1
    for (int row = warp(); row < BM; row += THREADS / 32)
#pragma unroll 1
      for (int k = lane() * V; k < line - 8; k += 32 * V)
        copy(
            tile + row * line + k, [&](int v) { return here.from_a(m + row, k + v); },
            m + row < here.m_count ? terms - k : 0, here.whole_a);
  }

  /* Elements from one line of a whole matrix to the next, and of all. */
  template <typename C> __device__ __forceinline__ int length_of(const C &here) const {
    return C::B_ALONG_K ? line_of(here.k_count) : share_of(here.n_count).each + V;
  }
  template <typename C> __device__ __forceinline__ int room_of(const C &here) const {
    const int lines =
        C::B_ALONG_K ? share_of(here.n_count).each : ((int)here.k_count + 15) / 16 * 16;
    return lines * length_of(here);
  }

  /* Begins to copy the block's columns of a layer's matrix. */
  template <typename C> __device__ __forceinline__ void copy_matrix(const C &here, T *to) const {
    const share mine = share_of(here.n_count);
    const int length = length_of(here), terms = (int)here.k_count, n = mine.first;
    const int lines = C::B_ALONG_K ? mine.columns : terms,
              places = C::B_ALONG_K ? terms : mine.columns;
    const int all_lines = (lines + 15) / 16 * 16, all_places = (places + 15) / 16 * 16;
    const size_t apart = (C::B_ALONG_K ? here.from_b(1, 0) : here.from_b(0, 1)) - here.from_b(0, 0);
    int log = 5; /* of the threads of a line */
    while (log > 0 && V << (log - 1) >= all_places)
      log--;
    const int first = (int)threadIdx.x >> log, begin = ((int)threadIdx.x & ((1 << log) - 1)) * V;
    const T *from = C::B_ALONG_K ? here.from_b(n + first, 0) : here.from_b(n, first);
#pragma unroll 1
    for (int line = first; line < all_lines; line += THREADS >> log) {
#pragma unroll 1
      for (int place = begin; place < all_places; place += V << log)
        copy(
            to + line * length + place,
            [&](int v) {
              return here.whole_b   ? from + place
                     : C::B_ALONG_K ? here.from_b(n + line, place + v)
                                    : here.from_b(n + place + v, line);
            },
            line < lines ? places - place : 0, here.whole_b);
      from += (THREADS >> log) * apart;
    }
  }

  /* Begins to copy the next slice of layer number `nth`; false where there is none, and it is the next one's turn. */
  template <typename C> __device__ __forceinline__ bool copy_slice(const C &here, int nth) {
    const share mine = share_of(here.n_count);
    const int deep = (int)here.k_count;
    if (at_layer != nth)
      return false;
    if (at_chunk >= mine.columns || deep == 0) {
      at_layer++;
      at_chunk = 0;
      return false;
    }
    const int left = mine.columns - at_chunk, columns = left < COLUMNS ? left : COLUMNS;
    const int n = mine.first + at_chunk, k = at_term, terms = deep - k;
    constexpr int LINES = C::B_ALONG_K ? COLUMNS : TERMS, LENGTH = C::B_ALONG_K ? TERMS : COLUMNS;
    constexpr int ACROSS = LENGTH / V, STEP = THREADS / ACROSS; /* lines at once */
    static_assert(STEP * ACROSS == THREADS && LINES % STEP == 0, "all threads have as many copies");
    const int place = (int)threadIdx.x % ACROSS * V, first = (int)threadIdx.x / ACROSS;
    const T *from =
        C::B_ALONG_K ? here.from_b(n + first, k + place) : here.from_b(n + place, k + first);
    const size_t apart = (C::B_ALONG_K ? here.from_b(1, 0) : here.from_b(0, 1)) - here.from_b(0, 0);
    const int more = C::B_ALONG_K ? terms - place : columns - place;
    T *to = copied + first * (LENGTH + PAD) + place;
#pragma unroll 1
    for (int line = first; line < LINES; line += STEP) {
      const int lines = C::B_ALONG_K ? columns : terms;
      if (C::B_ALONG_K && line >= (columns + 15) / 16 * 16)
        break;
      copy(
          to,
          [&](int v) {
            return here.whole_b   ? from
                   : C::B_ALONG_K ? here.from_b(n + line, k + place + v)
                                  : here.from_b(n + place + v, k + line);
          },
          line < lines ? more : 0, here.whole_b);
      to += STEP * (LENGTH + PAD);
      from += STEP * apart;
    }
    copied = after(copied);
    at_term += TERMS;
    if (at_term >= deep) {
      at_term = 0;
      at_chunk += COLUMNS;
    }
    return true;
  }

  /* Waits for the next slice, and begins to copy another one: more(). */
  template <typename More> __device__ __forceinline__ const T *next(More more) {
    const T *const slice = found;
    lathe_await_groups<(STAGES > 2 ? STAGES - 2 : 0)>();
    __syncthreads();
    more();
    found = after(found);
    return slice;
  }

  /* Sums of 16 terms from k on; of a slice the same from `at` on. */
  template <bool ALONG_K>
  __device__ __forceinline__ void
  multiply_elements(float (&sums)[TILES_M][TILES_N][4], const T *tile, int line, int k,
                    const T *slice, int length, int column, int columns, int at) const {
    unsigned a[TILES_M][4];
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
      lathe_load_matrices<false>(a[i], tile + (first_row() + i * 16 + lane() % 16) * line + k +
                                           lane() / 16 * 8);
#pragma unroll
    for (int j = 0; j < TILES_N; j += 2) {
      lathe_right<T> b;
      if (column + j * 8 >= columns)
        break;
      b.template load<ALONG_K>(slice, length, column + j * 8, at);
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
#pragma unroll
        for (int second = 0; second < 2; second++)
          lathe_mma((const T *)nullptr, sums[i][j + second], a[i], b.words[second * 2],
                    b.words[second * 2 + 1]);
    }
  }

  template <bool ALONG_K, lathe_factor LEFT>
  __device__ __forceinline__ void
  multiply_numbers(float (&sums)[TILES_M][TILES_N][4], const float *tile, int line, int k,
                   const T *slice, int length, int column, int columns, int at) const {
    constexpr lathe_factor RIGHT = sizeof(T) == 2 ? LATHE_AS_IT_IS : LEFT;
    unsigned high[TILES_M][2][4], low[TILES_M][2][4];
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
      for (int further = 0; further < 2; further++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          const float2 two = *reinterpret_cast<const float2 *>(
              tile + (first_row() + i * 16 + half * 8 + lane() / 4) * line + k + further * 8 +
              lane() % 4 * 2);
          lathe_part<LEFT>(two.x, high[i][further][half], low[i][further][half]);
          lathe_part<LEFT>(two.y, high[i][further][half + 2], low[i][further][half + 2]);
        }
#pragma unroll
    for (int j = 0; j < TILES_N; j += 2) {
      lathe_right<T> b;
      if (column + j * 8 >= columns)
        break;
      b.template load<ALONG_K>(slice, length, column + j * 8, at);
#pragma unroll
      for (int second = 0; second < 2; second++)
#pragma unroll
        for (int further = 0; further < 2; further++) {
          const float2 two = b.numbers(second, further);
          unsigned whole[2], rest[2];
          lathe_part<RIGHT>(two.x, whole[0], rest[0]);
          lathe_part<RIGHT>(two.y, whole[1], rest[1]);
#pragma unroll
          for (int i = 0; i < TILES_M; i++) {
            float few[4] = {0, 0, 0, 0}; /* tensor cores cut off what they add, f32 rounds it */
            float(&to)[4] = RIGHT == LATHE_HALVED ? few : sums[i][j + second];
            if (RIGHT == LATHE_HALVED)
              lathe_mma_numbers(to, high[i][further], rest[0], rest[1]);
            if (LEFT == LATHE_HALVED)
              lathe_mma_numbers(to, low[i][further], whole[0], whole[1]);
            lathe_mma_numbers(to, high[i][further], whole[0], whole[1]);
#pragma unroll
            for (int nth = 0; nth < 4 && RIGHT == LATHE_HALVED; nth++)
              sums[i][j + second][nth] += few[nth];
          }
        }
    }
  }

  static __device__ __forceinline__ int first_row() {
    return warp() / WARPS_N * TILES_M * 16;
  }

  /* A sum that is no number may be one of parts alone, as infinity times the 0 that a number's second part may be; and
   * of tiny numbers a part has fewer digits. Those are added up as they are. */
  template <typename C>
  static __device__ __forceinline__ void mend(const C &here, float &sum, const float *row,
                                              size_t n) {
    if (fabsf(sum) >= 0x1p-100f || sum == 0 || n >= here.n_count)
      return;
    sum = 0;
#pragma unroll 1
    for (size_t k = 0; k < here.k_count; k++)
      sum = fmaf(row[k], float(*here.from_b(n, k)), sum);
  }

  static __device__ __forceinline__ void clear(float (&sums)[TILES_M][TILES_N][4]) {
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
#pragma unroll
        for (int nth = 0; nth < 4; nth++)
          sums[i][j][nth] = 0;
  }

  /* Adds up what warps have that share terms: those of the first. */
  __device__ __forceinline__ void merge(float (&sums)[TILES_M][TILES_N][4], int apart,
                                        int sharing) const {
    float *const mine = merged + warp() * TILES_N * 128 + lane();
    __syncthreads(); /* what was merged before is read */
#pragma unroll
    for (int j = 0; j < TILES_N; j++)
#pragma unroll
      for (int nth = 0; nth < 4; nth++)
        mine[(j * 4 + nth) * 32] = sums[0][j][nth];
    __syncthreads();
    for (int other = 1; other < sharing && warp() < apart; other++)
#pragma unroll
      for (int j = 0; j < TILES_N; j++)
#pragma unroll
        for (int nth = 0; nth < 4; nth++)
          sums[0][j][nth] += mine[(other * apart * TILES_N * 4 + j * 4 + nth) * 32];
  }

  template <bool ALONG_K, lathe_factor LEFT, typename A>
  __device__ __forceinline__ void multiply(float (&sums)[TILES_M][TILES_N][4], const A *tile,
                                           int line, int k, const T *slice, int length, int column,
                                           int columns, int at) const {
    if constexpr (sizeof(A) == 2)
      multiply_elements<ALONG_K>(sums, tile, line, k, slice, length, column, columns, at);
    else
      multiply_numbers<ALONG_K, LEFT>(sums, tile, line, k, slice, length, column, columns, at);
  }

  /* A layer of the rows in a tile: finish(row, n, sums) for each two neighbouring sums that there are; more: as in
   * next; matrix: where it is whole; LEFT: what numbers of a row are multiplied as. */
  template <lathe_factor LEFT, typename C, typename A, typename More, typename Finish>
  __device__ __forceinline__ void layer(const C &here, const A *tile, const T *matrix, More more,
                                        Finish finish) {
    const share mine = share_of(here.n_count);
    const int line = line_of(here.k_count), terms = (int)here.k_count;
    for (int chunk = 0; chunk < mine.columns; chunk += COLUMNS) {
      const int columns = mine.columns - chunk < COLUMNS ? mine.columns - chunk : COLUMNS;
      int sharing = 1;
      if constexpr (WARPS_M == 1)
        while (columns * sharing * 2 <= COLUMNS)
          sharing *= 2;
      if (sharing > WARPS_N)
        sharing = WARPS_N;
      const int apart = WARPS_N / sharing, part = warp() % WARPS_N / apart;
      const int column = warp() % WARPS_N % apart * TILES_N * 8;
      float sums[TILES_M][TILES_N][4];
      clear(sums);
      if constexpr (STAGES == 0) {
        const int length = length_of(here);
#pragma unroll 2
        for (int k = part * 16; k < terms; k += sharing * 16)
          multiply<C::B_ALONG_K, LEFT>(sums, tile, line, k, matrix, length, chunk + column,
                                       mine.columns, k);
      } else {
        for (int k = 0; k < terms; k += TERMS) {
          const T *const slice = next(more);
#pragma unroll
          for (int at = 0; at < TERMS; at += 16)
            if (k + at < terms && ((k + at) / 16 & (sharing - 1)) == part)
              multiply<C::B_ALONG_K, LEFT>(sums, tile, line, k + at, slice,
                                           (C::B_ALONG_K ? TERMS : COLUMNS) + PAD, column, columns,
                                           at);
        }
      }
      if (sharing > 1)
        merge(sums, apart, sharing);
      if (part > 0)
        continue;
#pragma unroll
      for (int i = 0; i < TILES_M; i++)
#pragma unroll
        for (int j = 0; j < TILES_N; j++)
#pragma unroll
          for (int half = 0; half < 2; half++) {
            const int row = first_row() + i * 16 + half * 8 + lane() / 4;
            const int at = column + j * 8 + lane() % 4 * 2;
            float two[2] = {sums[i][j][half * 2], sums[i][j][half * 2 + 1]};
            if (column + j * 8 >= (columns + 15) / 16 * 16)
              continue;
            const size_t n = (size_t)mine.first + chunk + at;
            if constexpr (sizeof(A) == 4) {
              mend(here, two[0], tile + row * line, n);
              mend(here, two[1], tile + row * line, n + 1);
            }
            finish(row, n, two);
          }
    }
  }

  /* Leaves two neighbouring numbers of a row, zeros past the last, for a layer of all blocks to read. */
  __device__ __forceinline__ void leave(float *tile, int line, int row, size_t n, size_t count,
                                        const float (&numbers)[2]) const {
    const float2 two = {n < count ? numbers[0] : 0, n + 1 < count ? numbers[1] : 0};
    float2 *const to = reinterpret_cast<float2 *>(tile + row * line + n);
    if (blocks == 1)
      *to = two;
    else
      for (unsigned block = 0; block < blocks; block++)
        lathe_put(to, two, block);
  }
};

#endif
