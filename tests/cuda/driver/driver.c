/* driver.c - a libcuda.so.1 with one device, that of a patient machine: memory is the host's, every
 * kernel of an op is taken to compute exp in f32, and time is what is counted here. A call takes 1 us,
 * and 2 us where its input has left the cache, which gives up the oldest first; moving memory for
 * the ceiling takes 0.5 us. What else may happen FAKE_CUDA in the environment says. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "library/dispatch.h"

enum { CACHE = 1 << 20, SEEN = 1 << 13, OWN = 256 };

/* What is launched: a kernel of an op, or one that moves memory, or a call of another library's. */
typedef struct work {
  int moves;
  void (*call)(const void *own);
  char own[OWN];
  lathe_args args;
  int races; /* with what else is under way */
} work;

typedef work launched;
#include "graphs.h"

static double now_us;
static CUstream copying; /* where copies are that nobody has waited for; null: none are */
static int under_way;    /* launches that nobody has waited for */
static const char kernel, mover, multiplier; /* stand for functions */

static int asked(const char *what) {
  const char *wish = getenv("FAKE_CUDA");

  return wish && strcmp(wish, what) == 0;
}

/* Whether an input was read so long ago that the cache has held others since. */
static int gone(const void *input, size_t bytes) {
  static struct {
    const void *input;
    double when; /* bytes read in all, by then */
  } seen[SEEN];
  static double read;
  size_t i = 0;
  int is_gone;

  while (seen[i].input && seen[i].input != input && i + 1 < SEEN)
    i++;
  is_gone = seen[i].input != input || read - seen[i].when + (double)bytes > CACHE;
  read += (double)bytes;
  seen[i].input = input;
  seen[i].when = read;
  return is_gone;
}

static void compute(const work *w) {
  static int calls;
  const float *x = w->args.buf[0];
  float *y = w->args.buf[1];

  for (size_t i = 0; i < w->args.dim[0]; i++)
    y[i] = expf(x[i]);
  /* By one ulp: the number next to infinity is wrong for another reason. */
  if ((w->races || (asked("waver") && calls++ % 2)) && w->args.dim[0] > 5 && !isinf(y[5]))
    y[5] = nextafterf(y[5], 0);
}

static void pass_time(const work *w) {
  if (w->call)
    now_us += 1;
  else if (w->moves)
    now_us += asked("slow memory") ? 50 : 0.5;
  else
    now_us += gone(w->args.buf[0], 2 * sizeof(float) * w->args.dim[0]) ? 2 : 1;
}

static void work_on(const work *w) {
  if (w->call)
    w->call(w->own);
  else if (!w->moves)
    compute(w);
  pass_time(w);
}

/* Does it, or records it. */
static CUresult take(const work *w) {
  if (being_made)
    record(w);
  else
    work_on(w);
  return 0;
}

CUresult fake_call(void (*call)(const void *own), const void *own, size_t bytes) {
  work w = {.call = call};

  if (bytes > OWN)
    return CUDA_ERROR_OUT_OF_MEMORY;
  memcpy(w.own, own, bytes);
  return take(&w);
}

/* ---- the driver's functions that have something to do ------------------------------------------- */

CUresult fake_init(unsigned flags) {
  (void)flags;
  while (asked("spin at the start"))
    ;
  if (asked("crash at the start"))
    raise(SIGSEGV);
  return fake_state;
}

CUresult fake_device_name(char *name, int size, CUdevice device) {
  (void)device;
  strncpy(name, "a fake", (size_t)size);
  return fake_state;
}

CUresult fake_device_attribute(int *value, int attribute, CUdevice device) {
  (void)device;
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR         ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR       ? 0
           : attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE                  ? CACHE
           : attribute == CU_DEVICE_ATTRIBUTE_WARP_SIZE                      ? 32
           : attribute == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? 2048
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT           ? 4
                                                                             : 1 << 16;
  return fake_state;
}

CUresult fake_module_load(CUmodule *module, const void *image) {
  *module = (CUmodule)(size_t)image;
  return fake_state;
}

