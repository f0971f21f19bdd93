/* math_functions.h - the functions of the vector mathematics, and their kernels (specs-math/). */
#ifndef MATH_FUNCTIONS_H
#define MATH_FUNCTIONS_H

#include <mpfr.h>

#include "library/bench.h"

typedef struct math_function {
  const char *name;
  double (*approximate)(double);                  /* off by a few ulp of double */
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t); /* may round into its argument */
  int (*exact_of_two)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t); /* in the place of both */
} math_function;

/* Those of one argument, by name. */
enum { MATH_FUNCTIONS = 26 };
extern const math_function math_functions[MATH_FUNCTIONS];

/* The kernel of a function; null where there is none. */
const lathe_variant *math_kernel(const char *name, const lathe_backend *backend, lathe_dtype dtype);

/* How many ulp an op may be off. */
double math_bound(const lathe_op *op, lathe_dtype dtype);

#endif
