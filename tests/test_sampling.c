/* test_sampling.c - results that are checked at some places and by Freivalds' test, as those of large contractions are:
 * right ones pass, and what a kernel may do wrong in one place, a row, a tile or everywhere is found. */
#include "tests.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "devices/cpu/device.h"
#include "library/dtype.h"
#include "problem/random.h"
#include "problem/sampling.h"
#include "library/bench.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { M = 251, N = 257, K = 192, SEED = 20261123 };
static const double few =
    1e6; /* operations of 2 * M * N * K that a reference of all results may take here */

static const unsigned drawn[] = {0, RANDOM_NARROW | RANDOM_SCALARS}; /* as job.c has it */

static const lathe_op *op_called(const char *name) {
  for (size_t i = 0; i < lathe_op_count; i++)
    if (strcmp(lathe_ops[i].name, name) == 0 && lathe_ops[i].bench->reference_f64)
      return &lathe_ops[i];
  return NULL;
}

/* a @ b of one batch as kernels compute it: terms added in their order, in the type that is computed in; of `terms`
 * terms. */
static void multiply(lathe_dtype dtype, const double *a, const double *b, size_t terms, double *c) {
  for (size_t i = 0; i < M * N; i++)
    c[i] = 0;
  for (size_t i = 0; i < M; i++)
    for (size_t k = 0; k < terms; k++)
      for (size_t j = 0; j < N; j++) {
        const double sum = c[i * N + j] + a[i * K + k] * b[k * N + j];
        c[i * N + j] = dtype == LATHE_F64 ? sum : (float)sum;
      }
}

/* What a right kernel leaves of matmul and of matmul_batched in its output's type, of fewer terms where that is wanted;
 * of other ops what is expected. */
static char *result_of(const problem *p, int output, size_t terms) {
  const bool batched = p->op->ndim == 4;
  char *result = malloc(p->bytes[output]);
  double *a, *b, *c;

  assert_non_null(result);
  if (strncmp(p->op->name, "matmul", 6) != 0) {
    problem *whole;
    const char *why;
    sampling_beyond(1e30);
    whole = problem_make(p->op, p->dtype, p->dim, p->seed, p->special, &why);
    sampling_beyond(few);
    assert_non_null(whole);
    for (size_t i = 0; i < whole->elements[output]; i++) {
      const double value = (double)problem_expected(whole, output, i);
      lathe_dtype_narrow(p->dtype, &value, 1, result + i * lathe_dtype_size(p->dtype));
    }
    problem_free(whole);
    return result;
  }
  a = malloc(p->elements[0] * sizeof *a);
  b = malloc(p->elements[1] * sizeof *b);
  c = malloc(p->elements[2] * sizeof *c);
  assert_true(a && b && c);
  lathe_dtype_widen(p->dtype, p->input[0], p->elements[0], a);
  lathe_dtype_widen(p->dtype, p->input[1], p->elements[1], b);
  for (size_t batch = 0; batch < (batched ? p->dim[0] : 1); batch++)
    multiply(p->dtype, a + batch * M * K, b + batch * K * N, terms, c + batch * M * N);
  lathe_dtype_narrow(p->dtype, c, p->elements[2], result);
  free(a);
  free(b);
  free(c);
  return result;
}

/* ---- a kernel that leaves results made up here ------------------------------------------------------- */

static const char *made_up;
static const problem *made_of;

static void leave(const lathe_args *args) {
  for (int o = 0; o < made_of->op->noperands; o++)
    if (made_of->op->operands[o].output)
      memcpy(args->buf[o], made_up, made_of->bytes[o]);
}

static check_result judge(const problem *p, const char *result) {
  const lathe_backend backend = {.name = "planted"};
  const lathe_variant v = {
      .name = "planted", .op = p->op, .backend = &backend, .dtype = p->dtype, .run = leave};

  made_up = result;
  made_of = p;
  return check_variant(device_cpu(), &v, p, (device_layout){0});
}

static problem *make(const char *name, lathe_dtype dtype, uint64_t seed, unsigned special) {
  static const size_t one[] = {M, N, K}, several[] = {3, M, N, K};
  const lathe_op *op = op_called(name);
  const char *why;
  problem *p;

  if (!op) /* left out of this build */
    return NULL;
  sampling_beyond(few);
  p = problem_make(op, dtype, op->ndim == 4 ? several : one, seed, special, &why);
  if (!p)
    fail_msg("%s: %s", name, why);
  assert_non_null(p->sample);
  return p;
}

