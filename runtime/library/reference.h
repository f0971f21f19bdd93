/* reference.h - an op's reference is steps over its axes, each a phase: what it holds in memory for the steps that
 * follow, or results. It is asked part by part, so that all processors work on it. Points of a phase stand for
 * themselves, a part is any range of them. What a reduction takes is divided into blocks by how much it is alone, and
 * what blocks came to is merged in their order, by the phase that follows. So results depend on nothing else. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <math.h>

#include "call.h"
#include "lathe.h"

/* Loops of a reference are compiled for wide vectors too; the loader takes what the processor has. None of them has
 * multiply-adds, so that results have the same bits. Sanitizers are not there yet when the loader asks. A build that is
 * to be quick has them once, by -DREFERENCE_SETS=. */
#ifdef REFERENCE_SETS
#elif defined __x86_64__ && defined __gnu_linux__ && !defined __clang__ &&                         \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define REFERENCE_SETS __attribute__((target_clones("avx2", "default")))
#else
#define REFERENCE_SETS
#endif

/* The inverse of erf: Winitzki's formula (2008), off by 0.002, and steps of Halley's. */
static inline long double lathe_erfinvl(long double x) {
  const long double size = fabsl(x), half_root_pi = 0.886226925452758013649L;
  const long double logarithm = logl((1 - size) * (1 + size)), t = 4.33L + logarithm / 2;
  long double y = size < 0.1L ? half_root_pi * size : sqrtl(sqrtl(t * t - logarithm / 0.147L) - t);

  for (int i = 0; i < 4; i++) {
    const long double excess = size > 0.5L ? 1 - size - erfcl(y) : erfl(y) - size;
    const long double step = excess * half_root_pi * expl(y * y);
    y -= step / (1 + y * step);
  }
  return size == 1 ? x * (long double)INFINITY : copysignl(y, x);
}

static inline double lathe_erfinv(double x) {
  return (double)lathe_erfinvl(x);
}

/* The extent of a reference: its phases, and the sizes of one. */
typedef struct reference_shape {
  int phases;
  size_t states; /* numbers that steps hold, which part.state has place for */
  size_t points; /* of the part's phase; none where nothing is to be merged */
  size_t terms;  /* that these take, all together */
} reference_shape;

/* The argument of a reference is the first member of one. Buffers are whole: inputs that are numbers as `read` takes
 * them, all else of the reference's type. */
typedef struct reference_part reference_part;

/* Widens elements of the input in a buffer, each `stride` after the one before. */
typedef void reference_read(const reference_part *part, int buffer, size_t first, size_t stride,
                            size_t count, void *to);

struct reference_part {
  lathe_args args;
  reference_shape *shape; /* to be filled in, and nothing is computed; else null */
  int phase;              /* from 0 on */
  size_t first, count;    /* the part: a range of the phase's points */
  void *state;
  reference_read *read;
  /* For `read`: an input's; LATHE_DTYPES: the reference's own. */
  lathe_dtype type[LATHE_MAX_OPERANDS];
  bool narrow; /* the call is in a type of 16 bits */
  /* Of the kernels that are checked: the spacing of numbers next to 1, and the smallest normal number in such units
   * where they may take what is below as zero, else 0. What is between two products is rounded by so many units,
   * vanishes where it is below so much, and is infinite from so much on. */
  double unit, flushed, narrowed, vanishing, bursting;
};

static inline double reference_one_f64(const reference_part *part, int buffer, size_t at) {
  double number;

  part->read(part, buffer, at, 1, 1, &number);
  return number;
}

static inline long double reference_one_wide(const reference_part *part, int buffer, size_t at) {
  long double number;

  part->read(part, buffer, at, 1, 1, &number);
  return number;
}

/* The longest of a reduction's dimensions, by which it is divided, and how much of that a block has: so that blocks
 * have some 8192 terms. */
static inline int reference_longest(const size_t *dim, unsigned over, size_t *each) {
  enum { TERMS = 8192 };
  int longest = 0;
  size_t others = 1;

  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    if (over & 1u << d && (!(over & 1u << longest) || dim[d] > dim[longest]))
      longest = d;
  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    if (over & 1u << d && d != longest)
      others *= dim[d];
  *each = others > 0 && others < TERMS ? TERMS / others : 1;
  return longest;
}

/* How many blocks a reduction has; one where it is of nothing. */
static inline size_t reference_blocks(const size_t *dim, unsigned over) {
  size_t each;
  const size_t length = dim[reference_longest(dim, over, &each)];

  return length > each ? (length - 1) / each + 1 : 1;
}

/* Where a block begins and ends in the dimensions of a reduction. */
static inline void reference_range(const size_t *dim, unsigned over, size_t block, size_t *begin,
                                   size_t *end) {
  size_t each;
  const int longest = reference_longest(dim, over, &each);

  for (int d = 0; d < LATHE_MAX_DIMS; d++)
    if (over & 1u << d) {
      begin[d] = 0;
      end[d] = dim[d];
    }
  begin[longest] = block * each;
  if (dim[longest] - begin[longest] > each)
    end[longest] = begin[longest] + each;
}

#endif
