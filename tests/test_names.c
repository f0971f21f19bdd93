/* Names of operands, which generated code uses as they are: those that it has a use for itself, or
 * would make of another's, are refused; what people call operands is not. */
#include <stdio.h>
#include <string.h>

#include "run_program.h"
#include "small_spec.h"
#include "tests.h"
#include "tree.h"

#define ITS_OWN                                                                                    \
  "it is reserved in C, CUDA or GLSL, or the name of something in generated code or of a spec's "  \
  "functions"

/* What lathe-gen says of a spec with an output of that name; free the result. */
static run_result index_with(const char *name) {
  char line[128];
  snprintf(line, sizeof line, "  outputs = { [\"%s\"] = { \"n\" } },", name);
  small_spec_replace(4, line);
  return RUN(tree_root(), test_variable("LATHE_GEN"), "index");
}

static void refuses_what_languages_and_templates_use(void **state) {
  (void)state;
  static const char *const words[] = {
      "alignas",       "barrier",  "words",    "args",         "asm",       "assert",
      "atomic_int",    "bool",     "buffer",   "cast",         "class",     "column",
      "constexpr",     "count",    "dim",      "dim3",         "double2",   "errno",
      "exp",           "fabsl",    "fenv_t",   "fixed",        "float16_t", "float4",
      "for",           "half2",    "highp",    "in",           "int16_t",   "int32_t",
      "int64_t",       "int8_t",   "intmax_t", "intptr_t",     "length",    "uint",
      "isnan",         "linux",    "main",     "max_align_t",  "new",       "noexcept",
      "nullptr",       "out",      "padded",   "ptrdiff_t",    "readonly",  "register",
      "row",           "rows",     "sampler",  "size_t",       "some",      "ssize_t",
      "static_assert", "stdin",    "sum",      "sum1",         "sum1_term", "t12",
      "template",      "texture",  "this",     "thread_local", "typeof",    "u3",
      "uint16_t",      "uint32_t", "uint64_t", "uint8_t",      "uintmax_t", "uintptr_t",
      "uniform",       "vec4",     "void",     "wchar_t",      "workspace", "writeonly",
      "xor",
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    run_result result = index_with(words[i]);
    char message[128];
    snprintf(message, sizeof message, "specs/t.lua:4: outputs: expected another name than '%s': it",
             words[i]);
    if (strncmp(result.err, message, strlen(message) - 2) != 0) {
      fail_msg("expected '%s' to be refused, found '%s'", words[i], result.err);
    }
    assert_int_equal(result.status, 1);
    run_free(&result);
  }
}

static void accepts_what_operands_are_called(void **state) {
  (void)state;
  static const char *const words[] = {
      "a",     "b2",    "bias",      "dx",     "key", "loss",  "mask",   "n",   "q",    "rstd",
      "scale", "state", "step_size", "target", "v",   "value", "weight", "x_t", "y_hat"};
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
      "  map = function(%s) return %s * %s end,\n"
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

static void refuses_what_is_made_of_another_name(void **state) {
  (void)state;
#define BESIDE(name, other)                                                                        \
  "expected another name than '" name "' beside '" other "': generated code calls something that " \
  "belongs to that so\n"
  expect_of_names("y_magnitude", "y", "specs/t.lua:3: op \"t\": " BESIDE("y_magnitude", "y"));
  expect_of_names("x", "x_at0", "specs/t.lua:3: op \"t\": " BESIDE("x_at0", "x"));
  expect_of_names("x", "x_row1_end0", "specs/t.lua:3: op \"t\": " BESIDE("x_row1_end0", "x"));
  expect_of_names("kept_x", "x", "specs/t.lua:3: op \"t\": " BESIDE("kept_x", "x"));
  expect_of_names("x_hat", "x", "");
  expect_of_names("magnitude", "y", "");
#undef BESIDE
}

static void refuses_what_derivatives_would_be_called(void **state) {
  (void)state;
  expect_of_names(
      "o", "y",
      "specs/t.lua:6: backward: the derivative by 'o': expected another name than 'do': " ITS_OWN
      "\n");
  expect_of_names("x", "dx", "");
}

#define TEST(function)                                                                             \
  { "names: " #function, function, tree_setup_small, tree_teardown, NULL }
#define REFUSES(name, text, message)                                                               \
  SMALL_REFUSES("names: refuses " name, 3, "  inputs = { " text " = { \"n\" } },",                 \
                "specs/t.lua:3: inputs: expected " message)

const struct CMUnitTest names_tests[] = {
    TEST(refuses_what_languages_and_templates_use),
    TEST(accepts_what_operands_are_called),
    TEST(refuses_what_is_made_of_another_name),
    TEST(refuses_what_derivatives_would_be_called),
    REFUSES("upper case", "X", "a name of at most 64 lower-case letters, digits and _, found 'X'"),
    REFUSES("a number", "[1]", "a name of at most 64 lower-case letters, digits and _, found 1"),
    REFUSES("a name that ends with _", "mean_",
            "another name than 'mean_': it ends with _, as names of generated code do"),
    REFUSES("a name that begins as generated ones do", "[\"lathe_x\"]",
            "another name than 'lathe_x': it begins with lathe_, as names of generated code do"),
    REFUSES("a name that generated code numbers", "t1",
            "another name than 't1': generated code numbers its own variables so"),
    REFUSES("a name that C reserves", "int", "another name than 'int': " ITS_OWN),
    REFUSES("a type of C's library", "size_t", "another name than 'size_t': " ITS_OWN),
};
const size_t names_test_count = sizeof names_tests / sizeof *names_tests;
