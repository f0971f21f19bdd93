/* guest.c - the process that calls a library somebody else wrote: the processor as a device, for another process. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/signals.h"
#include "devices/common/buffer.h"
#include "devices/cpu/device.h"
#include "library/bench.h"
#include "library/dtype.h"
#include "object.h"
#include "trust.h"

/* A call, and its problems: their inputs are the judge's. */
typedef struct visit {
  device_call *call;
  lathe_variant variant;
  problem asked, other;
} visit;

static const lathe_backend backend = {"foreign", LATHE_CPU, LATHE_ON_CPU, NULL};
static visit visits[GUEST_CALLS];
static unsigned char *file_at;
static pid_t self;

static void refuse(guest_answer *a, device_fate fate, const char *why) {
  a->ok = false;
  a->fate = fate;
  snprintf(a->why, sizeof a->why, "%s", why);
}

static problem problem_of(const guest_request *r) {
  problem p = {.op = &lathe_ops[r->op], .dtype = r->dtype, .seed = r->seed, .special = r->special};

  memcpy(p.dim, r->dim, sizeof p.dim);
  memcpy(p.scalar, r->scalar, sizeof p.scalar);
  for (int o = 0; o < p.op->noperands; o++) {
    p.elements[o] = lathe_elements(p.op, o, p.dim);
    p.bytes[o] =
        p.elements[o] * lathe_dtype_size(lathe_dtype_of_operand(&p.op->operands[o], p.dtype));
    p.input[o] = p.op->operands[o].output ? NULL : file_at + r->input[o];
  }
  return p;
}

/* ---- memory that a kernel keeps ---------------------------------------------------------------------- */

static FILE *maps; /* what this process has of memory; null where that is not told */

/* Bytes of maps that may be written: buffers are none. */
static size_t mapped(void) {
  static char line[512];
  unsigned long from, to;
  char rights[5];
  size_t sum = 0;

  if (!maps)
    return 0;
  rewind(maps);
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && strncmp(rights, "rw", 2) == 0 &&
        !(rights[3] == 's' && from - (uintptr_t)file_at < GUEST_END) && !strstr(line, "[heap]") &&
        !strstr(line, "[stack]"))
      sum += to - from;
  return sum;
}

/* The same of what it has allocated. */
static size_t allocated(void) {
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 all = mallinfo2();

  return all.uordblks + all.hblkhd;
#else
  return 0; /* maps tell of what is large */
#endif
}

typedef struct memory {
  size_t mapped, allocated;
} memory;

static memory memory_now(void) {
  return (memory){mapped(), allocated()};
}

