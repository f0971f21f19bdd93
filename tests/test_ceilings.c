/* test_ceilings.c - the limits of arithmetic, and which limit a row is held against. */
#include "tests.h"

#include <math.h>

#include "devices/cpu/device.h"
#include "devices/vulkan/device.h"
#include "measure/ceiling.h"
#include "rows/row.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Types of 16 bits are computed in f32, in vectors that have twice as many of these as doubles. */
static void test_arithmetic_ceilings(void **state) {
  const char *name;
  double f32, f64;

  (void)state;
#if defined __x86_64__
  f32 = ceiling_arithmetic(device_cpu(), LATHE_F32, DEVICE_VECTOR, 1, 0);
  f64 = ceiling_arithmetic(device_cpu(), LATHE_F64, DEVICE_VECTOR, 1, 0);
  if (!(f32 > 1e9 && f64 > 0.2 * f32 &&
        f64 < 0.8 * f32)) /* a half, on a machine that is not busy */
    fail_msg("%g operations per second in f32, and %g in f64", f32, f64);
  assert_true(ceiling_arithmetic(device_cpu(), LATHE_F32, DEVICE_VECTOR, 1, 0) ==
              f32); /* remembered */
  assert_true(ceiling_best_arithmetic(device_cpu(), LATHE_F16, 1, 0, &name) > 0.2 * f32);
  assert_string_equal(name, "multiply-adds");
#endif
}

/* A device that writes 10 bytes a second, and copies 20. */
static double rate_of_streams(device *on, int streams, size_t bytes, int threads) {
  static const double rates[] = {10, 20, 20, 20};

  (void)on, (void)bytes, (void)threads;
  return streams == STREAMS_READING ? 40 : rates[streams];
}

/* Reading a little beside what is written takes no longer where a copy takes as long as writing alone. */
static void test_rates_between_streams(void **state) {
  static const struct {
    double in, out, rate;
    const char *name;
  } cases[] = {{0, 4, 10, "write"}, {1, 4, 12.5, "write"},         {3, 4, 17.5, "copy"},
               {4, 4, 20, "copy"},  {6, 4, 20, "two in, one out"}, {400, 4, 40, "read"}};
  device given = {.streams_rate = rate_of_streams};
  const char *name;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const double rate =
        ceiling_rate(&given, cases[i].in * 4096, cases[i].out * 4096, 1, (int)i, &name);
    assert_string_equal(name, cases[i].name);
    if (fabs(rate - cases[i].rate) > 1e-9)
      fail_msg("%g in and %g out: %g", cases[i].in, cases[i].out, rate);
  }
}

/* A processor that emulates a GPU does not move memory faster than processors do: the loops are really there. */
static void test_vulkan_ceilings(void **state) {
  const device_list list = device_vulkan();

  (void)state;
  for (size_t i = 0; i < list.count; i++) {
    device *on = list.at[i];
    const size_t bytes = 4 << 20;
    if (!on->is_processor)
      continue;
    assert_true(on->streams_rate(on, STREAMS_READING, bytes, 1) < 1e12);
    assert_true(on->streams_rate(on, 2, bytes, 1) < 1e12);
    assert_true(ceiling_arithmetic(on, LATHE_F32, DEVICE_VECTOR, 1, 0) < 1e14);
    if (!(on->features & LATHE_VULKAN_MATRIX))
      assert_true(ceiling_arithmetic(on, LATHE_F16, DEVICE_MATRIX, 1, 0) == 0);
  }
}

/* The row of a size that takes 1 us, in each of some rounds, on a device with these limits. */
static row *row_between(double bytes, double operations) {
  static const lathe_arithmetic work = {3, 2};
  static const lathe_operand operand = {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, 0, 1, false};
  static const lathe_op op = {.name = "o",
                              .ndim = 2,
                              .dim = {"m", "n"},
                              .noperands = 1,
                              .operands = &operand,
                              .nwork = 1,
                              .work = &work};
  static const lathe_backend backend = {.name = "given"};
  static const lathe_variant v = {.name = "v", .op = &op, .backend = &backend};
  static const task t = {.op = &op, .dtype = LATHE_F32, .dim = {100, 10}, .shape = {2, {100, 10}}};
  outcome o = {.ceilings = {bytes, operations, "read", "multiply-adds"}};
  static const measure_limits limits = {.rounds = 3, .max_noise = 0.01};
  double taken = 1000;
  row *r = row_make(&t, &v, device_cpu(), 1);

  o.warm = (measurement){.host = &taken, .own = &taken, .count = 1, .calls = 1};
  for (int round = 0; round < limits.rounds; round++)
    row_add(r, &o, device_cpu(), &limits);
  row_measure(r, device_cpu());
  return r;
}

/* A ceiling that differed by half from round to round on a busy machine says less. */
static void test_uncertain_ceiling(void **state) {
  const ceilings low = {2e8, 0, "read", ""};
  row *r = row_between(3.2e8, 0);

  (void)state;
  assert_true(r->above_ceiling);
  row_raise_ceilings(r, &low, device_cpu());
  assert_true(fabs(r->ceiling_share - 400 / 320.) < 1e-9);
  assert_false(r->above_ceiling);
  row_free(r);
}

/* 400 bytes and 2,000 operations. */
static void test_nearer_ceiling(void **state) {
  static const struct {
    double bytes, operations, share;
    const char *name;
  } cases[] = {
      {4e9, 2e10, 0.1, "read"}, {4e8, 2e10, 1, "read"},         {4e9, 4e9, 0.5, "multiply-adds"},
      {4e9, 0, 0.1, "read"},    {0, 4e9, 0.5, "multiply-adds"}, {4e9, 1e9, 2, "multiply-adds"},
  };

  const ceilings higher = {4e9, 2e10, "read", "multiply-adds"};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    row *r = row_between(cases[i].bytes, cases[i].operations);
    assert_string_equal(r->ceiling, cases[i].name);
    assert_true(fabs(r->ceiling_share - cases[i].share) < 1e-9);
    assert_true(r->above_ceiling == (cases[i].share > 1.15));
    row_raise_ceilings(r, &higher, device_cpu());
    assert_false(r->above_ceiling);
    row_free(r);
  }
}

const struct CMUnitTest ceilings_tests[] = {
    cmocka_unit_test(test_arithmetic_ceilings), cmocka_unit_test(test_rates_between_streams),
    cmocka_unit_test(test_nearer_ceiling),      cmocka_unit_test(test_uncertain_ceiling),
    cmocka_unit_test(test_vulkan_ceilings),
};
const size_t ceilings_test_count = COUNT(ceilings_tests);
