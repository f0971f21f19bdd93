/* What the text, the files and the hunger of a spec may do to the generator: time and memory have an
 * end, only plain files are read, and nothing in a text ends the comment or the string it goes into. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_program.h"
#include "small_spec.h"
#include "tests.h"
#include "tree.h"

#define TOO_LONG                                                                                   \
  "the spec ran more than 10 million instructions or 5 seconds; expected one that ends (look for " \
  "a loop without an end)"
#define TOO_LARGE                                                                                  \
  "the spec used more than 64 MiB of memory; expected a few KiB (look for a table or string that " \
  "grows without end)"

#define TOO_DEEP                                                                                   \
  "specs/t.lua:5: compute: expected operations of operations at most 2000 deep, where a function " \
  "such "                                                                                          \
  "as exp counts as 40; look for a loop that was meant to be shorter, or add terms up in pairs"

/* ---- time and memory -------------------------------------------------------------------------- */

/* Ops each of which stays within the limits of one call. */
static void write_ops(int count, const char *body) {
  char *spec = malloc((size_t)count * 400);
  assert_non_null(spec);
  int used = 0;
  for (int i = 0; i < count; i++) {
    used += sprintf(spec + used,
                    "op \"t%d\" {\n"
                    "  doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"
                    "  compute = function(x) %s return x end,\n"
                    "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = 1,\n"
                    "  variants = { { backend = \"scalar\" } },\n"
                    "}\n",
                    i, body);
  }
  tree_write(SMALL_SPEC, spec);
  free(spec);
}

/* Fails unless lathe-gen says that of some line of the spec. */
static void expect_of_some_line(const char *message) {
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "index");
  assert_int_equal(result.status, 1);
  int line, after = 0;
  assert_int_equal(sscanf(result.err, "specs/t.lua:%d: %n", &line, &after), 1);
  assert_string_equal(result.err + after, message);
  run_free(&result);
}

static void counts_the_time_of_all_calls_of_a_spec(void **state) {
  (void)state;
  write_ops(100, "for i = 1, 9.4e6 do end");
  expect_of_some_line(TOO_LONG "\n");
}

/* A spec of a few bytes and this many of one character between them. */
static void write_long(const char *before, char character, size_t count, const char *after) {
  char *spec = malloc(count + 200);
  assert_non_null(spec);
  size_t used = (size_t)sprintf(spec, "%s", before);
  memset(spec + used, character, count);
  strcpy(spec + used + count, after);
  tree_write(SMALL_SPEC, spec);
  free(spec);
}

