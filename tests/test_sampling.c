/* test_sampling.c - results of inputs that repeat, as those of large contractions do: right ones pass, and what a
 * kernel may do wrong in one place, a row, a tile or everywhere is found. */
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

/* The same problem, of which all results are expected. */
static problem *whole_of(const problem *p) {
  problem *whole = problem_copy(p);

  assert_non_null(whole);
  assert_true(problem_solve(whole));
  return whole;
}

/* What a right kernel leaves of matmul and of matmul_batched in its output's type, of fewer terms where that is wanted;
 * of other ops what is expected. */
static char *result_of(const problem *p, int output, size_t terms) {
  const bool batched = p->op->ndim == 4;
  char *result = malloc(p->bytes[output]);
  double *a, *b, *c;

  assert_non_null(result);
  if (strncmp(p->op->name, "matmul", 6) != 0) {
    problem *whole = whole_of(p);
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

static const char *made_up[LATHE_MAX_OPERANDS];
static const problem *made_of;

static void leave(const lathe_args *args) {
  for (int o = 0; o < made_of->op->noperands; o++)
    if (made_of->op->operands[o].output)
      memcpy(args->buf[o], made_up[o], made_of->bytes[o]);
}

static check_result judge_made_up(const problem *p) {
  const lathe_backend backend = {.name = "planted"};
  const lathe_variant v = {
      .name = "planted", .op = p->op, .backend = &backend, .dtype = p->dtype, .run = leave};

  made_of = p;
  return check_variant(device_cpu(), &v, p, (device_layout){0});
}

static check_result judge(const problem *p, const char *result) {
  made_up[p->op->noperands - 1] = result;
  return judge_made_up(p);
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

/* The two problems that each size is checked with, and what is right of them. */
typedef struct trials {
  problem *p[COUNT(drawn)];
  char *right[COUNT(drawn)];
} trials;

static trials make_trials(const char *op, lathe_dtype dtype, size_t terms) {
  trials t;

  for (size_t i = 0; i < COUNT(drawn); i++) {
    t.p[i] = make(op, dtype, SEED + i, drawn[i]);
    t.right[i] = result_of(t.p[i], t.p[i]->op->noperands - 1, terms);
  }
  return t;
}

static void free_trials(trials *t) {
  for (size_t i = 0; i < COUNT(drawn); i++) {
    free(t->right[i]);
    problem_free(t->p[i]);
  }
}

/* Whether a fault is found in one of both; text: how, at last. */
static bool finds(const trials *t, const fault *f, char *text, size_t size) {
  bool found = false;

  for (size_t i = 0; i < COUNT(drawn) && !found; i++) {
    const problem *p = t->p[i];
    const int output = p->op->noperands - 1;
    char *result = malloc(p->bytes[output]);
    check_result r;
    assert_non_null(result);
    memcpy(result, t->right[i], p->bytes[output]);
    plant(f, p, t->right[i], result);
    r = judge(p, result);
    found = r.verdict == CHECK_WRONG;
    snprintf(text, size, "%s", r.message);
    free(result);
  }
  return found;
}

static const lathe_dtype dtypes[] = {LATHE_F32, LATHE_F64, LATHE_F16, LATHE_BF16};

static const char *const ops[] = {"matmul", "matmul_batched", "linear", "linear_gelu"};

static void test_right_results_pass(void **state) {
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
        assert_int_equal(strncmp(r.checked, "all; ", 5), 0);
        assert_non_null(strstr(r.checked, " repeat"));
        free(result);
        problem_free(p);
      }
  sampling_beyond(0);
}

static void test_faults_are_found(void **state) {
  char text[768];

  (void)state;
  for (size_t i = 0; i < COUNT(ops); i++)
    for (size_t d = 0; d < COUNT(dtypes) && op_called(ops[i]); d++) {
      const bool product = strncmp(ops[i], "matmul", 6) == 0;
      trials all = make_trials(ops[i], dtypes[d], K);
      for (size_t f = 0; f < COUNT(faults) && (product || faults[f].terms == 0); f++) {
        trials few_terms = faults[f].terms ? make_trials(ops[i], dtypes[d], faults[f].terms) : all;
        if (!finds(&few_terms, &faults[f], text, sizeof text))
          fail_msg("%s %s: %s is not found", ops[i], lathe_dtype_name(dtypes[d]), faults[f].what);
        if (faults[f].terms)
          free_trials(&few_terms);
      }
      free_trials(&all);
    }
  sampling_beyond(0);
}

/* ---- little more than the bound, anywhere ------------------------------------------------------------- */

enum { TILE = 8, DRAWS = 6 };

/* A part of the results that the seed draws: an element, a row, a column, a tile, a batch. */
static fault draw_area(uint64_t seed, int kind, const problem *p, size_t *batch) {
  const size_t rows[] = {1, 1, M, TILE, M}, columns[] = {1, N, 1, TILE, N};
  const size_t matrices = p->elements[p->op->noperands - 1] / (M * N);
  fault f = {.rows = rows[kind], .columns = columns[kind]};

  *batch = random_below(seed, 0, matrices);
  f.row = random_below(seed, 1, M - f.rows + 1);
  f.column = random_below(seed, 2, N - f.columns + 1);
  return f;
}

static double spacing(const dtype_format *f, double value) {
  return ldexp(1, (value != 0 ? ilogb(value) : f->emin) + 1 - f->digits);
}

/* Results that are off by three times what each may be, all to one side. */
static void push_off(const fault *f, const problem *whole, size_t batch, double side,
                     char *result) {
  const int output = whole->op->noperands - 1;
  const dtype_format *stored = lathe_dtype_format_of(whole->dtype),
                     *computed = lathe_dtype_computed(whole->dtype);

  for (size_t i = f->row; i < f->row + f->rows; i++)
    for (size_t j = f->column; j < f->column + f->columns; j++) {
      const size_t at = (batch * M + i) * N + j;
      const double expected = (double)problem_expected(whole, output, at);
      const double magnitude = (double)problem_number(whole, whole->magnitude[output], at);
      const double rounding = lathe_dtype_is_narrow(whole->dtype) ? spacing(stored, expected) : 0;
      const double bound =
          problem_ulp(whole->op, whole->dtype) * spacing(computed, fmax(fabs(expected), magnitude));
      const double off = expected + side * 3 * (bound + rounding / 2);
      lathe_dtype_narrow(whole->dtype, &off, 1, result + at * lathe_dtype_size(whole->dtype));
    }
}

static void test_errors_beyond_the_bound(void **state) {
  static const char *const kinds[] = {"an element", "a row", "a column", "a tile", "a batch"};

  (void)state;
  for (size_t i = 0; i < COUNT(ops); i++)
    for (size_t d = 0; d < COUNT(dtypes) && op_called(ops[i]); d++) {
      problem *p = make(ops[i], dtypes[d], SEED + d, drawn[d % 2]), *whole = whole_of(p);
      const int output = p->op->noperands - 1;
      char *right = result_of(p, output, K), *result = malloc(p->bytes[output]);
      assert_non_null(result);
      for (uint64_t draw = 0; draw < DRAWS * COUNT(kinds); draw++) {
        const int kind = (int)(draw % COUNT(kinds));
        size_t batch;
        const fault f = draw_area(SEED + draw, kind, p, &batch);
        memcpy(result, right, p->bytes[output]);
        push_off(&f, whole, batch, draw / COUNT(kinds) % 2 ? 1 : -1, result);
        if (judge(p, result).verdict != CHECK_WRONG)
          fail_msg("%s %s: %s at %zu of batch %zu, row %zu, column %zu is not found", ops[i],
                   lathe_dtype_name(dtypes[d]), kinds[kind], (size_t)draw, batch, f.row, f.column);
      }
      free(result);
      free(right);
      problem_free(whole);
      problem_free(p);
    }
  sampling_beyond(0);
}

/* By place of a dimension the one of the smaller problem that it is like. */
static void alike(const problem *p, int d, size_t *to) {
  for (size_t nth = 0; nth < sampling_layers(p, 2); nth++) {
    const sampling_layer l = sampling_layer_of(p, 2, nth);
    for (size_t place = 0; place < p->sample->of[2]->dim[d]; place++)
      to[sampling_place(p, &l, d, place)] = place;
  }
}

/* What is taken for another place: all that both have is the same by one seed, but not by the next as well. */
static void test_places_are_told_apart(void **state) {
  static const size_t extents[] = {2, 17, 64, 250, 257, 1021};
  enum { MOST = 1021 };
  const lathe_op *op = op_called("matmul");
  const char *why;

  (void)state;
  for (size_t i = 0; i < COUNT(extents) && op; i++)
    for (uint64_t seed = 0; seed < 40; seed++) {
      const size_t dim[] = {extents[i], extents[COUNT(extents) - 1 - i], 2};
      problem *p[2];
      sampling_beyond(seed % 2 ? 1 : 4.0 * (double)dim[0] * (double)dim[1] / 5);
      for (int n = 0; n < 2; n++)
        p[n] = problem_make(op, LATHE_F32, dim, SEED * seed + (uint64_t)n, drawn[n], &why);
      for (int d = 0; d < 2; d++) {
        size_t like[2][MOST];
        bool seen[MOST][MOST] = {{false}};
        alike(p[0], d, like[0]);
        alike(p[1], d, like[1]);
        for (size_t place = 0; place < dim[d]; place++) {
          bool *both = &seen[like[0][place]][like[1][place]];
          if (*both)
            fail_msg("%zu of %zu: seed %llu takes it for another", place, dim[d],
                     (unsigned long long)(SEED * seed));
          *both = true;
        }
      }
      problem_free(p[0]);
      problem_free(p[1]);
    }
  sampling_beyond(0);
}

/* Outputs of any op that is cut up: right ones pass, and an element of any of them that is another is found. */
static void try_shape(const lathe_op *op, uint64_t seed) {
  enum { LONGEST = 40, SHARE = 6, MOST = 1 << 20 /* operations */ };
  size_t dim[LATHE_MAX_DIMS] = {0};
  char *result[LATHE_MAX_OPERANDS] = {NULL};
  problem *p, *whole;
  check_result r;
  const char *why;

  for (int d = 0; d < op->ndim; d++)
    dim[d] = 1 + random_below(seed, (uint64_t)d, LONGEST);
  for (int d = 0; lathe_contracted_flops(op, dim) > MOST; d = (d + 1) % op->ndim)
    dim[d] = (dim[d] + 1) / 2;
  sampling_beyond(lathe_contracted_flops(op, dim) / SHARE);
  p = problem_make(op, LATHE_F32, dim, seed, drawn[seed % 2], &why);
  assert_non_null(p);
  assert_non_null(p->sample);
  whole = whole_of(p);
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output) {
      const lathe_dtype type = lathe_dtype_of_operand(&op->operands[o], LATHE_F32);
      result[o] = malloc(p->bytes[o]);
      assert_non_null(result[o]);
      for (size_t i = 0; i < p->elements[o]; i++) {
        const double value = (double)problem_expected(whole, o, i);
        lathe_dtype_narrow(type, &value, 1, result[o] + i * lathe_dtype_size(type));
      }
      made_up[o] = result[o];
    }
  r = judge_made_up(p);
  if (r.verdict == CHECK_WRONG)
    fail_msg("%s: %s", op->name, r.message);
  for (int o = 0; o < op->noperands; o++)
    if (result[o]) {
      const size_t size = lathe_dtype_size(lathe_dtype_of_operand(&op->operands[o], LATHE_F32));
      char *at =
          result[o] + random_below(seed, LATHE_MAX_DIMS + (uint64_t)o, p->elements[o]) * size;
      at[size - 1] ^= 0x40; /* in f32 its exponent's first bit */
      r = judge_made_up(p);
      if (r.verdict != CHECK_WRONG)
        fail_msg("%s: seed %llu: another element of %s is not found", op->name,
                 (unsigned long long)seed, op->operands[o].name);
      at[size - 1] ^= 0x40;
    }
  for (int o = 0; o < op->noperands; o++)
    free(result[o]);
  problem_free(whole);
  problem_free(p);
}

static void test_all_contractions(void **state) {
  enum { SEEDS = 40 };
  size_t tried = 0;

  (void)state;
  for (size_t i = 0; i < lathe_op_count; i++) {
    const lathe_op *op = &lathe_ops[i];
    size_t ones[LATHE_MAX_DIMS];
    bool can = problem_has_reference(op, LATHE_F32);
    for (int d = 0; d < op->ndim; d++)
      ones[d] = 1;
    for (int o = 0; o < op->noperands; o++)
      can = can && (!op->operands[o].output || op->bench->apart[o]);
    for (uint64_t seed = 0; can && lathe_contracted_flops(op, ones) > 0 && seed < SEEDS; seed++) {
      try_shape(op, SEED + seed);
      tried++;
    }
  }
  sampling_beyond(0);
  if (tried == 0)
    skip();
}

/* Later rounds draw without a reference, and are to have the same inputs. */
static void test_inputs_are_drawn_alike(void **state) {
  problem *solved = make("matmul", LATHE_F32, SEED, 0), *alone;
  const char *why;

  (void)state;
  if (!solved)
    skip();
  alone = problem_draw(solved->op, LATHE_F32, solved->dim, SEED, 0, &why);
  assert_non_null(alone);
  for (int o = 0; o < 2; o++)
    assert_memory_equal(alone->input[o], solved->input[o], solved->bytes[o]);
  problem_free(alone);
  problem_free(solved);
  sampling_beyond(0);
}

static void test_messages(void **state) {
  const fault one = {"", 100, 1, 100, 1, 0, 0}, corner = {"", M - 1, 1, N - 1, 1, 0, 0};
  char text[768];
  trials t;

  (void)state;
  if (!op_called("matmul"))
    skip();
  t = make_trials("matmul", LATHE_F32, K);
  assert_true(finds(&t, &one, text, sizeof text));
  assert_non_null(strstr(text, "c[100,100] is 0, expected "));
  assert_non_null(strstr(text, " that were compared at a time wrong; m = 251, n = 257, k = 192; "));
  assert_true(finds(&t, &corner, text, sizeof text));
  assert_non_null(strstr(text, "c[250,256] is 0, expected "));
  free_trials(&t);
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
    {"sampling: errors beyond the bound, anywhere", test_errors_beyond_the_bound, NULL, NULL, NULL},
    {"sampling: places are told apart", test_places_are_told_apart, NULL, NULL, NULL},
    {"sampling: all contractions", test_all_contractions, NULL, NULL, NULL},
    {"sampling: inputs are drawn alike", test_inputs_are_drawn_alike, NULL, NULL, NULL},
    {"sampling: messages name the place", test_messages, NULL, NULL, NULL},
    {"sampling: terms that tensor cores cut off", test_terms_cut_off, NULL, NULL, NULL},
    {"sampling: costs", test_costs, NULL, NULL, NULL},
};
const size_t sampling_test_count = COUNT(sampling_tests);
