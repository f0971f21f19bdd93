/* From a spec's function to statements in C: what is shared, what is folded, and that no bit of
 * any result changes by it. The template here is one line, the point function's body. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_program.h"
#include "tests.h"
#include "tree.h"

typedef struct lowering {
  const char *part;                      /* of what the op is made into: f32__scalar, ... */
  const char *parameters, *value, *body; /* x, y, z are inputs, s and t scalars */
} lowering;

static void write_spec(const char *parameters, const char *value) {
  char inputs[256] = "", scalars[256] = "", spec[2048];
  for (const char *p = parameters; *p; p++) {
    if (*p >= 'x' && *p <= 'z') {
      snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), "%c = { \"n\" }, ", *p);
    } else if (*p == 's' || *p == 't') {
      snprintf(scalars + strlen(scalars), sizeof scalars - strlen(scalars), "%c = 2, ", *p);
    }
  }
  snprintf(spec, sizeof spec,
           "op \"t\" {\n"
           "  doc = \"test\", inputs = { %s }, scalars = { %s }, outputs = { r = { \"n\" } },\n"
           "  compute = function(%s) return %s end,\n"
           "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\", \"f64\" },\n"
           "  ulp = { f32 = 1, f64 = 1 }, variants = { { backend = { \"scalar\", \"avx2\" } } },\n"
           "}\n",
           inputs, scalars, parameters, value);
  tree_write("specs/t.lua", spec);
}

static void lowers(void **state) {
  const lowering *want = *state;
  write_spec(want->parameters, want->value);
  tree_write("templates/c/map.c", "BEGIN $k.name$\n"
                                  "$(k:point(\"point\", k:results(k.program.points)).body)\n"
                                  "END\n");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "--no-line", "expand", "t");
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
  char path[64], mark[64];
  snprintf(path, sizeof path, "out/gen/t/t%s.c", strstr(want->part, "__"));
  snprintf(mark, sizeof mark, "BEGIN t_%s\n", want->part);
  char *text = tree_read(path), *begin = strstr(text, mark);
  assert_non_null(begin);
  char *end = strstr(begin, "END\n");
  assert_non_null(end);
  *end = '\0';
  assert_string_equal(begin + strlen(mark), want->body);
  free(text);
}

/* name, parameters, value, and the body in scalar C for f32. */
#define LOWERS(name, parameters, value, body)                                                      \
  LOWERS_IN(name, "f32__scalar", parameters, value, body)
#define LOWERS_IN(name, part, parameters, value, body)                                             \
  {                                                                                                \
    "expression: " name, lowers, tree_setup_small, tree_teardown, &(lowering) {                    \
      part, parameters, value, body                                                                \
    }                                                                                              \
  }
#define UNCHANGED "return in_x_;\n"

