/* device.c - NVIDIA GPUs as devices, through the driver's library, which is opened at run time.
 *
 * A context is made when a call first wants one. After an error it is of no use, and with driver 580 a
 * process gets no other one then, whether the old one is destroyed or the primary one reset: the
 * device is lost to this process. A launch that does not end is waited for without end; see
 * worker.h. */
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "base/clock.h"
#include "devices/common/buffer.h"
#include "devices/common/image.h"
#include "devices/common/remote.h"
#include "driver.h"
#include "library/launch.h"
#include "others.h"
#include "streams.h"

enum {
  MOST_DEVICES = 8,
  GRAPH_CALLS = 64, /* calls that one graph has */
  FEW_CALLS = 8,    /* that are enough where each takes long */
  MOST_SETS = 4096, /* copies of operands that a cold call may take; in whole graphs */
  CACHES = 3,       /* times the cache that they fill: it does not give up the oldest first */
  SPARES = 64,      /* zones of small buffers that are kept for the next */
  SPARE = 64 << 10, /* bytes of each */
  ALIGNMENT = 256,
  MOST_PARTS = 2, /* fat binaries of one image */
};

static const size_t large = 64u << 20; /* bytes from which few runs tell a rate */

/* An image, unpacked: fat binaries, one after another, each loaded when a kernel of it is first asked for. The
 * second has the kernels that the first's architecture is too old for. */
typedef struct module {
  struct module *next;
  const lathe_image *image;
  const unsigned char *code;
  size_t size;
  CUmodule part[MOST_PARTS]; /* null: not loaded yet */
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
  CUmodule streams; /* the kernels of streams.h; null: not loaded yet */
  CUdeviceptr spare[SPARES];
  int spares;
} cuda_device;

typedef struct cuda_buffer {
  CUdeviceptr zone, data; /* data within its guards */
  size_t zone_size, size;
} cuda_buffer;

typedef struct cuda_call {
  device_call head;
  cuda_buffer operand[LATHE_MAX_OPERANDS], workspace;
  cuda_buffer input[LATHE_MAX_OPERANDS]; /* those of the problem that calls take turns with */
  void *host[LATHE_MAX_OPERANDS];        /* copies of the outputs, or of inputs to compare */
  lathe_args args, other_args;
  bool by_call; /* each call takes its turn, not each batch */
  int turn;     /* whose a batch is */
  int count;    /* launches of a call */
  lathe_launch launch[LATHE_MAX_LAUNCHES];
  CUfunction function[LATHE_MAX_LAUNCHES];
  const cuda_other *other; /* what puts calls on the stream in the place of launches; or null */
  void *others_own;
  /* Of its calls, where they are fewer than a graph has: so many, from one on, in a turn. */
  CUgraphExec rest;
  int rest_calls, rest_first, rest_turn;
  /* Sets of operands that timed calls take in turn: the first is `operand`, the others lie one after
   * the other in `copies`, each operand in its slot. */
  int sets, next_set, next_graph;
  CUdeviceptr copies;
  size_t set_size, slot[LATHE_MAX_OPERANDS];
  CUgraphExec graph[MOST_SETS / GRAPH_CALLS]; /* null: not made yet */
} cuda_call;

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

  va_start(list, format);
  device_fail_list(call, error ? error_text(error) : NULL, format, list);
  va_end(list);
  if (error && error != CUDA_ERROR_OUT_OF_MEMORY)
    call->on->lost = true;
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

static CUresult make_zone(cuda_device *d, CUdeviceptr *zone, size_t size) {
  if (size > SPARE)
    return cuda.memory_allocate(zone, size);
  if (d->spares == 0)
    return cuda.memory_allocate(zone, SPARE);
  *zone = d->spare[--d->spares];
  return 0;
}

static void free_buffer(cuda_device *d, cuda_buffer *b) {
  if (b->zone && b->zone_size <= SPARE && d->spares < SPARES)
    d->spare[d->spares++] = b->zone;
  else if (b->zone)
    cuda.memory_free(b->zone);
  *b = (cuda_buffer){0};
}

