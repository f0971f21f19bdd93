/* test_wrong_kernels.c - kernels that are wrong on purpose, which a check calls wrong. */
#include "variants.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check/describe.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "problem/random.h"

/* y[i] = 3 x[i] - 1, at[0] = the index of the largest y. */
enum { X, Y, AT, MAGNITUDE };

static void plant_reference(const lathe_args *args) {
  const double *x = args->buf[X];
  double *y = args->buf[Y], *magnitude = args->buf[MAGNITUDE];
  int64_t *at = args->buf[AT];

  *at = 0;
  for (size_t i = 0; i < args->dim[0]; i++) {
    y[i] = 3 * x[i] - 1;
    magnitude[i] = 1;
    if (y[i] > y[*at])
      *at = (int64_t)i;
  }
}

static void plant_right(const lathe_args *args) {
  const float *x = args->buf[X];
  float *y = args->buf[Y];
  int64_t best = 0;

  for (size_t i = 0; i < args->dim[0]; i++) {
    y[i] = (float)(3.0 * x[i] - 1);
    if (y[i] > y[best])
      best = (int64_t)i;
  }
  memcpy(args->buf[AT], &best, sizeof best);
}

static void plant_unwritten(const lathe_args *args) {
  float *const last = (float *)args->buf[Y] + args->dim[0] - 1;
  const float before = *last;

  plant_right(args);
  *last = before;
}

static void plant_off(const lathe_args *args) {
  float *y = args->buf[Y];

  plant_right(args);
  /* Beside 1, the magnitude, more than the half unit that is allowed. */
  y[args->dim[0] - 1] += 0x1p-22f;
}

static void plant_nan(const lathe_args *args) {
  plant_right(args);
  ((float *)args->buf[Y])[args->dim[0] / 2] = NAN;
}

static void plant_infinity(const lathe_args *args) {
  plant_right(args);
  ((float *)args->buf[Y])[0] = INFINITY;
}

static void plant_zeros(const lathe_args *args) {
  plant_right(args);
  memset(args->buf[Y], 0, args->dim[0] * sizeof(float));
}

static void plant_index(const lathe_args *args) {
  plant_right(args);
  int64_t index;
  memcpy(&index, args->buf[AT], sizeof index);
  index++;
  memcpy(args->buf[AT], &index, sizeof index);
}

static void plant_before(const lathe_args *args) {
  plant_right(args);
  ((volatile float *)args->buf[Y])[-1] = 0;
}

static void plant_after(const lathe_args *args) {
  plant_right(args);
  ((volatile float *)args->buf[Y])[args->dim[0]] = 0;
}

static void plant_after_input(const lathe_args *args) {
  plant_right(args);
  ((volatile float *)args->buf[X])[args->dim[0]] = 0;
}

static void plant_input(const lathe_args *args) {
  plant_right(args);
  ((float *)args->buf[X])[args->dim[0] - 1] = 7;
}

static void plant_crash(const lathe_args *args) {
  plant_right(args);
  raise(SIGSEGV);
}

static void plant_illegal(const lathe_args *args) {
  plant_right(args);
  raise(SIGILL);
}

/* Reads one element too many, and lets nothing of it be seen in the result. */
static void plant_read_after(const lathe_args *args) {
  static volatile float read;

  plant_right(args);
  read = ((const float *)args->buf[X])[args->dim[0]];
  (void)read;
}

#if defined __x86_64__
static void plant_flushing(const lathe_args *args) {
  plant_right(args);
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 1u << 15); /* denormals become zero */
}
#endif

/* Right the first time only. */
static void plant_second(const lathe_args *args) {
  static int calls;

  plant_right(args);
  if (calls++ > 0)
    ((float *)args->buf[Y])[1] += 1;
}

/* Otherwise each second time. */
static void plant_unsteady(const lathe_args *args) {
  static int calls;

  plant_right(args);
  if (calls++ % 2)
    ((float *)args->buf[Y])[1] += 1;
}

