/* arithmetic.h - kernels that multiply and add and do nothing else, for a GPU's ceiling. */
#ifndef CUDA_ARITHMETIC_H
#define CUDA_ARITHMETIC_H

#include <stdbool.h>

#include "devices/common/device.h"

enum {
  ARITHMETIC_THREADS = 128, /* of a block */
  ARITHMETIC_KERNELS = 2,   /* for a type and a unit, at most */
};

/* PTX of a kernel that takes (where one number may be written, u32 rounds). */
typedef struct arithmetic_kernel {
  const char *name;
  char *ptx;
  double each; /* operations of a block in a round */
} arithmetic_kernel;

/* The nth kernel, from 0 on, for a type and a unit (tensor cores round f32 to tf32) on devices of an architecture (90
 * for compute capability 9.0); ptx, to be freed, is null where there is none, or no memory. */
arithmetic_kernel arithmetic_make(lathe_dtype dtype, device_unit unit, unsigned architecture,
                                  int nth);

#endif
