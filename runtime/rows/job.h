/* job.h - one variant at one size: checked, and timed where it is right. */
#ifndef JOB_H
#define JOB_H

#include "check/check.h"
#include "check/probe.h"
#include "measure/ceiling.h"
#include "measure/measure.h"
#include "measure/profile.h"

typedef struct job {
  const lathe_variant *variant; /* constant data: at the same place in a forked process */
  size_t device;                /* its number among the devices of the variant's kind */
  size_t dim[LATHE_MAX_DIMS];
  uint64_t seed;
  unsigned special; /* RANDOM_... */
  device_layout layout;
  bool check_only, profile;
  bool no_probe; /* the size alone */
  bool mutants;  /* not a size, but results made wrong on purpose: mutate.h */
  /* Another library's: it is not tried on other sizes before its own, and may be off by some times the bound, of which
   * a note tells. */
  bool peer;
  measure_limits limits;
  int round; /* 0: the kernel is to be proved right; later: to leave what it left then, by `results` */
  uint64_t results;
  uint64_t calls, cold_calls; /* of a sample, as an earlier round found out; 0: not known */
  long samples;               /* to take in this round; 0: by time */
} job;

typedef struct outcome {
  int round;          /* the job's */
  check_result check; /* CHECK_UNABLE: it was skipped */
  measurement warm;  /* operands in whatever cache holds them; no samples where nothing was timed */
  measurement cold;  /* operands in memory; no samples where the device has no way to do that */
  uint64_t results;  /* what tells them apart from others; 0: not proved */
  profile profile;   /* of the first round, where it was asked for */
  ceilings ceilings; /* the device's, at this size, in this round */
  bool lost;         /* the device: this process must do no more with it */
  trial at;          /* what was tried last: where it was wrong, what shows it */
} outcome;

/* From here on job_now tells also of a job in a process that is forked later. */
void job_share(void);

/* The trial of the job that is under way, or ended with its process. */
trial job_now(void);

/* Runs in this process, on its own device: the probe, then the problem with the job's seed, and another with
 * the next seed, other scalars and a narrower range; where these are right, timed calls take turns with both, and the
 * last ones have the other with a few elements that the kernel has not had.
 * A later round has the inputs of the first problem, and its results are held against those that were proved right.
 * Buffers lie elsewhere in each round. The problems are kept for the next job, which often has the same. */
outcome job_run(const job *j);
void outcome_free(outcome *o);

/* The kernels that the job's call launches, at most LATHE_MAX_LAUNCHES, on this process's own device; how many there
 * are, or -1 with the reason in why, static. */
int job_kernels(const job *j, device_kernel *to, const char **why);

#endif
