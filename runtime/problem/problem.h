/* problem.h - one (op, type, size) to be solved: random inputs, and the reference's result in
 * higher precision. All variants of the op and type share it. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include "library/dispatch.h"

/* The findings of telling.h, until inputs change. */
typedef struct problem_told {
  bool known, proves;
  char text[512];
} problem_told;

typedef struct sampling sampling;

/* Liberties of kernels, besides rounding results to the type that is computed in. */
typedef struct problem_leeway {
  int digits;        /* to which they round products; 0: all of the type */
  int narrowed;      /* the same of what is between two products */
  bool between;      /* what is computed may count as zero where it is below the normal range, */
  unsigned flushed;  /* and so may operands and results of these types, a bit for each dtype: */
  unsigned operands; /* of a problem that is solved for it, these are flushed, a bit for each */
} problem_leeway;

typedef struct problem {
  const lathe_op *op;
  lathe_dtype dtype;
  size_t dim[LATHE_MAX_DIMS];
  uint64_t seed;
  unsigned special; /* RANDOM_..., how the inputs and scalars are drawn */
  bool solved;      /* it has what is expected, and not the inputs alone */
  bool wide;        /* floating references are long double, not double */
  /* By scalar: the spec's or one near it, rounded as a kernel takes it that computes in f32. */
  double scalar[LATHE_MAX_SCALARS];

  /* By operand. */
  size_t elements[LATHE_MAX_OPERANDS];
  size_t bytes[LATHE_MAX_OPERANDS];    /* in the operand's own type */
  void *input[LATHE_MAX_OPERANDS];     /* in the operand's own type; null for outputs */
  void *expected[LATHE_MAX_OPERANDS];  /* outputs: reference type, or the integer type */
  void *magnitude[LATHE_MAX_OPERANDS]; /* floating outputs: reference type */
  /* Outputs that are indexes of rounded terms: the reference's own, and the terms there; these and their
   * magnitudes in the reference type. */
  void *asked[LATHE_MAX_OPERANDS], *term[LATHE_MAX_OPERANDS];
  /* Inputs as numbers of the reference type, where they are none of their own type: in the place of those in input;
   * null for others. */
  void *number[LATHE_MAX_OPERANDS];
  /* How results are checked where the reference of all would take too long, and nothing is expected of them:
   * sampling.h; else null. */
  sampling *sample;
  problem_told *told;
  problem_leeway leeway; /* by which it is solved */
} problem;

/* Makes the inputs and runs the reference; null with the reason in why (static) where there
 * is no memory, or the op has no reference for the type. */
problem *problem_make(const lathe_op *op, lathe_dtype dtype, const size_t *dim, uint64_t seed,
                      unsigned special, const char **why);
/* The seed with which RANDOM_PEAK has its peak at a place of inputs with so many elements, at the high end of the range
 * of operands whose bits are in `ends`, at the low end of others'; other elements are drawn by a seed that this one
 * gives. */
uint64_t problem_peak_seed(size_t place, size_t elements, unsigned ends, uint64_t seed);

/* The same inputs alone, for results that are known. */
problem *problem_draw(const lathe_op *op, lathe_dtype dtype, const size_t *dim, uint64_t seed,
                      unsigned special, const char **why);
void problem_free(problem *p);

/* The operand whose memory an input shares: its own, but for RANDOM_SAME. */
int problem_home(const problem *p, int operand);

/* Runs the reference again, on inputs that have changed; false where there is no memory. */
bool problem_solve(problem *p);

/* The same about the indexes in asked, for their terms and the magnitudes of these. */
bool problem_ask(const problem *p);

/* The same problem to kernels that have a leeway: with zero, of the same sign, in the place of the numbers of its
 * operands that are below the normal range; null where there is no memory. */
problem *problem_by(const problem *p, problem_leeway leeway);

/* All that a problem may be to kernels that have some leeway: which operands they flush is open. */
enum { PROBLEM_VIEWS = 16 };
typedef struct problem_views {
  problem_leeway leeway;
  int count;
  problem *of[PROBLEM_VIEWS];
} problem_views;

/* Those for which there is memory, none of a leeway of nothing. */
problem_views problem_views_make(const problem *p, problem_leeway leeway);
void problem_views_free(problem_views *v);

/* An element of an array in the reference type. */
long double problem_number(const problem *p, const void *numbers, size_t element);

/* The expected value of an element of an output. */
long double problem_expected(const problem *p, int output, size_t element);

/* What is expected of an output in its own type: the results of a right kernel; to be freed, null where memory is
 * short. */
void *problem_result(const problem *p, int output);

/* Another of the same op, type, seed and scalars, with a place for its results, and none for inputs; null where there
 * is no memory. */
problem *problem_like(const problem *p, const size_t *dim);

/* The same with the same inputs, to be changed and solved. */
problem *problem_copy(const problem *p);

/* Bytes of memory that problem_make takes at its peak; and a problem of which all results are expected. */
double problem_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim);
double problem_solved_cost(const lathe_op *op, lathe_dtype dtype, const size_t *dim);

/* The spec's bound for a type, in units of the last place of the type computed in; without one a result must be the
 * nearest value. */
double problem_ulp(const lathe_op *op, lathe_dtype dtype);

/* Whether references are in long double: f64 is judged by a wider type, everything narrower by f64. */
bool problem_is_wide(const lathe_op *op, lathe_dtype dtype);

/* Whether the program has the op's reference for a type: not of what configure left out. */
bool problem_has_reference(const lathe_op *op, lathe_dtype dtype);

/* The call's arguments but for its buffers. */
lathe_args problem_args(const problem *p);

#endif
