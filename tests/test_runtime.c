/* test_runtime.c - the runtime's parts, each against values worked out by hand. */
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/units.h"
#include "check/check.h"
#include "devices/common/buffer.h"
#include "devices/cpu/device.h"
#include "library/cpu.h"
#include "library/dtype.h"
#include "library/bench.h"
#include "measure/measure.h"
#include "measure/stats.h"
#include "measure/timing.h"
#include "problem/random.h"
#include "rows/room.h"
#include "rows/selection.h"
#include "rows/size.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Equal, or both NaN, or no further off than rounding. */
static void assert_close(double got, double expected) {
  if (got == expected || (isnan(got) && isnan(expected)) ||
      fabs(got - expected) <= 1e-14 * fabs(expected))
    return;
  fail_msg("%.17g is not %.17g", got, expected);
}

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

/* ---- number formats -------------------------------------------------------------------------- */

static double widen(lathe_dtype type, uint16_t bits) {
  double value;

  lathe_dtype_widen(type, &bits, 1, &value);
  return value;
}

static uint16_t narrow(lathe_dtype type, double value) {
  uint16_t bits;

  lathe_dtype_narrow(type, &value, 1, &bits);
  return bits;
}

/* The value by the format's definition. */
static double value_of(lathe_dtype type, uint16_t bits) {
  const dtype_format *f = lathe_dtype_format_of(type);
  const int fraction = f->digits - 1, top = f->emax - f->emin + 2;
  const int exponent = (bits & 0x7fff) >> fraction;
  const double sign = bits >> 15 ? -1 : 1, part = bits & ((1 << fraction) - 1);

  if (exponent == top)
    return part != 0 ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp(part, f->emin - fraction);
  return sign * ldexp(part + ldexp(1, fraction), exponent - 1 + f->emin - fraction);
}

static void every_pattern(lathe_dtype type) {
  for (uint32_t bits = 0; bits <= 0xffff; bits++) {
    const double value = widen(type, (uint16_t)bits), expected = value_of(type, (uint16_t)bits);
    if (isnan(expected)) {
      assert_true(isnan(value));
      assert_true(isnan(widen(type, narrow(type, value))));
      continue;
    }
    if (value != expected || !signbit(value) != !(bits >> 15))
      fail_msg("%s %04x is %g, expected %g", lathe_dtype_name(type), bits, value, expected);
    if (narrow(type, value) != bits)
      fail_msg("%s %g: %04x became %04x", lathe_dtype_name(type), value, bits, narrow(type, value));
  }
}

/* Half way between two neighbours goes to the even one, the least bit off to the nearer. */
static void every_tie(lathe_dtype type) {
  const dtype_format *f = lathe_dtype_format_of(type);
  const uint16_t infinity = (uint16_t)((f->emax - f->emin + 2) << (f->digits - 1));

  for (uint16_t low = 0; low < infinity; low++) {
    const uint16_t high = (uint16_t)(low + 1);
    /* Above the largest value the next would be a power of two. */
    const double above = high < infinity ? value_of(type, high) : ldexp(1, f->emax + 1);
    const double middle = (value_of(type, low) + above) / 2;
    const struct {
      double value;
      uint16_t bits;
    } cases[] = {
        {middle, low % 2 ? high : low},
        {nextafter(middle, INFINITY), high},
        {nextafter(middle, 0), low},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
      if (narrow(type, cases[i].value) != cases[i].bits)
        fail_msg("%s %a became %04x, expected %04x", lathe_dtype_name(type), cases[i].value,
                 narrow(type, cases[i].value), cases[i].bits);
      assert_int_equal(narrow(type, -cases[i].value), cases[i].bits | 0x8000);
    }
  }
}

static void test_f16(void **state) {
  (void)state;
  every_pattern(LATHE_F16);
  every_tie(LATHE_F16);
  assert_close(widen(LATHE_F16, 0x3c00), 1);
  assert_close(widen(LATHE_F16, 0x7bff), 65504);
  assert_close(widen(LATHE_F16, 0x0001), 0x1p-24);
  assert_int_equal(narrow(LATHE_F16, 1e300), 0x7c00);
  assert_int_equal(narrow(LATHE_F16, -1e-300), 0x8000);
}

static void test_bf16(void **state) {
  (void)state;
  every_pattern(LATHE_BF16);
  every_tie(LATHE_BF16);
  assert_close(widen(LATHE_BF16, 0x3f80), 1);
  assert_close(widen(LATHE_BF16, 0x7f7f), 0x1.fep127);
  assert_close(widen(LATHE_BF16, 0x0001), 0x1p-133);
  assert_int_equal(narrow(LATHE_BF16, 1e300), 0x7f80);
}

static void test_other_types(void **state) {
  const int64_t large = (1ll << 62) + 1;
  const double values[] = {0.1, -0.0, 1e300};
  float singles[3];
  int64_t whole = -7;
  long double exact;
  double value;

  (void)state;
  lathe_dtype_narrow(LATHE_F32, values, 3, singles);
  assert_true(singles[0] == 0.1f && signbit(singles[1]) && isinf(singles[2]));
  lathe_dtype_widen(LATHE_I64, &whole, 1, &value);
  assert_close(value, -7);
  lathe_dtype_widen_long(LATHE_I64, &large, 1, &exact);
  assert_true(exact == 0x1p62L + 1);
  assert_close(lathe_dtype_max(LATHE_F32), 0x1.fffffep127);
  assert_close(lathe_dtype_max(LATHE_F64), 0x1.fffffffffffffp1023);
  assert_close(lathe_dtype_max(LATHE_F16), 65504);
  assert_int_equal(lathe_dtype_size(LATHE_F64), 8);
  assert_int_equal(lathe_dtype_size(LATHE_BF16), 2);
  assert_string_equal(lathe_dtype_name(LATHE_BF16), "bf16");
  assert_false(lathe_dtype_numeric(LATHE_I64));
}

/* ---- errors in ulp --------------------------------------------------------------------------- */

/* An op whose reference gives one number and whose kernel another. */
static struct {
  lathe_dtype type;
  double got;
  long double expected, magnitude;
} given;

