/* row.c - one line of the results, and the table of its fields. */
#include "row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "devices/foreign/foreign.h"
#include "devices/peer/peers.h"
#include "measure/ceiling.h"

/* Where a field is: in JSON and CSV alone, or on the page as well. */
enum { FILES, PAGE };
#define FIELD(name, type, where)                                                                   \
  { #name, type, offsetof(row, name), NULL, where }
#define FIGURE(name, unit, where)                                                                  \
  { #name, ROW_REAL, offsetof(row, name), unit, where }
/* A figure of one of the row's parts. */
#define PART(name, member, unit, where)                                                            \
  { name, ROW_REAL, offsetof(row, member), unit, where }

const row_field row_fields[] = {
    FIELD(name, ROW_TEXT, FILES),
    FIELD(op, ROW_TEXT, PAGE),
    FIELD(dtype, ROW_TEXT, PAGE),
    FIELD(backend, ROW_TEXT, PAGE),
    FIELD(variant, ROW_TEXT, PAGE),
    FIELD(device, ROW_TEXT, PAGE),
    FIELD(size, ROW_TEXT, PAGE),
    FIELD(points, ROW_COUNT, PAGE),
    FIELD(status, ROW_TEXT, PAGE),
    FIELD(checked, ROW_TEXT, FILES),
    FIELD(reason, ROW_TEXT, PAGE),
    FIELD(note, ROW_TEXT, PAGE),
    FIELD(repro, ROW_TEXT, PAGE),
    FIELD(fastest, ROW_FLAG, PAGE),
    FIELD(dispatched, ROW_FLAG, PAGE),
    FIELD(rounds_factors, ROW_FLAG, PAGE),
    FIELD(peer, ROW_FLAG, PAGE),
    FIELD(foreign, ROW_FLAG, FILES),
    FIELD(with, ROW_TEXT, FILES),
    FIELD(verdict, ROW_TEXT, FILES),
    FIELD(against, ROW_TEXT, PAGE),
    FIGURE(ratio, "times the time of ours", PAGE),
    FIGURE(ratio_low, "times the time of ours", PAGE),
    FIGURE(ratio_high, "times the time of ours", PAGE),
    FIGURE(base_time, "ns", FILES),
    FIGURE(base_ratio, "times the time of the base", FILES),
    FIGURE(base_ratio_low, "times the time of the base", FILES),
    FIGURE(base_ratio_high, "times the time of the base", FILES),
    FIGURE(base_probability, "probability", FILES),
    FIELD(base_status, ROW_TEXT, FILES),
    FIELD(change, ROW_TEXT, FILES),
    FIELD(threads, ROW_COUNT, PAGE),
    FIGURE(real_time, "ns", PAGE),
    FIGURE(cpu_time, "ns", FILES),
    FIGURE(cold_time, "ns", PAGE),
    FIGURE(cold_noise, "fraction of the median", FILES),
    FIGURE(cold_bytes_per_second, "bytes/s", FILES),
    FIELD(cold_sample_count, ROW_COUNT, FILES),
    FIELD(iterations, ROW_COUNT, FILES),
    FIELD(sample_count, ROW_COUNT, PAGE),
    FIELD(calls_per_sample, ROW_COUNT, FILES),
    PART("mean", samples.mean, "ns", PAGE),
    PART("stddev", samples.deviation, "ns", PAGE),
    PART("min", samples.min, "ns", PAGE),
    PART("max", samples.max, "ns", PAGE),
    PART("q1", samples.q1, "ns", FILES),
    PART("q3", samples.q3, "ns", FILES),
    PART("mad", samples.mad, "ns", FILES),
    FIGURE(noise, "fraction of the median", PAGE),
    FIGURE(low, "ns", FILES),
    FIGURE(high, "ns", FILES),
    FIGURE(best, "ns", FILES),
    FIGURE(best_noise, "fraction of best", FILES),
    FIELD(rounds, ROW_COUNT, FILES),
    FIGURE(clock_mhz, "MHz", FILES),
    FIGURE(clock_low_mhz, "MHz", FILES),
    FIGURE(clock_high_mhz, "MHz", FILES),
    FIELD(retaken, ROW_COUNT, FILES),
    {"low_outliers", ROW_COUNT, offsetof(row, samples.low_outliers), NULL, FILES},
    {"high_outliers", ROW_COUNT, offsetof(row, samples.high_outliers), NULL, FILES},
    {"severe_outliers", ROW_COUNT, offsetof(row, samples.severe_outliers), NULL, FILES},
    FIGURE(ns_per_point, "ns", FILES),
    FIGURE(bytes, "bytes", PAGE),
    FIGURE(flops, "operations", PAGE),
    FIGURE(bytes_per_second, "bytes/s", PAGE),
    FIGURE(flops_per_second, "operations/s", PAGE),
    FIELD(ceiling, ROW_TEXT, PAGE),
    FIGURE(ceiling_bytes_per_second, "bytes/s", PAGE),
    FIGURE(ceiling_flops_per_second, "operations/s", PAGE),
    FIGURE(ceiling_share, "fraction of the ceiling", PAGE),
    FIGURE(ceiling_share_low, "fraction of the ceiling", FILES),
    FIGURE(ceiling_share_high, "fraction of the ceiling", FILES),
    FIELD(above_ceiling, ROW_FLAG, PAGE),
    PART("host_time", profile.host, "ns", PAGE),
    PART("launch_time", profile.launch, "ns", PAGE),
    FIGURE(kernel_time, "ns", PAGE),
    PART("copy_in_time", profile.copy_in, "ns", PAGE),
    PART("copy_out_time", profile.copy_out, "ns", PAGE),
    PART("pinned_in_time", profile.pinned_in, "ns", PAGE),
    PART("pinned_out_time", profile.pinned_out, "ns", PAGE),
    FIGURE(memory_time, "ns", PAGE),
    PART("instructions", profile.instructions, "instructions", PAGE),
    PART("cycles", profile.cycles, "cycles", PAGE),
    PART("cache_misses", profile.cache_misses, "cache misses", PAGE),
    FIELD(stop, ROW_TEXT, FILES),
    FIGURE(ulp, "units in the last place", PAGE),
    FIGURE(ulp_bound, "units in the last place", PAGE),
    FIGURE(norm_error, "share of the result's 2-norm", FILES),
    FIGURE(norm_bound, "share of the result's 2-norm", FILES),
    FIELD(seed, ROW_COUNT, PAGE),
    FIELD(source, ROW_TEXT, PAGE),
    {"template", ROW_TEXT, offsetof(row, template_file), NULL, PAGE},
    {"operation", ROW_TEXT, offsetof(row, op), NULL, FILES},
    {"implementation", ROW_TEXT, offsetof(row, variant), NULL, FILES},
    FIELD(batch_size, ROW_COUNT, FILES),
    FIELD(sequence_length, ROW_COUNT, FILES),
    FIELD(tensor_dimension, ROW_COUNT, FILES),
    FIGURE(time_ms, "ms", FILES),
    FIGURE(memory_mb, "MiB (2^20 bytes)", FILES),
    FIGURE(inference_speed, "calls/s", FILES),
    FIGURE(gpu_efficiency, "% of the ceiling", FILES),
    FIGURE(throughput_gbps, "GB/s (10^9 bytes a second, not bits)", FILES),
    FIGURE(gigabytes_per_second, "GB/s (10^9 bytes a second)", FILES),
};
const size_t row_field_count = sizeof row_fields / sizeof *row_fields;

static double points_of(const task *t) {
  double points = 1;

  for (int d = 0; d < t->op->ndim; d++)
    points *= (double)t->dim[d];
  return points;
}

/* Sizes as batch x sequence x width: the last extent is the width, the one before it, of three or
 * more, the sequence, and all others are the batch. */
static void name_dimensions(row *r) {
  const size_shape *shape = &r->task->shape;
  const int last = shape->ndim - 1;

  r->batch_size = r->sequence_length = 1;
  r->tensor_dimension = shape->extent[last];
  for (int i = 0; i < last; i++)
    if (i == last - 1 && last > 1)
      r->sequence_length = shape->extent[i];
    else
      r->batch_size *= shape->extent[i];
}

row *row_make(const task *t, const lathe_variant *variant, const device *on, uint64_t seed) {
  row *r = message_need(calloc(1, sizeof *r));
  char name[512];

  for (size_t i = 0; i < row_field_count; i++)
    if (row_fields[i].type == ROW_REAL)
      *(double *)((char *)r + row_fields[i].offset) = NAN;
  r->task = t;
  r->of = variant;
  snprintf(name, sizeof name, "%s/%s", variant->name, t->size);
  r->name = message_copy(name);
  r->op = t->op->name;
  r->dtype = lathe_dtype_name(t->dtype);
  r->backend = variant->backend->name;
  r->peer = peers_has(variant->backend);
  r->foreign = foreign_of(variant);
  r->with = r->foreign ? foreign_of(variant)->given : NULL;
  r->variant = variant->name;
  r->device = on ? on->id : NULL;
  r->size = t->size;
  r->params = variant->params;
  r->seed = seed;
  r->threads = 1;
  r->source = variant->source;
  r->template_file = variant->template_file;
  r->dispatched = on && lathe_select(t->op, t->dtype, t->dim, on->features, NULL) == variant;
  r->rounds_factors = variant->by_name;
  r->bytes = ceilings_bytes(t->op, t->dtype, t->dim);
  r->flops = ceilings_flops(t->op, t->dim);
  r->points = points_of(t) < (double)INT64_MAX ? (uint64_t)points_of(t) : INT64_MAX;
  r->memory_mb = lathe_bytes(t->op, t->dtype, t->dim);
  if (on && !lathe_why_not(variant, on->features))
    r->memory_mb += lathe_workspace(variant, t->dim);
  r->memory_mb /= 1 << 20;
  name_dimensions(r);
  return r;
}

void row_free(row *r) {
  timing_free(&r->warm);
  timing_free(&r->cold);
  timing_free(&r->at_ceiling);
  free(r->name);
  free(r->reason);
  free(r->note);
  free(r->repro);
  free(r->ceiling);
  free(r->checked);
  free(r->turns.ours);
  free(r->turns.base);
  free(r);
}

const char *row_status_named(const char *status) {
  static const char *const all[] = {"right", "wrong", "unproved", "killed", "skipped", "unknown"};
  size_t i = 0;

  while (i + 1 < sizeof all / sizeof *all && strcmp(all[i], status) != 0)
    i++;
  return all[i];
}

void row_add_turn(row *r, double ours, double base) {
  const size_t size = (r->turns.count + 1) * sizeof(double);

  r->turns.ours = message_need(realloc(r->turns.ours, size));
  r->turns.base = message_need(realloc(r->turns.base, size));
  r->turns.ours[r->turns.count] = ours;
  r->turns.base[r->turns.count++] = base;
}

void row_skip(row *r, const char *why) {
  r->state = ROW_SKIPPED;
  r->status = "skipped";
  r->reason = message_copy(why);
}

void row_kill(row *r, const char *why, const char *repro) {
  r->state = ROW_KILLED;
  r->status = "killed";
  r->reason = message_copy(why);
  r->repro = message_copy(repro);
}

void row_judge(row *r, const check_result *result, const char *repro) {
  static const struct {
    row_state state;
    const char *status;
  } became[] = {[CHECK_RIGHT] = {ROW_RIGHT, "right"},
                [CHECK_WRONG] = {ROW_WRONG, "wrong"},
                [CHECK_UNPROVED] = {ROW_UNPROVED, "unproved"}};

  if (result->verdict == CHECK_UNABLE) {
    row_skip(r, result->message);
    return;
  }
  r->fate = result->fate;
  r->state = became[result->verdict].state;
  r->status = became[result->verdict].status;
  r->checked = message_copy(result->checked[0] ? result->checked : "all");
  r->ulp = result->ulp;
  r->ulp_bound = result->bound;
  r->norm_error = result->off;
  r->norm_bound = result->off_allowed;
  if (r->state != ROW_RIGHT) {
    r->reason = message_copy(result->message);
    r->repro = message_copy(repro);
  } else if (result->message[0]) {
    r->note = message_copy(result->message);
  }
}

void row_sentence(row *r) {
  static const char *const wrong[] = {[DEVICE_WELL] = "wrong",
                                      [DEVICE_MISDID] = "wrong",
                                      [DEVICE_CRASHED] = "crashed",
                                      [DEVICE_LATE] = "timed out",
                                      [DEVICE_KEEPS] = "stateful"};
  const foreign *f = foreign_of(r->of);

  if (!f)
    return;
  if (r->state == ROW_WRONG)
    r->verdict = wrong[r->fate];
  else if ((r->state == ROW_RIGHT || r->state == ROW_SKIPPED) && f->state[0]) {
    r->verdict = "stateful"; /* which its file says, wherever it runs */
    free(r->reason);
    r->reason = message_copy(f->state);
  } else if (r->state == ROW_RIGHT && r->above_ceiling)
    r->verdict = "above the ceiling";
  else
    r->verdict = r->status;
}

/* The better of each, under its name. */
static void raise_ceilings(ceilings *best, const ceilings *c) {
  if (c->bytes > best->bytes) {
    best->bytes = c->bytes;
    memcpy(best->bytes_name, c->bytes_name, sizeof best->bytes_name);
  }
  if (c->flops > best->flops) {
    best->flops = c->flops;
    memcpy(best->flops_name, c->flops_name, sizeof best->flops_name);
  }
}

/* Adds a round's measurements. */
static void add_ceilings(row *r, const ceilings *c) {
  double ns = ceilings_share(c, r->bytes, r->flops, 1, NULL);
  const measurement one = {.host = &ns, .own = &ns, .count = 1, .calls = 1};

  raise_ceilings(&r->ceilings, c);
  if (!isnan(ns))
    timing_add(&r->at_ceiling, &one, true);
}

bool row_add(row *r, const outcome *o, const device *on, const measure_limits *limits) {
  const bool host = measure_uses_host(on);

  timing_add(&r->warm, &o->warm, host);
  timing_add(&r->cold, &o->cold, host);
  add_ceilings(r, &o->ceilings);
  timing_judge(&r->warm, limits);
  if (r->cold.rounds > 0)
    timing_judge(&r->cold, limits);
  if (o->round == 0)
    r->results = o->results;
  if (o->profile.taken)
    r->profile = o->profile;
  return !r->warm.stop;
}

/* The row is above its ceiling where it is so in all of the interval, by more than kernels and the ceiling's loops
 * differ in how they begin and end: add of 1,000 doubles takes 3 % less time than the loop on a Xeon (Sapphire Rapids).
 * What emulates a GPU has other limits. */
static void hold_against_ceilings(row *r, const device *on) {
  const double most = 1.1;
  const double by_chance = 1.15; /* of what one or two rounds say */
  timing_ratio share;
  bool by_arithmetic;

  if (r->ceilings.bytes > 0)
    r->ceiling_bytes_per_second = r->ceilings.bytes;
  if (r->ceilings.flops > 0)
    r->ceiling_flops_per_second = r->ceilings.flops;
  if (r->at_ceiling.rounds == 0 || r->at_ceiling.rounds != r->warm.rounds)
    return;
  share = timing_compare(&r->at_ceiling, &r->warm);
  ceilings_share(&r->ceilings, r->bytes, r->flops, r->real_time, &by_arithmetic);
  r->ceiling = message_copy(by_arithmetic ? r->ceilings.flops_name : r->ceilings.bytes_name);
  r->ceiling_share = share.median;
  r->ceiling_share_low = share.low;
  r->ceiling_share_high = share.high;
  r->above_ceiling =
      (isnan(share.low) ? share.median / by_chance : share.low) > most && !on->is_processor;
  if (!device_kind_of(on->kind)->on_host)
    r->gpu_efficiency = 100 * r->ceiling_share;
}

void row_measure(row *r, const device *on) {
  const timing *t = &r->warm;

  r->sample_count = t->count;
  r->rounds = t->rounds;
  r->calls_per_sample = t->calls;
  r->iterations = t->count * t->calls;
  r->stop = t->stop ? t->stop : "time";
  r->real_time = t->median;
  r->cpu_time = t->other_one;
  r->samples = t->all;
  r->low = t->low;
  r->high = t->high;
  r->best = t->best;
  r->best_noise = t->best_noise;
  r->clock_mhz = t->clock_mhz;
  r->clock_low_mhz = t->clock_low;
  r->clock_high_mhz = t->clock_high;
  r->retaken = t->retaken;
  r->noise = t->noise;
  r->ns_per_point = t->median / points_of(r->task);
  r->bytes_per_second = r->bytes * 1e9 / t->median;
  r->flops_per_second = r->flops * 1e9 / t->median;
  hold_against_ceilings(r, on);
  if (r->profile.taken) {
    r->kernel_time = r->real_time;
    r->memory_time = r->bytes / r->ceiling_bytes_per_second * 1e9;
  }
  if (r->cold.rounds > 0) {
    r->cold_sample_count = r->cold.count;
    r->cold_time = r->cold.median;
    r->cold_noise = r->cold.noise;
    r->cold_bytes_per_second = r->bytes * 1e9 / r->cold.median;
  }
  r->time_ms = t->median / 1e6;
  r->inference_speed = 1e9 / t->median;
  r->throughput_gbps = r->gigabytes_per_second = r->bytes / t->median;
}

row *row_fastest(row *const *rows, size_t count) {
  row *best = NULL;

  for (size_t i = 0; i < count; i++)
    if (rows[i]->state == ROW_RIGHT && rows[i]->sample_count > 0 && !rows[i]->peer &&
        !rows[i]->rounds_factors && (!best || rows[i]->real_time < best->real_time))
      best = rows[i];
  return best;
}

const row *row_chosen(row *const *rows, size_t count, const row *beside) {
  for (size_t i = 0; i < count; i++)
    if (rows[i]->dispatched && rows[i]->device == beside->device && rows[i]->sample_count > 0)
      return rows[i];
  return NULL;
}

const double row_noise_limit = 0.05;

double row_loss(const row *slower, const row *faster) {
  if (slower == faster)
    return 0;
  if (!(slower->noise <= row_noise_limit && faster->noise <= row_noise_limit))
    return NAN;
  return slower->real_time / faster->real_time - 1;
}
