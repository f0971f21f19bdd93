/* ceiling.h - how fast a device can move memory at all. */
#ifndef CEILING_H
#define CEILING_H

#include <stdint.h>

#include "device.h"

enum {
  CEILING_STREAMS = 3,  /* streams that are read, at most */
  CEILING_READING = -1, /* in place of their number: nothing is written */
};

/* The best rate, in bytes per second of both directions together, at which tuned loops were seen to
 * read so many streams of some bytes each, and to write one, again and again. 0 where there are
 * no such loops. */
typedef double ceiling_measure(device *on, int streams, size_t bytes);

/* The rate of the streams that are nearest to what an op reads and writes: with next to nothing
 * written the reading rate, else that of as many streams in as there are per stream out (none to
 * three). *name, static, says which. Measured at the first call for a size (some milliseconds), then
 * remembered. */
double ceiling_rate(device *on, ceiling_measure *measure, double bytes_in, double bytes_out,
                    const char **name);

/* One core of this processor. */
double ceiling_of_core(device *on, int streams, size_t bytes);

#endif
