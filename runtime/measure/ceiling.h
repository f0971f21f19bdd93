/* ceiling.h - how fast a device can move memory at all, and how fast it can compute. */
#ifndef CEILING_H
#define CEILING_H

#include "devices/common/device.h"

/* Each ceiling is measured when a round first asks for it (some milliseconds), and remembered until the next; asked for
 * again, it becomes the better of both. */
typedef enum ceiling_effort {
  CEILING_KNOWN,   /* what the round has measured, if it has */
  CEILING_BRIEFLY, /* once more, by the loop that was the best */
  CEILING_ANEW     /* once more, by all loops */
} ceiling_effort;

typedef struct ceiling_when {
  int threads; /* that a call has */
  int round;
  ceiling_effort effort;
} ceiling_when;

/* The rate, in bytes per second of both directions together, of the streams that are nearest to what an op reads and
 * writes, when they are moved again and again (so that they come from the cache that holds them): with next to nothing
 * written the reading rate, else that of as many streams in as there are per stream out (none to three), where that is
 * no whole number by the rates of the two next to it, by as many threads as the call has. 0 where it is not known.
 * *name, static, says which is nearest. */
double ceiling_rate(device *on, double bytes_in, double bytes_out, ceiling_when when,
                    const char **name);

/* The most operations per second that a device can do in a unit with numbers of a type, two for each multiply-add; see
 * arithmetic_rate of device.h. */
double ceiling_arithmetic(device *on, lathe_dtype dtype, device_unit unit, ceiling_when when);

/* The same in the unit where that is most; *name, static, says which. rounded: whether factors may be rounded to what a
 * unit has for them. Where they may not, each f32 product takes three of tf32. */
double ceiling_best_arithmetic(device *on, lathe_dtype dtype, bool rounded, ceiling_when when,
                               const char **name);

/* The ceilings of a call: bytes and operations per second, each 0 where it is not known, and what was measured
 * for each. Of arithmetic only where the op computes more than it reads, and not where a
 * variant rounds sums of f16, which some units add twice as fast as those of f32. */
typedef struct ceilings {
  double bytes, flops;
  char bytes_name[32], flops_name[32];
} ceilings;

/* Those of a call that took so long in this round; none of an op whose kernels may leave out work. One that the call
 * comes near to is measured again, by the loop that was the best; where the call takes less time, by all loops. */
ceilings ceilings_beside(device *on, const lathe_variant *v, const size_t *dim, int threads,
                         int round, double ns);

/* Bytes that a call has to move: of a table whose rows an index names no more than these rows. */
double ceilings_bytes(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* Arithmetic operations of a call, less those at points that masks by places rule out. */
double ceilings_flops(const lathe_op *op, const size_t *dim);

/* The share of the nearer ceiling that a call of such a time reaches; NaN where none is known.
 * *by_arithmetic, where not null, says which that is. */
double ceilings_share(const ceilings *c, double bytes, double flops, double ns,
                      bool *by_arithmetic);

#endif
