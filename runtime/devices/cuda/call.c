/* call.c - calls on CUDA devices. */
#include "call.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum {
  CACHES =
      3, /* times the cache that copies of operands fill: it does not give up the oldest first */
  ALIGNMENT = 256,
};

/* Says what went wrong in a call. Memory that is not there leaves the context as it was; of the
 * other errors most do not, and to tell them apart is not worth it. */
static bool fail(device_call *call, CUresult error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(device_call *call, CUresult error, const char *format, ...) {
  va_list list;

  va_start(list, format);
  device_fail_list(call, error ? cuda_error_text(error) : NULL, format, list);
  va_end(list);
  if (error && error != CUDA_ERROR_OUT_OF_MEMORY)
    call->on->lost = true;
  return false;
}

static bool finished(device_call *call, const char *what) {
  const CUresult error = cuda_finish(cuda_device_of(call));

  return !error || fail(call, error, "%s failed", what);
}

static size_t round_up(size_t value, size_t to) {
  return (value + to - 1) / to * to;
}

/* An operand in the nth set, as well aligned as in the first. */
static CUdeviceptr copy_of(const cuda_call *c, int operand, int nth) {
  const CUdeviceptr data = c->buffer[operand].data;

  return c->copies + (size_t)(nth - 1) * c->set_size + c->slot[operand] + data % ALIGNMENT;
}

/* An address in the form in which the generated code takes it. */
static void *pointer_to(CUdeviceptr address) {
  return (void *)(uintptr_t)address; /* NOLINT */
}

static void *make(device_call *call, int buffer, size_t bytes, size_t offset) {
  cuda_buffer *b = &((cuda_call *)call)->buffer[buffer];
  const CUresult error = cuda_buffer_make(cuda_device_of(call), b, bytes, offset);

  if (!error)
    return pointer_to(b->data);
  if (error == CUDA_ERROR_OUT_OF_MEMORY)
    device_fail(call, "not enough memory on the device for the operands");
  else
    fail(call, error, "its buffers could not be made");
  return NULL;
}

static void free_buffer(device_call *call, int buffer) {
  if (!call->on->lost) /* else its memory goes with the context */
    cuda_buffer_free(cuda_device_of(call), &((cuda_call *)call)->buffer[buffer]);
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

void cuda_release(device_call *call) {
  cuda_call *c = (cuda_call *)call;

  if (c->others_own)
    c->other->release(c->others_own, call->on->lost);
  if (!call->on->lost) {
    free_graphs(c);
    if (c->copies)
      cuda.memory_free(c->copies);
  }
  remote_free(&c->remote);
  free(c);
}

/* Calls of one graph: GRAPH_CALLS, or a little less, so that it goes round the sets a whole number of
 * times. There are as many graphs as it takes to go round once. */
static int graph_calls(const cuda_call *c) {
  return c->sets < GRAPH_CALLS ? GRAPH_CALLS / c->sets * c->sets : GRAPH_CALLS;
}

device_call *cuda_prepare(device *on, const lathe_variant *variant, const problem *p,
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
  error = cuda_context_use(d);
  if (error) {
    snprintf(text, sizeof text, "no context could be made: %s", cuda_error_text(error));
    *why = text;
    return NULL;
  }
  c = calloc(1, sizeof *c);
  if (!c) {
    *why = "not enough memory";
    return NULL;
  }
  c->remote.head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  c->sets = 1;
  c->remote.head.group = (uint64_t)graph_calls(c);
  c->remote.workspace = (size_t)lathe_workspace(variant, p->dim);
  if (!remote_allocate(&c->remote)) {
    snprintf(text, sizeof text, "%s", c->remote.head.error);
    *why = text;
  }
  c->other = cuda_other_of(variant->backend);
  if (!*why && c->other)
    c->others_own = c->other->prepare(variant, &c->remote.args, &d->limits, d->stream, why);
  if (c->other ? !c->others_own : *why || !cuda_load_kernels(c, why)) {
    cuda_release(&c->remote.head);
    return NULL;
  }
  return &c->remote.head;
}

bool cuda_take_turns(device_call *call, const problem *other) {
  const double mine = 0.75, beyond = 4; /* of the cache */

  return remote_take_turns(call, other, mine * call->on->cache, beyond * call->on->cache);
}

/* Of the nth call, whether it is of the problem that calls take turns with. */
static bool is_other(const cuda_call *c, int nth) {
  return c->remote.head.other && (c->remote.by_call ? nth % 2 : c->turn);
}

/* The kernels of one call, on the nth set of operands. */
static CUresult launch(const void *argument, int nth) {
  const cuda_call *c = argument;
  const lathe_op *op = c->remote.head.variant->op;
  lathe_args args = is_other(c, nth) ? c->remote.other_args : c->remote.args;
  int error;

  nth %= c->sets;
  for (int o = 0; o < op->noperands && nth > 0; o++)
    args.buf[o] = pointer_to(copy_of(c, device_home(&c->remote.head, o), nth));
  if (c->other)
    return c->other->enqueue(c->others_own, &args, cuda_device_of(&c->remote.head)->stream);
  error = lathe_run(&c->plan, args.buf, args.scalar, args.workspace,
                    cuda_device_of(&c->remote.head)->stream);
  return error > 0 ? CUDA_ERROR_UNKNOWN : -error;
}

static bool usable(device_call *call) {
  return !call->on->lost || fail(call, 0, "an earlier call failed");
}

bool cuda_ask(device_call *call, double *ns) {
  cuda_call *c = (cuda_call *)call;
  double start;
  CUresult error;

  if (!usable(call))
    return false;
  c->turn = 0;
  start = clock_ns();
  error = launch(call, 0);
  *ns = clock_ns() - start;
  if (error)
    return fail(call, error, "the launch failed");
  return finished(call, "the kernel");
}

bool cuda_run(device_call *call) {
  double ns;

  return cuda_ask(call, &ns);
}

/* Copies go on for as long as the call does. */
bool cuda_run_under(device_call *call, device_load load) {
  cuda_call *c = (cuda_call *)call;
  cuda_device *d = cuda_device_of(call);
  const CUstream on = load == DEVICE_BUSY ? d->beside : d->stream;
  CUresult error, now = CUDA_ERROR_NOT_READY;

  if (!usable(call))
    return false;
  error = cuda_traffic(d, on);
  if (error == CUDA_ERROR_OUT_OF_MEMORY)
    return cuda_run(call);
  c->turn = 0;
  if (!error)
    error = launch(call, 0);
  while (!error && now == CUDA_ERROR_NOT_READY) {
    if (load == DEVICE_BUSY && cuda.stream_query(on) != CUDA_ERROR_NOT_READY)
      error = cuda_traffic(d, on);
    now = cuda.stream_query(d->stream);
  }
  if (!error && !now)
    error = cuda.stream_synchronize(on);
  return (!error && !now) ||
         fail(call, error ? error : now, "the kernel, on a busy device, failed");
}

static int graph_count(const cuda_call *c) {
  return c->sets <= GRAPH_CALLS ? 1 : c->sets / GRAPH_CALLS;
}

/* A graph of calls; a batch of the other problem has one of its own. */
static CUgraphExec *graph_at(cuda_call *c, int at) {
  return &c->graph[at + (c->remote.by_call ? 0 : c->turn)];
}

/* Records some calls from the next on: asking for them may take longer than they do. */
static CUresult capture_rest(cuda_call *c, int calls) {
  if (c->rest && c->rest_calls == calls && c->rest_first == c->next_set && c->rest_turn == c->turn)
    return 0;
  if (c->rest)
    cuda.graph_exec_free(c->rest);
  c->rest = NULL;
  c->rest_calls = calls;
  c->rest_first = c->next_set;
  c->rest_turn = c->turn;
  return cuda_capture(cuda_device_of(&c->remote.head), launch, c, c->next_set, calls, &c->rest);
}

/* Events around the batch give the device's time. Calls go as graphs: one by one, short ones wait for the host. */
bool cuda_time_calls(device_call *call, uint64_t calls, device_time *taken) {
  cuda_call *c = (cuda_call *)call;
  cuda_device *d = cuda_device_of(call);
  const int each = graph_calls(c), graphs = graph_count(c), most = c->sets > 1 ? c->sets : 2;
  const uint64_t whole = calls / (uint64_t)each, single = calls % (uint64_t)each;
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
      error = cuda_capture(d, launch, c, at * each, each, graph_at(c, at));
  }
  if (single > 0 && !error)
    error = capture_rest(c, (int)single);
  start = clock_ns();
  if (!error)
    error = cuda.event_record(d->begin, d->stream);
  for (uint64_t g = 0; g < whole && !error; g++) {
    error = cuda.graph_launch(*graph_at(c, c->next_graph), d->stream);
    c->next_graph = (c->next_graph + 1) % graphs;
  }
  if (single > 0 && !error) {
    error = cuda.graph_launch(c->rest, d->stream);
    last = (c->next_set + (int)single - 1) % most;
    c->next_set = (last + 1) % most;
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
bool cuda_cool(device_call *call) {
  cuda_call *c = (cuda_call *)call;
  const lathe_op *op = call->variant->op;
  const double wanted = CACHES * call->on->cache;
  size_t bytes = 0, available = 0, total = 0;
  int sets;

  for (int o = 0; o < op->noperands; o++)
    if (device_home(&c->remote.head, o) == o) {
      bytes += c->buffer[o].size;
      c->slot[o] = c->set_size;
      c->set_size += round_up(c->buffer[o].size, ALIGNMENT) + ALIGNMENT;
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
      if (call->problem->input[o] && device_home(&c->remote.head, o) == o &&
          cuda.copy_async(copy_of(c, o, set), c->buffer[o].data, c->buffer[o].size,
                          cuda_device_of(call)->stream))
        return false; /* the launches will say what it is */
  free_graphs(c);
  c->next_set = c->next_graph = c->turn = 0;
  c->sets = sets;
  call->other = NULL;
  call->others = false;
  call->group = (uint64_t)graph_calls(c);
  return true;
}

static size_t lead_of(device_call *call, int buffer) {
  const cuda_buffer *b = &((cuda_call *)call)->buffer[buffer];

  return b->zone ? b->data - b->zone : 0;
}

static bool read_back(device_call *call, int buffer, ptrdiff_t at, void *to, size_t bytes) {
  const cuda_buffer *b = &((cuda_call *)call)->buffer[buffer];
  CUresult error;

  if (call->on->lost)
    return false;
  error = cuda.to_host(to, b->data + (CUdeviceptr)at, bytes);
  return !error || fail(call, error, "the results could not be read");
}

static bool write_to(device_call *call, int buffer, size_t at, const void *from, size_t bytes) {
  const cuda_buffer *b = &((cuda_call *)call)->buffer[buffer];
  CUresult error;

  if (!usable(call))
    return false;
  error = cuda_send(cuda_device_of(call), b->data + at, from, bytes);
  return !error || fail(call, error, "the operands could not be set");
}

static bool poison(device_call *call, int buffer, unsigned char value) {
  const cuda_buffer *b = &((cuda_call *)call)->buffer[buffer];
  CUresult error = cuda.fill(b->data, value, b->size);

  if (!error)
    error = cuda.synchronize(); /* kernels will be on another stream */
  return !error || fail(call, error, "the operands could not be set");
}

/* Memory that stays where it is takes what the device sends it several times as fast. */
static bool pin(void *memory, size_t bytes) {
  return cuda.host_register && cuda.host_unregister && cuda.host_register(memory, bytes, 0) == 0;
}

static void unpin(void *memory) {
  cuda.host_unregister(memory);
}

const remote_kind cuda_remote = {.usable = usable,
                                 .make = make,
                                 .free = free_buffer,
                                 .lead = lead_of,
                                 .read = read_back,
                                 .write = write_to,
                                 .fill = poison,
                                 .pin = pin,
                                 .unpin = unpin};
