/* simd_avx2.h - vectors of which only the first `count` lanes are in use (count below the number
 * of lanes), by AVX's masked moves. Loads fill the other lanes with zero. */
#ifndef LATHE_SIMD_AVX2_H
#define LATHE_SIMD_AVX2_H

#include <immintrin.h>

#include "scalar.h"

/* A window that starts `count` elements before the end of the ones selects that many lanes. */
static const int32_t lathe_window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

static inline __m256i lathe_window_f32(size_t count) {
  return _mm256_loadu_si256((const __m256i *)(lathe_window + 8 - count));
}

static inline __m256 lathe_mask_part_f32(size_t count) {
  return _mm256_castsi256_ps(lathe_window_f32(count));
}

static inline __m256 lathe_load_part_f32(const float *p, size_t count) {
  return _mm256_maskload_ps(p, lathe_window_f32(count));
}

static inline void lathe_store_part_f32(float *p, __m256 v, size_t count) {
  _mm256_maskstore_ps(p, lathe_window_f32(count), v);
}

static inline __m256i lathe_window_f64(size_t count) {
  return lathe_window_f32(2 * count);
}

static inline __m256d lathe_mask_part_f64(size_t count) {
  return _mm256_castsi256_pd(lathe_window_f64(count));
}

static inline __m256d lathe_load_part_f64(const double *p, size_t count) {
  return _mm256_maskload_pd(p, lathe_window_f64(count));
}

static inline void lathe_store_part_f64(double *p, __m256d v, size_t count) {
  _mm256_maskstore_pd(p, lathe_window_f64(count), v);
}

#endif
