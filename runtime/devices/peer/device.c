/* device.c - other libraries that compute what lathe's ops do, as a device. */
#define _GNU_SOURCE /* memfd_create */
#include "device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "devices/cpu/rates.h"
#include "devices/cuda/device.h"
#include "devices/foreign/foreign.h"
#include "library/dtype.h"
#include "peers.h"
#include "process.h"

enum {
  ALIGN = 64, /* bytes */
  REQUEST = 96,
  GPUS = 8,
  GROUP = 64, /* calls that are recorded together on a GPU: with_torch.py's RECORDED */
};

static const unsigned char poison_byte = 0xfb;

typedef struct peer_call {
  device_call head;
  const char *library;
  unsigned number; /* that its process knows it by */
  bool foreign;    /* its time is by this process's clock */
  double idle_ns;  /* of which so much is not the function's; 0: not asked yet */
  bool told;
  unsigned ended; /* as peer_ended said when it was told */
  bool cool;      /* it was asked for calls that find their operands in no cache */
  bool ran;       /* it has results that this process has not, but for those fetched whole */
  bool fetched[LATHE_MAX_OPERANDS];
  int file;     /* of memory that both processes have */
  char *memory; /* the operands, one after the other */
  size_t size;  /* bytes of all */
  size_t at[LATHE_MAX_OPERANDS];
} peer_call;

static double memory(device *on) {
  (void)on;
  return -1;
}

/* A line about an operand, also one of the op that the call's is the gradient of, for they have the same dimensions:
 * its type, where in the memory it lies, negative for nowhere, and its extents. */
static void put_operand(FILE *to, const char *as, const peer_call *c, const lathe_operand *operand,
                        ptrdiff_t at) {
  const lathe_dtype type = lathe_dtype_of_operand(operand, c->head.variant->dtype);

  fprintf(to, "%s %s %s", as, operand->name, lathe_dtype_name(type));
  if (at >= 0)
    fprintf(to, " %td", at);
  for (int d = 0; d < operand->ndim; d++)
    fprintf(to, " %zu", c->head.problem->dim[operand->dim[d]]);
  fputc('\n', to);
}

static bool has_operand(const lathe_op *op, const char *name) {
  for (int o = 0; o < op->noperands; o++)
    if (strcmp(op->operands[o].name, name) == 0)
      return true;
  return false;
}

static bool has_scalar(const lathe_op *op, const char *name) {
  for (int s = 0; s < op->nscalars; s++)
    if (strcmp(op->scalars[s].name, name) == 0)
      return true;
  return false;
}

/* What the process is to know of the op whose gradient is asked for: its results by name, and operands and scalars that
 * the gradient does without. */
static void put_forward(FILE *to, const peer_call *c, const lathe_op *forward) {
  const lathe_op *own = c->head.variant->op;

  fputs("gradient", to);
  for (int o = 0; o < forward->noperands; o++)
    if (forward->operands[o].output)
      fprintf(to, " %s", forward->operands[o].name);
  fputc('\n', to);
  for (int o = 0; o < forward->noperands; o++)
    if (!forward->operands[o].output && !has_operand(own, forward->operands[o].name))
      put_operand(to, "unread", c, &forward->operands[o], -1);
  for (int s = 0; s < forward->nscalars; s++)
    if (!has_scalar(own, forward->scalars[s].name))
      fprintf(to, "scalar %s %.17g\n", forward->scalars[s].name, forward->scalars[s].value);
}

/* A derivative by a result of the op whose gradient is asked for. */
static bool is_given(const lathe_op *forward, const lathe_operand *operand) {
  return forward && !operand->output && !has_operand(forward, operand->name);
}

