/* device.c - this processor, one thread of it, as a device. */
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__
#include <xmmintrin.h>
#endif

#include "base/aside.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/signals.h"
#include "devices/common/buffer.h"
#include "library/cpu.h"
#include "rates.h"
#include "speed.h"

enum {
  PATTERNED = 16 << 10, /* bytes of the stack that a kernel finds a pattern in */
  POKED = 8,            /* bytes of an output that are spoilt at a time */
  FRESH = 1000,         /* ns, about, after which an input has another element */
  FEW = 8,              /* inputs in a batch, of which the last is then known */
  KNOWN = 4,            /* batches of fewer, about, of which that is so in one */
  TOGETHER = 64,        /* calls of which one finds that */
  TURNS = 8,            /* batches, about, until the other problem has its turn; see take_turns */
};

typedef struct cpu_call {
  device_call head;
  buffer operand[LATHE_MAX_OPERANDS], workspace;
  buffer input[LATHE_MAX_OPERANDS]; /* of the other problem, by turns */
  lathe_args args, other_args;
  uint64_t calls; /* how many the next batch makes */
  double ns;      /* of a call of the last one; 0: not known */
  size_t parts;   /* that threads share of each */
} cpu_call;

/* The number that a line "key: number" of a file starts with, or -1. */
static double file_number(const char *path, const char *key) {
  FILE *f = fopen(path, "r");
  char line[256];
  double value = -1;

  if (!f)
    return -1;
  while (value < 0 && fgets(line, sizeof line, f))
    if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &value) != 1)
      break;
  fclose(f);
  return value;
}

static double memory(device *on) {
  const double limit = file_number("/sys/fs/cgroup/memory.max", "");
  const double used = file_number("/sys/fs/cgroup/memory.current", "");
  double available = file_number("/proc/meminfo", "MemAvailable:") * 1024;

  (void)on;
  if (limit > 0 && used >= 0 && (available < 0 || limit - used < available))
    available = limit - used;
  return available;
}

static int first_operand(const lathe_op *op, bool output) {
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output == output)
      return o;
  return -1;
}

static void release(device_call *call) {
  cpu_call *c = (cpu_call *)call;

  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    buffer_free(&c->operand[o]);
    buffer_free(&c->input[o]);
  }
  buffer_free(&c->workspace);
  free(c);
}

/* Where an operand, or the workspace, lies beyond its usual place: some lines, by the layout's number. */
static int lines_of(device_layout layout, int nth) {
  const uint32_t mixed = (layout.drawn * 2654435761u ^ (uint32_t)nth * 2246822519u) * 3266489917u;

  return layout.drawn && !layout.page_end ? (int)(mixed >> 28) : 0;
}

/* From here on inputs are only read, or written as well: what a kernel writes there and takes back is seen as well. */
static void keep_inputs(cpu_call *c, bool from_writing) {
  const problem *p = c->head.problem;

  for (int o = 0; o < p->op->noperands; o++)
    if (p->input[o] && !(c->head.layout.in_place && o == first_operand(p->op, false)))
      buffer_protect(&c->operand[o], from_writing);
}

static bool allocate(cpu_call *c) {
  const lathe_variant *v = c->head.variant;
  const problem *p = c->head.problem;
  buffer_place place = {.page_end = c->head.layout.page_end, .brief = c->head.layout.drawn != 0};

  for (int o = 0; o < v->op->noperands; o++) {
    if (device_home(&c->head, o) != o)
      continue;
    place.stagger = o;
    place.lines = lines_of(c->head.layout, o);
    place.offset = device_offset(&c->head, o);
    if (!buffer_make(&c->operand[o], p->bytes[o], place))
      return false;
    if (p->input[o])
      memory_copy(c->operand[o].data, p->input[o], p->bytes[o]);
  }
  for (int o = 0; o < v->op->noperands; o++)
    c->args.buf[o] = c->operand[device_home(&c->head, o)].data;
  if (c->head.layout.page_end)
    keep_inputs(c, true);
  if (v->workspace) {
    place = (buffer_place){.stagger = v->op->noperands,
                           .lines = lines_of(c->head.layout, v->op->noperands)};
    if (!buffer_make(&c->workspace, (size_t)lathe_workspace_of_parts(v, p->dim, c->parts), place))
      return false;
    c->args.workspace = c->workspace.data;
  }
  return true;
}

