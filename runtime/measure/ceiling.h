/* ceiling.h - how fast a device can move memory at all, and how fast it can compute. */
#ifndef CEILING_H
#define CEILING_H

#include "devices/common/device.h"

/* The rate, in bytes per second of both directions together, of the streams that are nearest to what an op reads and
 * writes, when they are moved again and again (so that they come from the cache that holds them): with next to nothing
 * written the reading rate, else that of as many streams in as there are per stream out (none to three), where that is
 * no whole number by the rates of the two next to it, by as many threads as the call has. 0 where it is not known. *name, static, says which is nearest.
 * Measured at a round's first call for a size (some milliseconds); the best of all rounds is remembered. */
double ceiling_rate(device *on, double bytes_in, double bytes_out, int threads, int round,
                    const char **name);

/* The most operations per second that a device can do in a unit with numbers of a type, two for each multiply-add; see
 * arithmetic_rate of device.h. Measured and remembered as rates are. */
double ceiling_arithmetic(device *on, lathe_dtype dtype, device_unit unit, int threads, int round);

/* The same in the unit where that is most; *name, static, says which. */
double ceiling_best_arithmetic(device *on, lathe_dtype dtype, int threads, int round,
                               const char **name);

/* What a call may be held against: bytes and operations per second, each 0 where it is not known, and what was measured
 * for each. Of arithmetic only where the op computes more than it reads. */
typedef struct ceilings {
  double bytes, flops;
  char bytes_name[32], flops_name[32];
} ceilings;

ceilings ceilings_of(device *on, const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                     int threads, int round);

#endif
