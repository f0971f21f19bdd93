/* test_sizes.c - sizes as the command line has them, and whether there is room for one. */
#include "tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "library/dtype.h"
#include "rows/room.h"
#include "rows/selection.h"
#include "rows/size.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- sizes ----------------------------------------------------------------------------------- */

static const lathe_operand number = {"y", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false};
static const lathe_operand matrix_operand = {"x",  LATHE_VARIANT_DTYPE, false, 2, {0, 1}, 0, 1,
                                             false};
static const lathe_bench nothing_asked;
static const lathe_op vector_op = {.name = "v",
                                   .ndim = 1,
                                   .dim = {"n"},
                                   .noperands = 1,
                                   .operands = &number,
                                   .bench = &nothing_asked};
static const lathe_op matrix_op = {
    .name = "m", .ndim = 2, .dim = {"rows", "cols"}, .noperands = 1, .operands = &matrix_operand};

static void test_sizes(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    size_t count, index;
    const char *expected;
  } cases[] = {
      {"100", &vector_op, 1, 0, "100"},
      {"100K", &vector_op, 1, 0, "100000"},
      {"4Mi", &vector_op, 1, 0, "4194304"},
      {"1G", &vector_op, 1, 0, "1000000000"},
      {"2^20", &vector_op, 1, 0, "1048576"},
      {"3^4", &vector_op, 1, 0, "81"},
      {"7^0", &vector_op, 1, 0, "1"},
      {"32x128", &vector_op, 1, 0, "4096"},
      {"32x128", &matrix_op, 1, 0, "32x128"},
      {"2x3x4", &matrix_op, 1, 0, "6x4"},
      {"2x3x4x5", &vector_op, 1, 0, "120"},
      {"batch=2xsequence=3xwidth=4", &vector_op, 1, 0, "24"},
      {"width=4xbatch=2", &matrix_op, 1, 0, "2x4"},
      {"width=4xsequence=3xbatch=2", &matrix_op, 1, 0, "6x4"},
      {"width=8:32", &matrix_op, 3, 1, "1x16"},
      {"n=3xbatch=2", &vector_op, 1, 0, "6"},
      {"128", &matrix_op, 1, 0, "1x128"},
      {"rows=8xcols=512", &matrix_op, 1, 0, "8x512"},
      {"cols=512xrows=8", &matrix_op, 1, 0, "8x512"},
      {"cols=7", &matrix_op, 1, 0, "1x7"},
      {"2^4:2^6", &vector_op, 3, 2, "64"},
      {"2^4:2^10:4", &vector_op, 4, 3, "1024"},
      {"10:99", &vector_op, 4, 3, "80"},
      {"5:5", &vector_op, 1, 0, "5"},
      {"1:4x10:20", &matrix_op, 6, 3, "2x20"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    size_t dim[LATHE_MAX_DIMS];
    char text[SIZE_TEXT];
    const char *wrong = size_parse(cases[i].text, &pattern);
    if (wrong)
      fail_msg("%s: %s", cases[i].text, wrong);
    assert_int_equal(size_count(&pattern), cases[i].count);
    assert_true(size_apply(&pattern, cases[i].index, cases[i].op, &shape));
    assert_true(size_fold(&shape, cases[i].op, dim));
    shape = size_of_dims(cases[i].op, dim);
    size_text(&shape, text);
    assert_string_equal(text, cases[i].expected);
  }
}

/* A size keeps the shape that it was asked for in, whatever the op takes it as. */
static void test_size_shapes(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    const char *expected;
  } cases[] = {
      {"32x128", &vector_op, "32x128"},
      {"16x2x8", &matrix_op, "16x2x8"},
      {"8", &matrix_op, "1x8"},
      {"batch=2xwidth=8", &vector_op, "2x1x8"},
      {"sequence=2xwidth=8", &vector_op, "2x8"},
      {"cols=3", &matrix_op, "1x3"},
      {"batch=2xcols=3", &matrix_op, "2x1x3"},
      {"1x1x1x1x1x1x1x9", &vector_op, "1x1x1x1x1x1x1x9"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    char text[SIZE_TEXT];
    assert_null(size_parse(cases[i].text, &pattern));
    assert_true(size_apply(&pattern, 0, cases[i].op, &shape));
    size_text(&shape, text);
    assert_string_equal(text, cases[i].expected);
  }
}

