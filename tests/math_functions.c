#include "math_functions.h"
#include "library/bench.h"

#include <math.h>
#include <string.h>

static double rsqrt(double x) {
  return 1 / sqrt(x);
}

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

static double sign(double x) {
  return x != x ? x : (x > 0) - (x < 0);
}

static int exact_sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t round) {
  mpfr_neg(y, x, round);
  mpfr_exp(y, y, round);
  mpfr_add_ui(y, y, 1, round);
  return mpfr_ui_div(y, 1, y, round);
}

static int exact_sign(mpfr_t y, const mpfr_t x, mpfr_rnd_t round) {
  return mpfr_nan_p(x) ? mpfr_set(y, x, round) : mpfr_set_si(y, mpfr_sgn(x), round);
}

/* MPFR's own is infinity at -0. */
static int exact_rsqrt(mpfr_t y, const mpfr_t x, mpfr_rnd_t round) {
  return mpfr_zero_p(x) ? mpfr_ui_div(y, 1, x, round) : mpfr_rec_sqrt(y, x, round);
}

const math_function math_functions[MATH_FUNCTIONS] = {
    {"acos", acos, mpfr_acos},
    {"acosh", acosh, mpfr_acosh},
    {"asin", asin, mpfr_asin},
    {"asinh", asinh, mpfr_asinh},
    {"atan", atan, mpfr_atan},
    {"atanh", atanh, mpfr_atanh},
    {"cos", cos, mpfr_cos},
    {"cosh", cosh, mpfr_cosh},
    {"erf", erf, mpfr_erf},
    {"erfc", erfc, mpfr_erfc},
    {"exp", exp, mpfr_exp},
    {"exp2", exp2, mpfr_exp2},
    {"expm1", expm1, mpfr_expm1},
    {"floor", floor, mpfr_rint_floor},
    {"log", log, mpfr_log},
    {"log10", log10, mpfr_log10},
    {"log1p", log1p, mpfr_log1p},
    {"log2", log2, mpfr_log2},
    {"round", rint, mpfr_rint_roundeven},
    {"rsqrt", rsqrt, exact_rsqrt},
    {"sigmoid", sigmoid, exact_sigmoid},
    {"sign", sign, exact_sign},
    {"sin", sin, mpfr_sin},
    {"sinh", sinh, mpfr_sinh},
    {"tanh", tanh, mpfr_tanh},
};

const lathe_variant *math_kernel(const char *name, const lathe_backend *backend,
                                 lathe_dtype dtype) {
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (strcmp(lathe_variants[i].op->name, name) == 0 && lathe_variants[i].backend == backend &&
        lathe_variants[i].dtype == dtype)
      return &lathe_variants[i];
  return NULL;
}

double math_bound(const lathe_op *op, lathe_dtype dtype) {
  for (int i = 0; i < op->bench->nbounds; i++)
    if (op->bench->bounds[i].dtype == dtype)
      return op->bench->bounds[i].ulp;
  return 0.5;
}
