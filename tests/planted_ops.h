/* planted_ops.h - the ops that test_planted.c has wrong kernels of, with a right kernel of each. */
#ifndef PLANTED_OPS_H
#define PLANTED_OPS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library/bench.h"
#include "planted.h"

/* y = s x */
static void scale_reference(const lathe_args *args) {
  for (size_t i = 0; i < args->dim[0]; i++) {
    ((double *)args->buf[1])[i] = args->scalar[0] * ((const double *)args->buf[0])[i];
    ((double *)args->buf[2])[i] = 0;
  }
}

static void sum_reference(const lathe_args *args) {
  const double *x = args->buf[0];
  double sum = 0, magnitude = 0;

  for (size_t i = 0; i < args->dim[0]; i++) {
    sum += x[i];
    magnitude += fabs(x[i]);
  }
  *(double *)args->buf[1] = sum;
  *(double *)args->buf[2] = magnitude;
}

/* The first of the largest, or the first NaN. */
static void argmax_reference(const lathe_args *args) {
  const double *x = args->buf[0];
  int64_t best = 0;

  for (size_t i = 1; i < args->dim[0]; i++)
    if (!isnan(x[best]) && (x[i] > x[best] || isnan(x[i])))
      best = (int64_t)i;
  *(int64_t *)args->buf[1] = best;
}

/* The same of each row. */
static void row_argmax_reference(const lathe_args *args) {
  for (size_t row = 0; row < args->dim[0]; row++)
    argmax_reference(&(lathe_args){
        .buf = {(double *)args->buf[0] + row * args->dim[1], (int64_t *)args->buf[1] + row},
        .dim = {args->dim[1]}});
}

static void softmax_reference(const lathe_args *args) {
  const size_t columns = args->dim[1];

  for (size_t row = 0; row < args->dim[0]; row++) {
    const double *x = (const double *)args->buf[0] + row * columns;
    double *y = (double *)args->buf[1] + row * columns, largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < columns; i++)
      largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
    for (size_t i = 0; i < columns; i++)
      sum += y[i] = exp(x[i] - largest);
    for (size_t i = 0; i < columns; i++)
      y[i] /= sum;
  }
  memset(args->buf[2], 0, args->dim[0] * columns * sizeof(double));
}

static void product_reference(const lathe_args *args) {
  const size_t rows = args->dim[0], columns = args->dim[1], terms = args->dim[2];
  const double *a = args->buf[0], *b = args->buf[1];

  for (size_t i = 0; i < rows * columns; i++) {
    double sum = 0, magnitude = 0;
    for (size_t k = 0; k < terms; k++) {
      const double product = a[i / columns * terms + k] * b[k * columns + i % columns];
      sum += product;
      magnitude += fabs(product);
    }
    ((double *)args->buf[2])[i] = sum;
    ((double *)args->buf[3])[i] = magnitude;
  }
}

static const lathe_operand vectors[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"y", LATHE_VARIANT_DTYPE, true, 1, {0}, 0, 0, false},
};
static const lathe_operand to_number[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"r", LATHE_VARIANT_DTYPE, true, 0, {0}, 0, 0, false},
};
static const lathe_operand to_index[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 1, {0}, -1, 1, false},
    {"r", LATHE_I64, true, 0, {0}, 0, 0, false},
};
static const lathe_operand to_indexes[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, -1, 1, false},
    {"r", LATHE_I64, true, 1, {0}, 0, 0, false},
};
static const lathe_operand matrices[] = {
    {"x", LATHE_VARIANT_DTYPE, false, 2, {0, 1}, -10, 10, false},
    {"y", LATHE_VARIANT_DTYPE, true, 2, {0, 1}, 0, 0, false},
};
static const lathe_operand factors[] = {
    {"a", LATHE_VARIANT_DTYPE, false, 2, {0, 2}, -1, 1, false},
    {"b", LATHE_VARIANT_DTYPE, false, 2, {2, 1}, -1, 1, false},
    {"c", LATHE_VARIANT_DTYPE, true, 2, {0, 1}, 0, 0, false},
};
static const lathe_scalar factor = {"s", 1.7};
static const lathe_bound four_ulp = {LATHE_F32, 4};

static const lathe_op scale = {.name = "scale",
                               .source = __FILE__,
                               .ndim = 1,
                               .dim = {"n"},
                               .noperands = 2,
                               .operands = vectors,
                               .nscalars = 1,
                               .scalars = &factor,
                               .in_place = true,
                               .bench = &(const lathe_bench){.reference_f64 = scale_reference}};
