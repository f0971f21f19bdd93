/* test_generator.c - what lathe-gen writes and removes. */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void removes_what_no_spec_asks_for(void **state) {
  (void)state;
  char *spec = tree_read("specs/t.lua");
  spec[4] = 'u';
  tree_write("specs/u.lua", spec);
  expect_success(GEN("all"));
  assert_true(tree_has("out/gen/u/u__scalar.c"));
  tree_write("out/gen/u/u__scalar.o", "");
  tree_write("out/gen/mine.txt", "kept: not in the manifest");
  tree_remove("specs/u.lua");
  expect_success(GEN("index"));
  assert_false(tree_has("out/gen/u/u__scalar.c"));
  assert_false(tree_has("out/gen/u/u__scalar.o"));
  assert_false(tree_has("out/gen/u/u_reference.c"));
  assert_false(tree_has("out/gen/u"));
  assert_true(tree_has("out/gen/t/t__scalar.c"));
  assert_true(tree_has("out/gen/mine.txt"));
  free(spec);
}

/* With what a build makes of device code, and leaves behind where it is cut short. */
static void removes_all_of_a_deleted_op(void **state) {
  (void)state;
  static const char *const made[] = {"expand.d",
                                     "u_reference.o",
                                     "u_f32__vulkan.image",
                                     "u_f32__vulkan.image.spv",
                                     "u__vulkan_host.images.xz",
                                     "u__vulkan_host.images.xz.bundle",
                                     "u__vulkan_host.o"};
  static const char *const names[] = {"t", "u"};
  char text[512], path[64];
  for (size_t i = 0; i < 2; i++) {
    snprintf(text, sizeof text,
             "op \"%s\" {\n"
             "  doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } },\n"
             "  compute = function(x) return x end,\n"
             "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = 1,\n"
             "  variants = { { backend = \"vulkan\" } },\n"
             "}\n",
             names[i]);
    snprintf(path, sizeof path, "specs/%s.lua", i ? "u" : "golden");
    tree_write(path, text);
  }
  expect_success(GEN("all"));
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    snprintf(path, sizeof path, "out/gen/u/%s", made[i]);
    tree_write(path, "");
  }
  tree_write("out/gen/t/expand.d", "");
  tree_remove("specs/u.lua");
  expect_success(GEN("index"));
  assert_false(tree_has("out/gen/u"));
  assert_true(tree_has("out/gen/t/expand.d"));
  assert_true(tree_has("out/gen/t/t_f32__vulkan.comp"));
}

/* Whatever an old list of files says. */
static void removes_nothing_of_others(void **state) {
  (void)state;
  static const char *const others[] = {"mine.c", "out/mine.c", "out/gen/u/notes.txt"};
  expect_success(GEN("all"));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    tree_write(others[i], "");
  }
  char *manifest = tree_read("out/gen/manifest.txt"), with[1024];
  snprintf(with, sizeof with,
           "%s../mine.c\n../../mine.c\n%s/mine.c\nu/u__scalar.c\nu/../../mine.c\n", manifest,
           tree_root());
  tree_write("out/gen/manifest.txt", with);
  expect_success(GEN("index"));
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    assert_true(tree_has(others[i]));
  }
  free(manifest);
}

static struct timespec changed(const char *path) {
  struct stat info;
  assert_int_equal(stat(tree_path(path), &info), 0);
  return info.st_mtim;
}

static void leaves_what_does_not_change(void **state) {
  (void)state;
  static const char *const files[] = {"out/gen/table.c", "out/gen/kernels.ninja",
                                      "out/gen/t/t__scalar.c", "out/gen/manifest.txt"};
  struct timespec before[sizeof files / sizeof *files];
  expect_success(GEN("all"));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    before[i] = changed(files[i]);
  }
  expect_success(GEN("all"));
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    struct timespec after = changed(files[i]);
    assert_int_equal(after.tv_sec, before[i].tv_sec);
    assert_int_equal(after.tv_nsec, before[i].tv_nsec);
  }
}

