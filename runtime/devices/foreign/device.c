/* device.c - kernels that somebody else wrote and that run on the host, as a device: asks their process. */
#define _GNU_SOURCE /* memfd_create */
#include "device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "devices/common/kept.h"
#include "devices/cpu/device.h"
#include "devices/cpu/rates.h"
#include "devices/cpu/speed.h"
#include "foreign.h"
#include "guest.h"
#include "library/bench.h"
#include "library/dtype.h"

/* The process of a library; there is one at a time. */
static struct {
  const foreign *of;
  kept kept;
  unsigned began; /* how many there have been */
  int file;
  unsigned char *at; /* the file's memory */
  unsigned taken;    /* calls that are prepared, a bit each */
  double asking_ns;  /* what it takes to be answered */
} guest = {.file = -1};

typedef struct foreign_call {
  device_call head;
  unsigned number, began;
  size_t at[LATHE_MAX_OPERANDS];
} foreign_call;

static bool fail(device_call *call, device_fate fate, const char *why) {
  call->fate = fate;
  return device_fail(call, "%s", why);
}

/* Its end in words. */
static const char *stop(void) {
  static char text[160];
  kept_end end;
  char how[120];

  if (!guest.kept.pid)
    return "its process has ended";
  end = kept_stop(&guest.kept);
  kept_tell(&end, how, sizeof how);
  snprintf(text, sizeof text, "its process %s", how);
  guest.taken = 0;
  munmap(guest.at, GUEST_END);
  close(guest.file);
  guest.file = -1;
  return text;
}

/* A number that nobody guesses. */
static uint64_t draw(void) {
  uint64_t drawn = 0;

  if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
    drawn += (uint64_t)clock_ns();
  return drawn;
}

/* False where the process has ended, or speaks otherwise than it was taught, as where a kernel speaks in its place. */
static bool take_answer(uint64_t ticket, guest_answer *a) {
  const int line = fileno(guest.kept.line);

  if (recv(line, a, sizeof *a, MSG_WAITALL) != (ssize_t)sizeof *a || a->ticket != ticket)
    return false;
  a->why[sizeof a->why - 1] = 0;
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++)
    if (a->at[o] > GUEST_END)
      return false;
  return true;
}

static bool ask(const guest_request *r, guest_answer *a) {
  guest_request now = *r;
  bool ok;

  now.ticket = draw();
  device_step_begins();
  ok = guest.kept.pid &&
       send(fileno(guest.kept.line), &now, sizeof now, MSG_NOSIGNAL) == (ssize_t)sizeof now &&
       take_answer(now.ticket, a);
  device_step_ends();
  return ok;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

/* How long an answer takes that needs nothing done. */
static void time_asking(void) {
  enum { TIMES = 15 };
  const guest_request nothing = {.what = GUEST_NOTHING};
  double ns[TIMES];
  guest_answer a;

  for (int i = 0; i < TIMES; i++) {
    const double start = clock_ns();
    if (!ask(&nothing, &a))
      return;
    ns[i] = clock_ns() - start;
  }
  qsort(ns, TIMES, sizeof *ns, compare);
  guest.asking_ns = ns[TIMES / 2];
}

static bool make_file(void) {
  guest.file = memfd_create("lathe-foreign", 0);
  if (guest.file < 0)
    return false;
  guest.at =
      ftruncate(guest.file, (off_t)GUEST_END) == 0
          ? mmap(NULL, GUEST_END, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, guest.file, 0)
          : MAP_FAILED;
  if (guest.at != MAP_FAILED)
    return true;
  close(guest.file);
  guest.file = -1;
  return false;
}

/* Starts the process of a library, where there is none, for a call; false with its error. */
static bool start(const foreign *f, device_call *call) {
  char number[16];
  const char *const program[] = {"/proc/self/exe",     guest_command, f->path,
                                 foreign_trust_word(), number,        NULL};
  guest_answer a;
  bool begun;

  if (guest.kept.pid && guest.of == f)
    return true;
  if (guest.kept.pid)
    stop();
  guest.of = f;
  guest.began++;
  if (!make_file())
    return device_fail(call, "there is no memory that its process could share");
  snprintf(number, sizeof number, "%d", guest.file);
  setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1); /* what is freed is seen to be so */
  begun = kept_start(&guest.kept, program, guest.file);
  unsetenv("GLIBC_TUNABLES");
  if (!begun)
    return device_fail(call, "no process for it: %s", strerror(errno));
  if (!take_answer(0, &a)) {
    call->fate = DEVICE_CRASHED;
    return device_fail(call, "while it was loaded, %s", stop());
  }
  if (a.ok) {
    time_asking();
    return true;
  }
  stop();
  return fail(call, a.fate, a.why);
}

/* Whether the process that has a call is there. */
static bool is_there(const foreign_call *c) {
  return c->began == guest.began && guest.kept.pid;
}

/* False with the call's error and fate, of which the first one stays. */
static bool ask_of(device_call *call, guest_request r, guest_answer *a) {
  foreign_call *c = (foreign_call *)call;

  r.call = c->number;
  if (call->fate != DEVICE_WELL)
    return false;
  if (!is_there(c))
    return fail(call, DEVICE_CRASHED, "its process has ended");
  if (!ask(&r, a))
    return fail(call, DEVICE_CRASHED, stop());
  if (a->ok)
    return true;
  if (a->fate != DEVICE_WELL) /* what it has begun, or changed, ends with it */
    stop();
  return fail(call, a->fate, a->why);
}

