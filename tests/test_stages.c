/* test_stages.c - what `lathe-gen show` prints of the stages' records: golden files, and what it refuses. */
#include "run_program.h"
#include "tests.h"
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOW(...) RUN(tree_root(), test_variable("LATHE_GEN"), "show", __VA_ARGS__)

/* The golden specs and those of small CUDA kernels, with the project's templates. */
static int stages_tree(void **state) {
  int failed = tree_setup(state);
  if (!failed) {
    tree_copy("tests/cuda/specs", "specs");
    tree_copy("tests/golden/specs/golden.lua", "specs/golden.lua");
    tree_copy("templates", "templates");
  }
  return failed;
}

/* With LATHE_UPDATE_GOLDEN=1 in the environment the files are written anew. */
static void matches_the_golden_files(void **state) {
  (void)state;
  static const char *const stages[] = {"trace", "program", "schedule"};
  const char *update = getenv("LATHE_UPDATE_GOLDEN");
  char golden[512];
  for (size_t s = 0; s < sizeof stages / sizeof *stages; s++) {
    run_result shown = SHOW("golden_map", "small_reduce", "small_rows", "--stage", stages[s]);
    assert_string_equal(shown.err, "");
    assert_int_equal(shown.status, 0);
    tree_write("shown.txt", shown.out);
    run_free(&shown);
    snprintf(golden, sizeof golden, "%s/tests/golden/expected/show_%s.txt",
             test_variable("LATHE_SRC"), stages[s]);
    run_result result = update && strcmp(update, "1") == 0
                            ? RUN(tree_root(), "cp", "shown.txt", golden)
                            : RUN(tree_root(), "diff", "-u", golden, "shown.txt");
    if (result.status != 0)
      fail_msg("%.900s%s\nif that is meant, LATHE_UPDATE_GOLDEN=1 writes it anew", result.out,
               result.err);
    run_free(&result);
  }
}

static void shows_the_functions_of_launches(void **state) {
  (void)state;
  run_result shown = SHOW("small_rows", "--stage", "launch");
  assert_string_equal(shown.err, "");
  assert_non_null(
      strstr(shown.out, "  part small_rows_f32__cuda in small_rows/small_rows__cuda_host.c\n"));
  assert_non_null(strstr(shown.out, "static int small_rows_f32__cuda_launches("));
  run_free(&shown);
}

static void expect_refused(run_result result, const char *message) {
  assert_string_equal(result.err, message);
  assert_int_equal(result.status, 2);
  assert_string_equal(result.out, "");
  run_free(&result);
}

static void refuses_what_there_is_not(void **state) {
  (void)state;
  expect_refused(SHOW("small_rows", "--stage", "programs"),
                 "lathe-gen: --stage: expected 'trace', 'program', 'schedule' or 'launch', found "
                 "'programs' (did you mean 'program'?)\n");
  expect_refused(SHOW("small_row"),
                 "lathe-gen: show: unknown op 'small_row' (did you mean 'small_rows'?)\n");
  expect_refused(SHOW("small_map", "--ops", "small_rows"),
                 "lathe-gen: show: 'small_map' is left out by configure --ops=small_rows\n");
}

const struct CMUnitTest stages_tests[] = {
    {"stages: matches_the_golden_files", matches_the_golden_files, stages_tree, tree_teardown,
     NULL},
    {"stages: shows_the_functions_of_launches", shows_the_functions_of_launches, stages_tree,
     tree_teardown, NULL},
    {"stages: refuses_what_there_is_not", refuses_what_there_is_not, stages_tree, tree_teardown,
     NULL},
};
const size_t stages_test_count = sizeof stages_tests / sizeof *stages_tests;