static void given_f64(const lathe_args *args) {
  *(double *)args->buf[0] = (double)given.expected;
  *(double *)args->buf[1] = (double)given.magnitude;
}

static void given_wide(const lathe_args *args) {
  *(long double *)args->buf[0] = given.expected;
  *(long double *)args->buf[1] = given.magnitude;
}

static void given_run(const lathe_args *args) {
  lathe_dtype_narrow(given.type, &given.got, 1, args->buf[0]);
}

static const lathe_operand given_operand = {"y", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false};
static const lathe_op given_op = {
    .name = "given",
    .family = "map",
    .ndim = 1,
    .dim = {"n"},
    .noperands = 1,
    .operands = &given_operand,
    .bench = &(const lathe_bench){.reference_f64 = given_f64, .reference_wide = given_wide}};
static const lathe_op lax_op = {.name = "given",
                                .family = "map",
                                .ndim = 1,
                                .dim = {"n"},
                                .noperands = 1,
                                .operands = &given_operand,
                                .bench = &(const lathe_bench){.any_zero_sign = true,
                                                              .reference_f64 = given_f64,
                                                              .reference_wide = given_wide}};
static const lathe_backend given_backend = {.name = "given"};

static double ulp_of(const lathe_op *op, lathe_dtype type, double got, long double expected,
                     long double magnitude) {
  const lathe_variant v = {
      .name = "given", .op = op, .backend = &given_backend, .dtype = type, .run = given_run};
  const size_t n = 1;
  const char *why;
  check_result r;
  problem *p;

  given.type = type;
  given.got = got;
  given.expected = expected;
  given.magnitude = magnitude;
  p = problem_make(op, type, &n, 1, 0, &why);
  assert_non_null(p);
  r = check_variant(device_cpu(), &v, p, (device_layout){0});
  /* No bound in the op: half a unit is allowed. */
  assert_int_equal(r.verdict, r.ulp <= 0.5 ? CHECK_RIGHT : CHECK_WRONG);
  problem_free(p);
  return r.ulp;
}

static void test_ulp(void **state) {
  static const struct {
    lathe_dtype type;
    double got;
    long double expected, magnitude;
    double ulp;
  } cases[] = {
      {LATHE_F32, 1, 1, 0, 0},
      {LATHE_F32, 1 + 0x1p-23, 1, 0, 1},
      {LATHE_F32, 1 + 0x1p-23, 1 + 0x1p-24L, 0, 0.5},
      {LATHE_F32, -1 - 0x1p-22, -1, 0, 2},
      /* Below a power of two the spacing halves, but the reference's counts. */
      {LATHE_F32, 1 - 0x1p-24, 1, 0, 0.5},
      {LATHE_F32, 1, 1 - 0x1p-24L, 0, 1},
      {LATHE_F32, 2, -2, 0, 0x1p24},
      {LATHE_F64, 1 + 0x1p-52, 1, 0, 1},
      {LATHE_F64, 1, 1 + 0x1p-54L, 0, 0.25}, /* told apart only by the wide reference */
      {LATHE_F16, 1 + 0x1p-10, 1, 0, 1},
      {LATHE_BF16, 1 + 0x1p-7, 1, 0, 1},
      /* Never finer than at the smallest normal number. */
      {LATHE_F32, 0x1p-149, 0x1p-148L, 0, 1},
      {LATHE_F32, 0x1p-126, 0x1p-126L - 0x1p-149L, 0, 1},
      {LATHE_F64, 0x1p-1074, 0, 0, 1},
      {LATHE_F16, 0x1p-24, 0x1p-23L, 0, 1},
      /* What was summed counts, where it is more than the sum. */
      {LATHE_F32, 0x1p-23, 0, 1, 1},
      {LATHE_F32, 1 + 0x1p-23, 1, 4, 0.25},
      {LATHE_F32, 1 + 0x1p-23, 1, 0.25L, 1},
      /* Of what may be off by any amount nothing can be said. */
      {LATHE_F32, 1 + 0x1p-23, 1, INFINITY, 0},
      {LATHE_F32, NAN, 1, INFINITY, 0},
      {LATHE_F32, 5, 1, NAN, 0},
      {LATHE_F32, 1, NAN, INFINITY, 0},
      /* The edge of the format: infinity is one unit beyond the largest value. */
      {LATHE_F32, INFINITY, 0x1.fffffep127L, 0, 1},
      {LATHE_F32, INFINITY, 0x1.ffffffp127L, 0, 0.5},
      {LATHE_F32, INFINITY, 0x1p200L, 0, 0},
      {LATHE_F32, 0x1.fffffep127, 0x1p200L, 0, 1},
      {LATHE_F64, INFINITY, 0x1p1024L, 0, 0},
      {LATHE_F32, INFINITY, INFINITY, 0, 0},
      {LATHE_F32, 0x1.fffffep127, INFINITY, 0, INFINITY},
      {LATHE_F32, -INFINITY, INFINITY, 0, INFINITY},
      {LATHE_F32, NAN, NAN, 0, 0},
      {LATHE_F32, NAN, 1, 0, INFINITY},
      {LATHE_F32, 1, NAN, 0, INFINITY},
      {LATHE_F32, NAN, INFINITY, 0, INFINITY},
      /* A zero's sign, where it is a true zero. */
      {LATHE_F32, 0.0, 0.0L, 0, 0},
      {LATHE_F32, -0.0, 0.0L, 0, INFINITY},
      {LATHE_F32, 0.0, -0.0L, 0, INFINITY},
      {LATHE_F32, -0.0, 0.0L, 1, 0},
      {LATHE_F32, 0.0, -0x1p-160L, 0, 0x1p-11},
      {LATHE_F64, 0.0, -0x1p-1080L, 0, 0x1p-6},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const double ulp =
        ulp_of(&given_op, cases[i].type, cases[i].got, cases[i].expected, cases[i].magnitude);
    /* Types of 16 bits have half a unit of f32 beside. */
    if (ulp != cases[i].ulp && !(fabs(ulp - cases[i].ulp) <= 0x1p-12 * cases[i].ulp &&
                                 lathe_dtype_is_narrow(cases[i].type)))
      fail_msg("%s: %a is %g ulp from %La (magnitude %Lg), expected %g",
               lathe_dtype_name(cases[i].type), cases[i].got, ulp, cases[i].expected,
               cases[i].magnitude, cases[i].ulp);
  }
  assert_close(ulp_of(&lax_op, LATHE_F32, -0.0, 0, 0), 0);
}

