/* test_random.c - random inputs: by seed and place, with special values, drawn in other ways. */
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/dtype.h"
#include "problem/random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- random numbers -------------------------------------------------------------------------- */

static void test_random_is_of_seed_and_place(void **state) {
  double a[1000], b[1000];

  (void)state;
  random_fill(LATHE_F64, a, 1000, 1000, -1, 1, 42, 3, 0);
  random_fill(LATHE_F64, b, 1000, 1000, -1, 1, 42, 3, 0);
  assert_memory_equal(a, b, sizeof a);
  random_fill(LATHE_F64, b, 10, 10, -1, 1, 42, 3, 0);
  assert_memory_equal(a, b, 10 * sizeof *a);
  random_fill(LATHE_F64, b, 1000, 1000, -1, 1, 43, 3, 0);
  assert_memory_not_equal(a, b, sizeof a);
  random_fill(LATHE_F64, b, 1000, 1000, -1, 1, 42, 4, 0);
  assert_memory_not_equal(a, b, sizeof a);
}

static void test_random_range(void **state) {
  enum { N = 100000 };
  float *x = malloc(N * sizeof *x);
  bool seen[5] = {false};
  int64_t whole[1000];
  double sum = 0;

  (void)state;
  assert_non_null(x);
  random_fill(LATHE_F32, x, N, N, 2, 6, 1, 0, 0);
  for (size_t i = 0; i < N; i++) {
    assert_true(x[i] >= 2 && x[i] <= 6);
    sum += x[i];
  }
  assert_true(fabs(sum / N - 4) < 0.02); /* five deviations of the mean */
  random_fill(LATHE_I64, whole, 1000, 1000, -2, 2, 1, 0, 0);
  for (size_t i = 0; i < 1000; i++) {
    assert_true(whole[i] >= -2 && whole[i] <= 2);
    seen[whole[i] + 2] = true;
  }
  for (size_t i = 0; i < COUNT(seen); i++)
    assert_true(seen[i]);
  free(x);
}

static void test_random_special_values(void **state) {
  enum { N = 8000 };
  static double x[N];

  (void)state;
  for (int kind = 0; kind < RANDOM_KINDS; kind++) {
    size_t special = 0, negative = 0;
    const bool of_either_sign = kind != 0 && 1u << kind != RANDOM_BEYOND; /* the range has one */
    random_fill(LATHE_F64, x, N, N, 1, 2, 7, 0, 1u << kind);
    for (size_t i = 0; i < N; i++) {
      const int class = fpclassify(x[i]);
      static const int classes[] = {FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL};
      if (x[i] >= 1 && x[i] < 2)
        continue;
      assert_int_equal(class, classes[kind]);
      special++;
      negative += signbit(x[i]) != 0;
    }
    /* One in eight, five deviations either way; both signs alike. */
    assert_in_range(special, 1000 - 148, 1000 + 148);
    if (of_either_sign)
      assert_in_range(negative, special / 2 - 80, special / 2 + 80);
  }
  assert_string_equal(random_special_names(RANDOM_NAN | RANDOM_DENORMAL), "nan,denormal");
}

