/* test_ceilings.c - the limits of arithmetic, and which limit a row is held against. */
#include "tests.h"

#include <math.h>

#include "devices/cpu/device.h"
#include "devices/vulkan/device.h"
#include "measure/ceiling.h"
#include "rows/row.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const ceiling_when once = {.threads = 1};

/* Types of 16 bits are computed in f32, in vectors that have twice as many of these as doubles. */
static void test_arithmetic_ceilings(void **state) {
  const ceiling_when anew = {.threads = 1, .effort = CEILING_ANEW};
  const char *name;
  double f32, f64;

  (void)state;
#if defined __x86_64__
  for (int i = 0; i < 4; i++) { /* the best count: other programs may be busy for a while */
    ceiling_arithmetic(device_cpu(), LATHE_F32, DEVICE_VECTOR, anew);
    ceiling_arithmetic(device_cpu(), LATHE_F64, DEVICE_VECTOR, anew);
  }
  f32 = ceiling_arithmetic(device_cpu(), LATHE_F32, DEVICE_VECTOR, once);
  f64 = ceiling_arithmetic(device_cpu(), LATHE_F64, DEVICE_VECTOR, once);
  if (!(f32 > 1e9 && f64 > 0.2 * f32 &&
        f64 < 0.8 * f32)) /* a half, on a machine that is not busy */
    fail_msg("%g operations per second in f32, and %g in f64", f32, f64);
  assert_true(ceiling_arithmetic(device_cpu(), LATHE_F32, DEVICE_VECTOR, once) ==
              f32); /* remembered */
  assert_true(ceiling_best_arithmetic(device_cpu(), LATHE_F16, false, once, &name) > 0.2 * f32);
  assert_string_equal(name, "multiply-adds");
#endif
}

/* A device whose vectors do 50 operations a second, and whose unit for matrices 400, of f32 rounded to tf32. */
static double rate_of_units(device *on, lathe_dtype dtype, device_unit unit, int threads,
                            int *way) {
  (void)on, (void)dtype, (void)threads, (void)way;
  return unit == DEVICE_MATRIX ? 400 : 50;
}

/* Products of f32 that keep their digits take three of tf32. */
static void test_rounded_products(void **state) {
  static const struct {
    lathe_dtype dtype;
    bool rounded;
    double rate;
  } cases[] = {{LATHE_F32, true, 400}, {LATHE_F32, false, 400 / 3.}, {LATHE_BF16, false, 400}};
  static device given = {.arithmetic_rate = rate_of_units};
  const char *name;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_true(
        fabs(ceiling_best_arithmetic(&given, cases[i].dtype, cases[i].rounded, once, &name) -
             cases[i].rate) < 1e-9);
    assert_string_equal(name, "matrix units");
  }
}

/* A device that writes 10 bytes a second, and copies 20. */
static double rate_of_streams(device *on, int streams, size_t bytes, int threads, int *way) {
  static const double rates[] = {10, 20, 20, 20};

  (void)on, (void)bytes, (void)threads, (void)way;
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
    const ceiling_when when = {.threads = 1, .round = (int)i};
    const double rate = ceiling_rate(&given, cases[i].in * 4096, cases[i].out * 4096, when, &name);
    assert_string_equal(name, cases[i].name);
    if (fabs(rate - cases[i].rate) > 1e-9)
      fail_msg("%g in and %g out: %g", cases[i].in, cases[i].out, rate);
  }
}

static void moves(device *on, int streams) {
  const size_t bytes = 4 << 20;
  int way = DEVICE_ANY_WAY;
  const double best = on->streams_rate(on, streams, bytes, 1, &way);
  const double again = on->streams_rate(on, streams, bytes, 1, &way);

  assert_true(best < 1e12 && again < 1e12);
  assert_true((best > 0) == (again > 0)); /* 0 where there are no shaders */
}

/* A processor that emulates a GPU does not move memory faster than processors do: the loops are really there. */
static void test_vulkan_ceilings(void **state) {
  const device_list list = device_vulkan();

  (void)state;
  for (size_t i = 0; i < list.count; i++) {
    device *on = list.at[i];
    if (!on->is_processor)
      continue;
    moves(on, STREAMS_READING);
    moves(on, 1);
    moves(on, 2);
    assert_true(ceiling_arithmetic(on, LATHE_F32, DEVICE_VECTOR, once) < 1e14);
    if (!(on->features & LATHE_VULKAN_MATRIX))
      assert_true(ceiling_arithmetic(on, LATHE_F16, DEVICE_MATRIX, once) == 0);
  }
}

/* A device that copies 400 bytes/us, but for those measurements that find it at `slow` of that. */
static struct {
  int measured, of_all_ways;
  int slow_ones;
  double slow;
} copies;

static double rate_of_copies(device *on, int streams, size_t bytes, int threads, int *way) {
  (void)on, (void)streams, (void)bytes, (void)threads;
  copies.of_all_ways += *way == DEVICE_ANY_WAY;
  *way = 7;
  return copies.measured++ < copies.slow_ones ? 400e6 * copies.slow : 400e6;
}

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
static const lathe_variant variant = {
    .name = "v", .op = &op, .backend = &backend, .dtype = LATHE_F32};
static const size_t dim[] = {100, 10};

/* Of a call that moves 400 bytes: a ceiling that it is far from is measured once in a round, one that it is near to
 * once more by the best loop, and one that it is above by all loops, until it is not. */
