/* driver.c - CUDA's driver, opened at run time. */
#include "driver.h"

#include <dlfcn.h>

#include "devices/common/shared_object.h"

cuda_driver cuda;

bool cuda_open(char *why, size_t size) {
  shared_object driver = {.file = "libcuda.so.1", .what = "NVIDIA's driver"};
  bool first = true;

  if (!shared_object_open(&driver, why, size))
    return false;
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cuda.name = dlsym(driver.handle, symbol);                                             \
  if (!cuda.name) {                                                                                \
    shared_object_lacks(&driver, symbol, first, why, size);                                        \
    return false;                                                                                  \
  }                                                                                                \
  first = false;
  CUDA_FUNCTIONS(FIND)
#undef FIND
#define FIND(name, symbol, parameters) *(void **)&cuda.name = dlsym(driver.handle, symbol);
  CUDA_EXTRAS(FIND)
#undef FIND
  return true;
}
