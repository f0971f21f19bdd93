/* probe.h - a short trial of each variant before its sizes: on the lengths, shapes, places and values that
 * sizes to be timed do not have, and again and again, for what goes wrong only now and then. */
#ifndef PROBE_H
#define PROBE_H

#include "check.h"

/* A trial of a variant: all that it takes to do it again. */
typedef struct trial {
  size_t dim[LATHE_MAX_DIMS];
  uint64_t seed;
  unsigned special; /* RANDOM_... */
  device_layout layout;
} trial;

/* Right, or what the first trial that was wrong has found; *now is the trial that is under way, or was
 * wrong. A variant is tried once in a process, with each seed and on each device, and its problems are kept
 * for the next variant of the same op and type. The variant must be able to run on the device; it and its
 * op are to stay as they are. */
check_result probe_variant(device *on, const lathe_variant *variant, uint64_t seed, trial *now);

#endif
