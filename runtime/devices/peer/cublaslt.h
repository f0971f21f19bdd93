/* cublaslt.h - what of cuBLASLt's API the runtime calls: own declarations, so that building it needs no toolkit, and a
 * table of the functions, which are looked up at run time. */
#ifndef CUBLASLT_H
#define CUBLASLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/cuda/driver.h"

typedef int cublasStatus; /* 0: no error */
typedef struct cublasLtContext *cublasLtHandle;
typedef struct cublasLtMatmulDescOpaque *cublasLtMatmulDesc;
typedef struct cublasLtMatrixLayoutOpaque *cublasLtMatrixLayout;
typedef struct cublasLtMatmulPreferenceOpaque *cublasLtMatmulPreference;

typedef struct cublasLtAlgorithm {
  uint64_t data[8];
} cublasLtAlgorithm;

typedef struct cublasLtHeuristic {
  cublasLtAlgorithm algorithm;
  size_t workspace;
  cublasStatus status;
  float waves;
  int reserved[4];
} cublasLtHeuristic;

/* Of its enumerations and CUDA's, the values used. */
enum {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
  CUBLAS_COMPUTE_32F = 68, /* never in TF32 */
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_OP_T = 1,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5, /* of B, C and D the next */
};

/* A row a function: its name here, its name in the library, its parameters. */
#define CUBLASLT_FUNCTIONS(ROW)                                                                    \
  ROW(create, "cublasLtCreate", (cublasLtHandle * handle))                                         \
  ROW(desc_make, "cublasLtMatmulDescCreate",                                                       \
      (cublasLtMatmulDesc * desc, int compute_type, int scale_type))                               \
  ROW(desc_set, "cublasLtMatmulDescSetAttribute",                                                  \
      (cublasLtMatmulDesc desc, int attribute, const void *value, size_t size))                    \
  ROW(desc_free, "cublasLtMatmulDescDestroy", (cublasLtMatmulDesc desc))                           \
  ROW(layout_make, "cublasLtMatrixLayoutCreate",                                                   \
      (cublasLtMatrixLayout * layout, int type, uint64_t rows, uint64_t columns, int64_t leading)) \
  ROW(layout_set, "cublasLtMatrixLayoutSetAttribute",                                              \
      (cublasLtMatrixLayout layout, int attribute, const void *value, size_t size))                \
  ROW(layout_free, "cublasLtMatrixLayoutDestroy", (cublasLtMatrixLayout layout))                   \
  ROW(preference_make, "cublasLtMatmulPreferenceCreate", (cublasLtMatmulPreference * preference))  \
  ROW(preference_set, "cublasLtMatmulPreferenceSetAttribute",                                      \
      (cublasLtMatmulPreference preference, int attribute, const void *value, size_t size))        \
  ROW(preference_free, "cublasLtMatmulPreferenceDestroy", (cublasLtMatmulPreference preference))   \
  ROW(heuristics, "cublasLtMatmulAlgoGetHeuristic",                                                \
      (cublasLtHandle handle, cublasLtMatmulDesc desc, cublasLtMatrixLayout a,                     \
       cublasLtMatrixLayout b, cublasLtMatrixLayout c, cublasLtMatrixLayout d,                     \
       cublasLtMatmulPreference preference, int wanted, cublasLtHeuristic *found, int *count))     \
  ROW(matmul, "cublasLtMatmul",                                                                    \
      (cublasLtHandle handle, cublasLtMatmulDesc desc, const void *alpha, const void *a,           \
       cublasLtMatrixLayout a_layout, const void *b, cublasLtMatrixLayout b_layout,                \
       const void *beta, const void *c, cublasLtMatrixLayout c_layout, void *d,                    \
       cublasLtMatrixLayout d_layout, const cublasLtAlgorithm *algorithm, void *workspace,         \
       size_t workspace_size, CUstream stream))

typedef struct cublaslt_library {
#define MEMBER(name, symbol, parameters) cublasStatus(*name) parameters;
  CUBLASLT_FUNCTIONS(MEMBER)
#undef MEMBER
} cublaslt_library;

#endif