static device_call *prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  static unsigned drawn;
  cpu_call *c;

  *why = NULL;
  if (layout.in_place && !variant->op->in_place)
    *why = "the op does not work in place";
  if (*why)
    return NULL;
  *why = "not enough memory for the operands";
  if (layout.drawn != drawn) /* the variants of a round have the same memory one after the other */
    buffer_forget();
  drawn = layout.drawn;
  c = calloc(1, sizeof *c);
  if (!c)
    return NULL;
  c->head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  c->args = problem_args(p);
  c->parts = lathe_parts(variant, p->dim, layout.threads);
  if (!allocate(c)) {
    release(&c->head);
    return NULL;
  }
  *why = NULL;
  return &c->head;
}

static void reset(device_call *call) {
  cpu_call *c = (cpu_call *)call;
  const lathe_op *op = call->variant->op;

  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && device_home(&c->head, o) == o)
      buffer_poison(&c->operand[o], device_poison(call));
  if (call->layout.in_place) {
    const int input = first_operand(op, false);
    memory_copy(c->operand[input].data, call->problem->input[input], call->problem->bytes[input]);
  }
  if (c->workspace.data)
    buffer_poison(&c->workspace, device_poison(call));
}

static bool load(device_call *call, const problem *p) {
  cpu_call *c = (cpu_call *)call;
  const lathe_args with = problem_args(p);

  call->problem = p;
  keep_inputs(c, false);
  memcpy(c->args.scalar, with.scalar, sizeof with.scalar);
  for (int o = 0; o < p->op->noperands; o++)
    if (p->input[o] && device_home(call, o) == o)
      memory_copy(c->operand[o].data, p->input[o], p->bytes[o]);
  return true;
}

/* Batches have one problem: what the other's inputs push out of a cache is missed by the first of its own, and by
 * so few that their median does not show it. */
static bool take_turns(device_call *call, const problem *other) {
  cpu_call *c = (cpu_call *)call;
  buffer_place place = {.page_end = call->layout.page_end, .brief = call->layout.drawn != 0};

  c->other_args = problem_args(other);
  memcpy(c->other_args.buf, c->args.buf, sizeof c->args.buf);
  c->other_args.workspace = c->args.workspace;
  for (int o = 0; o < other->op->noperands; o++) {
    if (!other->input[o])
      continue;
    place.stagger = other->op->noperands + 1 + o;
    place.lines = lines_of(call->layout, place.stagger);
    place.offset = device_offset(call, o);
    if (!buffer_make(&c->input[o], other->bytes[o], place)) {
      for (int made = 0; made < o; made++)
        buffer_free(&c->input[made]);
      return false;
    }
    memory_copy(c->input[o].data, other->input[o], other->bytes[o]);
    c->other_args.buf[o] = c->input[o].data;
  }
  call->other = other;
  return true;
}

/* A number that no kernel can know. */
static uint32_t draw(cpu_call *c) {
  c->head.chance = c->head.chance * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(c->head.chance >> 32);
}

/* Spoils each output somewhere. */
static void poke_somewhere(cpu_call *c) {
  const lathe_op *op = c->head.variant->op;

  for (int o = op->noperands - 1; o >= 0 && op->operands[o].output; o--) {
    const buffer *b = &c->operand[o];
    const size_t places = b->size / POKED;
    const size_t place = places <= UINT32_MAX ? (draw(c) * (uint64_t)places) >> 32 : draw(c);
    const uint64_t bits = (uint64_t)draw(c) << 32 | draw(c);
    memcpy(b->data + place * POKED, &bits, b->size < POKED ? b->size : POKED);
    c->head.poked[o] = place * POKED;
  }
}

typedef struct pool_call {
  lathe_part_fn *work;
  void *context;
} pool_call;

static void work_on(void *call, size_t nth, int thread) {
  const pool_call *c = call;

  (void)thread;
  c->work(c->context, nth);
}

static void run_in_pool(void *pool, lathe_part_fn *work, void *context, size_t parts) {
  pool_call call = {work, context};

  (void)pool;
  pool_run(work_on, &call, parts);
}

static void run_kernel(const cpu_call *c, const lathe_args *args) {
  static const lathe_threads threads = {.run = run_in_pool};

  if (c->parts > 1)
    lathe_run_parts(c->head.variant, args, c->parts, &threads);
  else
    c->head.variant->run(args);
}

/* An element of an input that has another one's place. */
typedef struct fresh_element {
  char *at; /* null: there is none */
  size_t size;
  uint64_t was;
} fresh_element;

static void put_back(fresh_element *e) {
  if (e->at)
    memcpy(e->at, &e->was, e->size);
  e->at = NULL;
}

static bool may_freshen(const cpu_call *c, int o) {
  const lathe_op *op = c->head.variant->op;

  return !op->operands[o].output && c->head.problem->elements[o] > 1 &&
         !(c->head.layout.in_place && o == first_operand(op, false));
}

