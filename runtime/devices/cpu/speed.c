/* speed.c - the processor's clock: a chain of additions, each of which waits for the one before. The system's own
 * figure is not to be had everywhere, and is of some moment. */
#include "speed.h"

#include "base/clock.h"

double cpu_clock_mhz(device *on) {
  enum { TRIES = 3, CHAIN = 1 << 14, TOGETHER = 16 };
  uint64_t sum = 1, more = 3;
  double best = 0;

  (void)on;
  for (int i = 0; i < TRIES; i++) {
    const double start = clock_ns();
    double mhz;
    for (int n = 0; n < CHAIN / TOGETHER; n++) {
#define ADD                                                                                        \
  sum += more;                                                                                     \
  __asm__ volatile("" : "+r"(sum), "+r"(more));
#define FOUR ADD ADD ADD ADD
      FOUR FOUR FOUR FOUR
#undef FOUR
#undef ADD
    }
    mhz = CHAIN * 1e3 / (clock_ns() - start);
    best = mhz > best ? mhz : best; /* in the others another process may have had the processor */
  }
  return best;
}
