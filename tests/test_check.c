/* test_check.c - the check's own judgement: what results that are as expected prove, and which indexes are
 * as good as the expected one. */
#include "tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "devices/cpu/device.h"
#include "library/dtype.h"
#include "problem/random.h"
#include "library/bench.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SEED = 20240229 };

/* y[i] = f(x[i]), the reference and a kernel that is right. */
enum { X, Y, MAGNITUDE };
static double (*function)(double);

static void reference(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++) {
    ((double *)args->buf[Y])[i] = function(((const double *)args->buf[X])[i]);
    ((double *)args->buf[MAGNITUDE])[i] = 0;
  }
}

static void right(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++)
    ((float *)args->buf[Y])[i] = (float)function(((const float *)args->buf[X])[i]);
}

static void writes_nothing(const lathe_args *args) {
  (void)args;
}

/* Judges a kernel that is to compute f of n inputs in a range. */
static check_result judge(lathe_fn *kernel, double (*f)(double), double low, double high, size_t n,
                          unsigned special) {
  const lathe_operand operands[] = {
      [X] = {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, low, high, false},
      [Y] = {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
  };
  const lathe_op op = {.name = "f",
                       .source = "specs/f.lua:3",
                       .ndim = 1,
                       .dim = {"n"},
                       .noperands = COUNT(operands),
                       .operands = operands,
                       .bench = &(const lathe_bench){.reference_f64 = reference}};
  const lathe_backend backend = {.name = "planted"};
  const lathe_variant v = {
      .name = "f_f32__planted", .op = &op, .backend = &backend, .dtype = LATHE_F32, .run = kernel};
  const char *why;
  check_result r;
  problem *p;

  function = f;
  p = problem_make(&op, LATHE_F32, &n, SEED, special, &why);
  assert_non_null(p);
  r = check_variant(device_cpu(), &v, p, (device_layout){0});
  problem_free(p);
  return r;
}

static double cut(double x) {
  return x > 0 ? x : 0;
}

static double vanish(double x) {
  return x * 0x1p-160; /* zero in f32 */
}

static double grow(double x) {
  return x * 0x1p130; /* infinite in f32 */
}

static double divide_by_zero(double x) {
  return x / 0.0;
}

/* Zeros, NaN or infinities do not make a right kernel wrong; but where inputs as the spec has them give
 * nothing that is finite, it is not proved right. */
static void test_what_results_show(void **state) {
  static const struct {
    double (*f)(double);
    double low, high;
    size_t n;
    unsigned special;
    check_verdict verdict;
    const char *said;
  } cases[] = {
      {cut, -1, 1, 1000, 0, CHECK_RIGHT, ""},
      {cut, -2, -1, 1000, 0, CHECK_RIGHT,
       "every result is zero, and should be, which shows little"},
      {vanish, 1, 2, 40, 0, CHECK_RIGHT, "every result is zero, and should be, which shows little"},
      {cut, -2, -1, 31, 0, CHECK_RIGHT, ""}, /* may be chance */
      {cut, -2, -1, 1000, RANDOM_NAN, CHECK_RIGHT,
       "every result is zero, and should be, which shows little"},
      {sqrt, -1, 1, 1000, 0, CHECK_RIGHT,
       "50 % of the results are NaN, and should be, which shows nothing of them"},
      {sqrt, -1, 1, 1000, RANDOM_NAN, CHECK_RIGHT, ""},
      {sqrt, -2, -1, 1000, RANDOM_NAN, CHECK_RIGHT,
       "every result is NaN, and should be, which shows little"},
      {sqrt, -2, -1, 1000, 0, CHECK_UNPROVED,
       "every result of y is NaN, and should be, which proves nothing: give the inputs a range "
       "where the op is defined (specs/f.lua:3); n = 1000; seed 20240229"},
      {sqrt, -2, -1, 1, 0, CHECK_UNPROVED,
       "every result of y is NaN, and should be, which proves nothing: give the inputs a range "
       "where the op is defined (specs/f.lua:3); n = 1; seed 20240229"},
      {sqrt, -2, -1, 0, 0, CHECK_RIGHT, ""}, /* no inputs, no results */
      {divide_by_zero, 1, 2, 5, 0, CHECK_UNPROVED,
       "every result of y is infinite, and should be, which proves nothing: give the inputs a "
       "range where the op is defined (specs/f.lua:3); n = 5; seed 20240229"},
      {grow, 1, 2, 1, 0, CHECK_RIGHT,
       "every result is beyond the type's largest number, and should be, which shows little"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const check_result r =
        judge(right, cases[i].f, cases[i].low, cases[i].high, cases[i].n, cases[i].special);
    if (r.verdict != cases[i].verdict || strcmp(r.message, cases[i].said) != 0)
      fail_msg("case %zu: verdict %d, expected %d; said '%s', expected '%s'", i, r.verdict,
               cases[i].verdict, r.message, cases[i].said);
  }
}

/* Zeros that are right must have been written. */
static void test_zeros_are_written(void **state) {
  const check_result r = judge(writes_nothing, cut, -2, -1, 40, 0);

  (void)state;
  assert_int_equal(r.verdict, CHECK_WRONG);
  assert_non_null(strstr(r.message, "y[0] was never written, or read before that, expected 0 "));
}

/* ---- indexes of terms that are rounded -------------------------------------------------------- */

/* The index of the first largest 1 - x[i]^2 in each row, asked about in buffers after the operands. */
enum { R = 1, ASKED, TERM, TERM_MAGNITUDE };

static double term_of(double x) {
  return isfinite(x) ? 1 - x * x : x;
}

static int64_t find(const double *x, size_t n, double (*f)(double)) {
  int64_t best = 0;

  for (size_t i = 1; i < n; i++)
    if (f(x[i]) > f(x[best]) || (isnan(x[i]) && !isnan(x[best])))
      best = (int64_t)i;
  return best;
}

static void index_reference(const lathe_args *args) {
  const double *x = args->buf[0];
  const int64_t *asked = args->buf[ASKED];

  *(int64_t *)args->buf[R] = find(x, args->dim[0], term_of);
  if (!asked)
    return;
  *(double *)args->buf[TERM] =
      *asked >= 0 && (size_t)*asked < args->dim[0] ? term_of(x[*asked]) : NAN;
  *(double *)args->buf[TERM_MAGNITUDE] = 2;
}

/* What the kernel finds. */
static int64_t answer;

static void answers(const lathe_args *args) {
  memcpy(args->buf[R], &answer, sizeof answer);
}

/* What is made of an index that a kernel found in x, in f32. */
static check_result judge_index(const double *x, size_t n, int64_t index, bool rounded,
                                double ulp) {
  static const lathe_operand operands[] = {
      {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, 0, 1, false},
      {"r", LATHE_I64, true, 0, {0}, 0, 0, false},
  };
  const lathe_bound bound = {LATHE_F32, ulp};
  const lathe_op op = {.name = "index",
                       .source = "specs/index.lua:3",
                       .ndim = 1,
                       .dim = {"n"},
                       .noperands = COUNT(operands),
                       .operands = operands,
                       .bench = &(const lathe_bench){.nbounds = 1,
                                                     .bounds = &bound,
                                                     .rounded_terms = rounded ? 1u << R : 0,
                                                     .reference_f64 = index_reference}};
  const lathe_backend backend = {.name = "planted"};
  const lathe_variant v = {.name = "index_f32__planted",
                           .op = &op,
                           .backend = &backend,
                           .dtype = LATHE_F32,
                           .run = answers};
  const char *why;
  check_result r;
  problem *p = problem_make(&op, LATHE_F32, &n, SEED, 0, &why);

  assert_non_null(p);
  lathe_dtype_narrow(LATHE_F32, x, n, p->input[0]);
  assert_true(problem_solve(p));
  answer = index;
  r = check_variant(device_cpu(), &v, p, (device_layout){0});
  problem_free(p);
  return r;
}

/* Where terms are rounded, any that may be the largest in the kernel's precision; else the reference's. */
static void test_indexes_are_judged_by_their_terms(void **state) {
  /* 1 - x^2 is 1 in f32 at 1 and 2, and 2^-21 less at 3: near two units of the magnitude, 2. */
  static const double x[] = {0.5, 0x1p-14, 0x1p-15, 0x1.6a09e6p-11, 0.25};
  static const double nans[] = {0.5, NAN, 0x1p-15, NAN, 0};
  static const struct {
    const double *x;
    int64_t index;
    bool rounded;
    double ulp;
    check_verdict verdict;
    const char *said;
  } cases[] = {
      {x, 2, false, 1, CHECK_RIGHT, ""},
      {x, 1, false, 1, CHECK_WRONG, "r is 1, expected 2; 1 of 1 wrong"},
      {x, 2, true, 1, CHECK_RIGHT, ""},
      {x, 1, true, 1, CHECK_RIGHT, ""},
      {x, 1, true, 0, CHECK_RIGHT, ""}, /* a rounded term is half a unit off at best */
      {x, 3, true, 1, CHECK_RIGHT, ""},
      {x, 3, true, 0.9, CHECK_WRONG,
       "r is 3, expected 2 (terms that far apart are 0.998 ulp off each, 0.9 allowed)"},
      {x, 3, true, 0, CHECK_WRONG,
       "r is 3, expected 2 (terms that far apart are 0.998 ulp off each, 0.5 allowed)"},
      {x, 0, true, 4, CHECK_WRONG, "r is 0, expected 2 (terms that far apart are 5.243e+05 ulp"},
      {x, 5, true, 4, CHECK_WRONG, "r is 5, expected 2; 1 of 1 wrong"}, /* no term */
      {x, -2, true, 4, CHECK_WRONG, "r is -2, expected 2; 1 of 1 wrong"},
      {nans, 1, true, 4, CHECK_RIGHT, ""},
      {nans, 3, true, 4, CHECK_WRONG, "r is 3, expected 1; 1 of 1 wrong"}, /* not the first */
      {nans, 4, true, 4, CHECK_WRONG, "r is 4, expected 1; 1 of 1 wrong"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const check_result r =
        judge_index(cases[i].x, COUNT(x), cases[i].index, cases[i].rounded, cases[i].ulp);
    if (r.verdict != cases[i].verdict || strncmp(r.message, cases[i].said, strlen(cases[i].said)))
      fail_msg("case %zu: verdict %d, expected %d; said '%s', expected '%s'", i, r.verdict,
               cases[i].verdict, r.message, cases[i].said);
    assert_true(r.verdict != CHECK_RIGHT || r.ulp <= r.bound);
  }
}

const struct CMUnitTest check_tests[] = {
    cmocka_unit_test(test_what_results_show),
    cmocka_unit_test(test_zeros_are_written),
    cmocka_unit_test(test_indexes_are_judged_by_their_terms),
};
const size_t check_test_count = COUNT(check_tests);
