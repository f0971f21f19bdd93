/* test_formats.c - number formats, and how far a result is off in units of their last place. */
#include "tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "close.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "library/dtype.h"
#include "problem/random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
    .ndim = 1,
    .dim = {"n"},
    .noperands = 1,
    .operands = &given_operand,
    .bench = &(const lathe_bench){.reference_f64 = given_f64, .reference_wide = given_wide}};
static const lathe_op lax_op = {.name = "given",
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

const struct CMUnitTest formats_tests[] = {
    cmocka_unit_test(test_f16),
    cmocka_unit_test(test_bf16),
    cmocka_unit_test(test_other_types),
    cmocka_unit_test(test_ulp),
    cmocka_unit_test(test_integers_are_cut_off),
};
const size_t formats_test_count = COUNT(formats_tests);
