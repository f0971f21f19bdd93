/* counting.c - a libcuda.so.1 that counts what is asked of it, and runs nothing: what a call of an exported kernel does. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/fake.h"

/* What a test reads and sets. */
atomic_int counted_launches, counted_loads, counted_others;
CUstream counted_stream;
CUresult counted_error; /* that launches return */

CUresult fake_device_attribute(int *value, int attribute, CUdevice device) {
  (void)device;
  *value = attribute == LATHE_DRIVER_MAJOR ? 8 : attribute == LATHE_DRIVER_MINOR ? 0 : 1 << 16;
  return 0;
}

CUresult fake_module_load(CUmodule *module, const void *image) {
  counted_loads++;
  *module = (CUmodule)image;
  return 0;
}

/* Code for compute capability 8.0 has no clusters. */
CUresult fake_module_function(CUfunction *function, CUmodule module, const char *name) {
  *function = (CUfunction)module;
  return strstr(name, "cluster") ? LATHE_DRIVER_NOT_FOUND : 0;
}

CUresult fake_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                     CUstream stream, void **parameters, void **extra) {
  (void)function, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared;
  (void)parameters, (void)extra;
  if (grid_x == 0 || grid_y == 0) /* no driver takes it */
    abort();
  counted_launches++;
  counted_stream = stream;
  return counted_error;
}

CUresult fake_error_string(CUresult error, const char **text) {
  *text = error == 719 ? "unspecified launch failure" : NULL;
  return 0;
}

/* What no call may ask for. */
CUresult fake_synchronize(void) {
  counted_others++;
  return 0;
}

CUresult fake_stream_synchronize(CUstream stream) {
  (void)stream;
  counted_others++;
  return 0;
}

CUresult fake_context_retain(CUcontext *context, CUdevice device) {
  (void)context, (void)device;
  counted_others++;
  return 0;
}

CUresult fake_init(unsigned flags) {
  (void)flags;
  counted_others++;
  return 0;
}
