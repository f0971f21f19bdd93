#ifdef LATHE_INTRINSIC_PARTS
#include "simd_avx512.h"
#else
#include <immintrin.h>
#endif
int main(int argc, char **argv) {
  __mmask16 tail = (__mmask16)((1u << argc) - 1);
  __m512 x = _mm512_maskz_loadu_ps(tail, argv);
  x = _mm512_scalef_ps(_mm512_roundscale_ps(x, 0), _mm512_and_ps(x, x));
  x = _mm512_mask_blend_ps(_mm512_fpclass_ps_mask(x, 1), x, _mm512_range_ps(x, x, 4));
  return (int)_mm512_reduce_add_ps(x) + (int)_mm512_movepi16_mask(_mm512_castps_si512(x));
}
