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

/* Newton's steps from below, where erf is concave. */
static double erfinv(double x) {
  const long double size = fabs(x), slope = 0.886226925452758013649L;
  long double y = slope * size;

  if (!(size < 1))
    return size == 1 ? x * (double)INFINITY : (double)NAN;
  for (int i = 0; i < 100; i++)
    y += (size > 0.5L ? erfcl(y) - (1 - size) : size - erfl(y)) * slope * expl(y * y);
  return copysign((double)y, x);
}

static int exact_erfinv(mpfr_t result, const mpfr_t x, mpfr_rnd_t round) {
  const mpfr_prec_t digits = mpfr_get_prec(result) + 64;
  const int sign = mpfr_signbit(x);
  mpfr_t y, size, step, slope;

  mpfr_inits2(digits, y, size, step, slope, (mpfr_ptr)0);
  mpfr_abs(size, x, round);
  mpfr_set_d(y, erfinv(mpfr_get_d(size, round)), round);
  mpfr_const_pi(slope, round);
  mpfr_sqrt(slope, slope, round);
  for (int i = 0; i < 4 && mpfr_number_p(y) && !mpfr_zero_p(y); i++) {
    if (mpfr_cmp_d(size, 0.5) < 0) {
      mpfr_erf(step, y, round);
      mpfr_sub(step, size, step, round);
    } else {
      mpfr_erfc(step, y, round);
      mpfr_sub_ui(step, step, 1, round);
      mpfr_add(step, step, size, round);
    }
    mpfr_mul(step, step, slope, round);
    mpfr_div_2ui(step, step, 1, round);
    mpfr_sqr(result, y, round);
    mpfr_exp(result, result, round);
    mpfr_mul(step, step, result, round);
    mpfr_add(y, y, step, round);
  }
  mpfr_setsign(result, y, sign, round);
  mpfr_clears(y, size, step, slope, (mpfr_ptr)0);
  return 0;
}

const math_function math_functions[MATH_FUNCTIONS] = {
    {"acos", acos, mpfr_acos, NULL},
    {"acosh", acosh, mpfr_acosh, NULL},
    {"asin", asin, mpfr_asin, NULL},
    {"asinh", asinh, mpfr_asinh, NULL},
    {"atan", atan, mpfr_atan, NULL},
    {"atanh", atanh, mpfr_atanh, NULL},
    {"cos", cos, mpfr_cos, NULL},
    {"cosh", cosh, mpfr_cosh, NULL},
    {"erf", erf, mpfr_erf, NULL},
    {"erfc", erfc, mpfr_erfc, NULL},
    {"erfinv", erfinv, exact_erfinv, NULL},
    {"exp", exp, mpfr_exp, NULL},
    {"exp2", exp2, mpfr_exp2, NULL},
    {"expm1", expm1, mpfr_expm1, NULL},
    {"floor", floor, mpfr_rint_floor, NULL},
    {"log", log, mpfr_log, NULL},
    {"log10", log10, mpfr_log10, NULL},
    {"log1p", log1p, mpfr_log1p, NULL},
    {"log2", log2, mpfr_log2, NULL},
    {"round", rint, mpfr_rint_roundeven, NULL},
    {"rsqrt", rsqrt, exact_rsqrt, NULL},
    {"sigmoid", sigmoid, exact_sigmoid, NULL},
    {"sign", sign, exact_sign, NULL},
    {"sin", sin, mpfr_sin, NULL},
    {"sinh", sinh, mpfr_sinh, NULL},
    {"tanh", tanh, mpfr_tanh, NULL},
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
