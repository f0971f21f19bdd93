/* counters.h - what this processor counts while this thread runs. */
#ifndef COUNTERS_H
#define COUNTERS_H

/* Since the thread began to count; NaN for what cannot be counted. */
typedef struct counters {
  double instructions, cycles, cache_misses;
} counters;

counters counters_read(void);

/* Why nothing can be counted here, a line; null where something can. */
const char *counters_missing(void);

#endif
