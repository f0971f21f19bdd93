/* cublas.c - products of matrices by cuBLASLt. Its matrices lie in memory column by column, as ours do row by row: it
 * is told to multiply the transposed matrices in the other order, which lie as it takes them. */
#include "cublas.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cublaslt.h"
#include "nvidia.h"
#include "product.h"

enum {
  PROPOSALS = 8,        /* algorithms that are tried */
  TRIALS = 20,          /* timed calls of each, */
  FEW_TRIALS = 3,       /* or of one that takes long */
  WORKSPACE = 32 << 20, /* bytes, which NVIDIA advises for Hopper */
  ALIGNMENT = 256,      /* bytes: the most that it asks about */
  MATRICES = 3,         /* its own first and second, and the result */
};

static const float long_ms = 1;

/* Which of the proposals was the fastest, so that later rounds call the same. */
typedef struct choice {
  struct choice *next;
  const lathe_variant *variant;
  size_t dim[LATHE_MAX_DIMS];
  uintptr_t lie; /* how operands were aligned */
  int nth;
} choice;

typedef struct call {
  product of;
  lathe_dtype dtype;
  cublasLtMatmulDesc desc;
  cublasLtMatrixLayout layout[MATRICES];
  cublasLtHeuristic proposal[PROPOSALS];
  int proposals, chosen;
  CUdeviceptr workspace;
} call;

static cublaslt_library cublaslt;
static cublasLtHandle library;
static choice *choices;

static bool open_library(char *why, size_t size) {
  static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
  static const char *const symbols[] = {CUBLASLT_FUNCTIONS(SHARED_OBJECT_SYMBOL)};
  static shared_object object = {.what = "cuBLASLt"};

  return nvidia_open(&object, files, why, size) &&
         shared_object_find(&object, symbols, sizeof symbols / sizeof *symbols, &cublaslt, why,
                            size);
}

static CUresult enqueue_nth(const call *c, int nth, const lathe_args *args, CUstream stream) {
  const float one = 1, zero = 0;
  const double one_f64 = 1, zero_f64 = 0;
  const bool wide = c->dtype == LATHE_F64;
  const cublasLtHeuristic *h = &c->proposal[nth];
  void *to = args->buf[2];

  return cublaslt.matmul(library, c->desc, wide ? (const void *)&one_f64 : &one, args->buf[1],
                         c->layout[0], args->buf[0], c->layout[1],
                         wide ? (const void *)&zero_f64 : &zero, to, c->layout[2], to, c->layout[2],
                         &h->algorithm, (void *)(uintptr_t)c->workspace, /* NOLINT */
                         h->workspace, stream);
}

static CUresult enqueue(void *prepared, const lathe_args *args, CUstream stream) {
  const call *c = prepared;

  return enqueue_nth(c, c->chosen, args, stream) ? CUDA_ERROR_UNKNOWN : 0;
}

static void release(void *prepared, bool lost) {
  call *c = prepared;

  for (int i = 0; i < MATRICES; i++)
    if (c->layout[i])
      cublaslt.layout_free(c->layout[i]);
  if (c->desc)
    cublaslt.desc_free(c->desc);
  if (c->workspace && !lost)
    cuda.memory_free(c->workspace);
  free(c);
}

static int type_of(lathe_dtype dtype) {
  return dtype == LATHE_F64    ? CUDA_R_64F
         : dtype == LATHE_F16  ? CUDA_R_16F
         : dtype == LATHE_BF16 ? CUDA_R_16BF
                               : CUDA_R_32F;
}

/* One of its matrices: so many elements from one column to the next, and as many rows, of all columns. */
static cublasStatus describe_matrix(call *c, int nth, size_t rows, size_t columns, size_t batch) {
  const int32_t count = (int32_t)batch;
  const int64_t apart = (int64_t)(rows * columns);
  cublasStatus error = cublaslt.layout_make(&c->layout[nth], type_of(c->dtype), rows, columns,
                                            (int64_t)(rows > 0 ? rows : 1));

  if (!error)
    error = cublaslt.layout_set(c->layout[nth], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                sizeof count);
  if (!error)
    error = cublaslt.layout_set(c->layout[nth], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart,
                                sizeof apart);
  return error;
}

