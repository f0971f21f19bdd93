/* What a spec's function says and what of it reaches the graph: nothing that Lua would answer on its own, drop or
 * keep is taken without a word; and what conditions compute. */
#include "tests.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/dispatch.h"
#include "run_program.h"
#include "tree.h"

typedef struct function {
  const char *before; /* lines ahead of the op, each with its end */
  const char *text;   /* of the function under `compute`, of x; it begins in line 2 after those */
  const char *after;  /* further keys */
  const char *message;
} function;

static void write_spec(const char *path, const char *name, const function *f) {
  char spec[4096];
  snprintf(
      spec, sizeof spec,
      "%sop \"%s\" { doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"
      "  compute = %s,\n"
      "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = { f32 = 1 },\n"
      "  variants = { { backend = \"scalar\" } }, %s\n"
      "}\n",
      f->before ? f->before : "", name, f->text, f->after ? f->after : "");
  tree_write(path, spec);
}

static void expect(const char *command, const char *argument, const char *message) {
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), command, argument);
  assert_string_equal(result.err, message);
  assert_string_equal(result.out, "");
  assert_int_equal(result.status, *message ? 1 : 0);
  run_free(&result);
}

static void says(void **state) {
  const function *f = *state;
  write_spec("specs/t.lua", "t", f);
  expect("index", NULL, f->message);
}

/* What the function of an op computes, as the body of its point function in scalar C. */
static void expect_body(const function *f, const char *body) {
  write_spec("specs/t.lua", "t", f);
  tree_write("templates/c/map.c", "$(k:point(\"point\", k:results(k.program.points)).body)\n");
  run_result result = RUN(tree_root(), test_variable("LATHE_GEN"), "--no-line", "expand", "t");
  assert_string_equal(result.err, "");
  run_free(&result);
  char *text = tree_read("out/gen/t/t__scalar.c");
  const char *found = strstr(text, "const float t1");
  assert_non_null(found);
  assert_string_equal(found, body);
  free(text);
}

/* ---- values of another time --------------------------------------------------------------- */

/* A value from when the spec is read has no number that another one of the op has. */
static void computes_with_values_made_ahead(void **state) {
  (void)state;
  expect_body(&(function){.before = "local c = sqrt(sqrt(sqrt(256)))\n",
                          .text = "function(x) return x * c + x * (x + 1) + (x + 1) end"},
              "const float t1 = 1.0f;\n"
              "const float t2 = in_x_ + t1;\n"
              "const float t3 = 2.0f;\n"
              "const float t4 = in_x_ * t3;\n"
              "const float t5 = in_x_ * t2;\n"
              "const float t6 = t4 + t5;\n"
              "const float t7 = t2 + t6;\n"
              "return t7;\n");
}

/* They are shared with what the function makes itself, as if made there. */
static void shares_values_made_ahead(void **state) {
  (void)state;
  expect_body(&(function){.before = "local c = sqrt(-2) / 3\n",
                          .text = "function(x) return x * c + sqrt(-2) / 3 end"},
              "const float t1 = -2.0f;\n"
              "const float t2 = __builtin_sqrtf(t1);\n"
              "const float t3 = 3.0f;\n"
              "const float t4 = t2 / t3;\n"
              "const float t5 = in_x_ * t4;\n"
              "const float t6 = t4 + t5;\n"
              "return t6;\n");
}

/* ---- specs among themselves ---------------------------------------------------------------- */

static void keeps_specs_apart(void **state) {
  (void)state;
  tree_write("specs/include/v.lua", "return { n = 1 }\n");
  write_spec("specs/a.lua", "a",
             &(function){.before = "local v = include \"include/v.lua\" v.n = 2\n",
                         .text = "function(x) return x end"});
  write_spec("specs/t.lua", "t",
             &(function){.before = "assert(include(\"include/v.lua\").n == 1)\n",
                         .text = "function(x) return x end"});
  expect("index", NULL, "");
}

