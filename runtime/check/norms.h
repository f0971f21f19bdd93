/* norms.h - the 2-norms of an output's errors, and what they may be: the second law of judge.h. */
#ifndef NORMS_H
#define NORMS_H

#include "library/dtype.h"

/* The squares of an output's 2-norms: of the errors, of the expected results, of the magnitudes. */
typedef struct norms {
  long double off, expected, magnitude, fourth; /* fourth: powers of the magnitudes */
  size_t count;
} norms;

/* The law for an output. */
typedef struct norms_law {
  const dtype_format *stored, *computed;
  bool narrow;  /* stored in a narrower type than computed in */
  double bound; /* the spec's */
} norms_law;

/* The most units of the expected result that elements may be off by together, 1e-5 in f32, whatever their magnitudes
 * allow. */
extern const double norms_relative;

void norms_add(norms *n, const double *difference, const double *expected, const double *magnitude,
               size_t count);
void norms_join(norms *all, const norms *more);

/* The norm of the errors, and the most that is allowed, as shares of the expected norm. alike: so many elements of one
 * magnitude would have such norms. relative: the most units of the expected norm, whatever the magnitudes allow. Both
 * are left as they are where the law does not apply. */
void norms_judge(const norms_law *law, const norms *n, long double alike, long double relative,
                 double *off, double *allowed);

/* Sums over the elements of one sign in one row: of differences times magnitudes, and of squared magnitudes. */
typedef struct norms_common {
  long double off, magnitude;
} norms_common;

/* Moves the common errors of a row, by sign, from the errors of single elements (apart) to those of rows (together),
 * and begins the next row. */
void norms_end_row(norms_common row[2], norms *apart, norms *together);

#endif
