/* driver.c - a libcuda.so.1 with one device, on which nothing is ever computed: memory is the host's,
 * and launches do what FAKE_CUDA in the environment says: fault, spin, or crash in the driver. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

/* The driver's own names, as fake.h's table has them. */
#define NAMED(name, symbol, parameters) CUresult fake_##name parameters __asm__(symbol);
CUDA_FUNCTIONS(NAMED)

static int asked(const char *what) {
  const char *wish = getenv("FAKE_CUDA");

  return wish && strcmp(wish, what) == 0;
}

CUresult fake_init(unsigned flags) {
  (void)flags;
  while (asked("spin at the start"))
    ;
  if (asked("crash at the start"))
    raise(SIGSEGV);
  return fake_state;
}

CUresult fake_device_count(int *count) {
  *count = 1;
  return fake_state;
}

CUresult fake_device_name(char *name, int size, CUdevice device) {
  (void)device;
  strncpy(name, "a fake", (size_t)size);
  return fake_state;
}

CUresult fake_device_attribute(int *value, int attribute, CUdevice device) {
  (void)device;
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_WARP_SIZE              ? 32
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT   ? 4
                                                                     : 1 << 16;
  return fake_state;
}

CUresult fake_context_create(CUcontext *context, unsigned flags, CUdevice device) {
  (void)flags, (void)device;
  *context = (CUcontext)&fake_state;
  return fake_state;
}

CUresult fake_memory_info(size_t *available, size_t *total) {
  *available = *total = (size_t)1 << 32;
  return fake_state;
}

CUresult fake_memory_allocate(CUdeviceptr *at, size_t bytes) {
  *at = (CUdeviceptr)(size_t)malloc(bytes);
  return fake_state;
}

CUresult fake_memory_free(CUdeviceptr at) {
  free((void *)(size_t)at);
  return fake_state;
}

CUresult fake_fill(CUdeviceptr to, unsigned char value, size_t bytes) {
  memset((void *)(size_t)to, value, bytes);
  return fake_state;
}

CUresult fake_to_device(CUdeviceptr to, const void *from, size_t bytes) {
  memcpy((void *)(size_t)to, from, bytes);
  return fake_state;
}

CUresult fake_to_host(void *to, CUdeviceptr from, size_t bytes) {
  memcpy(to, (const void *)(size_t)from, bytes);
  return fake_state;
}

CUresult fake_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                     CUstream stream, void **parameters, void **extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
  (void)block_z, (void)shared, (void)stream, (void)parameters, (void)extra;
  if (asked("crash"))
    raise(SIGSEGV);
  if (asked("fault"))
    fake_state = CUDA_ERROR_ILLEGAL_ADDRESS;
  return 0;
}

CUresult fake_stream_query(CUstream stream) {
  (void)stream;
  return asked("spin") ? CUDA_ERROR_NOT_READY : fake_state;
}

CUresult fake_error_name(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "another error";
  return 0;
}
