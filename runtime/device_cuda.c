/* device_cuda.c - NVIDIA GPUs as devices, through the driver's library, which is opened at run time.
 *
 * A context is made when a call first wants one. After an error it is of no use, and with driver 580 a
 * process gets no other one then, whether the old one is destroyed or the primary one reset: the
 * device is lost to this process. A launch that does not end is waited for without end; see
 * device_limit. */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "clock.h"
#include "cuda_driver.h"
#include "device.h"
#include "dtype.h"

enum {
  MOST_DEVICES = 8,
  GUARD = 4096,     /* bytes on each side of a buffer's data */
  GRAPH_CALLS = 64, /* calls that one graph has */
  GRAPH_FROM = 8,   /* calls from which a batch is worth a graph */
  RATES = 48,       /* measured copy rates, by the power of two of the bytes */
};

static const unsigned char guard_byte = 0x7e, poison_byte = 0xfb;

/* A loaded image. */
typedef struct module {
  struct module *next;
  const lathe_image *image;
  CUmodule loaded;
} module;

typedef struct cuda_device {
  device head;
  char id[16], name[256];
  CUdevice ordinal;
  lathe_limits limits;
  CUcontext context; /* null: to be made */
  CUstream stream;
  CUevent begin, end;
  module *modules;
  double rate[RATES]; /* 0: not measured yet */
} cuda_device;

typedef struct cuda_buffer {
  CUdeviceptr zone, data; /* data within its guards */
  size_t zone_size, size;
} cuda_buffer;

typedef struct cuda_call {
  device_call head;
  cuda_buffer operand[LATHE_MAX_OPERANDS], workspace;
  void *host[LATHE_MAX_OPERANDS]; /* copies of the outputs, or of inputs to compare */
  lathe_args args;
  int count; /* launches of a call */
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  CUfunction function[LATHE_MAX_LAUNCHES];
  CUgraphExec graph; /* GRAPH_CALLS calls; null: not made yet */
} cuda_call;

static cuda_driver cuda;
static cuda_device devices[MOST_DEVICES];
static device *found[MOST_DEVICES];
static size_t count;
static char missing[256]; /* why there is no device */

static cuda_device *device_of(const device_call *call) {
  return (cuda_device *)call->on;
}

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)" */
static const char *error_text(CUresult error) {
  static char text[200];
  const char *name = NULL, *what = NULL;

  if (cuda.error_name(error, &name) != 0 || !name)
    name = "unknown error";
  if (cuda.error_string(error, &what) != 0 || !what)
    what = "the driver has no text for it";
  snprintf(text, sizeof text, "%s (%s)", what, name);
  return text;
}

/* ---- contexts ----------------------------------------------------------------------------------- */

