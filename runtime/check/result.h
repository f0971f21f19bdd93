/* result.h - what kernels leave of an output, in its own type. */
#ifndef RESULT_H
#define RESULT_H

#include "devices/common/device.h"
#include "problem/problem.h"

/* A variant whose results are made wrong on purpose, and how many were so far; and its calls, of some sizes. */
typedef struct result_source {
  device *on;
  const lathe_variant *variant;
  int tried;
  struct {
    device_call *call;
    size_t dim[LATHE_MAX_DIMS];
  } kept[2];
} result_source;

void result_source_free(result_source *from);

/* The results of a right kernel, or where `from` is not null what that variant leaves; to be freed, null where memory
 * is short or it can't be run. */
void *result_of(result_source *from, const problem *p, int output);

/* Whether a result would pass for right: as the device's own, or where `from` is null as any kernel's. */
bool result_passes(const result_source *from, const problem *p, int output, const void *result);

/* Whether two results have the same numbers; -0 is 0. */
bool result_is_same(const problem *p, int output, const char *a, const char *b);

#endif
