/* simd_sse2.h - what SSE2 lacks: vectors of which only the first `count` lanes are in use (count
 * below the number of lanes; loads fill the others with zero), and a product and sum rounded once. */
#ifndef LATHE_SIMD_SSE2_H
#define LATHE_SIMD_SSE2_H

#include <emmintrin.h>

#include "scalar.h"

static inline __m128 lathe_mask_part_f32(size_t count) {
  const __m128i lane = _mm_setr_epi32(0, 1, 2, 3);
  return _mm_castsi128_ps(_mm_cmplt_epi32(lane, _mm_set1_epi32((int)count)));
}

static inline __m128 lathe_load_part_f32(const float *p, size_t count) {
  const __m128 pair = count < 2 ? _mm_setzero_ps() : _mm_castpd_ps(_mm_load_sd((const double *)p));
  return count == 1 ? _mm_load_ss(p) : count == 2 ? pair : _mm_movelh_ps(pair, _mm_load_ss(p + 2));
}

static inline void lathe_store_part_f32(float *p, __m128 v, size_t count) {
  if (count == 1) {
    _mm_store_ss(p, v);
    return;
  }
  _mm_storel_pi((__m64 *)p, v);
  if (count == 3) {
    _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
  }
}

static inline __m128d lathe_mask_part_f64(size_t count) {
  return _mm_castsi128_pd(_mm_set_epi32(0, 0, -(int)count, -(int)count));
}

static inline __m128d lathe_load_part_f64(const double *p, size_t count) {
  return count == 1 ? _mm_load_sd(p) : _mm_setzero_pd();
}

static inline void lathe_store_part_f64(double *p, __m128d v, size_t count) {
  if (count == 1) {
    _mm_store_sd(p, v);
  }
}

/* Two floats' product is exact in double; the sum is rounded to double and then to float, which
 * differs from one rounding only where the double lies within 2^-29 ulp of a tie. */
static inline __m128 lathe_fma_f32(__m128 a, __m128 b, __m128 c) {
  const __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
  a = _mm_movehl_ps(a, a), b = _mm_movehl_ps(b, b), c = _mm_movehl_ps(c, c);
  const __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

static inline __m128d lathe_fma_f64(__m128d a, __m128d b, __m128d c) {
  const double low = __builtin_fma(_mm_cvtsd_f64(a), _mm_cvtsd_f64(b), _mm_cvtsd_f64(c));
  a = _mm_unpackhi_pd(a, a), b = _mm_unpackhi_pd(b, b), c = _mm_unpackhi_pd(c, c);
  const double high = __builtin_fma(_mm_cvtsd_f64(a), _mm_cvtsd_f64(b), _mm_cvtsd_f64(c));
  return _mm_setr_pd(low, high);
}

#endif
