/* measure.h - how long does a call take? */
#ifndef MEASURE_H
#define MEASURE_H

#include "device.h"
#include "stats.h"
#include "watch.h"

typedef struct measure_limits {
  double warmup_ns; /* calls until this has passed, not counted */
  long warmup;      /* or this many calls; -1: by time */
  double min_ns;    /* samples are taken for at least this long, */
  double max_ns;    /* and, but for the fewest that mean anything, no longer than this */
  double max_noise; /* stop when the median is known this well, a fraction */
  long samples;     /* or take exactly so many; 0: by noise and time */
} measure_limits;

/* All times are nanoseconds of one call. */
typedef struct measurement {
  double *host, *own;     /* samples in the order taken: host's clock, device's clock */
  size_t count, capacity; /* samples */
  uint64_t calls;         /* in each sample, or one more */
  const char *stop;       /* why sampling ended: "noise", "time", "count" */
  stats host_stats, own_stats;
} measurement;

/* Whether a device's calls are judged by the host's clock; else by its own. */
bool measure_uses_host(const device *on);

/* Measures a call, and looks at the results of each batch; with a null watch it does not. False where a
 * run failed (call->error says how), or memory did, or a result was wrong (the watch has found how). What m
 * held is released by measure_free, also after false. */
bool measure(device_call *call, const measure_limits *limits, result_watch *w, measurement *m);
void measure_free(measurement *m);

#endif
