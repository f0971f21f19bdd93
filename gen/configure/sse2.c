#include <emmintrin.h>
int main(int argc, char **argv) {
  __m128 x = _mm_set1_ps((float)argc);
  __m128i i = _mm_slli_epi32(_mm_cvtps_epi32(x), 23);
  return (void)argv, _mm_movemask_ps(_mm_cmplt_ps(x, _mm_castsi128_ps(i)));
}