/* What `op` was given is as it was then: a change comes too late. */
static void takes_what_op_is_given_as_it_is_then(void **state) {
  (void)state;
  tree_write(
      "specs/t.lua",
      "local dtypes, size, row = { \"f32\" }, { \"1K\", n = 1000 }, { backend = \"scalar\" }\n"
      "local t = { doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"
      "  compute = function(x) return x end,\n"
      "  sizes = { size }, dtypes = dtypes, ulp = { f32 = 1 }, variants = { row } }\n"
      "op \"t\" (t)\n"
      "dtypes[1], size[1], row.backend = \"f32/../../../kept\", \"no rule\", \"none\"\n"
      "t.doc, t.compute, size.n = nil, \"none\", -1\n");
  expect("index", NULL, "");
  char *table = tree_read("out/gen/table.c");
  assert_non_null(strstr(table, "t_f32__scalar"));
  free(table);
}

/* ---- axes by their names --------------------------------------------------------------------- */

/* What an op comes to in C: its kernels and its reference. */
static char *text_of(const char *outputs, const char *body) {
  static const char *const paths[] = {"out/gen/t/t__scalar.c", "out/gen/t/t_reference.c"};
  char spec[1024], *all = calloc(1, 1 << 17);
  run_result result;

  assert_non_null(all);
  snprintf(spec, sizeof spec,
           "op \"t\" { doc = \"test\",\n"
           "  inputs = { x = { \"rows\", \"cols\" }, w = { \"cols\" } }, outputs = { y = %s },\n"
           "  compute = function(x, w) return %s end,\n"
           "  sizes = { { \"1K\", rows = 10, cols = 100 } }, dtypes = { \"f32\" }, ulp = 1,\n"
           "  variants = { { backend = \"scalar\" } } }\n",
           outputs, body);
  tree_write("specs/t.lua", spec);
  result = RUN(tree_root(), test_variable("LATHE_GEN"), "all");
  assert_string_equal(result.err, "");
  run_free(&result);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    char *text = tree_read(paths[i]);
    assert_true(strlen(all) + strlen(text) < 1 << 17);
    strcat(all, text);
    free(text);
  }
  return all;
}

/* A reduction without names goes over all axes of its argument. */
static void reduces_over_all_axes(void **state) {
  char *all, *named;

  (void)state;
  tree_copy("templates", "templates");
  all = text_of("{ \"rows\", \"cols\" }", "x - max(w) - mean(w)");
  named = text_of("{ \"rows\", \"cols\" }", "x - max(w, \"cols\") - mean(w, \"cols\")");
  assert_string_equal(named, all);
  free(all);
  free(named);
}

/* ---- what conditions compute ---------------------------------------------------------------- */

#define NEAR_ONE "all_of(gt(x, 0), lt(x, 2))"
#define FAR_FROM_ZERO "any_of(lt(x, -1), gt(x, 1), eq(x, 0))"

static float bits_of(float x) {
  const bool near_one = x > 0 && x < 2, far_from_zero = x < -1 || x > 1 || x == 0;
  const bool other = !(x < 1), neither = !(near_one || far_from_zero);
  return (float)(near_one + 2 * far_from_zero + 4 * other + 8 * neither);
}