static const lathe_op sum = {
    .name = "sum",
    .source = __FILE__,
    .ndim = 1,
    .dim = {"n"},
    .noperands = 2,
    .operands = to_number,
    .bench =
        &(const lathe_bench){.nbounds = 1, .bounds = &four_ulp, .reference_f64 = sum_reference}};
static const lathe_op argmax = {
    .name = "argmax",
    .source = __FILE__,
    .ndim = 1,
    .dim = {"n"},
    .noperands = 2,
    .operands = to_index,
    .bench = &(const lathe_bench){.extremes = 2, .reference_f64 = argmax_reference}};
static const lathe_op row_argmax = {
    .name = "row_argmax",
    .source = __FILE__,
    .ndim = 2,
    .dim = {"rows", "cols"},
    .noperands = 2,
    .operands = to_indexes,
    .bench = &(const lathe_bench){.extremes = 2, .reference_f64 = row_argmax_reference}};
static const lathe_op softmax = {
    .name = "softmax",
    .source = __FILE__,
    .ndim = 2,
    .dim = {"rows", "cols"},
    .noperands = 2,
    .operands = matrices,
    .in_place = true,
    .bench = &(const lathe_bench){
        .nbounds = 1, .bounds = &four_ulp, .extremes = 2, .reference_f64 = softmax_reference}};

static const lathe_op product = {.name = "product",
                                 .source = __FILE__,
                                 .ndim = 3,
                                 .dim = {"m", "n", "k"},
                                 .noperands = 3,
                                 .operands = factors,
                                 .bench = &(const lathe_bench){.nbounds = 1,
                                                               .bounds = &four_ulp,
                                                               .reference_f64 = product_reference}};
/* By tiles of 6 rows and 16 columns, and blocks of 512 terms; of 4 columns or fewer by 64 rows at a time, and blocks of
 * 4096 terms. */
static const lathe_way by_tiles[] = {
    {1, 2, 4, {0, 0, 31}, {8, 4}, {64, 0, 0, 4096}, 0, 0},
    {1, 2, 4, {0, 0, 0}, {6, 16}, {0, 0, 512, 0}, 0, 0},
    {0},
};

#define PLANT_WAYS(of, how)                                                                        \
  {                                                                                                \
    .name = #of "_" #how, .op = &(of), .backend = &planted_backend, .dtype = LATHE_F32,            \
    .run = of##_##how, .ways = by_tiles                                                            \
  }

/* ---- kernels that are right ------------------------------------------------------------------- */

static void scale_right(const lathe_args *args) {
  const float *x = args->buf[0], s = (float)args->scalar[0];
  float *y = args->buf[1];

  for (size_t i = 0; i < args->dim[0]; i++)
    y[i] = s * x[i];
}

static void sum_right(const lathe_args *args) {
  const float *x = args->buf[0];
  double r = 0;

  for (size_t i = 0; i < args->dim[0]; i++)
    r += x[i];
  *(float *)args->buf[1] = (float)r;
}

static int64_t index_of(const float *x, size_t n) {
  int64_t best = 0;

  for (size_t i = 1; i < n; i++)
    if (!isnan(x[best]) && (x[i] > x[best] || isnan(x[i])))
      best = (int64_t)i;
  return best;
}

static void argmax_right(const lathe_args *args) {
  *(int64_t *)args->buf[1] = index_of(args->buf[0], args->dim[0]);
}

static void softmax_right(const lathe_args *args) {
  const size_t columns = args->dim[1];

  for (size_t row = 0; row < args->dim[0]; row++) {
    const float *x = (const float *)args->buf[0] + row * columns;
    float *y = (float *)args->buf[1] + row * columns;
    double largest = -INFINITY, all = 0;
    for (size_t i = 0; i < columns; i++)
      largest = x[i] > largest || isnan(x[i]) ? x[i] : largest;
    for (size_t i = 0; i < columns; i++)
      all += exp(x[i] - largest);
    for (size_t i = 0; i < columns; i++)
      y[i] = (float)(exp(x[i] - largest) / all);
  }
}

static void product_right(const lathe_args *args) {
  const size_t rows = args->dim[0], columns = args->dim[1], terms = args->dim[2];
  const float *a = args->buf[0], *b = args->buf[1];

  for (size_t i = 0; i < rows * columns; i++) {
    double all = 0;
    for (size_t k = 0; k < terms; k++)
      all += (double)a[i / columns * terms + k] * b[k * columns + i % columns];
    ((float *)args->buf[2])[i] = (float)all;
  }
}

#endif
