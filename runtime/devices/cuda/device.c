/* device.c - NVIDIA GPUs as devices, through the driver's library, which is opened at run time.
 *
 * A context is made when a call first wants one. After an error it is of no use, and with driver 580 a
 * process gets no other one then, whether the old one is destroyed or the primary one reset: the
 * device is lost to this process. A launch that does not end is waited for without end; see
 * worker.h. */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include "call.h"
#include "nvml.h"
#include "library/dtype.h"

enum { MOST_DEVICES = 8 };

static cuda_device devices[MOST_DEVICES];
static device *found[MOST_DEVICES];
static size_t count;
static char missing[256]; /* why there is no device */

cuda_device *cuda_device_of(const device_call *call) {
  return (cuda_device *)call->on;
}

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)" */
const char *cuda_error_text(CUresult error) {
  static char text[200];
  const char *name = NULL, *what = NULL;

  if (cuda.error_name(error, &name) != 0 || !name)
    name = "unknown error";
  if (cuda.error_string(error, &what) != 0 || !what)
    what = "the driver has no text for it";
  snprintf(text, sizeof text, "%s (%s)", what, name);
  return text;
}
/* Makes the context current, and makes it first where there is none. */
CUresult cuda_context_use(cuda_device *d) {
  CUresult error;

  if (d->context)
    return cuda.context_use(d->context);
  error = cuda.context_create(&d->context, 0, d->ordinal);
  if (error)
    d->context = NULL;
  if (!error)
    error = cuda.stream_create(&d->stream, CU_STREAM_NON_BLOCKING);
  if (!error)
    error = cuda.stream_create(&d->beside, CU_STREAM_NON_BLOCKING);
  if (!error)
    error = cuda.event_create(&d->begin, 0);
  if (!error)
    error = cuda.event_create(&d->end, 0);
  if (error && d->context) {
    cuda.context_destroy(d->context);
    d->context = NULL;
  }
  return error;
}

/* Waits until the stream has done all. */
CUresult cuda_finish(cuda_device *d) {
  CUresult error;

  while ((error = cuda.stream_query(d->stream)) == CUDA_ERROR_NOT_READY)
    ;
  return error;
}

/* Records calls, so that launching them costs the host next to nothing: those from `first` on. */
CUresult cuda_capture(cuda_device *d, CUresult (*call)(const void *, int), const void *argument,
                      int first, int calls, CUgraphExec *made) {
  CUgraph graph = NULL;
  CUresult error = cuda.capture_begin(d->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUresult ended;

  for (int i = 0; i < calls && !error; i++)
    error = call(argument, first + i);
  ended = cuda.capture_end(d->stream, &graph);
  error = error ? error : ended;
  if (!error)
    error = cuda.graph_make(made, graph, 0);
  if (graph)
    cuda.graph_free(graph);
  if (!error)
    error = cuda.graph_upload(*made, d->stream);
  return error ? error : cuda_finish(d);
}

static double memory(device *on) {
  cuda_device *d = (cuda_device *)on;
  size_t available = 0, total = 0;

  if (cuda_context_use(d) || cuda.memory_info(&available, &total))
    return -1;
  return (double)available;
}

static int attribute(CUdevice ordinal, int which) {
  int value = 0;

  return cuda.device_attribute(&value, which, ordinal) ? 0 : value;
}

static double clock_mhz(device *on) {
  return nvml_clock_mhz(((cuda_device *)on)->uuid.bytes);
}

static bool describe(cuda_device *d, int i) {
  int major, minor, version = 0;
  uint64_t features;

  if (cuda.device_get(&d->ordinal, i))
    return false;
  major = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  minor = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  snprintf(d->id, sizeof d->id, "cuda%d", i);
  if (cuda.driver_version(&version) == 0 && version > 0)
    snprintf(d->notes, sizeof d->notes, "driver for CUDA %d.%d", version / 1000,
             version % 1000 / 10);
  cuda.device_uuid(&d->uuid, d->ordinal);
  if (cuda.device_name(d->name, (int)sizeof d->name, d->ordinal))
    snprintf(d->name, sizeof d->name, "unknown GPU");
  snprintf(d->name + strlen(d->name), sizeof d->name - strlen(d->name),
           ", compute capability %d.%d", major, minor);
  features = lathe_driver_describe(&cuda_launching, d->ordinal, &d->limits);
  d->head = (device){
      .id = d->id,
      .name = d->name,
      .notes = d->notes[0] ? d->notes : NULL,
      .kind = LATHE_CUDA,
      .features = features,
      .cache = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
      .is_processor = strstr(d->name, "emulat") != NULL, /* as a driver that is one says */
      .cools = true,
      .remote = &cuda_remote,
      .memory = memory,
      .prepare = cuda_prepare,
      .release = cuda_release,
      .reset = remote_reset,
      .load = remote_load,
      .take_turns = cuda_take_turns,
      .run = cuda_run,
      .run_under = cuda_run_under,
      .ask = cuda_ask,
      .kernels = cuda_kernels,
      .empty_launch = cuda_empty_launch,
      .clock_mhz = clock_mhz,
      .time = cuda_time_calls,
      .cool = cuda_cool,
      .output = remote_output,
      .intact = remote_intact,
      .peek = remote_peek,
      .poke = remote_poke,
      .streams_rate = cuda_streams_rate,
      .arithmetic_rate = cuda_arithmetic_rate,
  };
  memcpy(d->head.uuid, d->uuid.bytes, sizeof d->head.uuid);
  /* What kernels have of f32 for narrower types flushes: ex2, rcp and lg2 (ptx.h). Others keep all numbers. */
  for (int dtype = 0; dtype < LATHE_DTYPES; dtype++)
    d->head.may_flush[dtype].between = lathe_dtype_is_narrow(dtype);
  return true;
}

static void find_devices(void) {
  CUresult error;
  int there = 0;

  if (!cuda_open(missing, sizeof missing))
    return;
  error = cuda.init(0);
  if (!error)
    error = cuda.device_count(&there);
  if (error || there == 0)
    snprintf(missing, sizeof missing, "NVIDIA's driver finds no device: %s",
             cuda_error_text(error ? error : CUDA_ERROR_NO_DEVICE));
  for (int i = 0; i < there && count < MOST_DEVICES; i++)
    if (describe(&devices[count], i)) {
      found[count] = &devices[count].head;
      count++;
    }
  if (count == 0 && !missing[0])
    snprintf(missing, sizeof missing, "NVIDIA's driver does not describe its devices");
}

device_list device_cuda(void) {
  static bool looked;

  if (!looked)
    find_devices();
  looked = true;
  return (device_list){.count = count, .at = found, .missing = missing};
}
