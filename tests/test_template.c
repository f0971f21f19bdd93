/* The template engine, through lathe-gen: each test puts its own template in a small tree (small/)
 * and looks at the file that comes out, or at the message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_program.h"
#include "tests.h"
#include "tree.h"

#define TEMPLATE "templates/c/map.c"
#define EXPANDED "out/gen/t/t__scalar.c"

/* What a template becomes without #line, after the header that each file has. */
static char *pour(const char *source) {
  tree_write(TEMPLATE, source);
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "--no-line", "expand", "t");
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
  char *text = tree_read(EXPANDED);
  static const char end_of_header[] = "#include \"half.h\"\n\n";
  char *body = strstr(text, end_of_header);
  assert_non_null(body);
  body += strlen(end_of_header);
  memmove(text, body, strlen(body) + 1);
  return text;
}

typedef struct pouring {
  const char *source, *expected;
} pouring;

static void pours(void **state) {
  const pouring *want = *state;
  char *text = pour(want->source);
  assert_string_equal(text, want->expected);
  free(text);
}

typedef struct refusal {
  const char *source, *message;
} refusal;

static void refuses(void **state) {
  const refusal *want = *state;
  tree_write(TEMPLATE, want->source);
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "expand", "t");
  assert_string_equal(result.err, want->message);
  assert_int_equal(result.status, 1);
  assert_string_equal(result.out, "");
  assert_false(tree_has(EXPANDED));
  run_free(&result);
}

static void writes_line_only_where_out_of_step(void **state) {
  (void)state;
  tree_write(TEMPLATE, "int a;\n"
                       "//@ for i = 1, 2 do\n"
                       "int b$i$;\n"
                       "int c$i$;\n"
                       "//@ end\n"
                       "$(\"int d;\\nint e;\")\n"
                       "int f;\n");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "expand", "t");
  assert_string_equal(result.err, "");
  run_free(&result);
  char *text = tree_read(EXPANDED);
  const char *body = strstr(text, "#line");
  assert_non_null(body);
  assert_string_equal(body, "#line 1 \"templates/c/map.c\"\n"
                            "int a;\n"
                            "#line 3 \"templates/c/map.c\"\n"
                            "int b1;\n"
                            "int c1;\n"
                            "#line 3 \"templates/c/map.c\"\n"
                            "int b2;\n"
                            "int c2;\n"
                            "#line 16 \"out/gen/t/t__scalar.c\"\n"
                            "int d;\n"
                            "int e;\n"
                            "#line 7 \"templates/c/map.c\"\n"
                            "int f;\n");
  free(text);
}

/* The first line that the C compiler says about what a template becomes. */
static void compiler_reports(const char *source, const char *expected) {
  tree_write(TEMPLATE, source);
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "expand", "t");
  assert_string_equal(result.err, "");
  run_free(&result);
  tree_write("call.h", "");
  tree_write("half.h", "");
  result = run_program(tree_root(),
                       (const char *const[]){"cc", "-I.", "-fsyntax-only", "-w", EXPANDED, NULL},
                       (const char *const[]){"LC_ALL=C", "GCC_COLORS=", NULL});
  assert_int_not_equal(result.status, 0);
  assert_non_null(strstr(result.err, expected));
  run_free(&result);
}

static void compiler_names_the_line_of_a_template(void **state) {
  (void)state;
  compiler_reports("/* one */\n"
                   "//@ for i = 1, 3 do\n"
                   "int good$i$;\n"
                   "//@ end\n"
                   "\n"
                   "int bad = $(\"missing\");\n",
                   "templates/c/map.c:6:11: error: 'missing' undeclared");
}

static void compiler_names_the_line_below_a_paste(void **state) {
  (void)state;
  compiler_reports("int a;\n"
                   "$(\"int b;\\nint c;\\nint d;\")\n"
                   "int e;\n"
                   "int f = missing;\n",
                   "templates/c/map.c:4:9: error: 'missing' undeclared");
  compiler_reports("int a[] = {$(\"1,\\n2\")};\n"
                   "int f = missing;\n",
                   "templates/c/map.c:2:9: error: 'missing' undeclared");
}

