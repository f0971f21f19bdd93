/* Incremental builds: in a copy of the sources with three small specs and two backends, what
 * ninja runs again after a change, and what it leaves alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run_program.h"
#include "tests.h"
#include "tree.h"

/* ---- a copy that is built ----------------------------------------------------------------- */

/* A spec of an op with one input; body: its output and its function. */
static void write_spec(const char *path, const char *name, const char *body) {
  char spec[1024];
  snprintf(spec, sizeof spec,
           "op \"%s\" {\n"
           "  doc = \"test\",\n"
           "  inputs = { x = { \"n\" } },\n"
           "  %s,\n"
           "  sizes = { { \"1K\", n = 1000 } },\n"
           "  dtypes = { \"f32\" },\n"
           "  ulp = { f32 = 1 },\n"
           "  variants = { { backend = { \"scalar\", \"sse2\", \"avx2\" } } },\n"
           "}\n",
           name, body);
  tree_write(path, spec);
}

#define MAP(value) "outputs = { y = { \"n\" } }, compute = function(x) return " value " end"
#define REDUCE(value) "outputs = { y = {} }, compute = function(x) return " value " end"

static void write_sources(void) {
  static const char *const copied[] = {"configure", "build.ninja.in", "gen", "templates",
                                       "runtime/library"};
  char to[64];
  for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
    snprintf(to, sizeof to, "source/%s", copied[i]);
    tree_copy(copied[i], to);
  }
  write_spec("source/specs/a.lua", "a", MAP("x + 1"));
  write_spec("source/specs/b.lua", "b", MAP("x * 2"));
  write_spec("source/specs/c.lua", "c", REDUCE("sum(x)"));
}

/* Runs a command in the build folder; free the result. */
static run_result in_build(const char *const *arguments) {
  return run_program(tree_path("build"), arguments,
                     (const char *const[]){"CFLAGS=-O0", "KERNEL_CFLAGS=-O0", "CC=cc", "LC_ALL=C",
                                           "NINJA_STATUS=", NULL});
}
#define IN_BUILD(...) in_build((const char *const[]){__VA_ARGS__, NULL})

/* Builds the kernels; the text of what ninja ran. Free it. */
static char *build(void) {
  run_result result = IN_BUILD("ninja", "out/gen/kernels.a");
  assert_string_equal(result.err, "");
  if (result.status != 0) {
    fail_msg("ninja failed:\n%s", result.out);
  }
  free(result.err);
  return result.out;
}

static void ran(const char *log, const char *what) {
  if (!strstr(log, what)) {
    fail_msg("expected ninja to run '%s'; it ran:\n%s", what, log);
  }
}

static void ran_not(const char *log, const char *what) {
  if (strstr(log, what)) {
    fail_msg("expected ninja not to run '%s'; it ran:\n%s", what, log);
  }
}

/* Fails unless a build runs nothing. */
static void expect_nothing_to_do(void) {
  char *log = build();
  assert_string_equal(log, "ninja: no work to do.\n");
  free(log);
}

/* The first test builds; every test works on a copy of that. */
static char built[64];

static void remove_built(void) {
  run_result result = RUN(NULL, "rm", "-rf", built);
  run_free(&result);
}

static int built_tree(void **state) {
  if (tree_setup(state) != 0) {
    return -1;
  }
  run_result result;
  if (built[0] == '\0') {
    write_sources();
    tree_write("build/here", "");
    result = IN_BUILD("../source/configure", "--disable-avx2", "--disable-avx512");
    if (result.status == 0) {
      run_free(&result);
      result = IN_BUILD("ninja", "out/gen/kernels.a");
    }
    if (result.status != 0) {
      print_error("%s%s", result.out, result.err);
      return -1;
    }
    run_free(&result);
    strcpy(built, "/tmp/lathe-built-XXXXXX");
    if (!mkdtemp(built)) {
      return -1;
    }
    atexit(remove_built);
    result = RUN(NULL, "cp", "-a", tree_path("."), built);
  } else {
    char from[80];
    snprintf(from, sizeof from, "%s/.", built);
    result = RUN(NULL, "cp", "-a", from, tree_path("."));
  }
  int status = result.status;
  run_free(&result);
  return status;
}

/* ---- tests -------------------------------------------------------------------------------- */

