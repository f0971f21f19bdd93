/* test_gradients.c - every op that computes a gradient, against finite differences of the op that it is
 * the gradient of; gradients where slopes are infinite or what is not taken is NaN, against what they should
 * be; and the random numbers of dropout. */
#include "tests.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../templates/c/philox.h"
#include "buffer.h"
#include "check.h"
#include "dtype.h"
#include "run_program.h"
#include "tree.h"

enum { SEED = 20261121, ROWS = 3, COLS = 13 };

/* ---- finite differences ---------------------------------------------------------------------- */

/* The op of a gradient at a point that can be moved: everything in long double. */
typedef struct forward {
  const lathe_op *op;
  const problem *p; /* of the gradient: inputs, derivatives of the outputs, and the answer */
  lathe_args args;
  size_t elements[LATHE_MAX_OPERANDS];
  long double *weight[LATHE_MAX_OPERANDS]; /* outputs: the derivative of the final result by them */
} forward;

static int find_operand(const lathe_op *op, const char *prefix, const char *name) {
  const size_t length = strlen(prefix);

  for (int o = 0; o < op->noperands; o++)
    if (strncmp(op->operands[o].name, prefix, length) == 0 &&
        strcmp(op->operands[o].name + length, name) == 0)
      return o;
  return -1;
}

static long double *numbers(size_t count) {
  long double *p = calloc(count, sizeof *p);

  assert_non_null(p);
  return p;
}

/* The op's operands: its inputs as in the gradient's problem, or one half where the gradient does not need
 * them; outputs with the derivatives as weights. */
static void forward_make(forward *f, const problem *p) {
  const lathe_op *op = p->op->gradient_of;
  int magnitudes = op->noperands;

  memset(f, 0, sizeof *f);
  f->op = op;
  f->p = p;
  memcpy(f->args.dim, p->dim, sizeof f->args.dim);
  for (int s = 0; s < op->nscalars; s++)
    f->args.scalar[s] = op->scalars[s].value;
  f->args.workspace = numbers(2 * (size_t)op->column_reductions * p->dim[op->ndim - 1] + 1);
  for (int o = 0; o < op->noperands; o++) {
    const int same = find_operand(p->op, op->operands[o].output ? "d" : "", op->operands[o].name);
    const bool floating = dtype_floating(dtype_of_operand(&op->operands[o], p->dtype));
    long double *values;
    f->elements[o] = lathe_elements(op, o, p->dim);
    values = numbers(f->elements[o]);
    f->args.buf[o] = values;
    for (size_t i = 0; i < f->elements[o]; i++)
      values[i] = 0.5L;
    if (same >= 0 && floating)
      dtype_widen_long(p->dtype, p->input[same], f->elements[o], values);
    else if (same >= 0)
      memcpy(values, p->input[same], f->elements[o] * sizeof(int64_t));
    if (op->operands[o].output) {
      assert_true(same >= 0);
      f->weight[o] = values;
      f->args.buf[o] = numbers(f->elements[o]);
      f->args.buf[magnitudes++] = numbers(f->elements[o]);
    }
  }
}

static void forward_free(forward *f) {
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    free(f->args.buf[o]);
    free(f->weight[o]);
  }
  free(f->args.workspace);
}

/* The final result: all outputs, each by its weight. */
static long double forward_result(forward *f) {
  long double sum = 0;

  f->op->reference_wide(&f->args);
  for (int o = 0; o < f->op->noperands; o++)
    for (size_t i = 0; f->weight[o] && i < f->elements[o]; i++)
      sum += f->weight[o][i] * ((long double *)f->args.buf[o])[i];
  return sum;
}

/* How far the answer for one output of the gradient is from the slope of the final result, at worst,
 * as a share of the largest slope. */
static long double worst_slope(forward *f, int output, long double planted) {
  const long double step = 1e-6L, *answer = f->p->expected[output];
  const int input = find_operand(f->op, "", f->p->op->operands[output].name + 1);
  long double *values, worst = 0, largest = 0;

  assert_true(input >= 0);
  values = f->args.buf[input];
  for (size_t i = 0; i < f->elements[input]; i++) {
    const long double at = values[i];
    long double above, below, slope;
    values[i] = at + step;
    above = forward_result(f);
    values[i] = at - step;
    below = forward_result(f);
    values[i] = at;
    slope = (above - below) / (2 * step);
    largest = fmaxl(largest, fabsl(slope));
    worst = fmaxl(worst, fabsl(slope - answer[i] * (1 + planted)));
  }
  assert_true(largest > 0);
  return worst / largest;
}

