/* blas.c - products of matrices by OpenBLAS. */
#include "blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "devices/common/shared_object.h"

/* Of cblas.h. */
enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };
typedef void gemm_f32(int order, int a_as, int b_as, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef void gemm_f64(int order, int a_as, int b_as, int m, int n, int k, double alpha,
                      const double *a, int lda, const double *b, int ldb, double beta, double *c,
                      int ldc);

static gemm_f32 *sgemm;
static gemm_f64 *dgemm;

/* Null where OpenBLAS can be called; else why not. It starts no threads, for this process may be forked. */
static const char *missing(void) {
  static shared_object openblas = {.file = "libopenblas.so.0", .what = "OpenBLAS"};
  static char why[256];

  if (sgemm && dgemm)
    return NULL;
  if (why[0])
    return why;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  if (!shared_object_open(&openblas, why, sizeof why)) {
    strncat(why, "; ./configure --install-deps=peers installs it", sizeof why - strlen(why) - 1);
    return why;
  }
  *(void **)&sgemm = dlsym(openblas.handle, "cblas_sgemm");
  *(void **)&dgemm = dlsym(openblas.handle, "cblas_dgemm");
  if (sgemm && dgemm)
    return NULL;
  shared_object_lacks(&openblas, "cblas_sgemm", true, why, sizeof why);
  return why;
}

/* A product of two matrices among an op's operands: where its extents stand in the op's dimensions. */
typedef struct product {
  const lathe_op *op;
  lathe_dtype dtype;
  int m, n, k;
  bool a_transposed, b_transposed;
} product;

enum { PRODUCTS = 16 };
static product products[PRODUCTS];

static void call(const product *p, const lathe_args *args) {
  const int m = (int)args->dim[p->m], n = (int)args->dim[p->n], k = (int)args->dim[p->k];
  const int a_as = p->a_transposed ? TRANSPOSED : AS_IT_IS;
  const int b_as = p->b_transposed ? TRANSPOSED : AS_IT_IS;
  const int lda = p->a_transposed ? m : k, ldb = p->b_transposed ? k : n;

  if (p->dtype == LATHE_F64)
    dgemm(ROW_MAJOR, a_as, b_as, m, n, k, 1, args->buf[0], lda, args->buf[1], ldb, 0, args->buf[2],
          n);
  else
    sgemm(ROW_MAJOR, a_as, b_as, m, n, k, 1, args->buf[0], lda, args->buf[1], ldb, 0, args->buf[2],
          n);
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

/* Whether a matrix has these dimensions, or with *transposed these the other way round. */
static bool has(const lathe_operand *matrix, int rows, int columns, bool *transposed) {
  *transposed = matrix->dim[0] == columns;
  return matrix->ndim == 2 && matrix->dim[*transposed] == rows &&
         matrix->dim[!*transposed] == columns;
}

/* Whether an op is a product of two matrices, and of which. */
static bool find_product(const lathe_op *op, product *p) {
  const lathe_operand *o = op->operands;

  if (op->noperands != 3 || op->ndim != 3 || o[2].ndim != 2)
    return false;
  p->m = o[2].dim[0];
  p->n = o[2].dim[1];
  p->k = 3 - p->m - p->n; /* the sum of 0, 1 and 2 */
  return has(&o[0], p->m, p->k, &p->a_transposed) && has(&o[1], p->k, p->n, &p->b_transposed);
}

lathe_fn *blas_function(const lathe_op *op, lathe_dtype dtype, const char **why) {
  product p = {.op = op, .dtype = dtype};
  int i = 0;

  *why = "OpenBLAS multiplies matrices of f64 and f32 alone";
  if (dtype != LATHE_F32 && dtype != LATHE_F64)
    return NULL;
  *why = "expected of a spec with peers.blas a product of two matrices";
  if (!find_product(op, &p))
    return NULL;
  *why = missing();
  if (*why)
    return NULL;
  while (i < PRODUCTS && products[i].op && (products[i].op != op || products[i].dtype != dtype))
    i++;
  *why = i < PRODUCTS ? NULL : "more products of matrices than the bench program has functions for";
  if (*why)
    return NULL;
  products[i] = p;
  return functions[i];
}
