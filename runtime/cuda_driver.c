/* cuda_driver.c - CUDA's driver, opened at run time. */
#include "cuda_driver.h"

#include <dlfcn.h>

#include "library.h"

cuda_driver cuda;

bool cuda_open(char *why, size_t size) {
  library driver = {.file = "libcuda.so.1", .what = "NVIDIA's driver"};
  bool first = true;

  if (!library_open(&driver, why, size))
    return false;
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cuda.name = dlsym(driver.handle, symbol);                                             \
  if (!cuda.name) {                                                                                \
    library_lacks(&driver, symbol, first, why, size);                                              \
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
