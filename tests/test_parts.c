/* test_parts.c - that what all processors do in parts is the same whatever their number, and that what is wrong in any
 * part is found. */
#include "tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"
#include "check/judge.h"
#include "library/dtype.h"
#include "problem/random.h"
#include "problem/solve.h"
#include "library/bench.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int restore_threads(void **state) {
  (void)state;
  pool_use(0);
  return 0;
}

/* ---- the pool -------------------------------------------------------------------------------- */

enum { PARTS = 1000 };

static void count_part(void *context, size_t part, int thread) {
  int *counts = context;

  assert_true(thread >= 0 && thread < pool_threads());
  counts[part]++;
}

static void test_each_part_is_done_once(void **state) {
  (void)state;
  for (int threads = 1; threads <= 9; threads += 2) {
    int counts[PARTS] = {0};
    pool_use(threads);
    for (size_t parts = 0; parts <= PARTS; parts += parts < 10 ? 1 : 110) {
      memset(counts, 0, sizeof counts);
      pool_run(count_part, counts, parts);
      for (size_t i = 0; i < PARTS; i++)
        assert_int_equal(counts[i], i < parts);
    }
  }
}

/* The child has none of its parent's threads. */
static void test_pool_survives_a_fork(void **state) {
  int counts[PARTS] = {0}, status = 0;
  pid_t child;

  (void)state;
  pool_use(3);
  pool_run(count_part, counts, PARTS);
  child = fork();
  if (child == 0) {
    alarm(20);
    pool_run(count_part, counts, PARTS);
    _exit(counts[PARTS - 1] == 2 ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static void test_memory_in_parts(void **state) {
  const size_t bytes = (5u << 20) + 77;
  unsigned char *a = memory_make(bytes), *b = memory_make(bytes);
  const size_t places[] = {0, 1, (1u << 20) - 1, 1u << 20, bytes - 1};
  uint64_t sum;

  (void)state;
  pool_use(3);
  memory_fill(a, 0xfb, bytes);
  memory_copy(b, a, bytes);
  assert_int_equal(memory_differs(a, b, bytes), bytes);
  sum = memory_sum(a, bytes, 1);
  assert_true(memory_sum(b, bytes, 1) == sum && memory_sum(b, bytes, 2) != sum);
  for (size_t i = COUNT(places); i-- > 0;) { /* each is before those that there are */
    assert_int_equal(a[places[i]], 0xfb);
    b[places[i]] = 0;
    assert_int_equal(memory_differs(a, b, bytes), places[i]);
    assert_true(memory_sum(b, bytes, 1) != sum);
    sum = memory_sum(b, bytes, 1);
  }
  memory_fill(a, 1, 1u << 20); /* two parts change places */
  memory_copy(b, a, bytes);
  memory_fill(a + (1u << 20), 2, 1u << 20);
  memory_fill(b, 2, 1u << 20);
  memory_fill(b + (1u << 20), 1, 1u << 20);
  assert_true(memory_sum(a, bytes, 1) != memory_sum(b, bytes, 1));
  free(a);
  free(b);
}

/* ---- problems -------------------------------------------------------------------------------- */

static problem *solve_with(int threads, const lathe_op *op, lathe_dtype dtype, const size_t *dim,
                           unsigned special) {
  const char *why;
  problem *p;

  pool_use(threads);
  p = problem_make(op, dtype, dim, 20261123, special, &why);
  assert_non_null(p);
  return p;
}

/* Long doubles have bytes that mean nothing. */
static void expect_same_numbers(const problem *p, const void *a, const void *b, size_t count) {
  if (!p->wide) {
    assert_memory_equal(a, b, count * sizeof(double));
    return;
  }
  for (size_t i = 0; i < count; i++) {
    const long double x = problem_number(p, a, i), y = problem_number(p, b, i);
    assert_true(x == y || (isnan(x) && isnan(y)));
  }
}

static void expect_same(const problem *a, const problem *b) {
  for (int o = 0; o < a->op->noperands; o++) {
    const bool floating =
        lathe_dtype_numeric(lathe_dtype_of_operand(&a->op->operands[o], a->dtype));
    if (a->input[o])
      assert_memory_equal(a->input[o], b->input[o], a->bytes[o]);
    if (a->expected[o] && floating)
      expect_same_numbers(a, a->expected[o], b->expected[o], a->elements[o]);
    else if (a->expected[o])
      assert_memory_equal(a->expected[o], b->expected[o], a->bytes[o]);
    if (a->magnitude[o])
      expect_same_numbers(a, a->magnitude[o], b->magnitude[o], a->elements[o]);
    if (a->term[o])
      expect_same_numbers(a, a->term[o], b->term[o], a->elements[o]);
  }
}

/* More points than a part of any kind has; where there are rows, many and a few. Of many dimensions the first are
 * small. */
static void shape(const lathe_op *op, bool wide, size_t *dim) {
  for (int d = 0; d < op->ndim; d++)
    dim[d] = op->ndim == 1                 ? 40009
             : op->ndim > 4                ? (d < op->ndim - 4 ? 2 : 23)
             : (d == op->ndim - 1) == wide ? 131
                                           : 67;
}

static void test_results_do_not_depend_on_threads(void **state) {
  static const lathe_dtype dtypes[] = {LATHE_F32, LATHE_F16, LATHE_F64};
  static const int threads[] = {2, 3, 7};
  const unsigned specials[] = {0, RANDOM_NAN | RANDOM_INF | RANDOM_ALONE};

  (void)state;
  for (size_t k = 0; k < lathe_op_count; k++)
    for (size_t t = 0; t < COUNT(dtypes) && problem_has_reference(&lathe_ops[k], dtypes[t]); t++)
      for (size_t s = 0; s < COUNT(specials); s++) {
        const lathe_op *op = &lathe_ops[k];
        size_t dim[LATHE_MAX_DIMS];
        problem *one;
        shape(op, (k + t + s) % 2, dim);
        one = solve_with(1, op, dtypes[t], dim, specials[s]);
        for (size_t i = 0; i < COUNT(threads); i++) {
          problem *more = solve_with(threads[i], op, dtypes[t], dim, specials[s]);
          expect_same(one, more);
          problem_free(more);
        }
        problem_free(one);
      }
}

static void test_numbers_do_not_depend_on_threads(void **state) {
  enum { N = 100003, PART = 64 * 256 /* of random.c */ };
  float *one = malloc(N * sizeof *one), *more = malloc(N * sizeof *more);

  (void)state;
  for (int threads = 1; threads <= 7; threads += threads < 3 ? 1 : 4) {
    pool_use(threads);
    random_fill(LATHE_F32, threads == 1 ? one : more, N, 101, -1, 3, 5, 1, RANDOM_ZERO);
    if (threads > 1)
      assert_memory_equal(one, more, N * sizeof *one);
  }
  /* They depend on their place: fewer are the same, and no part is like another. */
  random_fill(LATHE_F32, more, PART + 10, 101, -1, 3, 5, 1, RANDOM_ZERO);
  assert_memory_equal(one, more, (PART + 10) * sizeof *one);
  random_fill(LATHE_F32, more, PART + 10, 101, -1, 3, 5, 1, 0);
  assert_memory_not_equal(more, more + PART, 10 * sizeof *more);
  free(one);
  free(more);
}

static const lathe_op *op_called(const char *name) {
  for (size_t i = 0; i < lathe_op_count; i++)
    if (strcmp(lathe_ops[i].name, name) == 0)
      return &lathe_ops[i];
  fail_msg("there is no op %s", name);
  return NULL;
}

/* ---- sums and the like that are joined -------------------------------------------------------- */

enum { BLOCK = 8192 /* of reference.h */, MANY = 5 * BLOCK + 11 };

/* A problem of an op of one input of one dimension, in f32, whose inputs are given. */
static problem *reduce(const char *name, const float *x) {
  const size_t n = MANY;
  problem *p = solve_with(3, op_called(name), LATHE_F32, &n, 0);

  memcpy(p->input[0], x, MANY * sizeof *x);
  assert_true(problem_solve(p));
  return p;
}

/* What cancels between blocks is kept: 2^60 and its like leave nothing of their own. */
static void test_joined_sums_carry_their_errors(void **state) {
  float *x = malloc(MANY * sizeof *x);
  double sum = 0;
  problem *p;

  (void)state;
  for (size_t i = 0; i < MANY; i++) {
    x[i] = (float)(i % 7) * 0x1p-20f;
    sum += x[i];
  }
  sum -= (double)x[1] + (double)x[BLOCK + 1] + (double)x[4 * BLOCK];
  x[1] = 0x1p60f;
  x[BLOCK + 1] = -0x1p61f;
  x[4 * BLOCK] = 0x1p60f;
  p = reduce("sum", x);
  assert_true((double)problem_expected(p, 1, 0) == sum);
  problem_free(p);
  free(x);
}

static void test_the_first_index_wins(void **state) {
  static const struct {
    size_t first, second;
    float value;
    int64_t found;
  } cases[] = {
      {3, BLOCK + 3, 9, 3},
      {BLOCK - 1, BLOCK, 9, BLOCK - 1},
      {BLOCK, 2 * BLOCK, 9, BLOCK},
      {MANY - 2, MANY - 1, 9, MANY - 2},
      {5 * BLOCK, MANY - 1, NAN, 5 * BLOCK},
      {BLOCK, 3 * BLOCK, NAN, BLOCK},
  };
  float *x = malloc(MANY * sizeof *x);

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    problem *p;
    memset(x, 0, MANY * sizeof *x);
    x[0] = isnan(cases[i].value) ? 100 : 0;
    x[cases[i].first] = x[cases[i].second] = cases[i].value;
    p = reduce("argmax", x);
    assert_true((int64_t)problem_expected(p, 1, 0) == cases[i].found);
    problem_free(p);
  }
  free(x);
}

static void test_columns_are_joined(void **state) {
  enum { ROWS = 2 * BLOCK + 5, COLUMNS = 131 };
  const size_t dim[LATHE_MAX_DIMS] = {ROWS, COLUMNS};
  problem *sum = solve_with(3, op_called("column_sum"), LATHE_F32, dim, 0);
  problem *largest = solve_with(3, op_called("column_max"), LATHE_F32, dim, 0);
  const float *x = sum->input[0], *y = largest->input[0];

  (void)state;
  for (size_t c = 0; c < COLUMNS; c++) {
    long double total = 0, most = -INFINITY;
    for (size_t r = 0; r < ROWS; r++) {
      total += x[r * COLUMNS + c];
      most = fmaxl(most, y[r * COLUMNS + c]);
    }
    assert_true(problem_expected(sum, 1, c) == (double)total);
    assert_true(problem_expected(largest, 1, c) == most);
  }
  problem_free(sum);
  problem_free(largest);
}

/* ---- judging --------------------------------------------------------------------------------- */

/* What a right kernel leaves. */
static float *right_result(const problem *p, int o) {
  float *result = malloc(p->bytes[o]);

  lathe_dtype_narrow(LATHE_F32, p->expected[o], p->elements[o], result);
  return result;
}

static void test_one_wrong_element_is_found_in_any_part(void **state) {
  enum { PART = 64 * 256 /* of judge.c */ };
  const size_t n = 3 * PART + 5;
  const size_t places[] = {0, 255, 256, PART - 1, PART, 2 * PART - 1, 3 * PART, n - 1};
  const lathe_op *op = op_called("add");

  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    problem *p = solve_with(threads, op, LATHE_F32, &n, 0);
    float *got = right_result(p, 2);
    judgement j = judge_output(p, NULL, 2, got);
    assert_true(judge_is_right(&j));
    for (size_t i = 0; i < COUNT(places); i++) {
      const float kept = got[places[i]];
      got[places[i]] = kept * 1.001f + 1e-3f;
      j = judge_output(p, NULL, 2, got);
      assert_int_equal(j.wrong, 1);
      assert_int_equal(j.at, places[i]);
      got[n - 1] = NAN; /* the first of two is told */
      j = judge_output(p, NULL, 2, got);
      assert_int_equal(j.wrong, places[i] == n - 1 ? 1 : 2);
      assert_int_equal(j.at, places[i]);
      got[n - 1] = (float)((const double *)p->expected[2])[n - 1];
      got[places[i]] = kept;
    }
    free(got);
    problem_free(p);
  }
}

/* Of results with special numbers and small ones too: what the two ways of judging share. */
static void test_judgements_do_not_depend_on_threads(void **state) {
  const size_t dim[LATHE_MAX_DIMS] = {67, 1031};
  const lathe_op *op = op_called("softmax");

  (void)state;
  for (unsigned special = 0; special < 16; special += 3) {
    problem *p = solve_with(1, op, LATHE_F32, dim, special | RANDOM_ALONE);
    float *got = right_result(p, 1);
    judgement one, more;
    got[7] *= 2;
    got[66 * 1031] *= 1.5f;
    one = judge_output(p, NULL, 1, got);
    for (int threads = 2; threads <= 7; threads += 5) {
      pool_use(threads);
      more = judge_output(p, NULL, 1, got);
      assert_memory_equal(&one, &more, sizeof one);
    }
    free(got);
    problem_free(p);
  }
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Rows of which so many are solved one slice after the other have the results that they have at once. */
static void test_slices_are_the_same(void **state) {
  enum { ROWS = 1500000, COLUMNS = 3, NUMBERS = ROWS * COLUMNS };
  const size_t dim[LATHE_MAX_DIMS] = {ROWS, COLUMNS};
  const lathe_op *op = op_called("softmax");
  problem *p = solve_with(2, op, LATHE_F32, dim, 0);
  double *y = malloc(2 * NUMBERS * sizeof *y), *magnitude = y + NUMBERS;
  const reference_part part = {.args = {.buf = {p->input[0], y, magnitude}, .dim = {ROWS, COLUMNS}},
                               .read = solve_reader(false),
                               .type = {LATHE_F32},
                               .unit = 0x1p-23};

  (void)state;
  assert_true(solve_cost(op, LATHE_F32, dim, false) <= 0x1p26);
  assert_true(solve_by(op->bench->reference_f64, &part, sizeof *y));
  assert_memory_equal(y, p->expected[1], NUMBERS * sizeof *y);
  assert_memory_equal(magnitude, p->magnitude[1], NUMBERS * sizeof *y);
  problem_free(p);
  free(y);
}

const struct CMUnitTest parts_tests[] = {
    cmocka_unit_test_teardown(test_each_part_is_done_once, restore_threads),
    cmocka_unit_test_teardown(test_pool_survives_a_fork, restore_threads),
    cmocka_unit_test_teardown(test_memory_in_parts, restore_threads),
    cmocka_unit_test_teardown(test_results_do_not_depend_on_threads, restore_threads),
    cmocka_unit_test_teardown(test_numbers_do_not_depend_on_threads, restore_threads),
    cmocka_unit_test_teardown(test_joined_sums_carry_their_errors, restore_threads),
    cmocka_unit_test_teardown(test_the_first_index_wins, restore_threads),
    cmocka_unit_test_teardown(test_columns_are_joined, restore_threads),
    cmocka_unit_test_teardown(test_one_wrong_element_is_found_in_any_part, restore_threads),
    cmocka_unit_test_teardown(test_judgements_do_not_depend_on_threads, restore_threads),
    cmocka_unit_test_teardown(test_slices_are_the_same, restore_threads),
};
const size_t parts_test_count = COUNT(parts_tests);
