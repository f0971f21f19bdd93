/* test_check.c - what the check makes of results that are as expected: whether they prove anything. */
#include "tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "dtype.h"
#include "random.h"

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
                       .family = "map",
                       .source = "specs/f.lua:3",
                       .ndim = 1,
                       .dim = {"n"},
                       .noperands = COUNT(operands),
                       .operands = operands,
                       .reference_f64 = reference};
  const lathe_backend backend = {.name = "planted"};
  const lathe_variant v = {.name = "f_f32__planted",
                           .op = &op,
                           .backend = &backend,
                           .dtype = LATHE_F32,
                           .run = kernel,
                           .align = 1};
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
  assert_non_null(strstr(r.message, "y[0] was never written, expected 0 "));
}

const struct CMUnitTest check_tests[] = {
    cmocka_unit_test(test_what_results_show),
    cmocka_unit_test(test_zeros_are_written),
};
const size_t check_test_count = COUNT(check_tests);
