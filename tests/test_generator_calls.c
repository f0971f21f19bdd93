/* test_generator_calls.c - lathe-gen's command line. */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void prints_its_usage(void **state) {
  (void)state;
  run_result result = GEN("--help");
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  static const char *const words[] = {"index",       "expand",     "all",      "show",
                                      "definitions", "--stage",    "--src",    "--out",
                                      "--backend",   "--disabled", "--no-line"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    expect_in(result.out, words[i]);
  }
  run_free(&result);
}

static void says_that_its_usage_cannot_be_written(void **state) {
  (void)state;
  run_result result = RUN(tree_root(), "sh", "-c", "exec \"$LATHE_GEN\" --help >/dev/full");
  expect_failure(result, 1, "lathe-gen: cannot write standard output: No space left on device\n");
}

/* Each pass computes anew what it needs of those before it. */
static void refuses_passes_without_measure(void **state) {
  (void)state;
  tree_write("specs/t.lua",
             "op \"t\" {\n"
             "  doc = \"test\", inputs = { x = { \"rows\", \"n\" } }, outputs = { y = { \"rows\", "
             "\"n\" } },\n"
             "  compute = function(x)\n"
             "    for _ = 1, 300 do x = x - max(x, \"n\") end\n"
             "    return x\n"
             "  end,\n"
             "  sizes = { { \"1K\", rows = 10, n = 100 } }, dtypes = { \"f32\" }, ulp = 1,\n"
             "  variants = { { backend = \"scalar\" } },\n"
             "}\n");
  expect_failure(
      GEN("all"), 1,
      "specs/t.lua:3: compute: t: expected at most 300000 operations in all steps of "
      "its reference, found 365399 in 601 steps; a reduction of what others come to is a "
      "step more, which computes anew what it needs\n");
}

static void refuses_unknown_options(void **state) {
  (void)state;
  expect_failure(
      GEN("--srcc", ".", "index"), 2,
      "lathe-gen: unknown option '--srcc' (did you mean '--src'?); see lathe-gen --help\n");
  expect_failure(GEN("index", "-x"), 2, "lathe-gen: unknown option '-x'; see lathe-gen --help\n");
  expect_failure(GEN("index", "--out"), 2,
                 "lathe-gen: --out: expected a value after it; see lathe-gen --help\n");
  static const char *const taking[] = {"--src",      "--out",       "--backend",
                                       "--disabled", "--processor", "--dtypes",
                                       "--ops",      "--spec",      "--stage"};
  for (size_t i = 0; i < sizeof taking / sizeof *taking; i++) {
    char message[100];
    snprintf(message, sizeof message,
             "lathe-gen: %s: expected a value after it; see lathe-gen --help\n", taking[i]);
    expect_failure(GEN(taking[i], "", "all"), 2, message); /* no folder: the root's */
  }
  expect_failure(GEN("--disabled", "avx2", "index"), 2,
                 "lathe-gen: --disabled: expected NAME=REASON, found 'avx2'\n");
  expect_failure(GEN("--backend", "avx3", "index"), 2,
                 "lathe-gen: --backend: unknown backend 'avx3'; expected 'avx2' or 'scalar'\n");
  expect_failure(GEN("--out", "a\nb", "index"), 2,
                 "lathe-gen: expected arguments without line breaks and the like, found 'a?b'\n");
  assert_false(tree_has("out"));
}

static void refuses_unknown_commands(void **state) {
  (void)state;
#define EXPECTED                                                                                   \
  "; expected index, expand OP..., all, show OP..., export OP..., ops, size, cost, shards N or "   \
  "definitions FILE; see "                                                                         \
  "lathe-gen --help\n"
  expect_failure(GEN("indx"), 2,
                 "lathe-gen: unknown command 'indx' (did you mean 'index'?)" EXPECTED);
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"));
  expect_failure(result, 2, "lathe-gen: no command" EXPECTED);
#undef EXPECTED
#define HELP "; see lathe-gen --help\n"
  expect_failure(GEN("index", "extra"), 2,
                 "lathe-gen: index: expected no word after it, found 'extra'" HELP);
  expect_failure(GEN("all", "a", "b"), 2,
                 "lathe-gen: all: expected no word after it, found 'a b'" HELP);
  expect_failure(GEN("expand"), 2,
                 "lathe-gen: expand: expected the names of ops after it, found nothing" HELP);
  expect_failure(GEN("definitions"), 2,
                 "lathe-gen: definitions: expected one file after it, found nothing" HELP);
  expect_failure(GEN("definitions", "a", "b"), 2,
                 "lathe-gen: definitions: expected one file after it, found 'a b'" HELP);
#undef HELP
  assert_false(tree_has("out"));
}

static void refuses_an_unknown_op(void **state) {
  (void)state;
  expect_failure(GEN("expand", "tt"), 2,
                 "lathe-gen: expand: unknown op 'tt' (did you mean 't'?)\n");
}

/* A file where a folder is wanted: root may write wherever there is a folder. */
static void refuses_a_folder_that_cannot_be_written(void **state) {
  (void)state;
  tree_write("file", "");
  expect_failure(
      GEN("--out", "file/below", "index"), 1,
      "lathe-gen: file/below/manifest.txt: cannot write: Not a directory; check the folder's "
      "permissions and free space\n");
  expect_failure(GEN("--out", "file/below", "expand", "t"), 1,
                 "lathe-gen: file/below/t/t__scalar.c: cannot write: Not a directory; check the "
                 "folder's permissions and free space\n");
  expect_failure(
      GEN("definitions", "file/definitions.lua"), 1,
      "lathe-gen: file/definitions.lua: cannot write: Not a directory; check the folder's "
      "permissions and free space\n");
}

/* A pipe, and links: to a device, which as root a rename would replace, and to a file. */
static void writes_through_what_is_no_plain_file(void **state) {
  (void)state;
  run_result result = GEN("definitions", "/dev/stdout");
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  expect_in(result.out, "---@meta\n");
  tree_write("file", "old");
  expect_success(RUN(tree_root(), "ln", "-s", "file", "link"));
  expect_success(RUN(tree_root(), "ln", "-s", "/dev/full", "full"));
  expect_success(GEN("definitions", "link"));
  expect_failure(GEN("definitions", "full"), 1,
                 "lathe-gen: full: cannot write: No space left on device; check the folder's "
                 "permissions and free space\n");
  expect_success(RUN(tree_root(), "test", "-L", "link", "-a", "-L", "full"));
  char *text = tree_read("file");
  assert_string_equal(text, result.out);
  free(text);
  run_free(&result);
}

static void refuses_a_missing_template(void **state) {
  (void)state;
  tree_remove("templates/c/map.c");
  expect_failure(GEN("expand", "t"), 1,
                 "templates/c/map.c: cannot read: No such file or directory\n");
}

const struct CMUnitTest generator_calls_tests[] = {
    GENERATOR_TEST(prints_its_usage),
    GENERATOR_TEST(says_that_its_usage_cannot_be_written),
    GENERATOR_TEST(refuses_passes_without_measure),
    GENERATOR_TEST(refuses_unknown_options),
    GENERATOR_TEST(refuses_unknown_commands),
    GENERATOR_TEST(refuses_an_unknown_op),
    GENERATOR_TEST(refuses_a_folder_that_cannot_be_written),
    GENERATOR_TEST(writes_through_what_is_no_plain_file),
    GENERATOR_TEST(refuses_a_missing_template),
};
const size_t generator_calls_test_count =
    sizeof generator_calls_tests / sizeof *generator_calls_tests;
