#include "small_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_program.h"
#include "tests.h"

void small_spec_replace(int line, const char *text) {
  char *old = tree_read(SMALL_SPEC);
  char *from = old;
  for (int i = 1; i < line; i++) {
    from = strchr(from, '\n') + 1;
  }
  char *to = strchr(from, '\n') + 1;
  char new[4096];
  snprintf(new, sizeof new, "%.*s%s%s%s", (int)(from - old), old, text ? text : "",
           text ? "\n" : "", to);
  tree_write(SMALL_SPEC, new);
  free(old);
}

void small_spec_expect(const char *message) {
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "index");
  assert_string_equal(result.err, message);
  assert_int_equal(result.status, 1);
  assert_string_equal(result.out, "");
  assert_false(tree_has("out"));
  run_free(&result);
}

static void change_spec(const spec_change *change) {
  if (change->line == 0) {
    tree_write(SMALL_SPEC, change->text);
  } else {
    small_spec_replace(change->line, change->text);
  }
}

void small_spec_is_refused(void **state) {
  const spec_change *want = *state;
  change_spec(want);
  small_spec_expect(want->message);
}

void small_spec_is_accepted(void **state) {
  change_spec(*state);
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "index");
  assert_string_equal(result.err, "");
  assert_string_equal(result.out, "");
  assert_int_equal(result.status, 0);
  assert_true(tree_has("out/gen/table.c"));
  run_free(&result);
}
