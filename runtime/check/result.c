/* result.c - what kernels leave of an output, in its own type. */
#include "result.h"

#include <math.h>
#include <stdlib.h>

#include "library/dtype.h"

void *result_right(const problem *p, int o) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  char *result = malloc(p->bytes[o] + 1);

  for (size_t i = 0; result && i < p->elements[o]; i++) {
    const double value = (double)problem_expected(p, o, i);
    lathe_dtype_narrow(type, &value, 1, result + i * lathe_dtype_size(type));
  }
  return result;
}

bool result_is_same(const problem *p, int o, const char *a, const char *b) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const size_t size = lathe_dtype_size(type);

  for (size_t i = 0; i < p->elements[o]; i++) {
    double x, y;
    lathe_dtype_widen(type, a + i * size, 1, &x);
    lathe_dtype_widen(type, b + i * size, 1, &y);
    if (x != y && !(isnan(x) && isnan(y)))
      return false;
  }
  return true;
}
