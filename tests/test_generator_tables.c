/* test_generator_tables.c - ops whose kernels look their results up. */
#include "generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* A spec of an op in f32 and bf16 whose second row of variants asks for tables. */
static void write_op(const char *inputs, const char *scalars, const char *function,
                     const char *row) {
  char spec[1024];
  snprintf(spec, sizeof spec,
           "op \"t\" {\n  doc = \"test\",\n  inputs = { %s },\n  outputs = { y = { \"n\" } },\n"
           "  scalars = { %s },\n  compute = function%s end,\n  sizes = { { \"1K\", n = 1000 } },\n"
           "  dtypes = { \"f32\", \"bf16\" },\n  ulp = { f32 = 1, bf16 = 1 },\n"
           "  variants = { { backend = \"cpu\" },\n    { backend = \"cpu\", values = \"table\"%s } "
           "},\n}\n",
           inputs, scalars, function, row);
  tree_write("specs/golden.lua", spec);
}

#define ONE "x = { \"n\" }"
#define NARROW ", dtypes = \"bf16\""

static void refuses_tables_of_what_one_number_does_not_say(void **state) {
  (void)state;
  static const struct {
    const char *inputs, *scalars, *function, *row, *message;
  } cases[] = {
      {ONE, "", "(x) return exp(x)", "",
       "needs numbers of 16 bits: expected dtypes = \"f16\", \"bf16\" or both, found 'f32'"},
      {ONE ", z = { \"n\" }", "", "(x, z) return x * z", NARROW,
       "needs a function of one number alone: expected 1 input, 1 output and no scalars, found 2, "
       "1 and 0"},
      {ONE ", seed = { dtype = \"i64\" }, offset = { dtype = \"i64\" }", "",
       "(x, seed, offset) return x * random(seed, offset)", NARROW,
       "needs a function of one number alone: expected 1 input, 1 output and no scalars, found 3, "
       "1 and 0"},
      {ONE, "s = 2", "(x, s) return s * x", NARROW,
       "needs a function of one number alone: expected 1 input, 1 output and no scalars, found 1, "
       "1 and 1"},
      {ONE, "", "(x) return exp(x)", NARROW ", unroll = 4",
       "is looked up in one way only: expected no 'unroll' and no 'store' beside it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char message[512];
    snprintf(message, sizeof message, "specs/golden.lua:10: variants: values = 'table' %s\n",
             cases[i].message);
    write_op(cases[i].inputs, cases[i].scalars, cases[i].function, cases[i].row);
    expect_failure(GEN("all"), 1, message);
  }
}

static void makes_tables_in_the_precisions_asked_for(void **state) {
  (void)state;
  write_op(ONE, "", "(x) return exp(x)", NARROW);
  expect_success(GEN("all"));
  char *made = tree_read("out/gen/t/t__avx2.c"), *table = tree_read("out/gen/table.c");
  expect_in(made, "#include \"table.h\"");
  expect_in(made, "void t_bf16__avx2_u1_table(");
  expect_in(made, "void t_bf16__avx2_u1(");
  expect_in(made, "void t_f32__avx2_u1(");
  assert_null(strstr(made, "t_f32__avx2_u1_table"));
  assert_null(strstr(table, "t_f32__avx2_u1_table"));
  expect_in(table, "extern lathe_fn t_bf16__avx2_u1_table;");
  free(table);
  free(made);
}

const struct CMUnitTest generator_tables_tests[] = {
    GOLDEN_TEST(refuses_tables_of_what_one_number_does_not_say),
    GOLDEN_TEST(makes_tables_in_the_precisions_asked_for),
};
const size_t generator_tables_test_count =
    sizeof generator_tables_tests / sizeof *generator_tables_tests;
