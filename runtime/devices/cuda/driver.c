/* driver.c - CUDA's driver, opened at run time. */
#include "driver.h"

#include <dlfcn.h>

#include "devices/common/shared_object.h"

cuda_driver cuda;
lathe_driver cuda_launching;

bool cuda_open(char *why, size_t size) {
  static const char *const symbols[] = {CUDA_FUNCTIONS(SHARED_OBJECT_SYMBOL)};
  shared_object driver = {.file = "libcuda.so.1", .what = "NVIDIA's driver"};

  if (!shared_object_open(&driver, why, size) ||
      !shared_object_find(&driver, symbols, sizeof symbols / sizeof *symbols, &cuda, why, size))
    return false;
#define FIND(name, symbol, parameters) *(void **)&cuda.name = dlsym(driver.handle, symbol);
  CUDA_EXTRAS(FIND)
#undef FIND
  cuda_launching = (lathe_driver){
      .device_attribute = cuda.device_attribute,
      .module_load = cuda.module_load,
      .module_function = cuda.module_function,
      .function_set = cuda.function_set,
      .launch = cuda.launch_with,
      .max_active_clusters = cuda.max_active_clusters,
      .tensor_map = cuda.tensor_map,
  };
  return true;
}
