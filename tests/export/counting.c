/* counting.c - a libcuda.so.1 that counts what is asked of it, and runs nothing: what a call of an exported kernel
 * does. With COUNTED_LOG=1 in the environment it prints each launch: the kernel, grid, block, cluster and shared
 * memory. The device has compute capability 9.0 with COUNTED_90=1, else 8.0. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/fake.h"

/* What a test reads and sets. */
atomic_int counted_launches, counted_early, counted_loads, counted_others;
CUstream counted_stream;
CUresult counted_error; /* that launches return */

CUresult fake_device_attribute(int *value, int attribute, CUdevice device) {
  (void)device;
  const int is_90 = getenv("COUNTED_90") != NULL;

  *value = attribute == LATHE_DRIVER_MAJOR             ? 8 + is_90
           : attribute == LATHE_DRIVER_MINOR           ? 0
           : attribute == LATHE_DRIVER_CLUSTERS        ? is_90
           : attribute == LATHE_DRIVER_MULTIPROCESSORS ? 100
           : attribute == LATHE_DRIVER_SHARED          ? (is_90 ? 227 : 163) << 10
           : attribute == LATHE_DRIVER_GRID            ? 0x7fffffff
           : attribute == LATHE_DRIVER_WARP            ? 32
                                                       : 1024;
  return 0;
}

CUresult fake_module_load(CUmodule *module, const void *image) {
  counted_loads++;
  *module = (CUmodule)image;
  return 0;
}

/* Of two events the launches between them, each as long as a microsecond. */
static int launched_at[2];

CUresult fake_event_record(CUevent event, CUstream stream) {
  (void)event, (void)stream;
  launched_at[0] = launched_at[1];
  launched_at[1] = counted_launches;
  return 0;
}

CUresult fake_event_elapsed(float *milliseconds, CUevent from, CUevent to) {
  (void)from, (void)to;
  *milliseconds = (float)(launched_at[1] - launched_at[0]) / 1000;
  return 0;
}

CUresult counted_tensor_map(CUtensorMap *, int, unsigned, void *, const unsigned long long *,
                            const unsigned long long *, const unsigned *, const unsigned *, int,
                            int, int, int) __asm__("cuTensorMapEncodeTiled");
CUresult counted_tensor_map(CUtensorMap *map, int type, unsigned rank, void *at,
                            const unsigned long long *extents, const unsigned long long *strides,
                            const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                            int promotion, int fill) {
  (void)map, (void)type, (void)rank, (void)at, (void)extents, (void)strides, (void)box, (void)steps;
  (void)interleave, (void)swizzle, (void)promotion, (void)fill;
  return 0;
}

/* Code for compute capability 8.0 has no clusters. A function is its name. */
CUresult fake_module_function(CUfunction *function, CUmodule module, const char *name) {
  (void)module;
  *function = (CUfunction)name;
  return strstr(name, "cluster") && !getenv("COUNTED_90") ? LATHE_DRIVER_NOT_FOUND : 0;
}

CUresult fake_driver_version(int *version) {
  *version = LATHE_DRIVER_EARLY_IN_GRAPHS;
  return 0;
}

/* What is asked for is the compute capability that a kernel was compiled for. */
CUresult fake_function_attribute(int *value, int attribute, CUfunction function) {
  (void)attribute, (void)function;
  *value = getenv("COUNTED_90") ? 90 : 80;
  return 0;
}

CUresult fake_max_active_clusters(int *clusters, CUfunction function,
                                  const cuda_launch_config *config) {
  (void)function, (void)config;
  *clusters = 1 << 20;
  return 0;
}

CUresult fake_launch_with(const cuda_launch_config *config, CUfunction function, void **parameters,
                          void **extra) {
  const unsigned *grid = config->grid, *block = config->block;

  (void)parameters, (void)extra;
  if (grid[0] == 0 || grid[1] == 0) /* no driver takes it */
    abort();
  if (getenv("COUNTED_LOG"))
    printf("%s %u %u %u %u %u %u %u %u\n", (const char *)function, grid[0], grid[1], grid[2],
           block[0], block[1], block[2], fake_attribute(config, LATHE_DRIVER_CLUSTER, 1),
           config->shared);
  counted_launches++;
  counted_early += fake_attribute(config, LATHE_DRIVER_EARLY, 0);
  counted_stream = config->stream;
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