/* On every instruction set of this machine, in a library of their own, against C's own operators. */
static void computes_conditions(void **state) {
  static const char *const sets[] = {"scalar", "sse2", "avx2", "avx512"};
  static const bool all = true;
  const bool able[] = {all, __builtin_cpu_supports("sse2"), __builtin_cpu_supports("avx2"),
                       __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl")};
  enum { POINTS = 67 };
  static const float values[] = {-INFINITY, -1.5f, -1, -0.5f, -0.0f,    0,  0.5f,
                                 1,         1.5f,  2,  3,     INFINITY, NAN};
  float x[POINTS], y[POINTS] = {0};

  (void)state;
  for (size_t i = 0; i < POINTS; i++)
    x[i] = values[i * 5 % (sizeof values / sizeof *values)];
  tree_write(
      "specs/t.lua",
      "op \"t\" { doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"
      "  compute = function(x)\n"
      "    local near, far = " NEAR_ONE ", " FAR_FROM_ZERO "\n"
      "    return select(near, 1, 0) + select(far, 2, 0) + select(negate(lt(x, 1)), 4, 0)\n"
      "      + select(negate(any_of(near, far)), 8, 0)\n"
      "  end,\n"
      "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = { f32 = 0 }, variants = {\n"
      "    { backend = { \"scalar\", \"sse2\", \"avx2\", \"avx512\" }, unroll = 1 } } }\n");
  tree_copy("templates", "templates");
  expect("all", NULL, "");
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    static const char *const flags[] = {"", "-msse2", "-mavx2 -mfma -mf16c",
                                        "-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma"};
    char command[1024], name[64], symbol[64];
    lathe_fn *kernel;
    void *library;
    run_result result;
    if (!able[s])
      continue;
    snprintf(name, sizeof name, "%s.so", sets[s]);
    snprintf(command, sizeof command,
             "cc -shared -fPIC -O1 -ffp-contract=off %s -I'%s/runtime/library' -Itemplates/c -o %s "
             "out/gen/t/t__%s.c -lm",
             flags[s], test_variable("LATHE_SRC"), name, sets[s]);
    result = RUN(tree_root(), "sh", "-c", command);
    assert_string_equal(result.err, "");
    run_free(&result);
    library = dlopen(tree_path(name), RTLD_NOW);
    assert_non_null(library);
    snprintf(symbol, sizeof symbol, "t_f32__%s_u1", sets[s]);
    *(void **)&kernel = dlsym(library, symbol);
    assert_non_null(kernel);
    kernel(&(lathe_args){.buf = {x, y}, .dim = {POINTS}});
    for (size_t i = 0; i < POINTS; i++)
      if (y[i] != bits_of(x[i]))
        fail_msg("%s: at %g found %g, not %g", sets[s], (double)x[i], (double)y[i],
                 (double)bits_of(x[i]));
    dlclose(library);
  }
}

/* ---- one function each ---------------------------------------------------------------------- */