/* Puts an element of an input in the place of another. */
static void freshen(cpu_call *c, const lathe_args *args, fresh_element *e) {
  const problem *p = c->head.problem;
  const int first = (int)(draw(c) % (uint32_t)p->op->noperands);
  int o = first, tried = 0;
  size_t count, to, from;
  char *data;

  while (tried < p->op->noperands && !may_freshen(c, o))
    o = (first + ++tried) % p->op->noperands;
  if (tried == p->op->noperands)
    return;
  count = p->elements[o] < UINT32_MAX ? p->elements[o] : UINT32_MAX;
  to = (draw(c) * (uint64_t)count) >> 32;
  from = (draw(c) * (uint64_t)count) >> 32;
  data = args->buf[o];
  e->size = p->bytes[o] / p->elements[o];
  e->at = data + to * e->size;
  memcpy(&e->was, e->at, e->size);
  memcpy(e->at, data + from * e->size, e->size);
}

/* Every microsecond or so an element of an input is another one, so that a result that is kept for such inputs is of no
 * use. The last call has the inputs as they were; of few, by chance alone. Before it, and of others before the last of
 * some, outputs are spoilt somewhere, where a kernel that finds its result there leaves that. Both are too seldom to
 * take time. */
static void run_batch(void *argument) {
  cpu_call *c = argument;
  const lathe_args *args = c->head.others ? &c->other_args : &c->args;
  const bool watched = c->head.chance != 0;
  const uint64_t apart = c->ns >= FRESH ? 1 : c->ns > 0 ? (uint64_t)(FRESH / c->ns) + 1 : TOGETHER;
  uint64_t to_spoil = TOGETHER, to_freshen = apart;
  fresh_element fresh = {NULL};

  c->head.fresh = watched && c->calls / apart < FEW && draw(c) % KNOWN != 0;
  for (uint64_t left = watched ? 0 : c->calls; left > 0; left--)
    run_kernel(c, args);
  for (uint64_t left = watched ? c->calls : 0; left > 0; left--) {
    if (left == 1 || --to_freshen == 0) {
      put_back(&fresh);
      if (left > 1 || c->head.fresh)
        freshen(c, args, &fresh);
      to_freshen = apart;
    }
    if (left == 1 || --to_spoil == 0) {
      poke_somewhere(c);
      to_spoil = TOGETHER;
    }
    run_kernel(c, args);
  }
  put_back(&fresh);
}

/* Leaves a pattern where a kernel will have its stack. */
__attribute__((noinline)) static void fill_stack(unsigned char pattern) {
  unsigned char below[PATTERNED];

  memset(below, pattern, sizeof below);
  __asm__ volatile("" : : "r"(below) : "memory");
}

/* One call, on a stack that holds other numbers each time. */
static void run_once(void *argument) {
  const unsigned char patterns[] = {0x3f, buffer_poison_huge};
  static unsigned turn;
  cpu_call *c = argument;

  fill_stack(patterns[turn++ % 2]);
  run_kernel(c, &c->args);
}

/* The floating-point settings that a kernel must leave as they were: rounding, masks, and
 * flushing of denormals, but not the sticky exception flags. */
static uint64_t float_settings(void) {
#if defined __x86_64__
  return _mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK;
#elif defined __aarch64__
  uint64_t settings;
  __asm__ volatile("mrs %0, fpcr" : "=r"(settings));
  return settings;
#else
  return 0;
#endif
}

static void set_float_settings(uint64_t settings) {
#if defined __x86_64__
  _mm_setcsr((unsigned)settings);
#elif defined __aarch64__
  __asm__ volatile("msr fpcr, %0" : : "r"(settings));
#else
  (void)settings;
#endif
}

static bool run(device_call *call) {
  cpu_call *c = (cpu_call *)call;
  const uint64_t settings = float_settings();
  const char *crash;

  crash = signals_guard(run_once, c);
  if (crash) {
    call->fate = DEVICE_CRASHED;
    return device_fail(call, "crashed with %s", crash);
  }
  if (float_settings() != settings) {
    set_float_settings(settings);
    return device_fail(call, "left the processor's floating-point settings changed");
  }
  return true;
}

/* Copies memory until it is told to stop. */
static void *keep_busy(void *stop) {
  enum { HALF = 1 << 20 };
  char *memory = calloc(2, HALF);

  while (memory && !atomic_load((atomic_bool *)stop))
    memcpy(memory, memory + HALF, HALF);
  free(memory);
  return NULL;
}

static void leave_caches(const buffer *b) {
#if defined __x86_64__
  for (size_t at = 0; at < b->size; at += 64)
    _mm_clflush(b->data + at);
#else
  (void)b;
#endif
}

