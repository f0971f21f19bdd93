/* clock.h - the clocks that everything is timed with, in nanoseconds. */
#ifndef CLOCK_H
#define CLOCK_H

double clock_ns(void);     /* monotonic, from an arbitrary start */
double clock_cpu_ns(void); /* spent by this thread on a processor */

#endif
