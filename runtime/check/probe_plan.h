/* probe_plan.h - what each variant is tried on before its sizes: lengths, shapes, places and values. */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include "probe.h"

typedef struct probe_step {
  trial at;
  problem *problem; /* null: there is no memory, or no reference for it */
  bool again;       /* the same problem as in the step before */
  uint64_t whose;   /* variants, a bit each: see probe_plan_has */
} probe_step;

/* The trials of all variants of an op and type, on one kind of device. */
typedef struct probe_plan {
  const lathe_op *op;
  lathe_dtype dtype;
  lathe_kind kind;
  /* By a processor, for which a GPU's trials would take minutes: only the shortest are made. */
  bool emulated;
  uint64_t seed;
  size_t count, capacity;
  size_t products; /* the first of the steps for products */
  uint64_t whose;  /* variants whose steps are added */
  probe_step *step;
} probe_plan;

/* The plan for a variant; it is kept until one for another op, type, kind of device or seed is asked for. Its last two
 * steps take turns in one call. */
const probe_plan *probe_plan_of(const lathe_variant *v, const device *on, uint64_t seed);

/* Whether a variant is tried on a step. */
bool probe_plan_has(const probe_step *step, const lathe_variant *v);

#endif
