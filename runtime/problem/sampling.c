/* sampling.c - how results are checked where the reference of all would take too long. */
#include "sampling.h"

#include <stdio.h>
#include <stdlib.h>

#include "library/dtype.h"
#include "library/bench.h"

/* Operations that the reference of all results may take; where it computes in long double it takes as long for fewer. */
static const double usual = 4e9, wide_share = 0.125;
static double set;

void sampling_beyond(double flops) {
  set = flops;
}

static double limit(const lathe_op *op, lathe_dtype dtype) {
  return (set > 0 ? set : usual) * (problem_is_wide(op, dtype) ? wide_share : 1);
}

/* An output whose elements depend on all that there is has no excerpt that is smaller. */
bool sampling_is_wanted(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && !op->bench->apart[o])
      return false;
  return lathe_contracted_flops(op, dim) > limit(op, dtype);
}

/* An excerpt about an output. */
typedef struct plan {
  int output;
  size_t spacing[LATHE_MAX_DIMS];
} plan;

/* For each output one, of places in all directions; and where no test looks at the rest also one for each dimension,
 * of all places of that at few of the others, so that a row or a column that is wrong is found for sure. */
static int plan_excerpts(const lathe_op *op, lathe_dtype dtype, const size_t *dim, plan *plans) {
  const double share = limit(op, dtype) / 4;
  int count = 0;

  for (int o = 0; o < op->noperands; o++) {
    if (!op->operands[o].output)
      continue;
    for (int d = -1; d < op->ndim && count < SAMPLING_EXCERPTS; d++) {
      const bool whole = d >= 0 && op->bench->apart[o] & 1u << d;
      if (d >= 0 && (!whole || freivalds_can(op, dtype, o)))
        continue;
      plans[count].output = o;
      excerpt_space(op, o, dim, d, share, plans[count++].spacing);
    }
  }
  return count;
}

sampling *sampling_make(const problem *p) {
  plan plans[SAMPLING_EXCERPTS];
  const int count = plan_excerpts(p->op, p->dtype, p->dim, plans);
  sampling *s = calloc(1, sizeof *s);
  bool ok = s != NULL;

  for (int i = 0; i < count && ok; i++) {
    s->excerpt[i] = excerpt_make(p, plans[i].output, plans[i].spacing);
    ok = s->excerpt[i] != NULL;
    s->count += ok;
  }
  for (int o = 0; o < p->op->noperands && ok; o++)
    if (p->op->operands[o].output && freivalds_can(p->op, p->dtype, o)) {
      s->test[o] = freivalds_make(p, o, limit(p->op, p->dtype));
      ok = s->test[o] != NULL;
    }
  if (ok)
    return s;
  sampling_free(s);
  return NULL;
}

sampling *sampling_by(const sampling *s, problem_leeway leeway) {
  sampling *by = calloc(1, sizeof *by);
  bool ok = by != NULL;

  for (int i = 0; ok && i < s->count; i++) {
    by->excerpt[i] = excerpt_by(s->excerpt[i], leeway);
    ok = by->excerpt[i] != NULL;
    by->count += ok;
  }
  if (ok)
    return by;
  sampling_free(by);
  return NULL;
}

void sampling_free(sampling *s) {
  if (!s)
    return;
  for (int i = 0; i < s->count; i++)
    excerpt_free(s->excerpt[i]);
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    freivalds_free(s->test[o]);
  free(s);
}

double sampling_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim) {
  plan plans[SAMPLING_EXCERPTS];
  const int count = plan_excerpts(op, dtype, dim, plans);
  double bytes = 0;

  for (int i = 0; i < count; i++)
    bytes += excerpt_cost(op, dtype, dim, plans[i].spacing);
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && freivalds_can(op, dtype, o))
      bytes += freivalds_cost(op, dtype, dim, o, limit(op, dtype));
  return bytes;
}

void sampling_tell(const problem *p, char *text, size_t size) {
  const sampling *s = p->sample;
  size_t elements = 0, all = 0;
  bool tested = true;

  for (int i = 0; i < s->count; i++)
    elements += s->excerpt[i]->problem->elements[s->excerpt[i]->output];
  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output) {
      all += p->elements[o];
      tested = tested && s->test[o];
    }
  snprintf(text, size, "%zu of %zu elements%s", elements, all,
           tested ? ", and all by Freivalds' test" : "");
}
