/* test_runtime.c - buffers, problems, measuring, and files that are written whole or not at all. */
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "devices/common/buffer.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "library/dtype.h"
#include "measure/measure.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

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
  buffer_poison(&b, buffer_poison_nan);
  assert_true(buffer_is_poison(b.data, 40));
  memcpy(&value, b.data, sizeof value);
  assert_true(isnan(value));
  buffer_poison(&b, buffer_poison_huge);
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

/* ---- problems, measuring, files -------------------------------------------------------------- */

/* An op whose one result is 1, and one without a reference. */
static void one_f64(const lathe_args *args) {
  *(double *)args->buf[0] = 1;
  *(double *)args->buf[1] = 0;
}

static void one_f32(const lathe_args *args) {
  *(float *)args->buf[0] = 1;
}

static const lathe_operand one_operand = {"y", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false};
static const lathe_op one_op = {.name = "one",
                                .ndim = 1,
                                .dim = {"n"},
                                .noperands = 1,
                                .operands = &one_operand,
                                .bench = &(const lathe_bench){.reference_f64 = one_f64}};
static const lathe_op unknown_op = {.name = "unknown",
                                    .ndim = 1,
                                    .dim = {"n"},
                                    .noperands = 1,
                                    .operands = &one_operand,
                                    .bench = &(const lathe_bench){0}};
static const lathe_backend one_backend = {.name = "one"};

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
  assert_null(problem_make(&unknown_op, LATHE_F32, dim, 9, 0, &why));
  assert_string_equal(why, "the op has no reference for this type");
}

static void test_measure(void **state) {
  static const lathe_variant v = {
      .name = "one", .op = &one_op, .backend = &one_backend, .dtype = LATHE_F32, .run = one_f32};
  device *const cpu = device_cpu();
  measure_limits limits = {.warmup = -1, .warmup_ns = 1e5};
  const size_t n = 1;
  const char *why;
  measurement m;
  problem *p;
  device_call *call;

  (void)state;
  p = problem_make(&one_op, LATHE_F32, &n, 1, 0, &why);
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
    cmocka_unit_test(test_buffer_guards),    cmocka_unit_test(test_buffer_poison),
    cmocka_unit_test(test_buffer_too_large), cmocka_unit_test(test_problem),
    cmocka_unit_test(test_measure),          cmocka_unit_test(test_output),
};
const size_t runtime_test_count = COUNT(runtime_tests);