static void put_load(FILE *to, const peer_call *c) {
  const lathe_variant *v = c->head.variant;
  const lathe_op *forward = peers_forward(v);

  fprintf(to, "load %u %zu ", c->number, c->size);
  if (c->foreign)
    fprintf(to, "%d\n", c->file);
  else
    fprintf(to, "/proc/%ld/fd/%d\n", (long)getpid(), c->file);
  fprintf(to, "expression %s\n", peers_expression(v));
  if (peers_on_gpu(v->backend))
    fprintf(to, "device cuda:%s\n", c->head.on->id + strlen("cuda"));
  if (forward)
    put_forward(to, c, forward);
  for (int o = 0; o < v->op->noperands; o++) {
    const lathe_operand *operand = &v->op->operands[o];
    put_operand(to,
                operand->output              ? "output"
                : is_given(forward, operand) ? "given"
                                             : "input",
                c, operand, (ptrdiff_t)c->at[o]);
  }
  for (int s = 0; s < v->op->nscalars; s++)
    fprintf(to, "scalar %s %.17g\n", v->op->scalars[s].name, c->head.problem->scalar[s]);
  fputs("end\n", to);
}

static bool ask_to_cool(peer_call *c, bool *done, char why[PEER_WHY]) {
  char request[REQUEST];
  double yes = 0;
  bool ok;

  snprintf(request, sizeof request, "cool %u\n", c->number);
  ok = peer_ask(c->library, request, &yes, why);
  *done = ok && yes > 0;
  return ok;
}

/* Puts the problem's inputs into the memory, and tells the process of it. */
static bool tell(peer_call *c, char why[PEER_WHY]) {
  const lathe_variant *v = c->head.variant;
  const problem *p = c->head.problem;
  char *request = NULL;
  size_t length;
  double draws = 0;
  bool ok;
  FILE *to = open_memstream(&request, &length);

  for (int o = 0; o < v->op->noperands; o++)
    if (p->input[o])
      memory_copy(c->memory + c->at[o], p->input[o], p->bytes[o]);
  if (!to) {
    snprintf(why, PEER_WHY, "not enough memory for a request to %s", c->library);
    return false;
  }
  put_load(to, c);
  ok = fclose(to) == 0 && peer_ask(c->library, request, &draws, why);
  if (!ok && peer_refused(c->library))
    peers_blame(v, why, PEER_WHY);
  free(request);
  c->head.draws = draws == 1;
  c->told = ok;
  c->ended = peer_ended(c->library);
  return ok && (!c->cool || ask_to_cool(c, &c->cool, why));
}

static void release(device_call *call) {
  peer_call *c = (peer_call *)call;
  char request[REQUEST], why[PEER_WHY];
  double none;

  if (c->told && c->ended == peer_ended(c->library)) {
    snprintf(request, sizeof request, "drop %u\n", c->number);
    peer_ask(c->library, request, &none, why);
  }
  if (c->memory)
    munmap(c->memory, c->size);
  if (c->file >= 0 && !c->foreign)
    close(c->file);
  free(c);
}

/* Libraries of Python differ in what they make of arrays without elements, as of their largest one. */
static bool is_empty(const problem *p) {
  bool empty = false;

  for (int o = 0; o < p->op->noperands; o++)
    empty = empty || p->elements[o] == 0;
  return empty;
}

static bool place_operands(peer_call *c) {
  const problem *p = c->head.problem;

  for (int o = 0; o < p->op->noperands; o++) {
    c->at[o] = c->size;
    c->size += (p->bytes[o] + ALIGN) / ALIGN * ALIGN; /* one byte more: none is empty */
  }
  /* Of a process that may open no file all calls have one: inputs are copied out of it, and results are put there when
   * they are asked for. */
  c->file = c->foreign ? peer_file(c->library) : memfd_create("lathe-peer", MFD_CLOEXEC);
  if (c->foreign && lseek(c->file, 0, SEEK_END) >= (off_t)c->size)
    ;
  else if (c->file < 0 || ftruncate(c->file, (off_t)c->size) != 0)
    return false;
  c->memory = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->file, 0);
  if (c->memory == MAP_FAILED)
    c->memory = NULL;
  return c->memory;
}