static const lathe_operand plant_operands[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
    {"at", LATHE_I64, true, 0, {0}, 0, 0, false},
};
static const lathe_bound plant_bound = {LATHE_F32, 0.5001};
static const lathe_op plant_op = {.name = "plant",
                                  .doc = "3 x - 1",
                                  .source = __FILE__,
                                  .ndim = 1,
                                  .dim = {"n"},
                                  .noperands = 3,
                                  .operands = plant_operands,
                                  .bench = &(const lathe_bench){.nbounds = 1,
                                                                .bounds = &plant_bound,
                                                                .reference_f64 = plant_reference}};
static const lathe_backend plant_backend = {.name = "planted"};
static const lathe_backend flushing_backend = {.name = "planted", .features = LATHE_FLUSHES};

static lathe_variant plant(lathe_fn *run) {
  return (lathe_variant){.name = "plant_f32__planted",
                         .op = &plant_op,
                         .backend = &plant_backend,
                         .dtype = LATHE_F32,
                         .run = run};
}

static problem *plant_problem(size_t n) {
  const variant_group g = {.op = &plant_op, .dtype = LATHE_F32};

  return variants_problem(&g, &n, SEED, 0);
}

/* At odd lengths, as an element is easily missed there, and in every layout asked for. */
static void expect_caught(lathe_fn *run, device_layout layout, const char *said) {
  static const size_t lengths[] = {2, 77, 1000};

  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const lathe_variant v = plant(run);
    problem *p = plant_problem(lengths[i]);
    const check_result r = check_variant(device_cpu(), &v, p, layout);
    if (r.verdict != CHECK_WRONG || !strstr(r.message, said))
      fail_msg("n = %zu: verdict %d, expected it wrong with '%s', was told '%s'", lengths[i],
               r.verdict, said, r.message);
    assert_null(strchr(r.message, '\n'));
    problem_free(p);
  }
}

static void test_right_kernel_passes(void **state) {
  const lathe_variant v = plant(plant_right);
  tally t = {0};

  (void)state;
  catch_crashes();
  for (size_t n = 1; n <= LONGEST_SHORT; n++) {
    problem *p = plant_problem(n);
    variants_check(&t, &v, p, EVERY_LAYOUT & ~IN_PLACE);
    problem_free(p);
  }
  tally_conclude(&t);
}

static void test_wrong_results_are_caught(void **state) {
  static const struct {
    lathe_fn *run;
    const char *said;
  } plants[] = {
      {plant_off, "ulp off, 0.5001 allowed"},    {plant_nan, "is nan, expected"},
      {plant_infinity, "y[0] is inf, expected"}, {plant_zeros, "y[0] is 0, expected"},
      {plant_unwritten, "was never written"},    {plant_index, "at is "},
  };

  (void)state;
  catch_crashes();
  for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
    expect_caught(plants[i].run, (device_layout){0}, plants[i].said);
    expect_caught(plants[i].run, (device_layout){.offset = 4}, plants[i].said);
    expect_caught(plants[i].run, (device_layout){.page_end = true}, plants[i].said);
  }
}

static void test_stray_writes_are_caught(void **state) {
  (void)state;
  catch_crashes();
  expect_caught(plant_before, (device_layout){0}, "wrote before the start of y");
  expect_caught(plant_before, (device_layout){.offset = 4}, "wrote before the start of y");
  expect_caught(plant_after, (device_layout){0}, "wrote after the end of y");
  expect_caught(plant_after_input, (device_layout){0}, "wrote after the end of x");
  expect_caught(plant_input, (device_layout){0}, "wrote into its input x");
  expect_caught(plant_after, (device_layout){.page_end = true}, "SIGSEGV");
}

static void test_crashes_are_caught(void **state) {
  (void)state;
  catch_crashes();
  expect_caught(plant_crash, (device_layout){0}, "crashed with SIGSEGV");
  expect_caught(plant_illegal, (device_layout){0}, "crashed with SIGILL");
  expect_caught(plant_read_after, (device_layout){.page_end = true}, "crashed with SIGSEGV");
}

