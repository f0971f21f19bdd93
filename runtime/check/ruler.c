/* ruler.c - the errors of many results at a time. */
#include "ruler.h"

#include <float.h>
#include <math.h>

#include "library/double_bits.h"
#include "library/cpu.h"

enum { LANES = 8 /* sums side by side, always of the same elements */ };

ruler ruler_of(const dtype_format *stored, const dtype_format *computed, double largest,
               double most) {
  return (ruler){.times = 1,
                 .computed = 1,
                 .stored_unit = ldexp(1, 1 - stored->digits),
                 .computed_unit = ldexp(1, 1 - computed->digits),
                 .stored_least = ldexp(1, stored->emin),
                 .computed_least = ldexp(1, computed->emin),
                 .largest = largest,
                 .most = most};
}

/* The power of two below a positive number. */
static double power_below(double value) {
  return double_of_bits(double_bits(value) & 0x7ff0000000000000u);
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

static double smaller(double a, double b) {
  return a < b ? a : b;
}

#define MEASURE measure_anywhere
#define TARGET
#include "ruler_loops.h"

#if defined __x86_64__
#define MEASURE measure_avx2
#define TARGET __attribute__((target("avx2")))
#include "ruler_loops.h"

#define MEASURE measure_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,prefer-vector-width=512")))
#include "ruler_loops.h"
#endif

typedef bool measure(const ruler *r, const double *got, const double *expected,
                     const double *magnitude, size_t count, ruler_sums *sums);

static measure *measure_here(void) {
#if defined __x86_64__
  const uint64_t avx512 = LATHE_AVX512F | LATHE_AVX512DQ, here = lathe_cpu_features();

  if ((here & avx512) == avx512)
    return measure_avx512;
  if (here & LATHE_AVX2)
    return measure_avx2;
#endif
  return measure_anywhere;
}

bool ruler_measure(const ruler *r, const double *got, const double *expected,
                   const double *magnitude, size_t count, ruler_sums *sums) {
  return measure_here()(r, got, expected, magnitude, count, sums);
}
