/* Names of operands: generated code calls them in a way of its own, so that they may be what people call them, words of
 * languages and templates among these; names that code could not tell apart are refused. tests/test_generated.sh
 * compiles kernels with such names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_program.h"
#include "small_spec.h"
#include "tests.h"
#include "tree.h"

/* What lathe-gen says of a spec with an output of that name; free the result. */
static run_result index_with(const char *name) {
  char line[128];
  snprintf(line, sizeof line, "  outputs = { [\"%s\"] = { \"n\" } },", name);
  small_spec_replace(4, line);
  return RUN(tree_root(), test_variable("LATHE_GEN"), "index");
}

static void accepts_what_operands_are_called(void **state) {
  (void)state;
  static const char *const words[] = {
      "a",     "args",   "b2",   "base",      "bias",   "count",  "exp", "dim",   "dx",
      "first", "float4", "for",  "in",        "in_x",   "int",    "key", "lathe", "loss",
      "main",  "mask",   "n",    "out",       "padded", "q",      "row", "rows",  "rstd",
      "size",  "state",  "sum1", "step_size", "size_t", "target", "t1",  "u2",    "value",
      "vec4",  "while",  "hat_", "x_t",       "y_hat"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    run_result result = index_with(words[i]);
    assert_string_equal(result.err, "");
    run_free(&result);
  }
}

/* The small spec with an input and an output of these names, and their gradient. */
static void expect_of_names(const char *input, const char *output, const char *message) {
  char text[512];
  snprintf(
      text, sizeof text,
      "op \"t\" {\n"
      "  doc = \"test\", inputs = { [\"%s\"] = { \"n\" } }, outputs = { [\"%s\"] = { \"n\" } },\n"
      "  compute = function(%s) return %s * %s end,\n"
      "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = 1,\n"
      "  variants = { { backend = \"scalar\" } },\n"
      "  backward = true,\n"
      "}\n",
      input, output, input, input, input);
  tree_write(SMALL_SPEC, text);
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "index");
  assert_string_equal(result.err, message);
  run_free(&result);
}

static void refuses_what_code_would_call_the_same(void **state) {
  (void)state;
  expect_of_names("y_hat", "yhat",
                  "specs/t.lua:3: op \"t\": expected names that differ in more than a _, found "
                  "'y_hat' and 'yhat'\n");
  expect_of_names("x", "x_at0", "");
  expect_of_names("y_magnitude", "y", "");
}

/* The rows of an op are `rows_` in C, and a scalar n_rows is not. */
static void tells_scalars_from_its_own(void **state) {
  (void)state;
  tree_write(SMALL_SPEC,
             "op \"t\" {\n"
             "  doc = \"test\", inputs = { x = { \"rows\", \"n\" } }, outputs = { y = { \"rows\", "
             "\"n\" } },\n"
             "  scalars = { n_rows = 2 },\n"
             "  compute = function(x, n_rows) return (x - max(x, \"n\")) * n_rows end,\n"
             "  sizes = { { \"1K\", rows = 10, n = 100 } }, dtypes = { \"f32\" }, ulp = 1,\n"
             "  variants = { { backend = \"scalar\" } },\n"
             "}\n");
  tree_remove("templates");
  tree_copy("templates", "templates");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
  assert_string_equal(result.err, "");
  run_free(&result);
  char *made = tree_read("out/gen/t/t_reference.c");
  assert_non_null(strstr(made, "arg_nrows"));
  assert_null(strstr(made, "const size_t rows ="));
  free(made);
}

static void derives_by_what_operands_are_called(void **state) {
  (void)state;
  expect_of_names("o", "y", "");
  expect_of_names("x", "dx", "");
}

#define TEST(function)                                                                             \
  { "names: " #function, function, tree_setup_small, tree_teardown, NULL }
#define REFUSES(name, text, message)                                                               \
  SMALL_REFUSES("names: refuses " name, 3, "  inputs = { " text " = { \"n\" } },",                 \
                "specs/t.lua:3: inputs: expected " message)

const struct CMUnitTest names_tests[] = {
    TEST(accepts_what_operands_are_called),
    TEST(refuses_what_code_would_call_the_same),
    TEST(tells_scalars_from_its_own),
    TEST(derives_by_what_operands_are_called),
    REFUSES("upper case", "X", "a name of at most 64 lower-case letters, digits and _, found 'X'"),
    SMALL_REFUSES("names: refuses the library's", 1, "op \"lathe\" {",
                  "specs/t.lua:1: op: expected a name that is not 'lathe', nor begins with "
                  "'lathe_', as names of the "
                  "library do, found 'lathe'"),
    SMALL_REFUSES("names: refuses what the library's begin with", 1, "op \"lathe_find\" {",
                  "specs/t.lua:1: op: expected a name that is not 'lathe', nor begins with "
                  "'lathe_', as names of the "
                  "library do, found 'lathe_find'"),
    SMALL_ACCEPTS("names: accepts one that begins alike", 1, "op \"lathes\" {"),
    REFUSES("a number", "[1]", "a name of at most 64 lower-case letters, digits and _, found 1"),
};
const size_t names_test_count = sizeof names_tests / sizeof *names_tests;