static void test_integers_are_cut_off(void **state) {
  static const double values[] = {0.5,  1.5,  -2.5,  126.5,    127.5,     200,
                                  -128, -500, 255.5, INFINITY, -INFINITY, NAN};
  static const int8_t as_i8[] = {0, 2, -2, 126, 127, 127, -128, -128, 127, 127, -128, 0};
  static const uint8_t as_u8[] = {0, 2, 0, 126, 128, 200, 0, 0, 255, 255, 0, 0};
  enum { N = 10000 };
  int8_t i8[COUNT(values)];
  uint8_t u8[COUNT(values)], whole[N];
  bool seen[256] = {false};
  double back[COUNT(values)];

  (void)state;
  lathe_dtype_narrow(LATHE_I8, values, COUNT(values), i8);
  lathe_dtype_narrow(LATHE_U8, values, COUNT(values), u8);
  for (size_t i = 0; i < COUNT(values); i++) {
    assert_int_equal(i8[i], as_i8[i]);
    assert_int_equal(u8[i], as_u8[i]);
  }
  lathe_dtype_widen(LATHE_I8, i8, COUNT(values), back);
  for (size_t i = 0; i < COUNT(values); i++)
    assert_close(back[i], as_i8[i]);
  random_fill(LATHE_U8, whole, N, N, 0, 255, 1, 0, 0);
  for (size_t i = 0; i < N; i++)
    seen[whole[i]] = true;
  for (size_t i = 0; i < COUNT(seen); i++)
    assert_true(seen[i]);
  random_fill(LATHE_U8, whole, N, N, 100, 101, 1, 0, RANDOM_NAN | RANDOM_INF);
  for (size_t i = 0; i < N; i++)
    assert_true(whole[i] == 0 || whole[i] == 100 || whole[i] == 101 || whole[i] == 255);
  assert_non_null(memchr(whole, 0, N));
  assert_non_null(memchr(whole, 255, N));
}

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
    random_fill(LATHE_F64, x, N, N, 1, 2, 7, 0, 1u << kind);
    for (size_t i = 0; i < N; i++) {
      const int class = fpclassify(x[i]);
      static const int classes[] = {FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL};
      if (class == FP_NORMAL)
        continue;
      assert_int_equal(class, classes[kind]);
      special++;
      negative += signbit(x[i]) != 0;
    }
    /* One in eight, five deviations either way; both signs alike. */
    assert_in_range(special, 1000 - 148, 1000 + 148);
    if (kind != 0)
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
                      "nan,inf,zero,denormal,alone,ties,narrow,scalars,small");
}

/* ---- the dispatch table ---------------------------------------------------------------------- */

static int bits_in(uint64_t bits) {
  return __builtin_popcountll(bits);
}

/* What is looked at to choose a variant: all of the op and type, and no other. */
static void test_spans(void **state) {
  size_t in_all = 0;

  (void)state;
  for (size_t o = 0; o < lathe_op_count; o++)
    for (int d = 0; d < LATHE_DTYPES; d++) {
      const lathe_span span = lathe_span_of(&lathe_ops[o], (lathe_dtype)d);
      for (size_t i = 0; i < span.count; i++) {
        assert_ptr_equal(lathe_variants[span.first + i].op, &lathe_ops[o]);
        assert_int_equal(lathe_variants[span.first + i].dtype, d);
      }
      in_all += span.count;
    }
  assert_int_equal(in_all, lathe_variant_count);
  for (size_t o = 0; o < lathe_op_count; o++)
    assert_ptr_equal(lathe_find(lathe_ops[o].name), &lathe_ops[o]);
  assert_null(lathe_find("no_such_op"));
  assert_int_equal(lathe_span_of(&given_op, LATHE_F32).count, 0);
  assert_int_equal(lathe_span_of(&lathe_ops[lathe_op_count], LATHE_F32).count, 0);
  assert_int_equal(lathe_span_of(lathe_ops, LATHE_DTYPES).count, 0);
}

/* For every op, type, size and backend's features: the variant chosen can run; it prefers the
 * size unless none that can run does; and none of those asks for more of the processor. */
static void test_select_takes_the_widest(void **state) {
  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_op *op = lathe_variants[i].op;
    const lathe_dtype dtype = lathe_variants[i].dtype;
    if (i > 0 && op == lathe_variants[i - 1].op && dtype == lathe_variants[i - 1].dtype)
      continue;
    for (size_t b = 0; b < lathe_backend_count; b++)
      for (int power = 0; power <= 30; power += 5) {
        const uint64_t features = lathe_backends[b].features;
        size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
        const lathe_variant *chosen;
        double bytes;
        bool fits;
        dim[op->ndim - 1] = (size_t)1 << power;
        bytes = lathe_bytes(op, dtype, dim);
        chosen = lathe_select(op, dtype, dim, features, NULL);
        if (!chosen)
          continue; /* it must be that none can run: seen below */
        assert_ptr_equal(chosen->op, op);
        assert_int_equal(chosen->dtype, dtype);
        assert_null(lathe_why_not(chosen, features));
        fits = bytes >= chosen->prefer_from && bytes < chosen->prefer_to;
        for (size_t j = 0; j < lathe_variant_count; j++) {
          const lathe_variant *v = &lathe_variants[j];
          const bool other_fits = bytes >= v->prefer_from && bytes < v->prefer_to;
          if (v->op != op || v->dtype != dtype || lathe_why_not(v, features) || !other_fits)
            continue;
          assert_true(fits);
          assert_true(bits_in(chosen->backend->features) >= bits_in(v->backend->features));
        }
      }
  }
}

