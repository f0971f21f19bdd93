/* test_judge.c - the laws that results are judged by, and whether wrong results of every op would be found out. */
#include "tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/judge.h"
#include "check/mutate.h"
#include "library/dtype.h"
#include "library/bench.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- the laws -------------------------------------------------------------------------------- */

/* An op whose result is nearly the same number at each of its points, or just that, and of the same magnitude. */
enum { N = 64 };
static double expected, magnitude;
static bool equal;

static void constant_reference(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++) {
    ((double *)args->buf[0])[i] = expected * (1 + (equal ? 0 : (double)i * 0x1p-52));
    ((double *)args->buf[1])[i] = magnitude;
  }
}

/* The judgement on results that are all `result`, of an output in a type of its own or LATHE_VARIANT_DTYPE; digits: to
 * which factors of products were rounded. */
static judgement judge_all(lathe_dtype own, lathe_dtype dtype, int digits, double result,
                           double ulp, bool *lets_zero_pass) {
  const lathe_operand constant_operand = {"y", own, true, 1, {0}, 0, 0, false};
  const lathe_bound bound = {dtype, ulp};
  const lathe_op op = {.name = "constant",
                       .ndim = 1,
                       .dim = {"n"},
                       .noperands = 1,
                       .operands = &constant_operand,
                       .bench = &(const lathe_bench){
                           .nbounds = 1, .bounds = &bound, .reference_f64 = constant_reference}};
  const size_t n = N;
  const char *why;
  problem *p = problem_make(&op, dtype, &n, 1, 0, &why);
  double got[N];
  char narrowed[N * sizeof(double)];
  judgement j;

  assert_non_null(p);
  for (size_t i = 0; i < N; i++)
    got[i] = result;
  lathe_dtype_narrow(lathe_dtype_of_operand(&constant_operand, dtype), got, N, narrowed);
  j = judge_products(p, digits, NULL, 0, narrowed);
  *lets_zero_pass = judge_lets_pass(p, 0, 0);
  problem_free(p);
  return j;
}

/* The same where they are the expected one and `off` more. */
static judgement judge_constant(lathe_dtype dtype, double off, double ulp, bool *lets_zero_pass) {
  return judge_all(LATHE_VARIANT_DTYPE, dtype, 0, expected + off, ulp, lets_zero_pass);
}

static void test_laws(void **state) {
  static const struct {
    const char *what;
    lathe_dtype dtype;
    double expected, magnitude, off, ulp;
    bool first, second, zero; /* whether each law holds; whether zeros would pass */
  } cases[] = {
      {"all as far off as one may be", LATHE_F32, 1, 0, 0x1p-22, 2, true, false, false},
      {"one more", LATHE_F32, 1, 0, 3 * 0x1p-23, 2, false, false, false},
      {"of a magnitude", LATHE_F32, 1, 4, 0x1p-22, 2, true, true, false},
      {"all as far off as one of a magnitude may be", LATHE_F32, 1, 4, 0x1p-20, 2, true, false,
       false},
      {"bf16 off by half a unit of its own", LATHE_BF16, 1, 4, 0, 2, true, true, false},
      {"bf16 off by a unit of its own", LATHE_BF16, 1, 4, 0x1p-7, 2, false, false, false},
      {"bf16 off by a unit of a magnitude in bf16", LATHE_BF16, 0x1p-7, 1, 0x1p-7, 2, false, false,
       false},
      {"f16 off by some units of a magnitude in f32", LATHE_F16, 0x1p-20, 1, 0x1p-24, 2, true, true,
       false},
      {"f16 beyond the other end, where either is right", LATHE_F16, -117763, 0x1p42, INFINITY, 2,
       true, true, true},
      {"f16 beyond the other end", LATHE_F16, -117763, 0, INFINITY, 2, false, true, false},
      {"exact, and off by the least", LATHE_BF16, 1, 0, 0x1p-7, 0, false, true, false},
      {"all off alike where much cancels", LATHE_F32, 1, 512, 0x1p-13, 8, true, false, false},
      {"far less off where much cancels", LATHE_F32, 1, 512, 0x1p-15, 8, true, true, false},
      {"a bound that is no bound", LATHE_F32, 1, 0, 0.5, 1e30, true, false, false},
      {"a magnitude that is none", LATHE_F32, 1, 1e30, 0.5, 2, true, true, true},
      {"nothing known", LATHE_F32, 1, INFINITY, 1, 2, true, true, true},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    bool zero;
    judgement j;
    expected = cases[i].expected;
    magnitude = cases[i].magnitude;
    j = judge_constant(cases[i].dtype, cases[i].off, cases[i].ulp, &zero);
    if ((j.wrong == 0) != cases[i].first || (j.off <= j.off_allowed) != cases[i].second ||
        zero != cases[i].zero || judge_is_right(&j) != (cases[i].first && cases[i].second))
      fail_msg("%s: %zu elements wrong, worst %g of %g; %g of the norm, %g allowed; zeros %s",
               cases[i].what, j.wrong, j.worst, j.bound, j.off, j.off_allowed,
               zero ? "pass" : "do not pass");
  }
}

