/* terms.h - is the term at the index that a kernel found as good as that at the reference's? Where terms
 * are rounded (lathe_bench.rounded_terms), a kernel's may be equal or in another order than the
 * reference's, and the first of the largest another one. */
#ifndef TERMS_H
#define TERMS_H

#include "problem/problem.h"

/* Findings about some indexes of such an output, each against the reference's. */
typedef struct terms terms;

/* Null where the output is no such index, or memory is short; freed by terms_free. */
terms *terms_make(const problem *p, int output, const void *got);
void terms_free(terms *t);

/* How far the terms at element i's index and at the reference's are apart, in units of the last place that
 * each of both would have to be off by; infinite where one is NaN or no term. */
double terms_error(const terms *t, size_t i);

#endif