#define CASE(name, ...)                                                                            \
  {                                                                                                \
    "tracing: " name, says, tree_setup_small, tree_teardown, &(function) {                         \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define ACCEPTS(name, function_text) CASE("accepts " name, .text = function_text, .message = "")
#define REFUSES(name, function_text, line, text_of_it)                                             \
  CASE("refuses " name, .text = function_text, .message = "specs/t.lua:" #line ": " text_of_it "\n")
#define TEST(function)                                                                             \
  { "tracing: " #function, function, tree_setup_small, tree_teardown, NULL }

#define NO_BOOLEAN "a comparison of symbolic values is not a Lua boolean: write "
#define WRITE_SELECT NO_BOOLEAN "select(condition, a, b)"
#define NO_FIELDS "a symbolic value has no fields, elements or methods that a spec could read"
#define NO_INDEX                                                                                   \
  NO_FIELDS "; an operand is not indexed: it is read at each point's own place, or by at(x, { t "  \
            "= place }) elsewhere"
#define LATER "is not known before the op runs"
#define CHANGES(name)                                                                              \
  "compute: the function changes '" name                                                           \
  "', which is outside of it; expected one that computes the same whenever it is "                 \
  "called\n"
/* A table's entry by an entry by an entry, 128 deep. */
#define DEEPER(inner) "t[t[t[t[t[t[t[t[" inner "]]]]]]]]"
#define DEEP(inner) DEEPER(DEEPER(DEEPER(DEEPER(inner))))
#define NESTED DEEP(DEEP(DEEP(DEEP("1"))))
#define FROZEN "what a spec is given cannot be changed"

const struct CMUnitTest tracing_tests[] = {
    /* the truth of a comparison */
    REFUSES("a branch", "function(x)\n    if gt(x, 0) then return x end\n    return -x\n  end", 3,
            WRITE_SELECT),
    REFUSES("a branch on what is selected by too",
            "function(x)\n    local c = gt(x, 0)\n    x = select(c, x, 1)\n"
            "    if c then x = 2 * x end\n    return x\n  end",
            5, WRITE_SELECT),
    REFUSES("a further branch",
            "function(x)\n    if x == nil then return 1\n    elseif gt(x, 0) then return x end\n   "
            " return 0\n  end",
            4, WRITE_SELECT),
    REFUSES("a branch on what a helper compares",
            "function(x)\n    local function positive(v) return gt(v, 0) end\n"
            "    if positive(x) then return x end return 0\n  end",
            4, WRITE_SELECT),
    REFUSES("and", "function(x) return select(gt(x, 0) and lt(x, 1), x, 0) end", 2,
            NO_BOOLEAN "all_of(a, b) for 'a and b', or select(condition, a, b)"),
    REFUSES("or", "function(x) return select(gt(x, 0) or lt(x, 1), x, 0) end", 2,
            NO_BOOLEAN "any_of(a, b) for 'a or b', or select(condition, a, b)"),
    REFUSES("not", "function(x) return select(not gt(x, 0), x, 0) end", 2,
            NO_BOOLEAN "negate(a) for 'not a'"),
    REFUSES("a choice by and and or", "function(x) return lt(x, 0) and 0 or x end", 2,
            NO_BOOLEAN "all_of(a, b) for 'a and b', or select(condition, a, b)"),
    REFUSES("the last comparison of a branch",
            "function(x) if x and gt(x, 0) then return x end return 0 end", 2, WRITE_SELECT),
    REFUSES("a comparison of two",
            "function(x) if gt(x, 0) == lt(x, 1) then return x end return 0 end", 2, WRITE_SELECT),
    REFUSES("a comparison with true",
            "function(x) if gt(x, 0) == true then return x end return 0 end", 2, WRITE_SELECT),
    REFUSES("a loop", "function(x) while gt(x, 1) do x = x / 2 end return x end", 2, WRITE_SELECT),
    REFUSES("a loop to a comparison", "function(x) repeat x = x / 2 until lt(x, 1) return x end", 2,
            WRITE_SELECT),
    REFUSES("a loop to one of two",
            "function(x) local n = 0 repeat n = n + 1 until n > 3 or lt(x, n) return x * n end", 2,
            WRITE_SELECT),
    REFUSES("a loop to one at the end of a block",
            "function(x) do repeat x = x / 2 until #\"x\" > 1 or lt(x, 1) end return x end", 2,
            WRITE_SELECT),
    REFUSES("an assertion", "function(x) assert(gt(x, 0)) return x end", 2,
            NO_BOOLEAN "select(condition, a, b): an op cannot stop at a point"),
    REFUSES("an order",
            "function(x) table.sort({ 1, 2 }, function(a) return gt(x, a) end) return x end", 2,
            NO_BOOLEAN "min(a, b) and max(a, b) for their order"),
    CASE("refuses a branch of what is known ahead", .before = "if gt(sqrt(2), 1) then end\n",
         .text = "function(x) return x end", .message = "specs/t.lua:1: " WRITE_SELECT "\n"),
    ACCEPTS(
        "all of Lua's own branches",
        "function(x)\n"
        "    local function add(a, b) return a + (b or 1) end -- if not x then end\n"
        "    local t, s, n = { [\"if\"] = 2, [ [[k]] ] = { 3 }, 4 }, 'and or \\' not', 0\n"
        "    for _, v in ipairs { 1, 2, 3 } do if v ~= 2 and not (v == 3) or false then n = n + v "
        "end end\n"
        "    while n < 5 and (function() do local a = 1 end return true end)() do n = n + 1 end\n"
        "    do repeat n = n - 1 until n <= 3 or n == 1 local z = true and n end\n"
        "    repeat local done = true; n = n + 1 until done t.k[1] = t.k[1] + (not not s and 1 or "
        "0)\n"
        "    repeat n = n + 1 until (n > 4) or ({ true })[1] ; n = n * 1\n"
        "    for i = 1, 2 do goto next\n      ::next:: end\n"
        "    assert(n == 5 and t.k[#t.k] == 4 and t[\"if\"] == 2 and t[1] == 4 and -2 ^ 2 == -4)\n"
        "    assert(not nil == true and not (1 == 2) and 2 ^ - 1 == 0.5 and 1 .. 2 == \"12\")\n"
        "    repeat x = x + (x and 1 or 2) until x\n"
        "    return (n == 5 and x or 0) + add(x) * add(x, 2)\n"
        "  end"),

    /* what is computed and not used */
    REFUSES(
        "a comparison that is dropped", "function(x)\n    gt(x, 0)\n    return x\n  end", 3,
        "compute: the comparison 'gt' reaches no output; write select(condition, a, b), or leave "
        "it out"),
    REFUSES("conditions that are dropped",
            "function(x)\n    local c = negate(gt(x, 0))\n    return select(gt(x, 0), x, 0)\n  end",
            3,
            "compute: the comparison 'negate' reaches no output; write select(condition, a, b), or "
            "leave it out"),
    REFUSES("a result that is dropped", "function(x)\n    local e = exp(x)\n    return x\n  end", 3,
            "compute: the result of 'exp' reaches no output; return what is made of it, or leave "
            "it out"),
    REFUSES(
        "a result that is dropped though the same is used",
        "function(x)\n    local a = exp(x) * 2\n    return exp(x)\n  end", 3,
        "compute: the result of '*' reaches no output; return what is made of it, or leave it out"),
    REFUSES("a result that is dropped beside another of its kind",
            "function(x) local e = exp(x) return exp(2 * x) end", 2,
            "compute: the result of 'exp' reaches no output; return what is made of it, or leave "
            "it out"),
    REFUSES(
        "an argument that is dropped",
        "function(x)\n    local function first(a, b) return a end\n    return first(x, -x)\n  end",
        4,
        "compute: the result of '-' reaches no output; return what is made of it, or leave it out"),
    REFUSES("an output that is overwritten", "function(x) return { y = x, y = exp(x), y = x } end",
            2,
            "compute: the result of 'exp' reaches no output; return what is made of it, or leave "
            "it out"),
    CASE("refuses a comparison that a helper drops",
         .before = "local function both(x)\n  local c = lt(x, 0)\n  return x, exp(x)\nend\n",
         .text = "function(x) return both(x) + 1 end",
         .message = "specs/t.lua:2: compute: the comparison 'lt' reaches no output; write "
                    "select(condition, a, b), or "
                    "leave it out\n"),
    CASE("accepts a helper that makes more",
         .before = "local function both(x) return x, select(lt(x, 0), x, 1) end\n",
         .text = "function(x) return both(x) + 1 end", .message = ""),
    ACCEPTS("the last power of a loop",
            "function(x)\n    local p, s = 1, 0\n    for _, c in ipairs { 1, 2, 3 } do\n"
            "      s = s + c * p\n      p = p * x\n    end\n    return s\n  end"),
    ACCEPTS("what folding takes away", "function(x) return select(gt(x, 0), x, x) * 1 + -(-x) end"),

    /* what Lua would make of a value */
    REFUSES("a length", "function(x) return x * #x end", 2,
            "a symbolic value has no length that is known before the op runs; write count()"),
    REFUSES("a text", "function(x) return x * #tostring(x) end", 2,
            "tostring: a symbolic value has no text: it " LATER),
    REFUSES("a formatted text", "function(x) return x * #(\"%s\"):format(x) end", 2,
            "string.format: a symbolic value has no text: it " LATER),
    REFUSES("a number of it", "function(x) return x * (tonumber(x) or 0) end", 2,
            "tonumber is for plain numbers, found a symbolic value"),
    REFUSES("a position in a table", "function(x) local t = { 1, 2 } return x + (t[x] or 0) end", 2,
            "a symbolic value is no key of a table: where it points to " LATER),
    REFUSES("a key of a table", "function(x) local t = { [x] = 1 } return x + #t end", 2,
            "a symbolic value is no key of a table: where it points to " LATER),
    REFUSES("its elements", "function(x) return x + x[1] end", 2, NO_INDEX),
    REFUSES("its list", "function(x) for _, v in ipairs(x) do x = x + v end return x end", 2,
            NO_INDEX),
    REFUSES("its pairs", "function(x) for _, v in pairs(x) do v.op = \"scalar\" end return x end",
            2, "pairs: expected a table, found a symbolic value"),
    REFUSES("its methods", "function(x) return x:abs() end", 2,
            NO_FIELDS "; the value is a function's first argument: write abs(x)"),
    REFUSES("its methods elsewhere", "function(x) return x:silu() end", 2,
            NO_FIELDS "; write x * sigmoid(x)"),
    REFUSES("what it is made of", "function(x) local t = x * 2 return x + t.value end", 2,
            NO_FIELDS),
    REFUSES("what it is made of, changed",
            "function(x) local t = x * 2 t.op = \"scalar\" return t end", 2,
            "a symbolic value cannot be assigned to"),
    REFUSES("an entry put into it", "function(x) table.insert(x, 1) return x end", 2,
            "a symbolic value has no length that is known before the op runs; write count()"),
    ACCEPTS("its kind",
            "function(x) return type(x) == \"userdata\" and type(1) == \"number\" and x or 1 end"),

    CASE("refuses what nests too deep with the marks in it",
         .before = "local t = {} local z = " NESTED "\n", .text = "function(x) return x end",
         .message = "specs/t.lua: parentheses, tables or functions are too deep in each other; "
                    "expected at most some 100 levels\n"),

    /* values and ops of another time */
    TEST(computes_with_values_made_ahead),
    TEST(shares_values_made_ahead),
    CASE("refuses a function that keeps a value", .before = "local kept\n",
         .text = "function(x) kept = kept or exp(x) return x * kept end",
         .message = "specs/t.lua:3: " CHANGES("kept")),
    CASE("refuses a function that counts its calls", .before = "local n = 0\n",
         .text = "function(x) n = n + 1 return x * n end",
         .message = "specs/t.lua:3: " CHANGES("n")),
    CASE("refuses a function whose helper counts its calls",
         .before = "local t = { { n = 0 } }\nlocal function count() t[1].n = t[1].n + 1 return "
                   "t[1].n end\n",
         .text = "function(x) return x * count() end", .message = "specs/t.lua:4: " CHANGES("t")),
    CASE("refuses a function that changes what op is given",
         .before = "local dtypes = { \"f32\" }\n",
         .text = "function(x) dtypes[1] = \"f32\\nbuild evil: rule\" return x end",
         .after = "dtypes = dtypes", .message = "specs/t.lua:3: " CHANGES("dtypes")),
    CASE("accepts a function that changes what is its own",
         .before = "local two = { 2 }\nlocal function twice(t) t.n = t.n * two[1] return t end\n",
         .text = "function(x) local t = { n = 1 } for k, v in pairs(t) do t[k] = v + 1 end return "
                 "x * twice(t).n end",
         .message = ""),
    CASE("accepts pairs that were made ahead",
         .before =
             "local step, order, key = pairs { b = 2, a = 1 }\nassert(step(order, key) == \"a\")\n",
         .text = "function(x) for k, v in step, order do x = x * v end return x end",
         .message = ""),
    REFUSES("an op in a function", "function(x) op \"u\" {} return x end", 2,
            "op: expected where a spec is read, found in a function that is traced"),
    REFUSES("an include in a function", "function(x) return include(\"include/v.lua\") end", 2,
            "include: expected where a spec is read, found in a function that is traced"),

    /* what a spec is given */
    TEST(keeps_specs_apart),
    {"tracing: reduces_over_all_axes", reduces_over_all_axes, tree_setup, tree_teardown, NULL},
    TEST(takes_what_op_is_given_as_it_is_then),
    REFUSES("a name that comparisons had", "function(x) EQUAL.kept = 1 return x end", 2,
            "unknown name 'EQUAL'"),
    ACCEPTS("a parameter called as comparisons were",
            "function(x)\n    local function is_zero(EQUAL, n) return n == 0 end\n    assert(not "
            "is_zero(1, 2))\n    return x\n  end"),
    REFUSES("to name a mark", "function(x)\n    lathe_equal.x = 1\n    return x\n  end", 3,
            "lathe_equal: a name that the generator puts into specs itself; expected another"),
    REFUSES("a parameter called as a mark", "function(lathe_if) return lathe_if end", 2,
            "lathe_if: a name that the generator puts into specs itself; expected another"),
    REFUSES("another meaning of a function", "function(x) exp = log return exp(x) end", 2,
            "expected 'local exp': a spec has no global names of its own"),
    REFUSES("another meaning by the environment", "function(x) _ENV.exp = log return exp(x) end", 2,
            "expected 'local exp': a spec has no global names of its own"),
    REFUSES("another pi", "function(x) math.pi = 3 return x end", 2, "math.pi: " FROZEN),
    REFUSES("a place in the strings' table", "function(x) string.kept = 3 return x end", 2,
            "string.kept: " FROZEN),
    CASE("refuses a symbolic value among what op is given", .text = "function(x) return x end",
         .after = "scalars = { s = sqrt(2) }",
         .message =
             "specs/t.lua:4: op \"t\": 'scalars': expected plain values, found a symbolic value\n"),
    CASE("refuses a table within itself", .before = "local t = {} t.t = t\n",
         .text = "function(x) return x end", .after = "sets = t",
         .message =
             "specs/t.lua:5: op \"t\": 'sets': expected tables at most 8 deep in each other\n"),

    /* what differs from run to run */
    REFUSES(
        "the order of tables",
        "function(x) for t in pairs { [{ 1 }] = 1, [{ 2 }] = 2 } do x = x * t[1] end return x end",
        2,
        "pairs: expected keys that are strings, numbers or booleans, found a table: the order of "
        "such keys differs "
        "from run to run"),
    REFUSES("the text of a table", "function(x) return x * #tostring({}) end", 2,
            "tostring: expected a string, a number or a boolean: the text of a table differs from "
            "run to run"),
    REFUSES("the text of a function", "function(x) return x * #string.format(\"%s\", exp) end", 2,
            "string.format: expected a string, a number or a boolean: the text of a function "
            "differs from run to run"),
    REFUSES("where a string lies", "function(x) return x * #string.format(\"%-9p\", \"x\") end", 2,
            "string.format: expected no %p: where a value lies in memory differs from run to run"),

    /* conditions */
    {"tracing: computes_conditions", computes_conditions, tree_setup, tree_teardown, NULL},
    REFUSES("a condition of numbers", "function(x) return select(all_of(x, gt(x, 0)), x, 0) end", 2,
            "all_of: expected a comparison as argument 1, found a number; write ne(x, 0)"),
    REFUSES("no condition of several", "function(x) return select(any_of(), x, 0) end", 2,
            "any_of: expected 2 arguments, found 0"),
};
const size_t tracing_test_count = sizeof tracing_tests / sizeof *tracing_tests;
