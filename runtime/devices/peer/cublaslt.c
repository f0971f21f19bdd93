/* cublaslt.c - cuBLASLt, opened at run time. */
#include "cublaslt.h"

#include <dlfcn.h>

#include "nvidia.h"

cublaslt_library cublaslt;

bool cublaslt_open(char *why, size_t size) {
  static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", NULL};
  static shared_object library = {.what = "cuBLASLt"};
  bool first = true;

  if (!nvidia_open(&library, files, why, size))
    return false;
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cublaslt.name = dlsym(library.handle, symbol);                                        \
  if (!cublaslt.name) {                                                                            \
    shared_object_lacks(&library, symbol, first, why, size);                                       \
    return false;                                                                                  \
  }                                                                                                \
  first = false;
  CUBLASLT_FUNCTIONS(FIND)
#undef FIND
  return true;
}
