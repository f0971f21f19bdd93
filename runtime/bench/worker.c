/* worker.c - devices are used in a process of their own: starts it, asks it (serve.h), and sees how it ends. */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/progress.h"
#include "base/signals.h"
#include "devices/devices.h"
#include "serve.h"

/* A device as this process knows it. */
typedef struct stranger {
  device head;
  description about;
  size_t number; /* among devices of its kind */
} stranger;

static pid_t child;         /* 0: none */
static int line = -1;       /* the socket */
static device_steps *steps; /* the worker's, in memory that both processes have */
static double limit;        /* seconds that a launch may take */
static bool alone;          /* there is to be no worker */
static bool drivers;        /* rows run on another device than the processor */

static const int look_ms = 100; /* how often the worker is looked at, and an interrupt noticed */

/* How long the worker has been in one step, or stopped, as far as this process has seen it: time in
 * which it was itself stopped, as by Ctrl-Z, is no time that the worker had. */
static struct {
  unsigned step;
  bool stopped;
  double last_ns, spent_ns;
} watch;

static bool overdue(void) {
  return limit > 0 && watch.spent_ns > limit * 1e9;
}

static void look(void) {
  const double now = clock_ns(), most_ns = 2e6 * look_ms;
  const double passed = now - watch.last_ns < most_ns ? now - watch.last_ns : most_ns;
  const unsigned ended = atomic_load(&steps->ended), begun = atomic_load(&steps->begun);
  siginfo_t seen = {0};

  if (waitid(P_PID, (id_t)child, &seen, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
      seen.si_pid == child)
    watch.stopped = seen.si_code == CLD_STOPPED;
  if (watch.stopped || (begun != ended && begun == watch.step))
    watch.spent_ns += passed;
  else
    watch.spent_ns = 0;
  watch.step = begun;
  watch.last_ns = now;
}

static void start(void) {
  int ends[2];

  if (child)
    return;
  if (!steps)
    steps = mmap(NULL, sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (steps == MAP_FAILED)
    message_refuse("no memory shared with a process for the devices: %s", strerror(errno));
  *steps = (device_steps){0};
  memset(&watch, 0, sizeof watch);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    message_refuse("no line to a process for the devices: %s", strerror(errno));
  child = fork();
  if (child < 0)
    message_refuse("no process for the devices: %s", strerror(errno));
  line = ends[child == 0];
  close(ends[child != 0]);
  if (child == 0)
    serve(line, steps);
}

/* A crash's signals, which what the process did itself brings about; others come from elsewhere. */
static bool is_crash(int number) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
    if (crashes[i] == number)
      return true;
  return false;
}

/* Waits for the worker's end, and says how it came to it. One that its driver holds back is left. */
static worker_fate bury(const char **why) {
  const double patience_ns = 10e9, start_ns = clock_ns();
  static char text[128];
  const pid_t dead = child;
  pid_t found;
  int status = 0, number;

  close(line);
  child = 0;
  while ((found = waitpid(dead, &status, WNOHANG)) == 0 && clock_ns() - start_ns < patience_ns)
    usleep(1000);
  number = found == dead && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  *why = text;
  if (overdue() && watch.stopped) {
    snprintf(text, sizeof text, "its process was stopped, and did not go on within %g s", limit);
    return WORKER_KILLED;
  }
  if (number && !overdue() && !is_crash(number)) {
    snprintf(text, sizeof text, "its process was killed from outside: signal %d, %s%s", number,
             strsignal(number), number == SIGKILL ? " (is the memory full?)" : "");
    return WORKER_KILLED;
  }
  if (overdue())
    snprintf(text, sizeof text, "did not end within %g s%s", limit,
             found == dead ? "" : ", nor when it was killed");
  else if (found != dead)
    snprintf(text, sizeof text, "its process cannot be ended");
  else if (number)
    snprintf(text, sizeof text, "its process crashed with %s", signals_name(number));
  else
    snprintf(text, sizeof text, "its process ended with status %d", WEXITSTATUS(status));
  return overdue() ? WORKER_LATE : WORKER_FAILED;
}

/* False when the line has ended, at an interrupt, or where the worker is overdue. */
static bool get(void *to, size_t bytes) {
  struct pollfd wait = {.fd = line, .events = POLLIN};
  char *at = to;

  while (bytes > 0) {
    const int ready = poll(&wait, 1, look_ms);
    ssize_t got = 0;
    if (ready <= 0)
      look();
    if (signals_interrupted() || overdue())
      return false;
    if (ready > 0)
      got = recv(line, at, bytes, 0);
    if (ready > 0 && got <= 0)
      return false;
    at += got;
    bytes -= (size_t)got;
  }
  return true;
}

static bool get_samples(measurement *m) {
  m->capacity = m->count;
  m->host = m->own = NULL;
  if (m->count == 0)
    return true;
  m->host = message_need(malloc(m->count * sizeof *m->host));
  m->own = message_need(malloc(m->count * sizeof *m->own));
  return get(m->host, m->count * sizeof *m->host) && get(m->own, m->count * sizeof *m->own);
}

static worker_fate ask_once(const request *r, answer *a, const char **why) {
  start();
  watch.last_ns = clock_ns();
  watch.spent_ns = 0;
  if (serve_put(line, r, sizeof *r) && get(a, sizeof *a)) {
    const bool lost = a->outcome.lost;
    const bool warm = get_samples(&a->outcome.warm);
    if (warm && get_samples(&a->outcome.cold)) {
      if (lost) /* it ends now */
        bury(why);
      return WORKER_LIVES;
    }
    if (!warm)
      a->outcome.cold = (measurement){0}; /* its addresses are the worker's */
    outcome_free(&a->outcome);
  }
  if (signals_interrupted() || overdue())
    kill(child, SIGKILL);
  return bury(why);
}

/* Where the worker was killed from outside, another one is asked. */
static worker_fate ask(const request *r, answer *a, const char **why) {
  const worker_fate fate = ask_once(r, a, why);

  if (fate != WORKER_KILLED || signals_interrupted())
    return fate;
  progress_clear();
  message_warn("%s: %s; once more, in a new process",
               r->what == RUN ? r->job.variant->name : lathe_kind_name(r->kind), *why);
  return ask_once(r, a, why);
}

/* A device that runs on the host is known here as well as there. Without a worker all are. */
static size_t number_of(const device *on) {
  if (alone || device_kind_of(on->kind)->on_host) {
    const device_list list = device_own(on->kind);
    size_t number = 0;
    while (number < list.count && list.at[number] != on)
      number++;
    return number;
  }
  return ((const stranger *)on)->number;
}

static request about(wish what, const device *on) {
  return (request){.what = what, .kind = on->kind, .device = number_of(on)};
}

static double memory(device *on) {
  const request r = about(MEMORY, on);
  const char *why;
  answer a;

  return ask(&r, &a, &why) == WORKER_LIVES ? a.value : -1;
}

static double rate(request *r, int *way) {
  const char *why;
  answer a;

  r->way = *way;
  if (ask(r, &a, &why) != WORKER_LIVES)
    return 0;
  *way = a.way;
  return a.value;
}

static double arithmetic_rate(device *on, lathe_dtype dtype, device_unit unit, int threads,
                              int *way) {
  request r = about(ARITHMETIC, on);

  r.dtype = dtype;
  r.unit = unit;
  r.threads = threads;
  return rate(&r, way);
}

static double streams_rate(device *on, int streams, size_t bytes, int threads, int *way) {
  request r = about(STREAMS, on);

  r.streams = streams;
  r.bytes = bytes;
  r.threads = threads;
  return rate(&r, way);
}

static bool empty_launch(device *on, device_time *taken) {
  const request r = about(LAUNCH, on);
  const char *why;
  answer a;

  if (ask(&r, &a, &why) != WORKER_LIVES || !(a.taken.own > 0))
    return false;
  *taken = a.taken;
  return true;
}

/* Asks for the devices of a kind, and puts them in the list. */
static void meet(lathe_kind kind) {
  typedef struct acquaintances {
    device_list list;
    device *at[MOST_DEVICES];
    stranger device[MOST_DEVICES];
    char missing[320];
  } acquaintances;
  static acquaintances all[DEVICE_KINDS];
  acquaintances *here = &all[kind];
  const request r = {.what = FIND, .kind = kind};
  answer a = {0};
  const char *why;

  if (ask(&r, &a, &why) != WORKER_LIVES) {
    a.count = 0;
    snprintf(here->missing, sizeof here->missing, "looking for one: %s", why);
  } else {
    snprintf(here->missing, sizeof here->missing, "%s", a.text);
  }
  for (size_t i = 0; i < a.count; i++) {
    stranger *s = &here->device[i];
    s->about = a.device[i];
    s->number = i;
    s->head = (device){.id = s->about.id,
                       .name = s->about.name,
                       .notes = s->about.notes[0] ? s->about.notes : NULL,
                       .kind = kind,
                       .features = s->about.features,
                       .cache = s->about.cache,
                       .is_processor = s->about.is_processor,
                       .cools = s->about.cools,
                       .memory = memory,
                       .streams_rate = streams_rate,
                       .arithmetic_rate = arithmetic_rate,
                       .empty_launch = empty_launch};
    memcpy(s->head.uuid, s->about.uuid, sizeof s->head.uuid);
    here->at[i] = &s->head;
  }
  here->list = (device_list){.count = a.count, .at = here->at, .missing = here->missing};
  device_put(kind, &here->list);
}

void worker_begin(double seconds, bool in_process) {
  limit = seconds;
  alone = in_process;
  for (int k = 0; k < DEVICE_KINDS; k++)
    if (!device_kind_of((lathe_kind)k)->on_host && !alone)
      meet((lathe_kind)k);
}

worker_fate worker_run(const device *on, const job *j, outcome *out, const char **why) {
  request r = {.what = RUN, .job = *j};
  worker_fate fate;
  answer a;

  r.job.device = number_of(on);
  drivers = drivers || !device_kind_of(on->kind)->on_host;
  if (alone) {
    static bool lost;
    *why = "lost with an earlier row, and --in-process leaves no other process";
    if (lost && !device_kind_of(on->kind)->on_host)
      return WORKER_FAILED;
    *out = job_run(&r.job);
    lost = lost || out->lost;
    return WORKER_LIVES;
  }
  fate = ask(&r, &a, why);
  if (fate == WORKER_LIVES)
    *out = a.outcome;
  return fate;
}

int worker_kernels(const device *on, const job *j, device_kernel *to, const char **why) {
  static char text[256];
  request r = {.what = KERNELS, .job = *j};
  answer a;

  r.job.device = number_of(on);
  if (alone)
    return job_kernels(&r.job, to, why);
  if (ask(&r, &a, why) != WORKER_LIVES)
    return -1;
  for (int k = 0; k < a.kernels; k++)
    to[k] = a.kernel[k];
  snprintf(text, sizeof text, "%s", a.text);
  *why = text;
  return a.kernels;
}

void worker_renew(void) {
  const char *why;

  if (child && !drivers)
    bury(&why);
}

void worker_end(void) {
  const char *why;

  if (child)
    bury(&why);
}