static void test_ceilings_beside_a_call(void **state) {
  static const struct {
    double ns;
    int slow_ones;
    double slow;
    int measured, of_all_ways;
    double found;
  } cases[] = {
      {4000, 0, 1, 1, 1, 400e6}, {1100, 0, 1, 2, 1, 400e6},   {1100, 1, 0.5, 2, 1, 400e6},
      {900, 0, 1, 5, 4, 400e6},  {1010, 3, 0.9, 4, 3, 400e6}, {1010, 99, 0.9, 5, 4, 360e6},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    device given = {.streams_rate = rate_of_copies};
    ceilings c;
    copies.measured = copies.of_all_ways = 0;
    copies.slow_ones = cases[i].slow_ones;
    copies.slow = cases[i].slow;
    c = ceilings_beside(&given, &variant, dim, 100 + (int)i, 0, cases[i].ns);
    if (c.bytes != cases[i].found || copies.measured != cases[i].measured ||
        copies.of_all_ways != cases[i].of_all_ways)
      fail_msg("case %zu: %g, measured %d times, %d of them by all loops", i, c.bytes,
               copies.measured, copies.of_all_ways);
    ceilings_beside(&given, &variant, dim, 100 + (int)i, 0, 4000);
    assert_int_equal(copies.measured, cases[i].measured); /* the round knows */
    ceilings_beside(&given, &variant, dim, 100 + (int)i, 1, 4000);
    assert_int_equal(copies.measured, cases[i].measured + 1);
  }
}

/* The row of such a call after rounds that took so long, each beside these limits. */
static row *row_between(const double *ns, const ceilings *c, int rounds) {
  static const task t = {.op = &op, .dtype = LATHE_F32, .dim = {100, 10}, .shape = {2, {100, 10}}};
  const measure_limits limits = {.rounds = rounds, .max_noise = 0.01};
  row *r = row_make(&t, &variant, device_cpu(), 1);

  for (int round = 0; round < rounds; round++) {
    outcome o = {.ceilings = c[round]};
    double taken = ns[round];
    o.warm = (measurement){.host = &taken, .own = &taken, .count = 1, .calls = 1};
    row_add(r, &o, device_cpu(), &limits);
  }
  row_measure(r, device_cpu());
  return r;
}

/* 400 bytes and 2,000 operations in 1 us, in each of some rounds. */
static void test_nearer_ceiling(void **state) {
  static const struct {
    double bytes, operations, share;
    const char *name;
  } cases[] = {
      {4e9, 2e10, 0.1, "read"},
      {4e8, 2e10, 1, "read"},
      {4e9, 4e9, 0.5, "multiply-adds"},
      {4e9, 0, 0.1, "read"},
      {0, 4e9, 0.5, "multiply-adds"},
      {4e9, 1.9e9, 1.0526, "multiply-adds"},
      {4e9, 1.6e9, 1.25, "multiply-adds"},
  };
  const double ns[] = {1000, 1000, 1000};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const ceilings one = {cases[i].bytes, cases[i].operations, "read", "multiply-adds"};
    row *r = row_between(ns, (const ceilings[]){one, one, one}, 3);
    assert_string_equal(r->ceiling, cases[i].name);
    assert_true(fabs(r->ceiling_share - cases[i].share) < 1e-4);
    assert_true(r->above_ceiling == (cases[i].share > 1.1));
    row_free(r);
  }
}

/* A machine that is slow for some rounds is so for the call and for its ceiling: the share stays what it is. A row
 * above its ceiling in some rounds only may be there by chance. */
static void test_rounds_of_ceilings(void **state) {
  static const struct {
    double ns[4], bytes[4];
    double share;
    bool above;
  } cases[] = {
      {{1250, 2500, 1250, 5000}, {4e8, 2e8, 4e8, 1e8}, 0.8, false},
      {{1000, 2000, 1000, 4000}, {3.2e8, 1.6e8, 3.2e8, 0.8e8}, 1.25, true},
      {{800, 1000, 800, 1000}, {4e8, 4e8, 4e8, 4e8}, 1.125, false},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    ceilings c[4] = {{0}};
    double best = 0;
    row *r;
    for (int round = 0; round < 4; round++) {
      c[round] = (ceilings){cases[i].bytes[round], 0, "read", ""};
      best = fmax(best, c[round].bytes);
    }
    r = row_between(cases[i].ns, c, 4);
    if (fabs(r->ceiling_share - cases[i].share) > 1e-4)
      fail_msg("case %zu: a share of %g", i, r->ceiling_share);
    assert_true(r->ceiling_share_low <= r->ceiling_share &&
                r->ceiling_share <= r->ceiling_share_high);
    assert_true(r->above_ceiling == cases[i].above);
    assert_true(r->ceiling_bytes_per_second == best);
    row_free(r);
  }
}

const struct CMUnitTest ceilings_tests[] = {
    cmocka_unit_test(test_arithmetic_ceilings),   cmocka_unit_test(test_rounded_products),
    cmocka_unit_test(test_rates_between_streams), cmocka_unit_test(test_ceilings_beside_a_call),
    cmocka_unit_test(test_nearer_ceiling),        cmocka_unit_test(test_rounds_of_ceilings),
    cmocka_unit_test(test_vulkan_ceilings),
};
const size_t ceilings_test_count = COUNT(ceilings_tests);