static void small_size(const lathe_op *op, size_t *dim) {
  for (int d = 0; d < op->ndim; d++)
    dim[d] = d == op->ndim - 1 ? COLS : ROWS;
}

static const long double tolerance = 1e-9L;

static void test_gradients_are_slopes(void **state) {
  size_t checked = 0;

  (void)state;
  for (size_t k = 0; k < lathe_op_count; k++) {
    const lathe_op *op = &lathe_ops[k];
    size_t dim[LATHE_MAX_DIMS] = {0};
    const char *why;
    problem *p;
    forward f;
    if (!op->gradient_of)
      continue;
    small_size(op, dim);
    p = problem_make(op, LATHE_F64, dim, SEED, 0, &why);
    assert_non_null(p);
    forward_make(&f, p);
    for (int o = 0; o < op->noperands; o++) {
      long double off;
      if (!op->operands[o].output)
        continue;
      off = worst_slope(&f, o, 0);
      if (!(off <= tolerance))
        fail_msg("%s: %s is off by %Lg of the largest slope", op->name, op->operands[o].name, off);
      /* A gradient that is a little wrong must not pass. */
      assert_true(worst_slope(&f, o, 1e-7L) > tolerance);
      checked++;
    }
    forward_free(&f);
    problem_free(p);
  }
  assert_true(checked >= 10);
}

/* ---- where slopes are not finite ------------------------------------------------------------- */

enum { POINTS = 3 };

/* A function of x at some points, one row of them, and the derivatives of the sum of what it gives. */
typedef struct slope_case {
  const char *family, *body;
  double x[POINTS], dx[POINTS];
} slope_case;

static const slope_case slope_cases[] = {
    /* What is not taken counts as nothing, though it is NaN, infinite or steep without end there. */
    {"map", "select(gt(x, 0), sqrt(x), 0)", {-1, 0, 4}, {0, 0, 0.25}},
    {"map", "select(gt(x, 0), x * log(x), x)", {-1, 0, 1}, {1, 1, 1}},
    {"map", "select(lt(x, 0), exp(x), x + 1)", {1e6, 1, 0}, {1, 1, 1}},
    {"map", "select(ne(x, 0), 1 / x, 3 * x)", {0, 2, -2}, {3, -0.25, -0.25}},
    {"map", "select(lt(abs(x), 1), x * x * x, x)", {1e300, -1, 0.5}, {1, 1, 0.75}},
    {"map", "max(log(x), -100)", {0, 2, 4}, {0, 0.5, 0.25}},
    {"map", "select(gt(x, 0), select(gt(x, 1), sqrt(x - 1), -x), 0)", {-1, 0.5, 5}, {0, -1, 0.25}},
    {"map",
     "select(gt(x, 0), -sqrt(x), select(lt(x, -4), 3 * sqrt(-x), 0))",
     {-9, -1, 4},
     {-0.5, 0, -0.25}},
    {"map",
     "select(gt(x, 0), sqrt(x), 0) + select(gt(x, 1), 3 * sqrt(x), 0)",
     {-1, 0.25, 4},
     {0, 1, 1}},
    {"map", "select(gt(x, 0), sqrt(x), 0) + sqrt(x)", {1, 0.25, 4}, {1, 2, 0.5}},
    {"map", "log(select(gt(x, 0), sqrt(x), 3 * sqrt(-x)))", {-1, 0.25, 1}, {-0.5, 2, 0.5}},
    {"map", "select(all_of(gt(x, 0), lt(x, 2)), sqrt(x), 0)", {-1, 0.25, 4}, {0, 1, 0}},
    {"map", "select(any_of(lt(x, 0), gt(x, 2), isnan(x)), 0, sqrt(x))", {-1, 0.25, 4}, {0, 1, 0}},
    {"map", "select(negate(gt(x, 0)), -x, sqrt(x))", {-1, 0.25, 4}, {-1, 1, 0.25}},
    /* Signs of numbers whose product is none. */
    {"map", "copysign(x, -2e-300)", {1e-200, -1e-200, 0}, {-1, 1, 0}},
    {"rows", "x * row_sum(select(gt(x, 0), sqrt(x), 0))", {-1, 4, 0}, {2, 2.75, 2}},
    {"rows", "x * select(gt(row_sum(x), 9), sqrt(row_sum(x) - 9), 1)", {1, 2, 3}, {1, 1, 1}},
    {"rows",
     "x * select(gt(row_sum(x), 9), sqrt(row_sum(x) - 9), 1)",
     {1, 2, 10},
     {5.25, 5.25, 5.25}},
};

