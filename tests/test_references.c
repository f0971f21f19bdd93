/* test_references.c - the references against functions written here. */
#include "variants.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "library/dtype.h"
#include "problem/random.h"

/* x: the inputs, one after the other, n numbers each; s: scalars; y: n results, or one. */
typedef void oracle_fn(const double *x, const double *s, size_t n, double *y);

#define MAP(name, value)                                                                           \
  static void oracle_##name(const double *x, const double *s, size_t n, double *y) {               \
    (void)s;                                                                                       \
    for (size_t i = 0; i < n; i++) {                                                               \
      const double a = x[i], b = x[n + i], c = x[2 * n + i];                                       \
      (void)b, (void)c;                                                                            \
      y[i] = value;                                                                                \
    }                                                                                              \
  }
#define FOLD(name, begin, step, end)                                                               \
  static void oracle_##name(const double *x, const double *s, size_t n, double *y) {               \
    double r = begin;                                                                              \
    (void)s;                                                                                       \
    for (size_t i = 0; i < n; i++) {                                                               \
      const double a = x[i], b = x[n + i];                                                         \
      (void)a, (void)b;                                                                            \
      r = step;                                                                                    \
    }                                                                                              \
    *y = end;                                                                                      \
  }

MAP(add, a + b)
MAP(sub, a - b)
MAP(mul, a *b)
MAP(div, a / b)
MAP(scale, a *s[0])
MAP(abs, fabs(a))
MAP(clamp, a<s[0] ? s[0] : a> s[1] ? s[1] : a)
MAP(lerp, a + s[0] * (b - a))
MAP(fma, a *b + c)
MAP(relu, a > 0 ? a : 0)
MAP(exp, exp(a))
MAP(sigmoid, 1 / (1 + exp(-a)))
MAP(tanh, tanh(a))
MAP(gelu, a / 2 * erfc(-a / sqrt(2)))
MAP(swish, a / (1 + exp(-a)))
FOLD(sum, 0, r + a, r)
FOLD(dot, 0, r + a * b, r)
FOLD(max, -INFINITY, a > r ? a : r, r)
FOLD(min, INFINITY, a < r ? a : r, r)
FOLD(argmax, 0, a > x[(size_t)r] ? (double)i : r, r)
FOLD(argmin, 0, a < x[(size_t)r] ? (double)i : r, r)
FOLD(norm_l1, 0, r + fabs(a), r)
FOLD(norm_l2, 0, r + a * a, sqrt(r))
FOLD(norm_linf, 0, fabs(a) > r ? fabs(a) : r, r)
FOLD(sum_of_exp, 0, r + exp(a), r)

static void oracle_softmax(const double *x, const double *s, size_t n, double *y) {
  double total;

  oracle_sum_of_exp(x, s, n, &total);
  for (size_t i = 0; i < n; i++)
    y[i] = exp(x[i]) / total;
}

static void oracle_log_softmax(const double *x, const double *s, size_t n, double *y) {
  double total;

  oracle_sum_of_exp(x, s, n, &total);
  for (size_t i = 0; i < n; i++)
    y[i] = x[i] - log(total);
}

static const struct {
  const char *name;
  oracle_fn *compute;
} oracles[] = {
    {"abs", oracle_abs},         {"add", oracle_add},         {"argmax", oracle_argmax},
    {"argmin", oracle_argmin},   {"clamp", oracle_clamp},     {"div", oracle_div},
    {"dot", oracle_dot},         {"exp", oracle_exp},         {"fma", oracle_fma},
    {"gelu", oracle_gelu},       {"lerp", oracle_lerp},       {"log_softmax", oracle_log_softmax},
    {"max", oracle_max},         {"min", oracle_min},         {"mul", oracle_mul},
    {"norm_l1", oracle_norm_l1}, {"norm_l2", oracle_norm_l2}, {"norm_linf", oracle_norm_linf},
    {"relu", oracle_relu},       {"scale", oracle_scale},     {"sigmoid", oracle_sigmoid},
    {"softmax", oracle_softmax}, {"sub", oracle_sub},         {"sum", oracle_sum},
    {"swish", oracle_swish},     {"tanh", oracle_tanh},
};
enum { ORACLES = sizeof oracles / sizeof *oracles };

/* A problem's inputs, one after the other, as the oracle wants them. */
static double *inputs_of(const problem *p, size_t n) {
  double *x = calloc(3 * n, sizeof *x);
  size_t at = 0;

  assert_non_null(x);
  for (int o = 0; o < p->op->noperands; o++)
    if (p->input[o]) {
      lathe_dtype_widen(p->dtype, p->input[o], p->elements[o], x + at);
      at += p->elements[o];
    }
  return x;
}

static void compare_reference(tally *t, const variant_group *g, oracle_fn *compute, size_t n) {
  const size_t dim[LATHE_MAX_DIMS] = {g->op->ndim > 1 ? 1 : n, n};
  const int o = g->op->noperands - 1;
  const lathe_dtype type = lathe_dtype_of_operand(&g->op->operands[o], g->dtype);
  problem *p = variants_problem(g, dim, SEED + n, 0);
  double *x = inputs_of(p, n), *y = calloc(n, sizeof *y);
  const lathe_args args = problem_args(p);
  char message[160];

  assert_non_null(y);
  compute(x, args.scalar, n, y);
  for (size_t i = 0; i < p->elements[o]; i++) {
    const double got = !lathe_dtype_numeric(type) ? element_at(type, p->expected[o], i)
                       : p->wide                  ? (double)((long double *)p->expected[o])[i]
                                                  : ((double *)p->expected[o])[i];
    t->checks++;
    /* Inputs are of the order of 1 to 10: near zero an error relative to 1 says as much. */
    if (fabs(got - y[i]) <= 1e-12 * fmax(1, fabs(y[i])))
      continue;
    snprintf(message, sizeof message, "%s: [%zu] of %zu is %.17g, expected %.17g",
             p->wide ? "reference_wide" : "reference_f64", i, n, got, y[i]);
    tally_tell(t, g->op->name, message);
  }
  free(x);
  free(y);
  problem_free(p);
}

static void test_references(void **state) {
  tally t = {0};
  variant_group g = {0};

  (void)state;
  while (variants_next_group(&g)) {
    int i = 0;
    while (i < ORACLES && strcmp(oracles[i].name, g.op->name) != 0)
      i++;
    if (i < ORACLES) {
      compare_reference(&t, &g, oracles[i].compute, 1);
      compare_reference(&t, &g, oracles[i].compute, 501);
    }
  }
  tally_conclude(&t);
}

const struct CMUnitTest references_tests[] = {
    cmocka_unit_test(test_references),
};
const size_t references_test_count = sizeof references_tests / sizeof *references_tests;
