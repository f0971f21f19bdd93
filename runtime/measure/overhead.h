/* overhead.h - what measuring itself takes. */
#ifndef OVERHEAD_H
#define OVERHEAD_H

/* Nanoseconds that an empty timed section reads: measured once, the median of many. */
double overhead_of_clock_ns(void);

#endif