/* Makes the context current, and makes it first where there is none. */
static CUresult use_context(cuda_device *d) {
  CUresult error;

  if (d->context)
    return cuda.context_use(d->context);
  error = cuda.context_create(&d->context, 0, d->ordinal);
  if (error)
    d->context = NULL;
  if (!error)
    error = cuda.stream_create(&d->stream, CU_STREAM_NON_BLOCKING);
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

/* Says what went wrong in a call. Memory that is not there leaves the context as it was; of the
 * other errors most do not, and to tell them apart is not worth it. */
static bool fail(device_call *call, CUresult error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(device_call *call, CUresult error, const char *format, ...) {
  va_list list;
  int length;

  va_start(list, format);
  length = vsnprintf(call->error, sizeof call->error, format, list);
  va_end(list);
  if (error) {
    if (length >= 0 && (size_t)length < sizeof call->error)
      snprintf(call->error + length, sizeof call->error - (size_t)length, ": %s",
               error_text(error));
    if (error != CUDA_ERROR_OUT_OF_MEMORY)
      call->on->lost = true;
  }
  return false;
}

/* Waits until the stream has done all. */
static CUresult finish(cuda_device *d) {
  CUresult error;

  while ((error = cuda.stream_query(d->stream)) == CUDA_ERROR_NOT_READY)
    ;
  return error;
}

static bool finished(device_call *call, const char *what) {
  const CUresult error = finish(device_of(call));

  return !error || fail(call, error, "%s failed", what);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static double memory(device *on) {
  cuda_device *d = (cuda_device *)on;
  size_t available = 0, total = 0;

  if (use_context(d) || cuda.memory_info(&available, &total))
    return -1;
  return (double)available;
}

/* An element's address is a multiple of its size, or the device cannot read it: the layout's offset
 * is rounded up to that. */
static CUresult make_buffer(cuda_buffer *b, size_t size, size_t element, device_layout layout) {
  const size_t offset = (layout.offset + element - 1) / element * element;
  const size_t lead = GUARD + (layout.page_end ? (0 - size) % 256 : offset);
  CUresult error;

  b->size = size;
  b->zone_size = lead + size + GUARD;
  error = cuda.memory_allocate(&b->zone, b->zone_size);
  if (error) {
    b->zone = 0;
    return error;
  }
  b->data = b->zone + lead;
  error = cuda.fill(b->zone, guard_byte, b->zone_size);
  return error ? error : cuda.fill(b->data, 0, size);
}

/* The operand whose buffer an operand uses: its own, but for the output of an in-place call. */
static int home_of(const cuda_call *c, int operand) {
  const lathe_op *op = c->head.variant->op;
  int input = 0, output = 0;

  while (op->operands[input].output)
    input++;
  while (!op->operands[output].output)
    output++;
  return c->head.layout.in_place && operand == output ? input : operand;
}

static CUresult allocate(cuda_call *c) {
  const lathe_variant *v = c->head.variant;
  const problem *p = c->head.problem;
  CUresult error = 0;

  for (int o = 0; o < v->op->noperands && !error; o++) {
    const size_t element = lathe_dtype_size(dtype_of_operand(&v->op->operands[o], v->dtype));
    if (home_of(c, o) != o)
      continue;
    error = make_buffer(&c->operand[o], p->bytes[o], element, c->head.layout);
    if (!error && p->input[o])
      error = cuda.to_device(c->operand[o].data, p->input[o], p->bytes[o]);
  }
  for (int o = 0; o < v->op->noperands; o++)
    c->args.buf[o] = (void *)(uintptr_t)c->operand[home_of(c, o)].data; /* NOLINT */
  if (v->workspace && !error) {
    error = make_buffer(&c->workspace, (size_t)v->workspace(p->dim), 1, (device_layout){0});
    c->args.workspace = (void *)(uintptr_t)c->workspace.data; /* NOLINT */
  }
  return error;
}

static void release(device_call *call) {
  cuda_call *c = (cuda_call *)call;

  if (!call->on->lost) { /* else its memory goes with the context */
    if (c->graph)
      cuda.graph_exec_free(c->graph);
    for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
      if (c->operand[o].zone)
        cuda.memory_free(c->operand[o].zone);
    if (c->workspace.zone)
      cuda.memory_free(c->workspace.zone);
  }
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    free(c->host[o]);
  free(c);
}

/* ---- calls -------------------------------------------------------------------------------------- */

/* The kernels of a call; false with the reason in why. */
static bool load(cuda_call *c, const char **why) {
  static char text[320];
  cuda_device *d = device_of(&c->head);
  const lathe_variant *v = c->head.variant;
  module *m = d->modules;
  CUresult error;

  while (m && m->image != v->image)
    m = m->next;
  if (!m) {
    m = calloc(1, sizeof *m);
    if (!m) {
      *why = "not enough memory";
      return false;
    }
    error = cuda.module_load(&m->loaded, v->image->start);
    if (error) {
      free(m);
      snprintf(text, sizeof text, "its code could not be loaded: %s%s", error_text(error),
               error == CUDA_ERROR_NO_BINARY_FOR_GPU ? "; configure --cuda-arch adds this GPU's"
                                                     : "");
      *why = text;
      return false;
    }
    m->image = v->image;
    m->next = d->modules;
    d->modules = m;
  }
  c->count = v->launches(&c->args, &d->limits, c->launch);
  if (c->count == 0) {
    *why = "the variant has no launch for this size";
    return false;
  }
  for (int l = 0; l < c->count; l++) {
    error = cuda.module_function(&c->function[l], m->loaded, c->launch[l].kernel);
    if (!error && c->launch[l].shared > 48u << 10)
      error = cuda.function_set(c->function[l], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)c->launch[l].shared);
    if (error) {
      snprintf(text, sizeof text, "kernel %s: %s", c->launch[l].kernel, error_text(error));
      *why = text;
      return false;
    }
  }
  return true;
}

static device_call *prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  static char text[256];
  cuda_device *d = (cuda_device *)on;
  cuda_call *c;
  CUresult error;

  *why = NULL;
  if (layout.in_place && !variant->op->in_place) {
    *why = "the op does not work in place";
    return NULL;
  }
  error = use_context(d);
  if (error) {
    snprintf(text, sizeof text, "no context could be made: %s", error_text(error));
    *why = text;
    return NULL;
  }
  c = calloc(1, sizeof *c);
  if (!c) {
    *why = "not enough memory";
    return NULL;
  }
  c->head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  c->args = problem_args(p);
  error = allocate(c);
  if (!error)
    error = variant->workspace ? cuda.fill(c->workspace.data, 0, c->workspace.size) : 0;
  if (error == CUDA_ERROR_OUT_OF_MEMORY) {
    *why = "not enough memory on the device for the operands";
  } else if (error) {
    on->lost = true;
    snprintf(text, sizeof text, "its buffers could not be made: %s", error_text(error));
    *why = text;
  }
  if (*why || !load(c, why)) {
    release(&c->head);
    return NULL;
  }
  return &c->head;
}

static void reset(device_call *call) {
  cuda_call *c = (cuda_call *)call;
  const lathe_op *op = call->variant->op;

  if (call->on->lost)
    return;
  for (int o = 0; o < op->noperands; o++) {
    if (op->operands[o].output && home_of(c, o) == o)
      cuda.fill(c->operand[o].data, poison_byte, c->operand[o].size);
    else if (op->operands[o].output) /* an input that the last call wrote over */
      cuda.to_device(c->operand[home_of(c, o)].data, call->problem->input[home_of(c, o)],
                     call->problem->bytes[home_of(c, o)]);
  }
  /* These went to another stream than the kernels will. An error here comes again there. */
  cuda.synchronize();
}

static CUresult launch(cuda_call *c) {
  void *parameters[] = {&c->args};
  CUresult error = 0;

  for (int l = 0; l < c->count && !error; l++) {
    const lathe_launch *k = &c->launch[l];
    error =
        cuda.launch(c->function[l], k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
                    k->block[2], k->shared, device_of(&c->head)->stream, parameters, NULL);
  }
  return error;
}

static bool usable(device_call *call) {
  return !call->on->lost || fail(call, 0, "an earlier call failed");
}

static bool run(device_call *call) {
  CUresult error;

  if (!usable(call))
    return false;
  error = launch((cuda_call *)call);
  if (error)
    return fail(call, error, "the launch failed");
  return finished(call, "the kernel");
}

/* Records GRAPH_CALLS calls, so that launching them costs the host next to nothing. */
static CUresult make_graph(cuda_call *c) {
  cuda_device *d = device_of(&c->head);
  CUgraph graph = NULL;
  CUresult error = cuda.capture_begin(d->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CUresult ended;

  for (int i = 0; i < GRAPH_CALLS && !error; i++)
    error = launch(c);
  ended = cuda.capture_end(d->stream, &graph);
  error = error ? error : ended;
  if (!error)
    error = cuda.graph_make(&c->graph, graph, 0);
  if (graph)
    cuda.graph_free(graph);
  if (!error)
    error = cuda.graph_upload(c->graph, d->stream);
  return error ? error : finish(d);
}

/* Events around the batch give the device's time. Many short calls go as graphs: one by one they
 * would wait for the host. */
static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  cuda_call *c = (cuda_call *)call;
  cuda_device *d = device_of(call);
  uint64_t graphs = calls >= GRAPH_FROM ? calls / GRAPH_CALLS : 0;
  uint64_t single = calls - graphs * GRAPH_CALLS;
  CUresult error = 0;
  float milliseconds;
  double start;

  if (!usable(call))
    return false;
  if (graphs > 0 && !c->graph)
    error = make_graph(c);
  start = clock_ns();
  if (!error)
    error = cuda.event_record(d->begin, d->stream);
  for (; graphs > 0 && !error; graphs--)
    error = cuda.graph_launch(c->graph, d->stream);
  for (; single > 0 && !error; single--)
    error = launch(c);
  if (!error)
    error = cuda.event_record(d->end, d->stream);
  if (error)
    return fail(call, error, "a launch failed while it was timed");
  if (!finished(call, "the kernel, while it was timed,"))
    return false;
  taken->host = clock_ns() - start;
  error = cuda.event_elapsed(&milliseconds, d->begin, d->end);
  if (error)
    return fail(call, error, "the device's clock could not be read");
  taken->own = milliseconds * 1e6;
  return true;
}

/* ---- what a call left --------------------------------------------------------------------------- */

/* A copy of an operand here; where it cannot be had, one that was never written. */
static void *fetch(cuda_call *c, int operand) {
  const size_t bytes = c->head.problem->bytes[operand];

  if (!c->host[operand])
    c->host[operand] = malloc(bytes ? bytes : 1);
  if (!c->host[operand]) {
    fail(&c->head, 0, "not enough memory for a copy of the results");
    return NULL;
  }
  if (c->head.on->lost ||
      cuda.to_host(c->host[operand], c->operand[home_of(c, operand)].data, bytes))
    memset(c->host[operand], poison_byte, bytes);
  return c->host[operand];
}

static const void *output(device_call *call, int operand) {
  cuda_call *c = (cuda_call *)call;
  const void *copy = fetch(c, operand);

  /* The reference's own type is at least as large: no right result, but memory to look at. */
  return copy ? copy : call->problem->expected[operand];
}

static bool guards_hold(device_call *call, const cuda_buffer *b, const char *name) {
  unsigned char guard[2 * GUARD];
  const size_t whole = b->data - b->zone, lead = whole < sizeof guard ? whole : sizeof guard;
  CUresult error;

  if (!b->zone)
    return true;
  error = cuda.to_host(guard, b->data - lead, lead);
  if (error)
    return fail(call, error, "the guard before %s could not be read", name);
  for (size_t i = lead; i-- > 0;)
    if (guard[i] != guard_byte)
      return fail(call, 0, "wrote before the start of %s, %zu bytes", name, lead - i);
  error = cuda.to_host(guard, b->data + b->size, GUARD);
  if (error)
    return fail(call, error, "the guard after %s could not be read", name);
  for (size_t i = 0; i < GUARD; i++)
    if (guard[i] != guard_byte)
      return fail(call, 0, "wrote after the end of %s, at %zu bytes past it", name, i);
  return true;
}

static bool intact(device_call *call) {
  cuda_call *c = (cuda_call *)call;
  const lathe_op *op = call->variant->op;
  const problem *p = call->problem;

  if (!usable(call))
    return false;
  for (int o = 0; o < op->noperands; o++)
    if (!guards_hold(call, &c->operand[o], op->operands[o].name))
      return false;
  for (int o = 0; o < op->noperands; o++) {
    const unsigned char *now;
    bool shared = false;
    for (int other = 0; other < op->noperands; other++)
      shared = shared || (op->operands[other].output && home_of(c, other) == o);
    if (!p->input[o] || shared)
      continue;
    now = fetch(c, o);
    if (!now)
      return false;
    if (memcmp(now, p->input[o], p->bytes[o]) != 0) {
      size_t at = 0;
      while (now[at] == ((const unsigned char *)p->input[o])[at])
        at++;
      return fail(call, 0, "wrote into its input %s, %zu bytes from its start",
                  op->operands[o].name, at);
    }
    free(c->host[o]); /* inputs can be large, and are looked at once */
    c->host[o] = NULL;
  }
  return guards_hold(call, &c->workspace, "the workspace");
}

/* ---- the ceiling -------------------------------------------------------------------------------- */

/* Bytes per second, read and written together, of the driver's own copy of `bytes` / 2 bytes. */
static double copy_rate(cuda_device *d, size_t bytes) {
  CUdeviceptr from = 0, to = 0;
  double best = 0;
  float milliseconds = 0;
  int copies = bytes < 64u << 20 ? 200 : 20;

  if (use_context(d) || cuda.memory_allocate(&from, bytes / 2))
    return -1;
  if (cuda.memory_allocate(&to, bytes / 2) == 0) {
    bool ok = true;
    for (int round = 0; round < 5 && ok; round++) {
      ok = cuda.event_record(d->begin, d->stream) == 0;
      for (int i = 0; i < copies && ok; i++)
        ok = cuda.copy_async(to, from, bytes / 2, d->stream) == 0;
      ok = ok && cuda.event_record(d->end, d->stream) == 0 && finish(d) == 0 &&
           cuda.event_elapsed(&milliseconds, d->begin, d->end) == 0;
      if (ok)
        best = fmax(best, (double)bytes * copies / (milliseconds * 1e-3));
    }
    cuda.memory_free(to);
  }
  cuda.memory_free(from);
  return best > 0 ? best : -1;
}

/* Of about as many bytes, at the next power of two. Less than 4 MiB take as long as starting to
 * copy them does, which says nothing of the memory. */
static double ceiling(device *on, double bytes_in, double bytes_out, const char **name) {
  cuda_device *d = (cuda_device *)on;
  const double bytes = bytes_in + bytes_out;
  const int power = (int)ceil(log2(bytes + 1));

  *name = "the driver's copy";
  if (power < 22 || power >= RATES)
    return 0;
  if (d->rate[power] == 0)
    d->rate[power] = copy_rate(d, (size_t)1 << power);
  return d->rate[power] > 0 ? d->rate[power] : 0;
}

/* ---- finding devices ---------------------------------------------------------------------------- */

static bool load_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);

  if (!library) {
    snprintf(missing, sizeof missing, "NVIDIA's driver is not installed (no libcuda.so.1)");
    return false;
  }
