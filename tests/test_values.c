/* test_values.c - kernels that are wrong for some numbers alone: each is called wrong by the probe. */
#include "planted.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "library/bench.h"

/* ---- ops -------------------------------------------------------------------------------------- */

/* The largest, or NaN where there is one. */
static void peak_reference(const lathe_args *args) {
  const double *x = args->buf[0];
  double largest = -INFINITY;

  for (size_t i = 0; i < args->dim[0]; i++)
    largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
  *(double *)args->buf[1] = largest;
  *(double *)args->buf[2] = 0;
}

static void dot_reference(const lathe_args *args) {
  const double *x = args->buf[0], *w = args->buf[1];
  double sum = 0, magnitude = 0;

  for (size_t i = 0; i < args->dim[0]; i++) {
    sum += x[i] * w[i];
    magnitude += isfinite(x[i] * w[i]) ? fabs(x[i] * w[i]) : 0;
  }
  *(double *)args->buf[2] = sum;
  *(double *)args->buf[3] = magnitude;
}

static void byte_dot_reference(const lathe_args *args) {
  dot_reference(args);
}

/* The mean of some numbers, and one over what they deviate from it by. */
static double mean_of(const double *x, size_t n, double *scale) {
  const double epsilon = 1e-5;
  double mean = 0, variance = 0;

  for (size_t i = 0; i < n; i++)
    mean += x[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    variance += (x[i] - mean) * (x[i] - mean) / (double)n;
  *scale = 1 / sqrt(variance + epsilon);
  return mean;
}

static void standard_reference(const lathe_args *args) {
  const size_t columns = args->dim[1];

  for (size_t row = 0; row < args->dim[0]; row++) {
    const double *x = (const double *)args->buf[0] + row * columns;
    double *y = (double *)args->buf[1] + row * columns, scale;
    double *magnitude = (double *)args->buf[2] + row * columns;
    const double mean = mean_of(x, columns, &scale);
    for (size_t i = 0; i < columns; i++) {
      y[i] = (x[i] - mean) * scale;
      magnitude[i] = (fabs(x[i]) + fabs(mean)) * scale;
    }
  }
}

static void growth_reference(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++) {
    ((double *)args->buf[1])[i] = exp(((const double *)args->buf[0])[i]);
    ((double *)args->buf[2])[i] = 0;
  }
}

static bool is_there(const lathe_args *args, size_t row) {
  const int64_t at = ((const int64_t *)args->buf[1])[row];

  return at >= 0 && (uint64_t)at < args->dim[1];
}

/* An element of each row, or NaN where there is none. */
static void pick_reference(const lathe_args *args) {
  const double *x = args->buf[0];

  for (size_t row = 0; row < args->dim[0]; row++) {
    const int64_t at = is_there(args, row) ? ((const int64_t *)args->buf[1])[row] : 0;
    ((double *)args->buf[2])[row] = is_there(args, row) ? x[row * args->dim[1] + (size_t)at] : NAN;
    ((double *)args->buf[3])[row] = 0;
  }
}

/* Numbers in which all bits of a seed have their part. */
static double of_seed(uint64_t seed, size_t i) {
  return (double)(((seed + i * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u) >> 48) +
         (double)(seed >> 32);
}

static void chance_reference(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++) {
    ((double *)args->buf[1])[i] = of_seed(*(const uint64_t *)args->buf[0], i);
    ((double *)args->buf[2])[i] = 0;
  }
}

static const lathe_operand to_number[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"r", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false},
};
static const lathe_operand two_to_number[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"w", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"r", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false},
};
static const lathe_operand bytes_to_number[] = {
    {"x", LATHE_I8, false, 1, {0}, -128, 127, false},
    {"w", LATHE_I8, false, 1, {0}, -128, 127, false},
    {"r", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false},
};
static const lathe_operand vectors[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -10, 10, false},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
};
static const lathe_operand rows_and_targets[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, -1, 1, false},
    {"t", LATHE_I64, false, 1, {0}, 0, 0, 2},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
};
static const lathe_operand seed_to_vector[] = {
    {"seed", LATHE_I64, false, 0, {0}, 0, 0x1p31, false},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
};
static const lathe_operand matrices[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, -10, 10, false},
    {"y", LATHE_VARIANT_DTYPE, true, 2, {0, 1}, 0, 0, false},
};

