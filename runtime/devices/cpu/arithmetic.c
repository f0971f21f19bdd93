/* arithmetic.c - one core's loops that multiply and add and do nothing else. */
#include "arithmetic.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "library/cpu.h"
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

#define LOOP avx512_bytes
#define TARGET __attribute__((target("avx512f,avx512vnni")))
#define vector __m512i
#define number int
#define SUMS 12 /* of more, gcc 12 copies registers to and fro */
#define SET(x) _mm512_set1_epi32(x)
#define FMA(a, b, c) _mm512_dpbusd_epi32(a, b, c)
#include "arithmetic_loops.h"

#if __has_include(<amxbf16intrin.h>)
#define LOOP amx_halves
#define TARGET __attribute__((target("amx-tile,amx-bf16")))
#define MULTIPLY(to, a, b) _tile_dpbf16ps(to, a, b)
#include "arithmetic_tiles.h"

#define LOOP amx_bytes
#define TARGET __attribute__((target("amx-tile,amx-int8")))
#define MULTIPLY(to, a, b) _tile_dpbssd(to, a, b)
#include "arithmetic_tiles.h"

#define AMX_LOOPS                                                                                  \
  {LATHE_AMX_BF16, DEVICE_MATRIX, LATHE_BF16, 4 * 2 * 16 * 16 * 32, amx_halves},                   \
      {LATHE_AMX_INT8, DEVICE_MATRIX, LATHE_I8, 4 * 2 * 16 * 16 * 64, amx_bytes},
#else
#define AMX_LOOPS
#endif

typedef double loop(size_t rounds);

static const struct {
  uint64_t features;
  device_unit unit;
  lathe_dtype dtype; /* of vectors, the one that is computed in, or i8 */
  double each;       /* operations of a round */
  loop *run;
} loops[] = {{LATHE_SSE2, DEVICE_VECTOR, LATHE_F32, 2 * 12 * 4, sse2_float},
             {LATHE_SSE2, DEVICE_VECTOR, LATHE_F64, 2 * 12 * 2, sse2_double},
             {LATHE_AVX2 | LATHE_FMA, DEVICE_VECTOR, LATHE_F32, 2 * 12 * 8, avx2_float},
             {LATHE_AVX2 | LATHE_FMA, DEVICE_VECTOR, LATHE_F64, 2 * 12 * 4, avx2_double},
             {LATHE_AVX512F, DEVICE_VECTOR, LATHE_F32, 2 * 24 * 16, avx512_float},
             {LATHE_AVX512F, DEVICE_VECTOR, LATHE_F64, 2 * 24 * 8, avx512_double},
             {LATHE_AVX512VNNI, DEVICE_VECTOR, LATHE_I8, 2 * 12 * 64, avx512_bytes},
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

/* The operations to compute: in a type, or in the type that it is computed in. */
typedef struct task {
  uint64_t features;
  lathe_dtype dtype, computed;
  device_unit unit;
} task;

/* Operations per second of a loop. */
static double rate_of_way(void *argument, int way) {
  const task *t = argument;

  if (loops[way].unit != t->unit ||
      (loops[way].dtype != t->dtype && loops[way].dtype != t->computed) ||
      loops[way].features & ~t->features)
    return 0;
  return loops[way].each * 1e9 / best_time(loops[way].run);
}

double cpu_arithmetic_rate(lathe_dtype dtype, device_unit unit, int *way) {
  task t = {lathe_cpu_features(), dtype == LATHE_U8 ? LATHE_I8 : dtype, dtype, unit};

  if (unit == DEVICE_VECTOR)
    t.computed = lathe_dtype_format_of(dtype)->computed;
  return device_best_way(rate_of_way, &t, sizeof loops / sizeof *loops, way);
}

#else

double cpu_arithmetic_rate(lathe_dtype dtype, device_unit unit, int *way) {
  (void)dtype, (void)unit, (void)way;
  return 0;
}

#endif
