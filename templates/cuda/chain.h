/* chain.h - layers that each row of a batch goes through, a thread a row.
 *
 * A step's struct C is as in tiles.h, with factors that are read one by one: row m of a, times the matrix b. What is
 * between layers is in the workspace, where each thread reads what it wrote itself. */
#ifndef LATHE_CHAIN_H
#define LATHE_CHAIN_H

#include "tiles.h"

/* One layer of the block's rows: COLUMNS results at a time, of slices of the matrix that all threads share. */
template <typename C, int COLUMNS, int TERMS>
static __device__ __forceinline__ void
lathe_chain_layer(const C &here, size_t row, typename C::number (&slice)[TERMS][COLUMNS]) {
  using number = typename C::number;
  constexpr int AT_ONCE = 16 / sizeof(number); /* that a step finishes together */

  for (size_t n = 0; n < here.n_count; n += COLUMNS) {
    number sums[COLUMNS / AT_ONCE][AT_ONCE] = {};
    for (size_t k = 0; k < here.k_count; k += TERMS) {
      const int terms = here.k_count - k < TERMS ? (int)(here.k_count - k) : TERMS;
      __syncthreads();
      for (int at = (int)threadIdx.x; at < TERMS * COLUMNS; at += (int)blockDim.x) {
        const int column = at / TERMS, term = at % TERMS; /* as most matrices lie in memory */
        typename C::raw_b raw;
        number x[1] = {0};
        here.template load_b<false>(raw, n + column, k + term);
        here.make_b(raw, x);
        slice[term][column] = x[0];
      }
      __syncthreads();
      for (int term = 0; term < terms && row < here.m_count; term++) {
        typename C::raw_a raw;
        number x[1];
        here.template load_a<true>(raw, row, k + term);
        here.make_a(raw, x);
#pragma unroll
        for (int column = 0; column < COLUMNS; column++)
          sums[column / AT_ONCE][column % AT_ONCE] = lathe_multiply_add(
              x[0], slice[term][column], sums[column / AT_ONCE][column % AT_ONCE]);
      }
    }
#pragma unroll
    for (int column = 0; column < COLUMNS; column += AT_ONCE)
      if (row < here.m_count && n + column < here.n_count)
        here.finish(row, n + column, sums[column / AT_ONCE],
                    (long long)(here.n_count - n - column));
  }
}

#endif