/* ---- what may be wrong --------------------------------------------------------------------------------- */

typedef struct fault {
  const char *what;
  size_t row, rows, column, columns; /* of the last batch */
  ptrdiff_t from;                    /* results that many further on stand there; 0: zeros */
  size_t terms;                      /* not 0: all are of so many terms */
} fault;

static const fault faults[] = {
    {"one result that is zero", 100, 1, 100, 1, 0, 0},
    {"another", 249, 1, 255, 1, 0, 0},
    {"a row of zeros", 77, 1, 0, N, 0, 0},
    {"a row that is the next one's", 78, 1, 0, N, N, 0},
    {"a part of a row", 79, 1, 128, 64, N, 0},
    {"a column that is the next one's", 0, M, 33, 1, 1, 0},
    {"a tile that was not written", 240, 11, 240, 16, 0, 0},
    {"a tile that is another's", 64, 16, 64, 16, 16, 0},
    {"the last block of terms left out", 0, 0, 0, 0, 0, K - 16},
    {"a term left out", 0, 0, 0, 0, 0, K - 1},
};

static void plant(const fault *f, const problem *p, const char *right, char *result) {
  const size_t size = lathe_dtype_size(p->dtype), matrix = M * N * size;
  const int output = p->op->noperands - 1;
  char *last = result + p->bytes[output] - matrix;

  for (size_t i = f->row; i < f->row + f->rows; i++) {
    char *at = last + (i * N + f->column) * size;
    if (f->from)
      memcpy(at, right + (at - result) + f->from * (ptrdiff_t)size, f->columns * size);
    else
      memset(at, 0, f->columns * size);
  }
}

/* Whether a fault is found in one of the two problems that each size is checked with; text: how, at last. */
static bool finds(const char *op, lathe_dtype dtype, const fault *f, char *text, size_t size) {
  bool found = false;

  for (size_t i = 0; i < COUNT(drawn) && !found; i++) {
    problem *p = make(op, dtype, SEED + i, drawn[i]);
    const int output = p->op->noperands - 1;
    char *right = result_of(p, output, f->terms ? f->terms : K), *result = malloc(p->bytes[output]);
    check_result r;
    assert_non_null(result);
    memcpy(result, right, p->bytes[output]);
    plant(f, p, right, result);
    r = judge(p, result);
    found = r.verdict == CHECK_WRONG;
    snprintf(text, size, "%s", r.message);
    free(right);
    free(result);
    problem_free(p);
  }
  return found;
}

static const lathe_dtype dtypes[] = {LATHE_F32, LATHE_F64, LATHE_F16, LATHE_BF16};

static void test_right_results_pass(void **state) {
  static const char *const ops[] = {"matmul", "matmul_batched", "linear", "linear_gelu"};

  (void)state;
  for (size_t i = 0; i < COUNT(ops); i++)
    for (size_t d = 0; d < COUNT(dtypes) && op_called(ops[i]); d++)
      for (uint64_t seed = 1; seed <= 3; seed++) {
        const int special = seed % 2;
        problem *p = make(ops[i], dtypes[d], seed, drawn[special]);
        char *result = result_of(p, p->op->noperands - 1, K);
        const check_result r = judge(p, result);
        if (r.verdict != CHECK_RIGHT || r.message[0])
          fail_msg("%s %s: %s", ops[i], lathe_dtype_name(dtypes[d]), r.message);
        assert_non_null(strstr(r.checked, " elements"));
        assert_int_equal(strstr(r.checked, "Freivalds") != NULL,
                         strcmp(ops[i], "linear_gelu") != 0);
        free(result);
        problem_free(p);
      }
  sampling_beyond(0);
}

