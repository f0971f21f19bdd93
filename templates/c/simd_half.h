/* simd_half.h - what the instruction sets without masked moves of 16-bit elements share: a vector of
 * which only the first `count` of at most eight elements are in memory (count is 1 to 7), by moves of
 * what is there. */
#ifndef LATHE_SIMD_HALF_H
#define LATHE_SIMD_HALF_H

#include <emmintrin.h>

#include "few.h"
#include "half.h"

/* The other elements are zero. */
static inline __m128i lathe_load_halves(const uint16_t *p, size_t count) {
  if (count < 4) {
    return _mm_cvtsi64_si128((long long)lathe_get_halves(p, count));
  }
  /* The first four and the last four, of which those are shifted out that the first have. */
  const uint64_t rest = lathe_load_64(p + count - 4) >> 16 * (7 - count) >> 16;
  return _mm_set_epi64x((long long)rest, (long long)lathe_load_64(p));
}

static inline void lathe_store_halves(uint16_t *p, __m128i v, size_t count) {
  const uint64_t low = (uint64_t)_mm_cvtsi128_si64(v);
  if (count < 4) {
    lathe_put_halves(p, low, count);
    return;
  }
  const uint64_t high = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(v, v));
  lathe_store_64(p, low);
  lathe_store_64(p + count - 4, low >> 16 * (count - 4) | high << 16 * (7 - count) << 16);
}

#endif
