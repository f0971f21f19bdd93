/* test_magnitude.c - how far off the generator takes results to be (gen/trace/magnitude.lua) where values are no
 * ordinary numbers: what is known for sure, what only the sign of a zero or a NaN decides that nobody orders, and
 * what may be anything, for something on the way is beyond the range of the type computed in. */
#include "tests.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "references.h"
#include "tree.h"

enum { POINTS = 3 };

/* A function of x and z at some points, one row of them. known, by point: '.', for sure, with the sign of a zero;
 * '0', a zero of either sign; 's', a number of either sign; '?', anything. */
typedef struct known_case {
  const char *body;
  double x[POINTS], z[POINTS];
  const char *known;
} known_case;

static const known_case cases[] = {
    /* Zeros and NaNs of which the order of evaluation says which is taken. */
    {"copysign(x, max(z, \"cols\"))", {1, 2, 3}, {-0.0, 0, -1}, "sss"},
    {"copysign(x, max(z, \"cols\"))", {1, 2, 3}, {-1, -2, -3}, "..."},
    {"copysign(x, min(z, \"cols\"))", {1, INFINITY, NAN}, {NAN, 0, -1}, "s?."},
    {"copysign(x, min(z, \"cols\") / 2)", {1, 0, 3}, {0, 0, 2}, "s0s"},
    {"x / sum(z, \"cols\")", {1, 0, -2}, {0, -0.0, 0}, "?.?"},
    {"copysign(x, x / sum(z, \"cols\"))", {1, 2, -2}, {0, -0.0, 0}, "sss"},
    {"rsqrt(max(z, \"cols\"))", {1, 2, 3}, {0, -0.0, 0}, "???"},
    {"pow(max(z, \"cols\"), x)", {-1, -3, -2}, {0, -0.0, 0}, "???"},
    {"x * sum(z, \"cols\")", {1, 2, -3}, {0, -0.0, 0}, "000"},
    {"select(gt(x, 0), max(z, \"cols\"), x)", {1, -1, -0.0}, {0, -0.0, 0}, "0.."},
    {"select(gt(x, 0), z, max(z, \"cols\"))", {1, -1, 2}, {0, -0.0, 0}, ".0."},
    {"x - max(z, \"cols\")", {0, -0.0, 1}, {0, -0.0, 0}, "00."},
    {"x - max(z, \"cols\")", {1, -0.0, 0}, {1, -0.0, 0}, "..."},
    {"abs(max(z, \"cols\")) * x", {1, -1, 2}, {0, -0.0, 0}, "..."},
    {"copysign(x, sign(max(z, \"cols\")))", {1, -1, 2}, {0, -0.0, 0}, "..."},
    /* The largest of products is the largest, whatever their rounding, unless there is another as large. */
    {"select(eq(x * z, max(x * z, \"cols\")), x, 3 * x)", {1, 2, 3}, {0.1, 0.1, 0.1}, "..."},
    {"select(eq(x * z, max(x * z, \"cols\")), x, 3 * x)", {1, 2, 0.2}, {0.1, 0.1, 1}, ".ss"},
    {"select(ge(x * z, max(x * z, \"cols\")), x, 3 * x)", {1, 2, 3}, {0.1, 0.1, 0.1}, "..s"},
    /* Places are exact, their halves too: a floor of these turns nothing. */
    {"select(lt(position(\"cols\"), floor((count(\"cols\") - 1) / 2)), x, -x)",
     {1, 2, 3},
     {1, 1, 1},
     "..."},
    /* A product below the normal range may be -0 to a kernel, of which the root is no NaN. */
    {"sqrt(x * z)", {1e-38, 1, 2}, {-1e-38, 1, 3}, "?.."},
    {"sqrt(x * x + z * z)", {1, 0.5, 2}, {1, 0, 3}, "..."},
    /* Nodes with many paths to them are looked at once. */
    {"(function() local v = abs(x) for i = 1, 40 do v = max(v * 0.5, v) + min(v, v * 2) end return "
     "sqrt(v) end)()",
     {1, 0.5, 2},
     {1, 0, 3},
     "..."},
    {"x + sqrt(sum(z * z, \"cols\") / (count(\"cols\") - 4))", {1, -0.0, 0}, {0, 0, 0}, "???"},
    /* Where it may be another that is the smallest, what is infinite for that one may be the result. */
    {"select(gt(x * x, min(x * x, \"cols\")), 0, x * sum(1 / z, \"cols\"))",
     {1e-30, 2e-30, 1},
     {1e-40, 1, 1},
     "??."},
    {"max(x, z)", {0, -1, -0.0}, {-0.0, -0.0, 1}, "0.."},
    {"1 / min(x, z)", {0, -0.0, 0}, {-0.0, 1, -1}, "?.."},
    {"min(max(x, z), 1)", {0, 1, -0.0}, {-0.0, 0, 1}, "0.."},
    /* What is below the normal range may be a zero of either sign to a kernel, which meets another zero then. */
    {"max(x, z * abs(z))", {0, -0.0, 0}, {-1e-30, -1e-30, 1}, "00."},
    {"max(x, 1 - z * 1.1 - 1)", {0, 0, 0}, {1e-30, 1e-8, 1}, "00."},
    /* Of zeros that do not meet, and NaNs that are moved alone, signs are those of the operands. */
    {"x * z", {0, -0.0, 0}, {-1, -1, 1}, "..."},
    {"copysign(x, -z)", {1, 2, 3}, {NAN, -NAN, -0.0}, "..."},
    {"copysign(x, z + 1)", {1, 2, 3}, {NAN, -NAN, -0.0}, "ss."},
    /* A number is equal to itself whatever rounding does, and NaN is not. */
    {"select(eq(x * 1.1, x * 1.1), x, z)", {1, 2, NAN}, {5, 5, 5}, "..."},
    /* 1e-30 squared is 0 in f32, and not in double. */
    {"x / (z * z)", {0, 1, 0}, {1e-30, 1e-30, 1}, "??."},
    {"x * (1 / (z * z))", {0, 1, 0}, {1e-30, 1e-30, 1}, "??."},
    {"exp(x / (z * z))", {-1, 1, -1}, {1e-30, 1e-30, 1}, "??."},
    {"select(eq(z * z, 0), 0, x)", {NAN, INFINITY, NAN}, {1e-30, 1e-30, 1}, "??."},
    {"x * select(eq(z * z, 0), 0, 1 / (z - z))", {0, INFINITY, 0}, {1e-30, 1e-30, 1}, "??."},
    {"x * (select(eq(z * z, 0), 0, sqrt(-z)) + 1)", {1, INFINITY, 0}, {1e-30, 1e-30, 1}, "??."},
    /* 1 / 1e-40 is infinite in f32, and not in double. */
    {"x * (1 / z)", {0, 1, 0}, {1e-40, -1e-40, 1e-37}, "??."},
    /* An infinity times what is not zero is one for sure, and so is what comes of it. */
    {"z * (x * 1.1)", {1, -2, 1e-300}, {INFINITY, INFINITY, INFINITY}, "..?"},
    {"exp(z * (x * 1.1))", {-1, -2, -1e-300}, {INFINITY, INFINITY, INFINITY}, "..?"},
    {"(x * 1.1) / z", {1, -2, 0}, {0, -0.0, 0}, "..?"},
};
enum { CASES = sizeof cases / sizeof *cases };

