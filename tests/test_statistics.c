/* test_statistics.c - samples, rounds of them, and figures as people read them. */
#include "tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "close.h"
#include "measure/measure.h"
#include "measure/stats.h"
#include "measure/timing.h"
#include "problem/random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- statistics ------------------------------------------------------------------------------ */

static void test_stats_of_five(void **state) {
  double samples[] = {5, 1, 4, 2, 3};
  const stats s = stats_of(samples, COUNT(samples));

  (void)state;
  assert_int_equal(s.count, 5);
  assert_close(s.median, 3);
  assert_close(s.mean, 3);
  assert_close(s.deviation, sqrt(2.5)); /* (4 + 1 + 0 + 1 + 4) / (5 - 1) */
  assert_close(s.min, 1);
  assert_close(s.max, 5);
  assert_close(s.q1, 2);
  assert_close(s.q3, 4);
  assert_close(s.mad, 1);
  assert_true(isinf(s.noise)); /* too few to tell */
}

static void test_stats_of_ten(void **state) {
  double samples[] = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  const stats s = stats_of(samples, COUNT(samples));

  (void)state;
  assert_close(s.median, 5.5);
  assert_close(s.q1, 3.25);
  assert_close(s.q3, 7.75);
  assert_close(s.mad, 2.5);
  assert_close(s.deviation, sqrt(82.5 / 9));
  /* The median lies between the 2nd and the 9th of ten with probability 1 - 2 (1 + 10) / 1024. */
  assert_close(s.low, 2);
  assert_close(s.high, 9);
  assert_close(s.noise, 3.5 / 5.5);
}

/* The signed ranks of all samples of five have 32 equally likely sums: two of them are as far off as 0 and 15. */
static void test_shift(void **state) {
  const double rising[] = {1, 2, 3, 4, 5}, around[] = {-3, 1, 2, -1, 3, -2};
  double ten[] = {0.9, 1.1, 1.0, 1.2, 0.8, 1.05, 0.95, 1.15, 0.85, 1.0};
  stats_shift s = stats_shift_of(rising, COUNT(rising));

  (void)state;
  assert_close(s.estimate, 3);
  assert_close(s.probability, 2.0 / 32);
  assert_true(isinf(s.low) && isinf(s.high)); /* 1 in 32 on each side is more than 2.5 % */
  s = stats_shift_of(around, COUNT(around));
  assert_close(s.estimate, 0);
  assert_close(s.probability, 1);
  s = stats_shift_of(ten, COUNT(ten));
  assert_close(s.estimate, 1);
  assert_close(s.probability, 2.0 / 1024);
  assert_true(s.low > 0.85 && s.low < 0.95 && s.high > 1.05 && s.high < 1.15);
  ten[3] = 100; /* one that is far off is one rank */
  s = stats_shift_of(ten, COUNT(ten));
  assert_true(s.estimate < 1.05);
  s = stats_shift_of(NULL, 0);
  assert_true(isnan(s.estimate));
  assert_close(s.probability, 1);
}

/* Chance calls one in twenty by its probability, and its interval misses what is there as often. */
static void test_shift_by_chance(void **state) {
  enum { TRIES = 2000, ROUNDS = 24 };
  double differences[ROUNDS];
  int called = 0, missed = 0;
  uint64_t chance = 1;

  (void)state;
  for (int i = 0; i < TRIES; i++) {
    stats_shift s;
    for (int n = 0; n < ROUNDS; n++) {
      double sum = 0;
      for (int k = 0; k < 4; k++) {
        chance = chance * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(chance >> 11) * 0x1p-53 - 0.5;
      }
      differences[n] = 7 + sum;
    }
    s = stats_shift_of(differences, ROUNDS);
    missed += s.low > 7 || s.high < 7;
    for (int n = 0; n < ROUNDS; n++)
      differences[n] -= 7;
    called += stats_shift_of(differences, ROUNDS).probability <= 0.05;
  }
  assert_true(called > TRIES / 40 && called < TRIES / 14);
  assert_true(missed > TRIES / 40 && missed < TRIES / 14);
}

