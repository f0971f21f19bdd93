/* random.h - seeded random values that depend only on the seed and their place, so that the
 * order in which buffers are filled does not matter. */
#ifndef RANDOM_H
#define RANDOM_H

#include "lathe.h"

/* Special values to sprinkle into floating inputs: a bit each, named in the order of the bits.
 * zero is of either sign. */
enum {
  RANDOM_NAN = 1u << 0,
  RANDOM_INF = 1u << 1,
  RANDOM_ZERO = 1u << 2,
  RANDOM_DENORMAL = 1u << 3,
};
enum { RANDOM_KINDS = 4 };
extern const char *const random_kind_names[RANDOM_KINDS];

/* The names of some kinds, "nan,inf", in one static string. */
const char *random_special_names(unsigned special);

/* Fills count elements with values uniform in [low, high], rounded to the type. About one
 * element in eight of a floating type is one of the special values asked for, instead. */
void random_fill(lathe_dtype dtype, void *to, size_t count, double low, double high, uint64_t seed,
                 uint64_t stream, unsigned special);

/* A seed that differs from run to run. */
uint64_t random_seed(void);

#endif
