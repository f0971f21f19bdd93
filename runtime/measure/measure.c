/* measure.c - how long does a call take? Calls are timed in batches long enough for the clock to matter little. */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "stats.h"

/* A batch's least length: a thousand readings of the host's clock, and of a GPU's many more of its
 * ticks than the gap that there is before a batch. */
static const double sample_ns_host = 30e3, sample_ns_own = 500e3;

enum {
  MOST = 100000, /* samples of a round */
  RETAKES = 2,   /* times that they are taken anew where the clock changed meanwhile, */
};
static const double steady = 0.05;   /* by more than this, */
static const double much_ns = 100e6; /* and which took no longer than this */

bool measure_uses_host(const device *on) {
  return device_kind_of(on->kind)->host_clock;
}

/* Calls of one sample: grown from 0 until a batch is long enough. Runs at least the warm-up. False
 * when a run failed. */
static bool warm_up(device_call *call, const measure_limits *limits, uint64_t *calls) {
  const bool known = *calls > 0;
  const double sample_ns = measure_uses_host(call->on) ? sample_ns_host : sample_ns_own;
  const double start = clock_ns();
  device_time taken;

  if (!known)
    *calls = 1;
  if (limits->warmup > 0 && !device_time_calls(call, (uint64_t)limits->warmup, &taken))
    return false;
  for (;;) {
    double growth, batch;
    if (!device_time_calls(call, *calls, &taken))
      return false;
    batch = measure_uses_host(call->on) ? taken.host : taken.own;
    if (batch < sample_ns && !known) {
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

static bool time_batch(device_call *call, result_watch *w, uint64_t calls, device_time *taken) {
  if (!w)
    return device_time_calls(call, calls, taken);
  return watch_poison(w) && device_time_calls(call, calls, taken) && watch_look(w);
}

static double clock_of(device *on) {
  return on->clock_mhz ? on->clock_mhz(on) : 0;
}

/* Samples for one round. */
static bool take(device_call *call, const measure_limits *limits, long samples, result_watch *w,
                 measurement *m) {
  const bool host = measure_uses_host(call->on);
  const double start = clock_ns();

  do {
    /* The last call of a batch is not always the same of so many. */
    const uint64_t batch = m->calls + (w && host ? watch_chance(w) : 0);
    device_time taken;
    if (!time_batch(call, w, batch, &taken))
      return false;
    if (!push(m, taken.host / (double)batch, taken.own / (double)batch)) {
      snprintf(call->error, sizeof call->error, "not enough memory for the samples");
      return false;
    }
  } while (samples > 0 ? m->count < (size_t)samples
                       : m->count < MOST && clock_ns() - start < limits->round_ns);
  m->took_ns = clock_ns() - start;
  return true;
}

bool measure(device_call *call, const measure_limits *limits, uint64_t calls, long samples,
             result_watch *w, measurement *m) {
  /* A call that fills a sample alone was warmed by the one that was looked at. */
  const bool warm = calls == 1 && limits->warmup < 0;
  double before, after;

  memset(m, 0, sizeof *m);
  m->calls = calls;
  if (!warm)
    call->on->reset(call);
  if (!warm && (!warm_up(call, limits, &m->calls) || (w && !watch_look_at_all(w))))
    return false;
  do {
    before = clock_of(call->on);
    m->count = 0;
    if (!take(call, limits, samples, w, m))
      return false;
    after = clock_of(call->on);
  } while (fabs(before - after) > steady * fmax(before, after) && m->took_ns < much_ns &&
           m->retaken < RETAKES && ++m->retaken);
  m->clock_mhz = (before + after) / 2;
  return true;
}

double measure_median(const measurement *m, const device *on) {
  return stats_median(measure_uses_host(on) ? m->host : m->own, m->count, sizeof *m->host);
}

void measure_free(measurement *m) {
  free(m->host);
  free(m->own);
  memset(m, 0, sizeof *m);
}