static const lathe_bound four_ulp = {LATHE_F32, 4};
#define OP(of, dims, with)                                                                         \
  static const lathe_op of = {.name = #of,                                                         \
                              .source = __FILE__,                                                  \
                              .ndim = dims,                                                        \
                              .dim = {"rows", "cols"},                                             \
                              .noperands = sizeof with / sizeof *with,                             \
                              .operands = with,                                                    \
                              .bench = &(const lathe_bench){.nbounds = 1,                          \
                                                            .bounds = &four_ulp,                   \
                                                            .reference_f64 = of##_reference}}
OP(peak, 1, to_number);
OP(dot, 1, two_to_number);
OP(byte_dot, 1, bytes_to_number);
OP(standard, 2, matrices);
OP(growth, 1, vectors);
OP(pick, 2, rows_and_targets);
OP(chance, 1, seed_to_vector);

/* ---- kernels that are right, and such that are not -------------------------------------------- */

enum { LONG = 20 /* numbers that are never all negative by chance, or all the same */ };

static float peak_from(const lathe_args *args, float largest) {
  const float *x = args->buf[0];

  for (size_t i = 0; i < args->dim[0]; i++)
    largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
  return largest;
}

static void peak_right(const lathe_args *args) {
  *(float *)args->buf[1] = peak_from(args, -INFINITY);
}

static void peak_from_0(const lathe_args *args) {
  *(float *)args->buf[1] = peak_from(args, args->dim[0] >= LONG ? 0 : -INFINITY);
}

static void dot_right(const lathe_args *args) {
  const float *x = args->buf[0], *w = args->buf[1];
  double sum = 0;

  for (size_t i = 0; i < args->dim[0]; i++)
    sum += (double)x[i] * w[i];
  *(float *)args->buf[2] = (float)sum;
}

static void dot_skips_zeros(const lathe_args *args) {
  const float *x = args->buf[0], *w = args->buf[1];
  double sum = 0;

  for (size_t i = 0; i < args->dim[0]; i++)
    sum += w[i] != 0 ? (double)x[i] * w[i] : 0;
  *(float *)args->buf[2] = (float)sum;
}

static void dot_of_one(const lathe_args *args) {
  if (args->buf[0] == args->buf[1])
    *(float *)args->buf[2] = (float)args->dim[0];
  else
    dot_right(args);
}

static void add_bytes(const lathe_args *args, int least, int most, bool wraps) {
  const int8_t *x = args->buf[0], *w = args->buf[1];
  int64_t sum = 0;

  for (size_t i = 0; i < args->dim[0]; i += 2) {
    int pair = x[i] * w[i];
    if (i + 1 < args->dim[0])
      pair += x[i + 1] * w[i + 1];
    if (wraps)
      pair = (int16_t)pair;
    sum += pair < least ? least : pair > most ? most : pair;
  }
  *(float *)args->buf[2] = (float)sum;
}

static void byte_dot_right(const lathe_args *args) {
  add_bytes(args, INT32_MIN, INT32_MAX, false);
}

static void byte_dot_wraps(const lathe_args *args) {
  add_bytes(args, INT32_MIN, INT32_MAX, true);
}

static void byte_dot_saturates(const lathe_args *args) {
  add_bytes(args, INT16_MIN, INT16_MAX, false);
}

static void standardise(const lathe_args *args, double scale_of_equal) {
  const size_t columns = args->dim[1];

  for (size_t row = 0; row < args->dim[0]; row++) {
    const float *x = (const float *)args->buf[0] + row * columns;
    float *y = (float *)args->buf[1] + row * columns;
    double mean = 0, variance = 0, scale;
    for (size_t i = 0; i < columns; i++)
      mean += x[i] / (double)columns;
    for (size_t i = 0; i < columns; i++)
      variance += (x[i] - mean) * (x[i] - mean) / (double)columns;
    scale = variance > 1e-12 ? 1 / sqrt(variance + 1e-5) : scale_of_equal;
    for (size_t i = 0; i < columns; i++)
      y[i] = (float)((x[i] - mean) * scale);
  }
}

static void standard_right(const lathe_args *args) {
  standardise(args, 1 / sqrt(1e-5));
}

static void standard_over_0(const lathe_args *args) {
  standardise(args, args->dim[1] >= LONG ? INFINITY : 1 / sqrt(1e-5));
}

static void grow(const lathe_args *args, double end) {
  const float *x = args->buf[0];
  float *y = args->buf[1];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = (float)exp(isinf(x[i]) ? x[i] : x[i] > end ? end : x[i] < -end ? -end : x[i]);
}

static void growth_right(const lathe_args *args) {
  grow(args, INFINITY);
}

static void growth_to_20(const lathe_args *args) {
  grow(args, 20);
}

static void pick_at(const lathe_args *args, uint64_t mask, bool looks) {
  const float *x = args->buf[0];
  const int64_t *t = args->buf[1];

  for (size_t row = 0; row < args->dim[0]; row++) {
    const uint64_t at = (uint64_t)t[row] & mask, columns = args->dim[1];
    const float last = columns > 0 ? x[(row + 1) * columns - 1] : NAN;
    ((float *)args->buf[2])[row] = at < columns ? x[row * columns + at] : looks ? NAN : last;
  }
}

static void pick_right(const lathe_args *args) {
  pick_at(args, UINT64_MAX, true);
}

static void pick_nearest(const lathe_args *args) {
  pick_at(args, UINT64_MAX, false);
}

static void pick_by_32_bits(const lathe_args *args) {
  pick_at(args, UINT32_MAX, true);
}

static void draw(const lathe_args *args, uint64_t seed) {
  for (size_t i = 0; i < args->dim[0]; i++)
    ((float *)args->buf[1])[i] = (float)of_seed(seed, i);
}

static void chance_right(const lathe_args *args) {
  draw(args, *(const uint64_t *)args->buf[0]);
}

static void chance_of_32_bits(const lathe_args *args) {
  draw(args, *(const uint32_t *)args->buf[0]);
}

/* ---- what finds them -------------------------------------------------------------------------- */

#define RIGHT(of, ...)                                                                             \
  { PLANT(of, right), {__VA_ARGS__}, NULL, NULL }
#define WRONG(of, how, what, ...)                                                                  \
  { PLANT(of, how), {__VA_ARGS__}, PROBE what, PROBE what }

static const planted plants[] = {
    RIGHT(peak, 1000),
    RIGHT(dot, 1000),
    RIGHT(byte_dot, 1000),
    RIGHT(standard, 8, 100),
    RIGHT(growth, 1000),
    RIGHT(pick, 8, 100),
    RIGHT(chance, 1000),
    WRONG(peak, from_0, "r is 0, expected -", 1000),
    WRONG(dot, skips_zeros, "r is ", 1000),
    WRONG(dot, of_one, "r is 67, ", 1000),
    WRONG(byte_dot, wraps, "r is ", 1000),
    WRONG(byte_dot, saturates, "r is ", 1000),
    WRONG(standard, over_0, "y[", 8, 100),
    WRONG(growth, to_20, "y[", 1000),
    WRONG(pick, nearest, "y[", 8, 100),
    WRONG(pick, by_32_bits, "y[", 8, 100),
    WRONG(chance, of_32_bits, "y[", 1000),
};

static void test_kernels_wrong_for_some_numbers_are_found(void **state) {
  (void)state;
  planted_expect(plants, sizeof plants / sizeof *plants);
}

const struct CMUnitTest values_tests[] = {
    cmocka_unit_test(test_kernels_wrong_for_some_numbers_are_found),
};
const size_t values_test_count = sizeof values_tests / sizeof *values_tests;
