/* clock.c - the clocks that everything is timed with. */
#include "clock.h"

#include <time.h>

static double read_clock(clockid_t id) {
  struct timespec t;

  clock_gettime(id, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double clock_ns(void) {
  return read_clock(CLOCK_MONOTONIC);
}

double clock_cpu_ns(void) {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
