/* device.c - other libraries that compute what lathe's ops do, as a device. */
#define _GNU_SOURCE /* memfd_create */
#include "device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "library/dtype.h"
#include "peers.h"
#include "process.h"

enum { ALIGN = 64 /* bytes */, REQUEST = 64 };

static const unsigned char poison_byte = 0xfb;

typedef struct peer_call {
  device_call head;
  const char *library;
  unsigned number; /* that its process knows it by */
  bool told;
  unsigned ended; /* as peer_ended said when it was told */
  int file;       /* of memory that both processes have */
  char *memory;   /* the operands, one after the other */
  size_t size;    /* bytes of all */
  size_t at[LATHE_MAX_OPERANDS];
} peer_call;

static double memory(device *on) {
  (void)on;
  return -1;
}

static void put_operand(FILE *to, const peer_call *c, int o) {
  const lathe_operand *operand = &c->head.variant->op->operands[o];
  const lathe_dtype type = lathe_dtype_of_operand(operand, c->head.variant->dtype);

  fprintf(to, "%s %s %s %zu", operand->output ? "output" : "input", operand->name,
          lathe_dtype_name(type), c->at[o]);
  for (int d = 0; d < operand->ndim; d++)
    fprintf(to, " %zu", c->head.problem->dim[operand->dim[d]]);
  fputc('\n', to);
}

/* Puts the problem's inputs into the memory, and tells the process of it. */
static bool tell(peer_call *c, char why[PEER_WHY]) {
  const lathe_variant *v = c->head.variant;
  const problem *p = c->head.problem;
  char *request = NULL;
  size_t length;
  double none;
  bool ok;
  FILE *to = open_memstream(&request, &length);

  for (int o = 0; o < v->op->noperands; o++)
    if (p->input[o])
      memory_copy(c->memory + c->at[o], p->input[o], p->bytes[o]);
  if (!to) {
    snprintf(why, PEER_WHY, "not enough memory for a request to %s", c->library);
    return false;
  }
  fprintf(to, "load %u %zu /proc/%ld/fd/%d\n", c->number, c->size, (long)getpid(), c->file);
  fprintf(to, "expression %s\n", peers_expression(v));
  for (int o = 0; o < v->op->noperands; o++)
    put_operand(to, c, o);
  for (int s = 0; s < v->op->nscalars; s++)
    fprintf(to, "scalar %s %.17g\n", v->op->scalars[s].name, p->scalar[s]);
  fputs("end\n", to);
  ok = fclose(to) == 0 && peer_ask(c->library, request, &none, why);
  c->told = ok;
  c->ended = peer_ended(c->library);
  free(request);
  return ok;
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
  if (c->file >= 0)
    close(c->file);
  free(c);
}

static bool place_operands(peer_call *c) {
  const problem *p = c->head.problem;

  for (int o = 0; o < p->op->noperands; o++) {
    c->at[o] = c->size;
    c->size += (p->bytes[o] + ALIGN) / ALIGN * ALIGN; /* one byte more: none is empty */
  }
  c->file = memfd_create("lathe-peer", MFD_CLOEXEC);
  if (c->file < 0 || ftruncate(c->file, (off_t)c->size) != 0)
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
  c->library = variant->backend->name;
  c->number = ++numbers;
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
}

static bool load(device_call *call, const problem *p) {
  char why[PEER_WHY];

  call->problem = p;
  return tell((peer_call *)call, why) || device_fail(call, "%s", why);
}

static bool take_turns(device_call *call, const problem *other) {
  (void)call, (void)other;
  return false;
}

/* The host's time would be that of asking. */
static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  peer_call *c = (peer_call *)call;
  char request[REQUEST], why[PEER_WHY];

  if (c->ended != peer_ended(c->library) && !tell(c, why)) /* with another row */
    return device_fail(call, "%s", why);
  snprintf(request, sizeof request, "time %u %" PRIu64 "\n", c->number, calls);
  if (!peer_ask(c->library, request, &taken->own, why))
    return device_fail(call, "%s", why);
  taken->host = taken->own;
  return true;
}

static bool run(device_call *call) {
  device_time taken;

  return time_calls(call, 1, &taken);
}

static const void *output(device_call *call, int operand) {
  const peer_call *c = (const peer_call *)call;

  return c->memory + c->at[operand];
}

/* It has copies of the inputs, and no way out of its memory. */
static bool intact(device_call *call) {
  (void)call;
  return true;
}

static bool peek(device_call *call, int operand, size_t at, void *to, size_t bytes) {
  memcpy(to, (const char *)output(call, operand) + at, bytes);
  return true;
}

static bool poke(device_call *call, int operand, size_t at, const void *from, size_t bytes) {
  const peer_call *c = (const peer_call *)call;

  memcpy(c->memory + c->at[operand] + at, from, bytes);
  return true;
}

static double streams_rate(device *on, int streams, size_t bytes) {
  (void)on, (void)streams, (void)bytes;
  return 0;
}

device_list device_peer(void) {
  static device peer = {
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
  static device *const at[] = {&peer};

  return (device_list){.count = 1, .at = at};
}