/* One thread alone has nobody to race with. */
static bool run_under(device_call *call, device_load load) {
  cpu_call *c = (cpu_call *)call;
  atomic_bool stop = false;
  pthread_t busy;
  bool begun, ok;

  if (c->parts < 2)
    return run(call);
  for (int o = 0; o < call->variant->op->noperands && load == DEVICE_THRASHED; o++)
    leave_caches(&c->operand[o]);
  begun = load == DEVICE_BUSY && aside_start(&busy, keep_busy, &stop);
  ok = run(call);
  atomic_store(&stop, true);
  if (begun)
    pthread_join(busy, NULL);
  return ok;
}

static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  cpu_call *c = (cpu_call *)call;
  const char *crash;
  double host, own;

  c->calls = calls;
  keep_inputs(c, false);
  if (call->other && call->chance && draw(c) % TURNS == 0)
    call->others = !call->others;
  own = clock_cpu_ns();
  host = clock_ns();
  crash = signals_guard(run_batch, c);
  taken->host = clock_ns() - host;
  taken->own = clock_cpu_ns() - own;
  c->ns = calls ? taken->host / (double)calls : 0;
  if (!crash)
    return true;
  call->fate = DEVICE_CRASHED;
  return device_fail(call, "crashed with %s while it was timed", crash);
}

static void nothing(const lathe_args *args) {
  (void)args;
}

/* A kernel that does nothing, called as all are. */
static bool empty_launch(device *on, device_time *taken) {
  enum { TRIES = 21, CALLS = 1 << 14 };
  const lathe_variant variant = {.run = nothing};
  cpu_call c = {.head = {.on = on, .variant = &variant}, .calls = CALLS};

  *taken = (device_time){INFINITY, INFINITY};
  for (int i = 0; i < TRIES; i++) {
    double start = clock_ns();
    run(&c.head);
    taken->host = fmin(taken->host, clock_ns() - start);
    start = clock_ns();
    run_batch(&c);
    taken->own = fmin(taken->own, (clock_ns() - start) / CALLS);
  }
  return true;
}

static const void *output(device_call *call, int operand) {
  return ((cpu_call *)call)->args.buf[operand];
}

static bool guards_hold(device_call *call, const buffer *b, const char *name) {
  const unsigned char *at = b->map ? buffer_overrun(b) : NULL;

  if (!at)
    return true;
  if (at < b->data)
    return device_fail(call, "wrote before the start of %s, %td bytes", name, b->data - at);
  return device_fail(call, "wrote after the end of %s, at %td bytes past it", name,
                     at - (b->data + b->size));
}

static bool input_holds(device_call *call, const buffer *b, const problem *p, int o) {
  const size_t at = memory_differs(b->data, p->input[o], p->bytes[o]);

  if (at == p->bytes[o])
    return true;
  return device_fail(call, "wrote into its input %s, %zu bytes from its start",
                     p->op->operands[o].name, at);
}

static bool intact(device_call *call) {
  cpu_call *c = (cpu_call *)call;
  const lathe_op *op = call->variant->op;

  for (int o = 0; o < op->noperands; o++) {
    const bool overwritten = call->layout.in_place && o == first_operand(op, false);
    const char *name = op->operands[o].name;
    if (!guards_hold(call, &c->operand[o], name) || !guards_hold(call, &c->input[o], name))
      return false;
    if (call->problem->input[o] && !overwritten && device_home(call, o) == o &&
        !input_holds(call, &c->operand[o], call->problem, o))
      return false;
    if (c->input[o].map && !input_holds(call, &c->input[o], call->other, o))
      return false;
  }
  return guards_hold(call, &c->workspace, "the workspace");
}

device *device_cpu(void) {
  static device cpu = {
      .id = "cpu",
      .kind = LATHE_CPU,
      .memory = memory,
      .prepare = prepare,
      .release = release,
      .reset = reset,
      .load = load,
      .take_turns = take_turns,
      .run = run,
      .run_under = run_under,
      .time = time_calls,
      .empty_launch = empty_launch,
      .clock_mhz = cpu_clock_mhz,
      .output = output,
      .intact = intact,
      .peek = device_peek_output,
      .poke = device_poke_output,
      .streams_rate = cpu_threads_streams_rate,
      .arithmetic_rate = cpu_threads_arithmetic_rate,
  };

  if (!cpu.name) {
    cpu.name = lathe_cpu_name();
    cpu.features = lathe_cpu_features();
    cpu.hidden = lathe_cpu_hidden_features();
  }
  return &cpu;
}
