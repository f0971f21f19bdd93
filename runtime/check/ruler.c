/* ruler.c - the errors of many results at a time: loops without branches, which compilers make vectors of. */
#include "ruler.h"

#include <float.h>
#include <math.h>

#include "library/double_bits.h"

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

static bool all_ordinary(const ruler *r, const double *got, const double *expected,
                         const double *magnitude, size_t count) {
  uint64_t odd = 0;

  for (size_t i = 0; i < count; i++) {
    const bool fits = (fabs(got[i]) <= r->largest) & (fabs(expected[i]) <= r->largest) &
                      (magnitude[i] <= DBL_MAX);
    const bool other_zero =
        (got[i] == expected[i]) & (double_bits(got[i]) != double_bits(expected[i]));
    odd |= !fits | other_zero; /* branches would be guessed wrong half of the time */
  }
  return !odd;
}

/* Adds the squares of up to LANES elements, each to the sums of its lane. */
typedef struct lanes {
  double off[LANES], expected[LANES], magnitude[LANES], fourth[LANES];
} lanes;

static void add_squares(lanes *to, const double *got, const double *expected,
                        const double *magnitude, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double apart = got[i] - expected[i];
    const double most = larger(magnitude[i], fabs(expected[i])), square = most * most;
    to->off[i] += apart * apart;
    to->expected[i] += expected[i] * expected[i];
    to->magnitude[i] += square;
    to->fourth[i] += square * square;
  }
}

bool ruler_measure(const ruler *r, const double *got, const double *expected,
                   const double *magnitude, size_t count, double *error, ruler_sums *sums) {
  lanes all = {{0}, {0}, {0}, {0}};
  size_t done = 0;

  if (!all_ordinary(r, got, expected, magnitude, count))
    return false;
  for (size_t i = 0; i < count; i++) {
    const double at = fabs(expected[i]);
    const double most = magnitude[i] < r->most ? magnitude[i] : r->most;
    const double stored = r->stored_unit * power_below(larger(at, r->stored_least));
    const double computed =
        r->computed_unit * power_below(larger(larger(at, most), r->computed_least));
    error[i] =
        r->times * fabs(got[i] - expected[i]) / (r->stored * stored + r->computed * computed);
  }
  for (; count - done >= LANES; done += LANES)
    add_squares(&all, got + done, expected + done, magnitude + done, LANES);
  add_squares(&all, got + done, expected + done, magnitude + done, count - done);
  *sums = (ruler_sums){0, 0, 0, 0};
  for (int lane = 0; lane < LANES; lane++) {
    sums->off += all.off[lane];
    sums->expected += all.expected[lane];
    sums->magnitude += all.magnitude[lane];
    sums->fourth += all.fourth[lane];
  }
  return true;
}
