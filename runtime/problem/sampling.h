/* sampling.h - how results are checked where the reference of all would take too long: all of them, of inputs that
 * repeat.
 *
 * Along a dimension whose results stand for themselves (lathe_bench.apart) inputs have few different places, the
 * first. Each block of as many that follow has the same ones, rotated. Results repeat with them, so that the reference
 * of a smaller problem, which has the different places alone, says what every result is. Each is held to its own bound
 * (judge.h), and one that is off by more is found for certain, wherever it lies.
 *
 * What is not seen is a place that is taken for another with the same inputs. Blocks are rotated by a number that is
 * drawn for each, and by the block's number times the seed. There are no more blocks than different places. So no two
 * places are alike by two seeds that follow each other, as those of the problems are that each row is checked with. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "problem.h"

struct sampling { /* problem.h has its name */
  size_t different[LATHE_MAX_DIMS];
  problem *of
      [LATHE_MAX_OPERANDS]; /* by output: the smaller problem, solved; of its others it has nothing of use */
};

/* Whether the reference of all results would take more operations than 2^32; 2^30 for results judged by long double. */
bool sampling_is_wanted(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* Sets how many in place of these; 0: these. For tests. */
void sampling_beyond(double flops);

/* How many different places each dimension has. */
void sampling_choose(const lathe_op *op, lathe_dtype dtype, const size_t *dim, size_t *different);

/* The dimensions of the smaller problem about an output: of those along which it stands for itself so many places. */
void sampling_shrink(const lathe_op *op, int output, const size_t *dim, const size_t *different,
                     size_t *to);

/* Makes an input of what it has at these places alone. */
void sampling_repeat(problem *p, int input, const size_t *different, const void *few);

/* Gives a smaller problem an input of what a larger one has first; false where there is no memory. */
bool sampling_take_input(problem *small, int input, const problem *p, int from);

/* Of a problem whose inputs repeat; null where memory is short. */
sampling *sampling_make(const problem *p);
sampling *sampling_by(const sampling *s, problem_leeway leeway); /* see problem_by */
void sampling_free(sampling *s);
double sampling_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* Results that the smaller problem says: of one block of each dimension. Where a block is not whole, some of the first
 * fill it up. */
typedef struct sampling_layer {
  int output;
  size_t first[LATHE_MAX_DIMS], rotation[LATHE_MAX_DIMS]; /* by dimension: of the block */
} sampling_layer;

/* The layers of an output, and the nth of them. */
size_t sampling_layers(const problem *p, int output);
sampling_layer sampling_layer_of(const problem *p, int output, size_t nth);

/* The results of a layer as those of the smaller problem; and where one of its places is in the larger problem. */
void sampling_take(const problem *p, const sampling_layer *l, const void *all, void *to);
size_t sampling_place(const problem *p, const sampling_layer *l, int d, size_t place);

/* The checked elements: "all; 512 of 8192 m, 512 of 8192 n repeat". */
void sampling_tell(const problem *p, char *text, size_t size);

#endif
