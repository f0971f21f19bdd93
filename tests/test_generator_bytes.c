/* test_generator_bytes.c - that lathe-gen writes the same bytes wherever and however it runs, and golden files. */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void expect_same(const char *one, const char *two) {
  run_result result =
      RUN(tree_root(), "diff", "-r", "--exclude=*.d", "--exclude=locales", one, two);
  assert_string_equal(result.out, "");
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
}

/* All of the project's specs, made twice: from copies of the sources in different folders, from
 * different current folders, and in different locales. */
static void writes_the_same_bytes_anywhere(void **state) {
  (void)state;
  tree_copy("specs", "one/specs");
  tree_copy("templates", "one/templates");
  tree_copy(tree_path("one/."), "a/longer/path/two");
  const char *gen = test_variable("LATHE_GEN");

  expect_success(run_program(tree_path("one"), (const char *const[]){gen, "all", NULL},
                             (const char *const[]){"LC_ALL=C", "TZ=UTC", NULL}));
#ifdef __SANITIZE_ADDRESS__
  return; /* sanitizers see the same two times more, and take four times as long */
#endif
  expect_success(
      run_program(tree_path("a/longer/path/two"), (const char *const[]){gen, "all", NULL},
                  (const char *const[]){"LC_ALL=C.UTF-8", "LANG=C.UTF-8", "TZ=Asia/Tokyo", NULL}));
  expect_same("one/out", "a/longer/path/two/out");

  /* A locale with a decimal comma; where there are no locale sources it is the same as C. */
  run_result made = RUN(tree_root(), "sh", "-c",
                        "mkdir locales && localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8");
  run_free(&made);
  char locpath[300];
  snprintf(locpath, sizeof locpath, "LOCPATH=%s", tree_path("locales"));
  expect_success(run_program(tree_path("one"),
                             (const char *const[]){gen, "--out", "again/gen", "all", NULL},
                             (const char *const[]){locpath, "LC_ALL=de_DE.UTF-8", NULL}));
  run_result found =
      RUN(tree_path("one"), "sed", "-i", "s,again/gen,out/gen,g", "again/gen/kernels.ninja");
  expect_success(found);
  expect_same("one/out/gen", "one/again/gen");

  /* Neither a folder of this machine nor the day in anything but the depfiles. */
  found =
      RUN(tree_root(), "sh", "-c",
          "grep -r --exclude='*.d' -e \"$0\" -e \"$(date +%Y-%m-%d)\" -e \"$(date '+%b %e %Y')\" "
          "one/out a/longer/path/two/out",
          tree_root());
  assert_string_equal(found.out, "");
  assert_int_equal(found.status, 1);
  run_free(&found);
}

/* A function is called once, and its op and the gradient have graphs of their own that begin with what it gave: what is
 * made of the op is the same with and without a gradient. */
static void makes_an_op_alike_beside_its_gradient(void **state) {
  (void)state;
  static const char row[] = "\"rows\"", both[] = "\"rows\", \"cols\"";
  static const char body[] = "local e = exp(s * x - detach(max(x, \"cols\")))\n"
                             "    return s * e / sum(e * x, \"cols\") + s / count(\"cols\")";
  write_matrix_op(row, both, body, "");
  expect_success(GEN("--no-line", "--out", "alone", "all"));
  write_matrix_op(row, both, body, "backward = true");
  expect_success(GEN("--no-line", "--out", "both", "all"));
  expect_success(
      RUN(tree_root(), "cp", "alone/t/table.c", "both/t/table.c")); /* has the gradient */
  expect_same("alone/t", "both/t");
}

/* `expand` of one op writes what `all` writes for it. */
static void expands_one_op_as_it_does_all(void **state) {
  (void)state;
  expect_success(GEN("--out", "all", "all"));
  expect_success(GEN("--out", "one", "expand", "golden_map", "golden_rows"));
  expect_same("all/golden_map", "one/golden_map");
  expect_same("all/golden_rows", "one/golden_rows");
  /* As the build calls it, with words of --ops that name ops of other specs. */
  expect_success(GEN("--out", "alone", "--spec", "specs/golden.lua", "--ops", "golden_map,other",
                     "expand", "golden_map"));
  expect_same("all/golden_map", "alone/golden_map");
}

/* The head of a file names all templates that made it, and the command that makes it again: with the options that
 * change what is in it. */
static void heads_a_file_with_how_it_is_made(void **state) {
  (void)state;
  static const char path[] = "out/gen/golden_map/golden_map__avx2.c",
                    again[] = "Make it again with: lathe-gen ";
  expect_success(GEN("--no-line", "--dtypes", "f32", "all"));
  char *made = tree_read(path), command[200];
  expect_in(made, "from specs/golden.lua, templates/c/map.c and templates/c/parts.c; do not edit");
  const char *words = strstr(made, again);
  assert_non_null(words);
  words += strlen(again);
  const char *end = strstr(words, " */\n");
  assert_non_null(end);
  snprintf(command, sizeof command, "\"$LATHE_GEN\" %.*s", (int)(end - words), words);
  tree_remove(path);
  expect_success(RUN(tree_root(), "sh", "-c", command));
  char *remade = tree_read(path);
  assert_string_equal(remade, made);
  free(made);
  free(remade);
}

/* ---- golden files ------------------------------------------------------------------------- */

/* What the project's templates make of small specs, a file per template and instruction set. With
 * LATHE_UPDATE_GOLDEN=1 in the environment the files are written anew. */
static void matches_the_golden_files(void **state) {
  (void)state;
  expect_success(GEN("--no-line", "--out", "out", "all"));
  static const char *const ops[] = {"golden_map", "golden_reduce", "golden_rows"};
  static const char *const parts[] = {"__scalar", "__sse2", "__avx2", "__avx512", "_reference"};
  const char *update = getenv("LATHE_UPDATE_GOLDEN");
  char golden[512], made[128];
  size_t different = 0;
  for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      snprintf(golden, sizeof golden, "%s/tests/golden/expected/%s%s.c", test_variable("LATHE_SRC"),
               ops[o], parts[p]);
      snprintf(made, sizeof made, "out/%s/%s%s.c", ops[o], ops[o], parts[p]);
      if (update && strcmp(update, "1") == 0) {
        expect_success(RUN(tree_root(), "cp", made, golden));
        continue;
      }
      run_result result = RUN(tree_root(), "diff", "-u", golden, made);
      if (result.status != 0) {
        different++;
        print_error("%.900s%s\n", result.out, result.err);
      }
      run_free(&result);
    }
  }
  if (different > 0) {
    fail_msg("%zu golden files differ; if that is meant, LATHE_UPDATE_GOLDEN=1 writes them anew",
             different);
  }
}

const struct CMUnitTest generator_bytes_tests[] = {
    {"generator: writes_the_same_bytes_anywhere", writes_the_same_bytes_anywhere, tree_setup,
     tree_teardown, NULL},
    GOLDEN_TEST(makes_an_op_alike_beside_its_gradient),
    GOLDEN_TEST(expands_one_op_as_it_does_all),
    GOLDEN_TEST(heads_a_file_with_how_it_is_made),
    GOLDEN_TEST(matches_the_golden_files),
};
const size_t generator_bytes_test_count =
    sizeof generator_bytes_tests / sizeof *generator_bytes_tests;