/* What no template writes has a line of its own: the generated file's, which is looked up there. */
static void compiler_names_the_line_of_a_paste(void **state) {
  (void)state;
  static const char *const sources[] = {
      "int a;\n$(\"int b;\\nint c;\\nint d = missing;\")\nint e;\n",
      "//@ function piece.lathe_a()\nint lathe_a;\n//@ end\n//@ pieces()\n"
      "int b[sizeof lathe_a];\n$(\"int c;\\nint d = missing;\")\n",
      "int a;\n//@ for i = 1, 2 do\nint b$i$[] = {\n  $(\"0,\\n1,\\n\" .. (i == 2 and \"missing\" "
      "or 2))};\n//@ end\n",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    tree_write(TEMPLATE, sources[i]);
    run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "expand", "t");
    assert_string_equal(result.err, "");
    run_free(&result);
    char *text = tree_read(EXPANDED), expected[64];
    size_t line = 1;
    for (const char *at = text; at < strstr(text, "missing"); at++) {
      line += *at == '\n';
    }
    free(text);
    snprintf(expected, sizeof expected, "out/gen/t/t__scalar.c:%zu:", line);
    compiler_reports(sources[i], expected);
  }
}

static void compiler_names_the_line_of_a_used_template(void **state) {
  (void)state;
  tree_write("templates/c/other.c", "//@ function declare(name)\n"
                                    "int $name$;\n"
                                    "int $name$2 = missing;\n"
                                    "//@ end\n");
  compiler_reports("int a;\n"
                   "//@ local other = use \"other.c\"\n"
                   "//@ other.declare(\"b\")\n"
                   "int c = missing;\n",
                   "templates/c/other.c:3:10: error: 'missing' undeclared");
  compiler_reports("int a;\n"
                   "//@ local other = use \"other.c\"\n"
                   "//@ local good = other.declare\n"
                   "int c = missing;\n",
                   "templates/c/map.c:4:9: error: 'missing' undeclared");
}

static void no_line_says_the_same_without_line(void **state) {
  (void)state;
  char *text = pour("int a;\n//@ for i = 1, 2 do\nint b$i$;\n//@ end\n");
  assert_null(strstr(text, "#line"));
  assert_string_equal(text, "int a;\nint b1;\nint b2;\n");
  free(text);
}

static void uses_other_templates(void **state) {
  (void)state;
  tree_write("templates/c/other.c", "//@ SIZE = 7\n"
                                    "//@ local hidden = 1\n"
                                    "//@ function twice(what)\n"
                                    "<$what$ $op.name$>\n"
                                    "  <$what$>\n"
                                    "//@ end\n"
                                    "written where it is used\n");
  char *text = pour("//@ local O = use \"other.c\"\n"
                    "$O.SIZE$\n"
                    "//@ O.twice(\"a\")\n"
                    "  {\n"
                    "    //@ O.twice(\"b\")\n"
                    "  }\n");
  assert_string_equal(text, "written where it is used\n"
                            "7\n"
                            "<a t>\n"
                            "  <a>\n"
                            "  {\n"
                            "    <b t>\n"
                            "      <b>\n"
                            "  }\n");
  free(text);
}

static void runs_a_used_template_once(void **state) {
  (void)state;
  tree_write("templates/c/counter.c", "//@ number = 0\n"
                                      "//@ function count()\n"
                                      "//@   number = number + 1\n"
                                      "//@   return number\n"
                                      "//@ end\n"
                                      "counted by\n");
  tree_write("templates/c/other.c", "//@ local C = use \"counter.c\"\n"
                                    "//@ function twice()\n"
                                    "$(C.count())\n"
                                    "$(C.count())\n"
                                    "//@ end\n");
  char *text = pour("//@ local O, C = use \"other.c\", use \"counter.c\"\n"
                    "$(C.count())\n"
                    "//@ O.twice()\n"
                    "$(use(\"counter.c\").number)\n");
  assert_string_equal(text, "counted by\n1\n2\n3\n3\n");
  free(text);
  text = pour("$(use(\"counter.c\").count())\n"); /* another file begins anew */
  assert_string_equal(text, "counted by\n1\n");
  free(text);
}

