/* cudnn.c - a libcudnn.so.9 that has softmax alone, in f32, on the false driver's stream. FAKE_CUDNN=wrong in the
 * environment makes it forget the largest element of a row's sum. */
#include "devices/peer/cudnnapi.h"

#include <math.h>
#include <stdlib.h>

#include "fake.h"

#define NAMED(name, symbol, parameters) cudnnStatus fake_dnn_##name parameters __asm__(symbol);
CUDNN_FUNCTIONS(NAMED)
#undef NAMED

typedef struct cudnnTensorStruct {
  int type, n, c;
} tensor;

typedef struct rows {
  tensor lie;
  int algorithm;
  const float *x;
  float *y;
} rows;

static void compute(const void *own) {
  const rows *r = own;

  for (int n = 0; n < r->lie.n; n++) {
    const float *x = r->x + (size_t)n * r->lie.c;
    double largest = x[0], sum = getenv("FAKE_CUDNN") ? -1 : 0;
    for (int c = 1; c < r->lie.c; c++)
      largest = fmax(largest, x[c]);
    for (int c = 0; c < r->lie.c; c++)
      sum += exp(x[c] - largest);
    for (int c = 0; c < r->lie.c; c++)
      r->y[(size_t)n * r->lie.c + c] =
          (float)(r->algorithm == CUDNN_SOFTMAX_LOG ? x[c] - largest - log(sum)
                                                    : exp(x[c] - largest) / sum);
  }
}

cudnnStatus fake_dnn_create(cudnnHandle *handle) {
  *handle = (cudnnHandle)handle;
  return 0;
}

cudnnStatus fake_dnn_set_stream(cudnnHandle handle, CUstream stream) {
  (void)handle, (void)stream;
  return 0;
}

cudnnStatus fake_dnn_tensor_make(cudnnTensor *made) {
  *made = calloc(1, sizeof **made);
  return 0;
}

cudnnStatus fake_dnn_tensor_set(cudnnTensor of, int format, int type, int n, int c, int h, int w) {
  *of = (tensor){type, n, c};
  return format != CUDNN_TENSOR_NCHW || type != CUDNN_DATA_FLOAT || h != 1 || w != 1;
}

cudnnStatus fake_dnn_tensor_free(cudnnTensor of) {
  free(of);
  return 0;
}

cudnnStatus fake_dnn_softmax(cudnnHandle handle, int algorithm, int mode, const void *alpha,
                             cudnnTensor x_lies, const void *x, const void *beta,
                             cudnnTensor y_lies, void *y) {
  const rows r = {*x_lies, algorithm, x, y};

  (void)handle, (void)alpha, (void)beta, (void)y_lies;
  return mode != CUDNN_SOFTMAX_MODE_INSTANCE ? 1 : fake_call(compute, &r, sizeof r);
}
