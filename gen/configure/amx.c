#ifdef LATHE_INTRINSIC_PARTS
#include "simd_amx.h"
#else
#include <immintrin.h>
#endif
int main(int argc, char **argv) {
  __m512 x = _mm512_scalef_ps(_mm512_set1_ps((float)argc), _mm512_loadu_ps(argv));
  _tile_loadd(0, argv, 64);
  _tile_dpbf16ps(1, 0, 2);
  _tile_dpbssd(3, 0, 2);
  _tile_release();
  return (int)_mm512_reduce_add_ps(x);
}
