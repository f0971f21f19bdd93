/* ruler.h - the errors of many results at a time, and what the 2-norms of all are made of. */
#ifndef RULER_H
#define RULER_H

#include <stdbool.h>
#include <stddef.h>

#include "library/dtype.h"

/* By what errors are measured, as judge.h has it: a difference times `times`, over as many spacings of the stored
 * format's numbers at the reference, and of the computed's at the magnitude. */
typedef struct ruler {
  double times, stored, computed;
  double stored_unit, computed_unit;   /* a spacing, of the power of two below */
  double stored_least, computed_least; /* a format's smallest normal number */
  double largest;                      /* the stored format's largest number */
  double most;                         /* that a magnitude counts as */
} ruler;

ruler ruler_of(const dtype_format *stored, const dtype_format *computed, double largest,
               double most);

/* The worst error, and sums of the squares of differences, references and magnitudes, and of these to the fourth. */
typedef struct ruler_sums {
  double worst, off, expected, magnitude, fourth;
} ruler_sums;

/* The worst error of count elements, and their sums. False, with nothing of use, where one is no ordinary number: not
 * finite or beyond the format, with a magnitude that is not finite, or a zero of the other sign. */
bool ruler_measure(const ruler *r, const double *got, const double *expected,
                   const double *magnitude, size_t count, ruler_sums *sums);

#endif