static void leaves_the_old_files_when_a_spec_is_broken(void **state) {
  (void)state;
  expect_success(GEN("all"));
  char *before = tree_read("out/gen/table.c");
  tree_write("specs/u.lua", "op \"u\" {}\n");
  run_result result = GEN("all");
  assert_int_equal(result.status, 1);
  run_free(&result);
  char *after = tree_read("out/gen/table.c");
  assert_string_equal(after, before);
  assert_true(tree_has("out/gen/t/t__scalar.c"));
  free(before);
  free(after);
}

static void leaves_out_a_backend_with_its_reason(void **state) {
  (void)state;
  char *spec = tree_read("specs/t.lua");
  char *scalar = strstr(spec, "\"scalar\"");
  assert_non_null(scalar);
  memcpy(scalar, "\"cpu\"   ", 8);
  tree_write("specs/t.lua", spec);
  expect_success(GEN("--backend", "scalar", "--disabled", "avx2=no \"such\" compiler", "all"));
  assert_true(tree_has("out/gen/t/t__scalar.c"));
  assert_false(tree_has("out/gen/t/t__avx2.c"));
  char *table = tree_read("out/gen/table.c");
  expect_in(table, "\"no \\042such\\042 compiler\"");
  expect_in(table, "\"t_f32__avx2_u1\"");
  expect_in(table, "extern lathe_fn t_f32__scalar_u1;");
  assert_null(strstr(table, "extern lathe_fn t_f32__avx2"));
  char *ninja = tree_read("out/gen/kernels.ninja");
  assert_null(strstr(ninja, "avx2"));
  free(ninja);
  free(table);
  free(spec);
}

/* What Vulkan's push constants have no room for is in memory. */
static void puts_many_arguments_in_memory(void **state) {
  (void)state;
  tree_write(
      "specs/golden.lua",
      "local inputs, V = {}, { \"n\" }\n"
      "for i = 1, 12 do inputs[(\"abcdegpqrstu\"):sub(i, i)] = V end\n"
      "op \"wide\" {\n"
      "  doc = \"test\", inputs = inputs, outputs = { y = V }, scalars = { v = 1, w = 2 },\n"
      "  compute = function(a, b, c, d, e, g, p, q, r, s, t, u, v, w)\n"
      "    return a + b + c + d + e + g + p + q + r + s + t + u * v + w\n"
      "  end,\n"
      "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\", \"f64\" },\n"
      "  ulp = { f32 = 8, f64 = 8 }, variants = { { backend = { \"scalar\", \"vulkan\" } } },\n"
      "}\n");
  expect_success(GEN("all"));
  char *narrow = tree_read("out/gen/wide/wide_f32__vulkan.comp"),
       *wide = tree_read("out/gen/wide/wide_f64__vulkan.comp");
  expect_in(narrow, "layout(push_constant, std430) uniform lathe_args {");
  expect_in(wide, "layout(push_constant, std430) uniform lathe_pushed {\n  lathe_args args;\n};");
  free(narrow);
  free(wide);
}

/* What is said in a list of ops has one line. */
static void folds_a_description_of_several_lines(void **state) {
  (void)state;
  char *spec = tree_read("specs/t.lua"), with[2048];
  char *doc = strstr(spec, "\"test\"");
  assert_non_null(doc);
  snprintf(with, sizeof with, "%.*s[[\n    one,\n    two\n  ]]%s", (int)(doc - spec), spec,
           doc + strlen("\"test\""));
  tree_write("specs/t.lua", with);
  expect_success(GEN("index"));
  char *table = tree_read("out/gen/table.c");
  expect_in(table, ".doc = \"one, two\"");
  free(table);
  free(spec);
}

