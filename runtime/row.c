/* row.c - one line of the results, and the table of its fields. */
#include "row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define FIELD(name, type)                                                                          \
  { #name, type, offsetof(row, name), NULL }
#define FIGURE(name, unit)                                                                         \
  { #name, ROW_REAL, offsetof(row, name), unit }

const row_field row_fields[] = {
    FIELD(name, ROW_TEXT),
    FIELD(op, ROW_TEXT),
    FIELD(dtype, ROW_TEXT),
    FIELD(backend, ROW_TEXT),
    FIELD(variant, ROW_TEXT),
    FIELD(device, ROW_TEXT),
    FIELD(size, ROW_TEXT),
    FIELD(points, ROW_COUNT),
    FIELD(status, ROW_TEXT),
    FIELD(checked, ROW_TEXT),
    FIELD(reason, ROW_TEXT),
    FIELD(note, ROW_TEXT),
    FIELD(repro, ROW_TEXT),
    FIELD(fastest, ROW_FLAG),
    FIELD(dispatched, ROW_FLAG),
    FIGURE(real_time, "ns"),
    FIGURE(cpu_time, "ns"),
    FIGURE(cold_time, "ns"),
    FIGURE(cold_noise, "fraction of the median"),
    FIGURE(cold_bytes_per_second, "bytes/s"),
    FIELD(cold_sample_count, ROW_COUNT),
    FIELD(iterations, ROW_COUNT),
    FIELD(sample_count, ROW_COUNT),
    FIELD(calls_per_sample, ROW_COUNT),
    FIGURE(mean, "ns"),
    FIGURE(stddev, "ns"),
    FIGURE(min, "ns"),
    FIGURE(max, "ns"),
    FIGURE(q1, "ns"),
    FIGURE(q3, "ns"),
    FIGURE(mad, "ns"),
    FIGURE(noise, "fraction of the median"),
    FIGURE(ns_per_point, "ns"),
    FIGURE(bytes, "bytes"),
    FIGURE(flops, "operations"),
    FIGURE(bytes_per_second, "bytes/s"),
    FIGURE(flops_per_second, "operations/s"),
    FIELD(ceiling, ROW_TEXT),
    FIGURE(ceiling_bytes_per_second, "bytes/s"),
    FIGURE(ceiling_share, "fraction of the ceiling"),
    FIELD(above_ceiling, ROW_FLAG),
    FIELD(stop, ROW_TEXT),
    FIGURE(ulp, "units in the last place"),
    FIGURE(ulp_bound, "units in the last place"),
    FIGURE(norm_error, "share of the result's 2-norm"),
    FIGURE(norm_bound, "share of the result's 2-norm"),
    FIELD(seed, ROW_COUNT),
    FIELD(source, ROW_TEXT),
    {"template", ROW_TEXT, offsetof(row, template_file), NULL},
    {"operation", ROW_TEXT, offsetof(row, op), NULL},
    {"implementation", ROW_TEXT, offsetof(row, variant), NULL},
    FIELD(batch_size, ROW_COUNT),
    FIELD(sequence_length, ROW_COUNT),
    FIELD(tensor_dimension, ROW_COUNT),
    FIGURE(time_ms, "ms"),
    FIGURE(memory_mb, "MiB (2^20 bytes)"),
    FIGURE(inference_speed, "calls/s"),
    FIGURE(gpu_efficiency, "% of the ceiling"),
    FIGURE(throughput_gbps, "GB/s (10^9 bytes a second, not bits)"),
    FIGURE(gigabytes_per_second, "GB/s (10^9 bytes a second)"),
};
const size_t row_field_count = sizeof row_fields / sizeof *row_fields;

static char *copy(const char *text) {
  char *c = strdup(text);

  if (!c)
    message_refuse("out of memory");
  return c;
}

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
  row *r = calloc(1, sizeof *r);
  char name[256];

  if (!r)
    message_refuse("out of memory");
  for (size_t i = 0; i < row_field_count; i++)
    if (row_fields[i].type == ROW_REAL)
      *(double *)((char *)r + row_fields[i].offset) = NAN;
  r->task = t;
  r->of = variant;
  snprintf(name, sizeof name, "%s/%s", variant->name, t->size);
  r->name = copy(name);
  r->op = t->op->name;
  r->dtype = lathe_dtype_name(t->dtype);
  r->backend = variant->backend->name;
  r->variant = variant->name;
  r->device = on ? on->id : NULL;
  r->size = t->size;
  r->params = variant->params;
  r->seed = seed;
  r->source = variant->source;
  r->template_file = variant->template_file;
  r->dispatched = on && lathe_select(t->op, t->dtype, t->dim, on->features, NULL) == variant;
  r->bytes = lathe_bytes(t->op, t->dtype, t->dim);
  r->flops = t->op->flops_per_point * points_of(t);
  r->points = points_of(t) < (double)INT64_MAX ? (uint64_t)points_of(t) : INT64_MAX;
  r->memory_mb = r->bytes;
  if (variant->workspace && on && !lathe_why_not(variant, on->features))
    r->memory_mb += variant->workspace(t->dim);
  r->memory_mb /= 1 << 20;
  name_dimensions(r);
  return r;
}

void row_free(row *r) {
  free(r->samples);
  free(r->cold);
  free(r->name);
  free(r->reason);
  free(r->note);
  free(r->repro);
  free(r->ceiling);
  free(r);
}

void row_skip(row *r, const char *why) {
  r->state = ROW_SKIPPED;
  r->status = "skipped";
  r->reason = copy(why);
}

void row_kill(row *r, const char *why, const char *repro) {
  r->state = ROW_KILLED;
  r->status = "killed";
  r->reason = copy(why);
  r->repro = copy(repro);
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
  r->state = became[result->verdict].state;
  r->status = became[result->verdict].status;
  r->checked = "all";
  r->ulp = result->ulp;
  r->ulp_bound = result->bound;
  r->norm_error = result->off;
  r->norm_bound = result->off_allowed;
  if (r->state != ROW_RIGHT) {
    r->reason = copy(result->message);
    r->repro = copy(repro);
  } else if (result->message[0]) {
    r->note = copy(result->message);
  }
}

/* Takes the samples on the clock that counts. */
static double *take(measurement *m, bool host) {
  double **samples = host ? &m->host : &m->own, *taken = *samples;

  *samples = NULL;
  return taken;
}

void row_measure(row *r, outcome *o, const device *on) {
  const double uncertain = 0.05; /* of the rows here, and of the loops that they are held against */
  measurement *m = &o->warm;
  const bool host = measure_uses_host(on);
  const stats *s = host ? &m->host_stats : &m->own_stats;

  r->samples = take(m, host);
  r->sample_count = m->count;
  r->calls_per_sample = m->calls;
  r->iterations = m->count * m->calls;
  r->stop = m->stop;
  r->real_time = s->median;
  r->cpu_time = (host ? &m->own_stats : &m->host_stats)->median;
  r->mean = s->mean;
  r->stddev = s->deviation;
  r->min = s->min;
  r->max = s->max;
  r->q1 = s->q1;
  r->q3 = s->q3;
  r->mad = s->mad;
  r->noise = s->noise;
  r->ns_per_point = s->median / points_of(r->task);
  r->bytes_per_second = r->bytes * 1e9 / s->median;
  r->flops_per_second = r->flops * 1e9 / s->median;
  if (o->ceiling > 0) {
    r->ceiling = copy(o->ceiling_name);
    r->ceiling_bytes_per_second = o->ceiling;
    r->ceiling_share = r->bytes_per_second / o->ceiling;
    r->above_ceiling = r->ceiling_share > 1 + uncertain;
  }
  if (on->kind != LATHE_CPU)
    r->gpu_efficiency = 100 * r->ceiling_share;
  if (o->cold.count > 0) {
    const stats *cold = host ? &o->cold.host_stats : &o->cold.own_stats;
    r->cold = take(&o->cold, host);
    r->cold_sample_count = o->cold.count;
    r->cold_time = cold->median;
    r->cold_noise = cold->noise;
    r->cold_bytes_per_second = r->bytes * 1e9 / cold->median;
  }
  r->time_ms = s->median / 1e6;
  r->inference_speed = 1e9 / s->median;
  r->throughput_gbps = r->gigabytes_per_second = r->bytes / s->median;
}

row *row_fastest(row *const *rows, size_t count) {
  row *best = NULL;

  for (size_t i = 0; i < count; i++)
    if (rows[i]->state == ROW_RIGHT && rows[i]->sample_count > 0 &&
        (!best || rows[i]->real_time < best->real_time))
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
