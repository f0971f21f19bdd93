/* sampling.h - how results are checked where the reference of all would take too long: those at places that the seed
 * draws, each by itself (excerpt.h), and where that can be had all of them by Freivalds' test (freivalds.h). */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "excerpt.h"
#include "freivalds.h"

enum { SAMPLING_EXCERPTS = 24 };

struct sampling { /* problem.h has its name */
  int count;
  excerpt *excerpt[SAMPLING_EXCERPTS];
  freivalds *test[LATHE_MAX_OPERANDS]; /* by output; null where there is none */
};

/* Whether the reference of all results would take more operations than that; 4e9 for results judged by double. */
bool sampling_is_wanted(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* Sets how many in place of these 4e9; 0: these. For tests. */
void sampling_beyond(double flops);

/* Of a problem whose inputs are there; null where memory is short. */
sampling *sampling_make(const problem *p);
sampling *sampling_by(const sampling *s, problem_leeway leeway); /* see problem_by; without tests */
void sampling_free(sampling *s);
double sampling_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* What is looked at: "1200 of 1000000 elements, and all by Freivalds' test". */
void sampling_tell(const problem *p, char *text, size_t size);

#endif
