/* gpu_clocks.c - keeps the clocks of an NVIDIA GPU up. Without a CUDA context they fall to a fifth of what
 * they can be as soon as Vulkan work waits for the processor, and take seconds to rise under load: what is
 * timed meanwhile says nothing of the kernel (seen on an H200 with driver 580). */
#include "vulkan.h"

#ifdef HAVE_VULKAN
#include "cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

typedef struct cuda_uuid {
  unsigned char bytes[VK_UUID_SIZE];
} cuda_uuid;

#define FUNCTIONS(ROW)                                                                             \
  ROW(init, "cuInit", (unsigned flags))                                                            \
  ROW(count, "cuDeviceGetCount", (int *count))                                                     \
  ROW(get, "cuDeviceGet", (CUdevice * device, int ordinal))                                        \
  ROW(uuid, "cuDeviceGetUuid", (cuda_uuid * uuid, CUdevice device))                                \
  ROW(retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))

void gpu_clocks_hold(const unsigned char *uuid) {
  void *const library = dlopen("libcuda.so.1", RTLD_NOW);
  struct {
#define MEMBER(name, symbol, parameters) CUresult(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
  } cuda = {0};
  CUcontext context;
  CUdevice device;
  cuda_uuid its;
  int count = 0;

  if (!library)
    return;
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cuda.name = dlsym(library, symbol);                                                   \
  if (!cuda.name)                                                                                  \
    return;
  FUNCTIONS(FIND)
#undef FIND
  if (cuda.init(0) || cuda.count(&count))
    return;
  for (int i = 0; i < count; i++)
    if (!cuda.get(&device, i) && !cuda.uuid(&its, device) &&
        memcmp(its.bytes, uuid, sizeof its.bytes) == 0)
      cuda.retain(&context, device);
}
#endif
