/* find.c - looks in the bench program's table of all ops. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tuning.h"

static int by_name(const void *name, const void *op) {
  return strcmp(name, ((const lathe_op *)op)->name);
}

const lathe_op *lathe_find(const char *name) {
  return !name ? NULL : bsearch(name, lathe_ops, lathe_op_count, sizeof *lathe_ops, by_name);
}

const char *lathe_implementation(const lathe_variant *variant) {
  return variant->implementation ? variant->implementation : variant->op->template_name;
}

lathe_span lathe_span_of(const lathe_op *op, lathe_dtype dtype) {
  const uintptr_t at = (uintptr_t)op, first = (uintptr_t)lathe_ops;

  if (at < first || at >= (uintptr_t)(lathe_ops + lathe_op_count) || dtype >= LATHE_DTYPES)
    return (lathe_span){0};
  return lathe_spans[op - lathe_ops][dtype];
}

const lathe_variant *lathe_select(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                                  uint64_t features, const char *force) {
  const lathe_span span = lathe_span_of(op, dtype);
  const lathe_variant *tuned = NULL;
  double bytes;

  if (span.count == 0 || !dim)
    return NULL;
  bytes = lathe_bytes(op, dtype, dim);
  if (lathe_are_beyond(op, dim, bytes))
    return NULL;
  if (!force)
    tuned = lathe_tuned(op, dtype, dim, features);
  return tuned ? tuned
               : lathe_choose(&lathe_variants[span.first], span.count, dim, bytes, features, force);
}