static void test_changed_settings_are_caught(void **state) {
  (void)state;
#if defined __x86_64__
  const unsigned before = __builtin_ia32_stmxcsr() & ~0x3fu;
  expect_caught(plant_flushing, (device_layout){0}, "floating-point settings");
  assert_int_equal(__builtin_ia32_stmxcsr() & ~0x3fu, before);
#else
  skip();
#endif
}

static void refer_to(const lathe_args *args, double (*f)(double)) {
  const double *x = args->buf[X];
  double *y = args->buf[Y], *magnitude = args->buf[2];

  for (size_t i = 0; i < args->dim[0]; i++) {
    y[i] = f(x[i]);
    magnitude[i] = 0;
  }
}

/* 2^100 x, which is far from zero also for an x below the normal range. */
static double raise_number(double x) {
  return x * 0x1p100;
}

static void raise_reference(const lathe_args *args) {
  refer_to(args, raise_number);
}

static void raise_flushed(const lathe_args *args) {
  const float *x = args->buf[X];
  float *y = args->buf[Y];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = fabsf(x[i]) < FLT_MIN ? copysignf(0, x[i]) : x[i] * 0x1p100f;
}

static void raise_wrong(const lathe_args *args) {
  raise_flushed(args);
  ((float *)args->buf[Y])[args->dim[0] - 1] *= 2;
}

static const lathe_op raise_op = {.name = "raise",
                                  .source = __FILE__,
                                  .ndim = 1,
                                  .dim = {"n"},
                                  .noperands = 2,
                                  .operands = plant_operands,
                                  .bench = &(const lathe_bench){.reference_f64 = raise_reference}};

static double cut_number(double x) {
  return x > 0 ? x : 0;
}

static void cut_reference(const lathe_args *args) {
  refer_to(args, cut_number);
}

/* The same where a comparison takes a number below the normal range as zero, and a copy leaves it. */
static void cut_flushed(const lathe_args *args) {
  const float *x = args->buf[X];
  float *y = args->buf[Y];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = x[i] <= -FLT_MIN ? 0 : x[i];
}

static void cut_wrong(const lathe_args *args) {
  cut_flushed(args);
  ((float *)args->buf[Y])[0] = -FLT_MIN;
}

/* What takes numbers below the normal range as zero is right only on a device that may do that, and what
 * is wrong by more is wrong there too. */
static void expect_flushing_judged(const lathe_op *op, lathe_fn *flushed, lathe_fn *wrong) {
  const variant_group g = {.op = op, .dtype = LATHE_F32};
  const size_t n = 1000;
  problem *p = variants_problem(&g, &n, SEED, RANDOM_DENORMAL);
  lathe_variant v = plant(flushed);
  device may = *device_cpu(), other = *device_cpu();

  v.op = op;
  may.may_flush[LATHE_F32].types = 1u << LATHE_F32;
  other.may_flush[LATHE_F16].types = 1u << LATHE_F16;
  assert_int_equal(check_variant(&may, &v, p, (device_layout){0}).verdict, CHECK_RIGHT);
  assert_int_equal(check_variant(&other, &v, p, (device_layout){0}).verdict, CHECK_WRONG);
  /* A backend may, where its device does not. */
  v.backend = &flushing_backend;
  assert_int_equal(check_variant(&other, &v, p, (device_layout){0}).verdict, CHECK_RIGHT);
  v.run = wrong;
  assert_int_equal(check_variant(&other, &v, p, (device_layout){0}).verdict, CHECK_WRONG);
  v.backend = &plant_backend;
  assert_int_equal(check_variant(&may, &v, p, (device_layout){0}).verdict, CHECK_WRONG);
  problem_free(p);
}

static void test_flushing_devices_are_judged_by_what_they_may(void **state) {
  static const lathe_bench cut_bench = {.any_zero_sign = true, .reference_f64 = cut_reference};
  lathe_op cut_op = raise_op;

  (void)state;
  cut_op.bench = &cut_bench;
  expect_flushing_judged(&raise_op, raise_flushed, raise_wrong);
  expect_flushing_judged(&cut_op, cut_flushed, cut_wrong);
}

