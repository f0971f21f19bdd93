/* excerpt.c - some results of a problem of which the reference would take too long. */
#include "excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "random.h"
#include "library/bench.h"

enum { FEWEST = 4 /* places of a dimension, so long as others have more */ };

size_t excerpt_places(size_t extent, size_t spacing) {
  const size_t places = extent / spacing + (extent % spacing != 0) + 2;

  return spacing == 1 || places > extent ? extent : places;
}

static void dims_of(const lathe_op *op, const size_t *dim, const size_t *spacing, size_t *to) {
  for (int d = 0; d < op->ndim; d++)
    to[d] = excerpt_places(dim[d], spacing[d]);
}

void excerpt_space(const lathe_op *op, int output, const size_t *dim, int whole, double flops,
                   size_t *spacing) {
  size_t left[LATHE_MAX_DIMS];
  int most;

  for (int d = 0; d < op->ndim; d++)
    spacing[d] = 1;
  do {
    dims_of(op, dim, spacing, left);
    most = -1;
    for (int d = 0; d < op->ndim; d++)
      if (op->bench->apart[output] & 1u << d && d != whole && left[d] > FEWEST &&
          (most < 0 || left[d] > left[most]))
        most = d;
    if (most >= 0 && lathe_flops(op, left) > flops)
      spacing[most] *= 2;
  } while (most >= 0 && lathe_flops(op, left) > flops);
}

/* One place out of each `spacing`, the first and the last, in their order. */
static bool draw_places(const problem *of, int d, size_t spacing, size_t **places, size_t *count) {
  const size_t extent = of->dim[d];

  *count = extent;
  *places = NULL;
  if (excerpt_places(extent, spacing) == extent)
    return true;
  *places = malloc((extent / spacing + 3) * sizeof **places);
  *count = 0;
  for (size_t from = 0; *places && from < extent; from += spacing) {
    const size_t among = extent - from < spacing ? extent - from : spacing;
    const size_t drawn = from + random_below(of->seed, (uint64_t)d << 48 | from, among);
    if (from == 0 && drawn > 0)
      (*places)[(*count)++] = 0;
    (*places)[(*count)++] = drawn;
    if (from + among == extent && drawn + 1 < extent)
      (*places)[(*count)++] = extent - 1;
  }
  return *places != NULL;
}

/* Copies what an operand has under one index of each of its dimensions before `level`; bytes: how much it has there. */
static char *take(const excerpt *e, const problem *of, const lathe_operand *operand, int level,
                  size_t bytes, const char *from, char *to) {
  const int d = level < operand->ndim ? operand->dim[level] : -1;
  const size_t each = d < 0 ? 0 : bytes / of->dim[d]; /* under an index of this one */

  if (d < 0 || (level + 1 == operand->ndim && !e->place[d])) {
    memcpy(to, from, bytes);
    return to + bytes;
  }
  for (size_t i = 0; i < e->problem->dim[d]; i++) {
    const char *at = from + (e->place[d] ? e->place[d][i] : i) * each;
    if (level + 1 < operand->ndim) {
      to = take(e, of, operand, level + 1, each, at, to);
    } else {
      memcpy(to, at, each);
      to += each;
    }
  }
  return to;
}

void excerpt_take(const excerpt *e, const problem *of, int operand, const void *all, void *to) {
  if (of->bytes[operand] > 0)
    take(e, of, &of->op->operands[operand], 0, of->bytes[operand], all, to);
}

excerpt *excerpt_make(const problem *of, int output, const size_t *spacing) {
  excerpt *e = calloc(1, sizeof *e);
  size_t dim[LATHE_MAX_DIMS];
  bool ok = e != NULL;

  for (int d = 0; d < of->op->ndim && ok; d++)
    ok = draw_places(of, d, spacing[d], &e->place[d], &dim[d]);
  if (ok) {
    e->output = output;
    e->problem = problem_like(of, dim);
    ok = e->problem != NULL;
  }
  for (int o = 0; o < of->op->noperands && ok; o++)
    if (of->input[o]) {
      e->problem->input[o] = memory_make(e->problem->bytes[o]);
      ok = e->problem->input[o] != NULL;
      if (ok)
        excerpt_take(e, of, o, of->input[o], e->problem->input[o]);
    }
  if (ok && problem_solve(e->problem))
    return e;
  excerpt_free(e);
  return NULL;
}

excerpt *excerpt_by(const excerpt *e, problem_leeway leeway) {
  excerpt *by = calloc(1, sizeof *by);

  if (!by)
    return NULL;
  by->output = e->output;
  by->problem = problem_by(e->problem, leeway);
  if (by->problem)
    return by;
  free(by);
  return NULL;
}

void excerpt_free(excerpt *e) {
  if (!e)
    return;
  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    free(e->place[d]);
  problem_free(e->problem);
  free(e);
}

double excerpt_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                    const size_t *spacing) {
  size_t places[LATHE_MAX_DIMS];

  dims_of(op, dim, spacing, places);
  return problem_solved_cost(op, dtype, places);
}
