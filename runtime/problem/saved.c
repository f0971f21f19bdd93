/* saved.c - inputs of a gradient that are results of the op itself. */
#include "saved.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "library/bench.h"
#include "library/dtype.h"
#include "sampling.h"

static int find(const lathe_op *op, const char *name) {
  for (int o = 0; o < op->noperands; o++)
    if (strcmp(op->operands[o].name, name) == 0)
      return o;
  return -1;
}

/* Whether a result of the op is known by a smaller problem: all that the op reads is there, and results repeat. */
static bool is_known(const problem *p, const lathe_op *op, int result, const size_t *different) {
  for (int o = 0; o < op->noperands; o++)
    if (!op->operands[o].output && find(p->op, op->operands[o].name) < 0)
      return false;
  for (int i = 0; i < op->operands[result].ndim; i++) {
    const int d = op->operands[result].dim[i];
    if (different[d] < p->dim[d] && !(op->bench->apart[result] & 1u << d))
      return false;
  }
  return problem_has_reference(op, p->dtype);
}

/* The op's own problem that has a result, solved; null where there is no memory. */
static problem *solved(const problem *p, const lathe_op *op, int result, const size_t *different) {
  problem about = *p;
  size_t dim[LATHE_MAX_DIMS];
  problem *own;
  bool ok;

  about.op = op;
  about.wide = problem_is_wide(op, p->dtype);
  for (int s = 0; s < op->nscalars; s++) {
    about.scalar[s] = op->scalars[s].value;
    for (int i = 0; i < p->op->nscalars; i++)
      if (strcmp(p->op->scalars[i].name, op->scalars[s].name) == 0)
        about.scalar[s] = p->scalar[i];
  }
  sampling_shrink(op, result, p->dim, different, dim);
  own = problem_like(&about, dim);
  ok = own != NULL;
  for (int o = 0; o < op->noperands && ok; o++)
    if (!op->operands[o].output)
      ok = sampling_take_input(own, o, p, find(p->op, op->operands[o].name));
  if (ok && problem_solve(own))
    return own;
  problem_free(own);
  return NULL;
}

static bool fill(problem *p, int input, const size_t *different) {
  const lathe_op *op = p->op->gradient_of;
  const int result = find(op, p->op->operands[input].name);
  const lathe_dtype type = lathe_dtype_of_operand(&op->operands[result], p->dtype);
  const size_t size = lathe_dtype_size(type);
  problem *own;
  char *few;

  if (!is_known(p, op, result, different))
    return true;
  own = solved(p, op, result, different);
  few = own ? memory_make(own->bytes[result]) : NULL;
  for (size_t i = 0; few && i < own->elements[result]; i++) {
    const double value = (double)problem_expected(own, result, i);
    lathe_dtype_narrow(type, &value, 1, few + i * size);
  }
  if (few)
    sampling_repeat(p, input, different, few);
  free(few);
  problem_free(own);
  return few != NULL;
}

bool saved_fill(problem *p, const size_t *different) {
  bool ok = true;

  for (int o = 0; o < p->op->noperands && ok && p->op->gradient_of; o++)
    if (p->op->bench->saved & 1u << o)
      ok = fill(p, o, different);
  return ok;
}
