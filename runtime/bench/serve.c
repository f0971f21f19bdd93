/* serve.c - the process that uses devices. */
#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined __linux__
#include <sys/prctl.h>
#endif

#include "base/memory.h"
#include "base/signals.h"
#include "devices/cpu/device.h"
#include "devices/devices.h"
#include "measure/overhead.h"

bool serve_put(int line, const void *from, size_t bytes) {
  const char *at = from;

  while (bytes > 0) {
    const ssize_t sent = send(line, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return false;
    at += sent > 0 ? sent : 0;
    bytes -= sent > 0 ? (size_t)sent : 0;
  }
  return true;
}

static void find(lathe_kind kind, answer *a) {
  const device_list list = device_own(kind);

  snprintf(a->text, sizeof a->text, "%s", list.missing ? list.missing : "");
  for (; a->count < list.count && a->count < MOST_DEVICES; a->count++) {
    const device *on = list.at[a->count];
    description *d = &a->device[a->count];
    snprintf(d->id, sizeof d->id, "%s", on->id);
    snprintf(d->name, sizeof d->name, "%s", on->name);
    snprintf(d->notes, sizeof d->notes, "%s", on->notes ? on->notes : "");
    d->features = on->features;
    d->cache = on->cache;
    d->is_processor = on->is_processor;
    d->cools = on->cools;
    memcpy(d->uuid, on->uuid, sizeof d->uuid);
  }
}

static bool put_samples(int line, const measurement *m) {
  return serve_put(line, m->host, m->count * sizeof *m->host) &&
         serve_put(line, m->own, m->count * sizeof *m->own);
}

/* A worker that waits leaves most of the memory to others. */
static void keep_little(void) {
  const double little = 256e6, share = 0.125;
  const double kept = memory_kept();

  if (kept > little && kept > share * device_memory(device_cpu()))
    memory_release();
}

/* False where nobody listens any more. */
static bool answer_to(int line, const request *r) {
  const bool of_job = r->what == RUN || r->what == KERNELS;
  device *on = r->what == FIND || of_job ? NULL : device_own(r->kind).at[r->device];
  answer a = {.way = r->way};
  const char *why = "";
  bool sent;

  switch (r->what) {
  case FIND: find(r->kind, &a); break;
  case MEMORY: a.value = device_memory(on); break;
  case STREAMS: a.value = on->streams_rate(on, r->streams, r->bytes, r->threads, &a.way); break;
  case ARITHMETIC:
    a.value =
        on->arithmetic_rate ? on->arithmetic_rate(on, r->dtype, r->unit, r->threads, &a.way) : 0;
    break;
  case LAUNCH: a.taken = overhead_of_launch(on); break;
  case KERNELS:
    a.kernels = job_kernels(&r->job, a.kernel, &why);
    snprintf(a.text, sizeof a.text, "%s", why ? why : "");
    break;
  case RUN:
    a.outcome = job_run(&r->job);
    keep_little();
    break;
  }
  sent = serve_put(line, &a, sizeof a) && put_samples(line, &a.outcome.warm) &&
         put_samples(line, &a.outcome.cold);
  outcome_free(&a.outcome);
  return sent && !a.outcome.lost;
}

_Noreturn void serve(int line, device_steps *steps) {
  request r;

#if defined __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the line's end would be seen too late */
#endif
  signals_begin_child();
  memory_keep();
  device_watch(steps);
  while (recv(line, &r, sizeof r, MSG_WAITALL) == (ssize_t)sizeof r && answer_to(line, &r))
    ;
  _exit(0);
}