static CUresult make_buffer(cuda_device *d, cuda_buffer *b, size_t size, size_t offset) {
  const size_t lead = REMOTE_GUARD + offset;
  CUresult error;

  b->size = size;
  b->zone_size = lead + size + REMOTE_GUARD;
  error = make_zone(d, &b->zone, b->zone_size);
  if (error) {
    b->zone = 0;
    return error;
  }
  b->data = b->zone + lead;
  return cuda.fill(b->zone, remote_guard_byte, b->zone_size);
}

static size_t round_up(size_t value, size_t to) {
  return (value + to - 1) / to * to;
}

/* An operand in the nth set, as well aligned as in the first. */
static CUdeviceptr copy_of(const cuda_call *c, int operand, int nth) {
  const CUdeviceptr data = c->operand[operand].data;

  return c->copies + (size_t)(nth - 1) * c->set_size + c->slot[operand] + data % ALIGNMENT;
}

/* An address in the form in which the generated code takes it. */
static void *pointer_to(CUdeviceptr address) {
  return (void *)(uintptr_t)address; /* NOLINT */
}

static CUresult allocate(cuda_call *c) {
  cuda_device *d = device_of(&c->head);
  const lathe_variant *v = c->head.variant;
  const problem *p = c->head.problem;
  CUresult error = 0;

  for (int o = 0; o < v->op->noperands && !error; o++) {
    if (device_home(&c->head, o) != o)
      continue;
    error = make_buffer(d, &c->operand[o], p->bytes[o], device_offset(&c->head, o));
    if (!error && p->input[o])
      error = cuda.to_device(c->operand[o].data, p->input[o], p->bytes[o]);
  }
  for (int o = 0; o < v->op->noperands; o++)
    c->args.buf[o] = pointer_to(c->operand[device_home(&c->head, o)].data);
  const size_t workspace = (size_t)lathe_workspace(v, p->dim);
  if (workspace && !error) {
    error = make_buffer(d, &c->workspace, workspace, 0);
    c->args.workspace = pointer_to(c->workspace.data);
  }
  return error;
}

static void free_graphs(cuda_call *c) {
  for (size_t g = 0; g < sizeof c->graph / sizeof *c->graph; g++) {
    if (c->graph[g])
      cuda.graph_exec_free(c->graph[g]);
    c->graph[g] = NULL;
  }
  if (c->rest)
    cuda.graph_exec_free(c->rest);
  c->rest = NULL;
}

static void release(device_call *call) {
  cuda_call *c = (cuda_call *)call;

  if (c->others_own)
    c->other->release(c->others_own, call->on->lost);
  if (!call->on->lost) { /* else its memory goes with the context */
    free_graphs(c);
    if (c->copies)
      cuda.memory_free(c->copies);
    for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
      free_buffer(device_of(call), &c->operand[o]);
      free_buffer(device_of(call), &c->input[o]);
    }
    free_buffer(device_of(call), &c->workspace);
  }
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    if (c->host[o] && cuda.host_unregister)
      cuda.host_unregister(c->host[o]); /* of one that is not registered it says so, to nobody */
    free(c->host[o]);
  }
  free(c);
}

/* ---- calls -------------------------------------------------------------------------------------- */

/* How a kernel of clusters is launched; attribute: room for what config points to. */
static cuda_launch_config cluster_config(const lathe_launch *k, cuda_launch_attribute *attribute) {
  *attribute = (cuda_launch_attribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                       .value = {k->cluster, 1, 1}};
  return (cuda_launch_config){.grid = {k->grid[0], k->grid[1], k->grid[2]},
                              .block = {k->block[0], k->block[1], k->block[2]},
                              .shared = k->shared,
                              .attributes = attribute,
                              .count = 1};
}

/* Leaves of a kernel's clusters as many as may run at once. */
static CUresult leave_resident(CUfunction function, lathe_launch *k) {
  cuda_launch_attribute attribute;
  const cuda_launch_config config = cluster_config(k, &attribute);
  int most = 0;
  const CUresult error = cuda.max_active_clusters(&most, function, &config);

  if (!error && most > 0 && (uint32_t)most * k->cluster < k->grid[0])
    k->grid[0] = (uint32_t)most * k->cluster;
  return error;
}

