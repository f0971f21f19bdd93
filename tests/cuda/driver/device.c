/* device.c - what the false drivers' devices have in common: there is one, or as many as FAKE_DEVICES in the
 * environment says, and their memory is the host's. */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

CUresult fake_device_count(int *count) {
  const char *asked = getenv("FAKE_DEVICES");

  *count = asked ? atoi(asked) : 1;
  return fake_state;
}

/* A thread's. */
static __thread CUcontext current;

CUresult fake_context_create(CUcontext *context, unsigned flags, CUdevice device) {
  static char contexts[64];
  static size_t made;

  (void)flags, (void)device;
  *context = current = (CUcontext)&contexts[made++ % sizeof contexts];
  return fake_state;
}

CUresult fake_context_use(CUcontext context) {
  current = context;
  return fake_state;
}

CUresult fake_context_current(CUcontext *context) {
  *context = current;
  return fake_state;
}

/* counting.c has one that counts. */
__attribute__((weak)) CUresult fake_context_retain(CUcontext *context, CUdevice device) {
  static char primary[64];

  *context = (CUcontext)&primary[device];
  return fake_state;
}

static __thread CUcontext below; /* one that was pushed */

CUresult fake_context_push(CUcontext context) {
  if (below)
    abort();
  below = current;
  current = context;
  return fake_state;
}

CUresult fake_context_pop(CUcontext *context) {
  *context = current;
  current = below;
  below = NULL;
  return fake_state;
}

CUresult fake_context_device(CUdevice *device) {
  *device = 0;
  return current ? fake_state : CUDA_ERROR_UNKNOWN;
}

CUresult fake_module_unload(CUmodule module) {
  (void)module;
  return fake_state;
}

CUresult fake_stream_create(CUstream *stream, unsigned flags) {
  static char streams[64];
  static size_t made;

  (void)flags;
  if (made == sizeof streams)
    abort();
  *stream = (CUstream)&streams[made++];
  return fake_state;
}

CUresult fake_stream_capturing(CUstream stream, int *status) {
  (void)stream;
  *status = 0;
  return fake_state;
}

CUresult fake_stream_number(CUstream stream, unsigned long long *number) {
  *number = (unsigned long long)(size_t)stream;
  return fake_state;
}

CUresult fake_memory_info(size_t *available, size_t *total) {
  *available = *total = (size_t)1 << 32;
  return fake_state;
}

CUresult fake_memory_allocate(CUdeviceptr *at, size_t bytes) {
  const size_t alignment = 256; /* as the real one's */
  *at = (CUdeviceptr)(size_t)aligned_alloc(alignment,
                                           (bytes + alignment - 1) / alignment * alignment);
  return fake_state;
}

CUresult fake_memory_free(CUdeviceptr at) {
  free((void *)(size_t)at);
  return fake_state;
}

CUresult fake_memory_allocate_async(CUdeviceptr *at, size_t bytes, CUstream stream) {
  (void)stream;
  return fake_memory_allocate(at, bytes);
}

CUresult fake_memory_free_async(CUdeviceptr at, CUstream stream) {
  (void)stream;
  return fake_memory_free(at);
}

/* What is pinned is let go once. */
static const void *pinned[64];

static const void **place_of(const void *at) {
  for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
    if (pinned[i] == at)
      return &pinned[i];
  abort();
}

CUresult fake_host_register(void *at, size_t bytes, unsigned flags) {
  (void)bytes, (void)flags;
  *place_of(NULL) = at;
  return fake_state;
}

CUresult fake_host_unregister(void *at) {
  *place_of(at) = NULL;
  return fake_state;
}

CUresult fake_fill(CUdeviceptr to, unsigned char value, size_t bytes) {
  memset((void *)(size_t)to, value, bytes);
  return fake_state;
}

/* One of those that a driver may lack. */
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
  (void)stream;
  return fake_fill(to, value, bytes);
}

CUresult fake_fill_words(CUdeviceptr to, unsigned value, size_t words, CUstream stream) {
  (void)stream;
  for (size_t i = 0; i < words; i++)
    memcpy((unsigned *)(size_t)to + i, &value, sizeof value);
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

static struct copy {
  void *to;
  const void *from;
  size_t bytes;
} late[8];
static int copies;

void fake_catch_up(void) {
  for (int i = 0; i < copies; i++)
    memcpy(late[i].to, late[i].from, late[i].bytes);
  copies = 0;
}

CUresult fake_to_device_async(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  (void)stream;
  if (copies == sizeof late / sizeof *late)
    abort();
  late[copies++] = (struct copy){(void *)(size_t)to, from, bytes};
  return fake_state;
}

CUresult fake_event_synchronize(CUevent event) {
  (void)event;
  fake_catch_up();
  return fake_state;
}

/* The same launch with its arguments one by one. */
CUresult fake_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                     CUstream stream, void **parameters, void **extra) {
  const cuda_launch_config config = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .shared = shared,
                                     .stream = stream};

  return fake_launch_with(&config, function, parameters, extra);
}