static void uses_templates_of_other_folders(void **state) {
  (void)state;
  tree_write("templates/both/backend.lua", "return { backends = {} }\n");
  tree_write("templates/both/other.c", "//@ local more, own = use \"more.c\", use \"../c/own.c\"\n"
                                       "//@ function declare(name)\n"
                                       "//@ more.declare(name)\n"
                                       "int $(own.NAME) = missing;\n"
                                       "//@ end\n");
  tree_write("templates/both/more.c", "//@ function declare(name)\n"
                                      "int $name$;\n"
                                      "//@ end\n");
  tree_write("templates/c/own.c", "//@ NAME = \"own\"\n");
  compiler_reports("//@ local other = use \"../both/other.c\"\n"
                   "//@ other.declare(\"a\")\n",
                   "templates/both/other.c:4:11: error: 'missing' undeclared");
  char *text = tree_read(EXPANDED);
  assert_non_null(strstr(text, "#line 2 \"templates/both/more.c\"\nint a;\n"
                               "#line 4 \"templates/both/other.c\"\nint own = missing;\n"));
  free(text);
  text = tree_read("out/gen/t/expand.d");
  assert_non_null(strstr(text, "  templates/both/more.c \\\n"));
  free(text);
}

static void refuses_templates_that_use_each_other(void **state) {
  (void)state;
  tree_write("templates/c/other.c", "a\n//@ use \"map.c\"\n");
  tree_write(TEMPLATE, "//@ use \"other.c\"\n");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "expand", "t");
  assert_string_equal(
      result.err, "templates/c/other.c:2: templates/c/map.c is used by what it uses; expected "
                  "no circle: move what both need to a third template, in: //@ use \"map.c\"\n");
  assert_int_equal(result.status, 1);
  run_free(&result);
}

static void names_the_line_of_a_used_template(void **state) {
  (void)state;
  tree_write("templates/c/other.c", "//@ function f(x)\n$x.y$\n//@ end\n");
  tree_write(TEMPLATE, "//@ local other = use \"other.c\"\n//@ other.f({})\n");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "expand", "t");
  assert_string_equal(result.err,
                      "templates/c/other.c:2: expected a string or a whole number to paste, "
                      "found nil, in: $x.y$\n");
  assert_int_equal(result.status, 1);
  run_free(&result);
}

#define POURS(name, source, expected)                                                              \
  {                                                                                                \
    "template: " name, pours, tree_setup_small, tree_teardown, &(pouring) {                        \
      source, expected                                                                             \
    }                                                                                              \
  }
#define REFUSES(name, source, message)                                                             \
  {                                                                                                \
    "template: refuses " name, refuses, tree_setup_small, tree_teardown, &(refusal) {              \
      source, message "\n"                                                                         \
    }                                                                                              \
  }
