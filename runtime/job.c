/* job.c - one variant at one size: checked, and timed where it is right. */
#include "job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dtype.h"
#include "room.h"

/* The problem of the last job. */
static problem *kept;

static bool keeps(const job *j) {
  const lathe_variant *v = j->variant;

  return kept && kept->op == v->op && kept->dtype == v->dtype && kept->seed == j->seed &&
         kept->special == j->special &&
         memcmp(kept->dim, j->dim, (size_t)v->op->ndim * sizeof *j->dim) == 0;
}

/* The problem that the job is about; null with the reason in why. */
static const problem *problem_of(const job *j, device *on, const char **why) {
  const lathe_variant *v = j->variant;
  room_left left;

  if (!keeps(j)) { /* the memory of another is wanted back before it is asked what is free */
    problem_free(kept);
    kept = NULL;
  }
  left = (room_left){.device = device_memory(on), .host = device_memory(device_cpu())};
  *why = room_refusal(v, j->dim, !kept, left);
  if (!*why && !kept)
    kept = problem_make(v->op, v->dtype, j->dim, j->seed, j->special, why);
  return *why ? NULL : kept;
}

/* Bytes of an op's inputs or outputs. */
static double bytes_of(const job *j, bool output) {
  const lathe_op *op = j->variant->op;
  double bytes = 0;

  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output == output)
      bytes += (double)lathe_elements(op, o, j->dim) *
               (double)lathe_dtype_size(dtype_of_operand(&op->operands[o], j->variant->dtype));
  return bytes;
}

/* Measures warm, and cold where that can be had; false where it failed. */
static bool time_call(const job *j, device_call *call, outcome *out) {
  device *on = call->on;
  const char *name = "";

  if (!measure(call, &j->limits, &out->warm))
    return false;
  if (on->cool && on->cool(call) && !measure(call, &j->limits, &out->cold))
    return false;
  out->ceiling = on->ceiling(on, bytes_of(j, false), bytes_of(j, true), &name);
  snprintf(out->ceiling_name, sizeof out->ceiling_name, "%s", name);
  return true;
}

/* What is seen from a second look: at what the measured calls left, and, on devices that deal work
 * out by chance, at whether it is the same to the bit. */
static void judge(const job *j, device_call *call, outcome *out) {
  const double before = out->check.ulp;
  const bool by_chance = call->on->kind != LATHE_CPU;
  check_kept *first = by_chance ? check_keep(call) : NULL;
  bool ok = true;

  if (!j->check_only) {
    ok = time_call(j, call, out);
  } else if (first) {
    call->on->reset(call);
    ok = device_run(call);
  }
  out->check = !ok ? check_failed(call) : j->check_only ? out->check : check_outputs(call);
  if (out->check.verdict == CHECK_RIGHT && first) {
    const check_result same = check_same(call, first);
    if (same.verdict != CHECK_RIGHT)
      out->check = same;
  }
  out->check.ulp = fmax(out->check.ulp, before);
  check_drop(first);
}

outcome job_run(const job *j) {
  const device_list list = device_own(j->variant->backend->kind);
  device *on = j->device < list.count ? list.at[j->device] : NULL;
  const char *why = "the device is there no more";
  const problem *p = on ? problem_of(j, on, &why) : NULL;
  device_call *call = p ? device_prepare(on, j->variant, p, j->layout, &why) : NULL;
  outcome out = {.check = {.verdict = CHECK_UNABLE}};

  if (call) {
    out.check = check_run(call);
    if (out.check.verdict == CHECK_RIGHT)
      judge(j, call, &out);
    on->release(call);
  } else {
    snprintf(out.check.message, sizeof out.check.message, "%s", why);
  }
  out.lost = on && on->lost;
  return out;
}

void outcome_free(outcome *o) {
  measure_free(&o->warm);
  measure_free(&o->cold);
}
