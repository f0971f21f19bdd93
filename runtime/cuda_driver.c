/* cuda_driver.c - CUDA's driver, opened at run time. */
#include "cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>

cuda_driver cuda;

bool cuda_open(char *why, size_t size) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);

  if (!library) {
    snprintf(why, size, "NVIDIA's driver is not installed (no libcuda.so.1)");
    return false;
  }
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cuda.name = dlsym(library, symbol);                                                   \
  if (!cuda.name) {                                                                                \
    snprintf(why, size, "NVIDIA's driver is too old: it has no %s", symbol);                       \
    return false;                                                                                  \
  }
  CUDA_FUNCTIONS(FIND)
#undef FIND
  return true;
}
