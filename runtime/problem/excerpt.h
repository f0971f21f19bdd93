/* excerpt.h - some results of a problem of which the reference would take too long: those at some places of the
 * dimensions along which results stand for themselves (lathe_bench.apart). They are the results of a smaller problem. */
#ifndef EXCERPT_H
#define EXCERPT_H

#include "problem.h"

typedef struct excerpt {
  problem *problem; /* the smaller one, solved */
  int output;       /* the one that it is about; of others it has nothing of use */
  size_t *place
      [LATHE_MAX_DIMS]; /* by dimension: its places in the larger problem; null: all are there */
} excerpt;

/* How many places there are of a dimension where one is drawn out of each `spacing`, besides the first and the last;
 * at most. */
size_t excerpt_places(size_t extent, size_t spacing);

/* By dimension how many places to draw one out of, so that an excerpt about an output has no more operations than so
 * many, as far as that can be had; all of dimension `whole` are there, where that is not negative. */
void excerpt_space(const lathe_op *op, int output, const size_t *dim, int whole, double flops,
                   size_t *spacing);

/* Draws the places by the problem's seed, and solves; null where memory is short. */
excerpt *excerpt_make(const problem *of, int output, const size_t *spacing);
void excerpt_free(excerpt *e);

/* The same places of the same problem to kernels that have a leeway: problem_by. */
excerpt *excerpt_by(const excerpt *e, problem_leeway leeway);

/* An operand's elements at the excerpt's places; all: of the larger problem. */
void excerpt_take(const excerpt *e, const problem *of, int operand, const void *all, void *to);

/* Bytes of memory that excerpt_make takes, where it draws no more places than excerpt_places says. */
double excerpt_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                    const size_t *spacing);

#endif