/* Ops called s0, s1, ... in a tree of their own, with the references of their gradients as a library. */
static void *slope_library(void) {
  char *specs = malloc(1 << 16), *command = malloc(1 << 12);
  run_result result;
  void *library;

  assert_non_null(specs);
  assert_non_null(command);
  strcpy(specs, "local V = { \"rows\", \"cols\" }\n");
  for (size_t i = 0; i < sizeof slope_cases / sizeof *slope_cases; i++)
    sprintf(specs + strlen(specs),
            "op \"s%zu\" { doc = \"test\", inputs = { x = V }, outputs = { y = V },\n"
            "  %s = function(x) return %s end, sizes = { { \"a\", rows = 1, cols = 3 } },\n"
            "  dtypes = { \"f64\" }, ulp = { f64 = 1 }, variants = { { backend = \"scalar\" } },\n"
            "  backward = true }\n",
            i, slope_cases[i].family, slope_cases[i].body);
  tree_write("specs/s.lua", specs);
  tree_copy("templates", "templates");
  result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
  assert_string_equal(result.err, "");
  run_free(&result);
  snprintf(command, 1 << 12,
           "cc -shared -fPIC -O1 -ffp-contract=off -I'%s/runtime' -Itemplates/c -o s.so %s -lm",
           test_variable("LATHE_SRC"), "out/gen/*_backward/*_reference.c");
  result = RUN(tree_root(), "sh", "-c", command);
  assert_string_equal(result.err, "");
  run_free(&result);
  library = dlopen(tree_path("s.so"), RTLD_NOW);
  assert_non_null(library);
  free(specs);
  free(command);
  return library;
}

static void test_what_is_not_taken_has_no_slope(void **state) {
  void *library = slope_library();
  size_t wrong = 0;

  (void)state;
  for (size_t i = 0; i < sizeof slope_cases / sizeof *slope_cases; i++) {
    const slope_case *c = &slope_cases[i];
    double x[POINTS], dy[POINTS] = {1, 1, 1}, dx[POINTS], magnitude[POINTS];
    lathe_args args = {.buf = {x, dy, dx, magnitude}, .dim = {1, POINTS}};
    char symbol[64];
    lathe_fn *reference;
    memcpy(x, c->x, sizeof x);
    snprintf(symbol, sizeof symbol, "s%zu_backward_reference_f64", i);
    *(void **)&reference = dlsym(library, symbol);
    assert_non_null(reference);
    reference(&args);
    for (int k = 0; k < POINTS; k++)
      if (!(fabs(dx[k] - c->dx[k]) < 1e-14)) {
        print_error("%s at %g: found %g, not %g\n", c->body, c->x[k], dx[k], c->dx[k]);
        wrong++;
      }
  }
  dlclose(library);
  assert_int_equal(wrong, 0);
}

/* ---- random numbers -------------------------------------------------------------------------- */