static void shortens_a_name_of_a_million_letters(void **state) {
  (void)state;
  write_long("local a = ", 'a', 1000000, "\n");
  small_spec_expect("specs/t.lua:1: unknown name "
                    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'\n");
  write_long("op \"t\" { ", 'a', 1000000, " = 1 }\n");
  small_spec_expect("specs/t.lua:1: op \"t\": unknown key "
                    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'\n");
}

static void refuses_a_spec_of_more_than_a_megabyte(void **state) {
  (void)state;
  write_long("--", '=', 1 << 20, "\n");
  small_spec_expect("specs/t.lua: cannot read: it is too large\n");
}

static void refuses_parentheses_without_measure(void **state) {
  (void)state;
  write_long("local a = ", '(', 10000, "\n");
  small_spec_expect("specs/t.lua: parentheses, tables or functions are too deep in each other; "
                    "expected at most some 100 levels\n");
}

/* What is just within the limit has to come through all stages. */
static void makes_the_gradient_of_what_is_as_deep_as_may_be(void **state) {
  (void)state;
  static const char *const bodies[] = {"for i = 1, 1999 do x = 1 / x end",
                                       "for i = 1, 49 do x = erfc(x) end"};
  size_t first = 0;
#ifdef __SANITIZE_ADDRESS__
  first = 1; /* ten seconds of Lua's own library, in which nothing has sanitizers */
#endif
  for (size_t i = first; i < sizeof bodies / sizeof *bodies; i++) {
    char function[128];
    snprintf(function, sizeof function, "  compute = function(x) %s return x end, backward = true,",
             bodies[i]);
    small_spec_replace(5, function);
    run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
    assert_string_equal(result.err, "");
    assert_int_equal(result.status, 0);
    run_free(&result);
  }
}

/* ---- files ------------------------------------------------------------------------------------ */

static void refuses_a_pipe(void **state) {
  (void)state;
  assert_int_equal(mkfifo(tree_path("specs/a.lua"), 0666), 0);
  small_spec_expect("specs/a.lua: cannot read: it is no regular file\n");
}

static void refuses_a_link_to_a_device(void **state) {
  (void)state;
  assert_int_equal(symlink("/dev/zero", tree_path("specs/a.lua")), 0);
  small_spec_expect("specs/a.lua: cannot read: it is no regular file\n");
}

static void refuses_a_path_that_generated_files_cannot_name(void **state) {
  (void)state;
  static const char *const folders[] = {"*",
                                        "a\"b",
                                        "a$b",
                                        "a\nb",
                                        "a\xe2\x80\xae"
                                        "b",
                                        "a\xff"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    char path[64], message[200];
    snprintf(path, sizeof path, "specs/%s/u.lua", folders[i]);
    tree_write(path, "");
    snprintf(message, sizeof message,
             "specs/%s/u.lua: expected a path of letters, digits, spaces and . _ + - alone, found "
             "'specs/%s/u.lua'\n",
             i == 3 ? "a\\10b" : folders[i], i == 3 ? "a\\10b" : folders[i]);
    small_spec_expect(message);
    snprintf(path, sizeof path, "specs/%s", folders[i]);
    tree_remove(path);
  }
  tree_write("specs/a b/gr\xc3\xb6\xc3\x9f"
             "e_1.2+3-4.lua",
             "");
  small_spec_replace(2, "  doc = \"test\",");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "index");
  assert_string_equal(result.err, "");
  run_free(&result);
}

/* A second op, in a file of a folder below specs/. */
static void write_second_op(const char *path, const char *before) {
  char *spec = tree_read(SMALL_SPEC), with[1024];
  spec[4] = 'u';
  snprintf(with, sizeof with, "%s%s", before, spec);
  tree_write(path, with);
  free(spec);
}

static void expect_second_op(bool is_there) {
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
  assert_string_equal(result.err, "");
  assert_int_equal(tree_has("out/gen/u/u__scalar.c"), is_there);
  run_free(&result);
}

static void loads_specs_of_folders(void **state) {
  (void)state;
  write_second_op("specs/more/of it/u.lua", "");
  expect_second_op(true);
  char *needs = tree_read("out/gen/kernels.ninja.d");
  assert_non_null(strstr(needs, "  specs/more \\\n  specs/more/of\\ it \\\n"));
  free(needs);
}

static void loads_no_includes(void **state) {
  (void)state;
  write_second_op("specs/include/u.lua", "");
  write_second_op("specs/more/include/u.lua", "");
  expect_second_op(false);
}

static void refuses_a_folder_within_itself(void **state) {
  (void)state;
  assert_int_equal(symlink(".", tree_path("specs/more")), 0);
  small_spec_expect("specs/more/more/more/more/more/more/more/more: expected folders at most 8 "
                    "deep; look for a link to a folder above it\n");
}

static void skips_a_byte_order_mark(void **state) {
  (void)state;
  write_second_op("specs/u.lua", "\xef\xbb\xbf");
  expect_second_op(true);
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* Sources with such a doc compile without a warning. */
static void ends_no_comment_by_a_description(void **state) {
  (void)state;
  small_spec_replace(2, "  doc = \"*/ a /* b // c *\\\\/ \\\"d\\\" ?\" .. \"?/ \\\\\",");
  tree_remove("templates");
  tree_copy("templates", "templates");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
  assert_string_equal(result.err, "");
  run_free(&result);
  char include[600], templates[600];
  snprintf(include, sizeof include, "-I%s/runtime/library", test_variable("LATHE_SRC"));
  snprintf(templates, sizeof templates, "-I%s/templates/c", test_variable("LATHE_SRC"));
  result =
      RUN(tree_root(), "cc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", include,
          templates, "out/gen/table.c", "out/gen/t/t_reference.c", "out/gen/t/t__scalar.c");
  assert_string_equal(result.err, "");
  run_free(&result);
}

#define TEST(function)                                                                             \
  { "sandbox: " #function, function, tree_setup_small, tree_teardown, NULL }
#define REFUSES(name, text, message)                                                               \
  SMALL_REFUSES("sandbox: refuses " name, 0, text, "specs/t.lua:1: " message)
#define REFUSES_LINE(name, line, text, message)                                                    \
  SMALL_REFUSES("sandbox: refuses " name, line, text, message)

const struct CMUnitTest sandbox_tests[] = {
    REFUSES("a loop without an end", "while true do end", TOO_LONG),
    REFUSES_LINE("a loop without an end in the function", 5,
                 "  compute = function(x)\n    while true do end\n  end,",
                 "specs/t.lua:6: " TOO_LONG),
    REFUSES("a loop without an end in a function of C", "local s = string.rep(\"\", \"9e18\")",
            TOO_LONG),
    REFUSES("few instructions that take long",
            "local s = \"\" for i = 1, 1e9 do s = s .. \"x\" end", TOO_LONG),
    TEST(counts_the_time_of_all_calls_of_a_spec),
    REFUSES("a table without an end", "local t = {} for i = 1, 1e9 do t = { t } end", TOO_LARGE),
    REFUSES("a string without an end", "local s = \"x\" while true do s = s .. s end", TOO_LARGE),
    REFUSES("one allocation above the limit", "local s = string.rep(\"x\", 1e9)", TOO_LARGE),
    REFUSES("a text put together above the limit",
            "local t, s = {}, string.rep(\"x\", 1e6) for i = 1, 1e4 do t[i] = s end "
            "s = table.concat(t)",
            TOO_LARGE),
    TEST(shortens_a_name_of_a_million_letters),
    TEST(refuses_a_spec_of_more_than_a_megabyte),
    TEST(refuses_parentheses_without_measure),
    REFUSES_LINE("operations of operations without measure", 5,
                 "  compute = function(x) for i = 1, 2001 do x = 1 / x end return x end,",
                 TOO_DEEP),
    REFUSES_LINE("functions of functions without measure", 5,
                 "  compute = function(x) for i = 1, 201 do x = exp(x) end return x end,",
                 TOO_DEEP),
    TEST(makes_the_gradient_of_what_is_as_deep_as_may_be),
    REFUSES_LINE("operations without measure", 5,
                 "  compute = function(x)\n"
                 "    local s = 0\n"
                 "    for i = 1, 150 do\n"
                 "      local t = 0\n"
                 "      for j = 1, 40 do t = t + x * (i + j / 64) end\n"
                 "      s = s + t\n"
                 "    end\n"
                 "    return s\n"
                 "  end,",
                 "specs/t.lua:5: compute: expected at most 5000 different operations, found more; "
                 "look for a loop that was meant to be shorter"),

    TEST(refuses_a_pipe),
    TEST(refuses_a_link_to_a_device),
    TEST(refuses_a_path_that_generated_files_cannot_name),
    TEST(loads_specs_of_folders),
    TEST(loads_no_includes),
    TEST(refuses_a_folder_within_itself),
    TEST(skips_a_byte_order_mark),

    TEST(ends_no_comment_by_a_description),
    REFUSES_LINE("a description that turns the text around it", 2, "  doc = \"a\\u{202e}b\",",
                 "specs/t.lua:2: doc: expected plain text, found the invisible character U+202E in "
                 "it"),
    REFUSES_LINE("a description with a zero in it", 2, "  doc = \"a\\0b\",",
                 "specs/t.lua:2: doc: expected plain text, found the invisible character U+0000 in "
                 "it"),
    REFUSES_LINE("a description that is no text", 2, "  doc = \"a\\xffb\",",
                 "specs/t.lua:2: doc: expected plain text, found a byte that is no UTF-8 at "
                 "position 2 in it"),
    REFUSES_LINE("a peer's expression of two lines", 2,
                 "  doc = \"test\", peers = { numpy = \"x\\nx\" },",
                 "specs/t.lua:2: peers.numpy: expected plain text, found the invisible character "
                 "U+000A in it"),
    REFUSES_LINE("a size's name that rings", 6, "  sizes = { { \"a\\a\", n = 1 } },",
                 "specs/t.lua:6: sizes[1]: expected plain text, found the invisible character "
                 "U+0007 in it"),
    SMALL_ACCEPTS("sandbox: accepts a description in another script", 2,
                  "  doc = \"\xce\xbb \xe2\x89\xa4 \xe6\x96\x87\","),
};
const size_t sandbox_test_count = sizeof sandbox_tests / sizeof *sandbox_tests;
