/* device.h - CUDA devices: those that the driver finds. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "devices/common/device.h"

device_list device_cuda(void);

/* image.c: the kernels that a variant's calls may launch, as its image says without a device; at most so many. How many
 * there are, or -1 with the reason in why, static. */
int cuda_image_kernels(const lathe_variant *variant, device_kernel *to, int most, const char **why);

#endif