/* Where the nth fat binary of an image begins, or NULL. Each says in its head how long that is, and what
 * follows (fatBinaryHeader in CUDA's fatbinary_section.h). An image of anything else is one part. */
static const unsigned char *part_of(const module *m, int nth) {
  const unsigned char *at = m->code;

  for (; nth > 0; nth--) {
    struct {
      uint32_t magic;
      uint16_t version, bytes;
      uint64_t rest;
    } head;
    const size_t left = m->size - (size_t)(at - m->code);
    if (left < sizeof head)
      return NULL;
    memcpy(&head, at, sizeof head);
    if (head.magic != 0xba55ed50 || head.rest >= left || left - head.rest <= head.bytes)
      return NULL;
    at += head.bytes + head.rest;
  }
  return at;
}

/* CUDA_ERROR_NOT_FOUND where no part of the image has the kernel for this GPU. */
static CUresult find_kernel(module *m, const char *name, CUfunction *function) {
  CUresult error = CUDA_ERROR_NOT_FOUND;

  for (int i = 0; i < MOST_PARTS && error == CUDA_ERROR_NOT_FOUND; i++) {
    const unsigned char *start = part_of(m, i);
    if (!start)
      break;
    error = m->part[i] ? 0 : cuda.module_load(&m->part[i], start);
    if (!error)
      error = cuda.module_function(function, m->part[i], name);
    else if (i > 0 && error == CUDA_ERROR_NO_BINARY_FOR_GPU)
      error = CUDA_ERROR_NOT_FOUND;
  }
  return error;
}

/* The launches of a call and their kernels; false with the reason in why. Code for an architecture that has no
 * clusters, which later GPUs' drivers may compile, has no kernels for them. */
static bool find_kernels(cuda_call *c, module *m, const lathe_limits *limits, const char **why) {
  static char text[320];

  c->count = lathe_launch_cuda(c->head.variant->schedule, &c->args, limits, c->launch);
  if (c->count == 0) {
    *why = "the variant has no launch for this size";
    return false;
  }
  for (int l = 0; l < c->count; l++) {
    lathe_launch *launch = &c->launch[l];
    CUresult error = find_kernel(m, launch->kernel, &c->function[l]);
    if (error == CUDA_ERROR_NOT_FOUND && launch->cluster > 1) {
      lathe_limits without = *limits;
      without.cluster = 1;
      return find_kernels(c, m, &without, why);
    }
    if (!error && launch->shared > 48u << 10)
      error = cuda.function_set(c->function[l], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)launch->shared);
    if (!error && launch->resident)
      error = leave_resident(c->function[l], launch);
    if (error) {
      snprintf(text, sizeof text, "kernel %s: %s%s", launch->kernel, error_text(error),
               error == CUDA_ERROR_NO_BINARY_FOR_GPU ? "; configure --cuda-arch adds this GPU's"
                                                     : "");
      *why = text;
      return false;
    }
  }
  return true;
}

/* The kernels of a call; false with the reason in why. */
static bool load_kernels(cuda_call *c, const char **why) {
  cuda_device *d = device_of(&c->head);
  const lathe_image *image = c->head.variant->image;
  module *m = d->modules;

  while (m && m->image != image)
    m = m->next;
  if (!m) {
    m = calloc(1, sizeof *m);
    if (!m) {
      *why = "not enough memory";
      return false;
    }
    m->code = image_unpack(image, &m->size, why);
    if (!m->code) {
      free(m);
      return false;
    }
    m->next = d->modules;
    m->image = image;
    d->modules = m;
  }
  return find_kernels(c, m, &d->limits, why);
}

/* Calls of one graph: GRAPH_CALLS, or a little less, so that it goes round the sets a whole number of
 * times. There are as many graphs as it takes to go round once. */