static device_call *prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  static char reason[PEER_WHY];
  static unsigned numbers;
  peer_call *c = calloc(1, sizeof *c);

  *why = "not enough memory";
  if (!c)
    return NULL;
  c->head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  c->foreign = foreign_of(variant);
  c->head.group = peers_on_gpu(variant->backend) && !c->foreign ? GROUP : 0;
  c->library = c->foreign ? peers_library(variant->backend) : variant->backend->name;
  c->number = ++numbers;
  if (c->foreign && is_empty(p)) {
    *why = "functions of Python are not asked about what is empty";
    c->file = -1;
    release(&c->head);
    return NULL;
  }
  if (place_operands(c)) {
    *why = reason;
    if (tell(c, reason))
      return &c->head;
  }
  release(&c->head);
  return NULL;
}

static void reset(device_call *call) {
  const problem *p = call->problem;
  peer_call *c = (peer_call *)call;

  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output)
      memory_fill(c->memory + c->at[o], poison_byte, p->bytes[o]);
  c->ran = false;
}

static bool load(device_call *call, const problem *p) {
  char why[PEER_WHY];

  call->problem = p;
  ((peer_call *)call)->ran = false;
  return tell((peer_call *)call, why) || device_fail(call, "%s", why);
}

static bool take_turns(device_call *call, const problem *other) {
  (void)call, (void)other;
  return false;
}

/* What asking for a call takes without the function, at least. */
static bool find_idle(peer_call *c, char why[PEER_WHY]) {
  enum { TIMES = 9 };
  char request[REQUEST];
  double none, least = INFINITY;

  snprintf(request, sizeof request, "idle %u\n", c->number);
  for (int i = 0; i < TIMES; i++) {
    const double start = clock_ns();
    if (!peer_ask(c->library, request, &none, why))
      return false;
    least = fmin(least, clock_ns() - start);
  }
  c->idle_ns = least;
  return true;
}

static bool fail_to_ask(peer_call *c, const char *why) {
  c->head.fate = peer_refused(c->library) ? DEVICE_WELL : DEVICE_CRASHED;
  return device_fail(&c->head, "%s", why);
}

/* The host's time would be for asking. idle: whether to find what is not the function's first, which leaves results
 * that are none. */
static bool ask_for_calls(peer_call *c, uint64_t calls, device_time *taken, bool idle) {
  char request[REQUEST], why[PEER_WHY];
  double start;

  if (c->ended != peer_ended(c->library) && !tell(c, why)) /* with another row */
    return device_fail(&c->head, "%s", why);
  if (idle && c->foreign && c->idle_ns == 0 && !find_idle(c, why))
    return fail_to_ask(c, why);
  snprintf(request, sizeof request, "time %u %" PRIu64 "\n", c->number, calls);
  start = clock_ns();
  if (!peer_ask(c->library, request, &taken->own, why))
    return fail_to_ask(c, why);
  taken->host = clock_ns() - start;
  if (c->foreign)
    taken->own = fmax(taken->host - c->idle_ns, 1);
  else
    taken->host = taken->own;
  c->ran = true;
  memset(c->fetched, 0, sizeof c->fetched);
  return true;
}

static bool run(device_call *call) {
  device_time taken;

  return ask_for_calls((peer_call *)call, 1, &taken, false);
}

static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  return ask_for_calls((peer_call *)call, calls, taken, true);
}

static bool cool(device_call *call) {
  peer_call *c = (peer_call *)call;
  char why[PEER_WHY];

  return ask_to_cool(c, &c->cool, why) && c->cool;
}

/* Has bytes of a result put where this process sees them. */
static bool fetch(peer_call *c, int operand, size_t at, size_t bytes) {
  const lathe_op *op = c->head.variant->op;
  const bool whole = bytes == c->head.problem->bytes[operand];
  char request[REQUEST], why[PEER_WHY];
  int nth = 0;
  double none;
  bool ok;

  if (!c->ran || c->fetched[operand] || bytes == 0)
    return true;
  for (int o = 0; o < operand; o++)
    nth += op->operands[o].output;
  snprintf(request, sizeof request, "fetch %u %d %zu %zu\n", c->number, nth, at, bytes);
  device_step_begins();
  ok = peer_ask(c->library, request, &none, why);
  device_step_ends();
  c->fetched[operand] = ok && whole;
  return ok || device_fail(&c->head, "%s", why);
}