static void test_holm(void **state) {
  const double probabilities[] = {0.02, 0.001, 0.5, 0.016};
  bool told[COUNT(probabilities)];

  (void)state;
  stats_holm(probabilities, COUNT(probabilities), 0.05, told);
  assert_true(told[1] && told[3] && told[0] && !told[2]); /* 0.05 / 4, / 3, / 2 */
  stats_holm(probabilities, COUNT(probabilities), 0.04, told);
  assert_true(told[1] && !told[3] && !told[0] && !told[2]);
}

static void test_stats_of_few(void **state) {
  double one[] = {7}, two[] = {3, 1};
  stats s = stats_of(NULL, 0);

  (void)state;
  assert_true(isnan(s.median) && isnan(s.mean) && isnan(s.min) && isnan(s.mad));
  s = stats_of(one, 1);
  assert_close(s.median, 7);
  assert_close(s.deviation, 0);
  assert_close(s.mad, 0);
  s = stats_of(two, 2);
  assert_close(s.median, 2);
  assert_close(s.mad, 1);
  assert_close(s.deviation, sqrt(2));
}

/* A single wild sample moves the mean, and neither the median nor the noise. */
static void test_stats_withstand_an_outlier(void **state) {
  double samples[101];
  stats s;

  (void)state;
  for (size_t i = 0; i < 101; i++)
    samples[i] = i == 50 ? 1e9 : 100;
  s = stats_of(samples, 101);
  assert_close(s.median, 100);
  assert_close(s.mad, 0);
  assert_close(s.noise, 0);
  assert_true(s.mean > 1e6);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static double median(double *x, size_t n) {
  qsort(x, n, sizeof *x, compare);
  return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Against a second sort of the deviations; few values, so that many are equal. */
static void test_stats_deviation_from_median(void **state) {
  (void)state;
  for (size_t n = 1; n <= 60; n++) {
    double samples[60], deviations[60], middle;
    stats s;
    random_fill(LATHE_F64, samples, n, n, 0, 12, 1, n, 0);
    for (size_t i = 0; i < n; i++)
      samples[i] = n % 3 ? floor(samples[i]) : samples[i];
    memcpy(deviations, samples, sizeof samples);
    middle = median(deviations, n);
    for (size_t i = 0; i < n; i++)
      deviations[i] = fabs(samples[i] - middle);
    s = stats_of(samples, n);
    assert_close(s.median, middle);
    assert_close(s.mad, median(deviations, n));
  }
}

/* Takes a round of samples that all take as long. */
static void add_round(timing *t, double ns, size_t count) {
  double host[16], own[16];
  const measurement m = {.host = host, .own = own, .count = count, .calls = 10};

  for (size_t i = 0; i < count; i++) {
    host[i] = ns;
    own[i] = ns / 2;
  }
  timing_add(t, &m, true);
}

/* The interval is that of the rounds, and not of the samples, which agree with each other in each. */
static void test_timing(void **state) {
  const measure_limits limits = {.rounds = 5, .round_ns = 1000, .most_ns = 2000, .max_noise = 0.01};
  timing t = {0};

  (void)state;
  for (int round = 0; round < 5; round++) {
    add_round(&t, round % 2 ? 120 : 100, 4);
    timing_judge(&t, &limits);
    assert_true(round < 2 ? !isfinite(t.low) || t.count >= 6 : t.low == 100 && t.high == 120);
  }
  assert_int_equal(t.rounds, 5);
  assert_int_equal(t.count, 20);
  assert_close(t.median, 100);
  assert_close(t.other_one, 50);
  assert_close(t.best, 100);
  assert_close(t.all.max, 120);
  assert_close(t.noise, 0.1);
  assert_string_equal(t.stop, "time"); /* 20 samples of 10 calls of 100 ns and more */
  timing_free(&t);
  for (int round = 0; round < 5; round++) {
    assert_null(t.stop);
    add_round(&t, 10, 2);
    timing_judge(&t, &limits);
  }
  assert_string_equal(t.stop, "noise");
  timing_free(&t);
}

/* So many samples as were asked for, in as many rounds as there are to be, or fewer. */
static void test_timing_by_count(void **state) {
  const struct {
    long samples;
    size_t rounds;
  } asked[] = {{1, 1}, {3, 3}, {5, 5}, {7, 5}, {50, 5}};

  (void)state;
  for (size_t i = 0; i < COUNT(asked); i++) {
    const measure_limits limits = {.rounds = 5, .samples = asked[i].samples};
    timing t = {0};
    while (!t.stop) {
      const long some = timing_samples(&t, &limits);
      assert_true(some > 0 && some <= 16);
      add_round(&t, 1, (size_t)some);
      timing_judge(&t, &limits);
    }
    assert_int_equal(t.count, asked[i].samples);
    assert_int_equal(t.rounds, asked[i].rounds);
    assert_string_equal(t.stop, "count");
    timing_free(&t);
  }
}

static void test_outliers(void **state) {
  double samples[] = {10, 11, 12, 13, 14, 15, 16, 30, 100, -20};
  const stats s = stats_of(samples, COUNT(samples));

  (void)
      state; /* quartiles 11.25 and 15.75: beyond 4.5 and 22.5 are outliers, beyond -2.25 and 29.25 severe ones */
  assert_int_equal(s.low_outliers, 1);
  assert_int_equal(s.high_outliers, 2);
  assert_int_equal(s.severe_outliers, 3);
}

/* A file appears when it is committed, and never in part. */

/* ---- figures --------------------------------------------------------------------------------- */

static void test_units(void **state) {
  (void)state;
  assert_string_equal(units_time(0.5).text, "0.50 ns");
  assert_string_equal(units_time(1).text, "1.00 ns");
  assert_string_equal(units_time(9.994).text, "9.99 ns");
  assert_string_equal(units_time(9.996).text, "10.0 ns");
  assert_string_equal(units_time(99.96).text, "100 ns");
  assert_string_equal(units_time(999.4).text, "999 ns");
  assert_string_equal(units_time(999.6).text, "1.00 us");
  assert_string_equal(units_time(1234).text, "1.23 us");
  assert_string_equal(units_time(12345678).text, "12.3 ms");
  assert_string_equal(units_time(2.5e9).text, "2.50 s");
  assert_string_equal(units_count(2.5e12).text, "2.50 T");
  assert_string_equal(units_time(4e12).text, "4000 s");
  assert_string_equal(units_bytes(1024).text, "1.00 KiB");
  assert_string_equal(units_bytes(100).text, "100 B");
  assert_string_equal(units_bytes(1.5 * 1024 * 1024).text, "1.50 MiB");
  assert_string_equal(units_bytes(0x1p63).text, "8.00 EiB");
  assert_string_equal(units_number(3.14159).text, "3.14");
  assert_string_equal(units_number(31.4159).text, "31.4");
  assert_string_equal(units_number(314.159).text, "314");
}

const struct CMUnitTest statistics_tests[] = {
    cmocka_unit_test(test_stats_of_five),
    cmocka_unit_test(test_stats_of_ten),
    cmocka_unit_test(test_stats_of_few),
    cmocka_unit_test(test_shift),
    cmocka_unit_test(test_shift_by_chance),
    cmocka_unit_test(test_holm),
    cmocka_unit_test(test_stats_withstand_an_outlier),
    cmocka_unit_test(test_stats_deviation_from_median),
    cmocka_unit_test(test_timing),
    cmocka_unit_test(test_timing_by_count),
    cmocka_unit_test(test_outliers),
    cmocka_unit_test(test_units),
};
const size_t statistics_test_count = COUNT(statistics_tests);
