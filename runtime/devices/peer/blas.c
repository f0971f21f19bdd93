/* blas.c - products of matrices by OpenBLAS. */
#include "blas.h"

#include <stdlib.h>
#include <string.h>

#include "devices/common/shared_object.h"
#include "product.h"

/* Of cblas.h. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
typedef void gemm_f32(int order, int a_as, int b_as, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef void gemm_f64(int order, int a_as, int b_as, int m, int n, int k, double alpha,
                      const double *a, int lda, const double *b, int ldb, double beta, double *c,
                      int ldc);

static struct {
  gemm_f32 *sgemm;
  gemm_f64 *dgemm;
} blas;

/* Null where OpenBLAS can be called; else why not. It starts no threads, for this process may be forked. */
static const char *missing(void) {
  static const char *const symbols[] = {"cblas_sgemm", "cblas_dgemm"};
  static shared_object openblas = {.file = "libopenblas.so.0", .what = "OpenBLAS"};
  static char why[256];

  if (why[0] || blas.dgemm)
    return why[0] ? why : NULL;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  if (!shared_object_open(&openblas, why, sizeof why)) {
    strncat(why, "; ./configure --install-deps=peers installs it", sizeof why - strlen(why) - 1);
    return why;
  }
  shared_object_find(&openblas, symbols, sizeof symbols / sizeof *symbols, &blas, why, sizeof why);
  return why[0] ? why : NULL;
}

/* A product that has a function. */
typedef struct called {
  const lathe_op *op;
  lathe_dtype dtype;
  product of;
} called;

enum { PRODUCTS = 16 };
static called products[PRODUCTS];

static void call(const called *c, const lathe_args *args) {
  const product *p = &c->of;
  const int m = (int)args->dim[p->m], n = (int)args->dim[p->n], k = (int)args->dim[p->k];
  const int a_as = p->a_transposed ? TRANSPOSED : AS_IT_IS;
  const int b_as = p->b_transposed ? TRANSPOSED : AS_IT_IS;
  const int lda = p->a_transposed ? m : k, ldb = p->b_transposed ? k : n;
  const size_t batch = product_batch(p, args->dim);

  for (size_t i = 0; i < batch; i++) {
    const size_t a = i * args->dim[p->m] * args->dim[p->k];
    const size_t b = i * args->dim[p->k] * args->dim[p->n];
    const size_t to = i * args->dim[p->m] * args->dim[p->n];
    if (c->dtype == LATHE_F64)
      blas.dgemm(ROW_MAJOR, a_as, b_as, m, n, k, 1, (double *)args->buf[0] + a, lda,
                 (double *)args->buf[1] + b, ldb, 0, (double *)args->buf[2] + to, n);
    else
      blas.sgemm(ROW_MAJOR, a_as, b_as, m, n, k, 1, (float *)args->buf[0] + a, lda,
                 (float *)args->buf[1] + b, ldb, 0, (float *)args->buf[2] + to, n);
  }
}

/* A function is told of a call's sizes, and not of its op: each op and type has a function of its own. */
/* clang-format off */
#define EACH(ROW)                                                                   \
  ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)     \
  ROW(11) ROW(12) ROW(13) ROW(14) ROW(15)
/* clang-format on */
#define FUNCTION(i)                                                                                \
  static void function_##i(const lathe_args *args) {                                               \
    call(&products[i], args);                                                                      \
  }
#define NAME(i) function_##i,
EACH(FUNCTION)
static lathe_fn *const functions[PRODUCTS] = {EACH(NAME)};

lathe_fn *blas_function(const lathe_op *op, lathe_dtype dtype, const char **why) {
  called c = {.op = op, .dtype = dtype};
  int i = 0;

  *why = "OpenBLAS multiplies matrices of f64 and f32 alone";
  if (dtype != LATHE_F32 && dtype != LATHE_F64)
    return NULL;
  *why = product_expected;
  if (!product_of(op, &c.of))
    return NULL;
  *why = missing();
  if (*why)
    return NULL;
  while (i < PRODUCTS && products[i].op && (products[i].op != op || products[i].dtype != dtype))
    i++;
  *why = i < PRODUCTS ? NULL : "more products of matrices than the bench program has functions for";
  if (*why)
    return NULL;
  products[i] = c;
  return functions[i];
}
