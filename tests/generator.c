/* generator.c - calls of lathe-gen. */
#include "generator.h"

#include <stdio.h>
#include <string.h>

int golden_tree(void **state) {
  int failed = tree_setup(state);
  if (!failed) {
    tree_copy("tests/golden/specs", "specs");
    tree_copy("templates", "templates");
  }
  return failed;
}

void expect_success(run_result result) {
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
}

void expect_failure(run_result result, int status, const char *message) {
  assert_string_equal(result.err, message);
  assert_int_equal(result.status, status);
  assert_string_equal(result.out, "");
  run_free(&result);
}

void expect_in(const char *text, const char *part) {
  if (!strstr(text, part)) {
    fail_msg("'%s' is not in:\n%s", part, text);
  }
}

void write_matrix_op(const char *axes, const char *output, const char *body, const char *more) {
  char spec[1024];
  snprintf(spec, sizeof spec,
           "op \"t\" {\n  doc = \"test\",\n"
           "  inputs = { x = { \"rows\", \"cols\" }, s = { %s } }, outputs = { y = { %s } },\n"
           "  compute = function(x, s) %s end,\n"
           "  sizes = { { \"a\", rows = 2, cols = 3 } }, dtypes = { \"f32\" }, ulp = { f32 = 1 },\n"
           "  variants = { { backend = \"scalar\" } }, %s\n}\n",
           axes, output, body, more);
  tree_write("specs/golden.lua", spec);
}