static void test_faults_are_found(void **state) {
  static const char *const ops[] = {"matmul", "matmul_batched"};
  char text[768];

  (void)state;
  for (size_t i = 0; i < COUNT(ops); i++)
    for (size_t d = 0; d < COUNT(dtypes) && op_called(ops[i]); d++)
      for (size_t f = 0; f < COUNT(faults); f++)
        if (!finds(ops[i], dtypes[d], &faults[f], text, sizeof text))
          fail_msg("%s %s: %s is not found", ops[i], lathe_dtype_name(dtypes[d]), faults[f].what);
  sampling_beyond(0);
}

/* An epilogue that is not linear leaves the test out: rows, columns and tiles are found all the same. */
static void test_faults_behind_an_epilogue(void **state) {
  char text[768];

  (void)state;
  for (size_t f = 0; f < COUNT(faults) && op_called("linear_gelu"); f++)
    if ((faults[f].rows > 1 || faults[f].columns == N) &&
        !finds("linear_gelu", LATHE_F32, &faults[f], text, sizeof text))
      fail_msg("linear_gelu: %s is not found", faults[f].what);
  sampling_beyond(0);
}

static void test_messages(void **state) {
  const fault one = {"", 100, 1, 100, 1, 0, 0}, corner = {"", M - 1, 1, N - 1, 1, 0, 0};
  char text[768];

  (void)state;
  if (!op_called("matmul"))
    skip();
  assert_true(finds("matmul", LATHE_F32, &one, text, sizeof text));
  assert_non_null(strstr(text, "c[100,"));
  assert_non_null(strstr(text, ", with signs that the seed drew, come to "));
  assert_non_null(strstr(text, "such sums wrong; m = 251, n = 257, k = 192; seed "));
  assert_true(finds("matmul", LATHE_F32, &corner, text, sizeof text));
  assert_non_null(strstr(text, "c[250,256] is 0, expected "));
  assert_non_null(strstr(text, " that the seed drew are wrong"));
  sampling_beyond(0);
}

/* Tensor cores cut off what they add: so much of 8192 terms was lost on an H200. In f32 nothing is allowed to. */
static void test_terms_cut_off(void **state) {
  static const size_t dim[] = {3, 40, 8192};
  const double units = 730;
  const lathe_op *op = op_called("matmul");

  (void)state;
  for (size_t d = 0; d < COUNT(dtypes) && op; d++) {
    const bool narrow = lathe_dtype_is_narrow(dtypes[d]);
    const char *why;
    problem *p = problem_make(op, dtypes[d], dim, SEED, RANDOM_NARROW | RANDOM_SCALARS, &why);
    char *result;
    assert_non_null(p);
    result = malloc(p->bytes[2]);
    assert_non_null(result);
    for (size_t i = 0; i < p->elements[2]; i++) {
      const double exact = (double)problem_expected(p, 2, i),
                   short_of = exact * (1 - units * 0x1p-23);
      lathe_dtype_narrow(dtypes[d], &short_of, 1, result + i * lathe_dtype_size(dtypes[d]));
    }
    assert_int_equal(judge(p, result).verdict, narrow ? CHECK_RIGHT : CHECK_WRONG);
    free(result);
    problem_free(p);
  }
}

/* What all of it takes is what its parts do, so that a problem which has room is made. */
static void test_costs(void **state) {
  static const size_t large[] = {8192, 8192, 8192}, small[] = {256, 256, 256};
  const lathe_op *op = op_called("matmul");

  (void)state;
  if (!op)
    skip();
  assert_true(sampling_is_wanted(op, LATHE_F32, large));
  assert_true(!sampling_is_wanted(op, LATHE_F32, small));
  assert_true(problem_cost(op, LATHE_F32, large) < 3e9);
  assert_true(problem_cost(op, LATHE_F32, large) > 2 * 8192.0 * 8192 * 4);
}

const struct CMUnitTest sampling_tests[] = {
    {"sampling: right results pass", test_right_results_pass, NULL, NULL, NULL},
    {"sampling: faults are found", test_faults_are_found, NULL, NULL, NULL},
    {"sampling: faults behind an epilogue are found", test_faults_behind_an_epilogue, NULL, NULL,
     NULL},
    {"sampling: messages name the place", test_messages, NULL, NULL, NULL},
    {"sampling: terms that tensor cores cut off", test_terms_cut_off, NULL, NULL, NULL},
    {"sampling: costs", test_costs, NULL, NULL, NULL},
};
const size_t sampling_test_count = COUNT(sampling_tests);
