/* test_gradients.c - every op that computes a gradient, against finite differences of the op that it is
 * the gradient of; gradients where slopes are infinite or what is not taken is NaN, against what they should
 * be; and the random numbers of dropout. */
#include "library/cpu.h"
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../templates/c/philox.h"
#include "check/check.h"
#include "devices/common/buffer.h"
#include "library/dtype.h"
#include "references.h"
#include "tree.h"
#include "library/bench.h"

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
 * them; outputs with the derivatives as weights, 0 where the gradient reads the output itself alone. */
static void forward_make(forward *f, const problem *p) {
  const lathe_op *op = p->op->gradient_of;
  int magnitudes = op->noperands;

  memset(f, 0, sizeof *f);
  f->op = op;
  f->p = p;
  memcpy(f->args.dim, p->dim, sizeof f->args.dim);
  for (int s = 0; s < op->nscalars; s++)
    f->args.scalar[s] = op->scalars[s].value;
  for (int o = 0; o < op->noperands; o++) {
    const int same = find_operand(p->op, op->operands[o].output ? "d" : "", op->operands[o].name);
    const bool floating = lathe_dtype_numeric(lathe_dtype_of_operand(&op->operands[o], p->dtype));
    long double *values;
    f->elements[o] = lathe_elements(op, o, p->dim);
    values = numbers(f->elements[o]);
    f->args.buf[o] = values;
    for (size_t i = 0; i < f->elements[o]; i++)
      values[i] = op->operands[o].output ? 0 : 0.5L;
    if (same >= 0 && floating)
      lathe_dtype_widen_long(p->dtype, p->input[same], f->elements[o], values);
    else if (same >= 0)
      memcpy(values, p->input[same], f->elements[o] * sizeof(int64_t));
    if (op->operands[o].output) {
      assert_true(same >= 0 || find_operand(p->op, "", op->operands[o].name) >= 0);
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
}

/* The final result: all outputs, each by its weight. */
static long double forward_result(forward *f) {
  long double sum = 0;

  references_ask(f->op->bench->reference_wide, true, &f->args, 0x1p-52, 0);
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
    if (!op->gradient_of || !op->bench->reference_wide)
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
  const char *body;
  double x[POINTS], dx[POINTS];
} slope_case;

static const slope_case slope_cases[] = {
    /* What is not taken counts as nothing, though it is NaN, infinite or steep without end there. */
    {"select(gt(x, 0), sqrt(x), 0)", {-1, 0, 4}, {0, 0, 0.25}},
    {"select(gt(x, 0), x * log(x), x)", {-1, 0, 1}, {1, 1, 1}},
    {"select(lt(x, 0), exp(x), x + 1)", {1e6, 1, 0}, {1, 1, 1}},
    {"select(ne(x, 0), 1 / x, 3 * x)", {0, 2, -2}, {3, -0.25, -0.25}},
    {"select(lt(abs(x), 1), x * x * x, x)", {1e300, -1, 0.5}, {1, 1, 0.75}},
    {"1e15 * tanh(x)",
     {20, 19, -20},
     {0.016993417021166355, 0.1255653116819212, 0.016993417021166355}},
    {"1e15 * expm1(x)",
     {-40, -45, -50},
     {0.004248354255291589, 2.8625185805493937e-05, 1.928749847963918e-07}},
    {"max(log(x), -100)", {0, 2, 4}, {0, 0.5, 0.25}},
    {"select(gt(x, 0), select(gt(x, 1), sqrt(x - 1), -x), 0)", {-1, 0.5, 5}, {0, -1, 0.25}},
    {"select(gt(x, 0), -sqrt(x), select(lt(x, -4), 3 * sqrt(-x), 0))",
     {-9, -1, 4},
     {-0.5, 0, -0.25}},
    {"select(gt(x, 0), sqrt(x), 0) + select(gt(x, 1), 3 * sqrt(x), 0)", {-1, 0.25, 4}, {0, 1, 1}},
    {"select(gt(x, 0), sqrt(x), 0) + sqrt(x)", {1, 0.25, 4}, {1, 2, 0.5}},
    {"log(select(gt(x, 0), sqrt(x), 3 * sqrt(-x)))", {-1, 0.25, 1}, {-0.5, 2, 0.5}},
    {"select(all_of(gt(x, 0), lt(x, 2)), sqrt(x), 0)", {-1, 0.25, 4}, {0, 1, 0}},
    {"select(any_of(lt(x, 0), gt(x, 2), isnan(x)), 0, sqrt(x))", {-1, 0.25, 4}, {0, 1, 0}},
    {"select(negate(gt(x, 0)), -x, sqrt(x))", {-1, 0.25, 4}, {-1, 1, 0.25}},
    /* NaN has no slope, but where it is not taken. */
    {"abs(x)", {NAN, 0, -3}, {NAN, 0, -1}},
    {"copysign(x, -2)", {NAN, 0, -3}, {NAN, 0, 1}},
    {"select(eq(x, x), abs(x), 0)", {NAN, 0, -3}, {0, 0, -1}},
    {"max(abs(x), 1)", {0.5, 2, -3}, {0, 1, -1}},
    /* What is a whole number or a sign does not change. */
    {"x * floor(x)", {1.5, -1.5, 2}, {1, -2, 2}},
    {"x * round(x)", {1.5, 2.5, -0.5}, {2, 2, 0}},
    {"x * sign(x)", {1.5, -2, 0}, {1, -1, 0}},
    /* Scans: what a place gives to those after it. Products with zeros, and shares of equals. */
    {"cumsum(x * x, \"cols\")", {2, 0, 3}, {12, 0, 6}},
    {"cumsum(x * x, \"cols\", { exclusive = true, reverse = true })", {2, 0, 3}, {0, 0, 12}},
    {"cumprod(x, \"cols\")", {2, 0, 3}, {1, 8, 0}},
    {"cumprod(x, \"cols\")", {0, 2, 0}, {3, 0, 0}},
    {"cumprod(x, \"cols\", { exclusive = true })", {0, 5, 7}, {6, 0, 0}},
    {"cumprod(x, \"cols\", { reverse = true })", {3, 0, 2}, {0, 8, 1}},
    {"cummax(x, \"cols\")", {1, 3, 2}, {1, 2, 0}},
    {"cummax(x, \"cols\")", {3, 3, 1}, {2, 1, 0}},
    {"cummin(x, \"cols\")", {1, 1, 1}, {11.0 / 6, 5.0 / 6, 1.0 / 3}},
    {"max(cummax(x, \"cols\", { exclusive = true }), -9)", {3, 1, 3}, {2, 0, 0}},
    {"cummin(x, \"cols\", { reverse = true })", {5, 2, 4}, {0, 2, 1}},
    {"recurrence(2, x * x, \"cols\")", {5, -1, 4}, {70, -6, 8}},
    {"recurrence(x, x, \"cols\")", {2, 3, 0}, {4, 3, 10}},
    {"recurrence(x, 1, \"cols\", { exclusive = true })", {2, 3, 5}, {0, 1, 0}},
    /* Powers where one of the factors of their slope is none, or infinite. */
    {"pow(x, 2)", {0, -3, 2}, {0, -6, 4}},
    {"pow(x, 0)", {0, INFINITY, 2}, {0, 0, 0}},
    {"pow(x, 1)", {0, -3, 2}, {1, 1, 1}},
    {"pow(0 * x, x) + pow(2, x - x) * x", {1, 2, 3}, {1, 1, 1}},
    {"x ^ 3 + x ^ -2 + x ^ 0", {1, -1, 2}, {1, 5, 11.75}},
    {"x ^ 2.5 + x ^ -0.5 + x ^ 0.5", {1, 4, 16}, {2.5, 20.1875, 160.1171875}},
    {"2 ^ (x / x) * x", {1, -1, 4}, {2, 2, 2}},
    /* Signs of numbers whose product is none. */
    {"copysign(x, -2e-300)", {1e-200, -1e-200, 0}, {-1, 1, 0}},
    /* Of an extreme, shared among equals; all of a row where it is NaN, which is the extreme of what has one. */
    {"max(x, \"cols\") + 0 * x", {1, 3, 3}, {0, 1.5, 1.5}},
    {"min(x, \"cols\") + 0 * x", {INFINITY, 1, -INFINITY}, {0, 0, 3}},
    {"max(x, \"cols\") + 0 * x", {1, NAN, 3}, {NAN, NAN, NAN}},
    {"min(x, \"cols\") + 0 * x", {NAN, NAN, -INFINITY}, {NAN, NAN, NAN}},
    {"x * sum(select(gt(x, 0), sqrt(x), 0), \"cols\")", {-1, 4, 0}, {2, 2.75, 2}},
    {"x * select(gt(sum(x, \"cols\"), 9), sqrt(sum(x, \"cols\") - 9), 1)", {1, 2, 3}, {1, 1, 1}},
    {"x * select(gt(sum(x, \"cols\"), 9), sqrt(sum(x, \"cols\") - 9), 1)",
     {1, 2, 10},
     {5.25, 5.25, 5.25}},
};

/* Functions that are smooth at some points, against finite differences. */
typedef struct smooth_case {
  const char *body;
  long double x[POINTS];
} smooth_case;

static const smooth_case smooth_cases[] = {
    {"sin(3 * x)", {0, -1.25L, 7}},
    {"cos(x * x)", {0.1L, -1.25L, 3}},
    {"sin(x) / cos(x)", {0.1L, -1, 2}},
    {"rsqrt(x)", {0.25L, 1, 9}},
    {"rsqrt(1 + x * x)", {-2, 0, 0.5L}},
    {"pow(x, 1.7)", {0.25L, 1, 9}},
    {"pow(1.7, x)", {-2, 0, 3}},
    {"pow(1 + x * x, sin(x))", {-2, 0.5L, 3}},
    {"pow(x, -3)", {-2, 0.5L, 3}},
    {"x ^ 7 + x ^ -5", {-2, 0.5L, 1.5L}},
    {"x ^ 1.5 - x ^ -2.5", {0.25L, 1, 9}},
    {"x ^ 11 + x ^ 0.3", {0.25L, 1, 2}},
    {"3 ^ x + 2 ^ x + x ^ x", {0.25L, 1, 2}},
    {"log2(x) + x * log10(x)", {0.25L, 1, 9}},
    {"sinh(x) + cosh(2 * x)", {-2, 0, 0.5L}},
    {"asin(x) + acos(x / 2)", {-0.75L, 0, 0.5L}},
    {"atan(x)", {-2, 0, 3}},
    {"atan2(x, 1 - x)", {-2, 0.5L, 3}},
    {"hypot(x, 3)", {-2, 0, 4}},
    {"asinh(x) + acosh(x * x + 2)", {-2, 0, 4}},
    {"erfinv(x)", {-0.75L, 0, 0.5L}},
    {"atanh(x)", {-0.75L, 0, 0.5L}},
    {"x * floor(x) + x * round(x) + x * sign(x)", {-1.75L, 0.75L, 3.25L}},
};
enum { SMOOTH = sizeof smooth_cases / sizeof *smooth_cases };

static void write_op(char *specs, char kind, size_t number, const char *body) {
  sprintf(specs + strlen(specs),
          "op \"%c%zu\" { doc = \"test\", inputs = { x = V }, outputs = { y = V },\n"
          "  compute = function(x) return %s end, sizes = { { \"a\", rows = 1, cols = 3 } },\n"
          "  dtypes = { \"f64\" }, ulp = { f64 = 1 }, variants = { { backend = \"scalar\" } },\n"
          "  backward = true }\n",
          kind, number, body);
}

/* Ops called s0, s1, ... and f0, f1, ... with their gradients, which are built once. */
static void *slope_library(void) {
  static void *library;
  char *spec;

  if (library)
    return library;
  spec = malloc(1 << 16);
  assert_non_null(spec);
  strcpy(spec, "local V = { \"rows\", \"cols\" }\n");
  for (size_t i = 0; i < sizeof slope_cases / sizeof *slope_cases; i++)
    write_op(spec, 's', i, slope_cases[i].body);
  for (size_t i = 0; i < SMOOTH; i++)
    write_op(spec, 'f', i, smooth_cases[i].body);
  library = references_build(spec);
  free(spec);
  return library;
}

static void test_what_is_not_taken_has_no_slope(void **state) {
  void *library = slope_library();
  size_t wrong = 0;

  (void)state;
  for (size_t i = 0; i < sizeof slope_cases / sizeof *slope_cases; i++) {
    const slope_case *c = &slope_cases[i];
    double x[POINTS], dy[POINTS] = {1, 1, 1}, dx[POINTS], magnitude[POINTS];
    const lathe_args args = {.buf = {x, dy, dx, magnitude}, .dim = {1, POINTS}};
    memcpy(x, c->x, sizeof x);
    references_ask(references_find(library, "s%zu_backward_reference_f64", i), false, &args,
                   0x1p-23, 0);
    for (int k = 0; k < POINTS; k++)
      if (!(isnan(c->dx[k]) ? isnan(dx[k]) : fabs(dx[k] - c->dx[k]) < 1e-14)) {
        print_error("%s at %g: found %g, not %g\n", c->body, c->x[k], dx[k], c->dx[k]);
        wrong++;
      }
  }
  assert_int_equal(wrong, 0);
}

static void test_functions_have_slopes(void **state) {
  const long double step = 1e-6L;
  void *library = slope_library();
  size_t wrong = 0;

  (void)state;
  for (size_t i = 0; i < SMOOTH; i++) {
    const smooth_case *c = &smooth_cases[i];
    lathe_fn *const value = references_find(library, "f%zu_reference_wide", i);
    lathe_fn *const slope = references_find(library, "f%zu_backward_reference_wide", i);
    long double x[2][POINTS], y[2][POINTS] = {{0}}, dy[POINTS] = {1, 1, 1}, dx[POINTS],
                              size[POINTS];
    references_ask(slope, true,
                   &(lathe_args){.buf = {(void *)c->x, dy, dx, size}, .dim = {1, POINTS}}, 0x1p-23,
                   0);
    for (int side = 0; side < 2; side++) {
      for (int k = 0; k < POINTS; k++)
        x[side][k] = c->x[k] + (side ? step : -step);
      references_ask(value, true,
                     &(lathe_args){.buf = {x[side], y[side], size}, .dim = {1, POINTS}}, 0x1p-23,
                     0);
    }
    for (int k = 0; k < POINTS; k++) {
      const long double expected = (y[1][k] - y[0][k]) / (2 * step);
      if (!(fabsl(dx[k] - expected) <= tolerance * fmaxl(1, fabsl(expected)))) {
        print_error("%s at %Lg: found %Lg, not %Lg\n", c->body, c->x[k], dx[k], expected);
        wrong++;
      }
    }
  }
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
    lathe_philox((int64_t)known[k].seed, (int64_t)known[k].offset, known[k].counter, LATHE_COUNTERS,
                 words);
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
    {"gradients: of functions are slopes", test_functions_have_slopes, tree_setup, tree_teardown,
     NULL},
    {"gradients: philox gives the known answers", test_philox_answers, NULL, NULL, NULL},
    {"gradients: random numbers by their place", test_random_numbers_by_place, NULL, NULL, NULL},
    {"gradients: dropout keeps what it should", test_dropout_keeps_what_it_should, NULL, NULL,
     NULL},
};
const size_t gradients_test_count = sizeof gradients_tests / sizeof *gradients_tests;