static void test_random_drawn_otherwise(void **state) {
  enum { ROW = 100, ROWS = 10 };
  double x[ROW * ROWS];
  size_t places = 0;

  (void)state;
  random_fill(LATHE_F64, x, ROW * ROWS, ROW, 1, 2, 7, 0, RANDOM_NAN | RANDOM_ALONE);
  for (size_t row = 0; row < ROWS; row++) {
    size_t nans = 0;
    for (size_t i = 0; i < ROW; i++)
      if (isnan(x[row * ROW + i])) {
        nans++;
        places += i != 0;
      }
    assert_int_equal(nans, 1);
  }
  assert_true(places > 0);
  random_fill(LATHE_F64, x, ROW * ROWS, ROW, 1, 2, 7, 0, RANDOM_RISING);
  for (size_t i = 0; i < ROW * ROWS; i++)
    assert_true(x[i] >= 1 && x[i] <= 2 && (i % ROW == 0 || x[i] > x[i - 1]));
  random_fill(LATHE_F64, x, ROW * ROWS, ROW, 1, 2, 7, 0, RANDOM_FALLING);
  for (size_t i = 0; i < ROW * ROWS; i++)
    assert_true(x[i] >= 1 && x[i] <= 2 && (i % ROW == 0 || x[i] < x[i - 1]));
  random_fill(LATHE_F64, x, ROW, ROW, 1, 2, 7, 0, RANDOM_TIES);
  for (size_t i = 0; i < ROW; i++)
    assert_true(x[i] >= 1 && x[i] < 2 && fmod(4 * x[i], 1) == 0);
  for (uint64_t seed = 0; seed < 1000; seed++) {
    const double low = random_near(-1, seed, 0), high = random_near(1, seed, 1);
    assert_true(low > -1 && low <= -0.5 && high < 1 && high >= 0.5 && -low != high);
    assert_true(random_near(0, seed, 0) != 0);
    assert_true(random_near(5, seed, 0) < random_near(6, seed, 1));
  }
  assert_string_equal(random_special_names((1u << RANDOM_NAMES) - 1),
                      "nan,inf,zero,denormal,beyond,alone,ties,narrow,scalars,small,negative,equal,"
                      "ends,far,poked,nulls,same,peak,rising,falling");
}

static void test_random_of_rows(void **state) {
  enum { ROW = 100, ROWS = 30 };
  double x[ROW * ROWS];
  int8_t bytes[ROW * ROWS];
  int64_t at[ROW * ROWS];
  size_t ends[3] = {0}, others = 0, whole = 0;

  (void)state;
  random_fill(LATHE_F64, x, ROW * ROWS, ROW, 0.1, 2, 7, 0, RANDOM_EQUAL);
  for (size_t i = 0; i < ROW * ROWS; i++)
    assert_true(x[i] == x[i / ROW * ROW] && x[i] >= 0.1 && x[i] <= 2);
  assert_true(x[0] != x[ROW]);
  random_fill(LATHE_I8, bytes, ROW * ROWS, ROW, -128, 127, 7, 0, RANDOM_ENDS);
  for (size_t row = 0; row < ROWS; row++) {
    size_t low = 0;
    for (size_t i = 0; i < ROW; i++) {
      assert_true(bytes[row * ROW + i] == -128 || bytes[row * ROW + i] == 127);
      low += bytes[row * ROW + i] == -128;
    }
    ends[low == ROW ? 0 : low == 0 ? 1 : 2]++;
  }
  assert_true(ends[0] > 0 && ends[1] > 0 && ends[2] > 0);
  random_fill(LATHE_I64, at, ROW * ROWS, ROW, 0, 9, 7, 0, RANDOM_BEYOND);
  for (size_t i = 0; i < ROW * ROWS; i++) {
    others += at[i] < 0 || at[i] > 9;
    whole += (at[i] < 0 || at[i] > 9) && (int32_t)at[i] >= 0 && (int32_t)at[i] <= 9;
  }
  assert_in_range(others, ROW * ROWS / 2 - 140, ROW * ROWS / 2 + 140);
  assert_true(whole > others / 4);
  for (uint64_t seed = 0; seed < 3; seed++) {
    const double three[] = {random_far(2, seed, 0), random_far(2, seed, 1), random_far(2, seed, 2)};
    assert_true(three[0] + three[1] + three[2] == 6 && three[0] != three[1]);
  }
}

const struct CMUnitTest random_tests[] = {
    cmocka_unit_test(test_random_is_of_seed_and_place),
    cmocka_unit_test(test_random_range),
    cmocka_unit_test(test_random_special_values),
    cmocka_unit_test(test_random_drawn_otherwise),
    cmocka_unit_test(test_random_of_rows),
};
const size_t random_test_count = COUNT(random_tests);
