/* simd_whole.h - i8 and u8 of SSE2 and AVX2: up to eight in memory, as many floats in a register. The including header
 * has lathe_widen_TYPE, of the first bytes of a register, and lathe_narrow_TYPE, which leaves them there. */
#ifndef LATHE_SIMD_WHOLE_H
#define LATHE_SIMD_WHOLE_H

#include <emmintrin.h>

#include "few.h"
#include "whole.h"

/* The first `count` bytes, 1 to 7; the others are zero. */
static inline __m128i lathe_load_bytes(const void *p, size_t count) {
  return _mm_cvtsi64_si128((long long)lathe_get_bytes(p, count));
}

static inline void lathe_store_bytes(void *p, __m128i bytes, size_t count) {
  lathe_put_bytes(p, (uint64_t)_mm_cvtsi128_si64(bytes), count);
}

static inline __m128i lathe_load_4_bytes(const void *p) {
  int four;
  memcpy(&four, p, sizeof four);
  return _mm_cvtsi32_si128(four);
}

static inline void lathe_store_4_bytes(void *p, __m128i bytes) {
  const int four = _mm_cvtsi128_si32(bytes);
  memcpy(p, &four, sizeof four);
}

static inline __m128i lathe_load_8_bytes(const void *p) {
  return _mm_loadl_epi64((const __m128i *)p);
}

static inline void lathe_store_8_bytes(void *p, __m128i bytes) {
  _mm_storel_epi64((__m128i *)p, bytes);
}

/* p is aligned for eight. */
static inline void lathe_stream_8_bytes(void *p, __m128i bytes) {
  _mm_stream_si64((long long *)p, _mm_cvtsi128_si64(bytes));
}

#endif
