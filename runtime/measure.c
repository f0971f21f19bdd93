/* measure.c - how long does a call take? Calls are timed in batches long enough for the clock
 * to matter little; batches are taken until the median is known well enough. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* A batch's least length: a thousand readings of the host's clock, and of a GPU's many more of its
 * ticks than the gap that there is before a batch. */
static const double sample_ns_host = 30e3, sample_ns_own = 500e3;

enum {
  FEWEST = 6,  /* samples below which the time limit does not stop us, */
  SLOWEST = 4, /* unless that takes this many times the limit */
  CHECK_EVERY = 8,
  MOST = 100000,
};

bool measure_uses_host(const device *on) {
  return on->kind == LATHE_CPU;
}

/* Calls of one sample: grown until a batch is long enough. Runs at least the warm-up. False
 * when a run failed. */
static bool warm_up(device_call *call, const measure_limits *limits, uint64_t *calls) {
  const double sample_ns = measure_uses_host(call->on) ? sample_ns_host : sample_ns_own;
  const double start = clock_ns();
  device_time taken;

  *calls = 1;
  if (limits->warmup > 0 && !device_time_calls(call, (uint64_t)limits->warmup, &taken))
    return false;
  for (;;) {
    double growth, batch;
    if (!device_time_calls(call, *calls, &taken))
      return false;
    batch = measure_uses_host(call->on) ? taken.host : taken.own;
    if (batch < sample_ns) {
      /* A little more than needed, so that the next batch is the last of these. */
      growth = batch > 0 ? 1.2 * sample_ns / batch : 10;
      growth = growth > 10 ? 10 : growth;
      *calls = (uint64_t)((double)*calls * growth) + 1;
      if (call->group && *calls > call->group)
        *calls = (*calls + call->group - 1) / call->group * call->group;
    } else if (limits->warmup >= 0 || clock_ns() - start >= limits->warmup_ns) {
      return true;
    }
  }
}

static bool push(measurement *m, double host, double own) {
  if (m->count == m->capacity) {
    const size_t capacity = m->capacity ? 2 * m->capacity : 64;
    double *grown = realloc(m->host, capacity * sizeof *grown);
    if (!grown)
      return false;
    m->host = grown;
    grown = realloc(m->own, capacity * sizeof *grown);
    if (!grown)
      return false;
    m->own = grown;
    m->capacity = capacity;
  }
  m->host[m->count] = host;
  m->own[m->count++] = own;
  return true;
}

/* The samples' statistics; they stay in the order taken. */
static bool summarise(const double *samples, size_t count, stats *s) {
  double *copy = malloc(count * sizeof *copy);

  if (!copy)
    return false;
  memcpy(copy, samples, count * sizeof *copy);
  *s = stats_of(copy, count);
  free(copy);
  return true;
}

/* Why to stop now, or null. */
static const char *reason_to_stop(measurement *m, bool host, const measure_limits *limits,
                                  double elapsed) {
  stats *s = host ? &m->host_stats : &m->own_stats;

  if (limits->samples > 0)
    return m->count >= (size_t)limits->samples ? "count" : NULL;
  if (m->count >= MOST || elapsed >= SLOWEST * limits->max_ns ||
      (m->count >= FEWEST && elapsed >= limits->max_ns))
    return "time";
  if (elapsed < limits->min_ns || m->count % CHECK_EVERY != 0)
    return NULL;
  if (summarise(host ? m->host : m->own, m->count, s) && s->noise <= limits->max_noise)
    return "noise";
  return NULL;
}

static bool time_batch(device_call *call, result_watch *w, uint64_t calls, device_time *taken) {
  if (!w)
    return device_time_calls(call, calls, taken);
  return watch_poison(w) && device_time_calls(call, calls, taken) && watch_look(w);
}

bool measure(device_call *call, const measure_limits *limits, result_watch *w, measurement *m) {
  double start;

  memset(m, 0, sizeof *m);
  call->on->reset(call);
  if (!warm_up(call, limits, &m->calls) || (w && !watch_look_at_all(w)))
    return false;
  start = clock_ns();
  do {
    /* The last call of a batch is not always the same of so many. */
    const uint64_t more = w && measure_uses_host(call->on) ? watch_chance(w) : 0;
    const uint64_t calls = m->calls + more;
    device_time taken;
    if (!time_batch(call, w, calls, &taken))
      return false;
    if (!push(m, taken.host / (double)calls, taken.own / (double)calls)) {
      snprintf(call->error, sizeof call->error, "not enough memory for the samples");
      return false;
    }
    m->stop = reason_to_stop(m, measure_uses_host(call->on), limits, clock_ns() - start);
  } while (!m->stop);
  if (summarise(m->host, m->count, &m->host_stats) && summarise(m->own, m->count, &m->own_stats))
    return true;
  snprintf(call->error, sizeof call->error, "not enough memory for the samples");
  return false;
}

void measure_free(measurement *m) {
  free(m->host);
  free(m->own);
  memset(m, 0, sizeof *m);
}
