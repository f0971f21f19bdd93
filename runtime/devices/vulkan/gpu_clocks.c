/* gpu_clocks.c - keeps the clocks of an NVIDIA GPU up. Without a CUDA context they fall to a fifth of what
 * they can be as soon as Vulkan work waits for the processor, and take seconds to rise under load: what is
 * timed meanwhile says nothing of the kernel (seen on an H200 with driver 580). */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#include "devices/cuda/driver.h"

#include <string.h>

void gpu_clocks_hold(const unsigned char *uuid) {
  char why[100];
  CUcontext context;
  CUdevice device;
  CUuuid its;
  int count = 0;

  if (!cuda_open(why, sizeof why) || cuda.init(0) || cuda.device_count(&count))
    return;
  for (int i = 0; i < count; i++)
    if (!cuda.device_get(&device, i) && !cuda.device_uuid(&its, device) &&
        memcmp(its.bytes, uuid, sizeof its.bytes) == 0)
      cuda.context_retain(&context, device);
}
#endif
