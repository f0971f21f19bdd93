/* tf32.h - numbers as tensor cores multiply them: with 11 digits (tf32), which are the first of f32's.
 * lathe_mma_numbers (ptx.h) multiplies what these give. */
#ifndef LATHE_TF32_H
#define LATHE_TF32_H

#include "kernel.h"

/* A number whose first 11 digits are the nearest. Infinities and NaN stay what they are; the last 13 bits mean
 * nothing. */
static __device__ __forceinline__ unsigned lathe_rounded(float x) {
  return __float_as_uint(x) + (fabsf(x) < INFINITY ? 0x1000 : 0);
}

/* A number as the sum of two of 11 digits. Of what is not finite they may be anything that makes a sum NaN. */
static __device__ __forceinline__ void lathe_halve(float x, unsigned &high, unsigned &low) {
  high = lathe_rounded(x) & ~0x1fffu;
  low = lathe_rounded(x - __uint_as_float(high));
}

/* As lathe_mma has it of types of 16 bits. */
static __device__ __forceinline__ void lathe_mma(const float *, float (&sums)[4],
                                                 const unsigned (&a)[4], unsigned b0, unsigned b1) {
  lathe_mma_numbers(sums, a, b0, b1);
}

#endif