/* Without --backend all are on but those that --disabled names. */
static void leaves_out_no_other_backend(void **state) {
  (void)state;
  char *spec = tree_read("specs/t.lua");
  char *scalar = strstr(spec, "\"scalar\"");
  assert_non_null(scalar);
  memcpy(scalar, "\"cpu\"   ", 8);
  tree_write("specs/t.lua", spec);
  expect_success(GEN("--disabled", "avx2=too wide", "all"));
  char *table = tree_read("out/gen/table.c");
  expect_in(table, "\"too wide\"");
  expect_in(table, "extern lathe_fn t_f32__scalar_u1;");
  assert_false(tree_has("out/gen/t/t__avx2.c"));
  assert_true(tree_has("out/gen/t/t__scalar.c"));
  free(table);
  free(spec);
}

static void names_all_that_an_op_is_made_from(void **state) {
  (void)state;
  tree_write("specs/include/a b.lua", "return 7\n");
  char *spec = tree_read("specs/t.lua"), with[2048];
  snprintf(with, sizeof with, "local seven = include \"include/a b.lua\"\n%s", spec);
  tree_write("specs/t.lua", with);
  spec[4] = 'u';
  tree_write("specs/u.lua", spec);
  tree_write("templates/c/map.c", "//@ use \"parts.c\"\n");
  tree_write("templates/c/parts.c", "int part;\n");
  expect_success(GEN("all"));
  expect_success(GEN("expand", "t"));
  char *needs = tree_read("out/gen/t/expand.d");
  assert_string_equal(needs, "out/gen/t/t__scalar.c: \\\n"
                             "  templates \\\n"
                             "  templates/c/backend.lua \\\n"
                             "  specs/t.lua \\\n"
                             "  specs/include/a\\ b.lua \\\n"
                             "  templates/c/map.c \\\n"
                             "  templates/c/parts.c \\\n"
                             "  templates/c/loops.c\n");
  free(needs);
  needs = tree_read("out/gen/kernels.ninja.d");
  expect_in(needs, "  specs \\\n");
  expect_in(needs, "  specs/t.lua");
  expect_in(needs, "  specs/u.lua");
  expect_in(needs, "  specs/include/a\\ b.lua");
  expect_in(needs, "  templates/c/backend.lua");
  free(needs);
  free(spec);
}

/* In a folder with specs alone; the templates beside them come first. */
static void finds_its_templates_where_it_is_installed(void **state) {
  (void)state;
  tree_copy(test_variable("LATHE_GEN"), "usr/bin/lathe-gen");
  tree_copy("tests/small/templates", "usr/share/lathe/templates");
  char *own = tree_read("templates/c/map.c");
  tree_write("templates/c/map.c", "int own;\n");
  expect_success(RUN(tree_root(), "usr/bin/lathe-gen", "all"));
  char *made = tree_read("out/gen/t/t__scalar.c");
  expect_in(made, "int own;\n");
  free(made);
  tree_remove("templates");
  expect_success(RUN(tree_root(), "usr/bin/lathe-gen", "all"));
  made = tree_read("out/gen/t/t__scalar.c");
  assert_null(strstr(made, "int own;\n"));
  free(made);
  expect_success(RUN(tree_root(), "usr/bin/lathe-gen", "expand", "t"));
  char *needs = tree_read("out/gen/t/expand.d");
  expect_in(needs, "/usr/share/lathe/templates/c/map.c");
  free(needs);
  free(own);
}

static void defines_every_key_for_editors(void **state) {
  (void)state;
  expect_success(GEN("definitions", "definitions.lua"));
  char *text = tree_read("definitions.lua");
  static const char *const words[] = {
      "---@meta\n",
      "---@field doc string ",
      "---@field inputs ",
      "---@field outputs ",
      "---@field scalars? ",
      "---@field compute function ",
      "---@field sizes ",
      "---@field dtypes ",
      "---@field any_zero_sign? boolean ",
      "---@field in_place? boolean ",
      "---@field variants? (lathe.variant|\"default\")[] ",
      "---@field peers? ",
      "\"f64\" | \"f32\"",
      "function op(name) end",
      "function include(path) end",
      "function exp(...) end",
      "function select(...) end",
      "function argmax(...) end",
      "\"avx2\" | \"scalar\" | \"cpu\"\n",
      "---@field unroll? integer|(integer)[] map on cpu: 1 to 16 (1)",
      "---@field store? \"temporal\" | \"streaming\"|",
      "---@field ulp number|table<lathe.dtype, number> "};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    expect_in(text, words[i]);
  }
  free(text);
}

