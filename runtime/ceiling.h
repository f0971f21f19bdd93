/* ceiling.h - how fast one core can move memory at all. */
#ifndef CEILING_H
#define CEILING_H

#include <stdint.h>

/* The best rate, in bytes per second of both directions together, at which tuned loops were
 * seen to read bytes_in and write bytes_out again and again: with next to nothing written the
 * reading rate, else that of as many streams in as there are per stream out (none to three).
 * *name, static, says which. Measured at the first call for a size (some milliseconds), then
 * remembered. 0 on processors that there are no loops for. */
double ceiling_rate(uint64_t features, double bytes_in, double bytes_out, const char **name);

#endif
