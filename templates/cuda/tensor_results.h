/* tensor_results.h - a warp's results of tensor cores on their way to memory, which takes whole lines several times as
 * fast as what the threads have: through shared memory of its own. */
#ifndef LATHE_TENSOR_RESULTS_H
#define LATHE_TENSOR_RESULTS_H

#include "tiles.h"

/* Of 16 rows, of which threads have what they have of mma's sums. A struct C is as in tiles.h. */
template <int COLUMNS> struct lathe_results_of_warp {
  /* A warp's results in shared memory: half of its rows, some columns at once. */
  static constexpr int LINE = COLUMNS < 64 ? COLUMNS : 64, CHUNKS = LINE / 4;
  static_assert(COLUMNS % LINE == 0, "lines are of as many columns");
  static constexpr int ROOM = 8 * CHUNKS; /* of shared memory for each warp, in 16 bytes */

  static __device__ __forceinline__ int lane() {
    return (int)threadIdx.x % 32;
  }

  /* Where in shared memory four columns of a row are: in other banks than those of the rows beside it. */
  static __device__ __forceinline__ int place_of(int row, int chunk) {
    return row * CHUNKS + (chunk ^ (CHUNKS < 8 ? row : row * 2) % CHUNKS / 2 * 2);
  }

  /* Stores the results from row m and column n on, but for `lost` rows, a bit for each. WHOLE: they are all there. */
  template <bool WHOLE, typename C>
  static __device__ __forceinline__ void finish(const C &c, const float (&sums)[COLUMNS / 8][4],
                                                uint4 *lines, size_t m, size_t n, unsigned lost) {
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int first_of = 0; first_of < COLUMNS; first_of += LINE) {
#pragma unroll
        for (int tile = 0; tile < LINE / 8; tile++) {
          const float(&four)[4] = sums[first_of / 8 + tile];
          lathe_pack<float, 2> pack;
          pack.at[0] = four[half * 2];
          pack.at[1] = four[half * 2 + 1];
          uint4 *const line = lines + place_of(lane() / 4, tile * 2 + lane() % 4 / 2);
          lathe_store(reinterpret_cast<float *>(line) + lane() % 2 * 2, pack);
        }
        __syncwarp();
#pragma unroll
        for (int at = lane(); at < 8 * CHUNKS; at += 32) {
          const int row = at / CHUNKS;
          const size_t column = n + first_of + at % CHUNKS * 4;
          const auto pack =
              lathe_load<4>(reinterpret_cast<const float *>(lines + place_of(row, at % CHUNKS)));
          if (WHOLE)
            c.finish_whole(m + half * 8 + row, column, pack.at, 4);
          else if (m + half * 8 + row < c.m_count && column < c.n_count &&
                   !(lost >> (half * 8 + row) & 1))
            c.finish(m + half * 8 + row, column, pack.at, (long long)(c.n_count - column));
        }
        __syncwarp();
      }
  }
};

#endif
