/* profile.c - where the time of a call goes: each part by itself, some times, of which the median counts. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "counters.h"
#include "devices/common/remote.h"
#include "overhead.h"
#include "stats.h"

enum { MOST = 51, FEWEST = 3 };
static const double patience_ns = 100e6; /* after which a part is not timed again */

/* A part: false where it failed. *ns: what it took by the host's clock, to be changed where less than that counts. */
typedef bool part(device_call *call, void *argument, double *ns);

static bool time_part(device_call *call, part *run, void *argument, double *median) {
  const double begin = clock_ns();
  double tries[MOST];
  size_t count = 0;

  while (count < MOST && (count < FEWEST || clock_ns() - begin < patience_ns)) {
    const double start = clock_ns();
    double ns = NAN;
    if (!run(call, argument, &ns))
      return false;
    tries[count++] = isnan(ns) ? clock_ns() - start - overhead_of_clock_ns() : ns;
  }
  *median = fmax(0, stats_of(tries, count).median);
  return true;
}

static bool call_alone(device_call *call, void *argument, double *ns) {
  (void)argument, (void)ns;
  return device_run(call);
}

static bool ask(device_call *call, void *argument, double *ns) {
  bool ok;

  (void)argument;
  device_step_begins();
  ok = call->on->ask(call, ns);
  device_step_ends();
  return ok;
}

/* Memory of the host's for each operand, of which the inputs are there. */
typedef struct host_copies {
  void *of[LATHE_MAX_OPERANDS];
  bool pinned[LATHE_MAX_OPERANDS];
} host_copies;

static bool make_copies(const problem *p, host_copies *h) {
  for (int o = 0; o < p->op->noperands; o++) {
    h->of[o] = memory_make(p->bytes[o]);
    if (!h->of[o])
      return false;
    if (p->input[o])
      memcpy(h->of[o], p->input[o], p->bytes[o]);
    else
      memset(h->of[o], 0, p->bytes[o]); /* touches its pages */
  }
  return true;
}

/* False where some of them cannot be pinned. */
static bool pin_copies(const device_call *call, host_copies *h) {
  const struct remote_kind *kind = call->on->remote;

  if (!kind || !kind->pin)
    return false;
  for (int o = 0; o < call->problem->op->noperands; o++) {
    h->pinned[o] = kind->pin(h->of[o], call->problem->bytes[o]);
    if (!h->pinned[o])
      return false;
  }
  return true;
}

static void free_copies(const device_call *call, host_copies *h) {
  for (int o = 0; o < LATHE_MAX_OPERANDS; o++) {
    if (h->pinned[o])
      call->on->remote->unpin(h->of[o]);
    free(h->of[o]);
  }
}

static bool copy_in(device_call *call, void *copies, double *ns) {
  const problem *p = call->problem;
  const host_copies *h = copies;

  (void)ns;
  for (int o = 0; o < p->op->noperands; o++)
    if (p->input[o] && !call->on->poke(call, o, 0, h->of[o], p->bytes[o]))
      return false;
  return true;
}

static bool copy_out(device_call *call, void *copies, double *ns) {
  const problem *p = call->problem;
  const host_copies *h = copies;

  (void)ns;
  for (int o = 0; o < p->op->noperands; o++)
    if (p->op->operands[o].output && !call->on->peek(call, o, 0, h->of[o], p->bytes[o]))
      return false;
  return true;
}

/* Where the host has no memory for them, nothing is known of copies. Inputs stay what they were. */
static bool time_copies(device_call *call, profile *p) {
  host_copies h = {0};
  bool ok = true;

  if (make_copies(call->problem, &h)) {
    ok = time_part(call, copy_in, &h, &p->copy_in) && time_part(call, copy_out, &h, &p->copy_out);
    if (ok && pin_copies(call, &h))
      ok = time_part(call, copy_in, &h, &p->pinned_in) &&
           time_part(call, copy_out, &h, &p->pinned_out);
  }
  free_copies(call, &h);
  return ok;
}

static bool count(device_call *call, uint64_t calls, profile *p) {
  const counters before = counters_read();
  device_time taken;
  counters after;

  if (!device_time_calls(call, calls, &taken))
    return false;
  after = counters_read();
  p->instructions = (after.instructions - before.instructions) / (double)calls;
  p->cycles = (after.cycles - before.cycles) / (double)calls;
  p->cache_misses = (after.cache_misses - before.cache_misses) / (double)calls;
  return true;
}

bool profile_call(device_call *call, uint64_t calls, profile *p) {
  const bool on_host = device_kind_of(call->on->kind)->on_host;

  *p = (profile){true, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  if (!time_part(call, call_alone, NULL, &p->host) ||
      (call->on->ask && !time_part(call, ask, NULL, &p->launch)))
    return false;
  if (!on_host)
    return time_copies(call, p);
  return call->layout.threads > 1 || count(call, calls > 0 ? calls : 1, p);
}