/* What is rounded to integers is the nearest, or the next where the number may be on the other side of a tie; beyond
 * the range it is the end of that. */
static void test_law_of_integers(void **state) {
  static const struct {
    lathe_dtype type;
    double expected, magnitude, got, ulp;
    bool right;
  } cases[] = {
      {LATHE_I8, 12.25, 12.25, 12, 2, true},
      {LATHE_I8, 12.25, 12.25, 13, 2, false},
      {LATHE_I8, 12.5, 12.5, 12, 2, true},
      {LATHE_I8, 12.5, 12.5, 13, 2, true},
      {LATHE_I8, 12.4999995, 12.5, 13, 2, true},
      {LATHE_I8, 12.499, 12.5, 13, 2, false},
      {LATHE_I8, 12.499, 8192, 13, 2, true},
      {LATHE_I8, -0.25, 0.25, 0, 2, true},
      {LATHE_I8, 1e9, 1e9, 127, 2, true},
      {LATHE_I8, 1e9, 1e9, 126, 2, false},
      {LATHE_I8, -1e9, 1e9, -128, 2, true},
      {LATHE_I8, -1e9, 1e9, -127, 2, false},
      {LATHE_I8, 127.75, 128, 127, 2, true},
      {LATHE_I8, 126.25, 126, 127, 2, false},
      {LATHE_U8, 255.75, 256, 255, 2, true},
      {LATHE_U8, -7, 7, 0, 2, true},
      {LATHE_U8, -7, 7, 1, 2, false},
      {LATHE_U8, 200.25, 200, 200, 2, true},
      {LATHE_I8, NAN, 0, 0, 2, true},
      {LATHE_I8, NAN, 0, 1, 2, false},
      {LATHE_I8, INFINITY, 0, 127, 2, true},
      {LATHE_I8, INFINITY, 0, 0, 2, false},
      {LATHE_I8, -INFINITY, 0, -128, 2, true},
      {LATHE_I8, 12, 12, 12, 0, true},
      {LATHE_I8, 12, 12, 13, 0, false},
      {LATHE_I8, 3, INFINITY, 100, 2, true},
  };

  (void)state;
  equal = true;
  for (size_t i = 0; i < COUNT(cases); i++) {
    bool zero;
    judgement j;
    expected = cases[i].expected;
    magnitude = cases[i].magnitude;
    j = judge_all(cases[i].type, LATHE_F32, 0, cases[i].got, cases[i].ulp, &zero);
    if (judge_is_right(&j) != cases[i].right)
      fail_msg("%s of %.9g, %g: %zu elements wrong, worst %g of %g",
               lathe_dtype_name(cases[i].type), expected, cases[i].got, j.wrong, j.worst, j.bound);
  }
  equal = false;
}

/* Elements that are equal are off by the same, each as far as one may be. */
static void test_equal_elements(void **state) {
  bool zero;
  judgement j;

  (void)state;
  expected = 1;
  magnitude = 4;
  equal = true;
  j = judge_constant(LATHE_F32, 0x1p-20, 2, &zero);
  assert_true(judge_is_right(&j) && !zero);
  magnitude = 512; /* more than a result's size as a whole may be off, were they many */
  j = judge_constant(LATHE_F32, 0x1p-13, 2, &zero);
  assert_true(judge_is_right(&j) && !zero);
  equal = false;
  j = judge_constant(LATHE_F32, 0x1p-13, 2, &zero);
  assert_true(j.wrong == 0 && !judge_is_right(&j) && !zero);
}

