/* test_threads.c - calls that are cut into parts for threads: the parts of made-up variants, whose kernels look at what
 * they are given, and rows of the bench program. */
#include <stdlib.h>
#include <string.h>

#include "library/dispatch.h"
#include "nest.h"
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

/* y[column] = the sum of x's row of that number, all of whose numbers are added to one in the workspace before. */
enum { COMMON = 64 };
static float *own[MOST_PARTS];
static int phases_run[2];

static double common(const size_t *dim) {
  return (double)(dim[0] > 0 ? COMMON : 0);
}

static double shared_room(const size_t *dim) {
  return common(dim) + 40;
}

static size_t shared_parts(const size_t *dim, int phase) {
  return phase == 0 ? 2 : dim[0];
}

static void add_up(const lathe_args *args) {
  const float *from = args->buf[0];
  float *to = args->buf[2], *of_all = args->workspace;
  float *mine = (float *)((char *)args->workspace + args->part * args->apart) + COMMON / 4;
  size_t row, end;

  refused += args->parts == 0 || args->part >= args->parts || args->phase < phases_run[1] ||
             (size_t)mine % 64 != 0;
  phases_run[0] += args->phase == 0;
  phases_run[1] = args->phase;
  for (size_t other = 0; args->phase == 1 && other < args->part; other++)
    refused += own[other] && labs(own[other] - mine) < 10;
  own[args->part] = mine;
  for (int i = 0; i < 10; i++)
    mine[i] = 7;
  if (args->phase == 0)
    of_all[args->part] = 1;
  lathe_units(args, args->dim[0], &row, &end);
  for (; args->phase == 1 && row < end; row++)
    to[row] += from[row] + of_all[0] + of_all[1];
}

static void parts_of_a_kernels_own_come_in_phases(void **state) {
  (void)state;
  static const lathe_sharing sharing = {2, shared_parts, common};
  static const lathe_variant own_parts = {.name = "add",
                                          .op = &op,
                                          .dtype = LATHE_F32,
                                          .run = add_up,
                                          .workspace = shared_room,
                                          .sharing = &sharing};
  const lathe_threads threads = {.run = run_in_pool};

  for (size_t rows = 2; rows < 40; rows++)
    for (size_t parts = 2; parts <= MOST_PARTS && parts <= rows; parts++) {
      const size_t dim[LATHE_MAX_DIMS] = {rows, COLUMNS};
      const size_t bytes = (size_t)lathe_workspace_of_parts(&own_parts, dim, parts);
      char *workspace = aligned_alloc(64, bytes + 64 - bytes % 64);
      const lathe_args args = {.buf = {x, w, y}, .dim = {rows, COLUMNS}, .workspace = workspace};
      workspace[bytes] = 1;
      memset(y, 0, sizeof y);
      memset(own, 0, sizeof own);
      phases_run[0] = phases_run[1] = refused = 0;
      lathe_run_parts(&own_parts, &args, parts, &threads);
      assert_int_equal(phases_run[0], 2);
      assert_int_equal(phases_run[1], 1);
      assert_int_equal(refused, 0);
      assert_int_equal(workspace[bytes], 1);
      for (size_t i = 0; i < 2 * rows; i++)
        assert_true(y[i] == (i < rows ? x[i] + 2 : 0));
      free(workspace);
    }
}

/* Each point of a nest's step is of one part. */
static void parts_of_a_nest_have_all_its_points(void **state) {
  (void)state;
  static const size_t dims[][3] = {{1, 7, 300}, {5, 1, 1}, {3, 40, 2}, {2, 9, 9}};
  static unsigned char seen[2100];

  for (size_t d = 0; d < COUNT(dims); d++)
    for (int along = -1; along < 3; along++)
      for (size_t parts = 1; parts <= MOST_PARTS; parts++) {
        lathe_args args = {.dim = {dims[d][0], dims[d][1], dims[d][2]}, .parts = parts};
        memset(seen, 0, sizeof seen);
        for (; args.part < parts; args.part++) {
          const lathe_box box = lathe_box_of(&args, 7, along, 16);
          for (size_t i = box.from[0]; i < box.to[0]; i++)
            for (size_t j = box.from[1]; j < box.to[1]; j++)
              for (size_t k = box.from[2]; k < box.to[2]; k++)
                seen[(i * dims[d][1] + j) * dims[d][2] + k]++;
        }
        for (size_t i = 0; i < dims[d][0] * dims[d][1] * dims[d][2]; i++)
          assert_int_equal(seen[i], 1);
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
    cmocka_unit_test(parts_of_a_kernels_own_come_in_phases),
    cmocka_unit_test(parts_of_a_nest_have_all_its_points),
    cmocka_unit_test(small_calls_and_others_are_not_cut),
    TEST(rows_say_how_many_threads),
};
const size_t threads_test_count = sizeof threads_tests / sizeof *threads_tests;
