/* staged.h - rows that a block has in shared memory while it works on them: memory is read and written by 16 bytes,
 * wherever they start. */
#ifndef LATHE_STAGED_H
#define LATHE_STAGED_H

#include "kernel.h"

/* Where a block keeps in shared memory what lies at an address: as far from a multiple of 16 bytes. */
template <typename T> static __device__ __forceinline__ T *lathe_staged(uint4 *room, const T *at) {
  return (T *)((char *)room + (uintptr_t)at % 16);
}

/* A block's threads copy n elements between an address and where that is staged. */
template <typename T>
static __device__ __forceinline__ void lathe_carry(T *to, const T *from, unsigned n) {
  constexpr unsigned N = 16 / sizeof(T);
  const unsigned mine = threadIdx.y * blockDim.x + threadIdx.x, all = blockDim.x * blockDim.y;
  const unsigned head = lathe_head<N>(from, n), packs = (n - head) / N;

  for (unsigned nth = mine; nth < packs; nth += all)
    reinterpret_cast<uint4 *>(to + head)[nth] = reinterpret_cast<const uint4 *>(from + head)[nth];
  for (unsigned nth = mine; nth < n - packs * N; nth += all) {
    const unsigned at = nth < head ? nth : nth + packs * N;
    to[at] = from[at];
  }
}

#endif