#define FIND(name, symbol, parameters)                                                             \
  *(void **)&cuda.name = dlsym(library, symbol);                                                   \
  if (!cuda.name) {                                                                                \
    snprintf(missing, sizeof missing, "NVIDIA's driver is too old: it has no %s", symbol);         \
    return false;                                                                                  \
  }
  CUDA_FUNCTIONS(FIND)
#undef FIND
  return true;
}

static int attribute(CUdevice ordinal, int which) {
  int value = 0;

  return cuda.device_attribute(&value, which, ordinal) ? 0 : value;
}

static bool describe(cuda_device *d, int i) {
  int major, minor;

  if (cuda.device_get(&d->ordinal, i))
    return false;
  major = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  minor = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  snprintf(d->id, sizeof d->id, "cuda%d", i);
  if (cuda.device_name(d->name, (int)sizeof d->name, d->ordinal))
    snprintf(d->name, sizeof d->name, "unknown GPU");
  snprintf(d->name + strlen(d->name), sizeof d->name - strlen(d->name),
           ", compute capability %d.%d", major, minor);
  d->limits = (lathe_limits){
      .multiprocessors = (uint32_t)attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      .subgroup = (uint32_t)attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
      .group = (uint32_t)attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .grid = (uint32_t)attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
      .shared =
          (size_t)attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
  };
  d->head = (device){
      .id = d->id,
      .name = d->name,
      .kind = LATHE_CUDA,
      .features = LATHE_ON_CUDA | (major >= 8 ? LATHE_SM80 : 0),
      .memory = memory,
      .prepare = prepare,
      .release = release,
      .reset = reset,
      .run = run,
      .time = time_calls,
      .output = output,
      .intact = intact,
      .ceiling = ceiling,
  };
  return true;
}

static void find_devices(void) {
  CUresult error;
  int there = 0;

  if (!load_driver())
    return;
  error = cuda.init(0);
  if (!error)
    error = cuda.device_count(&there);
  if (error || there == 0)
    snprintf(missing, sizeof missing, "NVIDIA's driver finds no device: %s",
             error_text(error ? error : CUDA_ERROR_NO_DEVICE));
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