static char kind_of(double y, double magnitude) {
  if (!(magnitude <= DBL_MAX))
    return '?';
  if (y == 0 && magnitude > 64.0 * FLT_MIN)
    return '0';
  return magnitude > 1e6 * fmax(fabs(y), FLT_MIN) ? 's' : '.';
}

/* What kernels may come to at a point where they flush, or have fewer digits, and where they do not. Rows of one
 * element. */
typedef struct leeway_case {
  const char *body;
  double x, z, got;
  int digits; /* of kernels */
  bool flushes;
  bool allowed; /* then; never by kernels of f32 that keep all numbers */
} leeway_case;

static const leeway_case leeways[] = {
    /* What lies between is flushed, and the result is not small. */
    {"x * exp(z)", 1e10, -87.8, 0, 24, true, true},
    {"x * exp(z)", 1e10, -60, 0, 24, true, false},
    {"z * max(x * x, 0)", 1e-20, 1e30, 0, 24, true, true},
    {"z * (x - 1.1e-38)", 1.2e-38, 1e30, 0, 24, true, true},
    {"z * sqrt(x * x * 1e-20)", 1e-10, 1e20, 0, 24, true, true},
    {"select(le(x * z, 0), 1, 0)", 1e-20, 1e-20, 1, 24, true, true},
    {"select(le(x * z, 0), 1, 0)", 1e-18, 1e-18, 1, 24, true, false},
    {"x * z", 1, 1e-10, 0, 24, true, false},
    /* An operand that is zero to a logarithm alone. */
    {"erf(pow(z, x * log(x)))", 8.3e-39, 0.25, 1, 24, true, true},
    {"erf(pow(z, x * log(x)))", 8.3e-30, 0.25, 1, 24, true, false},
    /* A mean of one element, which a kernel divides by 1. */
    {"(x - mean(x, \"cols\")) * z", -2.5e-39, 316, -7.9e-37, 24, true, true},
    {"(x - mean(x, \"cols\")) * z", -2.5e-30, 316, -7.9e-28, 24, true, false},
    /* The other branch, at the errors of products of fewer digits. */
    {"max(x * z + 1, 0)", 1, -1.001, 0.0008, 11, false, true},
    {"max(x * z + 1, 0)", 1, -1.1, 0.0008, 11, false, false},
    {"select(gt(x * z + 1, 0), 5, -5)", 1, -1.001, 5, 11, false, true},
    {"floor(x * z)", 1, 2.999, 3, 11, false, true},
};
enum { LEEWAYS = sizeof leeways / sizeof *leeways };