static void runs_nothing_again(void **state) {
  (void)state;
  expect_nothing_to_do();
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  expect_nothing_to_do();
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds =
      (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
  assert_true(seconds < 1); /* 0.1 on a machine with nothing else to do */
}

static void a_touched_spec_compiles_nothing(void **state) {
  (void)state;
  char *spec = tree_read("source/specs/a.lua");
  tree_write("source/specs/a.lua", spec);
  char *log = build();
  ran(log, "INDEX");
  ran(log, "EXPAND a\n");
  ran_not(log, "EXPAND b\n");
  ran_not(log, "EXPAND c\n");
  ran_not(log, "CC ");
  ran_not(log, "AR ");
  expect_nothing_to_do();
  free(log);
  free(spec);
}

static void a_changed_spec_rebuilds_its_op(void **state) {
  (void)state;
  write_spec("source/specs/a.lua", "a", MAP("x + 2"));
  char *log = build();
  ran(log, "EXPAND a\n");
  ran(log, "CC out/gen/a/a__scalar.o");
  ran(log, "CC out/gen/a/a__sse2.o");
  ran(log, "CC out/gen/a/a_reference.o");
  ran(log, "AR out/gen/kernels.a");
  ran_not(log, "EXPAND b\n");
  ran_not(log, "EXPAND c\n");
  ran_not(log, "out/gen/b/");
  ran_not(log, "out/gen/c/");
  ran_not(log, "table.o");
  expect_nothing_to_do();
  free(log);
}

static void a_new_spec_adds_its_rows(void **state) {
  (void)state;
  write_spec("source/specs/d.lua", "d", MAP("x - 1"));
  char *log = build();
  ran(log, "EXPAND d\n");
  ran(log, "CC out/gen/d/d__sse2.o");
  ran(log, "CC out/gen/table.o");
  ran(log, "AR out/gen/kernels.a");
  ran_not(log, "EXPAND a\n");
  ran_not(log, "out/gen/a/");
  char *table = tree_read("build/out/gen/table.c");
  assert_non_null(strstr(table, "\"d_f32__sse2_u1\""));
  expect_nothing_to_do();
  free(table);
  free(log);
}

static void a_deleted_spec_takes_its_files_along(void **state) {
  (void)state;
  assert_true(tree_has("build/out/gen/b/b__sse2.o"));
  tree_remove("source/specs/b.lua");
  char *log = build();
  ran(log, "CC out/gen/table.o");
  ran(log, "AR out/gen/kernels.a");
  ran_not(log, "out/gen/a/");
  assert_false(tree_has("build/out/gen/b"));
  char *table = tree_read("build/out/gen/table.c");
  assert_null(strstr(table, "b_f32"));
  run_result members = IN_BUILD("ar", "t", "out/gen/kernels.a");
  assert_null(strstr(members.out, "b_f32"));
  assert_non_null(strstr(members.out, "a__sse2.o"));
  run_free(&members);
  expect_nothing_to_do();
  free(table);
  free(log);
}

/* A spec's file that is there again, as in a checkout of another branch and back. */
static void a_spec_that_comes_back_is_built(void **state) {
  (void)state;
  char *spec = tree_read("source/specs/b.lua");
  tree_remove("source/specs/b.lua");
  free(build());
  tree_write("source/specs/b.lua", spec);
  char *log = build();
  ran(log, "EXPAND b\n");
  ran(log, "CC out/gen/b/b__sse2.o");
  expect_nothing_to_do();
  free(log);
  free(spec);
}

static void a_removed_variant_takes_its_file_along(void **state) {
  (void)state;
  char *spec = tree_read("source/specs/a.lua");
  char *sse2 = strstr(spec, "\"sse2\",");
  assert_non_null(sse2);
  memset(sse2, ' ', strlen("\"sse2\","));
  tree_write("source/specs/a.lua", spec);
  char *log = build();
  assert_false(tree_has("build/out/gen/a/a__sse2.c"));
  assert_false(tree_has("build/out/gen/a/a__sse2.o"));
  assert_true(tree_has("build/out/gen/a/a__scalar.o"));
  ran_not(log, "out/gen/b/");
  expect_nothing_to_do();
  free(log);
  free(spec);
}

static void a_changed_template_rebuilds_what_uses_it(void **state) {
  (void)state;
  char *template = tree_read("source/templates/c/map.c");
  char *with = malloc(strlen(template) + 64);
  assert_non_null(with);
  sprintf(with, "%sextern int a_new_line;\n", template);
  tree_write("source/templates/c/map.c", with);
  char *log = build();
  ran(log, "CC out/gen/a/a__sse2.o");
  ran(log, "CC out/gen/b/b__scalar.o");
  ran_not(log, "EXPAND c\n");
  ran_not(log, "out/gen/c/");
  ran_not(log, "a_reference.o");
  ran_not(log, "table.o");
  expect_nothing_to_do();
  free(with);
  free(template);
  free(log);
}

/* A change of a file that op b includes expands b again. */
static void expect_include_seen(const char *body, const char *before, const char *after) {
  tree_write("source/specs/include/one.lua", before);
  write_spec("source/specs/b.lua", "b", body);
  free(build());
  expect_nothing_to_do();
  tree_write("source/specs/include/one.lua", after);
  char *log = build();
  ran(log, "EXPAND b\n");
  ran(log, "CC out/gen/b/b__scalar.o");
  ran_not(log, "EXPAND a\n");
  expect_nothing_to_do();
  free(log);
}

static void a_changed_include_rebuilds_what_uses_it(void **state) {
  (void)state;
  expect_include_seen("outputs = { y = { \"n\" } }, compute = include \"include/one.lua\"",
                      "return function(x) return x * 3 end\n",
                      "return function(x) return x * 5 end\n");
}

static void an_include_of_an_include_is_seen(void **state) {
  (void)state;
  tree_write("source/specs/include/two.lua", "return include \"include/one.lua\"\n");
  expect_include_seen("outputs = { y = { \"n\" } }, compute = include \"include/two.lua\"",
                      "return function(x) return x * 7 end\n",
                      "return function(x) return x * 9 end\n");
}

static void a_broken_spec_fails_with_its_line(void **state) {
  (void)state;
  char *before = tree_read("build/out/gen/table.c");
  write_spec("source/specs/a.lua", "a", MAP("x + "));
  run_result result = IN_BUILD("ninja", "out/gen/kernels.a");
  assert_int_not_equal(result.status, 0);
  ran(result.out, "\nspecs/a.lua:4: unexpected symbol near 'end'\n");
  ran_not(result.out, "CC ");
  run_free(&result);
  char *after = tree_read("build/out/gen/table.c");
  assert_string_equal(after, before);
  assert_true(tree_has("build/out/gen/kernels.a"));
  assert_true(tree_has("build/out/gen/a/a__sse2.o"));

  write_spec("source/specs/a.lua", "a", MAP("x + 3"));
  char *log = build();
  ran(log, "CC out/gen/a/a__sse2.o");
  ran_not(log, "out/gen/b/");
  expect_nothing_to_do();
  free(log);
  free(before);
  free(after);
}

static void a_backend_that_is_off_is_a_row(void **state) {
  (void)state;
  char *table = tree_read("build/out/gen/table.c");
  assert_non_null(strstr(table, "disabled by --disable-avx2"));
  assert_non_null(strstr(table, "\"a_f32__avx2_u1\""));
  assert_null(strstr(table, "extern lathe_fn a_f32__avx2"));
  assert_non_null(strstr(table, "extern lathe_fn a_f32__sse2"));
  assert_false(tree_has("build/out/gen/a/a__avx2.c"));
  free(table);
}

static void other_options_rebuild_what_they_change(void **state) {
  (void)state;
  run_result result =
      IN_BUILD("../source/configure", "--disable-sse2", "--disable-avx2", "--disable-avx512");
  assert_int_equal(result.status, 0);
  run_free(&result);
  char *log = build();
  ran(log, "CC out/gen/table.o");
  ran_not(log, "CC out/gen/a/");
  assert_false(tree_has("build/out/gen/a/a__sse2.c"));
  assert_true(tree_has("build/out/gen/a/a__scalar.o"));
  char *table = tree_read("build/out/gen/table.c");
  assert_non_null(strstr(table, "disabled by --disable-sse2"));
  expect_nothing_to_do();
  free(table);
  free(log);
}

static void a_changed_rule_file_configures_again(void **state) {
  (void)state;
  char *rules = tree_read("source/build.ninja.in");
  tree_write("source/build.ninja.in", rules);
  char *log = build();
  ran(log, "lathe is configured");
  ran_not(log, "CC ");
  assert_true(tree_has("build/build.ninja"));
  char *table = tree_read("build/out/gen/table.c");
  assert_non_null(strstr(table, "disabled by --disable-avx2"));
  expect_nothing_to_do();
  free(table);
  free(rules);
  free(log);
}

static void writes_the_same_sources_with_any_number_of_jobs(void **state) {
  (void)state;
  char *ninja = tree_read("build/out/gen/kernels.ninja");
  static const char *const jobs[] = {"-j1", "-j2"};
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    run_result result = IN_BUILD("ninja", "-t", "clean", "out/gen/kernels.a");
    run_free(&result);
    assert_false(tree_has("build/out/gen/a/a__sse2.c"));
    result = IN_BUILD("ninja", jobs[i], "out/gen/kernels.a");
    assert_string_equal(result.err, "");
    assert_int_equal(result.status, 0);
    run_free(&result);
    char kept[32];
    snprintf(kept, sizeof kept, "with%s", jobs[i]);
    tree_copy(tree_path("build/out/gen"), kept);
  }
  run_result result =
      RUN(tree_root(), "diff", "-r", "--exclude=*.a", "--exclude=*.o", "with-j1", "with-j2");
  assert_string_equal(result.out, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
  char *again = tree_read("build/out/gen/kernels.ninja");
  assert_string_equal(again, ninja);
  free(again);
  free(ninja);
}

#define TEST(function)                                                                             \
  { "build: " #function, function, built_tree, tree_teardown, NULL }

const struct CMUnitTest build_tests[] = {
    TEST(runs_nothing_again),
    TEST(a_touched_spec_compiles_nothing),
    TEST(a_changed_spec_rebuilds_its_op),
    TEST(a_new_spec_adds_its_rows),
    TEST(a_deleted_spec_takes_its_files_along),
    TEST(a_spec_that_comes_back_is_built),
    TEST(a_removed_variant_takes_its_file_along),
    TEST(a_changed_template_rebuilds_what_uses_it),
    TEST(a_changed_include_rebuilds_what_uses_it),
    TEST(an_include_of_an_include_is_seen),
    TEST(a_broken_spec_fails_with_its_line),
    TEST(a_backend_that_is_off_is_a_row),
    TEST(other_options_rebuild_what_they_change),
    TEST(a_changed_rule_file_configures_again),
    TEST(writes_the_same_sources_with_any_number_of_jobs),
};
const size_t build_test_count = sizeof build_tests / sizeof *build_tests;
