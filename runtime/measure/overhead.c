/* overhead.c - what measuring itself takes. */
#include "overhead.h"

#include "base/clock.h"
#include "stats.h"

double overhead_of_clock_ns(void) {
  enum { TRIES = 201 };
  static double overhead = -1;
  double tries[TRIES];

  if (overhead < 0) {
    for (int i = 0; i < TRIES; i++) {
      const double start = clock_ns();
      tries[i] = clock_ns() - start;
    }
    overhead = stats_of(tries, TRIES).median;
  }
  return overhead;
}
