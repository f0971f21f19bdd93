/* close.h - numbers that are to be the same but for rounding. */
#ifndef CLOSE_H
#define CLOSE_H

#include <math.h>

#include "tests.h"

/* Equal, or both NaN, or no further off than rounding. */
static inline void assert_close(double got, double expected) {
  if (got == expected || (isnan(got) && isnan(expected)) ||
      fabs(got - expected) <= 1e-14 * fabs(expected))
    return;
  fail_msg("%.17g is not %.17g", got, expected);
}

#endif
