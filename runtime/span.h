/* span.h - where in the table the variants of one op and type stand. The generator writes it beside
 * the table; it is apart from lathe.h, for kernels have no use for it. */
#ifndef SPAN_H
#define SPAN_H

#include "lathe.h"

typedef struct lathe_span {
  size_t first, count;  /* rows of lathe_variants */
  const char *left_out; /* by which option of configure none of them was built, or null */
} lathe_span;

/* Of each of lathe_ops, by type. */
extern const lathe_span lathe_spans[][LATHE_DTYPES];

/* select.c: empty for an op that is not in the table. */
lathe_span lathe_span_of(const lathe_op *op, lathe_dtype dtype);

#endif