/* Indexes beside each other, beside numbers, and by another's result. */
static void finds_indexes_in_passes_of_their_own(void **state) {
  (void)state;
  tree_write(
      "specs/golden.lua",
      "local R = { \"rows\" }\n"
      "op \"found\" {\n"
      "  doc = \"test\", inputs = { x = { \"rows\", \"cols\" } },\n"
      "  outputs = { p = R, q = R, top = R, spread = R, far = R },\n"
      "  compute = function(x)\n"
      "    local top = max(x, \"cols\")\n"
      "    return { p = argmax(x, \"cols\"), q = argmin(x, \"cols\"), top = top, spread = sum(x - "
      "top, \"cols\"),\n"
      "      far = argmin(x - top, \"cols\") }\n"
      "  end,\n"
      "  sizes = { { \"a\", rows = 2, cols = 3 } }, dtypes = { \"f32\" }, ulp = { f32 = 1 },\n"
      "  variants = { { backend = { \"scalar\", \"avx2\" }, unroll = 1, accumulators = 1 },\n"
      "    { backend = { \"cuda\", \"vulkan\" } } },\n"
      "}\n");
  expect_success(GEN("all"));
  char *kernel = tree_read("out/gen/found/found__scalar.c");
  size_t passes = 0;
  for (const char *at = kernel; (at = strstr(at, "for (size_t block = 0;")); at++) {
    passes++;
  }
  assert_int_equal(passes, 5);
  free(kernel);
}

/* What the table says of an op: that zeros of either sign are right where the spec says so, and that results may be in
 * the place of the input, but where at(...) reads other elements of that. */
