#ifdef LATHE_INTRINSIC_PARTS
#include "simd_avx2.h"
#else
#include <immintrin.h>
#endif
int main(int argc, char **argv) {
  __m256 x = _mm256_set1_ps((float)argc);
  __m256i i = _mm256_add_epi32(_mm256_cvtps_epi32(x), _mm256_set1_epi32(127));
  x = _mm256_fmadd_ps(x, _mm256_cvtph_ps(_mm_set1_epi16(15360)), _mm256_castsi256_ps(i));
  return (void)argv, _mm256_movemask_ps(x);
}
