/* ulp.c - errors in units of the last place. */
#include "ulp.h"

#include <math.h>

#include "library/double_bits.h"

static int exponent_of(double value) {
  return (int)(double_bits(value) >> 52 & 0x7ff) - 1023;
}

/* Scaled in two steps, because the inverse of a spacing may overflow where the spacing does not. */
double ulp_of(const dtype_format *f, double difference, double value) {
  const int exponent = exponent_of(value);
  const int scale = f->digits - 1 - (exponent < f->emin ? f->emin : exponent);
  const int half = scale / 2;

  return fabs(difference) * double_power_of_two(half) * double_power_of_two(scale - half);
}

double ulp_at_edge(const dtype_format *f, double got, long double expected) {
  const long double beyond = ldexpl(1, f->emax + 1);
  const long double unit = ldexpl(1, f->emax - f->digits + 1);
  long double value = got;

  if (isnan(got) || isnan(expected))
    return isnan(got) && isnan(expected) ? 0 : INFINITY;
  if (isinf(expected))
    return (long double)got == expected ? 0 : INFINITY;
  if (isinf(got))
    value = copysignl(beyond, value);
  if (fabsl(expected) > beyond)
    expected = copysignl(beyond, expected);
  return (double)(fabsl(value - expected) / unit);
}
