/* defaults.c - a libcuda.so.1 that is none: every function the runtime looks up, doing nothing. Those
 * that have something to do are in other files. */
#include "fake.h"

CUresult fake_state;

#define FUNCTION(name, symbol, parameters)                                                         \
  __attribute__((weak)) CUresult fake_##name parameters __asm__(symbol);                           \
  CUresult fake_##name parameters {                                                                \
    return fake_state;                                                                             \
  }
CUDA_FUNCTIONS(FUNCTION)
