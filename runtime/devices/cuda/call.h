/* call.h - what the files of this folder share: CUDA devices, and calls on them. */
#ifndef CUDA_CALL_H
#define CUDA_CALL_H

#include "arithmetic.h"
#include "devices/common/remote.h"
#include "driver.h"
#include "library/cuda.h"
#include "others.h"

enum {
  GRAPH_CALLS = 64, /* calls that one graph has */
  MOST_SETS = 4096, /* copies of operands that a cold call may take; in whole graphs */
  STAGES = 2,       /* pieces that a large copy to the device has under way */
  SPARES = 64,      /* zones of small buffers that are kept for the next */
};

typedef struct cuda_device {
  device head;
  char id[16], name[256], notes[64];
  CUdevice ordinal;
  CUuuid uuid;
  lathe_limits limits;
  CUcontext context; /* null: to be made */
  CUstream stream;
  CUstream beside; /* of what keeps the device busy beside calls */
  CUevent begin, end;
  lathe_device *library; /* by which kernels are called; null: not opened yet */
  CUmodule streams;      /* the kernels of streams.h; null: not loaded yet */
  CUmodule arithmetic[LATHE_DTYPES][DEVICE_UNITS][ARITHMETIC_KERNELS]; /* and of arithmetic.h */
  CUdeviceptr spare[SPARES];
  int spares;
  void *stage[STAGES]; /* pinned memory that large copies to the device pass through */
  CUevent passed[STAGES];
  CUdeviceptr
      traffic; /* memory that is copied for the device to be busy, or its cache full of it; 0: none yet */
} cuda_device;

typedef struct cuda_buffer {
  CUdeviceptr zone, data; /* data within its guards */
  size_t zone_size, size;
} cuda_buffer;

typedef struct cuda_call {
  remote_call remote;
  cuda_buffer buffer[REMOTE_BUFFERS];
  int turn; /* whose a batch is */
  lathe_plan plan;
  int count; /* launches of a call */
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  CUfunction function[LATHE_MAX_LAUNCHES];
  const cuda_other *other; /* what puts calls on the stream in the place of launches; or null */
  void *others_own;
  /* Of calls, where they are fewer than a graph has: so many, from one on, in a turn. */
  CUgraphExec rest;
  int rest_calls, rest_first, rest_turn;
  /* Sets of operands that timed calls take in turn: the first is `buffer`, the others lie one after
   * the other in `copies`, each operand in its slot. */
  int sets, next_set, next_graph;
  CUdeviceptr copies;
  size_t set_size, slot[LATHE_MAX_OPERANDS];
  CUgraphExec graph[MOST_SETS / GRAPH_CALLS]; /* null: not made yet */
} cuda_call;

cuda_device *cuda_device_of(const device_call *call);

/* device.c */

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"; static. */
const char *cuda_error_text(CUresult error);

/* Makes the context current, and makes it first where there is none. */
CUresult cuda_context_use(cuda_device *d);

/* Waits until the stream has done all. */
CUresult cuda_finish(cuda_device *d);

/* Records calls, so that launching them costs the host next to nothing: those from `first` on. */
CUresult cuda_capture(cuda_device *d, CUresult (*call)(const void *, int), const void *argument,
                      int first, int calls, CUgraphExec *made);

/* memory.c: a buffer of some bytes, with guards around it, that starts so many bytes after a boundary. */
CUresult cuda_buffer_make(cuda_device *d, cuda_buffer *b, size_t size, size_t offset);
void cuda_buffer_free(cuda_device *d, cuda_buffer *b);

/* Copies to the device, and waits for it. */
CUresult cuda_send(cuda_device *d, CUdeviceptr to, const void *from, size_t bytes);

/* Puts a copy on a stream that fills the cache. */
CUresult cuda_traffic(cuda_device *d, CUstream on);

/* kernels.c: the launches of a call and their kernels; false with the reason in why, static. */
bool cuda_load_kernels(cuda_call *c, const char **why);

/* device.h's kernels. */
int cuda_kernels(device_call *call, device_kernel *to);

/* call.c: device.h's functions of calls. */
device_call *cuda_prepare(device *on, const lathe_variant *variant, const problem *p,
                          device_layout layout, const char **why);
void cuda_release(device_call *call);
bool cuda_take_turns(device_call *call, const problem *other);
bool cuda_run(device_call *call);
bool cuda_run_under(device_call *call, device_load load);
bool cuda_ask(device_call *call, double *ns);
bool cuda_time_calls(device_call *call, uint64_t calls, device_time *taken);
bool cuda_cool(device_call *call);
extern const remote_kind cuda_remote;

/* rates.c: and of what a device can do at best. */
double cuda_streams_rate(device *on, int streams, size_t bytes, int threads, int *way);
bool cuda_empty_launch(device *on, device_time *taken);
double cuda_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads, int *way);

#endif
