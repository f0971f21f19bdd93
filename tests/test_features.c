/* test_features.c - the bench program without an instruction set, without memory, and with a small stack. */
#include "library/cpu.h"
#include "tests.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "run_bench.h"

/* The first backend that a processor with only SSE2 cannot run and that was built; or null. */
static const lathe_backend *beyond_sse2(void) {
  const lathe_op *op =
      lathe_find("softmax"); /* which backends of few templates have no kernels of */

  for (size_t i = 0; i < lathe_variant_count; i++) {
    const lathe_backend *backend = lathe_variants[i].backend;
    if (lathe_variants[i].op == op && backend->kind == LATHE_CPU &&
        backend->features & ~(uint64_t)LATHE_SSE2)
      return backend;
  }
  return NULL;
}

static void test_missing_instruction_set(void **state) {
  const lathe_backend *backend = beyond_sse2();
  char summary[64];
  const json_t *all;
  const char *why;
  run_result r;
  json_t *root;

  (void)state;
  if (!backend)
    skip(); /* this table has no such backend */
  why = why_not_with(backend, LATHE_ON_CPU | LATHE_SSE2);
  r = BENCH_WITH("LATHE_CPU_FEATURES=sse2", "--op", "add,sum,softmax", "--size", "100", "--backend",
                 backend->name, "--json", "out.json");
  assert_int_equal(r.status, NOTHING);
  assert_string_equal(r.err, "");
  assert_has(r.out, why);
  assert_has(r.out, " 0 right, 0 wrong, ");
  snprintf(summary, sizeof summary, " skipped (%s: ", backend->name);
  assert_has(r.out, summary);
  root = load("out.json");
  all = json_object_get(root, "benchmarks");
  assert_true(json_array_size(all) > 0);
  assert_false(flag_of(json_object_get(root, "context"), "interrupted"));
  assert_true(number_of(json_object_get(root, "context"), "rows_not_run") == 0);
  for (size_t i = 0; i < json_array_size(all); i++) {
    const json_t *b = json_array_get(all, i);
    check_benchmark(b);
    assert_string_equal(text_of(b, "status"), "skipped");
    assert_memory_equal(text_of(b, "reason"), why, strlen(why));
    assert_true(flag_of(b, "error_occurred"));
    assert_string_equal(text_of(b, "error_message"), text_of(b, "reason"));
    assert_false(flag_of(b, "fastest"));
    assert_false(flag_of(b, "dispatched"));
  }
  json_decref(root);
  run_free(&r);
}

/* Something could run: that it was right is what counts. Of each template one op: they share how they are left out. */
static void test_less_of_a_processor(void **state) {
  static const char *const features[] = {"LATHE_CPU_FEATURES=", "LATHE_CPU_FEATURES=sse2",
                                         "LATHE_CPU_FEATURES=sse2,avx2",
                                         "LATHE_CPU_FEATURES=sse2,avx2,fma"};

  (void)state;
  for (size_t i = 0; i < COUNT(features); i++) {
    run_result r = BENCH_WITH(features[i], "--op", "exp,argmax,softmax", "--dtype", "all", "--size",
                              "100", "--backend", "cpu", "--check-only");
    assert_good(&r);
    assert_has(r.out, " 0 wrong, ");
    if (beyond_sse2())
      assert_has(r.out, why_not_with(beyond_sse2(), LATHE_ON_CPU | LATHE_SSE2));
    run_free(&r);
  }
}

/* A slip would hide what it was to leave. */
static void test_unknown_feature(void **state) {
  run_result r = BENCH_WITH("LATHE_CPU_FEATURES=sse2,avx3", "--op", "add");

  (void)state;
  assert_refused(
      &r, "bench: unknown processor feature 'avx3'; did you mean 'avx2'? (LATHE_CPU_FEATURES "
          "takes sse2, avx2, fma, f16c, avx512f, avx512bw, avx512dq, avx512vl, amx_bf16, "
          "amx_int8, avx512vnni)\n");
  run_free(&r);
  r = BENCH_WITH("LATHE_CPU_FEATURES=foo", "--help");
  assert_good(&r);
  run_free(&r);
}

static void test_too_large_for_memory(void **state) {
  run_result r =
      BENCH("--op", "add", "--backend", "scalar", "--size", "2^50,2^62,100", "--check-only");

  (void)state;
  assert_good(&r); /* the other size was right */
  assert_has(r.out, "skipped: needs ");
  assert_has(r.out, "skipped: needs 48.0 EiB, more than can be addressed");
  assert_has(r.out, "2 right, 0 wrong, 4 skipped");
  run_free(&r);
  r = BENCH("--op", "add", "--backend", "scalar", "--size", "2^50", "--check-only");
  assert_int_equal(r.status, NOTHING);
  run_free(&r);
}

/* A stack that is too small is no fault of kernels: it is made larger, or told of where the system does not let it. */
static void test_small_stack(void **state) {
  static const char *const words[] = {"-Ss 64", "-s 256"}; /* root may do more than a limit says */

  (void)state;
  for (size_t i = 0; i < COUNT(words); i++) {
    char line[200];
    run_result r;
    snprintf(line, sizeof line,
             "ulimit %s; exec \"$LATHE_BENCH\" --op exp --backend scalar --threads 2 --size 1M "
             "--check-only",
             words[i]);
    r = RUN(tree_root(), "sh", "-c", line);
    if (r.status == RIGHT)
      assert_has(r.out, "0 wrong");
    else
      assert_refused(&r, "bench: the stack may have 256 KiB, and kernels need 1024: raise its "
                         "limit, as by `ulimit -s 8192`\n");
    run_free(&r);
  }
}

const struct CMUnitTest features_tests[] = {
    TEST(test_missing_instruction_set), TEST(test_less_of_a_processor), TEST(test_unknown_feature),
    TEST(test_too_large_for_memory),    TEST(test_small_stack),
};
const size_t features_test_count = COUNT(features_tests);
