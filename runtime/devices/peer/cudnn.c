/* cudnn.c - functions of cuDNN: those for softmax. */
#include "cudnn.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudnnapi.h"
#include "nvidia.h"
#include "peers.h"

typedef struct call {
  cudnnTensor rows; /* the input, and the output alike */
  int algorithm;
  bool wide;
} call;

static cudnn_library cudnn;
static cudnnHandle library;

static bool open_library(char *why, size_t size) {
  static const char *const files[] = {"libcudnn.so.9", NULL};
  static const char *const symbols[] = {CUDNN_FUNCTIONS(SHARED_OBJECT_SYMBOL)};
  static shared_object object = {.what = "cuDNN"};

  return nvidia_open(&object, files, why, size) &&
         shared_object_find(&object, symbols, sizeof symbols / sizeof *symbols, &cudnn, why, size);
}

static CUresult enqueue(void *prepared, const lathe_args *args, CUstream stream) {
  const float one = 1, zero = 0;
  const double one_f64 = 1, zero_f64 = 0;
  const call *c = prepared;
  cudnnStatus error = cudnn.set_stream(library, stream);

  if (!error)
    error = cudnn.softmax(library, c->algorithm, CUDNN_SOFTMAX_MODE_INSTANCE,
                          c->wide ? (const void *)&one_f64 : &one, c->rows, args->buf[0],
                          c->wide ? (const void *)&zero_f64 : &zero, c->rows, args->buf[1]);
  return error ? CUDA_ERROR_UNKNOWN : 0;
}

static void release(void *prepared, bool lost) {
  call *c = prepared;

  (void)lost;
  if (c->rows)
    cudnn.tensor_free(c->rows);
  free(c);
}

static int type_of(lathe_dtype dtype) {
  return dtype == LATHE_F64    ? CUDNN_DATA_DOUBLE
         : dtype == LATHE_F16  ? CUDNN_DATA_HALF
         : dtype == LATHE_BF16 ? CUDNN_DATA_BFLOAT16
                               : CUDNN_DATA_FLOAT;
}

/* Null where the op has rows of which a softmax makes others as long. */
static const char *refusal(const lathe_op *op, const size_t *dim, const char *function) {
  const bool known = strcmp(function, "softmax") == 0 || strcmp(function, "log_softmax") == 0;

  if (!known || op->noperands != 2 || op->ndim != 2 || op->operands[0].ndim != 2 ||
      op->operands[1].ndim != 2)
    return "expected of a spec with peers.cudnn 'softmax' or 'log_softmax', of rows";
  return dim[0] > INT_MAX || dim[1] > INT_MAX ? "cuDNN counts rows in 31 bits" : NULL;
}

static void *prepare(const lathe_variant *variant, const lathe_args *args,
                     const lathe_limits *limits, CUstream stream, const char **why) {
  static char text[320];
  const char *function = peers_expression(variant);
  call *c;
  cudnnStatus error = 0;

  (void)limits, (void)stream;
  *why = refusal(variant->op, args->dim, function);
  if (*why)
    return NULL;
  *why = text;
  if (!open_library(text, sizeof text))
    return NULL;
  c = calloc(1, sizeof *c);
  if (!c) {
    *why = "not enough memory";
    return NULL;
  }
  c->wide = variant->dtype == LATHE_F64;
  c->algorithm = strcmp(function, "softmax") == 0 ? CUDNN_SOFTMAX_ACCURATE : CUDNN_SOFTMAX_LOG;
  if (!library)
    error = cudnn.create(&library);
  if (!error)
    error = cudnn.tensor_make(&c->rows);
  if (!error)
    error = cudnn.tensor_set(c->rows, CUDNN_TENSOR_NCHW, type_of(variant->dtype), (int)args->dim[0],
                             (int)args->dim[1], 1, 1);
  if (!error)
    error = enqueue(c, args, stream); /* also what it loads at its first call */
  if (!error) {
    *why = NULL;
    return c;
  }
  snprintf(text, sizeof text, "cuDNN refuses this: its status is %d", error);
  release(c, false);
  return NULL;
}

const cuda_other cudnn_calls = {prepare, enqueue, release};
