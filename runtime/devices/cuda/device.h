/* device.h - CUDA devices: those that the driver finds. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "devices/common/device.h"

device_list device_cuda(void);

#endif
