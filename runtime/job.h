/* job.h - one variant at one size: checked, and timed where it is right. */
#ifndef JOB_H
#define JOB_H

#include "check.h"
#include "measure.h"

typedef struct job {
  const lathe_variant *variant; /* constant data: at the same place in a forked process */
  size_t device;                /* its number among the devices of the variant's kind */
  size_t dim[LATHE_MAX_DIMS];
  uint64_t seed;
  unsigned special; /* RANDOM_... */
  device_layout layout;
  bool check_only;
  measure_limits limits;
} job;

typedef struct outcome {
  check_result check; /* CHECK_UNABLE: it was skipped */
  measurement warm; /* operands in whatever cache holds them; no samples where nothing was timed */
  measurement cold; /* operands in memory; no samples where the device has no way to do that */
  double ceiling;   /* the device's, at this size; bytes per second, 0 where not known */
  char ceiling_name[32];
  bool lost; /* the device: this process must do no more with it */
} outcome;

/* Runs in this process, on its own device. The problem is kept for the next job, which often has
 * the same. */
outcome job_run(const job *j);
void outcome_free(outcome *o);

#endif