/* The check after timing sees what the timed calls left. */
static void test_later_mistakes_are_caught(void **state) {
  const lathe_variant v = plant(plant_second);
  device *const cpu = device_cpu();
  problem *p = plant_problem(100);
  const char *why;
  device_call *call = cpu->prepare(cpu, &v, p, (device_layout){0}, &why);
  device_time taken;
  check_kept *left;
  check_result r;

  (void)state;
  catch_crashes();
  assert_non_null(call);
  r = check_run(call, NULL);
  assert_int_equal(r.verdict, CHECK_RIGHT);
  assert_true(cpu->time(call, 3, &taken));
  left = check_keep(call, &r);
  assert_non_null(left);
  r = check_judge(call, left);
  check_drop(left);
  assert_int_equal(r.verdict, CHECK_WRONG);
  assert_non_null(strstr(r.message, "y[1] is"));
  cpu->release(call);
  problem_free(p);
}

/* What a second run of a kernel leaves, held against what the first one did. */
static check_result run_twice(lathe_fn *run) {
  const lathe_variant v = plant(run);
  device *const cpu = device_cpu();
  problem *p = plant_problem(100);
  const char *why;
  device_call *call = cpu->prepare(cpu, &v, p, (device_layout){0}, &why);
  check_kept *first;
  check_result r;

  assert_non_null(call);
  assert_int_equal(check_run(call, &first).verdict, CHECK_RIGHT);
  assert_non_null(first);
  cpu->reset(call);
  assert_true(cpu->run(call));
  r = check_same(call, first);
  check_drop(first);
  cpu->release(call);
  problem_free(p);
  return r;
}

static void test_unsteady_results_are_caught(void **state) {
  check_result r = run_twice(plant_unsteady);

  (void)state;
  catch_crashes();
  assert_int_equal(r.verdict, CHECK_WRONG);
  assert_non_null(strstr(r.message, "y[1] differs from one run to the next: "));
  r = run_twice(plant_right);
  assert_int_equal(r.verdict, CHECK_RIGHT);
  assert_string_equal(r.message, "");
}

static void test_unable(void **state) {
  const lathe_variant v = plant(plant_right);
  problem *p = plant_problem(10);
  check_result r = check_variant(device_cpu(), &v, p, (device_layout){.in_place = true});

  (void)state;
  assert_int_equal(r.verdict, CHECK_UNABLE);
  assert_string_equal(r.message, "the op does not work in place");
  problem_free(p);
}

static void test_repro(void **state) {
  const lathe_variant v = plant(plant_right);
  device *const cpu = device_cpu();
  const size_t n = 77;
  const char *why;
  problem *p = problem_make(&plant_op, LATHE_F32, &n, 5, RANDOM_NAN | RANDOM_ZERO, &why);
  device_call *call =
      cpu->prepare(cpu, &v, p, (device_layout){.offset = 4, .page_end = true}, &why);
  char command[512];

  (void)state;
  describe_repro(call, "bench", command, sizeof command);
  assert_string_equal(command,
                      "bench --check-only --op plant --dtype f32 --variant plant_f32__planted "
                      "--size 77 --seed 5 --special nan,zero --page-end --offset 4");
  cpu->release(call);
  problem_free(p);
}

const struct CMUnitTest wrong_kernels_tests[] = {
    cmocka_unit_test(test_right_kernel_passes),
    cmocka_unit_test(test_wrong_results_are_caught),
    cmocka_unit_test(test_stray_writes_are_caught),
    cmocka_unit_test(test_crashes_are_caught),
    cmocka_unit_test(test_changed_settings_are_caught),
    cmocka_unit_test(test_flushing_devices_are_judged_by_what_they_may),
    cmocka_unit_test(test_later_mistakes_are_caught),
    cmocka_unit_test(test_unsteady_results_are_caught),
    cmocka_unit_test(test_unable),
    cmocka_unit_test(test_repro),
};
const size_t wrong_kernels_test_count = sizeof wrong_kernels_tests / sizeof *wrong_kernels_tests;