static const void *output(device_call *call, int operand) {
  peer_call *c = (peer_call *)call;

  fetch(c, operand, 0, call->problem->bytes[operand]);
  return c->memory + c->at[operand];
}

/* It has copies of the inputs, and no way out of its memory. */
static bool intact(device_call *call) {
  (void)call;
  return true;
}

static bool peek(device_call *call, int operand, size_t at, void *to, size_t bytes) {
  peer_call *c = (peer_call *)call;

  if (!fetch(c, operand, at, bytes))
    return false;
  memcpy(to, c->memory + c->at[operand] + at, bytes);
  return true;
}

static bool poke(device_call *call, int operand, size_t at, const void *from, size_t bytes) {
  const peer_call *c = (const peer_call *)call;

  memcpy(c->memory + c->at[operand] + at, from, bytes);
  return true;
}

static double streams_rate(device *on, int streams, size_t bytes, int threads, int *way) {
  (void)on, (void)streams, (void)bytes, (void)threads, (void)way;
  return 0;
}

static const device peer = {
    .id = "peer",
    .name = "another library",
    .kind = LATHE_PEER,
    .features = LATHE_ON_PEER,
    .memory = memory,
    .prepare = prepare,
    .release = release,
    .reset = reset,
    .load = load,
    .take_turns = take_turns,
    .run = run,
    .time = time_calls,
    .output = output,
    .intact = intact,
    .peek = peek,
    .poke = poke,
    .streams_rate = streams_rate,
};

/* ---- rates for what is judged: those of the device that it computes on -------------------------- */

static device *by_id(device *const *at, size_t count, const char *id) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(at[i]->id, id) == 0)
      return at[i];
  return NULL;
}

static device *cuda_of(const device *on) {
  const device_list list = device_cuda();

  return by_id(list.at, list.count, on->id);
}

static double gpu_streams_rate(device *on, int streams, size_t bytes, int threads, int *way) {
  device *gpu = cuda_of(on);

  return gpu ? gpu->streams_rate(gpu, streams, bytes, threads, way) : 0;
}

static double gpu_arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                                  int *way) {
  device *gpu = cuda_of(on);

  return gpu ? gpu->arithmetic_rate(gpu, dtype, unit, threads, way) : 0;
}

/* ---- which there are ---------------------------------------------------------------------------- */

enum { PLACES = 1 + GPUS };

/* For libraries, and then for what is judged: the processor and the GPUs. */
static device all[2][PLACES];

device_list device_peer(void) {
  static const char *const ids[PLACES] = {"peer",  "cuda0", "cuda1", "cuda2", "cuda3",
                                          "cuda4", "cuda5", "cuda6", "cuda7"};
  static device *at[2 * PLACES];

  for (int i = 0; i < PLACES && !at[PLACES + i]; i++) {
    device *library = at[i] = &all[0][i], *judged = at[PLACES + i] = &all[1][i];
    *library = *judged = peer;
    library->id = judged->id = ids[i];
    library->cools = i > 0;
    library->cool = i > 0 ? cool : NULL;
    judged->streams_rate = i > 0 ? gpu_streams_rate : cpu_threads_streams_rate;
    judged->arithmetic_rate = i > 0 ? gpu_arithmetic_rate : cpu_threads_arithmetic_rate;
    for (int dtype = 0; dtype < LATHE_DTYPES && i > 0; dtype++) /* as devices/cuda/device.c */
      judged->may_flush[dtype].between = lathe_dtype_is_narrow(dtype);
  }
  all[1][0].id = "cpu";
  return (device_list){.count = 2 * PLACES, .at = at};
}

device *device_peer_of(const char *id, bool judged) {
  return by_id(device_peer().at + (judged ? PLACES : 0), PLACES, id);
}
