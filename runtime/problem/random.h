/* random.h - seeded random values that depend only on the seed and their place, so that the
 * order in which buffers are filled does not matter. */
#ifndef RANDOM_H
#define RANDOM_H

#include "library/dispatch.h"

/* How inputs are drawn otherwise: a bit each, named in the order of the bits. */
enum {
  /* Special values sprinkled into floating inputs; zero is of either sign. */
  RANDOM_NAN = 1u << 0,
  RANDOM_INF = 1u << 1,
  RANDOM_ZERO = 1u << 2,
  RANDOM_DENORMAL = 1u << 3,
  /* Larger than the range has; of positions along an axis, outside of it; of seeds, more than 32 bits. */
  RANDOM_BEYOND = 1u << 4,
  /* Of these one in each row, not one in eight elements. */
  RANDOM_ALONE = 1u << 5,
  /* Numbers of which many are equal. */
  RANDOM_TIES = 1u << 6,
  /* Less than the whole range: of one sign where the range is symmetric, so that no sum cancels. */
  RANDOM_NARROW = 1u << 7,
  /* Scalars near the spec's, instead of these. */
  RANDOM_SCALARS = 1u << 8,
  /* Near zero where the range has that, so that a small scalar beside inputs shows. */
  RANDOM_SMALL = 1u << 9,
  /* Below zero alone, where the range has that. */
  RANDOM_NEGATIVE = 1u << 10,
  /* The same number in all of a row. */
  RANDOM_EQUAL = 1u << 11,
  /* The ends of the range: in a row one of them, or both. */
  RANDOM_ENDS = 1u << 12,
  /* Scalars unlike the spec's: zero, of another sign, or larger. */
  RANDOM_FAR = 1u << 13,
  /* A few elements of each input others than with the same seed without this. */
  RANDOM_POKED = 1u << 14,
  /* All numbers zero, of either sign, but for one input that the seed draws: what is infinite there is not made 0. */
  RANDOM_NULLS = 1u << 15,
  /* Inputs of one type and shape the same, and in the same memory. */
  RANDOM_SAME = 1u << 16,
  /* One element of each input is an end of its range, all others lie in the middle: see problem_peak_seed. */
  RANDOM_PEAK = 1u << 17,
  /* Each number of a row larger than those before it, or smaller: the last is what an extreme is. */
  RANDOM_RISING = 1u << 18,
  RANDOM_FALLING = 1u << 19,
};
enum { RANDOM_KINDS = 5 /* of special values */, RANDOM_NAMES = 20 };
extern const char *const random_names[RANDOM_NAMES];

/* The names of some, "nan,inf", in one static string. */
const char *random_special_names(unsigned special);

/* The kinds in a list of names; ends the program where a name is none. */
unsigned random_kinds_of(const char *list);

/* Fills count elements with values uniform in [low, high], rounded to the type. About one element in eight, of
 * positions and seeds every other one, is one of the special values asked for, instead; or with RANDOM_ALONE one of
 * each `row` elements. Of special values positions and seeds have RANDOM_BEYOND alone. */
void random_fill(lathe_dtype dtype, void *to, size_t count, size_t row, double low, double high,
                 uint64_t seed, uint64_t stream, unsigned special);

/* A number near a scalar's value, the index-th of an op: of the same sign, nearer to zero, and in the
 * same order with the op's other scalars where these are not very near each other. */
double random_near(double value, uint64_t seed, int index);

/* A number unlike a scalar's: of three seeds in a row one has zero, one the other sign, one a larger number. */
double random_far(double value, uint64_t seed, int index);

/* A whole number below a limit, the index-th of a seed. */
size_t random_below(uint64_t seed, uint64_t index, size_t limit);

/* A seed that differs from run to run. */
uint64_t random_seed(void);

#endif
