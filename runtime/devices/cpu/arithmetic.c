/* arithmetic.c - one core's loops that multiply and add and do nothing else. */
#include "arithmetic.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "library/dtype.h"

#if defined __x86_64__
#include <immintrin.h>

#define LOOP sse2_float
#define TARGET
#define vector __m128
#define number float
#define SUMS 12
#define SET(x) _mm_set1_ps(x)
#define FMA(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#include "arithmetic_loops.h"

#define LOOP sse2_double
#define TARGET
#define vector __m128d
#define number double
#define SUMS 12
#define SET(x) _mm_set1_pd(x)
#define FMA(a, b, c) _mm_add_pd(_mm_mul_pd(a, b), c)
#include "arithmetic_loops.h"

#define LOOP avx2_float
#define TARGET __attribute__((target("avx2,fma")))
#define vector __m256
#define number float
#define SUMS 12
#define SET(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "arithmetic_loops.h"

#define LOOP avx2_double
#define TARGET __attribute__((target("avx2,fma")))
#define vector __m256d
#define number double
#define SUMS 12
#define SET(x) _mm256_set1_pd(x)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#include "arithmetic_loops.h"

#define LOOP avx512_float
#define TARGET __attribute__((target("avx512f")))
#define vector __m512
#define number float
#define SUMS 24
#define SET(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "arithmetic_loops.h"

#define LOOP avx512_double
#define TARGET __attribute__((target("avx512f")))
#define vector __m512d
#define number double
#define SUMS 24
#define SET(x) _mm512_set1_pd(x)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#include "arithmetic_loops.h"

#if __has_include(<amxbf16intrin.h>)
/* Four products of tiles of bf16 in a round, each added to a tile of its own. */
__attribute__((target("amx-tile,amx-bf16"))) static double amx_bf16(size_t rounds) {
  static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } all = {.palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16}};
  static uint16_t halves[16][32]; /* each 0.5 */
  float sum[16][16];

  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 32; j++)
      halves[i][j] = 0x3f00;
  __asm__ volatile("" : : : "memory");
  _tile_loadconfig(&all);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, halves, 64);
  _tile_loadd(5, halves, 64);
  for (size_t round = 0; round < rounds; round++) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_stored(0, sum, 64);
  _tile_release();
  __asm__ volatile("" : : : "memory");
  return (double)sum[0][0];
}
#define AMX_LOOPS {LATHE_AMX_BF16, DEVICE_MATRIX, LATHE_BF16, 4 * 2 * 16 * 16 * 32, amx_bf16},
#else
#define AMX_LOOPS
#endif

typedef double loop(size_t rounds);

static const struct {
  uint64_t features;
  device_unit unit;
  lathe_dtype dtype; /* of vectors, the one that is computed in */
  double each;       /* operations of a round */
  loop *run;
} loops[] = {{LATHE_SSE2, DEVICE_VECTOR, LATHE_F32, 2 * 12 * 4, sse2_float},
             {LATHE_SSE2, DEVICE_VECTOR, LATHE_F64, 2 * 12 * 2, sse2_double},
             {LATHE_AVX2 | LATHE_FMA, DEVICE_VECTOR, LATHE_F32, 2 * 12 * 8, avx2_float},
             {LATHE_AVX2 | LATHE_FMA, DEVICE_VECTOR, LATHE_F64, 2 * 12 * 4, avx2_double},
             {LATHE_AVX512F, DEVICE_VECTOR, LATHE_F32, 2 * 24 * 16, avx512_float},
             {LATHE_AVX512F, DEVICE_VECTOR, LATHE_F64, 2 * 24 * 8, avx512_double},
             AMX_LOOPS};

/* Nanoseconds of a round at its best: batches of some 20 us, for about two milliseconds. */
static double best_time(loop *run) {
  const size_t rounds = 4000;
  const double total_ns = 2e6;
  double best = INFINITY, spent = 0;

  while (spent < total_ns) {
    const double start = clock_ns();
    double taken;
    run(rounds);
    taken = clock_ns() - start;
    best = fmin(best, taken / (double)rounds);
    spent += taken;
  }
  return best;
}

double cpu_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit) {
  const lathe_dtype multiplied =
      unit == DEVICE_VECTOR ? lathe_dtype_format_of(dtype)->computed : dtype;
  double best = 0;

  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    if (loops[i].unit == unit && loops[i].dtype == multiplied &&
        !(loops[i].features & ~on->features))
      best = fmax(best, loops[i].each * 1e9 / best_time(loops[i].run));
  return best;
}

#else

double cpu_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit) {
  (void)on, (void)dtype, (void)unit;
  return 0;
}

#endif
