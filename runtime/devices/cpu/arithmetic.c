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

typedef double loop(size_t rounds);

static const struct {
  uint64_t features;
  lathe_dtype dtype;
  double each; /* operations of a round */
  loop *run;
} loops[] = {
    {LATHE_SSE2, LATHE_F32, 2 * 12 * 4, sse2_float},
    {LATHE_SSE2, LATHE_F64, 2 * 12 * 2, sse2_double},
    {LATHE_AVX2 | LATHE_FMA, LATHE_F32, 2 * 12 * 8, avx2_float},
    {LATHE_AVX2 | LATHE_FMA, LATHE_F64, 2 * 12 * 4, avx2_double},
    {LATHE_AVX512F, LATHE_F32, 2 * 24 * 16, avx512_float},
    {LATHE_AVX512F, LATHE_F64, 2 * 24 * 8, avx512_double},
};

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
  const lathe_dtype computed = lathe_dtype_format_of(dtype)->computed;
  double best = 0;

  for (size_t i = 0; i < sizeof loops / sizeof *loops && unit == DEVICE_VECTOR; i++)
    if (loops[i].dtype == computed && !(loops[i].features & ~on->features))
      best = fmax(best, loops[i].each * 1e9 / best_time(loops[i].run));
  return best;
}

#else

double cpu_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit) {
  (void)on, (void)dtype, (void)unit;
  return 0;
}

#endif