static void test_select_forced(void **state) {
  const lathe_variant *last = &lathe_variants[lathe_variant_count - 1];
  const uint64_t all = ~0ull;
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};

  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    if (v->disabled || v->backend->disabled)
      continue;
    /* Whatever size it prefers. */
    assert_ptr_equal(lathe_select(v->op, v->dtype, dim, all, v->name), v);
    assert_null(lathe_select(v->op, v->dtype, dim, all, "no_such_*"));
  }
  /* A name of another op, and one that the processor cannot run. */
  if (last->op != lathe_variants[0].op)
    assert_null(lathe_select(last->op, last->dtype, dim, all, lathe_variants[0].name));
  for (size_t i = 0; i < lathe_variant_count; i++)
    if (lathe_variants[i].backend->features != 0)
      assert_null(lathe_select(lathe_variants[i].op, lathe_variants[i].dtype, dim, 0,
                               lathe_variants[i].name));
}

/* What rounds factors of products is chosen where its op allows as much, or by its name. */
static void test_may_be_chosen(void **state) {
  lathe_op op = {.name = "op"};
  lathe_variant v = {.op = &op};

  (void)state;
  assert_true(lathe_may_be_chosen(&v));
  v.digits = 11;
  assert_false(lathe_may_be_chosen(&v));
  op.digits = 11;
  assert_true(lathe_may_be_chosen(&v));
  v.digits = 8;
  assert_false(lathe_may_be_chosen(&v));
  for (size_t i = 0; i < lathe_variant_count; i++) {
    size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
    const lathe_variant *chosen =
        lathe_select(lathe_variants[i].op, lathe_variants[i].dtype, dim, ~0ull, NULL);
    assert_true(!chosen || lathe_may_be_chosen(chosen));
  }
}

static void test_select_of_nothing(void **state) {
  const lathe_variant *v = &lathe_variants[0];
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};

  (void)state;
  assert_null(lathe_select(v->op, LATHE_I64, dim, ~0ull, NULL));
  assert_null(lathe_select(&given_op, LATHE_F32, dim, ~0ull, NULL));
}

/* Below the sizes that it prefers a variant is not chosen; from there on it is, or one before it
 * that prefers them as well. */
static void test_select_respects_ranges(void **state) {
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
  size_t tried = 0;

  (void)state;
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i], *chosen;
    const uint64_t features = v->backend->features | v->features;
    const int last = v->op->ndim - 1;
    double bytes;
    if (v->prefer_from <= 0 || v->backend->disabled || lathe_span_of(v->op, v->dtype).left_out)
      continue;
    dim[last] = 1;
    while (lathe_bytes(v->op, v->dtype, dim) < v->prefer_from)
      dim[last] *= 2;
    while (lathe_bytes(v->op, v->dtype, dim) >= v->prefer_from)
      dim[last]--;
    chosen = lathe_select(v->op, v->dtype, dim, features, NULL);
    if (!chosen || chosen == v)
      fail_msg("of sizes too small for %s %s is chosen", v->name, chosen ? "it" : "nothing");
    dim[last]++;
    bytes = lathe_bytes(v->op, v->dtype, dim);
    chosen = lathe_select(v->op, v->dtype, dim, features, NULL);
    assert_non_null(chosen);
    assert_true(chosen <= v);
    assert_true(bytes >= chosen->prefer_from && bytes < chosen->prefer_to);
    tried++;
  }
  if (tried == 0)
    skip(); /* no variant of this table has such a range */
}

static void test_why_not(void **state) {
  const lathe_backend wide = {.name = "wide", .features = LATHE_AVX2 | LATHE_FMA};
  const lathe_backend off = {.name = "off", .disabled = "was not asked for"};
  lathe_variant v = {.backend = &wide};

  (void)state;
  assert_null(lathe_why_not(&v, LATHE_SSE2 | LATHE_AVX2 | LATHE_FMA));
  assert_string_equal(lathe_why_not(&v, LATHE_SSE2), "this processor has no AVX2");
  assert_string_equal(lathe_why_not(&v, LATHE_AVX2), "this processor has no FMA");
  v.backend = &off;
  assert_string_equal(lathe_why_not(&v, ~0ull), "was not asked for");
}

/* What else depends on: sorted ops, whole rows. */
static void test_table(void **state) {
  (void)state;
  assert_true(lathe_op_count > 0);
  for (size_t i = 0; i < lathe_op_count; i++) {
    const lathe_op *op = &lathe_ops[i];
    if (i > 0)
      assert_true(strcmp(lathe_ops[i - 1].name, op->name) < 0);
    assert_true(op->noperands >= 2 && op->ndim >= 1 && op->bench->nsizes > 0);
    assert_true(!op->bench->reference_f64 == !!selection_left_out(op));
    assert_true(!op->bench->reference_wide == !op->bench->reference_f64);
  }
  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_variant *v = &lathe_variants[i];
    const bool on_cpu = v->backend->kind == LATHE_CPU;
    const bool off = v->disabled || v->backend->disabled || lathe_span_of(v->op, v->dtype).left_out;
    assert_true(!v->run == (off || !on_cpu));
    assert_true(!v->image == (off || on_cpu));
    assert_true(!v->schedule == !v->image);
    for (size_t j = 0; j < i; j++)
      assert_string_not_equal(lathe_variants[j].name, v->name);
  }
}

static void test_elements_and_bytes(void **state) {
  static const lathe_operand operands[] = {
      {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, 0, 1, false},
      {"w", LATHE_F64, false, 1, {1}, 0, 1, false},
      {"at", LATHE_I64, true, 0, {0}, 0, 0, false},
  };
  const lathe_op op = {.ndim = 2, .noperands = 3, .operands = operands};
  const size_t dim[] = {3, 5}, huge[] = {(size_t)1 << 40, (size_t)1 << 40};

  (void)state;
  assert_int_equal(lathe_elements(&op, 0, dim), 15);
  assert_int_equal(lathe_elements(&op, 1, dim), 5);
  assert_int_equal(lathe_elements(&op, 2, dim), 1);
  assert_close(lathe_bytes(&op, LATHE_F16, dim), 15 * 2 + 5 * 8 + 8);
  assert_close(lathe_bytes(&op, LATHE_F16, huge), 0x1p80 * 2 + 0x1p40 * 8 + 8);
}

