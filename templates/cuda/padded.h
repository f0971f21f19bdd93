/* padded.h - elements from anywhere, and copies of operands whose rows are no multiples of 16 bytes. */
#ifndef LATHE_PADDED_H
#define LATHE_PADDED_H

#include "kernel.h"

/* A chunk of 16 bytes from anywhere, of which the first `there` elements exist: on its way word by word, or element by
 * element, so that no thread waits before it has asked for all of its chunks. */
template <typename T, int V> struct lathe_unaligned {
  unsigned read[V];
  bool by_words;

  __device__ __forceinline__ void load(const T *from, int there) {
    by_words = sizeof(T) == 4 || (there == V && (size_t)from % 4 == 0);
    if (sizeof(T) == 2 && by_words) {
#pragma unroll
      for (int nth = 0; nth < V / 2; nth++)
        read[nth] = reinterpret_cast<const unsigned *>(from)[nth];
    } else {
#pragma unroll
      for (int nth = 0; nth < V; nth++)
        read[nth] = nth >= there     ? 0
                    : sizeof(T) == 4 ? reinterpret_cast<const unsigned *>(from)[nth]
                                     : reinterpret_cast<const unsigned short *>(from)[nth];
    }
  }

  __device__ __forceinline__ uint4 chunk() const {
    uint4 all;
    unsigned word[4];
#pragma unroll
    for (int nth = 0; nth < 4; nth++)
      word[nth] = by_words ? read[nth] : read[nth * V / 4] | read[nth * V / 4 + V / 4 - 1] << 16;
    memcpy(&all, word, sizeof all);
    return all;
  }
};

/* Bytes of the copy of an operand whose rows no tensor map can have; 0: one can. */
static __device__ __forceinline__ size_t lathe_padded(size_t rows, size_t columns, size_t bytes) {
  const size_t row = (columns * bytes + 15) / 16 * 16;
  return columns * bytes == row ? 0 : (rows * row + 63) / 64 * 64;
}

/* Makes that copy, by all threads of the launch: limited by memory, as each thread has four chunks on their way. What
 * pads a row is never multiplied. */
template <typename T>
static __device__ __forceinline__ void lathe_copy_padded(T *to, const T *from, size_t rows,
                                                         size_t columns) {
  constexpr int V = 16 / sizeof(T), AT_ONCE = 4;
  const size_t chunks = (columns + V - 1) / V, all = rows * chunks,
               threads = (size_t)gridDim.x * blockDim.x;
  if (columns % V == 0)
    return;
  for (size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x; first < all;
       first += AT_ONCE * threads) {
    lathe_unaligned<T, V> read[AT_ONCE];
#pragma unroll
    for (int nth = 0; nth < AT_ONCE; nth++) {
      const size_t at = first + nth * threads;
      const size_t row = all >> 32 ? at / chunks : (unsigned)at / (unsigned)chunks;
      const size_t column = (at - row * chunks) * V;
      if (at < all)
        read[nth].load(from + row * columns + column,
                       columns - column < V ? (int)(columns - column) : V);
    }
#pragma unroll
    for (int nth = 0; nth < AT_ONCE; nth++)
      if (first + nth * threads < all)
        reinterpret_cast<uint4 *>(to)[first + nth * threads] = read[nth].chunk();
  }
}

#endif