static int graph_calls(const cuda_call *c) {
  return c->sets < GRAPH_CALLS ? GRAPH_CALLS / c->sets * c->sets : GRAPH_CALLS;
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
  c->sets = 1;
  c->head.group = (uint64_t)graph_calls(c);
  c->args = problem_args(p);
  error = allocate(c);
  if (!error)
    error = c->workspace.data ? cuda.fill(c->workspace.data, 0, c->workspace.size) : 0;
  if (error == CUDA_ERROR_OUT_OF_MEMORY) {
    *why = "not enough memory on the device for the operands";
  } else if (error) {
    on->lost = true;
    snprintf(text, sizeof text, "its buffers could not be made: %s", error_text(error));
    *why = text;
  }
  c->other = cuda_other_of(variant->backend);
  if (!*why && c->other)
    c->others_own = c->other->prepare(variant, &c->args, d->stream, why);
  if (c->other ? !c->others_own : *why || !load_kernels(c, why)) {
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
    if (op->operands[o].output && device_home(&c->head, o) == o)
      cuda.fill(c->operand[o].data, remote_poison_byte, c->operand[o].size);
    else if (op->operands[o].output) /* an input that the last call wrote over */
      cuda.to_device(c->operand[device_home(&c->head, o)].data,
                     call->problem->input[device_home(&c->head, o)],
                     call->problem->bytes[device_home(&c->head, o)]);
  }
  /* These went to another stream than the kernels will. An error here comes again there. */
  cuda.synchronize();
}

static bool load(device_call *call, const problem *p) {
  cuda_call *c = (cuda_call *)call;
  const lathe_args with = problem_args(p);
  CUresult error = 0;

  call->problem = p;
  memcpy(c->args.scalar, with.scalar, sizeof with.scalar);
  for (int o = 0; o < p->op->noperands && !error; o++)
    if (p->input[o])
      error = cuda.to_device(c->operand[o].data, p->input[o], p->bytes[o]);
  if (!error)
    error = cuda.synchronize();
  return !error || fail(call, error, "the inputs could not be copied");
}

/* Where the cache that holds the operands would not hold two problems' inputs, a batch has one problem. */
static bool take_turns(device_call *call, const problem *other) {
  const double mine = 0.75, beyond = 4; /* of the cache */
  cuda_call *c = (cuda_call *)call;
  double bytes = 0, more = 0;
  CUresult error = 0;

  c->other_args = problem_args(other);
  memcpy(c->other_args.buf, c->args.buf, sizeof c->args.buf);
  c->other_args.workspace = c->args.workspace;
  for (int o = 0; o < other->op->noperands && !error; o++) {
    bytes += (double)other->bytes[o];
    if (!other->input[o])
      continue;
    more += (double)other->bytes[o];
    error = make_buffer(device_of(call), &c->input[o], other->bytes[o], device_offset(call, o));
    if (!error)
      error = cuda.to_device(c->input[o].data, other->input[o], other->bytes[o]);
    c->other_args.buf[o] = pointer_to(c->input[o].data);
  }
  if (!error)
    error = cuda.synchronize();
  if (error) {
    for (int o = 0; o < other->op->noperands; o++)
      free_buffer(device_of(call), &c->input[o]);
    return false;
  }
  call->other = other;
  c->by_call = bytes + more <= mine * call->on->cache || bytes > beyond * call->on->cache;
  return true;
}

/* Of the nth call, whether it is of the problem that calls take turns with. */
static bool is_other(const cuda_call *c, int nth) {
  return c->head.other && (c->by_call ? nth % 2 : c->turn);
}

