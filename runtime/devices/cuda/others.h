/* others.h - calls that another library puts on a CUDA device's stream, in the place of launches of our kernels. */
#ifndef CUDA_OTHERS_H
#define CUDA_OTHERS_H

#include "driver.h"
#include "library/dispatch.h"

typedef struct cuda_other {
  /* What calls of a variant need, with the device's context current and the inputs in their buffers, whose results
   * may be written over; null with the reason in why, static. */
  void *(*prepare)(const lathe_variant *variant, const lathe_args *args, const lathe_limits *limits,
                   CUstream stream, const char **why);
  CUresult (*enqueue)(void *prepared, const lathe_args *args, CUstream stream);
  /* lost: memory goes with the context. */
  void (*release)(void *prepared, bool lost);
} cuda_other;

/* From here on a backend's variants are called so. The structure must stay. */
void cuda_other_put(const lathe_backend *backend, const cuda_other *other);

/* Null for a backend of our own kernels. */
const cuda_other *cuda_other_of(const lathe_backend *backend);

#endif
