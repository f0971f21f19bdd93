/* norms.c - the 2-norms of an output's errors, and what they may be. */
#include "norms.h"

#include <math.h>

/* The allowance of the second law, in units of one rounding: of a magnitude, for rounding errors are random; and of the
 * result. */
static const double usual = 0.5;
static const double most_bound = 64; /* a larger one allows few elements no more */
const double norms_relative = 84;

void norms_add(norms *n, const double *difference, const double *expected, const double *magnitude,
               size_t count) {
  n->count += count;
  for (size_t i = 0; i < count; i++) {
    const long double square = (long double)magnitude[i] * magnitude[i];
    n->off += (long double)difference[i] * difference[i];
    n->expected += (long double)expected[i] * expected[i];
    n->magnitude += square;
    n->fourth += square * square;
  }
}

void norms_join(norms *all, const norms *more) {
  all->count += more->count;
  all->off += more->off;
  all->expected += more->expected;
  all->magnitude += more->magnitude;
  all->fourth += more->fourth;
}

/* The rounding of numbers below the normal range is allowed besides. */
void norms_judge(const norms_law *law, const norms *n, long double alike, long double relative,
                 double *off, double *allowed) {
  const long double expected = sqrtl(n->expected), magnitude = sqrtl(n->magnitude);
  const long double unit = ldexpl(1, 1 - law->computed->digits);
  const long double half = ldexpl(1, -law->stored->digits);
  const long double share = fminl(law->bound, usual + 1.5L * law->bound / sqrtl(alike));
  const long double bound = fminl(law->bound, most_bound);
  const long double few = fminl(bound, usual + 1.5L * bound / alike);
  const long double most = fmaxl(relative * expected, few * magnitude);
  const long double least = ldexpl(sqrtl((long double)n->count), law->stored->emin) * half;
  const long double all = unit * fminl(share * magnitude, most) +
                          (law->narrow ? half * expected : 0) + least * fmaxl(1, 2 * law->bound);

  if (law->bound == 0 || expected == 0)
    return;
  *off = (double)(sqrtl(n->off) / expected);
  *allowed = (double)(all / expected);
}

void norms_end_row(norms_common row[2], norms *apart, norms *together) {
  for (int sign = 0; sign < 2; sign++)
    if (row[sign].magnitude > 0) {
      const long double off = row[sign].off * row[sign].off / row[sign].magnitude;
      apart->off -= off;
      together->off += off;
      together->fourth += row[sign].magnitude * row[sign].magnitude;
    }
  row[0] = row[1] = (norms_common){0, 0};
}