/* Products of factors with 11 digits (tf32) may be off by as many units of those, and no more. */
static void test_rounded_factors(void **state) {
  bool zero;
  judgement j;

  (void)state;
  expected = 1;
  magnitude = 4;
  j = judge_all(LATHE_VARIANT_DTYPE, LATHE_F32, 11, 1 + 0x1p-9, 2, &zero);
  assert_true(judge_is_right(&j));
  j = judge_all(LATHE_VARIANT_DTYPE, LATHE_F32, 11, 1 + 0x1p-6, 2, &zero);
  assert_true(j.wrong > 0);
  j = judge_all(LATHE_VARIANT_DTYPE, LATHE_F32, 0, 1 + 0x1p-9, 2, &zero);
  assert_true(j.wrong > 0);
}

/* The judgement on N results in so many rows that are off by `off`, all of a row alike, or by turns up and down. */
static void rows_reference(const lathe_args *args) {
  for (size_t i = 0; i < N; i++) {
    ((double *)args->buf[0])[i] = 1 + (double)i / 64;
    ((double *)args->buf[1])[i] = magnitude;
  }
}

/* Of N elements in rows, or, where those are 0, of what is left of some rows: each is off, by turns or alike in a
 * row. */
static judgement judge_rows_off(double off, size_t rows, bool alike) {
  static const lathe_operand in_rows = {"y", LATHE_VARIANT_DTYPE, true, 2, {0, 1}, 0, 0, false};
  static const lathe_operand in_columns = {"y", LATHE_VARIANT_DTYPE, true, 1, {1}, 0, 0, false};
  static const lathe_bound bound = {LATHE_F32, 4};
  const lathe_op op = {.name = "rows",
                       .ndim = 2,
                       .dim = {"rows", "cols"},
                       .noperands = 1,
                       .operands = rows ? &in_rows : &in_columns,
                       .bench = &(const lathe_bench){
                           .nbounds = 1, .bounds = &bound, .reference_f64 = rows_reference}};
  const size_t dim[2] = {rows ? rows : 3, rows ? N / rows : N};
  const char *why;
  problem *p = problem_make(&op, LATHE_F32, dim, 1, 0, &why);
  float got[N];
  judgement j;

  assert_non_null(p);
  for (size_t i = 0; i < N; i++) {
    const size_t turn = alike ? i / dim[1] : i;
    got[i] = (float)(1 + (double)i / 64 + (turn % 2 ? off : -off));
  }
  j = judge_output(p, NULL, 0, got);
  problem_free(p);
  return j;
}

/* What is computed once for a row puts all of it off by the same. */
static void test_rows_off_alike(void **state) {
  judgement j;

  (void)state;
  magnitude = 1000;
  j = judge_rows_off(0x1p-12, 8, true);
  assert_true(judge_is_right(&j));
  j = judge_rows_off(0x1p-12, 8, false);
  assert_true(j.wrong == 0 && !judge_is_right(&j));
  j = judge_rows_off(0x1p-12, 0, true);
  assert_true(judge_is_right(&j));
  j = judge_rows_off(0x1p-12, 0, false);
  assert_true(j.wrong == 0 && !judge_is_right(&j));
  j = judge_rows_off(0x1p-12, 32, true); /* as far as one may be, which so many rows are not */
  assert_true(j.wrong == 0 && !judge_is_right(&j));
}

/* ---- wrong results of every op --------------------------------------------------------------- */

static bool has_dtype(const lathe_op *op, lathe_dtype dtype) {
  for (int i = 0; i < op->bench->nbounds; i++)
    if (op->bench->bounds[i].dtype == dtype)
      return true;
  return false;
}

static void test_no_mutant_survives(void **state) {
  mutate_survivor found[16];
  int all = 0;

  (void)state;
  for (size_t i = 0; i < lathe_op_count; i++)
    for (int dtype = 0; dtype < LATHE_DTYPES; dtype++) {
      const lathe_op *op = &lathe_ops[i];
      const int count = op->bench->reference_f64 && has_dtype(op, (lathe_dtype)dtype)
                            ? mutate_survivors(op, (lathe_dtype)dtype, NULL, found, COUNT(found))
                            : 0;
      assert_true(count >= 0);
      for (int s = 0; s < count && s < (int)COUNT(found); s++)
        print_error("%s %s: %s: %s would pass\n", op->name, lathe_dtype_name((lathe_dtype)dtype),
                    found[s].output, found[s].what);
      all += count;
    }
  assert_int_equal(all, 0);
}

