/* profile.c - where the time of a call goes: each part by itself, some times, of which the median counts. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "counters.h"
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

static bool copy_in(device_call *call, void *argument, double *ns) {
  (void)argument, (void)ns;
  return call->on->load(call, call->problem);
}

static bool copy_out(device_call *call, void *to, double *ns) {
  const lathe_op *op = call->variant->op;

  (void)ns;
  for (int o = 0; o < op->noperands; o++)
    if (op->operands[o].output && !call->on->peek(call, o, 0, to, call->problem->bytes[o]))
      return false;
  return true;
}

static bool time_copies(device_call *call, profile *p) {
  size_t most = 1;
  void *to;
  bool ok;

  for (int o = 0; o < call->variant->op->noperands; o++)
    if (call->problem->bytes[o] > most)
      most = call->problem->bytes[o];
  to = malloc(most);
  if (!to)
    return device_fail(call, "not enough memory for a copy of the results");
  ok = time_part(call, copy_in, NULL, &p->copy_in) && time_part(call, copy_out, to, &p->copy_out);
  free(to);
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

  *p = (profile){true, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  if (!time_part(call, call_alone, NULL, &p->host) ||
      (call->on->ask && !time_part(call, ask, NULL, &p->launch)))
    return false;
  if (!on_host)
    return time_copies(call, p);
  return call->layout.threads > 1 || count(call, calls > 0 ? calls : 1, p);
}
