/* What a spec may not say, and what a spec may not do: each test changes the spec of a small tree
 * (small/) and looks at the one line that lathe-gen says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_program.h"
#include "small_spec.h"
#include "tests.h"
#include "tree.h"

static void refuses_a_second_op_of_the_same_name(void **state) {
  (void)state;
  tree_copy("tests/small/specs/t.lua", "specs/u.lua");
  small_spec_expect(
      "specs/u.lua:1: op \"t\" stands at specs/t.lua:1 already; expected another name\n");
}

static void names_the_line_in_the_second_op_of_a_file(void **state) {
  (void)state;
  char *one = tree_read(SMALL_SPEC), two[4096];
  char *two_of = strdup(one);
  assert_non_null(two_of);
  two_of[4] = 'u';
  memcpy(strstr(two_of, "f32"), "f99", 3);
  snprintf(two, sizeof two, "%s\n%s", one, two_of);
  tree_write(SMALL_SPEC, two);
  small_spec_expect(
      "specs/t.lua:18: dtypes: unknown dtype 'f99'; expected 'f64', 'f32', 'f16' or 'bf16'\n");
  free(one);
  free(two_of);
}

static void names_the_line_of_an_include(void **state) {
  (void)state;
  tree_write("specs/include/bad.lua", "local t = {}\n\nt.x.y = 3\n");
  small_spec_replace(1, "include \"include/bad.lua\" op \"t\" {");
  small_spec_expect("specs/include/bad.lua:3: attempt to index a nil value (field 'x')\n");
}

static void names_the_line_of_a_mistake_in_an_include(void **state) {
  (void)state;
  tree_write("specs/include/bad.lua", "local t = {}\n\nt.x = = 3\n");
  small_spec_replace(1, "include \"include/bad.lua\" op \"t\" {");
  small_spec_expect("specs/include/bad.lua:3: unexpected symbol near '='\n");
}

static void refuses_bytecode(void **state) {
  (void)state;
  tree_write(SMALL_SPEC, "\x1bLuaT");
  small_spec_expect("specs/t.lua:1: expected Lua source, found bytecode; write the spec as text\n");
}

static void refuses_a_folder_without_specs(void **state) {
  (void)state;
  tree_remove(SMALL_SPEC);
  small_spec_expect("specs: expected at least one spec that declares an op, found none\n");
}

static void refuses_a_missing_folder_of_specs(void **state) {
  (void)state;
  tree_remove("specs");
  small_spec_expect(
      "specs: cannot list: No such file or directory; expected a folder of spec files\n");
}

/* Ops of one precision take the lists of rows that specs share, in which rows are of others. */
static void accepts_shared_rows_of_more_dtypes_than_the_op_has(void **state) {
  (void)state;
  run_result result;
  tree_copy("templates/.", "templates");
  tree_copy("specs/include", "specs/include");
  tree_write(
      SMALL_SPEC,
      "local vector, matrix = include \"include/vector.lua\", include \"include/matrix.lua\"\n"
      "local function ops(lists, inputs, outputs, compute, size)\n"
      "  for list, variants in pairs(lists) do\n"
      "    for _, dtype in ipairs(vector.dtypes) do\n"
      "      op(list .. \"_\" .. dtype) {\n"
      "        doc = \"test\", inputs = inputs, outputs = { y = outputs }, compute = compute,\n"
      "        sizes = { size }, dtypes = { dtype }, ulp = vector.ulp(3), variants = variants,\n"
      "      }\n"
      "    end\n"
      "  end\n"
      "end\n"
      "ops({ map = { \"default\" }, costly = vector.map_of_costly,\n"
      "    costliest = vector.map_of_costliest },\n"
      "  { x = { \"n\" } }, { \"n\" }, function(x) return exp(x) end, { \"a\", n = 2 })\n"
      "ops({ variants = { \"default\" }, all = matrix.all_variants },\n"
      "  { a = { \"m\", \"k\" }, b = { \"n\", \"k\" } }, { \"m\", \"n\" },\n"
      "  function(a, b) return sum(a * b, \"k\") end, { \"a\", m = 2, n = 3, k = 4 })\n");
  result = RUN(tree_root(), test_variable("LATHE_GEN"), "index");
  assert_string_equal(result.err, "");
  assert_int_equal(result.status, 0);
  run_free(&result);
}

#define REFUSES(name, line, text, message)                                                         \
  SMALL_REFUSES("schema: refuses " name, line, text, message)
#define ACCEPTS(name, line, text) SMALL_ACCEPTS("schema: accepts " name, line, text)
#define SANDBOX(name, text, message)                                                               \
  SMALL_REFUSES("sandbox: refuses " name, 0, text, "specs/t.lua:1: " message)
#define TEST(group, function)                                                                      \
  { group ": " #function, function, tree_setup_small, tree_teardown, NULL }

#define ROWS_OP(output, body, sizes)                                                               \
  "op \"r\" {\n"                                                                                   \
  "  doc = \"rows\",\n"                                                                            \
  "  inputs = { x = { \"rows\", \"cols\" } },\n"                                                   \
  "  outputs = { y = " output " },\n"                                                              \
  "  compute = function(x) return " body " end,\n"                                                 \
  "  sizes = { " sizes " },\n"                                                                     \
  "  dtypes = { \"f64\" },\n"                                                                      \
  "  ulp = { f64 = 1 },\n"                                                                         \
  "  variants = { { backend = \"scalar\" } },\n"                                                   \
  "}\n"
/* A product of matrices of a size, and of the shape of a set. */
#define PRODUCT_OP(size, shape)                                                                    \
  "op \"r\" {\n"                                                                                   \
  "  doc = \"product\",\n"                                                                         \
  "  inputs = { a = { \"m\", \"k\" }, b = { \"n\", \"k\" } },\n"                                   \
  "  outputs = { y = { \"m\", \"n\" } },\n"                                                        \
  "  compute = function(a, b) return sum(a * b, \"k\") end,\n"                                     \
  "  sizes = { { \"a\", " size " } },\n"                                                           \
  "  sets = { s = { " shape " } },\n"                                                              \
  "  dtypes = { \"f32\" },\n"                                                                      \
  "  ulp = 3,\n"                                                                                   \
  "  variants = { { backend = \"scalar\" } },\n"                                                   \
  "}\n"
/* An op over rows with another input `t`, its shape and what it is used for. */
#define ROWS_WITH(shape, output, body, rest)                                                       \
  "op \"r\" {\n"                                                                                   \
  "  doc = \"rows\",\n"                                                                            \
  "  inputs = { x = { \"rows\", \"cols\" }, t = " shape " },\n"                                    \
  "  outputs = { y = " output " },\n"                                                              \
  "  compute = function(x, t) return " body " end,\n"                                              \
  "  sizes = { " ONE_SIZE " },\n"                                                                  \
  "  dtypes = { \"f64\" },\n"                                                                      \
  "  ulp = { f64 = 1 },\n"                                                                         \
  "  variants = { { backend = \"scalar\" } },\n"                                                   \
  "  " rest "\n"                                                                                   \
  "}\n"
/* An op with nine inputs, the outputs declared and their values. */
#define MANY(outputs, values, rest)                                                                \
  "local V = { \"n\" } op \"t\" {\n"                                                               \
  "  doc = \"test\",\n"                                                                            \
  "  inputs = { a = V, b = V, c = V, d = V, e = V, g = V, h = V, k = V, l = V },\n"                \
  "  outputs = { " outputs " },\n"                                                                 \
  "  compute = function(a, b, c, d, e, g, h, k, l) return " values " end,\n"                       \
  "  sizes = { { \"1K\", n = 1000 } },\n"                                                          \
  "  dtypes = { \"f32\" },\n"                                                                      \
  "  ulp = { f32 = 1 },\n"                                                                         \
  "  variants = { { backend = \"scalar\" } },\n"                                                   \
  "  " rest "\n"                                                                                   \
  "}\n"
/* An op over named axes, of x and of w with a value per column. */
#define NAMED(outputs, body, rest)                                                                 \
  "local RC = { \"rows\", \"cols\" } op \"t\" {\n"                                                 \
  "  doc = \"test\",\n"                                                                            \
  "  inputs = { x = RC, w = { \"cols\" } },\n"                                                     \
  "  outputs = { " outputs " },\n"                                                                 \
  "  compute = function(x, w) return " body " end,\n"                                              \
  "  sizes = { " ONE_SIZE " },\n"                                                                  \
  "  dtypes = { \"f64\" }, ulp = 1,\n"                                                             \
  "  variants = { { backend = \"scalar\" } }, " rest "\n"                                          \
  "}\n"
/* A function of two matrices, and one of a vector. */
#define PATTERN(outputs, body)                                                                     \
  "op \"t\" { doc = \"test\", inputs = { x = { \"m\", \"k\" }, w = { \"n\", \"k\" } },\n"          \
  "  outputs = { y = " outputs " }, compute = function(x, w) return " body " end,\n"               \
  "  sizes = { { \"a\", m = 2, n = 3, k = 4 } }, dtypes = { \"f64\" }, ulp = 1,\n"                 \
  "  variants = { { backend = \"scalar\" } } }\n"
#define VECTOR(body) VECTOR_OF(body, "{ backend = \"scalar\" }")
#define VECTOR_OF(body, variants)                                                                  \
  "op \"t\" { doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"          \
  "  compute = function(x) return " body " end, sizes = { { \"a\", n = 2 } },\n"                   \
  "  dtypes = { \"f64\" }, ulp = 1,\n"                                                             \
  "  variants = { " variants " } }\n"
#define PLACES                                                                                     \
  "expected at most 24 operands, outputs that are numbers counted twice (their checks need a "     \
  "place too), found "
#define NO_BOOLEAN                                                                                 \
  "specs/t.lua:5: a comparison of symbolic values is not a Lua boolean: write lt(a, b), le, gt, "  \
  "ge, eq or ne, and select(condition, a, b)"
#define NO_AXIS                                                                                    \
  "expected what varies over some axis, found what is the same at every point; write x * "         \
  "count(\"cols\") for the sum of an x along an axis, and x for its mean, max and min"
#define ONE_SIZE "{ \"a\", rows = 2, cols = 3 }"

static const struct pattern {
  const char *spec, *reason;
} patterns[] = {
    {NAMED("y = RC", "x - w * mean(x, \"rows\")", ""),
     "no faster template does 'y' with { \"rows\", \"cols\" } of reductions over { "
     "\"rows\" }; the nearest that one does: values over rows of reductions over { "
     "\"cols\" }, a value per column of those over { \"rows\" }, or one in all of "
     "those over both"},
    {NAMED("y = {}", "sum(max(x * w, \"cols\"))", ""),
     "no faster template does 'y' with {} of reductions over { \"cols\" } and { \"rows\" }; "
     "the nearest that one does: values over rows"},
    {NAMED("y = RC, c = { \"cols\" }", "{ y = x * w, c = 2 }", ""),
     "no faster template does 'c' with { \"cols\" }, 'y' with { \"rows\", \"cols\" } of "
     "these operands"},
    {NAMED("y = { \"cols\", \"rows\" }", "x * w", ""),
     "no faster template does an operand 'y' with { \"cols\", \"rows\" } of the op's { "
     "\"rows\", \"cols\" }; the nearest that one does: operands with { \"rows\" "
     "}, { \"cols\" }, all of these in this order, or none"},
    {VECTOR("x / sum(x)"),
     "no faster template does 'y' with { \"n\" } of reductions over { \"n\" }; the nearest "
     "that one does: the same over rows: operands with { \"rows\", \"n\" }"},
    {PATTERN("{ \"m\", \"k\" }",
             "(function(s) local e = exp(s - max(s, \"n\")) return sum(e * w, \"n\") / sum(e, "
             "\"n\") end)(sum(x * w, \"k\"))"),
     "no template but stream and nest does attention: a sum over { \"n\" } of a product whose "
     "factors have { "
     "\"k\", \"n\" } and { \"m\", \"n\" }, one of them made of reductions "
     "over { \"n\" } of a sum over { \"k\" } of a product whose factors have { "
     "\"m\", \"k\" } and { \"k\", \"n\" }; the nearest that one does: a "
     "sum of what has all axes, such as a product with a vector along the innermost"},
    {NAMED("y = RC", "argmax(x * w, \"cols\")", ""),
     "no faster template does an index in 'y' at each point of { \"rows\", \"cols\" }; the "
     "nearest that one does: an output with the axes of the index, { \"rows\" }"},
    {ROWS_WITH("{ dtype = \"i64\" }", "{ \"rows\", \"cols\" }", "random(t, t) * sum(x, \"cols\")",
               ""),
     "no faster template does random numbers beside reductions, or operands that lack axes; the "
     "nearest "
     "that one does: operands with all axes, or none"},
};

/* A text with one space in place of each line's end and what the next begins with. */
static void join_lines(char *text) {
  char *to = text;

  for (const char *from = text; *from; from++)
    if (*from == '\n')
      *to++ = ' ', from += strspn(from + 1, " ");
    else
      *to++ = *from;
  *to = '\0';
}

/* An op of a pattern that no faster template does is computed by nests, and `show` says why. */
static void says_why_nests(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    run_result result;
    tree_write(SMALL_SPEC, patterns[i].spec);
    const char name[] = {strstr(patterns[i].spec, "op \"")[4], '\0'};
    result = RUN(tree_root(), test_variable("LATHE_GEN"), "show", name, "--stage", "trace");
    assert_string_equal(result.err, "");
    assert_non_null(strstr(result.out, strstr(patterns[i].reason, "attention") ? "kind     stream"
                                                                               : "kind     nest"));
    join_lines(result.out);
    if (!strstr(result.out, patterns[i].reason))
      fail_msg("found nowhere: %s", patterns[i].reason);
    run_free(&result);
  }
}

