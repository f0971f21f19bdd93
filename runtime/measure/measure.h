/* measure.h - how long does a call take? One round of samples; timing.h puts the rounds together. */
#ifndef MEASURE_H
#define MEASURE_H

#include "check/watch.h"
#include "devices/common/device.h"

typedef struct measure_limits {
  double warmup_ns; /* calls in each round until this has passed, not counted */
  long warmup;      /* or this many calls; -1: by time */
  double round_ns;  /* samples of a round are taken for so long, one at least */
  long samples;     /* or in all rounds exactly so many; 0: by time and noise */
  double least_ns;  /* all rounds together are at least so long, */
  double most_ns;   /* and, but for the fewest rounds that mean anything, no longer than this */
  int rounds;       /* at least */
  double longer;    /* share of the time of these that may be added, for the run as a whole */
  double max_noise; /* stop when the median is known this well, a fraction */
  /* The thread that calls stays on one processor in each round, which two programs share. */
  bool stay;
} measure_limits;

/* One round. All times are nanoseconds of one call. */
typedef struct measurement {
  double *host, *own;     /* samples in the order taken: host's clock, device's clock */
  size_t count, capacity; /* samples */
  uint64_t calls;         /* in each sample, or one more */
  double clock_mhz;       /* of the device, as they were taken; 0 where that is not known */
  double took_ns;         /* the host's time for all */
  unsigned retaken;       /* how often all were dropped, for the clock changed meanwhile */
} measurement;

/* Whether a device's calls are judged by the host's clock; else by its own. */
bool measure_uses_host(const device *on);

/* Measures a call for one round, of so many samples where that is not 0, and looks at the results of each batch; with
 * a null watch it does not. calls: in each sample, as an earlier round found out, or 0. False where a run failed
 * (call->error says how), or memory did, or a result was wrong (the watch has found how). What m held is released by
 * measure_free, also after false. */
bool measure(device_call *call, const measure_limits *limits, uint64_t calls, long samples,
             result_watch *w, measurement *m);
void measure_free(measurement *m);

/* Of the samples, by the clock that counts on the device; NaN where there are none, or no memory. */
double measure_median(const measurement *m, const device *on);

#endif
