/* reference.h - an op's reference is asked part by part, so that all processors work on it, and so that a part alone
 * can be asked for where all of it would take too long. How a problem is cut depends on its size alone, and so do the
 * results.
 *
 * Points of a map, and rows, stand for themselves: a part is any range of them, of rows always whole ones. A reduction
 * over everything is gathered over blocks of points, each as one loop would; then what the blocks came to is
 * joined, in their order: sums with all that rounding took from them (Neumaier 1974), and of equal terms the first is
 * the one that is found. A reduction over the rows is gathered over blocks of rows, and joined at each column in the
 * same way (Knuth 1969).
 *
 * A reference of what any other template computes is steps, each a phase: what it holds in memory for the steps that follow, or
 * results. Points of a step stand for themselves, a part is any range of them. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <math.h>

#include "lathe.h"

/* Loops of a reference are compiled for wide vectors too; the loader takes what the processor has. None of them has
 * multiply-adds, so that results have the same bits. Sanitizers are not there yet when the loader asks. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__ &&                           \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define REFERENCE_SETS __attribute__((target_clones("avx2", "default")))
#else
#define REFERENCE_SETS
#endif

/* How a reference gathers, as it says itself. */
typedef struct reference_shape {
  int phases; /* of a reduction over everything: each is gathered and joined before the next is; steps; else 0 */
  /* Numbers that a block leaves in all phases; that steps hold, which part.state has place for. */
  size_t states;
  size_t points; /* of the step that is the part's phase */
} reference_shape;

/* What is asked of a reference. */
typedef enum reference_step {
  REFERENCE_SHAPE,  /* how it gathers */
  REFERENCE_GATHER, /* what a part comes to; of rows and maps their results as well */
  REFERENCE_JOIN /* what the parts come to together, and with the last phase the results of that */
} reference_step;

/* The argument of a reference is the first member of one. Buffers begin with the part, but those of one value and, as
 * long as rows are gathered, those of one value per column; dim is that of the whole problem. */
typedef struct reference_part {
  lathe_args args;
  reference_step step;
  reference_shape *shape; /* SHAPE: to be filled in */
  int phase;              /* from 0 on */
  /* The part: a range of rows; of maps, steps and reductions over everything of points; in a JOIN over the rows of
   * columns. */
  size_t first, count;
  size_t blocks; /* JOIN: of how many blocks */
  /* Of reductions over everything, states of GATHER: the block's own; of JOIN and after it: what phases came to; of
   * JOIN also those of all blocks, one after the other. Of reductions over the rows args.workspace has as much for
   * each block, and the first takes what all came to. */
  void *state, *joined;
  bool narrow; /* the call is in a type of 16 bits */
  /* Of the kernels that are checked: the spacing of numbers next to 1, and the smallest normal number in such units
   * where they may take what is below as zero, else 0. */
  double unit, flushed;
  bool more; /* GATHER over the rows: the block's workspace has what came before */
} reference_part;

#endif