static const char *body_of(size_t i) {
  return i < CASES ? cases[i].body : leeways[i - CASES].body;
}

static void *library_of_cases(void) {
  char *spec = malloc(1 << 15);
  size_t length;
  void *library;

  assert_non_null(spec);
  length = (size_t)sprintf(spec, "local V = { \"rows\", \"cols\" }\n");
  for (size_t i = 0; i < CASES + LEEWAYS; i++)
    length += (size_t)sprintf(
        spec + length,
        "op \"m%zu\" { doc = \"test\", inputs = { x = V, z = V }, outputs = { y = V },\n"
        "  compute = function(x, z) return select(ne(x, 1e9), %s, z) end,\n"
        "  sizes = { { \"a\", rows = 1, cols = 3 } }, dtypes = { \"f32\" }, ulp = { f32 = 1 },\n"
        "  variants = { { backend = \"scalar\" } } }\n",
        i, body_of(i));
  library = references_build(spec);
  free(spec);
  return library;
}

static void test_what_is_known(void **state) {
  void *library = library_of_cases();
  int wrong = 0;

  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    const known_case *c = &cases[i];
    double x[POINTS], z[POINTS], y[POINTS], magnitude[POINTS];
    char known[POINTS + 1] = {0};
    const lathe_args args = {.buf = {x, z, y, magnitude}, .dim = {1, POINTS}};
    memcpy(x, c->x, sizeof x);
    memcpy(z, c->z, sizeof z);
    references_ask(references_find(library, "m%zu_reference_f64", i), false, &args, 0x1p-23, 0);
    for (int k = 0; k < POINTS; k++)
      known[k] = kind_of(y[k], magnitude[k]);
    if (strcmp(known, c->known) != 0) {
      print_error("%s: found '%s', not '%s' (%g %g %g, magnitudes %g %g %g)\n", c->body, known,
                  c->known, y[0], y[1], y[2], magnitude[0], magnitude[1], magnitude[2]);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

static bool is_allowed(lathe_fn *reference, const leeway_case *c, int digits, bool flushes) {
  const double unit = ldexp(1, 1 - digits);
  double x = c->x, z = c->z, y, magnitude;
  const lathe_args args = {.buf = {&x, &z, &y, &magnitude}, .dim = {1, 1}};

  references_ask(reference, false, &args, unit, flushes ? FLT_MIN / unit : 0);
  return fabs(c->got - y) <= unit * fmax(fabs(y), magnitude);
}

static void test_what_kernels_may_do(void **state) {
  void *library = library_of_cases();
  int wrong = 0;

  (void)state;
  for (size_t i = 0; i < LEEWAYS; i++) {
    const leeway_case *c = &leeways[i];
    lathe_fn *reference = references_find(library, "m%zu_reference_f64", CASES + i);
    const bool strictly = is_allowed(reference, c, FLT_MANT_DIG, false);
    if (!strictly && is_allowed(reference, c, c->digits, c->flushes) == c->allowed)
      continue;
    print_error("%s of %g, %g: %g is%s allowed%s\n", c->body, c->x, c->z, c->got,
                strictly || !c->allowed ? "" : " not", strictly ? " to any kernel" : "");
    wrong++;
  }
  assert_int_equal(wrong, 0);
}

const struct CMUnitTest magnitude_tests[] = {
    {"magnitude: what kernels may do", test_what_kernels_may_do, tree_setup, tree_teardown, NULL},
    {"magnitude: what is known", test_what_is_known, tree_setup, tree_teardown, NULL},
};
const size_t magnitude_test_count = sizeof magnitude_tests / sizeof *magnitude_tests;
