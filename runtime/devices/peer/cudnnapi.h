/* cudnnapi.h - what of cuDNN's API the runtime calls: own declarations, so that building it needs no toolkit. */
#ifndef CUDNNAPI_H
#define CUDNNAPI_H

#include "devices/cuda/driver.h"

typedef int cudnnStatus; /* 0: no error */
typedef struct cudnnContext *cudnnHandle;
typedef struct cudnnTensorStruct *cudnnTensor;

/* Of its enumerations, the values used. */
enum {
  CUDNN_DATA_FLOAT = 0,
  CUDNN_DATA_DOUBLE = 1,
  CUDNN_DATA_HALF = 2,
  CUDNN_DATA_BFLOAT16 = 9,
  CUDNN_TENSOR_NCHW = 0,
  CUDNN_SOFTMAX_ACCURATE = 1,
  CUDNN_SOFTMAX_LOG = 2,
  CUDNN_SOFTMAX_MODE_INSTANCE = 0, /* over all but the first dimension */
};

/* A row a function: its name here, its name in the library, its parameters. */
#define CUDNN_FUNCTIONS(ROW)                                                                       \
  ROW(create, "cudnnCreate", (cudnnHandle * handle))                                               \
  ROW(set_stream, "cudnnSetStream", (cudnnHandle handle, CUstream stream))                         \
  ROW(tensor_make, "cudnnCreateTensorDescriptor", (cudnnTensor * tensor))                          \
  ROW(tensor_set, "cudnnSetTensor4dDescriptor",                                                    \
      (cudnnTensor tensor, int format, int type, int n, int c, int h, int w))                      \
  ROW(tensor_free, "cudnnDestroyTensorDescriptor", (cudnnTensor tensor))                           \
  ROW(softmax, "cudnnSoftmaxForward",                                                              \
      (cudnnHandle handle, int algorithm, int mode, const void *alpha, cudnnTensor x_tensor,       \
       const void *x, const void *beta, cudnnTensor y_tensor, void *y))

typedef struct cudnn_library {
#define MEMBER(name, symbol, parameters) cudnnStatus(*name) parameters;
  CUDNN_FUNCTIONS(MEMBER)
#undef MEMBER
} cudnn_library;

#endif