static cublasStatus describe(call *c, const size_t *dim) {
  const product *p = &c->of;
  const size_t m = dim[p->m], n = dim[p->n], k = dim[p->k], batch = product_batch(p, dim);
  const int32_t transposed = CUBLAS_OP_T;
  const bool wide = c->dtype == LATHE_F64;
  cublasStatus error = cublaslt.desc_make(&c->desc, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                          wide ? CUDA_R_64F : CUDA_R_32F);

  if (!error && p->b_transposed)
    error = cublaslt.desc_set(c->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  if (!error && p->a_transposed)
    error = cublaslt.desc_set(c->desc, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, sizeof transposed);
  if (!error)
    error = describe_matrix(c, 0, p->b_transposed ? k : n, p->b_transposed ? n : k, batch);
  if (!error)
    error = describe_matrix(c, 1, p->a_transposed ? m : k, p->a_transposed ? k : m, batch);
  return error ? error : describe_matrix(c, 2, n, m, batch);
}

static uint32_t alignment_of(const void *address) {
  const uintptr_t at = (uintptr_t)address;

  return at % ALIGNMENT == 0 ? ALIGNMENT : (uint32_t)(at & (0 - at));
}

/* Asks for algorithms; none is no error. */
static cublasStatus propose(call *c, const lathe_args *args) {
  const uint32_t lie[] = {alignment_of(args->buf[1]), alignment_of(args->buf[0]),
                          alignment_of(args->buf[2]), alignment_of(args->buf[2])};
  const uint64_t workspace = WORKSPACE;
  cublasLtMatmulPreference preference = NULL;
  cublasStatus error = cublaslt.preference_make(&preference);

  if (!error)
    error = cublaslt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                    &workspace, sizeof workspace);
  for (int i = 0; i < (int)(sizeof lie / sizeof *lie) && !error; i++)
    error = cublaslt.preference_set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + i,
                                    &lie[i], sizeof lie[i]);
  if (!error)
    error = cublaslt.heuristics(library, c->desc, c->layout[0], c->layout[1], c->layout[2],
                                c->layout[2], preference, PROPOSALS, c->proposal, &c->proposals);
  if (preference)
    cublaslt.preference_free(preference);
  return error;
}

/* Milliseconds of a call by a proposal; FLT_MAX where it cannot be had. */
static float try(const call *c, int nth, const lathe_args *args, CUstream stream, CUevent begin,
                 CUevent end) {
  float ms = 0;
  int calls = 1;
  CUresult error = c->proposal[nth].status;

  for (int round = 0; round < 2 && !error; round++) { /* the first warms up */
    error = cuda.event_record(begin, stream);
    for (int i = 0; i < calls && !error; i++)
      error = enqueue_nth(c, nth, args, stream);
    if (!error)
      error = cuda.event_record(end, stream);
    if (!error)
      error = cuda.stream_synchronize(stream);
    if (!error)
      error = cuda.event_elapsed(&ms, begin, end);
    ms /= (float)calls;
    calls = ms > long_ms ? FEW_TRIALS : TRIALS;
  }
  return error ? FLT_MAX : ms;
}

static int fastest(const call *c, const lathe_args *args, CUstream stream) {
  static CUevent begin, end;
  float best = FLT_MAX;
  int nth = 0;

  if (!begin && (cuda.event_create(&begin, 0) || cuda.event_create(&end, 0)))
    return 0;
  for (int i = 0; i < c->proposals; i++) {
    const float ms = try(c, i, args, stream, begin, end);
    if (ms < best) {
      best = ms;
      nth = i;
    }
  }
  return nth;
}

/* The proposal that was the fastest when this was first asked for. */
static int choose(const call *c, const lathe_variant *variant, const lathe_args *args,
                  CUstream stream) {
  const uintptr_t lie = alignment_of(args->buf[0]) | alignment_of(args->buf[1]) << 10 |
                        (uintptr_t)alignment_of(args->buf[2]) << 20;
  choice *known = choices;

  while (known && (known->variant != variant || known->lie != lie ||
                   memcmp(known->dim, args->dim, sizeof known->dim) != 0))
    known = known->next;
  if (known)
    return known->nth;
  known = calloc(1, sizeof *known);
  if (!known)
    return 0;
  known->variant = variant;
  known->lie = lie;
  memcpy(known->dim, args->dim, sizeof known->dim);
  known->nth = fastest(c, args, stream);
  known->next = choices;
  choices = known;
  return known->nth;
}

static void *prepare(const lathe_variant *variant, const lathe_args *args,
                     const lathe_limits *limits, CUstream stream, const char **why) {
  static char text[320];
  call *c = calloc(1, sizeof *c);
  cublasStatus error = 0;

  (void)limits;
  *why = c ? text : "not enough memory";
  if (!c)
    return NULL;
  c->dtype = variant->dtype;
  if (!product_of(variant->op, &c->of)) {
    *why = product_expected;
  } else if (open_library(text, sizeof text)) {
    if (!library)
      error = cublaslt.create(&library);
    if (!error)
      error = describe(c, args->dim);
    if (!error)
      error = propose(c, args);
    if (!error && cuda.memory_allocate(&c->workspace, WORKSPACE))
      snprintf(text, sizeof text, "not enough memory on the device for cuBLASLt's workspace");
    else if (error || c->proposals == 0)
      snprintf(text, sizeof text, "cuBLASLt has no algorithm for this: its status is %d", error);
    else
      *why = NULL;
  }
  if (*why) {
    release(c, false);
    return NULL;
  }
  c->chosen = choose(c, variant, args, stream);
  return c;
}

const cuda_other cublas_calls = {prepare, enqueue, release};