/* What a size leaves out may only be slower than what it gives: 1 of those is what a plain number means. */
static void test_size_missing(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    const char *missing;
  } cases[] = {
      {"rows=3", &matrix_op, "cols"},         {"sequence=3", &matrix_op, "cols"},
      {"batch=2xrows=3", &matrix_op, "cols"}, {"batch=3", &vector_op, "n"},
      {"cols=3", &matrix_op, NULL},           {"3", &matrix_op, NULL},
      {"batch=2xcols=3", &matrix_op, NULL},   {"depth=3", &matrix_op, NULL},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    const char *missing;
    assert_null(size_parse(cases[i].text, &pattern));
    missing = size_missing(&pattern, cases[i].op);
    if (!cases[i].missing)
      assert_null(missing);
    else
      assert_string_equal(missing, cases[i].missing);
    if (missing)
      assert_false(size_apply(&pattern, 0, cases[i].op, &shape));
  }
}

/* A set multiplies out with its last extent fastest. */
static void test_size_sets(void **state) {
  static const size_t first[] = {16, 32}, last[] = {8, 64, 9};
  static const lathe_shape set = {2, {2, 3}, {first, last}};
  static const char *const expected[] = {"16x8", "16x64", "16x9", "32x8", "32x64", "32x9"};

  (void)state;
  assert_int_equal(size_shape_count(&set), COUNT(expected));
  for (size_t i = 0; i < COUNT(expected); i++) {
    const size_shape shape = size_shape_at(&set, i);
    char text[SIZE_TEXT];
    size_text(&shape, text);
    assert_string_equal(text, expected[i]);
  }
}

/* What narrows a sweep: it speaks of what it names, and leaves the rest open. */
static void test_size_matches(void **state) {
  static const size_shape shape = {3, {16, 256, 64}};
  static const struct {
    const char *text;
    const lathe_op *op;
    bool matches;
  } cases[] = {
      {"width=64", &matrix_op, true},
      {"width=64", &vector_op, true},
      {"width=32", &vector_op, false},
      {"width=2^3:2^10", &matrix_op, true},
      {"width=2^3:2^5", &matrix_op, false},
      {"width=128:256", &matrix_op, false},
      {"width=3:192", &matrix_op, false}, /* 3, 6, 12, ... */
      {"batch=16xsequence=256xwidth=64", &vector_op, true},
      {"sequence=256", &vector_op, true},
      {"batch=8", &vector_op, false},
      {"64", &matrix_op, true},
      {"256x64", &matrix_op, true},
      {"16x256x64", &vector_op, true},
      {"1x16x256x64", &vector_op, true},
      {"2x16x256x64", &vector_op, false},
      {"cols=64", &matrix_op, true},
      {"rows=4096", &matrix_op, true}, /* 16 x 256 */
      {"rows=256", &matrix_op, false},
      {"n=262144", &vector_op, true},
      {"cols=64", &vector_op, false},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    assert_null(size_parse(cases[i].text, &pattern));
    if (size_matches(&pattern, cases[i].op, &shape) != cases[i].matches)
      fail_msg("%s of %s matches otherwise than expected", cases[i].text, cases[i].op->name);
  }
}

