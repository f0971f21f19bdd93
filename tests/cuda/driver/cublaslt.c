/* cublaslt.c - a libcublasLt.so.13 that multiplies matrices of f32 on the false driver's stream, in loops. It proposes
 * two algorithms, the first of which does nothing but take time. FAKE_CUBLAS in the environment says what goes wrong:
 * `none` proposes none, `wrong` forgets the last term. */
#include "devices/peer/cublaslt.h"

#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define NAMED(name, symbol, parameters) cublasStatus fake_lt_##name parameters __asm__(symbol);
CUBLASLT_FUNCTIONS(NAMED)
#undef NAMED

typedef struct cublasLtMatmulDescOpaque {
  int32_t transposed[2];
} desc;

typedef struct cublasLtMatrixLayoutOpaque {
  int type;
  uint64_t rows, columns;
  int64_t leading, apart;
  int32_t batch;
} layout;

typedef struct multiplication {
  desc how;
  layout a_lies, b_lies, c_lies;
  const float *a, *b;
  float *c;
} multiplication;

static int asked(const char *what) {
  const char *wish = getenv("FAKE_CUBLAS");

  return wish && strcmp(wish, what) == 0;
}

static float element(const float *of, const layout *l, int transposed, int64_t row,
                     int64_t column) {
  return transposed ? of[column + row * l->leading] : of[row + column * l->leading];
}

static void multiply(const void *own) {
  const multiplication *m = own;
  const int64_t terms = (int64_t)(m->how.transposed[0] ? m->a_lies.rows : m->a_lies.columns);

  for (int32_t nth = 0; nth < m->c_lies.batch; nth++)
    for (int64_t column = 0; column < (int64_t)m->c_lies.columns; column++)
      for (int64_t row = 0; row < (int64_t)m->c_lies.rows; row++) {
        double sum = 0;
        for (int64_t k = 0; k < terms - asked("wrong"); k++)
          sum += (double)element(m->a + nth * m->a_lies.apart, &m->a_lies, m->how.transposed[0],
                                 row, k) *
                 element(m->b + nth * m->b_lies.apart, &m->b_lies, m->how.transposed[1], k, column);
        m->c[nth * m->c_lies.apart + row + column * m->c_lies.leading] = (float)sum;
      }
}

static void idle(const void *own) {
  (void)own;
}

cublasStatus fake_lt_create(cublasLtHandle *handle) {
  *handle = (cublasLtHandle)handle;
  return 0;
}

cublasStatus fake_lt_desc_make(cublasLtMatmulDesc *made, int compute_type, int scale_type) {
  (void)scale_type;
  *made = calloc(1, sizeof **made);
  return compute_type != CUBLAS_COMPUTE_32F;
}

cublasStatus fake_lt_desc_set(cublasLtMatmulDesc of, int attribute, const void *value,
                              size_t size) {
  memcpy(&of->transposed[attribute - CUBLASLT_MATMUL_DESC_TRANSA], value, size);
  return 0;
}

cublasStatus fake_lt_desc_free(cublasLtMatmulDesc of) {
  free(of);
  return 0;
}

cublasStatus fake_lt_layout_make(cublasLtMatrixLayout *made, int type, uint64_t rows,
                                 uint64_t columns, int64_t leading) {
  *made = calloc(1, sizeof **made);
  **made = (layout){type, rows, columns, leading, 0, 1};
  return 0;
}

cublasStatus fake_lt_layout_set(cublasLtMatrixLayout of, int attribute, const void *value,
                                size_t size) {
  memcpy(attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT ? (void *)&of->batch : &of->apart, value,
         size);
  return 0;
}

cublasStatus fake_lt_layout_free(cublasLtMatrixLayout of) {
  free(of);
  return 0;
}

cublasStatus fake_lt_preference_make(cublasLtMatmulPreference *made) {
  *made = (cublasLtMatmulPreference)made;
  return 0;
}

cublasStatus fake_lt_preference_set(cublasLtMatmulPreference of, int attribute, const void *value,
                                    size_t size) {
  (void)of, (void)attribute, (void)value, (void)size;
  return 0;
}

cublasStatus fake_lt_preference_free(cublasLtMatmulPreference of) {
  (void)of;
  return 0;
}

cublasStatus fake_lt_heuristics(cublasLtHandle handle, cublasLtMatmulDesc of,
                                cublasLtMatrixLayout a, cublasLtMatrixLayout b,
                                cublasLtMatrixLayout c, cublasLtMatrixLayout d,
                                cublasLtMatmulPreference preference, int wanted,
                                cublasLtHeuristic *found, int *count) {
  (void)handle, (void)of, (void)a, (void)b, (void)d, (void)preference;
  *count = wanted < 2 || asked("none") || c->type != CUDA_R_32F ? 0 : 2;
  for (int i = 0; i < *count; i++)
    found[i] = (cublasLtHeuristic){.algorithm.data = {(uint64_t)i}};
  return 0;
}

cublasStatus fake_lt_matmul(cublasLtHandle handle, cublasLtMatmulDesc of, const void *alpha,
                            const void *a, cublasLtMatrixLayout a_lies, const void *b,
                            cublasLtMatrixLayout b_lies, const void *beta, const void *c,
                            cublasLtMatrixLayout c_lies, void *d, cublasLtMatrixLayout d_lies,
                            const cublasLtAlgorithm *algorithm, void *workspace,
                            size_t workspace_size, CUstream stream) {
  const multiplication m = {*of, *a_lies, *b_lies, *c_lies, a, b, d};
  CUresult error = 0;

  (void)handle, (void)alpha, (void)beta, (void)c, (void)d_lies, (void)workspace,
      (void)workspace_size, (void)stream;
  for (int i = 0; i < 3 && algorithm->data[0] == 0 && !error; i++)
    error = fake_call(idle, &m, sizeof m);
  return error || algorithm->data[0] == 0 ? error : fake_call(multiply, &m, sizeof m);
}
