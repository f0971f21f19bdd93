/* turn.h - squares of numbers turned over: after the header of an instruction set. */
#ifndef LATHE_TURN_H
#define LATHE_TURN_H

#include <stddef.h>

/* Turns a square of as many rows as a vector has lanes over: row t of the result goes to `to` + t * apart, in the
 * order of t, so that a row may end where the next one begins. */

#if defined LATHE_SIMD_AVX512_H

static inline void lathe_turn_f32(const float *from, float *to, size_t apart) {
  __m512 a[16], b[16];
  for (int i = 0; i < 16; i++)
    a[i] = _mm512_loadu_ps(from + 16 * i);
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; j++) {
      const __m512d low = _mm512_castps_pd(b[i + j]), high = _mm512_castps_pd(b[i + j + 2]);
      a[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
      a[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
  /* a[4 * g + i] has columns i, i + 4, ... of rows 4 * g ... 4 * g + 3 */
  for (int i = 0; i < 4; i++) {
    b[i] = _mm512_shuffle_f32x4(a[i], a[i + 4], 0x88);
    b[i + 4] = _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd);
    b[i + 8] = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0x88);
    b[i + 12] = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; i++) {
    a[i] = _mm512_shuffle_f32x4(b[i], b[i + 8], 0x88);
    a[i + 8] = _mm512_shuffle_f32x4(b[i], b[i + 8], 0xdd);
  }
  for (int i = 0; i < 16; i++, to += apart)
    _mm512_storeu_ps(to, a[i]);
}

static inline void lathe_turn_f64(const double *from, double *to, size_t apart) {
  __m512d a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    const __m512d low = _mm512_loadu_pd(from + 8 * i), high = _mm512_loadu_pd(from + 8 * i + 8);
    a[i] = _mm512_unpacklo_pd(low, high);
    a[i + 1] = _mm512_unpackhi_pd(low, high);
  }
  /* a[2 * g + i] has columns i, i + 2, ... of rows 2 * g and 2 * g + 1 */
  for (int i = 0; i < 2; i++) {
    b[i] = _mm512_shuffle_f64x2(a[i], a[i + 2], 0x88);
    b[i + 2] = _mm512_shuffle_f64x2(a[i], a[i + 2], 0xdd);
    b[i + 4] = _mm512_shuffle_f64x2(a[i + 4], a[i + 6], 0x88);
    b[i + 6] = _mm512_shuffle_f64x2(a[i + 4], a[i + 6], 0xdd);
  }
  for (int i = 0; i < 4; i++) {
    a[i] = _mm512_shuffle_f64x2(b[i], b[i + 4], 0x88);
    a[i + 4] = _mm512_shuffle_f64x2(b[i], b[i + 4], 0xdd);
  }
  for (int i = 0; i < 8; i++, to += apart)
    _mm512_storeu_pd(to, a[i]);
}

#elif defined LATHE_SIMD_AVX2_H

static inline void lathe_turn_f32(const float *from, float *to, size_t apart) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    const __m256 low = _mm256_loadu_ps(from + 8 * i), high = _mm256_loadu_ps(from + 8 * i + 8);
    a[i] = _mm256_unpacklo_ps(low, high);
    a[i + 1] = _mm256_unpackhi_ps(low, high);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; j++) {
      b[i + 2 * j] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0x44);
      b[i + 2 * j + 1] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0xee);
    }
  /* b[4 * g + i] has columns i and i + 4 of rows 4 * g ... 4 * g + 3 */
  for (int i = 0; i < 4; i++) {
    a[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    a[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
  for (int i = 0; i < 8; i++, to += apart)
    _mm256_storeu_ps(to, a[i]);
}

static inline void lathe_turn_f64(const double *from, double *to, size_t apart) {
  __m256d a[4], b[4];
  for (int i = 0; i < 4; i += 2) {
    const __m256d low = _mm256_loadu_pd(from + 4 * i), high = _mm256_loadu_pd(from + 4 * i + 4);
    a[i] = _mm256_unpacklo_pd(low, high);
    a[i + 1] = _mm256_unpackhi_pd(low, high);
  }
  /* a[2 * g + i] has columns i and i + 2 of rows 2 * g and 2 * g + 1 */
  for (int i = 0; i < 2; i++) {
    b[i] = _mm256_permute2f128_pd(a[i], a[i + 2], 0x20);
    b[i + 2] = _mm256_permute2f128_pd(a[i], a[i + 2], 0x31);
  }
  for (int i = 0; i < 4; i++, to += apart)
    _mm256_storeu_pd(to, b[i]);
}

#elif defined LATHE_SIMD_SSE2_H

static inline void lathe_turn_f32(const float *from, float *to, size_t apart) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + 4), c = _mm_loadu_ps(from + 8);
  __m128 d = _mm_loadu_ps(from + 12);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + apart, b);
  _mm_storeu_ps(to + 2 * apart, c);
  _mm_storeu_ps(to + 3 * apart, d);
}

static inline void lathe_turn_f64(const double *from, double *to, size_t apart) {
  const __m128d a = _mm_loadu_pd(from), b = _mm_loadu_pd(from + 2);
  _mm_storeu_pd(to, _mm_unpacklo_pd(a, b));
  _mm_storeu_pd(to + apart, _mm_unpackhi_pd(a, b));
}

#else /* vectors of 16 bytes */

static inline void lathe_turn_f32(const float *from, float *to, size_t apart) {
  for (size_t i = 0; i < 16; i++)
    to[i / 4 * apart + i % 4] = from[i % 4 * 4 + i / 4];
}

static inline void lathe_turn_f64(const double *from, double *to, size_t apart) {
  for (size_t i = 0; i < 4; i++)
    to[i / 2 * apart + i % 2] = from[i % 2 * 2 + i / 2];
}

#endif

#endif
