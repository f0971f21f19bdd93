/* driver.h - what of CUDA's driver API the runtime calls: own declarations, so that building it
 * needs no toolkit, and a table of the functions, which are looked up in libcuda.so.1 at run time. */
#ifndef CUDA_DRIVER_H
#define CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "library/on_cuda.h"

typedef int CUresult; /* 0: no error */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

/* Of the driver's enumerations, the values used. */
enum {
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_UNKNOWN = 999,

  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,

  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,

  CU_STREAM_NON_BLOCKING = 1,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

typedef lathe_driver_map CUtensorMap;

typedef struct CUuuid {
  unsigned char bytes[16];
} CUuuid;

typedef lathe_driver_config cuda_launch_config;

/* A row a function: its name here, its name in the library, its parameters. */
#define CUDA_FUNCTIONS(ROW)                                                                        \
  ROW(init, "cuInit", (unsigned flags))                                                            \
  ROW(driver_version, "cuDriverGetVersion", (int *version))                                        \
  ROW(error_name, "cuGetErrorName", (CUresult error, const char **text))                           \
  ROW(error_string, "cuGetErrorString", (CUresult error, const char **text))                       \
  ROW(device_count, "cuDeviceGetCount", (int *count))                                              \
  ROW(device_get, "cuDeviceGet", (CUdevice * device, int ordinal))                                 \
  ROW(device_name, "cuDeviceGetName", (char *name, int size, CUdevice device))                     \
  ROW(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))      \
  ROW(device_uuid, "cuDeviceGetUuid", (CUuuid * uuid, CUdevice device))                            \
  ROW(context_retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))          \
  ROW(context_create, "cuCtxCreate_v2", (CUcontext * context, unsigned flags, CUdevice device))    \
  ROW(context_destroy, "cuCtxDestroy_v2", (CUcontext context))                                     \
  ROW(context_use, "cuCtxSetCurrent", (CUcontext context))                                         \
  ROW(module_load, "cuModuleLoadData", (CUmodule * module, const void *image))                     \
  ROW(module_function, "cuModuleGetFunction",                                                      \
      (CUfunction * function, CUmodule module, const char *name))                                  \
  ROW(function_set, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))         \
  ROW(memory_info, "cuMemGetInfo_v2", (size_t * available, size_t * total))                        \
  ROW(memory_allocate, "cuMemAlloc_v2", (CUdeviceptr * at, size_t bytes))                          \
  ROW(memory_free, "cuMemFree_v2", (CUdeviceptr at))                                               \
  ROW(fill, "cuMemsetD8_v2", (CUdeviceptr to, unsigned char value, size_t bytes))                  \
  ROW(to_device, "cuMemcpyHtoD_v2", (CUdeviceptr to, const void *from, size_t bytes))              \
  ROW(to_host, "cuMemcpyDtoH_v2", (void *to, CUdeviceptr from, size_t bytes))                      \
  ROW(copy_async, "cuMemcpyDtoDAsync_v2",                                                          \
      (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
  ROW(synchronize, "cuCtxSynchronize", (void))                                                     \
  ROW(stream_create, "cuStreamCreate", (CUstream * stream, unsigned flags))                        \
  ROW(stream_query, "cuStreamQuery", (CUstream stream))                                            \
  ROW(stream_synchronize, "cuStreamSynchronize", (CUstream stream))                                \
  ROW(capture_begin, "cuStreamBeginCapture_v2", (CUstream stream, int mode))                       \
  ROW(capture_end, "cuStreamEndCapture", (CUstream stream, CUgraph * graph))                       \
  ROW(graph_make, "cuGraphInstantiateWithFlags",                                                   \
      (CUgraphExec * made, CUgraph graph, unsigned long long flags))                               \
  ROW(graph_upload, "cuGraphUpload", (CUgraphExec graph, CUstream stream))                         \
  ROW(graph_launch, "cuGraphLaunch", (CUgraphExec graph, CUstream stream))                         \
  ROW(graph_free, "cuGraphDestroy", (CUgraph graph))                                               \
  ROW(graph_exec_free, "cuGraphExecDestroy", (CUgraphExec graph))                                  \
  ROW(event_create, "cuEventCreate", (CUevent * event, unsigned flags))                            \
  ROW(event_record, "cuEventRecord", (CUevent event, CUstream stream))                             \
  ROW(event_elapsed, "cuEventElapsedTime", (float *milliseconds, CUevent from, CUevent to))        \
  ROW(launch, "cuLaunchKernel",                                                                    \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
       unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **parameters,    \
       void **extra))                                                                              \
  ROW(max_active_clusters, "cuOccupancyMaxActiveClusters",                                         \
      (int *clusters, CUfunction function, const cuda_launch_config *config))                      \
  ROW(launch_with, "cuLaunchKernelEx",                                                             \
      (const cuda_launch_config *config, CUfunction function, void **parameters, void **extra))

/* The same of functions that can be done without: null where the library lacks them. */
#define CUDA_EXTRAS(ROW)                                                                           \
  ROW(host_register, "cuMemHostRegister_v2", (void *at, size_t bytes, unsigned flags))             \
  ROW(host_unregister, "cuMemHostUnregister", (void *at))                                          \
  ROW(to_device_async, "cuMemcpyHtoDAsync_v2",                                                     \
      (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                           \
  ROW(fill_async, "cuMemsetD8Async",                                                               \
      (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream))                        \
  ROW(event_synchronize, "cuEventSynchronize", (CUevent event))                                    \
  ROW(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction function))  \
  ROW(blocks_at_once, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                               \
      (int *blocks, CUfunction function, int threads, size_t shared))                              \
  ROW(tensor_map, "cuTensorMapEncodeTiled",                                                        \
      (CUtensorMap * map, int type, unsigned rank, void *at, const unsigned long long *extents,    \
       const unsigned long long *strides, const unsigned *box, const unsigned *steps,              \
       int interleave, int swizzle, int promotion, int fill))

typedef struct cuda_driver {
#define MEMBER(name, symbol, parameters) CUresult(*name) parameters;
  CUDA_FUNCTIONS(MEMBER)
  CUDA_EXTRAS(MEMBER)
#undef MEMBER
} cuda_driver;

/* driver.c */

extern cuda_driver cuda;

/* Those of them that launching takes. */
extern lathe_driver cuda_launching;

/* Opens libcuda.so.1 and looks the functions up; false with the reason in why, of `size` bytes. The
 * program keeps it to its end. */
bool cuda_open(char *why, size_t size);

#endif
