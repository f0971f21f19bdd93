/* saved.c - inputs of a gradient that are results of the op itself. */
#include "saved.h"

#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "sampling.h"

static int find(const lathe_op *op, const char *name) {
  int o = 0;

  while (strcmp(op->operands[o].name, name) != 0)
    o++;
  return o;
}

/* The op's own problem that has a result, solved; null where there is no memory. */
static problem *solved(const problem *p, int result, const size_t *different) {
  problem about = *p, *own;
  const lathe_op *op = about.op = p->op->gradient_of;
  size_t dim[LATHE_MAX_DIMS];
  bool ok;

  about.wide = problem_is_wide(op, p->dtype);
  for (int s = 0, i; s < op->nscalars; s++) {
    for (i = 0; strcmp(p->op->scalars[i].name, op->scalars[s].name) != 0;)
      i++;
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
  const int result = find(p->op->gradient_of, p->op->operands[input].name);
  problem *own = solved(p, result, different);
  void *few = own ? problem_result(own, result) : NULL;

  if (few)
    sampling_repeat(p, input, different, few);
  free(few);
  problem_free(own);
  return few != NULL;
}

bool saved_fill(problem *p, const size_t *different) {
  const bool has = p->op->bench->said && problem_has_reference(p->op->gradient_of, p->dtype);

  for (int o = 0; o < p->op->noperands && has; o++)
    if (p->op->bench->saved & 1u << o && !fill(p, o, different))
      return false;
  return true;
}
