/* choice.c - lines of tuning files. */
#include "choice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char lathe_tuning_head[] = "lathe-tuning 1";

void lathe_tuning_size(const lathe_op *op, const size_t *dim, char text[LATHE_TUNING_NAME]) {
  size_t used = 0;

  text[0] = '\0';
  for (int i = 0; i < op->ndim && used < LATHE_TUNING_NAME; i++)
    used += (size_t)snprintf(text + used, LATHE_TUNING_NAME - used, "%s%zu", i ? "x" : "", dim[i]);
}

bool lathe_tuning_parse(const char *text, lathe_tuning_line *line) {
  int end = 0;

  return sscanf(text, "%191s %15s %15s %191s %191s %lf %x%n", line->op, line->dtype, line->kind,
                line->size, line->variant, &line->gain, &line->mark, &end) == 7 &&
         text[end + (int)strspn(text + end, " \r\n")] == '\0';
}

bool lathe_tuning_logs(const lathe_op *op, const char *size, double *log) {
  for (int i = 0; i < op->ndim; i++) {
    char *end;
    const unsigned long long extent = strtoull(size, &end, 10);
    if (end == size || *end != (i + 1 < op->ndim ? 'x' : '\0'))
      return false;
    log[i] = log2(extent > 1 ? (double)extent : 1);
    size = end + 1;
  }
  return true;
}

double lathe_tuning_away(const lathe_op *op, const size_t *dim, const double *log) {
  const double far = 2; /* a factor of 4 */
  double away = 0;

  for (int d = 0; d < op->ndim; d++) {
    const double along = fabs(log2(dim[d] > 1 ? (double)dim[d] : 1) - log[d]);
    away += along <= far ? along : INFINITY;
  }
  return away;
}