const struct CMUnitTest schema_tests[] = {
    ACCEPTS("the small spec", 2, "  doc = \"test\","),

    /* keys */
    REFUSES("an unknown key", 5, "  comptue = function(x) return x end,",
            "specs/t.lua:5: op \"t\": unknown key 'comptue' (did you mean 'compute'?)"),
    REFUSES("an unknown key near none", 9,
            "  variants = { { backend = \"scalar\" } }, frobnicate = 1,",
            "specs/t.lua:9: op \"t\": unknown key 'frobnicate'"),
    REFUSES("a key that is a number", 2, "  \"test\",", "specs/t.lua:1: op \"t\": unknown key 1"),
    REFUSES("a wrong type", 2, "  doc = 3,",
            "specs/t.lua:2: op \"t\": doc: expected a string, found a number"),
    REFUSES("an op that says nothing of itself", 2, "  doc = \" \",",
            "specs/t.lua:2: doc: expected what the op computes, found none"),
    REFUSES("a gradient that says nothing of itself", 9,
            "  variants = { { backend = \"scalar\" } }, backward = { doc = \"\" },",
            "specs/t.lua:9: doc: expected what the op computes, found none"),
    REFUSES("a function of a wrong type", 5, "  compute = \"x\",",
            "specs/t.lua:5: op \"t\": compute: expected a function, found a string"),
    REFUSES("a missing field", 2, NULL,
            "specs/t.lua:1: op \"t\": expected the key 'doc' (One line: what the op computes.)"),
    REFUSES("the key of points", 5, "  map = function(x) return x end,",
            "specs/t.lua:5: op \"t\": unknown key 'map'; write compute, the one key for every op's "
            "function"),
    REFUSES("the key of reductions", 5, "  reduce = function(x) return sum(x) end,",
            "specs/t.lua:5: op \"t\": unknown key 'reduce'; write compute, where sum(x) goes over "
            "all axes of x, and sum(x, \"cols\") over those that it names"),
    REFUSES("the key of rows", 5, "  rows = function(x) return x end,",
            "specs/t.lua:5: op \"t\": unknown key 'rows'; write compute, where a reduction names "
            "the axes to go over, as in sum(x, \"cols\")"),
    REFUSES("no function", 5, NULL,
            "specs/t.lua:1: op \"t\": expected the key 'compute' (The outputs at each point of "
            "their dimensions: x * w + b; sum(x, \"cols\"), max, min, mean, argmax, argmin over "
            "those that are named, or over all that x has.)"),
    TEST("schema", refuses_a_second_op_of_the_same_name),
    TEST("schema", names_the_line_in_the_second_op_of_a_file),
    TEST("schema", names_the_line_of_an_include),
    TEST("schema", names_the_line_of_a_mistake_in_an_include),
    TEST("schema", refuses_a_folder_without_specs),
    TEST("schema", refuses_a_missing_folder_of_specs),

    /* op names and its table */
    REFUSES("an op's name in upper case", 1, "op \"T\" {",
            "specs/t.lua:1: op: expected a name of at most 64 lower-case letters, digits and _, "
            "found 'T'"),
    REFUSES("an op's name that is a number", 1, "op(3) {",
            "specs/t.lua:1: op: expected a name of at most 64 lower-case letters, digits and _, "
            "found a number"),
    REFUSES("an op without its table", 0, "\nop \"t\"\n",
            "specs/t.lua:2: op \"t\": expected a table { ... } after the name"),
    REFUSES("an op with a number for its table", 0, "op \"t\" (3)\n",
            "specs/t.lua:1: op \"t\": expected a table { ... } after the name, found a number"),

    /* precisions */
    REFUSES("an unknown dtype", 7, "  dtypes = { \"f23\" },",
            "specs/t.lua:7: dtypes: unknown dtype 'f23'; expected 'f64', 'f32', 'f16' or 'bf16'"),
    REFUSES(
        "an unknown dtype that is near one", 7, "  dtypes = { \"f66\", \"f32\" },",
        "specs/t.lua:7: dtypes: unknown dtype 'f66' (did you mean 'f64'?); expected 'f64', 'f32', "
        "'f16' or 'bf16'"),
    REFUSES("a dtype of integers", 7, "  dtypes = { \"i32\" },",
            "specs/t.lua:7: dtypes: unknown dtype 'i32'; there is no arithmetic of integers: "
            "numbers have a "
            "fraction, which floor and round take away; expected 'f64', 'f32', 'f16' or 'bf16'"),
    REFUSES("a scan that there is none of", 5, "  compute = function(x) return scan(x) end,",
            "specs/t.lua:5: unknown name 'scan'; of scans there are cumsum cumprod cummax cummin, "
            "and recurrence(a, b, \"t\") for h = a * h + b"),
    REFUSES("a transpose", 5, "  compute = function(x) return transpose(x) end,",
            "specs/t.lua:5: unknown name 'transpose'; nothing is moved or given another shape: "
            "an operand lists its axes in the order that they lie in memory, and one that lacks "
            "some of the op's, as { \"cols\" }, is the same along those"),
    REFUSES(
        "a product of matrices", 5, "  compute = function(x) return matmul(x, x) end,",
        "specs/t.lua:5: unknown name 'matmul'; write the sum that it is: sum(x * w, \"k\"), for "
        "one with x = { \"m\", \"k\" } and w = { \"n\", \"k\" }"),
    REFUSES("a reduction of rows", 5, "  compute = function(x) return row_sum(x) end,",
            "specs/t.lua:5: unknown name 'row_sum'; write sum(x, \"cols\"), with the names of the "
            "axes to go over"),
    REFUSES("a reduction of columns", 5, "  compute = function(x) return column_mean(x) end,",
            "specs/t.lua:5: unknown name 'column_mean'; write mean(x, \"cols\"), with the names of "
            "the axes to go over"),
    REFUSES("a gather", 5, "  compute = function(x) return gather(x, 1) end,",
            "specs/t.lua:5: unknown name 'gather'; write at(x, { v = index }) of an operand of "
            "indexes, index = { \"rows\", index = \"v\" }"),
    REFUSES("sorting", 5, "  compute = function(x) return topk(x, 3) end,",
            "specs/t.lua:5: unknown name 'topk'; there is no sorting: of the elements along an "
            "axis there are the largest and the smallest (max, min, argmax, argmin)"),
    REFUSES("neighbours", 5, "  compute = function(x) return conv(x, 3) end,",
            "specs/t.lua:5: unknown name 'conv'; write at(x, { h = place }, outside), what is "
            "elsewhere, of a place such as position \"o\" * 2 + position \"r\" - 1"),
    REFUSES("a name that NumPy has for something else", 5,
            "  compute = function(x) return where(gt(x, 0), x, 0) end,",
            "specs/t.lua:5: unknown name 'where'; write select(condition, a, b)"),
    REFUSES("an operand that is indexed", 5, "  compute = function(x) return x[i, j] end,",
            "specs/t.lua:5: ']' expected near ','; an operand is not indexed: it is read at each "
            "point's own place, or by at(x, { t = place }) elsewhere, and a product of matrices is "
            "sum(x * w, \"k\")"),
    REFUSES("a power as Python has it", 5, "  compute = function(x) return x ** 2 end,",
            "specs/t.lua:5: unexpected symbol near '*'; write x ^ 2 for a power"),
    REFUSES("inequality as C has it", 5, "  compute = function(x) return select(x != 0, x, 1) end,",
            "specs/t.lua:5: ')' expected near '!'; write ne(a, b), or a ~= b of plain values"),
    REFUSES(
        "a negation as C has it", 5, "  compute = function(x) return select(!lt(x, 0), x, 1) end,",
        "specs/t.lua:5: unexpected symbol near '!'; write negate(a), or not a of a plain value"),
    REFUSES("two conditions as C has them", 5,
            "  compute = function(x) return select(lt(x, 0) && gt(x, -1), x, 1) end,",
            "specs/t.lua:5: unexpected symbol near '&'; write all_of(a, b), or a and b of plain "
            "values"),
    REFUSES(
        "one of two conditions as C has it", 5,
        "  compute = function(x) return select(lt(x, 0) ||\n    gt(x, 1), x, 1) end,",
        "specs/t.lua:5: unexpected symbol near '|'; write any_of(a, b), or a or b of plain values"),
    REFUSES("a choice as C has it", 5, "  compute = function(x) return lt(x, 0) ? 1 : x end,",
            "specs/t.lua:5: 'end' expected near '?'; write select(condition, a, b)"),
    REFUSES("two conditions as NumPy has them", 5,
            "  compute = function(x) return select(lt(x, 0) & gt(x, -1), x, 1) end,",
            "specs/t.lua:5: a symbolic value knows + - * / ^ and the functions of a spec, not &; "
            "write all_of(a, b)"),
    REFUSES("a negation as NumPy has it", 5,
            "  compute = function(x) return select(~lt(x, 0), x, 1) end,",
            "specs/t.lua:5: a symbolic value knows + - * / ^ and the functions of a spec, not ~; "
            "write negate(a)"),
    REFUSES("arithmetic of integers", 5, "  compute = function(x) return x & 1 end,",
            "specs/t.lua:5: a symbolic value knows + - * / ^ and the functions of a spec, not &; "
            "there is no arithmetic "
            "of integers: numbers have a fraction, which floor and round take away"),
    REFUSES("a dtype given twice", 7, "  dtypes = { \"f32\", \"f32\" },",
            "specs/t.lua:7: dtypes: 'f32' stands twice"),
    REFUSES("no dtype", 7, "  dtypes = {},",
            "specs/t.lua:7: dtypes: expected at least one of 'f64', 'f32', 'f16' or 'bf16'"),
    REFUSES("a dtype that is a table", 7, "  dtypes = { {} },",
            "specs/t.lua:7: dtypes: unknown dtype a table; expected 'f64', 'f32', 'f16' or 'bf16'"),
    REFUSES("a key among the dtypes", 7, "  dtypes = { \"f32\", foo = 1 },",
            "specs/t.lua:7: dtypes: expected a list, found the key 'foo' in it"),
    REFUSES("a missing bound", 8, "  ulp = {},",
            "specs/t.lua:8: ulp: expected a bound for 'f32', found none"),
    REFUSES("a negative bound", 8, "  ulp = { f32 = -1 },",
            "specs/t.lua:8: ulp.f32: expected a number of at least 0, found -1"),
    REFUSES("a bound for a dtype that there is not", 8, "  ulp = { f32 = 1, f23 = 1 },",
            "specs/t.lua:8: ulp: unknown dtype 'f23'; expected 'f64', 'f32', 'f16' or 'bf16'"),
    ACCEPTS("bounds of more dtypes than the op's", 8, "  ulp = { f32 = 1, f64 = 1, bf16 = 0.5 },"),
    ACCEPTS("one bound for all dtypes", 8, "  ulp = 1,"),
    REFUSES("a negative bound for all dtypes", 8, "  ulp = -1,",
            "specs/t.lua:8: ulp: expected a number of at least 0, found -1"),
    REFUSES("a bound that is text", 8, "  ulp = \"1\",",
            "specs/t.lua:8: op \"t\": ulp: expected a table or a number, found a string"),
    REFUSES("a bound without an end", 8, "  ulp = { f32 = 1 / 0 },",
            "specs/t.lua:8: ulp.f32: expected at most 1048576, found inf: it would leave less than "
            "4 bits of a result in 'f32' to check"),
    REFUSES(
        "a bound that lets everything pass", 8, "  ulp = 1e300,",
        "specs/t.lua:8: ulp: expected at most 1048576, found 1e+300: it would leave less than 4 "
        "bits of a result in 'f32' to check"),
    ACCEPTS("the largest bound", 8, "  ulp = 2 ^ 20,"),
    REFUSES("a bound that is no number", 8, "  ulp = { f32 = 0 / 0 },",
            "specs/t.lua:8: ulp.f32: expected a number of at least 0, found NaN"),

    /* axes by their names */
    ACCEPTS("a function of points", 5, "  compute = function(x) return x end,"),
    ACCEPTS("values over rows", 0, NAMED("y = RC", "x - max(x, \"cols\") * w", "")),
    ACCEPTS("a value per row", 0, NAMED("y = { \"rows\" }", "mean(x * w, \"cols\")", "")),
    ACCEPTS("a value per column, and its gradient", 0,
            NAMED("y = { \"cols\" }", "sum(x, \"rows\") * w", "backward = true,")),
    ACCEPTS("products of themselves", 0,
            NAMED("y = RC",
                  "(function(p) for _ = 1, 60 do p = p * p end return p * sum(p, \"cols\") end)(x "
                  "* w)",
                  "")),
    ACCEPTS("operands without some axes", 0, NAMED("y = RC", "x + w", "backward = true,")),
    REFUSES("a function of points that gives one value", 5,
            "  compute = function(x) return sum(x) end,\n  any_zero_sign = 3,",
            "specs/t.lua:6: op \"t\": any_zero_sign: expected a boolean, found a number"),
    REFUSES("an unknown axis", 0, NAMED("y = RC", "x - max(x, \"cosl\")", ""),
            "specs/t.lua:5: max: unknown axis 'cosl' (did you mean 'cols'?); expected 'rows' or "
            "'cols'"),
    REFUSES(
        "the place along an unknown axis", 0, NAMED("y = RC", "x * position \"cosl\"", ""),
        "specs/t.lua:5: position: unknown axis 'cosl' (did you mean 'cols'?); expected 'rows' or "
        "'cols'"),
    REFUSES(
        "the place along what is no name", 0, NAMED("y = RC", "x * position(w)", ""),
        "specs/t.lua:5: position: expected the name of an axis, as in position \"cols\", found a "
        "symbolic value"),
    REFUSES("the place along two axes", 0, NAMED("y = RC", "x * position(\"rows\", \"cols\")", ""),
            "specs/t.lua:5: position: expected 1 argument, found 2"),
    ACCEPTS("what is elsewhere", 0,
            NAMED("y = RC",
                  "at(x + w, { cols = position \"rows\" * 2, rows = count \"rows\" - 1 - position "
                  "\"rows\" }, 0)",
                  "")),
    REFUSES("a place that is no whole number", 0,
            NAMED("y = RC", "at(x, { cols = position \"cols\" / 2 }) + w", ""),
            "specs/t.lua:5: at: expected a whole number made of position(...), count(...), whole "
            "constants and index operands by + - * min max and floor(a / 2), found another value"),
    REFUSES("places along an axis that is not there", 0,
            NAMED("y = RC", "x + at(w, { rows = 0 })", ""),
            "specs/t.lua:5: at: expected axes out of those of what is read, { \"cols\" }; found "
            "'rows'"),
    REFUSES("no places", 0, NAMED("y = RC", "at(x, {}) + w", ""),
            "specs/t.lua:5: at: expected places by the names of axes, as in { cols = position "
            "\"cols\" - 1 }, found none"),
    REFUSES("a place that varies over the axis of a maximum", 0,
            NAMED("y = RC", "x + at(w * max(x, \"rows\"), { cols = position \"rows\" })", ""),
            "specs/t.lua:5: at: a place varies over { \"rows\" }, which an extreme that is read "
            "there is "
            "over; give one of these another name"),
    REFUSES(
        "a gradient by places that are not undone", 0,
        NAMED("y = RC", "at(x, { cols = position \"cols\" * 2 }, 0) + w", "backward = true,"),
        "specs/t.lua:8: backward: at(...) along an axis of its result by other steps than 1 has "
        "no derivative; expected detach(...) around it"),
    ACCEPTS("scans", 0,
            NAMED("y = RC",
                  "cumsum(x, \"rows\", { exclusive = true, reverse = false }) + recurrence(w, 1, "
                  "\"cols\")",
                  "backward = true,")),
    REFUSES("a scan along nothing", 0, NAMED("y = RC", "x + cumsum(w)", ""),
            "specs/t.lua:5: cumsum: expected the name of an axis, as in cumsum(x, \"cols\"), found "
            "nothing"),
    REFUSES("a recurrence without its second argument", 0,
            NAMED("y = RC", "x + recurrence(w, \"cols\")", ""),
            "specs/t.lua:5: recurrence: expected a number or a symbolic value as argument 2, found "
            "a string"),
    REFUSES(
        "a scan along two axes", 0, NAMED("y = RC", "w + cumprod(x, \"rows\", \"cols\")", ""),
        "specs/t.lua:5: cumprod: expected one axis, found \"rows\" and \"cols\"; along two axes "
        "it is a scan of a scan"),
    REFUSES(
        "a scan along an axis that its argument lacks", 0,
        NAMED("y = RC", "x + cummax(w, \"rows\")", ""),
        "specs/t.lua:5: cummax: expected an axis out of those of what is scanned, { \"cols\" }; "
        "found { \"rows\" }"),
    REFUSES("a scan along an unknown axis", 0, NAMED("y = RC", "x + cummin(w, \"cosl\")", ""),
            "specs/t.lua:5: cummin: unknown axis 'cosl' (did you mean 'cols'?); expected 'rows' or "
            "'cols'"),
    REFUSES("a scan of a comparison", 0, NAMED("y = RC", "x + cumsum(gt(w, 0), \"cols\")", ""),
            "specs/t.lua:5: cumsum: expected a number as argument 1, found a comparison; write "
            "select(condition, 1, 0)"),
    REFUSES("a scan in an unknown way", 0,
            NAMED("y = RC", "x + cumsum(w, \"cols\", { reversed = true })", ""),
            "specs/t.lua:5: cumsum: expected exclusive = true or reverse = true, found reversed = "
            "true (did you mean 'reverse'?)"),
    REFUSES(
        "a scan with a number after the axis", 0, NAMED("y = RC", "x + cumsum(w, \"cols\", 1)", ""),
        "specs/t.lua:5: cumsum: expected nothing after the axis but { exclusive = true, reverse "
        "= true }"),
    REFUSES("an axis of inputs among the others", 0,
            NAMED("y = RC", "x + w", "axes = { \"cols\" },"),
            "specs/t.lua:8: axes: expected names of axes that no input has, found 'cols'"),
    REFUSES("an axis that the argument lacks", 0, NAMED("y = RC", "x - max(w, \"rows\")", ""),
            "specs/t.lua:5: max: expected axes out of those of its argument, { \"cols\" }; found { "
            "\"rows\" }"),
    REFUSES("a reduction of what is the same everywhere", 0, NAMED("y = RC", "x - w - sum(2)", ""),
            "specs/t.lua:5: sum: " NO_AXIS),
    REFUSES("a reduction of a constant over an axis", 0,
            NAMED("y = RC", "x - w - sum(1, \"cols\")", ""), "specs/t.lua:5: sum: " NO_AXIS),
    REFUSES("a number in the place of an axis", 0, NAMED("y = RC", "x - w - sum(x, 2)", ""),
            "specs/t.lua:5: sum: expected the names of axes after the argument, as in sum(x, "
            "\"cols\"), found a number"),
    REFUSES("an output that lacks an axis", 0, NAMED("y = { \"rows\" }", "x * w", ""),
            "specs/t.lua:5: compute: 'y' has no axis out of { \"cols\" }, over which its value "
            "differs; expected a reduction over them, such as sum(..., \"cols\")"),
    REFUSES("an output with an axis of its own", 0, NAMED("y = { \"t\" }", "sum(x)", ""),
            "specs/t.lua:4: outputs.y: expected dimensions out of those of the inputs, { \"rows\", "
            "\"cols\" }, found { \"t\" }"),
    TEST("schema", says_why_nests),

    /* sizes */
    REFUSES(
        "no size", 6, "  sizes = {},",
        "specs/t.lua:6: sizes: expected at least one, such as { \"1K\", n = 1000 }, found none"),
    REFUSES("an empty size", 6, "  sizes = { {} },",
            "specs/t.lua:6: sizes[1]: expected a name and dimensions such as { \"1K\", n = 1000 }"),
    REFUSES("a size of zero", 6, "  sizes = { { \"a\", n = 0 } },",
            "specs/t.lua:6: sizes 'a': expected a whole number of at least 1 for 'n', found 0"),
    REFUSES("a negative size", 6, "  sizes = { { \"a\", n = -4 } },",
            "specs/t.lua:6: sizes 'a': expected a whole number of at least 1 for 'n', found -4"),
    REFUSES("a fractional size", 6, "  sizes = { { \"a\", n = 1.5 } },",
            "specs/t.lua:6: sizes 'a': expected a whole number of at least 1 for 'n', found 1.5"),
    REFUSES("a missing dimension", 6, "  sizes = { { \"a\" } },",
            "specs/t.lua:6: sizes 'a': dimension 'n' is missing"),
    REFUSES("an unknown dimension", 6, "  sizes = { { \"a\", n = 1, m = 7 } },",
            "specs/t.lua:6: sizes 'a': unknown dimension 'm' (did you mean 'n'?); the op has 'n'"),
    REFUSES("a size that is text", 6, "  sizes = { { \"a\", n = \"7\" } },",
            "specs/t.lua:6: sizes 'a': expected a whole number of at least 1 for 'n', found '7'"),
    REFUSES("a key among the sizes", 6, "  sizes = { { \"a\", n = 1 }, foo = 7 },",
            "specs/t.lua:6: sizes: expected a list, found the key 'foo' in it"),
    REFUSES("a size's name given twice", 6, "  sizes = { { \"a\", n = 1 }, { \"a\", n = 2 } },",
            "specs/t.lua:6: sizes: 'a' stands twice"),
    REFUSES("a size's name with a comma", 6, "  sizes = { { \"a,b\", n = 1 } },",
            "specs/t.lua:6: sizes: expected a name without commas and spaces, found 'a,b'"),
    REFUSES("sizes whose bytes overflow", 6, "  sizes = { { \"a\", n = 2 ^ 62 } },",
            "specs/t.lua:6: sizes 'a': expected operands of at most 1 TiB, found x of "
            "4611686018427387904 "
            "elements of 4 bytes"),
    REFUSES("a size that no memory holds", 6, "  sizes = { { \"a\", n = 2 ^ 38 + 1 } },",
            "specs/t.lua:6: sizes 'a': expected operands of at most 1 TiB, found x of 274877906945 "
            "elements of 4 bytes"),
    ACCEPTS("the largest size", 6, "  sizes = { { \"a\", n = 2 ^ 38 } },"),
    REFUSES("an infinite size", 6, "  sizes = { { \"a\", n = 1 / 0 } },",
            "specs/t.lua:6: sizes 'a': expected operands of at most 1 TiB, found x of inf elements "
            "of 4 "
            "bytes"),
    REFUSES("sizes whose product overflows", 0,
            ROWS_OP("{ \"rows\", \"cols\" }", "x", "{ \"a\", rows = 2 ^ 31, cols = 2 ^ 29 }"),
            "specs/t.lua:6: sizes 'a': expected operands of at most 1 TiB, found x of 2147483648 x "
            "536870912 "
            "elements of 8 bytes"),

    ACCEPTS("a size whose operands are stored, however many points they have together", 0,
            PRODUCT_OP("m = 2 ^ 19, n = 2 ^ 19, k = 2 ^ 19", "{ 2 ^ 19, 2 ^ 19, 2 ^ 19 }")),
    REFUSES("a size of which one operand is too large", 0,
            PRODUCT_OP("m = 1, n = 2 ^ 20, k = 2 ^ 19", "{ 1, 1, 1 }"),
            "specs/t.lua:6: sizes 'a': expected operands of at most 1 TiB, found b of 1048576 x "
            "524288 elements of 4 bytes"),
    REFUSES("a set of which one operand is too large", 0,
            PRODUCT_OP("m = 1, n = 1, k = 1", "{ 1, 2 ^ 20, 2 ^ 19 }"),
            "specs/t.lua:7: sets.s[1]: expected operands of at most 1 TiB, found b of 1048576 x "
            "524288 elements of 4 bytes"),

    /* sets of sizes */
    REFUSES("sets that are no table", 6, "  sizes = { { \"a\", n = 1 } }, sets = 3,",
            "specs/t.lua:6: op \"t\": sets: expected a table, found a number"),
    REFUSES("a set without a name", 6, "  sizes = { { \"a\", n = 1 } }, sets = { { { 1 } } },",
            "specs/t.lua:6: sets: expected a name of at most 64 lower-case letters, digits and _, "
            "found 1"),
    REFUSES("a set that could be a number", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { [\"1K\"] = { { 1 } } },",
            "specs/t.lua:6: sets: expected a name of at most 64 lower-case letters, digits and _, "
            "found '1K'"),
    REFUSES("a set called as a size is", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { a = { { 1 } } },",
            "specs/t.lua:6: sets.a: a size has that name already; expected another"),
    REFUSES("an empty set", 6, "  sizes = { { \"a\", n = 1 } }, sets = { s = {} },",
            "specs/t.lua:6: sets.s: expected a list of shapes such as { { 1024, 1024 } }, found "
            "none"),
    REFUSES("a shape that is a number", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { s = { 1024 } },",
            "specs/t.lua:6: sets.s[1]: expected 1 to 16 extents such as { 1024, 1024 }, found "
            "1024"),
    REFUSES("a shape of 17 extents", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { s = { { 1 }, { 1, 2, 3, 4, 5, 6, 7, 8, 9, "
            "10, 11, 12, "
            "13, 14, 15, 16, 17 } } },",
            "specs/t.lua:6: sets.s[2]: expected 1 to 16 extents such as { 1024, 1024 }, found 17"),
    REFUSES("a shape by names", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { s = { { 1, width = 4 } } },",
            "specs/t.lua:6: sets.s[1]: expected a list, found the key 'width' in it"),
    REFUSES("an extent of zero", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { s = { { 4, { 8, 0 } } } },",
            "specs/t.lua:6: sets.s[1]: expected whole numbers of at least 1, or lists of them, "
            "found 0"),
    REFUSES("an extent without a choice", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { s = { { 4, {} } } },",
            "specs/t.lua:6: sets.s[1]: expected whole numbers of at least 1, or lists of them, "
            "found an empty list"),
    REFUSES("a shape whose bytes overflow", 6,
            "  sizes = { { \"a\", n = 1 } }, sets = { s = { { { 4, 2 ^ 31 }, 2 ^ 31 } } },",
            "specs/t.lua:6: sets.s[1]: expected operands of at most 1 TiB, found x of "
            "4611686018427387904 elements of 4 bytes"),
    REFUSES("a set that multiplies out to too much", 6,
            "  sizes = { { \"a\", n = 1 } },\n"
            "  sets = { s = { (function()\n"
            "    local l = {} for i = 1, 32 do l[i] = i end return { l, l }\n"
            "  end)() } },",
            "specs/t.lua:7: sets.s[1]: expected lists that multiply out to at most 1000 shapes, "
            "found more"),

    /* operands */
    REFUSES(
        "an operand that is no list", 3, "  inputs = { x = \"n\" },",
        "specs/t.lua:3: inputs.x: expected a list of dimensions such as { \"n\" }, found a string"),
    REFUSES("an operand's unknown key", 3, "  inputs = { x = { \"n\", rnage = { 1, 2 } } },",
            "specs/t.lua:3: inputs.x: unknown key 'rnage' (did you mean 'range'?); expected "
            "dimensions, "
            "range, index and dtype"),
    REFUSES("an operand of 17 dimensions", 3,
            "  inputs = { x = { \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", "
            "\"j\", \"k\", \"l\", \"m\", \"n\", \"o\", \"p\", \"q\" } },",
            "specs/t.lua:3: inputs.x: expected at most 16 dimensions, found 17"),
    REFUSES("an output that says what is found", 4, "  outputs = { where = { index = \"n\" } },",
            "specs/t.lua:4: outputs.where: unknown key 'index'; expected dimensions and dtype"),
    ACCEPTS("an output of a type of its own", 4, "  outputs = { y = { \"n\", dtype = \"u8\" } },"),
    REFUSES("an unknown type of an output", 4, "  outputs = { y = { \"n\", dtype = \"i4\" } },",
            "specs/t.lua:4: outputs.y: an operand has the precisions under 'dtypes', or a dtype of "
            "its own; expected 'f64', 'f32', 'f16', 'bf16', 'i8', 'u8' or 'computed', found dtype "
            "= 'i4' (did "
            "you mean 'i8'?)"),
    REFUSES("an input of a type beside which none is computed", 3,
            "  inputs = { x = { \"n\", dtype = \"f64\" } },",
            "specs/t.lua:3: inputs.x: numbers of f64 are computed in f64, those of f32 in f32; "
            "expected dtypes without f32"),
    REFUSES(
        "a type in the place of a dimension", 3, "  inputs = { x = { \"n\", \"i8\" } },",
        "specs/t.lua:3: inputs.x: expected names of dimensions, found the type 'i8'; write dtype "
        "= \"i8\" beside them, as in { \"n\", dtype = \"i8\" }; there are 'f64', 'f32', 'f16', "
        "'bf16', 'i8', 'u8' or 'computed', or \"i64\" for one integer in all"),
    REFUSES("a type in the place of an output's dimension", 4,
            "  outputs = { y = { \"n\", \"i64\" } },",
            "specs/t.lua:4: outputs.y: expected names of dimensions, found the type 'i64'; write "
            "dtype = \"i64\" beside them, as in { \"n\", dtype = \"i8\" }; there are 'f64', 'f32', "
            "'f16', 'bf16', 'i8', 'u8' or 'computed'"),
    REFUSES("a range beyond that of an operand's type", 3,
            "  inputs = { x = { \"n\", dtype = \"u8\", range = { -1, 1 } } },",
            "specs/t.lua:3: inputs.x: expected a range within that of u8, 0 to 255, found -1 to 1"),
    REFUSES("an output of another type in place", 4,
            "  outputs = { y = { \"n\", dtype = \"u8\" } }, in_place = true,",
            "specs/t.lua:4: in_place: expected 'x' and 'y' to have the same type"),
    REFUSES("a gradient of what is rounded to integers", 4,
            "  outputs = { y = { \"n\", dtype = \"u8\" } }, backward = true,",
            "specs/t.lua:4: backward: 'y' is rounded to u8, which has no gradient"),
    REFUSES("a gradient by integers", 3,
            "  inputs = { x = { \"n\", dtype = \"u8\" } }, backward = true,",
            "specs/t.lua:3: backward: nothing of what 't' reads has a derivative"),
    REFUSES(
        "a shape with a hole in it", 3, "  inputs = { x = { \"n\", [3] = \"m\" } },",
        "specs/t.lua:3: inputs.x: expected a list of dimensions such as { \"n\" }, found the key "
        "3 in it"),
    REFUSES("a range that is wider than any number", 3,
            "  inputs = { x = { \"n\", range = { -1e308, 1e308 } } },",
            "specs/t.lua:3: x.range: expected high - low to be a finite number, found -1e+308 and "
            "1e+308"),
    REFUSES("a range that is empty", 3, "  inputs = { x = { \"n\", range = { 2, 1 } } },",
            "specs/t.lua:3: x.range: expected { low, high } with low first, found { 2, 1 }"),
    REFUSES("a dimension that stands twice", 3, "  inputs = { x = { \"n\", \"n\" } },",
            "specs/t.lua:3: op \"t\": dimension 'n' stands twice"),
    REFUSES(
        "an output without a place", 4, "  outputs = { y = {} },",
        "specs/t.lua:5: compute: 'y' has no axis out of { \"n\" }, over which its value differs; "
        "expected a reduction over them, such as sum(..., \"n\")"),
    REFUSES("an output of an unknown dimension", 4, "  outputs = { y = { \"m\" } },",
            "specs/t.lua:4: outputs.y: expected dimensions out of those of the inputs, { \"n\" }, "
            "found { \"m\" }"),
    REFUSES("two operands of one name", 4, "  outputs = { x = { \"n\" } },",
            "specs/t.lua:5: op \"t\": two operands are called 'x'"),
    REFUSES("an operand that is no parameter", 3, "  inputs = { x = { \"n\" }, z = { \"n\" } },",
            "specs/t.lua:5: compute: 'z' is declared but is no parameter of the function"),
    REFUSES("a parameter that is no operand", 5, "  compute = function(x, xx) return x end,",
            "specs/t.lua:5: compute: parameter 'xx' is no input and no scalar (did you mean 'x'?)"),
    REFUSES("parameters without names", 5, "  compute = function(...) return 1 end,",
            "specs/t.lua:5: compute: expected a function whose parameters are the names of inputs "
            "and scalars, found '...'"),
    REFUSES("one of several ops that a line declares", 0,
            "local function map(name, backend)\n"
            "  op(name) {\n"
            "    doc = 'x', inputs = { x = { 'n' } }, outputs = { y = { 'n' } },\n"
            "    compute = function(x) return x end, sizes = { { 'S', n = 1 } },\n"
            "    dtypes = { 'f32' }, ulp = 0, variants = { { backend = backend, unrol = 4 } },\n"
            "  }\n"
            "end\n"
            "map('first', 'scalar')\n"
            "map('second', 'scalar')\n",
            "specs/t.lua:5: op \"first\": variants[1]: unknown parameter 'unrol' (did you mean "
            "'unroll'?); the template map has for scalar 'unroll' or 'store'"),
    REFUSES("a word of Python in a peer's text", 5,
            "  compute = function(x, lambda) return x * lambda end, scalars = { lambda = 2 }, "
            "peers = { torch = \"x\" },",
            "specs/t.lua:5: peers.torch: expected operands with names that Python takes, found "
            "'lambda', a word of its "
            "own"),
    REFUSES("an unknown peer", 8, "  ulp = { f32 = 1 }, peers = { nmpy = \"x\" },",
            "specs/t.lua:8: peers: unknown peer 'nmpy' (did you mean 'numpy'?); expected 'blas', "
            "'cudnn', 'numpy' or 'torch'"),

    /* variants */
    REFUSES(
        "a part of a peer's name", 8, "  ulp = { f32 = 1 }, peers = { num = \"x\" },",
        "specs/t.lua:8: peers: unknown peer 'num'; expected 'blas', 'cudnn', 'numpy' or 'torch'"),
    REFUSES("a key among the variants", 9, "  variants = { { backend = \"scalar\" }, foo = 1 },",
            "specs/t.lua:9: variants: expected a list, found the key 'foo' in it"),
    REFUSES("no variant", 9, "  variants = {},",
            "specs/t.lua:9: variants: expected at least one row such as { backend = \"scalar\" }, "
            "found "
            "none"),
    REFUSES("a variant that is no table", 9, "  variants = { 3 },",
            "specs/t.lua:9: variants[1]: expected a table of tuning parameters or \"default\", "
            "found 3"),
    REFUSES("a variant without a backend", 9, "  variants = { { unroll = 4 } },",
            "specs/t.lua:9: variants: expected backend = 'avx2' or 'scalar'"),
    REFUSES("an unknown backend", 9, "  variants = { { backend = \"avx3\" } },",
            "specs/t.lua:9: variants: unknown backend 'avx3' (did you mean 'avx2'?); expected "
            "'avx2' or "
            "'scalar'"),
    REFUSES("an unknown tuning parameter", 9,
            "  variants = { { backend = \"scalar\", unrol = 2 } },",
            "specs/t.lua:9: variants[1]: unknown parameter 'unrol' (did you mean 'unroll'?); the "
            "template map has for scalar 'unroll' or 'store'"),
    REFUSES(
        "a parameter of another template", 9,
        "  variants = { { backend = { \"avx2\", \"scalar\" }, accumulators = 2 } },",
        "specs/t.lua:9: variants[1]: unknown parameter 'accumulators'; the template map has for "
        "avx2, scalar 'unroll' or 'store'; 't' computes values at each point, without "
        "reductions: \"default\" stands for { backend = \"avx2\", prefer = { from = 1024 }, "
        "unroll = 4 }, { backend = \"scalar\", unroll = { 1, 2 } }"),
    REFUSES(
        "values that multiply out to too much", 9,
        "  variants = { { backend = \"scalar\", unroll = (function()\n"
        "    local l = {} for i = 1, 1001 do l[i] = i end return l\n"
        "  end)() } },",
        "specs/t.lua:9: variants: expected lists that multiply out to at most 1000 variants for "
        "'scalar', found more"),
    REFUSES("a value out of range", 9,
            "  variants = { { backend = \"scalar\", unroll = { 1, 17 } } },",
            "specs/t.lua:9: scalar: expected a whole number from 1 to 16 for 'unroll', found 17"),
    REFUSES("a fractional value", 9, "  variants = { { backend = \"scalar\", unroll = 1.5 } },",
            "specs/t.lua:9: scalar: expected a whole number from 1 to 16 for 'unroll', found 1.5"),
    REFUSES("an unknown name for a value", 9,
            "  variants = { { backend = \"scalar\", store = \"stream\" } },",
            "specs/t.lua:9: scalar: expected 'temporal' or 'streaming' for 'store', found 'stream' "
            "(did "
            "you mean 'streaming'?)"),
    REFUSES("an empty list of values", 9, "  variants = { { backend = \"scalar\", unroll = {} } },",
            "specs/t.lua:9: variants: expected at least one value for 'unroll'"),
    REFUSES(
        "variants of the same name", 9,
        "  variants = { { backend = \"scalar\" }, { backend = \"cpu\", unroll = { 2, 1 } } },",
        "specs/t.lua:9: variants[2]: 'scalar_u1' is made by variants[1] already; expected other "
        "parameters"),
    REFUSES("products of no such precision", 8, "  ulp = { f32 = 1 }, products = \"tf23\",",
            "specs/t.lua:8: products: expected 'f16', 'f16_vectors', 'narrow' or 'tf32', found "
            "'tf23' (did "
            "you mean 'tf32'?)"),
    REFUSES("a comparison without a name", 8, "  ulp = { f32 = 1 }, compared = { { 3, \"map\" } },",
            "specs/t.lua:8: compared[1]: expected a name and one or two implementations, such as { "
            "\"unfused\", \"unfused\" }"),
    REFUSES("a comparison of what there is not", 8,
            "  ulp = { f32 = 1 }, compared = { { \"one\", \"unfused\" } },",
            "specs/t.lua:8: compared[1]: expected 'map', found 'unfused'"),
    REFUSES(
        "a preference that is no table", 9,
        "  variants = { { backend = \"scalar\", prefer = 3 } },",
        "specs/t.lua:9: variants[1]: expected prefer = { from = bytes, to = bytes, width = extent, "
        "multiple = extent }, or two of them, found a number"),
    REFUSES(
        "preferences more than two", 9,
        "  variants = { { backend = \"scalar\", prefer = { { to = 1 }, { from = 2 }, {} } } },",
        "specs/t.lua:9: variants[1]: expected prefer = { from = bytes, to = bytes, width = extent, "
        "multiple = extent }, or two of them, found 3"),
    REFUSES(
        "preferences of which one is no table", 9,
        "  variants = { { backend = \"scalar\", prefer = { { to = 1 }, 2 } } },",
        "specs/t.lua:9: variants[1]: expected prefer = { from = bytes, to = bytes, width = extent, "
        "multiple = extent }, or two of them, found a number"),
    REFUSES(
        "a preference for a width that is no extent", 9,
        "  variants = { { backend = \"scalar\", prefer = { width = 0.5 } } },",
        "specs/t.lua:9: variants[1]: prefer.width: expected a whole number of at least 1, found "
        "0.5"),
    REFUSES(
        "a preference for a width of what is no product", 9,
        "  variants = { { backend = \"scalar\", prefer = { width = 64 } } },",
        "specs/t.lua:9: variants[1]: prefer.width: expected an op whose products may be a stream "
        "or are a chain, found values at each point, without reductions"),
    REFUSES(
        "a preference for multiples of what is no extent", 9,
        "  variants = { { backend = \"scalar\", prefer = { multiple = 0 } } },",
        "specs/t.lua:9: variants[1]: prefer.multiple: expected a whole number of at least 1, found "
        "0"),
    REFUSES("a preference that is no number", 9,
            "  variants = { { backend = \"scalar\", prefer = { from = 0 / 0 } } },",
            "specs/t.lua:9: variants[1]: prefer.from: expected a number of bytes of at least 0, "
            "found NaN"),
    REFUSES(
        "a preference for less than nothing", 9,
        "  variants = { { backend = \"scalar\", prefer = { to = -1 } } },",
        "specs/t.lua:9: variants[1]: prefer.to: expected a number of bytes of at least 0, found "
        "-1"),
    REFUSES("a preference of no size", 9,
            "  variants = { { backend = \"scalar\", prefer = { from = 10, to = 5 } } },",
            "specs/t.lua:9: variants[1]: expected prefer.from below prefer.to, found 10 and 5"),
    ACCEPTS(
        "two preferences", 9,
        "  variants = { { backend = \"scalar\", prefer = { { to = 64 }, { from = 4096 } } } },"),
    ACCEPTS("a variant in a precision that the op has not", 9,
            "  variants = { { backend = \"scalar\" }, { backend = \"avx2\", dtypes = \"f16\" } },"),
    REFUSES("variants in precisions that the op has not alone", 9,
            "  variants = { { backend = \"scalar\", dtypes = { \"f16\", \"bf16\" } } },",
            "specs/t.lua:9: variants: expected at least one row for 'f32', found none"),
    REFUSES(
        "a variant in a precision that there is not", 9,
        "  variants = { { backend = \"scalar\", dtypes = \"f23\" } },",
        "specs/t.lua:9: variants[1]: unknown dtype 'f23'; expected 'f64', 'f32', 'f16' or 'bf16'"),
    TEST("schema", accepts_shared_rows_of_more_dtypes_than_the_op_has),
    REFUSES("a variant in no precision", 9,
            "  variants = { { backend = \"scalar\", dtypes = {} } },",
            "specs/t.lua:9: variants[1]: expected at least one of 'f32' for 'dtypes'"),
    REFUSES("a key among a variant's precisions", 9,
            "  variants = { { backend = \"scalar\", dtypes = { f32 = true } } },",
            "specs/t.lua:9: variants[1].dtypes: expected a list, found the key 'f32' in it"),
    REFUSES("a precision without a variant", 0,
            "op \"t\" {\n"
            "  doc = \"test\",\n"
            "  inputs = { x = { \"n\" } },\n"
            "  outputs = { y = { \"n\" } },\n"
            "  compute = function(x) return x end,\n"
            "  sizes = { { \"1K\", n = 1000 } },\n"
            "  dtypes = { \"f32\", \"f16\" },\n"
            "  ulp = { f32 = 1, f16 = 1 },\n"
            "  variants = { { backend = \"scalar\", dtypes = \"f16\" } },\n"
            "}\n",
            "specs/t.lua:9: variants: expected at least one row for 'f32', found none"),

    /* the function */
    REFUSES("a function that returns nothing", 5, "  compute = function(x) end,",
            "specs/t.lua:5: compute: expected the function to return a value, found nothing"),
    REFUSES("a function that returns text", 5, "  compute = function(x) return \"x\" end,",
            "specs/t.lua:5: compute: expected the function to return a value, found a string"),
    REFUSES("an output that is unknown", 5, "  compute = function(x) return { y = x, z = x } end,",
            "specs/t.lua:5: compute: 'z' is not an output (did you mean 'y'?)"),
    REFUSES("an output without a value", 5, "  compute = function(x) return {} end,",
            "specs/t.lua:5: compute: expected a value for the output 'y', found nothing"),
    REFUSES(
        "a wrong operand", 5, "  compute = function(x)\n    return x + \"a\"\n  end,",
        "specs/t.lua:6: add: expected a number or a symbolic value as argument 2, found a string"),
    REFUSES(
        "an operand that is nil", 5, "  compute = function(x) local y; return 1 / (x * y) end,",
        "specs/t.lua:5: mul: expected a number or a symbolic value as argument 2, found nothing"),
    REFUSES("a comparison in arithmetic", 5, "  compute = function(x) return exp(lt(x, 1)) end,",
            "specs/t.lua:5: exp: expected a number as argument 1, found a comparison; write "
            "select(condition, 1, 0)"),
    REFUSES("a mask of integers as a condition", 5,
            "  inputs = { x = { \"n\", dtype = \"u8\" } }, compute = function(x) return select(x, "
            "1, 2) end,",
            "specs/t.lua:5: select: expected a comparison as argument 1, found a number; write "
            "ne(x, 0)"),
    REFUSES("too many arguments", 5, "  compute = function(x) return exp(x, x) end,",
            "specs/t.lua:5: exp: expected 1 argument, found 2"),
    REFUSES(
        "a comparison as a boolean", 5,
        "  compute = function(x) if x < 1 then x = 1 end return x end,",
        "specs/t.lua:5: a comparison of symbolic values is not a Lua boolean: write lt(a, b), le, "
        "gt, ge, eq or ne, and select(condition, a, b)"),
    ACCEPTS("a comparison as a result", 5, "  compute = function(x) return lt(x, 1) end,"),
    REFUSES("equality as a boolean", 5,
            "  compute = function(x) if x == -x then x = 1 end return x end,", NO_BOOLEAN),
    REFUSES("equality with a number as a boolean", 5,
            "  compute = function(x) if x + 1 == 0 then x = 1 end return x end,", NO_BOOLEAN),
    REFUSES("a number's equality as a boolean", 5,
            "  compute = function(x) return 0 ~= x and x or 1 end,", NO_BOOLEAN),
    REFUSES("inequality with itself as a boolean", 5,
            "  compute = function(x) if x ~= x then x = 1 end return x end,", NO_BOOLEAN),
    ACCEPTS(
        "equality of what is not computed with", 5,
        "  -- == \"\n"
        "  compute = function(x)\n"
        "    local s, l, n = '\\'==\\'', [=[ == ]] ~= ]=], nil --[[ ~= ]]\n"
        "    for i = 1, 4 do if i % 2 == 1 and i ~= 3 or i + 1 == 2 * 2 then x = x * i end end\n"
        "    assert(s == \"'==\" .. \"'\" and #l == 10 and l ~= s and not (s == l) == true)\n"
        "    assert(n == nil and x ~= nil and nil ~= x and x ~= \"sum\" and 3 == 3.0 and 1 <= 2)\n"
        "    return x\n"
        "  end,"),
    REFUSES("a function of plain numbers", 5, "  compute = function(x) return math.exp(x) end,",
            "specs/t.lua:5: math.exp is for plain numbers, found a symbolic value; write exp(...)"),
    REFUSES("a function that there is for plain numbers alone", 5,
            "  compute = function(x) return math.ult(3, x) end,",
            "specs/t.lua:5: math.ult is for plain numbers, found a symbolic value"),
    REFUSES("a wrong argument by the name that was called", 5,
            "  compute = function(x) return clamp(x, 0, lt(x, 1)) end,",
            "specs/t.lua:5: clamp: expected a number as argument 3, found a comparison; write "
            "select(condition, 1, 0)"),
    REFUSES("no argument by the name that was called", 5,
            "  compute = function(x) return mean() end,",
            "specs/t.lua:5: mean: expected 1 argument, found 0"),
    REFUSES("a constant that is infinite where it is computed with", 5,
            "  compute = function(x) return x * 1e39 end,",
            "specs/t.lua:5: compute: expected numbers of at most 3.403e+38, f32's largest; found "
            "1e+39"),
    REFUSES("a scalar that is infinite where it is computed with", 5,
            "  scalars = { a = -1e40 },\n  compute = function(x, a) return x * a end,",
            "specs/t.lua:5: scalars.a: expected numbers of at most 3.403e+38, f32's largest; found "
            "-1e+40"),
    REFUSES(
        "a constant that is infinite in f32, in which f16 is computed", 0,
        "op \"t\" {\n"
        "  doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"
        "  compute = function(x) return x + 1e39 end, sizes = { { \"1K\", n = 1000 } },\n"
        "  dtypes = { \"f64\", \"f16\" }, ulp = { f64 = 1, f16 = 1 },\n"
        "  variants = { { backend = \"scalar\" } },\n"
        "}\n",
        "specs/t.lua:3: compute: expected numbers of at most 3.403e+38, f32's largest, in which "
        "f16 is computed; found 1e+39"),
    REFUSES("an infinite scalar", 5,
            "  scalars = { a = math.huge },\n  compute = function(x, a) return x * a end,",
            "specs/t.lua:5: scalars.a: expected a finite number, found inf"),
    REFUSES("an infinite range", 3, "  inputs = { x = { \"n\", range = { -math.huge, 1 } } },",
            "specs/t.lua:3: x.range: expected a finite number, found -inf"),
    ACCEPTS("a constant that is meant to be infinite", 5,
            "  compute = function(x) return min(x, math.huge) end,"),
    REFUSES(
        "an operator without a meaning", 5, "  compute = function(x) return x % 2 end,",
        "specs/t.lua:5: a symbolic value knows + - * / ^ and the functions of a spec, not %; write "
        "remainder(a, b)"),
    REFUSES("a magnitude, which is found from the graph", 8,
            "  ulp = { f32 = 1 }, magnitude = function() return 1e30 end,",
            "specs/t.lua:8: op \"t\": unknown key 'magnitude'"),
    REFUSES(
        "a power that is no number", 5, "  compute = function(x) return x ^ {} end,",
        "specs/t.lua:5: pow: expected a number or a symbolic value as argument 2, found a table"),
    REFUSES("an unknown function", 5, "  compute = function(x) return sigmiod(x) end,",
            "specs/t.lua:5: unknown name 'sigmiod' (did you mean 'sigmoid'?)"),
    REFUSES("an unused input", 5, "  compute = function(x) return 1 end,",
            "specs/t.lua:5: compute: the input 'x' is never used"),
    REFUSES("arithmetic on an index", 0,
            ROWS_OP("{ \"rows\" }", "argmax(x, \"cols\") + 1", ONE_SIZE),
            "specs/t.lua:5: add: expected a number as argument 1, found an index"),
    REFUSES(
        "an index along an axis that its operand has", 0,
        ROWS_WITH("{ \"cols\", index = \"cols\" }", "{ \"rows\" }", "at(x, t)", ""),
        "specs/t.lua:3: inputs.t: expected an index along a dimension of the op that 't' itself "
        "lacks, found 'cols'"),
    ACCEPTS("an index in arithmetic", 0,
            ROWS_WITH("{ \"rows\", index = \"cols\" }", "{ \"rows\", \"cols\" }", "x + t", "")),
    REFUSES("a result in the place of what at reads", 0,
            ROWS_WITH("{ \"rows\", index = \"cols\" }", "{ \"rows\", \"cols\" }", "x + at(x, t)",
                      "in_place = true,"),
            "specs/t.lua:10: in_place: the result cannot be in the place of 'x', of which at(...) "
            "reads any element; leave in_place out"),
    REFUSES(
        "a gradient by places that an index does not go back", 0,
        ROWS_WITH("{ \"rows\", index = \"cols\" }", "{ \"rows\", \"cols\" }",
                  "at(x, { rows = position \"rows\" - 1 }, 0) * at(x, t)", "backward = true,"),
        "specs/t.lua:10: backward: at(...) times what an index along the same axis reads has no "
        "derivative; expected detach(...) around it"),
    REFUSES(
        "a number as an index", 0, ROWS_WITH("{ \"rows\" }", "{ \"rows\" }", "at(x, t)", ""),
        "specs/t.lua:5: at: expected an index operand as argument 2, found a number; write index = "
        "\"cols\" beside the operand's axes, { \"rows\", index = \"cols\" }"),
    REFUSES("integers other than a single one", 0,
            ROWS_WITH("{ \"rows\", dtype = \"i64\" }", "{ \"rows\" }", "sum(x, \"cols\")", ""),
            "specs/t.lua:3: inputs.t: expected dtype = \"i64\" with a single value, { dtype = "
            "\"i64\" }"),
    REFUSES("an index of another type", 0,
            NAMED("y = { \"rows\", dtype = \"f64\" }", "argmax(x * w, \"cols\")", ""),
            "specs/t.lua:4: outputs.y: an index is i64: expected no other dtype, found dtype = "
            "'f64'"),
    REFUSES("a number of the type of indexes", 0,
            NAMED("y = { \"rows\", dtype = \"i64\" }", "sum(x * w, \"cols\")", ""),
            "specs/t.lua:4: outputs.y: only indexes are i64: expected another dtype, found dtype = "
            "'i64'"),
    REFUSES("another dtype of an input", 0,
            ROWS_WITH("{ dtype = \"i32\" }", "{ \"rows\" }", "sum(x, \"cols\")", ""),
            "specs/t.lua:3: inputs.t: an operand has the precisions under 'dtypes', or a dtype of "
            "its own; expected 'f64', 'f32', 'f16', 'bf16', 'i8', 'u8' or 'computed', or \"i64\" "
            "for one "
            "integer in all, found dtype = 'i32' (did you mean 'f32'?)"),
    REFUSES("a scalar without use", 2, "  doc = \"x\", scalars = { a = 1 },",
            "specs/t.lua:5: compute: 'a' is declared but is no parameter of the function"),
    REFUSES("a scalar that is a parameter alone", 5,
            "  scalars = { a = 1 }, compute = function(x, a) return x end,",
            "specs/t.lua:5: compute: the scalar 'a' is never used"),

    /* gradients */
    REFUSES(
        "the gradient of an index", 0,
        ROWS_WITH("{ \"cols\" }", "{ \"rows\" }", "argmax(x * t, \"cols\")", "backward = true,"),
        "specs/t.lua:10: backward: 'y' is an index, which has no gradient"),
    ACCEPTS("the gradient of a single value", 0,
            ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t",
                      "backward = { variants = { { backend = \"scalar\" } } },")),
    ACCEPTS("a gradient beside a single value that is detached", 0,
            ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * detach(t)", "backward = true,")),
    REFUSES("a gradient of nothing", 5,
            "  compute = function(x) return detach(x) end, backward = true,",
            "specs/t.lua:5: backward: nothing of what 't' reads has a derivative"),
    REFUSES("an unknown key of a gradient", 9,
            "  variants = { { backend = \"scalar\" } }, backward = { ulps = { f32 = 2 } },",
            "specs/t.lua:9: backward: unknown key 'ulps' (did you mean 'ulp'?); expected 'doc', "
            "'peers', 'sizes', 'ulp', 'variants' or 'reads'"),
    REFUSES("a gradient that reads what is no output", 9,
            "  variants = { { backend = \"scalar\" } }, backward = { reads = { \"z\" } },",
            "specs/t.lua:9: backward.reads: expected a list of outputs, of 'y', found 'z'"),
    REFUSES(
        "a gradient that reads what it has no use for", 9,
        "  variants = { { backend = \"scalar\" } }, backward = { reads = { \"y\" } },",
        "specs/t.lua:9: backward.reads: the gradient of 't' has no use for 'y'; leave it out, or "
        "write the op with it: of m + log(sum(exp(x - m))) a gradient reads the sum where m is "
        "detach(...)"),
    ACCEPTS("a gradient that reads a result", 5,
            "  compute = function(x) return exp(x) end, backward = { reads = { \"y\" } },"),
    REFUSES("peers of several ops of a gradient together", 0,
            ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t",
                      "backward = { peers = { numpy = \"dy\" } },"),
            "specs/t.lua:10: backward.peers: the gradient is 2 ops; expected peers for each, under "
            "'dt' or 'dx', such as dt = { peers = { ... } }"),
    REFUSES("an unknown key of one of the ops of a gradient", 0,
            ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t",
                      "backward = { dx = { peer = {} }, variants = {} },"),
            "specs/t.lua:10: backward.dx: unknown key 'peer' (did you mean 'peers'?); expected "
            "'doc', 'peers', 'sizes', 'ulp' or 'variants'"),
    ACCEPTS("an op of a gradient by another template than the op's list is for", 0,
            ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t", "backward = true,")),
    REFUSES(
        "variants of several ops of a gradient that one of them has not", 0,
        ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t",
                  "backward = { variants = { { backend = \"scalar\", unroll = 2 } } },"),
        "specs/t.lua:10: op \"r_backward_t\": variants[1]: unknown parameter 'unroll'; the "
        "template reduce has for scalar 'accumulators'; variants of 'r_backward_t' alone stand in "
        "backward = { dt = { variants = ... } }; 'r_backward_t' computes reductions over "
        "everything: \"default\" stands for { accumulators = 8, backend = { \"avx2\", \"scalar\" } "
        "}"),
    REFUSES("variants of one of the ops of a gradient that it has not", 0,
            ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t",
                      "backward = {\n"
                      "    dx = { variants = { { backend = \"scalar\" } } },\n"
                      "    dt = { variants = { { backend = \"scalar\", unroll = 2 } } },\n"
                      "  },"),
            "specs/t.lua:12: op \"r_backward_t\": variants[1]: unknown parameter 'unroll'; the "
            "template reduce has for scalar 'accumulators'; 'r_backward_t' computes reductions "
            "over everything: "
            "\"default\" stands for { accumulators = 8, backend = { \"avx2\", \"scalar\" } }"),
    ACCEPTS("an op without variants, and a gradient by another template", 0,
            "op \"r\" {\n"
            "  doc = \"x\", inputs = { x = { \"n\" } }, outputs = { y = {} },\n"
            "  compute = function(x) return sum(x * x) end,\n"
            "  sizes = { { \"a\", n = 3 } }, dtypes = { \"f64\" }, ulp = 1, backward = true,\n"
            "}\n"),
    ACCEPTS("default rows beside others that are the same", 9,
            "  variants = { { backend = \"avx2\", unroll = 4 }, \"default\" },"),
    REFUSES("a row that a default one before it has made", 9,
            "  variants = { \"default\", { backend = \"avx2\", unroll = 4 } },",
            "specs/t.lua:9: variants[2]: 'avx2_u4' is made by variants[1] already; expected other "
            "parameters"),
    REFUSES(
        "another word for the default rows", 9, "  variants = { \"defaults\" },",
        "specs/t.lua:9: variants[1]: expected a table of tuning parameters or \"default\", found "
        "'defaults'"),
    REFUSES(
        "a derivative's keys where the gradient is one op", 9,
        "  variants = { { backend = \"scalar\" } }, backward = { dx = { ulp = 2 } },",
        "specs/t.lua:9: backward: unknown key 'dx'; the gradient is one op, 't_backward': write "
        "what stands there in backward itself, such as backward = { variants = ... }; expected "
        "'doc', 'peers', 'sizes', 'ulp', 'variants' or 'reads'"),
    ACCEPTS(
        "what differs between the ops of a gradient", 0,
        ROWS_WITH("{}", "{ \"rows\", \"cols\" }", "x * t",
                  "backward = { dt = { variants = { { backend = \"scalar\", accumulators = 2 } },\n"
                  "  ulp = 6, peers = { numpy = \"(dy * x).sum()\" } },\n"
                  "  dx = { variants = { { backend = \"scalar\", unroll = 2 } } } },")),
    REFUSES("a gradient's bound for another type", 9,
            "  variants = { { backend = \"scalar\" } }, backward = { ulp = { f64 = 2 } },",
            "specs/t.lua:9: ulp: expected a bound for 'f32', found none"),
    ACCEPTS("a gradient by another template than its list is for", 0,
            "op \"r\" {\n"
            "  doc = \"x\",\n"
            "  inputs = { x = { \"n\" } },\n"
            "  outputs = { y = {} },\n"
            "  compute = function(x) return sum(x * x) end,\n"
            "  sizes = { { \"a\", n = 3 } },\n"
            "  dtypes = { \"f64\" },\n"
            "  ulp = { f64 = 1 },\n"
            "  variants = { { backend = \"scalar\" } },\n"
            "  backward = true,\n"
            "}\n"),

    /* how many operands a call has places for */
    REFUSES("more operands than there are places for", 0,
            MANY("r = V, s = V, u = V, v = V, w = V, x = V, y = V, z = V",
                 "{ r = a, s = b, u = c, v = d, w = e, x = g, y = h, z = k * l }", ""),
            "specs/t.lua:5: op \"t\": " PLACES "25 with 8 outputs; make several ops of it"),
    REFUSES("a gradient of more operands than there are places for", 0,
            MANY("y = V", "a * b * c * d * e * g * h * k * l", "backward = true,"),
            "specs/t.lua:10: op \"t_backward\": " PLACES "28 with 9 outputs; write detach(...) "
            "around inputs whose gradient is not needed"),

    REFUSES("more reductions of reductions than a call has launches", 0,
            "op \"t\" {\n"
            "  doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = {} },\n"
            "  compute = function(x)\n"
            "    local s = 1\n"
            "    for i = 1, 25 do s = sum(x * s) end\n"
            "    return s\n"
            "  end,\n"
            "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = { f32 = 1 },\n"
            "  variants = { { backend = \"scalar\" } },\n"
            "}\n",
            "specs/t.lua:3: compute: expected at most 24 reductions over everything, each of which "
            "needs the one before, found more"),

    /* the language */
    REFUSES("a syntax error", 0, "op \"t\" {\n  doc = ,\n}\n",
            "specs/t.lua:2: unexpected symbol near ','"),
    REFUSES("a table that is not closed", 0, "op \"t\" {\n  doc = \"x\"\n",
            "specs/t.lua:3: '}' expected (to close '{' at line 1) near <eof>"),
    REFUSES("a global name", 1, "x = 3 op \"t\" {",
            "specs/t.lua:1: expected 'local x': a spec has no global names of its own"),
    REFUSES("an error that a spec raises", 1, "error(\"out of cheese\") op \"t\" {",
            "specs/t.lua:1: out of cheese"),

    SANDBOX("an error that is no string", "error({ message = \"lathe-gen: all is well\" })",
            "the spec raised an error that is not a string"),
    SANDBOX("io", "local f = io.open(\"/etc/passwd\")", "unknown name 'io'"),
    SANDBOX("os", "os.exit(0)", "unknown name 'os' (did you mean 'cos'?)"),
    SANDBOX("load", "local f = load(\"return 1\")", "unknown name 'load'"),
    SANDBOX("loadfile", "local f = loadfile(\"x\")", "unknown name 'loadfile'"),
    SANDBOX("dofile", "dofile(\"x\")", "unknown name 'dofile'"),
    SANDBOX("require", "local os = require \"os\"", "unknown name 'require'"),
    SANDBOX("package", "local path = package.path", "unknown name 'package'"),
    SANDBOX("debug", "debug.getinfo(1)", "unknown name 'debug'"),
    SANDBOX("coroutines", "coroutine.yield()", "unknown name 'coroutine'"),
    SANDBOX("pcall", "pcall(error)", "unknown name 'pcall'"),
    SANDBOX("metatables", "setmetatable({}, {})", "unknown name 'setmetatable'"),
    SANDBOX("its own environment", "local e = _ENV.io", "unknown name 'io'"),
    SANDBOX("_G", "local e = _G", "unknown name '_G'"),
    SANDBOX("string.dump", "string.dump(function() end)",
            "attempt to call a nil value (field 'dump')"),
    SANDBOX("string.dump as a method", "(\"\"):dump()",
            "attempt to call a nil value (method 'dump')"),
    SANDBOX("patterns, which can run for ever", "(\"\"):rep(9):find(\"\")",
            "attempt to call a nil value (method 'find')"),
    TEST("sandbox", refuses_bytecode),
    SANDBOX("a file that is not there", "include \"include/none.lua\"",
            "include: specs/include/none.lua: cannot read: No such file or directory"),
    SANDBOX("a file above specs/", "include \"../secret.lua\"",
            "include: expected a path inside specs/, such as \"include/vector.lua\", found "
            "'../secret.lua'"),
    SANDBOX("a file above specs/ by a detour", "include \"include/../../secret.lua\"",
            "include: expected a path inside specs/, such as \"include/vector.lua\", found "
            "'include/../../secret.lua'"),
    SANDBOX("an absolute path", "include \"/etc/passwd\"",
            "include: expected a path inside specs/, such as \"include/vector.lua\", found "
            "'/etc/passwd'"),
    SANDBOX(
        "a path that is a number", "include(3)",
        "include: expected a path inside specs/, such as \"include/vector.lua\", found a number"),
};
const size_t schema_test_count = sizeof schema_tests / sizeof *schema_tests;