/* y = x + a * 2^-60 over rows, which no precision but a wider one sees a in. */
static void weak_reference(const lathe_args *args) {
  const size_t points = args->dim[0] * args->dim[1];

  for (size_t i = 0; i < points; i++) {
    ((double *)args->buf[1])[i] = ((const double *)args->buf[0])[i] + args->scalar[0] * 0x1p-60;
    ((double *)args->buf[2])[i] = magnitude;
  }
}

/* Which mutants survive of such an op, one after the other. */
static void survivors_of(double ulp, double rounded, char *text, size_t size) {
  static const lathe_operand operands[] = {
      {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, -1, 1, false},
      {"y", LATHE_VARIANT_DTYPE, true, 2, {0, 1}, 0, 0, false},
  };
  static const lathe_scalar scalar = {"a", 3};
  const lathe_bound bound = {LATHE_F32, ulp};
  const lathe_op op = {.name = "weak",
                       .ndim = 2,
                       .dim = {"rows", "cols"},
                       .noperands = COUNT(operands),
                       .operands = operands,
                       .nscalars = 1,
                       .scalars = &scalar,
                       .bench = &(const lathe_bench){
                           .nbounds = 1, .bounds = &bound, .reference_f64 = weak_reference}};
  mutate_survivor found[16];
  size_t length = 0;
  int count;

  magnitude = rounded;
  count = mutate_survivors(&op, LATHE_F32, NULL, found, COUNT(found));
  assert_in_range(count, 0, COUNT(found));
  text[0] = 0;
  for (int i = 0; i < count; i++)
    length += (size_t)snprintf(text + length, size - length, "%s%s%s", i ? ", " : "",
                               found[i].gross ? "!" : "", found[i].what);
}

static void test_survivors_are_named(void **state) {
  static const struct {
    double ulp, magnitude;
    const char *survivors;
  } cases[] = {
      {1, 0, ""},
      {1, 1e4, ""},
      {1, 1e6, "!1.01 times the result"},
      {1, 1e30,
       "!a result of 0, !the result negated, !1.01 times the result, the next element's result, "
       "the next row's result, a result without the last vector, a result without x, a result "
       "without x"},
  };
  char text[1024];

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    survivors_of(cases[i].ulp, cases[i].magnitude, text, sizeof text);
    assert_string_equal(text, cases[i].survivors);
  }
}

/* Every result of softmax rounded to some bits. */
static bool softmax_passes(int bits) {
  const size_t dim[LATHE_MAX_DIMS] = {9, 1000};
  const lathe_op *op = lathe_ops;
  const char *why;
  judgement j;
  problem *p;
  float *got;

  while (op < lathe_ops + lathe_op_count && strcmp(op->name, "softmax") != 0)
    op++;
  assert_true(op < lathe_ops + lathe_op_count);
  p = problem_make(op, LATHE_F32, dim, 20240229, 0, &why);
  assert_non_null(p);
  got = malloc(p->bytes[1]);
  assert_non_null(got);
  for (size_t i = 0; i < p->elements[1]; i++) {
    int exponent;
    const double value = frexp((double)problem_expected(p, 1, i), &exponent);
    got[i] = (float)ldexp(round(ldexp(value, bits)), exponent - bits);
  }
  j = judge_output(p, NULL, 1, got);
  free(got);
  problem_free(p);
  return judge_is_right(&j);
}

static void test_few_bits(void **state) {
  (void)state;
  assert_true(softmax_passes(24));
  assert_true(softmax_passes(23));
  assert_false(softmax_passes(20));
}

const struct CMUnitTest judge_tests[] = {
    cmocka_unit_test(test_laws),
    cmocka_unit_test(test_law_of_integers),
    cmocka_unit_test(test_equal_elements),
    cmocka_unit_test(test_rounded_factors),
    cmocka_unit_test(test_rows_off_alike),
    cmocka_unit_test(test_no_mutant_survives),
    cmocka_unit_test(test_survivors_are_named),
    cmocka_unit_test(test_few_bits),
};
const size_t judge_test_count = COUNT(judge_tests);