/* The map of a call's operand. What it is made of were fit for one when the launch was chosen. */
static CUresult make_map(CUtensorMap *made, const lathe_tensor_map *map, const lathe_args *args) {
  static const unsigned steps[5] = {1, 1, 1, 1, 1};
  uint64_t extents[5], strides[4];
  unsigned long long extent[5] = {0}, stride[5] = {0};
  const int rank = lathe_lay_out(map, args, extents, strides);
  int type = CU_TENSOR_MAP_DATA_TYPE_UINT8, swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;

  for (int i = 0; i < rank; i++)
    extent[i] = extents[i];
  for (int i = 0; i + 1 < rank; i++)
    stride[i] = strides[i];
  for (uint32_t bytes = map->bytes; bytes > 1; bytes /= 2)
    type++;
  for (uint32_t bytes = map->swizzle; bytes >= 32; bytes /= 2)
    swizzle++;
  return cuda.tensor_map(made, type, (unsigned)rank, args->buf[map->operand], extent, stride,
                         map->box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                         CU_TENSOR_MAP_L2_PROMOTION_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* The kernels of one call, on the nth set of operands. */
static CUresult launch(const void *argument, int nth) {
  const cuda_call *c = argument;
  const lathe_op *op = c->head.variant->op;
  lathe_args args = is_other(c, nth) ? c->other_args : c->args;
  CUtensorMap maps[LATHE_MAX_MAPS] = {0};
  void *parameters[] = {&args, &maps[0], &maps[1]};
  CUresult error = 0;

  nth %= c->sets;
  for (int o = 0; o < op->noperands && nth > 0; o++)
    args.buf[o] = pointer_to(copy_of(c, device_home(&c->head, o), nth));
  if (c->other)
    return c->other->enqueue(c->others_own, &args, device_of(&c->head)->stream);
  for (int l = 0; l < c->count && !error; l++) {
    const lathe_launch *k = &c->launch[l];
    const CUstream stream = device_of(&c->head)->stream;
    for (int i = 0; i < k->nmaps && !error; i++)
      error = make_map(&maps[i], &k->maps[i], &args);
    if (error)
      break;
    if (k->cluster > 1) {
      cuda_launch_attribute attribute;
      cuda_launch_config config = cluster_config(k, &attribute);
      config.stream = stream;
      error = cuda.launch_with(&config, c->function[l], parameters, NULL);
    } else {
      error = cuda.launch(c->function[l], k->grid[0], k->grid[1], k->grid[2], k->block[0],
                          k->block[1], k->block[2], k->shared, stream, parameters, NULL);
    }
  }
  return error;
}

static bool usable(device_call *call) {
  return !call->on->lost || fail(call, 0, "an earlier call failed");
}

static bool run(device_call *call) {
  cuda_call *c = (cuda_call *)call;
  CUresult error;

  if (!usable(call))
    return false;
  c->turn = 0;
  error = launch(call, 0);
  if (error)
    return fail(call, error, "the launch failed");
  return finished(call, "the kernel");
}

/* Records calls, so that launching them costs the host next to nothing: those from `first` on. */
static CUresult capture(cuda_device *d, CUresult (*call)(const void *, int), const void *argument,
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
  return error ? error : finish(d);
}

static int graph_count(const cuda_call *c) {
  return c->sets <= GRAPH_CALLS ? 1 : c->sets / GRAPH_CALLS;
}

/* A graph of them: that of a batch of the other problem is one more. */
static CUgraphExec *graph_at(cuda_call *c, int at) {
  return &c->graph[at + (c->by_call ? 0 : c->turn)];
}

/* Records some calls of another library, which may take longer to ask for than to compute, from the next on. */
static CUresult capture_rest(cuda_call *c, int calls) {
  if (c->rest && c->rest_calls == calls && c->rest_first == c->next_set && c->rest_turn == c->turn)
    return 0;
  if (c->rest)
    cuda.graph_exec_free(c->rest);
  c->rest = NULL;
  c->rest_calls = calls;
  c->rest_first = c->next_set;
  c->rest_turn = c->turn;
  return capture(device_of(&c->head), launch, c, c->next_set, calls, &c->rest);
}

/* Events around the batch give the device's time. Many short calls go as graphs: one by one they
 * would wait for the host. */
static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  cuda_call *c = (cuda_call *)call;
  cuda_device *d = device_of(call);
  const int each = graph_calls(c), graphs = graph_count(c);
  const uint64_t whole = calls / (uint64_t)each;
  const uint64_t single = calls - whole * (uint64_t)each;
  int last = each - 1;
  CUresult error = 0;
  float milliseconds;
  double start;

  if (!usable(call))
    return false;
  if (call->other)
    c->turn = !c->turn;
  for (int g = 0; g < graphs && (uint64_t)g < whole && !error; g++) {
    const int at = (c->next_graph + g) % graphs;
    if (!*graph_at(c, at))
      error = capture(d, launch, c, at * each, each, graph_at(c, at));
  }
  if (c->other && single > 0 && !error)
    error = capture_rest(c, (int)single);
  start = clock_ns();
  if (!error)
    error = cuda.event_record(d->begin, d->stream);
  for (uint64_t g = 0; g < whole && !error; g++) {
    error = cuda.graph_launch(*graph_at(c, c->next_graph), d->stream);
    c->next_graph = (c->next_graph + 1) % graphs;
  }
  if (c->other && single > 0 && !error)
    error = cuda.graph_launch(c->rest, d->stream);
  for (uint64_t s = 0; s < single && !error; s++) {
    last = c->next_set;
    if (!c->other)
      error = launch(c, last);
    c->next_set = (last + 1) % (c->sets > 1 ? c->sets : 2);
  }
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
  call->others = is_other(c, last);
  return true;
}

/* The workspace stays one: it is the variant's own, and small. */
static bool cool(device_call *call) {
  cuda_call *c = (cuda_call *)call;
  const lathe_op *op = call->variant->op;
  const double wanted = CACHES * call->on->cache;
  size_t bytes = 0, available = 0, total = 0;
  int sets;

  for (int o = 0; o < op->noperands; o++)
    if (device_home(&c->head, o) == o) {
      bytes += c->operand[o].size;
      c->slot[o] = c->set_size;
      c->set_size += round_up(c->operand[o].size, ALIGNMENT) + ALIGNMENT;
    }
  if (!usable(call) || bytes == 0 || wanted <= 0 || wanted > (double)bytes * MOST_SETS)
    return false;
  sets = (int)fmax(2, ceil(wanted / (double)bytes));
  if (sets > GRAPH_CALLS)
    sets = (int)round_up((size_t)sets, GRAPH_CALLS);
  if (cuda.memory_info(&available, &total) || (size_t)(sets - 1) * c->set_size > available / 2 ||
      cuda.memory_allocate(&c->copies, (size_t)(sets - 1) * c->set_size)) {
    c->copies = 0;
    return false;
  }
  for (int set = 1; set < sets; set++)
    for (int o = 0; o < op->noperands; o++)
      if (call->problem->input[o] && device_home(&c->head, o) == o &&
          cuda.copy_async(copy_of(c, o, set), c->operand[o].data, c->operand[o].size,
                          device_of(call)->stream))
        return false; /* the launches will say what it is */
  free_graphs(c);
  c->next_set = c->next_graph = c->turn = 0;
  c->sets = sets;
  call->other = NULL;
  call->others = false;
  call->group = (uint64_t)graph_calls(c);
  return true;
}

/* ---- what a call left --------------------------------------------------------------------------- */

static size_t lead_of(device_call *call, int operand) {
  cuda_call *c = (cuda_call *)call;
  const cuda_buffer *b = operand < LATHE_MAX_OPERANDS ? &c->operand[operand] : &c->workspace;

  return b->zone ? b->data - b->zone : 0;
}

static bool read_back(device_call *call, int operand, ptrdiff_t at, void *to, size_t bytes) {
  cuda_call *c = (cuda_call *)call;
  const cuda_buffer *b = operand < LATHE_MAX_OPERANDS ? &c->operand[operand] : &c->workspace;
  CUresult error;

  if (call->on->lost)
    return false;
  error = cuda.to_host(to, b->data + (CUdeviceptr)at, bytes);
  return !error || fail(call, error, "the results could not be read");
}

static bool peek(device_call *call, int operand, size_t at, void *to, size_t bytes) {
  return read_back(call, device_home(call, operand), (ptrdiff_t)at, to, bytes);
}

static bool poke(device_call *call, int operand, size_t at, const void *from, size_t bytes) {
  const cuda_call *c = (const cuda_call *)call;
  CUresult error;

  if (!usable(call))
    return false;
  error = cuda.to_device(c->operand[device_home(call, operand)].data + at, from, bytes);
  if (!error)
    error = cuda.synchronize();
  return !error || fail(call, error, "the outputs could not be set");
}

/* Memory that stays where it is takes what the device sends it several times as fast. */
static void pin(void *memory, size_t bytes) {
  if (cuda.host_register)
    cuda.host_register(memory, bytes, 0); /* a wish */
}

static remote_call remote_of(device_call *call) {
  return (remote_call){call, ((cuda_call *)call)->host, lead_of, read_back, pin};
}

static const void *output(device_call *call, int operand) {
  const remote_call r = remote_of(call);

  return remote_output(&r, operand);
}

static bool intact(device_call *call) {
  const remote_call r = remote_of(call);

  return usable(call) && remote_intact(&r);
}

/* ---- the ceiling -------------------------------------------------------------------------------- */

/* One way to move memory: a kernel, or where there is none the driver's own copy; its blocks, and
 * what it is to move. */
typedef struct streams_run {
  cuda_device *d;
  CUfunction kernel;
  unsigned blocks, threads;
  CUdeviceptr from[STREAMS_MOST], to;
  unsigned long long packs;
} streams_run;

static CUresult launch_streams(const void *argument, int nth) {
  const streams_run *r = argument;
  void *parameters[] = {(void *)&r->from[0], (void *)&r->from[1], (void *)&r->from[2],
                        (void *)&r->to, (void *)&r->packs};

  (void)nth;
  if (!r->kernel)
    return cuda.copy_async(r->to, r->from[0], r->packs * 16, r->d->stream);
  return cuda.launch(r->kernel, r->blocks, 1, 1, r->threads, 1, 1, 0, r->d->stream, parameters,
                     NULL);
}

/* Seconds of one run at its best; infinite where it fails. */
static double best_run(const streams_run *r, size_t bytes) {
  const int rounds = 4, calls = bytes < large ? GRAPH_CALLS : FEW_CALLS;
  cuda_device *d = r->d;
  CUgraphExec graph = NULL;
  CUresult error = capture(d, launch_streams, r, 0, calls, &graph);
  double best = INFINITY;
  float milliseconds = 0;

  for (int round = 0; round < rounds && !error; round++) {
    error = cuda.event_record(d->begin, d->stream);
    if (!error)
      error = cuda.graph_launch(graph, d->stream);
    if (!error)
      error = cuda.event_record(d->end, d->stream);
    if (!error)
      error = finish(d);
    if (!error)
      error = cuda.event_elapsed(&milliseconds, d->begin, d->end);
    if (!error)
      best = fmin(best, milliseconds * 1e-3 / calls);
  }
  if (graph)
    cuda.graph_exec_free(graph);
  d->head.lost = d->head.lost || error;
  return best;
}

/* The best over both kinds of accesses and over grids: a tile for each block, of few threads where
 * there is little to move; or some blocks for each multiprocessor, that go on from tile to tile. */
static double best_streams(cuda_device *d, streams_run *r, int streams, size_t bytes) {
  double best = streams == 1 ? best_run(r, bytes) : INFINITY;

  for (int once = 0; once < 2; once++) {
    if (cuda.module_function(&r->kernel, d->streams, streams_name(streams, once)))
      return INFINITY;
    for (r->threads = 32; r->threads <= 512; r->threads *= 4) {
      const unsigned tile = r->threads * STREAMS_ACCESSES;
      const unsigned tiles = (unsigned)((r->packs + tile - 1) / tile);
      r->blocks = tiles;
      best = fmin(best, best_run(r, bytes));
      for (unsigned each = 1024 / r->threads; each <= 2048 / r->threads; each *= 2) {
        r->blocks = each * d->limits.multiprocessors;
        if (r->blocks < tiles)
          best = fmin(best, best_run(r, bytes));
      }
    }
  }
  return best;
}

static double streams_rate(device *on, int streams, size_t bytes) {
  cuda_device *d = (cuda_device *)on;
  const int reads = streams == STREAMS_READING ? 1 : streams;
  const int moved = streams == STREAMS_READING ? 1 : streams + 1;
  streams_run r = {.d = d, .packs = bytes / 16};
  const char *ptx = streams_ptx();
  double rate = 0;
  bool ok = ptx && use_context(d) == 0;

  if (ok && !d->streams)
    ok = cuda.module_load(&d->streams, ptx) == 0;
  for (int s = 0; s < reads && ok; s++)
    ok = cuda.memory_allocate(&r.from[s], bytes) == 0;
  /* Where nothing is written the loops still name a place. */
  ok = ok && cuda.memory_allocate(&r.to, moved > reads ? bytes : 16) == 0;
  if (ok)
    rate = moved * (double)bytes / best_streams(d, &r, streams, bytes);
  for (int s = 0; s < reads; s++)
    if (r.from[s])
      cuda.memory_free(r.from[s]);
  if (r.to)
    cuda.memory_free(r.to);
  return rate;
}

/* Seconds of one launch of a kernel of arithmetic.h; infinite where it fails. */
static double time_arithmetic(cuda_device *d, CUfunction kernel, unsigned blocks, CUdeviceptr to,
                              unsigned rounds) {
  void *parameters[] = {&to, &rounds};
  float milliseconds = 0;
  CUresult error = cuda.event_record(d->begin, d->stream);

  if (!error)
    error =
        cuda.launch(kernel, blocks, 1, 1, ARITHMETIC_THREADS, 1, 1, 0, d->stream, parameters, NULL);
  if (!error)
    error = cuda.event_record(d->end, d->stream);
  if (!error)
    error = finish(d);
  if (!error)
    error = cuda.event_elapsed(&milliseconds, d->begin, d->end);
  d->head.lost = d->head.lost || error;
  return error ? INFINITY : milliseconds * 1e-3;
}

/* Operations per second at their best, of launches that are long enough for the clock, of some blocks for each
 * multiprocessor; each: operations of a block in a round. */
static double best_arithmetic(cuda_device *d, CUfunction kernel, CUdeviceptr to, double each) {
  const double long_enough = 500e-6;
  const unsigned most_rounds = 1u << 20, most_blocks = 16;
  const int times = 3;
  unsigned rounds = 64;
  double best = 0;

  while (rounds < most_rounds &&
         time_arithmetic(d, kernel, d->limits.multiprocessors, to, rounds) < long_enough)
    rounds *= 2;
  for (unsigned blocks = 1; blocks <= most_blocks; blocks += blocks < 4 ? 1 : blocks)
    for (int i = 0; i < times && !d->head.lost; i++) {
      const unsigned all = blocks * d->limits.multiprocessors;
      best = fmax(best, each * all * rounds / time_arithmetic(d, kernel, all, to, rounds));
    }
  return best;
}

static double arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit) {
  enum { KERNELS = 2 };
  cuda_device *d = (cuda_device *)on;
  CUdeviceptr to = 0;
  double best = 0;
  bool ok = use_context(d) == 0 && cuda.memory_allocate(&to, sizeof(double)) == 0;

  for (int nth = 0; nth < KERNELS && ok; nth++) {
    const arithmetic_kernel k = arithmetic_make(dtype, unit, d->limits.architecture, nth);
    CUmodule loaded; /* for good, as it is asked for once */
    CUfunction kernel;
    if (k.ptx && !cuda.module_load(&loaded, k.ptx) &&
        !cuda.module_function(&kernel, loaded, k.name))
      best = fmax(best, best_arithmetic(d, kernel, to, k.each));
    free(k.ptx);
  }
  if (to)
    cuda.memory_free(to);
  return best;
}

/* ---- finding devices ---------------------------------------------------------------------------- */

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
      .cluster = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) ? 8 : 1,
      .architecture = (uint32_t)(10 * major + minor),
      .maps = cuda.tensor_map != NULL,
  };
  d->head = (device){
      .id = d->id,
      .name = d->name,
      .kind = LATHE_CUDA,
      .features = LATHE_ON_CUDA | (major >= 8 ? LATHE_SM80 : 0) |
                  (major == 9 && minor == 0 ? LATHE_SM90A : 0),
      .cache = attribute(d->ordinal, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
      .cools = true,
      .memory = memory,
      .prepare = prepare,
      .release = release,
      .reset = reset,
      .load = load,
      .take_turns = take_turns,
      .run = run,
      .time = time_calls,
      .cool = cool,
      .output = output,
      .intact = intact,
      .peek = peek,
      .poke = poke,
      .streams_rate = streams_rate,
      .arithmetic_rate = arithmetic_rate,
  };
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