/* The first answers of the authors' own list for philox4x32-10: all zeros, all ones, digits of pi. */
static void test_philox_answers(void **state) {
  static const struct {
    uint64_t counter, offset, seed;
    uint32_t word[4];
  } known[] = {
      {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {0x85a308d3243f6a88,
       0x0370734413198a2e,
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  uint32_t words[4][LATHE_COUNTERS];

  (void)state;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    lathe_philox((int64_t)known[k].seed, (int64_t)known[k].offset, known[k].counter, words);
    for (int w = 0; w < 4; w++)
      assert_int_equal(words[w][0], known[k].word[w]);
  }
}

static void test_random_numbers_by_place(void **state) {
  static float singles[LATHE_NUMBERS], narrow[LATHE_NUMBERS];
  static double doubles[LATHE_NUMBERS];
  const int64_t seed = 0x123456789abcdef, offset = -77;
  const size_t first = ((size_t)1 << 34) + 512;

  (void)state;
  lathe_randoms_f32(seed, offset, first, LATHE_NUMBERS, singles);
  lathe_randoms_f64(seed, offset, first, LATHE_NUMBERS, doubles);
  lathe_randoms_narrow(seed, offset, first, LATHE_NUMBERS, narrow);
  for (size_t i = 0; i < LATHE_NUMBERS; i++) {
    const double expected = lathe_random(seed, offset, first + i, false);
    const double expected_narrow = lathe_random(seed, offset, first + i, true);
    assert_true(expected >= 0 && expected < 1);
    assert_true(expected_narrow >= 0 && expected_narrow < 1);
    assert_true(narrow[i] == expected_narrow);
    assert_true(singles[i] == expected && doubles[i] == expected);
  }
}

/* Which points of dropout are kept, of ones. */
static size_t kept_points(const char *variant, int64_t seed, int64_t offset, unsigned char *kept,
                          size_t count) {
  const lathe_op *op = NULL;
  const lathe_variant *v;
  float *x = malloc(count * sizeof *x), *y = malloc(count * sizeof *y);
  lathe_args args = {.dim = {count}};
  size_t sum = 0;

  for (size_t k = 0; k < lathe_op_count; k++)
    if (strcmp(lathe_ops[k].name, "dropout") == 0)
      op = &lathe_ops[k];
  assert_non_null(op);
  assert_true(x && y);
  v = lathe_select(op, LATHE_F32, args.dim, lathe_cpu_features(), variant);
  assert_non_null(v);
  args.buf[find_operand(op, "", "x")] = x;
  args.buf[find_operand(op, "", "seed")] = &seed;
  args.buf[find_operand(op, "", "offset")] = &offset;
  args.buf[find_operand(op, "", "y")] = y;
  args.scalar[0] = op->scalars[0].value;
  for (size_t i = 0; i < count; i++)
    x[i] = 1;
  v->run(&args);
  for (size_t i = 0; i < count; i++)
    sum += kept[i] = y[i] != 0;
  free(x);
  free(y);
  return sum;
}

static void test_dropout_keeps_what_it_should(void **state) {
  enum { COUNT = 1 << 20 };
  static unsigned char once[COUNT], again[COUNT], other[COUNT];
  const double p = 0.25, deviation = sqrt(COUNT * p * (1 - p));
  const size_t kept = kept_points("*", 42, 7, once, COUNT);
  size_t same = 0;

  (void)state;
  assert_true(fabs((double)kept - COUNT * (1 - p)) < 5 * deviation);
  /* The same numbers from every variant, and from a call on fewer points; others from another seed or offset. */
  kept_points("*scalar*", 42, 7, again, COUNT);
  assert_memory_equal(once, again, COUNT);
  kept_points("*", 42, 7, again, 1000);
  assert_memory_equal(once, again, 1000);
  kept_points("*", 42, 8, other, COUNT);
  for (size_t i = 0; i < COUNT; i++)
    same += once[i] == other[i];
  assert_true(fabs((double)same - COUNT * (p * p + (1 - p) * (1 - p))) < 6 * deviation);
  kept_points("*", 43, 7, other, COUNT);
  assert_memory_not_equal(once, other, COUNT);
}

const struct CMUnitTest gradients_tests[] = {
    {"gradients: are slopes", test_gradients_are_slopes, NULL, NULL, NULL},
    {"gradients: what is not taken has no slope", test_what_is_not_taken_has_no_slope, tree_setup,
     tree_teardown, NULL},
    {"gradients: philox gives the known answers", test_philox_answers, NULL, NULL, NULL},
    {"gradients: random numbers by their place", test_random_numbers_by_place, NULL, NULL, NULL},
    {"gradients: dropout keeps what it should", test_dropout_keeps_what_it_should, NULL, NULL,
     NULL},
};
const size_t gradients_test_count = sizeof gradients_tests / sizeof *gradients_tests;