const struct CMUnitTest expression_tests[] = {
    /* shared */
    LOWERS("a subexpression used twice is there once", "x, y", "x * y + 1 / (x * y)",
           "const float t1 = in_x_ * in_y_;\n"
           "const float t2 = 1.0f;\n"
           "const float t3 = t2 / t1;\n"
           "const float t4 = t1 + t3;\n"
           "return t4;\n"),
    LOWERS("products and sums are shared in either order", "x, y", "(x * y + x) * (x + y * x)",
           "const float t1 = in_x_ * in_y_;\n"
           "const float t2 = in_x_ + t1;\n"
           "const float t3 = t2 * t2;\n"
           "return t3;\n"),
    LOWERS("differences are not", "x, y", "(x - y) * (y - x)",
           "const float t1 = in_x_ - in_y_;\n"
           "const float t2 = in_y_ - in_x_;\n"
           "const float t3 = t1 * t2;\n"
           "return t3;\n"),
    LOWERS("what only scalars make is computed ahead", "x, s, t", "x * (s + t)",
           "const float t1 = in_x_ * u1;\n"
           "return t1;\n"),

    /* folded, with the same bits */
    LOWERS("x - 0 is x", "x", "x - 0", UNCHANGED),
    LOWERS("x * 1 is x", "x", "x * 1", UNCHANGED),
    LOWERS("x / 1 is x", "x", "x / 1", UNCHANGED),
    LOWERS("-(-x) is x", "x", "-(-x)", UNCHANGED),
    LOWERS("select of equals is one of them", "x, y", "x + select(lt(x, y), y, y)",
           "const float t1 = in_x_ + in_y_;\n"
           "return t1;\n"),
    LOWERS("x * -1 is -x", "x", "x * -1",
           "const float t1 = -in_x_;\n"
           "return t1;\n"),
    LOWERS("x ^ 5 is three products", "x", "x ^ 5",
           "const float t1 = in_x_ * in_x_;\n"
           "const float t2 = t1 * t1;\n"
           "const float t3 = in_x_ * t2;\n"
           "return t3;\n"),
    LOWERS("x ^ -1.5 is of a product with the root", "x", "x ^ -1.5",
           "const float t1 = 1.0f;\n"
           "const float t2 = __builtin_sqrtf(in_x_);\n"
           "const float t3 = in_x_ * t2;\n"
           "const float t4 = t1 / t3;\n"
           "return t4;\n"),
    LOWERS("abs(-x) is abs(x)", "x", "abs(-x)",
           "const float t1 = __builtin_fabsf(in_x_);\n"
           "return t1;\n"),
    LOWERS("constants", "x", "x * ((2 + 3) * 4 - 6 / 2)",
           "const float t1 = 17.0f;\n"
           "const float t2 = in_x_ * t1;\n"
           "return t2;\n"),
    LOWERS("x / 4 is x * 0.25", "x", "x / 4",
           "const float t1 = 0.25f;\n"
           "const float t2 = in_x_ * t1;\n"
           "return t2;\n"),
    LOWERS("x / -0.5 is x * -2", "x", "x / -0.5",
           "const float t1 = -2.0f;\n"
           "const float t2 = in_x_ * t1;\n"
           "return t2;\n"),

    /* left alone: the bits would change */
    LOWERS("x + 0 stays, for -0", "x", "x + 0",
           "const float t1 = 0.0f;\n"
           "const float t2 = in_x_ + t1;\n"
           "return t2;\n"),
    LOWERS("x - (-0.0) stays, for -0", "x", "x - (-0.0)",
           "const float t1 = -0.0f;\n"
           "const float t2 = in_x_ - t1;\n"
           "return t2;\n"),
    LOWERS("0 - x stays, for 0", "x", "0 - x",
           "const float t1 = 0.0f;\n"
           "const float t2 = t1 - in_x_;\n"
           "return t2;\n"),
    LOWERS("x * 0 stays, for NaN and infinity", "x", "x * 0",
           "const float t1 = 0.0f;\n"
           "const float t2 = in_x_ * t1;\n"
           "return t2;\n"),
    LOWERS("x - x stays, for NaN and infinity", "x", "x - x",
           "const float t1 = in_x_ - in_x_;\n"
           "return t1;\n"),
    LOWERS("x / x stays", "x", "x / x",
           "const float t1 = in_x_ / in_x_;\n"
           "return t1;\n"),
    LOWERS("x / 3 stays", "x", "x / 3",
           "const float t1 = 3.0f;\n"
           "const float t2 = in_x_ / t1;\n"
           "return t2;\n"),
    LOWERS("x / 2^120 stays: the other power is not normal in f32", "x", "x / 2 ^ 120",
           "const float t1 = 1.329228e+36f;\n"
           "const float t2 = in_x_ / t1;\n"
           "return t2;\n"),
    LOWERS("sums are not regrouped", "x", "x + 1 + 2",
           "const float t1 = 1.0f;\n"
           "const float t2 = in_x_ + t1;\n"
           "const float t3 = 2.0f;\n"
           "const float t4 = t2 + t3;\n"
           "return t4;\n"),
    LOWERS("x * y + z is rounded twice", "x, y, z", "x * y + z",
           "const float t1 = in_x_ * in_y_;\n"
           "const float t2 = in_z_ + t1;\n"
           "return t2;\n"),

    /* constants in each precision */
    LOWERS("a constant in f32", "x", "x + 0.1",
           "const float t1 = 0.1f;\n"
           "const float t2 = in_x_ + t1;\n"
           "return t2;\n"),
    LOWERS_IN("a constant in f64", "f64__scalar", "x", "x + 0.1",
              "const double t1 = 0.1;\n"
              "const double t2 = in_x_ + t1;\n"
              "return t2;\n"),
    LOWERS("a constant that f32 rounds", "x", "x + 16777217",
           "const float t1 = 16777216.0f;\n"
           "const float t2 = in_x_ + t1;\n"
           "return t2;\n"),
    LOWERS_IN("a third in f64", "f64__scalar", "x", "x + 1 / 3",
              "const double t1 = 0.3333333333333333;\n"
              "const double t2 = in_x_ + t1;\n"
              "return t2;\n"),
    LOWERS("infinity and NaN", "x", "x + 1 / 0 - 0 / 0",
           "const float t1 = __builtin_inff();\n"
           "const float t2 = in_x_ + t1;\n"
           "const float t3 = __builtin_nanf(\"\");\n"
           "const float t4 = t2 - t3;\n"
           "return t4;\n"),

    /* selection, and NaN through max and min */
    LOWERS("select", "x, y", "select(lt(x, y), x, 1)",
           "const bool t1 = in_x_ < in_y_;\n"
           "const float t2 = 1.0f;\n"
           "const float t3 = t1 ? in_x_ : t2;\n"
           "return t3;\n"),
    LOWERS("max of two: NaN if either is", "x, y", "max(x, y)",
           "const bool t1 = in_x_ != in_x_;\n"
           "const float t2 = in_x_ > in_y_ ? in_x_ : in_y_;\n"
           "const float t3 = t1 ? in_x_ : t2;\n"
           "return t3;\n"),
    LOWERS("min with a constant: NaN if x is", "x", "min(x, 1)",
           "const float t1 = 1.0f;\n"
           "const float t2 = t1 < in_x_ ? t1 : in_x_;\n"
           "return t2;\n"),
    LOWERS_IN("max in vectors, whose instruction drops NaN", "f32__avx2", "x, y", "max(x, y)",
              "const __m256 t1 = _mm256_cmp_ps(in_x_, in_x_, _CMP_NEQ_UQ);\n"
              "const __m256 t2 = _mm256_max_ps(in_x_, in_y_);\n"
              "const __m256 t3 = _mm256_blendv_ps(t2, in_x_, t1);\n"
              "return t3;\n"),
    LOWERS_IN("vectors in f64", "f64__avx2", "x, s", "fma(x, x, s) / 3",
              "const __m256d t1 = _mm256_fmadd_pd(in_x_, in_x_, arg_s_);\n"
              "const __m256d t2 = _mm256_set1_pd(3.0);\n"
              "const __m256d t3 = _mm256_div_pd(t1, t2);\n"
              "return t3;\n"),
};
const size_t expression_test_count = sizeof expression_tests / sizeof *expression_tests;