static void says_what_the_spec_leaves_open(void **state) {
  (void)state;
  static const struct {
    const char *value, *more, *says;
  } cases[] = {
      {"x - max(x, \"cols\")", "", ".any_zero_sign = false"},
      {"x + 1", "any_zero_sign = true,", ".any_zero_sign = true"},
      {"x - max(x, \"cols\")", "", ".in_place = true"},
      {"x + 1", "in_place = false,", ".in_place = false"},
      {"x + at(2 * x, t)", "", ".in_place = false"},
      {"x + at(z, t)", "", ".in_place = true"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char spec[1024];
    snprintf(
        spec, sizeof spec,
        "op \"t\" {\n  doc = \"test\", inputs = { x = { \"rows\", \"cols\" },\n"
        "    z = { \"rows\", \"cols\" }, t = { \"rows\", index = \"cols\" } },\n"
        "  outputs = { y = { \"rows\", \"cols\" }, zz = { \"rows\" } },\n"
        "  compute = function(x, z, t) return { y = %s, zz = at(z, t) } end, %s\n"
        "  sizes = { { \"a\", rows = 2, cols = 3 } }, dtypes = { \"f32\" }, ulp = { f32 = 1 },\n"
        "  variants = { { backend = \"scalar\" } },\n}\n",
        cases[i].value, cases[i].more);
    tree_write("specs/golden.lua", spec);
    expect_success(GEN("index"));
    char *table = tree_read("out/gen/table.c");
    if (!strstr(table, cases[i].says)) {
      fail_msg("%s: expected '%s'", cases[i].value, cases[i].says);
    }
    free(table);
  }
}

/* A call is not cut along an axis whose points the function counts, whether it goes over that or not. */
static void cuts_no_call_whose_points_are_counted(void **state) {
  (void)state;
  static const char row[] = "\"rows\"", both[] = "\"rows\", \"cols\"";
  static const struct {
    const char *axes, *output, *body, *more, *cut;
  } cases[] = {
      {row, both, "return s * x", "", ".cut = 1,"},
      {row, both, "return s * x / count(\"cols\")", "", ".cut = 1,"},
      {row, both, "return s * x / count(\"rows\")", "", ".cut = 0,"},
      {row, both, "return s * x / count()", "", ".cut = 0,"},
      {both, both, "return s * x", "", ".cut = 1,"},
      {both, both, "return s * x / count()", "", ".cut = 0,"},
      {both, "", "return mean(s * x)", "backward = { variants = { { backend = \"scalar\" } } },",
       ".cut = 0,"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_matrix_op(cases[i].axes, cases[i].output, cases[i].body, cases[i].more);
    expect_success(GEN("index"));
    char *table = tree_read("out/gen/table.c");
    const char *found = strstr(table, ".cut = ");
    for (; found; found = strstr(found + 1, ".cut = ")) {
      if (strncmp(found, cases[i].cut, strlen(cases[i].cut)) != 0) {
        fail_msg("%s: expected '%s', found '%.10s'", cases[i].body, cases[i].cut, found);
      }
    }
    free(table);
  }
}

/* Which rows an op has whose spec has no list: by its kind, and none that it cannot have. */
static void chooses_the_variants_that_a_spec_leaves_out(void **state) {
  (void)state;
#define BOTH "\"rows\", \"cols\""
#define MATRIX "rows = 2, cols = 3", "x = { " BOTH " }"
#define LAYER "x = { \"b\", \"i\" }, w = { \"o\", \"i\" }"
#define LAYERS_BODY "return sum(v * max(sum(x * w, \"i\"), 0), \"o\")"
  static const struct {
    const char *sizes, *inputs, *output, *parameters, *body, *has, *lacks;
  } cases[] = {
      {MATRIX, BOTH, "x", "return exp(x)", "\"t_f32__avx2_u4_nt\"", "table\""},
      {MATRIX, "", "x", "return sum(x)", "\"t_f32__cuda_b512_u2_w4\"", "b256"},
      {MATRIX, "", "x", "return argmax(x)", "\"t_f32__cuda_b256_u4_w4\"", "b512"},
      {MATRIX, BOTH, "x", "return x / sum(x, \"cols\")", "__avx2_a4_u4\"", "_nt\""},
      {MATRIX, "\"rows\"", "x", "return sum(x, \"cols\")", "__avx2_a4_u1\"", "a4_u4\""},
      {MATRIX, "\"cols\"", "x", "return sum(x, \"rows\")", "__avx2_a4_u4\"", "_nt\""},
      {"b = 2, i = 3, o = 4", LAYER, "\"b\", \"o\"", "x, w", "return sum(x * w, \"i\")",
       "__cuda_wgmma_m128_s4\"", "simd"},
      /* AMX multiplies numbers as they are in memory. */
      {"b = 2, i = 3, o = 4", LAYER, "\"b\", \"o\"", "x, w", "return sum(x * w, \"i\")",
       "t_bf16__amx_r14_v2\"", "_nt\""},
      {"a = 2, b = 3, c = 4", "x = { \"a\", \"b\", \"c\" }", "\"a\", \"c\"", "x",
       "return sum(sum(x, \"c\") * sum(x, \"a\"), \"b\")", "__avx2_r6_v2\"", "__amx"},
      {"b = 2, i = 3, o = 4", "x = { \"b\", \"i\" }, w = { \"o\", \"i\", dtype = \"i8\" }",
       "\"b\", \"o\"", "x, w", "return sum(x * w, \"i\")", "__avx512_r14_v2\"", "wgmma"},
      {"b = 2, i = 3, o = 4, p = 5", LAYER ", v = { \"p\", \"o\" }", "\"b\", \"p\"", "x, w, v",
       LAYERS_BODY, "__avx512_simd_r8_v2_b96\"", "__cuda_wgmma"},
      {"b = 2, i = 3, o = 4, p = 5", LAYER ", v = { \"p\", \"o\" }", "\"b\", \"p\"", "x, w, v",
       LAYERS_BODY, "t_bf16__cuda_product_wgmma_m128_s4_narrow\"", "t_f32__cuda_product"},
      {"b = 2, i = 3, o = 4, p = 5", LAYER ", v = { \"p\", \"o\", dtype = \"f32\" }",
       "\"b\", \"p\"", "x, w, v", LAYERS_BODY, "__avx512_r14_v2\"", "simd"},
      {"a = 2, b = 3, c = 4", "x = { \"a\", \"b\", \"c\" }", "\"b\"", "x",
       "return max(x, \"a\", \"c\")", "__avx2_u4\"", "_a4\""},
  };
#undef BOTH
#undef MATRIX
#undef LAYER
#undef LAYERS_BODY
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char spec[1024];
    snprintf(spec, sizeof spec,
             "op \"t\" {\n  doc = \"test\", inputs = { %s }, outputs = { y = { %s } },\n"
             "  compute = function(%s) %s end, sizes = { { \"a\", %s } },\n"
             "  dtypes = { \"f32\", \"bf16\" }, ulp = 3,\n}\n",
             cases[i].inputs, cases[i].output, cases[i].parameters, cases[i].body, cases[i].sizes);
    tree_write("specs/golden.lua", spec);
    expect_success(GEN("--processor", "x86_64", "all"));
    char *table = tree_read("out/gen/table.c");
    if (!strstr(table, cases[i].has) || strstr(table, cases[i].lacks)) {
      fail_msg("%s: expected a variant '%s', and none '%s'", cases[i].body, cases[i].has,
               cases[i].lacks);
    }
    free(table);
  }
}

/* The gradient of a layer is products after each other, whose kernels are those of products all the same; that of two
 * layers goes through both of them for each row. */
static void chooses_a_gradients_variants_by_its_own_kind(void **state) {
  (void)state;
  static const char one[] =
      "op \"t\" {\n  doc = \"test\", inputs = { x = { \"b\", \"i\" }, w = { \"o\", \"i\" } },\n"
      "  outputs = { y = { \"b\", \"o\" } }, backward = true,\n"
      "  compute = function(x, w) return tanh(sum(x * w, \"i\")) end,\n"
      "  sizes = { { \"a\", b = 2, i = 3, o = 4 } }, dtypes = { \"f32\" }, ulp = 3,\n}\n";
  static const char two[] =
      "op \"t\" {\n  doc = \"test\", outputs = { y = { \"b\", \"p\" } }, backward = true,\n"
      "  inputs = { x = { \"b\", \"i\" }, w = { \"o\", \"i\" }, v = { \"p\", \"o\" } },\n"
      "  compute = function(x, w, v) return sum(v * tanh(sum(x * w, \"i\")), \"o\") end,\n"
      "  sizes = { { \"a\", b = 2, i = 3, o = 4, p = 5 } }, dtypes = { \"f32\" }, ulp = 3,\n}\n";
  tree_write("specs/golden.lua", one);
  expect_success(GEN("--processor", "x86_64", "all"));
  char *table = tree_read("out/gen/table.c");
  expect_in(table, "\"t_backward_f32__avx512_r14_v2\"");
  assert_null(strstr(table, "simd"));
  free(table);
  tree_write("specs/golden.lua", two);
  expect_success(GEN("--processor", "x86_64", "all"));
  table = tree_read("out/gen/table.c");
  expect_in(table, "\"t_backward_f32__avx512_simd_r8_v2_b96\"");
  free(table);
}

/* A list for another kind of op is refused with what the op is, and what it has by default. */
static void says_what_a_list_of_another_kind_should_be(void **state) {
  (void)state;
  tree_write(
      "specs/golden.lua",
      "op \"t\" {\n  doc = \"test\", inputs = { x = { \"m\", \"k\" }, w = { \"n\", \"k\" } },\n"
      "  outputs = { y = { \"m\", \"n\" } },\n"
      "  compute = function(x, w) return sum(x * w, \"k\") end,\n"
      "  sizes = { { \"a\", m = 2, n = 3, k = 4 } }, dtypes = { \"f32\" }, ulp = 3,\n"
      "  variants = { { backend = \"avx2\", accumulators = 4 } },\n}\n");
  run_result result = GEN("index");
  expect_in(result.err, "variants[1]: unknown parameter 'accumulators'; the template contract has");
  expect_in(result.err,
            "; 't' computes sums of products: \"default\" stands for { backend = \"amx\", ");
  expect_in(result.err, ", { backend = \"avx2\", mr = 6, nv = 2 }, ");
  assert_null(strstr(result.err, "cuda"));
  assert_int_equal(result.status, 1);
  run_free(&result);
}

/* The processor's seconds for an op of so many terms and its gradient. */
static double seconds_of_terms(int terms) {
  char spec[1024];
  struct rusage before, after;
  snprintf(spec, sizeof spec,
           "op \"t\" {\n"
           "  doc = \"test\", inputs = { x = { \"n\" } }, outputs = { y = { \"n\" } }, backward = "
           "true,\n"
           "  compute = function(x) local y = x for i = 1, %d do y = y * x + i end return y end,\n"
           "  sizes = { { \"1K\", n = 1000 } }, dtypes = { \"f32\" }, ulp = { f32 = 4 },\n"
           "  variants = { { backend = \"scalar\" } },\n}\n",
           terms);
  tree_write("specs/golden.lua", spec);
  getrusage(RUSAGE_CHILDREN, &before);
  expect_success(GEN("all"));
  getrusage(RUSAGE_CHILDREN, &after);
  return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
         (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6;
}

static void takes_time_in_proportion(void **state) {
  (void)state;
#ifdef __SANITIZE_ADDRESS__
  return; /* how long it takes beside them says nothing */
#endif
  double few = seconds_of_terms(200), many = seconds_of_terms(800);
  if (many > 8 * few) {
    fail_msg("800 terms take %g s, 200 take %g s", many, few);
  }
}

const struct CMUnitTest generator_tests[] = {
    GENERATOR_TEST(removes_what_no_spec_asks_for),
    GENERATOR_TEST(removes_nothing_of_others),
    GENERATOR_TEST(finds_its_templates_where_it_is_installed),
    GENERATOR_TEST(leaves_what_does_not_change),
    GENERATOR_TEST(leaves_the_old_files_when_a_spec_is_broken),
    GENERATOR_TEST(leaves_out_a_backend_with_its_reason),
    GENERATOR_TEST(leaves_out_no_other_backend),
    GENERATOR_TEST(folds_a_description_of_several_lines),
    GENERATOR_TEST(names_all_that_an_op_is_made_from),
    GENERATOR_TEST(defines_every_key_for_editors),
    GOLDEN_TEST(removes_all_of_a_deleted_op),
    GOLDEN_TEST(puts_many_arguments_in_memory),
    GOLDEN_TEST(finds_indexes_in_passes_of_their_own),
    GOLDEN_TEST(says_what_the_spec_leaves_open),
    GOLDEN_TEST(cuts_no_call_whose_points_are_counted),
    GOLDEN_TEST(chooses_the_variants_that_a_spec_leaves_out),
    GOLDEN_TEST(chooses_a_gradients_variants_by_its_own_kind),
    GOLDEN_TEST(says_what_a_list_of_another_kind_should_be),
    GOLDEN_TEST(takes_time_in_proportion),
};
const size_t generator_test_count = sizeof generator_tests / sizeof *generator_tests;
