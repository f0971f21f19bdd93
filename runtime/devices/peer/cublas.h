/* cublas.h - products of matrices by NVIDIA's cuBLASLt, on a CUDA device's own buffers and stream. */
#ifndef CUBLAS_H
#define CUBLAS_H

#include "devices/cuda/others.h"

/* Calls of an op whose spec has `blas` among its peers: by the fastest of the algorithms that the library proposes,
 * which is found when an op and size is first prepared. */
extern const cuda_other cublas_calls;

#endif
