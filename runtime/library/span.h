/* span.h - what the generator writes beside the table: where in it the variants of one op and type stand, and
 * of which files each was made. It is apart from lathe.h, for kernels have no use for it. */
#ifndef SPAN_H
#define SPAN_H

#include "lathe.h"

typedef struct lathe_span {
  size_t first, count;  /* rows of lathe_variants */
  const char *left_out; /* by which option of configure none of them was built, or null */
} lathe_span;

/* Of each of lathe_ops, by type. */
extern const lathe_span lathe_spans[][LATHE_DTYPES];

/* A file that the build made, below out/gen, and how many variants are in it. */
typedef struct lathe_made {
  const char *path; /* null for none */
  size_t variants;
} lathe_made;

/* Of each of lathe_variants: the file with its code, and the one with the host's side of it. */
enum { LATHE_MADE_OF = 2 };
extern const lathe_made lathe_variants_made[][LATHE_MADE_OF];

/* select.c: empty for an op that is not in the table. */
lathe_span lathe_span_of(const lathe_op *op, lathe_dtype dtype);

#endif
