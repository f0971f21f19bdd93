/* simd_avx512.h - vectors of which only the first `count` lanes are in use (count below the
 * number of lanes), by AVX-512's own masks. Loads fill the other lanes with zero. */
#ifndef LATHE_SIMD_AVX512_H
#define LATHE_SIMD_AVX512_H

#include <immintrin.h>

#include "scalar.h"

static inline __mmask16 lathe_mask_part_f32(size_t count) {
  return (__mmask16)((1u << count) - 1);
}

static inline __m512 lathe_load_part_f32(const float *p, size_t count) {
  return _mm512_maskz_loadu_ps(lathe_mask_part_f32(count), p);
}

static inline void lathe_store_part_f32(float *p, __m512 v, size_t count) {
  _mm512_mask_storeu_ps(p, lathe_mask_part_f32(count), v);
}

static inline __mmask8 lathe_mask_part_f64(size_t count) {
  return (__mmask8)((1u << count) - 1);
}

static inline __m512d lathe_load_part_f64(const double *p, size_t count) {
  return _mm512_maskz_loadu_pd(lathe_mask_part_f64(count), p);
}

static inline void lathe_store_part_f64(double *p, __m512d v, size_t count) {
  _mm512_mask_storeu_pd(p, lathe_mask_part_f64(count), v);
}

#endif
