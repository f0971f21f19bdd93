/* test_threads.c - calls that are cut into parts for threads: the parts of made-up variants, whose kernels look at what
 * they are given, and rows of the bench program. */
#include <stdlib.h>
#include <string.h>

#include "library/dispatch.h"
#include "run_bench.h"
#include "tests.h"

enum { ROWS = 600, COLUMNS = 700, MOST_PARTS = 9 };

static float x[ROWS * COLUMNS], w[COLUMNS], y[ROWS * COLUMNS];
static int calls, refused;
static const char *taken[MOST_PARTS]; /* workspaces */

/* y += x + w, and the workspace is written from end to end. */
static double room(const size_t *dim) {
  return (double)(dim[0] % 7 * 100 + 10);
}

static void add(const lathe_args *args) {
  const float *from = args->buf[0], *shift = args->buf[1];
  float *to = args->buf[2];
  const size_t columns = args->dim[1];

  for (int i = 0; i < calls; i++)
    refused += labs((char *)args->workspace - taken[i]) < (long)room(args->dim);
  taken[calls++] = args->workspace;
  refused += (to - y) % 64 != 0 || (size_t)args->workspace % 64 != 0 || args->scalar[0] != 3;
  memset(args->workspace, 7, (size_t)room(args->dim));
  for (size_t i = 0; i < args->dim[0] * columns; i++)
    to[i] += from[i] + shift[i % columns];
}

static const lathe_operand operands[] = {
    {.name = "x", .dtype = LATHE_VARIANT_DTYPE, .ndim = 2, .dim = {0, 1}},
    {.name = "w", .dtype = LATHE_VARIANT_DTYPE, .ndim = 1, .dim = {1}},
    {.name = "y", .dtype = LATHE_VARIANT_DTYPE, .output = true, .ndim = 2, .dim = {0, 1}},
};
static const lathe_op op = {
    .name = "add", .ndim = 2, .noperands = 3, .operands = operands, .cut = 1};
static const lathe_variant variant = {
    .name = "add", .op = &op, .dtype = LATHE_F32, .run = add, .workspace = room};

static void run_in_pool(void *pool, lathe_part_fn *work, void *context, size_t parts) {
  (void)pool;
  for (size_t nth = parts; nth-- > 0;) /* in any order */
    work(context, nth);
}

static void parts_are_all_of_a_call(void **state) {
  (void)state;
  const lathe_threads threads = {.run = run_in_pool};

  for (size_t i = 0; i < ROWS * COLUMNS; i++)
    x[i] = (float)i;
  for (size_t i = 0; i < COLUMNS; i++)
    w[i] = -(float)i;
  for (size_t rows = ROWS - 9; rows <= ROWS; rows++)
    for (size_t parts = 1; parts <= MOST_PARTS; parts++) {
      const size_t dim[LATHE_MAX_DIMS] = {rows, COLUMNS};
      const size_t bytes = (size_t)lathe_workspace_of_parts(&variant, dim, parts);
      char *workspace = aligned_alloc(64, bytes + 64 - bytes % 64);
      lathe_args args = {
          .buf = {x, w, y}, .scalar = {3}, .dim = {rows, COLUMNS}, .workspace = workspace};
      workspace[bytes] = 1;
      memset(y, 0, sizeof y);
      calls = refused = 0;
      lathe_run_parts(&variant, &args, parts, &threads);
      assert_int_equal(calls, parts);
      assert_int_equal(refused, 0);
      assert_int_equal(workspace[bytes], 1);
      for (size_t i = 0; i < ROWS * COLUMNS; i++)
        assert_true(y[i] == (i < rows * COLUMNS ? x[i] + w[i % COLUMNS] : 0));
      free(workspace);
    }
}

static void small_calls_and_others_are_not_cut(void **state) {
  (void)state;
  static const lathe_op whole = {.name = "sum", .ndim = 2, .noperands = 3, .operands = operands};
  lathe_variant other = variant;
  const size_t large[LATHE_MAX_DIMS] = {1 << 12, 1 << 10}, few[LATHE_MAX_DIMS] = {100, 1 << 20};
  const size_t small[LATHE_MAX_DIMS] = {1 << 8, 8};

  assert_int_equal(lathe_parts(&variant, large, 0), 1);
  assert_int_equal(lathe_parts(&variant, large, 1), 1);
  assert_int_equal(lathe_parts(&variant, large, 5), 5);
  assert_int_equal(lathe_parts(&variant, few, 5), 1);
  assert_int_equal(lathe_parts(&variant, small, 5), 1);
  other.op = &whole;
  assert_int_equal(lathe_parts(&other, large, 5), 1);
  other.op = &op;
  other.run = NULL; /* it runs elsewhere */
  assert_int_equal(lathe_parts(&other, large, 5), 1);
}

static void rows_say_how_many_threads(void **state) {
  (void)state;
  json_t *root;

  run_result r = BENCH("--op", "add", "--backend", "scalar", "--size", "100,2^20", "--threads", "2",
                       "--check-only", "--json", "j");
  const json_t *rows = rows_of(&r, &root);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    assert_true(number_of(row, "threads") == (strcmp(text_of(row, "size"), "100") == 0 ? 1 : 2));
  }
  json_decref(root);
  run_free(&r);
  run_result unasked =
      BENCH("--op", "add", "--backend", "scalar", "--size", "2^20", "--check-only", "--json", "j");
  assert_true(number_of(json_array_get(rows_of(&unasked, &root), 0), "threads") == 1);
  json_decref(root);
  run_free(&unasked);
  run_result many = BENCH("--op", "add", "--threads", "257");
  assert_refused(&many,
                 "bench: --threads takes a whole number from 0 to 256, and was given '257'\n");
  run_free(&many);
}

const struct CMUnitTest threads_tests[] = {
    cmocka_unit_test(parts_are_all_of_a_call),
    cmocka_unit_test(small_calls_and_others_are_not_cut),
    TEST(rows_say_how_many_threads),
};
const size_t threads_test_count = sizeof threads_tests / sizeof *threads_tests;
