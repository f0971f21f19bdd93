/* fake.h - what the files of the false drivers share. */
#ifndef FAKE_H
#define FAKE_H

#include "devices/cuda/driver.h"

/* The driver's functions by the runtime's names. */
#define NAMED(name, symbol, parameters) CUresult fake_##name parameters __asm__(symbol);
CUDA_FUNCTIONS(NAMED)
#undef NAMED

/* And of those that can be done without, or that exported files and the library call, these. */
CUresult fake_context_current(CUcontext *context) __asm__("cuCtxGetCurrent");
CUresult fake_context_device(CUdevice *device) __asm__("cuCtxGetDevice");
CUresult fake_context_push(CUcontext context) __asm__("cuCtxPushCurrent_v2");
CUresult fake_context_pop(CUcontext *context) __asm__("cuCtxPopCurrent_v2");
CUresult fake_fill_words(CUdeviceptr to, unsigned value, size_t words,
                         CUstream stream) __asm__("cuMemsetD32Async");
CUresult fake_memory_allocate_async(CUdeviceptr *at, size_t bytes,
                                    CUstream stream) __asm__("cuMemAllocAsync");
CUresult fake_memory_free_async(CUdeviceptr at, CUstream stream) __asm__("cuMemFreeAsync");
CUresult fake_stream_capturing(CUstream stream, int *status) __asm__("cuStreamIsCapturing");
CUresult fake_stream_number(CUstream stream, unsigned long long *number) __asm__("cuStreamGetId");
CUresult fake_function_attribute(int *value, int attribute,
                                 CUfunction function) __asm__("cuFuncGetAttribute");
CUresult fake_module_unload(CUmodule module) __asm__("cuModuleUnload");
CUresult fake_host_register(void *at, size_t bytes, unsigned flags) __asm__("cuMemHostRegister_v2");
CUresult fake_host_unregister(void *at) __asm__("cuMemHostUnregister");
CUresult fake_to_device_async(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) __asm__("cuMemcpyHtoDAsync_v2");
CUresult fake_event_synchronize(CUevent event) __asm__("cuEventSynchronize");

/* The blocks of a launch's clusters, and whether it may begin before the kernel before it ends. */
static inline unsigned fake_attribute(const cuda_launch_config *config, int id,
                                      unsigned otherwise) {
  for (unsigned i = 0; i < config->count; i++)
    if (config->attributes[i].id == id)
      return config->attributes[i].value[0];
  return otherwise;
}

/* What every function returns, once a launch has gone wrong: the real driver does that as well, until
 * the process ends. */
extern CUresult fake_state;

/* device.c: copies to the device that nobody has waited for, which are made as late as that. */
void fake_catch_up(void);

/* driver.c: what another library puts on the stream: a call with so many bytes of its own, at most 256. */
CUresult fake_call(void (*call)(const void *own), const void *own, size_t bytes);

#endif