static void test_bad_sizes(void **state) {
  static const struct {
    const char *text, *wrong;
  } cases[] = {
      {"", "a number was expected"},
      {"0", "a size must not be zero"},
      {"0K", "a size must not be zero"},
      {"0^3", "a size must not be zero"},
      {"-5", "a size must be positive"},
      {"1.5", "a size must be a whole number"},
      {"1e6", "a size must be a whole number"},
      {"18446744073709551616", "the number is too large"},
      {"99999999999G", "the number is too large"},
      {"2^64", "the number is too large"},
      {"2^-1", "a size must be positive"},
      {"10x", "a number was expected"},
      {"x10", "a number was expected"},
      {"10y20", "'x', ':' or the end was expected after a number"},
      {"10 20", "'x', ':' or the end was expected after a number"},
      {"10:5", "the range ends before it begins"},
      {"1:10:1", "the step of a range must be at least 2"},
      {"rows=8x512", "name all of the dimensions or none"},
      {"=8", "the name of a dimension was expected before '='"},
      {"1x2x3x4x5x6x7x8x9x10x11x12x13x14x15x16x17", "there are too many dimensions"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    const char *wrong = size_parse(cases[i].text, &pattern);
    if (!wrong || strcmp(wrong, cases[i].wrong) != 0)
      fail_msg("'%s': expected '%s', was told '%s'", cases[i].text, cases[i].wrong,
               wrong ? wrong : "nothing");
  }
}

static void test_sizes_that_do_not_fit(void **state) {
  static const struct {
    const char *text;
    const lathe_op *op;
    bool applies, folds, addressable;
  } cases[] = {
      {"depth=3", &matrix_op, false, false, false},
      {"cols=3xcols=3", &matrix_op, false, false, false},
      {"cols=3xwidth=3", &matrix_op, false, false, false},
      {"2^59", &matrix_op, true, true, false},
      {"2^58", &matrix_op, true, true, true},
      {"2^32x2^31", &matrix_op, true, true, false},
      {"2^40x2^40", &matrix_op, true, true, false},
      {"2^40x2^40", &vector_op, true, false, false},
      {"2^33x2^33x2", &matrix_op, true, false, false},
      {"18446744073709551615", &matrix_op, true, false, false},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    size_pattern pattern;
    size_shape shape;
    size_t dim[LATHE_MAX_DIMS];
    bool applies, folds;
    assert_null(size_parse(cases[i].text, &pattern));
    assert_int_equal(size_repeats(&pattern, cases[i].op),
                     strncmp(cases[i].text, "cols=3x", 7) == 0);
    applies = size_apply(&pattern, 0, cases[i].op, &shape);
    folds = applies && size_fold(&shape, cases[i].op, dim);
    if (applies != cases[i].applies || folds != cases[i].folds ||
        (folds && size_addressable(cases[i].op, dim)) != cases[i].addressable)
      fail_msg("%s fits %s otherwise than expected", cases[i].text, cases[i].op->name);
  }
}

/* ---- memory ---------------------------------------------------------------------------------- */

static double some_workspace(const size_t *dim) {
  return 1024 * (double)dim[0];
}

static void test_room(void **state) {
  enum { MI = 1 << 20 };
  static const lathe_operand x = {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, 0, 1, false};
  static const lathe_op op = {.name = "v",
                              .ndim = 1,
                              .dim = {"n"},
                              .noperands = 1,
                              .operands = &x,
                              .bench = &nothing_asked};
  static const lathe_backend cpu = {.name = "c", .kind = LATHE_CPU};
  static const lathe_backend gpu = {.name = "g", .kind = LATHE_CUDA};
  const struct {
    const lathe_backend *backend;
    lathe_cost *workspace;
    size_t n;
    bool solve;
    room_left left; /* MiB */
    const char *why;
  } cases[] = {
      {&cpu, NULL, MI, false, {6, 6}, NULL}, /* 4 MiB, of which 90 % are usable */
      {&cpu,
       NULL,
       MI,
       false,
       {4, 4},
       "needs 4.00 MiB with its reference, and 3.60 MiB of memory are free"},
      {&cpu,
       NULL,
       MI,
       true,
       {6, 6},
       "needs 16.0 MiB with its reference, and 5.40 MiB of memory are free"},
      {&cpu, NULL, MI, true, {18, 18}, NULL},
      {&cpu, NULL, MI, true, {-1, -1}, NULL}, /* not known */
      {&cpu,
       some_workspace,
       1024,
       false,
       {1, 1},
       "needs 1.00 MiB with its reference, and 922 KiB of memory are free"},
      {&gpu, NULL, MI, true, {5, 1000}, NULL},
      {&gpu,
       NULL,
       MI,
       true,
       {4, 1000},
       "needs 4.00 MiB on the device, and 3.60 MiB of memory are free"},
      {&gpu,
       NULL,
       MI,
       true,
       {1000, 16},
       "its reference needs 16.0 MiB of the host's memory, and 14.4 MiB are free"},
      {&gpu, NULL, MI, false, {1000, 5}, NULL},
      {&gpu,
       some_workspace,
       1024,
       false,
       {1, 1000},
       "needs 1.00 MiB on the device, and 922 KiB of memory are free"},
      {&cpu, NULL, (size_t)1 << 62, true, {-1, -1}, "needs 16.0 EiB, more than can be addressed"},
      {&gpu, NULL, (size_t)1 << 62, false, {-1, -1}, "needs 16.0 EiB, more than can be addressed"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const lathe_variant v = {.op = &op,
                             .backend = cases[i].backend,
                             .dtype = LATHE_F32,
                             .workspace = cases[i].workspace};
    const room_left left = {cases[i].left.device * MI, cases[i].left.host * MI};
    const char *why = room_refusal(&v, &cases[i].n, cases[i].solve, left);
    if (!why != !cases[i].why || (why && strcmp(why, cases[i].why) != 0))
      fail_msg("case %zu: expected '%s', was told '%s'", i, cases[i].why ? cases[i].why : "nothing",
               why ? why : "nothing");
  }
}

const struct CMUnitTest sizes_tests[] = {
    cmocka_unit_test(test_sizes),
    cmocka_unit_test(test_size_shapes),
    cmocka_unit_test(test_size_missing),
    cmocka_unit_test(test_size_sets),
    cmocka_unit_test(test_size_matches),
    cmocka_unit_test(test_bad_sizes),
    cmocka_unit_test(test_sizes_that_do_not_fit),
    cmocka_unit_test(test_room),
};
const size_t sizes_test_count = COUNT(sizes_tests);
