/* repeats.c - elements of a reference's result that are the same number. */
#include "repeats.h"

#include <math.h>
#include <stdlib.h>

typedef struct element {
  double expected;
  long double square; /* of the magnitude */
} element;

static int by_value(const void *a, const void *b) {
  const double x = ((const element *)a)->expected, y = ((const element *)b)->expected;

  return (x > y) - (x < y);
}

long double repeats_fourth(const problem *p, int output) {
  element *all = malloc((p->elements[output] + 1) * sizeof *all);
  long double fourth = 0, squares = 0;
  size_t count = 0;

  if (!all)
    return 0;
  for (size_t i = 0; i < p->elements[output]; i++) {
    const double expected = (double)problem_expected(p, output, i);
    const double magnitude =
        fmax((double)problem_number(p, p->magnitude[output], i), fabs(expected));
    if (isfinite(magnitude) && !isnan(expected))
      all[count++] = (element){expected, (long double)magnitude * magnitude};
  }
  qsort(all, count, sizeof *all, by_value);
  for (size_t i = 0; i < count; i++) {
    squares += all[i].square;
    if (i + 1 == count || all[i].expected != all[i + 1].expected) {
      fourth += squares * squares;
      squares = 0;
    }
  }
  free(all);
  return fourth;
}