static void test_flops(void **state) {
  static const struct {
    const char *op;
    size_t dim[LATHE_MAX_DIMS];
    double flops, contracted;
  } cases[] = {
      {"add", {7}, 7, 0},
      {"sum", {7}, 7, 0},
      {"weighted_sum", {3, 5}, 2 * 15, 0},
      {"matmul", {3, 5, 7}, 2 * 105, 2 * 105},
      {"matmul_batched", {2, 3, 5, 7}, 2 * 210, 2 * 210},
      {"linear", {3, 5, 7}, 2 * 105 + 15, 2 * 105}, /* a bias once for each result, not each term */
  };

  (void)state;
  for (size_t c = 0; c < COUNT(cases); c++)
    for (size_t i = 0; i < lathe_op_count; i++)
      if (strcmp(lathe_ops[i].name, cases[c].op) == 0) {
        if (lathe_flops(&lathe_ops[i], cases[c].dim) != cases[c].flops ||
            lathe_contracted_flops(&lathe_ops[i], cases[c].dim) != cases[c].contracted)
          fail_msg("%s has %g flops, %g of them contracted, expected %g and %g", cases[c].op,
                   lathe_flops(&lathe_ops[i], cases[c].dim),
                   lathe_contracted_flops(&lathe_ops[i], cases[c].dim), cases[c].flops,
                   cases[c].contracted);
      }
}

/* ---- this processor -------------------------------------------------------------------------- */

