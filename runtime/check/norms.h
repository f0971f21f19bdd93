/* norms.h - the 2-norms of an output's errors, and what they may be: the second law of judge.h. */
#ifndef NORMS_H
#define NORMS_H

#include "library/dtype.h"

/* The squares of an output's 2-norms: of the errors, of what was expected, of the magnitudes. */
typedef struct norms {
  long double off, expected, magnitude, fourth; /* fourth: powers of the magnitudes */
  size_t count;
} norms;

/* What an output is judged by. */
typedef struct norms_law {
  const dtype_format *stored, *computed;
  bool narrow;  /* stored in a narrower type than computed in */
  double bound; /* the spec's */
} norms_law;

/* How many units of what was expected, 1e-5 in f32, elements may be off by together where their magnitudes allow
 * more. */
extern const double norms_relative;

void norms_add(norms *n, const double *difference, const double *expected, const double *magnitude,
               size_t count);
void norms_join(norms *all, const norms *more);

/* The norm of the errors and what is allowed, as shares of what was expected: where as many elements as `alike`, all of
 * one magnitude, would have such norms, and are off by at most `relative` units of what was expected where their
 * magnitudes allow more. Both are left as they are where the law does not apply. */
void norms_judge(const norms_law *law, const norms *n, long double alike, long double relative,
                 double *off, double *allowed);

/* What elements of one sign in one row have in common: the products of differences and magnitudes, of magnitudes. */
typedef struct norms_common {
  long double off, magnitude;
} norms_common;

/* Moves a row's share, by sign, from what elements are off each by itself to what they are off together, and begins the
 * next row. */
void norms_end_row(norms_common row[2], norms *apart, norms *together);

#endif
