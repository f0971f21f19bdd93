/* drawn.c - is the result of a call right that draws its own random numbers? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "judge.h"
#include "library/dtype.h"
#include "result.h"

enum { BLOCK = 256 /* elements compared at a time */ };

/* Puts an output's own elements into the right result, where both are zero or neither is. */
static void merge(const problem *p, int o, const char *got, char *right, size_t *agreed,
                  double *surplus) {
  const lathe_dtype type = lathe_dtype_of_operand(&p->op->operands[o], p->dtype);
  const size_t size = lathe_dtype_size(type);

  *agreed = 0;
  *surplus = 0;
  for (size_t at = 0; at < p->elements[o]; at += BLOCK) {
    const size_t left = p->elements[o] - at, count = left < BLOCK ? left : BLOCK;
    double mine[BLOCK], theirs[BLOCK];
    lathe_dtype_widen(type, right + at * size, count, mine);
    lathe_dtype_widen(type, got + at * size, count, theirs);
    for (size_t i = 0; i < count; i++) {
      *surplus += (theirs[i] == 0) - (mine[i] == 0);
      if ((theirs[i] == 0) != (mine[i] == 0))
        continue;
      *agreed += theirs[i] != 0;
      memcpy(right + (at + i) * size, got + (at + i) * size, size);
    }
  }
}

check_result check_drawn(const device_call *call, const check_kept *kept) {
  const double deviations = 6;
  const problem *p = call->problem;
  device_call failed = *call;
  check_result r = {.bound = judge_bound(p->op, p->dtype)};

  for (int o = 0; o < p->op->noperands && r.verdict == CHECK_RIGHT; o++) {
    /* Of two drawings of n numbers each the difference deviates by no more than this. */
    const double most = deviations * sqrt((double)p->elements[o] / 2) + 1;
    char *right = p->op->operands[o].output && !p->sample ? problem_result(p, o) : NULL;
    double surplus;
    size_t agreed;
    judgement j;
    if (!p->op->operands[o].output)
      continue;
    if (!right) {
      r.verdict = CHECK_UNABLE;
      snprintf(r.message, sizeof r.message, "its own random numbers leave nothing to compare");
      return r;
    }
    merge(p, o, check_kept_output(kept, o), right, &agreed, &surplus);
    j = judge_output(p, NULL, o, right);
    free(right);
    r.ulp = fmax(r.ulp, j.worst);
    snprintf(r.checked, sizeof r.checked, "%.0f %% of the elements",
             100 * (double)agreed / (double)p->elements[o]);
    if (judge_is_right(&j) && fabs(surplus) <= most)
      continue;
    snprintf(failed.error, sizeof failed.error,
             "draws its own random numbers, and of those elements of %s that are not zero by ours "
             "either %zu are wrong; %+.0f are zero that should not be, chance allows %.0f",
             p->op->operands[o].name, j.wrong, surplus, most);
    r = check_failed(&failed);
  }
  return r;
}