CUresult fake_module_function(CUfunction *function, CUmodule module, const char *name) {
  (void)module;
  *function =
      (CUfunction)(strncmp(name, "reads", 5) == 0 || strncmp(name, "copies", 6) == 0 ? &mover
                   : strcmp(name, "multiplies") == 0                                 ? &multiplier
                                                                                     : &kernel);
  return fake_state;
}

/* Of every kernel: 40 registers, 16 bytes of shared memory, none elsewhere, and 2048 threads on a multiprocessor. */
CUresult fake_function_attribute(int *value, int attribute, CUfunction function) {
  (void)function;
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 40
           : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 16
                                                              : 0;
  return fake_state;
}

CUresult fake_blocks_at_once(int *blocks, CUfunction function, int threads,
                             size_t shared) __asm__("cuOccupancyMaxActiveBlocksPerMultiprocessor");
CUresult fake_blocks_at_once(int *blocks, CUfunction function, int threads, size_t shared) {
  (void)function, (void)shared;
  *blocks = 1536 / threads;
  return fake_state;
}

CUresult fake_copy_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  if (being_made)
    return take(&(work){.moves = 1});
  copying = stream;
  memcpy((void *)(size_t)to, (const void *)(size_t)from, bytes);
  return fake_state;
}

/* Whether a launch that follows another is not told from it. */
static int races_with_itself(void) {
  return asked("race with itself") && under_way++ > 0;
}

CUresult fake_launch_with(const cuda_launch_config *config, CUfunction function, void **parameters,
                          void **extra) {
  work w = {.moves = (const char *)function == &mover};

  (void)extra;
  if ((const char *)function == &multiplier) { /* 10 ns a round, whatever the number of blocks */
    now_us += 0.01 * *(const unsigned *)parameters[1];
    return fake_state;
  }
  if (!w.moves)
    memcpy(&w.args, parameters[0], sizeof w.args);
  if (!being_made && !w.moves)
    w.races = (asked("race with copies") && copying && copying != config->stream) ||
              (asked("race with caches") && copying == config->stream) || races_with_itself();
  if (asked("crash"))
    raise(SIGSEGV);
  if (asked("fault"))
    fake_state = CUDA_ERROR_ILLEGAL_ADDRESS;
  return take(&w);
}

CUresult fake_stream_query(CUstream stream) {
  if (copying == stream)
    copying = NULL;
  under_way = 0;
  fake_catch_up();
  return asked("spin") ? CUDA_ERROR_NOT_READY : fake_state;
}

CUresult fake_stream_synchronize(CUstream stream) {
  return fake_stream_query(stream);
}

CUresult fake_graph_launch(CUgraphExec graph, CUstream stream) {
  const recording *r = (const recording *)graph;

  (void)stream;
  for (int i = 0; i < r->count; i++) {
    work w = r->all[i];
    if (w.call) {
      work_on(&w);
      continue;
    }
    int last = i; /* call with that output: nobody sees what the others left there */
    for (int later = i + 1; later < r->count; later++)
      if (r->all[later].args.buf[1] == w.args.buf[1])
        last = later;
    if (!w.moves)
      w.races = races_with_itself();
    if (last == i && !w.moves)
      compute(&w);
    pass_time(&w);
  }
  return fake_state;
}

CUresult fake_event_create(CUevent *event, unsigned flags) {
  (void)flags;
  *event = malloc(sizeof now_us);
  return fake_state;
}

CUresult fake_event_record(CUevent event, CUstream stream) {
  (void)stream;
  memcpy(event, &now_us, sizeof now_us);
  return fake_state;
}

CUresult fake_event_elapsed(float *milliseconds, CUevent from, CUevent to) {
  double begin, end;

  memcpy(&begin, from, sizeof begin);
  memcpy(&end, to, sizeof end);
  *milliseconds = (float)((end - begin) * 1e-3);
  return fake_state;
}

CUresult fake_error_name(CUresult error, const char **text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "another error";
  return 0;
}