/* Features are looked at once, by whichever thread comes first: a change of the environment comes late. */
static void test_cpu_features(void **state) {
  const uint64_t all = lathe_cpu_features();

  (void)state;
#if defined __x86_64__
  assert_true(all & LATHE_SSE2);
  assert_true(!!(all & LATHE_AVX2) == !!__builtin_cpu_supports("avx2"));
  assert_true(!!(all & LATHE_FMA) == !!__builtin_cpu_supports("fma"));
  assert_true(!!(all & LATHE_AVX512F) == !!__builtin_cpu_supports("avx512f"));
  assert_true(!!(all & LATHE_AVX512VL) == !!__builtin_cpu_supports("avx512vl"));
#endif
  setenv("LATHE_CPU_FEATURES", "sse2", 1);
  assert_int_equal(lathe_cpu_features(), all);
  assert_int_equal(lathe_cpu_hidden_features(), 0);
  unsetenv("LATHE_CPU_FEATURES");
  assert_int_equal(lathe_cpu_features_named(NULL) & all, all);
  assert_int_equal(lathe_cpu_features_named("sse2"), LATHE_SSE2);
  assert_int_equal(lathe_cpu_features_named("sse2,avx2, fma nonsense"),
                   LATHE_SSE2 | LATHE_AVX2 | LATHE_FMA);
  assert_int_equal(lathe_cpu_features_named(""), 0);
  assert_int_equal(lathe_cpu_features_named("avx"), 0); /* no part of avx2 */
  assert_string_equal(lathe_cpu_feature_names(LATHE_SSE2 | LATHE_FMA), "sse2 fma");
  assert_true(*lathe_cpu_name() != 0);
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void test_buffer_guards(void **state) {
  static const size_t sizes[] = {0, 1, 4, 63, 64, 1000, 4096, 5u << 20};
  static const buffer_place places[] = {
      {0}, {.offset = 4}, {.offset = 60, .stagger = 3}, {.page_end = true}};

  (void)state;
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (size_t p = 0; p < COUNT(places); p++) {
      const size_t page = (size_t)sysconf(_SC_PAGESIZE);
      buffer b;
      assert_true(buffer_make(&b, sizes[s], places[p]));
      if (places[p].page_end)
        assert_int_equal((uintptr_t)(b.data + b.size) % page, 0);
      else
        assert_int_equal((uintptr_t)b.data % 64, places[p].offset % 64);
      assert_null(buffer_overrun(&b));
      memset(b.data, 0x55, b.size);
      assert_null(buffer_overrun(&b));
      b.data[-1] ^= 1;
      assert_ptr_equal(buffer_overrun(&b), b.data - 1);
      b.data[-1] ^= 1;
      if (!places[p].page_end) {
        b.data[b.size] ^= 1;
        assert_ptr_equal(buffer_overrun(&b), b.data + b.size);
        b.data[b.size] ^= 1;
        b.data[b.size + 1000] ^= 0x80;
        assert_ptr_equal(buffer_overrun(&b), b.data + b.size + 1000);
      }
      buffer_free(&b);
      assert_null(b.data);
      buffer_free(&b); /* twice does no harm */
    }
}

static void test_buffer_poison(void **state) {
  buffer b;
  float value;

  (void)state;
  assert_true(buffer_make(&b, 40, (buffer_place){0}));
  assert_int_equal(b.data[0], 0);
  buffer_poison(&b);
  assert_true(buffer_is_poison(b.data, 40));
  memcpy(&value, b.data, sizeof value);
  assert_true(isfinite(value) && value < -1e30f);
  b.data[39] = 0;
  assert_false(buffer_is_poison(b.data, 40));
  assert_null(buffer_overrun(&b));
  buffer_free(&b);
}

static void test_buffer_too_large(void **state) {
  buffer b;

  (void)state;
  assert_false(buffer_make(&b, SIZE_MAX / 2, (buffer_place){0}));
  assert_null(b.data);
  assert_false(buffer_make(&b, (size_t)1 << 60, (buffer_place){0}));
  buffer_free(&b);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const lathe_operand matrix_operand = {"x",  LATHE_VARIANT_DTYPE, false, 2, {0, 1}, 0, 1,
                                             false};
static const lathe_bench nothing_asked;
static const lathe_op vector_op = {.name = "v",
                                   .ndim = 1,
                                   .dim = {"n"},
                                   .noperands = 1,
                                   .operands = &given_operand,
                                   .bench = &nothing_asked};
static const lathe_op matrix_op = {
    .name = "m", .ndim = 2, .dim = {"rows", "cols"}, .noperands = 1, .operands = &matrix_operand};

static void test_sizes(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    size_t count, index;
    const char *expected;
  } cases[] = {
      {"100", &vector_op, 1, 0, "100"},
      {"100K", &vector_op, 1, 0, "100000"},
      {"4Mi", &vector_op, 1, 0, "4194304"},
      {"1G", &vector_op, 1, 0, "1000000000"},
      {"2^20", &vector_op, 1, 0, "1048576"},
      {"3^4", &vector_op, 1, 0, "81"},
      {"7^0", &vector_op, 1, 0, "1"},
      {"32x128", &vector_op, 1, 0, "4096"},
      {"32x128", &matrix_op, 1, 0, "32x128"},
      {"2x3x4", &matrix_op, 1, 0, "6x4"},
      {"2x3x4x5", &vector_op, 1, 0, "120"},
      {"batch=2xsequence=3xwidth=4", &vector_op, 1, 0, "24"},
      {"width=4xbatch=2", &matrix_op, 1, 0, "2x4"},
      {"width=4xsequence=3xbatch=2", &matrix_op, 1, 0, "6x4"},
      {"width=8:32", &matrix_op, 3, 1, "1x16"},
      {"n=3xbatch=2", &vector_op, 1, 0, "6"},
      {"128", &matrix_op, 1, 0, "1x128"},
      {"rows=8xcols=512", &matrix_op, 1, 0, "8x512"},
      {"cols=512xrows=8", &matrix_op, 1, 0, "8x512"},
      {"cols=7", &matrix_op, 1, 0, "1x7"},
      {"2^4:2^6", &vector_op, 3, 2, "64"},
      {"2^4:2^10:4", &vector_op, 4, 3, "1024"},
      {"10:99", &vector_op, 4, 3, "80"},
      {"5:5", &vector_op, 1, 0, "5"},
      {"1:4x10:20", &matrix_op, 6, 3, "2x20"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    size_t dim[LATHE_MAX_DIMS];
    char text[SIZE_TEXT];
    const char *wrong = size_parse(cases[i].text, &pattern);
    if (wrong)
      fail_msg("%s: %s", cases[i].text, wrong);
    assert_int_equal(size_count(&pattern), cases[i].count);
    assert_true(size_apply(&pattern, cases[i].index, cases[i].op, &shape));
    assert_true(size_fold(&shape, cases[i].op, dim));
    shape = size_of_dims(cases[i].op, dim);
    size_text(&shape, text);
    assert_string_equal(text, cases[i].expected);
  }
}

/* A size keeps the shape that it was asked for in, whatever the op takes it as. */
static void test_size_shapes(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    const char *expected;
  } cases[] = {
      {"32x128", &vector_op, "32x128"},
      {"16x2x8", &matrix_op, "16x2x8"},
      {"8", &matrix_op, "1x8"},
      {"batch=2xwidth=8", &vector_op, "2x1x8"},
      {"sequence=2xwidth=8", &vector_op, "2x8"},
      {"cols=3", &matrix_op, "1x3"},
      {"batch=2xcols=3", &matrix_op, "2x1x3"},
      {"1x1x1x1x1x1x1x9", &vector_op, "1x1x1x1x1x1x1x9"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    char text[SIZE_TEXT];
    assert_null(size_parse(cases[i].text, &pattern));
    assert_true(size_apply(&pattern, 0, cases[i].op, &shape));
    size_text(&shape, text);
    assert_string_equal(text, cases[i].expected);
  }
}

/* What a size leaves out may only be slower than what it gives: 1 of those is what a plain number means. */
static void test_size_missing(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    const char *missing;
  } cases[] = {
      {"rows=3", &matrix_op, "cols"},         {"sequence=3", &matrix_op, "cols"},
      {"batch=2xrows=3", &matrix_op, "cols"}, {"batch=3", &vector_op, "n"},
      {"cols=3", &matrix_op, NULL},           {"3", &matrix_op, NULL},
      {"batch=2xcols=3", &matrix_op, NULL},   {"depth=3", &matrix_op, NULL},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    const char *missing;
    assert_null(size_parse(cases[i].text, &pattern));
    missing = size_missing(&pattern, cases[i].op);
    if (!cases[i].missing)
      assert_null(missing);
    else
      assert_string_equal(missing, cases[i].missing);
    if (missing)
      assert_false(size_apply(&pattern, 0, cases[i].op, &shape));
  }
}

/* A set multiplies out with its last extent fastest. */
static void test_size_sets(void **state) {
  static const size_t first[] = {16, 32}, last[] = {8, 64, 9};
  static const lathe_shape set = {2, {2, 3}, {first, last}};
  static const char *const expected[] = {"16x8", "16x64", "16x9", "32x8", "32x64", "32x9"};

  (void)state;
  assert_int_equal(size_shape_count(&set), COUNT(expected));
  for (size_t i = 0; i < COUNT(expected); i++) {
    const size_shape shape = size_shape_at(&set, i);
    char text[SIZE_TEXT];
    size_text(&shape, text);
    assert_string_equal(text, expected[i]);
  }
}

/* What narrows a sweep: it speaks of what it names, and leaves the rest open. */
static void test_size_matches(void **state) {
  static const size_shape shape = {3, {16, 256, 64}};
  static const struct {
    const char *text;
    const lathe_op *op;
    bool matches;
  } cases[] = {
      {"width=64", &matrix_op, true},
      {"width=64", &vector_op, true},
      {"width=32", &vector_op, false},
      {"width=2^3:2^10", &matrix_op, true},
      {"width=2^3:2^5", &matrix_op, false},
      {"width=128:256", &matrix_op, false},
      {"width=3:192", &matrix_op, false}, /* 3, 6, 12, ... */
      {"batch=16xsequence=256xwidth=64", &vector_op, true},
      {"sequence=256", &vector_op, true},
      {"batch=8", &vector_op, false},
      {"64", &matrix_op, true},
      {"256x64", &matrix_op, true},
      {"16x256x64", &vector_op, true},
      {"1x16x256x64", &vector_op, true},
      {"2x16x256x64", &vector_op, false},
      {"cols=64", &matrix_op, true},
      {"rows=4096", &matrix_op, true}, /* 16 x 256 */
      {"rows=256", &matrix_op, false},
      {"n=262144", &vector_op, true},
      {"cols=64", &vector_op, false},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    assert_null(size_parse(cases[i].text, &pattern));
    if (size_matches(&pattern, cases[i].op, &shape) != cases[i].matches)
      fail_msg("%s of %s matches otherwise than expected", cases[i].text, cases[i].op->name);
  }
}

static void test_bad_sizes(void **state) {
  static const struct {
    const char *text, *wrong;
  } cases[] = {
      {"", "a number was expected"},
      {"0", "a size must not be zero"},
      {"0K", "a size must not be zero"},
      {"0^3", "a size must not be zero"},
      {"-5", "a size must be positive"},
      {"1.5", "a size must be a whole number"},
      {"1e6", "a size must be a whole number"},
      {"18446744073709551616", "the number is too large"},
      {"99999999999G", "the number is too large"},
      {"2^64", "the number is too large"},
      {"2^-1", "a size must be positive"},
      {"10x", "a number was expected"},
      {"x10", "a number was expected"},
      {"10y20", "'x', ':' or the end was expected after a number"},
      {"10 20", "'x', ':' or the end was expected after a number"},
      {"10:5", "the range ends before it begins"},
      {"1:10:1", "the step of a range must be at least 2"},
      {"rows=8x512", "name all of the dimensions or none"},
      {"=8", "the name of a dimension was expected before '='"},
      {"1x2x3x4x5x6x7x8x9", "there are too many dimensions"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    const char *wrong = size_parse(cases[i].text, &pattern);
    if (!wrong || strcmp(wrong, cases[i].wrong) != 0)
      fail_msg("'%s': expected '%s', was told '%s'", cases[i].text, cases[i].wrong,
               wrong ? wrong : "nothing");
  }
}

static void test_sizes_that_do_not_fit(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    bool applies, folds, addressable;
  } cases[] = {
      {"depth=3", &matrix_op, false, false, false},
      {"cols=3xcols=3", &matrix_op, false, false, false},
      {"cols=3xwidth=3", &matrix_op, false, false, false},
      {"2^59", &matrix_op, true, true, false},
      {"2^58", &matrix_op, true, true, true},
      {"2^32x2^31", &matrix_op, true, true, false},
      {"2^40x2^40", &matrix_op, true, true, false},
      {"2^40x2^40", &vector_op, true, false, false},
      {"2^33x2^33x2", &matrix_op, true, false, false},
      {"18446744073709551615", &matrix_op, true, false, false},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    size_t dim[LATHE_MAX_DIMS];
    bool applies, folds;
    assert_null(size_parse(cases[i].text, &pattern));
    assert_int_equal(size_repeats(&pattern, cases[i].op),
                     strncmp(cases[i].text, "cols=3x", 7) == 0);
    applies = size_apply(&pattern, 0, cases[i].op, &shape);
    folds = applies && size_fold(&shape, cases[i].op, dim);
    if (applies != cases[i].applies || folds != cases[i].folds ||
        (folds && size_addressable(cases[i].op, dim)) != cases[i].addressable)
      fail_msg("%s fits %s otherwise than expected", cases[i].text, cases[i].op->name);
  }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double some_workspace(const size_t *dim) {
  return 1024 * (double)dim[0];
}

static void test_room(void **state) {
  enum { MI = 1 << 20 };
  static const lathe_operand x = {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, 0, 1, false};
  static const lathe_op op = {.name = "v",
                              .ndim = 1,
                              .dim = {"n"},
                              .noperands = 1,
                              .operands = &x,
                              .bench = &nothing_asked};
  static const lathe_backend cpu = {.name = "c", .kind = LATHE_CPU};
  static const lathe_backend gpu = {.name = "g", .kind = LATHE_CUDA};
  const struct {
    const lathe_backend *backend;
    lathe_cost *workspace;
    size_t n;
    bool solve;
    room_left left; /* MiB */
    const char *why;
  } cases[] = {
      {&cpu, NULL, MI, false, {6, 6}, NULL}, /* 4 MiB, of which 90 % are usable */
      {&cpu,
       NULL,
       MI,
       false,
       {4, 4},
       "needs 4.00 MiB with its reference, and 3.60 MiB of memory are free"},
      {&cpu,
       NULL,
       MI,
       true,
       {6, 6},
       "needs 16.0 MiB with its reference, and 5.40 MiB of memory are free"},
      {&cpu, NULL, MI, true, {18, 18}, NULL},
      {&cpu, NULL, MI, true, {-1, -1}, NULL}, /* not known */
      {&cpu,
       some_workspace,
       1024,
       false,
       {1, 1},
       "needs 1.00 MiB with its reference, and 922 KiB of memory are free"},
      {&gpu, NULL, MI, true, {5, 1000}, NULL},
      {&gpu,
       NULL,
       MI,
       true,
       {4, 1000},
       "needs 4.00 MiB on the device, and 3.60 MiB of memory are free"},
      {&gpu,
       NULL,
       MI,
       true,
       {1000, 16},
       "its reference needs 16.0 MiB of the host's memory, and 14.4 MiB are free"},
      {&gpu, NULL, MI, false, {1000, 5}, NULL},
      {&gpu,
       some_workspace,
       1024,
       false,
       {1, 1000},
       "needs 1.00 MiB on the device, and 922 KiB of memory are free"},
      {&cpu, NULL, (size_t)1 << 62, true, {-1, -1}, "needs 16.0 EiB, more than can be addressed"},
      {&gpu, NULL, (size_t)1 << 62, false, {-1, -1}, "needs 16.0 EiB, more than can be addressed"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const lathe_variant v = {.op = &op,
                             .backend = cases[i].backend,
                             .dtype = LATHE_F32,
                             .workspace = cases[i].workspace};
    const room_left left = {cases[i].left.device * MI, cases[i].left.host * MI};
    const char *why = room_refusal(&v, &cases[i].n, cases[i].solve, left);
    if (!why != !cases[i].why || (why && strcmp(why, cases[i].why) != 0))
      fail_msg("case %zu: expected '%s', was told '%s'", i, cases[i].why ? cases[i].why : "nothing",
               why ? why : "nothing");
  }
}

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

/* ---- problems, measuring, files -------------------------------------------------------------- */

static void test_problem(void **state) {
  const lathe_op *op = &lathe_ops[0];
  size_t dim[LATHE_MAX_DIMS] = {1, 1, 1, 1};
  const char *why = "";
  problem *a, *b;

  (void)state;
  dim[op->ndim - 1] = 100;
  a = problem_make(op, LATHE_F32, dim, 9, 0, &why);
  b = problem_make(op, LATHE_F32, dim, 9, 0, &why);
  assert_null(why);
  for (int o = 0; o < op->noperands; o++) {
    if (op->operands[o].output)
      assert_memory_equal(a->expected[o], b->expected[o], a->elements[o] * sizeof(double));
    else
      assert_memory_equal(a->input[o], b->input[o], a->bytes[o]);
  }
  assert_false(a->wide);
  problem_free(a);
  problem_free(b);
  a = problem_make(op, LATHE_F64, dim, 9, 0, &why);
  assert_true(a->wide);
  problem_free(a);
  assert_null(problem_make(&vector_op, LATHE_F32, dim, 9, 0, &why));
  assert_string_equal(why, "the op has no reference for this type");
}

static void test_measure(void **state) {
  static const lathe_variant v = {.name = "given",
                                  .op = &given_op,
                                  .backend = &given_backend,
                                  .dtype = LATHE_F32,
                                  .run = given_run};
  device *const cpu = device_cpu();
  measure_limits limits = {.warmup = -1, .warmup_ns = 1e5};
  const size_t n = 1;
  const char *why;
  measurement m;
  problem *p;
  device_call *call;

  (void)state;
  given.type = LATHE_F32;
  p = problem_make(&given_op, LATHE_F32, &n, 1, 0, &why);
  call = cpu->prepare(cpu, &v, p, (device_layout){0}, &why);
  assert_non_null(call);
  assert_true(measure(call, &limits, 0, 7, NULL, &m));
  assert_int_equal(m.count, 7);
  assert_true(m.calls >= 1);
  for (size_t i = 0; i < m.count; i++)
    assert_true(m.host[i] > 0 && m.own[i] >= 0);
  measure_free(&m);
  limits = (measure_limits){.warmup = 3, .round_ns = 4e5};
  assert_true(measure(call, &limits, 0, 0, NULL, &m));
  assert_true(m.count >= 1);
  measure_free(&m);
  assert_true(measure(call, &limits, 5, 0, NULL, &m)); /* as an earlier round found out */
  assert_int_equal(m.calls, 5);
  measure_free(&m);
  call->group = 77; /* where a device wants calls by so many */
  assert_true(measure(call, &limits, 0, 0, NULL, &m));
  assert_true(m.calls > 77 && m.calls % 77 == 0);
  measure_free(&m);
  cpu->release(call);
  problem_free(p);
}

/* Takes a round of samples that all take as long. */
static void add_round(timing *t, double ns, size_t count) {
  double host[16], own[16];
  const measurement m = {.host = host, .own = own, .count = count, .calls = 10};

  for (size_t i = 0; i < count; i++) {
    host[i] = ns;
    own[i] = ns / 2;
  }
  assert_true(timing_add(t, &m, true));
}

/* The interval is that of the rounds, and not of the samples, which agree with each other in each. */
static void test_timing(void **state) {
  const measure_limits limits = {.rounds = 5, .round_ns = 1000, .most_ns = 2000, .max_noise = 0.01};
  timing t = {0};

  (void)state;
  for (int round = 0; round < 5; round++) {
    add_round(&t, round % 2 ? 120 : 100, 4);
    assert_true(timing_judge(&t, &limits));
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
    assert_true(timing_judge(&t, &limits));
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
      assert_true(timing_judge(&t, &limits));
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
static void test_output(void **state) {
  char folder[] = "/tmp/lathe-test-XXXXXX", path[64];
  struct stat about;
  output o;

  (void)state;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/file", folder);
  o = output_open(path);
  fputs("text", o.file);
  assert_int_not_equal(stat(path, &about), 0);
  assert_true(output_commit(&o));
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_size, 4);
  assert_int_equal(about.st_mode & 0600, 0600);
  o = output_open(path);
  fputs("something else", o.file);
  output_discard(&o);
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_size, 4);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
  o = output_open(path);              /* the folder is gone */
  assert_null(o.file);
  assert_false(output_commit(&o));
}

const struct CMUnitTest runtime_tests[] = {
    cmocka_unit_test(test_timing),
    cmocka_unit_test(test_timing_by_count),
    cmocka_unit_test(test_outliers),
    cmocka_unit_test(test_stats_of_five),
    cmocka_unit_test(test_stats_of_ten),
    cmocka_unit_test(test_stats_of_few),
    cmocka_unit_test(test_stats_withstand_an_outlier),
    cmocka_unit_test(test_stats_deviation_from_median),
    cmocka_unit_test(test_f16),
    cmocka_unit_test(test_bf16),
    cmocka_unit_test(test_other_types),
    cmocka_unit_test(test_ulp),
    cmocka_unit_test(test_integers_are_cut_off),
    cmocka_unit_test(test_random_is_of_seed_and_place),
    cmocka_unit_test(test_random_range),
    cmocka_unit_test(test_random_special_values),
    cmocka_unit_test(test_random_drawn_otherwise),
    cmocka_unit_test(test_spans),
    cmocka_unit_test(test_select_takes_the_widest),
    cmocka_unit_test(test_select_forced),
    cmocka_unit_test(test_may_be_chosen),
    cmocka_unit_test(test_select_of_nothing),
    cmocka_unit_test(test_select_respects_ranges),
    cmocka_unit_test(test_why_not),
    cmocka_unit_test(test_table),
    cmocka_unit_test(test_elements_and_bytes),
    cmocka_unit_test(test_flops),
    cmocka_unit_test(test_cpu_features),
    cmocka_unit_test(test_buffer_guards),
    cmocka_unit_test(test_buffer_poison),
    cmocka_unit_test(test_buffer_too_large),
    cmocka_unit_test(test_sizes),
    cmocka_unit_test(test_size_shapes),
    cmocka_unit_test(test_size_missing),
    cmocka_unit_test(test_size_sets),
    cmocka_unit_test(test_size_matches),
    cmocka_unit_test(test_bad_sizes),
    cmocka_unit_test(test_sizes_that_do_not_fit),
    cmocka_unit_test(test_room),
    cmocka_unit_test(test_units),
    cmocka_unit_test(test_problem),
    cmocka_unit_test(test_measure),
    cmocka_unit_test(test_output),
};
const size_t runtime_test_count = COUNT(runtime_tests);
