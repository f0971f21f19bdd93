/* variants.h - the variants of the table that this processor can run, checked in all layouts. */
#ifndef VARIANTS_H
#define VARIANTS_H

#include "tests.h"

#include "check/check.h"
#include "library/dispatch.h"

enum {
  SEED = 20240229,
  LONGEST_SHORT = 130, /* every length up to this */
};

/* What a test has found. */
typedef struct tally {
  size_t checks, failures, unproved;
} tally;

/* Counts a failure, and tells of the first ones. */
void tally_tell(tally *t, const char *name, const char *message);

void tally_count(tally *t, const lathe_variant *v, const check_result *r);

/* A test that checked nothing has failed as well. A few results may prove nothing, where a size is such as nobody has:
 * one row and column of a sum of very many terms. */
void tally_conclude(const tally *t);

/* A kernel that crashes is told of by its name. */
void catch_crashes(void);

/* The variants of one op and type, which share a problem. */
typedef struct variant_group {
  const lathe_op *op;
  lathe_dtype dtype;
  size_t first, end; /* in the table */
} variant_group;

/* Begins with {0}; false after the last group. What configure left out is none. */
bool variants_next_group(variant_group *g);

/* The next variant of the group that can run here, or null; i begins at g->first. */
const lathe_variant *variants_next_able(const variant_group *g, size_t *i);

enum {
  ALIGNED = 1 << 0,
  OFFSET = 1 << 1, /* all operands one element after a boundary */
  PAGE_END = 1 << 2,
  IN_PLACE = 1 << 3,
  CROOKED = 1 << 4,
  EVERY_LAYOUT = (1 << 5) - 1,
};

void variants_check(tally *t, const lathe_variant *v, const problem *p, unsigned layouts);

problem *variants_problem(const variant_group *g, const size_t *dim, uint64_t seed,
                          unsigned special);

/* An element of an array. */
double element_at(lathe_dtype type, const void *from, size_t at);

#endif