static bool do_to(device_call *call, guest_request r) {
  guest_answer a;

  return ask_of(call, r, &a);
}

/* Puts a problem's inputs where its process reads them, the first or the second one's, and says so. */
static guest_request about(guest_wish what, const problem *p, int which) {
  const size_t page = 4096;
  guest_request r = {.what = what,
                     .op = (size_t)(p->op - lathe_ops),
                     .dtype = p->dtype,
                     .seed = p->seed,
                     .special = p->special};
  size_t at = (size_t)which * GUEST_INPUTS;

  memcpy(r.dim, p->dim, sizeof r.dim);
  memcpy(r.scalar, p->scalar, sizeof r.scalar);
  for (int o = 0; o < p->op->noperands; o++) {
    if (!p->input[o])
      continue;
    r.input[o] = at;
    memory_copy(guest.at + at, p->input[o], p->bytes[o]);
    at += (p->bytes[o] + page) / page * page;
  }
  return r;
}

static void release(device_call *call) {
  foreign_call *c = (foreign_call *)call;

  if (is_there(c)) {
    call->fate = DEVICE_WELL;
    do_to(call, (guest_request){.what = GUEST_RELEASE});
    guest.taken &= ~(1u << c->number);
  }
  free(c);
}

/* Has the call prepared; false with its error. */
static bool begin(foreign_call *c) {
  guest_request r;
  guest_answer a;

  while (c->number < GUEST_CALLS && guest.taken >> c->number & 1)
    c->number++;
  if (c->number == GUEST_CALLS)
    return device_fail(&c->head, "its process has too many calls");
  guest.taken |= 1u << c->number;
  c->began = guest.began;
  r = about(GUEST_PREPARE, c->head.problem, 0);
  r.layout = c->head.layout;
  if (!ask_of(&c->head, r, &a))
    return false;
  memcpy(c->at, a.at, sizeof c->at);
  return true;
}

/* A call whose process has failed in this is one all the same, which fails when it is run. */
static device_call *prepare(device *on, const lathe_variant *variant, const problem *p,
                            device_layout layout, const char **why) {
  static char text[256];
  foreign_call *c = calloc(1, sizeof *c);

  *why = "not enough memory";
  if (!c)
    return NULL;
  c->head = (device_call){.on = on, .variant = variant, .problem = p, .layout = layout};
  if ((start(foreign_of(variant), &c->head) && begin(c)) || c->head.fate != DEVICE_WELL)
    return &c->head;
  snprintf(text, sizeof text, "%s", c->head.error);
  *why = text;
  release(&c->head);
  return NULL;
}

static void reset(device_call *call) {
  do_to(call, (guest_request){.what = GUEST_RESET});
}

static bool load(device_call *call, const problem *p) {
  call->problem = p;
  return do_to(call, is_there((foreign_call *)call) ? about(GUEST_LOAD, p, 0)
                                                    : (guest_request){.what = GUEST_LOAD});
}

static bool take_turns(device_call *call, const problem *other) {
  if (!is_there((foreign_call *)call) || !do_to(call, about(GUEST_TURNS, other, 1)))
    return false;
  call->other = other;
  return true;
}

static bool run(device_call *call) {
  return do_to(call, (guest_request){.what = GUEST_RUN});
}

static bool run_under(device_call *call, device_load load) {
  return do_to(call, (guest_request){.what = GUEST_RUN, .load = load});
}

/* By this process's clock, less what asking takes. */
static bool time_calls(device_call *call, uint64_t calls, device_time *taken) {
  const guest_request r = {.what = GUEST_TIME, .calls = calls, .chance = call->chance};
  guest_answer a;
  double start;

  if (!do_to(call, (guest_request){.what = GUEST_NOTHING})) /* it may be busy with itself */
    return false;
  start = clock_ns();

  if (!ask_of(call, r, &a))
    return false;
  taken->host = clock_ns() - start;
  taken->own = fmax(taken->host - guest.asking_ns, 1);
  call->others = a.others && call->other;
  call->fresh = a.fresh && call->chance;
  if (call->chance)
    call->chance = a.chance ? a.chance : 1;
  for (int o = 0; o < call->problem->op->noperands; o++)
    call->poked[o] = a.poked[o] < call->problem->bytes[o] ? a.poked[o] : 0;
  return true;
}

static const void *output(device_call *call, int operand) {
  const foreign_call *c = (const foreign_call *)call;
  const size_t end = c->at[operand] + call->problem->bytes[operand];

  if (!is_there(c) || end > GUEST_END) {
    if (!call->error[0])
      fail(call, DEVICE_CRASHED, "its process has ended");
    return NULL;
  }
  return guest.at + c->at[operand];
}

static bool intact(device_call *call) {
  return do_to(call, (guest_request){.what = GUEST_INTACT});
}

device *device_foreign(void) {
  static device here;

  here = *device_cpu();
  here.kind = LATHE_PEER;
  here.features |= LATHE_ON_PEER;
  here.hidden = 0;
  here.prepare = prepare;
  here.release = release;
  here.reset = reset;
  here.load = load;
  here.take_turns = take_turns;
  here.run = run;
  here.run_under = run_under;
  here.time = time_calls;
  here.empty_launch = NULL;
  here.output = output;
  here.intact = intact;
  return &here;
}