static size_t memory_more(memory before, memory now) {
  const size_t heap = now.allocated > before.allocated ? now.allocated - before.allocated : 0;
  const size_t map = now.mapped > before.mapped ? now.mapped - before.mapped : 0;

  return heap > map ? heap : map;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

static void nothing(void *unused) {
  (void)unused;
}

static void tell_kept(guest_answer *a, size_t bytes) {
  refuse(a, DEVICE_KEEPS, "");
  snprintf(a->why, sizeof a->why, "keeps %zu bytes of memory from call to call", bytes);
}

static void begin_visit(visit *v, problem p) {
  v->asked = p;
  v->variant = (lathe_variant){.name = "",
                               .op = p.op,
                               .backend = &backend,
                               .dtype = p.dtype,
                               .run = object_run,
                               .workspace = object_workspace()};
}

/* Memory that runtimes allocate at first, as OpenMP's does for one thread: 208 bytes. */
static const size_t of_runtimes = 512;

/* The first call is of one element of each operand, which is zero. What it finds out, as what the processor can do, may
 * stay. */
static void call_first(const lathe_op *op, lathe_dtype dtype, guest_answer *a) {
  static unsigned char zero[sizeof(double)];
  guest_request r = {.op = (size_t)(op - lathe_ops), .dtype = dtype};
  visit v;
  memory before;
  const char *why;
  device_call *call;
  bool ok;

  for (int s = 0; s < op->nscalars; s++)
    r.scalar[s] = op->scalars[s].value;
  for (int d = 0; d < op->ndim; d++)
    r.dim[d] = 1;
  begin_visit(&v, problem_of(&r));
  for (int o = 0; o < op->noperands; o++)
    v.asked.input[o] = op->operands[o].output ? NULL : zero;
  call = device_cpu()->prepare(device_cpu(), &v.variant, &v.asked, (device_layout){0}, &why);
  if (!call) {
    refuse(a, DEVICE_WELL, why);
    return;
  }
  signals_guard(nothing, NULL); /* which makes what it needs */
  mapped();
  before = memory_now();
  ok = call->on->run(call);
  if (!ok) {
    refuse(a, call->fate == DEVICE_WELL ? DEVICE_MISDID : call->fate, "");
    snprintf(a->why, sizeof a->why, "in its first call, of one element: %.180s", call->error);
  } else if (memory_more(before, memory_now()) > of_runtimes) {
    tell_kept(a, memory_more(before, memory_now()));
  }
  object_is_same(&why);
  object_status();
  call->on->release(call);
}

static void prepare(const guest_request *r, visit *v, guest_answer *a) {
  static guest_answer first;
  static bool tried;
  const char *why;

  if (!object_choose(&lathe_ops[r->op], r->dtype, &why)) {
    refuse(a, DEVICE_WELL, why);
    return;
  }
  if (!tried) {
    first.ok = true;
    call_first(&lathe_ops[r->op], r->dtype, &first);
    tried = true;
  }
  if (!first.ok) {
    refuse(a, first.fate, first.why);
    return;
  }
  begin_visit(v, problem_of(r));
  v->call = device_cpu()->prepare(device_cpu(), &v->variant, &v->asked, r->layout, &why);
  if (!v->call) {
    refuse(a, DEVICE_WELL, why);
    return;
  }
  for (int o = 0; o < v->asked.op->noperands; o++)
    a->at[o] = (size_t)((const unsigned char *)v->call->on->output(v->call, o) - file_at);
}

static void release(visit *v) {
  if (v->call)
    v->call->on->release(v->call);
  v->call = NULL;
}

static size_t kept; /* bytes of memory that a call has kept; told with the next answer */

/* When the answer is on its way: whether there is more memory than after the request before. To look at maps takes
 * longer than most calls, and is done now and then. */
static void look_at_memory(guest_wish last) {
  enum { NOW_AND_THEN = 64 };
  static memory before;
  static unsigned runs;
  const bool called = last == GUEST_RUN || last == GUEST_TIME;
  const memory now = {last == GUEST_RUN && ++runs % NOW_AND_THEN ? before.mapped : mapped(),
                      allocated()};

  if (called && memory_more(before, now))
    kept = memory_more(before, now);
  before = now;
}

/* Acts of a call besides computing. */
static void look(visit *v, bool ok, guest_answer *a) {
  const int status = object_status();
  const char *where;
  const pid_t child = waitpid(-1, NULL, WNOHANG);

  if (!ok)
    refuse(a, v->call->fate, v->call->error);
  else if (child >= 0)
    refuse(a, DEVICE_MISDID, "started a process");
  else if (status) {
    refuse(a, DEVICE_WELL, "");
    snprintf(a->why, sizeof a->why, "returned %d; expected 0, for done", status);
  } else if (!object_is_same(&where)) {
    refuse(a, DEVICE_KEEPS, "");
    snprintf(a->why, sizeof a->why, "keeps something from call to call: its %s has changed", where);
  }
  if (a->ok && kept)
    tell_kept(a, kept);
}

static void answer_to(const guest_request *r, guest_answer *a) {
  visit *v = &visits[r->call % GUEST_CALLS];
  device_call *call = v->call;
  device_time taken;
  const char *why;
  bool ok = true;

  a->ok = true;
  if (call)
    object_choose(v->asked.op, v->asked.dtype, &why);
  switch (call || r->what == GUEST_PREPARE ? r->what : GUEST_NOTHING) {
  case GUEST_NOTHING: return;
  case GUEST_PREPARE:
    release(v);
    prepare(r, v, a);
    return;
  case GUEST_RELEASE: release(v); return;
  case GUEST_RESET: call->on->reset(call); return;
  case GUEST_LOAD:
    v->asked = problem_of(r);
    call->on->load(call, &v->asked);
    return;
  case GUEST_TURNS:
    v->other = problem_of(r);
    a->ok = call->on->take_turns(call, &v->other);
    return;
  case GUEST_RUN:
    ok = r->load == DEVICE_QUIET ? call->on->run(call) : call->on->run_under(call, r->load);
    break;
  case GUEST_TIME:
    call->chance = r->chance;
    call->others = r->calls > 0 && call->others;
    ok = call->on->time(call, r->calls, &taken);
    memcpy(a->poked, call->poked, sizeof a->poked);
    a->others = call->others;
    a->fresh = call->fresh;
    a->chance = call->chance;
    break;
  case GUEST_INTACT: ok = call->on->intact(call); break;
  }
  look(v, ok, a);
}

static bool open_file(int file) {
  file_at = mmap(NULL, GUEST_END, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (file_at == MAP_FAILED ||
      mmap(file_at, GUEST_BUFFERS, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return false;
  buffer_share(file_at, file, GUEST_BUFFERS, GUEST_END);
  return true;
}

const char guest_command[] = "guest";

/* The first answer says what has become of it, before anything is asked. */
int guest_main(int argc, char **argv) {
  guest_request r;
  guest_answer a = {.ok = true};
  const char *why = "";
  int line;

  if (argc < 5)
    message_refuse("guest is for this program's own use");
  line = atoi(argv[argc - 1]);
  self = getpid();
  signals_begin_child();
#if !defined __SANITIZE_ADDRESS__ /* whose memory comes and goes */
  maps = fopen("/proc/self/maps", "re");
#endif
  if (!open_file(atoi(argv[3])))
    refuse(&a, DEVICE_WELL, "it has no room for its buffers");
  else if (!trust_limit(argv[2], argv[1], NULL, &why) || !object_open(argv[1], &why))
    refuse(&a, DEVICE_WELL, why);
  r.what = GUEST_NOTHING;
  do {
    if (getpid() != self) /* a process that a kernel has forked, which came back here */
      _exit(0);
    if (send(line, &a, sizeof a, MSG_NOSIGNAL) != (ssize_t)sizeof a)
      break;
    look_at_memory(r.what);
    memset(&a, 0, sizeof a);
    if (recv(line, &r, sizeof r, MSG_WAITALL) != (ssize_t)sizeof r || r.op >= lathe_op_count)
      break;
    a.ticket = r.ticket;
    answer_to(&r, &a);
  } while (true);
  _exit(0);
}
