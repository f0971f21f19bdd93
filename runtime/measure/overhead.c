/* overhead.c - what measuring itself takes. */
#include "overhead.h"

#include <math.h>

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

device_time overhead_of_launch(device *on) {
  enum { MOST = 32 };
  static struct {
    const device *on;
    device_time taken;
  } known[MOST];
  int i = 0;

  while (i + 1 < MOST && known[i].on && known[i].on != on)
    i++;
  if (known[i].on != on) {
    known[i].on = on;
    if (!on->empty_launch || !on->empty_launch(on, &known[i].taken))
      known[i].taken = (device_time){NAN, NAN};
  }
  return known[i].taken;
}