#define TEST(function)                                                                             \
  { "template: " #function, function, tree_setup_small, tree_teardown, NULL }

const struct CMUnitTest template_tests[] = {
    POURS("plain text", "a\n\n  b // @ c\n", "a\n\n  b // @ c\n"),
    POURS("a last line without its end", "a\nb", "a\nb\n"),
    POURS("directives",
          "//@ for i = 1, 2 do\nrow $i$\n  //@ if i == 1 then\n  one\n//@ end\n//@ end\n",
          "row 1\n  one\nrow 2\n"),
    POURS("directives over many lines", "//@ local t = {\n//@   a = 1,\n//@ }\n$t.a$\n", "1\n"),
    POURS("a name", "a$op.name$b $op.name$$op.doc$\n", "atb ttest\n"),
    POURS("a dollar sign", "$$ a$$b $$$op.name$$$ $$(1)\n", "$ a$b $t$ $(1)\n"),
    POURS("an expression", "<$(1 + 2)> <$(op.name .. \"x\")>\n", "<3> <tx>\n"),
    POURS("an expression with parentheses", "<$((1 + (2)) * (3 - (1)))>(x)\n", "<6>(x)\n"),
    POURS("a whole number that is large", "$(1 << 53)\n", "9007199254740992\n"),
    POURS("quotes, percents and backslashes", "\"%d\\n\" '\\0' 100%% \\\n",
          "\"%d\\n\" '\\0' 100%% \\\n"),
    POURS("many lines, indented", "{\n    $(\"a;\\n  b;\\n\\nc;\")\n}\n",
          "{\n    a;\n      b;\n\n    c;\n}\n"),
    POURS("many lines inside a line", "  { $(\"a;\\nb;\") }\n", "  { a;\n  b; }\n"),
    POURS("an empty paste, alone on its line", "a\n  $(\"\")\nb\n", "a\nb\n"),
    POURS("an empty paste beside others", "a $(\"\")$(\"\")\n  $(\"\");\n", "a \n  ;\n"),
    POURS("sorted pairs",
          "//@ for k, v in pairs { b = 1, a = 2, c = 3, [10] = 4, [9] = 5 } do\n$k$=$v$\n//@ end\n",
          "9=5\n10=4\na=2\nb=1\nc=3\n"),
    POURS("functions of the template",
          "//@ function f(a, b)\n<$a$ $b$>\n//@ end\n  //@ f(1, \"x\")\n//@ f(\"(\", 2)\n",
          "  <1 x>\n<( 2>\n"),
    POURS("calls within calls, indented",
          "//@ function inner()\nx\n//@ end\n//@ function outer()\n{\n  //@ inner()\n}\n//@ end\n  "
          "//@ outer()\ny\n",
          "  {\n    x\n  }\ny\n"),
    POURS("calls in a line of other Lua, and by others' callers, indented",
          "//@ function inner()\nx\n//@ end\n//@ function twice(f)\n//@ f()\n  //@ f()\n//@ end\n"
          "    //@ if true then twice(inner) end\n",
          "    x\n      x\n"),
    POURS("functions inside of a block, indented",
          "{\n  //@ local function inner()\n  x\n  //@ end\n  {\n    //@ inner()\n  }\n}\n",
          "{\n  {\n    x\n  }\n}\n"),
    POURS("functions that are handed over, indented",
          "//@ function around(f)\n{\n  //@ f()\n}\n//@ end\n  //@ around(function()\n  x\n  //@ "
          "end)\ny\n",
          "  {\n    x\n  }\ny\n"),
    POURS("blocks that one call opens and another closes",
          "//@ function open()\n{\n//@ indent()\n//@ end\n//@ function close()\n//@ "
          "outdent()\n}\n//@ end\n"
          "  //@ open()\n  x\n  //@ open()\n  y\n  //@ close()\n  //@ close()\n  z\n",
          "  {\n    x\n    {\n      y\n    }\n  }\n  z\n"),
    POURS("the preprocessor's lines in the first column",
          "//@ function f()\n#pragma x\n  x\n//@ end\n  //@ f()\n  #if y\n",
          "#pragma x\n    x\n#if y\n"),
    POURS("of blank lines one, and none inside of a brace",
          "\n{\n\na\n\n\nb\n//@ if true then\n\n//@ end\nc\n\n}\n\n\n", "{\na\n\nb\n\nc\n}\n"),
    POURS("of a library the pieces that are named, in the order in which they are defined",
          "//@ function piece.lathe_a()\n#define lathe_a\n//@ end\n"
          "//@ function piece.lathe_b()\nlathe_b = lathe_a\n\n  b\n//@ end\n"
          "//@ function piece.lathe_c()\nlathe_c\n//@ end\n"
          "top\n//@ pieces()\n{\n  lathe_b lathe_cc\n}\n",
          "top\n\n#define lathe_a\n\nlathe_b = lathe_a\n\n  b\n\n{\n  lathe_b lathe_cc\n}\n"),
    POURS("of a library nothing where nothing is named",
          "//@ function piece.lathe_a()\na\n//@ end\n//@ pieces()\nb\n", "b\n"),
    TEST(no_line_says_the_same_without_line),
    TEST(writes_line_only_where_out_of_step),
    TEST(compiler_names_the_line_of_a_template),
    TEST(compiler_names_the_line_below_a_paste),
    TEST(compiler_names_the_line_of_a_paste),
    TEST(compiler_names_the_line_of_a_used_template),
    TEST(uses_other_templates),
    TEST(runs_a_used_template_once),
    TEST(uses_templates_of_other_folders),
    TEST(refuses_templates_that_use_each_other),
    TEST(names_the_line_of_a_used_template),

    REFUSES(
        "an undefined variable", "\n  <$opp$>\n",
        "templates/c/map.c:2: undefined template variable 'opp' (did you mean 'op'?), in: <$opp$>"),
    REFUSES("an undefined variable that is near none", "$frobnicate$\n",
            "templates/c/map.c:1: undefined template variable 'frobnicate', in: $frobnicate$"),
    REFUSES("an undefined variable in a directive",
            "a\n//@ for _, v in ipairs(varians) do\n//@ end\n",
            "templates/c/map.c:2: undefined template variable 'varians' (did you mean "
            "'variants'?), in: "
            "//@ for _, v in ipairs(varians) do"),
    REFUSES("an unclosed $", "a\nb\n  x $op\n",
            "templates/c/map.c:3: unclosed '$': expected $name$, $(expression) or $$, in: x $op"),
    REFUSES("a lone $", "x $ y\n",
            "templates/c/map.c:1: unclosed '$': expected $name$, $(expression) or $$, in: x $ y"),
    REFUSES("an unclosed $(", "\n  x $(f(op.name);\n",
            "templates/c/map.c:2: unclosed '$(': expected its ')' on the same line, in: x "
            "$(f(op.name);"),
    REFUSES("an unclosed directive", "//@ for i = 1, 2 do\nrow $i$\n",
            "templates/c/map.c:1: unclosed directive: expected its 'end', in: //@ for i = 1, 2 do"),
    REFUSES("an unclosed function around a closed loop",
            "a\n//@ function f()\n//@ for i = 1, 2 do\n//@ end\n",
            "templates/c/map.c:2: unclosed directive: expected its 'end', in: //@ function f()"),
    REFUSES("a template that is not there", "a\n//@ use \"none.c\"\n",
            "templates/c/map.c:2: templates/c/none.c: cannot read: No such file or directory, in: "
            "//@ use \"none.c\""),
    REFUSES("an end too many", "a\n//@ end\nb\n",
            "templates/c/map.c:2: <eof> expected near 'end', in: //@ end"),
    REFUSES("a Lua error in a directive", "\n\n//@ local x = nil + 1\n",
            "templates/c/map.c:3: attempt to perform arithmetic on a nil value, in: //@ local x = "
            "nil + 1"),
    REFUSES(
        "a Lua error in a function",
        "//@ function f(x)\n//@   return x.y.z\n//@ end\na\n//@ f({})\n",
        "templates/c/map.c:2: attempt to index a nil value (field 'y'), in: //@   return x.y.z"),
    REFUSES("a syntax error in an expression", "a\nx $(1 +)\n",
            "templates/c/map.c:2: unexpected symbol near ')', in: x $(1 +)"),
    REFUSES("pasting nil", "\n  <$op.nmae$>\n",
            "templates/c/map.c:2: expected a string or a whole number to paste, found nil, in: "
            "<$op.nmae$>"),
    REFUSES(
        "pasting a boolean", "<$(1 > 2)>\n",
        "templates/c/map.c:1: expected a string or a whole number to paste, found a boolean, in: "
        "<$(1 > 2)>"),
    REFUSES("pasting a table", "  $op$\n",
            "templates/c/map.c:1: expected a string or a whole number to paste, found a table, in: "
            "$op$"),
    REFUSES("a failing assert", "\n//@ assert(1 > 2, \"U must be a multiple of 8\")\n",
            "templates/c/map.c:2: U must be a multiple of 8, in: //@ assert(1 > 2, \"U must be a "
            "multiple of 8\")"),
    REFUSES("a failing assert without words", "//@ assert(false)\n",
            "templates/c/map.c:1: assertion failed, in: //@ assert(false)"),
    REFUSES("an error that a template raises", "//@ error \"no such thing\"\n",
            "templates/c/map.c:1: no such thing, in: //@ error \"no such thing\""),
    REFUSES("io", "//@ io.open(\"x\")\n",
            "templates/c/map.c:1: undefined template variable 'io', in: //@ "
            "io.open(\"x\")"),
};
const size_t template_test_count = sizeof template_tests / sizeof *template_tests;
